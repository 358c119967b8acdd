"""Things that methods of the user's put in order: whether data says what these find."""

from __future__ import annotations

import operator

import numpy as np

from tracejit.trace.ground.context import current
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.python.special_methods import special_method
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__ = ["are_compared_by_data", "compares_itself"]


def compares_itself(x: object) -> bool:
    """Return whether an object's class compares it by a method of the user's."""
    return not isinstance(x, (Tracer, SymInt, np.ndarray, np.generic, int, float, str)) and any(
        special_method(x, name) is not None for name in ("__lt__", "__gt__"))


def are_compared_by_data(xs: object) -> bool:
    """Return whether methods of the user's compare the items of a list, and data decides."""
    if not isinstance(xs, (list, tuple)) or not any(map(compares_itself, xs)):
        return False
    with current().region("probe"):
        return any(not isinstance(ABOVE.call_function(operator.lt, pair, {}), bool)
                   for pair in zip(xs[1:], xs, strict=False))
