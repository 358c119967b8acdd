"""Cases for functions of `scipy.linalg` that give bases, similar matrices and eigenvalues of bands.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

__all__ = ["LINALG_CASES", "of_space", "sizes_of"]

RNG = np.random.default_rng(3)
FIVE = RNG.standard_normal((5, 5))
TURNED = RNG.standard_normal((4, 4)) + 1j * RNG.standard_normal((4, 4))
TALL, WIDE = RNG.standard_normal((4, 3)), RNG.standard_normal((3, 4))
POSITIVE = FIVE @ FIVE.T + np.eye(5)
HERMITIAN = TURNED + TURNED.conj().T
BAND = RNG.standard_normal((3, 6))
MAIN, BESIDE = BAND[0], BAND[1, 1:]


def of_space(q: np.ndarray) -> Any:
    """Return the projection on what a basis spans."""
    return q @ q.conj().T


def sizes_of(pair: tuple[np.ndarray, np.ndarray]) -> Any:
    """Return of Schur's form all that phases of vectors leave as it is."""
    return np.diag(pair[0]), np.abs(pair[0]), np.abs(pair[1])


LINALG_CASES: dict[str, list[tuple[Any, ...]]] = {
    "orth": [(scipy.linalg.orth, TALL), (scipy.linalg.orth, WIDE), (
        scipy.linalg.orth, TALL + 1j * WIDE.T), (lambda a: scipy.linalg.orth(a, 1e-3), TALL),
        (scipy.linalg.orth, TALL.astype(np.float32))],
    "null_space": [(lambda a: of_space(scipy.linalg.null_space(a)), x) for x in (
        WIDE, WIDE + 1j * TALL.T, WIDE.astype(np.float32), WIDE[:1])] + [
            (scipy.linalg.null_space, TALL),
            (lambda a: of_space(scipy.linalg.null_space(a, rcond=1e-3)), WIDE)],
    "signm": [(scipy.linalg.signm, x) for x in (
        FIVE + np.eye(5), POSITIVE, POSITIVE - 2.5 * np.eye(len(POSITIVE)))],
    "subspace_angles": [(scipy.linalg.subspace_angles, *x) for x in (
        (FIVE[:, :2], FIVE[:, 2:4] + FIVE[:, :2]), (FIVE[:, :1], FIVE[:, 1:4]),
        (FIVE[:, 2:5], FIVE[:, :2] + 0.5j * FIVE[:, 1:3]))],
    "pinvh": [(scipy.linalg.pinvh, POSITIVE), (
        lambda a: scipy.linalg.pinvh(a, lower=False, return_rank=True), HERMITIAN),
        (lambda a: scipy.linalg.pinvh(a, 1e-3, 1e-4), POSITIVE),
        (scipy.linalg.pinvh, POSITIVE.astype(np.float32))],
    "schur": [(scipy.linalg.schur, x) for x in (FIVE, POSITIVE, TALL[:3], FIVE[:1, :1])],
    "hessenberg": [
        (scipy.linalg.hessenberg, FIVE), *((lambda a: scipy.linalg.hessenberg(a, calc_q=True), x)
                                           for x in (FIVE, TURNED, TALL[:3], FIVE[:2, :2],
                                                     TURNED[:2, :2], FIVE.astype(np.float32)))],
    "eig_banded": [
        (scipy.linalg.eig_banded, BAND), (lambda a: scipy.linalg.eig_banded(a, lower=True), BAND),
        (lambda a: scipy.linalg.eig_banded(a, eigvals_only=True), BAND),
        (lambda a: scipy.linalg.eig_banded(a, lower=True), BAND + 1j * BAND[::-1]),
        (scipy.linalg.eig_banded, BAND[:1])],
    "eigvals_banded": [
        (scipy.linalg.eigvals_banded, BAND), (scipy.linalg.eigvals_banded, BAND + 1j * BAND[::-1]),
        (lambda a: scipy.linalg.eigvals_banded(a, lower=True, select="i", select_range=(1, 3)),
         BAND), (scipy.linalg.eigvals_banded, BAND.astype(np.float32))],
    "funm": [(lambda a: scipy.linalg.funm(a, lambda w: w * np.sin(w)), FIVE),
             (lambda a: np.real(scipy.linalg.funm(1j * a, np.exp)), FIVE),
             (lambda a: scipy.linalg.funm(a @ a.T, lambda w: w ** 0.5 + 1.0), FIVE)],
    "eigvalsh_tridiagonal": [(scipy.linalg.eigvalsh_tridiagonal, MAIN, BESIDE)],
    "eigh_tridiagonal": [
        (scipy.linalg.eigh_tridiagonal, MAIN, BESIDE),
        (scipy.linalg.eigh_tridiagonal, MAIN[:1], BESIDE[:0]),
        (lambda d, e: scipy.linalg.eigh_tridiagonal(d, e, True, "i", (0, 2)), MAIN, BESIDE)],
}
