"""`scipy.cluster.vq`: the nearest of some points, and features in units of their spread."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.finite import require_finite
from tracejit.scipy_api.distances import METRICS
from tracejit.scipy_api.taking import captures_of_some, of_finite
from tracejit.trace.values.equations import cast, same_dim

__all__: list[str] = []


def vq(obs: object, code_book: object, check_finite: bool = True) -> Any:
    """Return for each point which of a book's is nearest, and how far it is."""
    points, book = as_tracer(obs), as_tracer(code_book)
    for x in (points, book):
        if check_finite:
            require_finite(x)
    if len(points.dims) != len(book.dims):
        raise ValueError("Observation and code_book should have the same rank")
    dtype = np.result_type(points.dtype, book.dtype)
    inexact = dtype if dtype.kind == "f" else np.dtype(np.float64)
    both: list[Any] = [cast(x, inexact) for x in (points, book)]
    one, two = both
    if not check_finite:
        of_finite("scipy.cluster.vq.vq", one, two)
    if len(one.dims) == 1:
        one, two = np.reshape(one, (-1, 1)), np.reshape(two, (-1, 1))
    if len(one.dims) != 2:
        raise ValueError("ndim different than 1 or 2 are not supported")
    if not same_dim(one.dims[1], two.dims[1]):
        raise ValueError(f"Numbers of features in obs and code_book are different: {one.shape[1]} "
                         f"and {two.shape[1]}")
    away: Any = one[:, None, :] - two[None, :, :]
    code: Any = np.argmin(np.sum(away * away, axis=-1), axis=1)
    nearest = METRICS["euclidean"](one, two[code])
    return cast(code, np.int32) if dtype.kind == "f" else code, nearest


def whiten(obs: object, check_finite: bool | None = None) -> Any:
    """Return features over their standard deviations; those that are all the same stay."""
    x: Any = as_tracer(obs)
    if check_finite is not False:
        require_finite(x)
    variance = np.var(x, axis=0)
    same = variance == 0.0
    return x / np.where(same, variance.dtype.type(1), np.sqrt(np.where(same, 1.0, variance)))


captures_of_some("scipy.cluster.vq", {"vq": vq, "whiten": whiten}, "iuf", 4)
