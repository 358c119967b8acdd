"""Cases for kinds of matrices of `scipy.linalg`: a function and arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

__all__ = ["MATRIX_CASES"]

RNG = np.random.default_rng(8)
TALL, WIDE, SQUARE = (RNG.standard_normal(shape) for shape in ((4, 3), (3, 5), (3, 3)))
TURNED = TALL + 1j * RNG.standard_normal((4, 3))
BAND = np.array([[4.0, 5.0, 4.5, 6.0, 5.0], [0.6, -0.4, 0.3, 0.8, 0.0], [0.2, 0.5, -0.3, 0.0, 0.0]])
UPPER = np.array([[0.0, 0.0, 0.2, 0.5, -0.3], [0.0, 0.6, -0.4, 0.3, 0.8],
                  [4.0, 5.0, 4.5, 6.0, 5.0]])
HERMITIAN = BAND + 1j * np.where(BAND < 2.0, BAND, 0.0)
V, W, LINE = np.array([0.4, 0.3, 0.7, 0.2]), np.array([0.9, 0.6, 0.5]), RNG.standard_normal((5, 2))
PAIRS = np.array([[1.0, 2.0, 0.3], [-1.5, 0.4, 0.2], [0.1, 0.3, -0.8]])


def _linalg(name: str, **words: Any) -> Any:
    return lambda *xs: getattr(linalg, name)(*xs, **words)


def _to_complex(t: np.ndarray) -> Any:
    """Return a function of a Schur form, of which what is 0 stays so."""
    there = t != 0.0
    return lambda t, z: tuple(linalg.rsf2csf(t * there, z))


FORMS = [linalg.schur(RNG.standard_normal((n, n))) for n in (4, 5, 2, 6)]
_CASES: dict[str, list[tuple[Any, ...]]] = {
    "rsf2csf": [(_to_complex(t), t, z) for t, z in FORMS],
    "rq": [(_linalg("rq"), x) for x in (
        TALL, SQUARE, TURNED[:3], np.stack([TALL, 2.0 * TALL]))] + [(_linalg("rq", mode=m), WIDE)
                                              for m in ("economic", "r")],
    "qr_multiply": [(_linalg("qr_multiply"), TALL, TALL.T), (_linalg("qr_multiply", mode="left"),
                                                             TALL, SQUARE),
                    (_linalg("qr_multiply", conjugate=True), TURNED, TURNED.T),
                    (_linalg("qr_multiply"), TALL, V), (_linalg("qr_multiply", mode="left"), TALL,
                                                        W)],
    "cholesky_banded": [(_linalg("cholesky_banded", lower=True), BAND), (
        _linalg("cholesky_banded"), UPPER), (_linalg("cholesky_banded", lower=True), BAND[:1])],
    "cho_solve_banded": [(lambda c, b, low=low: linalg.cho_solve_banded((c, low), b), band, b)
                         for low, band in ((True, BAND), (False, UPPER))
                         for b in (LINE, LINE[:, 0])],
    "convolution_matrix": [(lambda a, n=n, mode=mode: linalg.convolution_matrix(a, n, mode), V)
                           for n in (1, 3, 6) for mode in ("full", "same", "valid")],
    "leslie": [(_linalg("leslie"), V, W)],
    "fiedler_companion": [(_linalg("fiedler_companion"), V[:n]) for n in (2, 3, 4)] + [
        (_linalg("fiedler_companion"), np.append(V, W))],
    "diagsvd": [(lambda s, m=m, n=n: linalg.diagsvd(s, m, n), W) for m, n in (
        (3, 3), (3, 5), (4, 3))],
    "cdf2rdf": [(lambda a: linalg.cdf2rdf(*linalg.eig(a)), PAIRS)],
    "bandwidth": [(_linalg("bandwidth"), x) for x in (SQUARE, np.triu(SQUARE), np.tril(TALL))],
    "issymmetric": [(_linalg("issymmetric"), x) for x in (SQUARE, SQUARE + SQUARE.T)],
    "ishermitian": [(_linalg("ishermitian"), SQUARE + SQUARE.T), (_linalg(
        "ishermitian", atol=1e-3), SQUARE + SQUARE.T + 1e-5 * SQUARE)],
}
MATRIX_CASES = {f"scipy.linalg.{name}": cases for name, cases in _CASES.items()}
