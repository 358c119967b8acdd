"""`scipy.optimize`'s roots: SciPy's numbers step by step, and implicit derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import tracejit


def cubic(x: Any, p: Any) -> Any:
    return x ** 3 + 0.3 * x - p


def wavy(x: Any, p: Any) -> Any:
    return np.exp(0.3 * x) * p - np.cos(x) - 0.2


def looped(x: Any, p: Any) -> Any:
    total = 0.0
    for k in range(4):
        total = total * x + p / (k + 1.0)
    return total - 1.5


def slope(x: Any, p: Any) -> Any:
    return 3.0 * x * x + 0.3


SEARCHES: dict[str, Callable[[Any], Any]] = {
    "brentq": lambda p: optimize.brentq(cubic, -2.0, 3.0, args=(p,)),
    "brentq of waves": lambda p: optimize.brentq(lambda x: wavy(x, p), -0.2, 2.5),
    "brentq of a loop": lambda p: optimize.brentq(looped, 0.0, 3.0, (p,)),
    "brentq by an end": lambda p: optimize.brentq(cubic, -p, 1.0 + p, (p,)),
    "brentq, coarse": lambda p: optimize.brentq(cubic, -2.0, 3.0, (p,), 1e-3, 1e-4),
    "bisect": lambda p: optimize.bisect(lambda x: cubic(x, p), -2.0, 3.0),
    "newton": lambda p: optimize.newton(cubic, 1.0, slope, (p,)),
    "halley": lambda p: optimize.newton(cubic, 1.0, slope, (p,), fprime2=lambda x, p: 6.0 * x),
    "secant": lambda p: optimize.newton(lambda x: wavy(x, p), 1.0),
    "secant of two": lambda p: optimize.newton(cubic, p, args=(p,), x1=2.0, tol=1e-10),
    "root_scalar": lambda p: optimize.root_scalar(cubic, (p,), bracket=[-2.0, 3.0]).root,
    "root_scalar, newton": lambda p: optimize.root_scalar(cubic, (p,), x0=1.0, fprime=slope).root,
    "root_scalar, secant": lambda p: optimize.root_scalar(
        lambda x: wavy(x, p), x0=1.0, x1=1.2, xtol=1e-9).root}
PARAMETERS = (0.6, 0.85, 1.1)


def differences(f: Callable[[Any], Any], p: float) -> tuple[float, float]:
    """Return two derivatives of a root that is found again at other parameters."""
    h = 2e-3
    a, b, c, d, e = (float(f(p + k * h)) for k in (-2, -1, 0, 1, 2))
    return (a - 8.0 * b + 8.0 * d - e) / (12.0 * h), (
        -a + 16.0 * b - 30.0 * c + 16.0 * d - e) / (12.0 * h * h)


@pytest.mark.parametrize("name", SEARCHES)
def test_roots_are_scipys_and_derivatives_are_differences(name: str) -> None:
    f = SEARCHES[name]
    for p in PARAMETERS:
        with tracejit.config(disable_jit=True):
            found = tracejit.jit(f)(p)
            first, second = tracejit.grad(f)(p), tracejit.grad(tracejit.grad(f))(p)
            tangent = tracejit.jvp(f, (p,), (1.0,))[1]
        assert type(found) is type(f(p))
        np.testing.assert_allclose(found, f(p), rtol=4e-16)  # cubes are products
        exact = f if "coarse" not in name else SEARCHES["brentq"]
        wanted = differences(exact, p)
        np.testing.assert_allclose([first, tangent], wanted[0], rtol=5e-3 if exact is not f
                                   else 1e-6)
        np.testing.assert_allclose(second, wanted[1], rtol=5e-3 if exact is not f else 2e-5)


@pytest.mark.parametrize("name", ["brentq of waves", "bisect", "secant of two", "brentq of a loop"])
def test_kernels_find_the_same_roots(name: str) -> None:
    f = SEARCHES[name]
    with tracejit.config(disable_jit=True):
        expected = tracejit.value_and_grad(f)(0.85)
    found = tracejit.value_and_grad(f)(0.85)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_iterations_and_calls_are_as_many_as_scipys() -> None:
    """150 random functions: every step is SciPy's, or the root would have other bits."""
    rng = np.random.default_rng(4)

    def search(c: Any, a: Any, b: Any) -> Any:
        def f(x: float) -> Any:
            return c[0] + c[1] * x + c[2] * np.sin(c[3] * x) + c[4] * x * x * x

        by_brent, brent = optimize.brentq(f, a, b, full_output=True)
        halves = optimize.root_scalar(f, bracket=(a, b), method="bisect", xtol=1e-8)
        return (by_brent, brent.iterations, brent.function_calls, brent.converged, halves.root,
                halves.iterations, halves.function_calls)

    seen = 0
    with tracejit.config(disable_jit=True):
        ours = tracejit.jit(search)
        while seen < 150:
            c = rng.normal(size=5) * np.array([1.0, 1.0, 2.0, 3.0, 0.3])
            a, b = np.sort(rng.uniform(-4.0, 4.0, 2)).tolist()
            try:
                expected = search(c, a, b)
            except ValueError:
                with pytest.raises(ValueError, match="must have different signs"):
                    ours(c, a, b)
                continue
            assert ours(c, a, b) == expected
            seen += 1


def test_third_derivatives_are_right_and_fourth_are_refused() -> None:
    def root(p: float) -> Any:
        return optimize.brentq(lambda x: x ** 3 - p, 0.0, 3.0)

    f: Any = root
    wanted = 1.3 ** (1.0 / 3.0)
    with tracejit.config(disable_jit=True):
        for k in range(3):
            f = tracejit.grad(f)
            wanted *= (1.0 / 3.0 - k) / 1.3
            assert f(1.3) == pytest.approx(wanted, rel=1e-10)
        with pytest.raises(tracejit.Refusal, match="a root, the fourth time"):
            tracejit.grad(f)(1.3)


def test_a_gradient_by_arrays_is_that_of_the_implicit_function() -> None:
    def rate(flows: Any) -> Any:
        times = np.arange(float(len(flows)))
        return optimize.brentq(lambda r: np.sum(flows / (1.0 + r) ** times), 1e-6, 1.0)

    flows = np.array([-100.0, 30.0, 45.0, 60.0])
    r, times = rate(flows), np.arange(4.0)
    wanted = -(1.0 + r) ** -times / np.sum(-times * flows * (1.0 + r) ** (-times - 1.0))
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.grad(rate)(flows), wanted, rtol=1e-9)


def counted(p: float) -> Any:
    calls = []

    def f(x: float) -> float:
        calls.append(x)
        return x * x - p

    return optimize.brentq(f, 0.0, 3.0) * len(calls)


@pytest.mark.parametrize(("f", "p", "error", "message"), [
    (lambda p: optimize.brentq(lambda x: x * x + p, 0.0, 1.0), 0.5, ValueError, "different signs"),
    (lambda p: optimize.brentq(cubic, -2.0, 3.0, (p,), maxiter=3), 0.5, RuntimeError,
     "Failed to converge after 3 iterations"),
    (lambda p: optimize.newton(lambda x: x * x + p, 1.0), 0.5, RuntimeError, "ailed to converge"),
    (lambda p: optimize.newton(lambda x: x * x - p, 0.0, lambda x: 2.0 * x), 0.5, RuntimeError,
     "Derivative was zero"),
    (lambda p: optimize.brentq(lambda x: x * p, -1.0, 1.0, xtol=-1.0), 0.5, ValueError,
     "xtol too small"),
    (lambda p: optimize.brentq(lambda x: np.log(x) - p, -1.0, 1.0), 0.5, ValueError, "NaN")])
def test_errors_are_scipys(f: Any, p: float, error: type[Exception], message: str) -> None:
    for g in (f, tracejit.jit(f)):
        with (np.errstate(all="ignore"), tracejit.config(disable_jit=True),
              pytest.raises(error, match=message)):
            g(p)


@pytest.mark.parametrize("order", [2, 3, 4, 5])
@pytest.mark.parametrize("p", [0.3, 1.7, -2.4])
def test_a_multiple_root_has_no_derivative(order: int, p: float) -> None:
    def by_newton(p: Any) -> Any:
        return optimize.newton(lambda x: (x - p) ** order, p + 0.4, maxiter=200)

    def by_bisection(p: Any) -> Any:
        return optimize.bisect(lambda x: (x - p) ** order * np.exp(x), p - 1.0, p + 0.7)

    with tracejit.config(disable_jit=True):
        for f in (by_newton, by_bisection)[:1 + order % 2]:
            np.testing.assert_allclose(tracejit.jit(f)(p), f(p), rtol=1e-6)
            with pytest.raises(np.linalg.LinAlgError, match="has no slope"):
                tracejit.grad(f)(p)


@pytest.mark.parametrize("find", [
    lambda f: optimize.brentq(f, 0.0, 10.0), lambda f: optimize.bisect(f, 0.0, 10.0),
    lambda f: optimize.newton(f, 1.0), lambda f: optimize.newton(f, 1.0, lambda t: 2.0 * t),
    lambda f: optimize.root_scalar(f, bracket=(0.0, 10.0)).root])
def test_a_function_that_draws_is_refused_and_one_that_prints_prints_as_often(
        find: Any, capfd: Any) -> None:
    def drawing(p: Any, rng: Any) -> Any:
        return find(lambda t: t * t - p + 1e-9 * rng.normal()) + rng.random()

    def printing(p: Any) -> Any:
        def f(t: Any) -> Any:
            tracejit.debug_print("{}", t)
            return t * t - p

        return find(f)

    rng = np.random.default_rng(3)
    before = rng.bit_generator.state
    with tracejit.config(disable_jit=True):
        for transform in tracejit.jit, tracejit.grad:
            with pytest.raises(tracejit.Refusal, match=r"test_roots.*drawn in a function of which"):
                transform(drawing)(2.0, rng)
            assert rng.bit_generator.state == before
        printing(2.0)
        wanted = capfd.readouterr().out
        for transform in tracejit.jit, tracejit.grad:
            transform(printing)(2.0)
            assert capfd.readouterr().out == wanted


def test_edges_and_refusals() -> None:
    ends = tracejit.jit(lambda p: (optimize.brentq(lambda x: x - p, 0.5, 1.0),
                                   optimize.bisect(lambda x: x - p, 0.0, 0.5)))
    flat = tracejit.grad(lambda p: optimize.bisect(lambda x: (x - p) ** 3, -1.0, 1.0))
    with tracejit.config(disable_jit=True):
        assert ends(0.5) == (0.5, 0.5)
        with pytest.raises(np.linalg.LinAlgError, match="has no slope"):
            flat(0.0)
        for call, words in ((counted, "changes something"),
                            (lambda p: optimize.newton(cubic, np.ones(2) * p), "several"),
                            (lambda p: optimize.root_scalar(cubic, (p,), x0=1.0), "fprime"),
                            (lambda p: optimize.root_scalar(
                                cubic, (p,), method="toms748", bracket=[0, 3]), "toms748")):
            with pytest.raises(tracejit.Refusal, match=words):
                tracejit.jit(call)(0.5)
