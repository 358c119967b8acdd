"""What emitted CPU source may call: pointers that cannot alias, and scalar functions.

Everything lowers to a few LLVM instructions at the place of the call; nothing uses Numba's runtime.
"""

from __future__ import annotations

import cmath
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import Registry
from numba.core.typing.templates import AbstractTemplate, signature
from numba.core.typing.templates import Registry as TypingRegistry
from numba.extending import intrinsic, models, register_model

from tracejit.codegen.context import LOGS, POLL
from tracejit.codegen.vector_math import call_math
from tracejit.ir.dtypes import DTYPES

__all__ = ["FAST_MATH", "NUMBA_TYPES", "Ptr", "namespace",
           "pointer"]

NUMBA_TYPES: dict[np.dtype, Any] = {
    DTYPES["bool"]: types.boolean, DTYPES["i8"]: types.int8, DTYPES["i16"]: types.int16,
    DTYPES["i32"]: types.int32, DTYPES["i64"]: types.int64, DTYPES["u8"]: types.uint8,
    DTYPES["u16"]: types.uint16, DTYPES["u32"]: types.uint32, DTYPES["u64"]: types.uint64,
    DTYPES["f32"]: types.float32, DTYPES["f64"]: types.float64, DTYPES["c64"]: types.complex64,
    DTYPES["c128"]: types.complex128,
}
FAST_MATH = ("reassoc", "nsz")
"""The flags of the adds of reductions, and of nothing else."""

f64, i64 = types.float64, types.int64


# --- pointers -----------------------------------------------------------------------------------


class Ptr(types.Type):
    """A typed pointer to one buffer. Pointers of different scopes never alias.

    LLVM is told so by alias scopes on every load and store; with ten arrays it would otherwise give
    up on vectorising.
    """

    def __init__(self, dtype: Any, scope: int) -> None:
        self.dtype, self.scope = dtype, scope
        super().__init__(f"Ptr({dtype}, {scope})")


@register_model(Ptr)
class PtrModel(models.PrimitiveModel):
    """A pointer is a pointer."""

    def __init__(self, dmm: Any, fe_type: Any) -> None:
        element = dmm.lookup(fe_type.dtype).get_data_type()
        super().__init__(dmm, fe_type, element.as_pointer())


def _scopes(module: Any, number: int) -> tuple[Any, Any]:
    """Return the metadata that put an access into its scope and out of all others."""
    table = module.__dict__.setdefault("_tj_scopes", {})
    if not table:
        domain = module.add_metadata([ir.MetaDataString(module, "tracejit")])
        table["all"] = [module.add_metadata([ir.MetaDataString(module, f"scope{k}"), domain])
                        for k in range(module.__dict__.get("_tj_count", 64))]
    if number not in table:
        every = table["all"]
        own = module.add_metadata([every[number % len(every)]])
        others = module.add_metadata([s for k, s in enumerate(every) if k != number % len(every)])
        table[number] = own, others
    found: tuple[Any, Any] = table[number]
    return found


def _annotate(instruction: Any, module: Any, number: int) -> None:
    own, others = _scopes(module, number)
    instruction.set_metadata("alias.scope", own)
    instruction.set_metadata("noalias", others)


lowering = Registry("tracejit lowering")
typing = TypingRegistry()


@typing.register_global(operator.getitem)
class PtrGetItem(AbstractTemplate):
    """`pointer[i]`."""

    def generic(self, args: Any, kws: Any) -> Any:
        pointer_type, index = args
        if isinstance(pointer_type, Ptr) and isinstance(index, types.Integer):
            return signature(pointer_type.dtype, pointer_type, i64)
        return None


@typing.register_global(operator.setitem)
class PtrSetItem(AbstractTemplate):
    """`pointer[i] = value`."""

    def generic(self, args: Any, kws: Any) -> Any:
        pointer_type, index, _ = args
        if isinstance(pointer_type, Ptr) and isinstance(index, types.Integer):
            return signature(types.none, pointer_type, i64, pointer_type.dtype)
        return None


@lowering.lower(operator.getitem, Ptr, types.Integer)
def ptr_getitem(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Load an element."""
    base, index = args
    loaded = builder.load(builder.gep(base, [index], inbounds=True))
    _annotate(loaded, builder.module, sig.args[0].scope)
    return context.data_model_manager[sig.return_type].from_data(builder, loaded)


@lowering.lower(operator.setitem, Ptr, types.Integer, types.Any)
def ptr_setitem(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Store an element."""
    base, index, value = args
    data = context.data_model_manager[sig.args[0].dtype].as_data(builder, value)
    stored = builder.store(data, builder.gep(base, [index], inbounds=True))
    _annotate(stored, builder.module, sig.args[0].scope)
    return context.get_dummy_value()


def pointer(dtype: np.dtype) -> Any:
    """Return the intrinsic `at(base, offset, scope)`: a typed pointer into bytes."""
    element = NUMBA_TYPES[dtype]

    @intrinsic(prefer_literal=True)
    def at(typingctx: Any, base: Any, offset: Any, scope: Any) -> Any:
        result = Ptr(element, scope.literal_value)

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            moved = builder.gep(args[0], [args[1]])
            return builder.bitcast(moved, context.get_value_type(result))

        return result(base, i64, scope), generate

    return at


# --- scalar functions ---------------------------------------------------------------------------


def _of_one_type(generate: Callable[..., Any], result: Any = None) -> Any:
    """An intrinsic on operands of one type, which is also its result's unless another is given."""

    @intrinsic
    def function(typingctx: Any, *operands: Any) -> Any:
        kind = operands[0]
        return (result or kind)(*(kind,) * len(operands)), generate

    return function


def _unary(generate: Callable[[Any, Any], Any]) -> Any:
    @intrinsic
    def function(typingctx: Any, x: Any) -> Any:
        return x(x), lambda context, builder, sig, args: generate(builder, args[0])

    return function


def _binary(generate: Callable[[Any, Any, Any], Any]) -> Any:
    @intrinsic
    def function(typingctx: Any, x: Any, y: Any) -> Any:
        return x(x, x), lambda context, builder, sig, args: generate(builder, *args)

    return function


def _call_llvm(builder: Any, name: str, *args: Any) -> Any:
    """Emit a call of an intrinsic of LLVM whose operands and result are of one type."""
    kind = args[0].type
    fn = builder.module.declare_intrinsic(f"llvm.{name}", [kind],
                                          ir.FunctionType(kind, [kind] * len(args)))
    return builder.call(fn, args)


def _llvm(name: str) -> Any:
    """A unary intrinsic of LLVM on floats."""
    return _unary(lambda builder, x: _call_llvm(builder, name, x))


def _math(name: str, widths: tuple[int, ...]) -> Any:
    """A unary function of libm on floats; complex operands go to Numba's cmath."""
    plain = getattr(cmath, name, None)

    @intrinsic
    def function(typingctx: Any, x: Any) -> Any:
        if isinstance(x, types.Complex):
            return x(x), lambda context, builder, sig, args: _of_numba(
                context, builder, plain, args, x)
        return x(x), lambda context, builder, sig, args: call_math(
            builder, name, list(args), widths)

    return function


def _of_numba(context: Any, builder: Any, function: Any, args: Any, *kinds: Any) -> Any:
    """Emit a call of a function that Numba knows."""
    known = context.typing_context.resolve_value_type(function)
    signature = known.get_call_type(context.typing_context, kinds, {})
    args = [context.cast(builder, a, kind, wanted)
            for a, kind, wanted in zip(args, kinds, signature.args, strict=True)]
    result = context.get_function(known, signature)(builder, args)
    return context.cast(builder, result, signature.return_type, kinds[0])


def _math2(name: str, widths: tuple[int, ...]) -> Any:
    @intrinsic
    def function(typingctx: Any, x: Any, y: Any) -> Any:
        if isinstance(x, types.Complex):
            return x(x, x), lambda context, builder, sig, args: _of_numba(
                context, builder, operator.pow, args, x, x)
        return x(x, x), lambda context, builder, sig, args: call_math(
            builder, name, list(args), widths)

    return function


def _reduction_add(flags: tuple[str, ...]) -> Any:
    """An add that may be reordered with its like: the step of a sum."""

    @intrinsic
    def radd(typingctx: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            if not isinstance(a, types.Complex):
                return builder.fadd(*args, flags=flags)
            x, y = (context.make_complex(builder, sig.return_type, v) for v in args)
            z = context.make_complex(builder, sig.return_type)
            z.real = builder.fadd(x.real, y.real, flags=flags)
            z.imag = builder.fadd(x.imag, y.imag, flags=flags)
            return z._getvalue()

        return a(a, a), generate

    return radd


@intrinsic
def select(typingctx: Any, condition: Any, a: Any, b: Any) -> Any:
    """`a if condition else b`, both computed."""
    kind = typingctx.unify_types(types.unliteral(a), types.unliteral(b))

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(*args)

    return kind(types.boolean, kind, kind), generate


@intrinsic
def between(typingctx: Any, lo: Any, i: Any, hi: Any) -> Any:
    """`lo <= i < hi` without a branch."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        lo, i, hi = args
        return builder.and_(builder.icmp_signed("<=", lo, i), builder.icmp_signed("<", i, hi))

    return types.boolean(types.int64, types.int64, types.int64), generate


@intrinsic
def scalar_loop(typingctx: Any) -> Any:
    """Keep a loop of few iterations from being vectorised, which takes long to compile."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.asm(ir.FunctionType(ir.VoidType(), []), "", "", (), True)
        return ir.IntType(64)(0)

    return types.int64(), generate


def _extremum(name: str, signed: str) -> Any:
    """NaN wins among floats."""

    @intrinsic
    def function(typingctx: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            x, y = args
            if isinstance(a, types.Float):
                return _call_llvm(builder, name, x, y)
            compare = (builder.icmp_signed if isinstance(a, types.Integer) and a.signed
                       else builder.icmp_unsigned)
            return builder.select(compare(signed, x, y), x, y)

        return a(a, a), generate

    return function


def _integer(signed: str) -> Any:
    """The larger or smaller of two int64."""

    @intrinsic
    def function(typingctx: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            x, y = args
            return builder.select(builder.icmp_signed(signed, x, y), x, y)

        return i64(i64, i64), generate

    return function


def _division(remainder: bool) -> Any:
    """Python's floor division and modulo of int64; 0 where the divisor is 0, as NumPy has it."""

    @intrinsic
    def function(typingctx: Any, a: Any, b: Any) -> Any:
        kind = types.unliteral(a)
        kind = i64 if not isinstance(kind, types.Integer) else kind

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            x, y = args
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


def _cast(kind: Any) -> Any:
    @intrinsic
    def function(typingctx: Any, x: Any) -> Any:
        source = types.unliteral(x)

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            (value,) = args
            if isinstance(source, types.Complex) and not isinstance(kind, types.Complex):
                number = context.make_complex(builder, source, value)
                if kind is types.boolean:
                    parts = [builder.fcmp_unordered("!=", p, p.type(0.0))
                             for p in (number.real, number.imag)]
                    return builder.or_(*parts)
                return context.cast(builder, number.real, source.underlying_float, kind)
            if kind is types.boolean and isinstance(source, types.Float):
                return builder.fcmp_unordered("!=", value, value.type(0.0))
            return context.cast(builder, value, source, kind)

        return kind(source), generate

    return function


# --- failures and Logs: words of the context ------------------------------------------------------


def _word(builder: Any, context_pointer: Any, k: int) -> Any:
    return builder.gep(context_pointer, [ir.IntType(64)(k)])


@intrinsic
def fail(typingctx: Any, ctx: Any, status: Any, a: Any, b: Any) -> Any:
    """Note which failure it is, and two numbers for its message; return the status."""
    kinds = [types.unliteral(v) for v in (a, b)]

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        base, code, *rest = args
        for k, (value, kind) in enumerate(zip(rest, kinds, strict=True)):
            number = context.cast(builder, value, kind, f64)
            place = builder.bitcast(_word(builder, base, 1 + k), number.type.as_pointer())
            builder.store(number, place)
        return code

    return i64(ctx, i64, *kinds), generate


@intrinsic(prefer_literal=True)
def interrupted(typingctx: Any, ctx: Any, i: Any, mask: Any) -> Any:
    """Ask whether to leave the kernel, in iterations i of which the bits of the mask are all set.

    The question reads and writes nothing that the kernel does.
    """

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        word = ir.IntType(64)
        bits = word(mask.literal_value)
        count = context.cast(builder, args[1], sig.args[1], i64)
        asks = builder.icmp_unsigned("==", builder.and_(count, bits), bits)
        result = cgutils.alloca_once_value(builder, word(0))
        with builder.if_then(asks, likely=False):
            address = builder.load(_word(builder, args[0], POLL))
            with builder.if_then(builder.icmp_unsigned("!=", address, word(0))):
                kind = ir.FunctionType(ir.IntType(32), [])
                call = builder.call(builder.inttoptr(address, kind.as_pointer()), [])
                for attribute in ("nounwind", "memory(inaccessiblemem: readwrite)"):
                    set.add(call.attributes, attribute)
                builder.store(builder.zext(call, word), result)
        return builder.icmp_unsigned("!=", builder.load(result), word(0))

    return types.boolean(ctx, types.unliteral(i), mask), generate


@intrinsic(prefer_literal=True)
def log_base(typingctx: Any, ctx: Any, number: Any, scope: Any) -> Any:
    """Return where a Log's memory is now; the tag of its scope also says its dtype."""
    kind, k = scope.literal_value.split(":")
    result = Ptr(NUMBA_TYPES[DTYPES[kind]], int(k))

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        word = builder.load(_word(builder, args[0], LOGS + 2 * number.literal_value))
        return builder.inttoptr(word, context.get_value_type(result))

    return result(ctx, number, scope), generate


@intrinsic
def advance(typingctx: Any, pointer: Any, count: Any) -> Any:
    """Return a pointer to a later element."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.gep(args[0], [args[1]])

    return pointer(pointer, i64), generate


@intrinsic(prefer_literal=True)
def log_capacity(typingctx: Any, ctx: Any, number: Any) -> Any:
    """Return how many elements a Log has room for."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_word(builder, args[0], LOGS + 2 * number.literal_value + 1))

    return i64(ctx, number), generate


Reallocate = Callable[[Any, Any, Any, Any, Any], Any]
"""Emit a call that resizes a block: of (builder, context, block, old bytes, new bytes)."""

LARGEST_LOG = 1 << 56
"""More elements than any memory holds, and few enough for their bytes to be a number."""


def realloc(builder: Any, ctx: Any, block: Any, old_bytes: Any, new_bytes: Any) -> Any:
    """Emit a call of C's `realloc`."""
    function = builder.module.globals.get("realloc") or ir.Function(
        builder.module, ir.FunctionType(block.type, [block.type, new_bytes.type]), "realloc")
    return builder.call(function, [block, new_bytes])


def _log_growth(reallocate: Reallocate) -> Any:
    @intrinsic(prefer_literal=True)
    def log_grow(typingctx: Any, ctx: Any, number: Any, needed: Any, size: Any) -> Any:
        """Double a Log's room until it is enough; nonzero if there is no memory."""

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            word = ir.IntType(64)
            byte = ir.IntType(8).as_pointer()
            place = _word(builder, args[0], LOGS + 2 * number.literal_value)
            room = _word(builder, args[0], LOGS + 2 * number.literal_value + 1)
            before = builder.load(room)
            doubled = builder.mul(before, word(2))
            enough = builder.icmp_signed(">", doubled, args[2])
            capacity = builder.select(enough, doubled, builder.mul(args[2], word(2)))
            least = word(1024)
            capacity = builder.select(builder.icmp_signed("<", capacity, least), least, capacity)
            old = builder.inttoptr(builder.load(place), byte)
            itemsize = word(size.literal_value)
            absurd = builder.icmp_unsigned(">", args[2], word(LARGEST_LOG))
            wanted = builder.select(absurd, word(-1), builder.mul(capacity, itemsize))
            new = reallocate(builder, args[0], old, builder.mul(before, itemsize), wanted)
            failed = builder.icmp_unsigned("==", new, ir.Constant(byte, None))
            with builder.if_then(builder.not_(failed)):
                builder.store(builder.ptrtoint(new, word), place)
                builder.store(capacity, room)
            return builder.zext(failed, word)

        return i64(ctx, number, i64, size), generate

    return log_grow


# --- the names that emitted source finds ----------------------------------------------------------

_VECTOR_NAMES = ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan",
                 "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt",
                 "erf", "erfc")
_VECTOR_NAMES2 = ("pow", "atan2", "hypot")


def namespace(widths: tuple[int, ...], *, reassociate: bool = True,
              reallocate: Reallocate = realloc) -> dict[str, Any]:
    """Return what emitted source calls, by name.

    widths      -- the bits of the vectors that math functions may be called on, with an error of
                   up to 4 ulp; none where they must not be vectorised
    reassociate -- whether the adds of sums may be reordered
    reallocate  -- emits the call by which Logs grow
    """
    from tracejit.codegen import (
        checked,
        library_calls,
        native,
        printing,
        scalar_functions,
        ticks,
    )

    names: dict[str, Any] = {
        "radd": _reduction_add(FAST_MATH if reassociate else ()), "select": select,
        "advance": advance, "between": between, "scalar_loop": scalar_loop,
        "maximum": _extremum("maximum", ">"),
        "minimum": _extremum("minimum", "<"), "imax": _integer(">"), "imin": _integer("<"),
        "idiv": _division(False), "imod": _division(True), "fail": fail,
        "interrupted": interrupted, "log_base": log_base, "log_capacity": log_capacity,
        "log_grow": _log_growth(reallocate), "inf": float("inf"),
        "nan": float("nan"), "sqrt": _sqrt(), "fabs": _llvm("fabs"), "floor": _llvm("floor"),
        "ceil": _llvm("ceil"), "trunc": _llvm("trunc"), "rint": _llvm("rint"),
        "copysign": _binary(lambda builder, x, y: _call_llvm(builder, "copysign", x, y)),
        "fmod": _binary(lambda b, x, y: b.frem(x, y)),
    }
    names.update((name, _math(name, widths)) for name in _VECTOR_NAMES)
    names.update((name, _math2(name, widths)) for name in _VECTOR_NAMES2)
    names.update((name, _cast(NUMBA_TYPES[dtype])) for name, dtype in DTYPES.items()
                 if name != "bool")
    names["within"], names["show"] = checked.within, printing.show
    names["bool_"] = _cast(types.boolean)
    names.update((f"{name}_at", pointer(dtype)) for name, dtype in DTYPES.items())
    names.update(library_calls.names())
    names.update(native.native_names())
    names.update(ticks.tick_names())
    names.update(scalar_functions.functions(names))
    return names


def _sqrt() -> Any:
    @intrinsic
    def function(typingctx: Any, x: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            if isinstance(x, types.Complex):
                return _of_numba(context, builder, cmath.sqrt, args, x)
            return _call_llvm(builder, "sqrt", *args)

        return x(x), generate

    return function
