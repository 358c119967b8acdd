"""The stream that calls use: the caller's, or the legacy default stream."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

__all__ = ["LEGACY", "Stream", "current_stream", "stream"]

PER_THREAD = 2
"""The handle of a stream that is another one in each thread."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream: its handle, and the object that keeps it alive."""

    handle: int
    owner: Any = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> Any:
        """Return the key that tells it apart from every other stream."""
        return (self.handle, threading.get_ident()) if self.handle == PER_THREAD else self.handle


LEGACY = Stream(1)
"""The legacy default stream, which Numba, CuPy and PyTorch use where no other is given."""

_CURRENT: ContextVar[Stream] = ContextVar("tracejit_stream", default=LEGACY)


def current_stream() -> Stream:
    """Return the stream that calls use."""
    return _CURRENT.get()


@contextmanager
def stream(given: object) -> Iterator[None]:
    """Let calls of functions with `target="cuda"` run on a stream of the caller's.

    given -- a stream of CuPy, PyTorch, Numba or cuda.core, or an object with `__cuda_stream__`; or
             the handle of one, an int, which the caller keeps alive as long as results are there

    It holds in this thread, until the block ends. Raises `TypeError` for anything else.

    >>> import tracejit
    >>> with tracejit.stream(0):  # the legacy default stream
    ...     pass
    """
    token = _CURRENT.set(Stream(handle_of(given) or LEGACY.handle, given))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def handle_of(given: object) -> int:
    """Return the handle of a stream; 0 and 1 are the legacy default stream."""
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return given
    protocol = getattr(given, "__cuda_stream__", None)
    if protocol is not None:
        return int((protocol() if callable(protocol) else protocol)[1])
    for name in ("cuda_stream", "ptr"):  # PyTorch and CuPy before they had the protocol
        found = getattr(given, name, None)
        if isinstance(found, int):
            return found
    raise TypeError(f"{given!r} is no CUDA stream: pass one of CuPy, PyTorch, Numba or cuda.core, "
                    "or its handle, an int")
