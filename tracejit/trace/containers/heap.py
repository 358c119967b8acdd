"""The objects that the program holds: reached from names of running captured functions."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from types import FrameType, FunctionType, ModuleType
from typing import Any

from tracejit.trace.containers.places import Choice
from tracejit.trace.containers.runs import Run
from tracejit.trace.ground.source import rewritten_source
from tracejit.trace.ground.upward import above

__all__ = ["count_names", "has_iterators", "held_by_program", "reached_from",
           "walked_by"]

_ITERATORS: tuple[type, ...] = (type(iter([])), type(reversed([])))

_OVER_ITERATORS: tuple[type, ...] = (enumerate, zip, map, filter)

_OPAQUE = (FrameType, ModuleType, type)
"""Types of objects that are not looked into."""


def has_iterators(xs: list[object]) -> bool:
    """Return whether an iterator of Python's is in the midst of a list: it counts places."""
    return any(type(x) in _ITERATORS for x in gc.get_referrers(xs))


def walked_by(x: object) -> Iterator[list[object]]:
    """Yield the lists that Python's iterators go through, an `enumerate` or `zip` of lists say."""
    for inner in gc.get_referents(x) if type(x) in _ITERATORS else ():
        if type(inner) is list:
            yield inner
    for inner in gc.get_referents(x) if type(x) in _OVER_ITERATORS else ():
        for y in inner if type(inner) is tuple else (inner,):
            yield from walked_by(y)


def held_by_program() -> Iterator[Any]:
    """Yield the contents of the names of the captured functions that are running, in any depth."""
    pending: list[Any] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if rewritten_source(frame.f_code) is not None:
            names = frame.f_locals
            pending += names.values()
            if isinstance(names, dict):  # before Python 3.13 a copy that stays with the frame
                names.clear()
        frame = frame.f_back
    yield from reached_from(pending)


@above
def count_names(x: object) -> int:
    """Return how many names and items of the program hold an object.

    Names that a function has from another one around it count where they are bound.
    """
    pending: list[Any] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if rewritten_source(frame.f_code) is not None:
            free = frame.f_code.co_freevars
            pending += [v for name, v in frame.f_locals.items() if name not in free
                        and not isinstance(v, FunctionType)]
        frame = frame.f_back
    return sum(v is x for v in reached_from(pending))


def reached_from(pending: list[object]) -> Iterator[Any]:
    """Yield some objects and all objects that these refer to, in any depth."""
    seen: set[int] = set()
    while pending:
        v = pending.pop()
        yield v
        if id(v) in seen or not gc.is_tracked(v) or isinstance(v, _OPAQUE) or (
                type(v).__module__.startswith("tracejit.") and not isinstance(v, (Run, Choice))
                and not hasattr(type(v), "is_held")):
            continue
        seen.add(id(v))
        pending += ([*(v.__closure__ or ()), v.__defaults__, v.__kwdefaults__]
                    if isinstance(v, FunctionType) else gc.get_referents(v))
