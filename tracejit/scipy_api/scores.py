"""Scores and entropies of `scipy.stats`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.numpy_api.special import rel_entr
from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.samples import floats, only_propagating, rows, statistic
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import apply
from tracejit.trace.values.operands import TracedOperand

__all__: list[str] = []

Axes = int | tuple[int, ...] | None


def zscore(a: object, axis: Axes = 0, ddof: int = 0, nan_policy: str = "propagate") -> Any:
    """Return numbers less their mean, over their deviation."""
    only_propagating("zscore", nan_policy)
    x = floats(a, "zscore")
    mean = np.mean(x, axis=axis, keepdims=True)
    deviation = np.std(x, axis=axis, ddof=ddof, keepdims=True)
    alike = deviation <= np.abs(np.finfo(x.dtype).eps * mean)
    return np.where(alike, np.nan, (x - mean) / np.where(alike, 1.0, deviation))


def zmap(scores: object, compare: object, axis: Axes = 0, ddof: int = 0,
         nan_policy: str = "propagate") -> Any:
    """Return numbers less the mean of others, over the others' deviation."""
    if scores is compare:
        return zscore(scores, axis, ddof, nan_policy)
    only_propagating("zmap", nan_policy)
    x, others = floats(scores, "zmap"), floats(compare, "zmap")
    deviation = np.std(others, axis=axis, ddof=ddof, keepdims=True)
    return (x - np.mean(others, axis=axis, keepdims=True)) / deviation


def gzscore(a: object, *, axis: Axes = 0, ddof: int = 0, nan_policy: str = "propagate") -> Any:
    """Return the scores of logarithms."""
    return zscore(np.log(floats(a, "gzscore")), axis, ddof, nan_policy)


def _shares(p: np.ndarray) -> Any:
    """Return shares of a sum, by which those that are 0 do not move: their slope is infinite."""
    total = np.sum(p, axis=-1, keepdims=True)
    return p / np.where(p == 0.0, stop_gradient(total), total)


def entropy(pk: object, qk: object = None, base: float | None = None, axis: object = 0, *,
            nan_policy: str = "propagate", keepdims: object = False) -> Any:
    """Return the entropy of shares, or that relative to other shares."""
    if base is not None and not isinstance(base, TracedOperand) and base <= 0:
        raise ValueError("`base` must be a positive number or `None`.")
    unit = 1.0 if base is None else np.log(base)
    if qk is None:
        def whole(p: np.ndarray) -> Any:
            return np.sum(apply("entr", _shares(p)), axis=-1) / unit

        return statistic("entropy", whole)(pk, axis=axis, nan_policy=nan_policy,
                                            keepdims=keepdims)
    first, second = np.broadcast_arrays(floats(pk, "entropy"), floats(qk, "entropy"))
    others = rows(second, axis)
    others = others / np.sum(others, axis=-1, keepdims=True)

    def relative(p: np.ndarray) -> Any:
        return np.sum(rel_entr(_shares(p), others), axis=-1) / unit

    return statistic("entropy", relative)(first, axis=axis, nan_policy=nan_policy,
                                           keepdims=keepdims)


scipy_captures("scipy.stats", {
    "zscore": zscore, "zmap": zmap, "gzscore": gzscore, "entropy": entropy})
