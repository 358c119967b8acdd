"""Names made for the parts and memory of a value, which values themselves never get."""

from __future__ import annotations

import re

__all__ = ["MADE_OF_NAMES", "is_numbered"]

MADE_OF_NAMES = re.compile("(?:count|parts|room|scalars|shared)_")
"""How names begin that are made of a value's name, for its parts, count, memory."""
_NUMBERED = re.compile(r"(?:at|cap|d|log|logcap|logmem|o|scope_log|top)\d+|\w+_at")


def is_numbered(name: str) -> bool:
    """Return whether a name is formed like the names of Logs and of places in memory."""
    return _NUMBERED.fullmatch(name) is not None
