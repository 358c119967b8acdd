"""Control flow as functions: `cond`, `while_loop`, `fori_loop`, `scan`, `map`.

They are ordinary Python, captured like the user's own functions; so they build the same regions as
`if`, `while` and `for` do, and without a capture they simply run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from tracejit.trace.ground.context import is_tracing
from tracejit.trace.python.mapping import begin_scan, common_size, fill_item, item_tree, trace_map
from tracejit.tree import flatten, leaf_names, unflatten

__all__ = ["cond", "fori_loop", "map", "scan", "while_loop"]

T = TypeVar("T")


def cond(pred: object, true_fun: Callable[..., T], false_fun: Callable[..., T],
         *operands: object) -> T:
    """Return `true_fun(*operands)` where `pred` holds, else `false_fun(*operands)`.

    pred     -- a bool, or a number of shape () of which the truth is taken
    true_fun, false_fun -- functions of the operands; their results are of one structure, and of the
                same shapes and dtypes
    operands -- arrays, numbers, or nests of them

    >>> import tracejit
    >>> tracejit.cond(2.0 > 1.0, lambda x: x + 1.0, lambda x: x - 1.0, 5.0)
    6.0
    """
    if pred:
        result = true_fun(*operands)
    else:
        result = false_fun(*operands)
    return result


def while_loop(cond_fun: Callable[[T], object], body_fun: Callable[[T], Any], init_val: T) -> T:
    """Apply `body_fun` to a value while `cond_fun` of it holds, and return the last value.

    cond_fun -- a function of the value that returns a bool, or a number of shape ()
    body_fun -- a function of the value that returns one of the same structure, shapes and dtypes
    init_val -- the first value: an array, a number, or a nest of them

    It has gradients in both modes, like a `while` statement.

    >>> import tracejit
    >>> tracejit.while_loop(lambda x: x < 100.0, lambda x: x * 3.0, 5.0)
    135.0
    """
    val = init_val
    while cond_fun(val):
        val = body_fun(val)
    return val


def fori_loop(lower: int, upper: int, body_fun: Callable[[int, T], Any], init_val: T) -> T:
    """Apply `value = body_fun(i, value)` for i = lower, ..., upper - 1, and return the value.

    lower, upper -- integers of shape ()
    body_fun     -- a function of an index and a value that returns a value of the same structure,
                    shapes and dtypes
    init_val     -- the first value: an array, a number, or a nest of them

    >>> import tracejit
    >>> tracejit.fori_loop(0, 5, lambda i, x: x + i, 0)
    10
    """
    val = init_val
    for i in range(lower, upper):
        val = body_fun(i, val)
    return val


def scan(f: Callable[[T, Any], Any], init: T, xs: object = None, length: int | None = None,
         reverse: bool = False) -> tuple[T, Any]:
    """Run `carry, y = f(carry, x)` over the first axis of arrays; return the carry and stacked ys.

    f       -- a function of a carry and an item that returns (carry, y); the carry keeps its
               structure, shapes and dtypes
    init    -- the first carry: an array, a number, or a nest of them
    xs      -- an array or a nest of arrays with first axes of one size, or None
    length  -- how many iterations, where xs is None
    reverse -- whether to go from the last x to the first; each y stands where its x does

    Raises `ValueError` for first axes of different sizes, or neither xs nor length; `TypeError`
    where f returns no pair or changes the structure of its carry.

    >>> import numpy as np, tracejit
    >>> total, sums = tracejit.scan(lambda s, x: (s + x, s + x), 0.0, np.array([1.0, 2.0, 3.0]))
    >>> sums
    array([1., 3., 6.])
    """
    size = _length(xs, length)
    if not is_tracing():
        return _run_scan(f, init, xs, size, reverse)
    carry, buffers, structure = begin_scan(f, init, xs, size)
    for k in range(size):
        i = size - 1 - k if reverse else k
        carry, y = f(carry, item_tree(xs, i))
        fill_item(buffers, i, y, structure)
    return carry, unflatten(structure, iter(buffers))


def _length(xs: object, length: int | None) -> Any:
    """Return the number of iterations."""
    leaves, structure = flatten(xs)
    if not leaves:
        if length is None:
            raise ValueError("scan needs xs, or the number of iterations as length")
        return length
    if not is_tracing():
        sizes = {np.shape(x)[0] if np.ndim(x) else None for x in leaves}
        if len(sizes) > 1 or None in sizes or length not in (None, *sizes):
            raise ValueError("scan runs over the first axes of xs, which must be of one size; "
                             f"their shapes are {[np.shape(x) for x in leaves]}")
        return sizes.pop()
    return common_size(leaves, [0] * len(leaves), leaf_names(structure, "xs"), "scan")


def _run_scan(f: Callable[[Any, Any], Any], init: object, xs: object, size: int,
              reverse: bool) -> tuple[Any, Any]:
    """Scan without a capture, in Python."""
    leaves, structure = flatten(xs)
    carry, found = init, []
    for k in range(size):
        i = size - 1 - k if reverse else k
        carry, y = f(carry, unflatten(structure, iter([x[i] for x in leaves])))
        found.append(y)
    return carry, _stacked(found[::-1] if reverse else found)


def _stacked(results: list[object]) -> Any:
    """Return nests of numbers and arrays, one per element, as one nest of arrays."""
    if not results:
        raise ValueError("without elements there is no result whose type could be known; call it "
                         "under tracejit.jit")
    columns = zip(*(flatten(y)[0] for y in results), strict=True)
    return unflatten(flatten(results[0])[1], iter([np.stack(column) for column in columns]))


def map(f: Callable[[Any], object], xs: object) -> Any:
    """Return `f(x)` for every x along the first axis of arrays, stacked.

    f  -- a function of one item: an array's row, an element, or a nest of them
    xs -- an array or a nest of arrays with first axes of one size

    The elements are independent of one another: f may read outer names, not write to them.

    >>> import numpy as np, tracejit
    >>> tracejit.map(lambda row: row.sum() ** 2, np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([ 9., 49.])
    """
    leaves, structure = flatten(xs)
    if is_tracing():
        size = common_size(leaves, [0] * len(leaves), leaf_names(structure, "xs"), "map")
        return trace_map(size, lambda i: f(item_tree(xs, i)), "map")[0]
    return _stacked([f(unflatten(structure, iter([x[i] for x in leaves])))
                     for i in range(len(leaves[0]))])
