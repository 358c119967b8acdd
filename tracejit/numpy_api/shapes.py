"""Shape manipulation: views where NumPy makes views, joins, flips, rolls and pads."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.ir.core import Span
from tracejit.ir.dims import Dim, Expr, floor_div, maximum, mod, product
from tracejit.numpy_api.conditions import wrapped
from tracejit.numpy_api.creation import counted_dims, filled
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import METHODS, PROPERTIES, captures
from tracejit.trace.ground.layouts import lay_out, stretched
from tracejit.trace.ground.views import ReshapeStep, TransposeStep, whole
from tracejit.trace.python.ufunc_calls import write_reduced
from tracejit.trace.values.equations import (
    apply,
    as_operand,
    cast,
    dtype_of,
    is_one,
    lift,
    same_dim,
    to_dim,
    to_dims,
)
from tracejit.trace.values.indexing import view
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.reshapes import ravelled, reshaped
from tracejit.trace.values.symbolic_ints import SymInt, of_dim, python_dims
from tracejit.trace.values.tracer import Tracer

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["filled_in", "normalize_axes", "normalize_axis", "require_no_list"]


def normalize_axis(axis: Any, ndim: int) -> int:
    """Return an axis counted from the front, or raise NumPy's `AxisError`."""
    if isinstance(axis, Tracer):
        raise refuse("an axis depends on a traced value", "Use a constant")
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


# --- reshape and its kin ------------------------------------------------------------------------


@captures(np.reshape)
def reshape(a: object, /, shape: object = None, order: str = "C", *, newshape: object = None,
            copy: object = None) -> Tracer:
    """Return an array in another shape of the same size: a view where NumPy has one."""
    a = as_tracer(a)
    if order == "F":
        return transpose(reshape(transpose(a), tuple(reversed(_tuple(shape))), copy=copy))
    _require_c_order(a, order, "reshape")
    target = filled_in(a.dims, shape if shape is not None else newshape)
    return apply("reshape", a, shape=target) if copy else reshaped(a, target)


def _require_c_order(a: Tracer, order: str, name: str) -> None:
    if order != "C" and (order not in ("A", "K") or len(a.dims) > 1):
        raise refuse(f"{name} with order={order!r} cannot be captured", "Use order='C'")


def _tuple(shape: object) -> tuple[Any, ...]:
    return tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)


def filled_in(dims: tuple[Dim, ...], shape: object) -> tuple[Dim, ...]:
    """Return a new shape with a -1 replaced by what the size leaves; the sizes have to agree."""
    total, target = product(dims), to_dims(_tuple(shape))
    if sum(d == -1 for d in target) > 1:
        raise ValueError("can only specify one unknown dimension")
    trace = current()
    shown = tuple("newaxis" if d == -1 else d for d in target)
    if -1 in target:
        rest = product(tuple(d for d in target if d != -1))
        quotient = exact_quotient(total, rest)
        target = tuple(quotient if d == -1 else d for d in target)
    message = f"cannot reshape array of size {{0:.0f}} into shape {_shape_text(shown)}"
    if not same_dim(total, product(target), message):
        numbers = tuple(trace.number(d) if not isinstance(d, str) and trace.is_known(d) else d
                        for d in shown)
        size = trace.number(total) if trace.is_known(total) else total
        raise ValueError(f"cannot reshape array of size {size} into shape {_shape_text(numbers)}")
    return tuple(current().canonical(d) for d in target)


def _shape_text(shape: tuple[object, ...]) -> str:
    return f"({','.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def exact_quotient(total: Dim, part: Dim) -> Dim:
    """Return `total / part` where it divides, cancelling symbolic factors that both have."""
    if isinstance(part, Expr) and isinstance(total, Expr) and (
            len(part.terms) == 1 and not part.const):
        (monomial, coefficient), = part.terms
        kept: Dim = 0
        for m, c in total.terms:
            rest = list(m)
            for a in monomial:
                if a not in rest:
                    return floor_div(total, part)
                rest.remove(a)
            if c % coefficient:
                return floor_div(total, part)
            term: Dim = c // coefficient
            for a in rest:
                term = term * Expr((((a,), 1),), 0)
            kept = kept + term
        return kept if not total.const else floor_div(total, part)
    return floor_div(total, part) if part != 1 else total


def _reshape_method(a: Tracer, *shape: object, order: str = "C", copy: object = None) -> Tracer:
    return reshape(a, shape[0] if len(shape) == 1 else shape, order, copy=copy)


METHODS["reshape"] = _reshape_method


@captures(np.ravel, method="ravel")
def ravel(a: object, order: str = "C") -> Tracer:
    """Return a flat array: a view of what is contiguous."""
    a = as_tracer(a)
    if order == "F":
        return ravelled(transpose(a))
    _require_c_order(a, order, "ravel")
    return ravelled(a)


METHODS["flatten"] = lambda a, order="C": ravel(a, order).copy()


@captures(np.expand_dims)
def expand_dims(a: object, axis: object) -> Tracer:
    """Return a view with new axes of size 1."""
    a = as_tracer(a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    axes = normalize_axes(axis, len(a.dims) + count)
    rest = iter(a.dims)
    target = tuple(1 if k in axes else next(rest) for k in range(len(a.dims) + count))
    return view(a, ReshapeStep(target, a.aval.shape))


@captures(np.squeeze, method="squeeze")
def squeeze(a: object, axis: object = None) -> Tracer:
    """Return a view without axes of size 1."""
    a = as_tracer(a)
    require_no_list(axis)
    if axis is None:
        trace, why = current(), "np.squeeze takes out axes of size 1"
        axes = tuple(k for k, d in enumerate(a.dims) if trace.decide(d - 1, "==", why))
    else:
        axes = normalize_axes(axis, len(a.dims))
        if not all(same_dim(a.dims[k], 1) for k in axes):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return view(a, ReshapeStep(tuple(d for k, d in enumerate(a.dims) if k not in axes),
                               a.aval.shape))


@captures(np.atleast_1d)
def atleast_1d(*arys: object) -> Any:
    """Return arrays with at least one axis."""
    result = [a if a.dims else reshape(a, (1,)) for a in map(as_tracer, arys)]
    return result[0] if len(result) == 1 else tuple(result)


@captures(np.atleast_2d)
def atleast_2d(*arys: object) -> Any:
    """Return arrays with at least two axes."""
    result = [a if len(a.dims) > 1 else atleast_1d(a)[None, :] for a in map(as_tracer, arys)]
    return result[0] if len(result) == 1 else tuple(result)


# --- the order of axes --------------------------------------------------------------------------


@captures(np.transpose, np.permute_dims)
def transpose(a: object, axes: Any = None) -> Tracer:
    """Return a view with its axes permuted."""
    a = as_tracer(a)
    ndim = len(a.dims)
    order = tuple(reversed(range(ndim))) if axes is None else tuple(
        normalize_axis(k, ndim) for k in axes)
    if sorted(order) != list(range(ndim)):
        raise ValueError("axes don't match array")
    same = order == tuple(range(ndim))
    return Tracer(a.cell, a.steps) if same else view(a, TransposeStep(order))


def _transpose_method(a: Tracer, *axes: object) -> Tracer:
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        return transpose(a, axes[0] or None)
    return transpose(a, axes or None)


METHODS["transpose"] = _transpose_method
PROPERTIES["T"] = transpose


@captures(np.swapaxes, method="swapaxes")
def swapaxes(a: object, axis1: int, axis2: int) -> Tracer:
    """Return a view with two axes exchanged."""
    a = as_tracer(a)
    order = list(range(len(a.dims)))
    i, j = (normalize_axis(k, len(order)) for k in (axis1, axis2))
    order[i], order[j] = order[j], order[i]
    return transpose(a, order)


PROPERTIES["mT"] = lambda a: swapaxes(a, -1, -2)


@captures(np.moveaxis)
def moveaxis(a: object, source: object, destination: object) -> Tracer:
    """Return a view with axes moved."""
    a = as_tracer(a)
    ndim = len(a.dims)
    sources = [normalize_axis(k, ndim) for k in _tuple(source)]
    targets = [normalize_axis(k, ndim) for k in _tuple(destination)]
    order = [k for k in range(ndim) if k not in sources]
    for target, k in sorted(zip(targets, sources, strict=True)):
        order.insert(target, k)
    return transpose(a, order)


@captures(np.broadcast_to)
def broadcast_to(array: object, shape: object, subok: bool = False) -> Tracer:
    """Return an array repeated to a shape; it cannot be written to, as in NumPy."""
    array = source = as_tracer(array)
    target = to_dims(shape)
    if len(array.dims) > len(target):
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    fitted = tuple(d if d == 1 else s for d, s in
                   zip(array.dims, target[len(target) - len(array.dims):], strict=True))
    for d, s in zip(array.dims, fitted, strict=True):
        if not (same_dim(d, s) or is_one(d)):
            raise ValueError(f"operands could not be broadcast together with remapped shapes "
                             f"[original->remapped]: {array.shape} and requested shape "
                             f"{python_dims(target)}")
    if fitted != array.aval.shape:
        array = apply("reshape", array, shape=fitted)
    result = apply("broadcast_to", array, shape=target)
    result.cell.constant = "writing to the result of np.broadcast_to"
    result.cell.stands_for([source.cell])
    return stretched(result, source)


# --- joining and splitting ----------------------------------------------------------------------


def _promoted(arrays: Sequence[object]) -> list[Tracer]:
    parts = [as_tracer(a) for a in arrays]
    dtype = np.result_type(*(p.dtype for p in parts))
    return [p if p.dtype == dtype else cast(p, dtype) for p in parts]


@captures(np.concatenate)
def concatenate(arrays: Any, axis: object = 0, out: object = None, *,
                dtype: npt.DTypeLike | None = None, casting: Any = "same_kind") -> Tracer:
    """Join arrays along an axis that they have."""
    given = [as_tracer(a) for a in arrays]
    parts = _promoted(given)
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were "
                        "provided.")
    to = dtype if dtype is not None else dtype_of(out) if out is not None else None
    if to is not None or casting != "same_kind":
        to = np.dtype(to) if to is not None else parts[0].dtype
        for x in given:
            if not np.can_cast(x.dtype, to, casting):
                raise TypeError(f"Cannot cast array data from {x.dtype!r} to {to!r} according to "
                                f"the rule {casting!r}")
        parts = [cast(p, to) for p in given]
    if axis is None:
        parts, axis = [ravel(p) for p in parts], 0
    if not parts:
        raise ValueError("need at least one array to concatenate")
    ndim = len(parts[0].dims)
    axis = normalize_axis(axis, ndim)
    first = parts[0].dims
    fitted = []
    for p in parts:
        if len(p.dims) != ndim or not all(
                k == axis or same_dim(d, e)
                for k, (d, e) in enumerate(zip(p.dims, first, strict=True))):
            raise ValueError("all the input array dimensions except for the concatenation axis "
                             "must match exactly")
        shape = tuple(d if k == axis else first[k] for k, d in enumerate(p.dims))
        fitted.append(p if shape == p.aval.shape else apply("reshape", p, shape=shape))
    result = apply("concatenate", *fitted, axis=axis)
    return write_reduced(np.concatenate, result, out)


@captures(np.stack)
def stack(arrays: Any, axis: int = 0, out: object = None, *,
          dtype: npt.DTypeLike | None = None) -> Tracer:
    """Join arrays along a new axis."""
    parts = [as_tracer(a) for a in arrays]
    axis = normalize_axis(axis, len(parts[0].dims) + 1)
    return concatenate([expand_dims(p, axis) for p in parts], axis, out, dtype=dtype)


@captures(np.vstack)
def vstack(tup: Any, *, dtype: npt.DTypeLike | None = None) -> Tracer:
    """Join arrays along the first axis."""
    return concatenate([atleast_2d(a) for a in tup], 0, dtype=dtype)


@captures(np.hstack)
def hstack(tup: Any, *, dtype: npt.DTypeLike | None = None) -> Tracer:
    """Join arrays along the second axis, or the only one."""
    parts = [atleast_1d(a) for a in tup]
    return concatenate(parts, 0 if len(parts[0].dims) == 1 else 1, dtype=dtype)


@captures(np.column_stack)
def column_stack(tup: Any) -> Tracer:
    """Join vectors as columns."""
    parts = [as_tracer(a) for a in tup]
    return concatenate([transpose(atleast_2d(p)) if len(p.dims) < 2 else p for p in parts], 1)


@captures(np.append)
def append(arr: object, values: object, axis: object = None) -> Tracer:
    """Return an array with more at its end."""
    return concatenate([arr, values], axis)


@captures(np.split)
def split(ary: object, indices_or_sections: Any, axis: int = 0) -> list[Tracer]:
    """Return views of consecutive parts."""
    ary = as_tracer(ary)
    axis = normalize_axis(axis, len(ary.dims))
    if isinstance(indices_or_sections, (list, tuple, np.ndarray)):
        ends = [0, *indices_or_sections, None]
    else:
        sections = int(indices_or_sections)
        if sections < 1:
            raise ValueError("number sections must be larger than 0.")
        part = exact_quotient(ary.dims[axis], sections)
        uneven = "array split does not result in an equal division"
        if not same_dim(part * sections, ary.dims[axis], uneven):
            raise ValueError(uneven)
        ends = [as_operand(part * k) for k in range(sections + 1)]
    before = (slice(None),) * axis
    return [ary[(*before, slice(a, b))] for a, b in pairwise(ends)]


@captures(np.array_split)
def array_split(ary: object, indices_or_sections: Any, axis: int = 0) -> list[Tracer]:
    """Return views of consecutive parts, the first ones longer where they cannot be equal."""
    if isinstance(indices_or_sections, (list, tuple, np.ndarray)):
        return split(ary, indices_or_sections, axis)
    ary, sections = as_tracer(ary), int(indices_or_sections)
    n = as_operand(ary.dims[normalize_axis(axis, len(ary.dims))])
    return split(ary, [(n * k + sections - 1) // sections for k in range(1, sections)], axis)


@captures(np.flip)
def flip(m: object, axis: object = None) -> Tracer:
    """Return a view with axes reversed."""
    m = as_tracer(m)
    axes = normalize_axes(axis, len(m.dims))
    return m[tuple(slice(None, None, -1) if k in axes else slice(None) for k in range(len(m.dims)))]


captures(np.fliplr)(lambda m: flip(m, 1))
captures(np.flipud)(lambda m: flip(m, 0))


@captures(np.roll)
def roll(a: object, shift: object, axis: object = None) -> Tracer:
    """Return elements shifted around the end."""
    a = as_tracer(a)
    if axis is None:
        return reshape(roll(ravel(a), shift, 0), python_dims(a.dims))
    axes, shifts = [normalize_axis(k, len(a.dims)) for k in _tuple(axis)], _shifts(shift)
    if 1 not in (len(axes), len(shifts)) and len(axes) != len(shifts):
        raise ValueError("shape mismatch: objects cannot be broadcast to a single shape")
    count = max(len(axes), len(shifts)) if axes and shifts else 0
    for j in range(count):
        k, s = axes[j % len(axes)], shifts[j % len(shifts)]
        n = a.dims[k]
        start = mod(-s, maximum(n, 1, current().builder.known))
        if start == 0:
            continue
        before, after = whole(a.dims[:k]), whole(a.dims[k + 1:])
        parts = [apply("index", a, at=(*before, Span(first, count), *after))
                 for first, count in ((start, n - start), (0, start))]
        a = apply("concatenate", *parts, axis=k)
    return a


def _shifts(shift: object) -> list[Dim]:
    """Return how far to go along axes: NumPy makes ints of floats here."""
    if isinstance(shift, Tracer) and shift.dims:
        if len(shift.dims) > 1:
            raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
        shift = [shift[k] for k in range(len(shift))]
    elif isinstance(shift, np.ndarray):
        shift = shift.tolist()
    return [to_dim(_as_int(s)) for s in _tuple(shift)]


def _as_int(x: object) -> Any:
    """Return a number as an int, cut off."""
    if isinstance(x, Tracer) and x.dtype.kind == "f":
        return cast(x, np.int64)
    return int(x) if isinstance(x, (float, np.floating)) else x


@captures(np.pad)
def pad(array: Any, pad_width: object, mode: str = "constant", *, constant_values: Any = 0,
        reflect_type: str = "even") -> Tracer:
    """Return an array with more at its edges."""
    array = as_tracer(array)
    ndim = len(array.dims)
    widths = _pad_widths(pad_width, ndim)
    if mode == "constant":
        if np.ndim(constant_values):
            raise refuse("np.pad with several constants cannot be captured", "Use one number")
        target = tuple(as_operand(d + a + b) for d, (a, b) in zip(array.dims, widths, strict=True))
        result = filled(target, wrapped(lift(constant_values), array.dtype), array.dtype)
        result[tuple(slice(as_operand(a), as_operand(a + d))
                     for d, (a, _) in zip(array.dims, widths, strict=True))] = array
        return lay_out(result, "A", array)
    if mode not in _PAD_INDICES or reflect_type != "even":
        raise refuse(f"np.pad with mode={mode!r} cannot be captured",
                     "Use 'constant', 'edge', 'wrap', or 'reflect' or 'symmetric' of type 'even'")
    for axis, (a, b) in enumerate(widths):
        n = array.dims[axis]
        place = apply("iota", size=n + a + b) - as_operand(a)
        array = np.take(array, _PAD_INDICES[mode](place, as_operand(n)), axis=axis)
    return array


_PAD_INDICES: dict[str, Any] = {
    "edge": lambda i, n: np.clip(i, 0, n - 1),
    "wrap": lambda i, n: i % n,
    "reflect": lambda i, n: (n - 1) - np.absolute((n - 1) - np.absolute(i) % (2 * n - 2)),
    "symmetric": lambda i, n: np.where(i % (2 * n) < n, i % (2 * n), 2 * n - 1 - i % (2 * n)),
}


def _pad_widths(pad_width: object, ndim: int) -> list[tuple[Any, Any]]:
    def pair(x: object) -> tuple[Any, Any]:
        x = tuple(x) if isinstance(x, (list, tuple, np.ndarray)) else (x,)
        if any(isinstance(n, int) and n < 0 for n in x):
            raise ValueError("index can't contain negative values")
        return (to_dim(x[0]), to_dim(x[-1]))

    if isinstance(pad_width, (list, tuple, np.ndarray)) and isinstance(
            pad_width[0], (list, tuple, np.ndarray)):
        pairs = [pair(p) for p in pad_width]
        return pairs * ndim if len(pairs) == 1 else pairs
    return [pair(pad_width)] * ndim


@captures(np.tile)
def tile(A: object, reps: object) -> Tracer:
    """Return an array repeated as a whole."""
    a = as_tracer(A)
    counts = counted_dims(reps)
    more = max(len(counts) - len(a.dims), 0)
    if more:
        a = apply("reshape", a, shape=(1,) * more + a.dims)
    counts = (1,) * (len(a.dims) - len(counts)) + counts
    spread: list[Dim] = []
    kept: list[Dim] = []
    for c, d in zip(counts, a.dims, strict=True):
        spread += [c, d]
        kept += [1, d]
    result = apply("broadcast_to", apply("reshape", a, shape=tuple(kept)), shape=tuple(spread))
    return apply("reshape", result, shape=tuple(c * d for c, d in zip(counts, a.dims, strict=True)))


# --- sizes --------------------------------------------------------------------------------------


@captures(np.shape)
def shape_(a: object) -> tuple[Any, ...]:
    """Return the shape."""
    return as_tracer(a).shape


@captures(np.size)
def size(a: object, axis: object = None) -> Any:
    """Return the number of elements, or how many there are along some axes."""
    a = as_tracer(a)
    return of_dim(product(tuple(a.dims[k] for k in normalize_axes(axis, len(a.dims)))))


@captures(np.isscalar)
def isscalar(element: object) -> bool:
    """A number is one, and an array without axes is none."""
    return np.isscalar(element) or (isinstance(element, TracedOperand) and not (
        isinstance(element, Tracer) and element.is_array))


@captures(np.ndim)
def ndim_(a: object) -> int:
    """Return the number of axes."""
    return len(as_tracer(a).dims)


PROPERTIES["size"] = size
