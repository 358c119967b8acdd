"""Intrinsics that draw random numbers.

Compiled code calls NumPy's own C functions, as `tracejit_random_normal_fill` and so on, which are
bound to addresses in `libraries.py`, before object code that names them is loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from tracejit.ir.draws import DRAWS

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext
    from numba.core.typing.context import BaseContext as TypingContext
    from numba.core.typing.templates import Signature

__all__ = ["draw_names"]

WORD, BYTE = ir.IntType(64), ir.IntType(8)
_REAL = {8: ir.DoubleType(), 4: ir.FloatType()}


def _pointer(builder: ir.IRBuilder, x: ir.Value) -> Any:
    if isinstance(x.type, ir.LiteralStructType):  # a pointer of verify mode
        x = builder.extract_value(x, 0)
    return builder.bitcast(x, BYTE.as_pointer())


def _function(builder: ir.IRBuilder, kind: str, result: ir.Type,
              operands: Sequence[ir.Type]) -> Any:
    """Return the C function of a kind, declared in the module."""
    name = f"tracejit_{DRAWS[kind].symbol}"
    signature = ir.FunctionType(result, [BYTE.as_pointer(), *operands])
    return builder.module.globals.get(name) or ir.Function(builder.module, signature, name)


def _generator(builder: ir.IRBuilder, address: ir.Value) -> Any:
    return builder.inttoptr(address, BYTE.as_pointer())


@intrinsic(prefer_literal=True)
def draw_fill(typingctx: TypingContext, kind: types.Type, generator: types.Type,
              count: types.Type, out: types.Type) -> Any:
    """Fill an array with numbers of a kind."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        function = _function(builder, kind.literal_value, ir.VoidType(),
                             [WORD, BYTE.as_pointer()])
        builder.call(function, [_generator(builder, args[1]), args[2], _pointer(builder, args[3])])
        return context.get_dummy_value()

    return types.none(kind, types.int64, types.int64, out), generate


@intrinsic(prefer_literal=True)
def draw_bounded(typingctx: TypingContext, kind: types.Type, generator: types.Type,
                 low: types.Type, width: types.Type, count: types.Type, out: types.Type) -> Any:
    """Fill an array with integers from `low` to `low + width`, the ends included."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        _, address, first, span, n, room = args
        bits = 8 * DRAWS[kind.literal_value].dtype.itemsize
        word = WORD if bits == 64 else ir.IntType(32)  # C functions take shorter ints as this
        if bits < 64:
            mask = WORD((1 << bits) - 1)
            first, span = (builder.trunc(builder.and_(x, mask), word) for x in (first, span))
        function = _function(builder, kind.literal_value, ir.VoidType(),
                             [word, word, WORD, ir.IntType(32), BYTE.as_pointer()])
        builder.call(function, [_generator(builder, address), first, span, n, ir.IntType(32)(0),
                                _pointer(builder, room)])
        return context.get_dummy_value()

    return types.none(kind, types.int64, types.int64, types.int64, types.int64, out), generate


def _one_by_one(name: str, is_bound: bool) -> Any:
    """An intrinsic that draws numbers one by one, each by a parameter: a number, or an array's."""

    def draw(typingctx: TypingContext, kind: types.Type, generator: types.Type, x: types.Type,
             count: types.Type, out: types.Type) -> Any:
        def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                     args: Sequence[ir.Value]) -> Any:
            _, address, given, n, room = args
            row = DRAWS[kind.literal_value]
            result, of = (_REAL[8] if t == np.float64 else WORD for t in (row.dtype, row.of))
            more = [ir.IntType(32)(0)]
            operands = [WORD, of, WORD, ir.IntType(32)] if is_bound else [of]
            function = _function(builder, kind.literal_value, result, operands)
            room = builder.bitcast(_pointer(builder, room), result.as_pointer())
            if hasattr(x, "dtype"):
                given = builder.bitcast(_pointer(builder, given), of.as_pointer())
            with cgutils.for_range(builder, n) as loop:
                value = builder.load(builder.gep(given, [loop.index])) if hasattr(
                    x, "dtype") else given
                number = [WORD(0), value, WORD(0), *more] if is_bound else [value]
                drawn = builder.call(function, [_generator(builder, address), *number])
                builder.store(drawn, builder.gep(room, [loop.index]))
            return context.get_dummy_value()

        of = types.float64 if DRAWS[kind.literal_value].of == np.float64 else types.int64
        parameter = x if hasattr(x, "dtype") else of
        return types.none(kind, types.int64, parameter, types.int64, out), generate

    draw.__name__ = name
    return intrinsic(prefer_literal=True)(draw)


def draw_names() -> dict[str, Any]:
    """Return the functions that emitted source calls, by name."""
    return {"draw_fill": draw_fill, "draw_bounded": draw_bounded,
            "draw_each": _one_by_one("draw_each", False),
            "draw_below": _one_by_one("draw_below", True)}
