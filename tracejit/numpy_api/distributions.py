"""The distributions of `scipy.stats`: densities, distribution functions and quantiles.

Each is a table of formulas for the standard distribution, with its shapes and where it is positive.
What is common to all - location and scale, what lies outside, wrong parameters - is done here as
SciPy does it: NaN for wrong parameters, zero (or minus infinity) outside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.linalg import cholesky, solve_triangular
from tracejit.numpy_api.special import betaln, gammaln, log_ndtr, ndtri, xlog1py, xlogy
from tracejit.ops.cotangents import Primal
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import DISTRIBUTIONS
from tracejit.trace.values.equations import apply, as_operand, cast, same_dim
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []

Formula = Callable[..., Any]


@dataclass(frozen=True)
class Distribution:
    """A distribution without location and scale.

    formulas -- from a method's name to what it gives, of a number and the shapes
    shapes   -- the names of the shapes
    valid    -- whether shapes are right
    low, high -- the ends of the numbers of positive density, of the shapes
    inner    -- a number between them, whatever the shapes are
    discrete -- whether its numbers are whole
    nothing_at_low -- whether the density is 0 at the lower end, where its formula has no value
    """

    formulas: dict[str, Formula]
    shapes: tuple[str, ...] = ()
    valid: Formula = lambda: True
    low: Formula = lambda *shapes: -np.inf
    high: Formula = lambda *shapes: np.inf
    inner: float = 0.5
    discrete: bool = False
    nothing_at_low: bool = False


class Parameters(NamedTuple):
    """What a method is called with, besides the numbers that it is of."""

    shapes: list[Any]
    loc: Any
    scale: Any


_HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)
_LOG_2, _LOG_PI, _ROOT_HALF = math.log(2.0), math.log(math.pi), math.sqrt(0.5)


def _ndtr(y: Primal) -> Any:
    return 0.5 * apply("erfc", -_ROOT_HALF * y)


def _positive(*shapes: np.ndarray) -> Any:
    valid: Any = True
    for s in shapes:
        valid = valid & (s > 0.0)
    return valid


def _zero(*shapes: object) -> float:
    return 0.0


def _one(*shapes: object) -> float:
    return 1.0


def _log_expit(y: np.ndarray) -> Any:
    return -np.logaddexp(0.0, -y)


def _expit(y: np.ndarray) -> Any:
    e = np.exp(-np.abs(y))
    return np.where(y >= 0.0, 1.0 / (1.0 + e), e / (1.0 + e))


def _of_log_sf(log_sf: Formula, log_pdf: Formula, quantile: Formula) -> dict[str, Formula]:
    """Return the formulas of a distribution whose survival function is simple.

    quantile -- of the negative logarithm of what is left
    """
    return {"logpdf": log_pdf, "logsf": log_sf, "sf": lambda y, *s: np.exp(log_sf(y, *s)),
            "cdf": lambda y, *s: -np.expm1(log_sf(y, *s)),
            "logcdf": lambda y, *s: np.log(-np.expm1(log_sf(y, *s))),
            "ppf": lambda q, *s: quantile(-np.log1p(-q), *s),
            "isf": lambda q, *s: quantile(-np.log(q), *s)}


def _symmetric(log_pdf: Formula, cdf: Formula, log_cdf: Formula,
               ppf: Formula) -> dict[str, Formula]:
    return {"logpdf": log_pdf, "cdf": cdf, "sf": lambda y: cdf(-y), "logcdf": log_cdf,
            "logsf": lambda y: log_cdf(-y), "ppf": ppf, "isf": lambda q: -ppf(q)}


def _t_logpdf(y: np.ndarray, df: np.ndarray) -> Any:
    far = np.isinf(df)
    r = np.where(far, 1.0, df)
    near = -betaln(0.5 * r, cast(0.5, np.float64)) - 0.5 * np.log(r)  # type: ignore[arg-type]
    return np.where(far, -0.5 * y * y - _HALF_LOG_2_PI,
                    near - 0.5 * (r + 1.0) * np.log1p(y * y / r))


def _laplace_logcdf(y: np.ndarray) -> Any:
    above = y > 0.0
    return np.where(above, np.log1p(-0.5 * np.exp(-np.where(above, y, 0.0))), y - _LOG_2)


def _lognorm_z(y: np.ndarray, s: np.ndarray) -> Any:
    return np.log(y) / s


_CONTINUOUS: dict[str, Distribution] = {
    "norm": Distribution(_symmetric(lambda y: -0.5 * y * y - _HALF_LOG_2_PI, _ndtr, log_ndtr,
                                    ndtri)),
    "logistic": Distribution(_symmetric(lambda y: -np.abs(y) - 2.0 * np.log1p(np.exp(-np.abs(y))),
                                        _expit, _log_expit, lambda q: np.log(q) - np.log1p(-q))),
    "laplace": Distribution(_symmetric(
        lambda y: -_LOG_2 - np.abs(y), lambda y: np.where(
            y > 0.0, 1.0 - 0.5 * np.exp(-np.abs(y)), 0.5 * np.exp(-np.abs(y))), _laplace_logcdf,
        lambda q: np.where(q > 0.5, -np.log(2.0 * (1.0 - q)), np.log(2.0 * q)))),
    "cauchy": Distribution(_symmetric(
        lambda y: -_LOG_PI - np.log1p(y * y), lambda y: np.arctan2(1.0, -y) / np.pi,
        lambda y: np.log(np.arctan2(1.0, -y) / np.pi),
        lambda q: np.where(q == 0.5, 0.0, -1.0 / np.tan(np.pi * q)))),
    "gumbel_r": Distribution({
        "logpdf": lambda y: -y - np.exp(-y), "logcdf": lambda y: -np.exp(-y),
        "cdf": lambda y: np.exp(-np.exp(-y)), "sf": lambda y: -np.expm1(-np.exp(-y)),
        "logsf": lambda y: np.log(-np.expm1(-np.exp(-y))), "ppf": lambda q: -np.log(-np.log(q)),
        "isf": lambda q: -np.log(-np.log1p(-q))}),
    "gumbel_l": Distribution({
        "logpdf": lambda y: y - np.exp(y), "logsf": lambda y: -np.exp(y),
        "sf": lambda y: np.exp(-np.exp(y)), "cdf": lambda y: -np.expm1(-np.exp(y)),
        "logcdf": lambda y: np.log(-np.expm1(-np.exp(y))), "ppf": lambda q: np.log(-np.log1p(-q)),
        "isf": lambda q: np.log(-np.log(q))}),
    "t": Distribution({"logpdf": _t_logpdf}, ("df",), _positive),
    "vonmises": Distribution({"logpdf": lambda y, kappa: -2.0 * kappa * np.sin(0.5 * y) ** 2
                              - np.log(2.0 * np.pi * apply("i0e", kappa))}, ("kappa",),
                             lambda kappa: kappa >= 0.0),
    "expon": Distribution(_of_log_sf(lambda y: -y, lambda y: -y, lambda e: e), low=_zero),
    "weibull_min": Distribution(_of_log_sf(
        lambda y, c: -np.power(y, c), lambda y, c: np.log(c) + xlogy(c - 1.0, y) - np.power(y, c),
        lambda e, c: np.power(e, 1.0 / c)), ("c",), _positive, _zero),
    "rayleigh": Distribution(_of_log_sf(
        lambda y: -0.5 * y * y, lambda y: np.log(y) - 0.5 * y * y, lambda e: np.sqrt(2.0 * e)),
        low=_zero),
    "pareto": Distribution(_of_log_sf(
        lambda y, b: -b * np.log(y), lambda y, b: np.log(b) - (b + 1.0) * np.log(y),
        lambda e, b: np.exp(e / b)), ("b",), _positive, _one, inner=2.0),
    "uniform": Distribution({
        "logpdf": lambda y: 0.0 * y, "cdf": lambda y: y, "sf": lambda y: 1.0 - y,
        "logcdf": np.log, "logsf": lambda y: np.log1p(-y), "ppf": lambda q: q,
        "isf": lambda q: 1.0 - q}, low=_zero, high=_one),
    "lognorm": Distribution({
        "logpdf": lambda y, s: -0.5 * _lognorm_z(y, s) ** 2 - np.log(s * y) - _HALF_LOG_2_PI,
        "cdf": lambda y, s: _ndtr(_lognorm_z(y, s)), "sf": lambda y, s: _ndtr(-_lognorm_z(y, s)),
        "logcdf": lambda y, s: log_ndtr(_lognorm_z(y, s)),
        "logsf": lambda y, s: log_ndtr(-_lognorm_z(y, s)),
        "ppf": lambda q, s: np.exp(s * ndtri(q)), "isf": lambda q, s: np.exp(-s * ndtri(q))},
        ("s",), _positive, _zero, nothing_at_low=True),
    "halfnorm": Distribution({
        "logpdf": lambda y: -0.5 * y * y + _LOG_2 - _HALF_LOG_2_PI,
        "cdf": lambda y: apply("erf", _ROOT_HALF * y),
        "sf": lambda y: apply("erfc", _ROOT_HALF * y),
        "logsf": lambda y: log_ndtr(-y) + _LOG_2,
        "logcdf": lambda y: np.log(apply("erf", _ROOT_HALF * y)),
        "ppf": lambda q: ndtri(0.5 + 0.5 * q), "isf": lambda q: -ndtri(0.5 * q)}, low=_zero),
    "halfcauchy": Distribution({
        "logpdf": lambda y: _LOG_2 - _LOG_PI - np.log1p(y * y),
        "cdf": lambda y: 2.0 / np.pi * np.arctan(y),
        "sf": lambda y: 2.0 / np.pi * np.arctan2(1.0, y),
        "logcdf": lambda y: np.log(2.0 / np.pi * np.arctan(y)),
        "logsf": lambda y: np.log(2.0 / np.pi * np.arctan2(1.0, y)),
        "ppf": lambda q: np.tan(0.5 * np.pi * q), "isf": lambda q: 1.0 / np.tan(0.5 * np.pi * q)},
        low=_zero),
    "gamma": Distribution({"logpdf": lambda y, a: xlogy(a - 1.0, y) - y - gammaln(a)}, ("a",),
                          _positive, _zero),
    "invgamma": Distribution({
        "logpdf": lambda y, a: -(a + 1.0) * np.log(y) - gammaln(a) - 1.0 / y}, ("a",), _positive,
        _zero, nothing_at_low=True),
    "chi2": Distribution({"logpdf": lambda y, df: xlogy(0.5 * df - 1.0, y) - 0.5 * y - gammaln(
        0.5 * df) - 0.5 * _LOG_2 * df}, ("df",), _positive, _zero),
    "beta": Distribution({"logpdf": lambda y, a, b: xlog1py(b - 1.0, -y) + xlogy(a - 1.0, y)
                          - betaln(a, b)}, ("a", "b"), _positive, _zero, _one),
    "invgauss": Distribution({"logpdf": lambda y, mu: -_HALF_LOG_2_PI - 1.5 * np.log(y)
                              - ((y - mu) / mu) ** 2 / (2.0 * y)}, ("mu",), _positive, _zero,
                             nothing_at_low=True),
}


def _is_whole(x: np.ndarray) -> Any:
    return x == np.floor(x)


def _binom(k: np.ndarray, n: np.ndarray, p: np.ndarray) -> Any:
    ways = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return ways + xlogy(k, p) + xlog1py(n - k, -p)


_DISCRETE: dict[str, Distribution] = {
    "poisson": Distribution({"logpmf": lambda k, mu: xlogy(k, mu) - gammaln(k + 1.0) - mu},
                            ("mu",), lambda mu: mu >= 0.0, _zero, inner=0.0, discrete=True),
    "binom": Distribution({"logpmf": _binom}, ("n", "p"), lambda n, p: (n >= 0.0) & _is_whole(n) & (
        p >= 0.0) & (p <= 1.0), _zero, lambda n, p: n, 0.0, True),
    "bernoulli": Distribution({"logpmf": lambda k, p: xlogy(k, p) + xlog1py(1.0 - k, -p)}, ("p",),
                              lambda p: (p >= 0.0) & (p <= 1.0), _zero, _one, 0.0, True),
    "nbinom": Distribution({"logpmf": lambda k, n, p: gammaln(n + k) - gammaln(k + 1.0) - gammaln(n)
                            + n * np.log(p) + xlog1py(k, -p)}, ("n", "p"),
                           lambda n, p: (n > 0.0) & (p > 0.0) & (p <= 1.0), _zero, inner=0.0,
                           discrete=True),
    "geom": Distribution({"logpmf": lambda k, p: xlog1py(k - 1.0, -p) + np.log(p)}, ("p",),
                         lambda p: (p > 0.0) & (p <= 1.0), _one, inner=1.0, discrete=True),
}


# --- what is common to all ----------------------------------------------------------------------


def _bound(name: str, d: Distribution, args: tuple[object, ...],
           kwargs: dict[str, object]) -> Parameters:
    """Return the shapes, the location and the scale of a call, in double precision."""
    names = (*d.shapes, "loc", *(() if d.discrete else ("scale",)))
    if len(args) > len(names):
        raise TypeError(f"_parse_args() takes from {len(d.shapes) + 1} to {len(names) + 1} "
                        f"positional arguments but {len(args) + 1} were given")
    given = dict(zip(names, args, strict=False))
    for key, x in kwargs.items():
        if key not in names:
            raise TypeError(f"_parse_args() got an unexpected keyword argument {key!r}")
        if key in given:
            raise TypeError(f"_parse_args() got multiple values for argument {key!r}")
        given[key] = x
    missing = [s for s in d.shapes if s not in given]
    if missing:
        raise TypeError(f"_parse_args() missing {len(missing)} required positional argument(s): "
                        f"{missing}")
    wide = {key: _double(x) for key, x in given.items()}
    shapes = [wide[s] for s in d.shapes]
    return Parameters(shapes, wide.get("loc", 0.0), wide.get("scale", 1.0))


def _double(x: object) -> Any:
    x = as_tracer(x)
    if x.dtype.kind == "c":
        raise refuse("a distribution of complex numbers cannot be captured", "Use the parts")
    return cast(x, np.float64)


def _density(d: Distribution, x: object, args: Parameters) -> Any:
    """Return the logarithm of a density, minus infinity outside, NaN for wrong parameters."""
    shapes, loc, scale = args
    given = _double(x)
    y = (given - loc) if d.discrete else (given - loc) / scale
    low = d.low(*shapes)
    inside = ((y > low) if d.nothing_at_low else (y >= low)) & (y <= d.high(*shapes))
    if d.discrete:
        inside = inside & (y == np.floor(y))
    valid = np.logical_and(d.valid(*shapes), scale > 0.0)
    safe = [np.where(valid, s, 1.0) for s in shapes]
    formula = d.formulas["logpmf" if d.discrete else "logpdf"]
    within = formula(np.where(inside & np.logical_not(np.isinf(y)), y, d.inner), *safe)
    if not d.discrete:
        within = within - np.log(np.where(valid, scale, 1.0))
    result = np.where(inside & np.logical_not(np.isinf(y)), within, -np.inf)
    return np.where(valid & (y == y), result, np.nan)[()]


_AT_ENDS = {"cdf": (0.0, 1.0), "sf": (1.0, 0.0), "logcdf": (-np.inf, 0.0), "logsf": (0.0, -np.inf)}


def _distribution(d: Distribution, what: str, x: object, args: Parameters) -> Any:
    """Return a distribution function, or its logarithm, with its values at both ends."""
    shapes, loc, scale = args
    y = (_double(x) - loc) / scale
    low, high = d.low(*shapes), d.high(*shapes)
    inside = (y > low) & (y < high)
    valid = np.logical_and(d.valid(*shapes), scale > 0.0)
    safe = [np.where(valid, s, 1.0) for s in shapes]
    within = d.formulas[what](np.where(inside, y, d.inner), *safe)
    before, behind = _AT_ENDS[what]
    result = np.where(inside, within, np.where(y >= high, behind, before))
    return np.where(valid & (y == y), result, np.nan)[()]


def _moved(end: float, loc: float, scale: float) -> Any:
    """Return where a standard distribution ends once it is moved: at infinity nothing moves it."""
    return end if math.isinf(end) else end * scale + loc


def _quantile(d: Distribution, what: str, q: object, args: Parameters) -> Any:
    shapes, loc, scale = args
    p = _double(q)
    inside = (p > 0.0) & (p < 1.0)
    valid = np.logical_and(np.logical_and(d.valid(*shapes), scale > 0.0), loc == loc)
    safe = [np.where(valid, s, 1.0) for s in shapes]
    within = d.formulas[what](np.where(inside, p, 0.5), *safe) * scale + loc
    ends = [_moved(end, loc, scale) for end in (d.low(*shapes), d.high(*shapes))]
    first, last = ends if what == "ppf" else ends[::-1]
    result = np.where(p == 0.0, first, np.where(p == 1.0, last, np.nan))
    return np.where(valid, np.where(inside, within, result), np.nan)[()]


def _method(name: str, d: Distribution, what: str) -> Callable[..., Any]:
    def capture(x: object, *args: object, **kwargs: object) -> Any:
        bound = _bound(name, d, args, kwargs)
        if what in ("logpdf", "logpmf"):
            return _density(d, x, bound)
        if what in ("pdf", "pmf"):
            return np.exp(_density(d, x, bound))
        if what in ("ppf", "isf"):
            return _quantile(d, what, x, bound)
        return _distribution(d, what, x, bound)

    return capture


for _name, _d in {**_CONTINUOUS, **_DISCRETE}.items():
    _methods = {*_d.formulas, *({"pmf"} if _d.discrete else {"pdf"})}
    DISTRIBUTIONS[_name] = {_what: _method(_name, _d, _what) for _what in _methods}


# --- of vectors ---------------------------------------------------------------------------------


def _normal_parameters(mean: object, cov: object) -> tuple[Any, Any, Any]:
    """Return mean and covariance matrix, and how many components there are."""
    matrix: Any = _double(1.0 if cov is None else cov)
    if len(matrix.dims) > 2:
        raise ValueError("Array 'cov' must be at most two-dimensional, but cov.ndim = "
                         f"{len(matrix.dims)}")
    centre: Any = None if mean is None else np.atleast_1d(_double(mean))
    if centre is not None and len(centre.dims) != 1:
        raise ValueError("Array 'mean' must be a vector of length d")
    n = matrix.shape[0] if matrix.dims else (1 if centre is None else centre.shape[0])
    if not matrix.dims:
        matrix = matrix * np.eye(n)
    elif len(matrix.dims) == 1:
        matrix = np.diag(matrix)
    elif not same_dim(matrix.dims[0], matrix.dims[1]):
        raise ValueError("Array 'cov' must be square if it is two-dimensional")
    centre = np.zeros(n) if centre is None else centre
    if not same_dim(as_tracer(centre).dims[0], matrix.dims[0]):
        raise ValueError(f"Array 'mean' must be a vector of length {n}.")
    return centre, matrix, n


def _normal_logpdf(x: object, mean: object = None, cov: object = 1,
                   allow_singular: bool = False) -> Any:
    """Return the logarithm of the density of a normal distribution of vectors."""
    if allow_singular:
        raise refuse("multivariate_normal with allow_singular=True cannot be captured",
                     "Add a little to the diagonal of the matrix")
    centre, matrix, n = _normal_parameters(mean, cov)
    points: Any = _double(x)
    if not points.dims:
        points = points[None]
    elif len(points.dims) == 1:
        points = points[:, None] if isinstance(n, int) and n == 1 else points[None, :]
    factor = cholesky(matrix)
    away = points - centre
    flat = np.reshape(away, (-1, as_operand(away.dims[-1])))
    z: Any = solve_triangular(factor, flat.T, lower=True)
    distance = np.reshape(np.sum(z * z, axis=0), away.shape[:-1])
    result = -(0.5 * distance + np.sum(np.log(np.diag(factor))) + n * _HALF_LOG_2_PI)
    return np.squeeze(result)[()]


def _dirichlet_logpdf(x: object, alpha: object) -> Any:
    """Return the logarithm of the density of a Dirichlet distribution."""
    a: Any = _double(alpha)
    points: Any = _double(x)
    if len(a.dims) != 1 or len(points.dims) > 2:
        raise ValueError("Parameter vector 'a' must be one dimensional.")
    require(np.logical_not(np.any(a <= 0.0)), ValueError,
            "All parameters must be greater than 0")
    if not same_dim(points.dims[0], a.dims[0]):
        raise refuse("dirichlet.logpdf of vectors without their last component cannot be captured",
                     "Append what is left of 1")
    require(np.all((points >= 0.0) & (points <= 1.0)), ValueError,
            "Each entry in 'x' must be between zero and one.")
    require(np.logical_not(np.any(np.abs(np.sum(points, axis=0) - 1.0) > 1e-9)), ValueError,
            "The input vector 'x' must lie within the normal simplex.")
    constant = np.sum(gammaln(a)) - gammaln(np.sum(a))
    return np.sum(xlogy(a - 1.0, points.T).T, axis=0) - constant


DISTRIBUTIONS["multivariate_normal"] = {
    "logpdf": _normal_logpdf,
    "pdf": lambda *args, **kwargs: np.exp(_normal_logpdf(*args, **kwargs))}
DISTRIBUTIONS["dirichlet"] = {
    "logpdf": _dirichlet_logpdf, "pdf": lambda x, alpha: np.exp(_dirichlet_logpdf(x, alpha))}
