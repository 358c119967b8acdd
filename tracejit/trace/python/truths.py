"""The truth of things, as a Python bool or as a traced one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tracejit.trace.containers.choices import note_negated
from tracejit.trace.containers.numbered import ObjectReference
from tracejit.trace.containers.places import Choice, MaybeUnset, Poison, present
from tracejit.trace.containers.runs import has_runs
from tracejit.trace.containers.stand_ins import note_use
from tracejit.trace.lists.ranges import TracedRange
from tracejit.trace.python import list_functions
from tracejit.trace.python.special_methods import is_plain, special_method
from tracejit.trace.regions.branches import as_condition
from tracejit.trace.regions.choosing import told_of
from tracejit.trace.state.uncaptured import read_unseen
from tracejit.trace.values.symbolic_ints import of_dim
from tracejit.trace.values.tracer import tracer_of

__all__ = ["any_of", "negated", "truth"]


def negated(x: object) -> Any:
    """Return `not x`."""
    test = truth(x)
    if isinstance(test, bool):
        return not test
    found = tracer_of(np.logical_not(test).value, weak=True)
    note_negated(found, test)
    return found


def any_of(items: Iterable[object]) -> Any:
    """Return whether any of some things is true, as a Python bool or as a traced one."""
    result: Any = False
    for x in items:
        x = truth(x)
        if x is True:
            return True
        result = x if result is False else np.logical_or(result, x) if x is not False else result
    return result


def truth(x: object) -> Any:
    """Return the truth of something as a Python bool, or as a traced bool."""
    if isinstance(x, Choice):
        return told_of(x, truth)
    if isinstance(x, (MaybeUnset, Poison)):
        return truth(present(x))
    note_use(x)
    if isinstance(x, dict) and special_method(x, "__bool__") is None:
        flags = [c.is_set if isinstance(c, MaybeUnset) else True for c in dict.values(x)]
        if flags and not any(f is True for f in flags):
            return any_of(flags)
        read_unseen(x, in_order=False)
    if has_runs(x):
        return list_functions.is_true(x)
    if isinstance(x, TracedRange):
        x = of_dim(x.count)
    if is_plain(x):
        return as_condition(x)
    if isinstance(x, ObjectReference):
        method = special_method(x, "__bool__") or special_method(x, "__len__")
        return True if method is None else as_condition(method(x))
    for name in ("__bool__", "__len__"):
        method = special_method(x, name)
        if method is not None:
            return as_condition(method(x))
        if hasattr(type(x), name):
            read_unseen(x)
            break
    return as_condition(x)
