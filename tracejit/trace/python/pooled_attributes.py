"""Attributes of objects that data chooses among: the lists that hold them.

Captured like users' code. An object has a number, and each attribute of its class a list with the
object's value at that index; the list may be shorter as long as the last objects have no value.
"""

from __future__ import annotations

from typing import Any

from tracejit.trace.lists.orders import is_empty, is_known
from tracejit.trace.lists.pools import in_one_run, lengthens, place_here

__all__ = ["counted_in", "optional_of", "put", "put_optional", "thing_of"]


def counted_in(made: list[int], *others: list[Any]) -> Any:
    """Return the number of a new object; its attributes are in other lists."""
    lengthens(made, 0, *others)
    number = len(made)
    made.append(0)
    return number


def thing_of(things: list[Any], k: int) -> Any:
    """Return the attribute of object k."""
    if not is_known(k):
        in_one_run(things)
        k = place_here(things, k)
    return things[k]


def _replace(things: list[object], k: int, x: object) -> None:
    if not is_known(k):
        in_one_run(things)
        k = place_here(things, k)
    things[k] = x


def put(things: list[Any], k: int, x: object, is_last: bool) -> None:
    """Set the attribute of object k.

    is_last -- whether all objects before it have the attribute, and it has not
    """
    lengthens(things, x)
    if is_last:
        things.append(x)
    elif k < len(things):
        _replace(things, k, x)
    else:
        for _ in range(len(things), k + 1):
            things.append(x)


def put_optional(some: list[int], things: list[object], k: int, x: object, is_last: bool) -> None:
    """Set the attribute of object k to something or None."""
    if x is None:
        put(some, k, 0, is_last)
    else:
        put(some, k, 1, is_last)
        put(things, k, x, False)


def optional_of(some: list[int], things: list[object], k: int) -> Any:
    """Return the attribute of object k, which may be None."""
    if is_empty(things) or thing_of(some, k) == 0:
        return None
    return thing_of(things, k)
