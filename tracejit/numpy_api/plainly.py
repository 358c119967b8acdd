"""Functions of NumPy as Python would have them: captured like users' functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["along_axis", "matrix_exponential", "over_axes", "polynomial_of_roots", "vectorized"]


def along_axis(func1d: Callable[..., object], axis: int, arr: np.ndarray, args: tuple[object, ...],
               kwargs: dict[str, object]) -> np.ndarray:
    """Return `np.apply_along_axis(func1d, axis, arr, *args, **kwargs)`."""
    moved = np.moveaxis(arr, axis, -1)
    lead = moved.shape[:-1]
    if moved.ndim == 1:
        return np.array(func1d(moved, *args, **kwargs))
    rows = moved.reshape((-1, moved.shape[-1]))
    if len(rows) == 0:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    found = np.array([func1d(row, *args, **kwargs) for row in rows])
    result = found.reshape((*lead, *found.shape[1:]))
    behind = found.ndim - 1
    for k in range(behind):
        result = np.moveaxis(result, len(lead) + k, axis + k)
    return result


def over_axes(func: Callable[..., np.ndarray], a: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """Return `np.apply_over_axes(func, a, axes)`."""
    result = np.asarray(a)
    ndim = result.ndim
    for axis in axes:
        axis = ndim + axis if axis < 0 else axis
        new = func(result, axis)
        if new.ndim != result.ndim:
            new = np.expand_dims(new, axis)
            if new.ndim != result.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        result = new
    return result


def vectorized(pyfunc: Callable[..., object], arrays: list[np.ndarray],
               checked: Callable[[object], object]) -> np.ndarray:
    """Return what a function gives for each element of arrays of one shape, in a flat array."""
    if len(arrays) == 1:
        return np.array([checked(pyfunc(x)) for x in arrays[0].tolist()])
    if len(arrays) == 2:
        return np.array([checked(pyfunc(x, y))
                         for x, y in zip(arrays[0].tolist(), arrays[1].tolist())])  # noqa: B905
    return np.array([checked(pyfunc(*xs))
                     for xs in zip(*[a.tolist() for a in arrays])])  # noqa: B905


def polynomial_of_roots(roots: np.ndarray) -> np.ndarray:
    """Return the coefficients of the polynomial with these roots, the highest first."""
    found = np.zeros(len(roots) + 1, dtype=roots.dtype)
    found[0] = 1
    for root in roots:
        found[1:] = found[1:] - root * found[:-1]
    return found


def matrix_exponential(a: np.ndarray) -> np.ndarray:
    """Return exp(a): the series of a / 2**s to its 20th term, squared s times."""
    result = np.eye(a.shape[-1], dtype=a.dtype) + np.zeros_like(a)
    if a.size == 0:
        return result
    size = np.max(np.sum(np.abs(a), axis=-2))
    squarings = 0
    while size > 1.0:
        size = size / 2
        squarings += 1
    scaled = a / 2.0 ** squarings
    identity = result
    for k in range(20, 0, -1):
        result = identity + scaled @ result / k
    for _ in range(squarings):
        result = result @ result
    return result
