"""Sums of products of one array with another that is shifted along it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.ir.core import Span
from tracejit.ir.dims import maximum, minimum
from tracejit.ir.dtypes import is_half
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.emptiness import require_items
from tracejit.numpy_api.products import conjugated
from tracejit.numpy_api.shapes import atleast_1d
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.regions.loops import trace_loop
from tracejit.trace.values.equations import apply, cast, to_dim
from tracejit.trace.values.indexing import write_cell
from tracejit.trace.values.symbolic_ints import of_dim
from tracejit.trace.values.tracer import tracer_of

__all__: list[str] = []


def _known_mode(mode: object) -> str:
    """Return the name of a mode, which may be a number, or raise NumPy's error."""
    names = ("valid", "same", "full")
    if isinstance(mode, (int, np.integer)) and 0 <= mode < 3:
        return names[int(mode)]
    if not isinstance(mode, str):
        raise (ValueError if isinstance(mode, (int, np.integer)) else TypeError)(
            "convolve/correlate mode not understood")
    if mode not in names:
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    return mode


@captures(np.convolve)
def convolve(a: object, v: object, mode: object = "full") -> Any:
    """Return the sums of products of one array with the other, reversed and shifted."""
    first, second = atleast_1d(as_tracer(a)), atleast_1d(as_tracer(v))
    for x, name in ((first, "a"), (second, "v")):
        if len(x.dims) > 1:
            raise ValueError("object too deep for desired array")
        require_items(x.dims[0], ValueError, f"{name} cannot be empty")
    dtype = np.result_type(first.dtype, second.dtype)
    if is_half(dtype):  # each sum is rounded once, at its end
        return cast(convolve(cast(first, np.float32), cast(second, np.float32), mode), dtype)
    each, by = cast(first, dtype), cast(second, dtype)
    (n,), (m,), known = each.dims, by.dims, current().builder.known
    whole: Any = apply("full", dtype.type(0), shape=(n + m - 1,))

    def body(k: object) -> None:
        if dtype.kind == "b":
            whole[k:k + of_dim(n)] |= by[k] & each
        else:  # an addition, whose derivative leaves what was there as it is
            added = by[k] * each
            write_cell(whole, lambda x, at: apply("accumulate", tracer_of(x), added, at=at).value,
                       (Span(to_dim(k), n),))

    trace_loop([], [], [whole], body, None, 0, m)
    longer, shorter = of_dim(maximum(n, m, known)), of_dim(minimum(n, m, known))
    parts = {"valid": (shorter - 1, longer - shorter + 1), "same": ((shorter - 1) // 2, longer),
             "full": (0, of_dim(n + m - 1))}
    start, count = parts[_known_mode(mode)]
    return whole[start:start + count]


@captures(np.correlate)
def correlate(a: object, v: object, mode: object = "valid") -> Any:
    """Return the sums of products of one array with the other, shifted."""
    x, y = atleast_1d(as_tracer(a)), atleast_1d(as_tracer(v))
    longer = current().decide(x.dims[0] - y.dims[0], "<", "which of two arrays is longer")
    if longer is None:
        raise refuse("np.correlate of arrays of which only data knows which is longer",
                     "Use np.convolve(a, np.conj(v[::-1]))", "TJ212")
    if longer:
        return conjugated(correlate(y, x, mode))[::-1]
    return convolve(x, conjugated(as_tracer(y[::-1])), mode)
