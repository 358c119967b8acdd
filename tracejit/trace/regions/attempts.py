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
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.errors import RAISABLE, TracejitError
from tracejit.trace.containers.choices import learn
from tracejit.trace.containers.places import HiddenPlace, NamePlace
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.faults import NAMES, as_in_python, is_ours
from tracejit.trace.ground.upward import ABOVE, above
from tracejit.trace.regions.branches import as_condition, end_branch, merge_branches, trace_branch
from tracejit.trace.regions.raising import BranchJumped, BranchRaised, is_pythons
from tracejit.trace.state.known import rests_on_data
from tracejit.trace.values.equations import atom_of, emit, lift
from tracejit.trace.values.tracer import Tracer

__all__ = ["Attempt", "Fault", "catches", "classes", "close_opened", "diverted", "fail_by",
           "go_on_without_error", "is_raisable", "jumps_by"]

MANY_OPENED = 48
"""So many operations that may raise are branches in one another, and no more."""


class _ErrorPlace(HiddenPlace):
    """A number of a `try`: of its error, or in its text. Branches merge it, and loops carry it."""

    __slots__ = ("around", "depth")
    name = "the error of a `try`"

    def __init__(self, depth: int, content: object) -> None:
        super().__init__()
        self.depth = self.around = depth
        self.content = content

    def put(self, content: object) -> None:
        """Set it in the region that is open."""
        current().record(self, self.around)
        self.set(content)


@dataclass(slots=True)
class Fault:
    """An error that the body of a `try` may raise.

    shown -- the numbers that its text shows
    error -- the error for a handler; None where the text has numbers in it
    """

    kind: type[BaseException]
    text: str
    shown: list[_ErrorPlace]
    error: BaseException | None


class Attempt:
    """The body of a `try` while it is traced.

    caught -- returns the exceptions that its handlers catch
    names  -- the names that matter after its body
    exact  -- the names among them that matter after an error
    """

    def __init__(self, caught: Callable[[], Any], names: Sequence[NamePlace],
                 exact: Sequence[NamePlace]) -> None:
        self.caught, self.names = caught, names
        self.exact = {p.key for p in exact}
        self.depth = current().depth
        self.code = _ErrorPlace(self.depth, 0)
        """The number of the fault that was met, 0 for none."""
        self.faults: list[Fault] = []

    def catches(self, kind: type[BaseException]) -> bool:
        """Return whether an error of the run is its own."""
        return any(t in kind.__mro__ for t in classes(self.caught()))

    def fault(self, kind: type[BaseException], text: str, shown: Sequence[object],
              error: BaseException | None) -> int:
        """Return the number of a fault."""
        for k, f in enumerate(self.faults):
            if error is None and not shown and (f.kind, f.text, f.shown) == (kind, text, []):
                return k + 1
        places = [_ErrorPlace(self.depth, 0.0) for _ in shown]
        if error is None and not shown:
            error = kind(text)
        self.faults.append(Fault(kind, text, places, error))
        return len(self.faults)

    def fail(self, number: int, shown: Sequence[object]) -> None:
        """Note the error."""
        for place, x in zip(self.faults[number - 1].shown, shown, strict=True):
            place.put(lift(x) * 1.0)
        self.code.put(number)


def classes(caught: object) -> Iterator[type]:
    """Yield the classes of exceptions that an `except` names, in tuples of any depth."""
    for t in caught if isinstance(caught, tuple) else (caught,):
        if isinstance(t, tuple):
            yield from classes(t)
        else:
            yield t


def is_raisable(kind: type[BaseException]) -> bool:
    """Return whether compiled code can raise an error."""
    return RAISABLE.get(kind.__name__) is kind or kind is np.linalg.LinAlgError


def _catching(kind: type[BaseException], attempts: Sequence[Attempt | None]) -> Attempt | None:
    """Return the innermost `try` that catches an error of the operation traced now, or None."""
    frames = current().frames
    for a in reversed(attempts):
        if a is None or not all(f.kind == "if" or f.left_by_errors for f in frames[a.depth:]):
            return None
        if a.catches(kind):
            return a
    return None


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
        attempt.fail(number, shown)
        raise BranchJumped
    _Opened(condition, lambda: attempt.fail(number, shown)).open()
    return True


@above
def jumps_by(error: Exception) -> bool:
    """Note an error that the capture met, if a `try` catches it in the run."""
    trace, error = current(), as_in_python(error)
    if not trace.attempts or isinstance(error, TracejitError) or not is_pythons(error) or (
            NAMES.search(str(error)) is not None or is_ours(error)):
        return False
    attempt = _catching(type(error), trace.attempts)
    if attempt is None:
        return False
    attempt.fail(attempt.fault(type(error), str(error), (), error), ())
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
        self.frame.by_data = self.by_data
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
        places = {p.key: p for p in self.names}
        then = end_branch(self.frame, self.scope, self.names, ended, {})
        self.give_up()

        def fail() -> None:
            self.otherwise()
            raise BranchJumped

        other = trace_branch(fail, self.names, ABOVE.DataLists(), self.by_data, {},
                             self.condition, False)
        for b in (then, other):
            places.update(b.places)
        merge_branches(self.condition, [then, other], places)


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
    if diverted(holds, fault.kind, fault.text, shown, fault.error):
        return
    if not is_raisable(fault.kind):
        raise refuse(f"raising {fault.kind.__name__} depends on data, and only built-in exceptions "
                     "can be raised by compiled code", "Raise a ValueError, say", "TJ107")
    text = fault.text if shown else fault.text.replace("{", "{{").replace("}", "}}")
    emit("check", [atom_of(holds), *map(atom_of, shown)],
         {"error": fault.kind.__name__, "message": text})
    if holds is False:
        raise BranchRaised
