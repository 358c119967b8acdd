"""What a `with` manages: its methods are captured, and swallow nothing that ends a capture."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.errors import Restart, TracejitError
from tracejit.trace.ground.context import current
from tracejit.trace.ground.restarts import Unroll
from tracejit.trace.python.caught import require_silence
from tracejit.trace.python.special_methods import special_method
from tracejit.trace.regions.raising import BranchRaised
from tracejit.trace.state.changes import call_watched

__all__ = ["ENDS_CAPTURES", "Managed"]


ENDS_CAPTURES = (TracejitError, Restart, Unroll, BranchRaised)
"""What ends a capture or an attempt of one: no `except` or `with` of the user may swallow it."""


class Managed:
    """What a `with` manages: the methods are captured, and nobody swallows what ends a capture."""

    def __init__(self, manager: object) -> None:
        if isinstance(manager, np.errstate):
            require_silence("np.errstate", [getattr(manager, name, None) for name in
                                            getattr(type(manager), "__slots__", ())])
        self.manager = manager

    def __enter__(self) -> Any:
        entered = self._method("__enter__")()
        if not isinstance(self.manager, np.errstate):  # it may do something where an error leaves
            current().attempts.append(None)
        return entered

    def __exit__(self, kind: object, error: object, traceback: object) -> Any:
        if not isinstance(self.manager, np.errstate):
            current().attempts.pop()
        swallowed = self._method("__exit__")(kind, error, traceback)
        return swallowed and not isinstance(error, ENDS_CAPTURES)

    def _method(self, name: str) -> Callable[..., Any]:
        method = special_method(self.manager, name)
        if method is None:
            plain = getattr(type(self.manager), name)
            return lambda *args: call_watched(plain, (self.manager, *args), {}, "a `with`")
        return functools.partial(method, self.manager)
