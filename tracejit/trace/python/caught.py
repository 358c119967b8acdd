"""What a user's `except` catches in a capture, and what the program then rests on."""

from __future__ import annotations

import linecache

from tracejit.trace.ground.context import current
from tracejit.trace.ground.restarts import NeedStatic
from tracejit.trace.ground.source import PACKAGE, find_site

__all__ = ["rest_on_sizes"]

_BY_USERS = ("raise_", "assert_")
"""The hooks that carry out what the user raises."""


def rest_on_sizes(error: BaseException | None) -> None:
    """Fix the sizes of this call where a rule of shapes raised what is caught: others may not."""
    if not isinstance(error, (ValueError, IndexError, TypeError, ZeroDivisionError)):
        return
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return
    code = traceback.tb_frame.f_code
    line = linecache.getline(code.co_filename, traceback.tb_lineno).strip()
    if not code.co_filename.startswith(PACKAGE) or code.co_name in _BY_USERS or (
            not line.startswith("raise")):
        return
    trace = current()
    for v in trace.actual:
        if v.is_size:
            raise NeedStatic(v, find_site(), f"an {type(error).__name__} is caught, which may "
                                             "come of this size")
