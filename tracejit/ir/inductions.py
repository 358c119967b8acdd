"""Ints that a loop carries, and that the number of an iteration gives as well.

    %b: i64[] = for_(0) {lo=0, hi=m} [                %b: i64[] = size() {of=m*n}
      (%i, %at: i64[]) {                              for_() {lo=0, hi=m} [
        %c: i64[] = for_(%at) {lo=0, hi=n} [            (%i) {
          (%j, %at_: i64[]) {                =>           for_() {lo=0, hi=n} [
            ... x[%at_]                                     (%j) {
            %1: i64[] = size() {of=%at_ + 1}                  ... x[n*%i + %j]
            yield %1
          }
        ]
        yield %c
      }
    ]

Each is a polynomial in the number of the iteration (an induction variable), so it is computed where
it is read: no iteration waits for the one before it, none is kept for the way back, and indices are
known to be no negative ones. Of ints this is exact, also where they pass the end of int64. Programs
are written so before they are differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tracejit.ir.builder import Builder
from tracejit.ir.control import LoopEqn, bounds_of, carried_in, region_kind
from tracejit.ir.core import Atom, Block, Eqn, Graph, Literal, Value
from tracejit.ir.dead_code import prune_block
from tracejit.ir.dims import Dim, Expr, dim_values, floor_div, is_nonneg, maximum, substitute
from tracejit.ir.lowering import Effect
from tracejit.ir.optable import find_op
from tracejit.ir.types import scalar
from tracejit.ir.values import Monomial, polynomial
from tracejit.ir.walk import (
    Env,
    all_eqns,
    bound_values,
    copy_of,
    copy_param,
    copy_type,
    copy_value,
    read_atom,
    replace_graph,
)

__all__ = ["drop_inductions", "without_inductions"]

INT = scalar(np.int64)


def drop_inductions(graph: Graph) -> Graph:
    """A carried int that grows by an amount known before the loop is start + steps."""
    block = without_inductions(graph.block)
    return graph if block is graph.block else replace_graph(graph, block)


def without_inductions(block: Block) -> Block:
    """Return a block whose loops carry no ints that the number of an iteration gives.

    A block without such loops is returned as it is.
    """
    if not any(_may_count(e) for e in all_eqns(block)):
        return block
    found = _Inductions()
    found.read(block)
    return found.whole(block) if found.closed else block


def _is_loop(eqn: Eqn) -> bool:
    return region_kind(eqn) in ("for", "while")


def _may_count(eqn: Eqn) -> bool:
    return _is_loop(eqn) and any(v.aval == INT for v in LoopEqn(eqn).carried)


# --- ints as dims -------------------------------------------------------------------------------

def _sum_of(step: Dim, index: Value, first: Dim, sign: int, count: Dim) -> Dim | None:
    """Return the sum of `count` steps, the first at index `first`, the next at `first + sign`.

    None where the step is not linear in the index. The sum of 0 to count - 1 is written so that no
    part of it is larger than the sum itself.
    """
    slope = _slope(step, index)
    if slope is None:
        return None
    level = substitute(step, {index: first})
    if slope == 0:
        return count * level
    half = floor_div(count, 2)
    return count * level + sign * slope * (2 * half * floor_div(count - 1, 2) + half)


def _slope(d: Dim, v: Value) -> Dim | None:
    """Return the factor of a value in a dim that is linear in it; else None."""
    if isinstance(d, int):
        return 0
    terms: dict[Monomial, int] = {}
    for monomial, c in d.terms:
        rest = tuple(a for a in monomial if a is not v)
        if v in dim_values(polynomial({rest: c}, 0)) or len(monomial) - len(rest) > 1:
            return None
        if len(rest) < len(monomial):
            terms[rest] = terms.get(rest, 0) + c
    return polynomial(terms, terms.pop((), 0))


class _Inductions:
    """The facts about ints, and the block that is being made."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.closed: dict[Value, Dim] = {}
        """The dims of carried ints, and of the ints that loops leave."""
        self.dims: Env = {}
        """The stand-in of a value: a dim of these, or a value of another type."""
        self.heads: dict[Value, list[tuple[Value, Dim]]] = {}
        """The ints that a region begins with, by its index: not linear in it."""
        self.ints: dict[Value, Dim] = {}
        """The dims of all ints that are polynomials of others."""

    # --- reading ----------------------------------------------------------------------------------

    def read(self, block: Block) -> None:
        """Find the ints of a block that are polynomials, regions included."""
        for eqn in block.eqns:
            if _is_loop(eqn):
                self._read_loop(eqn)
            elif eqn.regions:
                if region_kind(eqn) == "map":
                    self._assume(eqn.regions[0], *bounds_of(eqn))
                for region in eqn.regions:
                    self.read(region)
            elif eqn.op.dims is not None and eqn.output.aval == INT and all(
                    a.aval == INT for a in eqn.inputs):
                self.ints[eqn.output] = eqn.op.dims(eqn.params, [*map(self._dim, eqn.inputs)])

    def _dim(self, a: Atom) -> Dim:
        """Return an int as a dim of values that are not such themselves."""
        if isinstance(a, Literal):
            return int(a.val)
        return self._whole(self.ints.get(a, a.dim))

    def _whole(self, d: Dim) -> Dim:
        """Return a dim in which no value is left for which another dim stands."""
        while any(v in self.ints for v in dim_values(d)):
            d = substitute(d, self.ints)
        return d

    def _assume(self, region: Block, lo: Dim, hi: Dim | None) -> None:
        """Note between which numbers the index of a region is; no end for `None`."""
        high = None if hi is None else self._whole(hi) - 1
        self.builder.assume(region.inputs[0], self._whole(lo), high)

    def _read_loop(self, eqn: Eqn) -> None:
        loop = LoopEqn(eqn)
        if loop.trips:
            self.builder.assume(eqn.outputs[0], 0, None)
        for region in eqn.regions:
            self._assume(region, loop.lo, None if loop.trips else loop.hi)
            self.read(region)
        inside = {*loop.carried, *bound_values(loop.body)}
        left = [k for k, v in enumerate(loop.carried) if v.aval == INT]
        while left:
            rest = [k for k in left if not self._close(loop, k, inside)]
            if rest == left:
                break
            left = rest

    def _close(self, loop: LoopEqn, k: int, inside: set[Value]) -> bool:
        """Find the dim of a carried int in each iteration; return whether it is a polynomial."""
        v, start = loop.carried[k], self._dim(loop.starts[k])
        step = self._dim(loop.yielded[k]) - v.dim
        if not inside.isdisjoint(dim_values(step)):
            return False
        lo, hi = map(self._whole, (loop.lo, loop.hi))
        first, sign = (hi - 1, -1) if loop.is_reversed else (lo, 1)
        trips = maximum(hi - lo, 0, self.builder.known)
        whole = _sum_of(step, loop.index, first, sign, trips)
        if whole is None:
            return False
        grows = is_nonneg(start, self.builder.known)
        for region in loop.eqn.regions:
            i, carried = region.inputs[0], carried_in(region)[k]
            here = substitute(step, {loop.index: i.dim})
            so_far = _sum_of(here, i, first, sign, (i.dim - first) * sign)
            assert so_far is not None
            d = start + so_far
            if _slope(here, i) != 0:
                d = self._own(carried, d, i, grows and is_nonneg(here, self.builder.known))
                inside.update(dim_values(d))
            self.ints[carried] = self.closed[carried] = d
        self.ints[loop.results[k]] = self.closed[loop.results[k]] = start + whole
        return True

    def _own(self, v: Value, d: Dim, index: Value, grows: bool) -> Dim:
        """Let a region begin with an int, of which dims are linear; return it."""
        own = Value(INT, v.name)
        own.origin = v
        self.heads.setdefault(index, []).append((own, d))
        if grows:
            self.builder.assume(own, 0, None)
        return own.dim

    # --- writing ----------------------------------------------------------------------------------

    def whole(self, block: Block) -> Block:
        """Return the block written anew, of the same inputs and types of outputs."""
        self.dims = {v: self._whole(d) for v, d in self.closed.items()}
        return prune_block(self.write(block))

    def write(self, block: Block) -> Block:
        """Return a block in which ints are computed where they are read."""
        inputs = [self._retyped(v) for v in block.inputs]
        with self.builder.block(inputs) as scope:
            for v, d in self.heads.get(block.inputs[0], ()) if block.inputs else ():
                self._begin_with(v, d)
            for eqn in block.eqns:
                self._rewrite(eqn)
            return scope.close([*map(self._value, block.outputs)])

    def _begin_with(self, v: Value, d: Dim) -> None:
        """Compute an int where a region begins, and let dims that have it name the result."""
        (made,) = self.builder.emit(find_op("size"), (), {"of": self._whole(d)})
        made.name = made.name or v.name
        if v in self.builder.known:
            self.builder.assume(made, *self.builder.known[v])
        self.ints[v] = made.dim
        self.dims.update((w, self._whole(e)) for w, e in self.dims.items() if isinstance(e, Expr))

    def _retyped(self, v: Value) -> Value:
        return v if copy_type(v.aval, self.dims) == v.aval else copy_value(v, self.dims)

    def _value(self, a: Atom) -> Atom:
        """Return an operand: an int as one that is computed here, if it is a polynomial."""
        d = self.dims.get(a) if isinstance(a, Value) else None
        if not isinstance(d, Expr):
            return read_atom(self.dims, a)
        (v,) = self.builder.emit(find_op("size"), (), {"of": d})
        v.name = v.name or (a.name if isinstance(a, Value) else None)
        return v

    def _rewrite(self, eqn: Eqn) -> None:
        builder = self.builder
        builder.of, builder.group = copy_of(eqn, self.dims), eqn.group
        how = eqn.op.lowering
        if isinstance(how, Effect) and how.action in INDICES and INDICES[how.action](self, eqn):
            builder.of = builder.group = None
            return
        inputs = tuple(map(self._value, eqn.inputs))
        params = {k: copy_param(p, self.dims) for k, p in eqn.params.items()}
        of = builder.of
        builder.of = builder.group = None
        regions = tuple(map(self.write, eqn.regions))
        outputs = tuple(map(self._retyped, eqn.outputs))
        builder.append(eqn.with_parts(inputs, params, outputs, regions, of))

    def wrapped(self, eqn: Eqn) -> bool:
        """Let an index that is known to be no negative one be a dim."""
        (a,) = eqn.inputs
        d = self._dim(a) if a.aval == INT else -1
        if isinstance(d, int) or not is_nonneg(d, self.builder.known):
            return False
        size = copy_param(eqn.params["size"], self.dims)
        if not is_nonneg(size - d - 1, self.builder.known):
            at = {"first": d, "last": d, "count": 1, "size": size, "axis": eqn.params["axis"]}
            self.builder.emit(find_op("check_bounds"), (), at, site=eqn.site)
        self.dims[eqn.output] = self.ints[eqn.output] = d
        return True

    def checked(self, eqn: Eqn) -> bool:
        """Leave a check out that holds."""
        first, last, size = (copy_param(eqn.params[name], self.dims)
                             for name in ("first", "last", "size"))
        known = self.builder.known
        return first == last and is_nonneg(first, known) and is_nonneg(size - first - 1, known)


INDICES: Mapping[str, Callable[[_Inductions, Eqn], bool]] = {
    "check_bounds": _Inductions.checked, "wrap_index": _Inductions.wrapped}
"""How checks of indices are written; each returns whether nothing of the equation is left."""
