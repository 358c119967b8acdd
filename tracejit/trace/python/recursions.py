"""Recursions on data: after so many levels the function is captured again, as a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import NoReturn

from tracejit.trace.ground.context import bare_size, current
from tracejit.trace.ground.restarts import NeedStack
from tracejit.trace.ground.source import rewritten_source
from tracejit.trace.syntax.recursion import PlaceOfFunction
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.tracer import Tracer

__all__ = ["bounded_recursion", "need_stack"]


@contextmanager
def bounded_recursion(fn: FunctionType, new: Callable[..., object],
               args: tuple[object, ...]) -> Iterator[None]:
    """Bound a recursion of which every level is in a region of its own.

    Where sizes are not known, an array that gets smaller has sizes that get longer and longer: the
    capture begins again with them as Python ints. Where none are left it begins again with the
    function as a loop.
    """
    trace = current()
    levels = trace.recursions.setdefault(fn.__code__, [])
    if len({*levels, trace.depth}) > len(levels) >= 3:
        for d in [d for x in args if isinstance(x, Tracer) for d in x.dims]:
            if bare_size(d) is None:
                need_int(d, "a recursion on a size")
    many = 64 if trace.is_unrolled else _FEW if trace.pool_facts.classes else 8
    if trace.depth not in levels and len({*levels}) >= many:
        need_stack(place_of_function(fn))
    if trace.is_unrolled and len({*levels}) >= 8:
        trace.deep_calls += 1
        if trace.deep_calls > _MANY_CALLS:
            need_stack(place_of_function(fn))
    if len(levels) >= _DEEP:
        trace.deep = place_of_function(fn)
    levels.append(trace.depth)
    trace.running.append((fn, new))
    try:
        yield
    finally:
        levels.pop()
        trace.running.pop()


_FEW = 2
"""How many calls are captured one by one where data chooses objects, of which there are many."""


_MANY_CALLS = 200
"""How many calls are captured one by one that are eight regions deep: each takes as long."""


_DEEP = 16
"""From so many levels on a recursion is taken for the cause, should Python's stack be full."""


def place_of_function(fn: FunctionType) -> tuple[str, CodeType, PlaceOfFunction]:
    """Return the file and code of a function or of one around it, and its place there."""
    code = fn.__code__
    source = rewritten_source(code)
    if source is None:
        return code.co_filename, code, None
    return source.file, source.code, (code.co_firstlineno, code.co_name)


def need_stack(function: tuple[str, CodeType, PlaceOfFunction]) -> NoReturn:
    """Begin again with a function as a loop; raise `RecursionError` where it is one."""
    trace = current()
    if not trace.restarts or function in trace.functions_as_loops:
        raise RecursionError
    raise NeedStack(function)
