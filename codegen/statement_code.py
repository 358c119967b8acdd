"""Statements of loop nests: puts, additions and scatters to memory, steps of folds."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tracejit.codegen.expression_edits import call
from tracejit.codegen.folds import FOLDED, Folds, combined, identity_of
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.loop_expressions import Array, Bin, Expression, Load
from tracejit.codegen.loop_ir import Do, Origin, Store
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.codegen.schedule import Style
from tracejit.codegen.statements import Statement

__all__ = ["StatementCode"]


class StatementCode:
    """Writes statements under the loops that are open."""

    def __init__(self, frame: KernelFrame, code: ScalarCode, folds: Folds, style: Style) -> None:
        self.frame, self.code, self.folds, self.style = frame, code, folds, style

    def write(self, s: Statement) -> None:
        """Write one assignment."""
        origin = self.frame.origin(s.eqn)
        if "why" in s.extra:
            origin = Origin((self.frame.labels[s.target],), None, str(s.extra["why"]))
        _KINDS[s.kind](self, s, origin)

    def put(self, s: Statement, origin: Origin) -> None:
        """Store an element."""
        a, index = s.operands[0]
        made = self.code.element_to_store(a, index) if s.makes_operand else (
            self.code.product(s.operands))
        self._store(s, made, origin)
        if s.eqn is not None:  # a copy to a carried value holds for one iteration only
            self.frame.remember(s.target, s.index, made)

    def fill(self, s: Statement, origin: Origin) -> None:
        """Store the initial value of a fold in memory."""
        self._store(s, identity_of(s.combine, s.target.aval.dtype), origin)

    def add(self, s: Statement, origin: Origin) -> None:
        """Fold one more term into an element in memory."""
        assert s.buffer is not None
        place = self.code.place(s.index, s.target_shape)
        old = Load(s.buffer.name, place, s.buffer.dtype)
        value = self.code.product(s.operands)
        if s.combine == "add":
            made: Expression = Bin("+", old, value)
        else:
            made = combined(s.combine, s.target.aval.dtype, old, value)
        self.frame.add(Store(s.buffer.name, place, made, origin))

    def step(self, s: Statement, origin: Origin) -> None:
        """Fold one more term into a register."""
        self.folds.step(s, origin)

    def scatter(self, s: Statement, origin: Origin) -> None:
        """Store or add at indices that are data; atomically where threads may meet."""
        (part, index), *places = s.operands
        axes: tuple[int, ...] = s.extra["axes"]  # type: ignore[assignment]
        found = iter([self.code.data_index(a, at) for a, at in places])
        target = tuple(next(found) if k in axes else i for k, i in enumerate(s.index))
        place = self.code.place(target, s.target_shape)
        value = self.code.element(part, index)
        assert s.buffer is not None
        name, dtype = s.buffer.name, s.buffer.dtype
        if s.combine == "set":
            self.frame.add(Store(name, place, value, origin))
        elif s.target.aval.dtype in self.style.atomic:
            self.frame.add(Do(call("accumulate", Array(name, dtype), place, value), origin))
        else:
            self.frame.add(Store(name, place, Bin("+", Load(name, place, dtype), value), origin))

    def _store(self, s: Statement, made: Expression, origin: Origin) -> None:
        assert s.buffer is not None
        self.code.store(s.buffer, s.index, s.target_shape, made, origin)


_KINDS: Mapping[str, Callable[[StatementCode, Statement, Origin], None]] = {
    "put": StatementCode.put, "fill": StatementCode.fill, "add": StatementCode.add,
    "scatter": StatementCode.scatter, **dict.fromkeys(FOLDED, StatementCode.step)}
