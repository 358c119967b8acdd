"""Hooks of `try`: Python's own where the capture raises, branches where the run may raise."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import FunctionType
from typing import Any

import numpy as np

from tracejit.errors import name_of_raisable
from tracejit.ir.core import Eqn
from tracejit.trace.containers.places import NamePlace, Poison, name_places
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.faults import as_in_python
from tracejit.trace.ground.source import describe_line, find_site
from tracejit.trace.hooks.loop_hooks import LoopHooks
from tracejit.trace.python.caught import may_raise, rest_on_sizes
from tracejit.trace.python.managed import ENDS_CAPTURES, Passing, passed_by
from tracejit.trace.regions.attempts import (
    close_opened,
    fail_by,
    go_on_without_error,
    jumps_by,
)
from tracejit.trace.regions.branches import ending, trace_if
from tracejit.trace.regions.caught_errors import Attempt, classes
from tracejit.trace.regions.raising import BranchJumped, BranchRaised, require_in_run

__all__ = ["TryHooks"]

Handler = tuple[Callable[[], Any], FunctionType, str]
"""The exceptions that it catches, its body, and the name that it gives the error."""


class TryHooks(LoopHooks):
    """`try` with `except`, and `raise` without an error."""

    def try_(self, body: FunctionType, handlers: tuple[Handler, ...], orelse: FunctionType,
             names: tuple[tuple[str, ...], ...]) -> None:
        """Carry out a `try`.

        names -- the names that matter after its body, after an error, and after all of it
        """
        functions = [body, *(h[1] for h in handlers), orelse]
        inner, exact, after = (name_places(group, *functions) for group in names)

        def caught() -> Any:
            return tuple(types() for types, _, _ in handlers)

        attempt = Attempt(caught, inner, exact)
        scope = current().builder.scope
        begun = len(scope.eqns)
        try:
            ended = self._attempted(attempt, body)
        except ENDS_CAPTURES:
            raise
        except BaseException as raised:  # by the capture, before anything that the run may raise
            e = as_in_python(raised)
            _refuse_errors(scope.eqns[begun:], caught)
            rest_on_sizes(e)
            kind = type(e).__mro__
            handler = next((h for h in handlers if any(t in kind for t in classes(h[0]()))), None)
            if handler is None:
                raise
            with _handling(None):
                handler[1](e)
            return
        _refuse_errors(scope.eqns[begun:], caught)
        self._finish(attempt, ended, handlers, orelse, after)

    def finally_(self, body: FunctionType, handlers: tuple[Handler, ...], final: FunctionType,
                 names: tuple[tuple[str, ...], ...]) -> None:
        """Carry out a `try` with a `finally`, whose code is a handler's too, which raises again.

        names -- those of `try_`
        """
        around = _catching_around()
        if not around:
            passing = Passing()
            try:
                with self.in_try(lambda: (), passing):
                    body()
            finally:
                with passed_by(passing.error):
                    final()
            return

        def caught() -> Any:
            return tuple(kind for a in around for kind in classes(a.caught()))

        functions = [body, handlers[0][1], final]
        inner, exact, after = (name_places(group, *functions) for group in names)
        attempt = Attempt(caught, inner, exact)
        try:
            ended = self._attempted(attempt, body)
        except BaseException as e:
            with passed_by(e):
                final()
            raise
        if ended is BranchRaised or (ended is not None and _is_fine(attempt)):
            final()
            raise ended
        self._finish(attempt, ended, [(caught, handlers[0][1], "")], final, after)

    def _attempted(self, attempt: Attempt, body: FunctionType) -> type[BranchRaised] | None:
        """Run a body; return how it ended, if not by coming to its end."""
        trace = current()
        opened = len(trace.opened)
        trace.attempts.append(attempt)
        ended = None
        try:
            with ending(attempt.names):
                try:
                    body()
                except BranchRaised as e:
                    ended = type(e)
                except ENDS_CAPTURES:
                    raise
                except Exception as e:
                    if len(trace.opened) == opened and attempt.code.get() == 0:
                        raise
                    ended = _ended_by(e)
                return close_opened(opened, ended)
        finally:
            while len(trace.opened) > opened:
                trace.opened[-1].give_up()
            trace.attempts.pop()

    def _finish(self, attempt: Attempt, ended: type[BranchRaised] | None,
                handlers: Sequence[Handler], orelse: FunctionType,
                after: Sequence[NamePlace]) -> None:
        code, is_fine = attempt.code.get(), _is_fine(attempt)
        if ended is BranchRaised or (ended is not None and is_fine):
            raise ended
        go_on_without_error()
        if is_fine:
            orelse()
        elif ended is not None or isinstance(code, int):
            self._handle(attempt, code, handlers, after)
        else:
            trace_if(code != 0, [lambda: self._handle(attempt, code, handlers, after), orelse],
                     after, also=[h[1] for h in handlers])

    def _handle(self, attempt: Attempt, code: object, handlers: Sequence[Handler],
                after: Sequence[NamePlace]) -> None:
        """Run the handlers of the errors that may have been raised, each where its error was."""
        groups: list[tuple[Handler, list[int]]] = []
        for number, fault in enumerate(attempt.faults, 1):
            if not fault.is_met():
                continue
            handler = next(h for h in handlers
                           if any(t in fault.kind.__mro__ for t in classes(h[0]())))
            for other, numbers in groups:
                if other is handler and not handler[2]:
                    numbers.append(number)
                    break
            else:
                groups.append((handler, [number]))
        if isinstance(code, int):
            groups = [g for g in groups if code in g[1]]
        if groups:
            self._handle_one_of(attempt, code, groups, after)

    def _handle_one_of(self, attempt: Attempt, code: object,
                       groups: Sequence[tuple[Handler, list[int]]],
                       after: Sequence[NamePlace]) -> None:
        (handler, numbers), *others = groups

        def run() -> None:
            fault = attempt.faults[numbers[0] - 1]
            error: Any = fault.as_raised()
            if error is None:
                error = Poison(handler[2], "has a text with numbers that depend on data",
                               describe_line(find_site()), "Leave the error's text out")
            with _handling((attempt, code, numbers)):
                handler[1](error)

        if not others:
            run()
            return
        test: Any = code == numbers[0]
        for n in numbers[1:]:
            test = np.logical_or(test, code == n)
        trace_if(test, [run, lambda: self._handle_one_of(attempt, code, others, after)], after,
                 also=[g[0][1] for g in groups])

    @contextmanager
    def in_try(self, types: Callable[[], Any], passing: Passing) -> Iterator[None]:
        """Watch the body of a `try`: refuse equations that may raise an error for its handlers.

        passing -- gets the error that passes a `finally` by
        """
        try:
            with self._watched(types):
                yield
        except BaseException as e:
            passing.error = e
            raise

    def passing(self) -> Passing:
        """Return where the body of a `try` notes the error that it ends with."""
        return Passing()

    def passed_by(self, passing: Passing) -> AbstractContextManager[None]:
        """Carry out the code of a `finally`."""
        return passed_by(passing.error)

    @contextmanager
    def _watched(self, types: Callable[[], Any]) -> Iterator[None]:
        before = len(current().builder.scope.eqns)
        raised: BranchRaised | None = None
        attempts = current().attempts
        attempts.append(None)
        try:
            yield
        except BranchRaised as e:  # each branch in it raises
            raised = e
        finally:
            attempts.pop()
        if may_raise(current().builder.scope.eqns[before:], types):
            raise refuse("`try` around captured operations, whose exceptions are not raised while "
                         "they are captured", "Test with `if` before, or move the try outside",
                         "TJ105")
        if raised is not None:
            raise raised

    def caught(self) -> None:
        """Raise an error again that ends a capture, or an attempt of one, in a user's `except`."""
        error = sys.exc_info()[1]
        if isinstance(error, ENDS_CAPTURES):
            raise error
        rest_on_sizes(error)

    def suppressed(self, manager: object) -> tuple[type[BaseException], ...]:
        """Return the exceptions that a `with suppress(...)` catches."""
        if type(manager) is not contextlib.suppress:
            raise refuse(f"a manager of {type(manager).__name__} that a call of `suppress` gives",
                         "Give the function another name, if it is not contextlib's", "TJ105")
        return tuple(classes(manager._exceptions))  # type: ignore[attr-defined]

    def reraise(self) -> None:
        """Raise the error that is being handled."""
        handled = current().handled
        if not handled or handled[-1] is None:
            raise
        attempt, code, numbers = handled[-1]
        *some, last = numbers
        for n in some:
            fail_by(attempt.faults[n - 1], code != n)
        fail_by(attempt.faults[last - 1], False)


def _is_fine(attempt: Attempt) -> bool:
    """Return whether the body of a `try` surely has no error that it catches."""
    code = attempt.code.get()
    return isinstance(code, int) and code == 0


def _catching_around() -> list[Attempt]:
    """Return the bodies of `try` around, of which one may catch an error of the run."""
    found: list[Attempt] = []
    for a in reversed(current().attempts):
        if a is None:
            break
        found.append(a)
    return found


def _refuse_errors(eqns: Sequence[Eqn], caught: Callable[[], object]) -> None:
    if may_raise(eqns, caught):
        raise refuse("`try` around captured operations, whose exceptions are not raised while "
                     "they are captured", "Test with `if` before, or move the try outside", "TJ105")


def _ended_by(error: Exception) -> type[BranchRaised]:
    """Return how a branch ends in which the capture met an error."""
    if jumps_by(error):
        return BranchJumped
    if name_of_raisable(type(error)) is None or any(f.kind == "loop" for f in current().frames):
        raise error
    require_in_run(False, error)
    return BranchRaised


@contextmanager
def _handling(what: object) -> Iterator[None]:
    """Note which error a handler handles; None for Python's own."""
    handled = current().handled
    handled.append(what)
    try:
        yield
    finally:
        handled.pop()
