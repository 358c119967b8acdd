"""Whose a module is: a user's file may have the name of one of the standard library."""

from __future__ import annotations

import os
import sys
from types import FunctionType

__all__ = ["home_of", "is_standard"]

_FOLDER = os.path.dirname(os.__file__) + os.sep


def is_standard(top: str) -> bool:
    """Return whether a module of this name is that of the standard library."""
    if top not in sys.stdlib_module_names or top == "__main__":
        return False
    module = sys.modules.get(top)
    file = getattr(module, "__file__", None)
    if file is None:  # built in, frozen, or not imported
        return module is None or getattr(module, "__spec__", None) is not None
    return file.startswith(_FOLDER) and "site-packages" not in file


def home_of(fn: FunctionType) -> str:
    """Return the module in which a function was defined, whatever `functools.wraps` says."""
    return fn.__globals__.get("__name__") or ""
