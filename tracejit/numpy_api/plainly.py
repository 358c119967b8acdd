"""Functions of NumPy as Python would have them: captured like users' functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["accumulated", "along_axis", "changed_at", "discrete_riccati", "divided",
           "doubled", "folded", "folded_between", "matrix_exponential", "order_of_swaps",
           "over_axes", "polynomial_of_roots", "require_positive_band", "sign_of_matrix",
           "triangular_logarithm", "triangular_root", "vectorized"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
GAUSS_LEGENDRE = tuple(map(float, 0.5 * _NODES + 0.5)), tuple(map(float, 0.5 * _WEIGHTS))
"""Nodes and weights of an integral from 0 to 1."""


def along_axis(func1d: Callable[..., object], axis: int, arr: np.ndarray, args: tuple[object, ...],
               kwargs: dict[str, object], checked: Callable[[object], object]) -> np.ndarray:
    """Return `np.apply_along_axis(func1d, axis, arr, *args, **kwargs)`.

    checked -- what refuses a result of which data decides the dtype: NumPy's is the first one's
    """
    moved = np.moveaxis(arr, axis, -1)
    lead = moved.shape[:-1]
    if moved.ndim == 1:
        return np.array(func1d(moved, *args, **kwargs))
    count = 1
    for n in lead:
        count = count * n
    rows = moved.reshape((count, moved.shape[-1]))
    if count == 0:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    found = np.array([checked(func1d(row, *args, **kwargs)) for row in rows])
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
    """Return the results of a function for each element of arrays of one shape, in a flat array."""
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


def divided(u: np.ndarray, v: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the quotient of two polynomials, of so many coefficients, and the remainder."""
    quotient, rest = np.zeros(count, u.dtype), u.copy()
    scale = 1.0 / v[0]
    for k in range(count):
        factor = scale * rest[k]
        quotient[k] = factor
        rest[k:k + len(v)] -= factor * v
    return quotient, rest


def order_of_swaps(pivots: np.ndarray, n: int) -> np.ndarray:
    """Return the order of rows that one exchange after another gives."""
    order = np.arange(n)
    for k in range(len(pivots)):
        p = pivots[k]
        held = order[k]
        order[k] = order[p]
        order[p] = held
    return order


def matrix_exponential(a: np.ndarray) -> np.ndarray:
    """Return exp(a): the series of a / 2**s to its 20th term, squared s times."""
    result = np.eye(a.shape[-1], dtype=a.dtype) + np.zeros_like(a)
    if a.size == 0:
        return result
    size = np.max(np.sum(np.abs(a), axis=-2))
    squarings = 0
    while 1.0 < size < np.inf:
        size = size / 2
        squarings += 1
    scaled = a / 2.0 ** squarings
    identity = result
    for k in range(20, 0, -1):
        result = identity + scaled @ result / k
    for _ in range(squarings):
        result = result @ result
    return result


def triangular_root(t: np.ndarray) -> np.ndarray:
    """Return the principal square root of an upper triangular matrix of complex numbers."""
    n = len(t)
    root = np.zeros_like(t)
    for j in range(n):
        root[j, j] = np.sqrt(t[j, j])
        for back in range(j):
            i = j - 1 - back
            rest = t[i, j]
            for k in range(i + 1, j):
                rest = rest - root[i, k] * root[k, j]
            total = root[i, i] + root[j, j]
            root[i, j] = rest if rest == 0.0 else rest / total
    return root


def triangular_logarithm(t: np.ndarray) -> np.ndarray:
    """Return the principal logarithm: roots until it is near 1, and quadrature of its integral.

    A. H. Al-Mohy and N. J. Higham, Improved inverse scaling and squaring algorithms (2012).
    """
    identity = np.eye(len(t), dtype=t.dtype)
    near, times = t, 0
    while np.sum(np.abs(near - identity)) > 0.25 and times < 100:
        near = triangular_root(near)
        times += 1
    x = near - identity
    total = np.zeros_like(t)
    for node, weight in zip(*GAUSS_LEGENDRE, strict=True):
        total = total + weight * np.linalg.solve(identity + node * x, x)
    total = total * 2.0 ** times
    for k in range(len(t)):
        total[k, k] = np.log(t[k, k])
    return total


# --- methods of ufuncs --------------------------------------------------------------------------


def folded(ufunc: Callable[..., np.ndarray], x: np.ndarray, start: np.generic | None) -> np.ndarray:
    """Return `ufunc.reduce(x)` along the first axis, from `start` unless it is None."""
    if start is None:
        total = x[0]
    else:
        total = ufunc(start, x[0])
    for k in range(1, len(x)):
        total = ufunc(total, x[k])
    return total


def accumulated(ufunc: Callable[..., np.ndarray], x: np.ndarray) -> np.ndarray:
    """Return `ufunc.accumulate(x)` along the first axis."""
    found = x.copy()
    for k in range(1, len(x)):
        found[k] = ufunc(found[k - 1], x[k])
    return found


def folded_between(ufunc: Callable[..., np.ndarray], x: np.ndarray,
                   places: np.ndarray) -> np.ndarray:
    """Return `ufunc.reduceat(x, places)` along the first axis."""
    found = x[places]
    count = len(places)
    for k in range(count):
        end = len(x)
        if k + 1 < count:
            end = places[k + 1]
        for j in range(places[k] + 1, end):
            found[k] = ufunc(found[k], x[j])
    return found


def changed_at(ufunc: Callable[..., np.ndarray], x: np.ndarray, places: np.ndarray,
               values: np.ndarray | None) -> None:
    """Carry out `ufunc.at(x, places, values)` along the first axis."""
    for k in range(len(places)):
        i = places[k]
        if values is None:
            x[i] = ufunc(x[i])
        else:
            x[i] = ufunc(x[i], values[k])


def doubled(a: np.ndarray, g: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Return the limit of a doubling: the X of X = A^T X (I + G X)^-1 A + H."""
    one = np.eye(len(a))
    change, count = np.inf, 0
    while change > 1e-15 * (1.0 + np.max(np.abs(h))) and count < 60:
        right = np.linalg.solve(one + g @ h, a)
        left = np.linalg.solve(one + h @ g, one)
        more = a.T @ left @ h @ a
        g = g + a @ g @ left @ a.T
        a = a @ right
        h = h + 0.5 * (more + more.T)
        change, count = np.max(np.abs(more)), count + 1
    return h


def discrete_riccati(a: np.ndarray, b: np.ndarray, q: np.ndarray, r: np.ndarray,
                     limit: Callable[..., np.ndarray]) -> np.ndarray:
    """Return the X of X = A^T X A - A^T X B (R + B^T X B)^-1 B^T X A + Q.

    Where R is all but singular, the equation is solved for X less a multiple of 1, which has
    R + B^T B times it in the place of R.
    """
    sizes = np.linalg.svd(r, compute_uv=False)
    shift, cross = 0.0, np.zeros_like(b)
    if np.min(sizes) <= 1e-6 * max(np.max(sizes), np.max(np.abs(b)) ** 2):
        shift = np.max(np.abs(q)) + 1.0
        cross = shift * (a.T @ b)
        r = r + shift * (b.T @ b)
        q = q + shift * (a.T @ a - np.eye(len(a)))
    feedback = np.linalg.solve(r, cross.T)
    return limit(a - b @ feedback, b @ np.linalg.solve(r, b.T), q - cross @ feedback) + (
        shift * np.eye(len(a)))


def sign_of_matrix(a: np.ndarray) -> np.ndarray:
    """Return the limit of Newton's steps to the sign of a matrix."""
    change, count = np.inf, 0
    while change > 1e-14 * np.max(np.abs(a)) and count < 60:
        step = 0.5 * (np.linalg.inv(a) - a)
        a = a + step
        change, count = np.max(np.abs(step)), count + 1
    return a


def require_positive_band(band: np.ndarray) -> None:
    """Raise LinAlgError where a matrix is not positive; `band` is its lower banded form."""
    width, n = len(band) - 1, band.shape[1]
    left = np.zeros((width + 1, n + width), band.dtype)
    left[:, :n] = band
    for j in range(n):
        pivot = left[0, j].real
        if not pivot > 0.0:
            raise np.linalg.LinAlgError(f"{j + 1}th leading minor not positive definite")
        for k in range(1, width + 1):
            factor = np.conj(left[k, j]) / pivot
            for m in range(k, width + 1):
                left[m - k, j + k] -= left[m, j] * factor
