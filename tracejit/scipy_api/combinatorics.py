"""Binomial coefficients, factorials and the like, and polynomials with parameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.special import betaln, gammaln, in_double, rgamma
from tracejit.numpy_api.special_kinds import double_of_real
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import apply, cast
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.symbolic_ints import known_int

__all__: list[str] = []


def _binom(n: np.ndarray, k: np.ndarray) -> Any:
    near = (np.abs(n) < 100.0) & (np.abs(k) < 100.0) & (np.abs(n - k) < 100.0)
    whole = (n < 0.0) & (n == np.floor(n))
    a, b = np.where(near & np.logical_not(whole), n, 1.0), np.where(near, k, 1.0)
    product = apply("tgamma", a + 1.0) * rgamma(b + 1.0) * rgamma(a - b + 1.0)
    inside = np.logical_not(near) & (k > -1.0) & (n - k > -1.0)
    c, d = np.where(inside, n, 1.0), np.where(inside, k, 1.0)
    far = np.exp(-betaln(c - d + 1.0, d + 1.0)) / (c + 1.0)
    value = np.where(near, product, np.where(inside, far, _binom_outside(n, k)))
    ends = (n == np.inf) & (k < 20.0) & (k == np.floor(k))
    of_infinity = np.where(k == 0.0, 1.0, np.where(k < 0.0, 0.0, np.inf))
    return np.where(whole, np.nan, np.where(ends, of_infinity, value))


def _binom_outside(n: np.ndarray, k: np.ndarray) -> Any:
    """Return the coefficient for k above n or below 0: 0 for ints, by Euler's reflection."""
    beyond = np.maximum(k, n - k)
    known = (n > -1.0) & (beyond > n)
    c, d = np.where(known, n, 1.0), np.where(known, beyond, 3.0)
    value = -np.exp(betaln(c + 1.0, d - c)) * _sine_of_turns(c - d) / math.pi
    return np.where(known, value + 0.0, _binom_below(n, np.maximum(k, n - k)))


def _binom_below(n: np.ndarray, k: np.ndarray) -> Any:
    """Return the coefficient for n below 0 that is no int, and k above n / 2: by reflections."""
    known = (n < 0.0) & (n != np.floor(n))
    c, d = np.where(known, n, -0.5), np.where(known, k, 1.0)
    ratio = _sine_of_turns(c - d) / _sine_of_turns(c)
    above = d > -1.0
    share = np.exp(-betaln(-c, np.where(above, d, 1.0) + 1.0)) / np.where(above, d - c, 1.0)
    low = np.where(above, -1.0, d)
    both = -np.exp(betaln(-low, np.where(above, 1.0, d - c))) * _sine_of_turns(low) / math.pi
    return np.where(known, np.where(above, share, both) * ratio + 0.0, np.nan)


def _sine_of_turns(x: np.ndarray) -> Any:
    """Return sin(pi x), exactly 0 where x is an int."""
    turns = np.rint(x)
    sign = np.where(np.remainder(turns, 2.0) == 0.0, 1.0, -1.0)
    return sign * np.sin(math.pi * (x - turns))


def _refuse_exact(name: str, exact: object) -> None:
    if exact:
        raise refuse(f"scipy.special.{name} with exact=True of traced numbers cannot be captured",
                     "Leave it out", "TJ205")


def _arrays(name: str, *operands: object) -> list[Any]:
    """Return operands as arrays of their own dtypes, as SciPy makes them."""
    arrays = [as_tracer(x) for x in operands]
    for x in arrays:
        double_of_real(x, f"scipy.special.{name}")
    return arrays


def _where(valid: np.ndarray, x: np.ndarray, other: int) -> Any:
    """Return x where a formula holds, in its own dtype."""
    return np.where(valid, x, cast(other, x.dtype))


def _doubles(name: str, *operands: object) -> list[Any]:
    return [double_of_real(x, f"scipy.special.{name}") for x in operands]


def _poch(z: np.ndarray, m: np.ndarray) -> Any:
    near = (np.abs(z) < 100.0) & (np.abs(z + m) < 100.0)
    a, b = np.where(near, z, 1.0), np.where(near, m, 0.0)
    above = a + b
    pole = (above <= 0.0) & (above == np.floor(above))
    both = pole & (a <= 0.0) & (a == np.floor(a))
    product = apply("tgamma", np.where(pole, 1.0, above)) * rgamma(a)
    turned = np.where(both, 1.0 - a, 1.0)
    ratio = apply("tgamma", turned) * rgamma(np.where(both, 1.0 - above, 1.0))
    sign = np.where(np.remainder(b, 2.0) == 0.0, 1.0, -1.0)
    product = np.where(both, sign * ratio, np.where(pole, np.inf, product))
    c, d = np.where(near, 1.0, z), np.where(near, 0.0, m)
    far = np.exp(gammaln(c + d) - gammaln(c))
    inside = (c > 0.0) & (c + d > 0.0)
    return np.where(near, product, np.where(inside, far, np.nan))


_BINOM, _POCH = in_double("binom", _binom), in_double("poch", _poch)
_GAMMA = in_double("gamma", lambda x: apply("tgamma", x))


def _valid_or(name: str, valid: object, value: object, other: float) -> Any:
    """Return a value where it is valid: SciPy's other one is a float64, also for one float32."""
    found: Any = value
    if found.dtype == np.float32 and not np.ndim(found):
        require(valid, NotCaptured, f"scipy.special.{name} of one float32 outside of its range, "
                "which is a float64 in SciPy, cannot be captured")
        return found
    return np.where(valid, found, other)[()]  # type: ignore[call-overload]


def comb(N: object, k: object, *, exact: bool = False, repetition: bool = False) -> Any:
    """Return the number of combinations: of numbers that wrap around as SciPy's do."""
    _refuse_exact("comb", exact)
    n, count = _arrays("comb", N, k)
    if repetition:
        none = (count == 0) & (n >= 0)
        value = _BINOM(np.where(none, 1, n + count - 1), count)
        return _valid_or("comb", np.logical_not(none), value, 1.0)
    valid = (count <= n) & (n >= 0) & (count >= 0)
    value = _BINOM(_where(valid, n, 1), _where(valid, count, 0))
    return _valid_or("comb", valid, value, 0.0)


def perm(N: object, k: object, exact: bool = False) -> Any:
    """Return the number of permutations."""
    _refuse_exact("perm", exact)
    n, count = _arrays("perm", N, k)
    valid = (count <= n) & (n >= 0) & (count >= 0)
    first = n - count + 1
    value = _POCH(_where(valid, first, 1), _where(valid, count, 0))
    return _valid_or("perm", valid, value, 0.0)


def factorial(n: object, exact: bool = False, extend: str = "zero") -> Any:
    """Return the factorial: of arrays with axes in double precision."""
    if extend != "zero":
        raise refuse("scipy.special.factorial with extend= cannot be captured", "Leave it out",
                     "TJ203")
    x: Any = as_tracer(n)
    if x.dtype.kind == "b":
        raise ValueError("Unsupported data type for `n` in factorial: bool\nPermitted data types "
                         "are integers and floating point numbers, as well as complex numbers if "
                         "`extend='complex' is passed.")
    if x.dtype.kind == "c":
        raise ValueError("In order to use non-integer arguments, you must opt into this by passing "
                         "extend='complex'.")
    _refuse_exact("factorial", exact)
    inside = x >= 0
    value = _GAMMA(_where(inside, x, 0) + 1)
    result = np.where(inside, value, np.where(x < 0, 0.0, np.nan))[()]
    return cast(result, x.dtype if x.dtype.kind == "f" and not x.is_array else np.float64)


def _gammasgn(x: np.ndarray) -> Any:
    odd = np.remainder(np.floor(x), 2.0) != 0.0
    sign = np.where((x < 0.0) & odd, -1.0, 1.0)
    return np.where((x < 0.0) & (x == np.floor(x)), np.nan, np.where(x == x, sign, np.nan))


# --- polynomials --------------------------------------------------------------------------------


def _jacobi(n: int, a: np.ndarray, b: np.ndarray, x: np.ndarray) -> Any:
    """Return Jacobi's polynomial: Abramowitz and Stegun, 22.7.1."""
    before: Any = 1.0 + 0.0 * x
    last = 0.5 * (a - b + (a + b + 2.0) * x)
    for k in range(1, n):
        s = 2.0 * k + a + b
        first = 2.0 * (k + 1) * (k + a + b + 1.0) * s
        second = (s + 1.0) * (a * a - b * b) + s * (s + 1.0) * (s + 2.0) * x
        before, last = last, (second * last - 2.0 * (k + a) * (k + b) * (s + 2.0) * before) / first
    return before if n == 0 else last


def _gegenbauer(n: int, a: np.ndarray, x: np.ndarray) -> Any:
    before, last = 1.0 + 0.0 * x, 2.0 * a * x
    for k in range(1, n):
        before, last = last, (2.0 * (k + a) * x * last - (k + 2.0 * a - 1.0) * before) / (k + 1)
    return before if n == 0 else last


def _laguerre(n: int, a: np.ndarray, x: np.ndarray) -> Any:
    before, last = 1.0 + 0.0 * x, 1.0 + a - x
    for k in range(1, n):
        before, last = last, ((2 * k + 1 + a - x) * last - (k + a) * before) / (k + 1)
    return before if n == 0 else last


def _chebyshev(first: float) -> Callable[..., Any]:
    def polynomial(n: int, x: np.ndarray) -> Any:
        before, last = 1.0 + 0.0 * x, first * x
        for _ in range(1, n):
            before, last = last, 2.0 * x * last - before
        return before if n == 0 else last

    return polynomial


def _legendre(n: int, x: np.ndarray) -> Any:
    before, last = 1.0 + 0.0 * x, x
    for k in range(1, n):
        before, last = last, ((2 * k + 1) * x * last - k * before) / (k + 1)
    return before if n == 0 else last


def _shifted_jacobi(n: int, p: np.ndarray, q: np.ndarray, x: np.ndarray) -> Any:
    return _jacobi(n, p - q, q - 1.0, 2.0 * x - 1.0) * rgamma(2.0 * n + p) * apply(
        "tgamma", n + p) * math.factorial(n)


_POLYNOMIALS: dict[str, Callable[..., Any]] = {
    "eval_jacobi": _jacobi, "eval_gegenbauer": _gegenbauer, "eval_genlaguerre": _laguerre,
    "eval_chebyc": lambda n, x: 2.0 * _chebyshev(1.0)(n, 0.5 * x),
    "eval_chebys": lambda n, x: _chebyshev(2.0)(n, 0.5 * x),
    "eval_sh_chebyt": lambda n, x: _chebyshev(1.0)(n, 2.0 * x - 1.0),
    "eval_sh_chebyu": lambda n, x: _chebyshev(2.0)(n, 2.0 * x - 1.0),
    "eval_sh_legendre": lambda n, x: _legendre(n, 2.0 * x - 1.0),
    "eval_sh_jacobi": _shifted_jacobi,
}


def _of_degree(name: str) -> Callable[..., Any]:
    def capture(n: object, *operands: object) -> Any:
        n = known_int(n, "the degree of a polynomial")
        if isinstance(n, TracedOperand) or not isinstance(n, (int, np.integer)) or not (
                0 <= n <= 200):
            raise refuse(f"scipy.special.{name} of a degree that is no constant int of 0 to 200 "
                         "cannot be captured", "Pass a Python int", "TJ205")
        return _POLYNOMIALS[name](int(n), *_doubles(name, *operands))

    return capture


scipy_captures("scipy.special", {
    "binom": _BINOM, "poch": _POCH,
    "gammasgn": in_double("gammasgn", _gammasgn), "comb": comb, "perm": perm,
    "factorial": factorial, **{name: _of_degree(name) for name in _POLYNOMIALS},
})
