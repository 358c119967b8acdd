"""Hooks of `assert` and `raise`: by Python where it comes to them, else checks of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tracejit.trace.containers.choices import learn, narrowed
from tracejit.trace.containers.places import (
    MaybeUnset,
    present,
)
from tracejit.trace.ground.context import current
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.hooks.decisions import DecisionHooks
from tracejit.trace.python.calls import call_function
from tracejit.trace.regions.draws import drawing_nothing
from tracejit.trace.regions.raising import BranchRaised, require_raisable, text_of
from tracejit.trace.state.paths import is_users_type
from tracejit.trace.values.equations import (
    atom_of,
    emit,
)
from tracejit.trace.values.known_numbers import FIELD

__all__ = ["FailureHooks"]


class FailureHooks(DecisionHooks):
    """`assert`, `raise` with an error, and the value of a function that has returned."""

    def returned(self, value: Callable[[], object], always: bool) -> Any:
        """Return the value of the `return` that came first; None if none did."""
        try:
            content = value()
        except NameError:
            return None
        if isinstance(content, MaybeUnset):
            if always or content.content is None:  # without a return, None is returned
                return narrowed(present(content.content))
            return self.choose(content.is_set, lambda: content.content, lambda: None)
        return narrowed(present(content))

    def assert_(self, test: Any, message: Callable[[], object] | None) -> None:
        """Carry out an `assert`, at run time if it depends on data."""
        test = self.tested(test)
        if isinstance(test, bool):
            if not test:
                raise AssertionError(*([message()] if message is not None else []))
            return
        with _message() as shown, drawing_nothing(
                "the message of an assert, which Python makes only where it fails"):
            text = "" if message is None else str(message())
        _emit_check(test, AssertionError, text, shown)
        frames = current().frames
        learn(test.value, True, frames[-1].tags if frames else current().tags)

    def raise_(self, make: Callable[[], Any], *cause: Any) -> None:
        """Raise, at run time if whether it comes to that depends on data."""
        if not any(f.kind in ("if", "loop") for f in current().frames):
            error = self._error_of(make())
            if cause:
                raise error from self._error_of(cause[0])
            raise error
        with _message() as shown:
            error = make()
            text = "" if isinstance(error, type) else text_of(error)
        plain = error() if isinstance(error, type) else error
        _emit_check(False, type(plain), text, shown, plain)
        raise BranchRaised

    def _error_of(self, raised: object) -> Any:
        """Return an error to raise: of a user's class, a call of it as captured code makes it."""
        if isinstance(raised, type) and issubclass(raised, BaseException) and (
                is_users_type(raised)):
            return call_function(raised, (), {})
        return raised


@contextmanager
def _message() -> Iterator[list[Any]]:
    """Collect the traced numbers that a text shows, which has fields in their place."""
    trace = current()
    shown: list[Any] = []
    before, trace.shown = trace.shown, shown
    try:
        yield shown
    finally:
        trace.shown = before


def _emit_check(holds: object, kind: type[BaseException], text: str, shown: Sequence[object],
                error: BaseException | None = None) -> None:
    """Emit a check that raises an error with a text in which numbers are shown.

    error -- the error itself, for a handler that may ask what it holds
    """
    text = text.replace("{", "{{").replace("}", "}}")
    text = text.replace(FIELD[0], "{").replace(FIELD[1], "}")
    plain = text if shown else text.replace("{{", "{").replace("}}", "}")
    if ABOVE.diverted(holds, kind, plain, shown, error):
        return
    emit("check", [atom_of(holds), *map(atom_of, shown)],
         {"error": require_raisable(kind), "message": text})
