"""`checkpoint`: of functions, and of loops with a number of snapshots."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

from tracejit.trace.ground.context import is_tracing
from tracejit.trace.lists.iterables import Iterated, TracedIterable, counted
from tracejit.trace.lists.ranges import constant_range
from tracejit.trace.values.eager import holds_recorded, record_whole, watches
from tracejit.trace.values.equations import emit, lift
from tracejit.trace.values.tracer import Tracer
from tracejit.transforms.nested import capture_block, tracer_of_atom
from tracejit.tree import flatten, unflatten

__all__ = ["checkpoint", "recompute_grad"]

P = ParamSpec("P")
T = TypeVar("T")


@overload
def checkpoint(what: Callable[P, T], *, snapshots: None = ...) -> Callable[P, T]: ...


@overload
def checkpoint(what: Iterable[T], *, snapshots: int) -> Iterable[T]: ...


@overload
def checkpoint(*, snapshots: None = ...) -> Callable[[Callable[P, T]], Callable[P, T]]: ...


def checkpoint(what: object = None, *, snapshots: int | None = None) -> Any:
    """Compute again on the way back, in place of storing: less memory for more time.

    what      -- a function, of which only the values that it reads are stored; or the iterable
                 of a `for`: `for i in checkpoint(range(n), snapshots=20)`
    snapshots -- for a loop, how many of its states to keep: the memory is for that many, however
                 often it runs; with s of them and each iteration computed again at most r times
                 it may run C(s + r, s) times, so with 20 and 8 more than three million times

    Values and gradients stay the same. In forward mode, and where nothing is
    differentiated, it changes nothing.

    Raises `TypeError` for objects that are neither a function nor an iterable, `ValueError` for
    fewer than one snapshot.

    >>> import numpy as np, tracejit
    >>> @tracejit.grad
    ... def slope(x):
    ...     for i in tracejit.checkpoint(range(1000), snapshots=8):
    ...         x = x + 0.001 * np.cos(x)
    ...     return x
    >>> float(round(slope(0.3), 6))
    0.529
    """
    if what is None:
        return lambda f: checkpoint(f, snapshots=snapshots)
    if callable(what) and not isinstance(what, Tracer):
        if snapshots is not None:
            raise TypeError("snapshots are for loops: for i in checkpoint(range(n), snapshots=...)")
        return _checkpointed(what)
    if not isinstance(what, (range, list, tuple, np.ndarray, Tracer, Iterated, TracedIterable,
                             enumerate, zip, reversed)):
        raise TypeError(f"checkpoint takes a function or what a `for` runs over, not {what!r}")
    if not isinstance(snapshots, int) or isinstance(snapshots, bool):
        raise TypeError("a loop needs the number of snapshots: checkpoint(range(n), snapshots=20), "
                        f"not {snapshots!r}")
    if snapshots < 1:
        raise ValueError(f"snapshots must be 1 or more, not {snapshots}")
    if not is_tracing():
        return what
    items = counted(lift(what) if isinstance(what, np.ndarray) else what)
    if items is None and isinstance(what, range) and len(what) > 1:
        items = constant_range(what)
    if items is None:
        return what
    result = TracedIterable(items.lo, items.hi, items.item, items.what, items.reverse)
    result.snapshots = snapshots
    return result


def recompute_grad(f: Callable[P, T]) -> Callable[P, T]:
    """Return a function of which nothing is stored but the values it reads: `checkpoint(f)`.

    f -- a function of arrays, numbers and nests of them

    Raises `TypeError` where `f` cannot be called.

    >>> import tracejit
    >>> float(tracejit.grad(tracejit.recompute_grad(lambda x: x * x))(3.0))
    6.0
    """
    if not callable(f):
        raise TypeError(f"recompute_grad takes a function, not {f!r}")
    return _checkpointed(f)


def _checkpointed(fn: Callable[P, T]) -> Callable[P, T]:

    @functools.wraps(fn)
    def checkpointed(*args: P.args, **kwargs: P.kwargs) -> Any:
        if not is_tracing():
            if watches() or holds_recorded((args, kwargs)):
                return record_whole(checkpointed, args, kwargs)
            return fn(*args, **kwargs)
        leaves, structure = flatten((args, kwargs))
        leaves = [lift(x) if isinstance(x, np.ndarray) else x for x in leaves]
        block, weak, out_structure, constants, _ = capture_block(fn, leaves, structure, [],
                                                                   "checkpoint")
        results = [tracer_of_atom(v, w) for v, w in zip(
            emit("checkpointed", [], {}, [block]), weak, strict=True)]
        rest = iter(results)
        return unflatten(out_structure, iter([next(rest) if c is None else c[0]
                                              for c in constants]))

    return checkpointed
