"""Solutions that a Python solver finds while the program runs: checked, and with derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.autodiff.linear_solutions import (
    LinearSystem,
    solution_by,
    system_of,
    warn_in_the_run,
)
from tracejit.autodiff.solutions import (
    Equations,
    closed,
    correction,
    factorised,
    jacobian_product,
    solution_of,
    stopped,
)
from tracejit.ir.core import Block, Value
from tracejit.ir.types import Aval
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.ops.calls import inline_region
from tracejit.scipy_api.objectives import computed_again
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import apply, atom_of, cast, emit, same_dim
from tracejit.trace.values.python_numbers import require_ours
from tracejit.trace.values.tracer import Tracer, scalar_of, tracer_of

__all__ = ["Policy", "as_shaped", "captured_solve", "equations_of", "with_derivatives"]

_ROLE = "of which a solution is looked for"
_SINGULAR = ("the Jacobian at a solution is singular, so that the solution has no derivative: it "
             "is not the only one nearby, or a multiple one")
_UNSOLVED = ("what a solver returns is no solution: there |F| is {0:.3g}, and Newton's correction "
             "{1:.3g}")


@dataclass(frozen=True, slots=True)
class Policy:
    """How a solution is judged.

    tol         -- Newton's correction may be tol (1 + |x|), in the maximum norm
    unconverged -- what happens else: "raise", "warn", or "nan"
    solve       -- (product, b) -> solution, used in place of a factorisation of the Jacobian
    """

    tol: float = 1e-6
    unconverged: str = "raise"
    solve: Callable[..., object] | None = None


def equations_of(residual: Callable[..., object], x: Tracer, args: tuple[object, ...]) -> Equations:
    """Return the captured equations residual(x, *args) = 0, for an unknown like x."""
    v = Value(Aval(x.dtype, x.dims), "x")

    def left() -> Any:
        made = tracer_of(v)
        made.cell.is_array = x.is_array
        y = as_tracer(call_function(residual, (scalar_of(v, weak=True) if x.weak else made, *args),
                                    {}))
        if y.dtype.kind == "c":
            raise refuse("a residual that is complex cannot be captured",
                         "Return its real and imaginary parts, of an unknown with both", "TJ214")
        if len(y.dims) != len(x.dims) or not all(map(same_dim, y.dims, x.dims)):
            raise ValueError(f"the residual has shape {tuple(map(str, y.dims))}, and the unknown "
                             f"{tuple(map(str, x.dims))}: there have to be as many equations")
        return as_shaped(cast(y, x.dtype), x)

    (found,) = closed([computed_again((residual, args), (v,), left, _ROLE)])
    return found


def as_shaped(y: Tracer, x: Tracer) -> Tracer:
    """Return an array of sizes that are another's, in the other's words for them."""
    shape = tuple(map(current().canonical, x.dims))
    return y if y.aval.shape == shape else apply("reshape", y, shape=shape)


def with_derivatives(equations: Equations, x: Tracer, policy: Policy) -> Tracer:
    """Check a solution, and return it with the derivatives that the equations imply."""
    if policy.solve is not None:
        system = _system(equations, x, policy.solve, policy)
        held = [x.value, *stopped(equations.given)]
        value: Any = tracer_of(inline_region(equations.block, held)[0])
        back = [atom_of(value), x.value, *stopped(system.given[1:])]
        change = tracer_of(inline_region(system.regions[1], back)[0])
        good = _judged(x, value, change, policy)
        return _or_nan(solution_by(equations, x, system), good, policy)
    value, factors, regular = factorised(equations, x.value)
    delta: Any = np.where(regular, correction(value, factors), value)
    good = np.logical_and(_judged(x, value, delta, policy), regular)
    if policy.unconverged != "nan":
        require_ours(regular, np.linalg.LinAlgError, _SINGULAR)
    return _or_nan(solution_of(equations, x, factors), good, policy)


def _or_nan(x: Tracer, good: object, policy: Policy) -> Tracer:
    """Return a solution, or NaN with derivatives that are NaN, if that is asked for."""
    if policy.unconverged != "nan":
        return x
    one, none = x.dtype.type(1), x.dtype.type(np.nan)
    found: Tracer = x * np.where(good, one, none)  # type: ignore[call-overload]
    return found


def _judged(x: Tracer, value: Tracer, delta: Tracer, policy: Policy) -> Any:
    """Return whether a solution is one; where it is none, end the program, or warn."""
    sizes = [np.max(np.abs(y), initial=0.0) if y.dims else np.abs(y) for y in (x, value, delta)]
    good: Any = sizes[2] <= x.dtype.type(policy.tol) * (x.dtype.type(1) + sizes[0])
    if policy.unconverged == "raise":
        emit("check", [*map(atom_of, (good, *sizes[1:]))],
             {"error": "ArithmeticError", "message": _UNSOLVED})
    elif policy.unconverged == "warn":
        warn_in_the_run(good, sizes[1:], _UNSOLVED)
    return good


def captured_solve(solve: Callable[..., object], product: Callable[..., object],
                   like: Tracer) -> Block:
    """Return the block of a user's function that solves, of a right-hand side."""
    b = Value(Aval(like.dtype, like.dims), "b")

    def solution() -> Any:
        y = as_tracer(call_function(solve, (product, tracer_of(b)), {}))
        if y.dtype != like.dtype or len(y.dims) != len(like.dims) or not all(
                map(same_dim, y.dims, like.dims)):
            raise ValueError(f"the solution of a linear system is {y.aval}, and its right-hand "
                             f"side {like.aval}")
        return as_shaped(y, like)

    return computed_again((solve,), (b,), solution, "which solves a linear system")


def _system(equations: Equations, x: Tracer, solve: Callable[..., object],
            policy: Policy) -> LinearSystem:
    """Return the linear system of the Jacobian at x."""
    v = Value(Aval(x.dtype, x.dims), "v")
    product = computed_again((), (v,), lambda: jacobian_product(equations, x.value, tracer_of(v)),
                             _ROLE)

    def block(times: Callable[..., Any]) -> Block:
        return captured_solve(solve, times, x)

    system = system_of(product, block, block, [x.value])
    system.judged = policy.tol, policy.unconverged
    return system
