"""The errors that signal handlers raise while we compile: they get through all code inside.

    with keeping_signals():      # Ctrl-C ends what runs here at once, and nothing inside catches it
        with uninterrupted():    # Ctrl-C waits for the end of this
            import numba
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["keeping_signals", "uninterrupted"]


@contextmanager
def keeping_signals() -> Iterator[Sequence[BaseException]]:
    """Raise the errors of signal handlers that run inside, even where code inside caught them.

    Handlers run between any two instructions, so that their exceptions may come out of any part of
    capture or compilation, and be caught there as that part's own. It yields the list of the errors
    that handlers have raised.
    """
    with _wrapping(interrupts=True) as raised:
        yield raised


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Raise the errors of signal handlers at the end of what runs inside, and not in the middle.

    It is for steps of libraries that stay half done, for all that follows in the process, where an
    exception cuts them off: imports, and Numba's registration of functions.
    """
    with _wrapping(interrupts=False):
        yield


@contextmanager
def _wrapping(interrupts: bool) -> Iterator[Sequence[BaseException]]:
    noted = _Noted()
    try:
        noted.take_over(interrupts)
        yield noted.raised
    except BaseException as e:
        if noted.raised and noted.raised[0] is not e:
            raise noted.raised[0] from None
        raise
    finally:
        try:
            noted.interrupts = False
        finally:
            noted.give_back()
    if noted.raised:
        raise noted.raised[0]


class _Noted:
    """The errors that handlers have raised, and the handlers that were replaced.

    interrupts -- whether a handler's error goes on at once; never while handlers are exchanged, as
                  one that is exchanged by half would stay
    """

    def __init__(self) -> None:
        self.raised: list[BaseException] = []
        self.replaced: dict[int, tuple[Any, Any]] = {}
        self.interrupts = False

    def take_over(self, interrupts: bool) -> None:
        """Let handlers note the errors that they raise; other threads than the first run none."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in signal.valid_signals():
            handler = signal.getsignal(number)
            if callable(handler):
                self.replaced[number] = noting, _ = self._noting(handler), handler
                try:
                    signal.signal(number, noting)
                except (ValueError, OSError):  # an interpreter that is not the first one
                    break
        self.interrupts = interrupts
        if self.raised:
            raise self.raised[0]

    def give_back(self) -> None:
        """Set the handlers that were there, but where a new one was set meanwhile."""
        for number, (noting, handler) in self.replaced.items():
            if signal.getsignal(number) is noting:
                signal.signal(number, handler)

    def _noting(self, handler: Callable[[int, FrameType | None], object]) -> Callable[..., Any]:
        def note(number: int, frame: FrameType | None) -> Any:
            try:
                return handler(number, frame)
            except BaseException as e:
                self.raised.append(e)
                if self.interrupts:
                    raise
                return None

        return note
