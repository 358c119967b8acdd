"""`scipy.integrate.solve_ivp` by explicit methods, and rules of integration at fixed points."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.made import Made
from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.plain_events import Events, followed, on_pieces, sampled
from tracejit.scipy_api.plain_odes import Pair, first_step, integrated, slope_of
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import calling_back, scipy_captures
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import cast
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer

__all__ = ["STIFF", "Solution"]


class Solution(Made):
    """The result of `solve_ivp`.

    t, y -- the times, and the solution at each: components times times
    more -- further attributes, by their names
    """

    scipys = "scipy.integrate._ivp.ivp.OdeResult"

    def __init__(self, t: object, y: object, **more: object) -> None:
        self.t, self.y = t, y
        self.status, self.success = 0, True
        self.sol = self.t_events = self.y_events = None
        self.message = "The solver successfully reached the end of the integration interval."
        vars(self).update(more)

    def __getattr__(self, name: str) -> Any:
        if name not in ("nfev", "njev", "nlu", "keys", "items", "values", "get"):
            raise AttributeError(name)
        raise refuse(f"`{name}` of a solution of solve_ivp cannot be captured", "Use `t` and `y`",
                     "TJ209")


class DenseSolution(Made):
    """A solution between its steps, which is called with times."""

    scipys = "scipy.integrate.OdeSolution"

    def __init__(self, pair: Pair, times: np.ndarray, starts: np.ndarray, lengths: np.ndarray,
                 pieces: np.ndarray) -> None:
        self.ts = times
        self.t_min, self.t_max = np.minimum(times[0], times[-1]), np.maximum(times[0], times[-1])
        self._held = pair, times, starts, lengths, pieces

    def __call__(self, t: object) -> Any:
        """Return the solution at a time, or at several: components times times."""
        at = cast(as_tracer(t), np.float64)
        if len(at.dims) > 1:
            raise ValueError("`t` must be a float or a 1-D array.")
        points: Any = np.reshape(at, (-1,)) if not at.dims else at
        found = call_function(on_pieces, (*self._held, points), {})
        return found[0] if not at.dims else found.T


_METHODS = ("RK45", "RK23", "DOP853")
STIFF: dict[str, Callable[..., Solution]] = {}
"""The capture of methods that SciPy carries out, "solve_ivp", which a higher floor enters."""


def _pair(method: object) -> Pair:
    """Return the coefficients of a method, as SciPy has them."""
    if method not in _METHODS:
        raise refuse(f"scipy.integrate.solve_ivp with method={method!r} cannot be captured",
                     "Use 'RK45', 'RK23', 'DOP853', 'Radau', 'BDF' or 'LSODA'", "TJ203")
    kind: Any = getattr(sys.modules["scipy.integrate"], str(method))
    if method != "DOP853":
        return Pair(kind.C, kind.A, kind.B, kind.E, kind.P, kind.error_estimator_order)
    return Pair(kind.C, kind.A, kind.B, kind.E5, np.zeros((0, 0)), kind.error_estimator_order,
                kind.E3, kind.A_EXTRA, kind.C_EXTRA, kind.D)


def _settings(event: object) -> tuple[float, float]:
    """Return the direction of an event, and how often it may be."""
    given: Any = [call_function(getattr, (event, name, default), {})
                  for name, default in (("direction", 0), ("terminal", None))]
    if any(isinstance(x, TracedOperand) for x in given):
        raise refuse("an event of solve_ivp whose direction or terminal is computed",
                     "Use numbers that are known", "TJ205")
    direction, terminal = given
    if terminal is None or terminal == 0:
        return float(direction), np.inf
    if int(terminal) != terminal or terminal < 0:
        raise ValueError("The `terminal` attribute of each event must be a boolean or positive "
                         "integer.")
    return float(direction), float(terminal)


def solve_ivp(fun: Callable[..., object], t_span: tuple[float, float], y0: object,
              method: object = "RK45", t_eval: object = None, dense_output: bool = False,
              events: object = None, vectorized: bool = False, args: object = None,
              first_step: object = None, max_step: object = np.inf, rtol: object = 1e-3,
              atol: object = 1e-6, jac: object = None, jac_sparsity: object = None,
              lband: object = None, uband: object = None) -> Any:
    """Return the solution of an initial value problem.

    jac, jac_sparsity, lband, uband -- not read: the Jacobian is known here
    """
    is_stiff = method in ("Radau", "BDF", "LSODA")
    pair = _pair("RK45" if is_stiff else method)
    start, end = (cast(as_tracer(t), np.float64) for t in t_span)
    y = as_tracer(y0)
    if y.dtype.kind == "c" or len(y.dims) != 1:
        raise refuse("scipy.integrate.solve_ivp of complex numbers, or of a state that is no "
                     "vector, cannot be captured", "Use real numbers in a vector", "TJ214")
    y = cast(y, np.float64)
    given = () if args is None else tuple(args)  # type: ignore[arg-type]
    share: Any = np.maximum(cast(as_tracer(rtol), np.float64), 100.0 * np.finfo(float).eps)
    least, most = (cast(as_tracer(x), np.float64) for x in (atol, max_step))
    require(np.all(least >= 0.0), ValueError, "`atol` must be positive.")
    at: Any = None if t_eval is None else _within(t_eval, start, end)
    if is_stiff:
        if dense_output or events is not None or first_step is not None:
            raise refuse(f"scipy.integrate.solve_ivp by {method} with dense_output=, events= or "
                         "first_step= cannot be captured", "Use t_eval=", "TJ203")
        return STIFF["solve_ivp"](fun, (start, end), y, at, (share, least, most), method, given)
    f = call_function(slope_of, (fun, start, y, given), {})
    size = _first(fun, pair, start, end, y, f, first_step, most, share, least, given)
    common = (fun, pair, start, end, y, f, size, most, share, least, given)
    if dense_output or events is not None:
        return _followed(common, events, at, bool(dense_output))
    if at is None:
        times, found = call_function(integrated, common, {})
        return Solution(times, found.T)
    return Solution(at, call_function(sampled, (*common, at), {}).T)


def _within(t_eval: object, start: Tracer, end: Tracer) -> Tracer:
    """Return the times at which a solution is asked for."""
    at = cast(as_tracer(t_eval), np.float64)
    low, high = np.minimum(start, end), np.maximum(start, end)
    require(np.all((at >= low) & (at <= high)), ValueError,
            "Values in `t_eval` are not within `t_span`.")
    return at


def _followed(common: tuple[object, ...], events: object, at: Tracer | None,
              dense: bool) -> Solution:
    """Return a solution with its interpolation, or its events."""
    given: list[Any] = [] if events is None else [events] if callable(events) else list(
        events)  # type: ignore[call-overload]
    settings = [_settings(e) for e in given]
    told = Events(given, [d for d, _ in settings], [n for _, n in settings],
                  sys.modules["scipy.optimize"].brentq)
    times, states, lengths, pieces, end, moments, places = call_function(followed, (
        *common, told, dense or at is not None), {})
    pair: Any = common[1]
    sol = DenseSolution(pair, times, states[:-1], lengths, pieces)
    y = states.T
    if at is not None:
        if any(n < np.inf for _, n in settings):
            last, forwards = stop_gradient(times[-1]), times[-1] >= times[0]
            at = at[:np.sum(np.where(forwards, at <= last, at >= last))]
        times, y = at, sol(at)
    more: dict[str, Any] = {"sol": sol} if dense else {}
    if events is not None:
        more |= {"t_events": moments, "y_events": places}
        if any(n < np.inf for _, n in settings):
            more["status"], more["message"] = end
    return Solution(times, y, **more)


def _first(fun: Callable[..., object], pair: Pair, start: object, end: object, y: object,
           f: object, given: object, most: object, rtol: object, atol: object,
           args: tuple[object, ...]) -> Any:
    """Return the size of the first step."""
    if given is not None:
        size = cast(as_tracer(given), np.float64)
        require(size > 0.0, ValueError, "`first_step` must be positive.")
        return stop_gradient(size)
    return stop_gradient(call_function(first_step, (
        fun, start, end, y, f, most, pair.order, rtol, atol, args), {}))


# --- rules of integration -------------------------------------------------------------------------


def fixed_quad(func: Callable[..., object], a: object, b: object, args: tuple[object, ...] = (),
               n: int = 5) -> Any:
    """Return the integral of a function by Gauss's rule of n points, and None."""
    low, high = (cast(as_tracer(x), np.float64) for x in (a, b))
    places, weights = np.polynomial.legendre.leggauss(operator.index(n))
    half: Any = 0.5 * (high - low)
    at = half * (places + 1.0) + low
    return half * np.sum(weights * call_function(func, (at, *args), {}), axis=-1), None


def romb(y: object, dx: object = 1.0, axis: int = -1, show: bool = False) -> Any:
    """Return the integral of 2 ** k + 1 numbers by W. Romberg's rule."""
    if show:
        raise refuse("scipy.integrate.romb with show=True cannot be captured", "Leave it out",
                     "TJ203")
    rows: Any = np.moveaxis(as_tracer(y), axis, 0)  # type: ignore[type-var]
    count = need_int(rows.dims[0], "the number of samples of Romberg's rule") - 1
    levels = count.bit_length() - 1
    if count < 1 or count != 1 << levels:
        raise ValueError("Number of samples must be one plus a non-negative power of 2.")
    h: Any = count * cast(as_tracer(dx), np.float64)
    last = [(rows[0] + rows[-1]) / 2.0 * h]
    for i in range(1, levels + 1):
        step = count >> i
        h = 0.5 * h
        row = [0.5 * last[0] + h * np.sum(rows[step::2 * step], axis=0)]
        for j in range(i):
            row.append(row[j] + (row[j] - last[j]) / (4.0 ** (j + 1) - 1.0))
        last = row
    return last[-1]


scipy_captures("scipy.integrate", {
    "solve_ivp": calling_back(solve_ivp), "fixed_quad": calling_back(fixed_quad), "romb": romb})
