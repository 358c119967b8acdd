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
from tracejit.scipy_api.plain_odes import Pair, first_step, integrated, sampled, slope_of
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import calling_back, scipy_captures
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import cast
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []


class Solution(Made):
    """The result of `solve_ivp`.

    t, y -- the times, and the solution at each: components times times
    """

    scipys = "scipy.integrate._ivp.ivp.OdeResult"

    def __init__(self, t: object, y: object) -> None:
        self.t, self.y = t, y
        self.status, self.success = 0, True
        self.sol = self.t_events = self.y_events = None
        self.message = "The solver successfully reached the end of the integration interval."

    def __getattr__(self, name: str) -> Any:
        if name not in ("nfev", "njev", "nlu", "keys", "items", "values", "get"):
            raise AttributeError(name)
        raise refuse(f"`{name}` of a solution of solve_ivp cannot be captured", "Use `t` and `y`",
                     "TJ209")


def _pair(method: object) -> Pair:
    """Return the coefficients of a method, as SciPy has them."""
    if method not in ("RK45", "RK23"):
        raise refuse(f"scipy.integrate.solve_ivp with method={method!r} cannot be captured",
                     "Use 'RK45' or 'RK23', or tracejit.register_op", "TJ203")
    kind: Any = getattr(sys.modules["scipy.integrate"], str(method))
    return Pair(kind.C, kind.A, kind.B, kind.E, kind.P, kind.error_estimator_order)


def solve_ivp(fun: Callable[..., object], t_span: tuple[float, float], y0: object,
              method: object = "RK45", t_eval: object = None, dense_output: bool = False,
              events: None = None, vectorized: bool = False, args: object = None,
              first_step: object = None, max_step: object = np.inf, rtol: object = 1e-3,
              atol: object = 1e-6) -> Any:
    """Return the solution of an initial value problem."""
    if dense_output or events is not None:
        raise refuse("scipy.integrate.solve_ivp with dense_output= or events= cannot be captured",
                     "Use t_eval=, and a loop that ends where the event is", "TJ203")
    pair = _pair(method)
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
    f = call_function(slope_of, (fun, start, y, given), {})
    size = _first(fun, pair, start, end, y, f, first_step, most, share, least, given)
    common = (fun, pair, start, end, y, f, size, most, share, least, given)
    if t_eval is None:
        times, found = call_function(integrated, common, {})
        return Solution(times, found.T)
    at = cast(as_tracer(t_eval), np.float64)
    low, high = np.minimum(start, end), np.maximum(start, end)
    require(np.all((at >= low) & (at <= high)), ValueError,
            "Values in `t_eval` are not within `t_span`.")
    found = call_function(sampled, (*common, at), {})
    return Solution(at, found.T)


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
