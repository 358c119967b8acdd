"""Lines of progress: written again in the same place where somebody looks, else written once."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

__all__ = ["MovingLine", "ProgressLine", "counted", "moving_line", "write_line"]


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
    return _TerminalLine() if _is_terminal(sys.stderr) else None


def _is_terminal(stream: Any) -> bool:
    """Whether a stream is a terminal; one that is closed, or is no file, is none."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False


def write_line(text: str) -> None:
    """Write a line on standard error, where there is one that is open."""
    stream = sys.stderr
    if stream is not None and not getattr(stream, "closed", False):
        print(text, file=stream, flush=True)


class ProgressLine:
    """A line of how far something is: each text where a line moves, else the last one."""

    def __init__(self) -> None:
        self._line = moving_line()
        self._last = ""

    def show(self, text: str) -> None:
        """Show a text in place of the one before."""
        self._last = text
        if self._line is not None:
            self._line.show(text)

    def close(self) -> None:
        """Leave the last text as a line of its own."""
        if self._line is not None:
            self._line.clear()
        if self._last:
            write_line(self._last)


def counted(items: Sequence[object], text: str) -> Iterator[Any]:
    """Yield items, and say how many of them are done: as they are where a line moves, else at last.

    text -- the words before the numbers
    """
    line = ProgressLine()
    for k, item in enumerate(items):
        line.show(f"{text} {k} of {len(items)}")
        yield item
    line.show(f"{text} {len(items)} of {len(items)}")
    line.close()
