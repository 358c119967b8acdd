"""`np.lib.stride_tricks.sliding_window_view`: windows of an array that may not be written to."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.shapes import moveaxis
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.ground.layouts import UNKNOWN
from tracejit.trace.values.equations import apply, as_operand, to_dims
from tracejit.trace.values.python_numbers import require

__all__: list[str] = []


@captures(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(x: object, window_shape: object, axis: object = None, *,
                        subok: bool = False, writeable: bool = False) -> Any:
    """Return all windows of a shape: their elements along new axes at the end."""
    if writeable:
        raise refuse("sliding_window_view with writeable=True cannot be captured",
                     "Write to the array that the windows are of", "TJ203")
    a: Any = as_tracer(x)
    sizes, ndim = to_dims(window_shape), len(a.dims)
    if axis is None:
        axes = tuple(range(ndim))
        if len(sizes) != ndim:
            raise ValueError("Since axis is `None`, must provide window_shape for all dimensions "
                             f"of `x`; got {len(sizes)} window_shape elements and `x.ndim` is "
                             f"{ndim}.")
    else:
        given: Any = axis
        axes = tuple(normalize_axis(k, ndim) for k in (
            given if isinstance(given, (tuple, list)) else (given,)))
        if len(sizes) != len(axes):
            raise ValueError("Must provide matching length window_shape and axis; got "
                             f"{len(sizes)} window_shape elements and {len(axes)} axes elements.")
    result: Any = a
    for k, size in zip(axes, sizes, strict=True):
        count, long = result.dims[k], as_operand(size)
        require(long >= 0, ValueError, "`window_shape` cannot contain negative values")
        require(as_operand(count) >= long, ValueError,
                "window shape cannot be larger than input array shape")
        places: Any = iota(count - size + 1)[:, None] + iota(size)
        result = moveaxis(apply("gather", result, places, axes=(k,), position=k), k + 1, -1)
    if result is a:
        result = apply("reshape", a, shape=a.aval.shape)
    result.cell.constant = "writing to the result of sliding_window_view"
    result.cell.layout = UNKNOWN
    result.cell.stands_for([a.cell])  # NumPy's is a view
    return result
