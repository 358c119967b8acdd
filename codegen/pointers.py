"""Typed pointers to buffers, as emitted CPU source has them: no two scopes alias.

An access lowers to one load or store, with metadata that says so.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.imputils import Registry
from numba.core.typing.templates import AbstractTemplate, signature
from numba.core.typing.templates import Registry as TypingRegistry
from numba.extending import intrinsic, models, register_model

from tracejit.codegen.halves import HALF_TYPES
from tracejit.ir.dtypes import DTYPES

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext
    from numba.core.typing.context import BaseContext as TypingContext
    from numba.core.typing.templates import Signature

__all__ = ["NUMBA_TYPES", "Ptr", "lowering", "opaque", "pointer", "ptr_getitem", "ptr_setitem",
           "typing"]

NUMBA_TYPES: dict[np.dtype, Any] = {
    DTYPES["bool"]: types.boolean, DTYPES["i8"]: types.int8, DTYPES["i16"]: types.int16,
    DTYPES["i32"]: types.int32, DTYPES["i64"]: types.int64, DTYPES["u8"]: types.uint8,
    DTYPES["u16"]: types.uint16, DTYPES["u32"]: types.uint32, DTYPES["u64"]: types.uint64,
    DTYPES["f32"]: types.float32, DTYPES["f64"]: types.float64, DTYPES["c64"]: types.complex64,
    DTYPES["c128"]: types.complex128,
    **{DTYPES[name]: kind for name, kind in HALF_TYPES.items()},
}
INT64 = types.int64


class Ptr(types.Type):
    """A typed pointer to one buffer. Pointers of different scopes never alias.

    LLVM is told so by alias scopes on every load and store; with ten arrays it would otherwise give
    up on vectorising.
    """

    def __init__(self, dtype: types.Type, scope: int) -> None:
        self.dtype, self.scope = dtype, scope
        super().__init__(f"Ptr({dtype}, {scope})")


@register_model(Ptr)
class PtrModel(models.PrimitiveModel):
    """A pointer is a pointer."""

    def __init__(self, dmm: Any, fe_type: types.Type) -> None:
        element = dmm.lookup(fe_type.dtype).get_data_type()
        super().__init__(dmm, fe_type, element.as_pointer())


def _scopes(module: ir.Module, number: int) -> tuple[Any, Any]:
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


def _annotate(instruction: ir.Instruction, module: ir.Module, number: int) -> None:
    own, others = _scopes(module, number)
    instruction.set_metadata("alias.scope", own)
    instruction.set_metadata("noalias", others)


lowering = Registry("tracejit lowering")
typing = TypingRegistry()


@typing.register_global(operator.getitem)
class PtrGetItem(AbstractTemplate):
    """`pointer[i]`."""

    def generic(self, args: tuple[types.Type, ...], kws: object) -> Any:
        pointer_type, index = args
        if isinstance(pointer_type, Ptr) and isinstance(index, types.Integer):
            return signature(pointer_type.dtype, pointer_type, INT64)
        return None


@typing.register_global(operator.setitem)
class PtrSetItem(AbstractTemplate):
    """`pointer[i] = value`."""

    def generic(self, args: tuple[types.Type, ...], kws: object) -> Any:
        pointer_type, index, _ = args
        if isinstance(pointer_type, Ptr) and isinstance(index, types.Integer):
            return signature(types.none, pointer_type, INT64, pointer_type.dtype)
        return None


@lowering.lower(operator.getitem, Ptr, types.Integer)
def ptr_getitem(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                args: Sequence[ir.Value]) -> Any:
    """Load an element."""
    base, index = args
    loaded = builder.load(builder.gep(base, [index], inbounds=True))
    _annotate(loaded, builder.module, sig.args[0].scope)
    return context.data_model_manager[sig.return_type].from_data(builder, loaded)


@lowering.lower(operator.setitem, Ptr, types.Integer, types.Any)
def ptr_setitem(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                args: Sequence[ir.Value]) -> Any:
    """Store an element."""
    base, index, value = args
    data = context.data_model_manager[sig.args[0].dtype].as_data(builder, value)
    stored = builder.store(data, builder.gep(base, [index], inbounds=True))
    _annotate(stored, builder.module, sig.args[0].scope)
    return context.get_dummy_value()


def opaque(builder: ir.IRBuilder, address: ir.Value) -> Any:
    """Return the same pointer, of which LLVM does not see how it was made; no instruction is left.
    """
    how = builder.module.declare_intrinsic("llvm.strip.invariant.group", [address.type],
                                           ir.FunctionType(address.type, [address.type]))
    return builder.call(how, [address])


def pointer(dtype: np.dtype) -> Any:
    """Return the intrinsic `at(base, offset, scope)`: a typed pointer into bytes.

    LLVM is kept from seeing through an offset that is not a constant. It is the sum of the sizes of
    all buffers before, and loop strength reduction compares such sums for every access of every
    loop: that slows first calls with ten buffers, and takes all memory with hundreds.
    """
    element = NUMBA_TYPES[dtype]

    @intrinsic(prefer_literal=True)
    def at(typingctx: TypingContext, base: types.Type, offset: types.Type,
           scope: types.Type) -> Any:
        result = Ptr(element, scope.literal_value)

        def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                     args: Sequence[ir.Value]) -> Any:
            moved = builder.gep(args[0], [args[1]])
            if not isinstance(sig.args[1], types.Literal):
                moved = opaque(builder, moved)
            return builder.bitcast(moved, context.get_value_type(result))

        known = isinstance(offset, types.Literal)
        return result(base, offset if known else INT64, scope), generate

    return at
