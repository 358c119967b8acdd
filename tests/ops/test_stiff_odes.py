"""`solve_ivp` by Radau, BDF and LSODA, and `odeint`: SciPy's solutions, and their sensitivities."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import odeint, solve_ivp

import tracejit
from tracejit.errors import Refusal

RATES, START = np.array([0.04, 1e4, 3e7]), np.array([0.9, 2e-5, 0.1])
METHODS = ("BDF", "Radau", "LSODA")
WEIGHTS = np.array([[1.0], [1e4], [2.0]])


def robertson(t, y, k):
    slow, back, fast = k[0] * y[0], k[1] * y[1] * y[2], k[2] * y[1] ** 2
    return np.array([back - slow, slow - back - fast, fast])


def van_der_pol(t, y, m):
    return np.array([y[1], m * (1.0 - y[0] ** 2) * y[1] - y[0]])


def concentrations(k, y0, method, tol=1e-8):
    return solve_ivp(robertson, (0.0, 40.0), y0, method=method, t_eval=np.array([0.4, 4.0, 40.0]),
                     args=(k,), rtol=tol, atol=tol * 1e-4).y


def differences(f: Callable[..., Any], x: np.ndarray, h: float) -> np.ndarray:
    """Return differences of order four, of steps that are parts of the numbers."""
    found = []
    for k in range(len(x)):
        step = h * (abs(x[k]) or 1.0) * np.eye(len(x))[k]
        one, two = (f(x + n * step) - f(x - n * step) for n in (1, 2))
        found.append((8.0 * one - two) / (12.0 * h * (abs(x[k]) or 1.0)))
    return np.array(found)


@cache
def of_tight_solutions() -> list[np.ndarray]:
    """Return differences by the rates and the beginning: Radau's, whose errors are smooth."""
    def tight(k: Any, y0: Any) -> Any:
        return np.sum(WEIGHTS * concentrations(k, y0, "Radau", 1e-12))

    return [differences(lambda k: tight(k, START), RATES, 1e-3),
            differences(lambda y: tight(RATES, y), START, 1e-2)]


@pytest.mark.parametrize("method", METHODS)
def test_robertsons_sensitivities_are_differences_of_tight_solutions(method: str) -> None:
    def loss(k, y0):
        return np.sum(WEIGHTS * concentrations(k, y0, method))

    dots = 0.3 * RATES, np.array([0.1, 1e-5, -0.1])
    with tracejit.config(disable_jit=True):
        value, slopes = tracejit.value_and_grad(loss, argnums=(0, 1))(RATES, START)
        forward = tracejit.jvp(loss, (RATES, START), dots)[1]
    np.testing.assert_allclose(value, loss(RATES, START), rtol=1e-9)
    for x, y in zip(slopes, of_tight_solutions(), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6)
    np.testing.assert_allclose(forward, sum(map(np.vdot, slopes, dots)), rtol=1e-6)


def last(p, method="BDF", **more):
    """A function of an end, a beginning, a state and a number, with and without `t_eval`."""
    return solve_ivp(van_der_pol, (p[0], p[1]), np.array([p[2], 0.5]), method=method, args=(p[3],),
                     rtol=1e-10, atol=1e-12, **more).y[:, -1]


POINT = np.array([0.2, 1.7, 1.5, 6.0])


@pytest.mark.parametrize("method", METHODS)
def test_derivatives_by_ends_and_times_are_right(method: str) -> None:
    def between(p):
        return last(p, method, t_eval=np.array([0.3, 1.0]) * p[1])

    def ends(p):
        return last(p, method)

    for f in (ends, between):
        with tracejit.config(disable_jit=True):
            value, forward = tracejit.jit(f)(POINT), tracejit.jacfwd(f)(POINT)
            weights = np.array([0.7, -0.2])
            back = tracejit.grad(lambda p, f=f: np.sum(weights * f(p)))(POINT)
        np.testing.assert_allclose(value, f(POINT), rtol=1e-7)
        expected = differences(lambda p, f=f: f(p), POINT, 1e-3).T
        np.testing.assert_allclose(forward, expected, rtol=2e-6, atol=1e-6)
        np.testing.assert_allclose(back, weights @ forward, rtol=1e-6, atol=1e-8)


def test_second_derivatives_are_right() -> None:
    def end(k):
        return solve_ivp(lambda t, y: -k * y ** 2, (0.0, 2.0), np.array([1.5]), method="BDF",
                         t_eval=[2.0], rtol=1e-10, atol=1e-12).y[0, 0]

    # y = 1.5 / (1 + 3 k)
    with tracejit.config(disable_jit=True):
        for second in (tracejit.grad(tracejit.grad(end)),
                       lambda k: tracejit.jvp(tracejit.grad(end), (k,), (1.0,))[1],
                       tracejit.grad(lambda k: tracejit.jvp(end, (k,), (1.0,))[1])):
            np.testing.assert_allclose(second(0.4), 27.0 / 2.2 ** 3, rtol=1e-6)


def decay(k, t, y):
    return odeint(lambda y, t, k: -k * y * np.cos(t), y, t, args=(k,), rtol=1e-10, atol=1e-12)


def test_odeint_is_scipys_and_has_derivatives() -> None:
    t, y, k = np.array([0.5, 1.0, 2.5]), np.array([1.0, 2.0]), 0.8
    def loss(k, t, y):
        return np.sum(decay(k, t, y)[1:] ** 2)

    value, found = tracejit.value_and_grad(loss, argnums=(0, 1, 2))(k, t, y)
    exact = y * np.exp(-k * (np.sin(t) - np.sin(t[0])))[:, None]
    np.testing.assert_allclose(tracejit.jit(decay)(k, t, y), decay(k, t, y), rtol=1e-8)
    np.testing.assert_allclose(value, np.sum(exact[1:] ** 2), rtol=1e-8)
    squares = np.sum(2.0 * exact ** 2, axis=1)[1:]
    np.testing.assert_allclose(found[0], -np.sum(squares * (np.sin(t[1:]) - np.sin(t[0]))),
                               rtol=1e-7)
    by_time = -k * np.cos(t[1:]) * squares
    np.testing.assert_allclose(found[1], [k * np.cos(t[0]) * np.sum(squares), *by_time], rtol=1e-7)
    np.testing.assert_allclose(found[2], np.sum(2.0 * exact[1:] ** 2, axis=0) / y, rtol=1e-7)


def test_maps_have_a_solution_for_each() -> None:
    def end(k):
        return np.sum(concentrations(k, START, "BDF")[:, -1] * np.arange(3.0))

    ks = np.stack([RATES, 1.1 * RATES])
    found = tracejit.vmap(tracejit.grad(end))(ks)
    np.testing.assert_allclose(found, [tracejit.grad(end)(k) for k in ks], rtol=1e-12)


def test_a_solution_that_fails_is_an_error() -> None:
    def blows_up(y0):
        return solve_ivp(lambda t, y: y ** 2, (0.0, 2.0), y0, method="BDF", t_eval=[2.0]).y

    with tracejit.config(disable_jit=True), np.errstate(all="ignore"), pytest.raises(
            ArithmeticError, match="Required step size"):
        tracejit.jit(blows_up)(np.array([1.0]))


@pytest.mark.parametrize("options", [
    {"events": lambda t, y: y[0]}, {"dense_output": True}, {"first_step": 0.1}])
def test_what_stiff_methods_lack_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(Refusal, match="by BDF with"):
        tracejit.jit(lambda y: solve_ivp(lambda t, y: -y, (0.0, 1.0), y, method="BDF",
                                         **options).t)(np.ones(1))


STORED = """
import numpy as np, sys, tracejit
from scipy.integrate import solve_ivp

def f(k):
    y = np.array([1.5, 1.0])
    return solve_ivp(lambda t, y: -k * y, (0.0, 2.0), y, method="Radau", t_eval=[2.0]).y[0, 0]

print(tracejit.value_and_grad(f)(0.4), "numba" in sys.modules)
"""


def test_stored_programs_have_the_same_solutions(tmp_path: Path,
                                                 monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACEJIT_CACHE", "1")
    monkeypatch.setenv("TRACEJIT_CACHE_DIR", str(tmp_path / "store"))
    script = tmp_path / "stored.py"
    script.write_text(STORED)
    first, second = (subprocess.run([sys.executable, str(script)], capture_output=True, text=True,
                                    check=True).stdout for _ in range(2))
    assert first.rsplit(maxsplit=1)[0] == second.rsplit(maxsplit=1)[0]
