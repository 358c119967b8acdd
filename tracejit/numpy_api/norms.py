"""Norms of vectors and of matrices."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.numpy_api.averages import root_of_squares
from tracejit.numpy_api.axes import normalize_axes, normalize_axis
from tracejit.numpy_api.elementwise import as_python_number, as_tracer
from tracejit.numpy_api.finite import checks_finite
from tracejit.ops.calls import stop_gradient
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import captures, scipy_captures
from tracejit.trace.ground.modules import is_scipy_since
from tracejit.trace.ground.narrow_floats import require_lapacks_floats
from tracejit.trace.state.known import known_array
from tracejit.trace.values.equations import cast
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.tracer import Tracer

if TYPE_CHECKING:
    pass

__all__ = ["SPECTRAL_NORMS", "known_order", "length_of", "norm", "norm_of", "within"]


@captures(np.linalg.norm)
def norm(x: object, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Return a vector norm, or the norm of matrices that takes no singular values."""
    x = as_tracer(x)
    ord = known_order(ord)
    if x.dtype.kind not in "fc":
        x = cast(x, np.float64)
    if isinstance(axis, (tuple, list)) and len(axis) == 2 and len(
            {normalize_axis(k, len(x.dims)) for k in axis}) < 2:
        raise ValueError("Duplicate axes given.")
    axes = normalize_axes(axis, len(x.dims))
    if axis is not None and len(axes) not in (1, 2):
        raise ValueError("Improper number of dimensions to norm.")
    if len(axes) == 1 or ord is None:
        if ord in (None, 2):
            return _euclid(x, axes, keepdims)
        if isinstance(ord, str):
            raise ValueError(f"Invalid norm order {ord!r} for vectors")
        sizes = np.absolute(x)
        if ord == 0:
            return np.sum((x != 0).astype(sizes.dtype), axis=axes, keepdims=keepdims)
        if ord == 1:
            return np.sum(sizes, axis=axes, keepdims=keepdims)
        if ord in (np.inf, -np.inf):
            return (_LARGEST if ord > 0 else np.min)(sizes, axis=axes, keepdims=keepdims)
        return _root(np.sum(sizes ** ord, axis=axes, keepdims=keepdims), ord)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    return _matrix_norm(x, ord, axes if axis is None else tuple(
        normalize_axis(k, len(x.dims)) for k in axis), keepdims)


def _euclid(x: np.ndarray | Tracer, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Return the root of a sum of squares, whose derivative at 0 is 0."""
    squares = np.real(x * np.conj(x)) if x.dtype.kind == "c" else x * x
    return root_of_squares(np.sum(squares, axis=axes, keepdims=keepdims))


def _root(total: np.ndarray, ord: float) -> Any:
    """Return the root of a sum of powers: of a norm, which is convex, the derivative at 0 is 0."""
    if ord < 1:
        return total ** (1.0 / ord)
    is_zero = total == 0
    return np.where(is_zero, total, np.where(is_zero, 1.0, total) ** (1.0 / ord))[()]


def known_order(ord: object) -> Any:
    """Return an order that is a constant of the program."""
    if not isinstance(ord, TracedOperand):
        return ord
    known = known_array(ord, "np.linalg.norm is computed by this order")
    if known is None:
        raise refuse("np.linalg.norm with an order that is traced", "Use a constant order", "TJ205")
    return known.item()


_LARGEST: Callable[..., Any] = functools.partial(np.max, initial=0)
"""The largest of numbers that are not negative, 0 of none."""
SPECTRAL_NORMS: list[Callable[..., Any]] = []
"""The norms that are made of singular values: `singular.py` enters them."""


def _matrix_norm(x: Tracer, ord: object, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Return a norm of matrices, whose rows and columns are along two different axes."""
    if len(set(axes)) < 2:
        raise ValueError("Duplicate axes given.")
    if isinstance(ord, str) and ord in ("fro", "f"):
        return _euclid(x, axes, keepdims)
    summed = {1: axes[0], -1: axes[0], np.inf: axes[1], -np.inf: axes[1]}
    if ord in summed:
        fold, (other,) = _LARGEST if ord > 0 else np.min, set(axes) - {summed[ord]}
        result = fold(np.sum(np.absolute(x), axis=summed[ord], keepdims=True), axis=other,
                      keepdims=True)
        return result if keepdims else np.squeeze(result, axes)[()]
    if ord in (2, -2, "nuc"):
        require_lapacks_floats(x)
        return SPECTRAL_NORMS[0](x, ord, axes, keepdims)
    raise ValueError("Invalid norm order for matrices.")


def length_of(x: np.ndarray) -> Any:
    """Return Euclid's norms along the last axis, kept, of which no square overflows."""
    top = stop_gradient(np.max(np.absolute(x), axis=-1, keepdims=True, initial=0))
    least = np.finfo(top.dtype).tiny  # 1 / top would overflow below it
    scale: Any = np.where(top < np.inf, np.maximum(top, least), top.dtype.type(1))
    return norm(x / scale, None, -1, keepdims=True) * scale


def within(x: np.ndarray, least: float, most: float) -> Any:
    """Return numbers, cut to bounds that only rounding leaves: derivatives stay."""
    cut = np.clip(x, least, most)
    return np.where(np.isinf(x), cut, x + stop_gradient(cut - x))[()]


def _as_blas_gives(found: Tracer) -> Any:
    """Return a result as one of Python's floats, as SciPy before 1.18 has it."""
    return found if is_scipy_since(18) else as_python_number(cast(found, np.float64))


def norm_of(a: object, ord: object = None, axis: object = None, keepdims: bool = False) -> Any:
    """Return a norm, as `scipy.linalg.norm`."""
    a, ord = as_tracer(a), known_order(ord)
    if a.dtype.kind not in "fc" or axis is not None or keepdims:
        return norm(a, ord, axis, keepdims)
    if len(a.dims) == 1 and ord in (None, 2):
        vector: Any = a
        return _as_blas_gives(length_of(vector)[0])  # as BLAS's `nrm2`
    if len(a.dims) == 2 and ord in (1, np.inf):
        return _as_blas_gives(norm(a, ord))  # as LAPACK's `lange`
    return norm(a, ord, axis, keepdims)


scipy_captures("scipy.linalg", {"norm": checks_finite(norm_of)})
