"""Floats of two bytes in emitted CPU source: loaded as they are, computed in float32.

Where a CPU converts between them and float32 it is told to; elsewhere LLVM would call functions of
compiler-rt, which nobody links, so integers do it. Which of the two it is, is found out for the
machine that a module is made for: emitted code calls functions that `half_functions` defines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, models, register_model

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext
    from numba.core.typing.context import BaseContext as TypingContext
    from numba.core.typing.templates import Signature

__all__ = ["HALF_TYPES", "Half", "half_functions", "narrowed", "rounding", "widened_bits"]

BITS, SINGLE, WORD = ir.IntType(16), ir.FloatType(), ir.IntType(64)


class Half(types.Type):
    """A float of two bytes, of which Numba is shown the bits."""

    def __init__(self, name: str) -> None:
        super().__init__(name)


@register_model(Half)
class HalfModel(models.PrimitiveModel):
    """Two bytes."""

    def __init__(self, dmm: Any, fe_type: types.Type) -> None:
        super().__init__(dmm, fe_type, BITS)


HALF_TYPES = {"f16": Half("f16")}


def _function(builder: ir.IRBuilder, name: str, result: ir.Type, operand: ir.Type) -> Any:
    module = builder.module
    return module.globals.get(name) or ir.Function(
        module, ir.FunctionType(result, [operand]), name)


def widened_bits(builder: ir.IRBuilder, kind: types.Type, bits: ir.Value) -> Any:
    """Emit the float32 that a half is."""
    return builder.call(_function(builder, f"tracejit_{kind.name}_wide", SINGLE, BITS), [bits])


def narrowed(context: TargetContext, builder: ir.IRBuilder, kind: types.Type, value: ir.Value,
             source: types.Type) -> Any:
    """Emit the bits of the half next to a number that is not complex."""
    single = _single(context, builder, value, source)
    return builder.call(_function(builder, f"tracejit_{kind.name}_bits", BITS, SINGLE), [single])


def _single(context: TargetContext, builder: ir.IRBuilder, value: ir.Value,
            source: types.Type) -> Any:
    """Emit a float32 that rounds to the half to which a number does.

    A float64 keeps 24 bits, of which the last one says whether any of the others was set: rounded
    twice, first to float32, some would be on the other side of a tie.
    """
    if source != types.float64:
        return context.cast(builder, value, source, types.float32)
    bits = builder.bitcast(value, WORD)
    lost = builder.and_(bits, WORD((1 << 29) - 1))
    kept = builder.xor(bits, lost)
    sticky = builder.shl(builder.zext(builder.icmp_unsigned("!=", lost, WORD(0)), WORD), WORD(29))
    return builder.fptrunc(builder.bitcast(builder.or_(kept, sticky), value.type), SINGLE)


def rounding(name: str) -> Any:
    """Return the function that rounds a number to a half, as a float32."""
    kind = HALF_TYPES[name]

    @intrinsic
    def function(typingctx: TypingContext, x: types.Type) -> Any:
        def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                     args: Sequence[ir.Value]) -> Any:
            bits = narrowed(context, builder, kind, args[0], sig.args[0])
            return widened_bits(builder, kind, bits)

        return types.float32(types.unliteral(x)), generate

    return function


# --- the functions, for a machine -----------------------------------------------------------------

_BY_INSTRUCTION = """
define float @tracejit_f16_wide(i16 %bits) alwaysinline nounwind readnone {
  %half = bitcast i16 %bits to half
  %wide = fpext half %half to float
  ret float %wide
}
define i16 @tracejit_f16_bits(float %x) alwaysinline nounwind readnone {
  %half = fptrunc float %x to half
  %bits = bitcast half %half to i16
  ret i16 %bits
}
"""
_BY_INTEGERS = """
define float @tracejit_f16_wide(i16 %bits) alwaysinline nounwind readnone {
  %word = zext i16 %bits to i32
  %size = and i32 %word, 32767
  %high = shl i32 %word, 16
  %sign = and i32 %high, -2147483648
  %moved = shl i32 %size, 13
  %tiny = bitcast i32 %moved to float
  %scaled = fmul float %tiny, 0x46F0000000000000          ; 2^112
  %finite = bitcast float %scaled to i32
  %other = or i32 %moved, 2139095040
  %is_other = icmp ugt i32 %size, 31743                   ; infinite or NaN
  %found = select i1 %is_other, i32 %other, i32 %finite
  %signed = or i32 %found, %sign
  %wide = bitcast i32 %signed to float
  ret float %wide
}
define i16 @tracejit_f16_bits(float %x) alwaysinline nounwind readnone {
  %word = bitcast float %x to i32
  %size = and i32 %word, 2147483647
  %high = lshr i32 %word, 16
  %sign = and i32 %high, 32768
  %shifted = lshr i32 %size, 13
  %odd = and i32 %shifted, 1
  %based = add i32 %size, -939520001                      ; another exponent, and half an ulp - 1
  %evened = add i32 %based, %odd
  %normal = lshr i32 %evened, 13
  %number = bitcast i32 %size to float
  %aligned = fadd float %number, 5.000000e-01             ; its last bit is 2^-24
  %sum = bitcast float %aligned to i32
  %subnormal = add i32 %sum, -1056964608
  %is_small = icmp ult i32 %size, 947912704               ; below 2^-14
  %finite = select i1 %is_small, i32 %subnormal, i32 %normal
  %is_nan = icmp ugt i32 %size, 2139095040
  %other = select i1 %is_nan, i32 32256, i32 31744
  %is_other = icmp ugt i32 %size, 1199570943              ; 65520, half an ulp above the largest
  %found = select i1 %is_other, i32 %other, i32 %finite
  %signed = or i32 %found, %sign
  %bits = trunc i32 %signed to i16
  ret i16 %bits
}
"""
_ANSWERS: dict[int, bool] = {}


def _has_instructions(machine: llvm.TargetMachine) -> bool:
    """Return whether a machine converts halves itself: without calling compiler-rt."""
    if id(machine) not in _ANSWERS:
        module = llvm.parse_assembly(_BY_INSTRUCTION)
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        text = machine.emit_assembly(module)
        _ANSWERS[id(machine)] = not any(f in text for f in ("truncsfhf2", "extendhfsf2", "gnu_"))
    return _ANSWERS[id(machine)]


def half_functions(module: llvm.ModuleRef, machine: llvm.TargetMachine) -> str:
    """Return LLVM text of the functions that convert halves; nothing if a module calls none."""
    names = {f"tracejit_{kind}_{end}" for kind in HALF_TYPES for end in ("wide", "bits")}
    if names.isdisjoint(f.name for f in module.functions):
        return ""
    return _BY_INSTRUCTION if _has_instructions(machine) else _BY_INTEGERS
