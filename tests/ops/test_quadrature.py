"""`scipy.integrate.quad`: SciPy's numbers step by step, and derivatives that are integrals, too."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy import special
from scipy.integrate import quad

import tracejit
from tracejit.autodiff.kronrod import KRONROD_15, KRONROD_21, KronrodRule

INTEGRALS: dict[str, tuple[Callable[[Any], Any], Callable[[float], float]]] = {
    "an end": (lambda p: quad(np.cos, 0.0, p)[0], math.cos),
    "both ends": (lambda p: quad(lambda x: x * x, p, 3.0 * p)[0], lambda p: 26.0 * p * p),
    "ends in the other order": (lambda p: quad(lambda x: math.exp(-x), 3.0, p)[0],
                                lambda p: math.exp(-p)),
    "an argument": (lambda p: quad(lambda x, k: k * x * x, 0, 1, args=(p,))[0],
                    lambda p: 1.0 / 3.0),
    "an infinite end": (lambda p: quad(lambda x: math.exp(-p * x), 0, np.inf)[0],
                        lambda p: -1.0 / p ** 2),
    "from a place to infinity": (lambda p: quad(lambda x: math.exp(-x * x), p, np.inf)[0],
                                 lambda p: -math.exp(-p * p)),
    "from minus infinity": (lambda p: quad(lambda x: math.exp(-x * x), -np.inf, p)[0],
                            lambda p: math.exp(-p * p)),
    "all numbers": (lambda p: quad(lambda x: math.exp(-x * x / p), -np.inf, np.inf)[0],
                    lambda p: 0.5 * math.sqrt(math.pi / p)),
    "a singular end": (lambda p: quad(lambda x: x ** -p, 0, 1)[0], lambda p: (1.0 - p) ** -2),
    "a logarithm": (lambda p: quad(lambda x: x ** -p * math.log(x), 0, 1)[0],
                    lambda p: -2.0 * (1.0 - p) ** -3),
    "waves": (lambda p: quad(lambda x: np.sin(40.0 * p * x), 0, 3)[0],
              lambda p: (120.0 * p * math.sin(120.0 * p) + math.cos(120.0 * p) - 1.0) / (
                  40.0 * p * p)),
    "a kink that moves": (lambda p: quad(lambda x: abs(x - p), 0, 1)[0], lambda p: 2.0 * p - 1.0),
    "an option": (lambda p: quad(lambda s: max(s - p, 0.0) * math.exp(-s), 0, np.inf)[0],
                  lambda p: -math.exp(-p)),
    "a peak": (lambda p: quad(lambda x: 1e-2 / (1e-4 + (x - p) ** 2), 0, 1)[0],
               lambda p: 1e-2 / (1e-4 + p * p) - 1e-2 / (1e-4 + (1.0 - p) ** 2)),
    "complex numbers": (lambda p: quad(lambda x: np.exp(1j * p * x), 0, 1,
                                       complex_func=True)[0].imag,
                        lambda p: (p * math.sin(p) + math.cos(p) - 1.0) / p ** 2),
    "an integral within": (lambda p: quad(
        lambda x: quad(lambda y: p * p * x * y, 0, x)[0], 0, 1)[0], lambda p: 0.25 * p),
    "one interval": (lambda p: quad(lambda x: math.exp(p * x), 0, 1, epsabs=1.0)[0],
                      lambda p: ((p - 1.0) * math.exp(p) + 1.0) / p ** 2)}
PLACES = (0.37, 0.63)


@pytest.mark.parametrize("name", INTEGRALS)
def test_integrals_are_scipys_and_derivatives_are_right(name: str) -> None:
    f, slope = INTEGRALS[name]
    with tracejit.config(disable_jit=True):
        both = tracejit.value_and_grad(f)
        for p in PLACES:
            value, found = both(p)
            assert type(value) is float
            np.testing.assert_allclose(value, f(p), rtol=1e-13)
            np.testing.assert_allclose(found, slope(p), rtol=1e-7)


def test_tangents_are_right() -> None:
    f, slope = INTEGRALS["an option"]
    with tracejit.config(disable_jit=True):
        assert tracejit.jvp(f, (0.37,), (1.0,))[1] == pytest.approx(slope(0.37), rel=1e-7)


def test_kernels_compute_the_same_integrals() -> None:
    f, slope = INTEGRALS["a kink that moves"]
    found = tracejit.value_and_grad(f)(0.37)
    np.testing.assert_allclose(found, (f(0.37), slope(0.37)), rtol=1e-7)


def test_second_derivatives_are_right() -> None:
    def f(p: Any) -> Any:
        return quad(lambda x: math.exp(-p * x) * p, 0.0, p)[0]

    with tracejit.config(disable_jit=True):
        second = tracejit.grad(tracejit.grad(f))(0.7)
    assert second == pytest.approx((2.0 - 4.0 * 0.49) * math.exp(-0.49), rel=1e-8)


def test_the_gradient_by_an_array_is_the_integral_of_the_gradient() -> None:
    def f(c: Any) -> Any:
        return quad(lambda x: np.sum(c * x ** np.arange(4.0)), 0.0, 2.0)[0]

    c = np.array([0.3, -1.0, 0.5, 2.0])
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.grad(f)(c), [2.0, 2.0, 8.0 / 3.0, 4.0], rtol=1e-12)


@pytest.mark.parametrize("part", range(4))
def test_estimates_and_steps_are_scipys(part: int) -> None:
    """10 random integrals, easy and hard: the estimates of errors show which steps were taken."""
    rng = np.random.default_rng(8 + part)

    def integral(c: Any, a: Any, b: Any, tolerance: Any) -> Any:
        return quad(lambda x: c[0] * math.sqrt(abs(x - c[1])) + math.sin(c[2] * x) * c[3]
                    + (c[4] if x > c[5] else 0.0), a, b, epsabs=tolerance)

    with tracejit.config(disable_jit=True):
        ours = tracejit.jit(integral)
        for _ in range(10):
            c = rng.normal(size=6) * np.array([1.0, 1.0, 30.0, 1.0, 1.0, 1.0])
            c[rng.integers(6)] = 0.0
            a, b = rng.uniform(-2.0, 2.0, 2).tolist()
            tolerance = 10.0 ** rng.uniform(-8.0, -2.0)
            with warnings.catch_warnings(action="ignore"):
                value, error = integral(c, a, b, tolerance)
            found = ours(c, a, b, tolerance)
            np.testing.assert_allclose(found[0], value, rtol=1e-12, atol=1e-14)
            np.testing.assert_allclose(found[1], error, rtol=1e-3, atol=1e-14)


@pytest.mark.parametrize(("rule", "degree"), [(KRONROD_21, 31), (KRONROD_15, 23)])
def test_rules_integrate_polynomials_exactly(rule: KronrodRule, degree: int) -> None:
    rng = np.random.default_rng(1)
    gauss_degree = 19 if rule is KRONROD_21 else 13
    for weights, centre, most in ((rule.kronrod, rule.at_centre[1], degree),
                                  (rule.gauss, rule.at_centre[0], gauss_degree)):
        p = Polynomial(rng.normal(size=most + 1))
        found = centre * p(0.0) + np.sum(weights * (p(rule.nodes) + p(-rule.nodes)))
        assert found == pytest.approx(p.integ()(1.0) - p.integ()(-1.0), rel=1e-13)


def test_where_the_ends_are_equal_nothing_is_added() -> None:
    def f(p: Any, q: Any) -> Any:
        return quad(lambda x: 1.0 / np.float64(x), p, q)

    with tracejit.config(disable_jit=True), np.errstate(all="ignore"):
        assert tracejit.jit(f)(0.0, 0.0) == f(0.0, 0.0) == (0.0, 0.0)
        assert tracejit.grad(lambda p, q: f(p, q)[0], argnums=1)(0.5, 0.5) == pytest.approx(2.0)


def counted(p: Any) -> Any:
    """Integrate a function that keeps its places."""
    places = []

    def f(x: float) -> float:
        places.append(x)
        return x * p

    return quad(f, 0.0, 1.0)[0] * len(places)


@pytest.mark.parametrize(("f", "message"), [
    (counted, "changes something outside of it, and which is integrated"),
    (lambda p: quad(lambda x: x * p, 0, 1, points=[0.5])[0], "Add the integrals between"),
    (lambda p: quad(lambda x: x * p, 0, 1, weight="cos", wvar=2.0)[0], "weight as a factor"),
    (lambda p: quad(lambda x: x * p, 0, 1, full_output=1)[0], "full_output="),
    (lambda p: quad(lambda x: math.exp(-x), 0, p / 0.0 if p < 0 else np.float64(p) / 0.0)[0],
     "Write np.inf in the function")])
def test_refusals_name_a_remedy(f: Any, message: str) -> None:
    with (tracejit.config(disable_jit=True), np.errstate(all="ignore"),
          pytest.raises(tracejit.Refusal, match=message)):
        tracejit.jit(f)(0.5)


@pytest.mark.parametrize(("f", "message"), [
    (lambda p: quad(lambda x: x * p, 0, 1, epsabs=0.0, epsrel=1e-20)[0], "'epsrel' must be"),
    (lambda p: quad(lambda x: x * p, 0, 1, limit=0)[0], "Invalid 'limit' argument")])
def test_errors_are_scipys(f: Any, message: str) -> None:
    for g in (f, tracejit.jit(f)):
        with tracejit.config(disable_jit=True), pytest.raises(ValueError, match=message):
            g(0.5)


ROUGH: dict[str, tuple[Callable[[Any], Any], Callable[[float], float]]] = {
    "a kink": (lambda p: quad(lambda x: max(x - p, 0.0), 0.0, 1.0)[0], lambda p: p - 1.0),
    "a kink on a range without end": INTEGRALS["an option"],
    "a small kink": (lambda p: quad(lambda x: 1e4 * math.exp(x) + abs(x - p), 0.0, 1.0)[0],
                     lambda p: 2.0 * p - 1.0),
    "a root": (lambda p: quad(lambda x: np.sqrt(np.abs(x - p)), 0.0, 1.0)[0],
               lambda p: math.sqrt(p) - math.sqrt(1.0 - p)),
    "a root on one side": (lambda p: quad(lambda x: math.sqrt(x - p) if x > p else 0.0, 0.0,
                                          1.0)[0], lambda p: -math.sqrt(1.0 - p)),
    "a root and a kink": (lambda p: quad(lambda x: np.sqrt(np.abs(x - 0.5 * p)) + abs(x - p),
                                         0.0, 1.0)[0],
                          lambda p: 0.5 * (math.sqrt(0.5 * p) - math.sqrt(1.0 - 0.5 * p))
                          + 2.0 * p - 1.0),
    "a pole that stays": (lambda p: quad(lambda x: p * np.abs(x - 0.3) ** -0.5, 0.0, 1.0)[0],
                          lambda p: 2.0 * (math.sqrt(0.3) + math.sqrt(0.7))),
    "a pole at an end that moves": (lambda p: quad(lambda x: 1.0 / np.sqrt(x - p), p, 1.0)[0],
                                    lambda p: -1.0 / math.sqrt(1.0 - p)),
    "a circle": (lambda p: quad(lambda x: np.sqrt(p * p - x * x), -p, p)[0],
                 lambda p: math.pi * p),
    "poles at ends that move": (lambda p: quad(lambda x: p / np.sqrt(p * p - x * x), -p, p)[0],
                                lambda p: math.pi),
    "a period": (lambda p: quad(lambda x: 1.0 / np.sqrt(0.5 * (p ** 4 - x ** 4)), 0.0, p)[0],
                 lambda p: -math.sqrt(0.5 * math.pi) * math.gamma(0.25) / (
                     2.0 * math.gamma(0.75) * p ** 2)),
    "Beta": (lambda p: quad(lambda x: x ** (p - 1.0) * (1.0 - x) ** -0.7, 0.0, 1.0)[0],
             lambda p: special.beta(p, 0.3) * (special.digamma(p) - special.digamma(p + 0.3)))}


@pytest.mark.parametrize("name", ROUGH)
def test_the_derivative_has_intervals_of_its_own(name: str) -> None:
    """Those of the integral have errors of 5e-5 by a kink, and of some per cent by a root."""
    f, slope = ROUGH[name]
    places = [0.25, 0.5, 0.75, *np.random.default_rng(3).uniform(0.05, 0.95, 9).tolist()]
    with tracejit.config(disable_jit=True):
        for p in places:
            np.testing.assert_allclose(tracejit.grad(f)(p), slope(p), rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(tracejit.jvp(f, (0.37,), (2.0,))[1], 2.0 * slope(0.37),
                                   rtol=1e-6)


def test_kernels_have_these_derivatives_too() -> None:
    f, slope = ROUGH["a root and a kink"]
    np.testing.assert_allclose(tracejit.grad(f)(0.37), slope(0.37), rtol=1e-6)


@pytest.mark.parametrize("f", [
    lambda p: quad(lambda x: np.abs(x - p) ** 0.1, 0.0, 1.0)[0],
    lambda p: quad(lambda x: np.log(np.abs(x - p)), 0.0, 1.0)[0]])
def test_a_derivative_that_cannot_be_integrated_is_an_error(f: Any) -> None:
    with tracejit.config(disable_jit=True):
        for derivative in (tracejit.grad(f), lambda p: tracejit.jvp(f, (p,), (1.0,))):
            with pytest.raises(ArithmeticError, match="Cut the interval"):
                derivative(0.37)
        assert tracejit.jit(f)(0.37) == pytest.approx(f(0.37), rel=1e-13)


def test_second_derivatives_have_intervals_of_their_own() -> None:
    def f(p: Any) -> Any:
        return quad(lambda x: np.abs(x - p) ** 1.5, 0.0, 1.0)[0]

    wanted = 1.5 * (math.sqrt(0.37) + math.sqrt(0.63))
    with tracejit.config(disable_jit=True):
        assert tracejit.grad(tracejit.grad(f))(0.37) == pytest.approx(wanted, rel=1e-6)
        assert tracejit.hessian(f)(0.37) == pytest.approx(wanted, rel=1e-6)


def test_derivatives_by_arrays_with_kinks_are_exact_integrals() -> None:
    knots = np.array([0.0, 0.13, 0.4, 0.77, 1.0])

    def f(c: Any) -> Any:
        return quad(lambda x: np.interp(x, knots, c), 0.0, 1.0)[0]

    c = np.array([0.3, -1.0, 0.0, 2.0, 1.0])
    hats = 0.5 * np.convolve(np.diff(knots), [1.0, 1.0])
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.grad(f)(c), hats, rtol=1e-8)
        np.testing.assert_allclose(tracejit.vmap(tracejit.grad(f))(np.stack([c, 2.0 * c])),
                                   [hats, hats], rtol=1e-8)


def test_an_integrand_with_a_derivative_in_reverse_mode_alone() -> None:
    @tracejit.custom_gradient
    def cube(x: Any) -> Any:
        return x ** 3, lambda ct: ct * 3.0 * x ** 2

    def f(p: Any) -> Any:
        return quad(lambda x: cube(p * x), 0.0, 1.0)[0]

    with tracejit.config(disable_jit=True):
        assert tracejit.grad(f)(0.37) == pytest.approx(0.75 * 0.37 ** 2, rel=1e-12)


def test_integrals_in_loops_and_branches_have_their_derivatives() -> None:
    def f(p: Any) -> Any:
        total = 0.0
        for k in range(3):
            if p > 0.2 * k:
                total += quad(lambda x: abs(x - p) * (k + 1.0), 0.0, 1.0)[0]
        return total

    with tracejit.config(disable_jit=True):
        assert tracejit.grad(f)(0.37) == pytest.approx(3.0 * (2.0 * 0.37 - 1.0), rel=1e-8)


@pytest.mark.parametrize("size", [1.0, 1e4, 1e8, -3e6, 1e12])
def test_each_slope_has_its_own_error(size: float) -> None:
    """Slopes of other sizes beside it, in an array or apart, hide none, smooth as they are."""
    def together(c: Any) -> Any:
        return quad(lambda x: c[0] * np.exp(x) + abs(x - c[1]) + c[2] * x, 0.0, 1.0)[0]

    def apart(a: Any, b: Any, c: Any) -> Any:
        return quad(lambda x: a * np.exp(x) + np.sqrt(np.abs(x - b)) + c * c, 0.0, 1.0)[0]

    rise = math.e - 1.0
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.grad(together)(np.array([size, 0.37, 0.0])),
                                   [rise, 2.0 * 0.37 - 1.0, 0.5], rtol=1e-6)
        for argnums in ((0, 1, 2), (1, 0, 2)):
            found = tracejit.grad(apart, argnums=argnums)(size, 0.37, 0.0)
            slopes = (rise, math.sqrt(0.37) - math.sqrt(0.63), 0.0)
            np.testing.assert_allclose(found, [slopes[k] for k in argnums], rtol=1e-6)


def test_slopes_by_complex_and_float32_numbers_keep_their_types() -> None:
    def f(z: Any, c: Any) -> Any:
        return quad(lambda x: abs(z * x + 1.0) ** 2 + float(np.sum(c)) * x, 0.0, 1.0)[0]

    z, c = 0.5 + 2.0j, np.array([[1.0, 2.0]], dtype=np.float32)
    with tracejit.config(disable_jit=True):
        by_z, by_c = tracejit.grad(f, argnums=(0, 1))(np.complex128(z), c)
    np.testing.assert_allclose(by_z, 2.0 * z / 3.0 + 1.0, rtol=1e-12)
    assert by_c.dtype == np.float32 and by_c.shape == (1, 2)
    np.testing.assert_allclose(by_c, 0.5)


def test_a_slope_that_is_0_but_for_rounding_is_no_error() -> None:
    def f(p: Any) -> Any:
        return quad(lambda x: (x / p) ** 2 / p, 0.0, p)[0]

    with tracejit.config(disable_jit=True):
        assert abs(tracejit.grad(f)(0.37)) < 1e-14
        assert abs(tracejit.jvp(f, (0.37,), (1.0,))[1]) < 1e-14


def test_a_slope_that_is_0_by_cancelling_poles_is_no_error() -> None:
    def f(p: Any) -> Any:
        return quad(lambda x: 1.0 / np.sqrt(p * p - x * x), -p, p)[0]

    with tracejit.config(disable_jit=True):
        for p in (0.13, 0.26, 0.37, 0.75):
            assert abs(tracejit.grad(f)(p)) < 1e-8
            assert abs(tracejit.jvp(f, (p,), (1.0,))[1]) < 1e-8
