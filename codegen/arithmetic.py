"""Operators on numbers of one type, as the instructions of LLVM that Numba has for them.

Numba finds an operator's implementation by its rules of types, once for each types of operands,
and a division of floats is a branch and two blocks there, which raise nothing where zero divides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import types

__all__ = ["divided_by", "operate"]

_INTEGERS = {"+": ir.IRBuilder.add, "-": ir.IRBuilder.sub, "*": ir.IRBuilder.mul}
_FLOATS = {"+": ir.IRBuilder.fadd, "-": ir.IRBuilder.fsub, "*": ir.IRBuilder.fmul,
           "/": ir.IRBuilder.fdiv}
_BITS = {"&": ir.IRBuilder.and_, "|": ir.IRBuilder.or_, "^": ir.IRBuilder.xor}
_ORDERS = ("<", "<=", ">", ">=", "==", "!=")


def operate(builder: ir.IRBuilder, op: str, operands: Sequence[tuple[types.Type, Any]], *,
            wraps: bool) -> tuple[types.Type, Any] | None:
    """Return what an operator makes of two int64, floats or truths of one type; None for others.

    wraps -- whether ints may leave 64 bits, and wrap around as NumPy's do; places and sizes do not
    """
    (kind, a), (other, b) = ((types.unliteral(k), x) for k, x in operands)
    if kind != other:
        return None
    if kind == types.int64:
        if op in _INTEGERS:
            return kind, _INTEGERS[op](builder, a, b, flags=() if wraps else ("nsw",))
        if op in _ORDERS:
            return types.boolean, builder.icmp_signed(op, a, b)
    if kind in (types.float32, types.float64):
        if op in _FLOATS:
            return kind, _FLOATS[op](builder, a, b)
        if op in _ORDERS:
            compare = builder.fcmp_unordered if op == "!=" else builder.fcmp_ordered
            return types.boolean, compare(op, a, b)
    if kind in (types.int64, types.boolean) and op in _BITS:
        return kind, _BITS[op](builder, a, b)
    return None


def divided_by(builder: ir.IRBuilder, x: ir.Value, y: Any, remainder: bool) -> Any:
    """Return a floor division, or a modulo, by a positive constant."""
    n = y.constant
    if n & (n - 1) == 0:
        if remainder:
            return builder.and_(x, x.type(n - 1))
        return builder.ashr(x, x.type(n.bit_length() - 1))
    rest = builder.srem(x, y)
    below = builder.icmp_signed("<", rest, x.type(0))
    if remainder:
        return builder.select(below, builder.add(rest, y), rest)
    quotient = builder.sdiv(x, y)
    return builder.select(below, builder.sub(quotient, x.type(1)), quotient)
