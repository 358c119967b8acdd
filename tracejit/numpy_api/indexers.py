"""Objects of NumPy that are indexed to make arrays: `np.r_`, `np.c_`, `np.mgrid`, `np.ogrid`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.conditions import common_dtype
from tracejit.numpy_api.ranges import arange, linspace
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import INDEXED
from tracejit.trace.values.equations import cast
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


def _joined_parts(key: object, what: str) -> list[Any]:
    """Return the arrays that the parts of `np.r_[...]` stand for."""
    parts = key if isinstance(key, tuple) else (key,)
    if any(isinstance(p, str) for p in parts):
        raise refuse(f"{what} with a string of directions cannot be captured",
                     "Use np.concatenate, or np.stack", "TJ223")
    given = [_of_slice(p) if isinstance(p, slice) else p for p in parts]
    dtype = common_dtype(*given)  # a Python number is weak
    return [cast(p, dtype) for p in given]


def _of_slice(s: slice) -> Any:
    """Return the numbers of a range, or as many between two as an imaginary step says."""
    if isinstance(s.step, complex):
        return linspace(s.start or 0, s.stop, int(abs(s.step)))
    return arange(s.start or 0, s.stop, 1 if s.step is None else s.step)


INDEXED[np.r_] = lambda key: np.concatenate(
    [np.atleast_1d(p) for p in _joined_parts(key, "np.r_")])
INDEXED[np.c_] = lambda key: np.concatenate(
    [p if len(p.dims) > 1 else np.atleast_1d(p)[:, None] for p in _joined_parts(key, "np.c_")],
    axis=-1)


# --- grids --------------------------------------------------------------------------------------


def _of_range(s: slice, dtype: np.dtype) -> Any:
    """Return the numbers of a range as NumPy's grids compute them."""
    start, step = 0 if s.start is None else s.start, 1 if s.step is None else s.step
    if isinstance(step, complex):
        count = int(abs(step))
        step = count if count == 1 else (s.stop - start) / float(count - 1)
    else:
        count = arange(start, s.stop, step).shape[0]
    return arange(count).astype(dtype) * step + start


def _sample(x: object) -> Any:
    """Return a number of the type of another, which may be traced."""
    if isinstance(x, Tracer):
        return x.dtype.type(1).item() if x.weak else x.dtype.type(1)
    return 1 if x is None or isinstance(x, SymInt) else abs(x) if isinstance(x, complex) else x


def _along_axes(parts: Sequence[object], what: str) -> list[Any]:
    """Return the numbers along each axis of a grid, which have one dtype, with all axes."""
    slices = [s for s in parts if isinstance(s, slice)]
    if len(slices) < len(parts):
        raise refuse(f"{what} with an index that is no slice cannot be captured",
                     "Index it with slices", "TJ223")
    numbers = [_sample(x) for s in slices for x in (s.start, s.stop, s.step)]
    dtype, count = np.result_type(0, *numbers), len(parts)
    return [_of_range(s, dtype).reshape((1,) * k + (-1,) + (1,) * (count - 1 - k))
            for k, s in enumerate(slices)]


def _dense(key: object) -> Any:
    if not isinstance(key, tuple):
        return _single(key, "np.mgrid")
    axes = _along_axes(key, "np.mgrid")
    shape = tuple([x.shape[k] for k, x in enumerate(axes)])
    return np.stack([np.broadcast_to(x, shape) for x in axes])


def _sparse(key: object) -> Any:
    if not isinstance(key, tuple):
        return _single(key, "np.ogrid")
    return tuple(_along_axes(key, "np.ogrid"))


def _single(key: object, what: str) -> Any:
    if isinstance(key, slice) and not isinstance(key.step, complex):
        return arange(0 if key.start is None else key.start, key.stop,
                      1 if key.step is None else key.step)
    return _along_axes([key], what)[0]


INDEXED[np.mgrid] = _dense
INDEXED[np.ogrid] = _sparse
