"""The methods `reduce`, `accumulate`, `reduceat` and `at` of ufuncs that have no op for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.emptiness import is_nothing
from tracejit.numpy_api.plainly import accumulated, changed_at, folded, folded_between
from tracejit.numpy_api.selection import CHANGES
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import UFUNCS, captures
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import (
    ACCUMULATIONS,
    COMPOSITES,
    REDUCTIONS,
    as_operand,
    cast,
)
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


_BY_MACHINE = {np.power, np.float_power, np.arctan2}
"""What NumPy 2.4 gives of these by `reduce` depends on its vector instructions."""


def _operand(ufunc: np.ufunc, x: object, dtype: object) -> Any:
    """Return an array cast to `dtype`, or to the ufunc's result dtype for two of its elements."""
    a = as_tracer(x)
    if dtype is not None:
        return cast(a, np.dtype(dtype))  # type: ignore[call-overload]
    found = ufunc.resolve_dtypes((a.dtype, a.dtype, None))[2]
    if found == np.bool_ and a.dtype != np.bool_:
        if not ufunc.__name__.startswith("logical"):
            raise TypeError("No loop matching the specified signature and casting was found for "
                            f"ufunc {ufunc.__name__}")
        return np.not_equal(a, 0)
    return cast(a, found)


def _reduction(ufunc: np.ufunc) -> Callable[..., Any]:
    def reduce(a: object, axis: int | tuple[int, ...] | None = 0, dtype: object = None,
               keepdims: bool = False) -> Any:
        x = _operand(ufunc, a, dtype)
        places = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        axes = [normalize_axis(k, x.ndim) for k in places]
        if len(axes) > 1 and ufunc.identity is None and ufunc not in (np.fmax, np.fmin):
            raise ValueError(f"reduction operation '{ufunc.__name__}' is not reorderable, so at "
                             "most one axis may be specified")
        rest = [k for k in range(x.ndim) if k not in axes]
        moved = np.transpose(x, [*axes, *rest])
        rows: Any = np.reshape(moved, (-1, *moved.shape[len(axes):])) if len(axes) != 1 else moved
        start = None
        if ufunc.identity is not None:
            start = np.asarray(ufunc.identity).astype(rows.dtype)[()]
        if not is_nothing(rows.dims[0]):
            result = call_function(folded, (ufunc, rows, start), {})
        elif start is None:
            raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has "
                             "no identity")
        else:
            result = np.full(rows.shape[1:], start)[()]
        return np.expand_dims(result, tuple(axes)) if keepdims else result

    return reduce


def _accumulation(ufunc: np.ufunc) -> Callable[..., Any]:
    def accumulate(a: object, axis: int = 0, dtype: object = None) -> Any:
        x = _operand(ufunc, a, dtype)
        place = normalize_axis(0 if axis is None else axis, x.ndim)
        found = call_function(accumulated, (ufunc, np.moveaxis(x, place, 0)), {})
        return np.moveaxis(found, 0, place)

    return accumulate


@captures(np.ufunc.reduceat)
def reduceat(ufunc: np.ufunc, a: object, indices: object, axis: int = 0,
             dtype: object = None) -> Any:
    """Return the folds of the elements from each index to the next one."""
    x = _operand(ufunc, a, dtype)
    if dtype is None and ufunc in (np.add, np.multiply) and x.dtype.kind in "biu":
        x = cast(x, np.uint64 if x.dtype.kind == "u" else np.int64)
    place = normalize_axis(axis, x.ndim)
    moved = np.moveaxis(x, place, 0)
    at: Any = as_tracer(indices)
    if isinstance(indices, (list, tuple)) and not indices:
        at = cast(at, np.int64)
    if at.dtype.kind not in "iu" or at.ndim != 1:
        raise TypeError("the indices of reduceat are a list of ints")
    if ufunc in _BY_MACHINE:
        raise refuse(f"np.{ufunc.__name__}.reduceat cannot be captured", "Use a loop", "TJ217")
    require(np.all(np.logical_and(at >= 0, at < as_operand(moved.dims[0]))), IndexError,
            "an index is out-of-bounds in reduceat")
    found = call_function(folded_between, (ufunc, moved, at), {})
    return np.moveaxis(found, 0, place)


def change_at(ufunc: np.ufunc, a: Tracer, indices: object, b: object = None) -> None:
    """Carry out `ufunc.at` one element after the other."""
    if isinstance(indices, tuple) or ufunc.nout != 1:
        raise refuse(f"np.{ufunc.__name__}.at with indices of several axes cannot be captured",
                     "Use a loop", "TJ217")
    at: Any = np.atleast_1d(as_tracer(indices))
    if at.dtype == np.bool_:
        at = np.nonzero(at)[0]
    if at.ndim != 1:
        raise refuse(f"np.{ufunc.__name__}.at with a table of indices cannot be captured",
                     "Use a loop", "TJ217")
    values: Any = None
    if b is not None:
        shape = (*at.shape, *map(as_operand, a.dims[1:]))
        values = np.broadcast_to(as_tracer(b), shape)
    call_function(changed_at, (ufunc, a, at, values), {})


CHANGES.append(change_at)

for _ufunc in {*UFUNCS, *COMPOSITES}:
    if _ufunc.nin == 2 and _ufunc.nout == 1 and _ufunc.signature is None:
        if _ufunc not in _BY_MACHINE:
            REDUCTIONS.setdefault(_ufunc, _reduction(_ufunc))
        ACCUMULATIONS.setdefault(_ufunc, _accumulation(_ufunc))
