"""Answers of linear systems of `scipy.signal` in time, and changes between their forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.grids import eye
from tracejit.numpy_api.matrices import expm
from tracejit.scipy_api.line_filters import known_length
from tracejit.scipy_api.linear_systems import matrices_of, ss2tf, tf2ss, tf2zpk, zeros, zpk2tf
from tracejit.scipy_api.plain_systems import driven, stepped
from tracejit.scipy_api.responses import system_of
from tracejit.scipy_api.taking import captures_of_finite
from tracejit.trace.ground.context import refuse
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import cast, dims_of
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []

_STEPS = "how many times a system is asked at"
_STATES = "how many states and inputs a system has"


def zpk2ss(z: object, p: object, k: object) -> Any:
    """Return the matrices of a system with these zeros, poles and gain."""
    return tf2ss(*zpk2tf(z, p, k))


def ss2zpk(A: object, B: object, C: object, D: object, input: int = 0) -> Any:
    """Return zeros, poles and gain of a system of states, of one of its inputs."""
    top, low = ss2tf(A, B, C, D, input)
    return tf2zpk(top[0] if known_length(top, "how many outputs a system has") == 1 else top, low)


def abcd_normalize(A: object = None, B: object = None, C: object = None, D: object = None) -> Any:
    """Return the four matrices of a system, of which what is left out is zero."""
    given: list[Any] = [None if x is None else np.atleast_2d(as_inexact(x)) for x in (A, B, C, D)]
    a, b, c, d = given
    for name, choices in (("n", (a, b, c)), ("p", (b, d)), ("q", (c, d))):
        if all(x is None for x in choices):
            raise ValueError(f"Dimension {name} is undefined for the parameters that are None!")
    n = dims_of(a)[0] if a is not None else dims_of(b)[0] if b is not None else dims_of(c)[1]
    p = dims_of(b)[1] if b is not None else dims_of(d)[1]
    q = dims_of(c)[0] if c is not None else dims_of(d)[0]
    found = [zeros(*shape) if x is None else x for x, shape in zip(
        given, ((n, n), (n, p), (q, n), (q, p)), strict=True)]
    return tuple(matrices_of(*found))


def _states(system: object, name: str) -> list[Any]:
    """Return the matrices of a system in any form."""
    parts = system_of(system, name)
    if len(parts) == 2:
        parts = tf2ss(*parts)
    elif len(parts) == 3:
        parts = zpk2ss(*parts)
    if len(parts) != 4:
        raise ValueError("A system is a tuple of 2 (tf), 3 (zpk), or 4 (ss) arrays.")
    return matrices_of(*parts)


def _times(T: object) -> tuple[Any, int]:
    given: Any = np.atleast_1d(as_tracer(T))
    if given.ndim != 1:
        raise ValueError("T must be a rank-1 array.")
    count = known_length(given, _STEPS)
    require(given[0] >= 0, ValueError, "Initial time must be nonnegative")
    if count > 1:
        require(np.allclose(np.diff(given), given[1] - given[0]), ValueError,
                "Time steps are not equally spaced.")
    return given, count


def _inputs(U: object, count: int, width: int) -> Any:
    """Return the inputs of a system, a row for each time; None for none."""
    if U is None or (isinstance(U, (int, float)) and U == 0.0):
        return None
    given: Any = np.atleast_1d(as_inexact(U))
    given = given[:, None] if given.ndim == 1 else given
    if known_length(given, _STEPS) != count:
        raise ValueError("U must have the same number of rows as elements in T.")
    if known_length(given[0], _STATES) != width:
        raise ValueError("System does not define that many inputs.")
    return given


def _additions(a: np.ndarray, b: np.ndarray, dt: np.ndarray, u: np.ndarray, interp: bool) -> Any:
    """Return how states grow in a step, and what the inputs add to them in each."""
    n, m = known_length(a, _STATES), known_length(b[0], _STATES)
    upper = np.concatenate([a * dt, b * dt], axis=1)
    if not interp:
        whole: Any = np.transpose(expm(np.concatenate([upper, zeros(m, n + m)])))
        return whole[:n, :n], u[:-1] @ whole[n:, :n]
    upper = np.concatenate([upper, zeros(n, m)], axis=1)
    middle = np.concatenate([zeros(m, n + m), eye(m)], axis=1)
    whole = np.transpose(expm(np.concatenate([upper, middle, zeros(m, n + 2 * m)])))
    last = whole[n + m:, :n]
    return whole[:n, :n], u[:-1] @ (whole[n:n + m, :n] - last) + u[1:] @ last


def _simulated(matrices: list[np.ndarray], U: object, T: object, X0: object, interp: bool) -> Any:
    """Return the times, the output and the states of a system, with all their axes."""
    a, b, c, d = matrices
    at, count = _times(T)
    n = known_length(a, _STATES)
    u = _inputs(U, count, known_length(b[0], _STATES))
    dtype = np.result_type(a.dtype, np.float64)
    start: Any = zeros(n) if X0 is None else as_inexact(X0)
    start = cast(as_tracer(np.broadcast_to(start, (n,))), dtype)
    start = start @ expm(np.transpose(a) * at[0])
    if count == 1:
        states = start[None]
    else:
        dt = at[1] - at[0]
        if u is None:
            grown, given = np.transpose(expm(a * dt)), cast(zeros(count - 1, n), dtype)
        else:
            grown, given = _additions(a, b, dt, u, interp)
        states = call_function(driven, (grown, given, start), {})
    output = states @ np.transpose(c)
    return at, output if u is None else output + u @ np.transpose(d), states


def lsim(system: object, U: object, T: object, X0: object = None, interp: bool = True) -> Any:
    """Return times, and the output and states of a system that inputs drive."""
    at, output, states = _simulated(_states(system, "lsim"), U, T, X0, interp)
    return at, np.squeeze(output), np.squeeze(states)


def _require_times(T: object, name: str) -> None:
    if T is None:
        raise refuse(f"scipy.signal.{name} without T= cannot be captured",
                     "Pass the times: SciPy chooses them by the slowest pole, which is data",
                     "TJ203")


def impulse(system: object, X0: object = None, T: object = None, N: object = None) -> Any:
    """Return times, and the answer of a system to an impulse."""
    _require_times(T, "impulse")
    matrices = _states(system, "impulse")
    b = matrices[1]
    if known_length(b[0], _STATES) != 1:
        raise refuse("scipy.signal.impulse of a system with several inputs cannot be captured",
                     "Pass one column of B", "TJ207")
    start = np.squeeze(b if X0 is None else b + as_inexact(X0))
    at, output, _ = _simulated(matrices, None, T, start, False)
    return at, np.squeeze(output)


def step(system: object, X0: object = None, T: object = None, N: object = None) -> Any:
    """Return times, and the answer of a system to inputs of 1."""
    _require_times(T, "step")
    at: Any = np.atleast_1d(as_tracer(T))
    found, output, _ = _simulated(_states(system, "step"), np.ones(at.shape), T, X0, False)
    return found, np.squeeze(output)


# --- in steps of time -----------------------------------------------------------------------------


def _in_steps(system: object, name: str) -> tuple[list[Any], Any, bool]:
    parts = system_of(system, name)
    return _states(parts[:-1], name), parts[-1], len(parts) == 5


def _sequence(matrices: list[np.ndarray], u: np.ndarray, x0: object) -> tuple[Any, Any]:
    a, b, c, d = matrices
    n = known_length(a, _STATES)
    start = zeros(n) if x0 is None else np.broadcast_to(as_inexact(x0), (n,))
    states = call_function(stepped, (a, u @ np.transpose(b), cast(as_tracer(start), np.float64)),
                           {})
    return states @ np.transpose(c) + u @ np.transpose(d), states


def dlsim(system: object, u: object, t: object = None, x0: object = None) -> Any:
    """Return times, the output and, of a system of states, the states that inputs lead to."""
    if t is not None:
        raise refuse("scipy.signal.dlsim with t= cannot be captured",
                     "Interpolate the inputs at its steps, and leave it out", "TJ203")
    matrices, dt, of_states = _in_steps(system, "dlsim")
    given: Any = np.atleast_1d(as_inexact(u))
    given = given[:, None] if given.ndim == 1 else given
    count = known_length(given, _STEPS)
    output, states = _sequence(matrices, given, x0)
    at = np.linspace(0.0, (count - 1) * dt, count)
    return (at, output, states) if of_states else (at, output)


def _of_each_input(system: object, x0: object, t: object, n: object, name: str,
                   is_step: bool) -> Any:
    if t is not None:
        raise refuse(f"scipy.signal.{name} with t= cannot be captured", "Pass n= instead", "TJ203")
    matrices, dt, _ = _in_steps(system, name)
    count: Any = 100 if n is None else n
    width = known_length(matrices[1][0], _STATES)
    outputs = []
    for k in range(width):
        u = np.zeros((count, width))
        u[:None if is_step else 1, k] = 1.0
        outputs.append(_sequence(matrices, u, x0)[0])
    return np.linspace(0.0, (count - 1) * dt, count), tuple(outputs)


def dimpulse(system: object, x0: object = None, t: object = None, n: object = None) -> Any:
    """Return times, and for each input the answer of a system to an impulse."""
    return _of_each_input(system, x0, t, n, "dimpulse", False)


def dstep(system: object, x0: object = None, t: object = None, n: object = None) -> Any:
    """Return times, and for each input the answer of a system to inputs of 1."""
    return _of_each_input(system, x0, t, n, "dstep", True)


captures_of_finite("scipy.signal", {
    "zpk2ss": zpk2ss, "ss2zpk": ss2zpk, "abcd_normalize": abcd_normalize, "lsim": lsim,
    "impulse": impulse, "step": step, "dlsim": dlsim, "dimpulse": dimpulse, "dstep": dstep})
