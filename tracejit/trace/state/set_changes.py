"""Changes of sets: the regions around are asked before one is made.

The order of a set's items rests on all its changes so far, also on those that were undone, and so
does the item that `pop` takes. Nothing puts that back: a set changes where it changes in Python.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import suppress
from types import BuiltinMethodType
from typing import Any

from tracejit.trace.containers.container_aliases import refuse_joined_change
from tracejit.trace.ground.context import current
from tracejit.trace.state.changes import is_from_around, is_iterator, known_container

__all__ = ["settle_set_change"]

_IN_PLACE: tuple[Any, ...] = (operator.ior, operator.iand, operator.isub, operator.ixor)
_CHANGING = frozenset(("add", "clear", "difference_update", "discard", "intersection_update", "pop",
                       "remove", "symmetric_difference_update", "update", "__ior__", "__iand__",
                       "__isub__", "__ixor__"))


def settle_set_change(fn: Callable[..., object], args: tuple[object, ...], what: str) -> None:
    """Let the regions around know of a call that changes a set, before it does.

    what -- how messages call it: "set.add()"
    """
    x = getattr(fn, "__self__", None)
    if not (isinstance(x, set) and isinstance(fn, BuiltinMethodType)):
        if not (args and isinstance(args[0], set) and (
                any(fn is f for f in _IN_PLACE) or getattr(fn, "__objclass__", None) is set)):
            return
        x, args = args[0], args[1:]
    name = getattr(fn, "__name__", "")
    method = getattr(set, name if name in _CHANGING else f"__{name}__", None)
    if method is None or method.__name__ not in _CHANGING or not is_from_around(x):
        return
    copy = set.copy(x)
    if not any(map(is_iterator, args)):  # which a try would move on
        with suppress(Exception):  # the call raises it
            method(copy, *args)
        if copy == x:
            return
    current().captured.refuse_change(x)
    refuse_joined_change(x)
    known_container(x, what)
