"""Lists in attributes of users' objects, as code that is not captured finds them.

A list of which a size says how long it is has a run in the place of its items. Captured code knows
that; a method of a user's class that Python runs by itself would take the run for an item.
"""

from __future__ import annotations

from collections import deque

from tracejit.trace.containers.places import Choice, MaybeUnset
from tracejit.trace.containers.runs import Run
from tracejit.trace.containers.stand_ins import StandIn
from tracejit.trace.ground.attributes import all_attributes_of
from tracejit.trace.ground.context import refuse
from tracejit.trace.state.changes import CODE
from tracejit.trace.state.paths import is_users_type

__all__ = ["give_up_runs_behind"]

_NOT_OPENED = (*CODE, StandIn, Choice)


def give_up_runs_behind(x: object, what: str) -> None:
    """Begin the capture again where a user's object leads to a list with a run.

    The list is made item by item then. A dict of which data decides the keys is refused. Plain
    lists and dicts are left to those who call.

    what -- what reads the object
    """
    if isinstance(x, _NOT_OPENED) or not is_users_type(type(x)):
        return
    seen: set[int] = set()
    pending: list[object] = [x]
    while pending:
        y = pending.pop()
        if isinstance(y, Run):
            y.give_up(f"{what} of a {type(x).__name__}")
        if id(y) in seen or isinstance(y, _NOT_OPENED):
            continue
        seen.add(id(y))
        if isinstance(y, dict):
            if any(isinstance(content, MaybeUnset) for content in y.values()):
                raise refuse(f"whether a dict in a {type(x).__name__} has a key depends on data, "
                             f"and {what} asks for all that it has",
                             "Set the key before, or in both branches", "TJ420")
            pending += y.values()
        elif isinstance(y, (list, tuple, deque, set, frozenset)):
            pending += y
        if is_users_type(type(y)):
            pending += (all_attributes_of(y) or {}).values()
