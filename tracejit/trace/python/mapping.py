"""Independent iterations: the `map_` of the IR, and the buffers that a scan fills."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tracejit.ir.core import Atom, Block, Value
from tracejit.ir.dims import Dim, dim_values
from tracejit.ir.types import scalar
from tracejit.ir.walk import all_eqns
from tracejit.trace.containers.places import is_number
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.restarts import NeedStatic
from tracejit.trace.python.calls import call_function
from tracejit.trace.regions.choosing import in_one_dtype
from tracejit.trace.regions.merging import join_leaf
from tracejit.trace.values.equations import (
    atom_of,
    cast,
    dims_of,
    dtype_of,
    emit,
    emit_value,
    lift,
    to_dim,
)
from tracejit.trace.values.symbolic_ints import SymInt, of_dim
from tracejit.trace.values.tracer import Tracer, tracer_of
from tracejit.tree import Structure, flatten, leaf_names, unflatten

__all__ = ["begin_scan", "common_size", "fill_item", "item_of", "item_tree", "trace_map"]


@contextmanager
def _iteration(kind: str, size: Dim) -> Iterator[tuple[SymInt, Any, Any]]:
    """Open a region for one iteration, number i of `size`."""
    trace = current()
    index = Value(scalar(np.int64), "i")
    trace.builder.assume(index, 0, size - 1)
    trace.carried.add(index)
    try:
        with trace.region(kind, (index,)) as (frame, scope):
            yield SymInt(index.dim), frame, scope
    except NeedStatic as e:
        if e.value is not index:
            raise
        raise refuse(f"{e.why} needs the number of an element as a Python int, and all elements "
                     "are computed by the same code", "Index arrays with it instead",
                     "TJ111") from None


def trace_map(count: object, element: Callable[[SymInt], object],
              what: str) -> tuple[Any, list[bool]]:
    """Return the results of `element(i)` for i in 0..count-1, stacked along a new first axis.

    Beside them, for each leaf, whether it varies from element to element.

    what -- how messages call this: "vmap"

    `Refusal` where an element writes to an object outside of it, or has a size of its own.
    """
    size = to_dim(count)
    with _iteration("map", size) as (i, frame, scope):
        leaves, structure = flatten(in_one_dtype(element(i)))
        outputs: list[Atom] = []
        constants: list[Any] = []
        for x in leaves:
            if is_number(x):
                outputs.append(_atom(x))
                constants.append(None)
            else:
                constants.append((x,))
        if frame.written:
            raise refuse(f"a function under {what} writes to an array or object that exists "
                         "outside of it, and its elements are computed in no order",
                         "Return the new values instead", "TJ415")
        block = scope.close(outputs)
    inside = {*block.inputs, *(v for e in all_eqns(block) for v in e.outputs)}
    for a in outputs:
        if any(v in inside for d in a.aval.shape for v in dim_values(d)):
            raise refuse(f"the results that {what} stacks have sizes that differ from element to "
                         "element", "Give them one size", "TJ415")
    stacked = iter(emit("map_", [], {"size": size}, [block]))
    varying = _dependent(block)
    flags = iter([a in varying for a in outputs])
    varies = [c is None and next(flags) for c in constants]
    return unflatten(structure, iter([tracer_of(next(stacked)) if c is None else c[0]
                                      for c in constants])), varies


def _dependent(block: Block) -> set[Atom]:
    """Return the values of a block that depend on its inputs."""
    found: set[Atom] = set(block.inputs)
    for eqn in block.eqns:
        if eqn.op.unique or any(v in found for v in eqn.uses()):
            found.update(eqn.outputs)
    return found


def _atom(x: object) -> Atom:
    """Return a result as an operand; a number as a value, so that it has a type of its own."""
    x = lift(x)
    return atom_of(x) if isinstance(x, Tracer) else cast(x, dtype_of(x)).value


def common_size(leaves: Sequence[object], axes: Sequence[int | None], names: Sequence[str],
                what: str) -> Any:
    """Return the size of the axes that are mapped over; one for all leaves."""
    trace = current()
    size: Dim | None = None
    first = ""
    for x, axis, name in zip(leaves, axes, names, strict=True):
        if axis is None:
            continue
        dims = dims_of(lift(x)) if is_number(x) else ()
        if not -len(dims) <= axis < len(dims):
            kind = f"has {len(dims)} axes" if dims else "is no array"
            raise ValueError(f"{what} maps over axis {axis} of {name}, which {kind}. Use None "
                             "for what all elements share")
        d = trace.canonical(dims[axis])
        if size is None:
            size, first = d, name
        elif size != d and not trace.unify(size, d):
            raise ValueError(f"{what} maps over axes of different sizes: {first} has "
                             f"{_size_text(size)}, {name} has {_size_text(d)}")
        size = trace.canonical(size)
    if size is None:
        raise ValueError(f"{what} has no array to map over: every axis is None")
    return of_dim(size)


def _size_text(d: Dim) -> str:
    trace = current()
    return str(trace.number(d) if trace.is_known(d) else d)


def item_of(x: Any, i: object, axis: int | None = 0) -> Any:
    """Return element i of an array along an axis, as an array of its own; x itself for None."""
    if axis is None:
        return _copy_for_element(x) if isinstance(x, Tracer) else x
    x = lift(x)
    axis %= len(x.dims)
    return _copy_for_element(x[(*(slice(None),) * axis, i)])


def _copy_for_element(shown: Tracer) -> Tracer:
    """Return a copy of the part of an array that a handle shows: for an element, the array."""
    copy = tracer_of(shown.value, weak=shown.weak)
    if shown.is_array:
        current().memory.begin_as(copy, shown)
    return copy


# --- scans --------------------------------------------------------------------------------------


def begin_scan(f: Callable[[Any, Any], object], carry: object, xs: object, count: object,
               ) -> tuple[Any, list[Tracer], Structure]:
    """Return the carry in its final dtypes, empty buffers for results of f, and their structure.

    One iteration is traced on trial, again as long as it changes the carry's dtypes.
    """
    size = to_dim(count)
    leaves, structure = flatten(carry)
    for _ in range(8):
        with _iteration("map", size) as (i, _, _):
            result = in_one_dtype(call_function(
                f, (unflatten(structure, iter(leaves)), item_tree(xs, i)), {}))
            if not isinstance(result, tuple) or len(result) != 2:
                raise TypeError("scan takes a function that returns a pair (carry, y), but it "
                                f"returned {_kind(result)}")
            after, changed = flatten(result[0])
            if changed != structure:
                raise TypeError("the function under scan returns a carry of another structure than "
                                "it takes")
            names = leaf_names(structure, "the carry")
            joined = [_joined(x, y, name)
                      for x, y, name in zip(leaves, after, names, strict=True)]
            ys, y_structure = flatten(result[1])
            types = [(dims_of(lift(y)), dtype_of(lift(y))) for y in ys]
        if all(d is None or d == dtype_of(lift(x)) for x, d in zip(leaves, joined, strict=True)):
            break
        leaves = [x if d is None else cast(x, d) for x, d in zip(leaves, joined, strict=True)]
    buffers = [tracer_of(emit_value("empty", [], {"shape": (size, *dims), "dtype": dtype}))
               for dims, dtype in types]
    return unflatten(structure, iter(leaves)), buffers, y_structure


def _joined(x: object, y: object, name: str) -> np.dtype | None:
    """Return the dtype of a leaf of the carry that begins as x and goes on as y."""
    if not (is_number(x) and is_number(y)):
        return None
    x, y = lift(x), lift(y)
    if len(dims_of(x)) != len(dims_of(y)):
        raise TypeError(f"{name} has {len(dims_of(x))} axes before an iteration of scan and "
                        f"{len(dims_of(y))} after it")
    return join_leaf(x, y)[0]


def _kind(x: object) -> str:
    return f"a tuple of {len(x)}" if isinstance(x, tuple) else f"a {type(x).__name__}"


def item_tree(xs: object, i: object) -> Any:
    """Return element i of every array of a nest."""
    leaves, structure = flatten(xs)
    return unflatten(structure, iter([item_of(x, i) for x in leaves]))


def fill_item(buffers: Sequence[Tracer], i: object, y: object, structure: Structure) -> None:
    """Write the results of iteration i to the buffers."""
    leaves, found = flatten(y)
    if found != structure:
        raise TypeError("the function under scan yields values of different structures")
    for buffer, x in zip(buffers, leaves, strict=True):
        buffer[i] = x
