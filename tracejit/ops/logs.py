"""The Log: a linear stack that grows, what a `while` stores for its way back.

`push` and `pop` are each the transpose of the other, so the reverse of a reverse needs no new idea.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracejit.errors import IRError
from tracejit.ir.core import Block, Eqn, Params
from tracejit.ir.lowering import LogOp
from tracejit.ir.types import Aval, LogType
from tracejit.ops.kinds import structural

__all__: list[str] = []


def _new_infer(avals: Sequence[Any], params: Params, regions: Sequence[Block]) -> Any:
    return (LogType(params["dtype"]),)


def _push_infer(avals: Sequence[Any], params: Params, regions: Sequence[Block]) -> Any:
    log, *values = avals
    if not isinstance(log, LogType) or any(v.dtype != log.dtype for v in values):
        raise IRError(f"{', '.join(map(str, values))} cannot be pushed to {log}")
    return (log,)


def _pop_infer(avals: Sequence[Any], params: Params, regions: Sequence[Block]) -> Any:
    (log,) = avals
    return (log, *(Aval(log.dtype, shape) for shape in params["shapes"]))


def _push(log: Any, *values: Any) -> Any:
    return ((log, values),)


def _pop(log: Any, shapes: Any) -> Any:
    rest, values = log
    return (rest, *values)


def _push_vjp(sweep: Any, eqn: Eqn, cts: Sequence[Any]) -> list[Any]:
    shapes = tuple(a.aval.shape for a in eqn.inputs[1:])
    return list(sweep.emit("pop", [cts[0]], {"shapes": shapes}))


def _pop_vjp(sweep: Any, eqn: Eqn, cts: Sequence[Any]) -> list[Any]:
    log_ct, *value_cts = cts
    if log_ct is None:
        log_ct = sweep.new_log(eqn.inputs[0].aval.dtype)
    parts = [sweep.dense(ct, v.aval) for v, ct in zip(eqn.outputs[1:], value_cts, strict=True)]
    return list(sweep.emit("push", [log_ct, *parts]))


def _push_jvp(sweep: Any, eqn: Eqn, tangents: Sequence[Any]) -> list[Any]:
    log_dot, *dots = tangents
    if log_dot is None:
        log_dot = sweep.new_log(eqn.inputs[0].aval.dtype)
    parts = [sweep.zeros(v.aval) if t is None else t
             for v, t in zip(eqn.inputs[1:], dots, strict=True)]
    return list(sweep.emit("push", [log_dot, *parts]))


def _pop_jvp(sweep: Any, eqn: Eqn, tangents: Sequence[Any]) -> list[Any]:
    return list(sweep.emit("pop", [tangents[0]], eqn.params))


structural("log_new", lambda dtype: ((),), _new_infer, LogOp("new"), marked=True, unique=True)
structural("push", _push, _push_infer, LogOp("push"), _push_vjp, _push_jvp,
           unique=True)
structural("pop", _pop, _pop_infer, LogOp("pop"), _pop_vjp, _pop_jvp,
           unique=True)
