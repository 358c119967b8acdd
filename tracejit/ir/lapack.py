"""The routines of LAPACK that one op calls: arguments, results, and room to work in.

LAPACK is column-major. Matrices go in and come out transposed: the rows of an array here are the
routine's columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.ir.dims import Dim, maximum, minimum
from tracejit.ir.types import Aval

__all__ = ["LAPACK", "Argument", "LapackRoutine", "real_of", "result_types"]

Argument = str | tuple[str, Dim] | int
"""A character in capitals, "0" (null), a number with its kind ("i", or "l" for a leading
dimension), the number of a result, or ~k for operand k."""

Shape = tuple[Dim, ...]


@dataclass(frozen=True, slots=True)
class LapackRoutine:
    """A routine: the operands that it overwrites, its results, and its arguments.

    names      -- of a real and of a complex matrix, without the letter of the precision
    overwrites -- the operands that are copied to the first results
    results    -- (shapes of the operands, options) -> pairs of a shape and the results' kind: "x"
                  as the operand, "r" real, "i" integers; behind the copied operands
    arguments  -- (shapes of the operands, shapes of the results, options) -> the arguments
    reference  -- (operands, options) -> the results that matter, the others being room
    error      -- the error where the routine fails
    """

    names: tuple[str, str]
    overwrites: tuple[int, ...]
    results: Callable[[Sequence[Shape], str, bool], list[tuple[Shape, str]]]
    arguments: Callable[[Sequence[Shape], Sequence[Shape], str, bool], list[Argument]]
    reference: Callable[..., dict[int, np.ndarray]]
    error: str
    goes_on: bool = False
    """Whether results are good for later equations where `info` is positive."""


def real_of(dtype: np.dtype) -> np.dtype:
    """Return the dtype of a complex number's parts; a real dtype as it is."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def result_types(routine: LapackRoutine, operands: Sequence[Aval], options: str) -> list[Aval]:
    """Return the types of all results."""
    shapes = [a.shape for a in operands]
    dtype = operands[0].dtype
    kinds = {"x": dtype, "r": real_of(dtype), "i": np.dtype(np.int64)}
    rest = routine.results(shapes, options, dtype.kind == "c")
    return [*(operands[k] for k in routine.overwrites),
            *(Aval(kinds[kind], shape) for shape, kind in rest)]


# --- symmetric and Hermitian matrices -----------------------------------------------------------


def _syevd_results(shapes: Sequence[Shape], options: str, is_complex: bool) -> Any:
    n = shapes[0][0]
    room: list[tuple[Shape, str]] = [((n,), "r")]
    if is_complex:
        return [*room, ((n * n + 66 * n + 2,), "x"), ((2 * n * n + 5 * n + 2,), "r"),
                ((5 * n + 4,), "i")]
    return [*room, ((2 * n * n + 66 * n + 2,), "x"), ((5 * n + 4,), "i")]


def _syevd_arguments(shapes: Sequence[Shape], made: Sequence[Shape], options: str,
                     is_complex: bool) -> list[Argument]:
    n = shapes[0][0]
    room: list[Argument] = [part for k in range(2, len(made))
                            for part in (k, ("i", made[k][0]))]
    return ["V", options, ("i", n), 0, ("l", n), 1, *room]


def _syevd(a: np.ndarray, options: str) -> dict[int, np.ndarray]:
    values, vectors = np.linalg.eigh(a.T, "L" if options == "L" else "U")
    return {0: vectors.T, 1: values}


# --- singular values ----------------------------------------------------------------------------


def _gesdd_results(shapes: Sequence[Shape], options: str, is_complex: bool) -> Any:
    n, m = shapes[0]
    k = minimum(m, n)
    rows, columns = (m, n) if options == "A" else (k, k)
    most = maximum(m, n)
    found: list[tuple[Shape, str]] = [((k,), "r"), ((rows, m), "x"), ((n, columns), "x")]
    if is_complex:
        return [*found, ((2 * k * k + 4 * k + 66 * most + 2,), "x"),
                ((5 * k * k + 7 * k + 2 * most * k + 2 * k * k + k + 2,), "r"),
                ((8 * k + 1,), "i")]
    return [*found, ((4 * k * k + 7 * k + 3 * k + 66 * most + k * most + 2,), "x"),
            ((8 * k + 1,), "i")]


def _gesdd_arguments(shapes: Sequence[Shape], made: Sequence[Shape], options: str,
                     is_complex: bool) -> list[Argument]:
    n, m = shapes[0]
    tail: list[Argument] = [5, 6] if is_complex else [5]
    return [options, ("i", m), ("i", n), 0, ("l", m), 1, 2, ("l", m), 3, ("l", made[3][1]), 4,
            ("i", made[4][0]), *tail]


def _gesdd(a: np.ndarray, options: str) -> dict[int, np.ndarray]:
    u, s, vt = np.linalg.svd(a.T, full_matrices=options == "A")
    return {1: s, 2: u.T, 3: vt.T}


# --- orthogonal and triangular factors ----------------------------------------------------------


def _geqrf_results(shapes: Sequence[Shape], options: str, is_complex: bool) -> Any:
    n, m = shapes[0]
    return [((minimum(m, n),), "x"), ((66 * n + 1,), "x")]


def _geqrf_arguments(shapes: Sequence[Shape], made: Sequence[Shape], options: str,
                     is_complex: bool) -> list[Argument]:
    n, m = shapes[0]
    return [("i", m), ("i", n), 0, ("l", m), 1, 2, ("i", made[2][0])]


def _geqrf(a: np.ndarray, options: str) -> dict[int, np.ndarray]:
    h, tau = np.linalg.qr(a.T, "raw")
    return {0: h, 1: tau}


def _orgqr_results(shapes: Sequence[Shape], options: str, is_complex: bool) -> Any:
    return [((66 * shapes[0][0] + 1,), "x")]


def _orgqr_arguments(shapes: Sequence[Shape], made: Sequence[Shape], options: str,
                     is_complex: bool) -> list[Argument]:
    n, m = shapes[0]
    return [("i", m), ("i", n), ("i", shapes[1][0]), 0, ("l", m), ~1, 1, ("i", made[1][0])]


def _orgqr(h: np.ndarray, tau: np.ndarray, options: str) -> dict[int, np.ndarray]:
    """Multiply the reflections I - tau v v', v having a 1 at its place and zeros before."""
    n, m = h.shape
    q = np.eye(m, n, dtype=h.dtype)
    for k in reversed(range(len(tau))):
        v = np.where(np.arange(m) > k, h[k], np.arange(m) == k).astype(h.dtype)
        q -= tau[k] * np.outer(v, v.conj() @ q)
    return {0: q.T}


# --- general square matrices --------------------------------------------------------------------


def _geev_results(shapes: Sequence[Shape], options: str, is_complex: bool) -> Any:
    n = shapes[0][0]
    if is_complex:
        return [((n,), "x"), ((n, n), "x"), ((66 * n + 1,), "x"), ((2 * n + 1,), "r")]
    return [((n,), "x"), ((n,), "x"), ((n, n), "x"), ((68 * n + 1,), "x")]


def _geev_arguments(shapes: Sequence[Shape], made: Sequence[Shape], options: str,
                    is_complex: bool) -> list[Argument]:
    n = shapes[0][0]
    values: list[Argument] = [1] if is_complex else [1, 2]
    vectors = 2 if is_complex else 3
    tail: list[Argument] = [4] if is_complex else []
    return ["N", "V", ("i", n), 0, ("l", n), *values, "0", ("l", 1), vectors, ("l", n),
            vectors + 1, ("i", made[vectors + 1][0]), *tail]


def _geev(a: np.ndarray, options: str) -> dict[int, np.ndarray]:
    values, vectors = np.linalg.eig(a.T)
    if a.dtype.kind == "c":
        return {1: values, 2: vectors.T}
    imaginary = np.imag(values)
    packed = np.where(imaginary < 0.0, -np.imag(vectors), np.real(vectors))
    return {1: np.real(values), 2: imaginary, 3: packed.T}


def _gees_results(shapes: Sequence[Shape], options: str, is_complex: bool) -> Any:
    n = shapes[0][0]
    if is_complex:
        return [((n,), "x"), ((n, n), "x"), ((66 * n + 1,), "x"), ((n + 1,), "r"), ((n + 1,), "i")]
    return [((n,), "x"), ((n,), "x"), ((n, n), "x"), ((68 * n + 1,), "x"), ((n + 1,), "i")]


def _gees_arguments(shapes: Sequence[Shape], made: Sequence[Shape], options: str,
                    is_complex: bool) -> list[Argument]:
    n = shapes[0][0]
    values: list[Argument] = [1] if is_complex else [1, 2]
    vectors = 2 if is_complex else 3
    tail: list[Argument] = [4, 5] if is_complex else [5]
    return ["V", "N", "0", ("i", n), 0, ("l", n), 5, *values, vectors,
            ("l", n), vectors + 1, ("i", made[vectors + 1][0]), *tail]


def _gees(a: np.ndarray, options: str) -> dict[int, np.ndarray]:
    from scipy.linalg import schur
    t, z = schur(a.T, output="complex" if a.dtype.kind == "c" else "real")
    return {0: t.T, 2 if a.dtype.kind == "c" else 3: z.T}


def _trsyl_arguments(shapes: Sequence[Shape], made: Sequence[Shape], options: str,
                     is_complex: bool) -> list[Argument]:
    n, m = shapes[0]
    return [options[0], options[1], ("i", 1), ("i", m), ("i", n), ~1, ("l", m), ~2, ("l", n), 0,
            ("l", m), 1]


def _trsyl(c: np.ndarray, a: np.ndarray, b: np.ndarray, options: str) -> dict[int, np.ndarray]:
    """Solve op(A) X + X op(B) = C as one large system."""
    left, right = (x if o == "N" else x.conj().T for x, o in zip((a.T, b.T), options, strict=True))
    m, n = len(left), len(right)
    system = np.kron(np.eye(n), left) + np.kron(right.T, np.eye(m))
    x = np.linalg.solve(system, c.reshape(-1)) if m * n else c.reshape(-1)
    return {0: x.reshape(n, m), 1: np.ones(1)}


# --- systems --------------------------------------------------------------------------------------


def _getrf_results(shapes: Sequence[Shape], options: str, is_complex: bool) -> Any:
    return [((minimum(shapes[0][0], shapes[0][1]),), "i")]


def _getrf_arguments(shapes: Sequence[Shape], made: Sequence[Shape], options: str,
                     is_complex: bool) -> list[Argument]:
    n, m = shapes[0]
    return [("i", m), ("i", n), 0, ("l", m), 1]


def _getrf(a: np.ndarray, options: str) -> dict[int, np.ndarray]:
    m, count = np.array(a.T), min(a.shape)
    pivots = np.zeros(count, np.int64)
    for k in range(count):
        p = k + int(np.argmax(np.abs(np.real(m[k:, k])) + np.abs(np.imag(m[k:, k]))))
        pivots[k] = p + 1
        m[[k, p]] = m[[p, k]]
        if m[k, k] != 0:
            m[k + 1:, k] /= m[k, k]
        m[k + 1:, k + 1:] -= np.outer(m[k + 1:, k], m[k, k + 1:])
    return {0: m.T, 1: pivots}


def _gbsv_arguments(shapes: Sequence[Shape], made: Sequence[Shape], options: str,
                    is_complex: bool) -> list[Argument]:
    """Bands below and above the diagonal are in the options; the band has room for the factors."""
    below, above = map(int, options.split())
    n, height = shapes[0]
    return [("i", n), ("i", below), ("i", above), ("i", shapes[1][0]), 0, ("l", height), 2, 1,
            ("l", n)]


def _gbsv(band: np.ndarray, b: np.ndarray, options: str) -> dict[int, np.ndarray]:
    below, above = map(int, options.split())
    n = len(band)
    a = np.zeros((n, n), band.dtype)
    for j in range(n):
        for i in range(max(0, j - above), min(n, j + below + 1)):
            a[i, j] = band[j, below + above + i - j]
    return {1: np.linalg.solve(a, b.T).T}


def _syevr_results(shapes: Sequence[Shape], options: str, is_complex: bool) -> Any:
    n = shapes[0][0]
    found: list[tuple[Shape, str]] = [((n,), "r"), ((n, n), "x"), ((2 * n + 2,), "i"),
                                      ((99 * n + 26,), "x")]
    return [*found, *([((24 * n + 24,), "r")] if is_complex else []), ((10 * n + 10,), "i")]


def _syevr_arguments(shapes: Sequence[Shape], made: Sequence[Shape], options: str,
                     is_complex: bool) -> list[Argument]:
    """All values; operand 1 is a zero, for the tolerance and limits that are not looked at."""
    n = shapes[0][0]
    room: list[Argument] = [part for k in range(4, len(made))
                            for part in (k, ("i", made[k][0]))]
    count = len(made) - 1
    return ["V", "A", options, ("i", n), 0, ("l", n), ~1, ~1, ("i", 1), ("i", n), ~1, count, 1, 2,
            ("l", n), 3, *room]


def _syevr(a: np.ndarray, zero: np.ndarray, options: str) -> dict[int, np.ndarray]:
    from scipy.linalg import eigh
    values, vectors = eigh(a.T, lower=options == "L") if len(a) else (np.zeros(0), a)
    return {1: values, 2: vectors.T}


def _sbevd_results(shapes: Sequence[Shape], options: str, is_complex: bool) -> Any:
    n = shapes[0][0]
    found: list[tuple[Shape, str]] = [((n,), "r"), ((n, n), "x"), ((2 * n * n + 5 * n + 2,), "x")]
    return [*found, *([((2 * n * n + 5 * n + 2,), "r")] if is_complex else []),
            ((5 * n + 4,), "i")]


def _sbevd_arguments(shapes: Sequence[Shape], made: Sequence[Shape], options: str,
                     is_complex: bool) -> list[Argument]:
    n, height = shapes[0]
    room: list[Argument] = [part for k in range(3, len(made)) for part in (k, ("i", made[k][0]))]
    return ["V", options, ("i", n), ("i", height - 1), 0, ("l", height), 1, 2, ("l", n), *room]


def _sbevd(band: np.ndarray, options: str) -> dict[int, np.ndarray]:
    from scipy.linalg import eig_banded
    values, vectors = eig_banded(band.T, lower=options == "L")
    return {1: values, 2: vectors.T}


LAPACK = {
    "eigh of band": LapackRoutine(("sbevd", "hbevd"), (0,), _sbevd_results, _sbevd_arguments,
                                  _sbevd, "Eigenvalues did not converge"),
    "eigh of scipy": LapackRoutine(("syevr", "heevr"), (0,), _syevr_results, _syevr_arguments,
                                   _syevr, "Eigenvalues did not converge"),
    "lu": LapackRoutine(("getrf", "getrf"), (0,), _getrf_results, _getrf_arguments, _getrf,
                        "Singular matrix", goes_on=True),
    "band": LapackRoutine(("gbsv", "gbsv"), (0, 1), lambda shapes, options, _: [
        ((shapes[0][0],), "i")], _gbsv_arguments, _gbsv, "singular matrix"),
    "eigh": LapackRoutine(("syevd", "heevd"), (0,), _syevd_results, _syevd_arguments, _syevd,
                    "Eigenvalues did not converge"),
    "svd": LapackRoutine(("gesdd", "gesdd"), (0,), _gesdd_results, _gesdd_arguments, _gesdd,
                   "SVD did not converge"),
    "qr": LapackRoutine(("geqrf", "geqrf"), (0,), _geqrf_results, _geqrf_arguments, _geqrf,
                  "Incorrect argument found while performing QR factorization"),
    "reflections": LapackRoutine(("orgqr", "ungqr"), (0,), _orgqr_results, _orgqr_arguments, _orgqr,
                           "Incorrect argument found while performing QR factorization"),
    "eig": LapackRoutine(("geev", "geev"), (0,), _geev_results, _geev_arguments, _geev,
                   "Eigenvalues did not converge"),
    "schur": LapackRoutine(("gees", "gees"), (0,), _gees_results, _gees_arguments, _gees,
                     "Schur form not found. Possibly ill-conditioned."),
    "sylvester": LapackRoutine(("trsyl", "trsyl"), (0,), lambda shapes, options, _: [((1,), "r")],
                         _trsyl_arguments, _trsyl, "the matrices have eigenvalues in common"),
}
"""The routines of the op `lapack`, by its parameter `routine`."""
