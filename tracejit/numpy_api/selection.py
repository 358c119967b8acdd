"""Indexing with arrays, masks, take, and writes at indices that are data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.errors import Refusal
from tracejit.ir.core import Value
from tracejit.ir.dims import Dim, is_nonneg
from tracejit.ir.lowering import Alias, Index, View
from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.shapes import broadcast_to, normalize_axis
from tracejit.ops.gather import gathered_shape
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.ground.source import describe_line, find_site
from tracejit.trace.ground.views import At, IndexStep, whole
from tracejit.trace.state.known import constant_copy, known_array
from tracejit.trace.values.equations import (
    apply,
    as_operand,
    atom_of,
    broadcast_dims,
    cast,
    dims_of,
    emit,
    emit_value,
    fit,
    lift,
    same_dim,
)
from tracejit.trace.values.indexing import (
    ADVANCED_GET,
    ADVANCED_SET,
    as_element,
    basic_key,
    broadcast_value,
    get_item,
    is_advanced,
    normalize,
    view,
    write_cell,
)
from tracejit.trace.values.tracer import Tracer, of_dim, python_dims, tracer_of

__all__ = ["MaskedArray", "indices_along"]


def _binary(ufunc: np.ufunc, *, reflected: bool = False) -> Any:
    def method(self: MaskedArray, other: object) -> MaskedArray:
        return self._map((lambda x, y: ufunc(y, x)) if reflected else ufunc, other)

    return method


class MaskedArray:
    """`x[mask]`: elements whose number depends on data, so only folds and writes understand it."""

    data: Tracer
    given: Tracer
    mask: Tracer
    rows: int
    site: Any

    operates_first: frozenset[Any] = frozenset(
        (np.add, np.subtract, np.multiply, np.true_divide, np.power))
    """The operators that a traced operand on the left leaves to this one."""

    def __init__(self, data: Tracer, given: Tracer, mask: Tracer) -> None:
        self.data, self.given, self.mask = data, given, mask
        self.rows = len(given.dims)
        """How many axes the mask was given for; those behind them are whole."""
        self.site = find_site()

    def as_result(self) -> Tracer:
        """Return a selection as a result of the function; `Refusal` where data decides its size."""
        selected = self.selected()
        if selected is None:
            raise Refusal(f"{describe_line(self.site)}: x[mask] as a result has a size that "
                          "depends on data. Return np.where(mask, x, neutral), or a sum, mean, max "
                          "or min of x[mask]")
        return selected

    def selected(self) -> Tracer | None:
        """Return the selected elements as an array; None where data decides how many there are."""
        mask = known_array(self.given, "a mask decides how many elements are selected")
        return None if mask is None else get_item(self.data, tuple(map(constant_copy,
                                                                       np.nonzero(mask))))

    def _or_refuse(self, what: str) -> Tracer:
        """Return the selected elements for what can only be done with an array of them."""
        selected = self.selected()
        if selected is None:
            raise refuse(f"{what} of x[mask] has a size that depends on data",
                         "Use np.where(mask, x, neutral), or a sum, mean, max or min of x[mask]")
        return selected

    def _map(self, function: Callable[..., Any], *others: object) -> Any:
        if any(map(self._needs_count, others)):
            operands = [_selected_or_itself(x) for x in (self, *others)]
            if not any(isinstance(x, MaskedArray) for x in operands):
                return function(*operands)
        data = function(self.data, *map(self._operand, others))
        return MaskedArray(data, self.given, self.mask)

    def _operand(self, x: object) -> Any:
        """Return what is to be combined with all elements, for the selected ones to be right."""
        if isinstance(x, MaskedArray):
            if x.given.value is not self.given.value:
                raise refuse("two selections by different masks meet", "Use np.where")
            return x.data
        if self._needs_count(x):
            raise refuse("x[mask] meets an array that would need as many elements as the mask "
                         "selects, which depends on data", "Select from both: x[mask] * y[mask], "
                         "or use np.where")
        return lift(x)

    def _needs_count(self, x: object) -> bool:
        """Whether something can be combined with the selected elements alone."""
        if isinstance(x, MaskedArray):
            return x.given.value is not self.given.value
        return len(dims_of(lift(x))) > len(self.data.dims) - self.rows

    def _axes(self, axis: object) -> tuple[int, ...] | None:
        """Return the axes of the whole array that an axis of the selection stands for."""
        whole_axes = len(self.data.dims) - self.rows
        if axis is None or (not whole_axes and axis in (0, -1)):
            return None
        if axis != 0:
            raise refuse("a fold of x[mask] over an axis behind the first cannot be captured",
                         "Fold np.where(mask, x, neutral)")
        return tuple(range(self.rows))

    def _fold(self, fold: Callable[..., object], neutral: Any, axis: object) -> Any:
        return fold(np.where(self.mask, self.data, neutral), axis=self._axes(axis))

    def _extremum(self, fold: Callable[..., object], neutral: float, axis: object) -> Any:
        atom = atom_of(np.any(self.mask))
        emit("check", [atom], {"error": "ValueError", "message": "zero-size array to reduction "
             f"operation {fold.__name__}imum which has no identity"})
        dtype = self.data.dtype
        if dtype.kind in "iu":
            bounds = np.iinfo(dtype)
            neutral = bounds.min if neutral < 0 else bounds.max
        elif dtype.kind == "b":
            neutral = neutral > 0
        return self._fold(fold, dtype.type(neutral), axis)

    def sum(self, axis: object = None) -> Any:
        """Return the sum of the selected elements."""
        return self._fold(np.sum, 0, axis)

    def prod(self, axis: object = None) -> Any:
        """Return the product of the selected elements."""
        return self._fold(np.prod, 1, axis)

    def max(self, axis: object = None) -> Any:
        """Return the largest of the selected elements."""
        return self._extremum(np.max, -np.inf, axis)

    def min(self, axis: object = None) -> Any:
        """Return the smallest of the selected elements."""
        return self._extremum(np.min, np.inf, axis)

    def mean(self, axis: object = None) -> Any:
        """Return the average of the selected elements."""
        return self.sum(axis) / np.sum(self.mask, axis=self._axes(axis))

    @property
    def size(self) -> Any:
        """Return how many elements are selected."""
        return np.sum(self.mask)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object,
                        **kwargs: object) -> Any:
        if method == "reduce":
            names = {np.add: "sum", np.multiply: "prod", np.maximum: "max", np.minimum: "min"}
            if ufunc in names and kwargs.keys() <= {"axis"} and inputs[0] is self:
                return getattr(self, names[ufunc])(kwargs.get("axis", 0))
        if method != "__call__" or kwargs or ufunc is np.matmul:
            name = f"np.{ufunc.__name__}" + (f".{method}" if method != "__call__" else "")
            return getattr(ufunc, method)(*_all_selected(inputs, name), **kwargs)
        return self._map(lambda _, *operands: ufunc(*operands), *inputs)

    def __array_function__(self, func: Callable[..., object], types: object, args: Any,
                           kwargs: Any) -> Any:
        name = func.__name__.removeprefix("a")
        if name in ("sum", "prod", "max", "min", "mean") and args[0] is self and (
                kwargs.keys() <= {"axis"} and len(args) <= 2):
            return getattr(self, name)(*args[1:], **kwargs)
        if name == "size" and len(args) == 1:
            return self.size
        if name in ("std", "var") and len(args) == 1 and kwargs.keys() <= {"ddof"}:
            return getattr(self, name)(**kwargs)
        named = f"{func.__module__}.{func.__name__}".replace("numpy.", "np.")
        return func(*_all_selected(args, named), **{
            k: _all_selected([x], named)[0] for k, x in kwargs.items()})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return getattr(self._or_refuse(f"the attribute {name!r}"), name)

    def __getitem__(self, key: object) -> Any:
        return self._or_refuse("an item or a slice")[key]

    def __setitem__(self, key: object, content: object) -> None:
        self._or_refuse("writing to an item")[key] = content

    def __len__(self) -> int:
        return len(self._or_refuse("the length"))

    def __iter__(self) -> Any:
        return iter(self._or_refuse("iterating over the elements"))

    def __bool__(self) -> bool:
        raise refuse("the truth of x[mask] depends on how many elements are selected",
                     "Use np.any(mask & (x != 0)), or count with np.sum(mask)")

    def var(self, ddof: object = 0) -> Any:
        """Return the variance of the selected elements."""
        away = self.data - self.mean()
        squares = np.real(away * np.conj(away)) if away.dtype.kind == "c" else away * away
        total = np.sum(np.where(self.mask, squares, 0.0))
        return total / (np.sum(self.mask) - ddof)

    def std(self, ddof: object = 0) -> Any:
        """Return the standard deviation of the selected elements."""
        return np.sqrt(self.var(ddof))

    @property
    def dtype(self) -> Any:
        """Return the dtype."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.data.dims) - self.rows + 1

    @property
    def shape(self) -> tuple[Any, ...]:
        """Return the shape, which begins with how many elements are selected."""
        rest = self.data.dims[self.rows:]
        return (of_dim(np.sum(self.mask if not rest else self.given).value.dim),
                *python_dims(rest))

    __add__: Any = _binary(np.add)
    __radd__: Any = _binary(np.add, reflected=True)
    __sub__: Any = _binary(np.subtract)
    __rsub__: Any = _binary(np.subtract, reflected=True)
    __mul__: Any = _binary(np.multiply)
    __rmul__: Any = _binary(np.multiply, reflected=True)
    __truediv__: Any = _binary(np.true_divide)
    __rtruediv__: Any = _binary(np.true_divide, reflected=True)
    __floordiv__: Any = _binary(np.floor_divide)
    __mod__: Any = _binary(np.remainder)
    __pow__: Any = _binary(np.power)
    __rpow__: Any = _binary(np.power, reflected=True)
    __and__: Any = _binary(np.bitwise_and)
    __or__: Any = _binary(np.bitwise_or)
    __xor__: Any = _binary(np.bitwise_xor)
    __lshift__: Any = _binary(np.left_shift)
    __rshift__: Any = _binary(np.right_shift)
    __lt__: Any = _binary(np.less)
    __le__: Any = _binary(np.less_equal)
    __gt__: Any = _binary(np.greater)
    __ge__: Any = _binary(np.greater_equal)

    __matmul__: Any = _binary(np.matmul)

    def __eq__(self, other: object) -> Any:
        return self._map(np.equal, other)

    def __ne__(self, other: object) -> Any:
        return self._map(np.not_equal, other)

    __hash__: Any = None

    def __abs__(self) -> Any:
        return self._map(np.absolute)

    def __neg__(self) -> Any:
        return self._map(np.negative)


def _selected_or_itself(x: object) -> Any:
    if not isinstance(x, MaskedArray):
        return x
    selected = x.selected()
    return x if selected is None else selected


def _all_selected(operands: Any, what: str) -> list[Any]:
    """Return operands with arrays in place of selections; `Refusal` where data decides a size."""
    def one(x: object) -> Any:
        if isinstance(x, (list, tuple)) and any(isinstance(y, MaskedArray) for y in x):
            return [one(y) for y in x]
        return x._or_refuse(what) if isinstance(x, MaskedArray) else x

    return [one(x) for x in operands]


# --- reading ------------------------------------------------------------------------------------


def _mask_of(parts: tuple[object, ...]) -> Tracer | None:
    (part, *rest) = parts
    if not rest and isinstance(part, Tracer) and part.dtype == np.bool_:
        return part
    return None


def _spread_mask(x: Tracer, mask: Tracer) -> Tracer:
    """Return a mask on leading axes as one on all."""
    extra = len(x.dims) - len(mask.dims)
    if extra < 0:
        raise IndexError(f"too many indices for array: array is {len(x.dims)}-dimensional, but "
                         f"{len(mask.dims)} were indexed")
    _require_mask_fits(mask, x.dims, 0)
    full = mask.reshape((*map(as_operand, mask.dims), *(1,) * extra)) if extra else mask
    return broadcast_to(full, tuple(map(as_operand, x.dims)))


@captures(ADVANCED_GET)
def get_advanced(x: Tracer, parts: tuple[object, ...]) -> Any:
    """Return `x[key]` for a key that holds index arrays or a mask."""
    mask = _mask_of(parts)
    if mask is not None:
        return MaskedArray(x, mask, _spread_mask(x, mask))
    base, indices, axes, position = _plan(x, parts)
    return tracer_of(emit_value("gather", [base.value, *(i.value for i in indices)],
                                {"axes": axes, "position": position}))


def _require_mask_fits(mask: Tracer, dims: tuple[Dim, ...], first: int) -> None:
    """Raise NumPy's error where a mask is not of the size of the axes that it is for."""
    for k, d in enumerate(mask.dims):
        if not same_dim(dims[first + k], d, f"boolean index did not match indexed array along axis "
                        f"{first + k}; size of axis is {{0:.0f}} but size of corresponding boolean "
                        "axis is {1:.0f}"):
            sizes = [current().number(e) for e in (dims[first + k], d)]
            raise IndexError(f"boolean index did not match indexed array along axis {first + k}; "
                             f"size of axis is {sizes[0]} but size of corresponding boolean axis "
                             f"is {sizes[1]}")


def _without_masks(x: Tracer, parts: tuple[object, ...]) -> tuple[Any, ...]:
    """Return a key of one part per axis with the indices of what a mask selects in its place."""
    found: list[Any] = []
    for p in parts:
        if not (isinstance(p, Tracer) and p.dtype == np.bool_):
            found.append(p)
            continue
        axis = sum(q is not None for q in found)
        _require_mask_fits(p, x.dims, axis)
        mask = known_array(p, "a mask decides how many elements are selected") if p.dims else None
        if mask is None:
            raise refuse("a mask that depends on data among other indices cannot be captured",
                         "Use np.where")
        found += map(constant_copy, np.nonzero(mask))
    return tuple(found)


def _plan(x: Tracer,
          parts: tuple[object, ...]) -> tuple[Tracer, list[Tracer], tuple[int, ...], int]:
    """Split a key: the basic part as a view, then index arrays on axes of that view."""
    if any(isinstance(p, (bool, np.bool_)) for p in parts):
        raise refuse("True or False as an index cannot be captured", "Use x[None], or x[None][:0]")
    consumed = sum(_axes_of(p) for p in parts)
    if consumed > len(x.dims):
        raise IndexError(f"too many indices for array: array is {len(x.dims)}-dimensional, but "
                         f"{consumed} were indexed")
    if sum(p is Ellipsis for p in parts) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    filler = (slice(None),) * (len(x.dims) - consumed)
    if any(p is Ellipsis for p in parts):
        at = next(k for k, p in enumerate(parts) if p is Ellipsis)
        parts = (*parts[:at], *filler, *parts[at + 1:])
    else:
        parts = (*parts, *filler)
    parts = _without_masks(x, parts)
    if any(p is None for p in parts):
        x = get_item(x, tuple(None if p is None else slice(None) for p in parts))
        parts = tuple(slice(None) if p is None else p for p in parts)
    basic = tuple(p if isinstance(p, slice) else slice(None) for p in parts)
    base_key = basic_key(x.dims, basic)
    base = x if base_key.at == whole(x.dims) else view(x, IndexStep(base_key.at))
    axes = tuple(k for k, p in enumerate(parts) if not isinstance(p, slice))
    raw = [lift(parts[k]) for k in axes]
    shape = broadcast_dims([dims_of(i) for i in raw])
    indices = []
    for k, i in zip(axes, raw, strict=True):
        wrapped = _wrapped(i, base.dims[k], k)
        wrapped = fit(wrapped, shape)
        if dims_of(wrapped) != shape:
            wrapped = apply("broadcast_to", wrapped, shape=shape)
        indices.append(wrapped)
    together = axes == tuple(range(axes[0], axes[-1] + 1))
    return base, indices, axes, axes[0] if together else 0


def _axes_of(part: object) -> int:
    """Return for how many axes a part of a key is."""
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if isinstance(part, Tracer) and part.dtype == np.bool_ else 1


def _wrapped(i: object, size: Any, axis: int) -> Tracer:
    if np.dtype(getattr(i, "dtype", type(i))).kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    index = cast(i, np.int64)
    value = index.value
    if _counts_to(value, size):
        return index
    return tracer_of(emit_value("wrap_index", [value], {"size": size, "axis": axis}))


def _counts_to(index: Value, size: Dim) -> bool:
    """Whether an index array holds numbers of 0..size-1 for certain, so that none need a check."""
    makers = {v: e for e in current().builder.scope.eqns for v in e.outputs}
    while index in makers and isinstance(makers[index].op.lowering, (View, Alias)):
        index = makers[index].inputs[0]  # type: ignore[assignment]
    maker = makers.get(index)
    if maker is None or not isinstance(maker.op.lowering, Index) or not index.aval.shape:
        return False
    count = index.aval.shape[0]
    first, last = (maker.op.lowering.element(maker.params, (i,)) for i in (0, count - 1))
    known = current().builder.known
    return is_nonneg(first, known) and is_nonneg(size - 1 - last, known)


# --- writing ------------------------------------------------------------------------------------


@captures(ADVANCED_SET)
def set_advanced(x: Tracer, parts: tuple[object, ...], value: object) -> None:
    """Carry out `x[key] = value` for a key that holds index arrays or a mask."""
    mask = _mask_of(parts)
    value = value if isinstance(value, MaskedArray) else lift(value)
    if mask is not None and _is_of_other_size(x, mask, value):
        known = known_array(mask, "a mask decides how many elements are written")
        if known is not None:
            _require_mask_fits(mask, x.dims, 0)
            mask, parts = None, tuple(map(constant_copy, np.nonzero(known)))
    if mask is None and isinstance(value, MaskedArray):
        value = value._or_refuse("writing the elements")
    if mask is not None:
        if isinstance(value, MaskedArray):
            if value.given.value is not mask.value:
                raise refuse("two selections by different masks meet", "Use np.where")
            value = value.data
        elif _is_of_other_size(x, mask, value):
            raise refuse("x[mask] = v with an array v has a size that depends on data",
                         "Use x[...] = np.where(mask, v, x)")
        else:
            value = as_element(value, x.dtype, True)
        merged = cast(np.where(_spread_mask(x, mask), cast(value, x.dtype), x), x.dtype)
        if x.steps or merged.aval != x.aval:
            x[...] = merged
        else:
            write_cell(x, lambda elements, at: merged.value, None)
        return
    _scatter(x, parts, value, "scatter")


def _is_of_other_size(x: Tracer, mask: Tracer, value: object) -> bool:
    """Whether what is written to x[mask] needs as many elements as the mask selects."""
    if isinstance(value, MaskedArray):
        return value.given.value is not mask.value
    return isinstance(value, Tracer) and len(value.dims) > len(x.dims) - len(mask.dims)


def _scatter(x: Tracer, parts: tuple[object, ...], value: object, op: str) -> None:
    base, indices, axes, position = _plan(x, parts)
    value = as_element(value, x.dtype, True) if op == "scatter" else value
    target = gathered_shape(base.dims, indices[0].dims, axes, position)
    value = broadcast_value(value, target)
    index_values = [i.value for i in indices]

    def put(elements: Value, at: At | None) -> Value:
        if at is not None:
            new = put(emit_value("index", [elements], {"at": at}), None)
            return emit_value("update", [elements, new], {"at": at})
        shape = gathered_shape(elements.aval.shape, indices[0].aval.shape, axes, position)
        given = atom_of(cast(value, x.dtype))
        if given.aval.shape != shape:  # sizes that turned out equal, written in two ways
            given = emit_value("reshape", [given], {"shape": shape})
        return emit_value(op, [elements, given, *index_values],
                          {"axes": axes, "position": position})

    at = base.steps[-1].at if base is not x and isinstance(base.steps[-1], IndexStep) else None
    if base is x or at is None:
        write_cell(x if base is x else base, put, None)
    else:
        write_cell(Tracer(base.cell, base.steps[:-1]), put, at)


@captures(np.ufunc.at)
def ufunc_at(ufunc: np.ufunc, a: Tracer, indices: object, b: object = None) -> None:
    """Carry out `ufunc.at`: unbuffered, so that repeated indices count each time."""
    parts = normalize(indices)
    if ufunc is np.subtract:
        ufunc, b = np.add, -lift(b)
    if ufunc is not np.add:
        raise refuse(f"np.{ufunc.__name__}.at cannot be captured", "Use np.add.at, or a loop")
    if any(map(is_advanced, parts)):
        _scatter(a, parts, lift(b), "scatter_add")
    else:
        a[indices] += b


# --- functions ----------------------------------------------------------------------------------


@captures(np.nonzero, method="nonzero")
def nonzero(a: object) -> tuple[Any, ...]:
    """Return the indices of elements that are not zero, per axis; no argument may come into it."""
    known = known_array(a, "np.nonzero has a result of this size")
    if known is None:
        raise refuse("np.nonzero has a result whose size depends on data",
                     "Use np.where(condition, x, y), or a sum over the condition")
    return tuple(map(constant_copy, np.nonzero(known)))


@captures(np.take, method="take")
def take(a: Any, indices: Any, axis: object = None, *, mode: str = "raise") -> Any:
    """Return elements at indices along an axis."""
    a = as_tracer(a)
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    if axis is None:
        a, axis = a.reshape(-1), 0
    axis = normalize_axis(axis, len(a.dims))
    if mode == "clip":
        indices = np.clip(indices, 0, as_operand(a.dims[axis]) - 1)
    elif mode == "wrap":
        indices = indices % as_operand(a.dims[axis])
    return a[(*(slice(None),) * axis, indices)]


@captures(np.take_along_axis)
def take_along_axis(arr: Any, indices: object, axis: object = -1) -> Any:
    """Return elements at indices that vary along the other axes."""
    arr, indices = as_tracer(arr), as_tracer(indices)
    if axis is None:
        arr, axis = arr.reshape(-1), 0
    axis = normalize_axis(axis, len(arr.dims))
    return arr[tuple(indices_along(arr, indices, axis))]


@captures(np.ix_)
def ix_(*args: object) -> tuple[Any, ...]:
    """Return index arrays that pick the product of some indices per axis."""
    indices = [as_tracer(x) for x in args]
    if any(len(i.dims) != 1 for i in indices):
        raise ValueError("Cross index must be 1 dimensional")
    indices = [nonzero(i)[0] if i.dtype == np.bool_ else i for i in indices]
    return tuple(i.reshape((1,) * k + (-1,) + (1,) * (len(indices) - k - 1))
                 for k, i in enumerate(indices))


def indices_along(arr: Tracer, indices: Tracer, axis: int) -> list[Tracer]:
    """Return index arrays, one per axis, that broadcast to the shape of `indices`."""
    key = []
    for k, d in enumerate(arr.dims):
        shape = tuple(d if j == k else 1 for j in range(len(arr.dims)))
        key.append(indices if k == axis else apply("reshape", iota(d), shape=shape))
    return key
