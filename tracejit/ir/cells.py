"""What a cell of a notebook is called, whose code is in no file of the user's."""

from __future__ import annotations

import sys

__all__ = ["cell_name", "line_name", "short_name"]


def cell_name(file: str) -> str | None:
    """Return `In[3]` for the file name under which IPython compiled a cell; None for a real file.

    The number is that of the cell's last execution, which the notebook shows beside it. IPython is
    asked only where it is running, and by the way it names cells in its own tracebacks.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None:
        return None
    named = shell.compile.format_code_name(file)
    return named[1] if named is not None else None


def line_name(file: str, line: int) -> str:
    """Return `file:line`, or `In[3]:line`, as messages name a place."""
    return f"{cell_name(file) or file}:{line}"


def short_name(file: str) -> str:
    """Return the name of a file without folders, or `In[3]`, as listings name a place."""
    return cell_name(file) or file.rsplit("/", 1)[-1]
