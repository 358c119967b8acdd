"""Errors of Python's in branches and loops on data: the run raises them, at the user's line."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

from tracejit.errors import RAISABLE, name_of_raisable
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.faults import NAMES, as_in_python, is_ours
from tracejit.trace.ground.source import site_of_error
from tracejit.trace.values.equations import atom_of, emit

__all__ = ["BranchJumped", "BranchRaised", "end_in_run", "is_of_a_signal",
           "is_pythons", "require_in_run", "require_raisable", "text_of"]


class BranchRaised(Exception):
    """Internal: a branch on data ended by raising; its check is in the graph."""


class BranchJumped(BranchRaised):
    """Internal: a branch ended by an error that a `try` catches; the `try` has its number."""


def is_pythons(error: Exception) -> bool:
    """Return whether an error is of the user's program: none that ends a capture, or an attempt.

    Python's stack is full of the capture's frames: the program would have gone on.
    """
    return not type(error).__module__.startswith("tracejit.") and (
        type(error) is not RecursionError and not is_of_a_signal(error))


def is_of_a_signal(error: Exception) -> bool:
    """Return whether a signal's handler raised an error, wherever the capture was just then."""
    handlers = [h for number in _SIGNALS if callable(h := _handler_of(number))]
    codes = {code for handler in handlers for form in (
        handler, getattr(handler, "__func__", None), getattr(handler, "func", None),
        vars(type(handler)).get("__call__")) if (code := getattr(form, "__code__", None))}
    place = error.__traceback__ if codes else None
    while place is not None:
        if place.tb_frame.f_code in codes:
            return True
        place = place.tb_next
    return False


_SIGNALS = tuple(signal.valid_signals())
_handler_of: Callable[[int], Any] = getattr(signal.getsignal, "__wrapped__", signal.getsignal)
"""The function that makes no member of an enumeration of each answer, which takes long."""


def end_in_run(error: Exception) -> None:
    """End a branch, or a loop's body, that raises an error of Python's: the run raises it there.

    An error on the present guess of a loop's state is skipped: a better guess may set a name, or
    make an int a float. If none does, the loop is traced once more, settled.
    """
    error = as_in_python(error)
    kind = type(error)
    ours = NAMES.search(str(error)) is not None
    if not is_pythons(error):
        raise error
    if _rests_on_choices() and RAISABLE.get(kind.__name__) is kind and not ours:
        require_in_run(False, error)
        return
    for frame in reversed(current().frames):
        if frame.kind == "loop" and not frame.settled:
            frame.swallowed = error
            return
    if ours or is_ours(error):
        raise error
    if name_of_raisable(kind) is None:
        raise refuse(f"{_NOT_RAISABLE.format(kind.__name__)}; it says: {error}",
                     "Do this before the branch or loop", "TJ107") from error
    require_in_run(False, error)


_NOT_RAISABLE = ("raising {} depends on data, and compiled code can raise only built-in exceptions "
                 "and those of a module's that are made of a text alone")


def require_raisable(kind: type[BaseException]) -> str:
    """Return the name by which compiled code raises an exception, or refuse.

    What a trial run raises, of which nothing is kept, may be caught in the run proper.
    """
    if any(f.kind == "probe" for f in current().frames):
        return "Exception"
    name = name_of_raisable(kind)
    if name is None:
        raise refuse(_NOT_RAISABLE.format(kind.__name__),
                     "Raise a ValueError, say, or catch it in captured code", "TJ107")
    captured = current().captured
    if ":" in name and captured is not None:
        captured.hold_under_its_name(kind)
    return name


def require_in_run(holds: object, error: Exception) -> None:
    """Raise an error in the run where something does not hold."""
    text = text_of(error).replace("{", "{{").replace("}", "}}")
    emit("check", [atom_of(holds)], {"error": require_raisable(type(error)), "message": text},
         site=site_of_error(error))


def text_of(error: Exception) -> str:
    """Return the text of an error, without the quotes around a `KeyError`'s key."""
    key = error.args[0] if isinstance(error, KeyError) and len(error.args) == 1 else None
    return key if isinstance(key, str) else str(error)


def _rests_on_choices() -> bool:
    """Return whether a condition around says which of several things something is."""
    return any(frame.tags for frame in current().frames)
