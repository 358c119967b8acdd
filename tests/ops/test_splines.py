"""Splines and polynomials through traced points: SciPy's numbers, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.interpolate as si
from test_numpy_cases import check_case

import tracejit
from tracejit.errors import Refusal

X = np.array([0.0, 1.0, 2.0, 3.5, 5.0, 5.6, 7.0])
Y = np.array([1.0, 2.0, 0.0, 1.0, 3.0, 2.5, 1.0])
TABLE = np.random.default_rng(0).standard_normal((7, 2))
AT = np.array([0.31, 1.21, 4.41, 6.91, -0.4, 7.5])
MIXED = np.random.default_rng(3).permutation(7)
KINDS = ("linear", "slinear", "quadratic", "cubic", "previous", "next", "nearest", "nearest-up",
         "zero", 2)

CASES: dict[str, tuple[Any, ...]] = {
    **{f"of degree {k}": (lambda x, y, q, k=k: si.make_interp_spline(x, y, k)(q), X, Y, AT)
       for k in (1, 2, 3, 4, 5)},
    **{f"slope of degree {k}": (lambda x, y, q, k=k: si.make_interp_spline(x, y, k=k)(q, 1), X, Y,
                                AT) for k in (2, 3)},
    "of vectors": (lambda y: si.make_interp_spline(X, y)(AT), TABLE),
    "parts": (lambda x, y: si.make_interp_spline(x, y).tck[:2], X, Y),
    "derivative": (lambda x, y, q: si.make_interp_spline(x, y).derivative()(q), X, Y, AT),
    "antiderivative": (lambda x, y, q: si.make_interp_spline(x, y).antiderivative()(q), X, Y, AT),
    "integral": (lambda x, y, a: si.make_interp_spline(x, y).integrate(a, 3.0) * 1.0, X, Y, 0.4),
    **{f"FITPACK's of degree {k}": (lambda x, y, q, k=k: si.splev(q, si.splrep(x, y, k=k)), X, Y,
                                    AT) for k in (1, 2, 3, 5)},
    "FITPACK's coefficients": (lambda x, y: si.splrep(x, y)[1], X, Y),
    "univariate": (lambda x, y, q: si.InterpolatedUnivariateSpline(x, y)(q), X, Y, AT),
    "its integral": (lambda x, y, a: si.InterpolatedUnivariateSpline(x, y, k=2).integral(a, 9.0)
                     * 1.0, X, Y, -0.4),
    "its derivative": (lambda y, q: si.InterpolatedUnivariateSpline(X, y).derivative()(q), Y, AT),
    "its knots": (lambda x, y: si.InterpolatedUnivariateSpline(x, y).get_knots(), X, Y),
    "its coefficients": (lambda y: si.InterpolatedUnivariateSpline(X, y).get_coeffs(), Y),
    "not smoothed": (lambda y, q: si.UnivariateSpline(X, y, s=0)(q), Y, AT),
    "Hermite's": (lambda x, y, d, q: si.CubicHermiteSpline(x, y, d)(q), X, Y, Y[::-1], AT),
    "barycentric": (lambda x, y, q: si.BarycentricInterpolator(x, y)(q), X, Y, AT[:4]),
    "barycentric at a node": (lambda y: si.BarycentricInterpolator(X, y)(X), Y),
    "Krogh's": (lambda y, q: si.KroghInterpolator(X, y)(q), TABLE, AT[:4].reshape(2, 2)),
    "Krogh's at once": (lambda y, q: si.krogh_interpolate(X, y, q), Y, AT[:4]),
    "barycentric at once": (lambda y, q: si.barycentric_interpolate(X, y, q), Y, AT[:4]),
    "monotone at once": (lambda x, y, q: si.pchip_interpolate(x, y, q, der=1), X, Y, AT[:4]),
    "Lagrange's": (lambda x, y, q: si.lagrange(x, y)(q), X[:4], Y[:4], AT[:3]),
    "Lagrange's coefficients": (lambda x, y: si.lagrange(x, y).coef, X[:4], Y[:4]),
    **{f"interp1d {kind}": (lambda x, y, q, kind=kind: si.interp1d(x[MIXED], y[MIXED], kind=kind)(
        q), X, Y, AT[:4]) for kind in KINDS},
    **{f"interp1d {kind} filled": (lambda x, y, q, kind=kind: si.interp1d(
        x, y, kind=kind, bounds_error=False, fill_value=(1.5, 2.5))(q), X, Y, AT)
       for kind in KINDS},
    **{f"interp1d {kind} along an axis": (lambda y, q, kind=kind: si.interp1d(X, y, kind=kind)(q),
                                          TABLE.T, AT[:4].reshape(2, 2)) for kind in KINDS},
    "interp1d goes on": (lambda y, q: si.interp1d(X, y, "cubic", axis=0, fill_value="extrapolate")(
        q), TABLE, AT),
}


@pytest.mark.parametrize("name", CASES)
def test_values_are_scipys_and_derivatives_differences(name: str) -> None:
    function, *args = CASES[name]
    with tracejit.config(disable_jit=True):
        check_case(function, tuple(args))


@pytest.mark.parametrize(("f", "words"), [
    (lambda y: si.make_interp_spline(X, y, bc_type="natural")(1.0), "bc_type="),
    (lambda y: si.splrep(X, y, s=0.5)[1][0], "smoothing"),
    (lambda y: si.UnivariateSpline(X, y)(1.0), "smoothing"),
    (lambda y: si.make_interp_spline(X, y).insert_knot(0.5)(1.0), "insert_knot"),
    (lambda y: si.InterpolatedUnivariateSpline(X, y).roots()[0], "roots")])
def test_what_is_not_captured_is_refused(f: Any, words: str) -> None:
    with pytest.raises(Refusal, match=words):
        tracejit.grad(f)(Y)


def test_points_that_are_not_in_order_are_scipys_error() -> None:
    for f in (lambda x: si.make_interp_spline(x, Y)(1.0),):
        with tracejit.config(disable_jit=True), pytest.raises(ValueError):
            tracejit.jit(f)(X[::-1].copy())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fill", [{}, {"fill_value": 0.0}, {"fill_value": (1.0, 2.0)},
                                  {"fill_value": "extrapolate"}, {"bounds_error": False},
                                  {"fill_value": 3.0, "bounds_error": False},
                                  {"fill_value": "extrapolate", "bounds_error": False},
                                  {"fill_value": "extrapolate", "bounds_error": True},
                                  {"fill_value": 1.0, "bounds_error": True}])
def test_points_outside_are_scipys(kind: Any, fill: dict[str, Any]) -> None:
    def program(y: Any, q: Any) -> Any:
        return si.interp1d(X, y, kind=kind, **fill)(q)

    with tracejit.config(disable_jit=True):
        for at in (AT, AT[:4], np.array([7.5, 2.0])):
            try:
                expected = program(Y, at)
            except ValueError:
                with pytest.raises(ValueError):
                    tracejit.jit(program)(Y, at)
            else:
                np.testing.assert_allclose(tracejit.jit(program)(Y, at), expected, rtol=1e-12,
                                           atol=1e-14)
