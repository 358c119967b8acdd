"""Settings: each is an environment variable `TRACEJIT_...` and an argument of `config(...)`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, cast

from tracejit.analyses import Without, analyses_named

__all__ = ["Settings", "Threads", "cache_directory", "calls_look", "config", "is_off", "listen",
           "require_threads", "settings", "switched_off", "thread_count"]

Threads = int | Literal["auto"] | None
"""How many threads may share loops: a number, "auto", or None, with which no loop is shared."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings.

    debug       -- 0: silent; 1: a line per compilation, and tracebacks with all frames; 2: the
                   IR after each pass that changes it, too; 3: the emitted source; 4: the optimised
                   LLVM and the assembly
    dump        -- a directory for the stages of every compilation: `NAME_DIGEST.before.txt` and
                   `.after.txt`, the graph around all passes, `.why.txt`, the decisions, `.py`,
                   the source, `.ll`, the LLVM, `.s`, the assembly, and `.repro.py`, a script that
                   runs the program alone and compares it with the interpreter
    verify      -- check IR between passes, and every index of compiled code
    cache       -- whether compiled programs are kept for other processes
    cache_dir   -- where these and emitted source are kept; the user's cache directory if None
    cache_size  -- how many bytes of them are kept; files not used for longest go first
    disable_jit -- run the interpreter instead of compiled code
    debugger    -- run a function in plain Python, on NumPy's values, in each call of `jit`, and
                   before each call of `grad`, `value_and_grad` and `vjp`: `breakpoint()` and pdb
                   stop in it there; elsewhere `breakpoint()` is refused
    debug_nans  -- raise `FloatingPointError` where a result has a NaN or an infinity, with the
                   operation that made it and the user's line
    log_compiles -- log a line per compilation: signature, reason, and the time of each stage
    explain_cache_misses -- log why no program of this process, or in the store, serves a call
    threads     -- how many threads share the loops of a program: a number, or "auto", as many as
                   this process may run at once; `TRACEJIT_NUM_THREADS`. With None no loop is
                   shared. Results have the same bits for every number
    without     -- the names of analyses that are switched off, to see what each brings: "jamming",
                   or ("fusion", "threads"); `TRACEJIT_WITHOUT=fusion,threads`. They are
                   recomputation, storing, fusion, vectorisation, lanes, jamming, blocking,
                   searching, ordering, short_loops and threads
    debug_info  -- put tables of the emitted source's lines into machine code, and tell debuggers of
                   it: gdb and lldb stop at lines of the file of `.lower().compile().path`. Such
                   programs are not kept
    """

    debug: int = 0
    dump: str | None = None
    verify: bool = False
    cache: bool = True
    cache_dir: str | None = None
    cache_size: int = 1 << 30
    disable_jit: bool = False
    debugger: bool = False
    debug_nans: bool = False
    log_compiles: bool = False
    explain_cache_misses: bool = False
    threads: Threads = None
    without: frozenset[str] = frozenset()
    debug_info: bool = False

    @property
    def changes_calls(self) -> bool:
        """Return whether calls of compiled programs have to look at the settings."""
        return self.disable_jit or self.debugger or self.debug_nans or (
            self.threads != _THREADS) or self.without != _WITHOUT or self.debug_info != _INFO


class SettingChanges(TypedDict, total=False):
    """The settings that a call of `config` gives, for type checkers."""

    debug: int
    dump: str | None
    verify: bool
    cache: bool
    cache_dir: str | None
    cache_size: int
    disable_jit: bool
    debugger: bool
    debug_nans: bool
    log_compiles: bool
    explain_cache_misses: bool
    threads: Threads
    without: Without
    debug_info: bool


def require_threads(threads: object, name: str = "threads") -> Threads:
    """Return a number of threads; `ValueError` for anything that is none."""
    if threads is None or (isinstance(threads, str) and threads == "auto") or (
            type(threads) is int and threads > 0):
        return threads  # type: ignore[return-value]
    raise ValueError(f'{name} is a number of threads from 1 on, "auto" or None, not {threads!r}')


def thread_count(given: Threads) -> int:
    """Return how many threads share a loop for a number that was given, or for the settings."""
    threads = settings().threads if given is None else given
    return min(_available() if threads == "auto" else threads or 1, MOST_THREADS)


MOST_THREADS = 1024
"""What more are asked for than these are as many."""


def _available() -> int:
    """Return how many threads this process may run at once.

    Processes of a pool are one of many: one thread each. OMP_NUM_THREADS is heeded, as Dask, Ray
    and joblib set it for their workers.
    """
    import multiprocessing

    if multiprocessing.parent_process() is not None:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    return max(1, min(cores or 1, int(limit) if limit.isdecimal() else 1 << 30))


def _bytes(text: str) -> int:
    """Return a number of bytes, which may end in K, M or G."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    number = text.upper().strip().removesuffix("B")
    unit = units.get(number[-1:], 1)
    try:
        return int(number[:-1] if unit > 1 else number) * unit
    except ValueError:
        raise ValueError(f"TRACEJIT_CACHE_SIZE is {text!r}: give bytes, or 500M, or 2G") from None


def _flag(name: str, default: str = "0") -> bool:
    return os.environ.get(name, default).lower() not in ("", "0", "false", "no")


def _from_environment() -> Settings:
    return Settings(debug=int(os.environ.get("TRACEJIT_DEBUG", "0") or 0),
                    dump=os.environ.get("TRACEJIT_DUMP") or None, verify=_flag("TRACEJIT_VERIFY"),
                    cache=_flag("TRACEJIT_CACHE", "1"),
                    cache_size=_bytes(os.environ.get("TRACEJIT_CACHE_SIZE") or "1G"),
                    cache_dir=os.environ.get("TRACEJIT_CACHE_DIR") or None,
                    disable_jit=_flag("TRACEJIT_DISABLE_JIT"),
                    debugger=_flag("TRACEJIT_DEBUGGER"),
                    debug_nans=_flag("TRACEJIT_DEBUG_NANS"),
                    log_compiles=_flag("TRACEJIT_LOG_COMPILES"),
                    explain_cache_misses=_flag("TRACEJIT_EXPLAIN_CACHE_MISSES"),
                    threads=_THREADS, without=_WITHOUT, debug_info=_INFO)


def _threads_of_environment() -> Threads:
    text = os.environ.get("TRACEJIT_NUM_THREADS", "").strip()
    number = int(text) if text.isdecimal() else text or None
    return require_threads(number, "TRACEJIT_NUM_THREADS")


_THREADS = _threads_of_environment()
_WITHOUT = analyses_named(os.environ.get("TRACEJIT_WITHOUT", ""), "TRACEJIT_WITHOUT")
_INFO = _flag("TRACEJIT_DEBUG_INFO")
_DEFAULT = _from_environment()
_SETTINGS: ContextVar[Settings] = ContextVar(
    "tracejit settings", default=_DEFAULT)


def settings() -> Settings:
    """Return the settings that hold here."""
    return _SETTINGS.get()


@contextmanager
def config(**changes: Unpack[SettingChanges]) -> Iterator[Settings]:
    """Change settings within a `with` block.

    changes -- settings by name, see "Settings"; the others stay as they are

    >>> import tracejit
    >>> with tracejit.config(disable_jit=True):
    ...     print(float(tracejit.grad(lambda x: x * x)(3.0)))
    6.0

    Raises `TypeError` for a setting that does not exist.
    """
    for name in changes.keys() - {f.name for f in fields(Settings)}:
        raise TypeError(_no_setting(name))
    require_threads(changes.get("threads"))
    given = cast(dict[str, Any], changes)
    if "without" in given:
        given["without"] = analyses_named(given["without"])
    token = _SETTINGS.set(replace(settings(), **given))
    looks = bool(settings().changes_calls)
    try:
        _LOOKING.add(looks)
        yield settings()
    finally:
        _LOOKING.add(-looks)
        _SETTINGS.reset(token)


def is_off(name: str) -> bool:
    """Return whether an analysis is switched off here."""
    return name in settings().without


@contextmanager
def switched_off(names: frozenset[str]) -> Iterator[None]:
    """Have analyses switched off, besides those that the settings name, while a program is made."""
    token = _SETTINGS.set(replace(settings(), without=settings().without | names))
    try:
        yield
    finally:
        _SETTINGS.reset(token)


def _no_setting(name: str) -> str:
    import difflib

    names = [f.name for f in fields(Settings)]
    near = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
    return f"there is no setting {name!r}; {hint}"


class _Looking:
    """Counts the blocks in which calls have to look at the settings, and tells when any is open.

    Calls of compiled code are made without Python, and so without a look at the settings. Who makes
    them so listens here, and lets them go through Python meanwhile, in all threads.
    """

    def __init__(self) -> None:
        self.count = int(_DEFAULT.changes_calls)
        self.listeners: list[Callable[[bool], None]] = []
        self.lock = threading.RLock()

    def add(self, number: int) -> None:
        """Note that a block begins (1) or ends (-1)."""
        with self.lock:
            before, self.count = self.count > 0, self.count + number
            if before is not (self.count > 0):
                for listener in self.listeners:
                    listener(self.count > 0)


_LOOKING = _Looking()


def calls_look() -> bool:
    """Return whether calls have to look at the settings now."""
    return _LOOKING.count > 0


def listen(listener: Callable[[bool], None]) -> None:
    """Have a function told whether calls have to look at the settings: now, and at each change."""
    with _LOOKING.lock:
        _LOOKING.listeners.append(listener)
        listener(calls_look())


def cache_directory() -> Path:
    """Return the directory for files that can be made again."""
    given = settings().cache_dir
    if given is not None:
        return Path(given).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("tracejit", appauthor=False)
