"""Loop nests: plain loops, small ones written out, and loops split where guards hold throughout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tracejit.codegen.buffers import Buffer, Buffers
from tracejit.codegen.elements import Elements, Guard
from tracejit.codegen.folds import StatementEmitter, is_float_sum
from tracejit.codegen.loop_expressions import (
    I64,
    ZERO,
    All,
    Bin,
    Expression,
    Select,
    Unary,
    Var,
    call,
    integer,
)
from tracejit.codegen.loop_ir import Assign, Do, If, Let, Loop, Node
from tracejit.codegen.schedule import Nest, as_nest, statements_in
from tracejit.codegen.statements import Statement, copy_statement
from tracejit.ir.core import Atom, Eqn, Value
from tracejit.ir.dims import Dim, Expr, ceil_div, dim_values

__all__ = ["NestEmitter", "PlacedNest"]

SUMS, MARGINS = "blocks of a sum", "the margins"
"""What loops around loops over elements are for."""

BLOCK = 4096
"""How many terms are summed before their sum joins the total."""


def _is_long(s: Statement) -> bool:
    """Whether a sum runs over one axis that may be long."""
    extent = s.extents[-1]
    return s.folded == 1 and not (isinstance(extent, int) and extent <= 2 * BLOCK)


@dataclass(frozen=True, slots=True)
class PlacedNest:
    """A loop nest, and the equations that it is carried out for or in, outermost first."""

    nest: Nest
    inside: tuple[Eqn, ...]


class NestEmitter(StatementEmitter):
    """Emits loop nests into the innermost open block."""

    def __init__(self, elements: Elements, buffers: Buffers, labels: dict[Value, str]) -> None:
        super().__init__(elements, buffers, labels)
        self.nests: list[PlacedNest] = []

    def nest(self, nest: Nest, *, inner: bool = False) -> None:
        """Lower a loop over elements."""
        if not inner:
            eqns = tuple(s.eqn for s in self.scopes if s.eqn is not None)
            self.nests.append(PlacedNest(nest, eqns))
        folds = [s for s in nest.statements()
                 if s.kind in ("fold", "argument", "running") and self._starts_fold(s, nest)]
        for s in folds:
            self.begin_fold(s)
        if nest.is_tiny():
            self._write_out(nest)
            for s in folds:
                self.end_fold(s)
            return
        sums = [s for s in nest.statements() if s in self.folds and is_float_sum(s)]
        inside = [s for s in sums if s not in folds and nest.var in s.vars[len(s.vars) - s.folded:]]
        long = [] if inner else [s for s in sums if s in folds and _is_long(s)]
        with self.loop_name(nest.var) as name, self.subtotals(inside):
            self._loop(nest, name, long)
        for s in folds:
            self.end_fold(s)

    def _write_out(self, nest: Nest) -> None:
        """Lower a loop over a small array as straight-line code, so that elements are scalars."""
        for k in range(nest.extent):  # type: ignore[arg-type]
            for old, new in zip(nest.body, nest.at(k), strict=True):
                pairs = zip(statements_in(old), statements_in(new), strict=True)
                self.folds.update((b, self.folds[a]) for a, b in pairs if a in self.folds)
                self._part(new)

    def _part(self, part: Nest | Statement) -> None:
        if isinstance(part, Nest):
            self.nest(part, inner=True)
        else:
            self.statement(part)

    def _starts_fold(self, s: Statement, nest: Nest) -> bool:
        return s not in self.folds and s.folded > 0 and s.vars[len(s.vars) - s.folded] is nest.var

    def _loop(self, nest: Nest, name: str, sums: Sequence[Statement]) -> None:
        hi = self.dim(nest.extent)
        innermost = not any(isinstance(part, Nest) for part in nest.body) and not any(
            s.kind in ("running", "argument") for s in nest.statements())  # these go in order
        guards = [g for g in self._guards(nest) if _stretch(g, nest.var) is not None
                  or nest.var not in dim_values(g.index)] if innermost else []
        if not guards:
            self._in_blocks(nest, name, ZERO, hi, sums)
            return
        self._split_loop(nest, name, hi, guards, sums)

    def _in_blocks(self, nest: Nest, name: str, lo: Expression, hi: Expression,
                   sums: Sequence[Statement]) -> None:
        """Sum block by block, so that rounding errors grow with the number of blocks only."""
        if not sums:
            self._plain_loop(nest, name, lo, hi)
            return
        block = self.fresh("block")
        blocks = Loop(block, lo, hi, step=integer(BLOCK), role=SUMS)
        first = Var(block, I64)
        with self.scope(blocks.body, conditional=True), self.subtotals(sums):
            self._plain_loop(nest, name, first,
                             call("imin", Bin("+", first, integer(BLOCK)), hi))
        self.nodes.append(blocks)

    def _plain_loop(self, nest: Nest, name: str, lo: Expression, hi: Expression) -> None:
        loop = Loop(name, lo, hi, nest=nest)
        with self.scope(loop.body, [nest.var]):
            for part in nest.body:
                self._part(part)
        self.nodes.append(loop)

    def _guards(self, nest: Nest) -> list[Guard]:
        """Return the guards of what a loop's statements read."""
        found: dict[Guard, None] = {}
        for s in nest.statements():
            for a, index in s.operands:
                if s.makes_operand or self.elements.is_virtual(a):
                    for read in self.elements.reads_of(a, index):  # type: ignore[arg-type]
                        found.update(dict.fromkeys(read.guards))
        return list(found)

    def _split_loop(self, nest: Nest, name: str, hi: Expression, guards: list[Guard],
                    sums: Sequence[Statement]) -> None:
        """Run the stretch in which every guard holds without tests, its margins with them."""
        var = nest.var
        lows: list[Dim] = [0]
        highs: list[Dim] = [nest.extent]
        outer = []
        for g in guards:
            stretch = _stretch(g, var)
            if stretch is not None:
                lows.append(stretch[0])
                highs.append(stretch[1])
            else:
                outer.append(self.guard(g))
        first, last = (Var(self.fresh(stem), I64) for stem in ("first", "last"))
        lo, end = self._extreme("imax", lows), self._extreme("imin", highs)
        self.nodes.append(Assign(first.name, call("imin", lo, hi)))
        self.nodes.append(Assign(last.name, call("imax", end, first)))
        test = All(tuple(dict.fromkeys(outer))) if outer else None
        if test is not None:
            self.nodes.append(If(Unary("not", test), [Assign(first.name, hi),
                                                      Assign(last.name, hi)]))
        part = Var(self.fresh("part"), I64)
        margins = Loop(part.name, ZERO, integer(2), role=MARGINS)
        begin, stop = (Var(self.fresh(stem), I64) for stem in ("begin", "stop"))
        is_first = Bin("==", part, ZERO)
        margins.body += [Let(begin.name, Select(is_first, ZERO, last)),
                         Let(stop.name, Select(is_first, first, hi))]
        with self.scope(margins.body, conditional=True):
            self._plain_loop(nest, name, begin, stop)
        edge = margins.body[-1]
        assert isinstance(edge, Loop)
        edge.body.insert(0, Do(call("scalar_loop")))
        self.nodes.append(margins)
        before = self.facts
        self.facts = before | set(guards)
        inside: list[Node] = []
        with self.scope(self.nodes if test is None else inside, conditional=True):
            self._in_blocks(nest, name, first, last, sums)
        if test is not None:  # what is computed once for all of it must not be, where there is none
            self.nodes.append(If(test, inside))
        self.facts = before

    def _extreme(self, function: str, dims: Sequence[Dim]) -> Expression:
        """Return the largest or smallest of dims, without those that cannot be it."""
        sign = 1 if function == "imax" else -1
        kept: list[Dim] = []
        for d in dict.fromkeys(dims):
            if not any(_is_at_least(sign * (e - d)) for e in kept):
                kept = [e for e in kept if not _is_at_least(sign * (d - e))]
                kept.append(d)
        found = self.dim(kept[0])
        for d in kept[1:]:
            found = call(function, found, self.dim(d))
        return found

    def copy(self, source: Atom, target: Value, buffer: Buffer, why: str) -> None:
        """Copy an array to a buffer."""
        self.loops_of(copy_statement(source, target, buffer, why))

    def loops_of(self, s: Statement) -> None:
        """Carry a statement out, in loops of its own."""
        step = as_nest(s, 0)
        if isinstance(step, Nest):
            self.nest(step)
        else:
            self.statement(step)


def _stretch(g: Guard, var: Value) -> tuple[Dim, Dim] | None:
    """Return from where on and up to where a guard holds of a loop variable; None if not of one.

    With lo <= c * var + rest < hi, that is from ceil((lo - rest) / c) to ceil((hi - rest) / c).
    """
    factor = g.index.factor_of(var) if isinstance(g.index, Expr) else None
    if factor is None or var in (*dim_values(g.lo), *dim_values(g.hi)):
        return None
    assert isinstance(g.index, Expr)
    rest = g.index - factor * var.dim
    if factor > 0:
        return ceil_div(g.lo - rest, factor), ceil_div(g.hi - rest, factor)
    return ceil_div(rest - g.hi + 1, -factor), ceil_div(rest - g.lo + 1, -factor)


def _is_at_least(difference: Dim) -> bool:
    return isinstance(difference, int) and difference >= 0
