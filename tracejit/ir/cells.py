"""The names of notebook cells, of which the code is in no file of the user's."""

from __future__ import annotations

import sys
import threading
from typing import Any

__all__ = ["NOTING", "cell_name", "line_name", "short_name"]


class _Noting(threading.local):
    """The profiler by which a capture notes the code that runs in this thread, or None."""

    profiler: Any = None


NOTING = _Noting()


def cell_name(file: str) -> str | None:
    """Return `In[3]` for the file name under which IPython compiled a cell; None for a real file.

    The number is the cell's last execution's, which the notebook shows beside it. IPython is asked
    only where it is running, and by the way it names cells in its own tracebacks. The code that it
    runs then is no part of a program that is being captured.
    """
    module = sys.modules.get("IPython")
    if module is None:
        return None
    profiler = NOTING.profiler
    if profiler is None:
        return _ask(module, file)
    profiler.disable()
    try:
        return _ask(module, file)
    finally:
        profiler.enable()


def _ask(module: object, file: str) -> str | None:
    """Return IPython's name, if it is running, for the cell of a file name; None for no cell."""
    shell = getattr(module, "get_ipython", lambda: None)()
    named = None if shell is None else shell.compile.format_code_name(file)
    return None if named is None else named[1]


def line_name(file: str, line: int) -> str:
    """Return `file:line`, or `In[3]:line`, as messages name a place."""
    return f"{cell_name(file) or file}:{line}"


def short_name(file: str) -> str:
    """Return the name of a file without folders, or `In[3]`, as listings name a place."""
    return cell_name(file) or file.rsplit("/", 1)[-1]
