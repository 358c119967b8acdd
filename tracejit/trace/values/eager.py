"""Values outside of captures that note the operations on them: tape values and variables.

The layers below `tracejit.tape` know only this: a call that has such a value among its arguments
goes to `record_call`, which carries it out on NumPy values and remembers how.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracejit.classes import is_record
from tracejit.tree import flatten

__all__ = ["Recorded", "State", "handle_calls", "holds_recorded", "record_call",
           "record_whole", "watches"]


class Recorded:
    """The base of tape values and variables."""

    __slots__ = ()

    _data: Any
    """The present NumPy value."""


class State(Recorded):
    """The base of variables: inputs that every call reads and a captured function may assign to.

    Attributes: `trainable` (bool), `_data` (the present NumPy value).
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """Return its name in messages."""
        raise NotImplementedError

    def read_value(self) -> Recorded:
        """Return the present value, which stays as it is."""
        raise NotImplementedError

    def _accept(self, data: object) -> None:
        """Take a new NumPy value, which nobody else changes."""
        raise NotImplementedError


_HANDLERS: list[Callable[..., Any]] = []
"""The functions of `handle_calls`, which `tracejit.tape` enters when it is imported."""


def holds_recorded(x: object) -> bool:
    """Return whether an argument is a recorded value, or a nest with one in it."""
    if isinstance(x, (list, tuple)):
        return any(map(holds_recorded, x))
    if isinstance(x, dict):
        return any(map(holds_recorded, x.values()))
    return isinstance(x, Recorded) or (is_record(x) and holds_recorded(flatten(x)[0]))


def record_call(function: Callable[..., object], args: tuple[object, ...],
                kwargs: dict[str, object] | None = None) -> Any:
    """Carry out a call that has recorded values among its arguments."""
    return _HANDLERS[0](function, args, kwargs)


def record_whole(function: Callable[..., object], args: tuple[object, ...],
                 kwargs: dict[str, object]) -> Any:
    """Carry out a call of users' code that tapes are to see as one call."""
    return _HANDLERS[2](function, args, kwargs)


def handle_calls(handler: Callable[..., object], watching: Callable[[], bool],
                 whole: Callable[..., object]) -> None:
    """Enter the functions that carry out calls on recorded values.

    handler  -- carries out a call on NumPy values and records it
    watching -- whether there is a tape to record for
    whole    -- carries out a call of users' code that tapes see as one
    """
    _HANDLERS[:] = [handler, watching, whole]


def watches() -> bool:
    """Return whether a tape records in this thread."""
    return bool(_HANDLERS) and bool(_HANDLERS[1]())
