"""Intrinsics of emitted CPU source on the context: failures, polls for interrupts, and Logs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from tracejit.codegen.context import LOGS, NUMBERS, POLL
from tracejit.codegen.pointers import NUMBA_TYPES, Ptr
from tracejit.codegen.recipes import Recipe
from tracejit.ir.dtypes import DTYPES

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext
    from numba.core.typing.context import BaseContext as TypingContext
    from numba.core.typing.templates import Signature

__all__ = ["Reallocate", "context_names", "realloc"]

FLOAT64, INT64 = types.float64, types.int64

Reallocate = Callable[[Any, Any, Any, Any, Any], Any]
"""Emit a call that resizes a block: of (builder, context, block, old bytes, new bytes)."""

LARGEST_LOG = 1 << 56
"""More elements than any memory holds, and few enough for their bytes to be a number."""


def context_names(reallocate: Reallocate) -> dict[str, object]:
    """Return the functions by name, or their recipes.

    reallocate -- emits the call by which Logs grow
    """
    return {"fail": fail, "interrupted": interrupted, "log_base": log_base, "advance": advance,
            "log_capacity": log_capacity, "log_grow": Recipe(log_growth, (reallocate,))}


def _word(builder: ir.IRBuilder, context_pointer: ir.Value, k: int) -> Any:
    return builder.gep(context_pointer, [ir.IntType(64)(k)])


@intrinsic
def fail(typingctx: TypingContext, ctx: types.Type, status: types.Type, a: types.Type,
         b: types.Type) -> Any:
    """Note which failure it is, and two numbers for its message; return the status."""
    kinds = [types.unliteral(v) for v in (a, b)]

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        base, code, *rest = args
        is_called = "leaves_now" in builder.module.globals  # else the kernel may need no stack
        wide = INT64 if is_called and all(kind == INT64 for kind in kinds) else FLOAT64
        numbers = [context.cast(builder, value, kind, wide)
                   for value, kind in zip(rest, kinds, strict=True)]
        if is_called:
            builder.call(_noting(builder.module, base.type, numbers[0].type), [base, *numbers])
        else:
            _note(builder, base, numbers)
        return code

    return INT64(ctx, INT64, *kinds), generate


def _seldom(module: ir.Module, name: str, signature: ir.FunctionType, memory: str) -> ir.Function:
    """Return a new function of a module, which is called seldom and stays a call.

    memory -- what it reads and writes, as LLVM's attribute says it
    """
    made = ir.Function(module, signature, name)
    made.linkage = "internal"
    for attribute in ("nounwind", "noinline", "cold", f"memory({memory})"):
        set.add(made.attributes, attribute)
    return made


def _noting(module: ir.Module, ctx: ir.Type, number: ir.Type) -> ir.Function:
    """Return the function of a module that notes two numbers for a failure's message."""
    name = f"note_{number}"
    if name in module.globals:
        return module.get_global(name)
    made = _seldom(module, name, ir.FunctionType(ir.VoidType(), [ctx, number, number]),
                   "argmem: write")
    builder = ir.IRBuilder(made.append_basic_block("entry"))
    base, *numbers = made.args
    wide = ir.DoubleType()
    _note(builder, base, [x if number == wide else builder.sitofp(x, wide) for x in numbers])
    builder.ret_void()
    return made


def _note(builder: ir.IRBuilder, base: ir.Value, numbers: Sequence[ir.Value]) -> None:
    for k, number in zip(NUMBERS, numbers, strict=True):
        builder.store(number, builder.bitcast(_word(builder, base, k), number.type.as_pointer()))


def _asking(module: ir.Module, ctx: ir.Type) -> ir.Function:
    """Return the function of a module that asks whether the user wants to leave the kernel."""
    if "leaves_now" in module.globals:
        return module.get_global("leaves_now")
    truth, word = ir.IntType(1), ir.IntType(64)
    made = _seldom(module, "leaves_now", ir.FunctionType(truth, [ctx]),
                   "argmem: read, inaccessiblemem: readwrite")
    builder = ir.IRBuilder(made.append_basic_block("entry"))
    address = builder.load(_word(builder, made.args[0], POLL))
    with builder.if_then(builder.icmp_unsigned("==", address, word(0))):
        builder.ret(truth(0))
    kind = ir.FunctionType(ir.IntType(32), [])
    call = builder.call(builder.inttoptr(address, kind.as_pointer()), [])
    for attribute in ("nounwind", "memory(inaccessiblemem: readwrite)"):
        set.add(call.attributes, attribute)
    builder.ret(builder.icmp_unsigned("!=", call, call.type(0)))
    return made


@intrinsic(prefer_literal=True)
def interrupted(typingctx: TypingContext, ctx: types.Type, i: types.Type, mask: types.Type) -> Any:
    """Ask whether to leave the kernel, in iterations i of which the bits of the mask are all set.

    The question reads and writes nothing that the kernel does.
    """

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        word = ir.IntType(64)
        bits = word(mask.literal_value)
        count = context.cast(builder, args[1], sig.args[1], INT64)
        asks = builder.icmp_unsigned("==", builder.and_(count, bits), bits)
        asked = _asking(builder.module, args[0].type)
        before = builder.block
        with builder.if_then(asks, likely=False):
            leaves, where = builder.call(asked, [args[0]]), builder.block
        result = builder.phi(leaves.type)
        result.add_incoming(leaves.type(0), before)
        result.add_incoming(leaves, where)
        return result

    return types.boolean(ctx, types.unliteral(i), mask), generate


@intrinsic(prefer_literal=True)
def log_base(typingctx: TypingContext, ctx: types.Type, number: types.Type,
             scope: types.Type) -> Any:
    """Return where a Log's memory is now; the tag of its scope also says its dtype."""
    kind, k = scope.literal_value.split(":")
    result = Ptr(NUMBA_TYPES[DTYPES[kind]], int(k))

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        word = builder.load(_word(builder, args[0], LOGS + 2 * number.literal_value))
        return builder.inttoptr(word, context.get_value_type(result))

    return result(ctx, number, scope), generate


@intrinsic
def advance(typingctx: TypingContext, pointer: types.Type, count: types.Type) -> Any:
    """Return a pointer to a later element."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        return builder.gep(args[0], [args[1]])

    return pointer(pointer, INT64), generate


@intrinsic(prefer_literal=True)
def log_capacity(typingctx: TypingContext, ctx: types.Type, number: types.Type) -> Any:
    """Return how many elements a Log has room for."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        return builder.load(_word(builder, args[0], LOGS + 2 * number.literal_value + 1))

    return INT64(ctx, number), generate


def realloc(builder: ir.IRBuilder, ctx: ir.Value, block: ir.Value, old_bytes: ir.Value,
            new_bytes: ir.Value) -> Any:
    """Emit a call of C's `realloc`."""
    function = builder.module.globals.get("realloc") or ir.Function(
        builder.module, ir.FunctionType(block.type, [block.type, new_bytes.type]), "realloc")
    return builder.call(function, [block, new_bytes])


def log_growth(reallocate: Reallocate) -> Any:
    @intrinsic(prefer_literal=True)
    def log_grow(typingctx: TypingContext, ctx: types.Type, number: types.Type, needed: types.Type,
                 size: types.Type) -> Any:
        """Double a Log's room where it is not enough; nonzero if there is no memory.

        A loop that runs again finds the room that its last run has left, and need not grow it.
        """

        def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                     args: Sequence[ir.Value]) -> Any:
            words = [ir.IntType(64)(x.literal_value) for x in (number, size)]
            return builder.call(_growth(builder.module, reallocate, args[0].type),
                                [args[0], words[0], args[2], words[1]])

        return INT64(ctx, number, INT64, size), generate

    return log_grow


def _growth(module: ir.Module, reallocate: Reallocate, ctx: ir.Type) -> Any:
    """Return the function of a module that makes a Log's room larger where it is not enough.

    It is given the context, the number of the Log, the elements needed and the bytes of one.
    """
    if "grow_log" in module.globals:
        return module.get_global("grow_log")
    word = ir.IntType(64)
    made = ir.Function(module, ir.FunctionType(word, [ctx, word, word, word]), "grow_log")
    made.linkage = "internal"
    for attribute in ("nounwind", "noinline", "cold"):
        made.attributes.add(attribute)
    builder = ir.IRBuilder(made.append_basic_block("entry"))
    place = builder.add(word(LOGS), builder.mul(made.args[1], word(2)))
    words = [builder.gep(made.args[0], [x]) for x in (place, builder.add(place, word(1)))]
    lacks = builder.icmp_unsigned("<", builder.load(words[1]), made.args[2])
    with builder.if_then(lacks):
        builder.ret(builder.zext(_grown(reallocate, builder, made, words), word))
    builder.ret(word(0))
    return made


def _grown(reallocate: Reallocate, builder: ir.IRBuilder, made: ir.Function,
           words: Sequence[ir.Value]) -> Any:
    """Double the capacity of a Log, or give it twice the elements needed; return whether it failed.

    words -- pointers to the words of its address and its capacity
    """
    ctx, _, needed, size = made.args
    place, room = words
    word, byte = ir.IntType(64), ir.IntType(8).as_pointer()
    before = builder.load(room)
    doubled = builder.mul(before, word(2))
    enough = builder.icmp_signed(">", doubled, needed)
    capacity = builder.select(enough, doubled, builder.mul(needed, word(2)))
    least = word(1024)
    capacity = builder.select(builder.icmp_signed("<", capacity, least), least, capacity)
    old = builder.inttoptr(builder.load(place), byte)
    absurd = builder.icmp_unsigned(">", needed, word(LARGEST_LOG))
    wanted = builder.select(absurd, word(-1), builder.mul(capacity, size))
    new = reallocate(builder, ctx, old, builder.mul(before, size), wanted)
    failed = builder.icmp_unsigned("==", new, ir.Constant(byte, None))
    with builder.if_then(builder.not_(failed)):
        builder.store(builder.ptrtoint(new, word), place)
        builder.store(capacity, room)
    return failed
