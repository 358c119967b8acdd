"""Whose a module is: a user's file may have the name of one of the standard library."""

from __future__ import annotations

import functools
import math
import os
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from tracejit.exact import MADE_BY_PYTHON

__all__ = ["home_of", "home_of_class", "is_fixed", "is_followed", "is_known_ufunc",
           "is_scipy_since", "is_standard", "replaced"]

_FOLDER = os.path.dirname(os.__file__) + os.sep


def is_standard(top: str) -> bool:
    """Return whether the module of this name is the standard library's."""
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
    """Return whether the content of a module never changes."""
    top = (module or "").partition(".")[0]
    return top in _LIBRARIES or (top in sys.stdlib_module_names and is_standard(top))


def home_of_class(cls: type) -> str:
    """Return the module in which a class was defined; "" for a text without a module's name.

    `exec(text, {})` finds the `__name__` of `builtins`, which makes no classes while Python runs.
    """
    return "" if cls.__module__ == "builtins" and cls.__flags__ & MADE_BY_PYTHON else cls.__module__


def is_followed(cls: type) -> bool:
    """Return whether the entries of a class may change: it or one of its bases is no library's."""
    return any(not is_fixed(home_of_class(base)) for base in cls.__mro__)


def home_of(fn: FunctionType) -> str:
    """Return the module in which a function was defined, past names copied by `functools.wraps`."""
    name = fn.__globals__.get("__name__")
    return name if isinstance(name, str) else ""


def is_known_ufunc(fn: np.ufunc) -> bool:
    """Return whether a ufunc is NumPy's or SciPy's, and not made of a Python function."""
    homes = (np, sys.modules.get("scipy.special"))
    return any(getattr(home, fn.__name__, None) is fn for home in homes)


@functools.cache
def is_scipy_since(minor: int) -> bool:
    """Return whether the SciPy that a program uses is of version 1.`minor` or later."""
    first, second = sys.modules["scipy"].__version__.split(".")[:2]
    return (int(first), int(second)) >= (1, minor)


def replaced() -> Iterator[str]:
    """Yield the objects in the place of functions of NumPy, as far as their own names tell."""
    public: Any = sys.modules["numpy"]  # `np` may be tracejit's copy of it
    homes = [vars(sys.modules[m]) for m in _HOMES if m in sys.modules]
    for module in (public, public.linalg):
        for name in module.__all__:
            x = vars(module).get(name)
            there = [names[name] for names in homes if name in names]
            if callable(x) and (not _is_numpys(x) or (there and all(x is not y for y in there))):
                yield f"{module.__name__}.{name} is {x!r}, which is not NumPy's {name}"
    for name, x in vars(math).items():
        if callable(x) and name[0] != "_" and getattr(x, "__name__", "") != name:
            yield f"math.{name} is {x!r}, which is not Python's"


_HOMES = ("numpy._core.umath", "numpy._core.fromnumeric", "numpy._core.numeric",
          "numpy._core.multiarray", "numpy._core.shape_base", "numpy._core.function_base",
          "numpy.lib._function_base_impl", "numpy.lib._shape_base_impl",
          "numpy.lib._twodim_base_impl", "numpy.lib._type_check_impl", "numpy.linalg._linalg")
"""Where NumPy 2 defines its functions: one of its own in the place of another is seen there.

NumPy 2.5 has ufuncs `real` and `imag` in `umath`, and functions of these names in another file.
"""


def _is_numpys(x: object) -> bool:
    if isinstance(x, FunctionType):  # `np.printoptions` is a context manager
        return home_of(x).partition(".")[0] in ("numpy", "contextlib")
    if isinstance(x, np.ufunc):  # `np.frompyfunc` makes those of objects
        return any("O" not in kinds for kinds in x.types)
    return isinstance(x, (BuiltinFunctionType, type)) or type(x).__module__.startswith("numpy")
