"""What may be asked of a range, one of whose ends, or the number asked for, is traced."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.lists.ranges import TracedRange
from tracejit.trace.python.kinds_of_values import type_of
from tracejit.trace.python.range_questions import are_equal, is_within, place_of
from tracejit.trace.python.truths import any_of
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.symbolic_ints import of_dim

__all__ = ["attribute_of_range", "is_asked_of_range", "is_in_range",
           "ranges_are_equal"]

_INTS = (int, np.integer, np.bool_)
_UNEQUAL = (str, bytes, type(None), list, tuple, dict, set, frozenset)
"""Types of which nothing equals a number."""


def is_asked_of_range(container: object, item: object) -> bool:
    """Return whether `item in container` is about a range, and one of the two is traced."""
    return isinstance(container, TracedRange) or (
        isinstance(container, range) and isinstance(item, TracedOperand))


def is_in_range(numbers: Any, item: object) -> Any:
    """Return `item in numbers` of a range; a thing that is no number may equal one of them."""
    kind = type_of(item)
    if not issubclass(kind, (*_INTS, float, np.floating)):
        return kind not in _UNEQUAL and any_of(ABOVE.compare("Eq", x, item) for x in numbers)
    return ABOVE.call_function(is_within, (
        item, issubclass(kind, _INTS), numbers.start, numbers.stop, numbers.step), {})


def ranges_are_equal(a: object, b: object) -> Any:
    """Return `a == b`, one of them a traced range; `NotImplemented` where the other is none."""
    if not all(isinstance(x, (range, TracedRange)) for x in (a, b)):
        return NotImplemented
    return ABOVE.call_function(are_equal, (*_identity(a), *_identity(b)), {})


def _identity(numbers: Any) -> tuple[Any, Any, Any]:
    count = of_dim(numbers.count) if isinstance(numbers, TracedRange) else len(numbers)
    return count, numbers.start, numbers.step


def attribute_of_range(numbers: TracedRange, name: str) -> Any:
    """Return `numbers.name`."""
    if name in ("start", "stop", "step"):
        return getattr(numbers, name)
    if name in _METHODS:
        return partial(_METHODS[name], numbers)
    if hasattr(range, name):
        raise refuse(f"the attribute {name!r} of a range whose ends the call decides",
                     "Use a function or an operator that does the same", "TJ122")
    raise AttributeError(f"'range' object has no attribute {name!r}")


def _index(numbers: TracedRange, x: object) -> Any:
    return ABOVE.call_function(place_of, (
        ABOVE.compare("In", x, numbers), x, numbers.start, numbers.step), {})


def _count(numbers: TracedRange, x: object) -> Any:
    return ABOVE.call_function(int, (ABOVE.compare("In", x, numbers),), {})


_METHODS = {"index": _index, "count": _count}
