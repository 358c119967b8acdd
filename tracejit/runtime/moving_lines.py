"""A line that is written again and again in the same place, where somebody looks at it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

__all__ = ["MovingLine", "counted", "moving_line"]


class MovingLine(Protocol):
    """A place that shows one line at a time."""

    def show(self, text: str) -> None:
        """Show a text in place of the one before."""

    def clear(self) -> None:
        """Show nothing."""


class _TerminalLine:
    """The line of the cursor, on standard error."""

    def show(self, text: str) -> None:
        """Show the beginning of a text, as much of it as a line holds."""
        width = shutil.get_terminal_size().columns - 1
        shown = text if len(text) <= width else f"{text[:max(width - 1, 0)]}…"
        print(f"\r\x1b[K{shown}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Leave an empty line."""
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class _NotebookLine:
    """An output of the cell that is running."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str) -> None:
        """Show a text, which a notebook wraps."""
        content = {"text/plain": text}
        if self._handle is None:
            display: Any = sys.modules["IPython"].display.display  # as a shell is here, it is, too
            self._handle = display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)

    def clear(self) -> None:
        """Leave the output empty."""
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


def moving_line() -> MovingLine | None:
    """Return a line where the output is a terminal or a notebook; None elsewhere."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if hasattr(shell, "kernel"):
        return _NotebookLine()
    stream = sys.stderr
    return _TerminalLine() if stream is not None and stream.isatty() else None


def counted(items: Sequence[object], text: str) -> Iterator[Any]:
    """Yield items, and say how many of them are done: as they are where a line moves, else at last.

    text -- the words before the numbers
    """
    line = moving_line()
    for k, item in enumerate(items):
        if line is not None:
            line.show(f"{text} {k} of {len(items)}")
        yield item
    if line is not None:
        line.clear()
    if sys.stderr is not None:
        print(f"{text} {len(items)} of {len(items)}", file=sys.stderr, flush=True)
