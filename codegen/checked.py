"""Pointers that know their size and check every index, for kernels compiled in verify mode."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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

__all__ = ["CheckedPtr", "MatrixPart", "when_within", "within"]

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


@dataclass(frozen=True, slots=True)
class MatrixPart:
    """The elements of an array that a routine touches: rows, whose starts are equally far apart.

    kind, pointer -- the array's type in Numba, and the pointer to it
    start         -- the place of the first element; None where that is 0
    """

    kind: types.Type
    pointer: ir.Value
    rows: ir.Value
    columns: ir.Value
    apart: ir.Value
    start: ir.Value | None = None

    def at(self, builder: ir.IRBuilder, data: ir.Value) -> ir.Value:
        """Return the bare pointer to the first element."""
        return data if self.start is None else builder.gep(data, [self.start])

    def end(self, builder: ir.IRBuilder) -> ir.Value:
        """Return the place behind the last element; 0 where there are none."""
        none = builder.icmp_signed("<=", self.rows, WORD(0))
        none = builder.or_(none, builder.icmp_signed("<=", self.columns, WORD(0)))
        behind = builder.mul(builder.sub(self.rows, WORD(1)), self.apart)
        behind = builder.add(behind, self.columns)
        if self.start is not None:
            behind = builder.add(behind, self.start)
            # a place before the array is as far outside as any
            is_before = builder.icmp_signed("<", self.start, WORD(0))
            behind = builder.select(is_before, WORD(2 ** 63 - 1), behind)
        return builder.select(none, WORD(0), behind)


@contextmanager
def when_within(builder: ir.IRBuilder, parts: Sequence[MatrixPart]) -> Iterator[list[Any]]:
    """Write code on parts of arrays, given the bare pointers to their first elements.

    In verify mode it runs where each array has the elements that it needs; where one has not, that
    is noted.
    """
    pointers, fine = [], ir.IntType(1)(True)
    for part in parts:
        data = part.pointer
        if isinstance(data.type, ir.LiteralStructType):  # a pointer of verify mode
            data, size, context = (builder.extract_value(data, k) for k in range(3))
            end = part.end(builder)
            inside = builder.icmp_signed("<=", end, size)
            with builder.if_then(builder.not_(inside), likely=False):
                for k, word in enumerate((WORD(part.kind.number + 1), builder.sub(end, WORD(1)))):
                    builder.store(word, builder.gep(context, [WORD(BAD_BUFFER + k)]))
            fine = builder.and_(fine, inside)
        pointers.append(part.at(builder, data))
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
