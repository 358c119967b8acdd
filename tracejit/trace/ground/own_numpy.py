"""tracejit's NumPy: its names as they were when the tables of functions were filled.

A program may put a function of its own in the place of one of NumPy's (`np.sum = counted`), and
calls that one then. Rules and captures, which are written with NumPy on tracers, keep to NumPy's.
"""

from __future__ import annotations

import functools
import sys
from types import ModuleType

import numpy as np

from tracejit.errors import Refusal
from tracejit.trace.ground.modules import replaced

__all__ = ["is_replaced", "keep_numpy", "own_names", "require_numpy"]

_MODULES = (np, np.linalg)


def require_numpy() -> None:
    """Refuse to begin while something else is in the place of a function of NumPy."""
    for text in replaced():
        raise Refusal(f"{text}, and tracejit has to see the library's own at first. Call a "
                      "transformed function once before you replace it", "TJ124")


def is_replaced(module: ModuleType, name: str, content: object) -> bool:
    """Return whether a program has put something else in the place of a name of NumPy."""
    if module not in _MODULES:
        return False
    own = _own() if module is _MODULES[0] else _own().linalg
    return vars(own).get(name, content) is not content


def _copy(module: ModuleType) -> ModuleType:
    copy = ModuleType(module.__name__, module.__doc__)
    vars(copy).update(vars(module))
    return copy


@functools.cache
def _own() -> ModuleType:
    own = _copy(sys.modules["numpy"])
    vars(own).update(linalg=_copy(own.linalg))
    return own


def own_names(module: str) -> dict[str, object]:
    """Return the names of one of NumPy's modules as tracejit's own code reads them."""
    return vars(_own() if module == "numpy" else _own().linalg)


def keep_numpy() -> None:
    """Let the modules of tracejit that are imported read NumPy's names from a copy of it."""
    public, own = sys.modules["numpy"], _own()
    for name, module in list(sys.modules.items()):
        if name.startswith("tracejit.") and vars(module).get("np") is public:
            vars(module)["np"] = own
