"""The kinds of ops: the fields that an entry has to give, and the rules that follow.

| kind          | an entry says                                   | derived from it               |
|---------------|-------------------------------------------------|-------------------------------|
| `elementwise` | partial derivatives in terms of output, operands| shape rule, vjp, jvp, loop    |
| `linear`      | shape rule, transpose                           | jvp is itself, vjp transposes |
| `bilinear`    | shape rule, two transposes                      | jvp by the product rule, vjp  |
| `structural`  | everything                                      | nothing                       |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.errors import IRError
from tracejit.ir.core import Block, Eqn, Op, Params
from tracejit.ir.dims import Dim
from tracejit.ir.lowering import Lowering, Pointwise
from tracejit.ir.optable import add_op
from tracejit.ir.types import Aval, Type
from tracejit.ops.cotangents import Cotangent, Masked, Tangent, apply_derivative, scale, unbroadcast
from tracejit.ops.modes import ForwardMode, ReverseMode
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import UFUNCS
from tracejit.trace.values.equations import apply

__all__ = ["NoFormula", "bilinear", "broadcast_shapes", "elementwise", "linear", "only",
           "partial_rules", "same_type", "structural", "yielded_types"]

Infer = Callable[[Sequence[Any], Params, Sequence[Block]], Any]

Samples = Callable[[int], list[Any]]
"""Operands for tests of an op, at a size: tuples of operands, each a shape or an array, ending with
the params, or with a function of the operands that applies the op."""


def only(*avals: Aval) -> tuple[Aval, ...]:
    """Return output types as a tuple."""
    return avals


def same_type(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    """Infer the type of the first operand."""
    return only(avals[0])


def yielded_types(avals: Sequence[Type], params: Params, regions: Sequence[Block]) -> Any:
    """Infer the types of the region's outputs."""
    return only(*(a.aval for a in regions[0].outputs))


def broadcast_shapes(shapes: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
    """Return the shape that shapes broadcast to; dims must be 1 or equal as expressions."""
    rank = max((len(s) for s in shapes), default=0)
    result: list[Dim] = []
    for axis in range(-rank, 0):
        dims = {s[axis] for s in shapes if len(s) >= -axis} - {1}
        if len(dims) > 1:
            raise IRError(f"dims {', '.join(map(str, dims))} do not broadcast")
        result.append(dims.pop() if dims else 1)
    return tuple(result)


_REAL: dict[np.dtype, np.dtype] = {
    np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype(np.float64),
}
RESULTS: dict[str, Callable[[np.dtype], np.dtype]] = {
    "same": lambda t: t,
    "bool": lambda t: np.dtype(np.bool_),
    "real": lambda t: _REAL.get(t, t),
}


def elementwise(name: str, function: Any, expression: str,
                partials: Callable[..., tuple[object, ...]] | None = None, *, result: str = "same",
                cost: float = 1.0, exact: bool = False, integer: str | None = None,
                reference: Callable[..., Any] | None = None,
                domain: tuple[float, float] = (-2.0, 2.0), kinds: str = "f",
                scipy: bool = False, samples: Samples | None = None, halves: bool = True,
                meaning: str = "", **columns: Any) -> Op:
    """Enter an op that acts on each element.

    function   -- the NumPy ufunc it is, or None
    expression -- its scalar code, `{0}` and `{1}` the operands; `integer` where that differs
    partials   -- (output, *operands) -> one derivative per operand, None where there is none; no
                  function at all says that the op is not differentiable; `NoFormula` for one that
                  has no formula
    result     -- the result's dtype: the operands' own, "bool", or "real" of a complex one
    domain     -- the interval that tests sample operands from
    kinds      -- dtype kinds that it is defined for: any of "b", "i", "f", "c"
    scipy      -- whether it is `scipy.special.NAME`
    samples    -- tests' operands for it, in place of operands from the domain
    halves     -- whether a half's result is float32's, rounded
    meaning    -- the fold that it does to two elements, as `Pointwise` says
    columns    -- further columns of `Op`
    """

    def infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> tuple[Type, ...]:
        dtypes = {a.dtype for a in avals}
        if len(dtypes) != 1:
            raise IRError(f"{name} needs operands of one dtype, not {dtypes}")
        return only(Aval(RESULTS[result](dtypes.pop()), broadcast_shapes([a.shape for a in avals])))

    op = add_op(Op(
        name=name, kind="elementwise", infer=infer, reference=reference or function,
        lowering=Pointwise(expression, integer, meaning), vjp=_elementwise_vjp(partials),
        jvp=_elementwise_jvp(partials), marked=partials is None, cost=cost, exact=exact,
        data={"domain": domain, "kinds": kinds, "arity": _arity(expression), "scipy": scipy,
              "samples": samples, "halves": halves}, **columns))
    if isinstance(function, np.ufunc):
        UFUNCS[function] = op
    return op


@dataclass(frozen=True, slots=True)
class NoFormula:
    """A partial derivative that has no formula: a program that asks for it is refused."""

    of: str
    remedy: str


def known(partial: object) -> Any:
    """Return a partial derivative that has a formula, or refuse the program."""
    if isinstance(partial, NoFormula):
        raise refuse(f"the derivative by {partial.of} is not known", partial.remedy, "TJ501")
    return partial


def _arity(expression: str) -> int:
    return 1 + max(k for k in range(6) if f"{{{k}}}" in expression)


def _elementwise_vjp(partials: Callable[..., tuple[object, ...]] | None) -> Any:
    if partials is None:
        return None

    def vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
        (ct,) = cts
        derivatives = partials(sweep.operand(eqn.output), *map(sweep.operand, eqn.inputs))
        return [unbroadcast(scale(ct, known(d)), a.aval) if d is not None and sweep.wants(a)
                else None for a, d in zip(eqn.inputs, derivatives, strict=True)]

    return vjp


def _elementwise_jvp(partials: Callable[..., tuple[object, ...]] | None) -> Any:
    if partials is None:
        return None

    def jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
        derivatives = partials(sweep.operand(eqn.output), *map(sweep.operand, eqn.inputs))
        total: Any = None
        for d, tangent in zip(derivatives, tangents, strict=True):
            if tangent is not None and d is not None:
                term = apply_derivative(known(d), tangent)
                total = term if total is None else total + term
        shape = eqn.output.aval.shape
        if total is not None and total.aval.shape != shape:  # every tangent here repeats
            total = apply("broadcast_to", total, shape=shape)
        return [total]

    return jvp


def partial_rules(choose: Callable[[Eqn], Callable[..., tuple[object, ...]]]) -> tuple[Any, Any]:
    """Return the vjp and jvp of an elementwise op whose partial derivatives its params choose."""

    def vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
        found: list[Any] = _elementwise_vjp(choose(eqn))(sweep, eqn, cts)
        return found

    def jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
        found: list[Any] = _elementwise_jvp(choose(eqn))(sweep, eqn, tangents)
        return found

    return vjp, jvp


def linear(name: str, reference: Callable[..., object], infer: Infer, lowering: Lowering,
           transpose: Callable[..., Sequence[object]], *, operands: int | None = 1,
           cost: float = 1.0, exact: bool = False, writes: int | None = None,
           permutes: bool = False, samples: Samples | None = None, kinds: str = "f",
           moves: Callable[[Params], bool] = lambda params: False) -> Op:
    """Enter an op that is linear in its first `operands` inputs jointly (None: in all).

    transpose -- (sweep, eqn, ct) -> one cotangent per linear operand
    moves     -- whether with these params each number of a transpose is one of the cotangent's, so
                 that a mask goes through it, too
    """

    def vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
        (ct,) = cts
        if isinstance(ct, Masked) and moves(eqn.params):
            return ct.moved(lambda x: transpose(sweep, eqn, x))
        if isinstance(ct, Masked):
            ct = ct.dense()
        results = list(transpose(sweep, eqn, ct))
        return results + [None] * (len(eqn.inputs) - len(results))

    def jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
        count = len(eqn.inputs) if operands is None else operands
        parts = [sweep.zeros(a.aval) if t is None else t
                 for a, t in zip(eqn.inputs[:count], tangents, strict=False)]
        rest = [sweep.operand(a) for a in eqn.inputs[count:]]
        return [sweep.apply(op, *parts, *rest, **eqn.params)]

    op = add_op(Op(name=name, kind="linear", infer=infer, reference=reference, lowering=lowering,
                   vjp=vjp, jvp=jvp, cost=cost, exact=exact, writes=writes, permutes=permutes,
                   data={"samples": samples, "kinds": kinds}))
    return op


def bilinear(name: str, reference: Callable[..., object], infer: Infer, lowering: Lowering,
             transpose_left: Callable[..., object], transpose_right: Callable[..., object], *,
             cost: float = 1.0, samples: Samples | None = None, kinds: str = "f") -> Op:
    """Enter an op that is linear in each of its two operands.

    transpose_left -- (sweep, eqn, ct) -> the cotangent of the left operand; likewise right
    """

    def vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
        (ct,) = cts
        if isinstance(ct, Masked):
            ct = ct.dense()
        return [transpose(sweep, eqn, ct) if sweep.wants(a) else None
                for a, transpose in zip(eqn.inputs, (transpose_left, transpose_right), strict=True)]

    def jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
        x, y = map(sweep.operand, eqn.inputs)
        x_dot, y_dot = tangents
        terms = [] if x_dot is None else [sweep.apply(op, x_dot, y, **eqn.params)]
        terms += [] if y_dot is None else [sweep.apply(op, x, y_dot, **eqn.params)]
        return [terms[0] if len(terms) == 1 else terms[0] + terms[1]]

    op = add_op(Op(name=name, kind="bilinear", infer=infer, reference=reference, lowering=lowering,
                   vjp=vjp, jvp=jvp, cost=cost, data={"samples": samples, "kinds": kinds}))
    return op


def structural(name: str, reference: Callable[..., object], infer: Infer, lowering: Lowering,
               vjp: Callable[..., Any] | None = None, jvp: Callable[..., Any] | None = None,
               **fields: Any) -> Op:
    """Enter an op by all of its parts; none is derived."""
    data = {"samples": fields.pop("samples", None), "kinds": fields.pop("kinds", "f")}
    op = add_op(Op(name=name, kind="structural", infer=infer, reference=reference,
                   lowering=lowering, vjp=vjp, jvp=jvp, data=data, **fields))
    if isinstance(reference, np.ufunc):
        UFUNCS.setdefault(reference, op)
    return op
