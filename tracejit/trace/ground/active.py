"""The captures of this thread. It imports nothing, so that calls can ask without the tracer."""

from __future__ import annotations

import threading
from typing import Any

__all__ = ["CAPTURES", "is_tracing"]


class _Stack(threading.local):
    def __init__(self) -> None:
        self.traces: list[Any] = []


CAPTURES = _Stack()
"""This thread's captures, the innermost last."""


def is_tracing() -> bool:
    """Return whether this thread is capturing."""
    return bool(CAPTURES.traces)
