"""Integrals found in any way, with derivatives of any order: those of the integrand, integrated.

The derivative's intervals are chosen by its own errors: those that do for an integral may not do
for its derivative, which jumps where the integrand has a kink, and is infinite where that has the
slope of a root.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.autodiff.forward import ForwardSweep, forward_block
from tracejit.autodiff.plain_integrals import MOST, added_up, intervals
from tracejit.autodiff.reverse import ReverseSweep
from tracejit.autodiff.solutions import goes_back_alone, stopped, value_of
from tracejit.autodiff.transforms import pullback_block
from tracejit.ir.core import Atom, Block, Eqn, Literal, Params, Value
from tracejit.ir.dims import product
from tracejit.ir.lowering import Alias, Gather, Inline, Pointwise, View
from tracejit.ir.types import Aval
from tracejit.ir.walk import copy_block, copy_eqn, free_values
from tracejit.ops.calls import inline_region, is_marked
from tracejit.ops.cotangents import Cotangent, Tangent
from tracejit.ops.kinds import only, structural
from tracejit.trace.ground.context import current
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import apply, atom_of, cast, emit
from tracejit.trace.values.tracer import Tracer, scalar_of, tracer_of

__all__ = ["integral_of", "with_makers"]

_MOST = 1e-6  # as a part of the integral of the absolute value
_MAKERS = (Pointwise, View, Alias, Gather)
_UNREAD = Literal(0.0, np.dtype(np.float64))
"""The cotangent of the place, which has no derivative."""
_ERROR = ("scipy.integrate.quad: the derivative of the integral cannot be found: its estimated "
          "error is more than a millionth. Cut the interval where the function's slope by what "
          "it reads is infinite")


def integral_of(values: Sequence[Atom], rule: Sequence[Atom], integrand: Block,
                given: Sequence[Atom]) -> list[Tracer]:
    """Return integrals from 0 to 1 that were found already, with derivatives of any order.

    rule -- the places of Kronrod's rule, and the weights of Gauss's and Kronrod's
    integrand -- (distance, whether from 1, *given) -> the place in the user's numbers, and the
                 functions' values, one for each integral
    """
    found = emit("integral", [*values, *rule, *given], {"count": len(values)}, [integrand])
    return [*map(tracer_of, found)]


def with_makers(block: Block) -> Block:
    """Return a block that computes the numbers that it reads from those that they are made of.

    The ends of an interval and what the integrand reads move together: of 1 / sqrt(x - p) from p
    on, the slope by the end and that by p cannot be integrated, their sum can.
    """
    wanted, taken = {*free_values(block)}, list[Eqn]()
    for scope in reversed(current().builder.scopes):
        for eqn in reversed(scope.eqns):
            if isinstance(eqn.op.lowering, _MAKERS) and not is_marked(eqn.op) and all(
                    v in wanted and not v.aval.shape for v in eqn.outputs):
                taken.append(eqn)
                wanted |= {a for a in eqn.inputs if isinstance(a, Value)}
    eqns = (*reversed(taken), *block.eqns)
    return copy_block(Block(block.inputs, eqns, block.outputs), {})


def _tangents(block: Block, wrt: Sequence[int]) -> Block:
    """Return the tangents of an integrand along some of its numbers, as an integrand."""
    count = len(block.outputs)
    moved = forward_block(block, [block.inputs[2 + k] for k in wrt], range(count))
    return Block(moved.inputs, moved.eqns, (moved.outputs[0], *moved.outputs[count + 1:]))


def _pullback(block: Block, wrt: Sequence[int]) -> Block:
    """Return the cotangents of some numbers of an integrand, as an integrand.

    Its numbers are those of the integrand, `_UNREAD`, and the integrals' cotangents.
    """
    back = pullback_block(block, [2 + k for k in wrt])
    return Block(back.inputs, back.eqns, (back.outputs[0], *back.outputs[len(block.outputs):]))


def _numbers(aval: Aval, k: int) -> Any:
    """Return an array of numbers of no pattern between 0.5 and 1.5, of a type's shape."""
    if not aval.shape:
        return cast(0.5 + (0.618034 * (k + 1)) % 1.0, aval.dtype)
    place: Any = apply("iota", size=product(aval.shape))
    found: Any = 1.0 + 0.5 * np.cos(1.7 * place + k)
    return apply("reshape", cast(found, aval.dtype), shape=aval.shape)


def _direction(given: Atom, k: int) -> Atom:
    """Return a direction in which a number moves by about as much as it is."""
    x: Any = value_of(given)
    size = np.abs(x)
    size = np.where(size == 0.0, size.dtype.type(1), size)
    return atom_of(cast(_numbers(x.aval, k) * size, x.aval.dtype))


def _weighed(values: Sequence[Tracer], weights: Sequence[Tracer]) -> Any:
    """Return the sum of several arrays' elements, each with a weight."""
    total: Any = 0.0
    for y, w in zip(values, weights, strict=True):
        other: Any = np.conj(w)
        total = total + np.sum(np.real(other * y))
    return scalar_of(cast(total, np.float64).value, weak=True)


def _relative(given: Sequence[Atom], dots: Sequence[Atom]) -> Any:
    """Return by which part of themselves numbers move at most, of those that are not 0."""
    most: Any = 0.0
    for x, dot in zip(map(value_of, given), map(value_of, dots), strict=True):
        size = np.max(np.abs(x), initial=0.0)
        part = np.max(np.abs(dot), initial=0.0) / np.where(size == 0.0, 1.0, size)
        most = np.maximum(most, np.where(size == 0.0, 0.0, part))
    return most


class _Slope:
    """A number to be integrated: a sum of an integrand's values, each with a weight.

    terms -- the sum that it is the small change of, in its size, as another such number
    """

    terms: _Slope | None

    def __init__(self, block: Block, given: Sequence[Atom], weights: Sequence[Tracer],
                 terms: _Slope | None = None) -> None:
        self.block, self.given, self.weights, self.terms = block, given, weights, terms

    def at(self, place: Sequence[Atom]) -> tuple[Any, Any]:
        """Return the number at a place, and the place in the user's numbers."""
        x, *values = map(value_of, inline_region(self.block, [*place, *self.given]))
        return _weighed(values, self.weights), scalar_of(x.value, weak=True)

    def intervals(self, rule: Sequence[Atom]) -> tuple[Any, Any]:
        """Return the intervals to integrate over, and how many they are; it may be an error."""
        def f(*place: object) -> Any:
            atoms = [atom_of(x, np.dtype(np.float64)) for x in place]
            y, x = self.at(atoms)
            return y, self.terms.at(atoms)[0] if self.terms else 0.0, x

        rows, count, is_fine = call_function(intervals, (f, MOST, tuple(map(value_of, rule))), {})
        fine = apply("assured", is_fine, error="ArithmeticError", message=_ERROR)
        return rows, np.where(fine, count, 0)


def _summed(block: Block, given: Sequence[Atom], chosen: tuple[Any, Any],
            rule: Sequence[Atom]) -> Block:
    """Return the sums of an integrand over intervals: a block of what the integrand reads."""
    inputs = [Value(a.aval) for a in given]
    with current().builder.block(inputs) as scope:
        zeros = [apply("full", cast(0.0, a.aval.dtype), shape=a.aval.shape)
                 for a in block.outputs[1:]]

        def f(*place: object) -> tuple[Tracer, ...]:
            atoms = [atom_of(x, np.dtype(np.float64)) for x in place]
            return tuple(map(value_of, inline_region(block, [*atoms, *inputs])[1:]))

        found = call_function(added_up, (f, *chosen, zeros, tuple(map(value_of, rule))), {})
        return scope.close([*map(atom_of, found)])


def _parts(eqn: Eqn) -> tuple[list[Atom], list[Atom], Block]:
    """Return the rule, the numbers that the integrand reads, and the integrand."""
    first = eqn.params["count"] + 3
    return [*eqn.inputs[first - 3:first]], [*eqn.inputs[first:]], eqn.regions[0]


def _jvp(sweep: ForwardSweep, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    new = copy_eqn(eqn, sweep.env)
    sweep.builder.append(new)
    rule, given, block = _parts(new)
    dots = {k: t for k, t in enumerate(tangents[-len(given):]) if t is not None}
    if not given or not dots:
        return [None] * len(new.outputs)
    moved = _tangents(block, [*dots])
    given += map(atom_of, dots.values())
    still = stopped(given)
    weights = [_numbers(a.aval, k) for k, a in enumerate(moved.outputs[1:])]
    size = _relative([still[k] for k in dots], still[-len(dots):])
    terms = _Slope(block, still[:-len(dots)], [w * size for w in weights])
    sums = _summed(moved, still, _Slope(moved, still, weights, terms).intervals(rule), rule)
    return [*integral_of(inline_region(sums, still), rule, moved, given)]


def _vjp(sweep: ReverseSweep, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    rule, given, block = _parts(eqn)
    first = len(eqn.inputs) - len(given)
    wanted = [k for k, a in enumerate(given) if sweep.wants(a)]
    found: list[Any] = [None] * len(eqn.inputs)
    if not wanted:
        return found
    weights = [atom_of(sweep.dense(ct, v.aval)) for ct, v in zip(cts, eqn.outputs, strict=True)]
    still, fixed = stopped(given), stopped(weights)
    back = _pullback(block, wanted)
    directions = [_direction(still[k], k) for k in wanted]
    values = [*map(value_of, fixed)]
    terms = _Slope(block, still, values)
    slope = _Slope(back, [*still, _UNREAD, *fixed], [*map(value_of, directions)],
                   terms) if goes_back_alone(block) else _Slope(
        _tangents(block, wanted), [*still, *directions], values, terms)
    sums = pullback_block(_summed(block, still, slope.intervals(rule), rule), wanted)
    results = inline_region(sums, [*still, *fixed])[len(eqn.outputs):]
    told = integral_of(results, rule, back, [*given, _UNREAD, *weights])
    for k, g in zip(wanted, told, strict=True):
        found[first + k] = g
    return found


def _infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    return only(*avals[:params["count"]])


structural("integral", lambda *xs, count, regions: xs[0] if count == 1 else xs[:count], _infer,
           Inline("operands"), _vjp, _jvp, cost=0.0)
