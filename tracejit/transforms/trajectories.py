"""`solve_ivp` by Radau, BDF and LSODA, and `odeint`: SciPy's own, called back, with sensitivities.

A derivative is a solution of the sensitivity equations s' = J s + F_p p', which SciPy integrates
with the state, by the same method and with the same tolerances: T. Maly and L. Petzold, Numerical
methods and software for sensitivity analysis of differential-algebraic systems (1996).
Sensitivities are scaled by the sizes of what they are by, as in CVODES, so that `atol` means for
them what it means for the state. They are such solutions themselves, with derivatives of any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.autodiff.forward import ForwardSweep, forward_block
from tracejit.autodiff.reverse import ReverseSweep
from tracejit.autodiff.solutions import Equations, closed, pushed_forward, value_of
from tracejit.ir.core import Atom, Block, Eqn, Params, Value
from tracejit.ir.dims import Dim, product
from tracejit.ir.lowering import Inline
from tracejit.ir.types import Aval, scalar
from tracejit.ir.walk import copy_eqn
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.ops.calls import inline_region, stop_gradient
from tracejit.ops.cotangents import Cotangent, Tangent
from tracejit.ops.kinds import only, structural
from tracejit.trace.ground.context import current
from tracejit.trace.values.equations import (
    apply,
    as_operand,
    atom_of,
    cast,
    emit,
)
from tracejit.trace.values.tracer import Tracer, scalar_of, tracer_of
from tracejit.transforms.searches import REAL, searched

__all__ = ["Problem", "numbers", "slope_block", "slopes_by", "trajectory"]


@dataclass(frozen=True, slots=True)
class Problem:
    """An initial value problem, and how it is solved.

    span     -- the first and the last time
    y0       -- the state at the first
    at       -- the times at which the solution is asked for
    limits   -- rtol, atol and max_step
    method   -- SciPy's name of the method, or "odeint"
    """

    span: tuple[Tracer, Tracer]
    y0: Tracer
    at: Tracer
    limits: tuple[Tracer, Tracer, Tracer]
    method: str

    def operands(self) -> list[Tracer]:
        """Return all numbers."""
        return [*self.span, self.y0, self.at, *self.limits]


COUNT = 7
"""How many numbers a problem has."""


def _problem(atoms: Sequence[Atom], method: str) -> Problem:
    start, end, y0, at, *limits = map(value_of, atoms)
    rtol, atol, most = limits
    return Problem((start, end), y0, at, (rtol, atol, most), method)


# --- solutions ------------------------------------------------------------------------------------


def slope_block(equations: Equations) -> Block:
    """Return the block of a slope, of time and state in one array, that reads its numbers."""
    like = equations.block.inputs[0]
    z = Value(like.aval, "z")
    with current().builder.block((z,)) as scope:
        return scope.close(inline_region(equations.block, [z, *equations.given]))


def _units(count: Dim, derivative: Callable[[Tracer], Any]) -> Tracer:
    """Return an array whose items are derivatives for the numbers 0, 1, ... below a count."""
    index, builder = Value(scalar(np.int64), "i"), current().builder
    builder.assume(index, 0, count - 1)
    with builder.block((index,)) as scope:
        region = scope.close([atom_of(derivative(tracer_of(index)))])
    return value_of(emit("map_", [], {"size": count}, [region])[0])


def _zeros(count: Dim) -> Any:
    return apply("full", np.float64(0.0), shape=(count,))


def _unit(size: Dim, place: object) -> Any:
    """Return a unit vector, or zeros where the place is outside of it."""
    return cast(apply("iota", size=size) == place, REAL)


def slopes_by(equations: Equations, count: Dim) -> Block:
    """Return the block of a slope's derivatives by the first numbers of the state, one a row."""
    like = equations.block.inputs[0]
    z = Value(like.aval, "z")
    with current().builder.block((z,)) as scope:
        def moved(i: Tracer) -> Any:
            unit = atom_of(_unit(like.aval.shape[0], i + 1))
            return pushed_forward(equations.block, [z, *equations.given], [0], [unit])

        return scope.close([atom_of(_units(count, moved))])


def trajectory(equations: Equations, problem: Problem, base: Dim) -> Tracer:
    """Return a solution at times, times times components, with its derivatives.

    base -- how many numbers the state has before its sensitivities
    """
    blocks = [slope_block(equations), slopes_by(equations, base)]
    shape = problem.at.dims[0], problem.y0.dims[0]
    args = [*numbers(problem), problem.method]
    x, _ = searched("trajectory", blocks, args, {}, "array", shape)
    operands = [x.value, *(v.value for v in problem.operands()), *equations.given]
    (found,) = emit("trajectory", operands, {"method": problem.method}, [equations.block])
    return tracer_of(found)


def numbers(problem: Problem) -> list[Any]:
    """Return the numbers of a problem as the call back takes them."""
    return [scalar_of(x.value, weak=True) if not x.dims else x for x in problem.operands()]


def _slope(block: Block, given: Sequence[Atom], t: Tracer, y: Tracer) -> Tracer:
    z = np.concatenate([np.reshape(t, (1,)), y])
    return value_of(inline_region(block, [atom_of(z), *given])[0])


def _slopes_at(block: Block, given: Sequence[Atom], problem: Problem, x: Tracer) -> Tracer:
    """Return the slopes at the times: how the solution moves with them."""
    at: Any = problem.at
    return _units(problem.at.dims[0], lambda k: _slope(block, given, at[k], x[k]))


def _size(x: Tracer) -> Any:
    """Return how large numbers are, 1 where they are 0."""
    held: Any = stop_gradient(x)
    return np.where(held == 0.0, 1.0, np.abs(held))


# --- forward --------------------------------------------------------------------------------------


def _with_tangent(block: Block, given: Sequence[Atom], moving: Sequence[int],
                  dots: Sequence[Atom]) -> Equations:
    """Return the equations of a state with a tangent behind it."""
    n = block.inputs[0].aval.shape[0] - 1
    z = Value(Aval(REAL, (2 * n + 1,)), "z")
    moved = forward_block(block, [block.inputs[k] for k in (0, *moving)], [0])
    with current().builder.block((z,)) as scope:
        both: Any = tracer_of(z)
        width = as_operand(n)
        own = both[:width + 1]
        dot = np.concatenate([_zeros(1), both[width + 1:]])
        f, f_dot = inline_region(moved, [atom_of(own), *given, atom_of(dot), *dots])
        made = scope.close([atom_of(np.concatenate([value_of(f), value_of(f_dot)]))])
    return closed([made])[0]


def _jvp(sweep: ForwardSweep, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    new = copy_eqn(eqn, sweep.env)
    sweep.builder.append(new)
    block, given = new.regions[0], new.inputs[1 + COUNT:]
    problem = _problem(new.inputs[1:1 + COUNT], new.params["method"])
    start_dot, _, y_dot, at_dot = tangents[1:5]
    moving = [k for k, t in enumerate(tangents[1 + COUNT:]) if t is not None]
    dots = [value_of(atom_of(tangents[1 + COUNT + k])) for k in moving]
    total: Any = None
    if y_dot is not None or start_dot is not None or dots:
        first: Any = _zeros(problem.y0.dims[0]) if y_dot is None else y_dot
        if start_dot is not None:
            first = first - _slope(block, given, problem.span[0], problem.y0) * start_dot
        total = _tangent(block, given, problem, (moving, dots), as_tracer(first))
    if at_dot is not None:
        ahead: Any = _slopes_at(block, given, problem, value_of(new.output))
        part = ahead * apply("reshape", at_dot, shape=(problem.at.dims[0], 1))
        total = part if total is None else total + part
    return [total]


def _tangent(block: Block, given: Sequence[Atom], problem: Problem,
             moves: tuple[list[int], list[Tracer]], first: Tracer) -> Any:
    """Return the tangent of a solution along tangents of the first state and of given numbers."""
    moving, dots = moves
    sizes = [np.max(np.abs(stop_gradient(d)) / _size(x), initial=0.0) for d, x in (
        (first, problem.y0), *((d, value_of(given[k])) for k, d in zip(moving, dots, strict=True)))]
    share: Any = sizes[0]
    for size in sizes[1:]:
        share = np.maximum(share, size)
    share = np.where(share > 0.0, share, 1.0)
    own = [atom_of(d / share) for d in dots]
    equations = _with_tangent(block, given, [1 + k for k in moving], own)
    state = np.concatenate([problem.y0, first / share])
    n = problem.y0.dims[0]
    both: Any = trajectory(equations, _of_state(problem, as_tracer(state)), n)
    return both[:, as_operand(n):] * share


def _of_state(problem: Problem, y0: Tracer) -> Problem:
    return Problem(problem.span, y0, problem.at, problem.limits, problem.method)


# --- backward -------------------------------------------------------------------------------------


def _with_all(block: Block, given: Sequence[Atom], wanted: Sequence[int]) -> Equations:
    """Return the equations of a state and its scaled sensitivities, by its start and by numbers."""
    n = block.inputs[0].aval.shape[0] - 1
    values = [value_of(given[k]) for k in wanted]
    counts = [product(v.dims) for v in values]
    q = sum(counts, n)
    z = Value(Aval(REAL, (1 + n + q * n,)), "z")
    moved = forward_block(block, [block.inputs[k] for k in (0, *(1 + k for k in wanted))], [0])
    with current().builder.block((z,)) as scope:
        whole: Any = tracer_of(z)
        width = as_operand(n)
        own = atom_of(whole[:width + 1])
        rows: Any = apply("reshape", whole[width + 1:], shape=(q, n))

        def moves(i: Tracer) -> Any:
            dots, place = [np.concatenate([_zeros(1), rows[i]])], i - width
            for v, count in zip(values, counts, strict=True):
                unit = apply("reshape", as_tracer(_unit(count, place)), shape=v.dims)
                dots.append(unit * _size(v))
                place = place - as_operand(count)
            return value_of(inline_region(moved, [own, *given, *map(atom_of, dots)])[1])

        f = value_of(inline_region(block, [own, *given])[0])
        all_of_them = apply("reshape", _units(q, moves), shape=(q * n,))
        made = scope.close([atom_of(np.concatenate([f, all_of_them]))])
    return closed([made])[0]


def _vjp(sweep: ReverseSweep, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    found: list[Any] = [None] * len(eqn.inputs)
    block, given = eqn.regions[0], eqn.inputs[1 + COUNT:]
    problem = _problem(eqn.inputs[1:1 + COUNT], eqn.params["method"])
    ct: Any = value_of(atom_of(sweep.dense(cts[0], eqn.output.aval)))
    wanted = [k for k in range(len(given)) if sweep.wants(given[k])]
    if sweep.wants(eqn.inputs[4]):
        found[4] = np.sum(ct * _slopes_at(block, given, problem, value_of(eqn.output)), axis=1)
    if not (wanted or sweep.wants(eqn.inputs[1]) or sweep.wants(eqn.inputs[3])):
        return found
    n, start = problem.y0.dims[0], problem.y0
    equations = _with_all(block, given, wanted)
    values = [value_of(given[k]) for k in wanted]
    counts = [product(v.dims) for v in values]
    q = sum(counts, n)
    first = _units(q, lambda i: _unit(n, i) * _size(start))
    state = np.concatenate([start, apply("reshape", first, shape=(q * n,))])
    whole: Any = trajectory(equations, _of_state(problem, as_tracer(state)), n)
    width = as_operand(n)
    moved: Any = apply("reshape", whole[:, width:], shape=(problem.at.dims[0], q, n))
    bars = np.sum(moved * ct[:, None, :], axis=(0, 2))
    found[3] = bars[:width] / _size(start)
    found[1] = -np.sum(found[3] * _slope(block, given, problem.span[0], start))
    place = width
    for k, v, count in zip(wanted, values, counts, strict=True):
        part = bars[place:place + as_operand(count)]
        found[1 + COUNT + k] = apply("reshape", part, shape=v.dims) / _size(v)
        place = place + as_operand(count)
    return found


def _infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    return only(avals[0])


structural("trajectory", lambda *xs, method, regions: xs[0], _infer, Inline("operands"), _vjp, _jvp,
           cost=0.0)
