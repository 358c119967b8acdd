"""tracejit: gradients of ordinary NumPy functions, compiled by Numba.

    >>> import numpy as np, tracejit
    >>> @tracejit.grad
    ... def slope(x):
    ...     return np.sum(np.sin(x) ** 2)
    >>> slope(np.array([0.0, np.pi / 4]))
    array([0., 1.])
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES: dict[str, str] = {
    "jit": "tracejit.api", "grad": "tracejit.api", "value_and_grad": "tracejit.api",
    "jvp": "tracejit.api", "vjp": "tracejit.api", "spec": "tracejit.api", "config": "tracejit.configuration", "Refusal": "tracejit.errors",
    "stop_gradient": "tracejit.api", "RegisterGradient": "tracejit.api",
    "no_gradient": "tracejit.api", "NoGradient": "tracejit.api", "NotDifferentiable": "tracejit.api",
}

__all__ = sorted([*_HOMES, "__version__"])


def __getattr__(name: str) -> Any:
    """Import a public name at its first use; `import tracejit` itself imports nothing."""
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tracejit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
