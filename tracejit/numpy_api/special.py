"""More functions of `scipy.special`: made of ops, in double precision for operands of any dtype."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.special_kinds import double_of_real, of_complex, of_floats
from tracejit.ops.calls import stop_gradient
from tracejit.ops.gamma import digamma, hurwitz, trigamma
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import FOREIGN, scipy_captures
from tracejit.trace.values.equations import apply, broadcast_dims, cast, is_weak
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.symbolic_ints import known_int

__all__ = ["EULER", "beyond_stirling", "betaln", "boxcox", "boxcox1p", "common_dtype", "exprel",
           "gammaln", "in_double", "log1prel", "log_ndtr", "ndtri", "recurrence", "rel_entr",
           "rgamma", "xlog1py", "xlogy"]


def common_dtype(operands: Iterable[object]) -> np.dtype:
    """Return the dtype of floats of a result: a Python number leaves float32 as it is."""
    double = np.dtype(np.float64)
    own = [as_tracer(x).dtype for x in operands if not is_weak(x)]
    return np.result_type(*(t if t.kind == "f" else double for t in own or (double,)))


def in_double(name: str, function: Callable[..., object]) -> Callable[..., Any]:
    """Return a function of reals that computes in double precision, and rounds at the end."""

    def capture(*operands: object) -> Any:
        given = [as_tracer(x) for x in operands]
        if any(x.dtype.kind == "c" for x in given):
            return of_complex(name, operands)
        broadcast_dims([x.dims for x in given])  # sizes that have to agree are one from here on
        dtype = common_dtype(operands)
        result: Any = function(*(cast(x, np.float64) for x in given))
        return result if dtype == np.float64 else cast(result, dtype)

    return of_floats(name, capture)


# --- gamma and beta functions -------------------------------------------------------------------


def gammaln(x: np.ndarray) -> Any:
    """Return the logarithm of the absolute value of the gamma function."""
    return np.where(x == -np.inf, -np.inf, apply("lgamma", x))


def _gamma(x: np.ndarray) -> Any:
    return apply("tgamma", x)


def _psi(x: np.ndarray) -> Any:
    return digamma(x)


def _loggamma(x: np.ndarray) -> Any:
    return np.where(x < 0.0, np.nan, apply("lgamma", x))


EULER = 0.5772156649015329


def _sign_by(x: np.ndarray) -> Any:
    """Return the sign of gamma(x) of an x below 0, as the parity of its floor has it."""
    return 1.0 - 2.0 * np.remainder(np.floor(x), 2.0)


def rgamma(x: np.ndarray) -> Any:
    """Return 1 / gamma(x): below a half reflected, where it has zeros and derivatives there."""
    low = (x < 0.5) & (x > -170.0)
    at = np.where(low, x, 0.0)
    whole = stop_gradient(np.floor(at + 0.5))
    turned = np.sin(math.pi * (at - whole)) / math.pi * (1.0 - 2.0 * np.remainder(whole, 2.0))
    far = (x <= -170.0) & (x == np.floor(x)) | (x > 171.624376956302)  # where gamma overflows
    above = 1.0 / apply("tgamma", np.where(low | far, 1.0, x))
    return np.where(low, turned * apply("tgamma", 1.0 - at), np.where(far, 0.0, above))


_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156,
             -3617 / 122400)


def beyond_stirling(t: np.ndarray) -> Any:
    """Return log(gamma(x)) less Stirling's formula, of t = 1 / x up to 0.1."""
    total: Any = 0.0
    for c in reversed(_STIRLING):
        total = total * (t * t) + c
    return total * t


def betaln(a: np.ndarray, b: np.ndarray) -> Any:
    """Return log|beta(a, b)|, without the cancellation of large terms: as R's `lbeta` does."""
    turned = a > b  # not the extrema: each of two equal numbers has a derivative of its own
    p, q = np.where(turned, b, a), np.where(turned, a, b)
    plain = apply("lgamma", p) + apply("lgamma", q) - apply("lgamma", p + q)
    far, both = (p > 0.0) & (q >= 10.0), p >= 10.0
    large, little = np.where(far, q, 10.0), np.where(far, p, 1.0)
    share = little / (little + large)
    rest = beyond_stirling(1.0 / large) - beyond_stirling(1.0 / (little + large))
    one = (apply("lgamma", little) + rest + little - little * np.log(little + large)
           + (large - 0.5) * np.log1p(-share))
    small = np.where(both, p, 10.0)
    two = (beyond_stirling(1.0 / small) + rest
           - 0.5 * np.log(large) + 0.5 * math.log(2.0 * math.pi)
           + (small - 0.5) * np.log(share) + large * np.log1p(-share))
    return np.where(far, np.where(both, two, one), plain)


def _beta(a: np.ndarray, b: np.ndarray) -> Any:
    small = (np.abs(a) < 20.0) & (np.abs(b) < 20.0)
    x, y = (np.where(small, v, 1.0) for v in (a, b))
    total = x + y
    pole = (total <= 0.0) & (total == np.floor(total))
    ratio = np.where(pole, apply("tgamma", x) * rgamma(np.where(pole, total, 1.0)),
                     apply("tgamma", x) / apply("tgamma", np.where(pole, 1.0, total)))
    safe_a, safe_b = (np.where(small, 1.0, v) for v in (a, b))
    sign: Any = 1.0
    for v in (safe_a, safe_b, safe_a + safe_b):
        sign = sign * np.where(v < 0.0, _sign_by(v), 1.0)
    return np.where(small, ratio * apply("tgamma", y), sign * np.exp(betaln(safe_a, safe_b)))


def _of_poles(a: np.ndarray, b: np.ndarray) -> tuple[Any, Any, Any, Any]:
    """Return where the beta function is infinite, two arguments to take elsewhere, and a sign.

    At a whole number up to 0 it is finite if the other is whole and small: it is reflected there.
    """
    poles = [(v <= 0.0) & (v == np.floor(v)) for v in (a, b)]
    turned = poles[1] & np.logical_not(poles[0])
    pole, other = np.where(turned, b, a), np.where(turned, a, b)
    either, rest = poles[0] | poles[1], 1.0 - pole - other
    known = either & (other == np.floor(other)) & (rest > 0.0)
    finite = known & (other > 0.0)
    pair = [np.where(finite, v, np.where(either, 1.0, w)) for v, w in ((rest, a), (other, b))]
    return either & np.logical_not(finite), *pair, np.where(known, _sign_by(other), 1.0)


def _is_far(a: np.ndarray, b: np.ndarray) -> Any:
    """Return whether one argument is infinite, and the other one above 0."""
    return ((a == np.inf) & (b > 0.0) & (b < np.inf)) | ((b == np.inf) & (a > 0.0) & (a < np.inf))


def _beta_of_all(a: np.ndarray, b: np.ndarray) -> Any:
    infinite, x, y, sign = _of_poles(a, b)
    return sign * np.where(infinite, np.inf, np.where(_is_far(a, b), 0.0, _beta(x, y)))


def _betaln_of_all(a: np.ndarray, b: np.ndarray) -> Any:
    infinite, x, y, _ = _of_poles(a, b)
    return np.where(infinite, np.inf, np.where(_is_far(a, b), -np.inf, betaln(x, y)))


def polygamma(n: object, x: object) -> Any:
    """Return the n-th derivative of digamma, as `scipy.special.polygamma`."""
    n = known_int(n, "the order of polygamma")
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool):
        raise refuse("scipy.special.polygamma of an order that is no constant int cannot be "
                     "captured", "Pass a Python int", "TJ205")
    if not 0 <= n <= 20:
        raise refuse(f"scipy.special.polygamma of order {n} cannot be captured",
                     "Orders 0 to 20 are", "TJ213")
    given: Any = double_of_real(x, "polygamma")
    if n == 1:
        return np.where(np.isneginf(given), np.inf, trigamma(given))
    return digamma(given) if n == 0 else _polygamma(int(n), given)


def _polygamma(n: int, x: np.ndarray) -> Any:
    """Return the n-th derivative of digamma for n > 1, below 0 by reflection.

    At poles it is as seen from above.
    """
    is_below = x <= 0.0
    sign: Any = (-1.0) ** (n + 1) * math.factorial(n)
    above = sign * hurwitz(n + 1, np.where(is_below, 1.0 - x, x))
    kept = np.where(is_below & np.isfinite(x), x, 0.25)
    r = kept - np.rint(kept)
    by_half: Any = np.tan(math.pi * np.where(np.abs(r) > 0.25, 0.5 - np.abs(r), np.abs(r)))
    side = np.where(np.signbit(r), -1.0, 1.0)
    cot = side * np.where(np.abs(r) > 0.25, by_half, 1.0 / by_half)
    p = np.array([1.0, 0.0])
    for _ in range(n):
        p = np.polymul([-math.pi, 0.0, -math.pi], np.polyder(p))
    slope: Any = p[0]
    for c in p[1:].tolist():
        slope = slope * cot + c
    below = (-1.0) ** n * above - math.pi * slope
    return np.where(is_below, np.where(np.isneginf(x), sign * np.inf, below), above)


def multigammaln(a: object, d: object) -> Any:
    """Return the logarithm of the multivariate gamma function."""
    d = known_int(d, "the dimension of multigammaln")
    if not isinstance(d, (int, np.integer)):
        raise refuse("scipy.special.multigammaln of a dimension that is no constant int cannot be "
                     "captured", "Pass a Python int", "TJ205")
    x: Any = as_tracer(a)
    if x.dtype.kind == "c":
        raise TypeError("ufunc 'gammaln' not supported for the input types, and the inputs could "
                        "not be safely coerced to any supported types according to the casting "
                        "rule 'safe'")
    require(np.all(x > 0.5 * (d - 1)), ValueError,
            "condition a (...) > 0.5 * (d-1) (...) not met")
    total: Any = d * (d - 1) * 0.25 * math.log(math.pi)
    for k in range(1, int(d) + 1):
        shifted: Any = cast(x + (1.0 - k) / 2.0, np.float64)
        total = total + gammaln(shifted)
    return total


# --- the normal distribution --------------------------------------------------------------------


def ndtri(p: np.ndarray) -> Any:
    """Return the quantiles of the normal distribution."""
    return apply("normal_quantile", p - 0.5, np.minimum(p, 1.0 - p))


def _erfinv(y: np.ndarray) -> Any:
    return apply("normal_quantile", 0.5 * y, 0.5 - 0.5 * np.abs(y)) * math.sqrt(0.5)


def _erfcinv(y: np.ndarray) -> Any:
    half = 0.5 * y
    return -math.sqrt(0.5) * ndtri(half)


def log_ndtr(x: np.ndarray) -> Any:
    """Return the logarithm of the normal distribution function; far below 0 by its series."""
    root = math.sqrt(0.5)
    above, below = x > 0.0, x < -20.0
    high = np.log1p(-0.5 * apply("erfc", np.where(above, x, 0.0) * root))
    low = np.log(0.5 * apply("erfc", -root * np.where(above | below, 0.0, x)))
    z = np.where(below, x, -20.0)
    t = 1.0 / (z * z)
    series: Any = 1.0
    for k in range(8, 0, -1):
        series = 1.0 - (2 * k - 1) * t * series
    far = -0.5 * z * z - np.log(-z) - 0.5 * math.log(2.0 * math.pi) + np.log(series)
    return np.where(above, high, np.where(below, far, low))


# --- entropies, losses, powers ------------------------------------------------------------------


def xlogy(x: np.ndarray, y: np.ndarray) -> Any:
    """Return x log(y), 0 where x is."""
    capture: Any = FOREIGN["scipy.special.xlogy"]
    return capture(x, y)


def xlog1py(x: np.ndarray, y: np.ndarray) -> Any:
    """Return x log(1 + y), 0 where x is."""
    capture: Any = FOREIGN["scipy.special.xlog1py"]
    return capture(x, y)


def rel_entr(x: np.ndarray, y: np.ndarray) -> Any:
    inside = (x > 0.0) & (y > 0.0)
    a, b = np.where(inside, x, 1.0), np.where(inside, y, 1.0)
    far = np.where((x == 0.0) & (y >= 0.0), 0.0, np.inf)
    far = np.where(np.isnan(x) | np.isnan(y), np.nan, far)
    ratio = a / b
    extreme = (ratio == np.inf) | (ratio < np.finfo(np.float64).tiny)
    safe = np.where(extreme, 1.0, ratio)
    away = np.where(extreme, np.log(a) - np.log(b), np.log(safe))
    return np.where(inside, a * away, far)


def _kl_div(x: np.ndarray, y: np.ndarray) -> Any:
    inside = (x > 0.0) & (y > 0.0)
    a, b = np.where(inside, x, 1.0), np.where(inside, y, 1.0)
    at_zero = (x == 0.0) & (y >= 0.0)
    far = np.where(at_zero, y - np.where(at_zero, x, 0.0), np.inf)
    far = np.where(np.isnan(x) | np.isnan(y), np.nan, far)
    return np.where(inside, a * np.log(a / b) - a + b, far)


def _huber(delta: np.ndarray, r: np.ndarray) -> Any:
    size = np.abs(r)
    loss = np.where(size <= delta, 0.5 * r * r, delta * (size - 0.5 * delta))
    return np.where(delta < 0.0, np.inf, loss)


def _pseudo_huber(delta: np.ndarray, r: np.ndarray) -> Any:
    is_zero, far = (delta == 0.0) | (r == 0.0), np.isinf(r) & (delta > 0.0) & (delta < np.inf)
    d = np.where(is_zero, 1.0, delta)
    u = np.where(far, 0.0, r) / d
    square = u * u
    loss = d * d * np.where(square == np.inf, square, square / (np.sqrt(1.0 + square) + 1.0))
    return np.where((delta < 0.0) | far, np.inf, np.where(delta == 0.0, 0.0, loss))


def exprel(x: np.ndarray) -> Any:
    small = np.abs(x) < 0.5
    t = np.where(small, x, 0.0)
    series: Any = 0.0
    for k in range(16, -1, -1):
        series = series * t + 1.0 / math.factorial(k + 1)
    large = np.where(small | (x == np.inf), 1.0, x)
    return np.where(small, series, np.where(x == np.inf, np.inf, np.expm1(large) / large))


def boxcox(x: np.ndarray, power: np.ndarray) -> Any:
    return _boxcox_of_log(np.log(np.where((x > 0.0) & (x < np.inf), x, 1.0)), x, power)


def _boxcox_of_log(log: np.ndarray, x: np.ndarray, power: np.ndarray) -> Any:
    """Return the transform of an x of which the logarithm is given, but at 0 and infinity."""
    exponent = power * log
    near = np.abs(exponent) < 1.0  # else the parts of a derivative cancel
    result = np.where(near, log * exprel(np.where(near, exponent, 0.0)), (np.exp(
        np.where(near, 1.0, exponent)) - 1.0) / np.where(near, 1.0, power))
    away = -1.0 / np.where(power < 0.0, power, -1.0)
    far = np.where(power < 0.0, away, np.where(power < np.inf, np.inf, np.nan))
    result = np.where(x == np.inf, far, result)
    at_zero = np.where(power > 0.0, -1.0 / np.where(power == 0.0, 1.0, power), -np.inf)
    result = np.where(x > 0.0, result, np.where(x == 0.0, at_zero, np.nan))
    return np.where(np.abs(power) < np.inf, result, np.where(
        (power == -np.inf) & (x > 1.0), 0.0, np.where((power == np.inf) & (x < 1.0) & (
            x >= 0.0), -0.0, np.nan)))


def boxcox1p(x: np.ndarray, power: np.ndarray) -> Any:
    log = np.log1p(np.where((x > -1.0) & (x < np.inf), x, 0.0))
    return _boxcox_of_log(log, x + 1.0, power)


def log1prel(t: np.ndarray) -> Any:
    """Return log(1 + t) / t."""
    small = np.abs(t) < 0.1
    u = np.where(small, t, 0.0)
    series: Any = 0.0
    for k in range(20, -1, -1):
        series = series * -u + 1.0 / (k + 1)
    large = np.where(small, 1.0, t)
    return np.where(small, series, np.log1p(large) / large)


def _power_log(x: np.ndarray, power: np.ndarray) -> Any:
    known = np.where(np.isinf(x), 0.0, x)
    return known * log1prel(power * known)


def _at_ends(x: np.ndarray, power: np.ndarray, inside: np.ndarray, low: float) -> Any:
    """Return an inverse with its values at infinite numbers: NaN where the transform has none."""
    reached = (power * np.sign(x) >= 0.0) & (np.abs(power) < np.inf)
    end = np.where(reached, np.where(x > 0.0, np.inf, low), np.nan)
    return np.where(np.isinf(x), end, inside)


def _inv_boxcox(x: np.ndarray, power: np.ndarray) -> Any:
    return _at_ends(x, power, np.exp(_power_log(x, power)), 0.0)


def _inv_boxcox1p(x: np.ndarray, power: np.ndarray) -> Any:
    return _at_ends(x, power, np.expm1(_power_log(x, power)), -1.0)


# --- polynomials --------------------------------------------------------------------------------


def recurrence(name: str, first: Callable[..., object], step: Callable[..., object]) -> Any:
    """Return the capture of orthogonal polynomials of constant degree, by their recurrence."""

    def capture(n: object, x: object) -> Any:
        n = known_int(n, "the degree of a polynomial")
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or not 0 <= n <= 200:
            raise refuse(f"scipy.special.{name} of a degree that is no constant int of 0 to 200 "
                         "cannot be captured", "Pass a Python int", "TJ205")
        given: Any = double_of_real(x, name)
        before, last = np.ones_like(given), first(given)
        for k in range(1, int(n)):
            before, last = last, step(k, given, last, before)
        return before if n == 0 else last

    return capture


_POLYNOMIALS: dict[str, Any] = {
    "eval_legendre": (lambda x: x, lambda k, x, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1)),
    "eval_chebyt": (lambda x: x, lambda k, x, p, q: 2.0 * x * p - q),
    "eval_chebyu": (lambda x: 2.0 * x, lambda k, x, p, q: 2.0 * x * p - q),
    "eval_hermite": (lambda x: 2.0 * x, lambda k, x, p, q: 2.0 * x * p - 2.0 * k * q),
    "eval_hermitenorm": (lambda x: x, lambda k, x, p, q: x * p - k * q),
    "eval_laguerre": (lambda x: 1.0 - x,
                      lambda k, x, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1)),
}

_DOUBLE: dict[str, Callable[..., object]] = {
    "gammaln": gammaln, "gamma": _gamma, "psi": _psi, "loggamma": _loggamma, "rgamma": rgamma,
    "betaln": _betaln_of_all, "beta": _beta_of_all, "ndtri": ndtri, "erfinv": _erfinv,
    "erfcinv": _erfcinv,
    "log_ndtr": log_ndtr, "rel_entr": rel_entr, "kl_div": _kl_div, "huber": _huber,
    "pseudo_huber": _pseudo_huber, "exprel": exprel, "boxcox": boxcox, "boxcox1p": boxcox1p,
    "inv_boxcox": _inv_boxcox, "inv_boxcox1p": _inv_boxcox1p,
    "exp10": lambda x: np.power(10.0, x),
}

scipy_captures("scipy.special", {
    **{name: in_double(name, function) for name, function in _DOUBLE.items()},
    **{name: recurrence(name, *rules) for name, rules in _POLYNOMIALS.items()},
    "polygamma": polygamma, "multigammaln": multigammaln,
})
