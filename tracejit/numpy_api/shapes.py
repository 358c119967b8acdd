"""Arrays in other shapes, with other axes: views where NumPy makes views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.ir.dims import Dim, Expr, floor_div, maximum, product
from tracejit.numpy_api.elementwise import as_array, as_tracer
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import METHODS, PROPERTIES, captures
from tracejit.trace.ground.layouts import stretched
from tracejit.trace.ground.views import ReshapeStep, TransposeStep
from tracejit.trace.values.equations import apply, is_one, is_weak, same_dim, to_dims
from tracejit.trace.values.indexing import view
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import fitted as fitted_int
from tracejit.trace.values.reshapes import ravelled, reshaped
from tracejit.trace.values.symbolic_ints import python_dims
from tracejit.trace.values.tracer import Tracer

if TYPE_CHECKING:
    pass
from tracejit.numpy_api.axes import normalize_axes, normalize_axis, require_no_list

__all__ = ["as_tuple", "atleast_1d", "atleast_2d", "broadcast_to", "exact_quotient", "expand_dims",
           "filled_in", "moveaxis", "ravel", "reshape", "transpose"]


def _operand(a: object) -> Tracer:
    """Return an operand of a function that gives an array of a Python number; else as it is."""
    return as_array(a) if is_weak(a) else as_tracer(a)


@captures(np.reshape)
def reshape(a: object, /, shape: object = None, order: str = "C", *, newshape: object = None,
            copy: object = None) -> Tracer:
    """Return an array in another shape of the same size: a view where NumPy has one."""
    a = _operand(a)
    if order == "F":
        return transpose(reshape(transpose(a), tuple(reversed(as_tuple(shape))), copy=copy))
    _require_c_order(a, order, "reshape")
    target = filled_in(a.dims, shape if shape is not None else newshape)
    if not (target or a.is_array):
        return a  # of a number of NumPy's, which it stays
    return apply("reshape", a, shape=target) if copy else reshaped(a, target)


def _require_c_order(a: Tracer, order: str, name: str) -> None:
    if order != "C" and (order not in ("A", "K") or len(a.dims) > 1):
        raise refuse(f"{name} with order={order!r} cannot be captured", "Use order='C'", "TJ203")


def as_tuple(shape: object) -> tuple[Any, ...]:
    return tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)


def filled_in(dims: tuple[Dim, ...], shape: object) -> tuple[Dim, ...]:
    """Return a new shape with a -1 replaced by the size that is left; the sizes have to agree."""
    total, target = product(dims), tuple(
        -1 if _is_left_open(d) else d for d in to_dims(as_tuple(shape)))
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


def _is_left_open(d: Dim) -> bool:
    """Return whether a size of a new shape is a negative number: it is the one that is left."""
    trace = current()
    if isinstance(d, int) or maximum(d, 0, trace.builder.known) == d:
        return isinstance(d, int) and d < 0
    return trace.decide(d, "<", "a size of a new shape is below zero, or not") is True


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
    """Return a flat array: a view if the array is contiguous, else a copy."""
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
    places = axis if isinstance(axis, (tuple, list)) else (axis,)
    count = len(places)
    axes = normalize_axes(places, len(a.dims) + count)
    rest = iter(a.dims)
    target = tuple(1 if k in axes else next(rest) for k in range(len(a.dims) + count))
    return view(a, ReshapeStep(target, a.aval.shape))


@captures(np.squeeze, method="squeeze")
def squeeze(a: object, axis: object = None) -> Tracer:
    """Return a view without axes of size 1."""
    a = _operand(a)
    if not a.is_array:
        return a
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


@captures(np.transpose, np.permute_dims)
def transpose(a: object, axes: Any = None) -> Tracer:
    """Return a view with its axes permuted."""
    a = _operand(a)
    ndim = len(a.dims)
    given = axes if axes is None or isinstance(axes, (tuple, list)) else (axes,)
    if given is not None and len(given) != ndim:
        raise ValueError("axes don't match array")
    order = tuple(reversed(range(ndim))) if given is None else tuple(
        normalize_axis(k, ndim) for k in given)
    if sorted(order) != list(range(ndim)):
        raise ValueError("axes don't match array")
    same = order == tuple(range(ndim))
    if not ndim:
        return a
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
    sources = [normalize_axis(k, ndim) for k in as_tuple(source)]
    targets = [normalize_axis(k, ndim) for k in as_tuple(destination)]
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
    result.cell.is_array = True
    result.cell.constant = "writing to the result of np.broadcast_to"
    result.cell.stands_for([source.cell])
    return stretched(result, source)


@captures(np.shape)
def shape_(a: object) -> tuple[Any, ...]:
    """Return the shape."""
    return as_tracer(a).shape


@captures(np.size)
def size(a: object, axis: object = None) -> Any:
    """Return the number of elements, or how many there are along some axes."""
    a = as_tracer(a)
    return fitted_int(product(tuple(a.dims[k] for k in normalize_axes(axis, len(a.dims)))))


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
