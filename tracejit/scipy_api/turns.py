"""Unit quaternions, and the other forms of rotations: vectors, matrices and Euler's angles.

A quaternion has its real part last. Angles of Euler's are those of E. Bernardes and S. Viollet,
Quaternion to Euler angles conversion, PLOS ONE 17 (2022).
"""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.trace.values.equations import dims_of, same_dim
from tracejit.trace.values.python_numbers import require, require_ours

__all__ = ["angles_of", "averaged", "canonical", "composed", "matrix_of", "of_angles", "of_matrix",
           "of_vector", "orthogonal", "vector_of"]

_NEAR = 1e-2
"""Up to which square of an angle, or of its tangent, series are summed."""


def _series(x: np.ndarray, factors: list[float]) -> Any:
    """Return a polynomial with these factors, the constant one first."""
    total: Any = factors[-1]
    for factor in reversed(factors[:-1]):
        total = total * x + factor
    return total


_COSINE = [(-0.25) ** k / math.factorial(2 * k) for k in range(7)]
_SINE = [0.5 * (-0.25) ** k / math.factorial(2 * k + 1) for k in range(7)]
_ARCTAN = [(-1.0) ** k / (2 * k + 1) for k in range(10)]


def of_vector(v: np.ndarray) -> Any:
    """Return the quaternions of vectors as long as angles: series at 0, where the length has none.
    """
    square = np.sum(v * v, axis=-1, keepdims=True)
    near = square < _NEAR
    small = np.where(near, square, 0.0)
    half = 0.5 * np.sqrt(np.where(near, 1.0, square))
    part = np.where(near, _series(small, _SINE), 0.5 * np.sin(half) / half)
    return np.concatenate([part * v, np.where(near, _series(small, _COSINE), np.cos(half))],
                          axis=-1)


def canonical(q: np.ndarray) -> Any:
    """Return quaternions of which the last component that is not 0 is above 0."""
    x, y, z, w = (q[..., k] for k in range(4))
    below = (w < 0.0) | ((w == 0.0) & ((x < 0.0) | ((x == 0.0) & (
        (y < 0.0) | ((y == 0.0) & (z < 0.0))))))
    return np.where(below[..., None], -q, q)


def vector_of(q: np.ndarray) -> Any:
    """Return the vectors along the axes of rotations, as long as their angles."""
    q = canonical(q)
    v, w = q[..., :3], q[..., 3:]
    square = np.sum(v * v, axis=-1, keepdims=True)
    near = square < _NEAR * w * w
    ratio = np.where(near, square, 0.0) / np.where(near, w * w, 1.0)
    sine = np.sqrt(np.where(near, 1.0, square))
    return v * np.where(near, 2.0 * _series(ratio, _ARCTAN) / np.where(near, w, 1.0),
                        2.0 * np.arctan2(sine, w) / sine)


def composed(p: np.ndarray, q: np.ndarray) -> Any:
    """Return the products of quaternions."""
    px, py, pz, pw = (p[..., k] for k in range(4))
    qx, qy, qz, qw = (q[..., k] for k in range(4))
    return np.stack([pw * qx + qw * px + py * qz - pz * qy, pw * qy + qw * py + pz * qx - px * qz,
                     pw * qz + qw * pz + px * qy - py * qx,
                     pw * qw - px * qx - py * qy - pz * qz], axis=-1)


def averaged(q: np.ndarray, weights: np.ndarray | None) -> Any:
    """Return the mean of quaternions: the largest eigenvector of the sum of their products.

    F. L. Markley and others, Averaging Quaternions, J. Guid. Control Dyn. 30 (2007).
    """
    left = q
    if weights is not None:
        if weights.ndim != 1 or not same_dim(dims_of(weights)[0], dims_of(q)[0]):
            raise ValueError("Expected `weights` to have number of values equal to number of "
                             "rotations")
        require(np.all(weights >= 0.0), ValueError, "`weights` must be non-negative.")
        left = q * weights[:, None]
    _, vectors = np.linalg.eigh(np.transpose(left) @ q)
    return vectors[:, -1]


def matrix_of(q: np.ndarray) -> Any:
    """Return the matrices of rotations."""
    x, y, z, w = (q[..., k] for k in range(4))
    xx, yy, zz, ww = x * x, y * y, z * z, w * w
    rows = [[xx - yy - zz + ww, 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), -xx + yy - zz + ww, 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), -xx - yy + zz + ww]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _cofactors(m: np.ndarray) -> Any:
    """Return the matrices of cofactors: the inverse, transposed, times the determinant."""
    rows = [m[..., k, :] for k in range(3)]
    return np.stack([np.cross(rows[1], rows[2]), np.cross(rows[2], rows[0]),
                     np.cross(rows[0], rows[1])], axis=-2)


def orthogonal(m: np.ndarray) -> tuple[Any, Any]:
    """Return the rotations next to matrices, and which of them are right.

    Newton's steps, which double digits, those of derivatives too: a matrix that is orthogonal
    already has the derivatives of the nearest one. Where products of rows are 0 and lengths are
    almost 1, SciPy takes the matrix as it is, and is not right.
    """
    eye = np.eye(3)
    off = np.abs(np.matmul(m, np.swapaxes(m, -1, -2)) - eye)
    alike = np.all(off <= 1e-12 + 1e-5 * eye, axis=(-2, -1))
    right = ~alike | np.all(off <= 1e-9, axis=(-2, -1))
    for _ in range(7):
        cofactors = _cofactors(m)
        det = np.sum(m[..., 0, :] * cofactors[..., 0, :], axis=-1)
        m = 0.5 * (m + cofactors / det[..., None, None])
    off = np.abs(np.matmul(m, np.swapaxes(m, -1, -2)) - eye)
    return m, right & np.all(off < 1e-13, axis=(-2, -1))


def of_matrix(m: np.ndarray) -> Any:
    """Return the quaternions of rotations' matrices, by the largest component."""
    trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    largest = np.argmax(np.stack([m[..., 0, 0], m[..., 1, 1], m[..., 2, 2], trace], axis=-1),
                        axis=-1)
    axis = [m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]]
    cases = [np.stack([*axis, 1.0 + trace], axis=-1)]
    for i in range(3):
        parts = [m[..., i, j] + m[..., j, i] for j in range(3)]
        parts[i] = 1.0 - trace + 2.0 * m[..., i, i]
        cases.append(np.stack([*parts, axis[i]], axis=-1))
    found = cases[0]
    for i in range(3):
        found = np.where((largest == i)[..., None], cases[i + 1], found)
    return found / np.sqrt(np.sum(found * found, axis=-1, keepdims=True))


def _axes(seq: str) -> list[int]:
    """Return the numbers of axes, and raise SciPy's errors."""
    if not 1 <= len(seq) <= 3:
        raise ValueError("Expected axis specification to be a non-empty string of up to 3 "
                         f"characters, got {seq}")
    if not re.fullmatch("[xyz]+|[XYZ]+", seq):
        raise ValueError("Expected axes from `seq` to be from ['x', 'y', 'z'] or ['X', 'Y', 'Z'], "
                         f"got {seq}")
    if any(a == b for a, b in itertools.pairwise(seq)):
        raise ValueError(f"Expected consecutive axes to be different, got {seq}")
    return ["xyz".index(c) for c in seq.lower()]


def of_angles(angles: np.ndarray, seq: str) -> Any:
    """Return the quaternions of angles about axes, which turn along if they are capitals."""
    found: Any = None
    for k, axis in enumerate(_axes(seq)):
        half = 0.5 * angles[..., k]
        parts = [0.0 * half, 0.0 * half, 0.0 * half, np.cos(half)]
        parts[axis] = np.sin(half)
        turn = np.stack(parts, axis=-1)
        if found is None:
            found = turn
        else:
            found = composed(found, turn) if seq.isupper() else composed(turn, found)
    return found


def _wrapped(a: np.ndarray) -> Any:
    """Return angles between minus pi and pi."""
    return np.where(a > np.pi, a - 2.0 * np.pi, np.where(a < -np.pi, a + 2.0 * np.pi, a))


def angles_of(q: np.ndarray, seq: str) -> Any:
    """Return the angles of rotations about three axes."""
    axes = _axes(seq)
    i, j, k = axes[::-1] if seq.isupper() else axes
    symmetric = i == k
    k = 3 - i - j if symmetric else k
    sign = (i - j) * (j - k) * (k - i) // 2
    w, x, y, z = q[..., 3], q[..., i], q[..., j], float(sign) * q[..., k]
    a, b, c, d = (w, x, y, z) if symmetric else (w - y, x + z, y + w, z - x)
    middle = 2.0 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    locked = (np.abs(middle) <= 1e-7) | (np.abs(middle - np.pi) <= 1e-7)
    require_ours(np.logical_not(np.any(locked)), NotCaptured, "Rotation.as_euler in gimbal lock, "
                 "where angles are not unique, cannot be captured. Use as_rotvec or as_matrix")
    total, difference = np.arctan2(b, a), np.arctan2(d, c)
    first, last = total - difference, total + difference
    if not symmetric:
        last, middle = float(sign) * last, middle - 0.5 * np.pi
    found = [first, middle, last]
    return np.stack([_wrapped(t) for t in (found[::-1] if seq.isupper() else found)], axis=-1)
