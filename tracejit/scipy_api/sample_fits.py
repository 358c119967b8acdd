"""How far samples are from distributions of `scipy.stats`: plots of quantiles, distances, ranges.

J. J. Filliben, Technometrics 17, 1975; M. A. Stephens, JASA 69, 1974; T. E. Oliphant, "A Bayesian
perspective on estimating mean, variance, and standard-deviation from data", 2006.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.special import boxcox
from tracejit.scipy_api.formulas import ndtr
from tracejit.scipy_api.sample_statistics import yeo_johnson
from tracejit.scipy_api.samples import floats, only_propagating, size
from tracejit.scipy_api.taking import captures_of_some, constant_of
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import DISTRIBUTIONS, calling_back, distribution_of
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import cast, dims_of
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []


class AndersonResult(NamedTuple):
    """The result of `anderson`."""

    statistic: Any
    critical_values: Any
    significance_level: Any


class BayesResult(NamedTuple):
    """An estimate, and the ends between which it is with a probability."""

    statistic: Any
    minmax: Any


class _DistanceResult(NamedTuple):
    statistic: Any
    pvalue: Any


class DistanceResult(_DistanceResult):
    """The result of `ks_1samp`: two numbers, and two that are attributes alone."""

    statistic_location: Any
    statistic_sign: Any


def _vector(x: object, name: str) -> Any:
    given: Any = floats(x, name)
    if len(dims_of(given)) != 1:
        raise refuse(f"scipy.stats.{name} of arrays of several axes cannot be captured",
                     "Pass a vector", "TJ207")
    return given


def _method(name: str, dist: object, what: str) -> Callable[..., Any]:
    found = dist if isinstance(dist, str) else distribution_of(dist)
    if found is None or what not in DISTRIBUTIONS.get(found, {}):
        raise refuse(f"scipy.stats.{name} of such a distribution cannot be captured",
                     "Use a continuous one of scipy.stats, by its name", "TJ203")
    return DISTRIBUTIONS[found][what]


# --- plots of quantiles ---------------------------------------------------------------------------


def _medians(n: int) -> Any:
    """Return about the medians of sorted uniform numbers, as Filliben has them."""
    found = (np.arange(1, n + 1) - 0.3175) / (n + 0.365)
    found[-1] = 0.5 ** (1.0 / n)
    found[0] = 1.0 - found[-1]
    return found


def _line(u: np.ndarray, v: np.ndarray) -> tuple[Any, Any, Any]:
    """Return the slope, the start and the correlation of a line through rows of points."""
    a, b = u - np.mean(u, axis=-1, keepdims=True), v - np.mean(v, axis=-1, keepdims=True)
    uu, uv, vv = (np.mean(x, axis=-1) for x in (a * a, a * b, b * b))
    slope = uv / uu
    return slope, np.mean(v, axis=-1) - slope * np.mean(u, axis=-1), uv / np.sqrt(uu * vv)


def _places(x: np.ndarray) -> Any:
    n = need_int(dims_of(x)[-1], "the size of a sample whose quantiles are plotted")
    if n < 2:
        raise refuse("a plot of quantiles of less than two numbers cannot be captured", "Give more",
                     "TJ213")
    return _medians(n)


def probplot(x: object, sparams: object = (), dist: object = "norm", fit: bool = True,
             plot: None = None, rvalue: bool = False) -> Any:
    """Return quantiles of a distribution beside a sorted sample, and a line through them."""
    if plot is not None:
        raise refuse("scipy.stats.probplot that draws cannot be captured", "Leave plot= out",
                     "TJ203")
    given = _vector(x, "probplot")
    shapes: Any = sparams if isinstance(sparams, (tuple, list)) else (sparams,)
    at: Any = as_tracer(_method("probplot", dist, "ppf")(_places(given), *shapes))
    own: Any = as_tracer(x)
    ordered: Any = np.sort(own)
    if not fit:
        return at, ordered
    return (at, ordered), tuple(y[()] for y in _line(at, ordered.astype(np.float64)))


def _normal_plot(name: str, turn: Callable[..., object]) -> Callable[..., Any]:
    """Return the correlations with normal quantiles of a sample after powers of a transform."""

    def capture(x: object, la: object, lb: object, plot: None = None, N: int = 80) -> Any:
        if plot is not None:
            raise refuse(f"scipy.stats.{name} that draws cannot be captured", "Leave plot= out",
                         "TJ203")
        given: Any = cast(_vector(x, name), np.float64)
        low, high = (constant_of(v, f"scipy.stats.{name}") for v in (la, lb))
        if high <= low:
            raise ValueError("`lb` has to be larger than `la`.")
        if name == "boxcox_normplot":
            require(np.logical_not(np.any(given <= 0.0)), ValueError, "Data must be positive.")
        powers = np.linspace(low, high, num=N)
        turned: Any = turn(given[None], powers[:, None])
        at = DISTRIBUTIONS["norm"]["ppf"](_places(given))
        return powers, _line(at, np.sort(turned, axis=-1))[2]

    return capture


def ppcc_plot(x: object, a: object, b: object, dist: object = "tukeylambda", plot: None = None,
              N: int = 80) -> Any:
    """Return the correlations of a sample with quantiles of a distribution, of shapes in a row."""
    if plot is not None:
        raise refuse("scipy.stats.ppcc_plot that draws cannot be captured", "Leave plot= out",
                     "TJ203")
    given: Any = cast(_vector(x, "ppcc_plot"), np.float64)
    low, high = (constant_of(v, "scipy.stats.ppcc_plot") for v in (a, b))
    if high <= low:
        raise ValueError("`b` has to be larger than `a`.")
    shapes = np.linspace(low, high, num=N)
    at = _method("ppcc_plot", dist, "ppf")(_places(given)[None], shapes[:, None])
    return shapes, _line(as_tracer(at), np.sort(given))[2]  # type: ignore[arg-type]


# --- distances ------------------------------------------------------------------------------------

_LEVELS = np.array([15.0, 10.0, 5.0, 2.5, 1.0])
_NORMAL = np.array([0.561, 0.631, 0.752, 0.873, 1.035])
_EXPONENTIAL = np.array([0.916, 1.062, 1.321, 1.591, 1.959])
"""Critical values of many numbers: R. B. D'Agostino and M. A. Stephens, 1986, tables 4.7, 4.11."""


def anderson(x: object, dist: object = "norm", *, method: None = None) -> Any:
    """Return Anderson's and Darling's distance from a normal or an exponential distribution."""
    if dist not in ("norm", "expon") or method is not None:
        raise refuse("scipy.stats.anderson of other distributions than 'norm' and 'expon', or with "
                     "method=, cannot be captured", "Their fits are searches", "TJ203")
    y: Any = np.sort(cast(_vector(x, "anderson"), np.float64))
    n = cast(as_tracer(size(y)), np.float64)
    mean = np.mean(y)
    if dist == "norm":
        free = n - 1.0
        spread = np.sqrt(np.sum((y - mean) ** 2) / np.where(free > 0.0, free, np.nan))
        w = (y - mean) / spread
        lower, upper = np.log(ndtr(w)), np.log(ndtr(-w))
        bounds = _NORMAL / (1.0 + 0.75 / n + 2.25 / (n * n))
    else:
        w = y / mean
        lower, upper = np.log(-np.expm1(-w)), -w
        bounds = _EXPONENTIAL / (1.0 + 0.6 / n)
    i = cast(iota(dims_of(y)[0]), np.float64)
    found = -n - np.sum((2.0 * i + 1.0) / n * (lower + upper[::-1]))
    return AndersonResult(found[()], np.round(bounds, 3), _LEVELS + 0.0)


def _chance(method: str, alternative: str, far: np.ndarray, n: object) -> Any:
    if method not in ("auto", "exact", "approx", "asymp"):
        raise ValueError(f"Invalid value for mode: {method}")
    if alternative != "two-sided":
        return DISTRIBUTIONS["ksone"]["sf"](far, n)
    if method == "asymp":
        root = np.sqrt(n)  # type: ignore[call-overload]
        return DISTRIBUTIONS["kstwobign"]["sf"](far * root)
    if method == "approx":
        return 2.0 * DISTRIBUTIONS["ksone"]["sf"](far, n)
    return DISTRIBUTIONS["kstwo"]["sf"](far, n)


def _distance(name: str, x: object, cdf: Callable[..., object], alternative: str,
              method: str) -> Any:
    """Return Kolmogorov's and Smirnov's distance of a sample from a distribution function."""
    alternative = {"t": "two-sided", "g": "greater", "l": "less"}.get(
        alternative.lower()[:1], alternative)
    if alternative not in ("two-sided", "greater", "less"):
        raise ValueError("Unexpected value {alternative=}")
    y: Any = np.sort(cast(_vector(x, name), np.float64))
    n = need_int(dims_of(y)[0], "the size of a sample that is compared with a distribution")
    share: Any = as_tracer(cdf(y))
    i = np.arange(n)
    over, under = (i + 1.0) / n - share, share - i / n
    first, second = np.argmax(over), np.argmax(under)
    most, least = over[first], under[second]
    above = {"greater": np.bool_(True), "less": np.bool_(False)}.get(alternative, most > least)
    far = np.where(above, most, least)
    unknown = np.any(np.isnan(y))
    chance = np.clip(_chance(method, alternative, far, n), 0.0, 1.0)
    found = DistanceResult(np.where(unknown, np.nan, far)[()],
                           np.where(unknown, np.nan, chance)[()])
    found.statistic_location = np.where(above, y[first], y[second])[()]
    found.statistic_sign = cast(as_tracer(np.where(above, 1, -1)), np.int8)[()]
    return found


def ks_1samp(x: object, cdf: Callable[..., object], args: Iterable[object] = (),
             alternative: str = "two-sided", method: str = "auto", *, axis: object = 0,
             nan_policy: str = "propagate", keepdims: object = False) -> Any:
    """Return Kolmogorov's and Smirnov's test of a distribution function."""
    only_propagating("ks_1samp", nan_policy)
    if keepdims:
        raise refuse("scipy.stats.ks_1samp with keepdims= cannot be captured", "Leave it out",
                     "TJ203")
    return _distance("ks_1samp", x, lambda y: call_function(cdf, (y, *args), {}), alternative,
                     method)


def kstest(rvs: object, cdf: object, args: Iterable[object] = (), N: int = 20,
           alternative: str = "two-sided", method: str = "auto", *, axis: object = 0,
           nan_policy: str = "propagate", keepdims: object = False) -> Any:
    """Return that test, of a distribution by its name."""
    only_propagating("kstest", nan_policy)
    if keepdims:
        raise refuse("scipy.stats.kstest with keepdims= cannot be captured", "Leave it out",
                     "TJ203")
    if isinstance(cdf, str):
        named = _method("kstest", cdf, "cdf")
        return _distance("kstest", rvs, lambda y: named(y, *args), alternative, method)
    if not callable(cdf):
        raise refuse("scipy.stats.kstest of two samples cannot be captured: it depends on the "
                     "order of the numbers alone", "Call it outside", "TJ201")
    own: Any = cdf
    return _distance("kstest", rvs, lambda y: call_function(own, (y, *args), {}), alternative,
                     method)


# --- ranges ---------------------------------------------------------------------------------------


def bayes_mvs(data: object, alpha: object = 0.9) -> Any:
    """Return the mean, the variance and the deviation that a sample has, with ranges of each."""
    level = constant_of(alpha, "scipy.stats.bayes_mvs")
    if level >= 1 or level <= 0:
        raise ValueError(f"0 < alpha < 1 is required, but alpha={level} was given.")
    x: Any = np.reshape(cast(floats(data, "bayes_mvs"), np.float64), (-1,))
    n = need_int(dims_of(x)[0], "the size of a sample that is estimated from")
    if n < 2:
        raise ValueError("Need at least 2 data-points.")
    mean, spread = np.mean(x), np.var(x)
    if n > 1000:
        parts: list[tuple[str, tuple[object, ...]]] = [
            ("norm", (mean, np.sqrt(spread / n))), ("norm", (spread, np.sqrt(2.0 / n) * spread)),
            ("norm", (np.sqrt(spread), np.sqrt(spread / (2.0 * n))))]
    else:
        half = 0.5 * (n - 1.0)
        parts = [("t", (n - 1.0, mean, np.sqrt(spread / (n - 1.0)))),
                 ("invgamma", (half, 0.0, 0.5 * n * spread)),
                 ("gengamma", (half, -2.0, 0.0, np.sqrt(0.5 * n * spread)))]
    return tuple(BayesResult(DISTRIBUTIONS[name]["mean"](*given), tuple(
        DISTRIBUTIONS[name]["interval"](level, *given))) for name, given in parts)


captures_of_some("scipy.stats", {
    "probplot": probplot, "anderson": anderson, "ks_1samp": calling_back(ks_1samp),
    "kstest": calling_back(kstest), "bayes_mvs": bayes_mvs, "ppcc_plot": ppcc_plot,
    "boxcox_normplot": _normal_plot("boxcox_normplot", boxcox),
    "yeojohnson_normplot": _normal_plot("yeojohnson_normplot", yeo_johnson)}, "iuf", 8)
