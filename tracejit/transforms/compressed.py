"""The elements of a sparse Jacobian by products with sums of its columns or rows, compiled once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tracejit.runtime.function import Function
from tracejit.transforms.products import linearized, name_of, pullback_along
from tracejit.transforms.public import jit

if TYPE_CHECKING:
    from tracejit.trace.values.tracer import Tracer

__all__ = ["Mode", "elements_by_columns", "elements_by_rows"]

Mode = Literal["auto", "fwd", "rev"]

_OTHER_SIZE = "the function's result has another size than its pattern has rows"


def elements_by_columns(fn: Callable[..., object], argnum: int, **settings: Any) -> Function:
    """Return a function of (colors, rounds, places, size, *args): one tangent for each colour.

    colors -- for each element of the argument, in its shape, the colour of its column
    rounds -- the colours
    places -- per element of the Jacobian, where it lies in the products, one after the other
    size   -- how many elements the result has
    """
    def elements(colors: np.ndarray, rounds: np.ndarray, places: np.ndarray, size: int,
                 *args: object, **kwargs: object) -> Any:
        from tracejit.trace.values.equations import lift

        dtype = lift(args[argnum]).dtype
        _, linear = linearized(fn, argnum, args, kwargs)

        def product(color: object) -> Any:
            v = np.where(colors == color, dtype.type(1), dtype.type(0))
            return linear(v)

        return _picked(product, rounds, places, size)

    elements.__name__ = f"sparse_jacobian[{name_of(fn)}]"
    return jit(elements, **settings)


def elements_by_rows(fn: Callable[..., object], argnum: int, **settings: Any) -> Function:
    """Return a function of (colors, rounds, places, size, *args): one pullback for each colour.

    colors -- per element of the result, the colour of its row
    size   -- how many elements the argument has
    """
    def elements(colors: np.ndarray, rounds: np.ndarray, places: np.ndarray, size: int,
                 *args: object, **kwargs: object) -> Any:
        from tracejit.trace.values.equations import dims_of, lift
        from tracejit.trace.values.python_numbers import require_ours

        value, pullback = pullback_along(fn, argnum, args, kwargs)
        value = lift(value)
        flat = _flat(value)
        require_ours(flat.shape[0] == colors.shape[0], ValueError, _OTHER_SIZE)

        def product(color: object) -> Any:
            w = np.where(colors == color, value.dtype.type(1), value.dtype.type(0))
            dims = dims_of(value)
            return pullback(_apply("reshape", w, shape=dims) if dims else w[0])

        return _picked(product, rounds, places, size)

    elements.__name__ = f"sparse_jacobian[{name_of(fn)}]"
    return jit(elements, **settings)


def _picked(product: Callable[[object], object], rounds: np.ndarray, places: np.ndarray,
            size: int) -> Any:
    """Return the elements at places in the products for all colours."""
    from tracejit.trace.python.mapping import trace_map
    from tracejit.trace.values.equations import cast, dims_of, lift
    from tracejit.trace.values.python_numbers import require_ours
    from tracejit.trace.values.symbolic_ints import of_dim

    (count,) = dims_of(lift(rounds))
    found = lift(trace_map(of_dim(count), lambda k: product(rounds[k]), "sparse_jacobian")[0])
    flat = _flat(found)
    require_ours(flat.shape[0] == rounds.shape[0] * size, ValueError, _OTHER_SIZE)
    return _apply("gather", flat, cast(places, np.dtype(np.int64)), axes=(0,), position=0)


def _flat(x: Tracer) -> Any:
    from tracejit.ir.dims import product

    return _apply("reshape", x, shape=(product(x.dims),))


def _apply(op: str, *operands: object, **params: object) -> Any:
    from tracejit.trace.values.equations import apply

    return apply(op, *operands, **params)
