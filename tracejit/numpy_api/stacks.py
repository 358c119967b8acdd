"""Functions of matrices on stacks of matrices: one map over the leading axes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tracejit.ir.dims import product
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.emptiness import require_items
from tracejit.numpy_api.shapes import broadcast_to
from tracejit.trace.python.mapping import item_of, trace_map
from tracejit.trace.values.equations import apply, as_operand, broadcast_dims
from tracejit.trace.values.symbolic_ints import of_dim
from tracejit.trace.values.tracer import Tracer

__all__ = ["VECTOR_OR_MATRIX", "in_stacks", "over_stacks"]

VECTOR_OR_MATRIX = None
"""How many axes a right-hand side has: one if it has no more, else two."""


def over_stacks(function: Callable[..., object], what: str, *operands: tuple[Tracer, int]) -> Any:
    """Return `function` of arrays' last axes, for each place in the axes before.

    operands -- pairs of an array and how many axes of it are the function's own
    what     -- the function's name in messages: "np.linalg.inv"

    Leading axes are broadcast against one another, as NumPy's linear algebra does. The function
    returns an array or a tuple of arrays.
    """
    leading = [t.dims[:len(t.dims) - own] for t, own in operands]
    if not any(leading):
        return function(*(t for t, _ in operands))
    shape = broadcast_dims(leading)
    stacks = [_flattened(t, own, shape) if before else t
              for (t, own), before in zip(operands, leading, strict=True)]

    def element(i: object) -> Any:
        return function(*(item_of(t, i if before else 0, 0 if before else None)
                          for t, before in zip(stacks, leading, strict=True)))

    results, _ = trace_map(of_dim(product(shape)), element, what)
    if isinstance(results, tuple):
        return tuple(_unflattened(r, shape) for r in results)
    return _unflattened(results, shape)


def in_stacks(function: Callable[..., object],
              *arrays: tuple[str, int | None]) -> Callable[..., Any]:
    """Return a capture that applies `function` to each of stacks, as SciPy does since 1.15.

    arrays -- names of parameters, and how many axes each has in one call; a parameter that is left
              out, or None, takes no part

    Of stacks SciPy returns a list where it returns a tuple of one, and none may be empty.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def capture(*args: object, **kwargs: object) -> Any:
        bound = signature.bind(*args, **kwargs)
        given = {name: (as_tracer(bound.arguments[name]), rank) for name, rank in arrays
                 if bound.arguments.get(name) is not None}
        own = [(x, rank or min(max(len(x.dims), 1), 2)) for x, rank in given.values()]
        leading = [x.dims[:max(0, len(x.dims) - rank)] for x, rank in own]
        if not any(leading):
            return function(*args, **kwargs)
        require_items(product(broadcast_dims(leading)), ValueError,
                      f"`{function.__name__}` does not support zero-size batches.")

        def one(*parts: object) -> object:
            bound.arguments.update(zip(given, parts, strict=True))
            return function(*bound.args, **bound.kwargs)

        found = over_stacks(one, f"scipy.linalg.{function.__name__}", *own)
        return list(found) if isinstance(found, tuple) else found

    return capture


def _flattened(t: Tracer, own: int, shape: tuple[Any, ...]) -> Tracer:
    """Return a stack with one leading axis, for all places of a shape."""
    core = t.dims[len(t.dims) - own:]
    if t.dims != (*shape, *core):
        t = broadcast_to(t, tuple(map(as_operand, (*shape, *core))))
    return t if len(shape) == 1 else apply("reshape", t, shape=(product(shape), *core))


def _unflattened(t: Tracer, shape: tuple[object, ...]) -> Tracer:
    return t if len(shape) == 1 else apply("reshape", t, shape=(*shape, *t.dims[1:]))
