"""The functions and calls on which a program came to depend in its capture, besides guards."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

__all__ = ["Dependencies", "collecting", "note_function", "note_hash", "note_impure", "note_order",
           "note_rule", "note_unseen"]


class Dependencies:
    """The functions that a capture went through, the users' gradients that it used, the rest.

    functions -- each once
    rules     -- by op type: the function that was registered, or None for a `no_gradient` mark
    impure    -- calls whose result may be another one in another process
    unseen    -- calls whose result may be another one at the next call
    """

    def __init__(self) -> None:
        self.functions: dict[FunctionType, None] = {}
        self.rules: dict[str, Any] = {}
        self.impure: dict[str, None] = {}
        self.unseen: dict[str, None] = {}


class _Collecting(threading.local):
    def __init__(self) -> None:
        self.open: list[Dependencies] = []


_COLLECTING = _Collecting()


@contextmanager
def collecting() -> Iterator[Dependencies]:
    """Yield the dependencies that are noted inside a `with` block."""
    found = Dependencies()
    _COLLECTING.open.append(found)
    try:
        yield found
    finally:
        _COLLECTING.open.remove(found)


def note_function(fn: FunctionType) -> None:
    """Note that a function's code became part of the program."""
    for found in _COLLECTING.open:
        found.functions[fn] = None


def note_rule(op_type: str, rule: object) -> None:
    """Note that a gradient was used that a user had registered, or a mark."""
    for found in _COLLECTING.open:
        found.rules[op_type] = rule


def note_impure(text: str) -> None:
    """Note a call whose result became part of the program, and may be another one elsewhere."""
    for found in _COLLECTING.open:
        found.impure[text] = None


def note_order(x: object) -> None:
    """Note a set of which the order is another one in each process: by hashes of texts, or ids."""
    if type(x) in (set, frozenset) and not all(map(_is_hashed_alike, x)):  # type: ignore[call-overload]
        note_impure("the iterator of a set")


def note_hash(x: object) -> None:
    """Note that a hash became part of the program, where it is another one in each process."""
    if not _is_hashed_alike(x):
        note_impure("hash")


def _is_hashed_alike(x: object) -> bool:
    """Return whether an object has one hash in all processes."""
    return type(x) in _HASHED_ALIKE or (type(x) is tuple and all(map(_is_hashed_alike, x)))


_HASHED_ALIKE = {bool, int, float, complex}


def note_unseen(text: str) -> None:
    """Note a read that no guard sees: the program holds for one call."""
    for found in _COLLECTING.open:
        found.impure[text] = None
        found.unseen[text] = None
