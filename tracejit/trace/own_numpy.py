"""tracejit's NumPy: its names as they were when the tables of functions were filled.

A program may put a function of its own in the place of one of NumPy's (`np.sum = counted`), and
calls that one then. Rules and captures, which are written with NumPy on tracers, keep to NumPy's.
"""

from __future__ import annotations

import functools
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tracejit.errors import Refusal
from tracejit.trace.modules import home_of

__all__ = ["keep_numpy", "require_numpy"]

_MODULES = (np, np.linalg)


def require_numpy() -> None:
    """Refuse to begin while something else is in the place of a function of NumPy."""
    for module in _MODULES:
        for name in module.__all__:
            x = vars(module).get(name)
            if callable(x) and not _is_numpys(x):
                raise Refusal(f"{module.__name__}.{name} is {x!r}, which is not NumPy's, and "
                              "tracejit has to see NumPy's own at first. Call a transformed "
                              "function once before you replace it")


def _is_numpys(x: Any) -> bool:
    if isinstance(x, FunctionType):  # `np.printoptions` is a context manager
        return home_of(x).partition(".")[0] in ("numpy", "contextlib")
    if isinstance(x, np.ufunc):  # `np.frompyfunc` makes those of objects
        return any("O" not in kinds for kinds in x.types)
    return isinstance(x, (BuiltinFunctionType, type)) or type(x).__module__.startswith("numpy")


def _copy(module: ModuleType) -> ModuleType:
    copy = ModuleType(module.__name__, module.__doc__)
    vars(copy).update(vars(module))
    return copy


@functools.cache
def _own() -> ModuleType:
    own = _copy(sys.modules["numpy"])
    vars(own).update(linalg=_copy(own.linalg))
    return own


def keep_numpy() -> None:
    """Let the modules of tracejit that are imported read NumPy's names from a copy of it."""
    public, own = sys.modules["numpy"], _own()
    for name, module in list(sys.modules.items()):
        if name.startswith("tracejit.") and vars(module).get("np") is public:
            vars(module)["np"] = own
