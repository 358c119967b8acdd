"""Folds along axes: sums, products, extrema, running sums, and the places of extrema.

Where several elements are the largest (or smallest), each of them has an equal share of the
derivative, as in TensorFlow's `reduce_max`. `max_ties` marks them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.ir.core import Block, Eqn, Params
from tracejit.ir.dims import Dim, product
from tracejit.ir.lowering import Argument, Reduce, Running, Ties
from tracejit.ir.types import Aval
from tracejit.ops.cotangents import Cotangent, Tangent, dense
from tracejit.ops.kinds import linear, only, same_type, structural
from tracejit.ops.modes import ForwardMode, Mode, ReverseMode
from tracejit.trace.values.equations import apply
from tracejit.trace.values.tracer import Tracer

__all__ = ["flatten_axes", "unflatten_axes"]


def _reduce_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    (a,) = avals
    return only(a.with_shape(tuple(d for k, d in enumerate(a.shape) if k not in params["axes"])))


def spread(ct: Cotangent, shape: tuple[Dim, ...], axes: tuple[int, ...]) -> Any:
    """Return a reduced array repeated along the axes that were reduced."""
    kept = tuple(1 if k in axes else d for k, d in enumerate(shape))
    return apply("broadcast_to", apply("reshape", ct, shape=kept), shape=shape)


def _samples(n: int) -> list[Any]:
    return [((n,), {"axes": (0,)}), ((2, n), {"axes": (1,)}), ((n, 3), {"axes": (0,)}),
            ((n, n), {"axes": (0, 1)}), ((2, n, 2), {"axes": (0, 2)}), ((n, 2), {"axes": (1,)})]


def _nonempty_samples(n: int) -> list[Any]:
    """An extremum of nothing is an error; of no folds, nothing."""
    return _samples(n) if n else [((0, 2), {"axes": (1,)})]


linear("reduce_sum", lambda x, axes: np.sum(x, axis=axes, dtype=np.asarray(x).dtype), _reduce_infer,
       Reduce("add"),
       lambda sweep, eqn, ct: [spread(ct, eqn.inputs[0].aval.shape, eqn.params["axes"])],
       samples=_samples, kinds="ifc", moves=lambda params: True)


# --- products and extrema -----------------------------------------------------------------------


def flatten_axes(x: Tracer, axes: tuple[int, ...]) -> Any:
    """Return an array with these axes made into one, the last."""
    kept = tuple(k for k in range(len(x.dims)) if k not in axes)
    order = kept + axes
    moved = x if order == tuple(range(len(order))) else apply("transpose", x, axes=order)
    shape = tuple(x.dims[k] for k in kept)
    return apply("reshape", moved, shape=(*shape, product(tuple(x.dims[k] for k in axes))))


def unflatten_axes(y: Tracer, shape: tuple[Dim, ...], axes: tuple[int, ...]) -> Any:
    """Undo `flatten_axes` of an array of this shape."""
    kept = tuple(k for k in range(len(shape)) if k not in axes)
    order = kept + axes
    moved = apply("reshape", y, shape=tuple(shape[k] for k in order))
    inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
    return moved if inverse == tuple(range(len(order))) else apply("transpose", moved, axes=inverse)


def _prod_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    """d prod(x) / dx_k is the product of the other elements: all before times all after."""
    x, axes = sweep.operand(eqn.inputs[0]), eqn.params["axes"]
    x = np.conj(x) if x.dtype.kind == "c" else x
    return [_spread_over_others(dense(cts[0]), x, axes)]


def _spread_over_others(ct: Tracer, x: Tracer, axes: tuple[int, ...]) -> Any:
    """Return for each element a number of its fold times the product of the others."""
    flat = flatten_axes(x, axes)
    others = _exclusive(flat) * np.flip(_exclusive(np.flip(flat, -1)), -1)
    return unflatten_axes(ct[..., None] * others, x.dims, axes)


def _exclusive(flat: Tracer) -> Any:
    """Return the products of all earlier elements along the last axis."""
    ones = apply("full", flat.dtype.type(1), shape=(*flat.dims[:-1], 1))
    return np.cumprod(np.concatenate([ones, flat], axis=-1), axis=-1)[..., :-1]


def _prod_jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    x, axes = sweep.operand(eqn.inputs[0]), eqn.params["axes"]
    ones = apply("full", x.dtype.type(1), shape=eqn.output.aval.shape)
    others = _spread_over_others(ones, x, axes)
    return [apply("reduce_sum", others * tangents[0], axes=axes)]


structural("reduce_prod", lambda x, axes: np.prod(x, axis=axes, dtype=np.asarray(x).dtype),
           _reduce_infer, Reduce("mul"), _prod_vjp, _prod_jvp, samples=_samples,
           kinds="if")


def _shares(sweep: Mode, eqn: Eqn, ties: str) -> tuple[Any, Any]:
    """Return where the elements are that an extremum is, and how many there are in each fold.

    Those are the largest of the elements themselves. The extremum that was computed is not
    compared with them: it may be of others, of an SVD without vectors, say, and none of these be
    equal to it.
    """
    x, axes = sweep.operand(eqn.inputs[0]), eqn.params["axes"]
    chosen = apply(ties, x, axes=axes)
    return chosen, apply("reduce_sum", chosen.astype(x.dtype), axes=axes)


def _extremum(name: str, function: Callable[..., object], combine: str, ties: str) -> None:
    def reference(x: np.ndarray | np.generic, axes: tuple[int, ...]) -> Any:
        return function(x, axis=axes)

    def marks(x: np.ndarray, axes: tuple[int, ...]) -> Any:
        return (x == function(x, axis=axes, keepdims=True)) | (x != x)

    def vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
        aval = eqn.inputs[0].aval
        chosen, count = _shares(sweep, eqn, ties)
        ct = spread(dense(cts[0]) / count, aval.shape, eqn.params["axes"])
        return [np.where(chosen, ct, aval.dtype.type(0))]

    def jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Any]) -> list[Any]:
        chosen, count = _shares(sweep, eqn, ties)
        moved = np.where(chosen, tangents[0], eqn.inputs[0].aval.dtype.type(0))
        return [apply("reduce_sum", moved, axes=eqn.params["axes"]) / count]

    structural(name, reference, _reduce_infer, Reduce(combine), vjp, jvp,
               samples=_nonempty_samples, kinds="bif")
    structural(ties, marks, _ties_infer, Ties(combine), marked=True, samples=_nonempty_samples,
               kinds="if")


def _ties_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    return only(Aval(np.dtype(np.bool_), avals[0].shape))


_extremum("reduce_max", np.max, "max", "max_ties")
_extremum("reduce_min", np.min, "min", "min_ties")
structural("reduce_and", lambda x, axes: np.all(x, axis=axes), _reduce_infer, Reduce("and"),
           marked=True, samples=_samples, kinds="b")
structural("reduce_or", lambda x, axes: np.any(x, axis=axes), _reduce_infer, Reduce("or"),
           marked=True, samples=_samples, kinds="b")


# --- places -------------------------------------------------------------------------------------


def _argument_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    shape = avals[0].shape
    axis = params["axis"]
    return only(Aval(np.dtype(np.int64), shape[:axis] + shape[axis + 1:]))


def _axis_samples(n: int) -> list[Any]:
    return [((n + 1,), {"axis": 0}), ((n, 3), {"axis": 1}), ((2, n), {"axis": 0})]


structural("argmax", lambda x, axis: np.argmax(x, axis), _argument_infer, Argument("max"),
           marked=True, samples=_axis_samples, kinds="if")
structural("argmin", lambda x, axis: np.argmin(x, axis), _argument_infer, Argument("min"),
           marked=True, samples=_axis_samples, kinds="if")


# --- running sums -------------------------------------------------------------------------------


def _cumsum(x: np.ndarray | np.generic, axis: int, reverse: bool) -> Any:
    if reverse:
        return np.flip(np.cumsum(np.flip(x, axis), axis, dtype=np.asarray(x).dtype), axis)
    return np.cumsum(x, axis, dtype=np.asarray(x).dtype)


linear("cumsum", _cumsum, same_type, Running("add"),
       lambda sweep, eqn, ct: [apply("cumsum", ct, axis=eqn.params["axis"],
                                     reverse=not eqn.params["reverse"])],
       samples=lambda n: [((n,), {"axis": 0, "reverse": False}),
                          ((2, n), {"axis": 1, "reverse": True}),
                          ((n, 3), {"axis": 0, "reverse": False})])

