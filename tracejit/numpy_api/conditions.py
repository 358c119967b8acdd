"""Choices between elements by conditions: `np.where`, `np.select`, `np.clip`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.ir.dims import maximum, minimum
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import FUNCTIONS, captures, loop_dtypes
from tracejit.trace.ground.layouts import joined, lay_out
from tracejit.trace.python.ufunc_calls import write_out
from tracejit.trace.values.equations import (
    as_strong,
    atom_of,
    broadcast_dims,
    cast,
    dims_of,
    dtype_of,
    emit_value,
    fit,
    is_weak,
    lift,
    promotion_key,
)
from tracejit.trace.values.symbolic_ints import SymInt, of_dim
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["common_dtype", "wrapped"]


@captures(np.where)
def where(condition: object, *branches: object) -> Any:
    """Return elements of x where the condition holds, of y elsewhere."""
    if not branches:
        return FUNCTIONS[np.nonzero](condition)
    if len(branches) != 2:
        raise ValueError("either both or neither of x and y should be given")
    x, y = map(lift, branches)
    condition = lift(condition)
    if isinstance(condition, Tracer) and condition.dtype != np.bool_:
        condition = condition != 0
    if isinstance(condition, (bool, np.bool_)):
        condition = cast(condition, np.bool_)
    return joined(apply_select(condition, x, y), (condition, x, y))


def apply_select(condition: object, x: object, y: object) -> Any:
    """Emit a select in the dtype to which its branches promote."""
    dtype = loop_dtypes(np.add, (promotion_key(x), promotion_key(y)))[0]
    shape = broadcast_dims([dims_of(condition), dims_of(x), dims_of(y)])
    atoms = [atom_of(fit(condition, shape)),
             *(atom_of(fit(wrapped(v, dtype), shape), dtype) for v in (x, y))]
    return tracer_of(emit_value("select", atoms))


def wrapped(x: object, dtype: np.dtype) -> Any:
    """Return a Python int as NumPy puts it into an array that it has made of it: it wraps."""
    return cast(as_strong(x), dtype) if dtype.kind in "iu" and dtype != np.int64 else x


@captures(np.select)
def select(condlist: Sequence[object], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """Return elements of the choice that belongs to the first condition that holds."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    dtype = common_dtype(*choicelist, default)
    result: Any = cast(default, dtype)
    for k, (condition, choice) in reversed([*enumerate(zip(condlist, choicelist, strict=True))]):
        if dtype_of(lift(condition)) != np.bool_:
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
        result = np.where(condition, cast(choice, dtype), result)
    return lay_out(result, "C")


def _at_least(bound: object, dtype: np.dtype, side: int) -> Any:
    """Return a bound from below (side 1) or above (-1); the dtype's end for an int beyond it.

    As in NumPy, an int that lies beyond the other end is an error of the comparison.
    """
    if dtype.kind not in "iu" or isinstance(bound, bool):
        return bound
    info = np.iinfo(dtype)
    end = int(info.min if side == 1 else info.max)
    if isinstance(bound, int):
        return max(bound, end) if side == 1 else min(bound, end)
    if not isinstance(bound, SymInt) or end > 1 << 63:
        return bound
    return of_dim((maximum if side == 1 else minimum)(bound.dim, end, current().builder.known))


def common_dtype(*operands: object) -> np.dtype:
    """Return the dtype to which NumPy promotes operands together, Python's numbers last."""
    given = [lift(x) for x in operands if x is not None]
    dtype = np.result_type(*(dtype_of(x) for x in given if not is_weak(x)), np.bool_)
    for x in filter(is_weak, given):
        dtype = loop_dtypes(np.maximum, (dtype, promotion_key(x)))[-1]
    return dtype


_MISSING: Any = np._NoValue


@captures(np.clip, method="clip")
def clip(a: object, a_min: object = None, a_max: object = None, out: object = None, *,
         min: object = None, max: object = None, casting: object = None) -> Any:
    """Limit elements to an interval."""
    kinds = {dtype_of(lift(x)) for x in (a, a_min, a_max, out, min, max) if x is not None}
    if casting is not None and len(kinds) > 1:
        raise refuse("np.clip with casting= of several dtypes cannot be captured",
                     "Convert them with .astype first, and leave it out", "TJ203")
    if (a_min is not None or a_max is not None) and (min is not None or max is not None):
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are "
                         "provided is forbidden.")
    a_min, a_max = (given if given is not None else other
                    for given, other in ((a_min, min), (a_max, max)))
    result = tracer_of(as_tracer(a).value)
    if result.dtype == np.bool_:  # as all three are promoted together
        result = cast(result, common_dtype(a, a_min, a_max))
    if a_min is not None:
        result = np.maximum(result, _at_least(a_min, result.dtype, 1))
    if a_max is not None:
        result = np.minimum(result, _at_least(a_max, result.dtype, -1))
    return result if out is None else write_out(np.clip, result, out)


@captures(np.clip)
def clip_of(a: object, a_min: object = _MISSING, a_max: object = _MISSING, out: object = None, *,
            min: object = None, max: object = None, casting: object = None) -> Any:
    """Limit elements to an interval: of two ends by place both have to be given."""
    if (a_min is _MISSING) != (a_max is _MISSING):
        missing = "a_min" if a_min is _MISSING else "a_max"
        raise TypeError(f"clip() missing 1 required positional argument: '{missing}'")
    low, high = (None if end is _MISSING else end for end in (a_min, a_max))
    return clip(a, low, high, out, min=min, max=max, casting=casting)
