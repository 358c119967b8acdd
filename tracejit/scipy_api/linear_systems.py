"""Linear systems of `scipy.signal` in their forms: coefficients, zeros and poles, states."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.ir.dims import Dim
from tracejit.numpy_api.characteristic import poly, polynomial_of
from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.fits import roots
from tracejit.numpy_api.grids import eye
from tracejit.numpy_api.linalg import solve
from tracejit.numpy_api.matrices import expm
from tracejit.scipy_api.line_filters import known_length
from tracejit.scipy_api.taking import captures_of_some
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import apply, as_operand, cast, dims_of, same_dim
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require, require_ours

__all__ = ["matrices_of", "normalized", "numbers", "zeros", "zpk2tf"]

_LEADING = ("scipy.signal of {} whose first coefficient is zero has a result whose size depends on "
            "data, and is not captured: leave such coefficients out")


_STATES = "how many states and inputs a system has"


def zeros(*shape: Dim) -> Any:
    """Return zeros of sizes that are known, as those of a NumPy array are not."""
    return apply("full", np.float64(0), shape=shape)


def numbers(x: np.ndarray) -> Any:
    """Return numbers that were computed during capture as an array whose size is known."""
    if not len(x):
        return zeros(0)
    return np.stack([as_tracer(item) for item in x.tolist()])


def _row(x: object) -> Any:
    return np.atleast_1d(as_inexact(x))


def normalized(b: object, a: object) -> tuple[Any, Any]:
    """Return both polynomials over the first coefficient of the denominator."""
    num, den = _row(b), _row(a)
    if den.ndim != 1:
        raise ValueError("Denominator polynomial must be rank-1 array.")
    if num.ndim > 2:
        raise ValueError("Numerator polynomial must be rank-1 or rank-2 array.")
    require_ours(den[0] != 0, NotCaptured, _LEADING.format("a denominator"))
    num, den = num / den[0], den / den[0]
    require_ours(np.any(np.abs(num[..., 0]) > 1e-14), NotCaptured, _LEADING.format("a numerator"))
    if num.ndim == 2 and same_dim(dims_of(num)[0], 1):
        num = num[0]
    return num, den


def _monic(given: object) -> Any:
    """Return the polynomial of roots, from traced ones or as SciPy makes it."""
    return polynomial_of(given) if isinstance(given, TracedOperand) else np.poly(
        np.asarray(given))


def zpk2tf(z: object, p: object, k: object) -> tuple[Any, Any]:
    """Return the coefficients of a system with these zeros, poles and gain."""
    if as_tracer(z).ndim > 1:
        raise refuse("scipy.signal.zpk2tf of several filters cannot be captured", "Use a loop",
                     "TJ207")
    for x in (z, p):
        if isinstance(x, TracedOperand) and as_tracer(x).dtype.char not in "dD":
            raise refuse(f"scipy.signal.zpk2tf of {as_tracer(x).dtype} cannot be captured",
                         "Convert zeros and poles with .astype(np.float64)", "TJ206")
    gain: Any = np.atleast_1d(as_inexact(k))
    return gain * _monic(np.atleast_1d(z)), np.atleast_1d(_monic(np.atleast_1d(p)))  # type: ignore[call-overload]


def tf2zpk(b: object, a: object) -> Any:
    """Return zeros, poles and gain; the zeros and poles are complex."""
    num, den = normalized(b, a)
    if num.ndim != 1:
        raise refuse("scipy.signal.tf2zpk of several filters cannot be captured", "Use a loop",
                     "TJ207")
    dtype = np.result_type(num.dtype, den.dtype)
    num, den = cast(num, dtype), cast(den, dtype)
    return roots(num / num[0]), roots(den), num[0]


def tf2ss(num: object, den: object) -> Any:
    """Return the controller canonical form of a system."""
    top, low = normalized(num, den)
    rows = top if top.ndim == 2 else top[None]
    k = known_length(low, "the length of a denominator")
    width = known_length(rows[0], "the length of a numerator")
    if width > k:
        raise ValueError("Improper transfer function. `num` is longer than `den`.")
    rows = np.concatenate([cast(zeros(dims_of(rows)[0], k - width), rows.dtype), rows], axis=1)
    direct = rows[:, :1]
    if k == 1:
        return zeros(1, 1), zeros(1, 1), zeros(dims_of(rows)[0], 1), direct
    below = eye(k - 2, k - 1)
    states = np.concatenate([cast(-low[None, 1:], np.result_type(low.dtype, np.float64)), below])
    return states, eye(k - 1, 1), rows[:, 1:] - np.outer(rows[:, 0], low[1:]), direct


def matrices_of(*given: object) -> list[Any]:
    """Return the four matrices of a system, each with two axes, of sizes that agree."""
    matrices: list[Any] = [np.atleast_2d(as_inexact(x)) for x in given]
    a, b, c, d = matrices
    n, p, q = dims_of(a)[0], dims_of(b)[1], dims_of(c)[0]
    for name, x, shape in (("A", a, (n, n)), ("B", b, (n, p)), ("C", c, (q, n)), ("D", d, (q, p))):
        if not all(map(same_dim, dims_of(x), shape)):
            raise ValueError(f"Parameter {name} has shape {x.shape} but should be of a system with "
                             f"{n} states!")
    return matrices


def ss2tf(A: object, B: object, C: object, D: object, input: int = 0) -> Any:
    """Return the coefficients of a system of states, of one of its inputs."""
    if any(x is None for x in (A, B, C, D)):
        raise refuse("scipy.signal.ss2tf without a matrix cannot be captured", "Pass zeros",
                     "TJ203")
    a, b, c, d = matrices_of(A, B, C, D)
    count = known_length(d[0], "how many inputs a system has")
    if input >= count:
        raise ValueError("System does not have the input specified.")
    b, d = b[:, input:input + 1], d[:, input:input + 1]
    den = poly(a)
    rows = [poly(a - b @ c[k:k + 1]) + (d[k] - 1) * den
            for k in range(known_length(d, "how many outputs a system has"))]
    return np.stack(rows), den


_SHARES = {"bilinear": 0.5, "tustin": 0.5, "euler": 0.0, "forward_diff": 0.0,
           "backward_diff": 1.0}


def cont2discrete(system: tuple[object, ...], dt: np.ndarray, method: str = "zoh",
                  alpha: np.ndarray | None = None) -> Any:
    """Return a system in steps of time from one in continuous time."""
    if not isinstance(system, (tuple, list)):
        raise refuse("scipy.signal.cont2discrete of an object cannot be captured",
                     "Pass the tuple of its arrays", "TJ203")
    if len(system) == 2:
        found = cont2discrete(tf2ss(*system), dt, method, alpha)
        return (*ss2tf(*found[:4]), dt)
    if len(system) == 3:
        top, low = zpk2tf(*system)
        found = cont2discrete(tf2ss(top, low), dt, method, alpha)
        num, den = ss2tf(*found[:4])
        late = method == "zoh" and not same_dim(dims_of(top)[0], dims_of(low)[0])
        return (*tf2zpk(num[:, 1:] if late else num, den), dt)  # nothing goes through at once
    if len(system) != 4:
        raise ValueError("First argument must either be a tuple of 2 (tf), 3 (zpk), or 4 (ss) "
                         "arrays.")
    given: list[Any] = [as_inexact(x) for x in system]
    a, b, c, d = given
    if method in _SHARES:
        method, alpha = "gbt", _SHARES[method]  # type: ignore[assignment]
    if method == "gbt":
        if alpha is None:
            raise ValueError("Alpha parameter must be specified for the generalized bilinear "
                             "transform (gbt) method")
        require(np.logical_and(alpha >= 0, alpha <= 1), ValueError, "Alpha parameter must be "
                "within the interval [0,1] for the gbt method")
        return (*_by_bilinear(a, b, c, d, dt, alpha), dt)
    if method not in _HOLDS:
        raise ValueError(f"Unknown transformation method '{method}'")
    return (*_HOLDS[method](a, b, c, d, dt), dt)


def _by_bilinear(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray, dt: np.ndarray,
                 alpha: np.ndarray) -> Any:
    one = eye(as_operand(dims_of(a)[0]))
    left: Any = one - alpha * dt * a
    moved = solve(left, dt * b)
    return (solve(left, one + (1.0 - alpha) * dt * a), moved,
            np.transpose(solve(np.transpose(left), np.transpose(c))), d + alpha * (c @ moved))


def _zero_order(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray, dt: np.ndarray) -> Any:
    n, m = known_length(a, _STATES), known_length(b[0], _STATES)
    upper = np.concatenate([a, b], axis=1)
    whole: Any = expm(dt * np.concatenate([upper, zeros(m, n + m)]))
    return whole[:n, :n], whole[:n, n:], c, d


def _first_order(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray,
                 dt: np.ndarray) -> Any:
    n, m = known_length(a, _STATES), known_length(b[0], _STATES)
    upper = np.concatenate([a * dt, b * dt, zeros(n, m)], axis=1)
    middle = np.concatenate([zeros(m, n + m), eye(m)], axis=1)
    whole: Any = expm(np.concatenate([upper, middle, zeros(m, n + 2 * m)]))
    last = whole[:n, n + m:]
    return (whole[:n, :n], whole[:n, n:n + m] - last + whole[:n, :n] @ last, c, d + c @ last)


def _impulse(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray, dt: np.ndarray) -> Any:
    require(np.all(np.abs(d) <= 1e-8), ValueError, "Impulse method is only applicable to strictly "
            "proper systems")
    grown: Any = expm(a * dt)
    return grown, grown @ b * dt, c, c @ b * dt


_HOLDS = {"zoh": _zero_order, "foh": _first_order, "impulse": _impulse}

captures_of_some("scipy.signal", {
    "normalize": normalized, "tf2zpk": tf2zpk, "zpk2tf": zpk2tf, "tf2ss": tf2ss, "ss2tf": ss2tf,
    "cont2discrete": cont2discrete}, least=4)
