"""The objects that the program holds: reached from names of running captured functions."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, TypeVar

from tracejit.trace.containers.places import Choice
from tracejit.trace.containers.runs import Run, has_runs
from tracejit.trace.ground.context import current
from tracejit.trace.ground.modules import is_followed
from tracejit.trace.ground.source import rewritten_source
from tracejit.trace.ground.upward import above

__all__ = ["binds_arguments", "count_names", "has_iterators", "held_by_program", "holds",
           "reached_from", "walked_by"]

F = TypeVar("F", bound=Callable[..., Any])

_ITERATORS: tuple[type, ...] = (type(iter([])), type(reversed([])))

_DICT_ITERATORS: tuple[type, ...] = tuple(map(type, (
    iter({}), iter({}.values()), iter({}.items()), reversed({}), reversed({}.values()),
    reversed({}.items()))))

_OVER_ITERATORS: tuple[type, ...] = (enumerate, zip, map, filter)

_OPAQUE = (FrameType, ModuleType)
"""Types of objects that are not looked into; of classes, only users' are."""

_HELD: dict[CodeType, tuple[str, ...]] = {}
"""The local names of tracejit's own functions that hold objects for captured code."""

_BINDING: set[CodeType] = set()
"""The functions that hand their arguments over to a captured function, whose names hold them."""


def holds(*names: str) -> Callable[[F], F]:
    """Declare that some local names of a function hold objects for the captured code it calls."""
    def declared(fn: F) -> F:
        _HELD[fn.__code__] = names
        return fn
    return declared


def binds_arguments(fn: F) -> F:
    """Declare that a function calls a captured one, to which its callers' arguments go over."""
    _BINDING.add(fn.__code__)
    return fn


def has_iterators(xs: list[object]) -> bool:
    """Return whether an iterator of Python's is in the midst of a list: it counts places.

    None goes through a run or a list of a pool; to look for one takes as long as a small loop.
    """
    if id(xs) in current().of_pools or has_runs(xs):
        return False
    return any(type(x) in _ITERATORS for x in gc.get_referrers(xs))


def walked_by(x: object) -> Iterator[list[object] | dict[object, object]]:
    """Yield the lists and dicts that Python's iterators go through, an `enumerate` of one say."""
    for inner in gc.get_referents(x) if type(x) in (*_ITERATORS, *_DICT_ITERATORS) else ():
        if type(inner) is list or isinstance(inner, dict):
            yield inner
    for inner in gc.get_referents(x) if type(x) in _OVER_ITERATORS else ():
        for y in inner if type(inner) is tuple else (inner,):
            yield from walked_by(y)


def held_by_program() -> Iterator[Any]:
    """Yield the contents of the names of the captured functions that are running, in any depth."""
    yield from reached_from([v for _, _, contents in _running() for v in contents])


@above
def count_names(x: object) -> int:
    """Return how many names and items of the program hold an object.

    Names that a function has from another one around it count where they are bound.
    """
    pending = [v for frame, names, contents in _running()
               for name, v in zip(names, contents, strict=True)
               if name not in frame.f_code.co_freevars and not isinstance(v, FunctionType)]
    return sum(v is x for v in reached_from(pending))


def _running() -> Iterator[tuple[FrameType, Sequence[str], Sequence[Any]]]:
    """Yield the frames that hold objects for the program, the names that do, and the objects.

    They are those of captured functions, and of functions that wait for one: the arguments of
    `map` are in use while the function runs that it calls. Arguments that became names of a
    captured function are held by these names alone.
    """
    frame: FrameType | None = sys._getframe(1)
    in_program = handed_over = False
    while frame is not None:
        code = frame.f_code
        if rewritten_source(code) is not None:
            in_program, handed_over = True, False
            yield frame, *_contents(frame)
        elif code in _BINDING:
            handed_over = True
        elif code not in _HELD:
            handed_over = False
        elif in_program and not handed_over:
            names, contents = _contents(frame)
            held = [k for k, name in enumerate(names) if name in _HELD[code]]
            yield frame, [names[k] for k in held], [contents[k] for k in held]
        frame = frame.f_back


def _contents(frame: FrameType) -> tuple[list[str], list[Any]]:
    """Return the names of a frame with their contents, of which the frame keeps no copy."""
    found = frame.f_locals
    pair = [*found], [*found.values()]
    if isinstance(found, dict):  # before Python 3.13 a copy that stays with the frame
        found.clear()
    return pair


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
        if isinstance(v, FunctionType):
            pending += [*(v.__closure__ or ()), v.__defaults__, v.__kwdefaults__, v.__dict__]
        elif not isinstance(v, type):
            pending += gc.get_referents(v)
        elif is_followed(v):
            pending += [*vars(v).values(), *v.__bases__]
