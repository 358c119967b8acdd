"""Iterators twice: another that goes on where one is, for code that is traced more than once."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from tracejit.trace.ground.context import refuse

__all__ = ["repeatable"]

_OF_NOTHING: tuple[Any, ...] = (
    iter([]), iter(()), iter(range(0)), iter(range(1 << 70)), iter(""), iter(b""), iter({}),
    iter({}.values()), iter({}.items()), iter(set()), reversed([]))
_PLAIN = tuple(map(type, _OF_NOTHING))
"""The iterators of which a copy goes on by itself."""


def repeatable(iterator: Iterator[object]) -> Callable[[], Iterator[Any]]:
    """Return a function that gives the rest of an iterator, as often as it is called.

    Of an iterator of which there is no second one the rest can be had once; `Refusal` afterwards.
    """
    kept = _second(iterator)
    if kept is not None:
        return lambda: _second(kept) or kept
    given: list[Iterator[Any]] = [iterator]

    def once() -> Iterator[Any]:
        if not given:
            raise refuse("a list that gets longer in a loop that data may leave, over an iterator",
                         "Run over a list: list(...)", "TJ409")
        return given.pop()

    return once


def _second(iterator: Any) -> Any:
    """Return an iterator in the same state; None where there is none."""
    kind = type(iterator)
    if kind in _PLAIN:
        return copy.copy(iterator)
    if kind not in (map, zip, enumerate):
        return None
    _, parts, *state = iterator.__reduce__()
    inner = parts[1:] if kind is map else parts[:1] if kind is enumerate else parts
    seconds = [_second(x) for x in inner]
    if any(x is None for x in seconds):
        return None
    if kind is map:
        return map(parts[0], *seconds)
    if kind is enumerate:
        return enumerate(seconds[0], parts[1])
    return zip(*seconds, strict=bool(state and state[0]))
