"""What tests of `scipy.stats` share: samples as rows, and how probable a statistic is by chance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.axes import normalize_axes
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.scipy_api.probability import beta_tails, gamma_tails, student_cdf
from tracejit.scipy_api.sample_tests import TestResult
from tracejit.scipy_api.samples import floats, only_propagating, rows, size
from tracejit.trace.values.equations import apply, cast, dims_of

__all__ = ["by_chi_square", "by_fisher", "by_normal", "by_student", "count", "on_rows"]

SIDES = ("less", "greater", "two-sided")


def count(x: np.ndarray) -> Any:
    """Return how many numbers a row has, as a float of its dtype."""
    return cast(as_tracer(size(x)), x.dtype)


def on_rows(name: str, of: Callable[..., object], samples: tuple[object, ...], axis: object,
           nan_policy: str, keepdims: object, result: Callable[..., object] = TestResult) -> Any:
    """Return the result of a test of samples along an axis.

    of -- (*rows) -> the fields of the result, each of the rows' shape but for the last axis
    """
    only_propagating(name, nan_policy)
    dtype = np.result_type(*(as_inexact(x).dtype for x in samples))
    given: list[Any] = [cast(floats(x, name), dtype) for x in samples]
    rank = max(len(dims_of(x)) for x in given)
    if axis is not None:  # SciPy counts axes once all have as many
        given = [np.reshape(x, (*(1 for _ in range(rank - len(x.dims))), *x.shape))
                 if len(x.dims) < rank else x for x in given]
    fields: Any = of(*(rows(x, axis) for x in given))
    found = [cast(as_tracer(y), dtype) for y in fields]
    if keepdims:
        gone = tuple(range(rank)) if axis is None else normalize_axes(axis, rank)
        return result(*(np.expand_dims(y, gone) for y in found))
    return result(*(y[()] for y in found))


def require_side(alternative: object) -> None:
    """Raise SciPy's error for a word that names no alternative."""
    if alternative not in SIDES:
        raise ValueError("`alternative` must be 'less', 'greater', or 'two-sided'.")


def in_doubles(tail: Callable[..., object], dtype: np.dtype, *operands: object) -> Any:
    """Return a probability in a statistic's dtype, computed in double precision."""
    doubles = [cast(as_tracer(x), np.float64) for x in operands]
    return cast(tail(*np.broadcast_arrays(*doubles)), dtype)


def by_normal(z: np.ndarray, alternative: str = "two-sided") -> Any:
    """Return how probable a normal number is that is further out on a side, or on both."""
    require_side(alternative)
    root = 2.0 ** -0.5
    if alternative == "two-sided":
        return in_doubles(lambda z: apply("erfc", np.abs(z) * root), z.dtype, z)
    turn = -root if alternative == "less" else root
    return in_doubles(lambda z: 0.5 * apply("erfc", z * turn), z.dtype, z)


def by_student(t: np.ndarray, free: object, alternative: str = "two-sided") -> Any:
    """Return how probable a number of Student's is that is further out on a side, or on both."""
    require_side(alternative)
    if alternative == "two-sided":
        return in_doubles(lambda t, free: 2.0 * student_cdf(-np.abs(t), free), t.dtype, t, free)
    turn = 1.0 if alternative == "less" else -1.0
    return in_doubles(lambda t, free: student_cdf(turn * t, free), t.dtype, t, free)


def by_chi_square(x: np.ndarray, free: object) -> Any:
    """Return how probable a larger sum of so many squares of normal numbers is."""
    return in_doubles(lambda x, free: gamma_tails(0.5 * free, 0.5 * x)[1], x.dtype, x, free)


def by_fisher(x: np.ndarray, above: object, below: object) -> Any:
    """Return how probable a larger quotient of two mean squares is."""

    def tail(x: np.ndarray, n: np.ndarray, m: np.ndarray) -> Any:
        whole = m + n * x
        return beta_tails(0.5 * m, 0.5 * n, m / whole, n * x / whole)[0]

    return in_doubles(tail, x.dtype, x, above, below)
