"""Lists of which sizes say how long they are: made, indexed, changed and compared as Python does.

Each function takes Python lists in which runs (`runs.py`) stand for many items. What runs cannot
express makes the capture begin again with the list made item by item, under a size that is fixed.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from tracejit.errors import Refusal
from tracejit.ir.core import Value
from tracejit.ir.dims import Dim, dim_values, is_nonneg, maximum
from tracejit.ir.types import scalar
from tracejit.trace.branches import as_condition
from tracejit.trace.changes import known_container, note_made
from tracejit.trace.container_aliases import refuse_joined_change
from tracejit.trace.context import current
from tracejit.trace.data_lists import ByData, plain_items
from tracejit.trace.dispatch import FUNCTIONS, Changing
from tracejit.trace.equations import (
    cast,
    dims_of,
    emit,
    emit_value,
    lift,
    to_dim,
)
from tracejit.trace.filling import Alike, Slots, at_least_none, located, refuse_unless_filled
from tracejit.trace.growing import MANY_ITEMS
from tracejit.trace.heap import held_by_program
from tracejit.trace.indexing import point_index
from tracejit.trace.iterables import Iterated, TracedIterable, counted
from tracejit.trace.loops import is_of_open_loop, trace_loop
from tracejit.trace.mixed import (
    UNBOUNDED,
    Kind,
    Kinds,
    Mixed,
    is_mixed,
    kinds_of,
    number_of,
    of_one_kind,
    storage,
    united,
)
from tracejit.trace.places import is_number
from tracejit.trace.python_numbers import LIMIT, TOO_LARGE, require
from tracejit.trace.restarts import NeedStatic, PlaceInCode, Relist, Unroll
from tracejit.trace.rows import Rows
from tracejit.trace.runs import (
    Run,
    Stored,
    Views,
    array_of,
    copies,
    first_run,
    has_runs,
    is_index,
    length,
    place_in_code,
    size_of,
    step_values,
)
from tracejit.trace.tracer import SymInt, Tracer, of_dim, scalar_of, tracer_of
from tracejit.trace.upward import ABOVE, above

__all__ = ["METHODS", "any_item", "concatenated", "contains", "cut", "delete_item", "equal",
           "every_item", "extend", "extreme", "filled", "get_item", "give_up", "is_true",
           "items_of", "joined", "list_from", "list_of", "nested_list", "one_run", "ordered",
           "refuse_unknown_identity", "repeated", "replace_items", "set_item", "sorted_floats",
           "total", "unpacked"]


def give_up(xs: Any, why: str) -> NoReturn:
    """Begin the capture again with a list made item by item."""
    first_run(xs).give_up(why)


# --- making lists -------------------------------------------------------------------------------


def list_of(items: TracedIterable, element: Callable[[Any], Any]) -> list[Any]:
    """Return `[element(a) for a in items]`."""
    trace = current()
    where = place_in_code()
    why: str | None = trace.plain_lists.get(where)
    count = items.count
    if isinstance(count, int) and why is None and not (items.what == "a list" and (
            count > MANY_ITEMS)):
        why = ""  # as many items as it says
    if why is None:
        try:
            run = _Maker(items, element, where).run()
            return note_made([run])  # type: ignore[no-any-return]
        except Unroll as e:
            if is_of_open_loop(e):
                raise
            why = e.why
        except Refusal as e:
            if not trace.is_known(count):
                raise
            why = str(e)
    if why:
        trace.note(f"this list is made item by item: {why}", trace.builder.find_site())
    return note_made([element(x) for x in items])  # type: ignore[no-any-return]


class _OtherKind(Exception):
    """Internal: what a list holds is of another kind than the first trial found."""

    def __init__(self, kind: tuple[Any, ...]) -> None:
        super().__init__()
        self.kind = kind


class _Maker:
    """A comprehension as a loop that fills an array, or as views of one."""

    def __init__(self, items: TracedIterable, element: Callable[[Any], Any],
                 where: PlaceInCode) -> None:
        self.items, self.element, self.where = items, element, where

    def run(self) -> Run:
        """Return the items; `Unroll` where Python has to make them one by one."""
        kind = self._trial()
        if isinstance(kind, Views):
            return kind
        for _ in range(8):
            try:
                return self._fill(*kind)
            except _OtherKind as e:
                kind = e.kind
        raise Unroll("its items do not settle on one kind")

    def _trial(self) -> Any:
        """Return views, or the kind of the items: shape, lists in it, dtype, whether Python's."""
        trace, items = current(), self.items
        index = Value(scalar(np.int64), "i")
        trace.builder.assume(index, items.lo, items.hi - 1)
        trace.carried.add(index)
        try:
            with trace.region("loop", (index,)) as (frame, scope):
                x = self.element(items.item(SymInt(index.dim)))
                made = {v for e in scope.eqns for v in e.outputs}
                if isinstance(x, Tracer) and x.is_array and x.cell.depth < frame.depth:
                    return self._views(x, index, made)
                return _kind_of(x, made | {index})
        except NeedStatic as e:
            if e.value is not index:
                raise
            raise Unroll(e.why) from None

    def _views(self, x: Tracer, index: Value, made: set[Value]) -> Views:
        shape = x.dims
        if isinstance(x, Changing) or not made.isdisjoint(step_values(x)) or any(
                v is index for d in shape for v in dim_values(d)):
            raise Unroll("its items are views of an array in no order that is known")
        items = self.items
        lo, last = items.lo, items.hi - 1
        at = (lambda k: last - k) if items.reverse else (lambda k: lo + k)
        return Views(items.count, x, index, at, shape, self.where)

    def _fill(self, shape: tuple[Dim, ...], nest: int, kinds: Kinds) -> Stored:
        items = self.items
        kinds = _kinds_at(self.where, kinds)
        result = _empty((items.count, *shape), _storage(kinds, self.where))

        def body(i: Any) -> None:
            place = of_dim(items.hi - 1) - i if items.reverse else i - of_dim(items.lo)
            x = self.element(items.item(i))
            found = _kind_of(x, set())
            both = united(kinds, found[2])
            if len(found[0]) != len(shape) or found[1] != nest or both != kinds:
                if len(found[0]) == len(shape) and storage(both) is None:
                    raise Unroll("its items are numbers of different kinds")
                raise _OtherKind((*found[:2], both) if len(found[0]) == len(shape) else found)
            result[place] = _stored_item(x)

        trace_loop([], [], [result], body, None, items.lo, items.hi, items.reverse)
        return Stored(result, nest, kinds, self.where)


def _empty(shape: tuple[Dim, ...], dtype: np.dtype) -> Tracer:
    result = tracer_of(emit_value("empty", [], {"shape": shape, "dtype": dtype}))
    result.cell.is_array = True
    return result


@above
def filled(count: Dim, item: Callable[[Any], Any], shape: tuple[Dim, ...],
           dtype: np.dtype) -> Tracer:
    """Return an array of `item(0)`, `item(1)`, ..."""
    result = _empty((count, *shape), dtype)

    def body(i: Any) -> None:
        result[i] = item(i)

    trace_loop([], [], [result], body, None, 0, count)
    return result


def _stored_item(x: Any) -> Any:
    return array_of(x) if isinstance(x, list) else x


def _kind_of(x: Any, inside: set[Value]) -> tuple[tuple[Dim, ...], int, Kinds]:
    """Return what the storage of items like one has to be; `Unroll` where they have none.

    inside -- the values on which its size must not depend
    """
    if isinstance(x, list) and any(x is made for frame in current().frames[-1:]
                                   for made in frame.created.values()):
        shape, nest, kinds = _kind_of_list(x)
    elif is_number(x) and not isinstance(x, Changing):
        x = lift(x)
        if isinstance(x, Tracer) and x.is_array and (
                x.cell.sources or x.cell.depth < current().depth or not x.dims):
            raise Unroll("its items are arrays that other names may have")
        shape, nest, kinds = dims_of(x), 0, kinds_of(x)
    else:
        raise Unroll(f"its items are of type {type(x).__name__}")
    if any(v in inside for d in shape for v in dim_values(d)):
        raise Unroll("its items differ in size")
    return shape, nest, kinds


def _kind_of_list(xs: list[Any]) -> tuple[tuple[Dim, ...], int, Kinds]:
    """Return the kind of items that are lists like one."""
    run = xs[0] if len(xs) == 1 else None
    if isinstance(run, Stored) and not run.shared and (run.nest or run.is_numbers):
        return run.data.dims, run.nest + 1, run.kinds
    found = [_kind_of(x, set()) for x in xs if not isinstance(x, Run)]
    kinds = united(*(numbers for _, _, numbers in found))
    if len({(shape, nest) for shape, nest, _ in found}) != 1 or storage(kinds) is None or any(
            isinstance(x, Run) for x in xs):
        raise Unroll("its items are lists of different things")
    shape, nest, _ = found[0]
    if shape and not nest:
        raise Unroll("its items are lists of arrays")
    return (len(xs), *shape), nest + 1, kinds


def list_from(x: Any) -> list[Any] | None:
    """Return `list(x)` of what has as many items as a size says; None of anything else."""
    if has_runs(x):
        return note_made(copies(x))  # type: ignore[no-any-return]
    if isinstance(x, Changing):
        x = x.read_value()
    items = counted(x) if not isinstance(x, list) else None
    if items is None or (isinstance(items.count, int) and not isinstance(x, Iterated)):
        return None
    if isinstance(x, Tracer) and x.ndim == 1 and place_in_code() not in current().plain_lists:
        return _stored_here(FUNCTIONS[np.array](x), 0, of_one_kind(x.dtype, False))
    return list_of(items, lambda v: v)


def nested_list(x: Tracer) -> Any:
    """Return `x.tolist()` of an array."""
    if isinstance(x, Changing):
        x = x.read_value()
    if not x.ndim:
        return _plain_number(x)
    if x.dtype == np.uint64:
        require(np.all(x < np.uint64(1 << 63)), OverflowError, TOO_LARGE)
    x = cast(x, _PYTHON.get(x.dtype.kind, x.dtype))
    if place_in_code() in current().plain_lists or isinstance(x.dims[0], int):
        rows = [x[k] for k in range(len(x))]
        return note_made([_plain_number(r) if not r.is_array
                          else nested_list(r) for r in rows])
    return _stored_here(FUNCTIONS[np.array](x), x.ndim - 1, of_one_kind(x.dtype, True))


def _stored_here(data: Tracer, nest: int, kinds: Kinds) -> list[Any]:
    where = place_in_code()
    kinds = _kinds_at(where, kinds)
    dtype = _storage(kinds, where)
    run = Stored(cast(data, dtype) if data.dtype != dtype else data, nest, kinds, where)
    run.data.cell.is_array = True
    return note_made([run])  # type: ignore[no-any-return]


_PYTHON = {"f": np.float64, "i": np.int64, "u": np.int64, "c": np.complex128}


def _plain_number(x: Tracer) -> Any:
    return scalar_of(x.value, weak=True)


def repeated(xs: Any, n: Any) -> Any:
    """Return `xs * n`, where n is not known; None where that has to be known."""
    n = to_dim(n)
    if place_in_code() in current().plain_lists:
        return None
    if len(xs) == 1 and xs[0] is None:
        return note_made(type(xs)(
            Alike(None, 0, place_in_code()).of_size(at_least_none(n, "how long a list is"))))
    if len(xs) == 1 and _is_plain_number(xs[0]):
        return _full(xs, n)
    one = joined(xs)
    if one is None:
        if len(xs) == 1 and isinstance(xs[0], Tracer) and xs[0].is_array and (
                not isinstance(xs[0], Changing)):
            index = Value(scalar(np.int64), "i")
            views = Views(_at_least_none(n), xs[0], index, lambda k: k, xs[0].dims,
                          place_in_code())
            return note_made(type(xs)([views]))
        return None
    if one.nest or not one.is_numbers:
        return None
    where = place_in_code()
    kinds = _kinds_at(where, one.kinds)
    data = FUNCTIONS[np.tile](cast(one.data, _storage(kinds, where)), of_dim(_at_least_none(n)))
    return note_made(type(xs)([Stored(data, 0, kinds, where)]))


def _full(xs: Any, n: Dim) -> Any:
    x, where = lift(xs[0]), place_in_code()
    kinds = _kinds_at(where, kinds_of(x))
    data = FUNCTIONS[np.full](of_dim(_at_least_none(n)), number_of(x), dtype=_storage(kinds, where))
    return note_made(type(xs)([Stored(data, 0, kinds, where)]))


def _kinds_at(where: PlaceInCode, kinds: Kinds) -> Kinds:
    """Return the kinds of numbers in a list that is made at a place: its own, and what it gets."""
    return united(kinds, current().list_kinds.get(where, ()))


def _storage(kinds: Kinds, where: PlaceInCode) -> np.dtype:
    """Return the dtype of a list's storage; begin again without one where there is none."""
    dtype = storage(kinds)
    if dtype is None:
        raise Relist(where, None, "its numbers are of several kinds")
    return dtype


def _at_least_none(n: Dim) -> Dim:
    return maximum(n, 0, current().builder.known)


# --- kinds of numbers ---------------------------------------------------------------------------


def joined(xs: Any) -> Stored | None:
    """Return one run for all items of a list, where they are numbers."""
    xs = plain_items(xs)
    if len(xs) == 1 and isinstance(xs[0], Stored):
        return xs[0]
    if not xs or not all(p.is_numbers if isinstance(p, Run) else _is_plain_number(p) for p in xs):
        return None
    kinds = united(*(p.kinds if isinstance(p, Stored) else kinds_of(lift(p)) for p in xs))
    dtype = storage(kinds)
    where = next((p.where for p in xs if isinstance(p, Run)), ())
    return None if dtype is None else Stored(cast(array_of(
        [number_of(p) for p in xs]), dtype), 0, kinds,
        where or place_in_code())


def _is_plain_number(x: Any) -> bool:
    return is_number(x) and not isinstance(x, (np.ndarray, Changing)) and not (
        isinstance(x, Tracer) and x.is_array)


@above
def one_run(xs: Any) -> Stored:
    """Return one run for all items of a list, which are numbers, for an iterator over them."""
    return _one(xs, "an iterator over a list of different things")


def _one(xs: Any, why: str) -> Stored:
    """Return one run of numbers for all items of a list; give the list up where there is none."""
    run = joined(xs)
    if run is None or not run.is_numbers:
        give_up(xs, why)
    return run


# --- items and slices ---------------------------------------------------------------------------


def get_item(xs: Any, key: Any) -> Any:
    """Return `xs[key]`."""
    if isinstance(key, slice):
        return note_made(type(xs)(cut(xs, key)))
    run, k = _located(xs, key)
    return run if k is None else run.item(k)


def item_of_a_growing_list(xs: list[Any], key: SymInt) -> Any:
    """Return an item of a list that may get longer in the loop around; None where it does not."""
    trace = current()
    frame = next((f for f in reversed(trace.frames) if f.kind == "loop"), None)
    if frame is None or not frame.grows or not any(v in trace.carried for v in dim_values(
            trace.canonical(key.dim))) or not xs or any(id(xs) in f.created for f in trace.frames[
                frame.depth - 1:]):
        return None
    if len({_is_plain_number(x) for x in xs}) > 1 or not all(
            is_number(x) and not isinstance(x, Changing) for x in xs):
        return None
    frame.indexed.append(xs)
    kinds = united(*map(kinds_of, xs))
    if storage(kinds) is None:
        return None
    return Stored(array_of(xs), 0, kinds, ()).item(key)


def _located(xs: Any, key: Any) -> tuple[Any, Any]:
    """Return the run that has an item, and which of it; or the item and None."""
    place = _place(xs, key)
    place = _settled_place(xs, place)
    if isinstance(place, int):
        return xs[place], None
    if place is None:
        one = joined(xs)
        if one is None:
            refuse_unless_filled(xs)
            give_up(xs, "an item of a list of different things")
        return one, _index(key)
    return xs[place[0]], place[1]


def _index(key: Any) -> Any:
    if not is_index(key):
        kind = "float" if isinstance(key, Tracer) else type(key).__name__
        raise TypeError(f"list indices must be integers or slices, not {kind}")
    return of_dim(to_dim(key)) if isinstance(key, (Tracer, SymInt)) else operator.index(key)


def _place(xs: Any, key: Any) -> Any:
    """Return the place of an item in the Python list, or that of a run and which it is of it.

    None where that is not known.
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
        inside = _has_more_than(p.count, rest, xs)
        if inside is True:
            return (place, rest if k >= 0 else -1 - rest)
        if inside is not False:
            return None
        rest = rest - of_dim(p.count)
        if not isinstance(rest, int):
            return None
    raise IndexError("list index out of range")


def _settled_place(xs: Any, place: Any) -> Any:
    """Return the place of a single item as an int; the run will tell whether there is one."""
    if isinstance(place, tuple) and not isinstance(xs[place[0]], Run):
        point_index(place[1], 1, 0)
        return place[0]
    return place


def _has_more_than(count: Dim, rest: int, xs: Any) -> Any:
    """Return whether a run has an item; of things unlike one another, a guard decides on it."""
    found = of_dim(count) > rest
    if isinstance(found, bool):
        return found
    one = joined(xs)
    if one is not None and not is_mixed(one.kinds):
        return None
    return current().decide(rest - count, "<", "whether a list has so many items")


def cut(xs: Any, key: slice) -> list[Any]:
    """Return what a slice of a list has, which is a copy."""
    start, stop, step = (None if x is None else _index(x) for x in (key.start, key.stop, key.step))
    if (start, stop) == (None, None) and (step is None or step in (1, -1)):
        parts = copies(xs)
        whole = slice(None, None, -1)
        return parts if step != -1 else [p.part(whole) if isinstance(p, Run) else p
                                         for p in reversed(parts)]
    if len(xs) == 1:
        return [xs[0].part(slice(start, stop, step))]
    if step in (None, 1) and isinstance(start or 0, int) and isinstance(stop or 0, int):
        trimmed = _trimmed(list(xs), start or 0, stop)
        if trimmed is not None:
            return copies(trimmed)
    return [_one(xs, "a slice of a list of different things").part(slice(start, stop, step))]


def _trimmed(parts: list[Any], start: int, stop: int | None) -> list[Any] | None:
    """Return the parts between two ends, where it is known what they cut off; else None."""
    if start < 0 or (stop is not None and stop >= 0):
        return None
    for end, many in ((0, start), (-1, -stop if stop is not None else 0)):
        while many:
            if not parts or (taken := _without(parts[end], end, many)) is None:
                return None
            rest, many = taken
            parts[end:end + 1 or None] = rest
    return parts


def _without(part: Any, end: int, many: int) -> tuple[list[Any], int] | None:
    """Return a part of a list without items at an end, and how many are still to be left out."""
    if not isinstance(part, Run):
        return [], many - 1
    ranges, size = current().builder.known, part.count
    if isinstance(size, int) and size <= many:
        return [], many - size
    if not is_nonneg(size - many, ranges):
        return None
    return [part.part(slice(many, None) if end == 0 else slice(None, -many))], 0


def set_item(xs: list[Any], key: Any, content: Any) -> int | None:
    """Carry out `xs[key] = content`, or return the place of the single item that is to be set."""
    if isinstance(key, slice):
        _assign_slice(xs, key, content)
        return None
    place = _place(xs, key)
    place = _settled_place(xs, place)
    if isinstance(place, int):
        return place
    if place is None:
        give_up(xs, "writing to an item of a list of different things")
    run, k = xs[place[0]], place[1]
    if isinstance(run, ByData):
        run.put(k, content)
        return None
    if isinstance(run, Slots):
        new = run.bound(k, content)
        _change(xs, [*xs[:place[0]], *new, *xs[place[0] + 1:]], "filling a place of a list")
        return None
    if not isinstance(run, Stored) or run.nest:
        run.give_up("binding an item of a list of arrays or lists to another one")
    _writing(xs)
    _put(run, k, content)
    return None


def _writing(xs: Any) -> None:
    """Note that items of a list are about to change."""
    trace = current()
    trace.captured.refuse_change(xs)
    refuse_joined_change(xs)
    if any(xs is x for frame in trace.frames for x in frame.stand_ins):
        raise Unroll("a list is bound to one after another, and its items are changed as well")


def _put(run: Stored, k: Any, content: Any) -> None:
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
        if is_mixed(run.kinds) and {k[:2] for k in kinds} <= {k[:2] for k in run.kinds}:
            run.give_up("ints in a list of numbers of several kinds get larger")
        raise Relist(run.where, kinds, "numbers of another kind are put into it")
    if is_array:
        _put_array(run, k, content)
    else:
        run.data[k] = number_of(content)


def _put_array(run: Stored, k: Any, content: Tracer) -> None:
    """Store an array that nothing else holds; the list does not know it by another name."""
    canonical = current().canonical
    if len(content.dims) != run.data.ndim - 1 or any(
            canonical(a) != canonical(b)
            for a, b in zip(content.dims, run.data.dims[1:], strict=True)):
        run.give_up("an array of another shape than the others in a list")
    shared = content.cell.sources or content.cell.depth < current().depth or (
        content.cell.is_in_use(besides=content)) or any(x is content for x in held_by_program())
    if shared or run.data.cell.is_in_use(besides=run.data):
        run.give_up("an item of a list of arrays is bound to one that has a name, too")
    run.data[k] = content


def _assign_slice(xs: list[Any], key: slice, content: Any) -> None:
    """Carry out `xs[a:b] = content`."""
    if key.step not in (None, 1):
        give_up(xs, "assigning to a slice with a step")
    new = _items_to_add(content)
    start, stop, _ = key.start, key.stop, key.step
    if start is not None and stop is not None and not (
            isinstance(start, int) and isinstance(stop, int) and 0 <= start <= stop):
        give_up(xs, "assigning to a slice of a list")
    before = [] if start is None else cut(xs, slice(None, start))
    after = [] if stop is None else cut(xs, slice(stop, None))
    _change(xs, [*before, *new, *after], "assigning to a slice of a list")


def delete_item(xs: list[Any], key: Any) -> None:
    """Carry out `del xs[key]`."""
    if isinstance(key, slice):
        _assign_slice(xs, key, [])
    else:
        _pop(xs, key)


def refuse_unknown_identity(a: Any, b: Any) -> None:
    """Give lists up of which an item was asked for twice, to see whether both are one thing."""
    for x in (a, b):
        if has_runs(x) and isinstance(x[0], Stored) and x[0].shared:
            x[0].give_up("the identity of an item of a list")
    if not (isinstance(a, Tracer) and isinstance(b, Tracer) and a.is_array and b.is_array):
        return
    cell = a.cell
    for c in (cell, b.cell):
        if c.rows_of is not None and cell.may_be_one_with(b.cell):
            raise Relist(c.rows_of, None, "the identity of an item of a list")
    if cell.rows_of is not None and cell.rows_of is b.cell.rows_of:
        raise Relist(cell.rows_of, None, "the identity of an item of a list")
    if cell is b.cell and cell.viewed_by is not None and a.steps != b.steps and (
            step_values(a) | step_values(b)):
        raise Relist(cell.viewed_by, None, "the identity of an item of a list")


# --- changes of length --------------------------------------------------------------------------


def _change(xs: list[Any], parts: list[Any], what: str) -> None:
    """Give a list other items, more or fewer."""
    if xs and isinstance(xs[0], ByData):
        xs[0].replace(parts)
        return
    for p in xs:
        if isinstance(p, Stored) and p.shared:
            p.give_up(what)
    trace = current()
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


def replace_items(xs: list[Any], new: list[Any]) -> None:
    """Give a list the items of another one."""
    _change(xs, new, "a change of a list's length")


def _items_to_add(content: Any) -> list[Any]:
    found = list_from(content)
    if found is not None:
        return found
    if isinstance(content, Tracer):
        return list(content)
    if not isinstance(content, (list, tuple, range)):
        return list(ABOVE.iterate(content))
    return list(content)


def _append(xs: list[Any], x: Any) -> None:
    if xs and isinstance(xs[0], ByData):
        xs[0].push(x)
        return
    _change(xs, [*xs, x], "list.append()")


def extend(xs: list[Any], content: Any) -> None:
    """Carry out `xs.extend(content)`."""
    _change(xs, [*xs, *_items_to_add(content)], "list.extend()")


def _insert(xs: list[Any], k: Any, x: Any) -> None:
    if xs and isinstance(xs[0], ByData):
        xs[0].replace([xs[0].part(slice(None, k)), x, xs[0].part(slice(k, None))])
        return
    before, after = ([], xs) if isinstance(k, int) and k == 0 else (
        cut(xs, slice(None, k)), cut(xs, slice(k, None)))
    _change(xs, [*before, x, *after], "list.insert()")


def _pop(xs: list[Any], k: Any = -1) -> Any:
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


def _reverse(xs: list[Any]) -> None:
    _change(xs, cut(xs, slice(None, None, -1)), "list.reverse()")


def _clear(xs: list[Any]) -> None:
    _change(xs, [], "list.clear()")


def _copy(xs: list[Any]) -> list[Any]:
    return note_made(copies(xs))  # type: ignore[no-any-return]


def _sort(xs: list[Any], *, key: Any = None, reverse: Any = False) -> None:
    _change(xs, [_sorted_run(xs, key, reverse)], "list.sort()")


def _found(xs: list[Any], x: Any, why: str) -> Tracer:
    """Return where the items of a list are equal to something."""
    one = _one(xs, why)
    if not _is_plain_number(x):
        give_up(xs, why)
    return FUNCTIONS[np.atleast_1d](one.data == x)  # type: ignore[no-any-return]


def _position(xs: list[Any], x: Any, *bounds: Any) -> Any:
    if bounds:
        give_up(xs, "list.index() within bounds")
    found = _found(xs, x, "list.index()")
    emit("check", [FUNCTIONS[np.any](found).value],
         {"error": "ValueError", "message": "the number is not in list"})
    return SymInt(cast(FUNCTIONS[np.argmax](found), np.int64).value.dim)


def _count(xs: list[Any], x: Any) -> Any:
    found = FUNCTIONS[np.sum](_found(xs, x, "list.count()"), dtype=np.int64)
    return SymInt(found.value.dim)


METHODS: dict[str, Callable[..., Any]] = {
    "append": _append, "extend": extend, "insert": _insert, "pop": _pop, "reverse": _reverse,
    "clear": _clear, "copy": _copy, "sort": _sort, "index": _position, "count": _count,
}
"""What a method of a list with runs does, by its name."""


# --- operators ----------------------------------------------------------------------------------


def concatenated(a: Any, b: Any) -> Any:
    """Return `a + b` of two lists, or two tuples."""
    return note_made(type(a)([*copies(a), *copies(b)]))


def equal(a: Any, b: Any) -> Any:
    """Return `a == b` of two lists, or two tuples."""
    if a is b:
        return True
    same_size = size_of(a) == size_of(b)
    if same_size is False:
        return False
    xs = a if has_runs(a) else b
    if not isinstance(same_size, bool):
        give_up(xs, "comparing lists")
    if not a or not b:
        return True
    x, y = joined(a), joined(b)
    if x is None or y is None or not (x.is_numbers and y.is_numbers):
        give_up(xs, "comparing lists")
    result = FUNCTIONS[np.all](x.data == y.data)
    return tracer_of(result.value, weak=True)


def contains(xs: Any, x: Any) -> Any:
    """Return `x in xs`."""
    if not _is_plain_number(x):
        give_up(xs, "looking for something in a list")
    return tracer_of(FUNCTIONS[np.any](_found(xs, x, "looking in a list")).value, weak=True)


def is_true(xs: Any) -> Any:
    """Return whether a list has items."""
    return as_condition(size_of(xs))


# --- functions of lists -------------------------------------------------------------------------


def items_of(xs: Any) -> Iterator[Any]:
    """Yield the items one by one, which needs their number."""
    for p in list(xs):
        if not isinstance(p, Run):
            yield p
            continue
        if not isinstance(p.count, int):
            p.give_up("iterating over a list where it cannot be a loop")
        for k in range(p.count):
            yield p.item(k)


def unpacked(xs: Any, count: int) -> tuple[Any, ...]:
    """Return what an assignment to several names unpacks."""
    from tracejit.trace.equations import same_dim

    if not same_dim(length(xs), count):
        trace, n = current(), length(xs)
        found = trace.number(n) if trace.is_known(n) else n
        relation = "not enough" if isinstance(found, int) and found < count else "too many"
        raise ValueError(f"{relation} values to unpack (expected {count})")
    return tuple(get_item(xs, k) for k in range(count))


def total(xs: Any, start: Any, add: Callable[[Any, Any], Any]) -> Any:
    """Return `sum(xs, start)`."""
    result = start
    for p in plain_items(xs):
        if not isinstance(p, Run):
            result = add(result, p)
            continue
        if isinstance(p, Rows) or (isinstance(p, Stored) and p.nest):
            p.give_up("a sum of tuples or lists")
        if p.count == 0:
            continue
        if not p.is_numbers:
            is_empty = current().decide(p.count, "==", "a sum of no arrays is a number")
            if is_empty:
                continue
            if is_empty is None and not is_nonneg(p.count - 1, current().builder.known) and any(
                    v in current().carried for v in dim_values(p.count)):
                p.give_up("a sum of no arrays is a number")
        result = add(result, _run_total(p))
    return result


def _run_total(run: Run) -> Any:
    data = run.data if isinstance(run, Stored) else run.array()
    if isinstance(run, Stored) and is_mixed(run.kinds):
        return _mixed_total(run)
    weak = isinstance(run, Stored) and run.weak
    kind = data.dtype.kind
    dtype = np.int64 if weak and kind == "b" else data.dtype if kind in "iu" else None
    result = FUNCTIONS[np.sum](data, axis=0, dtype=dtype)
    trace = current()
    if isinstance(run, Stored) and run.is_numbers and data.dtype == np.float64 and any(
            v in trace.carried for v in dim_values(run.count)) and not (
                is_nonneg(run.count - 1, trace.builder.known)):
        nothing = Kind(np.dtype(np.int64), True, 0)
        return Mixed(result, united(run.kinds, {nothing}), run.tell_apart)
    if weak and kind == "i":
        size = np.absolute(FUNCTIONS[np.sum](cast(data, np.float64), axis=0))
        require(size < LIMIT, OverflowError, TOO_LARGE)
    return result if result.ndim else scalar_of(result.value, weak=weak)


def _mixed_total(run: Stored) -> Any:
    """Return the sum of numbers of several kinds, which is of any of them."""
    many = 2 ** 32
    kinds = united(Kind(np.dtype(np.int64), True, k.bound * many) if k.dtype.kind in "bi" else
                   k._replace(bound=UNBOUNDED) for k in run.kinds)
    if storage(kinds) is None or not run.is_numbers:
        run.tell_apart()
    return Mixed(FUNCTIONS[np.sum](run.data), kinds, run.tell_apart)


def extreme(xs: Any, ufunc: Any, pair: Callable[[Any, Any], Any]) -> Any:
    """Return `max(xs)`, or `min(xs)`."""
    fold = FUNCTIONS[np.max if ufunc is np.maximum else np.min]
    found = []
    xs = plain_items(xs)
    for p in xs:
        if isinstance(p, Run) and not (p.is_numbers and isinstance(p, Stored)):
            p.give_up("the largest or smallest of arrays or lists")
        if isinstance(p, Stored):
            if len(xs) > 1 and not is_nonneg(p.count - 1, current().builder.known):
                return extreme([_one(xs, "the largest or smallest of a list")], ufunc, pair)
            found.append(p.number(fold(p.data).value))
        else:
            found.append(p)
    return functools.reduce(pair, found)


def any_item(xs: Any) -> Any:
    """Return `any(xs)`."""
    return FUNCTIONS[np.any](_one(xs, "any() of a list").data)


def every_item(xs: Any) -> Any:
    """Return `all(xs)`."""
    return FUNCTIONS[np.all](_one(xs, "all() of a list").data)


def ordered(xs: Any, key: Any, reverse: Any) -> list[Any]:
    """Return `sorted(xs, key=key, reverse=reverse)`."""
    return note_made([_sorted_run(xs, key, reverse)])  # type: ignore[no-any-return]


def sorted_floats(xs: Any, reverse: Any = False) -> list[Any] | None:
    """Return the items of a list or tuple of floats, some of them traced, in order; else None."""
    if not isinstance(xs, (list, tuple)) or not any(isinstance(x, (Tracer, Mixed)) for x in xs):
        return None
    run = joined(xs) if all(map(_is_plain_number, xs)) else None
    if run is None or any(k.dtype.kind != "f" for k in run.kinds):
        return None
    return [run.like(FUNCTIONS[np.sort](run.data)).item(k)
            for k in (reversed(range(len(xs))) if reverse else range(len(xs)))]


def _sorted_run(xs: Any, key: Any, reverse: Any) -> Run:
    if key is not None or not isinstance(reverse, (bool, int)):
        give_up(xs, "sorting by a key")
    one = _one(xs, "sorting a list")
    run = one.like(FUNCTIONS[np.sort](one.data))
    return run.part(slice(None, None, -1)) if reverse else run


