"""The passes before codegen, in order."""

from __future__ import annotations

from collections.abc import Callable

from tracejit.ir.core import Graph
from tracejit.ir.dead_code import drop_dead_code
from tracejit.ir.halves import widened
from tracejit.ir.inductions import drop_inductions
from tracejit.passes.inlining import inline_calls
from tracejit.passes.rules import simplify

__all__ = ["PASSES"]

PASSES: tuple[Callable[[Graph], Graph], ...] = (
    drop_dead_code,
    inline_calls,
    widened,
    drop_inductions,
    simplify,
    simplify,
)
"""Read top to bottom; each takes valid IR and returns valid IR."""
