"""Which names emitted source has already, before a program gives any to its values.

All other names come from `KernelFrame.fresh`.
"""

from __future__ import annotations

import builtins
import functools
import keyword

from tracejit.codegen import intrinsics

__all__ = ["reserved_names"]

_OWN = {"cpu": ("arena", "ctx", "kernel"),
        "cuda": ("ctx", "launch", "left", "right", "run", "shared_places")}
"""The names of emitted functions, of their parameters, and of shared memory."""


@functools.cache
def reserved_names(target: str = "cpu") -> frozenset[str]:
    """Return the names that no value gets: Python's words, and every name in a target's source."""
    names = {*keyword.kwlist, *dir(builtins), *_OWN["cpu"], *intrinsics.namespace(())}
    if target == "cuda":
        from tracejit.codegen.cuda import functions

        names.update(_OWN["cuda"], functions.namespace())
    return frozenset(names)
