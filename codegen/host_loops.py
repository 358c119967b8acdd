"""Loops for the CPU: long sums in blocks, and loops split where guards hold throughout."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tracejit.codegen.elements import Guard
from tracejit.codegen.expression_edits import call, integer
from tracejit.codegen.folds import Folds
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.independence import Independence
from tracejit.codegen.loop_expressions import ZERO, All, Bin, Expression, Select, Unary
from tracejit.codegen.loop_ir import Assign, Do, If, Let, Loop, Node
from tracejit.codegen.nests import BLOCK, write_loop
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.codegen.schedule import Nest, Style
from tracejit.codegen.statements import Statement
from tracejit.ir.core import Value
from tracejit.ir.dims import Dim, Expr, ceil_div, dim_values

__all__ = ["HostLoops"]

SUMS, MARGINS = "blocks of a sum", "the margins"
"""The role of loops around loops over elements."""


class HostLoops:
    """Writes the loops of nests for the CPU."""

    def __init__(self, frame: KernelFrame, code: ScalarCode, folds: Folds, style: Style,
                 write_part: Callable[[Nest | Statement], None]) -> None:
        self.frame, self.code, self.folds, self.write_part = frame, code, folds, write_part
        self.independence = (Independence(frame.elements, frame.buffers, style)
                             if style.parallel else None)
        self.free: frozenset[Value] = frozenset()
        """The loop variables of the open nest whose iterations threads may share."""
        self.sums: tuple[Value | None, tuple[str, ...]] = None, ()
        """The outermost variable of the open nest, and the buffers that all iterations add to."""

    def enter(self, nest: Nest) -> None:
        """Find which loops of a nest threads may share."""
        if self.independence is not None:
            self.free = self.independence.free_variables(nest)
            self.sums = nest.var, tuple(b.name for b in self.independence.sums(nest))

    def write(self, nest: Nest, name: str, begun: Sequence[Statement],
              long: Sequence[Statement]) -> None:
        """Write a loop, split where its reads are guarded."""
        hi = self.code.dim(nest.extent)
        innermost = not any(isinstance(part, Nest) for part in nest.body) and not any(
            s.kind in ("running", "argument") for s in nest.statements())  # these go in order
        guards = [g for g in self._guards(nest) if _stretch(g, nest.var) is not None
                  or nest.var not in dim_values(g.index)] if innermost else []
        if not guards:
            self._in_blocks(nest, name, ZERO, hi, long)
            return
        self._split_loop(nest, name, hi, guards, long)

    def _in_blocks(self, nest: Nest, name: str, lo: Expression, hi: Expression,
                   sums: Sequence[Statement]) -> None:
        """Sum block by block, so that rounding errors grow with the number of blocks only."""
        if not sums:
            self._plain_loop(nest, name, lo, hi)
            return
        first = self.frame.variable("block")
        blocks = Loop(first.name, lo, hi, step=integer(BLOCK), role=SUMS,
                      independent=nest.var in self.free)
        with self.frame.scope(blocks.body, conditional=True), self.folds.subtotals(sums):
            self._plain_loop(nest, name, first,
                             call("imin", Bin("+", first, integer(BLOCK)), hi))
        self.frame.add(blocks)

    def _plain_loop(self, nest: Nest, name: str, lo: Expression, hi: Expression) -> Loop:
        loop = write_loop(self.frame, nest, name, lo, hi, self.write_part)
        loop.independent = nest.var in self.free
        loop.sums = self.sums[1] if nest.var is self.sums[0] else ()
        return loop

    def _guards(self, nest: Nest) -> list[Guard]:
        """Return the guards of the reads of a loop's statements."""
        found: dict[Guard, None] = {}
        for s in nest.statements():
            for a, index in s.operands:
                if s.makes_operand or self.frame.elements.is_virtual(a):
                    for read in self.frame.elements.reads_of(a, index):  # type: ignore[arg-type]
                        found.update(dict.fromkeys(read.guards))
        return list(found)

    def _split_loop(self, nest: Nest, name: str, hi: Expression, guards: list[Guard],
                    sums: Sequence[Statement]) -> None:
        """Run the stretch in which every guard holds without tests, its margins with them.

            def shifted(x):
                z = np.zeros(len(x))
                z[1:] = x[:-1]
                return z + x

        An element of `z` is asked for where it is read: it is x[i - 1] where 1 <= i < n, the guard
        of the write, and 0.0 elsewhere. With a test in it no loop is vectorised. So there is a loop
        for the stretch from `first` to `last`, and another one, whose text runs twice, for the
        elements before and behind:

            n_2 = imax(n - 1, 0)
            first = imin(1, n)
            last = imax(imin(n, n_2 + 1), first)
            for part in range(2):
                begin = select(part == 0, 0, last)
                stop = select(part == 0, first, n)
                for i in range(begin, stop):
                    scalar_loop()
                    v2 = 0.0
                    if between(1, i, n_2 + 1):
                        v2 = x[i - 1]
                    out0[i] = v2 + x[i]
            for i in range(first, last):
                out0[i] = x[i - 1] + x[i]
        """
        lows, highs, outer = self._stretch_of(nest, guards)
        first, last = (self.frame.variable(stem) for stem in ("first", "last"))
        lo, end = self._extreme("imax", lows), self._extreme("imin", highs)
        self.frame.add(Assign(first.name, call("imin", lo, hi)),
                       Assign(last.name, call("imax", end, first)))
        test = All(tuple(dict.fromkeys(outer))) if outer else None
        if test is not None:
            self.frame.add(If(Unary("not", test), [Assign(first.name, hi),
                                                   Assign(last.name, hi)]))
        self._write_margins(nest, name, first, last, hi)
        inside: list[Node] = []
        with self.code.assuming(guards), self.frame.scope(
                self.frame.nodes if test is None else inside, conditional=True):
            self._in_blocks(nest, name, first, last, sums)
        if test is not None:  # an empty stretch must not compute its scalars either
            self.frame.add(If(test, inside))

    def _stretch_of(self, nest: Nest,
                    guards: list[Guard]) -> tuple[list[Dim], list[Dim], list[Expression]]:
        """Return lower and upper bounds of the guarded stretch, and tests of outer guards."""
        lows: list[Dim] = [0]
        highs: list[Dim] = [nest.extent]
        outer: list[Expression] = []
        for g in guards:
            stretch = _stretch(g, nest.var)
            if stretch is None:
                outer.append(self.code.guard(g))
            else:
                lows.append(stretch[0])
                highs.append(stretch[1])
        return lows, highs, outer

    def _write_margins(self, nest: Nest, name: str, first: Expression, last: Expression,
                       hi: Expression) -> None:
        """Write the loop up to `first`, and from `last` to `hi`: one text that runs twice."""
        part = self.frame.variable("part")
        margins = Loop(part.name, ZERO, integer(2), role=MARGINS)
        begin, stop = (self.frame.variable(stem) for stem in ("begin", "stop"))
        is_first = Bin("==", part, ZERO)
        margins.body += [Let(begin.name, Select(is_first, ZERO, last)),
                         Let(stop.name, Select(is_first, first, hi))]
        with self.frame.scope(margins.body, conditional=True):
            edge = self._plain_loop(nest, name, begin, stop)
        edge.body.insert(0, Do(call("scalar_loop")))
        self.frame.add(margins)

    def _extreme(self, function: str, dims: Sequence[Dim]) -> Expression:
        """Return the largest or smallest of dims, without dims that another one bounds."""
        sign = 1 if function == "imax" else -1
        kept: list[Dim] = []
        for d in dict.fromkeys(dims):
            if not any(_is_at_least(sign * (e - d)) for e in kept):
                kept = [e for e in kept if not _is_at_least(sign * (d - e))]
                kept.append(d)
        found = self.code.dim(kept[0])
        for d in kept[1:]:
            found = call(function, found, self.code.dim(d))
        return found


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
