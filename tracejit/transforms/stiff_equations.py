"""`solve_ivp` by methods that SciPy carries out, and `odeint`, in captured code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.autodiff.solutions import Equations, closed
from tracejit.ir.core import Value
from tracejit.ir.types import Aval
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.ops.calls import stop_gradient
from tracejit.scipy_api.equations import as_shaped
from tracejit.scipy_api.objectives import computed_again
from tracejit.scipy_api.odes import STIFF, Solution
from tracejit.scipy_api.plain_odes import slope_of
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import calling_back, scipy_captures
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import apply, atom_of, cast, same_dim, to_dim
from tracejit.trace.values.tracer import Tracer, scalar_of, tracer_of
from tracejit.transforms.searches import REAL, searched
from tracejit.transforms.trajectories import (
    Problem,
    numbers,
    slope_block,
    slopes_by,
    trajectory,
)

__all__: list[str] = []

_ROLE = "which is integrated"


def _equations(fun: Callable[..., object], y: Tracer, args: tuple[object, ...]) -> Equations:
    """Return the captured slope, of time and state in one array."""
    n = y.dims[0]
    z = Value(Aval(REAL, (n + 1,)), "z")

    def slope() -> Any:
        both: Any = tracer_of(z)
        t = scalar_of(atom_of(both[0]), weak=True)  # type: ignore[arg-type]
        found = as_tracer(call_function(slope_of, (fun, t, both[1:], args), {}))
        if len(found.dims) != 1 or not same_dim(found.dims[0], y.dims[0]):
            raise ValueError("a slope has another shape than the state")
        return as_shaped(found, y)

    return closed([computed_again((fun, args), (z,), slope, _ROLE)])[0]


def stiff(fun: Callable[..., object], problem: Problem, args: tuple[object, ...],
          has_times: bool) -> Solution:
    """Return the solution of `solve_ivp` by a method that SciPy carries out."""
    current().note(f"scipy.integrate.solve_ivp by {problem.method} is SciPy's, called back",
                   "TJ716")
    equations = _equations(fun, problem.y0, args)
    n = problem.y0.dims[0]
    if not has_times:
        blocks = [slope_block(equations), slopes_by(equations, n)]
        own = [*numbers(problem), problem.method]
        _, count = searched("steps", blocks, own, {}, "scalar", ())
        times, _ = searched("times", blocks, own, {}, "array", (to_dim(count),))
        ends: Any = [apply("reshape", x, shape=(1,)) for x in problem.span]
        at: Any = np.concatenate([ends[0], stop_gradient(times)[1:-1], ends[1]])
        problem = Problem(problem.span, problem.y0, as_tracer(at), problem.limits, problem.method)
    return Solution(problem.at, np.transpose(trajectory(equations, problem, n)))


STIFF["solve_ivp"] = lambda fun, span, y0, at, limits, method, args: stiff(
    fun, Problem(span, y0, as_tracer(np.zeros(0)) if at is None else at, limits, method), args,
    at is not None)


def odeint(func: Callable[..., object], y0: object, t: object, args: object = (),
           Dfun: object = None, col_deriv: object = 0, full_output: object = 0, ml: object = None,
           mu: object = None, rtol: object = None, atol: object = None, tcrit: object = None,
           h0: object = 0.0, hmax: object = 0.0, hmin: object = 0.0, ixpr: object = 0,
           mxstep: object = 0, mxhnil: object = 0, mxordn: object = 12, mxords: object = 5,
           printmessg: object = 0, tfirst: bool = False) -> Any:
    """Return the solution of an initial value problem at times, by LSODA."""
    given = {"full_output": full_output, "tcrit": tcrit, "h0": h0, "hmax": hmax, "hmin": hmin,
             "mxstep": mxstep}
    for word, x in given.items():
        if x is not None and x != 0:
            raise refuse(f"scipy.integrate.odeint with {word}= cannot be captured", "Leave it out",
                         "TJ203")
    more = args if isinstance(args, tuple) else (args,)

    def slope(at: object, y: object, *rest: object) -> Any:
        return call_function(func, (at, y, *rest) if tfirst else (y, at, *rest), {})

    at: Any = cast(as_tracer(t), REAL)
    start = cast(as_tracer(y0), REAL)
    y = apply("reshape", start, shape=(1,)) if not start.dims else start
    if len(y.dims) != 1 or len(at.dims) != 1:
        raise ValueError("Initial condition y0 must be one-dimensional.")
    limits = [cast(as_tracer(1.49012e-8 if x is None else x), REAL) for x in (rtol, atol)]
    problem = Problem((at[0], at[-1]), y, at,
                      (limits[0], limits[1], cast(as_tracer(np.inf), REAL)), "odeint")
    return trajectory(_equations(slope, y, more), problem, y.dims[0])


scipy_captures("scipy.integrate", {"odeint": calling_back(odeint)})
