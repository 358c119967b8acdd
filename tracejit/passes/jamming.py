"""Two rows at a time: unroll-and-jam of nested loops whose inner iterations wait for one another.

In a recurrence such as `r[i, j] = f(r[i - 1, j], r[i, j - 1])` an iteration begins when the one
before has ended, and the processor idles meanwhile. An iteration of the next row, one column
behind, can be carried out beside it:

    for i in rows:                    for i in every second row:
        for j in columns:                 for j in columns, and one more:
            body(i, j)                        if j is a column: body(i, j)
                                              if j - 1 is one: body(i + 1, j - 1)
                                      for i in the other rows:
                                          for j in columns: body(i, j)

That is done where every access to a written array is to one element, whose place is known, and
where it is proven that iteration (i, j) shares none with the iterations (i + 1, j - 2) and before,
which now precede it. The additions to one element may change places; every other operation is
carried out on the same operands as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from tracejit.ir.builder import Builder
from tracejit.ir.control import LoopEqn, bounds_of, carried_in, region_kind
from tracejit.ir.core import Atom, Block, Eqn, Graph, Literal, Value
from tracejit.ir.dims import Dim, Expr, dim_values, floor_div, maximum, substitute
from tracejit.ir.lowering import Index, Pointwise, View, Write
from tracejit.ir.optable import find_op
from tracejit.ir.types import scalar
from tracejit.ir.walk import (
    Env,
    copy_eqn,
    copy_value,
    free_values,
    read_atom,
    replace_eqns,
    replace_graph,
    replace_regions,
)

__all__ = ["describe_jam", "unroll_and_jam"]

SLOW = 4.0
"""The cost, in additions, of an equation that is worth not waiting for: a division."""

MOST_EQNS = 100
"""How many equations an iteration has at most."""


def unroll_and_jam(graph: Graph) -> tuple[Graph, list[Eqn]]:
    """Return a graph whose recurrences handle two rows at a time, and the loops along the rows.

    Copied values have the original ones for their origin.
    """
    found: list[Eqn] = []

    def in_block(block: Block) -> Block:
        return replace_eqns(block, change)

    def change(eqn: Eqn) -> Iterable[Eqn]:
        rows = _rows_of(eqn)
        if rows is None or not rows.can_be_jammed():
            return [replace_regions(eqn, in_block)]
        found.append(rows.inner)
        return rows.jammed()

    return replace_graph(graph, in_block(graph.block)), found


def describe_jam(loop: Eqn) -> str:
    """Return why a loop is in the emitted source several times."""
    return (f"{loop.site}: two rows at a time: an iteration waits for the one before, and "
            "meanwhile one of the next row is carried out")


@dataclass(frozen=True, slots=True)
class _Access:
    """A read or write of an element of a carried array; arrays are counted from the first.

    Where an index is computed in the loops, it is None.
    """

    array: int
    at: tuple[Dim | None, ...]
    is_write: bool
    is_add: bool

    def moved(self, places: Mapping[Value, Dim]) -> _Access:
        """Return the access of another iteration."""
        return replace(self, at=tuple(i if i is None else substitute(i, places) for i in self.at))

    def differences(self, other: _Access) -> Iterator[Dim | None]:
        """Yield by how much the place is further along each axis, None where that is not known."""
        for x, y in zip(self.at, other.at, strict=True):
            yield None if x is None or y is None else x - y


@dataclass(frozen=True, slots=True)
class _NestedLoops:
    """Two nested loops that carry the same arrays, the inner one last in the outer one.

    before, inside -- the accesses of the outer loop's own equations, and of the inner loop
    """

    outer: Eqn
    inner: Eqn
    before: Sequence[_Access]
    inside: Sequence[_Access]

    @property
    def i(self) -> Value:
        """Return the index of the outer loop."""
        return LoopEqn(self.outer).index

    @property
    def j(self) -> Value:
        """Return the index of the inner loop."""
        return LoopEqn(self.inner).index

    def can_be_jammed(self) -> bool:
        """Return whether jamming is allowed, and worth it: where a row is a recurrence."""
        return self._is_recurrence() and self._may_change_places()

    def _is_recurrence(self) -> bool:
        distance = Value(scalar(np.int64))
        later = {self.j: self.j.dim + _direction(self.inner) * distance.dim}
        return any(a.is_write and a.array == b.array
                   and _must_meet(a, b.moved(later), distance)
                   for a in self.inside for b in self.inside)

    def _may_change_places(self) -> bool:
        """Whether accesses that now precede the rest of the row before are independent of it."""
        distance = Value(scalar(np.int64))
        next_row: dict[Value, Dim] = {self.i: self.i.dim + _direction(self.outer)}
        further = {self.j: self.j.dim + _direction(self.inner) * distance.dim}
        for a in self.inside:
            for b in (b.moved(next_row) for b in self.inside):
                if _conflict(a, b) and _may_meet(a.moved(further), b, distance):
                    return False
            for b in (b.moved(next_row) for b in self.before):
                if _conflict(a, b) and not any(map(_never, a.differences(b))):
                    return False
        return True

    def jammed(self) -> Iterator[Eqn]:
        """Yield the loop over pairs of rows and the loop over the remaining rows."""
        outer, step = self.outer, _direction(self.outer)
        lo, hi = bounds_of(outer)
        count = maximum(floor_div(hi - lo, 2), 0)
        k = Value(scalar(np.int64), self.i.name)
        first = (lo if step > 0 else hi - 1) + 2 * step * k.dim
        before = LoopEqn(outer).body
        builder = Builder()
        with builder.block((k, *(copy_value(v, {}) for v in carried_in(before)))) as scope:
            arrays: Sequence[Atom] = scope.inputs[1:]
            rows: list[Env] = []
            for d, name in ((first, "row"), (first + step, "next_row")):
                row: Env = dict(zip(before.inputs, (self._number(builder, d, name), *arrays),
                                    strict=True))
                for eqn in before.eqns[:-1]:
                    builder.append(copy_eqn(eqn, row))
                arrays = [read_atom(row, a) for a in self.inner.inputs]
                rows.append(row)
            builder.append(self._inner_of(rows, arrays, builder))
            block = scope.close(scope.eqns[-1].outputs)
        pairs = replace(outer, params={"lo": 0, "hi": count, "reversed": False}, regions=(block,),
                        outputs=tuple(copy_value(v, {}) for v in outer.outputs))
        yield pairs
        rest = {"lo": lo + 2 * count if step > 0 else lo, "hi": hi if step > 0 else hi - 2 * count}
        yield replace(outer, inputs=pairs.outputs, params={**outer.params, **rest})

    def _number(self, builder: Builder, d: Dim, name: str) -> Atom:
        """Return a dim as an operand."""
        if isinstance(d, int):
            return Literal(d, np.dtype(np.int64))
        (v,) = builder.emit(find_op("size"), (), {"of": d}, site=self.inner.site)
        v.name = name
        return v

    def _inner_of(self, rows: Sequence[Env], arrays: Sequence[Atom], builder: Builder) -> Eqn:
        """Return the loop over columns, where the second row is one column behind the first."""
        inner, step = self.inner, _direction(self.inner)
        lo, hi = bounds_of(inner)
        begin, end = (lo, hi) if step > 0 else (hi - 1, lo - 1)
        body = LoopEqn(inner).body
        limits = [self._number(builder, d, name) for d, name in ((end, "end"), (begin, "begin"))]
        with builder.block(tuple(copy_value(v, {}) for v in body.inputs)) as scope:
            column, *state = scope.inputs
            places = (column.dim, column.dim - step)
            for row, place, limit in zip(rows, places, limits, strict=True):
                (inside,) = builder.emit(find_op("not_equal"), (column, limit), site=inner.site)
                inside.name = "inside"
                with builder.block() as branch:
                    number = column if place == column.dim else self._number(
                        builder, place, "column")
                    env: Env = {**row, **dict(zip(body.inputs, (number, *state), strict=True))}
                    for eqn in body.eqns:
                        builder.append(copy_eqn(eqn, env))
                    done = branch.close([read_atom(env, a) for a in body.outputs])
                other = Block((), (), tuple(state))
                branches = builder.emit(find_op("if_"), (inside,), {}, (done, other), inner.site)
                for v, old in zip(branches, inner.outputs, strict=True):
                    v.origin = old
                state = list(branches)
            block = scope.close(state)
        limits_of = {"lo": lo, "hi": hi + 1} if step > 0 else {"lo": lo - 1, "hi": hi}
        return replace(inner, inputs=tuple(arrays), params={**inner.params, **limits_of},
                       outputs=tuple(copy_value(v, {}) for v in inner.outputs), regions=(block,))


def _rows_of(outer: Eqn) -> _NestedLoops | None:
    """Return the nested loops that a loop is the outer one of, if their accesses are known."""
    if not _is_for(outer) or not LoopEqn(outer).body.eqns:
        return None
    body = LoopEqn(outer).body
    inner = body.eqns[-1]
    if not _is_for(inner) or body.outputs != inner.outputs or not inner.inputs:
        return None
    own = {*body.inputs, *(v for e in body.eqns for v in e.outputs)}
    if any(v in own for d in bounds_of(inner) for v in dim_values(d)):
        return None
    columns = LoopEqn(inner).body
    places = {v: k for k, v in enumerate(carried_in(body))}
    computed = {v for e in (*body.eqns, *columns.eqns) for v in e.outputs}
    before = _accesses(body.eqns[:-1], places, computed)
    if before is None or not _in_order(inner.inputs, places):
        return None
    if any(v in places for v in free_values(columns)):  # an array as it was before the row
        return None
    places.update((v, k) for k, v in enumerate(carried_in(columns)))
    inside = _accesses(columns.eqns, places, computed)
    if inside is None or not _in_order(columns.outputs, places):
        return None
    if len(columns.eqns) > MOST_EQNS or all(e.op.cost < SLOW for e in columns.eqns):
        return None
    return _NestedLoops(outer, inner, before, inside)


def _in_order(atoms: Sequence[Atom], places: Mapping[Value, int]) -> bool:
    """Whether operands are versions of the carried arrays, each in its place."""
    return [places.get(a) for a in atoms if isinstance(a, Value)] == list(range(len(atoms)))


def _is_for(eqn: Eqn) -> bool:
    """Whether an equation is a loop that carries arrays only."""
    return region_kind(eqn) == "for" and not any(
        v.is_log or not v.aval.shape for v in LoopEqn(eqn).carried)


def _accesses(eqns: Iterable[Eqn], places: dict[Value, int],
              computed: Set[Value]) -> list[_Access] | None:
    """Return the accesses to arrays that are carried; None where some are not of single elements.

    places   -- which of the carried arrays a value is a version of; gets the versions made here
    computed -- the values that are not the same in all iterations, beside the loops' own
    """
    found: list[_Access] = []
    for eqn in eqns:
        how = eqn.op.lowering
        if eqn.op.effect or eqn.regions or len(eqn.outputs) != 1:
            return None
        at = eqn.params.get("at", ())
        array = places.get(eqn.inputs[0]) if at else None  # type: ignore[arg-type]
        is_element = bool(at) and all(isinstance(i, (int, Expr)) for i in at)
        known = tuple(None if any(v in computed for v in dim_values(i)) else i
                      for i in at) if is_element else ()
        if is_element and isinstance(how, View):
            if array is not None:
                found.append(_Access(array, known, is_write=False, is_add=False))
        elif is_element and isinstance(how, Write) and not how.gathered and array is not None:
            places[eqn.output] = array
            found.append(_Access(array, known, is_write=True, is_add=how.combine == "add"))
        elif not isinstance(how, (Pointwise, Index)) or any(
                a.aval.shape for a in (*eqn.inputs, eqn.output)):
            return None
    return found


def _direction(loop: Eqn) -> int:
    return -1 if LoopEqn(loop).is_reversed else 1


def _conflict(a: _Access, b: _Access) -> bool:
    return a.array == b.array and (a.is_write or b.is_write) and not (a.is_add and b.is_add)


def _never(difference: Dim | None) -> bool:
    return isinstance(difference, int) and difference != 0


EVERY = float("inf")
"""Two indices that are equal at every distance."""


def _may_meet(a: _Access, b: _Access, distance: Value) -> bool:
    """Whether two accesses may be to one element, two columns apart or further."""
    known = {_distance_of(d, distance) for d in a.differences(b)} - {None, EVERY}
    return len(known) < 2 and all(d > 1 for d in known)  # type: ignore[operator]


def _must_meet(a: _Access, b: _Access, distance: Value) -> bool:
    """Whether two accesses are to one element at one distance of at least 1, and at no other."""
    found = {_distance_of(d, distance) for d in a.differences(b)} - {EVERY}
    return len(found) == 1 and (found.pop() or 0) >= 1


def _distance_of(difference: Dim | None, distance: Value) -> float | None:
    """Return at which distance a difference is zero: 0 if at none, None if that is not known."""
    if difference is None:
        return None
    if isinstance(difference, int):
        return 0 if difference else EVERY
    factor = difference.factor_of(distance)
    rest = None if factor is None else difference - factor * distance.dim
    if not factor or not isinstance(rest, int):
        return None
    return -rest // factor if rest % factor == 0 else 0
