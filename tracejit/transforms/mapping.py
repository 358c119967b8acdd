"""`vmap`, and the Jacobians that map a derivative over the elements of a result or an argument."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tracejit.ir.dims import Dim, product
from tracejit.runtime.program import Program
from tracejit.trace.capture import capture_function
from tracejit.trace.containers.places import is_number
from tracejit.trace.ground.context import current, refuse, refuse_outside
from tracejit.trace.ground.copies import Handed
from tracejit.trace.python.calls import call_function
from tracejit.trace.python.mapping import common_size, item_of, trace_map
from tracejit.trace.values.equations import apply, cast, dims_of, dtype_of, lift
from tracejit.trace.values.specs import ArgSpec
from tracejit.trace.values.symbolic_ints import of_dim
from tracejit.trace.values.tracer import Tracer
from tracejit.transforms.arguments import argument_places, find_argument
from tracejit.transforms.gradient import Gradient
from tracejit.transforms.linear import Pullback, Tangent
from tracejit.transforms.nested import call_of, dtype_of_leaf
from tracejit.transforms.options import Options
from tracejit.tree import (
    STRUCTURED,
    Structure,
    are_in,
    beside_floats,
    flatten,
    has_one_twice,
    leaf_names,
    unflatten,
)

__all__ = ["Composed", "make_hessian", "make_hvp", "make_jacfwd", "make_jacrev", "make_vmap"]


class Composed:
    """A transform made of others: `run`, a function on tracers, is captured as a whole."""

    name: str
    fn: Callable[..., Any]
    options: Options
    run: Callable[..., Any]

    def __init__(self, name: str, fn: Callable[..., object], run: Callable[..., object],
                 options: Options) -> None:
        self.name, self.fn, self.options = name, fn, options
        self.run = functools.wraps(fn, updated=())(run)
        self.run.__name__ = f"{name}[{getattr(fn, '__name__', 'f').replace('<lambda>', '_lambda')}]"

    def make_program(self, specs: Sequence[ArgSpec], structure: Structure,
                     leaves: Sequence[object] | None) -> Program:
        """Capture the composition for arguments of these specs."""
        if has_one_twice(structure):  # the parts make containers anew
            raise refuse_outside(f"{self.name} of a list, dict or object that is an argument twice",
                                 "Pass a copy as one of them", "TJ509")
        c = capture_function(self.run, specs, structure, leaves)
        return Program.of_capture(c, self.options)

    def inline(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """Within a capture: run where it is called."""
        return self.run(*args, **kwargs)


# --- transforms as they are called for -----------------------------------------------------------


def make_vmap(fn: Callable[..., object], in_axes: object, out_axes: object,
              options: Options) -> Composed:
    """Return the transform that maps a function over axes of its arguments."""
    return Composed("vmap", fn, mapped(fn, in_axes, out_axes), options)


def make_jacrev(fn: Callable[..., object], argnums: object, has_aux: bool,
                options: Options) -> Composed:
    """Return the Jacobian in reverse mode."""
    return Composed("jacrev", fn, reverse_jacobian(fn, argnums, has_aux, options), options)


def make_jacfwd(fn: Callable[..., object], argnums: object, has_aux: bool,
                options: Options) -> Composed:
    """Return the Jacobian in forward mode."""
    return Composed("jacfwd", fn, forward_jacobian(fn, argnums, has_aux, options), options)


def make_hessian(fn: Callable[..., object], argnums: object, has_aux: bool,
                 options: Options) -> Composed:
    """Return the Hessian: forward over reverse mode."""
    slope = Gradient(fn, argnums, has_aux, False, options)

    @functools.wraps(fn, updated=())
    def gradient(*args: object, **kwargs: object) -> Any:
        if any(are_in(_chosen(fn, argnums, args, kwargs)[2], STRUCTURED.__contains__)):
            raise refuse("the derivative of a structured array by a structured array, which has "
                         "records for numbers", "Pass the fields as arguments, or a dict of them",
                         "TJ512")
        return slope.inline(args, kwargs)

    return Composed("hessian", fn, forward_jacobian(gradient, argnums, has_aux, options), options)


def make_hvp(fn: Callable[..., object], options: Options) -> Composed:
    """Return the product of a Hessian with tangents."""
    return Composed("hvp", fn, hessian_product(fn, options), options)


# --- vmap ---------------------------------------------------------------------------------------


def mapped(fn: Callable[..., object], in_axes: object, out_axes: object) -> Callable[..., Any]:
    """Return the function that maps `fn` over axes of its arguments."""

    def run(*args: object, **kwargs: object) -> Any:
        leaves, structure = flatten((args, kwargs))
        positional, by_name = structure.parts
        axes = _spread(in_axes, positional, "in_axes")
        axes += [0] * by_name.count
        axes = [a if is_number(x) else None for a, x in zip(axes, leaves, strict=True)]
        names = [name for k, part in enumerate(positional.parts)
                 for name in leaf_names(part, f"argument {k}")]
        names += [name for key, part in zip(by_name.aux, by_name.parts, strict=True)
                  for name in leaf_names(part, key)]
        size = common_size(leaves, axes, names, "vmap")

        def element(i: object) -> Any:
            handed = Handed(call_of(fn), list(map(_as_tracer, leaves)), names, axes=axes)
            items = [handed.copy(k, partial(item_of, x, i, axes[k]))
                     for k, x in enumerate(leaves)]
            inner_args, inner_kwargs = unflatten(structure, iter(items))
            trace = current()
            frame = trace.frames[-1]
            around, frame.read = frame.read, set()
            found = call_function(fn, inner_args, inner_kwargs)
            handed.settle(frame.read)
            frame.read |= around
            return found

        result, varies = trace_map(size, element, "vmap")
        stacked, out_structure = flatten(result)
        out = _spread(out_axes, out_structure, "out_axes")
        return unflatten(out_structure, iter([
            _placed(x, a, v) for x, a, v in zip(stacked, out, varies, strict=True)]))

    return run


def _as_tracer(x: object) -> Any:
    """Return an array as a handle, and anything else as it is."""
    return lift(x) if isinstance(x, (Tracer, np.ndarray)) else x


def _spread(axes: object, structure: Structure, what: str) -> list[Any]:
    """Return an axis per leaf, from one axis for all or a nest of them."""
    if axes is None or (isinstance(axes, int) and not isinstance(axes, bool)):
        return [axes] * structure.count
    if isinstance(axes, dict):
        fits = structure.kind is dict and axes.keys() == set(structure.aux)
        items = [axes[key] for key in structure.aux] if fits else None
    else:
        items = list(axes) if isinstance(axes, (tuple, list)) else None
    if items is None or len(items) != len(structure.parts):
        keys = f", under the keys {list(structure.aux)}" if structure.kind is dict else ""
        raise ValueError(f"{what} is {axes!r}, which does not fit what it is for: an int, None, or "
                         f"a nest of those with {len(structure.parts)} items{keys}")
    return [a for item, part in zip(items, structure.parts, strict=True)
            for a in _spread(item, part, what)]


def _placed(x: object, axis: int | None, varies: bool) -> Any:
    """Move the axis of the elements to where it is asked for."""
    if not isinstance(x, Tracer):
        return x
    if axis is None:
        if varies:
            raise ValueError("out_axes is None for a result that differs from element to element. "
                             "Give the axis along which the elements are to be stacked")
        return x[0]
    rank = len(x.dims)
    if not -rank <= axis < rank:
        raise ValueError(f"out_axes has {axis} for a result of {rank} axes")
    order = list(range(1, rank))
    order.insert(axis % rank, 0)
    return x if order == list(range(rank)) else apply("transpose", x, axes=tuple(order))


# --- Jacobians ----------------------------------------------------------------------------------


def reverse_jacobian(fn: Callable[..., object], argnums: object, has_aux: bool,
                     options: Options) -> Callable[..., Any]:
    """Return the function that computes a Jacobian by one pullback per element of the result."""
    pull = Pullback(fn, argnums, has_aux, options)

    def run(*args: object, **kwargs: object) -> Any:
        _require_floats("jacrev", *_chosen(fn, argnums, args, kwargs))
        value, pullback, *aux = pull.inline(args, kwargs)
        leaves, structure = flatten(value)
        _require_results("jacrev", leaves)

        def rows(k: int) -> Any:
            dims, dtype = dims_of(leaves[k]), dtype_of(leaves[k])

            def row(i: object) -> Any:
                cts = [_zeros(y) for y in leaves]
                cts[k] = _one_at(i, dims, dtype)
                return pullback(unflatten(structure, iter(cts)))

            found, parts = flatten(trace_map(of_dim(product(dims)), row, "jacrev")[0])
            return unflatten(parts, iter([
                apply("reshape", g, shape=(*dims, *g.dims[1:])) for g in found]))

        result = unflatten(structure, iter([rows(k) for k in range(len(leaves))]))
        return (result, *aux) if has_aux else result

    return run


def forward_jacobian(fn: Callable[..., object], argnums: object, has_aux: bool,
                     options: Options) -> Callable[..., Any]:
    """Return the function that computes a Jacobian by one tangent per element of the arguments."""
    argument_places(fn, argnums)

    def run(*args: object, **kwargs: object) -> Any:
        leaves, structure = flatten((args, kwargs))
        chosen, numbers, parts = _chosen(fn, argnums, args, kwargs)
        _require_floats("jacfwd", chosen, numbers, parts)
        leaves = [lift(x) if k in numbers else x for k, x in enumerate(leaves)]

        @functools.wraps(fn, updated=())
        def without_aux(*args: object, **kwargs: object) -> Any:
            return call_function(fn, args, kwargs)[0]

        tangent = Tangent(without_aux if has_aux else fn, options)

        floats = [k for k in numbers if dtype_of(leaves[k]).kind == "f"]
        found = [_columns(tangent, leaves, structure, floats, j) for j in floats]
        by_result = zip(*(columns for columns, _ in found), strict=True)
        result = unflatten(found[0][1], iter([
            unflatten(parts, map(dict(zip(floats, column, strict=True)).get, numbers))
            for column in by_result]))
        if not has_aux:
            return result
        return result, call_function(fn, args, kwargs)[1]

    return run


def _columns(tangent: Tangent, leaves: list[Any], structure: Structure, numbers: list[int],
             j: int) -> tuple[list[Any], Structure]:
    """Return the derivatives of all results by one argument's elements, and how results lie."""
    dims, dtype = dims_of(leaves[j]), dtype_of(leaves[j])

    def column(i: object) -> Any:
        dots = {k: _zeros(leaves[k]) for k in numbers}
        dots[j] = _one_at(i, dims, dtype)
        value, dot = tangent.along(leaves, structure, numbers, dots, operator.add)
        _require_results("jacfwd", flatten(value)[0])
        return dot

    found, shape = flatten(trace_map(of_dim(product(dims)), column, "jacfwd")[0])
    return [_last(g, dims) for g in found], shape


def hessian_product(fn: Callable[..., object], options: Options) -> Callable[..., Any]:
    """Return the function that multiplies a Hessian by tangents: forward over reverse mode."""

    def run(primals: tuple[object, ...], tangents: tuple[object, ...]) -> Any:
        argnums = tuple(range(len(primals))) if len(primals) > 1 else 0
        gradient = Gradient(fn, argnums, False, False, options)
        of = Tangent(lambda *xs: gradient.inline(xs, {}), options)
        return of.inline((primals, tangents), {})[1]

    return run


def _chosen(fn: Callable[..., object], argnums: object, args: object,
            kwargs: object) -> tuple[list[tuple[str, Any]], list[int], Structure]:
    """Return the leaves to differentiate by, with their names and numbers; and their structure."""
    leaves, structure = flatten((args, kwargs))
    found = [find_argument(fn, place, *structure.parts) for place in argument_places(fn, argnums)]
    numbers = [k for _, part, first in found for k in range(first, first + part.count)]
    names = [n for name, part, _ in found for n in leaf_names(part, name)]
    parts = tuple(part for _, part, _ in found)
    whole = Structure(tuple, None, parts) if isinstance(argnums, (tuple, list)) else parts[0]
    return [(name, leaves[k]) for name, k in zip(names, numbers, strict=True)], numbers, whole


def _require_floats(what: str, chosen: list[tuple[str, object]], _: object,
                    parts: Structure) -> None:
    is_float = [(t := dtype_of_leaf(x)) is not None and t.kind == "f" for _, x in chosen]
    for (name, x), real, passed in zip(chosen, is_float, beside_floats(parts, is_float),
                                       strict=True):
        dtype = dtype_of_leaf(x)
        if not real and (not passed or (dtype is not None and dtype.kind == "c")):
            kind = "no number" if dtype is None else f"of dtype {dtype}"
            raise TypeError(f"{what} needs real floats to differentiate by, but argument {name!r} "
                            f"is {kind}. Choose other arguments with argnums")


def _require_results(what: str, leaves: Sequence[object]) -> None:
    for y in leaves:
        dtype = dtype_of_leaf(y)
        if dtype is None or dtype.kind != "f":
            kind = f"a {type(y).__name__}" if dtype is None else f"dtype {dtype}"
            raise TypeError(f"{what} needs a function with real floating results, but one of them "
                            f"is {kind}. Return what is not to be differentiated as auxiliary "
                            "data, with has_aux=True")


def _zeros(x: object) -> Tracer:
    return apply("full", dtype_of(x).type(0), shape=dims_of(x))


def _one_at(i: object, dims: tuple[Dim, ...], dtype: np.dtype) -> Tracer:
    """Return zeros with a one at flat position i."""
    ones = cast(apply("iota", size=product(dims)) == i, dtype)
    return apply("reshape", ones, shape=dims)


def _last(g: Tracer, dims: tuple[Dim, ...]) -> Tracer:
    """Move the first axis, which counts an argument's elements, to the end, in its shape."""
    rank = len(g.dims)
    g = apply("transpose", g, axes=(*range(1, rank), 0)) if rank > 1 else g
    return apply("reshape", g, shape=(*g.dims[:-1], *dims))
