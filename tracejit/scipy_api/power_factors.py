"""Powers in densities: factors of them, and terms of their logarithms.

A density that is a power of y next to an end has the power's derivatives there. As the exponential
of its logarithm it would have differences of numbers of size 1 / y ** 2, and at the end none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tracejit.numpy_api.special import xlog1py, xlogy

__all__ = ["exponential_of", "power_log", "power_log1p"]

_APART: list[list[Any]] = []
"""The factors of the density that is being computed, innermost last; none for a logarithm."""
_FEW, _LARGE = 4.0, 1e60


@contextmanager
def factors_apart() -> Iterator[list[Any]]:
    """Have powers with small exponents, and those of 0, in a list, not in the logarithm."""
    _APART.append([])
    try:
        yield _APART[-1]
    finally:
        _APART.pop()


def exponential_of(formula: Callable[..., np.ndarray],
                   axis: int | None = None) -> Callable[..., Any]:
    """Return the function that computes a density, of what computes its logarithm.

    axis -- of vectors, the one along which their powers are
    """

    def density(*args: object, **kwargs: object) -> Any:
        with factors_apart() as factors:
            log = formula(*args, **kwargs)
        none = log == -np.inf  # where the density does not change with the parameters
        found = np.exp(np.where(none, 0.0, log))
        for factor in factors:
            found = found * (factor if axis is None else np.prod(factor, axis=axis))
        return np.where(none, 0.0, found)[()]

    return density


def power_log(exponent: np.ndarray | float, base: np.ndarray) -> Any:
    """Return exponent * log(base), 0 where both are; less what is a factor for itself."""
    return _power(xlogy, exponent, base, base, 1.0)


def power_log1p(exponent: np.ndarray | float, x: np.ndarray) -> Any:
    """Return exponent * log(1 + x); less what is a factor for itself."""
    return _power(xlog1py, exponent, x, 1.0 + x, 0.0)


def _power(log: Callable[..., np.ndarray], exponent: np.ndarray | float, x: np.ndarray,
           base: np.ndarray, of_one: float) -> Any:
    if not _APART:
        return log(exponent, x)
    few = (np.abs(exponent) <= _FEW) & (base > 0.0) & (base < _LARGE)
    few = few | ((base == 0.0) & (exponent > 0.0))
    _APART[-1].append(np.power(np.where(few, base, 1.0), exponent))
    return np.where(few, 0.0, log(np.where(few, 0.0, exponent), np.where(few, of_one, x)))
