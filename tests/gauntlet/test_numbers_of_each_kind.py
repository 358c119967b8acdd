"""Operations of Python and NumPy on one number, of each of its kinds: types, values, errors.

Functions of `math`, builtins, attributes, formats, conversions and questions are asked of ints,
floats, bools, complex numbers, NumPy's scalars, and arrays of no and of one axis.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.errors import CompileError, InternalError, IRError, Refusal

NUMBERS: list[Any] = [
    0, 1, -1, 7, -3, True, False, 0.0, -0.0, 1.5, -2.5, 0.5, math.inf, -math.inf, math.nan, 2.675,
    1 + 2j, 0j, np.float32(1.5), np.float32(-0.0), np.float64(2.5), np.float64(-0.0),
    np.float64(-np.inf), np.float64(np.nan), np.int64(7), np.int64(-3), np.int32(5), np.True_,
    np.array(2.5), np.array(-0.0), np.array([2.5, -0.0]), np.array([-np.inf])]

QUESTIONS: dict[str, Callable[[Any], Any]] = {
    f"math.{name}": getattr(math, name) for name in dir(math)
    if callable(getattr(math, name)) and not name.startswith("_")
    and name not in ("factorial", "comb", "perm")}
QUESTIONS |= {f.__name__: f for f in (
    abs, round, int, float, complex, bool, len, type, operator.neg, operator.pos, operator.not_,
    operator.invert, operator.index, operator.truth)}
QUESTIONS |= {f"np.{name}": (lambda f: lambda x: f(x))(getattr(np, name)) for name in (
    "isscalar", "ndim", "size", "shape", "isreal", "iscomplexobj", "isrealobj", "result_type",
    "signbit", "sqrt", "sign", "rint", "float64", "float32", "int64", "int32", "bool_",
    "complex128", "reciprocal", "square")}
QUESTIONS |= {f".{name}()": (lambda name: lambda x: getattr(x, name)())(name) for name in (
    "conjugate", "is_integer", "item", "__round__", "__floor__", "hex", "bit_length", "tolist",
    "as_integer_ratio", "bit_count", "__float__", "__index__")}
QUESTIONS |= {f".{name}": (lambda name: lambda x: getattr(x, name))(name) for name in (
    "real", "imag", "shape", "ndim", "size", "dtype", "itemsize", "numerator")}
QUESTIONS |= {f"isinstance {kind}": (lambda kind: lambda x: isinstance(x, kind))(kind) for kind in (
    int, float, bool, complex, np.floating, np.number, np.generic, np.ndarray, np.float64,
    numbers.Number, numbers.Real, numbers.Integral, (int, float))}
QUESTIONS |= {
    "dtype.kind": lambda x: x.dtype.kind, "x.shape": lambda x: x.shape,
    "result_type": lambda x: np.result_type(x, np.float32),
    "can_cast": lambda x: np.can_cast(x.dtype, np.float32),
    "issubdtype": lambda x: np.issubdtype(x.dtype, np.floating),
    "finfo": lambda x: np.finfo(x.dtype).eps,
    "hasattr": lambda x: [hasattr(x, name) for name in (
        "dtype", "shape", "__len__", "is_integer", "__array__", "bit_length", "hex", "item")],
    "getattr": lambda x: [getattr(x, name, "none") == "none" for name in ("dtype", "size", "hex")],
    "== None": lambda x: x == None, "!= None": lambda x: x != None,  # noqa: E711
    "is None": lambda x: x is None, "== text": lambda x: x == "a", "!= text": lambda x: x != "a",
    "in": lambda x: x in (1.5, 7) if np.ndim(x) == 0 else False,
    "not in": lambda x: x not in (1.5, 7) if np.ndim(x) == 0 else False,
    "round to 1": lambda x: round(x, 1), "round to None": lambda x: round(x, None),
    "x ** .5": lambda x: x ** 0.5 if isinstance(x, np.generic) or np.ndim(x) or x == abs(
        x) else 0.0,
    "np.power(x, .5)": lambda x: np.power(x, 0.5),
    "np.float_power(x, .5)": lambda x: np.float_power(x, 0.5),
    "x ** np.float64(.5)": lambda x: np.float64(x) ** np.float64(0.5) if np.ndim(x) == 0 else 0.0,
    "math.pow": lambda x: math.pow(x, 0.5)}
TYPE_IS_EITHER = {"x ** .5"}
"""Where branches of the question itself give ints and floats."""


def outcome(f: Callable[[Any], Any], x: Any, *, captured: bool, interpreted: bool = True) -> Any:
    def ask(y: Any) -> Any:
        return f(y)

    try:
        with np.errstate(all="ignore"), tracejit.config(disable_jit=interpreted):
            return (tracejit.jit(ask) if captured else ask)(
                x.copy() if isinstance(x, np.ndarray) else x)
    except Exception as e:
        return e


def difference(found: Any, expected: Any, *, types: bool = True, rtol: float = 1e-15) -> str:
    if isinstance(found, Refusal):
        return ""
    if isinstance(found, Exception):
        right = isinstance(expected, Exception) and (
            isinstance(found, type(expected)) or isinstance(expected, type(found))) and (
            not isinstance(found, (IRError, InternalError, CompileError)))
        return "" if right else f"raises {found!r}, not {expected!r}"
    if isinstance(expected, Exception):
        return f"gives {found!r}, not {expected!r}"
    if isinstance(expected, (list, tuple)):
        pairs = zip(found, expected, strict=True)
        return next(filter(None, (difference(a, b) for a, b in pairs)), "")
    no_axes = isinstance(expected, np.ndarray) and not expected.ndim  # results are scalars then
    if types and not no_axes and type(found) is not type(expected):
        return f"{type(found)} {found!r}, not {type(expected)} {expected!r}"
    if isinstance(expected, (type, np.dtype, str)):
        return "" if found == expected else f"{found!r}, not {expected!r}"
    x, y = np.asarray(found), np.asarray(expected)
    same = x.shape == y.shape and np.allclose(x, y, rtol=rtol if x.dtype != np.float32 else 1e-6,
                                              atol=0.0, equal_nan=True)
    if same and x.dtype.kind == "f":
        same = bool(np.all((np.signbit(x) == np.signbit(y)) | (x != 0.0)))
    return "" if same else f"{found!r}, not {expected!r}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", QUESTIONS)
def test_each_kind_of_number_answers_as_python_does(name: str) -> None:
    f, types = QUESTIONS[name], name not in TYPE_IS_EITHER
    rtol = 1e-14 if name == "math.lgamma" else 1e-15  # Python's own is off by that next to its zero
    wrong = [f"{x!r}: {text}" for x in NUMBERS if (text := difference(
        outcome(f, x, captured=True), outcome(f, x, captured=False), types=types, rtol=rtol))]
    assert wrong == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["np.power(x, .5)", "np.float_power(x, .5)",
                                  "x ** np.float64(.5)", "math.pow", "== None", "!= text"])
def test_compiled_code_answers_as_the_interpreter_does(name: str) -> None:
    f = QUESTIONS[name]
    for x in (-0.0, np.float64(-np.inf), np.array([2.5, -0.0]), np.array([-np.inf]), np.array(2.5)):
        assert difference(outcome(f, x, captured=True, interpreted=False),
                          outcome(f, x, captured=False)) == ""


def test_an_array_is_compared_with_none_element_by_element() -> None:
    x = np.arange(3.0)
    found = tracejit.jit(lambda x: (x == None, x != None, x is None, np.sum(x != None)))(x)  # noqa: E711
    assert [np.asarray(y).tolist() for y in found] == [[False] * 3, [True] * 3, False, 3]
    assert tracejit.grad(lambda x: np.sum(np.where(x == None, 0.0, x * x)))(x).tolist() == [  # noqa: E711
        0.0, 2.0, 4.0]


def test_conversions_of_pythons_floats_raise_and_those_of_numpys_do_not() -> None:
    for x, kind, error in ((math.inf, np.int64, OverflowError), (math.nan, np.int32, ValueError),
                           (1j, np.float64, TypeError)):
        with pytest.raises(error):
            tracejit.jit(lambda x, kind=kind: kind(x) * 2)(x)
    with np.errstate(all="ignore"):
        assert tracejit.jit(lambda x: np.int64(x))(np.float64(2.5)) == 2
