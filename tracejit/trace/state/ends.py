"""Objects with `__del__` that captured code makes: it runs where the program holds them no more.

Tables of a capture hold objects by identity, until a region or the attempt ends. A `__del__` that
runs by then is too late, and what it changes is missing before: such a program is refused.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

from tracejit.errors import Refusal
from tracejit.trace.ground.context import current, refuse

__all__ = ["has_end", "require_ended", "with_end"]


def has_end(cls: type) -> bool:
    """Return whether objects of a class run Python code where nothing holds them."""
    return isinstance(getattr(cls, "__del__", None), FunctionType)


def with_end(cls: type, make: Callable[[], object]) -> Any:
    """Return an object that has to end before the attempt does.

    Refuses one that regions would hold, or of which nobody could tell whether it is held.
    """
    if current().frames or not cls.__weakrefoffset__:
        raise _refused(cls)
    x = make()
    current().ending.append((cls, weakref.ref(x)))
    return x


def require_ended() -> None:
    """Refuse a program of which an object is still held when its function has returned."""
    for cls, reference in current().ending:
        if reference() is not None:
            raise _refused(cls)


def _refused(cls: type) -> Refusal:
    return refuse(f"the end of an object of {cls.__qualname__}, which has `__del__`: a capture "
                  "holds objects for longer", "End it by a method, or by a `with` statement",
                  "TJ117")
