"""Conversions of scalars to another dtype, as emitted CPU source calls them: NumPy's results.

LLVM leaves open which integer a float is that the integer's dtype does not hold; its vector code
gives another one than its scalar code. NumPy, made by a C compiler, converts floats to signed
integers of 32 or 64 bits, of which narrow and unsigned ones are the low bits: -1.0 is 255 of uint8.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from tracejit.codegen.halves import Half, narrowed, widened_bits

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext
    from numba.core.typing.context import BaseContext as TypingContext
    from numba.core.typing.templates import Signature

__all__ = ["cast_to"]


def cast_to(kind: types.Type) -> Any:
    """Return the conversion of a number to a type."""
    @intrinsic
    def function(typingctx: TypingContext, x: types.Type) -> Any:
        def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                     args: Sequence[ir.Value]) -> Any:
            value, source = args[0], types.unliteral(x)
            if isinstance(source, Half):
                value, source = widened_bits(builder, source, value), types.float32
            if isinstance(source, types.Complex) and not isinstance(kind, types.Complex):
                number = context.make_complex(builder, source, value)
                if kind is types.boolean:
                    parts = [builder.fcmp_unordered("!=", p, p.type(0.0))
                             for p in (number.real, number.imag)]
                    return builder.or_(*parts)
                return _of_real(context, builder, number.real, source.underlying_float, kind)
            if kind is types.boolean and isinstance(source, types.Float):
                return builder.fcmp_unordered("!=", value, value.type(0.0))
            return _of_real(context, builder, value, source, kind)

        return kind(types.unliteral(x)), generate

    return function


def _of_real(context: TargetContext, builder: ir.IRBuilder, value: ir.Value, source: types.Type,
             kind: types.Type) -> Any:
    """Emit the conversion of a number that is not complex."""
    if isinstance(kind, Half):
        return narrowed(context, builder, kind, value, source)
    if not (isinstance(source, types.Float) and isinstance(kind, types.Integer)):
        return context.cast(builder, value, source, kind)
    is_wide = kind.bitwidth == 64 or kind == types.uint32
    signed = types.int64 if is_wide else types.int32
    number = context.cast(builder, value, source, signed)
    if kind == types.uint64:
        half = value.type(2.0 ** 63)
        rest = context.cast(builder, builder.fsub(value, half), source, signed)
        number = builder.select(builder.fcmp_ordered(">=", value, half),
                                builder.xor(rest, rest.type(-2 ** 63)), number)
    return context.cast(builder, number, signed, kind)
