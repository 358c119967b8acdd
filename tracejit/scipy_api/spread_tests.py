"""Tests of whether several samples are equally spread, or have equal means whatever their spreads.

M. S. Bartlett, Proc. R. Soc. A 160, 1937; M. B. Brown and A. B. Forsythe, JASA 69, 1974; R. G.
O'Brien, JASA 74, 1979; R. A. Alexander and D. M. Govern, J. Educational Statistics 19, 1994.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.special import ndtri
from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.ranks import ranked
from tracejit.scipy_api.sample_tests import TestResult
from tracejit.scipy_api.samples import floats, size
from tracejit.scipy_api.significance import by_chi_square, by_fisher, count, on_rows
from tracejit.scipy_api.taking import captures_of_some, constant_of
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import DISTRIBUTIONS
from tracejit.trace.values.equations import cast, dims_of, is_one, same_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []


def _least(samples: Sequence[object], words: str,
           error: type[Exception] = ValueError) -> None:
    if len(samples) < 2:
        raise error(words)


def _total(parts: Sequence[np.ndarray]) -> Any:
    """Return a sum of what each sample has."""
    return sum(parts[1:], start=parts[0])


def _spread(x: np.ndarray) -> Any:
    """Return the variance of rows, by one number less."""
    away = x - np.mean(x, axis=-1, keepdims=True)
    n = count(x)
    return np.sum(away * away, axis=-1) / np.where(n > 1.0, n - 1.0, np.nan).astype(x.dtype)


def bartlett(*samples: object, axis: object = 0, nan_policy: str = "propagate",
             keepdims: object = False) -> Any:
    """Return Bartlett's test of equal variances, of normal samples."""
    _least(samples, "Must enter at least two input sample vectors.")

    def of(*rows: np.ndarray) -> Any:
        free = [count(x) - 1.0 for x in rows]
        spreads = [_spread(x) for x in rows]
        whole = _total(free)
        pooled = _total([f * v for f, v in zip(free, spreads, strict=True)]) / whole
        logs = _total([f * np.log(v) for f, v in zip(free, spreads, strict=True)])
        k = len(rows) - 1.0
        scale = 1.0 + (_total([1.0 / f for f in free]) - 1.0 / whole) / (3.0 * k)
        found = (whole * np.log(pooled) - logs) / scale
        found = np.where(found < 0.0, 0.0, found)
        return found, by_chi_square(found, k)

    return on_rows("bartlett", of, samples, axis, nan_policy, keepdims)


# --- distances from centres -----------------------------------------------------------------------


def _away(x: np.ndarray, center: object, share: float) -> Any:
    """Return how far numbers are from the centre of their row."""
    if center == "median":
        return np.abs(x - np.median(x, axis=-1, keepdims=True))
    kept: Any = x
    if center == "trimmed":
        n = need_int(dims_of(x)[-1], "the size of a sample that is trimmed")
        cut = int(share * n)
        if 2 * cut >= n:
            raise ValueError("Proportion too big.")
        kept = np.sort(x, axis=-1)[..., cut:n - cut]
    return np.abs(x - np.mean(kept, axis=-1, keepdims=True))


def _require_centre(center: object) -> None:
    if center not in ("mean", "median", "trimmed"):
        raise ValueError("center must be 'mean', 'median' or 'trimmed'.")


def levene(*samples: object, center: str = "median", proportiontocut: object = 0.05,
           axis: object = 0, nan_policy: str = "propagate", keepdims: object = False) -> Any:
    """Return Levene's test of equal variances: of distances from centres."""
    _require_centre(center)
    _least(samples, "Must provide at least two samples.")
    share = constant_of(proportiontocut, "scipy.stats.levene")

    def of(*rows: np.ndarray) -> Any:
        away = [_away(x, center, share) for x in rows]
        sizes, means = [count(x) for x in away], [np.mean(x, axis=-1) for x in away]
        whole, k = _total(sizes), len(rows) - 1.0
        middle = _total([n * m for n, m in zip(sizes, means, strict=True)]) / whole
        between = _total([n * (m - middle) ** 2 for n, m in zip(sizes, means, strict=True)])
        inside = _total([np.sum((x - np.expand_dims(m, -1)) ** 2, axis=-1)
                         for x, m in zip(away, means, strict=True)])
        free = whole - k - 1.0
        found = free / k * between / inside
        return found, by_fisher(found, k, free)

    return on_rows("levene", of, samples, axis, nan_policy, keepdims)


def fligner(*samples: object, center: str = "median", proportiontocut: object = 0.05,
            axis: object = 0, nan_policy: str = "propagate", keepdims: object = False) -> Any:
    """Return Fligner's and Killeen's test, of ranks of distances: it has no derivative."""
    _require_centre(center)
    _least(samples, "Must provide at least two samples.")
    share = constant_of(proportiontocut, "scipy.stats.fligner")

    def of(*rows: np.ndarray) -> Any:
        away = [_away(stop_gradient(x), center, share) for x in rows]
        lead = np.broadcast_shapes(*(x.shape[:-1] for x in away))
        every: Any = np.concatenate([np.broadcast_to(x, (*lead, x.shape[-1])) for x in away], -1)
        whole = cast(as_tracer(size(every)), np.float64)
        scores: Any = ndtri(0.5 + ranked(every, "average") / (2.0 * (whole + 1.0)))
        scores = np.where(np.any(np.isnan(every), axis=-1, keepdims=True), np.nan, scores)
        middle = np.mean(scores, axis=-1)
        found: Any = 0.0
        first: Any = 0
        for x in away:
            n: Any = size(x)
            own = scores[..., first:first + n]
            found = found + cast(n, np.float64) * (np.mean(own, axis=-1) - middle) ** 2
            first = first + n
        found = cast(as_tracer(found / _spread(scores)), rows[0].dtype)
        return found, by_chi_square(found, len(rows) - 1.0)

    return on_rows("fligner", of, samples, axis, nan_policy, keepdims)


# --- means, transforms, all pairs -----------------------------------------------------------------


def alexandergovern(*samples: object, nan_policy: str = "propagate", axis: object = 0,
                    keepdims: object = False) -> Any:
    """Return Alexander's and Govern's test of equal means, of samples with spreads of their own."""
    _least(samples, f"2 or more inputs required, got {len(samples)}", TypeError)

    def of(*rows: np.ndarray) -> Any:
        means = [np.mean(x, axis=-1) for x in rows]
        errors = [_spread(x) / count(x) for x in rows]
        weights = [1.0 / e for e in errors]
        middle = _total([w * m for w, m in zip(weights, means, strict=True)]) / _total(weights)
        squares = [_normal_square((m - middle) ** 2 / e, count(x) - 1.0)
                   for m, e, x in zip(means, errors, rows, strict=True)]
        found = _total(squares)
        return found, by_chi_square(found, len(rows) - 1.0)

    return on_rows("alexandergovern", of, samples, axis, nan_policy, keepdims)


def _normal_square(square: np.ndarray, free: np.ndarray) -> Any:
    """Return the square of a normal number as probable as one of Student's, by its own square."""
    a = free - 0.5
    b = 48.0 * a * a
    c = a * np.log1p(square / free)
    top = ((4.0 * c + 33.0) * c + 240.0) * c + 855.0
    return c * (1.0 + (c + 3.0) / b - top / (10.0 * b * b + 8.0 * b * c * c + 1000.0 * b)) ** 2


def obrientransform(*samples: object) -> Any:
    """Return numbers whose means are the variances of samples."""
    given: list[Any] = [cast(floats(x, "obrientransform"), np.float64) for x in samples]
    if any(len(x.dims) != 1 for x in given):
        raise refuse("scipy.stats.obrientransform of arrays of several axes cannot be captured",
                     "Pass vectors", "TJ207")
    if not all(same_dim(x.dims[0], given[0].dims[0]) for x in given):
        raise refuse("scipy.stats.obrientransform of samples of unlike sizes cannot be captured: "
                     "it is an array of arrays", "Pass each one alone", "TJ213")
    found = []
    for x in given:
        n = count(x)
        squares = (x - np.mean(x)) ** 2
        found.append(((n - 1.5) * n * squares - 0.5 * np.sum(squares)) / ((n - 1.0) * (n - 2.0)))
    return np.stack(found)


def tukey_hsd(*args: object, equal_var: bool = True) -> Any:
    """Return Tukey's test of all pairs of means, or that of Games and Howell."""
    _least(args, "There must be more than 1 treatment.")
    given: list[Any] = [cast(floats(x, "tukey_hsd"), np.float64) for x in args]
    if any(len(x.dims) != 1 for x in given):
        raise ValueError("Input samples must be one-dimensional.")
    if any(is_one(x.dims[0]) for x in given):
        raise ValueError("Input sample size must be greater than one.")
    for x in given:
        require(np.logical_not(np.any(np.isinf(x))), ValueError, "Input samples must be finite.")
    n, mean, spread = (np.stack(list(map(fn, given))) for fn in (count, np.mean, _spread))
    away = mean[:, None] - mean[None]
    if equal_var:
        free: Any = np.sum(n) - float(len(given))
        inside = np.sum((n - 1.0) * spread) / free
        square = 0.5 * inside * (1.0 / n[:, None] + 1.0 / n[None])
    else:
        own = spread / n
        square = 0.5 * (own[:, None] + own[None])
        free = 4.0 * square ** 2 / (own[:, None] ** 2 / (n[:, None] - 1.0)
                                    + own[None] ** 2 / (n[None] - 1.0))
    wide: Any = np.abs(away) / np.sqrt(square)
    chance = DISTRIBUTIONS["studentized_range"]["sf"](wide, float(len(given)), free)
    return TestResult(away, chance)


captures_of_some("scipy.stats", {"bartlett": bartlett}, "f", 4)
captures_of_some("scipy.stats", {
    "levene": levene, "fligner": fligner,
    "alexandergovern": alexandergovern}, "iuf", 4)
captures_of_some("scipy.stats", {
    "obrientransform": obrientransform, "tukey_hsd": tukey_hsd}, "iuf", 8)
