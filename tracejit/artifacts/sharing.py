"""What of the objects that a program reads is one object, and which functions they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.artifacts.fingerprints import describe, digest, functions_in
from tracejit.trace.guards import Condition

__all__ = ["alike", "chains"]


def alike(objects: Sequence[Any]) -> list[int]:
    """Return, per object, the first that is the same one: sharing is a part of what was captured.

    What is equal by value counts as itself.
    """
    first: dict[int, int] = {}
    return [k if isinstance(x, _BY_VALUE) else first.setdefault(id(x), k)
            for k, x in enumerate(objects)]


_BY_VALUE = (bool, int, float, complex, str, bytes, type(None), np.generic, np.ndarray,
             Condition)


def chains(objects: Sequence[Any]) -> list[list[str]]:
    """Return, per object, the code of the functions that it leads to, in order."""
    return [[digest(describe(f.__code__)) for f in functions_in(x)] if callable(x) else []
            for x in objects]
