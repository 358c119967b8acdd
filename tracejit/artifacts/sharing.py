"""Which of the objects that a program reads are one, and the functions that they lead to."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from types import MethodType
from typing import Any

import numpy as np

from tracejit.artifacts.fingerprints import describe, functions_in
from tracejit.store.digests import digest
from tracejit.trace.state.guards import Condition
from tracejit.trace.state.paths import is_users_type

__all__ = ["alike", "chains"]


def alike(objects: Sequence[object]) -> list[int]:
    """Return, per object, the first that is the same one: sharing is a part of captured state.

    Objects that are equal by value count as themselves.
    """
    first: dict[int, int] = {}
    parts = [part for x in objects for part in _parts(x)]
    return [k if isinstance(x, _BY_VALUE) else first.setdefault(id(x), k)
            for k, x in enumerate(parts)]


_BY_VALUE = (bool, int, float, complex, str, bytes, type(None), np.generic, np.ndarray,
             Condition, MethodType)


def _parts(x: object) -> Iterator[Any]:
    """Yield an object, its classes, and the objects that a method or partial is bound to."""
    yield x
    if isinstance(x, MethodType):
        yield from _parts(x.__self__)
        yield from _parts(x.__func__)
    elif isinstance(x, functools.partial):
        for part in (x.func, *x.args, *x.keywords.values()):
            yield from _parts(part)
    elif isinstance(x, type) or is_users_type(type(x)):
        yield from (x if isinstance(x, type) else type(x)).__mro__


def chains(objects: Sequence[object]) -> list[list[str]]:
    """Return, per object, the code of the functions that it leads to, in order."""
    return [[digest(describe(f.__code__)) for f in functions_in(x)] if callable(x) else []
            for x in objects]
