"""Searches in lists, tuples and deques, where data decides which items are equal.

Items are compared as Python does, one after another: an object is equal to itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.python.comparisons import are_equal_items
from tracejit.trace.python.kinds_of_values import holds_traced
from tracejit.trace.python.library import take_out
from tracejit.trace.python.truths import any_of, truth
from tracejit.trace.state.methods import may_be_called
from tracejit.trace.values.equations import cast, lift, to_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["search_of"]


def search_of(owner: object, name: str, args: Sequence[object]) -> Callable[..., Any] | None:
    """Return how a method of a list, tuple or deque finds items that data decides; else None."""
    if not isinstance(owner, (list, tuple, deque)) or not args:
        return None
    method = _METHODS.get(name)
    if method is None or (name == "remove" and isinstance(owner, tuple)):
        return None
    decides = holds_traced(owner) or holds_traced(args[0]) or any(
        map(may_be_called, (*owner, args[0])))
    return method if decides else None


def _int(x: Tracer) -> Tracer:
    """Return a number as an int of Python's."""
    return tracer_of(x.value, weak=True)


def _index(xs: Sequence[object], x: object, *bounds: object) -> Any:
    """Carry out `xs.index(x, start, stop)`."""
    ends = [need_int(to_dim(b), "a bound of `index`") if isinstance(b, TracedOperand) else b
            for b in bounds]
    places = range(*slice(*(ends if len(ends) > 1 else [*ends, None][:2])).indices(len(xs))) if (
        ends) else range(len(xs))
    equal = []
    for k in places:
        equal.append(truth(are_equal_items(xs[k], x)))
        if equal[-1] is True:
            break
    require(any_of(equal), ValueError, f"the value is not in {type(xs).__name__}")
    place: Any = places[len(equal) - 1]
    for k, same in zip(reversed(places[:len(equal) - 1]), reversed(equal[:-1]), strict=True):
        place = place if same is False else np.where(same, k, place)
    return place if isinstance(place, int) else _int(cast(lift(place), np.int64))


def _count(xs: Sequence[object], x: object) -> Any:
    """Carry out `xs.count(x)`."""
    known, total = 0, None
    for same in [truth(are_equal_items(item, x)) for item in xs]:
        if isinstance(same, bool):
            known += same
        else:
            one = cast(same, np.int64)
            total = one if total is None else total + one
    return known if total is None else _int(total + known)


def _remove(xs: Sequence[object], x: object) -> None:
    """Carry out `xs.remove(x)`."""
    ABOVE.call_function(take_out, (xs, _index(xs, x)), {})


_METHODS: dict[str, Callable[..., Any]] = {"index": _index, "count": _count, "remove": _remove}
