"""Emitted source as functions, and as files named by its content where programs are kept."""

from __future__ import annotations

import atexit
import functools
import hashlib
import linecache
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tracejit.configuration import settings
from tracejit.store.files import Folder
from tracejit.store.housekeeping import tidy
from tracejit.store.store import find_store

__all__ = ["define", "digest_of", "load_source"]


def digest_of(*parts: object) -> str:
    """Return the digest that names a text by its content."""
    return hashlib.blake2b("\0".join(map(str, parts)).encode(), digest_size=12).hexdigest()


@functools.cache
def _namespace(strict: bool) -> dict[str, Any]:
    from tracejit.codegen.intrinsics import namespace
    from tracejit.codegen.vector_math import host_widths

    return namespace(() if strict else host_widths(), reassociate=not strict)


def load_source(source: str, options: object) -> tuple[str, dict[str, Any]]:
    """Write a kernel's source to a file; return its name, and the functions that it calls."""
    names = _namespace(getattr(options, "fp", "default") == "strict")
    return _file_of(source, "kernel"), names


def define(source: str, kind: str, names: Mapping[str, object]) -> tuple[str, dict[str, Any]]:
    """Define the functions of emitted source; return the file name of its lines, and its names.

    kind  -- a word for the sort of source, with which the file name begins
    names -- the names that the source may use
    """
    name, defined = _file_of(source, kind), dict(names)
    exec(compile(source, name, "exec"), defined)
    return name, defined


def _file_of(source: str, kind: str) -> str:
    """Return the name of the file that emitted source is in; one for tracebacks if none is kept."""
    stem = f"{kind}_{digest_of(source)}"
    name = _kept(f"{stem}.py", source)
    if name is None:
        name = f"<tracejit {stem}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    return name


def _kept(name: str, source: str) -> str | None:
    """Return the path of a file that holds a source; None where nothing is kept."""
    store = find_store()
    if store is None:
        return _for_debuggers(name, source) if settings().debug_info else None
    try:
        folder = store.emitted()
        if not _is_whole(folder, name, source):
            folder.replace(name, source.encode())
            tidy(store)
        return str(folder.path / name)
    except OSError:
        return None


def _for_debuggers(name: str, source: str) -> str:
    """Return the path of a file that holds a source as long as this process runs."""
    path = Path(_folder_of(os.getpid())) / name
    path.write_text(source, encoding="utf-8")
    return str(path)


@functools.cache
def _folder_of(process: int) -> str:
    """Return a folder that goes when a process ends."""
    folder = tempfile.mkdtemp(prefix="tracejit-")

    def remove() -> None:
        if os.getpid() == process:  # a fork leaves what is its parent's
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def _is_whole(folder: Folder, name: str, source: str) -> bool:
    """Whether a file holds a source; one that was cut or altered, or is no file of ours, does not.

    It counts as used now, for others to go first.
    """
    try:
        if folder.read(name) != source.encode():
            return False
        folder.touch(name)
    except OSError:
        return False
    return True
