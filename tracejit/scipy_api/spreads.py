"""Spreads of samples by their order, as `scipy.stats` has them: `iqr`, `median_abs_deviation`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.emptiness import is_nothing
from tracejit.numpy_api.ordering import with_one_more
from tracejit.scipy_api.samples import named_statistic, size
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import cast, dims_of
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []

_SCALES = {"normal": 1.3489795003921634}


def _iqr(x: np.ndarray, rng: Sequence[float] = (25, 75), scale: str | float = 1.0,
         interpolation: str = "linear") -> Any:
    if isinstance(scale, str) and scale.lower() not in _SCALES:
        raise ValueError(f"{scale} not a valid scale for `iqr`")
    if len(rng) != 2:
        raise TypeError("`rng` must be a two element sequence.")
    for e in rng:
        require(np.greater_equal(e, 0) & np.less_equal(e, 100), ValueError,
                "Elements of `rng` must be in the range [0, 100].")
    if is_nothing(dims_of(x)[-1]):
        return np.mean(x, axis=-1)  # NaN
    low, high = (_quantile(x, e / 100, interpolation) for e in sorted(rng))
    return (high - low) / (_SCALES[scale.lower()] if isinstance(scale, str) else scale)


def _quantile(x: np.ndarray, q: float, method: str) -> Any:
    """Return a quantile of rows: between two neighbours, of which infinite ones may be alike."""
    if method != "linear":
        return np.quantile(x, q, axis=-1, method=method)  # type: ignore[call-overload]
    last: Any = np.maximum(size(x) - 1, 0)
    place: Any = q * cast(as_tracer(last), np.float64)
    below: Any = np.floor(place).astype(np.int64)
    columns: Any = with_one_more(as_tracer(np.moveaxis(np.sort(x, axis=-1), -1, 0)))
    ordered: Any = np.moveaxis(columns, 0, -1)
    share = cast(place - below, x.dtype)
    found = (1 - share) * ordered[..., below] + share * ordered[..., np.minimum(below + 1, last)]
    return np.where(np.isnan(ordered[..., last]), x.dtype.type(np.nan), found)


def _median_deviation(x: np.ndarray, center: object = None,
                      scale: str | float = 1.0) -> Any:
    if center is not None and center is not np.median:
        raise refuse("scipy.stats.median_abs_deviation with center= cannot be captured",
                     "Write it with np.median", "TJ203")
    if isinstance(scale, str):
        if scale.lower() != "normal":
            raise ValueError(f"{scale} is not a valid scale value.")
        scale = 0.6744897501960817
    away = np.abs(x - np.median(x, axis=-1, keepdims=True))
    return np.median(away, axis=-1) / scale


_of_reals = named_statistic(
    ("axis", "rng", "scale", "nan_policy", "interpolation", "keepdims"), _iqr, "iqr", None)


def iqr(x: object, *args: object, **kwargs: object) -> Any:
    """Return how far apart two quantiles are."""
    if as_tracer(x).dtype == np.bool_:
        raise ValueError("`x` must have real dtype.")
    return _of_reals(x, *args, **kwargs)


scipy_captures("scipy.stats", {"iqr": iqr, "median_abs_deviation": named_statistic(
    ("axis", "center", "scale", "nan_policy"), _median_deviation, "median_abs_deviation")})
