"""The functions of `cmath`: values, errors and derivatives, on branch cuts and at infinity.

C leaves open which sign zeros and infinities have where an argument is NaN, or infinite in both
parts; and CPython's `phase` of a number next to an axis raises an error where the angle underflows.
"""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

PARTS = (0.0, -0.0, 0.3, -0.3, 1.0, -1.0, 2.5, -2.5, 30.0, 800.0, -800.0, 1e300, 1e-300, math.inf,
         -math.inf)
NAMES = ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "log", "log10",
         "phase", "polar", "sin", "sinh", "sqrt", "tan", "tanh", "isfinite", "isinf", "isnan")


def _outcome(f: Callable[..., Any], *args: object) -> Any:
    try:
        return f(*args)
    except (ValueError, OverflowError, ZeroDivisionError) as e:
        return type(e), str(e)


def _same(x: Any, y: Any) -> bool:
    """Return whether two results are alike: zeros by their signs, too."""
    if isinstance(x, tuple):
        return isinstance(y, tuple) and len(x) == len(y) and all(map(_same, x, y))
    if isinstance(x, complex):
        return isinstance(y, complex) and _same(x.real, y.real) and _same(x.imag, y.imag)
    if not isinstance(x, float) or not isinstance(y, float):
        return bool(x == y) and isinstance(x, (bool, np.bool)) is isinstance(y, (bool, np.bool))
    if math.isnan(x) or x == 0 or math.isinf(x):
        return math.isnan(x) == math.isnan(y) and (
            math.isnan(x) or (x == y and math.copysign(1, x) == math.copysign(1, y)))
    return math.isclose(x, y, rel_tol=1e-13, abs_tol=1e-300)


@pytest.mark.parametrize("name", NAMES)
def test_values_and_errors_are_pythons(name: str) -> None:
    function = getattr(cmath, name)

    def f(z: Any) -> Any:
        return function(z)

    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(f)
        wrong = []
        pairs = [parts for parts in itertools.product(PARTS, PARTS)
                 if not all(map(math.isinf, parts)) and {1e300, 1e-300} != set(parts)]
        for z in [*itertools.starmap(complex, pairs), *PARTS, 2, -3]:
            right, found = _outcome(function, z), _outcome(compiled, z)
            if not _same(right, found):
                wrong.append((z, right, found))
        assert wrong == []


@pytest.mark.parametrize("name", ["rect", "isclose", "log"])
def test_functions_of_two_numbers_are_pythons(name: str) -> None:
    function = getattr(cmath, name)

    def f(a: Any, b: Any) -> Any:
        return function(a, b)

    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(f)
        wrong = []
        for a, b in itertools.product(PARTS, PARTS):
            right, found = _outcome(function, a, b), _outcome(compiled, a, b)
            if not _same(right, found):
                wrong.append((a, b, right, found))
        assert wrong == []


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("is")] + ["rect"])
def test_derivatives_are_those_of_differences(name: str) -> None:
    function, step = getattr(cmath, name), 1e-6

    def real(x: Any, y: Any) -> Any:
        found = function(x, y) if name == "rect" else function(complex(x, y))
        found = found[0] + 0.3j * found[1] if isinstance(found, tuple) else found
        return found.real + 0.7 * found.imag

    slopes = tracejit.grad(real, argnums=(0, 1))
    for x, y in ((0.3, 0.4), (-0.7, 1.2), (1.3, -0.4), (-0.2, -0.9)):
        found = slopes(x, y)
        right = ((real(x + step, y) - real(x - step, y)) / (2 * step),
                 (real(x, y + step) - real(x, y - step)) / (2 * step))
        np.testing.assert_allclose(found, right, rtol=1e-7, atol=1e-8)


def test_nan_stays_nan() -> None:
    with tracejit.config(disable_jit=True):
        for name in NAMES[:18]:
            function = getattr(cmath, name)
            found = tracejit.jit(lambda z, function=function: function(z))(complex(math.nan, 0.5))
            assert any(map(cmath.isnan, found if isinstance(found, tuple) else (found,)))


@pytest.mark.parametrize("z", ["text", None, [1.0]])
def test_what_is_no_number_is_an_error(z: Any) -> None:
    with tracejit.config(disable_jit=True), pytest.raises(TypeError):
        tracejit.jit(lambda x: cmath.exp(z) + x)(1.0)


def test_in_a_program() -> None:
    def response(w: float, taps: Any) -> float:
        total = 0j
        for k in range(len(taps)):
            total += taps[k] * cmath.exp(-1j * w * k)
        size, angle = cmath.polar(total)
        return size * size + angle

    taps, step = np.array([1.0, -0.4, 0.2]), 1e-6
    value, slope = tracejit.value_and_grad(response)(0.7, taps)
    assert abs(value - response(0.7, taps)) < 1e-12
    right = (response(0.7 + step, taps) - response(0.7 - step, taps)) / (2 * step)
    assert abs(slope - right) < 1e-7
