"""What signal handlers raise while we compile: it gets through, whatever is made of it inside."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["keeping_signals"]


@contextmanager
def keeping_signals() -> Iterator[Sequence[BaseException]]:
    """Raise what a signal handler raises inside, even if something inside took it for a failure.

    Handlers run between any two instructions, so that their exceptions may come out of any part of
    capture or compilation, and be caught there as what that part raises by itself. It yields the
    list of what they have raised.
    """
    raised: list[BaseException] = []
    replaced = _note_handlers(raised)
    try:
        yield raised
    except BaseException as e:
        if raised and raised[0] is not e:
            raise raised[0] from None
        raise
    finally:
        for number, (noting, handler) in replaced.items():
            if signal.getsignal(number) is noting:  # else a new one was set meanwhile
                signal.signal(number, handler)
    if raised:
        raise raised[0]


def _note_handlers(raised: list[BaseException]) -> dict[int, tuple[Any, Any]]:
    """Let the handlers of Python note what they raise; other threads than the first run none."""
    replaced: dict[int, tuple[Any, Any]] = {}
    if threading.current_thread() is not threading.main_thread():
        return replaced
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        if callable(handler):
            noting = _noting(handler, raised)
            try:
                signal.signal(number, noting)
            except (ValueError, OSError):  # an interpreter that is not the first one
                return replaced
            replaced[number] = noting, handler
    return replaced


def _noting(handler: Callable[[int, FrameType | None], Any],
            raised: list[BaseException]) -> Callable[[int, FrameType | None], Any]:
    def note(number: int, frame: FrameType | None) -> Any:
        try:
            return handler(number, frame)
        except BaseException as e:
            raised.append(e)
            raise

    return note
