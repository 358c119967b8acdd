"""Numbers at even distances, and the numbers between two ends: `arange` and `linspace`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.ir.dims import Dim, ceil_div, maximum
from tracejit.numpy_api.creation import counted, creates, iota
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.values.equations import (
    apply,
    as_operand,
    cast,
    dims_of,
    dtype_of,
    is_weak,
    lift,
    to_dim,
)
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["arange", "linspace"]


@creates(np.arange)
def arange(start: Any, stop: Any = None, step: Any = None,
           dtype: npt.DTypeLike | None = None) -> Tracer:
    """Return evenly spaced numbers with a given step."""
    if stop is None:
        start, stop = 0, start
    start = 0 if start is None else start
    step = 1 if step is None else step
    if _is_int(step) and (not isinstance(step, (int, np.integer)) or step == 0):
        step = need_int(to_dim(step), "the step of np.arange")
        if step == 0:
            raise ZeroDivisionError("division by zero")
    whole = all(_is_int(x) for x in (start, stop, step))
    if whole and isinstance(step, (int, np.integer)):
        step = int(step)
        lo, hi = to_dim(start), to_dim(stop)
        span = hi - lo if step > 0 else lo - hi
        size = maximum(ceil_div(span, abs(step)), 0, current().builder.known)
        if step == 1:
            result = iota(size, lo)
        else:
            result = iota(size) * step
            result = result if lo == 0 else result + as_operand(lo)
        return result if dtype is None else cast(result, dtype)
    if _is_whole(step) and _is_whole(start) and isinstance(stop, SymInt):
        lo, by = int(start), int(step)
        result = cast(arange(lo, stop, by), np.float64)
        return result if dtype is None else cast(result, dtype)
    if any(isinstance(x, TracedOperand) for x in (start, stop, step)):
        return _float_range(start, stop, step, dtype)
    values: np.ndarray = np.arange(start, stop, step, dtype=dtype)
    return apply("iota", size=len(values)) * values.dtype.type(step) + values.dtype.type(start)


def _float_range(start: object, stop: object, step: object, dtype: object) -> Any:
    """Return start, start + step, … before stop, as long as data says."""
    given = [lift(x) for x in (start, stop, step)]
    if any(dims_of(x) for x in given):
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    plain = all(is_weak(x) or dtype_of(x) in (np.float64, np.int64) for x in given)
    if not plain or not any(dtype_of(x) == np.float64 for x in given) or dtype not in (
            None, float, np.float64):
        raise refuse("np.arange of data in another dtype than float64 cannot be captured",
                     "Use start + step * np.arange(n)", "TJ206")
    begin, end, by = (cast(x, np.float64) for x in given)
    require(by != 0.0, ZeroDivisionError, "float division by zero")
    count: Any = np.ceil((end - begin) / by)
    towards = np.where(by > 0.0, end > begin, end < begin)
    count = np.where((count == 0.0) & towards, 1.0, count)  # where the quotient underflows
    require(np.logical_not(np.isnan(count)), ValueError, "arange: cannot compute length")
    inside = np.isfinite(count) & (count < 2.0 ** 40)
    require(inside, ValueError, "Maximum allowed size exceeded")
    size = to_dim(cast(np.where(inside & (count > 0.0), count, 0.0), np.int64))
    each = np.where(np.isinf(by), 0.0, (begin + by) - begin)
    return cast(iota(size), np.float64) * each + begin


def _is_whole(x: object) -> bool:
    """Whether something is a known number without a broken part, not zero steps."""
    return isinstance(x, (int, float)) and float(x).is_integer()


def _is_int(x: object) -> bool:
    """Whether something is a number of which ranges are made in int64."""
    if isinstance(x, (Tracer, np.generic)):
        return x.dtype == np.int64 and not x.shape
    return isinstance(x, (int, SymInt))


@creates(np.linspace)
def linspace(start: object, stop: Any, num: object = 50, endpoint: bool = True,
             retstep: bool = False, dtype: npt.DTypeLike | None = None, axis: int = 0) -> Any:
    """Return evenly spaced numbers over an interval."""
    n = counted(num, "Number of samples must be non-negative.")
    steps = as_operand(n - 1 if endpoint else n)
    if dims_of(lift(start)) or dims_of(lift(stop)):
        own = dtype_of(lift(start) * 1.0 + lift(stop) * 1.0)  # a Python number leaves float32
        return _between_arrays(cast(as_tracer(start), own), cast(as_tracer(stop), own), n, steps,
                               retstep, dtype, axis, endpoint)
    span = stop - start
    step = span / (np.maximum(steps, 1) if not isinstance(steps, int) else steps or 1)
    if axis not in (0, -1):
        raise np.exceptions.AxisError(axis, 1)
    own = dtype_of(lift(step))
    places = apply("iota", size=n)
    result = cast(places, own) * cast(step, own) + cast(start, own)
    if endpoint and (not isinstance(n, int) or n > 1):
        is_last = (places == as_operand(n - 1)) & (places > 0)  # the only one is the start
        result = cast(np.where(is_last, cast(stop, own), result), own)
    if dtype is not None:
        result = cast(np.floor(result) if np.dtype(dtype).kind in "iu" else result, dtype)
    if retstep and not isinstance(steps, int):
        step = np.where(steps > 0, step, np.nan)
    return (result, cast(step, own)) if retstep else result


def _between_arrays(start: Tracer, stop: Tracer, n: Dim, steps: int, retstep: bool,
                    dtype: npt.DTypeLike | None, axis: int, endpoint: bool) -> Any:
    """Return evenly spaced arrays between two, along a new axis."""
    first: Any = start
    last: Any = stop
    step: Any = cast((last - first) / np.maximum(steps, 1), start.dtype)
    places = apply("iota", size=n)
    column: Any = np.reshape(cast(places, step.dtype), (-1, *(1,) * step.ndim))
    result: Any = column * step + first
    if endpoint:
        is_last = (column == as_operand(n - 1)) & (column > 0)
        result = np.where(is_last, last, result)
    result = np.moveaxis(result, 0, axis)
    if dtype is not None:
        result = cast(np.floor(result) if np.dtype(dtype).kind in "iu" else result, dtype)
    return (result, step) if retstep else result
