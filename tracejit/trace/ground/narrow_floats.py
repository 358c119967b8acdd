"""Functions that compute floats of two bytes in dtypes of their own, or do not take them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from tracejit.ir.dtypes import is_half
from tracejit.trace.ground.context import is_tracing, refuse
from tracejit.trace.ground.public_names import public_name

__all__ = ["of_lapacks_floats", "of_wider_floats", "require_lapacks_floats"]


def of_wider_floats(capture: Callable[..., object],
                    function: Callable[..., object]) -> Callable[..., Any]:
    """Return the capture of a function of SciPy's, which computes halves in dtypes of its own."""

    @wraps(capture)
    def refusing(*args: object, **kwargs: object) -> Any:
        half = _half_among((args, kwargs)) if is_tracing() else None
        if half is not None:
            raise refuse(f"{public_name(function)} of {half} cannot be captured",
                         "Convert it first: x.astype(np.float32)", "TJ206")
        return capture(*args, **kwargs)

    return refusing


def _half_among(x: object) -> np.dtype | None:
    """Return the dtype of a half that is an argument, or an item of one."""
    if isinstance(x, (tuple, list, dict)):
        items = x.values() if isinstance(x, dict) else x
        return next((d for d in map(_half_among, items) if d is not None), None)
    if not (isinstance(x, (np.ndarray, np.generic)) or hasattr(type(x), "aval")):
        return None  # an attribute of a user's object may be anything
    dtype: np.dtype = x.dtype  # type: ignore[attr-defined]
    return dtype if is_half(dtype) else None


_TAKES_HALVES = frozenset((
    "norm", "vector_norm", "matrix_norm", "matmul", "outer", "cross", "diagonal", "trace", "vecdot",
    "tensordot", "multi_dot", "matrix_power", "matrix_transpose"))
"""The functions of `np.linalg` that do without LAPACK, for some arguments at least."""


def of_lapacks_floats(capture: Callable[..., object],
                      function: Callable[..., object]) -> Callable[..., Any]:
    """Return the capture of a function of `np.linalg`, which raises where NumPy's would."""
    if getattr(function, "__module__", None) != "numpy.linalg" or (
            getattr(function, "__name__", "") in _TAKES_HALVES):
        return capture

    @wraps(capture)
    def raising(*args: object, **kwargs: object) -> Any:
        require_lapacks_floats(args, kwargs)
        return capture(*args, **kwargs)

    return raising


def require_lapacks_floats(*operands: object) -> None:
    """Raise NumPy's error of an operand of a dtype that LAPACK does not have."""
    half = _half_among(operands)
    if half is not None:
        raise TypeError(f"array type {half} is unsupported in linalg")
