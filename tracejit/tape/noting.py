"""The tapes that record, and their notes besides calls: lines, and where a value was lost."""

from __future__ import annotations

import sys
import threading
from types import CodeType, FrameType
from typing import Any

from tracejit.ir.cells import line_name
from tracejit.trace.ground.source import is_user_code

__all__ = ["ACTIVE", "Event", "Line", "line_text", "note_event", "user_line"]


class _Active(threading.local):
    def __init__(self) -> None:
        self.tapes: list[Any] = []


ACTIVE = _Active()
"""The tapes that record in this thread, the outermost first."""


Line = tuple[CodeType | None, int]
"""A place in a user's code: where in which code; `line_text` finds the line."""

_FOREIGN: dict[str, bool] = {}
"""Whether the code of a file is not the user's."""


def user_line(depth: int = 1) -> Line:
    """Return where the user's code is that runs now; `depth` frames are known not to be it."""
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        file = frame.f_code.co_filename
        foreign = _FOREIGN.get(file)
        if foreign is None:
            foreign = _FOREIGN[file] = not is_user_code(frame.f_code)
        if not foreign:
            return frame.f_code, frame.f_lasti
        frame = frame.f_back
    return None, 0


def line_text(line: Line) -> str:
    """Return `file:line` of a place."""
    code, last = line
    if code is None:
        return "<unknown line>"
    found = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= last < end and number is not None:
            found = number
    return line_name(code.co_filename, found)


class Event:
    """An event after which a value is no longer followed, for `GradientTape.why`."""

    line: Line
    text: str
    uid: int

    __slots__ = ("line", "text", "uid")

    def __init__(self, uid: int, text: str, line: Line) -> None:
        self.uid, self.text, self.line = uid, text, line


def note_event(x: Any, text: str) -> None:
    """Let the tapes that know a value note the event that ended its history."""
    for tape in ACTIVE.tapes:
        if x.uid in tape._known:
            tape._events.append(Event(x.uid, text, user_line()))
