"""Folds of all elements, or along axes: sums, products, extrema, truths, places of extrema."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.ir.dims import Dim, is_nonneg, product
from tracejit.ir.values import dim_values
from tracejit.numpy_api.axes import normalize_axes, normalize_axis, require_no_list
from tracejit.numpy_api.complex_numbers import place_of_extremum
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.emptiness import is_nothing
from tracejit.numpy_api.masks import Whole, unselected
from tracejit.numpy_api.shapes import broadcast_to
from tracejit.ops.calls import stop_gradient
from tracejit.ops.implicit import RULES, Rule, implied
from tracejit.ops.reductions import flatten_axes
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import METHODS, captures
from tracejit.trace.python.ufunc_calls import fold_dtype, mask_of, write_reduced
from tracejit.trace.values.equations import (
    REDUCTIONS,
    apply,
    as_operand,
    atom_of,
    cast,
    dims_of,
    emit,
)
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.tracer import Tracer, tracer_of

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["c_axis", "count_folded", "in_folded_dtype", "selected", "sum_"]


_WHOLE = np.dtype(np.int64)


def reduce(op: str, a: object, axis: object, keepdims: bool = False) -> Tracer:
    """Emit a reduction, keeping reduced axes as 1 if asked to."""
    a = as_tracer(a)
    axis = c_axis(axis)
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
    """Return the fold of a selection as one of all elements, with neutral ones for the rest."""
    chosen = np.where(tracer_of(x.mask), x.data, _neutral(op, x.data.dtype))
    behind = tuple(k + x.rows - 1 for k in axes if k)
    return apply(op, as_tracer(chosen), axes=(*range(x.rows), *behind))


def _neutral(op: str, dtype: np.dtype) -> Any:
    """Return the number that changes no fold of a kind."""
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


def c_axis(axis: object) -> Any:
    """Return an axis argument of C code of NumPy, which takes no bool and no list."""
    if isinstance(axis, (bool, np.bool_)):
        raise TypeError("an integer is required for the axis")
    require_no_list(axis)
    return axis


def selected(a: Tracer, where: Any, otherwise: object) -> Tracer:
    """Return an array with something else in place of the elements that a mask leaves out."""
    where = mask_of(where)
    if where is True:
        return a
    beyond = len(dims_of(where)) > len(a.dims) or any(
        d == 1 and e != 1 for d, e in zip(a.dims[::-1], dims_of(where)[::-1], strict=False))
    if beyond:
        raise refuse("where= with more elements than the array that is reduced",
                     "Use np.broadcast_to on the array first", "TJ207")
    return as_tracer(np.where(where, a, cast(otherwise, a.dtype)))


def in_folded_dtype(ufunc: np.ufunc, a: Tracer, dtype: npt.DTypeLike | None, out: object) -> Tracer:
    """Return an array in the dtype in which NumPy adds or multiplies its elements."""
    given = dtype if dtype is not None else fold_dtype(ufunc, a, out)
    return _widened(a) if given is None else cast(a, given)


def _fold(op: str, ufunc: np.ufunc) -> Any:
    """A sum or product."""

    def function(a: object, axis: object = None, dtype: npt.DTypeLike | None = None,
                 out: object = None, keepdims: object = False, initial: object = np._NoValue,
                 where: object = True) -> Any:
        a = in_folded_dtype(ufunc, as_tracer(a), dtype, out)
        signed = op == "reduce_sum" and a.dtype.kind in "fc" and _may_be_below(initial)
        a = selected(a, where, -0.0 if signed else 0 if op == "reduce_sum" else 1)
        if a.dtype == np.bool_:
            fold = _any if op == "reduce_sum" else _all
            result = fold(a, axis, keepdims=keepdims)
        else:
            result = reduce(op, a, axis, _flag(keepdims))
        if initial is None:
            _require_elements(a, axis, ufunc)
        if signed:
            result = _from_below(a, result, axis, _flag(keepdims))
        if initial is not None and initial is not np._NoValue:
            initial = cast(initial, result.dtype)
            result = ufunc(result, initial)
        return write_reduced(ufunc, result, out)

    return function


def _may_be_below(initial: object) -> bool:
    """Return whether a sum begins with -0.0: -0.0 alone, or the first element, has its sign."""
    if initial is np._NoValue:
        return False
    known = initial is None or not isinstance(initial, TracedOperand)
    parts = np.array([0.0 if initial is None or not known else initial], np.complex128)
    below = [x == 0.0 and bool(np.signbit(x)) for x in (parts.real[0], parts.imag[0])]
    return initial is None or not known or any(below)


def _from_below(a: Tracer, total: Tracer, axis: object, keepdims: bool) -> Tracer:
    """Return a sum that began with 0.0 as if it had with -0.0, or with both parts so."""
    if a.dtype.kind == "c":
        parts = [_from_below(as_tracer(part(a)), as_tracer(part(total)), axis, keepdims)
                 for part in (np.real, np.imag)]
        return as_tracer(apply("complex", *parts))
    below = reduce("reduce_and", np.signbit(a) & (a == 0.0), axis, keepdims)
    return as_tracer(implied("the same number", [
        stop_gradient(as_tracer(np.where(below, -0.0, total)))], total)[0])


RULES["the same number"] = Rule(lambda results, operands, tangents: list(tangents),
                                lambda results, operands, cts: list(cts))
"""Of which a zero may have another sign."""


def _require_elements(a: Tracer, axis: object, ufunc: np.ufunc) -> None:
    """Raise NumPy's error of a fold of nothing that has no beginning."""
    if any(is_nothing(a.dims[k]) for k in normalize_axes(axis, len(a.dims))):
        raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no "
                         "identity")


sum_, _prod = _fold("reduce_sum", np.add), _fold("reduce_prod", np.multiply)
captures(np.sum, method="sum")(sum_)
captures(np.prod, method="prod")(_prod)


def _extremum(op: str, combine: Callable[..., object]) -> Any:
    def function(a: object, axis: object = None, out: object = None, keepdims: object = False,
                 initial: object = None, where: object = True) -> Any:
        initial = None if initial is np._NoValue else initial
        a, axis = as_tracer(a), c_axis(axis)
        everywhere, where = where is True, mask_of(where)
        given = fold_dtype(combine, a, out)
        a = a if given is None else cast(a, given)
        if not everywhere and initial is None:
            raise ValueError(f"reduction operation {combine.__name__} does not have an identity, "
                             "so to use a where mask one has to specify 'initial'")
        a = selected(a, where, initial)
        axes = normalize_axes(axis, len(a.dims))
        initial = None if initial is None else cast(initial, a.dtype)
        if initial is not None and any(is_nothing(a.dims[k]) for k in axes):
            shape = tuple(1 if k in axes else as_operand(d) for k, d in enumerate(a.dims)
                          if keepdims or k not in axes)
            return write_reduced(combine, broadcast_to(initial, shape).copy() if shape else initial,
                                 out)
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
    """Raise an error if an array has no element along axes; in the run, where data decides it."""
    for d in (current().canonical(a.dims[k]) for k in axes):
        if is_nothing(d):
            raise ValueError(message)
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
        a = selected(a, where, op == "reduce_and")
        return write_reduced(ufunc, reduce(op, a, axis, _flag(keepdims)), out)

    return function


def _method(fold: Callable[..., object]) -> Any:
    """Return the method of arrays, which takes a dtype by place, before `out`."""

    def function(a: object, axis: object = None, dtype: npt.DTypeLike | None = None,
                 out: object = None, keepdims: object = False, *, where: object = True) -> Any:
        if dtype is not None:
            raise refuse("x.all and x.any with a dtype cannot be captured", "Leave it out", "TJ203")
        return fold(a, axis, out, keepdims, where)

    return function


_all, _any = _logical("reduce_and", np.logical_and), _logical("reduce_or", np.logical_or)
captures(np.all)(_all)
captures(np.any)(_any)
METHODS["all"], METHODS["any"] = _method(_all), _method(_any)


@captures(np.count_nonzero)
def count_nonzero(a: object, axis: object = None, *, keepdims: bool = False) -> Any:
    """Return how many elements are not zero."""
    count = sum_(as_tracer(a) != 0, axis, keepdims=keepdims)
    if axis is None and not keepdims and _COUNTS_IN_PYTHON:
        return tracer_of(count.value, weak=True)
    return count


_COUNTS_IN_PYTHON = not isinstance(np.count_nonzero(np.ones(1)), np.integer)
"""Whether NumPy counts all elements by a Python int, as it did before 2.4."""


def count_folded(a: Tracer, axis: object) -> Any:
    if isinstance(axis, int):
        normalize_axis(axis, len(a.dims))  # a number has none here
    axes = normalize_axes(axis, len(a.dims))
    return as_operand(product(tuple(a.dims[k] for k in axes)))


@captures(np.ptp)
def ptp(a: object, axis: object = None, *, keepdims: object = False) -> Any:
    """Return the range from smallest to largest."""
    return _max(a, axis, keepdims=keepdims) - _min(a, axis, keepdims=keepdims)


def _nan_fold(fold: Callable[..., Any], fill: Any) -> Any:
    def function(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
        a = as_tracer(a)
        if a.dtype.kind == "c" and fill:
            raise refuse("np.nanmax and np.nanmin of complex numbers cannot be captured",
                         "Use np.max and np.min, or the parts", "TJ206")
        if a.dtype.kind not in "fc":
            return fold(a, axis, keepdims=keepdims)
        missing = np.isnan(a)
        result = fold(np.where(missing, fill, a), axis, keepdims=keepdims)
        if not fill:
            return result
        none = np.all(missing, axis=axis, keepdims=keepdims)
        return np.where(none, a.dtype.type(np.nan), result) if a.dtype.kind == "f" else result

    return function


captures(np.nansum)(_nan_fold(sum_, 0.0))
captures(np.nanmax)(_nan_fold(_max, -np.inf))
captures(np.nanmin)(_nan_fold(_min, np.inf))


def _argument(op: str) -> Any:
    def function(a: Any, axis: object = None, *, keepdims: object = False) -> Any:
        a, axis, keepdims = as_tracer(a), c_axis(axis), _flag(keepdims)
        if not a.dims and axis in (0, -1):
            axis = None  # a number has an axis for NumPy's C code
        require_some(a, normalize_axes(axis, len(a.dims)),
                     f"attempt to get {op} of an empty sequence")
        if a.dtype.kind == "c":
            flat = a.reshape(-1) if axis is None else np.moveaxis(
                a, normalize_axis(axis, len(a.dims)), -1)
            result = place_of_extremum(flat, op == "argmax")
            return np.expand_dims(result, normalize_axes(axis, len(a.dims))) if keepdims else result
        if axis is None:
            result = apply(op, flatten_axes(a, tuple(range(len(a.dims)))), axis=0)
            return np.reshape(result, (1,) * len(a.dims)) if keepdims else result
        axis = normalize_axis(axis, len(a.dims))
        result = apply(op, a, axis=axis)
        return np.expand_dims(result, axis) if keepdims else result

    return function


captures(np.argmax, method="argmax")(_argument("argmax"))
captures(np.argmin, method="argmin")(_argument("argmin"))


def _in_dtype(fold: Callable[..., object]) -> Any:
    """Return a fold that can be told a dtype, as the method `reduce` of its ufunc can."""

    def function(a: object, axis: object = 0, dtype: npt.DTypeLike | None = None,
                 out: object = None, keepdims: object = False, initial: object = None,
                 where: object = True) -> Any:
        return fold(a if dtype is None else cast(a, dtype), axis, out, keepdims, initial, where)

    return function


def _of_truths(fold: Callable[..., object], ufunc: np.ufunc) -> Any:
    """Return the method `reduce` of a logical ufunc, which computes in bools for any operand."""

    def function(a: object, axis: object = 0, dtype: npt.DTypeLike | None = None,
                 out: object = None, keepdims: object = False, initial: object = np._NoValue,
                 where: object = True) -> Any:
        if dtype is not None and np.dtype(dtype) != np.bool_:
            raise refuse(f"np.{ufunc.__name__}.reduce with this dtype cannot be captured",
                         "Leave it out", "TJ203")
        result = fold(a, axis, None, keepdims, where)
        if initial is None:
            _require_elements(as_tracer(a), axis, ufunc)
        elif initial is not np._NoValue:
            result = ufunc(result, cast(initial, np.bool_))
        return write_reduced(ufunc, result, out)

    return function


REDUCTIONS.update({np.add: sum_, np.multiply: _prod, np.maximum: _in_dtype(_max),
                   np.minimum: _in_dtype(_min),
                   np.logical_and: _of_truths(_all, np.logical_and),
                   np.logical_or: _of_truths(_any, np.logical_or)})
