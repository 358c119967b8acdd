"""Transforms within a capture: a call captured as a block, and results put back as tracers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np

from tracejit.ir.core import Atom, Block, Value
from tracejit.ir.types import Aval
from tracejit.trace.containers.runs import place_in_code
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.copies import Handed
from tracejit.trace.python.calls import call_function
from tracejit.trace.regions.choosing import in_one_dtype
from tracejit.trace.values.equations import (
    apply,
    atom_of,
    cast,
    dims_of,
    dtype_of,
    is_weak,
    lift,
    same_dim,
)
from tracejit.trace.values.identities import named
from tracejit.trace.values.leaks import refuse_leaks_into
from tracejit.trace.values.mixed import returned
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer, scalar_of, tracer_of
from tracejit.tree import Structure, containers_in, flatten, is_opened, leaf_names, unflatten

__all__ = ["call_of", "capture_block", "conforming", "dtype_of_leaf", "names_of", "tracer_of_atom"]


def dtype_of_leaf(x: object) -> np.dtype | None:
    if isinstance(x, (Tracer, SymInt, np.ndarray, np.generic)):
        return x.dtype
    return np.dtype(type(x)) if isinstance(x, (bool, int, float, complex)) else None


def tracer_of_atom(a: Atom, weak: bool) -> Any:
    if isinstance(a, Value):
        return named(scalar_of(a, weak=weak))
    result = named(cast(a.val, a.aval.dtype))
    result.weak = weak
    return result


def conforming(what: str, t: object, x: object) -> Tracer:
    """Return a traced tangent or cotangent with the dtype and shape of its value."""
    t = cast(lift(t), dtype_of(x))
    dims, expected = dims_of(t), dims_of(x)
    if len(dims) != len(expected) or not all(map(same_dim, dims, expected)):
        raise ValueError(f"a {what} has shape {tuple(map(str, dims))}, but what it belongs to has "
                         f"shape {tuple(map(str, expected))}")
    expected = tuple(map(current().canonical, expected))
    return t if t.aval.shape == expected else apply("reshape", t, shape=expected)


def names_of(structure: Structure) -> list[str]:
    """Return how messages name the leaves of a call's arguments."""
    args, kwargs = structure.parts
    names = [n for k, part in enumerate(args.parts) for n in leaf_names(part, f"argument {k}")]
    return names + [n for key, part in zip(kwargs.aux, kwargs.parts, strict=True)
                    for n in leaf_names(part, f"argument {key}")]


def call_of(fn: Callable[..., object]) -> Hashable:
    """Return which call of a transform this is, the same in every attempt of a capture."""
    kind = type(fn).__qualname__
    return place_in_code(), kind, getattr(inspect.unwrap(fn) if kind != "function" else fn,
                                          "__code__", None)


def _as_array(x: object) -> Tracer:
    return x if isinstance(x, Tracer) else cast(x, dtype_of(x))


def capture_block(fn: Callable[..., object], leaves: list[object], structure: Structure,
                  chosen: list[int], what: str | None = None,
                  ) -> tuple[Block, list[bool], Structure, list[Any], dict[int, int]]:
    """Capture a call of a function as a block whose inputs are the chosen leaves.

    All other values that the function reads stay as they are in the capture around. Returned are
    the block, which outputs are weak, the structure of the result, its leaves that are no outputs,
    and the leaves for which another stands.

    what -- the transform's name in messages, where the caller would see writes to arguments
    """
    trace = current()
    inputs = []
    inner = list(leaves)
    for k in chosen:
        t = _as_array(lift(leaves[k]))
        v = Value(Aval(t.dtype, t.dims))
        inputs.append(v)
        inner[k] = v
    handed = Handed(call_of(fn), [lift(x) if k in chosen else x for k, x in enumerate(leaves)],
                    names_of(structure), chosen)
    others = {k: x.value for k, x in enumerate(leaves)
              if k not in chosen and isinstance(x, Tracer) and x.is_array}
    with trace.region("call", tuple(inputs)) as (frame, scope):
        for k, v in zip(chosen, inputs, strict=True):
            inner[k] = handed.copy(k, partial(scalar_of, v, weak=is_weak(leaves[k])), v)
        for k, value in others.items():
            inner[k] = handed.copy(k, partial(tracer_of, value))
        args, kwargs = _given(structure, inner)
        results, out_structure = flatten(in_one_dtype(call_function(fn, args, kwargs)))
        outputs, weak, constants = _apart(results)
        if what is None:
            handed.settle(frame.read)
        else:
            trace.memory.refuse_lost_writes(handed.copies.values(), what)
        if frame.written:
            _refuse_written(trace.captured.names_of(frame.written))
        block = scope.close(outputs)
    refuse_leaks_into(block)
    return block, weak, out_structure, constants, handed.heads


def _given(structure: Structure, leaves: Sequence[object]) -> tuple[Any, Any]:
    """Return the arguments of a call; objects that it differentiates by are not to be changed."""
    call: tuple[Any, Any] = unflatten(structure, iter(leaves))
    current().captured.passed |= {
        id(x): (x, True) for x in containers_in(call, structure, is_opened)}
    return call


def _apart(results: list[object]) -> tuple[list[Atom], list[bool], list[Any]]:
    """Return the numbers among results, which of these are weak, and the other results.

    The last list has an item per result: None for a number, else a tuple of the result.
    """
    outputs: list[Atom] = []
    weak: list[bool] = []
    constants: list[Any] = []
    for x in results:
        if isinstance(x, (Tracer, SymInt, float, complex, np.ndarray, np.generic)):
            x = returned(lift(x), of_any_kind=False)
            outputs.append(atom_of(x if isinstance(x, SymInt) else _as_array(x)))
            weak.append(is_weak(x))
            constants.append(None)
        else:
            constants.append((x,))
    return outputs, weak, constants


def _refuse_written(variables: list[str]) -> NoReturn:
    """Refuse a block that changes state of the capture around, variables by their names."""
    if variables:
        raise TypeError("a function that is differentiated or computed again inside another one "
                        f"assigns to {', '.join(variables)}. Return the new value, and assign it "
                        "outside")
    raise refuse("a function that is differentiated or computed again inside another one changes "
                 "an array, a list or an object of that one", "Return the new value instead",
                 "TJ510")
