"""Cases for interpolators and fits of `scipy.interpolate`: a function and arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

__all__ = ["INTERPOLATOR_CASES"]

RNG = np.random.default_rng(9)
X = np.array([0.0, 0.4, 1.1, 1.5, 2.4, 3.0, 3.7, 4.1])
Y, WIDE = RNG.standard_normal(8), RNG.standard_normal((8, 2))
AT = np.array([0.2, 1.3, 2.0, 3.9])
WEIGHTS = np.array([0.7, 1.2, 0.9, 1.0, 0.8, 1.3, 1.1, 0.6])
INNER = np.array([1.2, 2.6])
KNOTS = np.concatenate([np.zeros(4), INNER, np.full(4, 4.1)])
TCK = (KNOTS, np.append(RNG.standard_normal(6), np.zeros(4)), 3)
TABLE = RNG.standard_normal((6, 6))
SERIES = np.array([1.0, 0.8, 0.5, 0.3, 0.1])
CLOUD = RNG.uniform(0.0, 1.0, (7, 2))
PIECES = RNG.standard_normal((3, 2, 2, 3))
EDGES = (np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.4, 0.7, 1.2]))
POINTS = np.array([[0.2, 0.3], [0.7, 0.9], [0.6, 0.5]])


def _lsq(x: Any, y: Any, t: Any, w: Any, at: Any) -> Any:
    knots = np.concatenate([np.zeros(4), t, np.full(4, 4.2)])
    return interpolate.make_lsq_spline(x, y, knots, w=w)(at)


def _inserted(*args: Any, **words: Any) -> Any:
    """Return knots and the coefficients that count: SciPy's others hold whatever was there."""
    t, c, k = interpolate.insert(*args, **words)
    return t, c[:-k - 1]


_CASES: dict[str, list[tuple[Any, ...]]] = {
    "make_lsq_spline": [(_lsq, X + 0.05, Y, INNER, WEIGHTS, AT), (lambda y: interpolate
                        .make_lsq_spline(X, y, KNOTS)(AT, 1), WIDE)],
    "LSQUnivariateSpline": [(lambda x, y, t, at: interpolate.LSQUnivariateSpline(x, y, t)(at), X, Y,
                             INNER, AT), (lambda y, w: interpolate.LSQUnivariateSpline(
                                 X, y, INNER, w, k=2).integral(0.3, 2.0), Y, WEIGHTS)],
    "make_smoothing_spline": [
        (lambda x, y, w, lam: interpolate.make_smoothing_spline(x, y, w, lam)(AT), X, Y, WEIGHTS,
         0.3), (lambda y: interpolate.make_smoothing_spline(X, y, lam=0.1)(AT, 1), WIDE)],
    "spalde": [(lambda x, t, c: interpolate.spalde(x, (t, c, 3)), 1.7, KNOTS, TCK[1]),
               (lambda x, c: interpolate.spalde(x, (KNOTS, c, 3)), AT, TCK[1])],
    "insert": [(lambda x, c: _inserted(x, (KNOTS, c, 3)), 2.2, TCK[1]),
               (lambda x, c: _inserted(x, (KNOTS, c, 3), m=2), 0.7, TCK[1])],
    "bisplev": [(lambda c, x, y: interpolate.bisplev(x, y, (KNOTS, KNOTS, c, 3, 3)), TABLE.ravel(),
                 AT, AT[1:]), (lambda c, x, y: interpolate.bisplev(
                     x, y, (KNOTS, KNOTS, c, 3, 3), dx=1), TABLE.ravel(), 0.7, 1.9)],
    "pade": [(lambda a, x: [p(x) for p in interpolate.pade(a, 2)], SERIES, 0.3),
             (lambda a, x: [p(x) for p in interpolate.pade(a, 1, 2)], SERIES, AT)],
    "FloaterHormannInterpolator": [
        (lambda x, y, at: interpolate.FloaterHormannInterpolator(x, y)(at), X, Y, AT),
        (lambda y, at: interpolate.FloaterHormannInterpolator(X, y, d=1)(at), WIDE, AT),
        (lambda y: interpolate.FloaterHormannInterpolator(X, y, d=0)(X), Y)],
    "Rbf": [(lambda x, y, d, at, f=f: interpolate.Rbf(x, y, d, function=f)(at[:, 0], at[:, 1]),
             CLOUD[:, 0], CLOUD[:, 1], Y[:7], POINTS)
            for f in ("multiquadric", "inverse", "gaussian", "linear", "cubic", "quintic",
                      "thin_plate")] + [
        (lambda d, e, s: interpolate.Rbf(*CLOUD.T, d, epsilon=e, smooth=s)(*POINTS.T), Y[:7], 0.4,
         0.1)],
    "NdBSpline": [(lambda c, at: interpolate.NdBSpline((KNOTS, KNOTS), c, 3)(at), TABLE,
                   POINTS + 1.0), (lambda t, c: interpolate.NdBSpline((np.concatenate([
                       KNOTS[:4], t, KNOTS[6:]]), KNOTS), c, (3, 3))(POINTS, nu=(1, 0)), INNER,
                       TABLE)],
    "NdPPoly": [(lambda c, at: interpolate.NdPPoly(c, EDGES)(at), PIECES, POINTS),
                (lambda c, x: interpolate.NdPPoly(c, (x, EDGES[1]))(POINTS), PIECES, EDGES[0])],
}
INTERPOLATOR_CASES = {f"scipy.interpolate.{name}": cases for name, cases in _CASES.items()}
