"""Items by an index that data decides, or that is the number of a long loop's iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from tracejit.ir.dims import dim_values
from tracejit.trace.containers.choices import MANY_OPTIONS, can_be_chosen, has_alike
from tracejit.trace.containers.places import Choice, is_number, present
from tracejit.trace.containers.runs import Stored, array_of, is_index
from tracejit.trace.containers.stand_ins import note_use
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.source import describe_line, find_site
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.lists.known_lengths import need_run
from tracejit.trace.lists.list_runs import is_plain_number
from tracejit.trace.regions.choosing import for_each
from tracejit.trace.values.equations import cast, lift
from tracejit.trace.values.mixed import Merged, kinds_of, united
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__ = ["item_by_data", "need_run_of", "refuse_moving"]


def item_by_data(container: object, key: object, get_item: Callable[[object, int], object]) -> Any:
    """Return `container[key]` where data chooses among known items; None where it does not.

    get_item -- gives the item of a known number
    """
    if type(container) in (tuple, list) and (
            found := _number_of(container, key, get_item)) is not None:
        return found
    if type(container) is str and container and (_is_by_data(key) or _is_moving(key)):
        current().ventured |= not _is_by_data(key)  # a loop over a text may be unrolled, too
        return _chosen_letter(container, key)
    if _chooses_by_data(container, key):
        items: Any = container
        return _chosen_item(tuple([get_item(items, k) for k in range(len(items))]), key,
                            type(items).__name__)
    return _chosen_entry(container, key) if _is_table(container, key) else None


def need_run_of(xs: object, key: object) -> None:
    """Begin again with the items of a list in a run where a long loop or data says which it is."""
    if type(xs) is list and any(map(_is_moving, (key.start, key.stop, key.step)
                                    if type(key) is slice else (key,))):
        need_run(xs)


def _is_moving(k: object) -> bool:
    """Return whether data decides on an index, or the number of a long loop's iteration."""
    trace = current()
    short = {f.index for f in trace.frames if f.kind == "loop" and not f.is_long}
    return _is_by_data(k) or (isinstance(k, SymInt) and any(
        v in trace.carried and v not in short for v in dim_values(trace.canonical(k.dim))))


def _is_by_data(k: object) -> bool:
    """Return whether data decides on an index."""
    if not isinstance(k, SymInt):
        return isinstance(k, Tracer) and is_index(k)
    trace = current()
    values = dim_values(trace.canonical(k.dim))
    return bool(values) and not any(v in trace.carried or v in trace.actual for v in values)


def refuse_moving(container: object, key: object) -> None:
    """Refuse an index that data decides into a list, tuple or dict of unlike items."""
    is_placed = isinstance(container, (list, tuple)) and _is_by_data(key)
    if is_placed or (isinstance(container, dict) and isinstance(key, Tracer)):
        raise refuse(f"a {type(container).__name__} is indexed by a traced value",
                     "Make it an array: np.array(...)[i]", "TJ414")


def _number_of(container: object, key: object,
               get_item: Callable[[object, int], object]) -> Any:
    """Return an item of a tuple or list of numbers by an index that moves; else None.

    A list's present items are read: it is from outside, or is made item by item.
    """
    assert isinstance(container, (list, tuple))
    if not container or not _is_moving(key) or not all(map(is_plain_number, container)) or (
            type(container) is list and not _is_by_data(key)):
        return None
    xs = container if type(container) is tuple else tuple(
        [get_item(container, k) for k in range(len(container))])
    kinds = united(*(kinds_of(lift(x)) for x in xs))
    return None if len(kinds) != 1 else Stored(array_of(xs), 0, kinds, ()).item(key)


def _chooses_by_data(container: object, key: object) -> bool:
    """Return whether data decides which of a few things is read, which are not all numbers."""
    if not isinstance(container, (list, tuple)) or type(container) not in (list, tuple):
        return False
    if not 0 < len(container) <= MANY_OPTIONS:
        return False
    if not is_index(key) or not isinstance(key, (SymInt, Tracer)) or any(
            len(levels) > 1 for levels in current().recursions.values()):
        return False  # a recursion would have as many things as its depth has paths
    if isinstance(key, SymInt):
        trace = current()
        counted = [f.index for f in trace.frames if f.kind == "loop" and f.counted]
        if trace.is_known(key.dim) or any(v in counted for v in dim_values(key.dim)):
            return False  # it becomes an int of Python
    dtypes = {x.dtype for x in map(lift, filter(is_number, container)) if (
        isinstance(x, Tracer))}
    return not all(map(is_plain_number, container)) and all(map(can_be_chosen, container)) and (
        len(dtypes) < 2 or not all(map(is_number, container)))


def _chosen_letter(text: str, key: object) -> Choice:
    """Return the letter of a text at an index that moves, one of those that the text has."""
    letters = tuple(dict.fromkeys(text))
    places = np.array([letters.index(c) for c in text])
    return Choice(lift(places)[_inside(key, len(text), "string")], letters, "",
                  describe_line(find_site()))


def _inside(key: object, n: int, kind: str) -> Any:
    """Return an index, counted from the front, into something of n items; an error if outside."""
    place: Any = cast(lift(key), np.dtype(np.int64))
    ABOVE.require(np.logical_and(place >= -n, place < n), IndexError,
                  f"{kind} index out of range")
    return np.where(place < 0, place + n, place)


def _chosen_item(items: tuple[object, ...], key: object, kind: str) -> Any:
    """Return the item of a list or tuple at an index that data decides.

    It is a `Choice` of items of different kinds; items of one kind are merged.
    """
    found = Choice(_inside(key, len(items), kind), items, "", describe_line(find_site()))
    return for_each(found, lambda x: x) if has_alike(items) else found


def _is_table(container: object, key: object) -> TypeGuard[dict[int, object]]:
    """Return whether data decides which function, class or text of a known dict is read."""
    return type(container) is dict and 0 < len(container) <= MANY_OPTIONS and is_index(key) and (
        isinstance(key, (SymInt, Tracer)) and not isinstance(key, Merged)) and all(
        type(k) in (int, bool) for k in container) and all(
        callable(x) or isinstance(x, str) for x in container.values()) and not (
        isinstance(key, SymInt) and current().is_known(key.dim))


def _chosen_entry(table: dict[int, object], key: object) -> Choice:
    """Return the content of a dict for a key that data decides."""
    note_use(table)
    current().captured.freeze(table)
    number: Any = cast(lift(key), np.dtype(np.int64))
    tests = [np.equal(number, int(k)) for k in table]
    found: Any = tests[0]
    tag: Any = np.int64(0)
    for j, test in enumerate(tests[1:], 1):
        found, tag = np.logical_or(found, test), np.where(test, np.int64(j), tag)
    ABOVE.require(found, KeyError, "the key is not in the dict")
    return Choice(tag, tuple([present(x) for x in table.values()]), "", describe_line(find_site()))
