"""Why a gradient is None: where on the way from source to target a tape lost the thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracejit.ir.types import is_differentiable
from tracejit.tape.notes import Notes, Record
from tracejit.tape.noting import line_text
from tracejit.tape.values import TapeValue
from tracejit.tape.variables import Variable

__all__ = ["explain"]


def explain(tape: Notes, target: object, source: object) -> str:
    """Return why the gradient of a target by a source is None, or the path from one to the other.

    Raises `TypeError` for objects that cannot be either.
    """
    y, x = (_only(z, what) for z, what in ((target, "target"), (source, "source")))
    starts = {x.uid}
    if isinstance(source, Variable):
        starts.update(s.uid for s in tape._variables.get(id(source), (source, []))[1])
    name = f"variable {source.name!r}" if isinstance(source, Variable) else "source"
    if not is_differentiable(x.dtype):
        return f"the {name} has dtype {x.dtype}: only floats and complex numbers have gradients"
    if not is_differentiable(y.dtype):
        return f"the target has dtype {y.dtype}: only floats and complex numbers have gradients"
    if y.uid in starts:
        return "the target is the source"
    reached, path = _follow(tape, starts)
    if y.uid in reached:
        return _connection(y.uid, starts, path)
    if not starts & tape._known:
        return _not_watched(tape, source, name)
    lost = [f"{line_text(event.line)}: {event.text}" for event in tape._events
            if event.uid in reached]
    if lost:
        return f"the thread from the {name} to the target is lost at " + "; ".join(
            dict.fromkeys(lost))
    if y.uid not in tape._known:
        return ("the target was not computed from anything that this tape watches while it "
                "recorded: it is a constant, or was made outside of the `with` block or under "
                "stop_recording()")
    return f"what the target was computed from does not include the {name}"


def _only(z: object, what: str) -> TapeValue:
    if isinstance(z, Variable):
        return z._state
    if isinstance(z, TapeValue):
        return z
    raise TypeError(f"why takes one tape value or variable as the {what}, not a "
                    f"{type(z).__name__}")


def _follow(tape: Notes, starts: set[int]) -> tuple[set[int], dict[int, tuple[Any, int]]]:
    """Return the values computed from some values, and how: each with its call and an operand."""
    reached = set(starts)
    path: dict[int, tuple[Any, int]] = {}
    for record in tape._records:
        plan, inputs, outputs, _, _ = record
        via = next((u for u in inputs if u in reached), 0) if plan.connected else 0
        for u in outputs if via else ():
            if u not in reached:
                reached.add(u)
                path[u] = (record, via)
    return reached, path


def _connection(uid: int, starts: set[int], path: Mapping[int, tuple[Record, int]]) -> str:
    steps = []
    while uid not in starts:
        (plan, _, _, line, _), uid = path[uid]
        steps.append(f"{plan.name} ({line_text(line)})")
    return "the target depends on the source through " + ", ".join(reversed(steps))


def _not_watched(tape: Notes, source: object, name: str) -> str:
    if not isinstance(source, Variable):
        return ("the source is not watched by this tape: it is a tape value, and these are "
                "followed after tape.watch(x) only. If it should be a variable, it was replaced "
                "by the result of a calculation (x = x + 1 in place of x.assign_add(1))")
    if not source.trainable:
        return f"the {name} is not trainable: tapes follow such variables after tape.watch(v) only"
    if not tape._watch_accessed:
        return (f"the {name} is not watched: the tape was made with "
                "watch_accessed_variables=False and watches what tape.watch(v) was called for")
    return f"the {name} was not read while the tape recorded"
