"""Calls from kernels to their caller, with addresses of values: prints, and Python functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from tracejit.codegen.context import CALLBACK, PRINT
from tracejit.codegen.native import kinds_of_words, table_of

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext
    from numba.core.typing.context import BaseContext as TypingContext
    from numba.core.typing.templates import Signature

__all__ = ["call_back", "show"]

WORD = ir.IntType(64)


def _calling(place: int, words: Sequence[types.Type]) -> tuple[Any, Callable[..., Any]]:
    """Return the types of words, and the code that calls the function at a place of it."""
    kinds = kinds_of_words(words)

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        table = table_of(builder, [builder.extract_value(args[2], k) for k in range(len(kinds))])
        address = builder.load(builder.gep(args[0], [WORD(place)]))
        with builder.goto_entry_block():
            result = builder.alloca(WORD)
        builder.store(WORD(0), result)
        with builder.if_then(builder.icmp_unsigned("!=", address, WORD(0))):
            kind = ir.FunctionType(WORD, [WORD, WORD.as_pointer()])
            function = builder.inttoptr(address, kind.as_pointer())
            builder.store(builder.call(function, [args[1], table]), result)
        return builder.load(result)

    return kinds, generate


@intrinsic
def show(typingctx: TypingContext, ctx: types.Type, number: types.Type, *words: types.Type) -> Any:
    """Call the function that prints, if there is one."""
    kinds, generate = _calling(PRINT, words)
    return types.int64(ctx, types.int64, kinds), generate


@intrinsic
def call_back(typingctx: TypingContext, ctx: types.Type, number: types.Type,
              *words: types.Type) -> Any:
    """Call the function that calls Python's."""
    kinds, generate = _calling(CALLBACK, words)
    return types.int64(ctx, types.int64, kinds), generate
