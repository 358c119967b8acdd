"""The functions that emitted CUDA source may call: scalar ones, libdevice's, and our modules'.

In Numba's simulator the same functions run as Python, with NumPy's mathematics, which gives
infinity and NaN where `math` raises. This module imports numba-cuda: import it only to compile for
a device.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
from numba import cuda

from tracejit.codegen.cuda import block_folds, matrices, positions
from tracejit.codegen.cuda.positions import IS_SIMULATED, device
from tracejit.codegen.cuda.program import CONTEXT, THREADS
from tracejit.codegen.scalar_functions import definitions, linked
from tracejit.codegen.scalars import SCALARS, names_where
from tracejit.ir.dtypes import DTYPES

__all__ = ["IS_SIMULATED", "namespace"]

# --- scalar functions -----------------------------------------------------------------------------


@device
def select(condition, a, b):  # type: ignore[no-untyped-def]
    return a if condition else b


@device
def between(lo, i, hi):  # type: ignore[no-untyped-def]
    return lo <= i and i < hi


@device
def maximum(a, b):  # type: ignore[no-untyped-def]
    """NaN wins among floats."""
    return a if a > b or a != a else b


@device
def minimum(a, b):  # type: ignore[no-untyped-def]
    """NaN wins among floats."""
    return a if a < b or a != a else b


@device
def radd(a, b):  # type: ignore[no-untyped-def]
    return a + b


@device
def mul(a, b):  # type: ignore[no-untyped-def]
    return a * b


@device
def both(a, b):  # type: ignore[no-untyped-def]
    return a & b


@device
def either(a, b):  # type: ignore[no-untyped-def]
    return a | b


@device
def idiv(a, b):  # type: ignore[no-untyped-def]
    """Python's floor division; 0 where the divisor is 0, as NumPy has it."""
    if b == 0:
        return a * 0
    return a // b


@device
def imod(a, b):  # type: ignore[no-untyped-def]
    """Python's modulo; 0 where the divisor is 0, as NumPy has it."""
    if b == 0:
        return a * 0
    return a % b


@device
def pow_(x, y):  # type: ignore[no-untyped-def]
    return x ** y


# --- failures, Logs, accumulation -----------------------------------------------------------------


@device
def fail(ctx, status, a, b):  # type: ignore[no-untyped-def]
    """Note which failure it is, and two numbers for its message, if it is the first one."""
    if cuda.atomic.add(ctx, 3, 1.0) == 0.0:
        ctx[1] = a
        ctx[2] = b
        ctx[0] = status


@device
def log_grow(ctx, number, needed, capacity):  # type: ignore[no-untyped-def]
    """Return whether a Log has too little room; the host then gives it more, and begins again."""
    if needed <= capacity:
        return 0
    cuda.atomic.max(ctx, CONTEXT + number, np.float64(needed))
    return 1


@device
def accumulate(array, place, value):  # type: ignore[no-untyped-def]
    """Add to an element to which other threads may add."""
    cuda.atomic.add(array, place, value)


COMBINERS = {"add": radd, "mul": mul, "max": maximum, "min": minimum, "and": both, "or": either}

# --- mathematics ----------------------------------------------------------------------------------

_MATH = {row.name: row.math for row in SCALARS.values() if row.math}
"""Names in `math`, which numba-cuda maps to libdevice, and in NumPy."""

_LIBDEVICE = names_where(device=True)


def _of_libm(name: str) -> Any:
    """Return a function of C's library that NumPy lacks, for the simulator."""
    function = getattr(ctypes.CDLL(None), name)
    function.argtypes, function.restype = [ctypes.c_double], ctypes.c_double
    return function


def namespace() -> dict[str, Any]:
    """Return the functions that emitted source calls, by name."""
    names: dict[str, Any] = {
        "cuda": cuda, "inf": math.inf, "nan": math.nan, "imax": maximum, "imin": minimum,
        "abs": abs, "pow": pow_, "erf": math.erf, "erfc": math.erfc, "THREADS": THREADS,
        "TILE": matrices.TILE}
    for name in ("at_x", "at_y", "at_z", "step_x", "step_y", "step_z", "first_x", "first_y",
                 "thread", "threads"):
        names[name] = getattr(positions, name)
    for fn in (select, between, maximum, minimum, radd, idiv, imod, fail, log_grow, accumulate,
               matrices.potrf, matrices.getrf, matrices.trsm, matrices.matrix_product):
        names[fn.__name__] = fn
    for combine, function in COMBINERS.items():
        names[f"block_{combine}"], names[f"parts_{combine}"] = block_folds.of_block(function)
        names[f"row_{combine}"], names[f"column_{combine}"] = block_folds.of_team(function)
    names["row_scan"], names["row_last"] = block_folds.running_of_team(block_folds.of_row)
    names["column_scan"], names["column_last"] = block_folds.running_of_team(block_folds.of_column)
    for name, is_better in (("argmax", block_folds.larger), ("argmin", block_folds.smaller)):
        names[f"row_{name}"], names[f"column_{name}"] = block_folds.place_of_team(is_better)
    names.update((name, dtype.type) for name, dtype in DTYPES.items())
    names["bool_"] = np.bool_
    if IS_SIMULATED:
        names.update((name, getattr(np, other)) for name, other in _MATH.items())
        names.update((name, getattr(np, name, None) or _of_libm(name)) for name in _LIBDEVICE)
    else:
        from numba.cuda import libdevice

        names.update((name, getattr(math, name)) for name in _MATH)
        names.update((name, getattr(libdevice, name)) for name in _LIBDEVICE)
    names.update(linked(definitions(names), device, names))
    return names
