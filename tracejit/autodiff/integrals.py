"""Integrals found in any way, with derivatives of any order: those of the integrand, integrated.

The derivative's intervals are chosen by its own errors: those that do for an integral may not do
for its derivative, which jumps where the integrand has a kink, and is infinite where that has the
slope of a root.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.autodiff.forward import ForwardSweep, forward_block
from tracejit.autodiff.plain_integrals import integrals
from tracejit.autodiff.reverse import ReverseSweep
from tracejit.autodiff.solutions import stopped, value_of
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
from tracejit.trace.values.symbolic_ints import of_dim
from tracejit.trace.values.tracer import Tracer, scalar_of, tracer_of

__all__ = ["integral_of", "with_makers"]

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


def _parted(x: Tracer) -> Any:
    """Return the numbers of an array in a row, the imaginary parts behind the real ones."""
    row: Any = apply("reshape", x, shape=(product(x.dims),))
    if x.dtype.kind == "c":
        row = np.concatenate((np.real(row), np.imag(row)))
    return cast(row, np.float64)


def _in_a_row(arrays: Sequence[Tracer]) -> Any:
    """Return the numbers of several arrays in a row."""
    return np.concatenate([_parted(x) for x in arrays])


def _apart(row: Tracer, like: Sequence[Atom]) -> list[Any]:
    """Return the arrays, of types such as these, whose numbers stand in a row."""
    found, first = list[Any](), 0
    for aval in (a.aval for a in like):
        size = of_dim(product(aval.shape))
        part = row[first:first + size]
        first = first + size
        if aval.dtype.kind == "c":
            part = part + 1j * row[first:first + size]
            first = first + size
        found.append(apply("reshape", cast(part, aval.dtype), shape=aval.shape))
    return found


def _integrated(block: Block, given: Sequence[Atom], terms: Callable[[list[Atom]], Any],
                scales: Tracer, rule: Sequence[Atom]) -> list[Any]:
    """Return the integrals of an integrand's values, or an error.

    terms -- at a place, what the values are small changes of
    scales -- for each number, see `integrals`
    """
    def f(*place: object) -> Any:
        atoms = [atom_of(x, np.dtype(np.float64)) for x in place]
        x, *values = map(value_of, inline_region(block, [*atoms, *given]))
        return _in_a_row(values), terms(atoms), scalar_of(x.value, weak=True)

    row, is_fine = call_function(integrals, (f, scales, tuple(map(value_of, rule))), {})
    fine = apply("assured", is_fine, error="ArithmeticError", message=_ERROR)
    checked: Any = np.where(fine, row, 0.0)
    return _apart(checked, block.outputs[1:])


def _size_of(block: Block, given: Sequence[Atom],
             weights: Sequence[Tracer] | None) -> Callable[[list[Atom]], Any]:
    """Return at a place how large an integrand is, or the weighted sum of its values."""
    def f(place: list[Atom]) -> Any:
        _, *values = map(value_of, inline_region(block, [*place, *given]))
        total: Any = 0.0
        for k, y in enumerate(values):
            weight: Any = 1.0 if weights is None else weights[k]
            total = total + np.sum(np.abs(y * weight))
        return scalar_of(cast(total, np.float64).value, weak=True)

    return f


def _relative(given: Sequence[Atom], dots: Sequence[Atom]) -> Any:
    """Return by which part of themselves numbers move at most."""
    most: Any = 0.0
    for x, dot in zip(map(value_of, given), map(value_of, dots), strict=True):
        size = np.max(np.abs(x), initial=0.0)
        most = np.maximum(most, np.max(np.abs(dot), initial=0.0) / np.where(size == 0.0, 1.0, size))
    return most


def _inverse(given: Sequence[Atom]) -> Any:
    """Return one over the size of each number, in a row."""
    found = []
    for x in map(value_of, given):
        size: Any = np.abs(x)
        scale = cast(1.0 / np.where(size == 0.0, size.dtype.type(1), size), np.float64)
        row = apply("reshape", scale, shape=(product(scale.dims),))
        found += [row, row] if x.dtype.kind == "c" else [row]
    return np.concatenate(found)


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
    own, directions = still[:-len(dots)], still[-len(dots):]
    zeros = [apply("full", cast(0.0, a.aval.dtype), shape=a.aval.shape) for a in moved.outputs[1:]]
    scales = _in_a_row(zeros) + _relative([still[k] for k in dots], directions)
    found = _integrated(moved, still, _size_of(block, own, None), scales, rule)
    return [*integral_of([*map(atom_of, found)], rule, moved, given)]


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
    terms = _size_of(block, still, [*map(value_of, fixed)])
    results = _integrated(back, [*still, _UNREAD, *fixed], terms,
                          _inverse([still[k] for k in wanted]), rule)
    told = integral_of([*map(atom_of, results)], rule, back, [*given, _UNREAD, *weights])
    for k, g in zip(wanted, told, strict=True):
        found[first + k] = g
    return found


def _infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    return only(*avals[:params["count"]])


structural("integral", lambda *xs, count, regions: xs[0] if count == 1 else xs[:count], _infer,
           Inline("operands"), _vjp, _jvp, cost=0.0)
