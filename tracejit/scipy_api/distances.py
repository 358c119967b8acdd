"""Distances of `scipy.spatial.distance`, rules of `scipy.integrate`, Rosenbrock's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.elementwise import as_python_number, as_tracer
from tracejit.numpy_api.special_kinds import double_of_real
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import FUNCTIONS, scipy_captures
from tracejit.trace.ground.modules import is_scipy_since
from tracejit.trace.values.equations import cast, same_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []


def _wide(x: object) -> Any:
    given = as_tracer(x)
    return given if given.dtype.kind == "f" else double_of_real(
        given, "a distance of scipy.spatial")


def _inexact(x: object) -> Any:
    given = as_tracer(x)
    return given if given.dtype.kind in "fc" else cast(given, np.float64)


def _vectors(*given: object, of_one_length: bool = False) -> list[Any]:
    """Return vectors; some distances do not repeat the one element of another vector."""
    found = [_wide(x) for x in given]
    if any(len(x.dims) != 1 for x in found):
        raise ValueError("Input vector should be 1-D.")
    if of_one_length and not all(same_dim(x.dims[0], found[0].dims[0]) for x in found[1:]):
        raise ValueError("vectors of different lengths have no distance")
    return found


def _euclidean(d: np.ndarray) -> Any:
    return np.sqrt(np.sum(d * d, axis=-1))


_BY_DIFFERENCES: dict[str, Callable[..., Any]] = {
    "euclidean": _euclidean, "sqeuclidean": lambda d: np.sum(d * d, axis=-1),
    "cityblock": lambda d: np.sum(np.abs(d), axis=-1),
    "chebyshev": lambda d: np.max(np.abs(d), axis=-1)}


def _cosine(x: np.ndarray, y: np.ndarray) -> Any:
    sizes = np.sqrt(np.sum(x * x, axis=-1) * np.sum(y * y, axis=-1))
    return 1.0 - np.sum(x * y, axis=-1) / sizes


def _correlation(x: np.ndarray, y: np.ndarray) -> Any:
    return _cosine(x - np.mean(x, axis=-1, keepdims=True), y - np.mean(y, axis=-1, keepdims=True))


def _minkowski(x: np.ndarray, y: np.ndarray, p: float = 2) -> Any:
    return np.sum(np.abs(x - y) ** p, axis=-1) ** (1.0 / p)


def _mahalanobis(x: np.ndarray, y: np.ndarray, VI: object) -> Any:
    d = x - y
    return np.sqrt(np.sum((d @ as_tracer(VI)) * d, axis=-1))


def _seuclidean(x: np.ndarray, y: np.ndarray, V: object) -> Any:
    d = x - y
    return np.sqrt(np.sum(d * d / as_tracer(V), axis=-1))


def _canberra(x: np.ndarray, y: np.ndarray) -> Any:
    low = np.abs(x) + np.abs(y)
    return np.sum(np.where(low == 0.0, 0.0, np.abs(x - y) / np.where(low == 0.0, 1.0, low)),
                  axis=-1)


def _braycurtis(x: np.ndarray, y: np.ndarray) -> Any:
    return np.sum(np.abs(x - y), axis=-1) / np.sum(np.abs(x + y), axis=-1)


METRICS: dict[str, Callable[..., Any]] = {
    **{name: lambda x, y, f=f: f(x - y) for name, f in _BY_DIFFERENCES.items()},
    "cosine": _cosine, "correlation": _correlation, "minkowski": _minkowski,
    "canberra": _canberra, "braycurtis": _braycurtis}
_PLAIN = ("euclidean", "minkowski")
"""The functions that return a Python float before SciPy 1.18."""
_WITH_MATRIX: dict[str, Callable[..., Any]] = {
    "mahalanobis": _mahalanobis, "seuclidean": _seuclidean}


def _of_two(name: str) -> Callable[..., Any]:
    function = METRICS[name]

    def capture(u: object, v: object) -> Any:
        x, y = _vectors(u, v, of_one_length=name in ("cosine", "correlation"))
        if name == "euclidean":
            _require_finite(x - y)
        elif name == "canberra":  # SciPy leaves out NaN
            known = ~(np.isnan(x) | np.isnan(y))
            x, y = np.where(known, x, 0.0), np.where(known, y, 0.0)
        return _as_scipys(function(x, y)) if name in _PLAIN else function(x, y)

    def minkowski(u: object, v: object, p: object = 2) -> Any:
        x, y = _vectors(u, v)
        _require_finite(x - y)
        found = function(x, y, p)
        return _as_scipys(found) if isinstance(p, (int, float)) and p == 2 else found

    return minkowski if name == "minkowski" else capture


def _as_scipys(x: object) -> Any:
    """Return a distance of `euclidean`, a float of Python's before SciPy 1.18."""
    return x if is_scipy_since(18) else as_python_number(x)


def _require_finite(x: np.ndarray) -> None:
    require(np.all(np.isfinite(x)), ValueError, "array must not contain infs or NaNs")


def _metric(metric: object, kwargs: dict[str, object]) -> Callable[..., Any]:
    found = {**METRICS, **_WITH_MATRIX}.get(metric) if isinstance(metric, str) else None
    needs = {"mahalanobis": "VI", "seuclidean": "V"}.get(str(metric))
    if found is None or (needs is not None and needs not in kwargs):
        raise refuse(f"distances by the metric {metric!r} as it is called here cannot be captured",
                     f"Those by {', '.join(sorted(METRICS))} can, and by mahalanobis with VI= and "
                     "seuclidean with V=")
    return lambda x, y: found(x, y, **kwargs)


def cdist(XA: object, XB: object, metric: object = "euclidean", *, out: None = None,
          **kwargs: Any) -> Any:
    """Return the distances between the rows of two matrices."""
    if out is not None:
        raise refuse("scipy.spatial.distance.cdist with out= cannot be captured", "Leave it out")
    x, y = _wide(XA), _wide(XB)
    if len(x.dims) != 2 or len(y.dims) != 2:
        raise ValueError("XA and XB must be 2-dimensional arrays.")
    if not same_dim(x.dims[1], y.dims[1]):
        raise ValueError("XA and XB must have the same number of columns (i.e. feature dimension.)")
    return _metric(metric, kwargs)(x[:, None, :], y[None, :, :])


def pdist(X: object, metric: object = "euclidean", *, out: None = None, **kwargs: Any) -> Any:
    """Return the distances between the rows of a matrix, each pair once."""
    if out is not None:
        raise refuse("scipy.spatial.distance.pdist with out= cannot be captured", "Leave it out")
    x = cast(_wide(X), np.float64)
    if len(x.dims) != 2:
        raise ValueError(f"A 2-dimensional array must be passed. (Shape was {x.shape}).")
    i, j = FUNCTIONS[np.triu_indices](x.shape[0], 1)
    return _metric(metric, kwargs)(x[i], x[j])


# --- rules of integration -----------------------------------------------------------------------


def simpson(y: object, x: object = None, *, dx: object = 1.0, axis: int = -1) -> Any:
    """Return an integral by Simpson's rule, of an odd number of points."""
    values = _inexact(y)
    moved: Any = np.moveaxis(values, normalize_axis(axis, len(values.dims)), -1)
    n = as_tracer(moved).dims[-1]
    odd = need_int(n, "the number of points of Simpson's rule") % 2
    if not odd:
        raise refuse("scipy.integrate.simpson of an even number of points cannot be captured",
                     "Use an odd number, or np.trapezoid")
    if x is None:
        weights: Any = moved[..., :-2:2] + 4.0 * moved[..., 1:-1:2] + moved[..., 2::2]
        return np.sum(weights, axis=-1) * dx / 3.0
    h: Any = np.diff(_wide(x))
    a, b = h[..., ::2], h[..., 1::2]
    whole = a + b
    parts = whole / 6.0 * (moved[..., :-2:2] * (2.0 - b / a) + moved[..., 1:-1:2] * (
        whole * whole / (a * b)) + moved[..., 2::2] * (2.0 - a / b))
    return np.sum(parts, axis=-1)


def cumulative_trapezoid(y: object, x: object = None, dx: object = 1.0, axis: int = -1,
                         initial: object = None) -> Any:
    """Return running integrals by the trapezoidal rule."""
    values = _inexact(y)
    moved: Any = np.moveaxis(values, normalize_axis(axis, len(values.dims)), -1)
    h: Any = dx if x is None else np.diff(_wide(x))
    found: Any = np.cumsum(0.5 * h * (moved[..., 1:] + moved[..., :-1]), axis=-1)
    if initial is not None:
        found = np.concatenate([0.0 * moved[..., :1] + initial, found], axis=-1)
    return np.moveaxis(found, -1, axis)


def trapezoid(y: object, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Return an integral by the trapezoidal rule."""
    return np.trapezoid(as_tracer(y), x, dx, axis)


def rosen(x: object) -> Any:
    """Return Rosenbrock's function."""
    v: Any = as_tracer(x)
    return np.sum(100.0 * (v[1:] - v[:-1] ** 2.0) ** 2.0 + (1 - v[:-1]) ** 2.0, axis=0)


def rosen_der(x: object) -> Any:
    """Return the gradient of Rosenbrock's function."""
    v: Any = as_tracer(x)
    gap = 200.0 * (v[1:] - v[:-1] ** 2)
    zero = 0.0 * gap[:1]
    return np.concatenate([-2.0 * v[:-1] * gap - 2.0 * (1.0 - v[:-1]), zero]) + np.concatenate(
        [zero, gap])


scipy_captures("scipy.spatial.distance", {
    **{name: _of_two(name) for name in METRICS},
    "mahalanobis": lambda u, v, VI: _mahalanobis(_wide(u), _wide(v), VI),
    "seuclidean": lambda u, v, V: _as_scipys(_seuclidean(*_vectors(
        u, v, V, of_one_length=True))),
    "cdist": cdist, "pdist": pdist})
scipy_captures("scipy.integrate", {
    "trapezoid": trapezoid, "simpson": simpson, "cumulative_trapezoid": cumulative_trapezoid})
scipy_captures("scipy.optimize", {"rosen": rosen, "rosen_der": rosen_der})
