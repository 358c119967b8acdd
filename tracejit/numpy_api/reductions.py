"""Sums, means, extrema, norms and running folds."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.ir.dims import Dim, is_nonneg, product
from tracejit.ir.values import dim_values
from tracejit.numpy_api.complex_numbers import place_of_extremum
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.masks import Whole, unselected
from tracejit.numpy_api.shapes import broadcast_to, normalize_axes, normalize_axis, require_no_list
from tracejit.ops.reductions import flatten_axes
from tracejit.trace.containers.places import HiddenPlace
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import METHODS, captures
from tracejit.trace.python.ufunc_calls import fold_dtype, mask_of, require_shape, write_reduced
from tracejit.trace.regions.loops import trace_loop
from tracejit.trace.values.equations import (
    ACCUMULATIONS,
    REDUCTIONS,
    apply,
    as_operand,
    atom_of,
    cast,
    dims_of,
    dtype_of,
    emit,
)
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer, tracer_of

if TYPE_CHECKING:
    import numpy.typing as npt

__all__: list[str] = []

_WHOLE = np.dtype(np.int64)


def reduce(op: str, a: object, axis: object, keepdims: bool = False) -> Tracer:
    """Emit a reduction, keeping reduced axes as 1 if asked to."""
    a = as_tracer(a)
    axis = _axis(axis)
    axes = normalize_axes(axis, len(a.dims))
    whole = unselected(a) if 0 in axes else None
    if whole is not None:
        result = _fold_whole(op, whole, axes)
    else:
        result = apply(op, a, axes=axes) if axes else tracer_of(a.value)
    if keepdims and axes:
        kept = tuple(1 if k in axes else d for k, d in enumerate(a.dims))
        result = apply("reshape", result, shape=kept)
    return result


def _fold_whole(op: str, x: Whole, axes: tuple[int, ...]) -> Tracer:
    """Return the fold of a selection as one of all elements, those not selected being neutral."""
    chosen = np.where(tracer_of(x.mask), x.data, _neutral(op, x.data.dtype))
    behind = tuple(k + x.rows - 1 for k in axes if k)
    return apply(op, as_tracer(chosen), axes=(*range(x.rows), *behind))


def _neutral(op: str, dtype: np.dtype) -> Any:
    """Return what changes no fold of a kind."""
    if op in ("reduce_max", "reduce_min"):
        if dtype.kind in "iu":
            bounds = np.iinfo(dtype)
            return dtype.type(bounds.min if op == "reduce_max" else bounds.max)
        return dtype.type(False if dtype.kind == "b" else -np.inf) if op == "reduce_max" else (
            dtype.type(True if dtype.kind == "b" else np.inf))
    return dtype.type(op in ("reduce_prod", "reduce_and"))


def _widened(a: Tracer) -> Tracer:
    """Return small integers and bools as NumPy adds and multiplies them: of 64 bits."""
    if a.dtype.kind not in "biu":
        return a
    return cast(a, np.uint64 if a.dtype.kind == "u" else _WHOLE)


def _flag(x: Any) -> bool:
    """Return a truth value that C code of NumPy asks for, or raise its error."""
    return bool(x if isinstance(x, (bool, np.bool_)) else operator.index(x))


def _axis(axis: object) -> Any:
    """Return an axis argument of C code of NumPy, which takes no bool and no list."""
    if isinstance(axis, (bool, np.bool_)):
        raise TypeError("an integer is required for the axis")
    require_no_list(axis)
    return axis


def _selected(a: Tracer, where: Any, otherwise: object) -> Tracer:
    """Return an array with something else in place of the elements that a mask leaves out."""
    where = mask_of(where)
    if where is True:
        return a
    beyond = len(dims_of(where)) > len(a.dims) or any(
        d == 1 and e != 1 for d, e in zip(a.dims[::-1], dims_of(where)[::-1], strict=False))
    if beyond:
        raise refuse("where= with more elements than the array that is reduced",
                     "Use np.broadcast_to on the array first")
    return as_tracer(np.where(where, a, cast(otherwise, a.dtype)))


def _folded_dtype(ufunc: np.ufunc, a: Tracer, dtype: npt.DTypeLike | None, out: object) -> Tracer:
    """Return an array in the dtype in which NumPy adds or multiplies its elements."""
    given = dtype if dtype is not None else fold_dtype(ufunc, a, out)
    return _widened(a) if given is None else cast(a, given)


def _fold(op: str, ufunc: np.ufunc) -> Any:
    """A sum or product."""

    def function(a: object, axis: object = None, dtype: npt.DTypeLike | None = None,
                 out: object = None, keepdims: object = False, initial: object = np._NoValue,
                 where: object = True) -> Any:
        a = _folded_dtype(ufunc, as_tracer(a), dtype, out)
        a = _selected(a, where, 0 if op == "reduce_sum" else 1)
        if a.dtype == np.bool_:
            fold = _any if op == "reduce_sum" else _all
            result = fold(a, axis, keepdims=keepdims)
        else:
            result = reduce(op, a, axis, _flag(keepdims))
        if initial is None:
            _require_elements(a, axis, ufunc)
        elif initial is not np._NoValue:
            initial = cast(initial, result.dtype)
            result = ufunc(result, initial)
        return write_reduced(ufunc, result, out)

    return function


def _require_elements(a: Tracer, axis: object, ufunc: np.ufunc) -> None:
    """Raise NumPy's error of a fold of nothing that has no beginning."""
    if any(current().decide(a.dims[k], "==") is True for k in normalize_axes(axis, len(a.dims))):
        raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no "
                         "identity")


_sum, _prod = _fold("reduce_sum", np.add), _fold("reduce_prod", np.multiply)
captures(np.sum, method="sum")(_sum)
captures(np.prod, method="prod")(_prod)


def _extremum(op: str, combine: Callable[..., object]) -> Any:
    def function(a: object, axis: object = None, out: object = None, keepdims: object = False,
                 initial: object = None, where: object = True) -> Any:
        initial = None if initial is np._NoValue else initial
        a, axis = as_tracer(a), _axis(axis)
        everywhere, where = where is True, mask_of(where)
        given = fold_dtype(combine, a, out)
        a = a if given is None else cast(a, given)
        if not everywhere and initial is None:
            raise ValueError(f"reduction operation {combine.__name__} does not have an identity, "
                             "so to use a where mask one has to specify 'initial'")
        a = _selected(a, where, initial)
        axes = normalize_axes(axis, len(a.dims))
        initial = None if initial is None else cast(initial, a.dtype)
        is_empty = any(current().decide(a.dims[k], "==") is True for k in axes)
        if is_empty and initial is not None:
            shape = tuple(1 if k in axes else as_operand(d) for k, d in enumerate(a.dims)
                          if keepdims or k not in axes)
            return write_reduced(combine, broadcast_to(initial, shape).copy() if shape else initial,
                                 out)
        if is_empty:
            raise ValueError(f"zero-size array to reduction operation {combine.__name__} which has "
                             "no identity")
        if initial is None:
            require_some(a, axes, "zero-size array to reduction operation "
                         f"{combine.__name__} which has no identity")
        elif axes and any(map(_may_be_nothing, a.dims)):
            a = _with_one_more(a, axes, initial)
        result = (reduce(op, a, axis, _flag(keepdims)) if a.dtype.kind != "c" else
                  _complex_extremum(a, axes, op == "reduce_max", _flag(keepdims)))
        return write_reduced(combine, result if initial is None else combine(result, initial), out)

    return function


def _with_one_more(a: Tracer, axes: tuple[int, ...], element: object) -> Tracer:
    """Return an array with one more element along the axes of a fold, which may have none."""
    first, *others = axes
    require_some(a, others, "a fold over several axes, one of which has no elements")
    shape = tuple(1 if k == first else as_operand(d) for k, d in enumerate(a.dims))
    return as_tracer(np.concatenate([a, broadcast_to(element, shape)], first))


def _may_be_nothing(d: Dim) -> bool:
    """Return whether data may decide that a size is 0."""
    trace = current()
    d = trace.canonical(d)
    by_data = not isinstance(d, int) and not all(v.is_size for v in dim_values(d))
    return by_data and not trace.is_known(d) and not is_nonneg(d - 1, trace.builder.known)


def require_some(a: Tracer, axes: Iterable[int], message: str) -> None:
    """Raise an error at run time where data decides that an array has no element along axes."""
    trace = current()
    for d in (trace.canonical(a.dims[k]) for k in axes):
        if _may_be_nothing(d):
            emit("check", [atom_of(as_operand(d) > 0)], {"error": "ValueError", "message": message})


def _complex_extremum(a: Tracer, axes: tuple[int, ...], largest: bool, keepdims: bool) -> Any:
    """Return the largest or smallest of complex numbers, which have an order by their parts."""
    rest = [k for k in range(len(a.dims)) if k not in axes]
    moved: Any = np.transpose(a, [*rest, *axes]).reshape(
        (*(as_operand(a.dims[k]) for k in rest), as_operand(product(
            tuple(a.dims[k] for k in axes)))))
    place = np.expand_dims(place_of_extremum(moved, largest), -1)
    result = np.take_along_axis(moved, place, -1)[..., 0]
    return np.expand_dims(result, axes) if keepdims else result[()]


_max, _min = _extremum("reduce_max", np.maximum), _extremum("reduce_min", np.minimum)
captures(np.max, np.amax, method="max")(_max)
captures(np.min, np.amin, method="min")(_min)


def _logical(op: str, ufunc: np.ufunc) -> Any:
    def function(a: object, axis: object = None, out: object = None, keepdims: object = False,
                 where: object = True) -> Any:
        a = as_tracer(a)
        a = a if a.dtype == np.bool_ else a != 0
        a = _selected(a, where, op == "reduce_and")
        return write_reduced(ufunc, reduce(op, a, axis, _flag(keepdims)), out)

    return function


def _method(fold: Callable[..., object]) -> Any:
    """Return the method of arrays, which takes a dtype by place, before `out`."""

    def function(a: object, axis: object = None, dtype: npt.DTypeLike | None = None,
                 out: object = None, keepdims: object = False, *, where: object = True) -> Any:
        if dtype is not None:
            raise refuse("x.all and x.any with a dtype cannot be captured", "Leave it out")
        return fold(a, axis, out, keepdims, where)

    return function


_all, _any = _logical("reduce_and", np.logical_and), _logical("reduce_or", np.logical_or)
captures(np.all)(_all)
captures(np.any)(_any)
METHODS["all"], METHODS["any"] = _method(_all), _method(_any)


@captures(np.count_nonzero)
def count_nonzero(a: object, axis: object = None, *, keepdims: bool = False) -> Any:
    """Return how many elements are not zero."""
    return _sum(as_tracer(a) != 0, axis, keepdims=keepdims)


# --- moments ------------------------------------------------------------------------------------


def _count(a: Tracer, axis: object) -> Any:
    axes = normalize_axes(axis, len(a.dims))
    return as_operand(product(tuple(a.dims[k] for k in axes)))


def _as_inexact(a: object, dtype: npt.DTypeLike | None = None) -> Tracer:
    a = as_tracer(a)
    if dtype is not None:
        return cast(a, dtype)
    return a if a.dtype.kind in "fc" else cast(a, np.float64)


@captures(np.mean, method="mean")
def mean(a: object, axis: Any = None, dtype: npt.DTypeLike | None = None, out: object = None,
         keepdims: object = False, *, where: object = True) -> Any:
    """Return the average."""
    a = _as_inexact(a, dtype)
    a = a if dtype is not None else _folded_dtype(np.add, a, None, out)
    count = _count(a, axis)
    if where is not True:
        a = _selected(a, where, 0)
        kept = broadcast_to(mask_of(where), tuple(map(as_operand, a.dims)))
        count = _sum(kept, axis, keepdims=keepdims)
    return write_reduced(np.add, _divided(_sum(a, axis, a.dtype, keepdims=keepdims), count), out)


def _divided(total: Any, count: object) -> Any:
    """Return a sum divided by how many its terms are, in the dtype of the sum."""
    return cast(total / (count if dims_of(count) else cast(count, np.float64)), total.dtype)


@captures(np.average)
def average(a: object, axis: object = None, weights: object = None, *,
            keepdims: object = False) -> Any:
    """Return the weighted average."""
    axis = tuple(axis) if isinstance(axis, list) else axis
    if weights is None:
        return mean(a, axis, keepdims=keepdims)
    weights = as_tracer(weights)
    a = as_tracer(a)
    if len(weights.dims) < len(a.dims):
        shape = [1] * len(a.dims)
        shape[normalize_axis(axis, len(a.dims))] = -1
        weights = weights.reshape(tuple(shape))
    weighted = a * weights
    total = _sum(broadcast_to(weights, tuple(map(as_operand, a.dims))), axis, keepdims=keepdims)
    require(np.all(total != 0), ZeroDivisionError, "Weights sum to zero, can't be normalized")
    return _sum(weighted, axis, keepdims=keepdims) / total


@captures(np.var, method="var")
def var(a: object, axis: Any = None, dtype: npt.DTypeLike | None = None, out: object = None,
        ddof: object = 0, keepdims: object = False, *, correction: object = None) -> Any:
    """Return the variance."""
    own = as_tracer(a).dtype.kind
    if dtype is not None and (own == "c" or np.dtype(dtype).kind != "f"):
        raise refuse(f"np.var and np.std of {as_tracer(a).dtype} in the dtype {np.dtype(dtype)} "
                     "cannot be captured", "Leave dtype out")
    a = _as_inexact(a, dtype)
    centred = a - mean(a, axis, keepdims=True)
    squares = np.real(centred * np.conj(centred)) if a.dtype.kind == "c" else centred * centred
    ddof = ddof if correction is None else correction
    freedom = _count(a, axis) - ddof
    freedom = max(freedom, 0) if isinstance(freedom, (int, float)) else np.maximum(freedom, 0)
    squares = squares if dtype is not None else _folded_dtype(np.add, squares, None, out)
    result = _divided(_sum(squares, axis, keepdims=keepdims), freedom)
    return write_reduced(np.add, result, out)


def root_of_squares(squares: Any) -> Any:
    """Return the root of a sum of squares, whose derivative where all are 0 is taken to be 0."""
    return np.where(squares == 0, 0.0, np.sqrt(squares))


@captures(np.std, method="std")
def std(a: object, axis: object = None, dtype: npt.DTypeLike | None = None, out: object = None,
        ddof: object = 0, keepdims: object = False, *, correction: object = None) -> Any:
    """Return the standard deviation."""
    result = root_of_squares(var(a, axis, dtype, None, ddof, keepdims, correction=correction))
    result = result if dtype is None else cast(result, dtype)
    fits = out is not None and require_shape(np.add, result, out)
    if fits and not np.can_cast(result.dtype, dtype_of(out), "same_kind"):
        raise TypeError(f"Cannot cast ufunc 'sqrt' output from {result.dtype!r} to "
                        f"{dtype_of(out)!r} with casting rule 'same_kind'")
    return write_reduced(np.add, result, out)


@captures(np.ptp)
def ptp(a: object, axis: object = None, *, keepdims: object = False) -> Any:
    """Return the range from smallest to largest."""
    return _max(a, axis, keepdims=keepdims) - _min(a, axis, keepdims=keepdims)


def _nan_fold(fold: Callable[..., Any], fill: Any) -> Any:
    def function(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
        a = as_tracer(a)
        if a.dtype.kind == "c" and fill:
            raise refuse("np.nanmax and np.nanmin of complex numbers cannot be captured",
                         "Use np.max and np.min, or the parts")
        if a.dtype.kind not in "fc":
            return fold(a, axis, keepdims=keepdims)
        missing = np.isnan(a)
        result = fold(np.where(missing, fill, a), axis, keepdims=keepdims)
        if not fill:
            return result
        none = np.all(missing, axis=axis, keepdims=keepdims)
        return np.where(none, a.dtype.type(np.nan), result) if a.dtype.kind == "f" else result

    return function


captures(np.nansum)(_nan_fold(_sum, 0.0))
captures(np.nanmax)(_nan_fold(_max, -np.inf))
captures(np.nanmin)(_nan_fold(_min, np.inf))


@captures(np.nanmean)
def nanmean(a: object, axis: object = None, *, keepdims: object = False) -> Any:
    """Return the average of what is not NaN."""
    a = as_tracer(a)
    a = a if a.dtype.kind in "fc" else cast(a, np.float64)
    kept = np.logical_not(np.isnan(a))
    total = _sum(np.where(kept, a, 0.0), axis, keepdims=keepdims)
    return cast(total / _sum(kept, axis, keepdims=keepdims), total.dtype)


@captures(np.cov)
def cov(m: object, y: object = None, rowvar: bool = True, bias: bool = False,
        ddof: object = None) -> Any:
    """Return the covariance matrix of the rows."""
    m = np.atleast_2d(as_tracer(m))
    m = m if rowvar else m.T
    if y is not None:
        other: Any = np.atleast_2d(as_tracer(y))
        m = np.concatenate([m, other if rowvar else other.T])
    m = cast(m, np.result_type(m.dtype, np.float64))
    centred = m - mean(m, axis=1, keepdims=True)
    ddof = (0 if bias else 1) if ddof is None else ddof
    return np.squeeze(centred @ np.conj(centred.T) / (as_operand(m.dims[1]) - ddof))


@captures(np.corrcoef)
def corrcoef(x: object, y: object = None, rowvar: bool = True) -> Any:
    """Return the correlation matrix of the rows."""
    c: Any = cov(x, y, rowvar)
    if not c.dims:
        return c / c
    deviations = np.sqrt(np.diag(c).real)
    return np.clip(c / deviations[:, None] / deviations[None, :], -1.0, 1.0)


@captures(np.polyval)
def polyval(p: object, x: object) -> Any:
    """Return a polynomial's values by Horner's rule, the highest coefficient first."""
    p, x = as_tracer(p), as_tracer(x)
    total = HiddenPlace()
    total.set(np.zeros_like(x))

    def body(k: object) -> None:
        total.set(total.get() * x + p[k])

    trace_loop([total], [total.name], [], body, None, 0, p.dims[0])
    return total.get()


# --- places and running folds -------------------------------------------------------------------


def _argument(op: str) -> Any:
    def function(a: Any, axis: object = None, *, keepdims: object = False) -> Any:
        a, axis, keepdims = as_tracer(a), _axis(axis), _flag(keepdims)
        if a.dtype.kind == "c":
            flat = a.reshape(-1) if axis is None else np.moveaxis(
                a, normalize_axis(axis, len(a.dims)), -1)
            result = place_of_extremum(flat, op == "argmax")
            return np.expand_dims(result, normalize_axes(axis, len(a.dims))) if keepdims else result
        require_some(a, range(len(a.dims)) if axis is None else [normalize_axis(axis, len(a.dims))],
                     f"attempt to get {op} of an empty sequence")
        if axis is None:
            result = apply(op, flatten_axes(a, tuple(range(len(a.dims)))), axis=0)
            return np.reshape(result, (1,) * len(a.dims)) if keepdims else result
        axis = normalize_axis(axis, len(a.dims))
        result = apply(op, a, axis=axis)
        return np.expand_dims(result, axis) if keepdims else result

    return function


captures(np.argmax, method="argmax")(_argument("argmax"))
captures(np.argmin, method="argmin")(_argument("argmin"))


@captures(np.cumsum, method="cumsum")
def cumsum(a: Any, axis: object = None, dtype: npt.DTypeLike | None = None,
           out: object = None) -> Any:
    """Return running sums."""
    a, axis = _folded_dtype(np.add, as_tracer(a), dtype, out), _axis(axis)
    if axis is None:
        a, axis = a.reshape(-1), 0
    axis = normalize_axis(axis, len(a.dims))
    if a.dtype == np.bool_:
        raise refuse("np.cumsum in the dtype bool cannot be captured", "Leave dtype out")
    return write_reduced(np.add, apply("cumsum", a, axis=axis, reverse=False), out)


@captures(np.cumprod, method="cumprod")
def cumprod(a: Any, axis: object = None, dtype: npt.DTypeLike | None = None,
            out: object = None) -> Any:
    """Return running products, computed by a loop, whose derivative is right at zeros too."""
    a, axis = _folded_dtype(np.multiply, as_tracer(a), dtype, out), _axis(axis)
    if axis is None:
        a, axis = a.reshape(-1), 0
    axis = normalize_axis(axis, len(a.dims))
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
    a = as_tracer(a)
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
    return _sum(widths * pairs, axis) / 2.0


@captures(np.gradient)
def gradient(f: object, *varargs: Any, axis: object = None, edge_order: int = 1) -> Any:
    """Return central differences, one-sided at the ends, with a uniform spacing."""
    f = as_tracer(f)
    f = cast(f, np.float64) if f.dtype.kind in "iu" else f
    if edge_order != 1 or any(isinstance(v, Tracer) and v.dims for v in varargs):
        raise refuse("np.gradient with coordinates or edge_order=2 cannot be captured",
                     "Write the differences with slices")
    f = cast(f, np.float64) if f.dtype.kind in "iu" else f
    axes = normalize_axes(axis, len(f.dims))
    spacing = list(varargs) * len(axes) if len(varargs) == 1 else list(varargs) or [1.0] * len(axes)
    results = []
    for k, h in zip(axes, spacing, strict=True):
        require(as_operand(f.dims[k]) >= 2, ValueError,
                "Shape of array too small to calculate a numerical gradient, at least "
                "(edge_order + 1) elements are required.")
        b = (slice(None),) * k
        inner = (f[(*b, slice(2, None))] - f[(*b, slice(None, -2))]) / (2.0 * h)
        first = (f[(*b, slice(1, 2))] - f[(*b, slice(0, 1))]) / h
        last = (f[(*b, slice(-1, None))] - f[(*b, slice(-2, -1))]) / h
        results.append(cast(np.concatenate([first, inner, last], k), f.dtype))
    return results[0] if len(results) == 1 else tuple(results)


def _in_dtype(fold: Callable[..., object]) -> Any:
    """Return a fold that can be told a dtype, as the method `reduce` of its ufunc can."""

    def function(a: object, axis: object = 0, dtype: npt.DTypeLike | None = None,
                 out: object = None, keepdims: object = False, initial: object = None,
                 where: object = True) -> Any:
        return fold(a if dtype is None else cast(a, dtype), axis, out, keepdims, initial, where)

    return function


def _of_truths(fold: Callable[..., object], ufunc: np.ufunc) -> Any:
    """Return the method `reduce` of a logical ufunc, which computes in bools, whatever it reads."""

    def function(a: object, axis: object = 0, dtype: npt.DTypeLike | None = None,
                 out: object = None, keepdims: object = False, initial: object = np._NoValue,
                 where: object = True) -> Any:
        if dtype is not None and np.dtype(dtype) != np.bool_:
            raise refuse(f"np.{ufunc.__name__}.reduce with this dtype cannot be captured",
                         "Leave it out")
        result = fold(a, axis, None, keepdims, where)
        if initial is None:
            _require_elements(as_tracer(a), axis, ufunc)
        elif initial is not np._NoValue:
            result = ufunc(result, cast(initial, np.bool_))
        return write_reduced(ufunc, result, out)

    return function


REDUCTIONS.update({np.add: _sum, np.multiply: _prod, np.maximum: _in_dtype(_max),
                   np.minimum: _in_dtype(_min),
                   np.logical_and: _of_truths(_all, np.logical_and),
                   np.logical_or: _of_truths(_any, np.logical_or)})
ACCUMULATIONS.update({np.add: cumsum, np.multiply: cumprod})
