"""Ops on the Logs that hold the items of lists: whole arrays, and elements at any place.

| op          | operands           | results        | its transpose  |
|-------------|--------------------|----------------|----------------|
| `log_of`    | array              | log            | `log_array`    |
| `log_array` | log                | array          | `log_of`       |
| `log_read`  | log                | log, elements  | `log_add`      |
| `log_add`   | log, elements      | log            | `log_read`     |
| `log_write` | log, elements      | log            | read, and zero |

`log_array` uses a Log up and has an effect, so that it stays while nothing reads the array: the way
back begins there, with a Log of cotangents that is as long as the list was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.errors import IRError
from tracejit.ir.core import Block, Eqn, Params
from tracejit.ir.lowering import LogOp
from tracejit.ir.types import Aval, LogType, Type
from tracejit.ops.cotangents import Cotangent, Tangent, zeros
from tracejit.ops.kinds import structural
from tracejit.ops.logs import Items
from tracejit.ops.modes import ForwardMode, ReverseMode

__all__: list[str] = []


# --- types and meaning --------------------------------------------------------------------------


def _of_infer(avals: Sequence[Type], params: Params, regions: Sequence[Block]) -> Any:
    return (LogType(avals[0].dtype),)


def _array_infer(avals: Sequence[Type], params: Params, regions: Sequence[Block]) -> Any:
    return (Aval(avals[0].dtype, params["shape"]),)


def _read_infer(avals: Sequence[Type], params: Params, regions: Sequence[Block]) -> Any:
    return avals[0], Aval(avals[0].dtype, params["shape"])


def _write_infer(avals: Sequence[Type], params: Params, regions: Sequence[Block]) -> Any:
    log, x = avals
    if not isinstance(log, LogType) or log.dtype != x.dtype:
        raise IRError(f"{x} cannot be written to {log}")
    return (log,)


def _of(x: object) -> Any:
    return Items(np.asarray(x))


def _array(log: Items, shape: object, last: bool) -> Any:
    return log.part(0, len(log), shape)


def _read(log: Items, at: Sequence[int], shape: tuple[int, ...]) -> Any:
    size = int(np.prod(shape, dtype=np.int64))
    return log, log.part(at[0], at[0] + size, shape)


def _add(log: Items, x: np.ndarray | np.generic, at: Sequence[int]) -> Any:
    x = np.asarray(x)
    return log.put(at[0], log.part(at[0], at[0] + x.size, x.shape) + x)


def _write(log: Items, x: np.ndarray | np.generic, at: Sequence[int]) -> Any:
    return log.put(at[0], np.asarray(x))


# --- derivatives --------------------------------------------------------------------------------


def _of_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    shape = eqn.inputs[0].aval.shape
    return list(sweep.emit("log_array", [cts[0]], {"shape": shape, "last": False}))


def _array_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    return list(sweep.emit("log_of", [sweep.dense(cts[0], eqn.output.aval)]))


def _read_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    log_ct, ct = cts
    if ct is None:
        return [log_ct]
    if log_ct is None:  # a trial, which shows that there has to be one
        log_ct = sweep.new_log(eqn.inputs[0].aval.dtype)
    ct = sweep.dense(ct, eqn.outputs[1].aval)
    return list(sweep.emit("log_add", [log_ct, ct], {"at": eqn.params["at"]}))


def _add_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    shape = eqn.inputs[1].aval.shape
    return list(sweep.emit("log_read", [cts[0]], {"at": eqn.params["at"], "shape": shape}))


def _write_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    aval, at = eqn.inputs[1].aval, eqn.params["at"]
    log_ct, ct = sweep.emit("log_read", [cts[0]], {"at": at, "shape": aval.shape})
    (log_ct,) = sweep.emit("log_write", [log_ct, zeros(aval)], {"at": at})
    return [log_ct, ct]


def _linear_jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    """Do the same to tangents; an element without one has zeros."""
    log_dot, *dots = tangents
    if log_dot is None:  # a trial, as above
        log_dot = sweep.new_log(eqn.inputs[0].aval.dtype)
    dots = [zeros(a.aval) if t is None else sweep.dense(t, a.aval)
            for a, t in zip(eqn.inputs[1:], dots, strict=True)]
    return list(sweep.emit(eqn.op.name, [log_dot, *dots], eqn.params))


def _of_jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    """A list has tangents from the start, so that their Log is as long as the list's own."""
    return list(sweep.emit("log_of", [sweep.dense(tangents[0], eqn.inputs[0].aval)]))


structural("log_of", _of, _of_infer, LogOp("of"), _of_vjp, _of_jvp, unique=True)
structural("log_array", _array, _array_infer, LogOp("array"), _array_vjp, _linear_jvp,
           unique=True, effect=True)
structural("log_read", _read, _read_infer, LogOp("read"), _read_vjp, _linear_jvp, unique=True)
structural("log_add", _add, _write_infer, LogOp("add"), _add_vjp, _linear_jvp, unique=True)
structural("log_write", _write, _write_infer, LogOp("write"), _write_vjp, _linear_jvp, unique=True)
