"""Functions of matrices on stacks of matrices: one map over the leading axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracejit.ir.dims import product
from tracejit.numpy_api.shapes import broadcast_to
from tracejit.trace.python.mapping import item_of, trace_map
from tracejit.trace.values.equations import apply, as_operand, broadcast_dims
from tracejit.trace.values.symbolic_ints import of_dim
from tracejit.trace.values.tracer import Tracer

__all__ = ["over_stacks"]


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


def _flattened(t: Tracer, own: int, shape: tuple[Any, ...]) -> Tracer:
    """Return a stack with one leading axis, for all places of a shape."""
    core = t.dims[len(t.dims) - own:]
    if t.dims != (*shape, *core):
        t = broadcast_to(t, tuple(map(as_operand, (*shape, *core))))
    return t if len(shape) == 1 else apply("reshape", t, shape=(product(shape), *core))


def _unflattened(t: Tracer, shape: tuple[object, ...]) -> Tracer:
    return t if len(shape) == 1 else apply("reshape", t, shape=(*shape, *t.dims[1:]))
