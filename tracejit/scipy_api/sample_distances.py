"""Distances between distributions of samples: areas between their distribution functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import as_operand, cast, dims_of, same_dim
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []


def _sample(values: object, weights: object) -> tuple[Any, Any]:
    """Return the numbers of a sample and their weights, in double precision."""
    x = as_tracer(values)
    if len(x.dims) != 1:
        raise refuse("a distance between samples of several axes cannot be captured",
                     "Pass vectors", "TJ207")
    if weights is None:
        return cast(x, np.float64), None
    w = cast(as_tracer(weights), np.float64)
    if len(w.dims) != 1 or not same_dim(w.dims[0], x.dims[0]):
        raise ValueError("Value and weight array-likes for the same empirical distribution must be "
                         "of the same size.")
    require(np.logical_not(np.any(w < 0)), ValueError, "All weights must be non-negative.")
    total: Any = np.sum(w)
    require(np.logical_and(total > 0, total < np.inf), ValueError, "Weight array-like sum must be "
            "positive and finite. Set as None for an equal distribution of weight.")
    return cast(x, np.float64), w


def _shares(x: np.ndarray, w: np.ndarray | None, at: np.ndarray) -> Any:
    """Return the distribution function of a sample at places in order."""
    order = np.argsort(x, kind="stable")
    count = np.searchsorted(x[order], at, side="right")
    if w is None:
        return count / as_operand(dims_of(x)[0])
    sums = np.concatenate([0.0 * w[:1], np.cumsum(w[order])])
    return sums[count] / sums[-1]


def _between(u_values: object, v_values: object, u_weights: object,
             v_weights: object) -> tuple[Any, Any]:
    """Return how distribution functions differ between places, and how far these are apart."""
    u, w = _sample(u_values, u_weights)
    v, y = _sample(v_values, v_weights)
    places = np.sort(np.concatenate([u, v]))
    gaps = _shares(u, w, places[:-1]) - _shares(v, y, places[:-1])
    return gaps, np.diff(places)


def wasserstein_distance(u_values: object, v_values: object, u_weights: object = None,
                         v_weights: object = None) -> Any:
    """Return the area between the distribution functions of two samples."""
    gaps, widths = _between(u_values, v_values, u_weights, v_weights)
    return np.sum(np.abs(gaps) * widths)


def energy_distance(u_values: object, v_values: object, u_weights: object = None,
                    v_weights: object = None) -> Any:
    """Return the energy distance of two samples."""
    gaps, widths = _between(u_values, v_values, u_weights, v_weights)
    return math.sqrt(2.0) * np.sqrt(np.sum(np.square(gaps) * widths))


captures_of_some("scipy.stats", {
    "wasserstein_distance": wasserstein_distance, "energy_distance": energy_distance}, "biuf")
