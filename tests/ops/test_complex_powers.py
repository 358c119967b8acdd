"""Powers of complex numbers by exponents that data gives: values are NumPy's, edges included."""

from __future__ import annotations

import numpy as np
import pytest

import tracejit
from tracejit.codegen.scalar_functions import linked

EDGES = [0.0, -0.0, 1.0, -0.3, 2.5, 1e-200, 1e200, np.inf, -np.inf, np.nan]
BASES = np.array([complex(a, b) for a in EDGES for b in EDGES])
WHOLE = [0, 1, 2, 3, 4, 7, 50, -1, -2, -3, -5, -99]
OTHERS = [0.5, -1.5, 2 + 1j, 120, -130.0]


def _same(a: np.ndarray, b: np.ndarray, rtol: float) -> np.ndarray:
    return (a == b) | (np.isnan(a) & np.isnan(b)) | np.isclose(a, b, rtol=rtol, atol=0)


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_powers_are_numpys(dtype: type) -> None:
    power = tracejit.jit(lambda x, y: x ** y)
    rtol = 1e-12 if dtype is np.complex128 else 2e-4
    with np.errstate(all="ignore"):
        for exponents, bases in (WHOLE, BASES), (OTHERS, BASES[np.isfinite(BASES)]):
            for exponent in exponents:
                x, y = bases.astype(dtype), dtype(exponent)
                found, wanted = power(x, y), x ** y
                known = np.isfinite(wanted) | (np.asarray(exponent) in WHOLE)
                wrong = known & ~(_same(found.real, wanted.real, rtol)
                                  & _same(found.imag, wanted.imag, rtol))
                assert not wrong.any(), (exponent, x[wrong], found[wrong], wanted[wrong])


def test_derivatives_by_both_are_those_of_differences() -> None:
    def f(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.sum(np.real((x + 1j * x * x) ** y))

    x, y, h = np.array([0.4, 1.3, -0.8]), np.array([-2.0 + 0j, 3.0 + 0j, -1.0 + 0j]), 1e-6
    by_x = tracejit.grad(f)(x, y)
    for k in range(3):
        step = h * np.eye(3)[k]
        assert by_x[k] == pytest.approx((f(x + step, y) - f(x - step, y)) / (2 * h), rel=1e-7)


@pytest.mark.parametrize("exponent", [-1, -2, -5, -99])
def test_a_negative_power_is_the_quotient_of_a_kernel_bit_by_bit(exponent: int) -> None:
    power, quotient = tracejit.jit(lambda x, y: x ** y), tracejit.jit(lambda x: 1 / x)
    bases = BASES[(abs(BASES) > 0.1) & (abs(BASES) < 10)]  # which have no power that overflows
    with np.errstate(all="ignore"):
        found = power(bases, complex(exponent))
        np.testing.assert_array_equal(found, quotient(power(bases, complex(-exponent))))


def test_functions_call_the_compiled_forms_of_those_around_them() -> None:
    def first(x: float) -> float:
        return x

    def second(x: float) -> float:
        return first(x) + shift

    shift = 2.0
    by_name = linked({"first": first, "second": second}, lambda f: lambda x: 10 * f(x),
                     {"tgamma": None, "lgamma": None})
    assert by_name["second"](1.0) == 10 * (10 * 1.0 + 2.0)
