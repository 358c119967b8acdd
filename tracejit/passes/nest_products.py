"""Loops over elements that multiply matrices become products of matrices, which BLAS does.

    for i in range(n):                        C += A[:n, :m] @ B[:m, :l]
        for j in range(l):
            for k in range(m):          =>
                C[i, j] += A[i, k] * B[k, j]

So do the loops of their way back, which add to two matrices at once, and those that add up in a
scalar first. A nest is one of these if all it does is add products of two elements, and numbers
from outside, to arrays that it does not read otherwise; its bounds are the same in all iterations,
and each index is the number of one loop plus what is the same in all. Checks of indices come first,
for all iterations at once. Sums are added up in another order, so `fp="strict"` leaves nests alone.
`nest_terms.py` says what a nest adds to which array.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tracejit.ir.builder import Builder
from tracejit.ir.control import LoopEqn, bounds_of, region_kind
from tracejit.ir.core import Atom, Block, Eqn, Graph, Literal, Span, Value
from tracejit.ir.dead_code import drop_dead_code
from tracejit.ir.dims import Dim, Ranges, dim_values, is_nonneg, maximum, minimum, substitute
from tracejit.ir.optable import find_op
from tracejit.ir.places import numbers_of
from tracejit.ir.walk import block_uses, replace_eqns, replace_graph, replace_regions
from tracejit.passes.nest_terms import ElementRead, NestPart, NestTerms, NoProduct, Place, number_in

__all__ = ["describe_nest", "multiply_nests"]

LABELS = "abcdefghijklmnop"


def multiply_nests(graph: Graph) -> tuple[Graph, list[Eqn]]:
    """Return a graph with products in the place of nests, and these nests."""
    found: list[Eqn] = []
    used = {*block_uses(graph.block)}

    def in_block(block: Block, ranges: dict[Value, tuple[Dim | None, Dim | None]]) -> Block:
        return replace_eqns(block, lambda eqn: change(eqn, ranges))

    def change(eqn: Eqn, ranges: dict[Value, tuple[Dim | None, Dim | None]]) -> Iterable[Eqn]:
        kind = region_kind(eqn)
        if kind == "for":
            made = _product_of(eqn, used, ranges)
            if made is not None:
                found.append(eqn)
                return made
        if kind in ("for", "while", "map"):
            ranges = {**ranges, **{r.inputs[0]: numbers_of(eqn) for r in eqn.regions}}
        return [replace_regions(eqn, lambda r: in_block(r, ranges))]

    block = in_block(graph.block, {})
    return (drop_dead_code(replace_graph(graph, block)) if found else graph), found


def describe_nest(nest: Eqn) -> str:
    """Return why a loop over elements is not in the emitted source."""
    return f"{nest.site}: a product of matrices, element by element: done by BLAS"


def _product_of(eqn: Eqn, used: set[Value], ranges: Ranges) -> list[Eqn] | None:
    """Return the equations that do what a nest does; None if it is none of products."""
    try:
        return _Products(eqn, used, ranges).equations()
    except NoProduct:
        return None


class _Products:
    """Writes the products of a nest.

    numbers -- the numbers of its loops' iterations, with the loops
    """

    def __init__(self, eqn: Eqn, used: set[Value], ranges: Ranges) -> None:
        self.eqn, self.used, self.ranges = eqn, used, ranges
        self.terms = NestTerms(eqn)
        if not self.terms.parts or any(len(p.term.reads) != 2 for p in self.terms.parts):
            raise NoProduct
        self.numbers = self.terms.numbers
        self.builder = Builder()
        self.state = [*LoopEqn(eqn).starts]

    def equations(self) -> list[Eqn]:
        """Return the checks, and the products added to the arrays."""
        results = LoopEqn(self.eqn).results
        with self.builder.block(()) as scope:
            for eqn in self.terms.ahead:
                self.builder.append(eqn)
            for check in self.terms.checks:
                self._check(check.eqn, check.loops)
            for part in self.terms.parts:
                self._part(part)
            for k, (read, loops) in self.terms.cleared.items():
                if results[k] in self.used:
                    self._clear(k, read, loops)
            eqns = [*scope.eqns]
            scope.close([])
        made = {a: v for a, v in zip(self.state, results, strict=True) if v in self.used}
        if any(v in made for v in LoopEqn(self.eqn).starts):
            raise NoProduct
        return [replace(e, outputs=tuple(made.get(v, v) for v in e.outputs)) for e in eqns]

    def _trips(self, loop: Eqn) -> tuple[Dim, Dim]:
        """Return the first number of a loop's iterations, and how many there are."""
        lo, hi = bounds_of(loop)
        if self.numbers & {*dim_values(lo), *dim_values(hi)}:
            raise NoProduct
        return lo, maximum(hi - lo, 0)

    def _check(self, eqn: Eqn, loops: tuple[Eqn, ...]) -> None:
        """Write a check for all iterations at once."""
        first, last = {}, {}
        count = eqn.params["count"]
        for loop in loops:
            v = LoopEqn(loop).index
            lo, trips = self._trips(loop)
            first[v], last[v], count = lo, lo + trips - 1, count * trips
        for d in (eqn.params["first"], eqn.params["last"]):
            number_in(d, self.numbers)
        if self.numbers & {*dim_values(eqn.params["count"]), *dim_values(eqn.params["size"])}:
            raise NoProduct
        self.builder.emit(eqn.op, (), {**eqn.params, "count": count,
                                       "first": substitute(eqn.params["first"], first),
                                       "last": substitute(eqn.params["last"], last)}, (), eqn.site)

    def _part(self, part: NestPart) -> None:
        """Write a product, and add it to its array or write it there."""
        (a, b), array = part.term.reads, self.state[part.array]
        operands = (a.version, a.at), (b.version, b.at), (array, part.at)
        loops = {LoopEqn(x).index: x for x in (*part.loops, *part.term.sums)}
        labels = dict(zip(loops, LABELS, strict=False))
        left, right, output = (self._numbers(at) for _, at in operands)
        if not _is_product({*left}, {*right}, {*output}, {*loops}):
            raise NoProduct
        at, other, target = self._spots(operands, loops)
        spec = ["".join(labels[v] for v in vs) for vs in (left, right, output)]
        value = self._emit("dot", self._whole_or_part(a.version, at),
                           self._whole_or_part(b.version, other),
                           spec=f"{spec[0]},{spec[1]}->{spec[2]}")
        self.state[part.array] = self._put(array, self._scaled(value, part), target, part)

    def _clear(self, k: int, read: ElementRead, loops: tuple[Eqn, ...]) -> None:
        array = self.state[k]
        (at,) = self._spots([(array, read.at)], {LoopEqn(x).index: x for x in loops})
        shape = tuple(s.size for s in at if isinstance(s, Span))
        zeros = self._emit("full", Literal(0.0, array.aval.dtype), shape=shape)
        self.state[k] = self._emit("update", array, zeros, at=at)

    def _numbers(self, at: Place) -> list[Value]:
        """Return the loops that go along an array, by its axes."""
        found = [v for d in at if (v := number_in(d, self.numbers)) is not None]
        if len(found) != len({*found}):
            raise NoProduct
        return found

    def _spots(self, operands: Sequence[tuple[Atom, Place]],
               loops: dict[Value, Eqn]) -> list[tuple[Dim | Span, ...]]:
        """Return the parts of arrays that loops go through."""
        first = {v: self._trips(loop)[0] for v, loop in loops.items()}
        sizes = {v: self._trips(loop)[1] for v, loop in loops.items()}
        for x, at in operands:
            self._fit(x, at, first, sizes)
        return [tuple(d if (v := number_in(d, self.numbers)) is None else
                      Span(substitute(d, first), sizes[v]) for d in at) for _, at in operands]

    def _fit(self, x: Atom, at: Place, first: dict[Value, Dim], sizes: dict[Value, Dim]) -> None:
        """Let loops be as long as arrays are, where some loop of the nest has no iteration."""
        for d, size in zip(at, x.aval.shape, strict=True):
            v = number_in(d, self.numbers)
            if v is None:
                if not (is_nonneg(d, self.ranges) and is_nonneg(size - 1 - d, self.ranges)):
                    raise NoProduct
            elif not is_nonneg(size - substitute(d, first) - sizes[v], self.ranges):
                sizes[v] = minimum(sizes[v], maximum(size - substitute(d, first), 0))

    def _whole_or_part(self, x: Atom, at: tuple[Dim | Span, ...]) -> Atom:
        return x if _is_whole(at, x) else self._emit("index", x, at=at)

    def _scaled(self, value: Atom, part: NestPart) -> Atom:
        """Return a product of elements times the numbers of its term."""
        numbers = part.term.numbers
        if numbers:
            factor = numbers[0]
            for x in numbers[1:]:
                factor = self._emit("mul", factor, x)
            value = self._emit("mul", self._emit("full", factor, shape=value.aval.shape), value)
        return self._emit("neg", value) if part.term.is_negative else value

    def _put(self, array: Atom, value: Atom, at: tuple[Dim | Span, ...], part: NestPart) -> Atom:
        if not part.is_write and _is_whole(at, array):
            return self._emit("add", array, value)
        return self._emit("update" if part.is_write else "accumulate", array, value, at=at)

    def _emit(self, name: str, *inputs: Atom, **params: object) -> Atom:
        (v,) = self.builder.emit(find_op(name), inputs, params, site=self.eqn.site)
        return v


def _is_whole(at: Iterable[object], x: Atom) -> bool:
    return all(isinstance(s, Span) and s.start == 0 and s.size == d
               for s, d in zip(at, x.aval.shape, strict=True))


def _is_product(left: set[Value], right: set[Value], output: set[Value],
                loops: set[Value]) -> bool:
    """Whether a contraction has rows, columns and terms, and nothing that only one array has."""
    rows, columns, summed = (left & output) - right, (right & output) - left, left & right - output
    return bool(rows and columns and summed) and (
        left <= right | output and right <= left | output and output <= left | right
        and loops == left | right)
