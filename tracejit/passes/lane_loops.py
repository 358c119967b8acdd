"""Which loops of a program can do eight iterations side by side, one in each lane (`lanes.py`).

Iterations depend on one another in no other way than that

    sums    grow by what each adds: `total += f(x[i])`; of halves, which round it, in order
    rows    are written one by one, `y[i] = ...`, and read by the iteration that writes them
    last    values are written anew by each: what the last one leaves is what is left

All else that an iteration makes is *varying*, or the same in all. Loops inside run for all eight at
once, so their bounds are the same in all. It is worth it where the innermost of them handle single
numbers, and none of these lies in row i of an array: such rows would be read with gaps. And it is
where a loop without loops inside folds columns, `a @ b[:, i]`, of which eight lie side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tracejit.ir.control import LoopEqn, bounds_of, region_kind
from tracejit.ir.core import Atom, Block, Eqn, Span, Value, param_dims
from tracejit.ir.dims import Dim, dim_values
from tracejit.ir.lowering import (
    Alias,
    Argument,
    Contract,
    Effect,
    Index,
    Lowering,
    Pointwise,
    Reduce,
    Running,
    View,
    Write,
)
from tracejit.ir.walk import all_eqns, block_uses, bound_values, eqn_uses

__all__ = ["LaneLoop", "NotInLanes", "sliced_axis"]

KNOWN = (Alias, Argument, Contract, Index, Pointwise, Reduce, Running, View, Write)
FOLDS = (Argument, Contract, Reduce)
MOST_EQNS = 150
"""How many equations an iteration has at most: the loop is written twice."""


class NotInLanes(Exception):
    """A loop stays as it is."""


def sliced_axis(at: tuple[Dim | Span, ...], i: Value) -> int | None:
    """Return the axis along which a place is row i of an array, or i + c; None if it has no i.

    Raises `NotInLanes` for other places that depend on i.
    """
    found = [k for k, d in enumerate(at) for v in _values_of(d) if v is i]
    if not found:
        return None
    d = at[found[0]]
    if len(found) > 1 or isinstance(d, Span) or i in dim_values(d - i.dim):
        raise NotInLanes
    return found[0]


def _values_of(d: Dim | Span) -> Iterator[Value]:
    for part in (d.start, d.size) if isinstance(d, Span) else (d,):
        yield from dim_values(part)


def _is_check(eqn: Eqn) -> bool:
    how = eqn.op.lowering
    return isinstance(how, Effect) and how.action in ("check", "check_bounds", "wrap_index")


def _numbers_in(eqn: Eqn) -> Iterator[Value]:
    """Yield the numbers in the params of an equation."""
    for d in param_dims(eqn.params):
        yield from dim_values(d)


@dataclass(slots=True)
class LaneLoop:
    """A `for_` whose iterations may be carried out side by side; `find` says whether they may.

    roles   -- of each carried value: "same", "sum", "row", "last"
    links   -- the equations that add to a sum, and which operand the sum is
    held    -- the sums on their way
    rows    -- the arrays of rows on their way, and which carried value each comes from
    places  -- of these, the axis of the rows and how far the row of an iteration is from i
    varying -- the values that differ from iteration to iteration
    uses    -- how often each value is read in an iteration
    inside  -- all values that an iteration makes
    has_gaps -- whether it reads or writes vectors of which an element lies next to no other lane's
    """

    eqn: Eqn
    roles: list[str] = field(default_factory=list)
    links: dict[Eqn, int] = field(default_factory=dict)
    held: set[Value] = field(default_factory=set)
    rows: dict[Value, Value] = field(default_factory=dict)
    places: dict[Value, tuple[int, Dim]] = field(default_factory=dict)
    varying: set[Value] = field(default_factory=set)
    uses: Counter[Value] = field(default_factory=Counter)
    inside: set[Value] = field(default_factory=set)
    has_gaps: bool = False

    @property
    def body(self) -> Block:
        """Return the region that is an iteration."""
        return LoopEqn(self.eqn).body

    @property
    def i(self) -> Value:
        """Return the number of the iteration."""
        return LoopEqn(self.eqn).index

    def find(self) -> None:
        """Find what varies; raises `NotInLanes` if iterations wait for one another, or pay less."""
        loop = LoopEqn(self.eqn)
        inside = list(all_eqns(self.body))
        if loop.is_reversed or len(inside) > MOST_EQNS:
            raise NotInLanes
        if any(e.op.effect and not _is_check(e) and not e.regions for e in inside):
            raise NotInLanes
        self.uses = Counter(block_uses(self.body))
        self.inside = {*self.body.inputs, *bound_values(self.body)}
        for v, out in zip(loop.carried, loop.yielded, strict=True):
            self.roles.append(self._role(v, out))
        before = -1
        while before != len(self.varying) + len(self.rows):
            before = len(self.varying) + len(self.rows)
            self._spread(self.body)
        self._require_outputs()
        self._require_gain(inside)

    # --- what is carried ------------------------------------------------------------------------

    def _role(self, v: Value, out: object) -> str:
        if out is v:
            return "same"
        if self._is_row(self.body, v, out):
            self.rows[v] = v
            return "row"
        if isinstance(out, Value) and v.aval.dtype != np.float16 and (
                self._is_sum(self.body, v, out)):
            return "sum"
        if not self.uses[v]:
            return "last"
        if not self._is_overwritten(v):
            raise NotInLanes
        self.varying.add(v)
        return "last"

    def _is_row(self, block: Block, v: Value, out: object) -> bool:
        """Return whether an array is written to at row i, and nowhere else, on its way to `out`."""
        makers = {x: e for e in block.eqns for x in e.outputs}
        is_written = False
        while out is not v:
            maker = makers.get(out) if isinstance(out, Value) else None
            if maker is None:
                return False
            if region_kind(maker) == "for":
                loop, k = LoopEqn(maker), maker.outputs.index(out)
                is_written |= self._is_row(loop.body, loop.carried[k], loop.yielded[k])
                out = loop.starts[k]
            elif isinstance(maker.op.lowering, Write) and "at" in maker.params:
                is_written |= any(self.i in _values_of(d) for d in maker.params["at"])
                out = maker.inputs[0]
            else:
                return False
        return is_written

    def _is_sum(self, block: Block, v: Value, out: Value) -> bool:
        """Return whether a value is added to, and nothing else, on its way to another."""
        links: dict[Eqn, int] = {}
        held = {v}
        while v is not out:
            if self.uses[v] != 1:
                return False
            user = next((e for e in block.eqns if v in e.inputs), None)
            if user is None:
                return False
            k = user.inputs.index(v)
            if region_kind(user) == "for":
                loop = LoopEqn(user)
                inner = loop.yielded[k]
                if not isinstance(inner, Value) or not self._is_sum(
                        loop.body, loop.carried[k], inner):
                    return False
                v = loop.results[k]
            elif isinstance(user.op.lowering, Pointwise) and user.op.lowering.meaning == "add":
                links[user], v = k, user.output
            else:
                return False
            held.add(v)
        if self.uses[out] != 1:
            return False
        self.links |= links
        self.held |= held
        return True

    def _is_overwritten(self, v: Value) -> bool:
        """Return whether a loop in the body writes all elements of an array, and reads none."""
        user = next((e for e in self.body.eqns if v in e.inputs), None)
        if self.uses[v] != 1 or user is None or region_kind(user) != "for":
            return False
        loop, k = LoopEqn(user), user.inputs.index(v)
        inner, (lo, hi) = loop.carried[k], bounds_of(user)
        write = next((e for e in loop.body.eqns if inner in e.inputs), None)
        if self.uses[inner] != 1 or write is None or loop.yielded[k] not in write.outputs or (
                write.op.lowering != Write("set") or write.inputs[0] is not inner):
            return False
        whole = [d == loop.index.dim and (lo, hi) == (0, size) if not isinstance(d, Span)
                 else d == Span(0, size)
                 for d, size in zip(write.params["at"], inner.aval.shape, strict=True)]
        return all(whole) and sum(not isinstance(d, Span) for d in write.params["at"]) == 1

    # --- what varies ----------------------------------------------------------------------------

    def _spread(self, block: Block) -> None:
        """Note which results of equations vary, as far as is known of their operands."""
        for eqn in block.eqns:
            if region_kind(eqn) == "for":
                self._spread_in_loop(eqn)
                continue
            if region_kind(eqn) == "if":
                self._spread_in_branches(eqn)
                continue
            touched = self.varying | self.rows.keys() | self.held
            if eqn.regions:
                if not touched.isdisjoint(eqn_uses(eqn)) or self.i in eqn_uses(eqn):
                    raise NotInLanes
                continue
            if eqn in self.links:
                continue
            if self.i in eqn.inputs or not self.held.isdisjoint(eqn.inputs):
                raise NotInLanes
            if any(v in self.varying for v in _numbers_in(eqn)):
                raise NotInLanes
            if not self.varying.isdisjoint(eqn.inputs) or self.i in eqn.uses() or (
                    not self.rows.keys().isdisjoint(eqn.inputs)):
                self._spread_through(eqn)

    def _spread_in_loop(self, eqn: Eqn) -> None:
        loop = LoopEqn(eqn)
        numbers = {v for d in bounds_of(eqn) for v in dim_values(d)}
        if self.i in numbers or not self.varying.isdisjoint(numbers) or (
                loop.is_reversed or self.i in eqn.inputs):
            raise NotInLanes
        self._spread(loop.body)
        for start, v, out, result in zip(loop.starts, loop.carried, loop.yielded, loop.results,
                                         strict=True):
            if v in self.held:
                self.held.add(result)
            elif start in self.rows:
                self.rows[v] = self.rows[result] = self._root(start)
            elif start in self.held:
                raise NotInLanes
            elif start in self.varying or out in self.varying:
                self.varying |= {v, result}

    def _spread_in_branches(self, eqn: Eqn) -> None:
        """Note what varies in branches, of which all iterations take the same."""
        if eqn.inputs[0] is self.i or eqn.inputs[0] in self.varying:
            raise NotInLanes
        for region in eqn.regions:
            self._spread(region)
            for out, result in zip(region.outputs, eqn.outputs, strict=True):
                if out in self.held or out in self.rows or out is self.i:
                    raise NotInLanes
                if out in self.varying:
                    self.varying.add(result)

    def _spread_through(self, eqn: Eqn) -> None:
        """Note the results of an equation that reads what varies, or is about iteration i."""
        how: Lowering = eqn.op.lowering
        if isinstance(how, Effect):
            if how.action == "check_bounds" and not eqn.inputs and all(
                    sliced_axis((eqn.params[name],), self.i) == 0 for name in ("first", "last")):
                return
            raise NotInLanes
        if not isinstance(how, KNOWN) or isinstance(how, Index) or len(eqn.outputs) != 1:
            raise NotInLanes
        is_row = eqn.inputs[0] in self.rows
        if any(a in self.rows for a in eqn.inputs[1:]):
            raise NotInLanes
        if isinstance(how, Contract) and eqn.output.aval.ndim:
            raise NotInLanes
        if isinstance(how, Write) and (how.gathered or self.i in eqn.uses()) and not is_row:
            raise NotInLanes
        if self.i in eqn.uses() or is_row:
            if not (isinstance(how, Write) or (isinstance(how, View) and how.meaning == "index")):
                raise NotInLanes
            axis = sliced_axis(eqn.params["at"], self.i)
            if axis is None or eqn.inputs[0] in self.varying:
                raise NotInLanes
            value = eqn.inputs[1] if isinstance(how, Write) else eqn.output
            if value.aval.ndim and axis < eqn.inputs[0].aval.ndim - 1:
                self.has_gaps = True
            if is_row:
                self._require_own_row(eqn, axis)
        if is_row and isinstance(how, Write):
            self.rows[eqn.output] = self._root(eqn.inputs[0])
        else:
            self.varying.add(eqn.output)

    def _root(self, array: Atom) -> Value:
        """Return the carried value that an array of rows comes from."""
        assert isinstance(array, Value)
        return self.rows[array]

    def _require_own_row(self, eqn: Eqn, axis: int) -> None:
        """Require that all iterations touch one row each of an array, and none another's."""
        far = eqn.params["at"][axis] - self.i.dim
        place = self.places.setdefault(self._root(eqn.inputs[0]), (axis, far))
        if place != (axis, far) or not self.inside.isdisjoint(dim_values(far)):
            raise NotInLanes

    def _require_outputs(self) -> None:
        """Require that carried values end as what they begin as."""
        loop = LoopEqn(self.eqn)
        for inner in (LoopEqn(e) for e in all_eqns(self.body) if region_kind(e) == "for"):
            for v, out in zip(inner.carried, inner.yielded, strict=True):
                if self.rows.get(v) is not (
                        self.rows.get(out) if isinstance(out, Value) else None):
                    raise NotInLanes
        for role, out in zip(self.roles, loop.yielded, strict=True):
            if (role == "row") != (out in self.rows) or (role != "last" and out in self.varying):
                raise NotInLanes
        if any(e.inputs[1 - k] not in self.varying for e, k in self.links.items()):
            raise NotInLanes

    def _require_gain(self, inside: list[Eqn]) -> None:
        """Require loops inside that handle single numbers, or folds of columns."""
        innermost = [e for e in inside if self._varies_in(e) and not any(
            map(self._varies_in, all_eqns(LoopEqn(e).body)))]
        folds = any(isinstance(e.op.lowering, FOLDS) and e.output in self.varying for e in inside)
        if any(v.aval.ndim > 1 for v in self.varying) or not (
                innermost or (folds and not self.has_gaps)):
            raise NotInLanes
        for eqn in innermost:
            self._require_numbers(LoopEqn(eqn).body)

    def _require_numbers(self, body: Block) -> None:
        """Require that a loop handles single numbers, none of them in rows of the arrays."""
        bound = {*body.inputs, *bound_values(body)}
        for eqn in body.eqns:
            is_write = isinstance(eqn.op.lowering, Write)
            if any(v.aval.ndim and not is_write for v in eqn.outputs) or (
                    self.i in eqn.uses() and not bound.isdisjoint(_numbers_in(eqn))):
                raise NotInLanes

    def _varies_in(self, eqn: Eqn) -> bool:
        """Return whether an equation is a loop in which anything varies."""
        return region_kind(eqn) == "for" and any(
            v in self.varying for f in all_eqns(LoopEqn(eqn).body) for v in f.outputs)
