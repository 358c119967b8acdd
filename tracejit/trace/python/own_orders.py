"""Things that methods of the user's put in order: whether data says what these find."""

from __future__ import annotations

import operator
from collections.abc import Iterable

import numpy as np

from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.python.pooled import DataList
from tracejit.trace.python.special_methods import special_method
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__ = ["are_compared_by_data", "compares_itself", "searched_items"]


def compares_itself(x: object) -> bool:
    """Return whether an object's class compares it by a method of the user's."""
    return not isinstance(x, (Tracer, SymInt, np.ndarray, np.generic, int, float, str)) and any(
        special_method(x, name) is not None for name in ("__lt__", "__gt__"))


def are_compared_by_data(xs: object) -> bool:
    """Return whether methods of the user's compare the items of a list, and data decides."""
    if not isinstance(xs, (list, tuple)) or not any(map(compares_itself, xs)):
        return False
    with current().region("probe") as (frame, _):
        answers = [ABOVE.call_function(operator.lt, pair, {})
                   for pair in zip(xs[1:], xs, strict=False)]
        changes = frame.written or frame.changed or any(
            _is_changed(now, before) for now, before in frame.contents.values())
    by_data = not all(isinstance(answer, bool) for answer in answers)
    if by_data and changes and not all(isinstance(x, DataList) for x in xs):
        raise refuse("sorting objects whose comparison changes something cannot be captured, as "
                     "data decides how often Python compares them", "Sort by a key that changes "
                     "nothing: sorted(xs, key=lambda x: x.value)", "TJ122")
    return by_data


def _is_changed(now: Iterable[object], before: Iterable[object]) -> bool:
    """Return whether a container has other items than its copy from before."""
    found, kept = ([*x.keys(), *x.values()] if isinstance(x, dict) else [*x] for x in (now, before))
    return len(found) != len(kept) or any(
        a is not b for a, b in zip(found, kept, strict=True))


def searched_items(args: Iterable[object]) -> list[object]:
    """Return the objects that a search or a heap may compare: ints are ends of the search."""
    return [x for arg in args if type(arg) is not int
            for x in (arg if isinstance(arg, list) else [arg])]
