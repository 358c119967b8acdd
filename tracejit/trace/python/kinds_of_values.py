"""The types of traced values as users see them, and the question whether a value is traced."""

from __future__ import annotations

from collections import deque
from collections.abc import ValuesView

import numpy as np

from tracejit.trace.containers.numbered import ObjectReference
from tracejit.trace.containers.runs import Run
from tracejit.trace.containers.stand_ins import StandIn
from tracejit.trace.ground.context import current
from tracejit.trace.lists.iterables import TracedIterable
from tracejit.trace.lists.ranges import TracedRange
from tracejit.trace.values.mixed import Merged
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__ = ["LIKE_LISTS", "asked_type_of", "holds_traced", "type_of"]


LIKE_LISTS = (deque, ValuesView)
"""The types that NumPy takes for lists, besides lists and tuples."""


def holds_traced(x: object) -> bool:
    """Return whether an argument is traced or is a list or tuple with something traced in it."""
    if isinstance(x, (list, tuple, *LIKE_LISTS)):
        return any(map(holds_traced, x))
    return isinstance(x, (TracedOperand, TracedIterable, Run)) or (
        isinstance(x, ObjectReference) and type(x._number) is not int) or (
        "has_captured_operators" in vars(type(x)))  # a sparse matrix that captured code made


def type_of(x: object) -> type:
    """Return `type(x)`; of a traced value, the type of the number or array that it stands for."""
    if isinstance(x, SymInt):
        return int
    if hasattr(type(x), "stands_for"):
        passes_for: type = x.stands_for  # type: ignore[attr-defined]
        return passes_for
    if isinstance(x, StandIn):
        return x.kind
    if isinstance(x, TracedRange):
        return range
    if not isinstance(x, Tracer):
        cls: type = current().captured.class_of(x)
        return cls
    if isinstance(x, Merged):
        x.tell_apart()
    if x.is_array:
        return np.ndarray
    plain: type = {"f": float, "i": int, "c": complex, "b": bool}.get(x.dtype.kind, x.dtype.type)
    return plain if x.weak else x.dtype.type


def asked_type_of(x: object) -> type:
    """Return `type(x)` where the program asks; refuse it of an array that may be of a subclass."""
    if isinstance(x, Tracer) and x.is_array and not isinstance(x, Merged):
        current().memory.require_plain()
    return type_of(x)
