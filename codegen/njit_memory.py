"""Memory of a call in `@njit` code: results by Numba's runtime, scratch blocks, and the stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import cgutils
from numba.np.arrayobj import make_array, populate_array

if TYPE_CHECKING:
    from numba.core import types
    from numba.core.base import BaseContext as TargetContext

__all__ = ["STACK_ARENA", "NjitMemory", "c_call"]

WORD, BYTE = ir.IntType(64), ir.IntType(8)
POINTER = BYTE.as_pointer()
STACK_ARENA = 4096
"""The bytes of the largest workspace that lies on the stack."""
ALIGNMENT = 64


class NjitMemory:
    """The memory that one function takes; without memory, code goes on and touches none."""

    def __init__(self, context: TargetContext, builder: ir.IRBuilder) -> None:
        self.context, self.builder = context, builder
        self.blocks: list[Any] = []
        """Blocks of the C library, or null, that the function has to free."""
        self.failures: list[Any] = []
        """Conditions under which there was no memory."""

    def has_failed(self) -> Any:
        """Return whether any block is missing."""
        result = cgutils.false_bit
        for condition in self.failures:
            result = self.builder.or_(result, condition)
        return result

    def free(self) -> None:
        """Free the blocks."""
        for block in self.blocks:
            c_call(self.builder, "free", ir.VoidType(), block)

    def block(self, size: ir.Value) -> Any:
        """Return a block of the C library."""
        b = self.builder
        place = cgutils.alloca_once_value(b, ir.Constant(POINTER, None))
        status = c_call(b, "posix_memalign", ir.IntType(32), place, WORD(ALIGNMENT), size)
        self.failures.append(b.icmp_unsigned("!=", status, status.type(0)))
        self.blocks.append(b.load(place))
        return self.blocks[-1]

    def arena(self, needed: ir.Value, known: int | None) -> Any:
        """Return the workspace: on the stack if it is small.

        known -- its bytes, where they are the same in all calls
        """
        b = self.builder
        if known is not None and known <= STACK_ARENA:
            place = cgutils.alloca_once(b, BYTE, size=known)
            place.align = ALIGNMENT
            return place
        place = cgutils.alloca_once(b, BYTE, size=STACK_ARENA)
        place.align = ALIGNMENT
        chosen = cgutils.alloca_once_value(b, place)
        block = cgutils.alloca_once_value(b, ir.Constant(POINTER, None))
        missing = cgutils.alloca_once_value(b, cgutils.false_bit)
        with b.if_then(b.icmp_signed(">", needed, WORD(STACK_ARENA)), likely=False):
            b.store(self.block(needed), block)
            b.store(self.blocks.pop(), chosen)
            b.store(self.failures.pop(), missing)
        self.blocks.append(b.load(block))
        self.failures.append(b.load(missing))
        return b.load(chosen)

    def new_array(self, kind: types.Type, shape: Sequence[ir.Value]) -> Any:
        """Return a C-contiguous array, owned by its receiver."""
        b, nrt = self.builder, self.context.nrt
        data = self.context.get_data_type(kind.dtype)
        size = self.context.get_abi_sizeof(data)
        total = self.bytes_of(shape, size)
        meminfo = nrt.meminfo_alloc_aligned_unchecked(b, total, ir.IntType(32)(ALIGNMENT))
        self.failures.append(cgutils.is_null(b, meminfo))
        address = cgutils.alloca_once_value(b, ir.Constant(data.as_pointer(), None))
        with b.if_then(b.not_(self.failures[-1])):
            b.store(b.bitcast(nrt.meminfo_data(b, meminfo), data.as_pointer()), address)
        strides = [self.bytes_of(shape[k + 1:], size) for k in range(len(shape))]
        array = make_array(kind)(self.context, b)
        populate_array(array, b.load(address), list(shape), strides, size, meminfo)
        return array

    def contiguous(self, kind: types.Type, array: ir.Value) -> Any:
        """Return the elements of an array one after the other: of a copy where they are not so."""
        if kind.layout == "C" and kind.aligned:
            return array.data
        b = self.builder
        element = array.data.type.pointee
        shape, strides = (cgutils.unpack_tuple(b, t, kind.ndim)
                          for t in (array.shape, array.strides))
        size = self.bytes_of(shape, self.context.get_abi_sizeof(element))
        copy = b.bitcast(self.block(size), element.as_pointer())
        place = cgutils.alloca_once_value(b, WORD(0))
        with b.if_then(b.not_(self.failures[-1])), cgutils.loop_nest(b, shape, WORD) as indices:
            item = cgutils.get_item_pointer2(self.context, b, array.data, shape, strides, "A",
                                             indices)
            k = b.load(place)
            b.store(b.load(item, align=1), b.gep(copy, [k]))
            b.store(b.add(k, WORD(1)), place)
        return copy

    def bytes_of(self, shape: Sequence[ir.Value], size: int) -> Any:
        """Return the bytes of an array with elements of a size."""
        total = WORD(size)
        for n in shape:
            total = self.builder.mul(total, n)
        return total


def c_call(builder: ir.IRBuilder, name: str, result: ir.Type, *args: ir.Value) -> Any:
    """Emit the call of a C function."""
    kind = ir.FunctionType(result, [a.type for a in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)
