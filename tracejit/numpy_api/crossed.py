"""Cross products of vectors of two or three components."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib import NumpyVersion

from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.values.equations import as_operand, same_dim
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


@captures(np.cross)
def cross(a: object, b: object, axisa: int = -1, axisb: int = -1, axisc: int = -1,
          axis: int | None = None) -> Any:
    """Return the cross product of vectors of three components, or two: the third one is 0."""
    if axis is not None:
        axisa = axisb = axisc = axis
    first, second = _components(a, axisa), _components(b, axisb)
    if not _TAKES_TWO and not len(first) == len(second) == 3:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors, but they "
                         f"are {len(first)} and {len(second)} dimensional instead.")
    return _product(first, second, axisc)


_TAKES_TWO = NumpyVersion(np.__version__) < "2.5.0"
"""Whether NumPy takes vectors of two components."""


def _product(first: list[Tracer], second: list[Tracer], axis: int) -> Any:
    (ax, ay, *az), (bx, by, *bz) = first, second
    z = ax * by - ay * bx
    if not az and not bz:
        return z
    if not az:
        return np.stack([ay * bz[0], -(ax * bz[0]), z], axis)
    if not bz:
        return np.stack([-(az[0] * by), az[0] * bx, z], axis)
    return np.stack([ay * bz[0] - az[0] * by, az[0] * bx - ax * bz[0], z], axis)


def _components(vectors: object, axis: int, counts: tuple[int, ...] = (3, 2)) -> list[Any]:
    """Return the components of vectors, of which there is one of some counts."""
    x = as_tracer(vectors)
    if not x.dims:
        raise ValueError("At least one array has zero dimension")
    axis = normalize_axis(axis, len(x.dims))
    count = next((k for k in counts if same_dim(x.dims[axis], k)), None)
    if count is None:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors, but "
                         f"the axis has {as_operand(x.dims[axis])} components instead.")
    return [np.take(x, k, axis=axis) for k in range(count)]


@captures(np.linalg.cross)
def linalg_cross(x1: object, x2: object, /, *, axis: int = -1) -> Any:
    """Return the cross product of vectors of three components."""
    first, second = (_components(x, axis, (3,)) for x in (x1, x2))
    return _product(first, second, axis)
