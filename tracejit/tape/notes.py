"""All that a tape holds of the calls which it recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracejit.tape.noting import Event, Line
from tracejit.tape.plans import CallRecipe
from tracejit.tape.values import TapeValue
from tracejit.tape.variables import Variable

__all__ = ["Notes", "Record"]

Record = tuple[CallRecipe, Sequence[int], tuple[int, ...], Line, tuple[Any, ...]]
"""A call that a tape noted: its plan; the uid of each operand, 0 for those that are no tape
values; the uids of the results; where it was made; the operands that are Python numbers. The
residuals, in the order of `plan.reads`, are beside it in the tape's `_saved`."""


class Notes:
    """The values that a tape follows, and the calls on them, in the order of the calls."""

    def __init__(self, watch_accessed: bool) -> None:
        self._watch_accessed = watch_accessed
        self._clear()

    def _clear(self) -> None:
        self._used = False
        self._known: set[int] = set()
        """The values that the tape follows."""
        self._seen: set[int] = set()
        """Values computed from these and not followed: integers, ends of gradients."""
        self._records: list[Record] = []
        self._saved: list[Sequence[Any]] = []
        self._events: list[Event] = []
        self._variables: dict[int, tuple[Variable, list[TapeValue]]] = {}
