"""Functions of the elements that a mask chooses, maybe none: NumPy and SciPy are the oracles.

One program is called with a mask that chooses some elements, then with one that chooses none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.spatial.distance
import scipy.special
import scipy.stats

import tracejit
from tests.gauntlet.test_scipy_of_every_dtype import difference

X = np.array([1.0, 2.5, 3.2, 4.1, 6.0, 7.7, 9.1])
B, A = np.array([0.5, 0.2]), np.array([1.0, -0.3])
TABLE = np.arange(6.0)
FITTED = scipy.interpolate.splrep(TABLE, TABLE ** 2)

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    **{f"np.{name}": getattr(np, name) for name in (
        "max", "min", "argmax", "argmin", "ptp", "nanmax", "nanmin", "nanargmax", "median",
        "nanmedian", "mean", "std", "var", "average", "cov", "prod", "diff", "gradient",
        "trapezoid", "unwrap", "cumsum", "sort", "unique", "ediff1d", "nanmean", "nanstd",
        "nansum", "polyder", "polyint", "vander")},
    **{f"np.{name} {q}": lambda y, name=name, q=q: getattr(np, name)(y, q)
       for name in ("percentile", "quantile", "nanpercentile", "nanquantile")
       for q in (0.3, [0.3, 0.4]) if name[:3] != "nan" or q == 0.3},  # (there one NaN for all q)
    "convolve with ones": lambda y: np.convolve(y, np.ones(2)),
    "ones convolved": lambda y: np.convolve(np.ones(2), y),
    "convolve of its own": lambda y: np.convolve(y, y),
    "interp": lambda y: np.interp(2.0, y, y), "interp at": lambda y: np.interp(y, TABLE, TABLE),
    "medians of rows": lambda y: np.median(np.outer(TABLE, y), axis=1, keepdims=True),
    "medians of columns": lambda y: np.median(np.outer(y, TABLE), axis=0),
    "nanmedians of rows": lambda y: np.nanmedian(np.outer(TABLE, y), axis=1),
    "norm": np.linalg.norm, "infinite norm": lambda y: np.linalg.norm(y, np.inf),
    "weighted": lambda y: np.average(y, weights=y), "first": lambda y: y[0],
    "last": lambda y: y[-1],
    "taken": lambda y: np.take(y, 0), "largest": max, "maximum.reduce": np.maximum.reduce,
    "logaddexp.reduce": np.logaddexp.reduce, "reduceat": lambda y: np.add.reduceat(y, [0]),
    **{f"pad {mode}": lambda y, mode=mode: np.pad(y, 1, mode=mode)
       for mode in ("constant", "edge", "reflect", "wrap", "mean", "maximum", "median",
                    "linear_ramp")},
    "pad of rows": lambda y: np.pad(np.outer(y, A), ((0, 0), (1, 2)), mode="edge"),
    **{f"stats.{name}": getattr(scipy.stats, name) for name in (
        "gmean", "hmean", "variation", "gstd", "zscore", "sem", "skew", "kurtosis", "iqr",
        "median_abs_deviation", "entropy", "chisquare")},
    "trim_mean": lambda y: scipy.stats.trim_mean(y, 0.1),
    "ttest_1samp": lambda y: scipy.stats.ttest_1samp(y, 1.0)[0],
    "trapezoid of SciPy": scipy.integrate.trapezoid,
    "cumulative_trapezoid": scipy.integrate.cumulative_trapezoid,
    **{f"{name} at": lambda y, name=name: getattr(scipy.interpolate, name)(TABLE, TABLE ** 2)(y)
       for name in ("CubicSpline", "PchipInterpolator", "InterpolatedUnivariateSpline")},
    "splev": lambda y: scipy.interpolate.splev(y, FITTED),
    "toeplitz": scipy.linalg.toeplitz, "norm of SciPy": scipy.linalg.norm,
    **{name: getattr(scipy.special, name) for name in ("logsumexp", "softmax", "log_softmax")},
}
REFUSED: dict[str, Callable[[Any], Any]] = {
    "convolve of signals": lambda y: scipy.signal.convolve(y, B),
    "correlate of signals": lambda y: scipy.signal.correlate(B, y),
    "lfilter": lambda y: scipy.signal.lfilter(B, A, y),
    "lfilter by": lambda y: scipy.signal.lfilter(y, A, TABLE),
    "lfilter over": lambda y: scipy.signal.lfilter(B, y, TABLE),
    "detrend": scipy.signal.detrend, "savgol": lambda y: scipy.signal.savgol_filter(y, 3, 1),
    **{name: lambda y, name=name: getattr(scipy.ndimage, name)(y, 3) for name in (
        "uniform_filter1d", "maximum_filter", "gaussian_filter1d", "median_filter")},
    **{name: lambda y, name=name: getattr(scipy.ndimage, name)(y) for name in (
        "sobel", "laplace")},
}
"""Functions that are captured of some elements alone."""


def outcome(f: Callable[..., Any], x: np.ndarray) -> Any:
    try:
        with np.errstate(all="ignore"):
            return f(x)
    except Exception as e:
        return e


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*FUNCTIONS, *REFUSED])
def test_no_elements_are_taken_as_the_library_takes_them(name: str) -> None:
    f = {**FUNCTIONS, **REFUSED}[name]

    def chosen(x: np.ndarray) -> Any:
        return f(x[x > 3.0])

    with tracejit.config(disable_jit=True):
        program = tracejit.jit(chosen)
        assert difference(outcome(program, X), outcome(chosen, X), False, 1e-12) == ""
        none = outcome(program, X - 10.0)
    if name in REFUSED:
        assert isinstance(none, tracejit.Refusal)
        assert "of an empty array" in str(none)
        return
    assert not isinstance(none, tracejit.Refusal)
    assert difference(none, outcome(chosen, X - 10.0), False, 1e-12) == ""


@pytest.mark.parametrize("name", ["np.median", "np.nanmedian", "np.nanpercentile 0.3", "stats.iqr"])
def test_orders_of_chosen_elements_have_their_gradients(name: str) -> None:
    def chosen(x: np.ndarray) -> Any:
        return FUNCTIONS[name](x[x > 3.0])

    by_x = tracejit.grad(chosen)(X)
    steps = 1e-6 * np.eye(len(X))
    assert np.allclose(by_x, [(chosen(X + h) - chosen(X - h)) / 2e-6 for h in steps], atol=1e-8)
    assert np.array_equal(tracejit.grad(chosen)(X - 10.0), np.zeros(len(X)), equal_nan=False)
