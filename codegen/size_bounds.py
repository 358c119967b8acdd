"""What sizes that the kernel finds out are at most, in sizes that are known at its entry.

An array in a loop, `a[i:]` for instance, has another size in each iteration, and never more than in
the first or the last one: so it can lie in the workspace, which is there before the kernel begins.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from tracejit.ir.control import LoopEqn, bounds_of, region_kind
from tracejit.ir.core import Block, Graph, Value
from tracejit.ir.dims import (
    Dim,
    Expr,
    IntegerCall,
    dim_values,
    is_nonneg,
    maximum,
    minimum,
    product,
    substitute,
)
from tracejit.ir.types import Aval
from tracejit.ir.values import atom

__all__ = ["SizeBounds"]


class SizeBounds:
    """The bounds of arrays in a graph's loops whose trip counts are known when they begin.

    Of arrays in branches, and in loops that data ends, there may be none at all: they have no
    bounds here, so that the workspace has no room which nothing needs.
    """

    def __init__(self, graph: Graph) -> None:
        self.inputs = frozenset(graph.inputs)
        self.ranges: dict[Value, tuple[Dim, Dim]] = {}
        """The number of the first iteration of each index, and of the last."""
        self.inside: set[Value] = set()
        """The arrays of these loops."""
        self._look_into(graph.block)

    def _look_into(self, block: Block) -> None:
        for eqn in block.eqns:
            if region_kind(eqn) == "for":
                loop, (lo, hi) = LoopEqn(eqn), bounds_of(eqn)
                self.ranges[loop.index] = lo, hi - 1
                self.inside.update(loop.carried, *(e.outputs for e in loop.body.eqns))
                self._look_into(loop.body)

    def of(self, members: Sequence[Value]) -> Dim | None:
        """Return how many elements the largest of some arrays has at most; None if that is open."""
        sizes = []
        for v in members:
            assert isinstance(v.aval, Aval)
            axes = [self._size(d) if v in self.inside else None for d in v.aval.shape]
            if any(d is None for d in axes):
                return None
            sizes.append(product(tuple(d for d in axes if d is not None)))
        return functools.reduce(maximum, sizes)

    def _size(self, d: Dim) -> Dim | None:
        found = self._upper(d)
        return None if found is None else maximum(found, 0)

    def _is_open(self, v: Value) -> bool:
        return not v.is_size and v not in self.inputs

    def _upper(self, d: Dim) -> Dim | None:
        """Return what a dim is at most."""
        if isinstance(d, int) or not any(map(self._is_open, dim_values(d))):
            return d
        for monomial, _ in d.terms:
            for a in monomial:
                if isinstance(a, IntegerCall) and any(map(self._is_open, dim_values(atom(a)))):
                    return self._of_call(d, a)
        return self._of_index(d)

    def _of_call(self, d: Expr, call: IntegerCall) -> Dim | None:
        """Return a bound of a dim with the larger or smaller of two in it, which is one of them."""
        split = _split(d, call)
        if call.fn not in ("max", "min") or split is None:
            return None
        factor, rest = split
        bounds = [self._upper(factor * arg + rest) for arg in call.args]
        known = [b for b in bounds if b is not None]
        if call.fn == "min" and is_nonneg(factor):
            return functools.reduce(minimum, known) if known else None
        return functools.reduce(maximum, known) if len(known) == len(bounds) else None

    def _of_index(self, d: Expr) -> Dim | None:
        """Return a bound of a dim that rises or falls with the index of the innermost loop."""
        v = max(filter(self._is_open, dim_values(d)), key=lambda w: w.uid)
        split = _split(d, v)
        if split is None or v not in self.ranges:
            return None
        factor, _ = split
        first, last = self.ranges[v]
        if is_nonneg(factor):
            return self._upper(substitute(d, {v: last}))
        return self._upper(substitute(d, {v: first})) if is_nonneg(-1 * factor) else None


def _split(d: Expr, a: Value | IntegerCall) -> tuple[Dim, Dim] | None:
    """Return what an atom is multiplied by in a dim, and the other terms; None if that has it, too.
    """
    factor: Dim = 0
    rest: Dim = d.const
    for monomial, c in d.terms:
        others = list(monomial)
        if a in others:
            others.remove(a)
        term: Dim = c
        for b in others:
            term = term * atom(b)
        if len(others) < len(monomial):
            factor = factor + term
        else:
            rest = rest + term
        inner = a if isinstance(a, Value) else None
        if a in others or (inner is not None and any(
                inner in dim_values(atom(b)) for b in others)):
            return None
    return factor, rest
