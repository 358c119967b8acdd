"""Emitted source as files and functions: named by its content, kept in the cache directory."""

from __future__ import annotations

import functools
import hashlib
import linecache
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from tracejit.configuration import cache_directory

__all__ = ["define", "digest_of", "load_source"]


def digest_of(*parts: Any) -> str:
    """Return what names something by its content."""
    return hashlib.blake2b("\0".join(map(str, parts)).encode(), digest_size=12).hexdigest()


@functools.cache
def _namespace(strict: bool) -> dict[str, Any]:
    from tracejit.codegen.intrinsics import namespace
    from tracejit.codegen.vector_math import host_widths

    return namespace(() if strict else host_widths(), reassociate=not strict)


def load_source(source: str, options: Any) -> tuple[str, FunctionType]:
    """Write a kernel's source to a file, and define its function."""
    names = _namespace(getattr(options, "fp", "default") == "strict")
    path, names = define(source, "kernel", names)
    kernel = names["kernel"]
    assert isinstance(kernel, FunctionType)
    return path, kernel


def define(source: str, kind: str, names: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Write emitted source to a file named by its kind and content; return that and its names.

    names -- what the source may use
    """
    digest = digest_of(source)
    folder = cache_directory() / "emitted"
    path = folder / f"{kind}_{digest}.py"
    try:
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(source)
        name = str(path)
    except OSError:  # a cache that cannot be written to: the source stays in memory
        name = f"<tracejit {kind}_{digest}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    defined = dict(names)
    exec(compile(source, name, "exec"), defined)
    return name, defined
