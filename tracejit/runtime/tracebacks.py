"""Tracebacks as users read them: their own frames, and none of tracejit's between and below them.

`TRACEJIT_DEBUG=1` keeps all frames; so do errors that only a defect of tracejit raises.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from tracejit.configuration import settings
from tracejit.errors import CompileError, IRError
from tracejit.trace.ground.active import is_tracing

__all__ = ["hide_frames", "hiding_frames"]

Callee = TypeVar("Callee", bound=Callable[..., Any])


def hide_frames(error: BaseException) -> None:
    """Take the frames that are not users' from the tracebacks of an exception and its causes.

    To be followed by a bare `raise`, which does not add the frame that it is in.
    """
    if is_tracing() or settings().debug or isinstance(error, (CompileError, IRError)):
        return
    seen: set[int] = set()
    chain: list[BaseException | None] = [error]
    while chain:
        e = chain.pop()
        if e is not None and id(e) not in seen:
            seen.add(id(e))
            e.__traceback__ = _users_frames(e.__traceback__)
            chain += [e.__cause__, e.__context__]


def _users_frames(traceback: TracebackType | None) -> TracebackType | None:
    from tracejit.trace.ground.source import is_user_code

    kept = []
    while traceback is not None:
        if is_user_code(traceback.tb_frame.f_code):
            kept.append(traceback)
        traceback = traceback.tb_next
    result: TracebackType | None = None
    for t in reversed(kept):
        line = t.tb_lineno  # None where a signal came between two statements
        line = t.tb_frame.f_code.co_firstlineno if line is None else line
        result = TracebackType(result, t.tb_frame, t.tb_lasti, line)
    return result


def hiding_frames(fn: Callee) -> Callee:
    """Make a function that users call raise without its own frames."""
    @functools.wraps(fn)
    def entry(*args: object, **kwargs: object) -> Any:
        try:
            return fn(*args, **kwargs)
        except Exception as e:
            hide_frames(e)
            raise

    return entry  # type: ignore[return-value]
