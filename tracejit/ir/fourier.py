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
    """Transform `x[start:start + n]` into `out`, `work` having room for ROOM * n numbers."""
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
    for k in range(size):
        angle = 2.0 * math.pi * k / size * (sign if passes == 1 else -1)
        work[k] = complex(math.cos(angle), math.sin(angle))
    if passes == 3:
        for k in range(n):
            angle = math.pi * ((k * k) % (2 * n)) / n * sign
            work[chirp + k] = complex(math.cos(angle), math.sin(angle))
    for step in range(passes):
        for k in range(size):
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
            for j in range(q):
                for k in range(done):
                    for r in range(p):
                        total = work[here + k + done * j]
                        for s in range(1, p):
                            total += (work[here + k + done * (j + q * s)]
                                      * work[((r * s) % p) * (size // p)])
                        work[there + k + done * (r + p * j)] = total * work[j * r * turn]
            here, there, m, done = there, here, q, done * p
        if here != one:
            for k in range(size):
                work[one + k] = work[here + k]
        if passes == 3 and step == 0:
            for k in range(size):
                work[kept + k] = work[one + k]
    for k in range(n):
        if passes == 1:
            out[start + k] = work[one + k]
        else:
            out[start + k] = work[one + k].conjugate() / size * work[chirp + k]
