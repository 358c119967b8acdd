"""How lists are made whose length is a size: comprehensions, `[v] * n`, `list(x)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.errors import LargeInt, Refusal
from tracejit.ir.core import Value
from tracejit.ir.dims import Dim, dim_values, maximum
from tracejit.ir.types import scalar
from tracejit.trace.containers.places import is_number, map_content
from tracejit.trace.containers.runs import (
    Run,
    Stored,
    Views,
    array_of,
    copies,
    has_runs,
    place_in_code,
    step_values,
)
from tracejit.trace.ground.context import current
from tracejit.trace.ground.dispatch import FUNCTIONS, Changing
from tracejit.trace.ground.restarts import Grows, NeedStatic, PlaceInCode, Relist, Unroll
from tracejit.trace.ground.upward import ABOVE, above
from tracejit.trace.lists.filling import Alike, at_least_none
from tracejit.trace.lists.growing import MANY_ITEMS
from tracejit.trace.lists.iterables import Iterated, TracedIterable, counted
from tracejit.trace.lists.known_lengths import is_in_run, need_run
from tracejit.trace.lists.list_runs import is_plain_number, joined
from tracejit.trace.lists.read_only import freeze_like
from tracejit.trace.lists.rows import Rows, as_node, is_row, joint_template, places_of, same_rows
from tracejit.trace.python.from_generators import collected
from tracejit.trace.regions.loops import is_of_open_loop, trace_loop
from tracejit.trace.state.changes import note_made
from tracejit.trace.values.equations import cast, dims_of, emit_value, lift, to_dim
from tracejit.trace.values.mixed import Kinds, kinds_of, number_of, of_one_kind, storage, united
from tracejit.trace.values.python_numbers import TOO_LARGE, require
from tracejit.trace.values.symbolic_ints import SymInt, of_dim
from tracejit.trace.values.tracer import Tracer, scalar_of, tracer_of

__all__ = ["filled", "list_from", "list_of", "nested_list", "repeated"]


def list_of(items: TracedIterable, element: Callable[[object], object]) -> list[Any] | None:
    """Return `[element(a) for a in items]`; None where it has to be a loop that appends them."""
    trace = current()
    where = place_in_code()
    why: str | None = trace.plain_lists.get(where)
    count = items.count
    if isinstance(count, int) and why is None and not (items.is_of_runs or is_in_run()):
        why = ""  # its length is known
    if why is None and where in trace.left_loops:  # an error of an item ends it
        return None
    if why is None:
        try:
            run = _Maker(items, element, where).run()
            return note_made([run])  # type: ignore[no-any-return]
        except Unroll as e:
            if is_of_open_loop(e):
                raise
            if isinstance(e, Grows) and trace.has_pools:
                return None
            why = e.why
        except Refusal as e:
            if not trace.is_known(count):
                raise
            why = str(e)
    if why:
        trace.note(f"this list is made item by item: {why}", "TJ704", trace.builder.find_site())
    return note_made([element(x) for x in items])  # type: ignore[no-any-return]


class _OtherKind(Exception):
    """Internal: an item of a list is of another kind than the trial found."""

    def __init__(self, kind: tuple[object, ...]) -> None:
        super().__init__()
        self.kind = kind


class _Maker:
    """A comprehension as a loop that fills an array, or as views of one."""

    def __init__(self, items: TracedIterable, element: Callable[[object], object],
                 where: PlaceInCode) -> None:
        self.items, self.element, self.where = items, element, where

    def run(self) -> Run:
        """Return the items; `Unroll` where Python has to make them one by one."""
        kind = self._trial()
        if isinstance(kind, Views):
            return kind
        for _ in range(8):
            try:
                return self._fill_rows(*kind) if len(kind) == 2 else self._fill(*kind)
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
                frame.where = self.where
                x = self.element(items.item(SymInt(index.dim)))
                made = {v for e in scope.eqns for v in e.outputs}
                if isinstance(x, Tracer) and x.is_array and x.cell.depth < frame.depth:
                    return self._views(x, index, made)
                if is_row(x):
                    return map_content(lambda _: 0, as_node(x)), tuple(map(_kinds_of, places_of(x)))
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

    def _fill_rows(self, template: object, kinds: tuple[Kinds, ...]) -> Rows:
        """Return items that are tuples of numbers: an array for each place in them."""
        items = self.items
        kinds = tuple(_kinds_at(self.where, k) for k in kinds)
        results = [_empty((items.count,), _storage(k, self.where)) for k in kinds]

        def body(i: object) -> None:
            place = of_dim(items.hi - 1) - i if items.reverse else i - of_dim(items.lo)
            x = self.element(items.item(i))
            if not is_row(x) or not same_rows(x, template):
                raise Unroll("its items are tuples that are not alike")
            places = places_of(x)
            both = tuple(united(k, _kinds_of(y)) for k, y in zip(kinds, places, strict=True))
            joint = joint_template(template, x)
            if both != kinds or joint is not template:
                raise _OtherKind((joint, both))
            for result, y in zip(results, places, strict=True):
                result[place] = number_of(y)
            last[:] = places

        last: list[object] = []
        trace_loop([], [], results, body, None, items.lo, items.hi, items.reverse)
        for result, y in zip(results, last, strict=False):
            freeze_like(result, [y])
        return Rows([Stored(r, 0, k, self.where) for r, k in zip(results, kinds, strict=True)],
                    template, self.where)

    def _fill(self, shape: tuple[Dim, ...], nest: int, kinds: Kinds) -> Stored:
        items = self.items
        kinds = _kinds_at(self.where, kinds)
        result = _empty((items.count, *shape), _storage(kinds, self.where))

        def body(i: object) -> None:
            place = of_dim(items.hi - 1) - i if items.reverse else i - of_dim(items.lo)
            x = self.element(items.item(i))
            found = _kind_of(x, set())
            both = united(kinds, found[2])
            if len(found[0]) != len(shape) or found[1] != nest or both != kinds:
                if len(found[0]) == len(shape) and storage(both) is None:
                    raise Unroll("its items are numbers of different kinds")
                raise _OtherKind((*found[:2], both) if len(found[0]) == len(shape) else found)
            result[place] = _stored_item(x)
            last[:] = [x]

        last: list[object] = []
        trace_loop([], [], [result], body, None, items.lo, items.hi, items.reverse)
        freeze_like(result, last)
        return Stored(result, nest, kinds, self.where)


def _empty(shape: tuple[Dim, ...], dtype: np.dtype) -> Tracer:
    result = tracer_of(emit_value("empty", [], {"shape": shape, "dtype": dtype}))
    result.cell.is_array = True
    return result


@above
def filled(count: Dim, item: Callable[[object], object], shape: tuple[Dim, ...],
           dtype: np.dtype) -> Tracer:
    """Return an array of `item(0)`, `item(1)`, ..."""
    result = _empty((count, *shape), dtype)

    def body(i: object) -> None:
        result[i] = item(i)

    trace_loop([], [], [result], body, None, 0, count)
    return result


def _kinds_of(x: object) -> Kinds:
    return kinds_of(lift(x))


def _stored_item(x: object) -> Any:
    return array_of(x) if isinstance(x, list) else x


def _kind_of(x: object, inside: set[Value]) -> tuple[tuple[Dim, ...], int, Kinds]:
    """Return the shape, depth of lists and kinds of numbers of an item; `Unroll` if not storable.

    inside -- the values on which the shape must not depend
    """
    if type(x) is list and any(x is made for frame in current().frames[-1:]
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


def _kind_of_list(xs: list[object]) -> tuple[tuple[Dim, ...], int, Kinds]:
    """Return the kind of items that are lists like one."""
    run = xs[0] if len(xs) == 1 else None
    if isinstance(run, Stored) and not run.shared and (run.nest or run.is_numbers):
        return run.data.dims, run.nest + 1, run.kinds
    if len(xs) > MANY_ITEMS:
        need_run(xs)
    found = [_kind_of(x, set()) for x in xs if not isinstance(x, Run)]
    kinds = united(*(numbers for _, _, numbers in found))
    if len({(shape, nest) for shape, nest, _ in found}) != 1 or storage(kinds) is None or any(
            isinstance(x, Run) for x in xs):
        raise Unroll("its items are lists of different things")
    shape, nest, _ = found[0]
    if shape and not nest:
        raise Unroll("its items are lists of arrays")
    return (len(xs), *shape), nest + 1, kinds


def list_from(x: object) -> list[Any] | None:
    """Return `list(x)` of an iterable whose length is a size; None for any other object."""
    if has_runs(x):
        return note_made(copies(x))  # type: ignore[no-any-return]
    if isinstance(x, Changing):
        x = x.read_value()
    items = counted(x) if not isinstance(x, list) else None
    if items is None or (isinstance(items.count, int) and not isinstance(x, Iterated) and (
            not is_in_run())):
        return None
    if isinstance(x, Tracer) and x.ndim == 1 and place_in_code() not in current().plain_lists:
        return _stored_here(FUNCTIONS[np.array](x), 0, of_one_kind(x.dtype, False))
    found = list_of(items, lambda v: v)
    return ABOVE.call_function(collected, (items,), {}) if found is None else found


def nested_list(x: Tracer) -> Any:
    """Return `x.tolist()` of an array."""
    if isinstance(x, Changing):
        x = x.read_value()
    if not x.ndim:
        return _plain_number(x)
    if x.dtype == np.uint64:
        require(np.all(x < np.uint64(1 << 63)), LargeInt, TOO_LARGE)
    x = cast(x, _PYTHON.get(x.dtype.kind, x.dtype))
    if place_in_code() in current().plain_lists or (
            isinstance(x.dims[0], int) and not is_in_run()):
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


def repeated(xs: Any, n: object) -> Any:
    """Return `xs * n`, where n is not known; None where n has to be known."""
    n = to_dim(n)
    if place_in_code() in current().plain_lists:
        return None
    if len(xs) == 1 and xs[0] is None:
        return note_made(type(xs)(
            Alike(None, 0, place_in_code()).of_size(at_least_none(n, "how long a list is"))))
    if len(xs) == 1 and is_plain_number(xs[0]):
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
    """Return the kinds of numbers in a list made at a place: some kinds, and kinds put in later."""
    return united(kinds, current().list_kinds.get(where, ()))


def _storage(kinds: Kinds, where: PlaceInCode) -> np.dtype:
    """Return the dtype of a list's storage; begin again without one where there is none."""
    dtype = storage(kinds)
    if dtype is None:
        raise Relist(where, None, "its numbers are of several kinds")
    return dtype


def _at_least_none(n: Dim) -> Dim:
    return maximum(n, 0, current().builder.known)
