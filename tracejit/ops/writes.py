"""Reading and writing part of an array: basic indices, in both directions the other's transpose.

A read `y = A[i]` has the transpose `dA[i] += dy`, a write `A[i] = v` has `dv = dA[i]; dA[i] = 0`:
each costs as much as the part that it moves, never a whole array.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.errors import IRError, raisable
from tracejit.ir.core import Atom, Block, Eqn, Literal, Params, Span, Value
from tracejit.ir.dims import Dim
from tracejit.ir.lowering import Effect, View, Write
from tracejit.ir.types import Aval
from tracejit.ops.cotangents import Cotangent, Scattered
from tracejit.ops.kinds import linear, only, same_type, structural
from tracejit.ops.makers import maker_of, recent_maker_of
from tracejit.ops.modes import ReverseMode
from tracejit.trace.values.equations import apply, emit
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["numpy_key"]


def numpy_key(at: Sequence[object]) -> tuple[Any, ...]:
    """Return a basic index with numbers for dims as NumPy's."""
    return tuple(_numpy_slice(p) if isinstance(p, Span) else p for p in at)


def _numpy_slice(span: Span) -> slice:
    assert isinstance(span.start, int) and isinstance(span.size, int)
    if not span.size:
        return slice(0, 0)
    stop = span.start + span.size * span.step
    return slice(span.start, None if stop < 0 else stop, span.step)


def kept_shape(at: Sequence[object]) -> tuple[Dim, ...]:
    """Return the shape of the part that a basic index selects."""
    return tuple(p.size for p in at if isinstance(p, Span))


def _index_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    if len(params["at"]) != avals[0].ndim:
        raise IRError(f"index of {len(params['at'])} axes into {avals[0]}")
    return only(avals[0].with_shape(kept_shape(params["at"])))


def _index_map(params: Params, index: Sequence[Dim], shape: Sequence[Dim]) -> tuple[Any, ...]:
    rest = iter(index)
    return tuple(p.start + next(rest) * p.step if isinstance(p, Span) else p for p in params["at"])


def _index_transpose(sweep: ReverseMode, eqn: Eqn, ct: Cotangent) -> list[Any]:
    aval = eqn.inputs[0].aval
    if not eqn.params["at"]:  # all of an array without axes
        return [ct]
    return [Scattered(aval, lambda acc: _added_to_part(acc, ct, eqn.params["at"]))]


MOST_BETWEEN = 8
"""Additions to an array between the write that cleared a part and the one that fills it again."""


def _added_to_part(acc: Tracer, ct: Cotangent, at: Sequence[object]) -> Tracer:
    """Return an array with a cotangent added to a part of it.

    The way back of `y[i] += v` takes the cotangent of the part out and puts the same one back:
    where it is back, what was added meanwhile is added to the array that it was taken out of.
    """
    taken = recent_maker_of(ct)
    if taken is not None and taken.op.meaning == "index" and taken.params["at"] == at:
        (whole,) = taken.inputs
        between: list[Eqn] = []
        eqn = recent_maker_of(acc)
        while eqn is not None and eqn.op.lowering == Write("add") and len(between) < MOST_BETWEEN:
            between.append(eqn)
            eqn = maker_of(eqn.inputs[0])
        if eqn is not None and eqn.op.lowering == Write("set") and (
                eqn.inputs[0] is whole and eqn.params["at"] == at and _is_zero(eqn.inputs[1])):
            for added in reversed(between):
                (whole,) = emit("accumulate", [whole, added.inputs[1]], {"at": added.params["at"]})
            assert isinstance(whole, Value)
            return tracer_of(whole)
    return apply("accumulate", acc, ct, at=at)


def _is_zero(a: Atom) -> bool:
    maker = maker_of(a)
    if maker is not None and maker.op.meaning == "full":
        (a,) = maker.inputs
    return isinstance(a, Literal) and bool(a.val == 0)


linear("index", lambda x, at: np.array(np.asarray(x)[numpy_key(at)]), _index_infer,
       View(_index_map, "index"), _index_transpose, cost=0.5, exact=True,
       moves=lambda params: not params["at"],
       samples=lambda n: [((4,), {"at": (2,)}), ((n + 1, 3), {"at": (Span(1, n), 0)}),
                          ((5,), {"at": (Span(4, 3, -2),)})])


def _update_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    x, v = avals
    if v.shape != kept_shape(params["at"]) or v.dtype != x.dtype:
        raise IRError(f"{v} cannot be written to {kept_shape(params['at'])} elements of {x}")
    return only(x)


def _update(x: np.ndarray | np.generic, v: np.ndarray | np.generic,
            at: Sequence[object]) -> Any:
    y = np.array(x)
    y[numpy_key(at)] = v
    return y


def _accumulate(x: np.ndarray | np.generic, v: np.ndarray | np.generic,
                at: Sequence[object]) -> Any:
    y = np.array(x)
    y[numpy_key(at)] += v
    return y


def _update_transpose(sweep: ReverseMode, eqn: Eqn, ct: Cotangent) -> list[Any]:
    x, v = eqn.inputs
    at = eqn.params["at"]
    ct_v = apply("index", ct, at=at)
    zero = apply("full", x.aval.dtype.type(0), shape=v.aval.shape)
    return [apply("update", ct, zero, at=at) if sweep.wants(x) else None, ct_v]


def _write_samples(n: int) -> list[Any]:
    return [((4,), (), {"at": (2,)}), ((n + 1, 3), (n,), {"at": (Span(1, n), 0)}),
            ((5,), (3,), {"at": (Span(4, 3, -2),)})]


linear("update", _update, _update_infer, Write("set"), _update_transpose, operands=2, exact=True,
       writes=0, samples=_write_samples)
linear("accumulate", _accumulate, _update_infer, Write("add"),
       lambda sweep, eqn, ct: [ct, apply("index", ct, at=eqn.params["at"])], operands=2,
       writes=0, samples=_write_samples)


# --- run-time checks of indices -----------------------------------------------------------------


def _no_outputs(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    return ()


def _check_bounds(first: int, last: int, count: int, size: int, axis: int) -> tuple[()]:
    if count > 0:
        for i in (first, last):
            if not 0 <= i < size:
                i = i - size if i < 0 else min(i, size) if i > first else i
                raise IndexError(f"index {i} is out of bounds for axis {axis} with size {size}")
    return ()


structural("check_bounds", _check_bounds, _no_outputs, Effect("check_bounds"), effect=True)


def _wrap_index(i: object, size: int, axis: int) -> Any:
    i = np.asarray(i)
    bad = (i < -size) | (i >= size)
    if bad.any():
        first = i[bad].flat[0] if i.ndim else i
        raise IndexError(f"index {first} is out of bounds for axis {axis} with size {size}")
    return np.where(i < 0, i + size, i).astype(i.dtype)


structural("wrap_index", _wrap_index, same_type, Effect("wrap_index"), effect=True, once=True,
           exact=True, marked=True)


def _check(condition: object, *values: float, error: str, message: str) -> tuple[()]:
    if not condition:
        raise raisable(error)(message.format(*map(float, values)))
    return ()


structural("check", _check, _no_outputs, Effect("check"), effect=True)

