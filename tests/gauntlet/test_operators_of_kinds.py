"""Operators on two numbers of every two kinds: type, value and error are Python's and NumPy's.

`1j * np.float64(2)` is Python's complex number, for `np.float64` is a kind of `float` and Python's
`complex` has a method for floats; `np.float64(2) * 1j` is NumPy's. Each then divides by zero in its
own way.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

NUMBERS: list[Any] = [
    2.0, 0.0, np.float64(1.5), np.float64(0.0), 1j, 0j, 1 + 2j, np.complex128(2j), 3, 0, True,
    np.int64(2), np.True_, np.float32(1.5), np.complex64(1j), np.array(1.5), np.array(2j)]

KINDS = [bool, int, float, complex, np.bool_, np.int64, np.float64, np.complex128, np.float32,
         np.complex64, np.ndarray, np.int32, np.int8]

OPERATORS: list[Callable[[Any, Any], Any]] = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.eq,
    operator.ne, operator.floordiv, operator.mod, operator.lt, operator.ge, operator.and_,
    operator.lshift, operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow]


def outcome(f: Callable[..., Any], *xs: Any) -> Any:
    try:
        with np.errstate(all="ignore"):
            return f(*(x.copy() if isinstance(x, np.ndarray) else x for x in xs))
    except Exception as e:
        return e


@pytest.mark.parametrize("op", OPERATORS, ids=lambda f: f.__name__)
def test_operators_give_the_kind_that_python_gives(op: Callable[[Any, Any], Any]) -> None:
    def program(a: Any, b: Any) -> Any:
        found = op(a, b)
        return KINDS.index(type(found)), found

    compiled = tracejit.jit(program)
    with tracejit.config(disable_jit=True):
        for x in NUMBERS:
            for y in NUMBERS:
                expected, found = outcome(program, x, y), outcome(compiled, x, y)
                what = f"{op.__name__} of {x!r} and {y!r}: {found!r}, not {expected!r}"
                if isinstance(expected, Exception):
                    assert isinstance(expected, type(found)), what
                else:
                    assert not isinstance(found, Exception), what
                    assert found[0] == expected[0], what
                    np.testing.assert_allclose(found[1], expected[1], rtol=1e-6, err_msg=what)


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv],
                         ids=lambda f: f.__name__)
def test_gradients_of_complex_numbers_beside_floats(op: Callable[[Any, Any], Any]) -> None:
    def program(a: Any) -> Any:
        z = op(complex(a, 1.0), np.float64(a) + 1.0)
        w = op(1j, np.sqrt(np.float64(a)))
        return (z * w).imag + abs(w)

    for a in 0.7, 1.3, 4.0:
        near = (program(a + 1e-6) - program(a - 1e-6)) / 2e-6
        with tracejit.config(disable_jit=True):
            assert tracejit.grad(program)(a) == pytest.approx(near, rel=1e-6)
