"""Memory that is kept between calls, and how it is given back: `tracejit.clear_caches()`.

On the CPU it is one block of the fast entry's, of `MAX_KEPT` bytes at most; on a device a block per
program and stream. All other memory of a call is freed when it ends.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from contextlib import suppress

from tracejit.program.entry import release_memory

__all__ = ["clear_caches", "cleared_by"]

_CLEARING: list[Callable[[], None]] = []


def cleared_by(clear: Callable[[], None]) -> None:
    """Register a function that forgets results which can be made again, for `clear_caches`."""
    _CLEARING.append(clear)


def clear_caches() -> None:
    """Give back the memory that is kept between calls, and forget tapes' plans and programs.

    Between calls at most 256 MB are kept, for calls that need working memory; on a GPU as much as a
    program took last. Other compiled programs stay, and so do results. Files are
    `tracejit.cache`'s.

    >>> import tracejit
    >>> tracejit.clear_caches()
    """
    release_memory()
    for clear in _CLEARING:
        clear()
    workspaces = sys.modules.get("tracejit.program.cuda.workspace")
    if workspaces is not None:
        workspaces.release_all()
    with suppress(AttributeError, OSError):  # the C library's own, where it has that
        ctypes.CDLL(None).malloc_trim(ctypes.c_size_t(0))
