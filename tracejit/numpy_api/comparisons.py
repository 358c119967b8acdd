"""Comparisons of integers that no one dtype holds: exact, as NumPy and Python make them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.ir.core import Literal
from tracejit.trace.values.equations import (
    MIXED,
    apply_ufunc,
    as_strong,
    broadcast_dims,
    cast,
    dims_of,
    dtype_of,
    emit_value,
)
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__: list[str] = []

ORDER: dict[Any, Callable[[Any, Any], bool]] = {
    np.equal: operator.eq, np.not_equal: operator.ne, np.less: operator.lt,
    np.less_equal: operator.le, np.greater: operator.gt, np.greater_equal: operator.ge}

INT64, UINT64 = np.dtype(np.int64), np.dtype(np.uint64)


def _compared(ufunc: np.ufunc, x: Any, y: Any) -> Any:
    """Compare two integers; `NotImplemented` where one dtype holds both, or one is no integer."""
    if not all(isinstance(v, (int, np.generic, Tracer, SymInt)) and not isinstance(v, bool)
               and dtype_of_int(v).kind in "iu" for v in (x, y)):
        return NotImplemented
    for n, other, flipped in ((x, y, False), (y, x, True)):
        if _is_number(n) and not _is_number(other):
            info = np.iinfo(dtype_of(other))
            if not info.min <= n <= info.max:
                return _ordered(ufunc, (n > 0) - (n < 0), flipped, broadcast_dims(
                    [dims_of(x), dims_of(y)]))
            return NotImplemented
    kinds = {dtype_of_int(x), dtype_of_int(y)}
    if UINT64 in kinds and any(t.kind == "i" for t in kinds):
        return _with_unsigned(ufunc, x, y)
    if any(isinstance(v, SymInt) for v in (x, y)) and kinds != {INT64}:
        return apply_ufunc(ufunc, *(cast(as_strong(v), INT64) for v in (x, y)))
    return NotImplemented


def _is_number(x: object) -> bool:
    return isinstance(x, int)


def dtype_of_int(x: object) -> np.dtype:
    """Return an operand's dtype; int64 for a Python int of any size."""
    return INT64 if _is_number(x) else dtype_of(x)


def _ordered(ufunc: np.ufunc, beside: int, flipped: bool, shape: object) -> Any:
    """Compare a number that lies below (-1) or above (1) all others with some others."""
    truth = ORDER[ufunc](*((0, beside) if flipped else (beside, 0)))
    return tracer_of(emit_value("full", [Literal(truth, np.dtype(bool))], {"shape": shape}))


def _with_unsigned(ufunc: np.ufunc, x: object, y: object) -> Any:
    """Compare int64 with uint64: a negative integer is below every unsigned one."""
    flipped = dtype_of_int(y).kind == "i"
    signed = cast(as_strong(y if flipped else x), INT64)
    negative = apply_ufunc(np.less, signed, np.int64(0))
    others = apply_ufunc(ufunc, *(cast(as_strong(v), UINT64) for v in (x, y)))
    if ORDER[ufunc](*((0, -1) if flipped else (-1, 0))):
        return np.logical_or(negative, others)
    return np.logical_and(np.logical_not(negative), others)


MIXED.update({ufunc: functools.partial(_compared, ufunc) for ufunc in ORDER})
