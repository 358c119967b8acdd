"""Transforms of a few numbers, written out: complex numbers as pairs of vectors.

C. Van Loan, Computational Frameworks for the Fast Fourier Transform, chapters 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce

from tracejit.codegen.lanes import LaneValue

__all__ = ["BUTTERFLIES", "Complex", "product"]

Complex = tuple[LaneValue, LaneValue]
_ROOT = math.sqrt(0.5)


def product(z: Complex, w: Complex) -> Complex:
    """Return the product of complex numbers."""
    return z[0] * w[0] - z[1] * w[1], z[0] * w[1] + z[1] * w[0]


def _sum(a: Complex, b: Complex) -> Complex:
    return a[0] + b[0], a[1] + b[1]


def _difference(a: Complex, b: Complex) -> Complex:
    return a[0] - b[0], a[1] - b[1]


def _times(a: Complex, x: float) -> Complex:
    return a[0] * x, a[1] * x


def _two(z: Sequence[Complex]) -> list[Complex]:
    return [_sum(*z), _difference(*z)]


def _four(z: Sequence[Complex]) -> list[Complex]:
    a, b, c, d = z
    s, t, u, v = _sum(a, c), _sum(b, d), _difference(a, c), _difference(b, d)
    return [_sum(s, t), (u[0] + v[1], u[1] - v[0]), _difference(s, t), (u[0] - v[1], u[1] + v[0])]


def _eight(z: Sequence[Complex]) -> list[Complex]:
    """Two of four, the second turned by eighths of the circle."""
    even, (a, b, c, d) = _four(z[0::2]), _four(z[1::2])
    odd = [a, ((b[0] + b[1]) * _ROOT, (b[1] - b[0]) * _ROOT), (c[1], -c[0]),
           ((d[1] - d[0]) * _ROOT, (d[0] + d[1]) * -_ROOT)]
    return [f(x, y) for f in (_sum, _difference) for x, y in zip(even, odd, strict=True)]


_ROOTS = {3: ((-0.5, 0.8660254037844386467),),
          5: ((0.3090169943749474241, 0.9510565162951535721),
              (-0.8090169943749474241, 0.5877852522924731292))}
"""Cosine and sine of the first roots; those of an angle that is not a double are not as exact."""


def _root(k: int, p: int) -> tuple[float, float]:
    across, up = _ROOTS[p][min(k, p - k) - 1]
    return across, up if 2 * k < p else -up


def _odd(z: Sequence[Complex]) -> list[Complex]:
    """An odd number of points: those at r and at -r share sums."""
    p = len(z)
    half = range(1, (p + 1) // 2)
    pairs = {s: (_sum(z[s], z[p - s]), _difference(z[s], z[p - s])) for s in half}
    found = list(z)
    for s in half:
        found[0] = _sum(found[0], pairs[s][0])
    for r in half:
        across, up = zip(*(_root(r * s % p, p) for s in half), strict=True)
        x, y = reduce(_sum, (_times(pairs[s][0], across[s - 1]) for s in half), z[0])
        v, u = reduce(_sum, (_times(pairs[s][1], up[s - 1]) for s in half))
        found[r], found[p - r] = (x + u, y - v), (x - u, y + v)
    return found


BUTTERFLIES: dict[int, Callable[[Sequence[Complex]], list[Complex]]] = {
    8: _eight, 4: _four, 2: _two, 3: _odd, 5: _odd}
"""By the number of points, which is the number of results."""
