"""SciPy's searches in captured code: SciPy's own results, with derivatives; or an error."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize as so

import tracejit

B = np.array([0.5, 1.0, 2.0])
W = np.array([1.0, -2.0, 3.0])
I = np.array([2, 0, 1])  # noqa: E741
TIMES = np.linspace(0.0, 3.0, 9)
DATA = 2.0 * np.exp(-0.8 * TIMES) + 0.05 * np.sin(9.0 * TIMES)


def cubic(x, k, b):
    return k * x + x ** 3 - b


def slope_of_cubic(x, k, b):
    return np.diag(k + 3.0 * x * x)


def well(x, b):
    return np.sum((x - b) ** 4 + (x - 1.0) ** 2) + x[0] * x[1]


slope_of_well = tracejit.grad(well)
both_of_well = tracejit.value_and_grad(well)
TIGHT = {"gtol": 1e-8}


def root_by_hybr(b):
    found = so.root(lambda x: cubic(x, 2.0, b) + 0.1 * np.roll(x, 1), np.zeros(len(b)), tol=1e-11)
    return np.sum(found.x ** 2) * found.success + np.sum(found["fun"])


def root_by_lm_and_jacobian(b):
    return so.root(cubic, [0.0] * 3, (b[0], b), "lm", slope_of_cubic, options={"xtol": 1e-11}).x @ W


def root_of_a_larger_unknown(b):
    return np.sum(so.root(lambda x: x ** 3 + x - np.append(b, b[0] * b[1]), np.zeros(len(b) + 1),
                          tol=1e-11).x)


def fsolve_of_numbers(b):
    return so.fsolve(lambda x: x ** 3 + x - b[0] * b[1], 1.0, xtol=1e-11)[0] * b[2]


def fsolve_by_fprime(b):
    return np.sum(so.fsolve(cubic, b * 0, args=(2.0, b), fprime=slope_of_cubic, xtol=1e-11) * W)


def toms748_in_a_loop(b):
    total = 0.0
    for k in range(3):
        if b[k] > 0.6:
            total = total + so.toms748(lambda x: x ** 3 + x * k - b[k], -10.0, 10.0)
    return total


def fsolve_in_vmap(b):
    return np.sum(tracejit.vmap(lambda c: so.fsolve(lambda x: x ** 3 + x - c, 0.5, xtol=1e-11)[0])(
        b) * W)


def roots_one_after_another(b):
    x = np.zeros(2)
    for k in range(len(b)):
        x = so.root(lambda y: y + y ** 3 - b[k] - x, x, tol=1e-11).x
    return x[0] * x[1]


def minimum_of_a_number(b):
    found = so.minimize_scalar(lambda x: (x - b[0]) ** 2 + 0.1 * x ** 4 * b[1])
    return found.x * found.fun * b[2]


def minimum_between_bounds(b):
    return so.minimize_scalar(lambda x: (x - b[0]) ** 2 + x ** 4, bounds=(-5.0, 5.0),
                              options={"xatol": 1e-10}).x


def minimum_by_bfgs(b):
    return so.minimize(well, np.zeros(len(b)), (b,), jac=slope_of_well, options=TIGHT).x @ W


def minimum_by_both(b):
    found = so.minimize(both_of_well, [0.0, 0.0, 0.0], args=(b,), jac=True, method="CG",
                        options=TIGHT)
    return found.x @ W + found.fun


def minimum_at_places(b):
    return so.minimize(lambda x: np.sum((x[I] - b) ** 2 * np.where(b > 0.7, 1.0, 2.0)),
                       np.zeros(3)).x @ W


def least_squares_of_a_curve(b):
    found = so.least_squares(lambda p: p[0] * np.exp(-p[1] * TIMES) - DATA * b[0] - b[1] * TIMES,
                             np.ones(2), xtol=1e-14, ftol=1e-14, gtol=1e-14)
    return found.x[0] * 2.0 + found.x[1] + found.cost + found.fun @ TIMES


def curve_of_data(b):
    p, cov = so.curve_fit(lambda t, a, k: a * np.exp(-k * t), TIMES, DATA * b[0] + b[1],
                          xtol=1e-14, ftol=1e-14)
    return p[0] + 2.0 * p[1] + 100.0 * cov[0, 1]


def curve_of_weighted_data(b):
    p, cov = so.curve_fit(lambda t, a, k: a * np.exp(-k * t), TIMES, DATA * b[0], [1.5, 1.0],
                          1.0 + b[1] * TIMES, True, xtol=1e-14, ftol=1e-14)
    return p[0] + 2.0 * p[1] + cov[0, 0]


PROGRAMS: list[Callable[..., Any]] = [
    root_by_hybr, root_by_lm_and_jacobian, root_of_a_larger_unknown, fsolve_of_numbers,
    fsolve_by_fprime, toms748_in_a_loop, fsolve_in_vmap, roots_one_after_another,
    minimum_of_a_number, minimum_between_bounds, minimum_by_bfgs, minimum_by_both,
    minimum_at_places, least_squares_of_a_curve, curve_of_data, curve_of_weighted_data]


ROOM = {minimum_at_places: 1e-3, minimum_by_both: 1e-4, minimum_by_bfgs: 1e-5,
        minimum_of_a_number: 1e-5, minimum_between_bounds: 1e-5, least_squares_of_a_curve: 1e-5,
        curve_of_data: 1e-4, curve_of_weighted_data: 1e-4}
"""How exact the solutions of searches that look at values or slopes are."""


def slopes(f: Callable[..., Any], x: np.ndarray, h: float = 1e-3) -> np.ndarray:
    """Return differences of order six, by each number of x."""
    found = []
    for unit in np.eye(len(x)):
        found.append(sum(w * (np.asarray(f(x + n * h * unit)) - np.asarray(f(x - n * h * unit)))
                         for n, w in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))) / h)
    return np.stack(found, -1)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_solutions_are_scipys_and_derivatives_differences(f: Callable[..., Any]) -> None:
    room = ROOM.get(f, 1e-6)
    close: Any = {"rtol": room, "atol": room}
    gradient = tracejit.grad(f)
    assert np.allclose(tracejit.jit(f)(B), f(B), rtol=1e-7)
    assert np.allclose(gradient(B), slopes(f, B), **close)
    assert np.allclose(tracejit.jacfwd(f)(B), gradient(B), rtol=1e-8, atol=1e-9)
    assert np.allclose(tracejit.hessian(f)(B), slopes(gradient, B), **close)
    for b in (B[::-1].copy(), B * 1.1):  # by the same program
        assert np.allclose(gradient(b), slopes(f, b), **close)


def without_a_root(x):
    return so.root(lambda y: y * y + x, [1.0]).x[0]


def fsolve_without_a_root(x):
    return so.fsolve(lambda y: y * y + x, [1.0])[0]


def ended_early(x):
    return so.minimize(lambda y: np.sum((y - x) ** 4), np.zeros(2), options={"maxiter": 1}).x[0]


def not_near(x):
    return so.minimize(lambda y: np.sum((y - x) ** 2), np.zeros(2), method="Nelder-Mead",
                       options={"xatol": 1.0, "fatol": 1.0}).x[0]


def at_a_bound(x):
    return so.minimize_scalar(lambda y: (y - x) ** 2, bounds=(0.0, 1.0)).x


def not_to_the_end(x):
    return so.minimize(lambda y: np.sum((y - x) ** 2), np.zeros(2), options={"gtol": 0.0}).x[0]


def few_evaluations(x):
    return so.curve_fit(lambda t, a, k: a * np.exp(-k * t), TIMES, DATA * x, maxfev=3)[0][0]


@pytest.mark.parametrize("f", [
    without_a_root, fsolve_without_a_root, ended_early, not_near, at_a_bound, few_evaluations,
    not_to_the_end], ids=lambda f: f.__name__)
@pytest.mark.parametrize("how", [tracejit.jit, tracejit.grad])
def test_what_is_no_solution_is_an_error(f: Callable[..., Any], how: Callable[..., Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ArithmeticError, match="no solution"):
            how(f)(2.0)


def test_scipys_errors_are_raised() -> None:
    with pytest.raises(ValueError, match="must have different signs"):
        tracejit.grad(lambda x: so.toms748(lambda y: y * y + x, 0.0, 1.0))(2.0)
    with pytest.raises(ValueError, match="Unknown solver"):
        tracejit.jit(lambda x: so.minimize(lambda y: (y[0] - x) ** 2, [0.0], method="none").x)(1.0)
    with pytest.raises(ValueError, match="for one of"):
        tracejit.jit(lambda x: so.root(lambda y: y[:1] - x, [0.0, 0.0]).x)(1.0)
    with pytest.raises(ValueError, match="more than one number"):
        tracejit.jit(lambda x: so.minimize(lambda y: y - x, [0.0, 0.0]).x)(1.0)


@pytest.mark.parametrize(("f", "words"), [
    (lambda x: so.minimize(lambda y: (y[0] - x) ** 2, [0.0], constraints=[{}]).x, "constraints="),
    (lambda x: so.minimize(lambda y: (y[0] - x) ** 2, [0.0], jac="cs").x, "'cs' for a derivative"),
    (lambda x: so.least_squares(lambda y: y - x, [0.0], loss="huber").x, "with loss="),
    (lambda x: so.fsolve(lambda y: y - x, [0.0], full_output=True)[0], "with full_output="),
    (lambda x: so.minimize(lambda y: (y[0] - x) ** 2, [0.0]).message, "`message` of what a search"),
    (lambda x: so.minimize(lambda y: (y[0] - x) ** 2, np.zeros(1, np.float32)).x, "of float32"),
    (lambda x: so.root(lambda y: y - x, np.zeros((2, 2))).x, "an array of several axes"),
    (lambda x: so.root(lambda y: y - x * 1j, [0.0]).x, "of a complex function")])
def test_what_has_no_derivative_is_refused(f: Callable[..., Any], words: str) -> None:
    with pytest.raises(tracejit.Refusal, match=rf"test_searches.py:\d+: .*{words}"):
        tracejit.jit(f)(1.0)


STORED = """
import logging, sys
import numpy as np, scipy.optimize, tracejit
@tracejit.grad
def f(b):
    return np.sum(scipy.optimize.root(lambda x: x ** 3 + x - np.append(b, 1.0),
                                      np.zeros(len(b) + 1), tol=1e-12).x)
logging.basicConfig(level=logging.DEBUG, format="%(message)s", stream=sys.stdout)
print(f(np.array([2.0, 10.0])).round(9))
"""


def test_a_later_process_searches_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACEJIT_CACHE", "1")
    monkeypatch.setenv("TRACEJIT_CACHE_DIR", str(tmp_path / "store"))
    script = tmp_path / "stored.py"
    script.write_text(STORED)
    first, second = (subprocess.run([sys.executable, str(script)], capture_output=True, text=True,
                                    check=True).stdout for _ in range(2))
    assert "[0.25 " in first and "found in the store" not in first
    assert "grad[f] was found in the store" in second and "[0.25 " in second
