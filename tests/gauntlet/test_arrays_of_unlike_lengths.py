"""Functions of two arrays that have unlike lengths: results and errors are NumPy's and SciPy's."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.signal
import scipy.spatial.distance
import scipy.stats

import tracejit
from tests.gauntlet.test_scipy_of_every_dtype import difference, outcome

V = np.array([1.0, 2.0, 4.0, 5.5, 7.0])
INTERPOLATORS = ("CubicSpline", "PchipInterpolator", "make_interp_spline", "interp1d",
                 "KroghInterpolator")

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(scipy.spatial.distance, name) for name in (
        "euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation", "minkowski",
        "canberra", "braycurtis")},
    **{name: lambda x, y, name=name: tuple(getattr(scipy.stats, name)(x, y)) for name in (
        "pearsonr", "ttest_rel", "ttest_ind", "chisquare")},
    **{name: lambda x, y, name=name: getattr(scipy.integrate, name)(y, x=x) for name in (
        "trapezoid", "cumulative_trapezoid")},
    **{f"{name} at": lambda x, y, name=name: getattr(scipy.interpolate, name)(x, y)(1.5)
       for name in INTERPOLATORS},
    **{name: getattr(scipy.linalg, name) for name in (
        "solve_circulant", "solve_toeplitz", "matmul_toeplitz")},
    **{name: getattr(np, name) for name in (
        "convolve", "correlate", "cov", "corrcoef", "trapezoid", "searchsorted",
        "outer", "cross", "dot", "inner", "kron", "polyadd")},
    "average": lambda x, y: np.average(x, weights=y), "interp": lambda x, y: np.interp(1.5, x, y),
    "average with its axis": lambda x, y: np.average(x, 0, y),
    "histogram": lambda x, y: np.histogram(x, 3, weights=y)[0],
    "polyfit": lambda x, y: np.polyfit(x, y, 1), "entropy": scipy.stats.entropy,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sizes", [*itertools.product((1, 3, 4, 5), repeat=2)],
                         ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_unlike_lengths_are_the_librarys(name: str, sizes: tuple[int, int]) -> None:
    args = V[:sizes[0]], V[:sizes[1]] ** 2
    ours, theirs = (outcome(FUNCTIONS[name], args, captured) for captured in (True, False))
    assert difference(ours, theirs, False, 1e-12) == ""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["simpson", "cumulative_trapezoid"])
@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (5,), (3,), (1,), (2,), (4,), (5, 1), (1, 3)])
def test_rules_of_integration_take_points_along_their_axis(name: str, axis: int,
                                                           shape: tuple[int, ...]) -> None:
    y = np.sin(np.arange(15.0)).reshape(5, 3)
    x = np.cumsum(np.linspace(0.5, 2.0, int(np.prod(shape)))).reshape(shape)

    def integral(y: Any, x: Any) -> Any:
        return getattr(scipy.integrate, name)(y, x=x, axis=axis)

    ours, theirs = (outcome(integral, (y, x), captured) for captured in (True, False))
    assert difference(ours, theirs, False, 1e-12) == ""
    assert not isinstance(ours, tracejit.Refusal)


ROWS = [np.array([[a, 1.0, 2.0], [0.0, b, 1.0], [5.0, 0.5, c]]) for a, b, c in itertools.product(
    (np.nan, np.inf, 1.0), repeat=3)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("metric", ["chebyshev", "euclidean", "cityblock", "sqeuclidean",
                                    "canberra"])
@pytest.mark.parametrize("row", range(len(ROWS)))
def test_distances_of_rows_take_nan_as_scipys(metric: str, row: int) -> None:
    for f in (lambda x: scipy.spatial.distance.cdist(x, x[::-1], metric),
              lambda x: scipy.spatial.distance.pdist(x, metric)):
        ours, theirs = (outcome(f, (ROWS[row],), captured) for captured in (True, False))
        assert difference(ours, theirs, False, 1e-12) == ""


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.int8, bool])
@pytest.mark.parametrize("order", [None, 1, 2, np.inf, -np.inf, 0, 3])
@pytest.mark.parametrize("shape", [(4,), (2, 3)])
@pytest.mark.parametrize("options", [{}, {"keepdims": True}, {"axis": 0}, {"axis": -1}], ids=str)
def test_norms_have_scipys_types(dtype: Any, order: Any, shape: tuple[int, ...],
                                 options: dict[str, Any]) -> None:
    x = (np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape) / 3.0).astype(dtype)
    ours, theirs = (outcome(lambda x: scipy.linalg.norm(x, order, **options), (x,), captured)
                    for captured in (True, False))
    assert difference(ours, theirs, dtype in (np.float32, np.complex64)) == ""
    assert not isinstance(ours, tracejit.Refusal)
    assert isinstance(theirs, (np.ndarray, Exception)) or type(ours) is type(theirs)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
@pytest.mark.parametrize("mean", [1, 1.0, np.float64(0.1), np.float32(0.1), np.array(0.1)],
                         ids=repr)
def test_a_mean_to_test_decides_the_dtype(dtype: Any, mean: Any) -> None:
    x = np.array([1.0, 2.5, 3.0, 2.0]).astype(dtype)
    ours, theirs = (outcome(lambda x: tuple(scipy.stats.ttest_1samp(x, mean)), (x,), captured)
                    for captured in (True, False))
    assert difference(ours, theirs, False) == ""


@pytest.mark.parametrize("numbers", [(np.nan, 1.0), (1.0, np.inf), (1.0, 2.0)], ids=str)
def test_filters_of_numbers_that_are_not_finite_are_refused(numbers: tuple[float, float]) -> None:
    weight, sample = numbers

    def filtered(x: np.ndarray) -> Any:
        return scipy.signal.upfirdn(x[:2], x[2:], 2, 1)

    x = np.array([0.5, weight, 2.0, sample, 3.0])
    ours = outcome(filtered, (x,), True)
    if np.all(np.isfinite(x)):
        assert difference(ours, outcome(filtered, (x,), False), False, 1e-12) == ""
        assert not isinstance(ours, Exception)
    else:
        assert isinstance(ours, tracejit.Refusal)
        assert "upfirdn of numbers that are infinite or NaN" in str(ours)
