"""What is in sequences and dicts: their own items, as comparisons of Python go over them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from tracejit.trace.ground.context import current
from tracejit.trace.ground.operators import COMPARISONS
from tracejit.trace.values.operands import TracedOperand

__all__ = ["all_in", "are_compared_by_items", "are_plain_dicts", "has_traced", "own_items"]

SEQUENCES = (tuple, list, deque)
"""The types of containers that compare their items one by one."""


def are_compared_by_items(op: str, a: object, b: object) -> bool:
    """Return whether two things are sequences of one kind, without a comparison of their own."""
    kind = next((t for t in SEQUENCES if isinstance(a, t)), None)
    if kind is None or not isinstance(b, kind):
        return False
    method = COMPARISONS[op].method
    asked = (method, "__iter__") if kind is deque else (method,)  # which goes over itself
    return all(getattr(type(x), m) is getattr(kind, m) for x in (a, b) for m in asked)


def are_plain_dicts(*xs: object) -> bool:
    return all(isinstance(x, dict) and type(x).__eq__ is dict.__eq__
               and id(x) not in current().captured.namespaces for x in xs)


def own_items(x: object) -> list[Any]:
    """Return the items of a container, or none: its own, whatever methods its class defines."""
    if isinstance(x, dict):
        return [*dict.values(x)]
    if isinstance(x, tuple):
        return [*tuple.__iter__(x)]
    if isinstance(x, list):
        return [*list.__iter__(x)]
    return [*deque.__iter__(x)] if isinstance(x, deque) else []


def all_in(xs: Iterable[object]) -> Iterator[object]:
    """Yield things, and all in sequences and dicts among them, each container once."""
    rest, seen = [*xs], set[int]()
    while rest:
        x = rest.pop()
        yield x
        if id(x) not in seen:
            seen.add(id(x))
            rest += own_items(x)


def has_traced(xs: Iterable[object]) -> bool:
    """Return whether things, or items of containers among them, are traced."""
    return any(isinstance(x, TracedOperand) for x in all_in(xs))
