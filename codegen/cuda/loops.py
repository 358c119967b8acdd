"""Loops for a CUDA device, with notes: which iterations are independent, and the folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tracejit.codegen.folds import Folds
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.independence import Independence
from tracejit.codegen.loop_expressions import ZERO
from tracejit.codegen.nests import write_loop
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.codegen.schedule import Nest, Style
from tracejit.codegen.statements import Statement
from tracejit.ir.core import Value

__all__ = ["DeviceLoops"]


class DeviceLoops:
    """Writes the loops of nests for a device: threads sum parts, and test guards without loss.

    free -- the loop variables of the open nest whose iterations are independent
    """

    def __init__(self, frame: KernelFrame, code: ScalarCode, folds: Folds, style: Style,
                 write_part: Callable[[Nest | Statement], None]) -> None:
        self.frame, self.code, self.folds, self.write_part = frame, code, folds, write_part
        self.independence = Independence(frame.elements, frame.buffers, style)
        self.free: frozenset[Value] = frozenset()

    def enter(self, nest: Nest) -> None:
        """Find which loops of a nest threads may be spread over."""
        self.free = self.independence.free_variables(nest)

    def write(self, nest: Nest, name: str, begun: Sequence[Statement],
              long: Sequence[Statement]) -> None:
        """Write a loop, noting which threads may do it."""
        folds = tuple((self.folds.registers[s].name,
                       s.combine if s.kind == "fold" else f"arg{s.combine}")
                      for s in begun if s.kind in ("fold", "argument"))
        loop = write_loop(self.frame, nest, name, ZERO, self.code.dim(nest.extent),
                          self.write_part)
        loop.independent = nest.var in self.free
        loop.is_divisible = not loop.independent and self.independence.is_divisible(nest)
        if loop.independent or loop.is_divisible:
            loop.folds = folds
        loop.runs = self._running(nest)

    def _running(self, nest: Nest) -> str:
        """Return the register of a running sum, if that is all a nest does, in any order."""
        s = nest.body[0]
        if len(nest.body) > 1 or not isinstance(s, Statement) or s.kind != "running" or (
                self.independence.is_in_order(s)):
            return ""
        found = s.accesses(self.frame.elements, self.frame.buffers)
        is_in_place = all(a.index == s.index for a in found
                          if a.buffer is s.buffer and not a.is_write)
        return self.folds.registers[s].name if is_in_place else ""
