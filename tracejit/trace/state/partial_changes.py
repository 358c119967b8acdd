"""Containers that code of Python's changes piece by piece while captured code runs in its midst.

    try:
        found.update(f(v) for v in x)    an error of the third item leaves two items there
    except ValueError:
        ...

Where an operation in such code may raise an error of the run that a `try` catches, what the
container holds then is what Python's code has put there by that time, which no hook tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tracejit.errors import Restart, TracejitError
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.restarts import Unroll
from tracejit.trace.state.changes import is_from_around
from tracejit.trace.state.contents import has_changed, parts_of, put_parts

__all__ = ["without_partial_changes"]

Parts = dict[Any, Any]
"""The content of a container by place."""

Watched = Sequence[tuple[Any, Parts]]
"""Containers with what they held."""

_AT_ONCE = frozenset(("list.append()", "list.pop()", "list.insert()", "list.clear()"))
"""Frequent calls that run no code of the user's."""


@contextmanager
def without_partial_changes(given: Iterable[object], watched: Watched,
                            what: str) -> Iterator[None]:
    """Refuse a call that changes containers if a `try` catches an error in its midst.

    given   -- what the call gets
    watched -- what it may reach and regions around know, with contents to put back on errors
    what    -- how messages call it: "set.update()"
    """
    trace = current()
    opened = len(trace.opened)
    asks = bool(trace.attempts) and what not in _AT_ONCE
    before = [(x, parts) for x in given if asks and (parts := parts_of(x)) is not None]
    try:
        yield
    except (TracejitError, Restart, Unroll):
        _put_back([*watched, *before])  # it may be tried again
        raise
    except Exception:
        _refuse_changes([found for found in before
                         if len(trace.opened) > opened or is_from_around(found[0])], what)
        _put_back(watched)
        raise
    if len(trace.opened) > opened:
        _refuse_changes(before, what)


def _put_back(before: Watched) -> None:
    for x, parts in before:
        if has_changed(x, parts):
            put_parts(x, parts_of(x) or {}, parts)


def _refuse_changes(before: Watched, what: str) -> None:
    if any(has_changed(x, parts) for x, parts in before):
        raise refuse(f"{what} of items that are made one by one, in a `try` that catches an error "
                     "of one of them", "Make a list of the items first, or put them in by a loop",
                     "TJ105")
