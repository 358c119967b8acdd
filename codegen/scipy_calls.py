"""Calls of SciPy's C functions on numbers, by pointers that SciPy hands out."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from tracejit.codegen.libraries import bind_functions
from tracejit.ir.scipy_functions import C_FUNCTIONS, SpecialFunction

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext
    from numba.core.typing.context import BaseContext as TypingContext
    from numba.core.typing.templates import Signature

__all__ = ["scipy_names"]

_DOUBLE, _INT = ir.DoubleType(), ir.IntType(32)
_PAIR = ir.LiteralStructType([_DOUBLE, _DOUBLE])
_KINDS = {"d": types.float64, "z": types.complex128}
_RESULTS = {"d": _DOUBLE, "z": _PAIR}


def _words(builder: ir.IRBuilder, x: ir.Value) -> list[ir.Value]:
    """Return a number as C passes it: the parts of a complex one side by side."""
    if x.type == _DOUBLE:
        return [x]
    return [builder.extract_value(x, k) for k in (0, 1)]


def _emit(builder: ir.IRBuilder, f: SpecialFunction, operands: Sequence[ir.Value]) -> ir.Value:
    words = [word for x in operands for word in _words(builder, x)]
    result = _RESULTS[f.result]
    places = []
    if f.part is not None:
        with builder.goto_entry_block():
            places = [builder.alloca(result) for _ in range(f.part[1])]
    last = places or [_INT(0)]
    bind_functions([f.symbol])
    given = ir.FunctionType(ir.VoidType() if places else result,
                            [x.type for x in (*words, *last)])
    function = builder.module.globals.get(f.symbol) or ir.Function(builder.module, given, f.symbol)
    made = builder.call(function, [*words, *last])
    return builder.load(places[f.part[0]]) if f.part is not None else made


def _calling(f: SpecialFunction) -> Any:
    kinds = tuple(_KINDS[kind] for kind in f.operands)
    result = _KINDS[f.result]

    @intrinsic
    def function(typingctx: TypingContext, *operands: types.Type) -> Any:
        several = len(operands) == 1 and isinstance(operands[0], types.BaseTuple)
        given = types.StarArgTuple.from_types(operands[0].types if several else operands)

        def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                     args: Sequence[ir.Value]) -> Any:
            numbers = [context.cast(builder, builder.extract_value(args[0], k), own, wanted)
                       for k, (own, wanted) in enumerate(zip(given.types, kinds, strict=True))]
            made = _emit(builder, f, numbers)
            if f.result == "d":
                return made
            z = context.make_complex(builder, result)
            z.real, z.imag = (builder.extract_value(made, k) for k in (0, 1))
            return z._getvalue()

        return result(given), generate

    return function


@functools.cache
def scipy_names() -> dict[str, Any]:
    """Return the functions that emitted source calls, by name."""
    return {f"c_{name}": _calling(f) for name, f in C_FUNCTIONS.items()}
