"""What emitted CUDA source may call: where a thread is, reductions of a block, mathematics.

In Numba's simulator the same functions run as Python, with NumPy's mathematics, which gives
infinity and NaN where `math` raises. This module imports numba-cuda: import it only to compile for
a device.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import cuda

from tracejit.codegen.scalar_functions import definitions
from tracejit.ir.dtypes import DTYPES

__all__ = ["IS_SIMULATED", "THREADS", "namespace"]

THREADS = 256
"""Threads of a block, at most; a power of two, as the reductions of a block need it."""

IS_SIMULATED = "simulator" in cuda.jit.__module__


def _device(fn: Any) -> Any:
    return cuda.jit(fn, device=True)


# --- where a thread is ----------------------------------------------------------------------------


@_device
def at_x():  # type: ignore[no-untyped-def]
    return np.int64(cuda.blockIdx.x) * cuda.blockDim.x + cuda.threadIdx.x


@_device
def at_y():  # type: ignore[no-untyped-def]
    return np.int64(cuda.blockIdx.y) * cuda.blockDim.y + cuda.threadIdx.y


@_device
def at_z():  # type: ignore[no-untyped-def]
    return np.int64(cuda.blockIdx.z) * cuda.blockDim.z + cuda.threadIdx.z


@_device
def step_x():  # type: ignore[no-untyped-def]
    return np.int64(cuda.gridDim.x) * cuda.blockDim.x


@_device
def step_y():  # type: ignore[no-untyped-def]
    return np.int64(cuda.gridDim.y) * cuda.blockDim.y


@_device
def step_z():  # type: ignore[no-untyped-def]
    return np.int64(cuda.gridDim.z) * cuda.blockDim.z


@_device
def first_x():  # type: ignore[no-untyped-def]
    """The first place along an axis that is for a thread of this block."""
    return np.int64(cuda.blockIdx.x) * cuda.blockDim.x


@_device
def first_y():  # type: ignore[no-untyped-def]
    return np.int64(cuda.blockIdx.y) * cuda.blockDim.y


@_device
def in_block():  # type: ignore[no-untyped-def]
    """The number of a thread in its block."""
    return cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y
                                                 + cuda.blockDim.y * cuda.threadIdx.z)


@_device
def block_size():  # type: ignore[no-untyped-def]
    return cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z


@_device
def block():  # type: ignore[no-untyped-def]
    """The number of a block."""
    return cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y + cuda.gridDim.y * cuda.blockIdx.z)


@_device
def thread():  # type: ignore[no-untyped-def]
    """The number of a thread among all."""
    return np.int64(block()) * block_size() + in_block()


@_device
def threads():  # type: ignore[no-untyped-def]
    """How many threads there are."""
    blocks = cuda.gridDim.x * cuda.gridDim.y * cuda.gridDim.z
    return np.int64(blocks) * block_size()


# --- scalar functions -----------------------------------------------------------------------------


@_device
def select(condition, a, b):  # type: ignore[no-untyped-def]
    return a if condition else b


@_device
def between(lo, i, hi):  # type: ignore[no-untyped-def]
    return lo <= i and i < hi


@_device
def maximum(a, b):  # type: ignore[no-untyped-def]
    """NaN wins among floats."""
    return a if a > b or a != a else b


@_device
def minimum(a, b):  # type: ignore[no-untyped-def]
    """NaN wins among floats."""
    return a if a < b or a != a else b


@_device
def radd(a, b):  # type: ignore[no-untyped-def]
    return a + b


@_device
def mul(a, b):  # type: ignore[no-untyped-def]
    return a * b


@_device
def both(a, b):  # type: ignore[no-untyped-def]
    return a & b


@_device
def either(a, b):  # type: ignore[no-untyped-def]
    return a | b


@_device
def idiv(a, b):  # type: ignore[no-untyped-def]
    """Python's floor division; 0 where the divisor is 0, as NumPy has it."""
    if b == 0:
        return a * 0
    return a // b


@_device
def imod(a, b):  # type: ignore[no-untyped-def]
    """Python's modulo; 0 where the divisor is 0, as NumPy has it."""
    if b == 0:
        return a * 0
    return a % b


@_device
def pow_(x, y):  # type: ignore[no-untyped-def]
    return x ** y


# --- failures, Logs, accumulation -----------------------------------------------------------------


@_device
def fail(ctx, status, a, b):  # type: ignore[no-untyped-def]
    """Note which failure it is, and two numbers for its message, if it is the first one."""
    if cuda.atomic.add(ctx, 3, 1.0) == 0.0:
        ctx[1] = a
        ctx[2] = b
        ctx[0] = status


@_device
def log_grow(ctx, number, needed, capacity):  # type: ignore[no-untyped-def]
    """Return whether a Log has too little room; the host then gives it more, and begins again."""
    if needed <= capacity:
        return 0
    cuda.atomic.max(ctx, 4 + number, np.float64(needed))
    return 1


@_device
def accumulate(array, place, value):  # type: ignore[no-untyped-def]
    """Add to an element to which other threads may add."""
    cuda.atomic.add(array, place, value)


# --- routines on matrices, by one thread ----------------------------------------------------------


@_device
def potrf(n, a):  # type: ignore[no-untyped-def]
    """Overwrite the lower triangle of a matrix by its Cholesky factor; nonzero if there is none."""
    for j in range(n):
        for i in range(j, n):
            total = a[i * n + j]
            for k in range(j):
                total -= a[i * n + k] * a[j * n + k]
            if i > j:
                a[i * n + j] = total / a[j * n + j]
            elif total > 0:
                a[j * n + j] = math.sqrt(total)
            else:
                return j + 1
    return 0


@_device
def getrf(n, a, pivots):  # type: ignore[no-untyped-def]
    """Overwrite a matrix by the LU factors of its transpose; nonzero if it is singular."""
    info = 0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[k * n + i]) > abs(a[k * n + p]):
                p = i
        pivots[k] = p + 1
        if a[k * n + p] == 0:
            info = k + 1 if info == 0 else info
            continue
        for j in range(n):
            held = a[j * n + k]
            a[j * n + k] = a[j * n + p]
            a[j * n + p] = held
        for i in range(k + 1, n):
            a[k * n + i] /= a[k * n + k]
            for j in range(k + 1, n):
                a[j * n + i] -= a[k * n + i] * a[j * n + k]
    return info


@_device
def trsm(is_lower, is_transposed, is_unit, n, m, a, b):  # type: ignore[no-untyped-def]
    """Overwrite B[n, m] by the solution of op(A) X = B, for a triangle of A."""
    forward = is_lower != is_transposed
    for step in range(n):
        i = step if forward else n - 1 - step
        first = 0 if forward else i + 1
        last = i if forward else n
        for j in range(m):
            total = b[i * m + j]
            for k in range(first, last):
                factor = a[k * n + i] if is_transposed else a[i * n + k]
                total -= factor * b[k * m + j]
            b[i * m + j] = total if is_unit else total / a[i * n + i]


# --- products of matrices -------------------------------------------------------------------------

SIDE, DEPTH = 32, 16
"""Rows and columns of a product that a block does at a time, and terms that it takes at a time."""
PITCH = SIDE + 1
"""Rows of a tile begin this far apart, so that threads side by side use different banks."""


@_device
def load_tile(tile, x, is_row, base, rows, columns, row, column):  # type: ignore[no-untyped-def]
    """Put DEPTH by SIDE elements of a matrix into shared memory, zeros where it ends.

    is_row -- whether rows of the matrix become rows of the tile; else its columns do. Threads side
              by side read what lies side by side.
    """
    t = in_block()
    for half in range(2):
        if is_row:
            k = t // SIDE + half * (DEPTH // 2)
            at = t % SIDE
            i = row + k
            j = column + at
        else:
            k = t % DEPTH
            at = t // DEPTH + half * (SIDE // 2)
            i = row + at
            j = column + k
        place = k * PITCH + at
        if i < rows and j < columns:
            tile[place] = x[base + i * columns + j]
        else:
            tile[place] = 0


@_device
def matrix_product(left, right, zero, is_left_t, is_right_t, batch, m, n, k, a, b, c):  # type: ignore[no-untyped-def]
    """C[batch, m, n] = op(A)[batch, m, k] op(B)[batch, k, n]; op transposes where it is said so.

    A block of 16 by 16 threads does 32 by 32 elements at a time, each thread 2 by 2.
    """
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    for z in range(cuda.blockIdx.z, batch, cuda.gridDim.z):
        for i in range(cuda.blockIdx.y * SIDE, m, cuda.gridDim.y * SIDE):
            for j in range(cuda.blockIdx.x * SIDE, n, cuda.gridDim.x * SIDE):
                s00 = zero
                s01 = zero
                s10 = zero
                s11 = zero
                for first in range(0, k, DEPTH):
                    if is_left_t:
                        load_tile(left, a, True, z * m * k, k, m, first, i)
                    else:
                        load_tile(left, a, False, z * m * k, m, k, i, first)
                    if is_right_t:
                        load_tile(right, b, False, z * k * n, n, k, j, first)
                    else:
                        load_tile(right, b, True, z * k * n, k, n, first, j)
                    cuda.syncthreads()
                    for d in range(DEPTH):
                        a0 = left[d * PITCH + y]
                        a1 = left[d * PITCH + y + SIDE // 2]
                        b0 = right[d * PITCH + x]
                        b1 = right[d * PITCH + x + SIDE // 2]
                        s00 += a0 * b0
                        s01 += a0 * b1
                        s10 += a1 * b0
                        s11 += a1 * b1
                    cuda.syncthreads()
                store_part(c, z * m * n, m, n, i + y, j + x, s00, s01)
                store_part(c, z * m * n, m, n, i + y + SIDE // 2, j + x, s10, s11)


@_device
def store_part(c, base, m, n, i, j, one, other):  # type: ignore[no-untyped-def]
    """Store two elements of a row, where they are within the matrix."""
    if i < m:
        if j < n:
            c[base + i * n + j] = one
        if j + SIDE // 2 < n:
            c[base + i * n + j + SIDE // 2] = other


# --- reductions -----------------------------------------------------------------------------------


def _of_block(combine: Any) -> tuple[Any, Any]:
    """Return two stages of a reduction: to a part per block, and of all parts.

    Both are trees of a fixed shape, so that a result does not depend on which block is first.
    """
    @_device
    def halve(shared):  # type: ignore[no-untyped-def]
        """Fold what the threads of a block have put into shared memory into its first element."""
        k = in_block()
        cuda.syncthreads()
        width = block_size() // 2
        while width > 0:
            if k < width:
                shared[k] = combine(shared[k], shared[k + width])
            cuda.syncthreads()
            width //= 2

    @_device
    def fold_block(shared, x, parts):  # type: ignore[no-untyped-def]
        """Fold the threads of a block to one part."""
        k = in_block()
        shared[k] = x
        halve(shared)
        if k == 0:
            parts[block()] = shared[0]
        cuda.syncthreads()

    @_device
    def fold_parts(shared, parts, count, zero):  # type: ignore[no-untyped-def]
        """Fold the parts of all blocks, in one block."""
        k = in_block()
        x = zero
        for j in range(k, count, block_size()):
            x = combine(x, parts[j])
        shared[k] = x
        halve(shared)
        total = shared[0]
        cuda.syncthreads()
        return total

    return fold_block, fold_parts


def _of_team(combine: Any) -> tuple[Any, Any]:
    """Return folds of what the threads of a team have, which each of them gets.

    A team is a row of its block, or a column. All threads of the block have to be there.
    """
    @_device
    def fold(shared, x, lane, lanes, step):  # type: ignore[no-untyped-def]
        k = in_block()
        shared[k] = x
        cuda.syncthreads()
        width = lanes // 2
        while width > 0:
            if lane < width:
                shared[k] = combine(shared[k], shared[k + width * step])
            cuda.syncthreads()
            width //= 2
        total = shared[k - lane * step]
        cuda.syncthreads()
        return total

    @_device
    def row(shared, x):  # type: ignore[no-untyped-def]
        return fold(shared, x, cuda.threadIdx.x, cuda.blockDim.x, 1)

    @_device
    def column(shared, x):  # type: ignore[no-untyped-def]
        return fold(shared, x, cuda.threadIdx.y, cuda.blockDim.y, cuda.blockDim.x)

    return row, column


def _running_of_team(of_team: Any) -> tuple[Any, Any]:
    """Return the running sum over the threads of a team, and then the sum of all.

    of_team -- a function that returns a thread's place in its team, how many there are, and how far
               apart they are in the block
    """
    @_device
    def scan(shared, x):  # type: ignore[no-untyped-def]
        k = in_block()
        lane, lanes, step = of_team()
        shared[k] = x
        cuda.syncthreads()
        width = 1
        while width < lanes:
            before = shared[k - width * step] if lane >= width else x * 0
            cuda.syncthreads()
            shared[k] = before + shared[k] if lane >= width else shared[k]
            cuda.syncthreads()
            width *= 2
        return shared[k]

    @_device
    def last(shared):  # type: ignore[no-untyped-def]
        lane, lanes, step = of_team()
        total = shared[in_block() + (lanes - 1 - lane) * step]
        cuda.syncthreads()
        return total

    return scan, last


@_device
def of_row():  # type: ignore[no-untyped-def]
    return cuda.threadIdx.x, cuda.blockDim.x, 1


@_device
def of_column():  # type: ignore[no-untyped-def]
    return cuda.threadIdx.y, cuda.blockDim.y, cuda.blockDim.x


def _place_of_team(is_better: Any) -> tuple[Any, Any]:
    """Return searches for the place of the best element that the threads of a team have found.

    NaN is better than numbers; of equal elements the first is taken.
    """
    @_device
    def wins(x, at, y, other):  # type: ignore[no-untyped-def]
        if x != x or y != y:
            return x != x and (y == y or at < other)
        return is_better(x, y) or (x == y and at < other)

    @_device
    def find(shared, places, x, at, lane, lanes, step):  # type: ignore[no-untyped-def]
        k = in_block()
        shared[k] = x
        places[k] = at
        cuda.syncthreads()
        width = lanes // 2
        while width > 0:
            other = k + width * step
            if lane < width and wins(shared[other], places[other], shared[k], places[k]):
                shared[k] = shared[other]
                places[k] = places[other]
            cuda.syncthreads()
            width //= 2
        place = places[k - lane * step]
        cuda.syncthreads()
        return place

    @_device
    def row(shared, places, x, at):  # type: ignore[no-untyped-def]
        return find(shared, places, x, at, cuda.threadIdx.x, cuda.blockDim.x, 1)

    @_device
    def column(shared, places, x, at):  # type: ignore[no-untyped-def]
        return find(shared, places, x, at, cuda.threadIdx.y, cuda.blockDim.y, cuda.blockDim.x)

    return row, column


@_device
def larger(a, b):  # type: ignore[no-untyped-def]
    return a > b


@_device
def smaller(a, b):  # type: ignore[no-untyped-def]
    return a < b


COMBINERS = {"add": radd, "mul": mul, "max": maximum, "min": minimum, "and": both, "or": either}

# --- mathematics ----------------------------------------------------------------------------------

_MATH = {"exp": "exp", "expm1": "expm1", "log": "log", "log2": "log2", "log10": "log10",
         "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin",
         "acos": "arccos", "atan": "arctan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
         "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh", "atan2": "arctan2",
         "hypot": "hypot", "sqrt": "sqrt", "copysign": "copysign", "fmod": "fmod",
         "fabs": "absolute"}
"""Names in `math`, which numba-cuda maps to libdevice, and in NumPy."""

_LIBDEVICE = ("exp2", "cbrt", "floor", "ceil", "trunc", "rint")


def namespace() -> dict[str, Any]:
    """Return what emitted source calls, by name."""
    names: dict[str, Any] = {
        "cuda": cuda, "inf": math.inf, "nan": math.nan, "imax": maximum, "imin": minimum,
        "abs": abs, "pow": pow_, "erf": math.erf, "erfc": math.erfc, "THREADS": THREADS,
        "TILE": DEPTH * PITCH}
    for fn in (at_x, at_y, at_z, step_x, step_y, step_z, first_x, first_y, thread, threads, select,
               between, maximum, minimum, radd, idiv, imod, fail, log_grow, accumulate, potrf,
               getrf, trsm, matrix_product):
        names[fn.__name__] = fn
    for combine, function in COMBINERS.items():
        names[f"block_{combine}"], names[f"parts_{combine}"] = _of_block(function)
        names[f"row_{combine}"], names[f"column_{combine}"] = _of_team(function)
    names["row_scan"], names["row_last"] = _running_of_team(of_row)
    names["column_scan"], names["column_last"] = _running_of_team(of_column)
    for name, is_better in (("argmax", larger), ("argmin", smaller)):
        names[f"row_{name}"], names[f"column_{name}"] = _place_of_team(is_better)
    names.update((name, dtype.type) for name, dtype in DTYPES.items())
    names["bool_"] = np.bool_
    if IS_SIMULATED:
        names.update((name, getattr(np, other)) for name, other in _MATH.items())
        names.update((name, getattr(np, name)) for name in _LIBDEVICE)
    else:
        from numba.cuda import libdevice

        names.update((name, getattr(math, name)) for name in _MATH)
        names.update((name, getattr(libdevice, name)) for name in _LIBDEVICE)
    names.update((name, _device(fn)) for name, fn in definitions(names).items())
    return names
