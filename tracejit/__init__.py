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
import os
from typing import Any

__version__ = "0.1.0"

_TAPE = ("AggregationMethod", "GradientTape", "Graph", "Module", "UnconnectedGradients", "Variable",
         "constant", "gradients")
_API = ("NoGradient", "NotDifferentiable", "RegisterGradient", "check_grads", "checkpoint",
        "custom_gradient", "debug_print", "no_gradient", "pure_callback", "recompute_grad",
        "register_op", "stop_gradient")
_TRANSFORMS = ("grad", "hessian", "hvp", "jacfwd", "jacobian", "jacrev", "jit", "jvp",
               "value_and_grad", "vjp", "vmap")
_STRUCTURED = ("cond", "fori_loop", "map", "scan", "while_loop")
_HOMES: dict[str, str] = {
    **dict.fromkeys((*_API, *_TAPE, *_STRUCTURED), "tracejit.api"),
    **dict.fromkeys(_TRANSFORMS, "tracejit.transforms.public"),
    **dict.fromkeys(("gauss_newton", "hessp", "linear_operator"), "tracejit.transforms.solvers"),
    **dict.fromkeys(("linearize", "taylor", "value_and_jacobian"),
                    "tracejit.transforms.near_points"),
    **dict.fromkeys(("sparse_hessian", "sparse_jacobian"), "tracejit.transforms.sparse"),
    "jacobian_sparsity": "tracejit.transforms.sparsity",
    **dict.fromkeys(("custom_fixed_point", "custom_linear_solve", "custom_root"),
                    "tracejit.transforms.solutions"),
    "sum_over": "tracejit.scale.sums", "sweep": "tracejit.scale.sweeps",
    **dict.fromkeys(("DeviceError", "Refusal"), "tracejit.errors"),
    "DeviceArray": "tracejit.program.cuda.arrays", "stream": "tracejit.program.cuda.streams",
    "register_structure": "tracejit.classes",
    "spec": "tracejit.trace.values.specs", "load": "tracejit.artifacts.snapshots",
    "explain": "tracejit.inspection.explaining", "Function": "tracejit.runtime.function",
    "clear_caches": "tracejit.program.memory",
    "config": "tracejit.configuration", "show_versions": "tracejit.versions",
    "profile": "tracejit.inspection.profiles.profiling",
}

__all__ = sorted([*_HOMES, "__version__"])


def __getattr__(name: str) -> Any:
    """Import a public name at its first use; `import tracejit` itself imports nothing."""
    if name == "cache":
        return importlib.import_module("tracejit.cache")
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tracejit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "cache"]


if os.environ.get("EAGER_IMPORT"):  # as lazy loading is switched off elsewhere (SPEC 1), for tests
    for _name in __all__:
        globals().get(_name) or __getattr__(_name)
