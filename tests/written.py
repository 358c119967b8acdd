"""Functions from text that tests write: captured as those of a file are."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

__all__ = ["function_of"]


def function_of(source: str, name: str) -> Callable[..., Any]:
    """Return the function `f` that a text defines; errors and traces show lines of `<name>`."""
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    names: dict[str, Any] = {"__name__": name.partition(" ")[0]}
    exec(compile(source, file, "exec"), names)
    made: Callable[..., Any] = names["f"]
    return made
