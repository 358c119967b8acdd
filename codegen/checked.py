"""Pointers that know their size and check every index, for kernels compiled in verify mode."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, models, register_model

from tracejit.codegen.context import BAD_BUFFER
from tracejit.codegen.pointers import Ptr, lowering, ptr_getitem, ptr_setitem

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext
    from numba.core.typing.context import BaseContext as TypingContext
    from numba.core.typing.templates import Signature

__all__ = ["CheckedPtr", "when_within", "within"]

WORD = ir.IntType(64)


class CheckedPtr(Ptr):
    """A pointer with its buffer's number and size; an index outside is noted and not followed."""

    def __init__(self, dtype: types.Type, scope: int, number: int) -> None:
        super().__init__(dtype, scope)
        self.number = number
        self.plain = Ptr(dtype, scope)
        types.Type.__init__(self, f"CheckedPtr({dtype}, {scope}, {number})")


@register_model(CheckedPtr)
class CheckedPtrModel(models.StructModel):
    """The pointer, the number of elements, and the kernel's context."""

    def __init__(self, dmm: object, fe_type: types.Type) -> None:
        members = [("data", fe_type.plain), ("size", types.int64),
                   ("context", types.CPointer(types.int64))]
        super().__init__(dmm, fe_type, members)


@intrinsic(prefer_literal=True)
def within(typingctx: TypingContext, ctx: types.Type, pointer: types.Type, size: types.Type,
           number: types.Type) -> Any:
    """Return a pointer that checks its indices against a size."""
    result = CheckedPtr(pointer.dtype, pointer.scope, number.literal_value)

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        made = context.get_value_type(result)(ir.Undefined)
        for k, part in enumerate((args[1], args[2], args[0])):
            made = builder.insert_value(made, part, k)
        return made

    return result(ctx, pointer, types.int64, number), generate


def _checked(builder: ir.IRBuilder, kind: CheckedPtr, value: ir.Value,
             index: ir.Value) -> tuple[Any, Any]:
    """Return the bare pointer and an index inside, noting where it was not."""
    data, size, context = (builder.extract_value(value, k) for k in range(3))
    inside = builder.icmp_unsigned("<", index, size)
    with builder.if_then(builder.not_(inside), likely=False):
        for k, word in enumerate((WORD(kind.number + 1), index)):
            builder.store(word, builder.gep(context, [WORD(BAD_BUFFER + k)]))
    return data, builder.select(inside, index, WORD(0))


@contextmanager
def when_within(builder: ir.IRBuilder,
                operands: Sequence[tuple[Any, ir.Value, ir.Value]]) -> Iterator[list[Any]]:
    """Write code on whole arrays, given the bare pointers to them.

    In verify mode it runs where each array has the elements that it needs; where one has not, that
    is noted.

    operands -- of each array the type, the pointer, and how many of its elements are needed
    """
    pointers, fine = [], ir.IntType(1)(True)
    for kind, pointer, count in operands:
        if isinstance(pointer.type, ir.LiteralStructType):  # a pointer of verify mode
            pointer, size, context = (builder.extract_value(pointer, k) for k in range(3))
            inside = builder.icmp_signed("<=", count, size)
            with builder.if_then(builder.not_(inside), likely=False):
                for k, word in enumerate((WORD(kind.number + 1), builder.sub(count, WORD(1)))):
                    builder.store(word, builder.gep(context, [WORD(BAD_BUFFER + k)]))
            fine = builder.and_(fine, inside)
        pointers.append(pointer)
    if isinstance(fine, ir.Constant):
        yield pointers
    else:
        with builder.if_then(fine):
            yield pointers


@lowering.lower(operator.getitem, CheckedPtr, types.Integer)
def checked_getitem(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                    args: Sequence[ir.Value]) -> Any:
    """Load an element."""
    kind = sig.args[0]
    place = _checked(builder, kind, *args)
    return ptr_getitem(context, builder, sig.replace(args=(kind.plain, *sig.args[1:])), place)


@lowering.lower(operator.setitem, CheckedPtr, types.Integer, types.Any)
def checked_setitem(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                    args: Sequence[ir.Value]) -> Any:
    """Store an element."""
    kind = sig.args[0]
    place = _checked(builder, kind, *args[:2])
    plain = sig.replace(args=(kind.plain, *sig.args[1:]))
    return ptr_setitem(context, builder, plain, (*place, args[2]))
