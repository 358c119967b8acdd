"""Cases for roots, valleys and sparse systems: a function and arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
import scipy.sparse
import scipy.sparse.linalg
import scipy.spatial
from scipy import optimize

__all__ = ["SOLVER_CASES"]

POINT, OTHER = np.array([0.3, -0.8, 1.2, 0.5]), np.array([0.9, 0.4, -0.2, 0.7])
LOWER = np.array([[1.5, 0.0, 0.0], [0.3, -0.8, 0.0], [0.0, 0.4, 2.1]])
SPARSE = np.array([[0.5, 0.0, 0.2], [0.0, -0.8, 0.0], [0.7, 0.4, 0.0]])
B = np.array([0.4, 1.2, -0.3])
WHERE = np.nonzero(LOWER)


def _lower(entries: np.ndarray) -> Any:
    return scipy.sparse.csr_array((entries, WHERE), (3, 3))
CLOUD = np.random.default_rng(4).normal(size=(5, 3))


def _bracketed(name: str) -> list[tuple[Any, ...]]:
    solve = getattr(optimize, name)
    return [(lambda a, c: solve(lambda x: x ** 3 + a * x - c, -2.0, 2.0), 1.2, 0.7),
            (lambda a: solve(lambda x, s: np.exp(s * x) - 2.0, 0.0, 3.0, (a,)), 0.8),
            (lambda a: solve(lambda x: np.cos(3.0 * x) - a * x, 0.1, 3.5), 0.2)]


def _hankel(name: str, *rest: float) -> tuple[Any, ...]:
    return lambda a: getattr(scipy.fft, name)(a, 0.2, 0.5, *rest), np.append(POINT, OTHER)


SOLVER_CASES: dict[str, list[tuple[Any, ...]]] = {
    **{f"scipy.optimize.{name}": _bracketed(name) for name in ("brenth", "ridder")},
    "scipy.optimize.fixed_point": [
        (lambda a: optimize.fixed_point(lambda x: np.cos(a * x), 0.5), 0.8),
        (lambda a: optimize.fixed_point(lambda x, s: 0.5 * np.sin(s * x) + s, 0.1, (a,),
                                        method="iteration", xtol=1e-13), 0.7)],
    "scipy.optimize.rosen_hess": [(optimize.rosen_hess, POINT), (optimize.rosen_hess, POINT[:2])],
    "scipy.optimize.rosen_hess_prod": [(optimize.rosen_hess_prod, POINT, OTHER)],
    "scipy.sparse.linalg.spsolve_triangular": [
        (lambda e, b: scipy.sparse.linalg.spsolve_triangular(_lower(e), b), LOWER[WHERE], B),
        (lambda e, b: scipy.sparse.linalg.spsolve_triangular(_lower(e).T.tocsr(), b, lower=False),
         LOWER[WHERE], np.stack([B, B[::-1]], 1))],
    "scipy.sparse.linalg.norm": [
        (lambda e, ord=ord, axis=axis: scipy.sparse.linalg.norm(_lower(e), ord, axis), LOWER[WHERE])
        for ord, axis in ((None, None), (1, None), (np.inf, None), (None, 0), (1, 1))],
    "scipy.sparse.linalg.expm_multiply": [
        (lambda e, b: scipy.sparse.linalg.expm_multiply(_lower(e), b), LOWER[WHERE], B),
        (lambda e, b, s: scipy.sparse.linalg.expm_multiply(_lower(e), b, 0.1, s, 3), LOWER[WHERE],
         B, 0.9), (lambda a, b: scipy.sparse.linalg.expm_multiply(a, b), LOWER, B)],
    "scipy.spatial.procrustes": [(scipy.spatial.procrustes, CLOUD, CLOUD[::-1] + 0.3 * CLOUD ** 2)],
    **{f"scipy.fft.{name}": [_hankel(name), _hankel(name, 0.3, 0.4), _hankel(name, 0.0, -0.2),
                             (lambda a, name=name: getattr(scipy.fft, name)(a, 0.1, 0.0),
                              np.stack([POINT[:3], OTHER[:3]]))] for name in ("fht", "ifht")},
    "scipy.sparse.block_array": [
        (lambda e: scipy.sparse.block_array([[_lower(e), _lower(2.0 * e)], [
            _lower(e ** 2), _lower(e)]]).toarray(), LOWER[WHERE])],
    "scipy.sparse.bmat": [(lambda e: scipy.sparse.bmat([[_lower(e), _lower(2.0 * e)]]).toarray(),
                           LOWER[WHERE])],
    "scipy.sparse.kronsum": [(lambda e: scipy.sparse.kronsum(_lower(e), _lower(e ** 2)[:2, :2],
                                                             format="csr").toarray(),
                              LOWER[WHERE])],
}
