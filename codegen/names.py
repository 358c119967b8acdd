"""Which names emitted source has already, before a program gives any to its values.

Everything else gets its name from `Emitter.fresh`, which asks here.
"""

from __future__ import annotations

import builtins
import functools
import keyword
import re

__all__ = ["MADE_OF_NAMES", "is_numbered", "reserved_names"]

_OWN = {"cpu": ("arena", "ctx", "kernel"),
        "cuda": ("ctx", "launch", "left", "right", "run", "shared_places")}
"""The names of emitted functions, of what their callers give them, and of shared memory."""
MADE_OF_NAMES = re.compile("(?:count|parts|room|scalars|shared)_")
"""How names begin that are made of other names, for what a value has besides."""
_NUMBERED = re.compile(r"(?:at|cap|d|log|logcap|logmem|o|scope_log|top)\d+|\w+_at")


def is_numbered(name: str) -> bool:
    """Return whether a name looks like those of Logs and of places in memory."""
    return _NUMBERED.fullmatch(name) is not None


@functools.cache
def reserved_names(target: str = "cpu") -> frozenset[str]:
    """Return what no value is called: Python's words, and all that source for a target calls."""
    from tracejit.codegen import intrinsics

    names = {*keyword.kwlist, *dir(builtins), *_OWN["cpu"], *intrinsics.namespace(())}
    if target == "cuda":
        from tracejit.codegen.cuda import functions

        names.update(_OWN["cuda"], functions.namespace())
    return frozenset(names)
