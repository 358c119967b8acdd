"""Arrays and numbers in the entry of a module for Numba, around the call of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext
    from numba.core.typing.context import BaseContext as TypingContext
    from numba.core.typing.templates import Signature

__all__ = ["address_of", "free_block", "keep", "number_at", "number_of", "put", "room_for", "words"]


@intrinsic(prefer_literal=True)
def address_of(typingctx: TypingContext, array: types.Type, dtype: types.Type,
               ndim: types.Type) -> Any:
    """Return where a contiguous array of a dtype and a number of axes lies, as bytes."""
    wanted, axes = (getattr(t, "literal_value", t) for t in (dtype, ndim))
    if not isinstance(array, types.Array) or array.layout != "C" or (
            str(array.dtype), array.ndim) != (wanted, axes):
        raise TypingError(f"a contiguous array of {wanted} with {axes} axes is wanted here, not "
                          f"{array}")

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        held = context.make_array(array)(context, builder, args[0])
        return builder.bitcast(held.data, context.get_value_type(sig.return_type))

    return types.CPointer(types.uint8)(array, dtype, ndim), generate


@intrinsic(prefer_literal=True)
def words(typingctx: TypingContext, count: types.Type) -> Any:
    """Return words on the stack, all of them 0: a kernel's context."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        made = cgutils.alloca_once(builder, ir.IntType(64), count.literal_value)
        cgutils.memset(builder, made, ir.IntType(64)(8 * count.literal_value), 0)
        return made

    return types.CPointer(types.int64)(count), generate


@intrinsic(prefer_literal=True)
def room_for(typingctx: TypingContext, dtype: types.Type) -> Any:
    """Return where a number of a dtype may be put, on the stack."""
    kind: Any = getattr(types, dtype.literal_value)

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        made = cgutils.alloca_once(builder, context.get_data_type(kind))
        return builder.bitcast(made, context.get_value_type(sig.return_type))

    return types.CPointer(types.uint8)(dtype), generate


@intrinsic
def put(typingctx: TypingContext, place: types.Type, x: types.Type) -> Any:
    """Put a number where there is room for it; return the place."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        data = context.data_model_manager[x].as_data(builder, args[1])
        builder.store(data, builder.bitcast(args[0], data.type.as_pointer()))
        return args[0]

    return place(place, x), generate


@intrinsic(prefer_literal=True)
def number_at(typingctx: TypingContext, place: types.Type, dtype: types.Type) -> Any:
    """Return the number at a place."""
    kind: Any = getattr(types, dtype.literal_value)

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        model = context.data_model_manager[kind]
        return model.from_data(builder, builder.load(
            builder.bitcast(args[0], context.get_data_type(kind).as_pointer())))

    return kind(place, dtype), generate


@intrinsic(prefer_literal=True)
def number_of(typingctx: TypingContext, x: types.Type, dtype: types.Type) -> Any:
    """Return a number in a dtype that holds it."""
    wanted: Any = getattr(types, getattr(dtype, "literal_value", ""), None)
    given = types.unliteral(x)
    cost = typingctx.can_convert(given, wanted) if wanted is not None and isinstance(
        given, (types.Number, types.Boolean)) else None
    if cost is None or (cost.name == "unsafe" and not (
            isinstance(given, types.Integer) and not isinstance(wanted, types.Integer))):
        raise TypingError(f"a number of {wanted} is wanted here, not {given}")

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        return context.cast(builder, args[0], given, wanted)

    return wanted(given, dtype), generate


@intrinsic
def keep(typingctx: TypingContext, array: types.Type) -> Any:
    """Keep an array until here, of which the kernel has the address alone."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        return context.get_dummy_value()

    return types.none(array), generate


@intrinsic(prefer_literal=True)
def free_block(typingctx: TypingContext, ctx: types.Type, place: types.Type) -> Any:
    """Give back the memory that a word of the context has the address of, if it has one."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        byte = ir.IntType(8).as_pointer()
        word = builder.load(builder.gep(args[0], [ir.IntType(64)(place.literal_value)]))
        function = builder.module.globals.get("free") or ir.Function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte]), "free")
        builder.call(function, [builder.inttoptr(word, byte)])
        return context.get_dummy_value()

    return types.none(ctx, place), generate
