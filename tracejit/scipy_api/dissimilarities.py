"""Dissimilarities of `scipy.spatial.distance` between vectors of truths, or of shares of truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_python_number, as_tracer
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import FOREIGN, scipy_captures
from tracejit.trace.values.equations import cast, dims_of, same_dim
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []


def _vectors(name: str, *given: object) -> list[Any]:
    found = [as_tracer(x) for x in given if x is not None]
    if any(x.dtype.kind == "c" for x in found):
        raise refuse(f"scipy.spatial.distance.{name} of complex numbers cannot be captured",
                     "Use their real and imaginary parts", "TJ206")
    if any(len(x.dims) != 1 for x in found):
        raise ValueError("Input vector should be 1-D.")
    if not all(same_dim(x.dims[0], found[0].dims[0]) for x in found[1:]):
        raise ValueError("operands could not be broadcast together")
    return [*found, None] if len(found) < len(given) else found


def _weights(w: np.ndarray | None) -> Any:
    if w is None:
        return None
    wide: Any = cast(w, np.float64)
    require(np.logical_not(np.any(wide < 0.0)), ValueError,
            "Input weights should be all non-negative")
    return wide


def hamming(u: object, v: object, w: object = None) -> Any:
    """Return the share of places where two vectors differ."""
    x, y, weights = _vectors("hamming", u, v, w)
    different = x != y
    if weights is None:
        return np.mean(different)
    weights = _weights(weights)
    return np.dot(different, weights / np.sum(weights))


def jaccard(u: object, v: object, w: object = None) -> Any:
    """Return the share of places where one vector is zero, among those where not both are."""
    x, y, weights = _vectors("jaccard", u, v, w)
    one, two = x != 0, y != 0
    scale: Any = 1.0 if weights is None else _weights(weights)
    unequal, nonzero = np.sum(scale * (one != two)), np.sum(scale * (one | two))
    none = nonzero == 0.0
    return np.where(none, 0.0, unequal / np.where(none, 1.0, nonzero))[()]


def _counts(name: str, u: object, v: object, w: object) -> tuple[Any, Any, Any, Any, Any]:
    """Return how often both are false, one is true alone, both are, and how many there are."""
    x, y, weights = _vectors(name, u, v, w)
    p, q = cast(x, np.float64), cast(y, np.float64)
    scale: Any = np.ones_like(p) if weights is None else _weights(weights)
    rest, other = 1.0 - p, 1.0 - q
    return (np.sum(scale * rest * other), np.sum(scale * rest * q), np.sum(scale * p * other),
            np.sum(scale * p * q), np.sum(scale))


def _yule(ff: np.ndarray, ft: np.ndarray, tf: np.ndarray, tt: np.ndarray, n: np.ndarray) -> Any:
    half = ft * tf
    none = half == 0.0
    return np.where(none, 0.0, 2.0 * half / np.where(none, 1.0, tt * ff + half))


def _sokalsneath(ff: np.ndarray, ft: np.ndarray, tf: np.ndarray, tt: np.ndarray,
                 n: np.ndarray) -> Any:
    below = tt + 2.0 * (ft + tf)
    require(below != 0.0, ValueError, "Sokal-Sneath dissimilarity is not defined for vectors that "
            "are entirely false.")
    return 2.0 * (ft + tf) / below


_FORMULAS: dict[str, Callable[..., Any]] = {
    "dice": lambda ff, ft, tf, tt, n: (tf + ft) / (2.0 * tt + tf + ft),
    "rogerstanimoto": lambda ff, ft, tf, tt, n: 2.0 * (tf + ft) / (tt + ff + 2.0 * (tf + ft)),
    "russellrao": lambda ff, ft, tf, tt, n: (n - tt) / n,
    "sokalsneath": _sokalsneath, "yule": _yule}
_OF_PYTHON = ("dice", "rogerstanimoto", "yule")
"""Those that SciPy returns as Python's floats."""


def _of_counts(name: str) -> Callable[..., Any]:
    formula, plain = _FORMULAS[name], name in _OF_PYTHON

    def capture(u: object, v: object, w: object = None) -> Any:
        found = formula(*_counts(name, u, v, w))[()]
        return as_python_number(found) if plain or (name == "russellrao" and w is None) else found

    return capture


def directed_hausdorff(u: object, v: object, seed: object = 0) -> Any:
    """Return how far a point of one set is from the nearest one of another, and which these are."""
    between = FOREIGN["scipy.spatial.distance.cdist"](u, v)
    nearest = np.argmin(between, axis=1)
    least = np.min(between, axis=1)
    place = np.argmax(least)
    return tuple([as_python_number(x) for x in (np.max(least), place, nearest[place])])


def squareform(X: object, force: str = "no", checks: bool = True) -> Any:
    """Return the matrix of distances of which a vector has the upper triangle, or that vector."""
    x: Any = as_tracer(X)
    if len(dims_of(x)) == 1 and force not in ("tovector", "tov"):
        return _matrix_of(x)
    if len(dims_of(x)) != 2 or force in ("tomatrix", "tom"):
        raise ValueError("Forcing 'tomatrix' or 'tovector' does not fit the array")
    if not same_dim(x.dims[0], x.dims[1]):
        raise ValueError("The matrix argument must be square.")
    if checks:
        require(np.all(np.abs(x - x.T) <= 1e-5 + 1e-8 * np.abs(x)) & np.all(np.diagonal(x) == 0),
                ValueError, "Distance matrix 'X' must be symmetric with a zero diagonal.")
    return x[np.triu_indices(len(x), 1)]


def _matrix_of(x: np.ndarray) -> Any:
    count = len(x)  # a size that this fixes: it says how many points there are
    points = int(np.ceil(np.sqrt(count * 2)))
    if points * (points - 1) != count * 2:
        raise ValueError("Incompatible vector size. It must be a binomial coefficient n choose 2 "
                         "for some integer n >= 2.")
    rows, columns = np.triu_indices(points, 1)
    places = np.zeros((points, points), int)
    places[rows, columns] = places[columns, rows] = np.arange(1, count + 1)
    return np.concatenate([np.zeros_like(x[:1]), x])[places] if count else np.zeros((1, 1))


scipy_captures("scipy.spatial.distance", {
    "hamming": hamming, "jaccard": jaccard, "squareform": squareform,
    "directed_hausdorff": directed_hausdorff, **{name: _of_counts(name) for name in _FORMULAS}})
