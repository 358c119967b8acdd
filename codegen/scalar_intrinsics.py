"""Scalar functions that emitted CPU source calls, each a few instructions of LLVM in its place."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from tracejit.codegen.arithmetic import divided_by
from tracejit.codegen.casts import cast_to
from tracejit.codegen.complex_functions import complex_function
from tracejit.codegen.halves import HALF_TYPES, rounding
from tracejit.codegen.pointers import NUMBA_TYPES
from tracejit.codegen.recipes import Recipe, Widths
from tracejit.codegen.scalars import names_where
from tracejit.codegen.vector_math import call_math
from tracejit.ir.dtypes import DTYPES

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext
    from numba.core.typing.context import BaseContext as TypingContext
    from numba.core.typing.templates import Signature

__all__ = ["QUICK", "scalar_names"]

FAST_MATH = ("reassoc", "nsz")
"""The flags of the adds of reductions; of others, only extrema carry one, `nsz`."""

QUICK = frozenset((*names_where(quick=True), "inf", "nan", "bool_", *DTYPES))
"""The functions that take a few instructions."""

INT64 = types.int64


def scalar_names(widths: Widths, *, reassociate: bool) -> dict[str, object]:
    """Return the functions by name, or their recipes; see `tracejit.codegen.intrinsics`."""
    names: dict[str, object] = {
        "radd": Recipe(reduction_add, (FAST_MATH if reassociate else (),)), "select": select,
        "between": between, "scalar_loop": scalar_loop,
        "maximum": Recipe(extremum, ("maximum", ">")),
        "minimum": Recipe(extremum, ("minimum", "<")),
        "imax": Recipe(integer_extremum, (">",)), "imin": Recipe(integer_extremum, ("<",)),
        "idiv": Recipe(floor_division, (False,)), "imod": Recipe(floor_division, (True,)),
        "inf": Recipe(float, ("inf",)), "nan": Recipe(float, ("nan",)),
        "sqrt": square_root, "copysign": sign_copied, "fmod": remainder_of_c,
        **{name: Recipe(llvm_function, (name,))
           for name in ("fabs", "floor", "ceil", "trunc", "rint")},
    }
    names.update((name, Recipe(math_function, (name, widths))) for name in names_where(libm=1))
    names.update((name, Recipe(math_function_of_two, (name, widths)))
                 for name in names_where(libm=2))
    names.update((name, Recipe(cast_to, (NUMBA_TYPES[dtype],))) for name, dtype in DTYPES.items()
                 if name != "bool")
    names.update((f"round_{name}", Recipe(rounding, (name,))) for name in HALF_TYPES)
    names["bool_"] = Recipe(cast_to, (types.boolean,))
    return names


# --- intrinsics made once -----------------------------------------------------------------------


@intrinsic
def select(typingctx: TypingContext, condition: types.Type, a: types.Type, b: types.Type) -> Any:
    """`a if condition else b`, both computed."""
    kind = typingctx.unify_types(types.unliteral(a), types.unliteral(b))

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        return builder.select(*args)

    return kind(types.boolean, kind, kind), generate


@intrinsic
def between(typingctx: TypingContext, lo: types.Type, i: types.Type, hi: types.Type) -> Any:
    """`lo <= i < hi` without a branch."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        lo, i, hi = args
        return builder.and_(builder.icmp_signed("<=", lo, i), builder.icmp_signed("<", i, hi))

    return types.boolean(types.int64, types.int64, types.int64), generate


@intrinsic
def scalar_loop(typingctx: TypingContext) -> Any:
    """Keep a loop of few iterations from being vectorised, which takes long to compile."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        builder.asm(ir.FunctionType(ir.VoidType(), []), "", "", (), True)
        return ir.IntType(64)(0)

    return types.int64(), generate


@intrinsic
def square_root(typingctx: TypingContext, x: types.Type) -> Any:
    """The square root; complex operands go to `complex_functions.py`."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        if isinstance(x, types.Complex):
            return context.compile_internal(builder, complex_function("sqrt"), sig, args)
        return call_llvm(builder, "sqrt", *args)

    return x(x), generate


@intrinsic
def sign_copied(typingctx: TypingContext, x: types.Type, y: types.Type) -> Any:
    """The first float with the sign of the second."""
    return x(x, x), lambda context, builder, sig, args: call_llvm(builder, "copysign", *args)


@intrinsic
def remainder_of_c(typingctx: TypingContext, x: types.Type, y: types.Type) -> Any:
    """C's `fmod`: the sign of the dividend."""
    return x(x, x), lambda context, builder, sig, args: builder.frem(*args)


# --- intrinsics made by functions ---------------------------------------------------------------


def call_llvm(builder: ir.IRBuilder, name: str, *args: ir.Value,
              flags: tuple[str, ...] = ()) -> Any:
    """Emit a call of an intrinsic of LLVM whose operands and result are of one type."""
    kind = args[0].type
    fn = builder.module.declare_intrinsic(f"llvm.{name}", [kind],
                                          ir.FunctionType(kind, [kind] * len(args)))
    return builder.call(fn, args, fastmath=flags)


def llvm_function(name: str) -> Any:
    """Return a unary intrinsic of LLVM on floats."""

    @intrinsic
    def function(typingctx: TypingContext, x: types.Type) -> Any:
        return x(x), lambda context, builder, sig, args: call_llvm(builder, name, *args)

    return function


def math_function(name: str, widths: tuple[int, ...]) -> Any:
    """A unary function of libm on floats; complex operands go to `complex_functions.py`."""

    @intrinsic
    def function(typingctx: TypingContext, x: types.Type) -> Any:
        if isinstance(x, types.Complex):
            return x(x), lambda context, builder, sig, args: context.compile_internal(
                builder, complex_function(name), x(x), args)
        return x(x), lambda context, builder, sig, args: call_math(
            builder, name, list(args), widths)

    return function


def call_of_numba(context: TargetContext, builder: ir.IRBuilder, function: object,
                  args: Sequence[ir.Value], *kinds: types.Type) -> Any:
    """Emit a call of a function that Numba knows."""
    known = context.typing_context.resolve_value_type(function)
    signature = known.get_call_type(context.typing_context, kinds, {})
    args = [context.cast(builder, a, kind, wanted)
            for a, kind, wanted in zip(args, kinds, signature.args, strict=True)]
    result = context.get_function(known, signature)(builder, args)
    return context.cast(builder, result, signature.return_type, kinds[0])


def math_function_of_two(name: str, widths: tuple[int, ...]) -> Any:
    @intrinsic
    def function(typingctx: TypingContext, x: types.Type, y: types.Type) -> Any:
        if isinstance(x, types.Complex):
            return x(x, x), lambda context, builder, sig, args: call_of_numba(
                context, builder, operator.pow, args, x, x)
        return x(x, x), lambda context, builder, sig, args: call_math(
            builder, name, list(args), widths)

    return function


def reduction_add(flags: tuple[str, ...]) -> Any:
    """An add that may be reordered with its like: the step of a sum."""

    @intrinsic
    def radd(typingctx: TypingContext, a: types.Type, b: types.Type) -> Any:
        def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                     args: Sequence[ir.Value]) -> Any:
            if not isinstance(a, types.Complex):
                return builder.fadd(*args, flags=flags)
            x, y = (context.make_complex(builder, sig.return_type, v) for v in args)
            z = context.make_complex(builder, sig.return_type)
            z.real = builder.fadd(x.real, y.real, flags=flags)
            z.imag = builder.fadd(x.imag, y.imag, flags=flags)
            return z._getvalue()

        return a(a, a), generate

    return radd


def extremum(name: str, signed: str) -> Any:
    """NaN wins among floats; of two zeros it may be either, as in NumPy."""

    @intrinsic
    def function(typingctx: TypingContext, a: types.Type, b: types.Type) -> Any:
        def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                     args: Sequence[ir.Value]) -> Any:
            x, y = args
            if isinstance(a, types.Float):
                return call_llvm(builder, name, x, y, flags=("nsz",))
            compare = (builder.icmp_signed if isinstance(a, types.Integer) and a.signed
                       else builder.icmp_unsigned)
            return builder.select(compare(signed, x, y), x, y)

        return a(a, a), generate

    return function


def integer_extremum(signed: str) -> Any:
    """The larger or smaller of two int64."""

    @intrinsic
    def function(typingctx: TypingContext, a: types.Type, b: types.Type) -> Any:
        def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                     args: Sequence[ir.Value]) -> Any:
            x, y = args
            return builder.select(builder.icmp_signed(signed, x, y), x, y)

        return INT64(INT64, INT64), generate

    return function


def floor_division(remainder: bool) -> Any:
    """Python's floor division and modulo of int64; 0 where the divisor is 0, as NumPy has it."""

    @intrinsic
    def function(typingctx: TypingContext, a: types.Type, b: types.Type) -> Any:
        kind = types.unliteral(a)
        kind = INT64 if not isinstance(kind, types.Integer) else kind

        def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                     args: Sequence[ir.Value]) -> Any:
            x, y = args
            if kind.signed and isinstance(y, ir.Constant) and y.constant > 0:
                return divided_by(builder, x, y, remainder)
            zero, one = x.type(0), x.type(1)
            is_zero = builder.icmp_unsigned("==", y, zero)
            safe = builder.select(is_zero, one, y)
            if not kind.signed:
                result = builder.urem(x, safe) if remainder else builder.udiv(x, safe)
                return builder.select(is_zero, zero, result)
            minus = builder.icmp_signed("==", safe, x.type(-1))  # the quotient may overflow
            divisor = builder.select(minus, one, safe)
            quotient = builder.sdiv(x, divisor)
            rest = builder.sub(x, builder.mul(quotient, divisor))
            opposite = builder.icmp_signed("<", builder.xor(rest, divisor), zero)
            adjust = builder.and_(builder.icmp_unsigned("!=", rest, zero), opposite)
            if remainder:
                result = builder.select(adjust, builder.add(rest, divisor), rest)
                result = builder.select(minus, zero, result)
            else:
                result = builder.select(adjust, builder.sub(quotient, one), quotient)
                result = builder.select(minus, builder.neg(x), result)
            return builder.select(is_zero, zero, result)

        return kind(kind, kind), generate

    return function
