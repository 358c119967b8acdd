"""Matrices on a device: factorisations by one thread, products tile by tile by many blocks."""

from __future__ import annotations

import math

from numba import cuda

from tracejit.codegen.cuda.positions import device, in_block
from tracejit.codegen.cuda.program import SIDE

__all__ = ["TILE", "getrf", "matrix_product", "potrf", "trsm"]

DEPTH = 16
"""Terms of a product that a block takes at a time."""
PITCH = SIDE + 1
"""Rows of a tile begin this far apart, so that threads side by side use different banks."""
TILE = DEPTH * PITCH
"""Elements of a tile."""

# --- by one thread --------------------------------------------------------------------------------


@device
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


@device
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


@device
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


# --- products -------------------------------------------------------------------------------------


@device
def load_tile(tile, x, is_row, base, rows, columns, row, column):  # type: ignore[no-untyped-def]
    """Put DEPTH by SIDE elements of a matrix into shared memory, zeros where it ends.

    is_row -- whether rows of the matrix become rows of the tile; else its columns do. Threads side
              by side read elements that lie side by side.
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


@device
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


@device
def store_part(c, base, m, n, i, j, one, other):  # type: ignore[no-untyped-def]
    """Store two elements of a row, where they are within the matrix."""
    if i < m:
        if j < n:
            c[base + i * n + j] = one
        if j + SIDE // 2 < n:
            c[base + i * n + j + SIDE // 2] = other
