"""Interpolation in several variables: SciPy's numbers, and derivatives by differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.interpolate as si
from test_numpy_cases import check_case
from test_pieces import second

import tracejit
from tracejit.errors import NotCaptured, Refusal

RNG = np.random.default_rng(7)
ACROSS, DOWN = np.array([0.0, 0.7, 1.5, 3.0, 4.0, 5.5]), np.array([-1.0, 0.0, 0.4, 1.7, 2.0])
HEIGHTS = RNG.normal(size=(6, 5))
U, V = np.array([0.3, 1.6, 3.2, 5.4]), np.array([-0.8, 0.3, 1.1, 1.9])
POINTS = np.stack(np.meshgrid(np.arange(4.0), np.arange(3.0)), axis=-1).reshape(12, 2)
POINTS, VALUES = 0.3 * (POINTS + RNG.uniform(-0.2, 0.2, size=(12, 2))), RNG.normal(size=12)
VECTORS = RNG.normal(size=(12, 3))
INSIDE = 0.5 * POINTS[:5] + 0.5 * np.mean(POINTS, axis=0)
SURFACE = si.RectBivariateSpline(ACROSS, DOWN, HEIGHTS)
SMOOTH = si.SmoothBivariateSpline(*POINTS.T, VALUES, kx=1, ky=1)
LINES, VECTOR_LINES = si.LinearNDInterpolator(POINTS, VALUES), si.LinearNDInterpolator(
    POINTS, VECTORS, rescale=True)
FILLED = si.LinearNDInterpolator(POINTS, VALUES + 1j, fill_value=2.0)
NEAREST = si.NearestNDInterpolator(POINTS * [1.0, 9.0], VECTORS, rescale=True)
RADIAL = si.RBFInterpolator(POINTS, VECTORS, smoothing=0.1)
KERNELS = ("linear", "thin_plate_spline", "cubic", "quintic", "multiquadric",
           "inverse_multiquadric", "inverse_quadratic", "gaussian")

CASES: dict[str, tuple[Any, ...]] = {
    "points": (lambda u, v: SURFACE.ev(u, v), U, V),
    "points not on a grid": (lambda u, v: SURFACE(u, v, grid=False), U, V),
    "grid": (lambda u, v: SURFACE(u, v), U, V[:3]),
    "slope": (lambda u, v: SURFACE.ev(u, v, dx=1), U, V),
    "slopes": (lambda u, v: SURFACE(u, v, dx=2, dy=1), U, V),
    "outside": (lambda u, v: SURFACE.ev(u - 2.0, v + 1.0), U, V),
    "a point": (lambda u, v: SURFACE.ev(u, v) * 1.0, 1.3, 0.2),
    "pairs": (lambda u, v: SURFACE.ev(u[:, None], v), U, V),
    "rectangle": (lambda a, b: SURFACE.integral(a, 4.2, -3.0, b) * 1.0, 0.4, 1.2),
    "smooth": (lambda u, v: SMOOTH.ev(u, v), INSIDE[:, 0], INSIDE[:, 1]),
    **{f"traced {kx} {ky}": (lambda x, y, z, u, v, kx=kx, ky=ky: si.RectBivariateSpline(
        x, y, z, kx=kx, ky=ky).ev(u, v), ACROSS, DOWN, HEIGHTS, U, V)
       for kx, ky in ((3, 3), (1, 2), (4, 1))},
    "traced grid": (lambda z, u, v: si.RectBivariateSpline(ACROSS, DOWN, z)(u, v, dy=1), HEIGHTS,
                    U, V),
    "traced integral": (lambda z, a: si.RectBivariateSpline(ACROSS, DOWN, z).integral(
        a, 2.0, 0.0, 1.0) * 1.0, HEIGHTS, 0.3),
    "coefficients": (lambda z: si.RectBivariateSpline(ACROSS, DOWN, z).get_coeffs(), HEIGHTS),
    "simplices": (lambda p: LINES(p), INSIDE), "simplices of vectors": (
        lambda u, v: VECTOR_LINES(u, v), INSIDE[:, 0], INSIDE[:, 1]),
    "simplices filled": (lambda p: FILLED(2.0 * p), INSIDE),
    "a tuple": (lambda u, v: LINES((u, v)), INSIDE[:, 0], INSIDE[:, 1]),
    "one point": (lambda p: LINES(p), INSIDE[0]),
    "simplices of traced values": (lambda z, p: si.LinearNDInterpolator(POINTS, z)(p), VALUES,
                                   INSIDE),
    "nearest": (lambda p: NEAREST(p), INSIDE),
    "nearest of traced values": (lambda z: si.NearestNDInterpolator(POINTS, z)(INSIDE), VALUES),
    "nearest of traced points": (lambda p: si.NearestNDInterpolator(p, VALUES, rescale=True)(
        INSIDE), POINTS),
    **{f"griddata {method}": (lambda z, method=method: si.griddata(
        POINTS, z, (INSIDE[:, 0], INSIDE[:, 1]), method=method, fill_value=0.5), VALUES)
       for method in ("linear", "nearest")},
    **{f"griddata {method} on a line": (lambda z, q, method=method: si.griddata(
        ACROSS[::-1], z, q, method=method), HEIGHTS[:, 0], U)
       for method in ("linear", "nearest", "cubic")},
    "radial": (lambda p: RADIAL(p), INSIDE),
    **{f"radial {kernel}": (lambda y, d, p, kernel=kernel: si.RBFInterpolator(
        y, d, kernel=kernel, epsilon=4.0)(p), POINTS, VALUES, INSIDE) for kernel in KERNELS},
    "radial at data": (lambda d: si.RBFInterpolator(POINTS, d, smoothing=0.5)(POINTS), VECTORS),
    "radial's smoothing": (lambda d, s: si.RBFInterpolator(POINTS, d, smoothing=s)(INSIDE),
                           VALUES, np.linspace(0.1, 0.9, 12)),
    "radial without polynomial": (lambda y, d: si.RBFInterpolator(
        y, d, kernel="gaussian", epsilon=5.0, degree=-1)(INSIDE), POINTS, VALUES)}


@pytest.mark.parametrize("name", CASES)
def test_values_are_scipys_and_derivatives_differences(name: str) -> None:
    function, *args = CASES[name]
    with tracejit.config(disable_jit=True):
        check_case(function, tuple(args))


@pytest.mark.parametrize("name", ["grid", "coefficients", "simplices of traced values", "radial",
                                  "radial gaussian"])
def test_second_derivatives_are_differences_of_the_first(name: str) -> None:
    function, *args = CASES[name]
    with tracejit.config(disable_jit=True):
        check_case(second(function, len(args)), tuple(args))


def test_changes_of_objects_are_seen() -> None:
    class Held:
        linear = si.LinearNDInterpolator(POINTS, VALUES)
        radial = si.RBFInterpolator(POINTS, VALUES)
        surface = si.RectBivariateSpline(ACROSS, DOWN, HEIGHTS)

    def program(p: Any) -> Any:
        return Held.linear(p), Held.radial(p), Held.surface.ev(p[:, 0], p[:, 1])

    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(program)
        for change in (lambda: None, lambda: setattr(Held, "linear", si.LinearNDInterpolator(
            POINTS[:9], VALUES[:9], rescale=True)), lambda: setattr(
                Held, "radial", si.RBFInterpolator(POINTS, VALUES, kernel="quintic")),
            lambda: setattr(Held, "surface", si.RectBivariateSpline(
                ACROSS, DOWN, HEIGHTS, kx=1, ky=2)), lambda: Held.radial._coeffs.fill(0.25)):
            change()
            for ours, theirs in zip(compiled(INSIDE), program(INSIDE), strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_equally_near_points_are_refused_in_the_run() -> None:
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    program = tracejit.jit(lambda z, p: si.NearestNDInterpolator(square, z)(p))
    with tracejit.config(disable_jit=True):
        with pytest.raises(NotCaptured, match="equally near"):
            program(np.arange(4.0), np.array([[0.5, 0.2]]))
        assert program(np.ones(4), np.array([[0.5, 0.2]])) == 1.0
        with pytest.raises(ValueError, match="finite"):
            program(np.arange(4.0), np.array([[np.nan, 0.2]]))
        np.testing.assert_array_equal(tracejit.jit(lambda p: LINES(p))(
            np.array([[np.nan, 0.5], [9.0, 9.0]])), [np.nan, np.nan])


@pytest.mark.parametrize(("program", "x", "words"), [
    (lambda p: si.LinearNDInterpolator(p, VALUES)(INSIDE), POINTS, "triangulation"),
    (lambda p: si.CloughTocher2DInterpolator(p, VALUES)(INSIDE), POINTS, "CloughTocher"),
    (lambda z: si.RBFInterpolator(POINTS, z, neighbors=4)(INSIDE), VALUES, "neighbors="),
    (lambda z: si.RectBivariateSpline(ACROSS, DOWN, z, s=0.5).ev(1.0, 1.0), HEIGHTS, "smoothing"),
    (lambda p: NEAREST(p, k=2), INSIDE, "nearest point")])
def test_what_is_not_captured_is_refused(program: Any, x: Any, words: str) -> None:
    with pytest.raises(Refusal, match=words):
        tracejit.jit(program)(x)


@pytest.mark.parametrize(("program", "x"), [
    (lambda z: si.RectBivariateSpline(ACROSS, DOWN, z)(1.0, 1.0), HEIGHTS[:5]),
    (lambda x: si.RectBivariateSpline(x, DOWN, HEIGHTS)(1.0, 1.0), ACROSS[::-1].copy()),
    (lambda u: SURFACE(u, V), U[::-1].copy()), (lambda p: RADIAL(p), INSIDE[0]),
    (lambda p: LINES(p), RNG.normal(size=(2, 3))), (lambda p: RADIAL(p), RNG.normal(size=(2, 3))),
    (lambda z: si.LinearNDInterpolator(POINTS, z)(INSIDE), VALUES[:4]),
    (lambda z: si.RBFInterpolator(POINTS, z)(INSIDE), VALUES[:4])])
def test_data_that_do_not_fit_are_errors(program: Any, x: Any) -> None:
    with pytest.raises(ValueError):
        program(x)
    with tracejit.config(disable_jit=True), pytest.raises(ValueError):
        tracejit.jit(program)(x)
