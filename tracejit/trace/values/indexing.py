"""NumPy's indexing on tracers: reads make views, writes go through to the cell."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.ir.core import Span, Value
from tracejit.ir.dims import Dim, ceil_div, dim_values, is_nonneg, maximum, minimum
from tracejit.trace.ground.context import Cell, current, refuse
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.ground.restarts import NeedSliceEnds, Relist
from tracejit.trace.ground.upward import ABOVE, above
from tracejit.trace.ground.views import At, IndexStep, ReshapeStep, Step, extend, whole, write_view
from tracejit.trace.values.equations import (
    apply,
    as_operand,
    atom_of,
    cast,
    dims_of,
    dtype_of,
    emit,
    emit_value,
    is_one,
    is_weak,
    lift,
    same_dim,
    settle_ones,
    to_dim,
)
from tracejit.trace.values.identities import named
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.mixed import Merged, Mixed, as_index
from tracejit.trace.values.python_numbers import is_scalar, require_int_of
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import CellPlace, Tracer, tracer_of
from tracejit.tree import flatten

__all__ = ["as_element", "as_memory", "basic_key", "broadcast_value", "get_item",
           "require_one_number", "set_item", "view", "write_cell"]

_VALID_INDICES = ("only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and "
                  "integer or boolean arrays are valid indices")
"""NumPy's message for a bad index."""
_NO_COMPLEX = ("float() argument must be a string or a real number, not 'complex'",
               "int() argument must be a string, a bytes-like object or a real number, not "
               "'complex'")
"""NumPy's messages for a Python complex number that is written to floats, and to ints."""


@dataclass(frozen=True, slots=True)
class BasicKey:
    """A basic index, and the shape of the view that it shows, new axes included."""

    at: At
    shape: tuple[Dim, ...]

    @property
    def kept(self) -> tuple[Dim, ...]:
        """Return the shape without new axes."""
        return tuple(p.size for p in self.at if isinstance(p, Span))


@above
def get_item(x: Tracer, key: object) -> Any:
    """Return `x[key]`: a scalar, a view, or a copy where the key holds arrays."""
    _require_no_number(x, "is not subscriptable")
    parts = normalize(key)
    if any(map(is_advanced, parts)):
        return named(FUNCTIONS[ADVANCED_GET](x, parts), (x,))
    basic = basic_key(x.dims, parts)
    if not basic.shape and not _has_ellipsis(key):
        return named(tracer_of(view(x, IndexStep(basic.at)).value))
    same = basic.at == whole(x.dims)
    result = as_memory(x) if same else view(x, IndexStep(basic.at))
    if basic.shape != basic.kept or (same and current().names):
        result = view(result, ReshapeStep(basic.shape, basic.kept))
    if any(map(is_index_array, key if isinstance(key, tuple) else (key,))):
        return named(as_memory(result.own()), (x,))
    own = Tracer(result.cell, result.steps)
    own.shown_as = result.shown_as
    return own


def _require_no_number(x: Tracer, message: str) -> None:
    if x.weak and not x.ndim:
        kind = {"b": "bool", "i": "int", "f": "float", "c": "complex"}[x.dtype.kind]
        raise TypeError(f"'{kind}' object {message}")


def _has_ellipsis(key: object) -> bool:
    """Whether an index gives an array also where no axis is left."""
    return key is Ellipsis or (isinstance(key, tuple) and any(k is Ellipsis for k in key))


@above
def set_item(x: Tracer, key: object, value: Any) -> None:
    """Carry out `x[key] = value`."""
    _require_no_number(x, "does not support item assignment")
    parts = normalize(key)
    if any(map(is_advanced, parts)):
        FUNCTIONS[ADVANCED_SET](x, parts, value)
        return
    basic = basic_key(x.dims, parts)
    if not basic.shape and not _has_ellipsis(key):
        require_one_number(value, x.dtype)
    value = as_element(value, x.dtype)
    value = broadcast_value(value, basic.shape)
    if basic.shape != basic.kept and isinstance(value, Tracer) and value.dims:
        value = apply("reshape", value, shape=basic.kept)
    part = atom_of(value, x.dtype)

    def put(base: Value, at: At | None) -> Value:
        assert at is not None
        if not base.aval.shape and not x.steps:
            return part if isinstance(part, Value) else emit_value("full", [part], {"shape": ()})
        return emit_value("update", [base, part], {"at": at})

    write_cell(x, put, basic.at)


def as_element(value: Any, dtype: np.dtype, at_index_arrays: bool = False) -> Any:
    """Return an operand that is written to an array, converted as NumPy converts it.

    Python's numbers, by themselves or in a list, become numbers of the array's dtype or raise
    Python's error; arrays are cast.

    at_index_arrays -- whether NumPy takes a scalar of its own for an array, of which it warns
    """
    value = ABOVE.array_of(value, dtype) if isinstance(value, (list, tuple)) else lift(value)
    if isinstance(value, Mixed) and value.number.dtype.kind + dtype.kind in ("ff", "fc", "cc"):
        value = value.number  # arrays convert them alike
    kind = dtype_kind(value)
    if kind == "c" and dtype.kind not in "bc":
        _refuse_complex(value, dtype, at_index_arrays)
    if dtype.kind not in "iu":
        return value
    if is_weak(value) and kind == "i":
        return cast(value, dtype)
    of_numpy = not at_index_arrays and dtype.kind == "i" and is_scalar(value)
    if kind == "f" and (is_weak(value) or of_numpy):
        require_int_of(value, dtype)
        if not isinstance(value, Tracer) and not math.isfinite(value):
            return dtype.type(0)  # the run does not get here
    return value


def _refuse_complex(value: object, dtype: np.dtype, at_index_arrays: bool) -> None:
    """Raise Python's error of a complex number in an array of real ones; refuse NumPy's numbers.

    At index arrays NumPy's are cast, of which NumPy warns.
    """
    if is_weak(value):
        raise TypeError(_NO_COMPLEX["iu".find(dtype.kind) >= 0])
    if not at_index_arrays:
        raise refuse("complex numbers lose their imaginary parts in an array of another kind",
                     "Write np.real(x), or make the array complex", "TJ309")


def require_one_number(value: Any, dtype: np.dtype) -> None:
    """Raise NumPy's error of a list, or of an array with axes, that is written to one element."""
    is_list = isinstance(value, (list, tuple))
    if not (is_list or dims_of(lift(value))):
        return
    if is_list and dtype.kind == "b":
        raise refuse("a list is written to an element of an array of bools",
                     "Write its truth: bool(items)", "TJ309")
    one = [0] if is_list else np.zeros((1,) * len(dims_of(lift(value))), dtype_of(value))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.zeros(1, dtype)[0] = one


class ADVANCED_GET:
    """The key under which reading with index arrays is captured."""


class ADVANCED_SET:
    """The key under which writing with index arrays is captured."""


def view(x: Tracer, step: Step) -> Tracer:
    """Return a handle on the same cell through one more step; of a number, on an array of it."""
    x = as_memory(x)
    result = Tracer(x.cell, extend(x.steps, step))
    if current().names:
        result.stands_on(x, step)
    return result


def as_memory(x: Tracer) -> Tracer:
    """Return an array as it is, and of a number, which has no memory, an array that holds it."""
    is_either = isinstance(x, Merged) and x.may_be_array
    if (x.is_array or x.dims) and not is_either:
        return x
    array = tracer_of(x.value)
    array.cell.is_array = True
    if is_either:
        array.cell.stands_for([x.cell])
    return array


def write_cell(x: Tracer, put: Any, at: At | None) -> None:
    """Replace the elements of a handle by `put(elements, at)`, for all of its aliases."""
    cell = x.cell
    if cell.constant is not None:
        raise refuse(cell.constant, "Work on a copy: x = x.copy()", "TJ402")
    if cell.may_be_in_use():
        give_up_lists(cell)
        raise refuse(f"writing to an array of which {cell.decided_by} decides which array it is, "
                     "while another name for it is in use", "Copy it first: x = x.copy()", "TJ404")
    trace = current()
    _note_rewriting(cell)
    for frame in trace.frames:
        frame.wrote |= {(x.ndim, x.dtype), (cell.value.aval.ndim, x.dtype)}
    trace.memory.note_write(cell)
    cell.outdate_choices()
    trace.record(CellPlace(cell), cell.depth)
    before = cell.value
    cell.value = write_view(before, x.steps, put, _emit, at)
    trace.memory.memories[cell.value].add(before)


def _note_rewriting(cell: Cell) -> None:
    """Note a write to an array that a loop or branch has handed on: it may be another one.

    Refused where a list whose length data decides may hold it.
    """
    trace = current()
    if not (cell.sources or cell.handed_on):
        return
    kind = cell.value.aval.ndim, cell.value.aval.dtype
    if kind in trace.in_lists:
        raise refuse("writing to an array that may be in a list whose length data decides",
                     "Append a copy: items.append(x.copy())", "TJ404")
    for frame in trace.frames:
        frame.rewritten.add(kind)


def give_up_lists(cell: Cell) -> None:
    """Begin the capture again where a list holds an array that may be another one."""
    for c in (cell, *(ref() for ref in cell.sources)):
        if c is not None and c.rows_of is not None:
            raise Relist(c.rows_of, None, "an array in a list that has a name, too, is written to")


def _emit(op: Any, inputs: Any, params: Any) -> Value:
    return emit_value(op, inputs, params)


def dtype_kind(x: object) -> str:
    """Return the kind letter of an operand's dtype."""
    return str(np.result_type(x.dtype if hasattr(x, "dtype") else type(x)).kind)


def broadcast_value(value: object, shape: tuple[Dim, ...]) -> Any:
    """Return a value broadcast to the place that it is assigned to, as NumPy does."""
    dims = dims_of(value)
    extra = len(dims) - len(shape)
    if extra > 0 and all(d == 1 or is_one(d) for d in dims[:extra]):
        value = apply("reshape", value, shape=dims[extra:])
        dims = dims[extra:]
    for d, s in zip(reversed(dims), reversed(shape), strict=False):
        settle_ones(d, s)
    compatible = len(dims) <= len(shape) and all(
        d == 1 or same_dim(d, s) or is_one(d)
        for d, s in zip(reversed(dims), reversed(shape), strict=False))
    if not compatible:
        raise ValueError(f"could not broadcast input array from shape {_text(dims)} into shape "
                         f"{_text(shape)}")
    if not shape:
        return value
    fitted = tuple(d if d == 1 else s
                   for d, s in zip(dims, shape[len(shape) - len(dims):], strict=True))
    if isinstance(value, Tracer) and fitted != value.aval.shape:
        value = apply("reshape", value, shape=fitted)
    if fitted == shape:
        return value
    if not isinstance(value, Tracer):
        a = atom_of(value)
        return tracer_of(emit_value("full", [a], {"shape": shape}), weak=True)
    return apply("broadcast_to", value, shape=shape)


def _text(shape: tuple[Dim, ...]) -> str:
    trace = current()
    numbers = [trace.number(d) if trace.is_known(d) else d for d in shape]
    return f"({','.join(map(str, numbers))}{',' if len(numbers) == 1 else ''})"


# --- keys ---------------------------------------------------------------------------------------


def normalize(key: object) -> tuple[Any, ...]:
    """Return a key as a tuple, sequences in it lifted to arrays."""
    parts = key if isinstance(key, tuple) else (key,)
    return tuple(_lifted(as_index(p)) for p in parts)


def _lifted(part: Any) -> Any:
    """Return a part of a key with an array in place of a list, a tuple or a range."""
    if hasattr(type(part), "as_result"):
        return part.as_result()
    if isinstance(part, slice):
        return slice(*map(as_index, (part.start, part.stop, part.step)))
    if isinstance(part, (list, tuple)) and not flatten(part)[0]:
        return lift(np.zeros(np.shape(part), np.int64))  # np.array([]) would be one of floats
    if isinstance(part, (bool, np.bool_)) or part is None or part is Ellipsis:
        return part
    if isinstance(part, (list, tuple, range, np.ndarray)) or hasattr(part, "in_turn"):
        return lift(part)
    return part


def is_advanced(part: object) -> bool:
    """Return whether a part of a key makes the index an advanced one."""
    if isinstance(part, (bool, np.bool_)):
        return True
    return isinstance(part, Tracer) and (part.ndim > 0 or part.dtype.kind == "b")


def is_index_array(part: object) -> bool:
    """Return whether a part of a key is an array without axes, with which an index copies."""
    return isinstance(part, np.ndarray) or (isinstance(part, Tracer) and part.is_array)


def basic_key(dims: tuple[Dim, ...], parts: tuple[object, ...]) -> BasicKey:
    """Return the basic index that a key of ints, slices, None and Ellipsis means."""
    consumed = sum(p is not None and p is not Ellipsis for p in parts)
    if consumed > len(dims):
        raise IndexError(f"too many indices for array: array is {len(dims)}-dimensional, but "
                         f"{consumed} were indexed")
    if sum(p is Ellipsis for p in parts) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if Ellipsis not in [p if p is Ellipsis else 0 for p in parts]:
        parts = (*parts, Ellipsis)
    at: list[Dim | Span] = []
    shape: list[Dim] = []
    for part in parts:
        axis = len(at)
        if part is None:
            shape.append(1)
        elif part is Ellipsis:
            for d in dims[axis:axis + len(dims) - consumed]:
                at.append(Span(0, d))
                shape.append(d)
        elif isinstance(part, slice):
            span = slice_span(part, dims[axis])
            at.append(span)
            shape.append(span.size)
        else:
            at.append(point_index(part, dims[axis], axis))
    return BasicKey(tuple(at), tuple(shape))


def point_index(i: Any, size: Dim, axis: int) -> Dim:
    """Return an integer index as a dim in [0, size), checked at run time where not proved."""
    trace = current()
    if isinstance(i, Merged):
        i = i.as_int()
    if isinstance(i, Tracer) and i.dtype.kind not in "iu":
        raise IndexError(_VALID_INDICES)
    try:
        d = to_dim(i)
    except TypeError:
        raise IndexError(_VALID_INDICES) from None
    ranges = trace.builder.known
    if trace.attempts and not _is_within(d, size) and ABOVE.catches(IndexError):
        return _tried_index(d, size, axis)
    if is_nonneg(-d - 1, ranges):
        d = d + size
    elif not is_nonneg(d, ranges):
        index = atom_of(as_operand(d))
        value = emit_value("wrap_index", [index], {"size": size, "axis": axis})
        return value.dim
    if isinstance(d, int) and isinstance(size, int):
        if 0 <= d < size:
            return d
        if not trace.frames:
            raise IndexError(f"index {i} is out of bounds for axis {axis} with size {size}")
        check_bounds(d, size, axis)  # whether it gets here, the run will tell
        return max(min(d, size - 1), 0)
    if not (is_nonneg(d, ranges) and is_nonneg(size - d - 1, ranges)):
        check_bounds(d, size, axis)
    return d


def _is_within(d: Dim, size: Dim) -> bool:
    """Return whether an index is known to be in bounds, counted from either end."""
    ranges = current().builder.known
    return (is_nonneg(d, ranges) and is_nonneg(size - d - 1, ranges)) or (
        is_nonneg(-d - 1, ranges) and is_nonneg(d + size, ranges))


def _tried_index(d: Dim, size: Dim, axis: int) -> Dim:
    """Return an index in [0, size) where a `try` catches the error of one out of bounds.

    The code behind it is traced in the branch for an index in bounds.
    """
    i, n = as_operand(d), as_operand(size)
    ABOVE.diverted(np.logical_and(i >= -n, i < n), IndexError, "index {:.0f} is out of bounds for "
                   f"axis {axis} with size {{:.0f}}", (i, n))
    return to_dim(np.maximum(np.minimum(np.where(i < 0, i + n, i), n - 1), 0))


def check_bounds(d: Dim, size: Dim, axis: int) -> None:
    """Emit a run-time check of `0 <= d < size`, once per region."""
    builder = current().builder
    key = ("check_bounds", d, size)
    if not any(key in scope.table for scope in builder.scopes):
        emit("check_bounds", [], {"first": d, "last": d, "count": 1, "size": size, "axis": axis})
        builder.scope.table[key] = ()


def slice_span(s: slice, size: Dim) -> Span:
    """Return the span of an axis that a slice shows, with NumPy's clamping."""
    step = s.step if s.step is not None else 1
    if isinstance(step, SymInt):
        step = need_int(step.dim, "the step of a slice")
    if not isinstance(step, (int, np.integer)):
        raise refuse("the step of a slice depends on a traced value",
                     "Use a constant, or a Python int argument", "TJ205")
    step = int(step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    ranges = current().builder.known
    if step > 0:
        if s.stop is None and isinstance(s.start, int) and s.start < 0:
            kept = minimum(-s.start, size, ranges)
            return Span(size - kept, ceil_div(kept, step), step)
        start = 0 if s.start is None else slice_end(s.start, size, low=0)
        stop = size if s.stop is None else slice_end(s.stop, size, high=size)
        return Span(start, ceil_div(maximum(stop - start, 0, ranges), step), step)
    start = size - 1 if s.start is None else slice_end(s.start, size, high=size - 1)
    stop = -1 if s.stop is None else slice_end(s.stop, size, low=-1)
    return Span(start, ceil_div(maximum(start - stop, 0, ranges), -step), step)


def _first_of(d: Dim, size: Dim) -> Dim:
    """Return the lesser of a slice's end and the size of its axis.

    Where sizes of other axes decide (`x[:len(y)]`), a program takes all such slices to end within
    their axes, under guards: an array whose size is a `min` would need copies and longer code. A
    call in which one does not gets a program that takes none to, which is for all sizes.
    """
    trace = current()
    found, sizes = minimum(d, size, trace.builder.known), {*dim_values(d - size)}
    if found in (d, size) or len(sizes) < 2 or not (
            trace.slices_fit and trace.restarts and all(v.is_size for v in sizes)):
        return found
    if trace.is_known(d - size) and trace.number(d - size) > 0:
        raise NeedSliceEnds
    is_within = trace.decide(d - size, "<=", "a slice is taken to end within its axis")
    return found if is_within is None else d


def slice_end(bound: Any, size: Dim, low: Dim | None = None, high: Dim | None = None) -> Dim:
    """Return an end of a slice counted from the front, limited on the one side where it matters.

    On the other side the size, which is never negative, makes up for it: of 2 elements, `x[5:]`
    starts at 5 and has none.
    """
    ranges = current().builder.known
    d = to_dim(bound)
    why = "a slice counts from the end where a bound is negative"
    sign = False if is_nonneg(d, ranges) else True if is_nonneg(-d - 1, ranges) else (
        current().decide(d, "<", why))
    if sign is False:
        return d if high is None else _first_of(d, high)
    if sign:
        return d + size if low is None else maximum(d + size, low, ranges)
    index = as_operand(d)
    wrapped = np.where(index < 0, index + as_operand(size), index)
    if low is not None:
        wrapped = np.maximum(wrapped, as_operand(low))
    if high is not None:
        wrapped = np.minimum(wrapped, as_operand(high))
    return to_dim(wrapped)
