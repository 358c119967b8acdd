"""Functions of complex numbers for the CPU: Numba's, and NumPy's results where Numba's overflow."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import cmath
import math
from collections.abc import Callable

__all__ = ["complex_function"]

_LARGE, _SMALL = 2.0 ** 1020, 2.0 ** -1000
"""Beyond these Numba's root and logarithm lose a part, or digits: their sums overflow."""


def complex_exp(z):
    """As NumPy: a real number stays one where it overflows."""
    return complex(math.exp(z.real), z.imag) if z.imag == 0 else cmath.exp(z)


def complex_sinh(z):
    """As NumPy: a real number stays one where it overflows."""
    return complex(math.sinh(z.real), z.imag) if z.imag == 0 else cmath.sinh(z)


def complex_cosh(z):
    """As NumPy: a real number stays one where it overflows, and infinities have no direction."""
    x, y = z.real, z.imag
    if y == 0:
        return complex(math.cosh(x), y if x > 0 else -y)
    if math.isinf(x) and math.isinf(y):
        return complex(math.inf, math.nan)
    return cmath.cosh(z)


def complex_sin(z):
    """As NumPy: an imaginary number stays one where it overflows."""
    return complex(z.real, math.sinh(z.imag)) if z.real == 0 else cmath.sin(z)


def complex_cos(z):
    """As NumPy: an imaginary number has a real cosine."""
    x, y = z.real, z.imag
    if x == 0:
        return complex(math.cosh(y), -x if y > 0 else x)
    if math.isinf(x) and math.isinf(y):
        return complex(math.inf, math.nan)
    return cmath.cos(z)


def complex_sqrt(z):
    """As NumPy, of the largest and smallest numbers."""
    x, y = abs(z.real), abs(z.imag)
    size = x if x > y else y
    if _LARGE < size < math.inf:
        root = cmath.sqrt(complex(z.real * 0.0625, z.imag * 0.0625))
        return complex(root.real * 4.0, root.imag * 4.0)
    if 0.0 < size < _SMALL:
        root = cmath.sqrt(complex(z.real * 2.0 ** 100, z.imag * 2.0 ** 100))
        return complex(root.real * 2.0 ** -50, root.imag * 2.0 ** -50)
    return cmath.sqrt(z)


def complex_log(z):
    """As NumPy, of the smallest numbers."""
    x, y = abs(z.real), abs(z.imag)
    if x < _SMALL and y < _SMALL and (x > 0.0 or y > 0.0):
        found = cmath.log(complex(z.real * 2.0 ** 100, z.imag * 2.0 ** 100))
        return complex(found.real - 100 * math.log(2.0), found.imag)
    return cmath.log(z)


_OWN: dict[str, Callable[[complex], complex]] = {
    "exp": complex_exp, "sinh": complex_sinh, "cosh": complex_cosh, "sin": complex_sin,
    "cos": complex_cos, "sqrt": complex_sqrt, "log": complex_log}


def complex_function(name: str) -> Callable[[complex], complex]:
    """Return a function of complex numbers in Python that Numba can compile."""
    if name in _OWN:
        return _OWN[name]
    plain = getattr(cmath, name)
    return lambda z: plain(z)
