"""What is looked for as one vector of floats: finite differences know nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.tree import flatten, unflatten

__all__ = ["as_vector", "slopes"]


def as_vector(x: Any) -> tuple[np.ndarray, Callable[[np.ndarray], Any]]:
    """Return the floats of a nest of arrays in a row, and the function that makes the nest again.

    A complex number is two floats, so that a gradient d/dx + i d/dy becomes that by both.
    """
    leaves, structure = flatten(x)
    arrays = [np.asarray(leaf) for leaf in leaves]
    rows = [np.ascontiguousarray(a).ravel().view(float) for a in arrays]
    ends = np.cumsum([row.size for row in rows])

    def restored(vector: np.ndarray) -> Any:
        parts = np.split(vector, ends[:-1])
        return unflatten(structure, [part.copy().view(a.dtype).reshape(a.shape)
                                     for part, a in zip(parts, arrays, strict=True)])

    return np.concatenate(rows), restored


def slopes(function: Callable[..., Any], arguments: tuple[Any, ...], count: int = 6,
           step: float = 1e-5) -> list[tuple[np.ndarray, float]]:
    """Return directions, and derivatives along them by central differences of order four.

    A direction changes each number by about as much as it is large, all of them or one alone.
    """
    x, restored = as_vector(arguments[0])
    rng = np.random.default_rng(0)

    def at(t: float, direction: np.ndarray) -> float:
        return float(function(restored(x + t * direction), *arguments[1:]))

    found = []
    for k in range(count):
        direction = rng.normal(size=x.size) * np.maximum(np.abs(x), 0.1 * np.abs(x).max() + 1e-3)
        if k % 2:
            direction *= np.arange(x.size) == rng.integers(x.size)
        inner = at(step, direction) - at(-step, direction)
        outer = at(2 * step, direction) - at(-2 * step, direction)
        found.append((direction, (8 * inner - outer) / (12 * step)))
    return found
