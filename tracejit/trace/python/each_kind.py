"""NumPy's functions of numbers that are of several kinds: refused where their results tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from tracejit.trace.ground.context import current
from tracejit.trace.values.mixed import Merged, keys_of, one_of_kind
from tracejit.trace.values.python_numbers import require_ours
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__ = ["require_one_type"]

_WRITING = {np.copyto, np.place, np.put, np.fill_diagonal, np.put_along_axis}
"""The functions that return None."""


class _Tried(Exception):
    """Internal: a trial is over, and its equations are dropped."""


def require_one_type(capture: Callable[..., Any], fn: Any, args: tuple[Any, ...],
                     kwargs: dict[str, Any]) -> None:
    """See to it that numbers are of the kind that they join to, where a function's results tell.

    The function is tried with all of the first kinds, and with all of the others; the trials leave
    nothing behind. Results of ints beside floats are floats. Where other types differ, and the run
    knows of which kind a number is, it raises an error.
    """
    several = {id(x): x for x in _numbers((args, tuple(kwargs.values())))}
    if not several or fn in _WRITING:
        return
    orders = [sorted(keys_of(x.kinds), key=str) for x in several.values()]
    turns = max(map(len, orders))
    types = {_types_of(capture, *_with((args, kwargs), several, dict(zip(
        several, (keys[turn % len(keys)] for keys in orders), strict=True))))
        for turn in range(turns)}
    if len(types) == 1:
        return
    for x in several.values():
        key = (x.dtype, x.weak)
        if key not in keys_of(x.kinds):
            x.tell_apart()
        require_ours(x.is_of(key), TypeError, f"a number is of another type than {_name(key)} "
                     "here, which decides on the type of a result: give it one type on all paths")


def _numbers(x: Any) -> Iterator[Merged]:
    if isinstance(x, Merged):
        yield x
    elif isinstance(x, (list, tuple)):
        for item in x:
            yield from _numbers(item)


def _with(x: Any, several: dict[int, Merged], chosen: dict[int, Any]) -> Any:
    """Return arguments with a number of its chosen kind in place of each number of several."""
    if isinstance(x, Merged):
        return one_of_kind(several[id(x)], chosen[id(x)])
    if type(x) in (list, tuple):
        return type(x)(_with(item, several, chosen) for item in x)
    if type(x) is dict:
        return {name: _with(item, several, chosen) for name, item in x.items()}
    return x


def _types_of(capture: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    found: Any = None
    with suppress(_Tried), current().builder.undone_if_raised():
        try:
            found = _type(capture(*args, **kwargs))
        except (TypeError, ValueError, ArithmeticError) as error:
            found = str(error)
        raise _Tried
    return found


def _name(key: Any) -> str:
    dtype, weak = key
    return type(dtype.type(0).item()).__name__ if weak else str(dtype)


def _type(x: Any) -> Any:
    if isinstance(x, Tracer):
        return x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64), x.ndim
    if isinstance(x, SymInt):
        return np.dtype(np.float64), 0
    return tuple(map(_type, x)) if isinstance(x, (list, tuple)) else type(x)
