"""The `debug_nans` mode of tapes: the call that makes a NaN or an infinity raises.

A tape's values are there at once, so each is looked at when it is made: whether it will be used,
as one that `where` does not select is not, nobody knows yet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.configuration import listen, settings
from tracejit.program.failures import raise_at
from tracejit.runtime.origins import first_bad, is_bad
from tracejit.tape import values
from tracejit.tape.noting import Line, line_text, user_line
from tracejit.tape.plans import CallRecipe
from tracejit.tape.recording import perform
from tracejit.tape.values import Operand
from tracejit.trace.ground.context import is_tracing
from tracejit.tree import flatten

__all__ = ["require_finite_cotangents"]


@dataclass(frozen=True, slots=True)
class _UserLine:
    """A line of a user's code, in the form that errors raised there need."""

    line: Line

    @property
    def location(self) -> tuple[str, int, int]:
        """Return (file name, line, column)."""
        file, _, number = line_text(self.line).rpartition(":")
        return file, int(number), 1

    @property
    def function(self) -> Any:
        """Return the function of a name."""
        return self

    @property
    def name(self) -> str:
        """Return the name of the function."""
        return "function" if self.line[0] is None else self.line[0].co_name


def _perform_watched(function: Callable[..., object], args: tuple[object, ...],
                     kwargs: dict[str, object] | None = None) -> Any:
    """Carry out a call; raise where finite operands give a result that is not finite."""
    result = perform(function, args, kwargs)
    if is_tracing() or not settings().debug_nans:
        return result
    found = _bad_of(result)
    if found is not None and _bad_of((args, kwargs or {})) is None:
        name = getattr(function, "__name__", type(function).__name__)
        _fail(f"{name} made {_element(found)} of finite operands", user_line())
    return result


def require_finite_cotangents(plan: CallRecipe, given: Sequence[object], cts: Sequence[object],
                              line: Line) -> None:
    """Raise where finite cotangents give one that is not finite on the way back of a call."""
    found = _bad_of(cts)
    if found is not None and _bad_of(given) is None:
        _fail(f"the way back of {plan.name} made {_element(found)} of finite values, in the "
              f"backward part of {line_text(line)}", line)


def _bad_of(nest: object) -> Any:
    """Return the first value of a nest that is not finite; None if there is none."""
    for x in flatten(nest)[0]:
        data = x._data if isinstance(x, Operand) else x
        if isinstance(data, (np.ndarray, np.generic, float, complex)) and is_bad(data):
            return np.asarray(data)
    return None


def _element(x: np.ndarray) -> str:
    index = first_bad(x)
    return str(x[index]) + (f" at [{', '.join(map(str, index))}]" if index else "")


def _fail(message: str, line: Line) -> None:
    place = None if line[0] is None else _UserLine(line)
    raise_at("FloatingPointError", message.replace("{", "{{").replace("}", "}}"), (), place)


def _watch(look: bool) -> None:
    """Let calls be looked at while any block asks for it: otherwise they cost nothing more."""
    values._perform = _perform_watched if look else perform


listen(_watch)
