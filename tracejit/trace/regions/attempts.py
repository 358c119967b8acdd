"""Errors of the run that a user's `try` catches: branches that open where one may be raised.

    try:                              if b != 0:                  opened at the division
        x = a / b                         x = a / b
        y = f(x)               =>         y = f(x)
    except ZeroDivisionError:         else:
        y = 0.0                           error = 1
                                      if error != 0:
                                          y = 0.0

The code behind an operation in the body of a `try` is the branch in which no error was raised. It
is open until the body ends, or the branch or loop's body around the operation does. The other
branch notes the error in a place of the `try`, and leaves all else as it was before the operation.

Where the operation is in a loop of the graph, the capture begins again with this loop *left by
errors*: it ends like one with a `break`, once the `try` has an error noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tracejit.errors import TracejitError
from tracejit.trace.containers.choices import learn
from tracejit.trace.containers.places import same_structure
from tracejit.trace.containers.runs import place_in_code
from tracejit.trace.containers.whole_lists import WholeList, lists_among, settled_places
from tracejit.trace.ground.context import Place, current, refuse
from tracejit.trace.ground.faults import NAMES, as_in_python, is_ours
from tracejit.trace.ground.restarts import NeedLeaving, Unroll
from tracejit.trace.ground.upward import ABOVE, above
from tracejit.trace.lists.forms import Form, form_of, holds_logs, joint_form, listed
from tracejit.trace.regions.branches import (
    as_condition,
    end_branch,
    is_read_on_errors,
    merge_branches,
    trace_branch,
)
from tracejit.trace.regions.caught_errors import Attempt, Fault
from tracejit.trace.regions.raising import BranchJumped, BranchRaised, is_pythons, require_raisable
from tracejit.trace.state.known import rests_on_data
from tracejit.trace.values.equations import atom_of, emit
from tracejit.trace.values.tracer import Tracer

__all__ = ["begin_without_error", "catches", "close_opened", "diverted", "fail_by",
           "go_on_without_error", "jumps_by", "without_error"]

MANY_OPENED = 48
"""So many operations that may raise are branches in one another, and no more."""


def _catching(kind: type[BaseException], attempts: Sequence[Attempt | None],
              leaves: bool = True) -> Attempt | None:
    """Return the innermost `try` that catches an error of the operation traced now, or None.

    leaves -- whether the capture may begin again to let the error leave loops
    """
    frames = current().frames
    for a in reversed(attempts):
        if a is None:
            return None
        around = [f for f in frames[a.depth:] if f.kind != "if" and not f.left_by_errors]
        if around and not (leaves and current().restarts and all(f.where for f in around)):
            return None
        if a.catches(kind):
            if around:
                raise NeedLeaving(frozenset(f.where for f in around))
            return a
    return None


def begin_without_error() -> None:
    """Note that an iteration begins, of a loop that ends where a `try` around it has an error."""
    for a in reversed(current().attempts):
        if a is None:
            break
        if not isinstance(a.code.get(), int):
            a.code.set(0)


@contextmanager
def without_error() -> Iterator[Any]:
    """Yield whether no `try` around has an error noted, and take it for so meanwhile."""
    result: Any = True
    before = []
    for a in reversed(current().attempts):
        if a is None:
            break
        code = a.code.get()
        result = code == 0 if result is True else np.logical_and(result, code == 0)
        before.append((a.code, code))
        a.code.set(0)
    try:
        yield result
    finally:
        for place, code in before:
            place.set(code)


@above
def catches(kind: type[BaseException]) -> bool:
    """Return whether a `try` catches an error of the operation traced now."""
    trace = current()
    return bool(trace.attempts) and _catching(kind, trace.attempts) is not None


@above
def diverted(holds: object, kind: type[BaseException], text: str, shown: Sequence[object] = (),
             error: BaseException | None = None) -> bool:
    """Go on in the branch in which something holds, if a `try` catches the error of the other.

    Return whether one catches it; if none does, the run has to check that it holds.
    """
    trace = current()
    if not trace.attempts or issubclass(kind, TracejitError):
        return False
    attempt = _catching(kind, trace.attempts)
    if attempt is None:
        return False
    number = attempt.fault(kind, text, shown, error)
    condition = as_condition(holds)
    if condition is True:
        return True
    if condition is False:
        attempt.fail(number, shown, error)
        raise BranchJumped
    _Opened(condition, lambda: attempt.fail(number, shown, error)).open()
    return True


@above
def jumps_by(error: Exception) -> bool:
    """Note an error that the capture met, if a `try` catches it in the run."""
    trace, error = current(), as_in_python(error)
    if not trace.attempts or isinstance(error, TracejitError) or not is_pythons(error) or (
            NAMES.search(str(error)) is not None or is_ours(error)):
        return False
    attempt = _catching(type(error), trace.attempts, leaves=False)
    if attempt is None:
        return False
    if any(f.kind == "loop" and not f.settled for f in trace.frames[attempt.depth:]):
        return False  # it may rest on a guess that does not hold
    attempt.fail(attempt.fault(type(error), str(error), (), error), (), error)
    return True


class _Opened:
    """A branch in which no error was raised, from there to where the code around it ends."""

    def __init__(self, condition: Tracer, otherwise: Callable[[], None]) -> None:
        self.condition, self.otherwise = condition, otherwise
        self.names = current().ends[-1]

    def open(self) -> None:
        """Begin the branch."""
        trace = current()
        if len(trace.opened) >= MANY_OPENED:
            raise refuse("a `try` around so many operations that may raise what it catches",
                         "Test with `if` before, or make it smaller", "TJ105")
        self.before = [(p, p.get()) for p in self.names]
        self.by_data = rests_on_data(self.condition)
        self.region = trace.region("if")
        self.frame, self.scope = self.region.__enter__()
        self.frame.by_data, self.frame.is_rest = self.by_data, True
        learn(self.condition.value, True, self.frame.tags)
        trace.opened.append(self)

    def give_up(self) -> None:
        """Leave the branch, of which nothing is kept."""
        opened = current().opened.pop()
        assert opened is self
        self.region.__exit__(None, None, None)
        for x, items, _ in reversed(self.frame.taken_in):
            x[:] = items
        for p, content in self.before:
            p.set(content)

    def close(self, ended: type[BranchRaised] | None) -> None:
        """End the branch, trace the other one, and merge the contents that both leave."""
        if self.frame.taken_in:
            raise refuse("a list put into a list in a `try`, where data decides whether it comes "
                         "to that", "Put it there after the `try`", "TJ410")
        lists = lists_among(p for p, _ in self.frame.written.values())
        names: list[Place] = [*self.names, *lists]
        places = {p.key: p for p in names}
        forms = {} if ended is BranchRaised else self._forms(lists)
        items: dict[object, Any] = {p.key: listed(p.get(), forms[p.key], place_in_code())
                                    for p in names if p.key in forms}
        then = end_branch(self.frame, self.scope, names, ended, items)
        self.give_up()

        def fail() -> None:
            self.otherwise()
            raise BranchJumped

        other = trace_branch(fail, names, ABOVE.DataLists(), self.by_data, forms,
                             self.condition, False)
        for b in (then, other):
            places.update(b.places)
        merge_branches(self.condition, [then, other], settled_places(places))

    def _forms(self, lists: Sequence[WholeList]) -> dict[object, Form]:
        """Return the forms of the items of lists of which both branches leave not as many."""
        written = self.frame.written
        bound = [(p, before, p.get()) for p, before in self.before if is_read_on_errors(p)]
        found = {}
        for p, before, now in (*[(p, written[p.key][1], p.get()) for p in lists], *bound):
            if before is now or not (type(before) is list and type(now) is list) or (
                    same_structure(before, now) and not holds_logs(now)):
                continue
            try:
                form = joint_form(form_of(before), form_of(now))
            except Unroll as e:
                if not isinstance(p, WholeList):
                    continue
                raise refuse("a list that gets longer or shorter in a `try`, where data decides "
                             f"whether it comes to that: {e.why}", "Change the list after the "
                             "`try`", "TJ410") from None
            if form is not None:
                found[p.key] = form
        return found


@above
def close_opened(count: int, ended: type[BranchRaised] | None) -> type[BranchRaised] | None:
    """Close all open branches but the first `count`; return how the outermost one ended.

    ended -- how the code in the innermost ended: None if it came to its end
    """
    opened = current().opened
    while len(opened) > count:
        last = opened[-1]
        try:
            last.close(ended)
            ended = None
        except BranchRaised as e:
            ended = type(e)
    return ended


@above
def go_on_without_error() -> None:
    """Go on, after a branch or loop, where it left no error that a `try` around it catches."""
    trace = current()
    for a in trace.attempts:
        if a is None:
            continue
        code = a.code.get()
        if isinstance(code, int):
            if code:
                raise BranchJumped
            continue
        opened = _Opened(as_condition(code == 0), lambda: None)
        opened.open()
        a.code.put(0)


def fail_by(fault: Fault, holds: object) -> None:
    """Raise a fault anew where something does not hold."""
    shown = [p.get() for p in fault.shown]
    if diverted(holds, fault.kind, fault.text, shown, fault.as_raised()):
        return
    name = require_raisable(fault.kind)
    text = fault.text if shown else fault.text.replace("{", "{{").replace("}", "}}")
    emit("check", [atom_of(holds), *map(atom_of, shown)],
         {"error": name, "message": text})
    if holds is False:
        raise BranchRaised
