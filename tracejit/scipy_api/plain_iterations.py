"""Iterations for linear systems as Python would have them: captured like users' functions."""

from __future__ import annotations

import numpy as np

__all__ = ["biconjugate_gradients_end", "conjugate_gradients_end", "minimal_residuals_end"]


def conjugate_gradients_end(a: np.ndarray, b: np.ndarray, x: np.ndarray, rtol: float,
                            atol: float) -> bool:
    """Return whether the method of conjugate gradients ends within SciPy's 10 n iterations.

    x -- where it begins
    """
    least = np.maximum(atol, rtol * np.sqrt(np.vdot(b, b).real))
    left = b - a @ x
    way = np.zeros_like(left)
    now = np.vdot(left, left).real
    before = now
    for _ in range(10 * len(b)):
        if np.sqrt(now) < least or np.all(b == 0.0):
            return True
        way = left + now / before * way  # (of zeros, in the first iteration)
        ahead = a @ way
        left = left - now / np.vdot(way, ahead) * ahead
        before = now
        now = np.vdot(left, left).real
    return False


def biconjugate_gradients_end(a: np.ndarray, b: np.ndarray, x: np.ndarray, rtol: float,
                              atol: float) -> bool:
    """Return whether the stabilised method (van der Vorst, 1992) ends within 10 n iterations.

    A product of vectors that is zero but for rounding counts as zero, where the method breaks down.
    """
    least = np.maximum(atol, rtol * np.sqrt(np.vdot(b, b).real))
    small = np.finfo(b.dtype).eps
    left = b - a @ x
    shadow, way = left, left
    product = np.vdot(shadow, left)
    for _ in range(10 * len(b)):
        if np.sqrt(np.vdot(left, left).real) < least or np.all(b == 0.0):
            return True
        ahead = a @ way
        along = np.vdot(shadow, ahead)
        limit = small * np.sqrt((np.vdot(shadow, shadow) * np.vdot(ahead, ahead)).real)
        if np.abs(product) < small ** 2 or np.abs(along) <= 4.0 * limit:
            return False
        first = product / along
        half = left - first * ahead
        if np.sqrt(np.vdot(half, half).real) < least:
            return True
        image = a @ half
        second = np.vdot(image, half) / np.vdot(image, image)
        if np.abs(second) < small ** 2:
            return False
        left = half - second * image
        before = product
        product = np.vdot(shadow, left)
        way = left + product / before * (first / second) * (way - second * ahead)
    return False


def minimal_residuals_end(a: np.ndarray, b: np.ndarray, x: np.ndarray, rtol: float,
                          atol: float, restart: int) -> bool:
    """Return whether GMRES (Saad and Schultz, 1986) ends within SciPy's 10 n restarts.

    restart -- the vectors of a cycle: `images`, orthonormal, are `a @ steps`
    """
    least = np.maximum(atol, rtol * np.sqrt(np.vdot(b, b).real))
    small = np.finfo(b.dtype).eps
    left = b - a @ x
    for _ in range(10 * len(b)):
        if np.sqrt(np.vdot(left, left).real) <= least or np.all(b == 0.0):
            return True
        basis = np.zeros((restart, len(b)), b.dtype)
        images, steps = np.zeros_like(basis), np.zeros_like(basis)
        way = left
        for k in range(restart):
            step = way / np.sqrt(np.vdot(way, way).real)
            basis[k] = step
            image = a @ step
            size = np.sqrt(np.vdot(image, image).real)
            way = image
            for _ in range(2):
                way = way - (np.conj(basis) @ way) @ basis
                parts = np.conj(images) @ image
                image, step = image - parts @ images, step - parts @ steps
            scale = np.sqrt(np.vdot(image, image).real)
            if scale <= small * size:
                break
            images[k], steps[k] = image / scale, step / scale
            part = np.vdot(images[k], left)
            x, left = x + part * steps[k], left - part * images[k]
            if (np.sqrt(np.vdot(left, left).real) <= least
                    or np.sqrt(np.vdot(way, way).real) <= small * size):
                break
        left = b - a @ x
    return False
