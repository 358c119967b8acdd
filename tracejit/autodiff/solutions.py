"""Solutions of equations F(x, p) = 0, found in any way, with derivatives of any order by p.

By the implicit function theorem, J x' = -F' with J the Jacobian of F by x: S. Krantz and H. Parks,
The implicit function theorem (2002). J is factorised once, for the check of the solution and for
its derivatives, both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.autodiff.forward import ForwardSweep, forward_block
from tracejit.autodiff.reverse import ReverseSweep
from tracejit.autodiff.transforms import pullback_block
from tracejit.ir.core import Atom, Block, Eqn, Params, Value
from tracejit.ir.dims import product
from tracejit.ir.lowering import Inline
from tracejit.ir.types import Aval, scalar
from tracejit.ir.walk import all_eqns, copy_block, copy_eqn, free_values
from tracejit.ops.calls import find_gradient, inline_region, is_marked
from tracejit.ops.cotangents import Cotangent, Tangent
from tracejit.ops.implicit import RULES, Rule, implied
from tracejit.ops.kinds import only, structural
from tracejit.trace.ground.context import current
from tracejit.trace.values.equations import apply, atom_of, cast, emit, emit_value
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["Equations", "closed", "correction", "factorised", "jacobian_product", "pulled_back",
           "pushed_forward", "solution_of", "stopped", "value_of"]

RULES["same"] = Rule(lambda results, operands, tangents: [tangents[0]],
                     lambda results, operands, cts: [cts[0]])
"""A value that was computed already: its derivatives are those of the operand."""


class Equations:
    """A block F(x, p) whose inputs are the unknown x and all numbers p that it reads.

    given -- the values of the capture that stand for p
    """

    block: Block
    given: list[Value]

    def __init__(self, block: Block, given: Sequence[Value]) -> None:
        self.block, self.given = block, list(given)


def closed(blocks: Sequence[Block], first: Sequence[Value] = ()) -> list[Equations]:
    """Return blocks as ones whose inputs are all floating numbers that any of them reads.

    first -- values that come first among these
    """
    free = [v for block in blocks for v in free_values(block)]
    given = dict.fromkeys([*first, *(v for v in free if not v.is_log and (
        v.aval.dtype.kind in "fc"))])
    found = []
    for block in blocks:
        inputs = [Value(v.aval, v.name) for v in (*block.inputs, *given)]
        env: dict[Value, Any] = dict(zip((*block.inputs, *given), inputs, strict=True))
        inner = copy_block(Block((), block.eqns, block.outputs), env)
        found.append(Equations(Block(tuple(inputs), inner.eqns, inner.outputs), [*given]))
    return found


def stopped(values: Sequence[Atom]) -> list[Atom]:
    """Return values through which no derivative goes."""
    return [emit_value("stop_gradient", [v]) for v in values]


def value_of(a: Atom) -> Tracer:
    return tracer_of(a) if isinstance(a, Value) else cast(a.val, a.aval.dtype)


def pushed_forward(block: Block, atoms: Sequence[Atom], wrt: Sequence[int],
                   dots: Sequence[Atom]) -> Tracer:
    """Return the tangent of F along tangents of some inputs."""
    moved = forward_block(block, [block.inputs[k] for k in wrt], [0])
    return value_of(inline_region(moved, [*atoms, *dots])[1])


def pulled_back(block: Block, atoms: Sequence[Atom], wrt: Sequence[int],
                ct: Tracer) -> list[Tracer]:
    """Return the cotangents of some inputs for a cotangent of F."""
    back = pullback_block(block, wrt)
    return [*map(value_of, inline_region(back, [*atoms, atom_of(ct)])[1:])]


def jacobian_product(equations: Equations, x: Atom, v: Tracer) -> Tracer:
    """Return the Jacobian by the unknown, times a direction."""
    return pushed_forward(equations.block, [x, *equations.given], [0], [atom_of(v)])


def _jacobian(block: Block, atoms: Sequence[Atom]) -> Tracer:
    """Return the Jacobian by the unknown: of n elements a matrix of n by n, of a number one."""
    unknown = block.inputs[0].aval
    if not unknown.shape:
        one = value_of(emit_value("full", [atom_of(unknown.dtype.type(1))], {"shape": ()}))
        if _goes_back_alone(block):
            return pulled_back(block, atoms, [0], one)[0]
        return pushed_forward(block, atoms, [0], [atom_of(one)])
    if _goes_back_alone(block):
        back = pullback_block(block, [0])
        return _rows(unknown, lambda unit: inline_region(back, [*atoms, unit])[1])
    moved = forward_block(block, [block.inputs[0]], [0])
    columns = _rows(unknown, lambda unit: inline_region(moved, [*atoms, unit])[1])
    return apply("transpose", columns, axes=(1, 0))


def _goes_back_alone(block: Block) -> bool:
    """Return whether a block has functions with derivatives in reverse mode alone."""
    return any(e.outputs and e.op.jvp is None and not is_marked(e.op)
               and find_gradient(e.op) is not None for e in all_eqns(block))


def _rows(like: Aval, derivative: Callable[[Atom], Atom]) -> Tracer:
    """Return a matrix whose rows are derivatives along the units of an array, flat."""
    n, builder = product(like.shape), current().builder
    index = Value(scalar(np.int64), "i")
    builder.assume(index, 0, n - 1)
    with builder.block((index,)) as scope:
        unit: Any = cast(apply("iota", size=n) == tracer_of(index), like.dtype)
        found = value_of(derivative(atom_of(apply("reshape", unit, shape=like.shape))))
        region = scope.close([atom_of(apply("reshape", found, shape=(n,)))])
    return value_of(emit("map_", [], {"size": n}, [region])[0])


def factorised(equations: Equations, x: Atom) -> tuple[Tracer, list[Tracer], Any]:
    """Return F at a solution, its Jacobian there with its factors, and whether it has them."""
    atoms = [x, *stopped(equations.given)]
    value = value_of(inline_region(equations.block, atoms)[0])
    jacobian = _jacobian(equations.block, atoms)
    least = np.finfo(jacobian.dtype).eps
    if not jacobian.dims:
        return value, [jacobian], jacobian != 0.0
    lu, pivots, regular = map(tracer_of, emit("lu_or_not", [jacobian.value]))
    place = apply("iota", size=lu.dims[0])
    found: Any = np.abs(lu[place, place])
    tiny = np.min(found, initial=np.inf) <= least * np.max(found, initial=0.0)
    good = np.logical_not(tiny)  # of NaN it is the solution that is none
    return value, [jacobian, lu, pivots], np.logical_and(good, regular)


def correction(value: Tracer, factors: Sequence[Tracer]) -> Tracer:
    """Return one correction of Newton's method, J^-1 F, in the shape of the solution."""
    return _solved(factors, factors[0], value, False)


def solution_of(equations: Equations, x: Tracer, factors: Sequence[Tracer]) -> Tracer:
    """Return a solution with the derivatives that the equations imply."""
    operands = [x.value, *(f.value for f in factors), *equations.given]
    return tracer_of(emit_solution("solution", operands, len(factors), equations.block))


def emit_solution(op: str, operands: Sequence[Atom], count: int, block: Block) -> Value:
    """Return the result of an op of a solution, factors and numbers, with F as its region."""
    (found,) = emit(op, operands, {"count": count}, [block])
    return found


def _solved(factors: Sequence[Tracer], jacobian: Tracer, b: Tracer, transposed: bool) -> Tracer:
    """Solve with the factors of a matrix, whose derivatives are another one's, or divide."""
    matrix = implied("same", [factors[0]], jacobian)[0]
    if not b.dims:
        quotient: Tracer = b / matrix
        return quotient
    column = apply("reshape", b, shape=(product(b.dims), 1))
    found = apply("solve", matrix, column, *factors[1:], transposed=transposed)
    return apply("reshape", found, shape=b.dims)


def _parts(sweep: ForwardSweep | ReverseSweep, eqn: Eqn) -> tuple[list[Tracer], list[Atom], Block]:
    """Return factors, the inputs of F (the solution with its derivatives first), and F."""
    count = eqn.params["count"]
    factors = [value_of(a) for a in eqn.inputs[1:1 + count]]
    return factors, [eqn.output, *eqn.inputs[1 + count:]], eqn.regions[0]


def _solution_jvp(sweep: ForwardSweep, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    new = copy_eqn(eqn, sweep.env)
    sweep.builder.append(new)
    given = tangents[1 + eqn.params["count"]:]
    moving = [k for k, t in enumerate(given) if t is not None]
    if not moving:
        return [None]
    factors, atoms, block = _parts(sweep, new)
    dots = [atom_of(given[k]) for k in moving]
    right = pushed_forward(block, atoms, [1 + k for k in moving], dots)
    moved: Any = _solved(factors, _jacobian(block, atoms), right, False)
    return [-moved]


def _solution_vjp(sweep: ReverseSweep, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    count = eqn.params["count"]
    found: list[Any] = [None] * len(eqn.inputs)
    wanted = [k for k, a in enumerate(eqn.inputs) if k > count and sweep.wants(a)]
    factors, atoms, block = _parts(sweep, eqn)
    if wanted:
        ct = value_of(atom_of(sweep.dense(cts[0], eqn.output.aval)))
        weights: Any = _solved(factors, _jacobian(block, atoms), ct, True)
        grads = pulled_back(block, atoms, [k - count for k in wanted], -weights)
        for k, g in zip(wanted, grads, strict=True):
            found[k] = g
    return found


def _solution_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    return only(avals[0])


structural("solution", lambda *xs, count, regions: xs[0], _solution_infer, Inline("operands"),
           _solution_vjp, _solution_jvp, cost=0.0)
