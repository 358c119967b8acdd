"""Distances of `scipy.spatial.distance`, and Rosenbrock's function."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.elementwise import as_inexact, as_python_number, as_tracer
from tracejit.numpy_api.finite import require_finite
from tracejit.numpy_api.matrices import vecdot
from tracejit.numpy_api.norms import norm_of, within
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import FOREIGN, FUNCTIONS, scipy_captures
from tracejit.trace.ground.modules import is_scipy_since
from tracejit.trace.values.equations import cast, dims_of, same_dim
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


def _real(x: object) -> Any:
    given = as_tracer(x)
    if given.dtype.kind == "c":
        raise refuse("a distance of scipy.spatial of complex numbers cannot be captured",
                     "Use their real and imaginary parts", "TJ206")
    return given


def _vectors(*given: object, of_one_length: type[Exception] | None = None) -> list[Any]:
    """Return vectors; some distances do not repeat the one element of another vector."""
    found = [_real(x) for x in given]
    if any(len(x.dims) != 1 for x in found):
        raise ValueError("Input vector should be 1-D.")
    if of_one_length is not None and not all(
            same_dim(x.dims[0], found[0].dims[0]) for x in found[1:]):
        raise of_one_length("vectors of different lengths have no distance")
    return found


# Of vectors and of rows: along the last axis, in the dtype that the numbers have.


def _cosine(x: np.ndarray, y: np.ndarray) -> Any:
    root = FUNCTIONS[math.sqrt] if len(dims_of(x)) == 1 else np.sqrt
    sizes = root(vecdot(x, x) * vecdot(y, y))
    return within(1.0 - vecdot(x, y) / sizes, 0.0, 2.0)


def _correlation(x: np.ndarray, y: np.ndarray) -> Any:
    return _cosine(x - np.mean(x, axis=-1, keepdims=True), y - np.mean(y, axis=-1, keepdims=True))


def _minkowski(x: np.ndarray, y: np.ndarray, p: float = 2, w: object = None) -> Any:
    if isinstance(p, TracedOperand):
        require(p < np.inf, NotCaptured, "a distance of scipy.spatial whose p only the run knows "
                "is of infinity. Write np.inf in the function")
    elif p <= 0:
        raise refuse("scipy.spatial.distance of a p that is not positive cannot be captured",
                     "Use p > 0", "TJ213")
    if w is not None:
        if not isinstance(p, TracedOperand) and p == math.inf:
            return np.max(np.where(_weights(w) > 0.0, np.abs(x - y), 0.0), axis=-1)
        total: Any = np.sum(np.abs(x - y) ** p * _weights(w), axis=-1)
        same = total == 0.0
        return np.where(same, 0.0, np.where(same, 1.0, total) ** (1.0 / p))
    if isinstance(p, TracedOperand):
        return np.sum(np.abs(x - y) ** p, axis=-1) ** (1.0 / p)
    return np.linalg.norm(x - y, p, axis=-1)


def _weights(w: object) -> Any:
    weights: Any = cast(as_tracer(w), np.float64)
    require(np.all(weights >= 0.0), ValueError, "Input weights should be all non-negative")
    return weights


def _sqeuclidean(x: np.ndarray, y: np.ndarray, w: object = None) -> Any:
    return vecdot(x - y, x - y if w is None else (x - y) * _weights(w))


def _cityblock(x: np.ndarray, y: np.ndarray, w: object = None) -> Any:
    away = np.abs(x - y)
    return np.sum(away if w is None else away * _weights(w), axis=-1)


def _mahalanobis(x: np.ndarray, y: np.ndarray, VI: object) -> Any:
    d = x - y
    return np.sqrt(vecdot(d @ as_tracer(VI), d))


def _seuclidean(x: np.ndarray, y: np.ndarray, V: object) -> Any:
    return np.linalg.norm(np.sqrt(1.0 / cast(as_tracer(V), np.float64)) * (x - y), axis=-1)


def _chebyshev(x: np.ndarray, y: np.ndarray) -> Any:
    """Return the largest differences as C finds them: a NaN is never larger."""
    away = np.abs(x - y)
    return np.max(np.where(np.isnan(away), 0.0, away), axis=-1, initial=0.0)


def _canberra(x: np.ndarray, y: np.ndarray) -> Any:
    low = np.abs(x) + np.abs(y)
    return np.sum(np.where(low == 0.0, 0.0, np.abs(x - y) / np.where(low == 0.0, 1.0, low)),
                  axis=-1)


def _braycurtis(x: np.ndarray, y: np.ndarray) -> Any:
    return np.sum(np.abs(x - y), axis=-1) / np.sum(np.abs(x + y), axis=-1)


METRICS: dict[str, Callable[..., Any]] = {
    "euclidean": lambda x, y, w=None: _minkowski(x, y, 2, w), "sqeuclidean": _sqeuclidean,
    "cityblock": _cityblock, "chebyshev": _chebyshev,
    "cosine": _cosine, "correlation": _correlation, "minkowski": _minkowski,
    "canberra": _canberra, "braycurtis": _braycurtis}
_WITH_MATRIX: dict[str, Callable[..., Any]] = {
    "mahalanobis": _mahalanobis, "seuclidean": _seuclidean}


def _doubles(*vectors: object) -> list[Tracer]:
    return [cast(x, np.float64) for x in vectors]


def _as_floats(x: object, y: object) -> tuple[object, ...]:
    return as_inexact(x), as_inexact(y)


def _known(x: np.ndarray, y: np.ndarray) -> Any:
    """Return vectors with 0 where SciPy leaves out a quotient, which is NaN."""
    other: Any = cast(y, np.float64)
    known = np.abs(x) + np.abs(other) < np.inf
    return np.where(known, x, 0.0), np.where(known, other, 0.0)


def _of_two(name: str, prepared: Callable[..., tuple[object, ...]] = lambda *xs: xs,
            same: type[Exception] | None = None) -> Callable[..., Any]:
    """Return the distance of two vectors: `prepared` casts them as SciPy does."""
    def capture(u: object, v: object) -> Any:
        return METRICS[name](*prepared(*_vectors(u, v, of_one_length=same)))

    return capture


def minkowski(u: object, v: object, p: float = 2) -> Any:
    """Return the norm of a difference: a float of Python's before SciPy 1.18, if p is 2."""
    if not isinstance(p, TracedOperand) and p <= 0:
        raise ValueError("p must be greater than 0")
    x, y = _vectors(u, v)
    away = as_tracer(x - y)
    require_finite(away)
    if isinstance(p, TracedOperand):
        require(p > 0.0, ValueError, "p must be greater than 0")
        return _minkowski(x, y, p)
    found = norm_of(away, p)
    is_pythons = away.dtype.kind == "f" and p == 2 and not is_scipy_since(18)
    return as_python_number(found) if is_pythons else found


def _euclidean(u: object, v: object) -> Any:
    return minkowski(u, v)


def _chebyshev_of_two(u: object, v: object) -> Any:
    """Return the largest difference as Python's `max` finds it: a NaN is no larger."""
    x, y = _vectors(u, v)
    away: Any = np.abs(x - y)
    if away.dtype.kind != "f":
        return np.max(away)
    first = np.isnan(away[0])
    return np.where(first, np.nan, np.nanmax(np.where(first, 0, away)))[()]


def _seuclidean_of_two(u: object, v: object, V: object) -> Any:
    x, y, variances = _vectors(u, v, V, of_one_length=TypeError)
    weighted = np.sqrt(1.0 / cast(variances, np.float64)) * (x - y)
    return minkowski(weighted, np.zeros(1))


def _metric(metric: object, kwargs: dict[str, object]) -> Callable[..., Any]:
    found = {**METRICS, **_WITH_MATRIX}.get(metric) if isinstance(metric, str) else None
    needs = {"mahalanobis": "VI", "seuclidean": "V"}.get(str(metric))
    if found is None or (needs is not None and needs not in kwargs) or (
            {*kwargs} - {*inspect.signature(found).parameters}):
        raise refuse(f"distances by the metric {metric!r} as it is called here cannot be captured",
                     f"Those by {', '.join(sorted(METRICS))} can, and by mahalanobis with VI= and "
                     "seuclidean with V=", "TJ203")
    return lambda x, y: found(x, y, **kwargs)


def cdist(XA: object, XB: object, metric: object = "euclidean", *, out: None = None,
          **kwargs: Any) -> Any:
    """Return the distances between the rows of two matrices."""
    if out is not None:
        raise refuse("scipy.spatial.distance.cdist with out= cannot be captured", "Leave it out",
                     "TJ203")
    x, y = _doubles(_real(XA), _real(XB))
    if len(x.dims) != 2 or len(y.dims) != 2:
        raise ValueError("XA and XB must be 2-dimensional arrays.")
    if not same_dim(x.dims[1], y.dims[1]):
        raise ValueError("XA and XB must have the same number of columns (i.e. feature dimension.)")
    return _metric(metric, kwargs)(x[:, None, :], y[None, :, :])


def pdist(X: object, metric: object = "euclidean", *, out: None = None, **kwargs: Any) -> Any:
    """Return the distances between the rows of a matrix, each pair once."""
    if out is not None:
        raise refuse("scipy.spatial.distance.pdist with out= cannot be captured", "Leave it out",
                     "TJ203")
    (x,) = _doubles(_real(X))
    if len(x.dims) != 2:
        raise ValueError(f"A 2-dimensional array must be passed. (Shape was {x.shape}).")
    i, j = FUNCTIONS[np.triu_indices](x.shape[0], 1)
    return _metric(metric, kwargs)(x[i], x[j])


# --- Rosenbrock's function -----------------------------------------------------------------------


def rosen(x: object) -> Any:
    """Return Rosenbrock's function."""
    v: Any = as_inexact(x)
    return np.sum(100.0 * (v[1:] - v[:-1] ** 2.0) ** 2.0 + (1 - v[:-1]) ** 2.0, axis=0)


def rosen_der(x: object) -> Any:
    """Return the gradient of Rosenbrock's function."""
    v: Any = as_inexact(x)
    first, inner, last = v[0], v[1:-1], 200 * (v[-1] - v[-2] ** 2)
    return np.concatenate([
        np.reshape(-400 * first * (v[1] - first ** 2) - 2 * (1 - first), (1,)),
        200 * (inner - v[:-2] ** 2) - 400 * (v[2:] - inner ** 2) * inner - 2 * (1 - inner),
        np.reshape(last, (1,))])


def _mahalanobis_of_two(u: object, v: object, VI: object) -> Any:
    x, y = _vectors(u, v)
    away: Any = as_tracer(x - y)
    return np.sqrt(np.dot(np.dot(away, np.atleast_2d(as_tracer(VI))), away))


def jensenshannon(p: object, q: object, base: object = None, *, axis: int = 0,
                  keepdims: bool = False) -> Any:
    """Return the root of the divergence of two distributions from their mean."""
    one, two = (as_inexact(_real(x)) for x in (p, q))
    first, second = (x / np.sum(x, axis=axis, keepdims=True) for x in (one, two))
    middle = (first + second) / 2.0
    entropy = FOREIGN["scipy.special.rel_entr"]
    total: Any = np.sum(entropy(first, middle), axis=axis, keepdims=keepdims) + np.sum(
        entropy(second, middle), axis=axis, keepdims=keepdims)
    if base is not None:
        unit: Any = np.log(as_inexact(base))
        if dims_of(unit):
            raise refuse("scipy.spatial.distance.jensenshannon with several numbers as base= "
                         "cannot be captured", "Pass one number", "TJ203")
        dtype = total.dtype if dims_of(total) else np.result_type(total.dtype, unit.dtype)
        total = cast(total / unit, dtype)
    return np.sqrt(total / 2.0)


scipy_captures("scipy.spatial.distance", {
    "jensenshannon": jensenshannon,
    "euclidean": _euclidean, "minkowski": minkowski, "chebyshev": _chebyshev_of_two,
    "cityblock": _of_two("cityblock"), "sqeuclidean": _of_two("sqeuclidean", _as_floats),
    **{name: _of_two(name, same=ValueError) for name in ("cosine", "correlation")},
    "canberra": _of_two("canberra", _known),
    "braycurtis": _of_two("braycurtis", lambda x, y: (x, cast(y, np.float64))),
    "mahalanobis": _mahalanobis_of_two,
    "seuclidean": _seuclidean_of_two, "cdist": cdist, "pdist": pdist})
scipy_captures("scipy.optimize", {"rosen": rosen, "rosen_der": rosen_der})
