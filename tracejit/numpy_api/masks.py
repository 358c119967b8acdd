"""Selections by masks: `x[mask]` is an array of which data decides how long it is.

    count = sum(mask); places = positions(mask) {size=count}; x[mask] = gather(x, places)

A fold over all that is selected needs no such array: the sum of `f(x[mask])` is the sum of
`where(mask, f(x), 0)`. Where the operand of a fold is made of selections by one mask, element by
element, it is computed so, and the equations of the array are dropped if nothing else reads it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tracejit.ir.core import Atom, Eqn, Value
from tracejit.ir.dims import Dim, dim_values, product
from tracejit.ir.lowering import Alias, Gather, Pointwise
from tracejit.numpy_api.overlaps import require_apart
from tracejit.numpy_api.shapes import broadcast_to
from tracejit.trace.ground.context import current
from tracejit.trace.ground.layouts import Columns
from tracejit.trace.state.known import constant_copy, known_array
from tracejit.trace.values.equations import apply, as_operand, cast, emit_value, same_dim
from tracejit.trace.values.indexing import broadcast_value, get_item, write_cell
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["Whole", "is_mapping", "known_mask", "nonzero_places", "positions", "require_mask_fits",
           "select", "spread_mask", "unselected", "write_selected"]


def require_mask_fits(mask: Tracer, dims: tuple[Dim, ...], first: int) -> None:
    """Raise NumPy's error where a mask is not of the size of the axes that it is for."""
    if len(mask.dims) > len(dims) - first:
        raise IndexError(f"too many indices for array: array is {len(dims)}-dimensional, but "
                         f"{first + len(mask.dims)} were indexed")
    for k, d in enumerate(mask.dims):
        if not same_dim(dims[first + k], d, f"boolean index did not match indexed array along axis "
                        f"{first + k}; size of axis is {{0:.0f}} but size of corresponding boolean "
                        "axis is {1:.0f}"):
            sizes = [current().number(e) for e in (dims[first + k], d)]
            raise IndexError(f"boolean index did not match indexed array along axis {first + k}; "
                             f"size of axis is {sizes[0]} but size of corresponding boolean axis "
                             f"is {sizes[1]}")


def known_mask(mask: Tracer) -> np.ndarray | None:
    """Return a mask that no argument comes into; None where data decides."""
    return known_array(mask, "a mask decides how many elements are selected", fixing=is_mapping())


def is_mapping() -> bool:
    """Return whether an element of a map is being traced, whose results have one size."""
    return any(f.kind == "map" for f in current().frames)


def positions(mask: Tracer) -> Tracer:
    """Return where a mask is true, counted through all of its axes."""
    flat = _flat(mask, mask.dims)
    total = emit_value("reduce_sum", [cast(flat, np.int64).value], {"axes": (0,)})
    current().builder.assume(total, 0, flat.dims[0])
    return apply("positions", flat, size=total.dim)


def _flat(x: Tracer, axes: tuple[Dim, ...]) -> Tracer:
    """Return an array with its leading axes as one."""
    rest = x.dims[len(axes):]
    return x if len(axes) == 1 else apply("reshape", x, shape=(product(axes), *rest))


def select(x: Tracer, mask: Tracer) -> Any:
    """Return `x[mask]`, the mask being for the leading axes."""
    x = apply("read_where", x, spread_mask(x, mask))
    known = known_mask(mask) if mask.dims else None
    if known is not None:
        return get_item(x, tuple(map(constant_copy, np.nonzero(known))))
    data = _flat(x, x.dims[:len(mask.dims)])
    return apply("gather", data, positions(mask), axes=(0,), position=0)


def nonzero_places(a: Tracer) -> tuple[Tracer, ...]:
    """Return the indices of elements that are not zero, per axis."""
    mask = a if a.dtype == np.bool_ else a != 0
    known = known_mask(mask)
    if known is not None:
        return _as_columns([constant_copy(x) for x in np.nonzero(known)])
    flat = positions(mask)
    found = []
    for k, d in enumerate(a.dims):
        behind = product(a.dims[k + 1:])
        index = flat if behind == 1 else flat // as_operand(behind)
        found.append(index if not k else index % as_operand(d))
    return _as_columns(found)


def _as_columns(found: list[Tracer]) -> tuple[Tracer, ...]:
    """Return indices per axis, which NumPy keeps as the columns of one array."""
    for x in found if len(found) > 1 else ():
        x.cell.layout = Columns(len(found))
    return tuple(found)


def spread_mask(x: Tracer, mask: Tracer) -> Tracer:
    """Return a mask on leading axes as one on all."""
    require_mask_fits(mask, x.dims, 0)
    extra = len(x.dims) - len(mask.dims)
    full = mask.reshape((*map(as_operand, mask.dims), *(1,) * extra)) if extra else mask
    return broadcast_to(full, tuple(map(as_operand, x.dims)))


# --- writing ------------------------------------------------------------------------------------


def write_selected(x: Tracer, mask: Tracer, value: object) -> None:
    """Carry out `x[mask] = value`, the mask being for the leading axes."""
    require_mask_fits(mask, x.dims, 0)
    rest = len(x.dims) - len(mask.dims)
    if not rest:
        require_apart(x, mask, what="x[mask] = ...", same_places=True)
        require_apart(x, value, what="x[mask] = ...")
    if isinstance(value, Tracer) and len(value.dims) > rest:
        whole = _before_selection(value, x, mask)
        if whole is None:
            _write_at_places(x, mask, value)
            return
        value = whole
    merged = cast(np.where(spread_mask(x, mask), cast(value, x.dtype), x), x.dtype)
    if x.steps or merged.aval != x.aval:
        x[...] = merged
    else:
        write_cell(x, lambda elements, at: merged.value, None)


def _before_selection(value: Tracer, x: Tracer, mask: Tracer) -> Tracer | None:
    """Return the array from which `mask` selects a value; None where it is no such selection."""
    found = _MaskSearch().whole(value.value)
    same = found is not None and found.mask is spread_mask(x, mask).value
    return found.data if found is not None and same else None


def _write_at_places(x: Tracer, mask: Tracer, value: Tracer) -> None:
    known = known_mask(mask) if mask.dims else None
    if known is not None:
        x[tuple(map(constant_copy, np.nonzero(known)))] = value
        return
    axes, rest = mask.dims, x.dims[len(mask.dims):]
    places = positions(mask)
    value = broadcast_value(value, (*places.dims, *rest))
    new = apply("scatter", _flat(tracer_of(x.value), axes), cast(value, x.dtype), places,
                axes=(0,), position=0)
    x[...] = new if len(axes) == 1 else apply("reshape", new, shape=x.dims)


# --- folds --------------------------------------------------------------------------------------

_DEEPEST = 200
"""How many operations an operand of a fold may be from the selected array."""


class Whole(NamedTuple):
    """The whole of a selection: `data` where `mask` holds, over its first `rows` axes."""

    data: Tracer
    mask: Value
    rows: int


def unselected(x: Tracer) -> Whole | None:
    """Return the array from which one mask selects an array; None where more than a mask does."""
    if not x.dims or all(v.is_size for v in dim_values(x.dims[0])):
        return None
    return _MaskSearch().whole(x.value)


class _MaskSearch:
    """A search for the whole array of a selection, and for its one mask."""

    def __init__(self) -> None:
        self.makers: dict[Value, Eqn] = {
            v: e for scope in current().builder.scopes for e in scope.eqns for v in e.outputs}
        self.places: Value | None = None
        self.mask: Value | None = None
        self.rows = 0
        self.done: dict[Value, Tracer | None] = {}

    def whole(self, value: Value) -> Whole | None:
        """Return the array that a value is a selection from."""
        found = self._whole(value, 0)
        return None if found is None or self.mask is None else Whole(found, self.mask, self.rows)

    def _whole(self, value: Value, depth: int) -> Tracer | None:
        if value not in self.done:
            self.done[value] = None
            eqn = self.makers.get(value)
            if eqn is not None and depth < _DEEPEST:
                self.done[value] = self._of_equation(eqn, depth)
        return self.done[value]

    def _of_equation(self, eqn: Eqn, depth: int) -> Tracer | None:
        if isinstance(eqn.op.lowering, Gather):
            return self._of_gather(eqn)
        if not isinstance(eqn.op.lowering, Pointwise) or len(eqn.outputs) != 1:
            return None
        shape = eqn.output.aval.shape
        operands = [self._operand(a, shape, depth) for a in eqn.inputs]
        if any(a is None for a in operands):
            return None
        return tracer_of(emit_value(eqn.op, operands, eqn.params))  # type: ignore[arg-type]

    def _operand(self, a: Atom, shape: tuple[Dim, ...], depth: int) -> Atom | None:
        own = a.aval.shape
        if not isinstance(a, Value) or len(own) < len(shape):
            return a
        if own[0] == shape[0]:
            found = self._whole(a, depth + 1)
            return None if found is None else found.value
        return emit_value("reshape", [a], {"shape": own[1:]})  # repeated along the first axis

    def _of_gather(self, eqn: Eqn) -> Tracer | None:
        """Return x of `gather(reshape(read_where(x, mask)), positions(reshape(mask)))`."""
        data, places = eqn.inputs[0], eqn.inputs[-1]
        maker = self._maker(data)
        if maker is not None and isinstance(maker.op.lowering, Alias):
            maker = self._maker(maker.inputs[0])
        if maker is None or maker.op.meaning != "read_where" or (
                places is not (self.places or places)):
            return None
        x, mask = maker.inputs
        rows = len(x.aval.shape) - len(data.aval.shape) + 1
        if not (rows and isinstance(x, Value) and isinstance(mask, Value)
                and isinstance(places, Value)) or mask is not (self.mask or mask):
            return None
        self.places, self.mask, self.rows = places, mask, rows
        return tracer_of(x)

    def _maker(self, a: Atom) -> Eqn | None:
        return self.makers.get(a) if isinstance(a, Value) else None
