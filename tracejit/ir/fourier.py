"""The discrete Fourier transform of a row: Stockham's algorithm, and Bluestein's for large primes.

Numba compiles the function. C. Van Loan, Computational Frameworks for the Fast Fourier Transform.
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["ROOM", "dft"]

ROOM = 17
"""How many complex numbers the transform needs room for, times the length of the row, at most."""

_LARGEST = 64
"""A prime factor above it is not summed over."""


def dft(x: np.ndarray, out: np.ndarray, work: np.ndarray, start: int, n: int, sign: int) -> None:
    """Transform `x[start:start + n]` into `out`, `work` having room for ROOM * n numbers.

    Rows of one length come one after the other: what is computed for the first is in `work` still.
    """
    # one function, as functions that Numba compiles here call no other
    rest, largest, p = n, 1, 2
    while p * p <= rest:
        while rest % p == 0:
            rest //= p
            largest = p
        p += 1
    largest = max(largest, rest)
    size, passes = n, 1
    if largest > _LARGEST:
        passes, size = 3, 1
        while size < 2 * n - 1:
            size *= 2
    one, two, kept, chirp = size, 2 * size, 3 * size, 4 * size
    side = 1.0 if passes == 1 and sign > 0 else -1.0
    if start == 0 and size > 0 and size % 8 == 0:  # an eighth of the circle is all of it
        eighth = size // 8
        for k in range(eighth + 1):
            angle = 2.0 * math.pi * k / size
            across, up = math.cos(angle), math.sin(angle)
            work[k] = complex(across, side * up)
            work[2 * eighth - k] = complex(up, side * across)
            work[2 * eighth + k] = complex(-up, side * across)
            work[4 * eighth - k] = complex(-across, side * up)
            work[4 * eighth + k] = complex(-across, -side * up)
            work[6 * eighth - k] = complex(-up, -side * across)
            work[6 * eighth + k] = complex(up, -side * across)
            if k > 0:
                work[size - k] = complex(across, -side * up)
    elif start == 0:
        for k in range(size):
            angle = 2.0 * math.pi * k / size * side
            work[k] = complex(math.cos(angle), math.sin(angle))
    if passes == 3 and start == 0:
        for k in range(n):
            angle = math.pi * ((k * k) % (2 * n)) / n * sign
            work[chirp + k] = complex(math.cos(angle), math.sin(angle))
    for step in range(1 if passes == 3 and start > 0 else 0, passes):
        read = passes == 1 and size % 4 == 0  # by the first of the rounds below
        for k in range(0 if read else size):
            if passes == 1:
                work[one + k] = x[start + k] * 1.0
            elif step == 0:  # the chirp's conjugate, around 0
                place = min(k, size - k)
                work[one + k] = work[chirp + place].conjugate() if place < n else complex(0.0, 0.0)
            elif step == 1:
                work[one + k] = (x[start + k] * work[chirp + k] if k < n
                                 else complex(0.0, 0.0))
            else:
                work[one + k] = (work[one + k] * work[kept + k]).conjugate()
        here, there, m, done = one, two, size, 1
        while m > 1:
            p = 4 if m % 4 == 0 else 2
            while m % p:
                p += 1
            q, turn = m // p, size // m
            for j in range(q if done == 1 and read else 0):
                a, b, c = x[start + j] * 1.0, x[start + j + q] * 1.0, x[start + j + 2 * q] * 1.0
                d = x[start + j + 3 * q] * 1.0
                sums, rest = a + c, a - c
                other, turned = b + d, b - d
                turned = complex(-side * turned.imag, side * turned.real)
                to = there + 4 * j
                work[to] = sums + other
                work[to + 1] = (rest + turned) * work[j]
                work[to + 2] = (sums - other) * work[2 * j]
                work[to + 3] = (rest - turned) * work[3 * j]
            for j in range(q if p == 4 and not (done == 1 and read) else 0):
                first, second, third = work[j * turn], work[2 * j * turn], work[3 * j * turn]
                at, far, to = here + done * j, done * q, there + 4 * done * j
                for k in range(done):
                    a, b = work[at + k], work[at + far + k]
                    c, d = work[at + 2 * far + k], work[at + 3 * far + k]
                    sums, rest = a + c, a - c
                    other, turned = b + d, b - d
                    turned = complex(-side * turned.imag, side * turned.real)
                    work[to + k] = sums + other
                    work[to + done + k] = (rest + turned) * first
                    work[to + 2 * done + k] = (sums - other) * second
                    work[to + 3 * done + k] = (rest - turned) * third
            for j in range(q if p != 4 else 0):
                for k in range(done):
                    for r in range(p):
                        total = work[here + k + done * j]
                        for s in range(1, p):
                            total += (work[here + k + done * (j + q * s)]
                                      * work[((r * s) % p) * (size // p)])
                        work[there + k + done * (r + p * j)] = total * work[j * r * turn]
            here, there, m, done = there, here, q, done * p
        for k in range(size if step < passes - 1 or passes == 3 else 0):
            work[(kept if step == 0 else one) + k] = work[here + k]
    for k in range(n):
        if passes == 1:
            out[start + k] = work[here + k]
        else:
            out[start + k] = work[one + k].conjugate() / size * work[chirp + k]
