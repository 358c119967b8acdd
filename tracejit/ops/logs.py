"""The Log: a linear stack that grows, and stores a `while` loop's residuals.

`push` and `pop` are each the transpose of the other, so the reverse of a reverse needs no new idea.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.errors import IRError
from tracejit.ir.core import Block, Eqn, Params
from tracejit.ir.lowering import LogOp
from tracejit.ir.types import Aval, LogType, Type
from tracejit.ops.cotangents import Cotangent, Tangent
from tracejit.ops.kinds import structural
from tracejit.ops.modes import ForwardMode, ReverseMode

__all__ = ["Items"]


def _new_infer(avals: Sequence[Type], params: Params, regions: Sequence[Block]) -> Any:
    return (LogType(params["dtype"]),)


def _push_infer(avals: Sequence[Type], params: Params, regions: Sequence[Block]) -> Any:
    log, *values = avals
    if not isinstance(log, LogType) or any(v.dtype != log.dtype for v in values):
        raise IRError(f"{', '.join(map(str, values))} cannot be pushed to {log}")
    return (log,)


def _pop_infer(avals: Sequence[Type], params: Params, regions: Sequence[Block]) -> Any:
    (log,) = avals
    return (log, *(Aval(log.dtype, shape) for shape in params["shapes"]))


class Items:
    """A Log as the interpreter has it: the first elements of a list, which other Logs may share.

    It never changes. The newest Log of a list is pushed to by making the list longer; all others
    are copied.
    """

    def __init__(self, x: np.ndarray) -> None:
        self.dtype, self.elements = x.dtype, list(x.ravel())
        self.length = len(self.elements)

    def __len__(self) -> int:
        return self.length

    def _with(self, elements: list[object], length: int) -> Items:
        made = Items(np.empty(0, self.dtype))
        made.elements, made.length = elements, length
        return made

    def part(self, begin: int, end: int, shape: object) -> Any:
        """Return some elements as an array."""
        if not 0 <= begin <= end <= self.length:
            raise IRError(f"elements {begin} to {end} of a Log of {self.length}")
        found = np.empty(end - begin, self.dtype)
        found[:] = self.elements[begin:end]
        return found.reshape(shape)

    def put(self, begin: int, x: np.ndarray) -> Items:
        """Return the Log with other elements in some places."""
        if not 0 <= begin <= self.length - x.size:
            raise IRError(f"{x.size} elements at {begin} of a Log of {self.length}")
        return self._with([*self.elements[:begin], *x.ravel(),
                           *self.elements[begin + x.size:self.length]], self.length)

    def push(self, x: np.ndarray) -> Items:
        """Return the Log with elements at its end."""
        own = self.elements if len(self.elements) == self.length else self.elements[:self.length]
        own.extend(x.ravel())
        return self._with(own, len(own))

    def pop(self, shape: tuple[int, ...]) -> tuple[Items, Any]:
        """Return the Log without elements at its end, and these as an array."""
        begin = self.length - int(np.prod(shape, dtype=np.int64))
        return self._with(self.elements, begin), self.part(begin, self.length, shape)


def _push(log: Items, *values: object) -> Any:
    for x in values:
        log = log.push(np.asarray(x))
    return log


def _pop(log: Items, shapes: Sequence[tuple[int, ...]]) -> Any:
    found = []
    for shape in reversed(shapes):
        log, x = log.pop(shape)
        found.append(x)
    return (log, *reversed(found))


def _push_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    shapes = tuple(a.aval.shape for a in eqn.inputs[1:])
    return list(sweep.emit("pop", [cts[0]], {"shapes": shapes}))


def _pop_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    log_ct, *value_cts = cts
    if log_ct is None:
        log_ct = sweep.new_log(eqn.inputs[0].aval.dtype)
    parts = [sweep.dense(ct, v.aval) for v, ct in zip(eqn.outputs[1:], value_cts, strict=True)]
    return list(sweep.emit("push", [log_ct, *parts]))


def _push_jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    log_dot, *dots = tangents
    if log_dot is None:
        log_dot = sweep.new_log(eqn.inputs[0].aval.dtype)
    parts = [sweep.zeros(v.aval) if t is None else t
             for v, t in zip(eqn.inputs[1:], dots, strict=True)]
    return list(sweep.emit("push", [log_dot, *parts]))


def _pop_jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    return list(sweep.emit("pop", [tangents[0]], eqn.params))


structural("log_new", lambda dtype: Items(np.empty(0, dtype)), _new_infer, LogOp("new"),
           marked=True, unique=True)
structural("push", _push, _push_infer, LogOp("push"), _push_vjp, _push_jvp,
           unique=True)
structural("pop", _pop, _pop_infer, LogOp("pop"), _pop_vjp, _pop_jvp,
           unique=True)
