"""Items of containers, read, set and deleted."""

from __future__ import annotations

import operator
import os
import sys
from collections import Counter, defaultdict
from typing import Any

import numpy as np

from tracejit.ir.dims import dim_values
from tracejit.trace.containers.choices import MANY_OPTIONS, can_be_chosen, has_alike
from tracejit.trace.containers.numbered import Numbered
from tracejit.trace.containers.places import Choice, MaybeUnset, is_number, present
from tracejit.trace.containers.references import Reference, note_put
from tracejit.trace.containers.runs import Stored, array_of, has_runs, holds_runs, is_index
from tracejit.trace.containers.stand_ins import StandIn, note_use
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import INDEXED
from tracejit.trace.ground.modules import home_of_class
from tracejit.trace.ground.source import describe_line, find_site
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.lists.known_lengths import need_run
from tracejit.trace.lists.list_runs import is_plain_number
from tracejit.trace.lists.orders import indexable, is_known
from tracejit.trace.python import list_items
from tracejit.trace.python.instances import made_list, noted_list
from tracejit.trace.python.kinds_of_values import holds_traced
from tracejit.trace.python.special_methods import is_plain, note_lookup, special_method
from tracejit.trace.regions.choosing import content_or, for_each
from tracejit.trace.state.changes import CONTAINERS, before_change, call_watched, note_made
from tracejit.trace.state.running import watched
from tracejit.trace.values.equations import cast, is_weak, lift
from tracejit.trace.values.mixed import Merged, kinds_of, united
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__ = ["delete_item", "get_item", "set_item"]


def get_item(container: Any, key: Any) -> Any:
    """Return `container[key]`."""
    if container is np.r_ or container is np.c_:
        parts = key if isinstance(key, tuple) else (key,)
        if any(map(_is_traced_part, parts)):
            return INDEXED[container](parts)
    if isinstance(container, np.ndarray):
        container = lift(container)
    container, key = _with_references(container, key)
    if isinstance(container, _PLACED):
        key = _as_index(key, container)
    if has_runs(container):
        return list_items.get_item(container, key)
    if type(container) is list and isinstance(key, SymInt) and (
            found := list_items.item_of_a_growing_list(container, key)) is not None:
        return found
    _need_run_of(container, key)
    if (found := _number_of_a_tuple(container, key)) is not None:
        return found
    if type(container) is str and _is_moving(key):
        container = tuple(container)
    if _chooses_by_data(container, key):
        return _chosen_item(container, key)
    if _is_table(container, key):
        return _chosen_entry(container, key)
    note_use(container)
    _refuse_moving(container, key)
    if id(container) in current().captured.namespaces:
        return current().captured.item(container, key)
    if isinstance(container, type(os.environ)):
        asked = current().captured.asked(container.__getitem__, (key,), {})
        if asked is not NotImplemented:
            return asked
    method = special_method(container, "__getitem__")
    if method is not None:
        return method(container, key)
    if isinstance(container, Tracer):
        return container[key]
    if isinstance(container, SymInt):
        raise TypeError("'int' object is not subscriptable")
    return _item_of_pythons(container, key)


def _is_traced_part(x: object) -> bool:
    """Return whether a part of an index of `np.r_` is traced, or a slice with traced ends."""
    return holds_traced((x.start, x.stop, x.step) if isinstance(x, slice) else x)


_IN_A_DICT = 3
"""How many references there are to what a `default_factory` made, and nothing else holds."""


def _item_of_pythons(container: Any, key: Any) -> Any:
    """Return an item of a container in Python, where keys may be unset and reading may run code."""
    current().captured.freeze(container)
    note_lookup(container, key)
    makes = container.default_factory if isinstance(container, defaultdict) else None
    is_new = makes is not None and key not in container
    if is_new:
        before_change(container, key)
    if home_of_class(type(container)) in ("builtins", "collections", "numpy"):
        if type(container) in _QUIET:
            content = container[key]
        else:
            with watched():
                content = container[key]
        if isinstance(key, slice) and type(container) in CONTAINERS:
            note_made(content)
            return noted_list(content) if type(content) is list else content
        if is_new and type(content) in CONTAINERS and sys.getrefcount(content) <= _IN_A_DICT:
            note_made(content)
            if type(content) is list:
                container[key] = content = made_list(content)
                note_put(content)
    else:
        content = call_watched(operator.getitem, (container, key), {}, "reading an item")
    if isinstance(content, MaybeUnset) and type(container) is Counter:
        return content_or(content, lambda: 0)
    if isinstance(content, MaybeUnset) and makes is not None:
        before_change(container, key)
        container[key] = content = content_or(content, makes)
    return present(content, KeyError, repr(key))


def _with_references(container: object, key: object) -> tuple[Any, Any]:
    """Return a container and a key without references, of which data would have to say which."""
    if isinstance(key, Reference) and isinstance(container, Tracer):
        return container, ABOVE.call_function(np.array, (key,), {})
    if isinstance(container, (list, tuple)) and len(container) > 0 and all(
            isinstance(x, Numbered) for x in container) and is_index(key) and not is_known(key):
        container = container if isinstance(container, list) else note_made([*container])
        indexable(container)
    return container, key


def _need_run_of(xs: object, key: object) -> None:
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


def _refuse_moving(container: object, key: object) -> None:
    """Refuse an item of which data decides where it is among things that are unlike."""
    is_placed = isinstance(container, (list, tuple)) and _is_by_data(key)
    if is_placed or (isinstance(container, dict) and isinstance(key, Tracer)):
        raise refuse(f"a {type(container).__name__} is indexed by a traced value",
                     "Make it an array: np.array(...)[i]")


def _number_of_a_tuple(xs: object, key: object) -> Any:
    """Return an item of a tuple of numbers by an index that moves; None where it is another."""
    if type(xs) is not tuple or not xs or not all(map(is_plain_number, xs)) or (
            not _is_moving(key)):
        return None
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


def _chosen_item(container: list[object] | tuple[object, ...], key: object) -> Any:
    """Return the item of a list or tuple of which data decides which one it is.

    The things of a choice are of different kinds: those of one kind are merged.
    """
    n = len(container)
    items = tuple([get_item(container, k) for k in range(n)])
    tag: Any = cast(lift(key), np.dtype(np.int64))
    ABOVE.require(np.logical_and(tag >= -n, tag < n), IndexError,
                  f"{type(container).__name__} index out of range")
    tag = np.where(tag < 0, tag + n, tag)
    found = Choice(tag, items, "", describe_line(find_site()))
    return for_each(found, lambda x: x) if has_alike(items) else found


def _is_table(container: object, key: object) -> bool:
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


_QUIET = frozenset((list, tuple, dict, str, bytes, range, np.ndarray))
"""The types of which reading an item runs no code of users but that of keys."""


_PLACED = (list, tuple, str, bytes, bytearray, range, Tracer)
"""What has items at places, which indices say."""


def _as_index(key: object, container: object = None) -> Any:
    """Return an index with numbers for the objects of users' classes in it; others as they are.

    A truth that data decides is a number as an index of what is no array.
    """
    if type(key) is tuple:
        return tuple(map(_as_index, key))
    if isinstance(key, Tracer) and not isinstance(container, Tracer) and container is not None and (
            not key.is_array and key.dtype == np.bool_ and is_weak(key)):
        return cast(key, np.dtype(np.int64))
    if type(key) is slice:
        return slice(*map(_as_index, (key.start, key.stop, key.step)))
    method = None if is_plain(key) else special_method(key, "__index__")
    return key if method is None else method(key)


def set_item(container: object, key: Any, content: Any) -> None:
    """Carry out `container[key] = content`."""
    if isinstance(container, _PLACED):
        key = _as_index(key, container)
    if isinstance(container, Tracer):
        container[key] = content
        return
    note_put(content)
    if isinstance(container, np.ndarray):
        raise refuse("writing to an array from outside of the captured function",
                     "Create it inside the function, or pass it as an argument")
    if isinstance(container, list) and (has_runs(container) or (
            isinstance(key, slice) and holds_runs(content))):
        place = list_items.set_item(container, key, content)
        if place is None:
            return
        key = place
    method = special_method(container, "__setitem__")
    if method is not None:
        method(container, key, content)
        return
    note_use(container)
    _need_run_of(container, key)
    if type(container) is list:
        _refuse_moving(container, key)
    if isinstance(container, (list, dict)) and not isinstance(key, slice):
        if isinstance(container, list) or isinstance(key, SymInt):
            key = operator.index(key)
        if isinstance(container, list) and -len(container) <= key < 0:
            key += len(container)  # one item, one place
        if not _holds(container, key, content):
            before_change(container, key)
            container[key] = content
        return
    if isinstance(content, StandIn):
        raise refuse("assigning to a slice of a list what data chooses among lists",
                     "Give the list its items one by one, by append() or an index")
    call_watched(operator.setitem, (container, key, content), {}, "assigning to a slice of a list")


def _holds(container: Any, key: object, content: object) -> bool:
    """Whether an item is already what it is set to, as after `d[key] += 1` of an array."""
    if not isinstance(content, Tracer):
        return False
    if isinstance(container, dict):
        return dict.get(container, key) is content
    try:
        return container[key] is content
    except LookupError:
        return False


def delete_item(container: Any, key: object) -> None:
    """Carry out `del container[key]`."""
    if isinstance(container, _PLACED):
        key = _as_index(key, container)
    if has_runs(container):
        list_items.delete_item(container, key)
        return
    method = special_method(container, "__delitem__")
    if method is not None:
        method(container, key)
        return
    note_use(container)
    call_watched(operator.delitem, (container, key), {}, "deleting an item")
