"""Arrays with elements taken out or put in, and functions whose result has a size of data.

How many elements `np.unique` gives depends on data. Of an array that no argument comes into it is
known during capture (`trace/state/known.py`); of any other it is a size that the program finds out
(`data_sizes.py`), or refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.ir.core import Span
from tracejit.ir.dims import Dim
from tracejit.numpy_api.axes import along_axis, normalize_axis
from tracejit.numpy_api.data_sizes import BY_DATA, taken
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.joins import concatenate
from tracejit.numpy_api.masks import is_mapping, nonzero_places, positions
from tracejit.numpy_api.shapes import broadcast_to, moveaxis, ravel
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import DATA_SIZED, METHODS, captures
from tracejit.trace.ground.views import whole
from tracejit.trace.state.known import constant_copy, known_array
from tracejit.trace.values.equations import apply, as_operand, cast, same_dim
from tracejit.trace.values.indexing import as_element, point_index, slice_span
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer
from tracejit.tree import flatten, unflatten

__all__: list[str] = []


@captures(np.delete)
def delete(arr: object, obj: object, axis: object = None) -> Tracer:
    """Return an array without some of the places along an axis."""
    a, axis = _along(arr, axis)
    n = a.dims[axis]
    if isinstance(obj, slice):
        span = slice_span(obj, n)
        if span.step == 1 and current().decide(n - span.start, "<", "where np.delete begins") is (
                False):
            return _without(a, axis, span.start, span.size)
        obj = range(*obj.indices(need_int(n, "np.delete of a slice with a step")))
    if _is_number(obj):
        return _without(a, axis, point_index(obj, n, axis), 1)
    if isinstance(obj, Tracer) and known_array(obj, "", fixing=False) is None:
        return _without_places(a, obj, axis)
    places = _places(obj, "np.delete")
    kept = np.delete(np.arange(need_int(n, "np.delete of several places")), places)
    return _taken(a, kept, axis)


@captures(np.insert)
def insert(arr: object, obj: object, values: object, axis: object = None) -> Tracer:
    """Return an array with values put in before some of the places along an axis."""
    a, axis = _along(arr, axis)
    new = cast(as_element(values, a.dtype, True), a.dtype)
    while len(new.dims) < len(a.dims):
        new = new[None]
    n = need_int(a.dims[axis], "np.insert")
    places = _places(range(n)[obj] if isinstance(obj, slice) else obj, "np.insert")
    if not places.ndim:
        new = moveaxis(new, 0, axis)
    elif places.dtype == bool:
        places = np.flatnonzero(places)
    own = need_int(new.dims[axis], "np.insert")
    count = own if places.size == 1 else len(places)
    shape = tuple(count if k == axis else as_operand(d) for k, d in enumerate(a.dims))
    order = np.insert(np.arange(n), places, np.arange(n, n + count))
    return _taken(concatenate([a, broadcast_to(new, shape)], axis), order, axis)


def _along(arr: object, axis: object) -> tuple[Tracer, int]:
    """Return an array and the axis to work along: the array flat, where there is none."""
    a = as_tracer(arr)
    return (ravel(a), 0) if axis is None else (a, normalize_axis(axis, len(a.dims)))


def _is_number(x: object) -> bool:
    if isinstance(x, Tracer):
        return not x.dims and x.dtype.kind in "iu"
    return isinstance(x, (int, np.integer, SymInt)) and not isinstance(x, bool)


def _without(a: Tracer, axis: int, start: Dim, count: Dim) -> Tracer:
    """Return an array without a stretch of places along an axis."""
    before, after = whole(a.dims[:axis]), whole(a.dims[axis + 1:])
    end = start + count
    parts = [apply("index", a, at=(*before, Span(first, size), *after))
             for first, size in ((0, start), (end, a.dims[axis] - end))]
    return apply("concatenate", *parts, axis=axis)


def _without_places(a: Tracer, obj: Tracer, axis: int) -> Tracer:
    """Return an array without places along an axis that data says."""
    n = a.dims[axis]
    if obj.dtype == np.bool_:
        message = ("boolean array argument obj to delete must be one-dimensional and match the "
                   "axis length of {0:.0f}")
        if len(obj.dims) != 1 or not same_dim(n, obj.dims[0], message):
            raise ValueError(message.replace("{0:.0f}", str(n)))
        return taken(a, positions(~obj), axis)
    kept: Any = apply("full", np.True_, shape=(n,))
    kept.cell.is_array = True
    kept[obj] = False
    return taken(a, positions(kept), axis)


def _places(obj: object, what: str) -> np.ndarray:
    """Return the places that are meant, of which it has to be known how many they are."""
    places = known_array(as_tracer(obj) if isinstance(obj, (list, tuple, range)) and len(obj) else
                         obj, f"{what} gives a result of this size")
    if places is None:
        raise refuse(f"{what} at places that depend on data has a result whose size may do so too",
                     "Use one place, constants, or np.where", "TJ212")
    return places if places.size or places.dtype == bool else places.astype(np.int64)


def _taken(a: Tracer, places: np.ndarray, axis: int) -> Tracer:
    taken: Tracer = a[(*(slice(None),) * axis, constant_copy(places))]
    return taken


# --- functions of known arrays ------------------------------------------------------------------


def _known_result(function: Callable[..., object]) -> Any:
    """Return the capture of a function that NumPy itself carries out on known arrays."""
    by_data = BY_DATA.get(function)
    module = function.__module__.replace("numpy", "np")
    what = f"{module}.{function.__name__}"

    def known(x: object) -> Any:
        if not isinstance(x, TracedOperand):
            return x
        found = known_array(x, f"{what} has a result of this size",
                            fixing=by_data is None or is_mapping())
        if found is None and by_data is None:
            raise refuse(f"{what} has a result whose size or order depends on data",
                         "Use np.where, sums and comparisons, or compute it outside and pass it as "
                         "an argument", "TJ212")
        return None if found is None else found[()]

    def capture(*args: object, **kwargs: object) -> Any:
        leaves, structure = flatten((args, kwargs))
        contents = [known(x) for x in leaves]
        if by_data is not None and any(x is not y and y is None
                                       for x, y in zip(leaves, contents, strict=True)):
            return by_data(*args, **kwargs)
        args, kwargs = unflatten(structure, iter(contents))
        results, form = flatten(function(*args, **kwargs))
        return unflatten(form, iter([constant_copy(x) if isinstance(x, np.ndarray) else x
                                     for x in results]))

    return capture


_COUNTING: list[Callable[..., object]] = [
    np.unique, np.unique_all, np.unique_counts, np.unique_inverse, np.unique_values,
    np.flatnonzero, np.argwhere, np.extract, np.trim_zeros, np.intersect1d, np.union1d,
    np.setdiff1d, np.setxor1d, np.bincount, np.histogram, np.histogram_bin_edges, np.lexsort]
DATA_SIZED.extend(f for f in _COUNTING if f not in BY_DATA)
for _function in _COUNTING:
    captures(_function)(_known_result(_function))


@captures(np.compress)
def compress(condition: object, a: object, axis: object = None) -> Tracer:
    """Return the places along an axis for which a condition holds."""
    x, axis = along_axis(as_tracer(a), axis)
    mask = as_tracer(condition)
    if len(mask.dims) != 1:
        raise ValueError("condition must be a 1-d array")
    (places,) = nonzero_places(mask)
    return x[(*(slice(None),) * axis, places)]


METHODS["compress"] = lambda a, condition, axis=None: compress(condition, a, axis)
