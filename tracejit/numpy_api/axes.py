"""Arguments that name axes, as NumPy takes them and refuses them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tracejit.trace.ground.context import refuse
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__ = ["along_axis", "normalize_axes", "normalize_axis", "require_no_list"]


def along_axis(a: Tracer, axis: object) -> tuple[Tracer, int]:
    """Return an array and the axis to work along: the array flat, where there is none.

    A number has an axis too for NumPy's C code: 0, which is also -1.
    """
    if axis is None or (not a.dims and not isinstance(axis, Tracer) and axis in (0, -1)):
        return a.reshape(-1), 0
    return a, normalize_axis(axis, len(a.dims))


def normalize_axis(axis: Any, ndim: int) -> int:
    """Return an axis counted from the front, or raise NumPy's `AxisError`."""
    if isinstance(axis, Tracer):
        raise refuse("an axis depends on a traced value", "Use a constant", "TJ205")
    if not isinstance(axis, SymInt):
        axis = operator.index(axis)
    axis = int(axis)
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim if ndim else 0


def normalize_axes(axis: object, ndim: int) -> tuple[int, ...]:
    """Return an axis argument (None, an int or a tuple) as a tuple of axes."""
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, (tuple, list)):
        axes = sorted(normalize_axis(a, ndim) for a in axis)
        if len(set(axes)) < len(axes):
            raise ValueError("duplicate value in 'axis'")
        return tuple(axes)
    if not ndim and axis in (0, -1):
        return ()
    return (normalize_axis(axis, ndim),)


def require_no_list(axis: object) -> None:
    """Raise NumPy's error where several axes are in a list, which a function takes in a tuple."""
    if isinstance(axis, list):
        raise TypeError("'list' object cannot be interpreted as an integer")
