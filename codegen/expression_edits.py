"""How expressions of Loop IR are made, looked at and changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

import numpy as np

from tracejit.codegen.loop_expressions import F64, I64, Bin, Call, Const, Expression, Unary, Var
from tracejit.codegen.scalars import scalar
from tracejit.ir.core import Literal

__all__ = ["integer", "literal", "call", "plus", "times", "is_name", "known_integer", "every",
           "replaced", "rewritten", "split_sum"]


def integer(value: int) -> Const:
    """Return an integer."""
    return Const(value)


def literal(a: Literal) -> Const:
    """Return a constant of the IR."""
    dtype, value = a.aval.dtype, a.val
    make = {"b": bool, "i": int, "u": int, "f": float, "c": complex}[dtype.kind]
    return Const(make(value), dtype)


def call(name: str, *args: Expression, of: np.dtype | None = None) -> Call:
    """Return a call of a function by its name."""
    return Call(scalar(name), args, of)


def plus(a: Expression, b: Expression) -> Expression:
    """Return a sum of integers, the terms of `b` added one by one."""
    if isinstance(b, Bin) and b.op in "+-":
        return Bin(b.op, plus(a, b.a), b.b)
    positive = _without_sign(b)
    return Bin("+", a, b) if positive is None else Bin("-", a, positive)


def times(a: Expression, b: Expression) -> Expression:
    """Return a product of integers, by the factors of `b` one by one."""
    if isinstance(b, Bin) and b.op == "*" and _without_sign(b) is None:
        return Bin("*", times(a, b.a), b.b)
    return Bin("*", a, b)


def _without_sign(e: Expression) -> Expression | None:
    """Return -e where a product begins with a sign; else None."""
    if isinstance(e, Const) and not isinstance(e.value, (bool, complex)) and e.value < 0:
        return Const(-e.value, e.dtype)
    if isinstance(e, Unary) and e.op == "-":
        return e.a
    if isinstance(e, Bin) and e.op == "*":
        first = _without_sign(e.a)
        return None if first is None else Bin("*", first, e.b)
    return None


def split_sum(e: Expression, names: Collection[str]) -> tuple[list[Expression], Expression]:
    """Return the terms that a sum of integers adds and that are made of some names, and the rest.

    n + m * k + i - 1, by the sizes n, m and k, is [n, m * k] and i - 1.
    """
    if isinstance(e, Bin) and e.op in "+-":
        terms, rest = split_sum(e.a, names)
        more, other = split_sum(e.b, names) if e.op == "+" else ([], e.b)
        return terms + more, _joined(e.op, rest, other)
    parts = [*every(e)]
    made = {p.name for p in parts if isinstance(p, Var)}
    if made and made <= {*names} and all(
            isinstance(p, (Var, Const)) or (isinstance(p, Bin) and p.op == "*") for p in parts):
        return [e], Const(0)
    return [], e


def _joined(op: str, a: Expression, b: Expression) -> Expression:
    if known_integer(b) == 0:
        return a
    return b if op == "+" and known_integer(a) == 0 else Bin(op, a, b)


def is_name(e: Expression) -> bool:
    """Return whether an expression is a name already, or a constant that has one."""
    if isinstance(e, Const):
        return isinstance(e.value, bool) or (
            e.dtype == F64 and (e.value != e.value or e.value == float("inf")))
    return isinstance(e, Var)


def known_integer(e: Expression) -> int | None:
    """Return the value of an integer that is a constant."""
    return e.value if isinstance(e, Const) and type(e.value) is int and e.dtype == I64 else None


def every(e: Expression) -> Iterator[Expression]:
    """Yield an expression and all that is in it, in the order in which they are written."""
    yield e
    for part in e.parts:
        yield from every(part)


def replaced(e: Expression, names: Mapping[str, Expression]) -> Expression:
    """Return an expression with others in place of scalars."""
    if isinstance(e, Var):
        return names.get(e.name, e)
    if e.reads.isdisjoint(names):
        return e
    return e.with_parts(tuple(replaced(part, names) for part in e.parts))


def rewritten(e: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Return an expression with every part of it changed, inner ones first."""
    if e.parts:
        e = e.with_parts(tuple(rewritten(part, change) for part in e.parts))
    return change(e)
