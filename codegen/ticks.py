"""Functions that instrumented source alone calls: a clock, and counts of iterations.

Both are calls of C functions that `tracejit.runtime.ticks` makes. LLVM knows nothing of these, so
that loops stay between the two calls that they are between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext
    from numba.core.typing.context import BaseContext as TypingContext
    from numba.core.typing.templates import Signature

__all__ = ["LAP", "TALLY", "tick_names"]

LAP, TALLY = "tracejit_lap", "tracejit_tally"
"""The C functions `void lap(i64 slot)` and `void tally(i64 slot, i64 amount)`."""

WORD = ir.IntType(64)


def _call(builder: ir.IRBuilder, symbol: str, words: list[ir.Value]) -> Any:
    kind = ir.FunctionType(ir.VoidType(), [WORD] * len(words))
    function = builder.module.globals.get(symbol) or ir.Function(builder.module, kind, symbol)
    builder.call(function, words)
    return WORD(0)


@intrinsic
def lap(typingctx: TypingContext, slot: types.Type) -> Any:
    """Add the time since the last lap to a slot, and one to the slot behind it."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        return _call(builder, LAP, list(args))

    return types.int64(types.int64), generate


@intrinsic
def tally(typingctx: TypingContext, slot: types.Type, amount: types.Type) -> Any:
    """Add an amount to a slot."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        return _call(builder, TALLY, list(args))

    return types.int64(types.int64, types.int64), generate


def tick_names() -> dict[str, Any]:
    """Return the intrinsics by name."""
    return {"lap": lap, "tally": tally}
