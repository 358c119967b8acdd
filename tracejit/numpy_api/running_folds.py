"""Running sums and products, differences of neighbours, and integrals of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.numpy_api.axes import along_axis, normalize_axes, normalize_axis
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.shapes import broadcast_to, moveaxis
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.python.ufunc_calls import write_reduced
from tracejit.trace.regions.loops import trace_loop
from tracejit.trace.values.equations import (
    ACCUMULATIONS,
    apply,
    as_operand,
    cast,
    dims_of,
    lift,
    same_dim,
)
from tracejit.trace.values.python_numbers import require

if TYPE_CHECKING:
    import numpy.typing as npt
from tracejit.numpy_api.reductions import c_axis, in_folded_dtype, sum_
from tracejit.trace.values.symbolic_ints import known_int

__all__ = ["cumprod", "cumsum"]


@captures(np.cumsum, method="cumsum")
def cumsum(a: object, axis: object = None, dtype: npt.DTypeLike | None = None,
           out: object = None) -> Any:
    """Return running sums."""
    a, axis = along_axis(in_folded_dtype(np.add, as_tracer(a), dtype, out), c_axis(axis))
    if a.dtype == np.bool_:
        raise refuse("np.cumsum in the dtype bool cannot be captured", "Leave dtype out", "TJ206")
    return write_reduced(np.add, apply("cumsum", a, axis=axis, reverse=False), out)


@captures(np.cumprod, method="cumprod")
def cumprod(a: Any, axis: object = None, dtype: npt.DTypeLike | None = None,
            out: object = None) -> Any:
    """Return running products, computed by a loop, whose derivative is right at zeros too."""
    a, axis = along_axis(in_folded_dtype(np.multiply, as_tracer(a), dtype, out), c_axis(axis))
    moved = np.moveaxis(a, axis, 0)
    n, *rest = moved.dims
    result = apply("full", a.dtype.type(1), shape=(n + 1, *rest))

    def body(i: Any) -> None:
        result[i + 1] = result[i] * moved[i]

    trace_loop([], [], [result], body, None, 0, n)
    return write_reduced(np.multiply, np.moveaxis(result[1:], 0, axis), out)


@captures(np.diff)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: object = None, append: object = None) -> Any:
    """Return differences of neighbours."""
    n = known_int(n, "the order of np.diff")
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if n == 0:
        return a  # without what is to be put before and behind
    a = as_tracer(a)
    if not a.dims:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = normalize_axis(axis, len(a.dims))
    edge = tuple(1 if k == axis else as_operand(d) for k, d in enumerate(a.dims))
    parts = [p if p is a or p.dims else broadcast_to(p, edge)
             for p in (as_tracer(x) for x in (prepend, a, append) if x is not None)]
    a = np.concatenate(parts, axis) if len(parts) > 1 else a
    before = (slice(None),) * axis
    for _ in range(n):
        later, earlier = a[(*before, slice(1, None))], a[(*before, slice(None, -1))]
        a = later != earlier if a.dtype.kind == "b" else later - earlier
    return a


@captures(np.trapezoid)
def trapezoid(y: object, x: object = None, dx: object = 1.0, axis: int = -1) -> Any:
    """Integrate by the trapezoidal rule."""
    y = as_tracer(y)
    axis = normalize_axis(axis, len(y.dims))
    before = (slice(None),) * axis
    widths = dx
    if x is not None:
        x = as_tracer(x)
        widths = diff(x, axis=axis if len(x.dims) > 1 else 0)
        if len(x.dims) == 1:
            widths = widths.reshape((-1,) + (1,) * (len(y.dims) - axis - 1))
    pairs = y[(*before, slice(1, None))] + y[(*before, slice(None, -1))]
    return sum_(widths * pairs, axis) / 2.0


@captures(np.gradient)
def gradient(f: object, *varargs: Any, axis: object = None, edge_order: int = 1) -> Any:
    """Return central differences, one-sided at the ends, for a spacing or for coordinates."""
    f = as_tracer(f)
    f = cast(f, np.float64) if f.dtype.kind in "iu" else f
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    axes = normalize_axes(axis, len(f.dims))
    if isinstance(axis, (tuple, list)):  # in the order in which they are given
        axes = tuple(normalize_axis(k, len(f.dims)) for k in axis)
    if len(varargs) != len(axes) and (len(varargs) > 1 or (varargs and np.ndim(varargs[0]))):
        raise TypeError("invalid number of arguments")
    spacing = list(varargs) * (len(axes) // len(varargs)) if varargs else [1.0] * len(axes)
    results = []
    for k, h in zip(axes, spacing, strict=True):
        require(as_operand(f.dims[k]) >= edge_order + 1, ValueError,
                "Shape of array too small to calculate a numerical gradient, at least "
                "(edge_order + 1) elements are required.")
        moved: Any = moveaxis(f, k, -1)
        if np.ndim(h):
            h = as_tracer(h)
            h = cast(h, np.float64) if h.dtype.kind in "iu" else h
            if len(h.dims) != 1:
                raise ValueError("distances must be either scalars or 1d")
            if not same_dim(dims_of(lift(h))[0], f.dims[k]):
                raise ValueError("when 1d, distances must match the length of the corresponding "
                                 "dimension")
            parts = _of_coordinates(moved, np.diff(h), edge_order)
        else:
            parts = _evenly(moved, h, edge_order)
        results.append(cast(np.moveaxis(np.concatenate(parts, -1), -1, k), f.dtype))
    return results[0] if len(results) == 1 else tuple(results)


def _evenly(f: np.ndarray, h: np.ndarray, edge_order: int) -> tuple[Any, Any, Any]:
    """Return the derivatives at the first element, at the inner elements and at the last."""
    inner = (f[..., 2:] - f[..., :-2]) / (2.0 * h)
    if edge_order == 1:
        return (f[..., 1:2] - f[..., :1]) / h, inner, (f[..., -1:] - f[..., -2:-1]) / h
    first = (-1.5 * f[..., :1] + 2.0 * f[..., 1:2] - 0.5 * f[..., 2:3]) / h
    last = (0.5 * f[..., -3:-2] - 2.0 * f[..., -2:-1] + 1.5 * f[..., -1:]) / h
    return first, inner, last


def _of_coordinates(f: np.ndarray, d: np.ndarray, edge_order: int) -> tuple[Any, Any, Any]:
    """Return it for points that are not evenly spaced, `d` being the distances between them."""
    a, b = d[:-1], d[1:]
    inner = (-(b / (a * (a + b))) * f[..., :-2] + (b - a) / (a * b) * f[..., 1:-1]
             + a / (b * (a + b)) * f[..., 2:])
    if edge_order == 1:
        return ((f[..., 1:2] - f[..., :1]) / d[:1], inner, (f[..., -1:] - f[..., -2:-1]) / d[-1:])
    a, b = d[:1], d[1:2]
    first = (-(2.0 * a + b) / (a * (a + b)) * f[..., :1] + (a + b) / (a * b) * f[..., 1:2]
             - a / (b * (a + b)) * f[..., 2:3])
    a, b = d[-2:-1], d[-1:]
    last = (b / (a * (a + b)) * f[..., -3:-2] - (b + a) / (a * b) * f[..., -2:-1]
            + (2.0 * b + a) / (b * (a + b)) * f[..., -1:])
    return first, inner, last


ACCUMULATIONS.update({np.add: cumsum, np.multiply: cumprod})
