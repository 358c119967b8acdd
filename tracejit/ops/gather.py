"""Reading and writing at indices that are data: index arrays, sorting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.errors import IRError
from tracejit.ir.core import Block, Eqn, Params
from tracejit.ir.dims import Dim
from tracejit.ir.lowering import Gather, Library, Write
from tracejit.ir.types import Aval
from tracejit.ops.cotangents import Cotangent, Scattered
from tracejit.ops.kinds import linear, only, structural
from tracejit.ops.modes import ReverseMode
from tracejit.trace.values.equations import apply, cast, emit
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["gathered_shape"]


def gathered_shape(shape: tuple[Dim, ...], index: tuple[Dim, ...], axes: tuple[int, ...],
                   position: int) -> tuple[Dim, ...]:
    """Return the shape of `x[i0, i1, ...]`: the index's shape stands at `position`."""
    rest = tuple(d for k, d in enumerate(shape) if k not in axes)
    return rest[:position] + index + rest[position:]


def _gather_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    x, *indices = avals
    if any(i.shape != indices[0].shape or i.dtype != np.int64 for i in indices):
        raise IRError("index arrays must be int64 and of one shape")
    if len(indices) != len(params["axes"]):
        raise IRError("one index array per axis is needed")
    return only(x.with_shape(gathered_shape(x.shape, indices[0].shape, params["axes"],
                                            params["position"])))


def _split(x: np.ndarray | np.generic, axes: tuple[int, ...], position: int,
           rank: int) -> tuple[Any, Any]:
    """Return x with the indexed axes first, and the axes order of the result from index-first."""
    rest = tuple(k for k in range(np.ndim(x)) if k not in axes)
    moved = np.transpose(x, (*axes, *rest))
    count = len(rest)
    order = (*range(rank, rank + position), *range(rank), *range(rank + position, rank + count))
    return moved, order


def _gather(x: np.ndarray | np.generic, *indices: np.ndarray, axes: tuple[int, ...],
            position: int) -> Any:
    moved, order = _split(x, axes, position, np.ndim(indices[0]))
    return np.transpose(moved[tuple(indices)], order)


Combine = Callable[[np.ndarray, tuple[np.ndarray, ...], np.ndarray], None]
"""(array, indices, values): writes the values, or accumulates them, in place."""


def _scatter(combine: Combine) -> Any:
    def scatter(x: np.ndarray | np.generic, v: np.ndarray | np.generic, *indices: np.ndarray,
                axes: tuple[int, ...], position: int) -> Any:
        y = np.array(x)
        moved, order = _split(y, axes, position, np.ndim(indices[0]))
        inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
        combine(moved, tuple(indices), np.transpose(v, inverse))
        return y

    return scatter


def _set(x: np.ndarray, key: tuple[np.ndarray, ...], v: np.ndarray | np.generic) -> None:
    x[key] = v


def _gather_transpose(sweep: ReverseMode, eqn: Eqn, ct: Cotangent) -> list[Any]:
    indices = [sweep.operand(a) for a in eqn.inputs[1:]]
    return [Scattered(eqn.inputs[0].aval,
                      lambda acc: apply("scatter_add", acc, ct, *indices, **eqn.params))]


def _samples(n: int) -> list[Any]:
    first, last, pair = np.zeros(n, np.int64), np.full(n, 2), np.array([[2, 1], [0, 0]])
    return [((4,), last, {"axes": (0,), "position": 0}),
            ((3, n), np.array([2, 1]), {"axes": (0,), "position": 0}),
            ((n, 3), pair, {"axes": (1,), "position": 1}),
            ((3, 3), last, first, {"axes": (0, 1), "position": 0})]


linear("gather", _gather, _gather_infer, Gather(), _gather_transpose, cost=2.0, exact=True,
       permutes=True, samples=_samples)


def _scatter_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    x, v, *indices = avals
    expected = gathered_shape(x.shape, indices[0].shape, params["axes"], params["position"])
    if v.shape != expected or v.dtype != x.dtype:
        raise IRError(f"{v} cannot be written to {expected} elements of {x}")
    return only(x)


def _scatter_transpose(sweep: ReverseMode, eqn: Eqn, ct: Cotangent) -> list[Any]:
    """Only the last of several writes to one element has its cotangent.

    The writes are told apart by scattering their numbers: the number read back is the last one's.
    """
    x, v, *rest = eqn.inputs
    indices = [sweep.operand(a) for a in rest]
    ct_x = apply("scatter", ct, sweep.zeros(v.aval), *indices, **eqn.params)
    number = _numbers(v.aval.shape)
    blank = apply("full", np.int64(-1), shape=x.aval.shape)
    last = apply("gather", apply("scatter", blank, number, *indices, **eqn.params), *indices,
                 **eqn.params)
    ct_v = apply("gather", ct, *indices, **eqn.params)
    return [ct_x, np.where(last == number, ct_v, v.aval.dtype.type(0))]


def _numbers(shape: tuple[Dim, ...]) -> Any:
    count: Dim = 1
    for d in shape:
        count = count * d
    return apply("reshape", apply("iota", size=count), shape=shape)


def _write_samples(n: int) -> list[Any]:
    return [((4,), (3,), np.array([2, 0, 2]), {"axes": (0,), "position": 0}),
            ((n, 3), (n, 2), np.array([2, 2]), {"axes": (1,), "position": 1}),
            ((3, 3), (n,), np.full(n, 2), np.full(n, 1), {"axes": (0, 1), "position": 0})]


linear("scatter", _scatter(_set), _scatter_infer, Write("set", gathered=True), _scatter_transpose,
       operands=2, cost=2.0, exact=True, writes=0, samples=_write_samples)
linear("scatter_add", _scatter(np.add.at), _scatter_infer, Write("add", gathered=True),
       lambda sweep, eqn, ct: [ct, apply("gather", ct, *map(sweep.operand, eqn.inputs[2:]),
                                         **eqn.params)],
       operands=2, cost=2.0, writes=0, samples=_write_samples)


# --- searching: the places of numbers among sorted ones ------------------------------------------


def _search_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    a, x = avals
    if len(a.shape) != 1 or not x.shape or a.dtype != x.dtype:
        raise IRError(f"the places of {x} cannot be found among {a}")
    return only(Aval(np.dtype(np.int64), x.shape))


def _search(a: np.ndarray, x: np.ndarray, right: bool) -> Any:
    return np.searchsorted(a, x, "right" if right else "left")


def _place(right: bool) -> Callable[[Tracer, Tracer], Tracer]:
    return lambda a, x: apply("search", cast(a, x.dtype), x, right=right)


structural("search", _search, _search_infer, Library("search"), marked=True, cost=30.0,
           samples=lambda n: [(np.arange(3.0), (n,), _place(False)),
                              (np.array([0.0, 0.0, 1.0]), (2, n), _place(True)),
                              (np.zeros(0), (2,), _place(True))])

# --- sorting: the order is data, found once and stored -------------------------------------------


def _argsort_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    """The order along the last axis, and room that the sorting needs."""
    order = Aval(np.dtype(np.int64), avals[0].shape)
    return only(order, order)


def _argsort(x: np.ndarray | np.generic) -> Any:
    order = np.argsort(x, -1, kind="stable")
    return order, np.zeros_like(order)


def _order(x: Tracer) -> Any:
    return tracer_of(emit("argsort", [x.value])[0])


structural("argsort", _argsort, _argsort_infer, Library("argsort"), marked=True, cost=100.0,
           samples=lambda n: [((n,), _order), ((2, n), _order)])
