"""Solutions of linear systems A(p) x = b that a user's function finds, with derivatives.

A x' = b' - A' x, and for a cotangent of x the transposed system: derivatives of any order are
solutions by the same functions, as in JAX's `custom_linear_solve`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.autodiff.forward import ForwardSweep
from tracejit.autodiff.reverse import ReverseSweep
from tracejit.autodiff.solutions import (
    Equations,
    closed,
    pulled_back,
    pushed_forward,
    stopped,
    value_of,
)
from tracejit.autodiff.transforms import pullback_block
from tracejit.ir.core import Atom, Block, Eqn, Params, Value
from tracejit.ir.dead_code import prune_block
from tracejit.ir.lowering import Inline
from tracejit.ir.types import Aval
from tracejit.ir.walk import copy_eqn
from tracejit.ops.callbacks import call_back
from tracejit.ops.calls import inline_region
from tracejit.ops.cotangents import Cotangent, Tangent
from tracejit.ops.kinds import only, structural
from tracejit.trace.ground.callbacks import warned
from tracejit.trace.ground.context import current, refuse_at
from tracejit.trace.ground.source import describe_line, find_site
from tracejit.trace.values.equations import apply, atom_of, emit
from tracejit.trace.values.tracer import Tracer, tracer_of
from tracejit.tree import flatten

__all__ = ["UNSOLVED", "LinearSystem", "linear_solution", "solution_by", "system_of",
           "warn_in_the_run"]


class LinearSystem:
    """A product with a matrix and a function that solves, as blocks, and perhaps their transposes.

    regions -- the blocks: the product, the solution, and perhaps those of the transposed matrix;
               their inputs are a vector and the numbers that any of them reads
    given   -- the values of the capture that stand for these numbers
    judged  -- how large |b - A x| may be, of |b| + |A x|, in the maximum norm, and what happens
               else: "raise", "warn" or "nan"; of 0 nobody asks
    """

    regions: list[Block]
    given: list[Atom]
    judged: tuple[float, str]

    def __init__(self, regions: Sequence[Block], given: Sequence[Atom],
                 judged: tuple[float, str] = (0.0, "raise")) -> None:
        self.regions, self.given, self.judged = list(regions), list(given), judged

    def transposed(self) -> LinearSystem:
        """Return the system of the transposed matrix."""
        return LinearSystem([*self.regions[2:], *self.regions[:2]], self.given, self.judged)

    def product(self, v: Tracer) -> Tracer:
        """Return the matrix times a vector."""
        return value_of(inline_region(self.regions[0], [atom_of(v), *self.given])[0])


def transposed(product: Block) -> Block:
    """Return the block of the transposed product, of a vector and numbers that `product` reads."""
    like = product.inputs[0].aval
    w = Value(like, "w")
    inputs = (w, *(Value(v.aval, v.name) for v in product.inputs[1:]))
    back = pullback_block(product, [0])
    with current().builder.block(inputs) as scope:
        zeros = apply("full", like.dtype.type(0), shape=like.shape)
        found = inline_region(back, [zeros.value, *inputs[1:], w])[1]
        block = scope.close([found])
    return prune_block(block)


def system_of(product: Block, solve: Callable[[Callable[..., Any]], Block],
              transpose_solve: Callable[[Callable[..., Any]], Block] | None,
              first: Sequence[Value] = ()) -> LinearSystem:
    """Return a linear system.

    product         -- the block of the product with a vector
    solve           -- gives the block of the solution, of the product as a function
    transpose_solve -- the same of the transposed system, if it can be solved
    first           -- values that come first among those that it reads
    """
    (own,) = closed([product], first)
    back = transposed(own.block)

    def times(block: Block) -> Callable[..., Any]:
        return lambda v: value_of(inline_region(block, [atom_of(v), *own.given])[0])

    parts = [product, solve(times(own.block))]
    if transpose_solve is not None:
        w = Value(product.inputs[0].aval, "w")
        with current().builder.block((w,)) as scope:
            turned = scope.close([atom_of(times(back)(tracer_of(w)))])
        parts += [turned, transpose_solve(times(back))]
    found = closed(parts, first)
    return LinearSystem([e.block for e in found], found[0].given)


def linear_solution(system: LinearSystem, b: Tracer) -> Tracer:
    """Return the solution for a right-hand side, with its derivatives by all that comes into it."""
    (found,) = inline_region(system.regions[1], stopped([atom_of(b), *system.given]))
    operands = [value_of(found).value, atom_of(b), *system.given]
    (x,) = emit("linear_solution", operands, _told(system), system.regions)
    return _judged(system, tracer_of(x), b)


def _told(system: LinearSystem) -> Params:
    tol, unconverged = system.judged
    return {"tol": tol, "unconverged": unconverged}


def _of(eqn: Eqn, given: Sequence[Atom], first: int = 0) -> LinearSystem:
    """Return the system of an equation, whose regions begin at a number."""
    judged = eqn.params["tol"], eqn.params["unconverged"]
    return LinearSystem(eqn.regions[first:], given, judged)


UNSOLVED = ("what a solver returns is no solution of a linear system: |b - A x| is {0:.3g}, and "
            "|b| is {1:.3g}")


def _judged(system: LinearSystem, x: Tracer, b: Tracer) -> Tracer:
    """Return a solution; where it is none, end the program, warn, or return NaN.

    A right-hand side that is infinite or NaN is not judged.
    """
    tol, unconverged = system.judged
    if tol == 0.0:
        return x
    held, right, *given = map(value_of, stopped([atom_of(x), atom_of(b), *system.given]))
    image: Any = value_of(inline_region(system.regions[0], [atom_of(held), *map(
        atom_of, given)])[0])
    away, size, other = (np.max(np.abs(y), initial=0.0) if y.dims else np.abs(y)
                         for y in (right - image, right, image))
    one = x.dtype.type(1)
    good: Any = np.logical_or(away <= x.dtype.type(tol) * (size + other),
                              np.logical_not(np.isfinite(size)))
    if unconverged == "raise":
        emit("check", [*map(atom_of, (good, away, size))],
             {"error": "ArithmeticError", "message": UNSOLVED})
    elif unconverged == "warn":
        warn_in_the_run(good, (away, size), UNSOLVED)
    else:
        x = x * np.where(good, one, x.dtype.type(np.nan))
    return x


def warn_in_the_run(good: object, sizes: Sequence[object], text: str) -> None:
    """Warn, in the run and with the user's line, where something is not good."""
    line = describe_line(find_site()).replace("{", "{{").replace("}", "}}")
    call_back(warned, (good, *sizes, f"{line}: {text}"), flatten(())[1], (), (), (),
              op="effect_callback")


def _jvp(sweep: ForwardSweep, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    new = copy_eqn(eqn, sweep.env)
    sweep.builder.append(new)
    system = _of(new, new.inputs[2:])
    right: Any = tangents[1]
    moving = [k for k, t in enumerate(tangents) if k > 1 and t is not None]
    if moving:
        moved: Any = pushed_forward(system.regions[0], [new.output, *system.given],
                                    [k - 1 for k in moving], [atom_of(tangents[k]) for k in moving])
        right = -moved if right is None else right - moved
    return [None if right is None else linear_solution(system, right)]


def _vjp(sweep: ReverseSweep, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    found: list[Any] = [None] * len(eqn.inputs)
    if len(eqn.regions) < 4:
        raise refuse_at(eqn.site, "the derivative in reverse mode of a linear system without a way "
                        "to solve the transposed one is not known",
                        "Give custom_linear_solve transpose_solve=, or symmetric=True", "TJ504")
    system = _of(eqn, eqn.inputs[2:])
    ct = value_of(atom_of(sweep.dense(cts[0], eqn.output.aval)))
    found[1] = linear_solution(system.transposed(), ct)
    wanted = [k for k, a in enumerate(eqn.inputs) if k > 1 and sweep.wants(a)]
    if wanted:
        grads = pulled_back(system.regions[0], [eqn.output, *system.given],
                            [k - 1 for k in wanted], -found[1])
        for k, g in zip(wanted, grads, strict=True):
            found[k] = g
    return found


def _infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    return only(avals[0])


structural("linear_solution", lambda *xs, tol, unconverged, regions: xs[0], _infer,
           Inline("operands"), _vjp, _jvp, cost=0.0)


# --- solutions of equations whose Jacobian is solved with by a user's function --------------------


def solution_by(equations: Equations, x: Tracer, system: LinearSystem) -> Tracer:
    """Return a solution with the derivatives that equations imply.

    system -- of the Jacobian; the first value that it reads is the solution
    """
    operands = [x.value, *equations.given, *system.given[1:]]
    (found,) = emit("solution_by", operands, {"count": len(equations.given), **_told(system)},
                    [equations.block, *system.regions])
    return tracer_of(found)


def _by_parts(eqn: Eqn) -> tuple[list[Atom], LinearSystem]:
    """Return the inputs of the equations, and the system of the Jacobian."""
    count = eqn.params["count"]
    x = eqn.output
    return [x, *eqn.inputs[1:1 + count]], _of(eqn, [x, *eqn.inputs[1 + count:]], 1)


def _by_jvp(sweep: ForwardSweep, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    new = copy_eqn(eqn, sweep.env)
    sweep.builder.append(new)
    atoms, system = _by_parts(new)
    moving = [k for k in range(1, len(atoms)) if tangents[k] is not None]
    if not moving:
        return [None]
    right = pushed_forward(new.regions[0], atoms, moving, [atom_of(tangents[k]) for k in moving])
    moved: Any = linear_solution(system, right)
    return [-moved]


def _by_vjp(sweep: ReverseSweep, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    found: list[Any] = [None] * len(eqn.inputs)
    atoms, system = _by_parts(eqn)
    wanted = [k for k in range(1, len(atoms)) if sweep.wants(eqn.inputs[k])]
    if wanted:
        ct = value_of(atom_of(sweep.dense(cts[0], eqn.output.aval)))
        weights: Any = linear_solution(system.transposed(), ct)
        grads = pulled_back(eqn.regions[0], atoms, wanted, -weights)
        for k, g in zip(wanted, grads, strict=True):
            found[k] = g
    return found


structural("solution_by", lambda *xs, count, tol, unconverged, regions: xs[0], _infer,
           Inline("operands"), _by_vjp, _by_jvp, cost=0.0)
