"""Loop nests: their folds, small nests written out, and loops, which targets write differently."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from tracejit.codegen.buffers import Buffer
from tracejit.codegen.folds import FOLDED, Folds, is_exact, is_float_sum
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.loop_expressions import Expression
from tracejit.codegen.loop_ir import Loop
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.codegen.schedule import Nest, Style, as_nest, statements_in
from tracejit.codegen.statement_code import StatementCode
from tracejit.codegen.statements import Statement, copy_statement
from tracejit.ir.core import Atom, Eqn, Value

__all__ = ["Loops", "MakeLoops", "Nests", "PlacedNest", "write_loop"]

BLOCK = 4096
"""How many terms are summed before their sum joins the total."""

Part = Nest | Statement


def _is_long(s: Statement) -> bool:
    """Whether a sum runs over one axis that may be long."""
    extent = s.extents[-1]
    return s.folded == 1 and not (isinstance(extent, int) and extent <= 2 * BLOCK)


@dataclass(frozen=True, slots=True)
class PlacedNest:
    """A loop nest, and the equations that it is carried out for or in, outermost first."""

    nest: Nest
    inside: tuple[Eqn, ...]


class Loops(Protocol):
    """How a target writes the loops of nests."""

    def enter(self, nest: Nest) -> None:
        """Look at a whole nest before its outermost loop is written."""

    def write(self, nest: Nest, name: str, begun: Sequence[Statement],
              long: Sequence[Statement]) -> None:
        """Write a loop whose variable has a name.

        begun -- the folds that it has to itself, whose registers are set up
        long  -- the sums among them of which the loop may be long
        """


class MakeLoops(Protocol):
    """Makes the writer of loops of one kernel."""

    def __call__(self, frame: KernelFrame, code: ScalarCode, folds: Folds, style: Style,
                 write_part: Callable[[Part], None]) -> Loops:
        """Return the writer of loops; `write_part` writes a part of a loop's body."""


def write_loop(frame: KernelFrame, nest: Nest, name: str, lo: Expression, hi: Expression,
               write_part: Callable[[Part], None]) -> Loop:
    """Write a loop as it is, from one iteration to another."""
    loop = Loop(name, lo, hi, nest=nest)
    with frame.scope(loop.body, [nest.var]):
        for part in nest.body:
            write_part(part)
    frame.add(loop)
    return loop


class Nests:
    """Writes loop nests into the innermost open block.

    placed -- the nests that were written
    """

    def __init__(self, frame: KernelFrame, code: ScalarCode, style: Style, make: MakeLoops) -> None:
        self.frame, self.parallel = frame, style.parallel
        self.vectorises = style.vectorises
        self.folds = Folds(frame, code)
        self.statements = StatementCode(frame, code, self.folds, style)
        self.loops = make(frame, code, self.folds, style, self._write_inner)
        self.placed: list[PlacedNest] = []

    def write(self, part: Part) -> None:
        """Write loops over elements, or a statement without loops."""
        if isinstance(part, Nest):
            self.placed.append(PlacedNest(part, self.frame.inside))
            self.loops.enter(part)
            self._write_nest(part, inner=False)
        else:
            self.statements.write(part)

    def write_alone(self, s: Statement) -> None:
        """Write a statement, in loops of its own."""
        self.write(as_nest(s, 0))

    def copy(self, source: Atom, target: Value, buffer: Buffer, why: str) -> None:
        """Copy an array to a buffer."""
        self.write_alone(copy_statement(source, target, buffer, why))

    def _write_inner(self, part: Part) -> None:
        if isinstance(part, Nest):
            self._write_nest(part, inner=True)
        else:
            self.statements.write(part)

    def _write_nest(self, nest: Nest, *, inner: bool) -> None:
        registers = self.folds.registers
        begun = [s for s in nest.statements() if self._begins_in(s, nest)]
        for s in begun:
            self.folds.begin(s)
        if nest.is_tiny() and not (self.vectorises and nest.is_vector()):
            self._write_out(nest)
        else:
            sums = [s for s in nest.statements() if s in registers and (
                is_float_sum(s) or (self.parallel and is_exact(s)))]
            inside = [s for s in sums
                      if s not in begun and nest.var in s.vars[len(s.vars) - s.folded:]]
            long = [] if inner else [s for s in sums if s in begun and _is_long(s)]
            with self.frame.loop_name(nest.var) as name, self.folds.subtotals(inside):
                self.loops.write(nest, name, begun, long)
        for s in begun:
            self.folds.end(s)

    def _begins_in(self, s: Statement, nest: Nest) -> bool:
        """Whether the outermost loop that a statement folds over is a nest's own loop."""
        return s.kind in FOLDED and s not in self.folds.registers and s.folded > 0 and (
            s.vars[len(s.vars) - s.folded] is nest.var)

    def _write_out(self, nest: Nest) -> None:
        """Write a loop over a small array as straight-line code, so that elements are scalars."""
        registers = self.folds.registers
        for k in range(nest.extent):  # type: ignore[arg-type]
            for old, new in zip(nest.body, nest.at(k), strict=True):
                pairs = zip(statements_in(old), statements_in(new), strict=True)
                registers.update((b, registers[a]) for a, b in pairs if a in registers)
                self._write_inner(new)
