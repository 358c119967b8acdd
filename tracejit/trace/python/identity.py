"""The identity of objects in Python: `is`, `id`, and the equality of items in containers.

Capture has objects of its own: by data, one of them may stand for several of the program's, and
several for one. Where they do not tell, the question is refused.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from tracejit.trace.containers.container_aliases import may_be_another, may_be_one
from tracejit.trace.containers.places import is_number
from tracejit.trace.containers.runs import Stored, has_runs, step_values
from tracejit.trace.ground.context import Cell, current, refuse
from tracejit.trace.ground.dependencies import note_impure
from tracejit.trace.ground.restarts import Relist
from tracejit.trace.lists.rows import Item
from tracejit.trace.python.builtin_calls import call_natively
from tracejit.trace.python.kinds_of_values import holds_traced, type_of
from tracejit.trace.state.uncaptured import refuse_identity
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.tracer import Tracer

__all__ = ["are_one_object", "are_truths", "id_of", "is_one"]

_FLAG = "Compare what they hold, or keep a flag"


def is_one(a: object, b: object) -> bool:
    """Return `a is b`; refuse where data decides."""
    if a is not b:
        _refuse_values(a, b)
        _refuse_containers(a, b)
        _refuse_items(a, b)
    if type(a) is type(b) is FunctionType and a.__code__ is b.__code__:
        refuse_identity(a)
    return are_one_object(a, b)


def id_of(x: object) -> int:
    """Return `id(x)`; refuse it of a traced value, and of objects that the call or data decides."""
    captured = current().captured
    refuse_identity(x)
    if isinstance(x, TracedOperand) or hasattr(type(x), "stands_for") or (
            id(x) in captured.given or id(x) in captured.copies) or may_be_another(x) or (
            isinstance(x, tuple) and holds_traced(x)):
        what = "an array or number" if isinstance(x, TracedOperand) else "an object"
        raise refuse(f"id() of {what} that the call decides on", "Compare objects with `is`",
                     "TJ116")
    note_impure("id")
    return int(call_natively(id, (x,), {}))


def are_truths(a: object, b: object) -> bool:
    """Return whether two bools, one of them traced, are of one type: it has two objects."""
    return _are_traced(a, b) and is_number(a) and is_number(b) and (
        type_of(a) is type_of(b)) and type_of(a) in (bool, np.bool_)


def are_one_object(a: object, b: object) -> bool:
    """Return whether two things are one object in Python."""
    if a is b:
        return True
    trace = current()
    if hasattr(type(a), "stands_for"):
        return bool(a == b)
    if not (isinstance(a, Tracer) and isinstance(b, Tracer)):
        return bool(trace.captured.are_one_object(a, b))
    found = trace.memory.are_one_object(a, b)
    if found is None and a.is_array and b.is_array and a.cell is not b.cell and (
            a.cell.may_be_one_with(b.cell) or _is_of_an_iteration(a.cell, b.cell)):
        raise refuse("`is` between arrays of which data or their layout decides whether they are "
                     "one", _FLAG, "TJ116")
    return bool(found)


def _is_of_an_iteration(a: Cell, b: Cell) -> bool:
    """Return whether an iteration begins with one of two arrays, which may be the other one."""
    return any(any(x is z for z in frame.begun) and (
        y.depth < frame.depth or any(y is z for z in frame.begun))
        for frame in current().frames for x, y in ((a, b), (b, a)))


def _are_traced(a: object, b: object) -> bool:
    return holds_traced(a) or holds_traced(b)


def _refuse_values(a: object, b: object) -> None:
    """Refuse to tell numbers or tuples apart by identity, where branches may have left one."""
    tuples = isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b)
    if (tuples or (is_number(a) and is_number(b))) and _are_traced(a, b) and (
            type_of(a) is type_of(b) is not np.ndarray):
        raise refuse(f"`is` between two things of type {type_of(a).__name__}, which may be one "
                     "object or two equal", "Compare them by `==`, or keep a flag", "TJ116")


def _refuse_containers(a: object, b: object) -> None:
    if may_be_one(a, b):
        raise refuse(f"`is` between {type(a).__name__}s of which data decides whether they are one",
                     _FLAG, "TJ116")


def _refuse_items(a: Any, b: Any) -> None:
    """Give up the run of a list where two of its items are compared by identity."""
    for x in (a, b):
        if has_runs(x) and (isinstance(x[0], Item) or (
                isinstance(x[0], Stored) and x[0].shared)):
            x[0].give_up("the identity of an item of a list")
    if not (isinstance(a, Tracer) and isinstance(b, Tracer) and a.is_array and b.is_array):
        return
    cell = a.cell
    for c, other in ((cell, b.cell), (b.cell, cell)):
        if c.rows_of is not None and (other.constant is not None or c.may_be_one_with(other)):
            raise Relist(c.rows_of, None, "the identity of an item of a list")
    if cell.rows_of is not None and cell.rows_of is b.cell.rows_of:
        raise Relist(cell.rows_of, None, "the identity of an item of a list")
    if cell is b.cell and cell.viewed_by is not None and a.steps != b.steps and (
            step_values(a) | step_values(b)):
        raise Relist(cell.viewed_by, None, "the identity of an item of a list")
