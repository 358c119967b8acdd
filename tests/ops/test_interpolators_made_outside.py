"""Interpolators that SciPy made, at traced points: SciPy's values, derivatives by differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.interpolate as si
from oracles import numeric_gradient
from scipy.sparse.linalg import spsolve

import tracejit

RNG = np.random.default_rng(2)
PLACES = np.sort(RNG.uniform(0.0, 5.0, size=9))
VALUES, TABLE = np.sin(PLACES), RNG.normal(size=(9, 2))
INSIDE = RNG.uniform(PLACES[0] + 0.01, PLACES[-1] - 0.01, size=7)
AROUND = np.append(INSIDE, [PLACES[0] - 0.3, PLACES[-1] + 0.4])
GRID = [np.array([0.0, 0.5, 2.0, 3.0]), np.array([-1.0, 0.0, 1.5])]
HEIGHTS, VECTORS = RNG.normal(size=(4, 3)), RNG.normal(size=(4, 3, 2))
LINES = [np.array([0.0, 0.4, 0.9, 1.6, 2.1, 2.6, 3.0]), np.array([-1.0, -0.6, -0.1, 0.3, 0.9, 1.5])]
WIDE_GRID = LINES, RNG.normal(size=(7, 6)), RNG.normal(size=(7, 6, 2))
BOX = np.stack([RNG.uniform(0.1, 2.9, size=6), RNG.uniform(-0.9, 1.4, size=6)], axis=-1)
BEYOND = np.concatenate([BOX, [[3.3, 0.2], [1.0, -1.2]]])
TCK = si.splrep(PLACES, VALUES, s=0.01)


def _kinds() -> dict[str, tuple[Callable[[Any], Any], Any]]:
    cases: dict[str, tuple[Callable[[Any], Any], Any]] = {}
    for k in (0, 1, 2, 3, 5):
        for y in (VALUES, TABLE):
            spline = si.make_interp_spline(PLACES, y, k=k)
            cases[f"spline {k} {y.ndim}"] = spline, AROUND
            cases[f"its derivative {k} {y.ndim}"] = lambda x, s=spline: s(x, 1), AROUND
    cases["no more than inside"] = si.BSpline(*TCK, extrapolate=False), AROUND
    cases["round"] = si.BSpline(*TCK, extrapolate="periodic"), AROUND
    cases["more derivatives than degrees"] = lambda x: si.BSpline(*TCK)(x, 4), INSIDE
    for ext in (0, 1, 3):
        cases[f"splev {ext}"] = lambda x, ext=ext: si.splev(x, TCK, ext=ext), AROUND
        cases[f"its slope {ext}"] = lambda x, ext=ext: si.splev(x, TCK, 1, ext), AROUND
    cases["coefficients are traced"] = (
        lambda c: si.BSpline(TCK[0], c, 3)(AROUND) ** 2, TCK[1].copy())
    cases["fitted"] = si.UnivariateSpline(PLACES, VALUES, s=0.01), AROUND
    cases["through"] = si.InterpolatedUnivariateSpline(PLACES, VALUES, ext=3), AROUND
    for kind in ("linear", "nearest", "nearest-up", "previous", "next", "quadratic", "cubic", 2):
        for y in (VALUES, TABLE):
            name = f"interp1d {kind} {y.ndim}"
            cases[name] = si.interp1d(PLACES, y, kind=kind, axis=0), INSIDE
            cases[f"{name} filled"] = si.interp1d(PLACES, y, kind=kind, axis=0, bounds_error=False,
                                                  fill_value=7.0), AROUND
    cases["lines on"] = si.interp1d(PLACES, VALUES, fill_value="extrapolate"), AROUND
    cases["two fills"] = si.interp1d(PLACES, VALUES, bounds_error=False,
                                     fill_value=(1.0, 2.0)), AROUND
    for method in ("linear", "nearest"):
        for values in (HEIGHTS, VECTORS):
            name = f"grid {method} {values.ndim}"
            cases[name] = si.RegularGridInterpolator(GRID, values, method=method), BOX
            cases[f"{name} on"] = si.RegularGridInterpolator(
                GRID, values, method=method, bounds_error=False, fill_value=None), BEYOND
            cases[f"{name} filled"] = si.RegularGridInterpolator(
                GRID, values, method=method, bounds_error=False, fill_value=3.0), BEYOND
    for method in ("slinear", "cubic", "quintic", "pchip"):
        for values in (WIDE_GRID[1], WIDE_GRID[2]):
            cases[f"grid {method} {values.ndim}"] = si.RegularGridInterpolator(
                WIDE_GRID[0], values, method=method, bounds_error=False, fill_value=None), BEYOND
        solver = {"solver": spsolve} if method in ("cubic", "quintic") else {}
        cases[f"grid {method}, values are traced"] = (
            lambda v, method=method, solver=solver: si.RegularGridInterpolator(
                WIDE_GRID[0], v, method=method, **solver)(BOX), WIDE_GRID[1])
    cases["of two arrays"] = (lambda x: si.RegularGridInterpolator(GRID, HEIGHTS)(
        (x[:, 0], x[:, 1])), BOX)
    cases["one point"] = lambda x: si.RegularGridInterpolator(GRID, HEIGHTS)(x[0]), BOX
    cases["interpn"] = lambda x: si.interpn(GRID, HEIGHTS, x), BOX
    cases["values are traced"] = (
        lambda v: si.RegularGridInterpolator(GRID, v)(BOX) ** 2, HEIGHTS)
    return cases


CASES = _kinds()


def _sum(program: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: np.sum(np.nan_to_num(program(x)) * 1.5)


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives_are_scipys(name: str) -> None:
    program, x = CASES[name]
    with tracejit.config(disable_jit=True, verify=True):
        values = tracejit.jit(program)
        for points in (x, 0.5 * x + 0.5 * np.mean(x, axis=0), x[:3]):
            if points.shape != x.shape and "are traced" in name:
                continue
            expected = program(points)
            np.testing.assert_allclose(values(points), expected, rtol=1e-10, atol=1e-12)
        gradient = tracejit.grad(_sum(program))(x)
    expected = numeric_gradient(_sum(program), [x], 0, 1e-6)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)


def test_coefficients_that_scipys_iteration_leaves_are_refused() -> None:
    with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal, match="solver="):
        tracejit.jit(lambda v: si.interpn(WIDE_GRID[0], v, BOX, method="cubic"))(WIDE_GRID[1])


def test_compiled_programs_are_scipys() -> None:
    def f(x: Any) -> Any:
        return np.sum(si.splev(x[:, 0], TCK) * CASES["grid linear 2"][0](x))

    value, gradient = tracejit.value_and_grad(f)(BOX)
    np.testing.assert_allclose(value, f(BOX), rtol=1e-12)
    np.testing.assert_allclose(gradient, numeric_gradient(f, [BOX], 0, 1e-6), rtol=1e-5, atol=1e-6)


def test_changes_and_bounds_are_seen() -> None:
    grid = si.RegularGridInterpolator(GRID, HEIGHTS.copy())
    spline = si.BSpline(*TCK)
    with tracejit.config(disable_jit=True):
        at_grid, at_spline = tracejit.jit(lambda x: grid(x)), tracejit.jit(lambda x: spline(x))
        at_grid(BOX), at_spline(INSIDE)
        grid.values[1] *= 3.0
        spline.c[2] += 1.0
        np.testing.assert_allclose(at_grid(BOX), grid(BOX), rtol=1e-12)
        np.testing.assert_allclose(at_spline(INSIDE), spline(INSIDE), rtol=1e-10)
        with pytest.raises(ValueError, match="out of bounds in dimension 0"):
            at_grid(BEYOND)
        with pytest.raises(ValueError, match="range"):
            tracejit.jit(lambda x: CASES["interp1d linear 1"][0](x))(AROUND)
        with pytest.raises(ValueError, match="domain"):
            tracejit.jit(lambda x: si.splev(x, TCK, ext=2))(AROUND)


WRONG: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "coefficients are missing": (lambda c: si.BSpline(np.arange(8.0), c, 3)(3.5), np.arange(3.0)),
    "knots are not sorted": (lambda c: si.BSpline(
        np.array([0.0, 0, 0, 0, 2, 1, 4, 4, 4]), c, 3)(0.5), np.arange(5.0)),
    "values are missing": (lambda v: si.interpn(GRID, v, BOX), np.ones((3, 3))),
    "there are more values": (lambda v: si.interpn(GRID, v, BOX), np.ones((4, 5))),
    "points go up and down": (lambda v: si.RegularGridInterpolator(
        (np.array([0.0, 2.0, 1.0, 3.0]), GRID[1]), v)(BOX), HEIGHTS)}


@pytest.mark.parametrize("name", WRONG)
def test_data_that_do_not_fit_are_errors(name: str) -> None:
    program, x = WRONG[name]
    with pytest.raises(ValueError):
        program(x)
    with tracejit.config(disable_jit=True), pytest.raises(ValueError):
        tracejit.jit(program)(x)


def test_points_that_descend_are_an_error_that_says_so() -> None:
    """SciPy flips them; which way they go is data here."""
    with tracejit.config(disable_jit=True), pytest.raises(ValueError, match="flip"):
        tracejit.jit(lambda v: si.interpn((GRID[0][::-1].copy(), GRID[1]), v, BOX))(HEIGHTS)
