"""Settings: each is an environment variable `TRACEJIT_...` and an argument of `config(...)`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

__all__ = ["Settings", "cache_directory", "config", "settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be set.

    debug       -- 0: silent; 1: a line per compilation; 2: the IR after each pass; 3: the source
    dump        -- a directory for the stages of every compilation: `NAME_DIGEST.before.txt` and
                   `.after.txt`, the graph around all passes, `.py`, the source, and `.ll`, the LLVM
    verify      -- check IR between passes, and every index of compiled code
    cache       -- whether compiled programs are kept for other processes
    cache_dir   -- where these and emitted source are kept; the user's cache directory if None
    cache_size  -- how many bytes of them are kept; those that were not used for longest go first
    disable_jit -- run the interpreter instead of compiled code
    """

    debug: int = 0
    dump: str | None = None
    verify: bool = False
    cache: bool = True
    cache_dir: str | None = None
    cache_size: int = 1 << 30
    disable_jit: bool = False


def _bytes(text: str) -> int:
    """Return a number of bytes, which may end in K, M or G."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    number = text.upper().strip().removesuffix("B")
    unit = units.get(number[-1:], 1)
    try:
        return int(number[:-1] if unit > 1 else number) * unit
    except ValueError:
        raise ValueError(f"TRACEJIT_CACHE_SIZE is {text!r}: give bytes, or 500M, or 2G") from None


def _from_environment() -> Settings:
    def flag(name: str, default: str = "0") -> bool:
        return os.environ.get(name, default).lower() not in ("", "0", "false", "no")

    return Settings(debug=int(os.environ.get("TRACEJIT_DEBUG", "0") or 0),
                    dump=os.environ.get("TRACEJIT_DUMP") or None, verify=flag("TRACEJIT_VERIFY"),
                    cache=flag("TRACEJIT_CACHE", "1"),
                    cache_size=_bytes(os.environ.get("TRACEJIT_CACHE_SIZE") or "1G"),
                    cache_dir=os.environ.get("TRACEJIT_CACHE_DIR") or None,
                    disable_jit=flag("TRACEJIT_DISABLE_JIT"))


_SETTINGS: ContextVar[Settings] = ContextVar(
    "tracejit settings", default=_from_environment())  # noqa: B039  (frozen)


def settings() -> Settings:
    """Return the settings that hold here."""
    return _SETTINGS.get()


@contextmanager
def config(**changes: Any) -> Iterator[Settings]:
    """Change settings within a `with` block.

    >>> import tracejit
    >>> with tracejit.config(disable_jit=True):
    ...     print(float(tracejit.grad(lambda x: x * x)(3.0)))
    6.0

    Raises `TypeError` for a setting that does not exist.
    """
    token = _SETTINGS.set(replace(settings(), **changes))
    try:
        yield settings()
    finally:
        _SETTINGS.reset(token)


def cache_directory() -> Path:
    """Return the directory for files that can be made again."""
    given = settings().cache_dir
    if given is not None:
        return Path(given).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("tracejit", appauthor=False)
