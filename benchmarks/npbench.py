"""NPBench's kernels, unmodified, from a checkout that the user names: a workload each.

A kernel's value is the weighted sum of what it returns, or else of what it writes; its gradient is
by every array of floating-point numbers that it is given. JAX gets NPBench's own version for JAX.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.workloads.workload import Workload

__all__ = ["kernel", "names"]

NO_FLOATS = ("compute", "crc16", "floyd_warshall", "mandelbrot1", "mandelbrot2", "nussinov")
"""Kernels without an argument to differentiate by."""

SMALLER: dict[str, dict[str, Any]] = {"nbody": {"tEnd": 0.3}}
"""Parameters in place of NPBench's: after more steps chaos makes a gradient of 25 bodies noise."""

STEPS = {"azimint_hist": ("radius",), "azimint_naive": ("radius",)}
"""Arguments in which a kernel is constant but for jumps, which have no derivative to check."""


def names(checkout: Path) -> list[str]:
    """Return the names of kernels that have arrays of floating-point numbers as arguments."""
    found = (path.stem for path in sorted((checkout / "bench_info").glob("*.json")))
    return [name for name in found if name not in NO_FLOATS]


def kernel(checkout: Path, key: str, preset: str = "S") -> Workload:
    """Return a kernel as a workload, with arguments of one of NPBench's sizes."""
    info = json.loads((checkout / "bench_info" / f"{key}.json").read_text())["benchmark"]
    base = checkout / "npbench" / "benchmarks" / info["relative_path"] / info["module_name"]
    plain = _function(base, "_numpy", info["func_name"])

    def initial() -> list[Any]:
        values = info["parameters"][preset] | SMALLER.get(key, {})
        init = info.get("init")
        if init:
            made = _function(base, "", init["func_name"])(
                *(values[name] for name in init["input_args"]))
            made = made if isinstance(made, tuple) else (made,)
            values |= zip(init["output_args"], made, strict=True)
        return [values[name] for name in info["input_args"]]

    args, before = initial(), initial()
    returned = plain(*args)
    written = tuple(k for k, name in enumerate(info["input_args"])
                    if isinstance(args[k], np.ndarray) and (
                        name in info["output_args"] or args[k].tobytes() != before[k].tobytes()))
    shapes = [np.shape(x) for x in _outputs(returned, [args[k] for k in written])]
    weights = tuple(np.cos(np.arange(np.prod(s, dtype=int))).reshape(s) for s in shapes)
    floats = tuple(k + 1 for k, (name, x) in enumerate(zip(info["input_args"], before, strict=True))
                   if name in info["array_args"] and np.asarray(x).dtype.kind in "fc"
                   and name not in STEPS.get(key, ()))
    forms: dict[str, Callable[..., Any]] = {}
    if base.with_name(f"{base.name}_jax.py").exists():
        forms["JAX"] = _in_jax(base, info["func_name"])
    return Workload(key=key, title=info["name"], plain=_weighted(plain, written),
                    argnums=floats, arguments=lambda: (weights, *initial()), forms=forms)


def _weighted(plain: Callable[..., Any], written: tuple[int, ...]) -> Callable[..., Any]:
    def value(weights: Any, *args: Any) -> Any:
        given = [x.copy() if k in written else x for k, x in enumerate(args)]
        found = _outputs(plain(*given), [given[k] for k in written])
        total = 0.0
        for w, x in zip(weights, found, strict=True):
            total = total + np.sum(w * np.real(x)) + np.sum(w * np.imag(x))
        return total

    return value


def _in_jax(base: Path, name: str) -> Callable[..., Any]:
    def value(jax: Any, weights: Any, *args: Any) -> Any:
        # Without their own `jit`, numbers are static, and loops whose trips they are have adjoints.
        found = _outputs(inspect.unwrap(_function(base, "_jax", name))(*args), ())
        jnp = jax.numpy
        return sum(jnp.sum(w * jnp.real(x)) + jnp.sum(w * jnp.imag(x))
                   for w, x in zip(weights, found[:len(weights)], strict=True))

    return value


def _outputs(returned: Any, written: Any) -> list[Any]:
    """Return what is returned of floating-point numbers, or else what is written of these."""
    def floats(parts: Any) -> list[Any]:
        return [x for x in parts if hasattr(x, "dtype") and x.dtype.kind in "fc"]

    parts = returned if isinstance(returned, tuple | list) else (returned,)
    return floats(parts) or floats(written)


def _function(base: Path, suffix: str, name: str) -> Callable[..., Any]:
    """Return a function of a kernel's file; the module stays imported, so that it has a source."""
    path = base.with_name(f"{base.name}{suffix}.py")
    module = sys.modules.get(path.stem) or _imported(path)
    function: Callable[..., Any] = getattr(module, name)
    return function


def _imported(path: Path) -> ModuleType:
    if str(path.parent) not in sys.path:  # some import a neighbour
        sys.path.append(str(path.parent))
    found = importlib.util.spec_from_file_location(path.stem, path)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[path.stem] = module
    found.loader.exec_module(module)
    return module
