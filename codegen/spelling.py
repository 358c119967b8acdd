"""Expressions of Loop IR as source, the same for all targets, since every one of them is Python.

Parentheses stand where Python needs them, where an operand begins with a sign, and around
comparisons and bitwise operations that are operands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.codegen.loop_expressions import (
    TEXT_OF,
    All,
    Array,
    Bin,
    Call,
    Cast,
    Const,
    Expression,
    Extent,
    InRange,
    Load,
    Select,
    Slice,
    Unary,
    Var,
    Word,
    cast_name,
)
from tracejit.ir.dtypes import dtype_name

__all__ = ["ATTRIBUTES", "spelled"]

ATOM, PRODUCT, SUM, COMPARISON, LOGIC = 9, 3, 2, 1, 0
"""How tightly source holds together: names and calls, `* /`, `+ -`, comparisons, `and or not`."""

_TIGHTNESS = {"+": SUM, "-": SUM, **dict.fromkeys(("*", "/", "%", "//"), PRODUCT),
              "and": LOGIC, "or": LOGIC}

_PARTS = {"real": "({}).real", "imag": "({}).imag", "conjugate": "({}).conjugate()"}
ATTRIBUTES = frozenset(_PARTS)
"""The functions that Python spells as attributes."""


def spelled(e: Expression) -> str:
    """Return an expression as source."""
    text: str | None = e.__dict__.get("_spelled")
    if text is None:
        text = _SPELLINGS[type(e)](e)
        e.__dict__["_spelled"] = text
    return text


TEXT_OF.append(spelled)


def _tightness(e: Expression) -> int:
    if isinstance(e, Bin):
        return _TIGHTNESS.get(e.op, COMPARISON)
    if isinstance(e, Unary):
        return LOGIC if e.op == "not" else PRODUCT
    if isinstance(e, (All, InRange)):
        return COMPARISON
    if isinstance(e, Extent):
        return SUM
    return PRODUCT if isinstance(e, Const) and spelled(e)[0] == "-" else ATOM


def _operand(e: Expression, least: int) -> str:
    return spelled(e) if _tightness(e) >= least else f"({spelled(e)})"


def _const(e: Const) -> str:
    kind, value, dtype = e.dtype.kind, e.value, e.dtype
    if kind == "b":
        return str(bool(value))
    if kind == "c":
        number = complex(value)
        text = f"complex({number.real!r}, {number.imag!r})"
        return text if dtype == np.complex128 else f"c64({text})"
    plain = dtype == (np.float64 if kind == "f" else np.int64)
    return repr(value) if plain else f"{dtype_name(dtype)}({value!r})"


def _unary(e: Unary) -> str:
    if e.op == "not":
        is_test = isinstance(e.a, InRange)
        return f"not {spelled(e.a) if is_test else _operand(e.a, ATOM)}"
    return e.op + _operand(e.a, ATOM)


def _bin(e: Bin) -> str:
    level = _tightness(e)
    if level == LOGIC:
        left, right = COMPARISON, COMPARISON
    elif level == COMPARISON:
        left, right = SUM, SUM
    else:
        left, right = level, level + 1
    if level != LOGIC and spelled(e.b)[0] == "-":
        right = ATOM
    return f"{_operand(e.a, left)} {e.op} {_operand(e.b, right)}"


def _all(e: All) -> str:
    return " & ".join(_operand(test, SUM) for test in e.tests)


def _in_range(e: InRange) -> str:
    below = "" if e.lo is None else f"{spelled(e.lo)} <= "
    return f"{below}{spelled(e.x)} < {spelled(e.hi)}"


def _extent(e: Extent) -> str:
    return spelled(e.hi) if len(e.parts) == 1 else f"{spelled(e.hi)} - ({spelled(e.lo)})"


def _call(e: Call) -> str:
    name = e.fn.name
    if name in _PARTS:
        return _PARTS[name].format(spelled(e.args[0]))
    args = [*(["ctx"] if e.fn.context else []), *map(spelled, e.args)]
    return f"{name}({', '.join(args)})"


_SPELLINGS: dict[type, Callable[[Any], str]] = {
    Const: _const, Var: lambda e: e.name, Array: lambda e: e.name, Word: lambda e: f'"{e.text}"',
    Slice: lambda e: f"{spelled(e.array)}[{spelled(e.start)}:"
                     f"{'' if e.step is None else ':' + spelled(e.step)}]",
    Load: lambda e: f"{e.buffer}[{spelled(e.index)}]", Unary: _unary, Bin: _bin, All: _all,
    InRange: _in_range, Extent: _extent, Call: _call,
    Select: lambda e: f"select({spelled(e.c)}, {spelled(e.a)}, {spelled(e.b)})",
    Cast: lambda e: f"{cast_name(e.dtype)}({spelled(e.a)})",
}
