"""Locks and forks: a child finds every lock free, and the state behind it whole.

A fork copies the thread that forks, and locks as they are: held by a thread that the child has not.
So a fork waits for the holders of locks, for a while. Where that is too long, compilations in the
child are refused with a remedy, since they would go on with half-done work; calls of compiled
programs work.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from typing import Any

__all__ = ["require_whole"]

PATIENCE = 10.0
"""For how many seconds a fork waits for compilations of other threads."""

_LOCKS = (("tracejit.scale.holders", "_LOADING"), ("tracejit.runtime.function", "_COMPILING"),
          ("numba.core.compiler_lock", "global_compiler_lock._lock"),
          ("tracejit.codegen.compile", "_LOCK"), ("tracejit.trace.ground.trees", "SYNTAX_TREES"),
          ("tracejit.runtime.ticks", "LOCK"), ("tracejit.program.cuda.simulator", "_ONE_AT_A_TIME"),
          ("tracejit.runtime.function", "_ENTRIES.lock"),
          ("tracejit.configuration", "_LOOKING.lock"),
          ("llvmlite.binding.ffi", "lib._lock._lock"))
"""Modules and the locks in them, in the order in which one thread takes several."""

_taken: list[Any] = []
_missed: list[Any] = []
_broken = False


def require_whole() -> None:
    """Raise `RuntimeError` in a child that was forked in the middle of a compilation."""
    if _broken:
        raise RuntimeError(
            "this process was forked while another thread compiled, and cannot compile itself. "
            "Compile before forking (call the function once, or use .warmup()), or start "
            'processes with multiprocessing.get_context("spawn") or "forkserver"')


def _lock_of(module: str, path: str) -> Any:
    """Return a lock; None where its module is not imported."""
    found: Any = sys.modules.get(module)
    for step in path.split("."):
        found = getattr(found, step, None)
    return found


def _before() -> None:
    """Take all locks, so that no thread begins work that the child would find half done."""
    end = time.monotonic() + PATIENCE
    for module, path in _LOCKS:
        lock = _lock_of(module, path)
        if lock is not None:
            taken = lock.acquire(timeout=max(0.0, end - time.monotonic()))
            (_taken if taken else _missed).append(lock)


def _after_in_parent() -> None:
    _missed.clear()
    _release()


def _after_in_child() -> None:
    global _broken
    for lock in _missed:
        lock._at_fork_reinit()  # in place, as CPython's own: others may have it by another name
    if _missed:
        _broken = True
        gc.enable()  # a compilation switches collections off while it lasts
    _after_in_parent()


def _release() -> None:
    while _taken:
        _taken.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent,
                        after_in_child=_after_in_child)
