"""Whose a module is: a user's file may have the name of one of the standard library."""

from __future__ import annotations

import os
import sys
from types import FunctionType

import numpy as np

__all__ = ["home_of", "is_fixed", "is_followed", "is_known_ufunc", "is_standard"]

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


_LIBRARIES = {"numpy", "scipy", "numba", "tracejit"}
"""Modules whose content never changes, as the standard library's: `np.pi` is a constant."""


def is_fixed(module: str | None) -> bool:
    """Return whether what a module holds never changes."""
    top = (module or "").partition(".")[0]
    return top in _LIBRARIES or (top in sys.stdlib_module_names and is_standard(top))


def is_followed(cls: type) -> bool:
    """Return whether what a class and its bases have may change: it is no library's."""
    return not is_fixed(cls.__module__)


def home_of(fn: FunctionType) -> str:
    """Return the module in which a function was defined, whatever `functools.wraps` says."""
    return fn.__globals__.get("__name__") or ""


def is_known_ufunc(fn: np.ufunc) -> bool:
    """Return whether a ufunc is NumPy's or SciPy's, and not made of a Python function."""
    homes = (np, sys.modules.get("scipy.special"))
    return any(getattr(home, fn.__name__, None) is fn for home in homes)
