"""Lists whose length is a size: indexed and changed as in Python.

Each function takes Python lists in which runs (`runs.py`) stand for many items. An operation beyond
runs makes the capture begin again with the list made item by item, under a size that is fixed.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable
from typing import Any, SupportsIndex

import numpy as np

from tracejit.ir.dims import Dim, dim_values, is_nonneg
from tracejit.trace.containers.container_aliases import refuse_joined_change
from tracejit.trace.containers.heap import held_by_program
from tracejit.trace.containers.places import is_number
from tracejit.trace.containers.runs import Run, Stored, array_of, copies, has_runs, is_index
from tracejit.trace.ground.context import current
from tracejit.trace.ground.dispatch import FUNCTIONS, Changing
from tracejit.trace.ground.restarts import Grows, Relist, Unroll
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.lists.filling import Slots, located, refuse_unless_filled
from tracejit.trace.lists.grown import ByData
from tracejit.trace.lists.list_runs import give_up, is_plain_number, joined, joined_rows, the_run
from tracejit.trace.lists.orders import both_nan, require_known_equality, require_order
from tracejit.trace.lists.rows import (
    Item,
    Rows,
    in_list,
    is_row,
    places_of,
    require_known_links,
    same_rows,
)
from tracejit.trace.lists.together import note_item
from tracejit.trace.python.list_making import list_from
from tracejit.trace.regions.loops import is_of_open_loop
from tracejit.trace.state.changes import known_container, note_made
from tracejit.trace.values.equations import cast, emit, lift, to_dim
from tracejit.trace.values.indexing import point_index
from tracejit.trace.values.mixed import is_mixed, keys_of, kinds_of, number_of, storage, united
from tracejit.trace.values.symbolic_ints import SymInt, of_dim
from tracejit.trace.values.tracer import Tracer

__all__ = ["METHODS", "cut", "delete_item", "extend", "get_item", "is_walked",
           "item_of_a_growing_list", "replace_items", "set_item", "sorted_run", "where_equal"]


# --- items and slices ---------------------------------------------------------------------------


def get_item(xs: Any, key: object) -> Any:
    """Return `xs[key]`."""
    if isinstance(key, slice):
        return note_made(type(xs)(cut(xs, key)))
    run, k = _located(xs, key)
    return run if k is None else run.item(k)


def item_of_a_growing_list(xs: list[object], key: SymInt) -> Any:
    """Return an item of a list that may get longer in the loop around; None where it does not."""
    trace = current()
    frame = next((f for f in reversed(trace.frames) if f.kind == "loop"), None)
    if frame is None or not frame.grows or not any(v in trace.carried for v in dim_values(
            trace.canonical(key.dim))) or not xs or any(id(xs) in f.created for f in trace.frames[
                frame.depth - 1:]):
        return None
    if len({is_plain_number(x) for x in xs}) > 1 or not all(
            is_number(x) and not isinstance(x, Changing) for x in xs):
        return None
    frame.indexed.append(xs)
    kinds = united(*map(kinds_of, xs))
    if storage(kinds) is None:
        return None
    return Stored(array_of(xs), 0, kinds, ()).item(key)


def _located(xs: Any, key: object) -> tuple[Any, Any]:
    """Return the run that has an item, and the index in the run; or the item and None."""
    place = _place(xs, key)
    place = _settled_place(xs, place)
    if isinstance(place, int):
        return xs[place], None
    if place is None:
        one = joined(xs) or joined_rows(xs)
        if one is None:
            refuse_unless_filled(xs)
            give_up(xs, "an item of a list of different things")
        return one, _index(key)
    return in_list(xs[place[0]], xs), place[1]


def _index(key: Any) -> Any:
    if not is_index(key):
        kind = "float" if isinstance(key, Tracer) else type(key).__name__
        raise TypeError(f"list indices must be integers or slices, not {kind}")
    return of_dim(to_dim(key)) if isinstance(key, (Tracer, SymInt)) else operator.index(key)


def _place(xs: Any, key: object) -> Any:
    """Return the place of an item in the Python list, or its run's place and the index in the run.

    None where the place is not known.
    """
    k = _index(key)
    if len(xs) == 1:
        return (0, k)
    known_parts = xs if isinstance(k, SymInt) or k >= 0 else xs[::-1]
    if not isinstance(k, int):
        return located(xs, k) if any(isinstance(p, Slots) for p in xs) else None
    rest = k if k >= 0 else -k - 1
    for j, p in enumerate(known_parts):
        place = j if k >= 0 else len(xs) - 1 - j
        if not isinstance(p, Run):
            if rest == 0:
                return place
            rest = rest - 1
            continue
        is_last = j == len(known_parts) - 1  # else it is none of the list
        inside = is_last or _has_more_than(p.count, rest, xs)
        if inside is True:
            return (place, rest if k >= 0 else -1 - rest)
        if inside is not False:
            return None
        rest = rest - of_dim(p.count)
        if not isinstance(rest, int):
            return None
    raise IndexError("list index out of range")


def _settled_place(xs: Any, place: object) -> Any:
    """Return the place of a single item as an int; the run will tell whether there is one."""
    if isinstance(place, tuple) and not isinstance(xs[place[0]], Run):
        point_index(place[1], 1, 0)
        return place[0]
    return place


def _has_more_than(count: Dim, rest: int, xs: object) -> Any:
    """Return whether a run has an item; of things unlike one another, a guard decides on it."""
    found = of_dim(count) > rest
    if isinstance(found, bool):
        return found
    one = joined(xs)
    if one is not None and not is_mixed(one.kinds):
        return None
    return current().decide(rest - count, "<", "whether a list has so many items")


def cut(xs: Any, key: slice) -> list[Any]:
    """Return the items of a slice of a list, which is a copy."""
    if len(xs) == 1 and isinstance(xs[0], Item):
        return xs[0].spread()[key]
    start, stop, step = (None if x is None else _index(x) for x in (key.start, key.stop, key.step))
    if (start, stop) == (None, None) and (step is None or step in (1, -1)):
        parts = copies(xs)
        whole = slice(None, None, -1)
        return parts if step != -1 else [p.part(whole) if isinstance(p, Run) else p
                                         for p in reversed(parts)]
    if len(xs) == 1:
        return [xs[0].part(slice(start, stop, step))]
    if step in (None, 1) and all(k is None or isinstance(k, int) for k in (start, stop)):
        trimmed = _trimmed(list(xs), start or 0, stop)
        if trimmed is not None:
            return copies(trimmed)
    one = joined_rows(xs) or the_run(xs, "a slice of a list of different things")
    return [one.part(slice(start, stop, step))]


def _trimmed(parts: list[object], start: int, stop: int | None) -> list[Any] | None:
    """Return the parts between two ends; None where it is not known which items they cut off."""
    if start < 0 or (stop is not None and stop >= 0):
        return None
    for end, many in ((0, start), (-1, -stop if stop is not None else 0)):
        while many:
            if not parts or (taken := _without(parts[end], end, many)) is None:
                return None
            rest, many = taken
            parts[end:end + 1 or None] = rest
    return parts


def _without(part: object, end: int, many: int) -> tuple[list[Any], int] | None:
    """Return a part of a list without items at an end, and how many are still to be left out."""
    if not isinstance(part, Run):
        return [], many - 1
    ranges, size = current().builder.known, part.count
    if isinstance(size, int) and size <= many:
        return [], many - size
    if not is_nonneg(size - many, ranges):
        return None
    return [part.part(slice(many, None) if end == 0 else slice(None, -many))], 0


def set_item(xs: list[Any], key: object, content: Any) -> int | None:
    """Carry out `xs[key] = content`, or return the place of the single item that is to be set."""
    if isinstance(key, slice):
        _assign_slice(xs, key, content)
        return None
    place = _place(xs, key)
    place = _settled_place(xs, place)
    if isinstance(place, int):
        _leave_to_python(xs)
        return place
    if place is None:
        give_up(xs, "writing to an item of a list of different things")
    run, k = xs[place[0]], place[1]
    if isinstance(run, Item):
        _put_into_item(run, k, content)
        return None
    if isinstance(run, ByData):
        run.put(k, content)
        return None
    if isinstance(run, Slots):
        new = run.bound(k, content)
        _change(xs, [*xs[:place[0]], *new, *xs[place[0] + 1:]], "filling a place of a list")
        return None
    if isinstance(run, Rows) and is_row(content) and same_rows(content, run.template):
        if require_known_links(run.template, content, xs) is not run.template:
            run.give_up("something in a list that had None alone")
        _note_change(xs)
        for column, y in zip(run.columns, places_of(content), strict=True):
            _writing(xs)
            _put(column, k, y)
        return None
    if not isinstance(run, Stored) or run.nest:
        run.give_up("binding an item of a list of arrays or lists to another one")
    _writing(xs)
    _put(run, k, content)
    return None


def _put_into_item(item: Item, k: SupportsIndex, content: object) -> None:
    """Write to a place of a list that is an item."""
    before = item.template[k.__index__()] if -len(item.template) <= k.__index__() < len(
        item.template) else 0
    contents = places_of(content) if isinstance(before, tuple) else [content]
    if isinstance(before, tuple) and not (is_row(content) and same_rows(content, before)):
        item.give_up("something of another kind at a place")
    for column, x in zip(item.columns_to_write(k), contents, strict=True):
        if isinstance(column, Stored):
            _writing(item.home.container)
            _put(column, of_dim(item.place), x)
        else:
            column.put(of_dim(item.place), x)


def _leave_to_python(xs: list[object]) -> None:
    """Give up a list of several runs that is written to while a loop runs over its joined items."""
    if has_runs(xs) and len(xs) > 1 and is_walked(xs):
        give_up(xs, "a write to a list while a loop runs over it")


def is_walked(xs: object) -> bool:
    """Return whether a loop runs over a list, or an iterator is in the midst of it."""
    trace = current()
    return any(xs is w for w in itertools.chain(trace.walked, *(i.walks for i in trace.iterators)))


def _writing(xs: object) -> None:
    """Note that items of a list are about to change."""
    trace = current()
    if isinstance(xs, list):
        _leave_to_python(xs)
    trace.changed_lists[id(xs)] = xs
    trace.captured.refuse_change(xs)
    refuse_joined_change(xs)
    if any(xs is x for frame in trace.frames for x in frame.stand_ins):
        raise Unroll("a list is bound to one after another, and its items are changed as well")


def _note_change(xs: object) -> None:
    """Note in the open regions that a list got other items: a name for it sees that, too."""
    for frame in current().frames:
        frame.changed.add(id(xs))


def _put(run: Stored, k: object, content: Any) -> None:
    if isinstance(content, np.ndarray):
        content = lift(content)
    if not is_number(content) or isinstance(content, Changing):
        run.give_up("an item of another kind than the others in a list")
    content = lift(content)
    is_array = isinstance(content, Tracer) and content.is_array
    if is_array is run.is_numbers:
        run.give_up("an item of another kind than the others in a list")
    kinds = kinds_of(content)
    if united(run.kinds, kinds) != run.kinds:
        if is_array:
            run.give_up("an array of another dtype than the others in a list")
        if is_mixed(run.kinds) and keys_of(kinds) <= keys_of(run.kinds):
            run.give_up("ints in a list of numbers of several kinds get larger")
        raise Relist(run.where, kinds, "numbers of another kind are put into it")
    if is_array:
        _put_array(run, k, content)
    else:
        run.data[k] = number_of(content)


def _put_array(run: Stored, k: object, content: Tracer) -> None:
    """Store an array that nothing else holds; the list does not know it by another name."""
    canonical = current().canonical
    if len(content.dims) != run.data.ndim - 1 or any(
            canonical(a) != canonical(b)
            for a, b in zip(content.dims, run.data.dims[1:], strict=True)):
        run.give_up("an array of another shape than the others in a list")
    shared = content.cell.sources or content.cell.constant is not None or (
        content.cell.depth < current().depth) or (
        content.cell.is_in_use(besides=content)) or any(x is content for x in held_by_program())
    if shared or run.data.cell.is_in_use(besides=run.data):
        run.give_up("an item of a list of arrays is bound to one that has a name, too")
    run.data[k] = content


def _assign_slice(xs: list[object], key: slice, content: Any) -> None:
    """Carry out `xs[a:b] = content`."""
    if key.step not in (None, 1):
        give_up(xs, "assigning to a slice with a step")
    new = list(_items_to_add(content))
    start, stop, _ = key.start, key.stop, key.step
    if start is not None and stop is not None and not (
            isinstance(start, int) and isinstance(stop, int) and 0 <= start <= stop):
        give_up(xs, "assigning to a slice of a list")
    before = [] if start is None else cut(xs, slice(None, start))
    after = [] if stop is None else cut(xs, slice(stop, None))
    _change(xs, [*before, *new, *after], "assigning to a slice of a list")


def delete_item(xs: list[object], key: object) -> None:
    """Carry out `del xs[key]`."""
    if isinstance(key, slice):
        _assign_slice(xs, key, [])
    else:
        _pop(xs, key)


# --- changes of length --------------------------------------------------------------------------


def _change(xs: list[object], parts: list[Any], what: str) -> None:
    """Give a list other items, more or fewer."""
    if xs and isinstance(xs[0], ByData):
        xs[0].replace(parts)
        return
    for p in xs:
        if isinstance(p, Item) or (isinstance(p, Stored) and p.shared):
            p.give_up(what)
    trace = current()
    if has_runs(xs) and is_walked(xs):
        give_up(xs, f"{what} of a list while a loop runs over it")
    trace.changed_lists[id(xs)] = xs
    _note_change(xs)
    trace.captured.refuse_change(xs)
    refuse_joined_change(xs)
    try:
        known_container(xs, what)
    except Unroll as e:
        if has_runs(xs) and not is_of_open_loop(e) and any(
                f.kind == "loop" and not f.counted for f in trace.frames):
            give_up(xs, what)  # Python may know how often a `while` runs
        raise
    xs[:] = parts


def replace_items(xs: list[object], new: list[object]) -> None:
    """Give a list the items of another one."""
    _change(xs, new, "a change of a list's length")


def _items_to_add(content: object) -> Iterable[Any]:
    found = list_from(content)
    if found is not None:
        return found
    if isinstance(content, Tracer):
        return list(content)
    return content if isinstance(content, (list, tuple, range)) else ABOVE.iterate(content)


def _append(xs: list[object], x: object) -> None:
    if xs and isinstance(xs[0], ByData):
        xs[0].push(x)
        return
    try:
        _change(xs, [*xs, x], "list.append()")
    except Grows as e:
        if e.container is xs and e.by_data:
            note_item(e, x)
        raise


def extend(xs: list[object], content: object) -> None:
    """Carry out `xs.extend(content)`; it has the items before one that raises an error."""
    items: list[object] = []
    try:
        items.extend(_items_to_add(content))
    finally:
        if items:
            _change(xs, [*xs, *items], "list.extend()")


def _insert(xs: list[object], k: Any, x: object) -> None:
    if xs and isinstance(xs[0], ByData):
        xs[0].replace([xs[0].kept(slice(None, k)), x, xs[0].kept(slice(k, None))])
        return
    before, after = ([], xs) if isinstance(k, int) and k == 0 else (
        cut(xs, slice(None, k)), cut(xs, slice(k, None)))
    _change(xs, [*before, x, *after], "list.insert()")


def _pop(xs: list[object], k: Any = -1) -> Any:
    if xs and isinstance(xs[0], ByData) and isinstance(k, int) and k == -1:
        return xs[0].pop()
    if xs and isinstance(xs[0], ByData):
        return xs[0].remove(k)
    if any(f.by_data for f in current().frames):
        known_container(xs, "list.pop()")  # it gets shorter as data decides
    if not isinstance(k, int):
        give_up(xs, "list.pop()")
    if k not in (0, -1) and len(xs) == 1:
        give_up(xs, "list.pop()")
    place = _place(xs, k)
    if isinstance(place, int):
        x = xs[place]
        _change(xs, [*xs[:place], *xs[place + 1:]], "list.pop()")
        return x
    if place is None:
        give_up(xs, "list.pop()")
    j, rest = place
    run = xs[j]
    x = run.item(rest)
    if rest == 0:
        kept = run.part(slice(1, None))
    elif rest == -1:
        kept = run.part(slice(None, -1))
    else:
        give_up(xs, "list.pop()")
    _change(xs, [*xs[:j], kept, *xs[j + 1:]], "list.pop()")
    return x


def _reverse(xs: list[object]) -> None:
    _change(xs, cut(xs, slice(None, None, -1)), "list.reverse()")


def _clear(xs: list[object]) -> None:
    _change(xs, [], "list.clear()")


def _copy(xs: list[object]) -> list[Any]:
    return note_made(copies(xs))  # type: ignore[no-any-return]


def sorted_run(xs: object, key: object, reverse: object) -> Run:
    """Return the items of a list in order, as NumPy sorts them."""
    if key is not None or not isinstance(reverse, (bool, int)):
        give_up(xs, "sorting by a key")
    one = the_run(xs, "sorting a list")
    run = one.like(in_order(one.data))
    return run.part(slice(None, None, -1)) if reverse else run


def in_order(data: Tracer) -> Tracer:
    """Return floats or ints in order; with a NaN among them Python's order is another one."""
    require_order([data])
    result: Tracer = FUNCTIONS[np.sort](data)
    return result


def _sort(xs: list[object], *, key: object = None, reverse: object = False) -> None:
    if key is not None or joined(xs) is None:
        _change(xs, ABOVE.call_function(sorted, (xs,), {"key": key, "reverse": reverse}),
                "list.sort()")
    else:
        _change(xs, [sorted_run(xs, key, reverse)], "list.sort()")


def where_equal(xs: list[object], x: object, why: str) -> Tracer:
    """Return where the items of a list are equal to something."""
    one = the_run(xs, why)
    if not is_plain_number(x):
        give_up(xs, why)
    require_known_equality(both_nan(one.data, x))
    return FUNCTIONS[np.atleast_1d](one.data == x)  # type: ignore[no-any-return]


def _position(xs: list[object], x: object, *bounds: object) -> Any:
    if bounds:
        give_up(xs, "list.index() within bounds")
    found = where_equal(xs, x, "list.index()")
    emit("check", [FUNCTIONS[np.any](found).value],
         {"error": "ValueError", "message": "the number is not in list"})
    return SymInt(cast(FUNCTIONS[np.argmax](found), np.int64).value.dim)


def _count(xs: list[object], x: object) -> Any:
    found = FUNCTIONS[np.sum](where_equal(xs, x, "list.count()"), dtype=np.int64)
    return SymInt(found.value.dim)


METHODS: dict[str, Callable[..., Any]] = {
    "append": _append, "extend": extend, "insert": _insert, "pop": _pop, "reverse": _reverse,
    "clear": _clear, "copy": _copy, "sort": _sort, "index": _position, "count": _count,
}
"""The methods of a list with runs, by their names."""
