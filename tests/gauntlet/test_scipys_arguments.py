"""Arguments of SciPy's functions that change a result: SciPy itself is the oracle, or a refusal."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.ndimage as nd
import scipy.signal as ss
import scipy.sparse as sp
import scipy.sparse.linalg as sl
import scipy.special as special
from oracles import numeric_gradient

import tracejit

RNG = np.random.default_rng(11)


def _result(f: Callable[..., Any], x: Any) -> Any:
    """Return what a function gives, or the class of what it raises."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return f(x.copy())
    except (ValueError, ZeroDivisionError, TypeError, RuntimeError) as error:
        return ValueError if isinstance(error, ValueError) else type(error)


def _assert_as_scipy(f: Callable[..., Any], x: Any, gradient: bool = True) -> None:
    """Value, dtype and error; of real floats the gradient of the sum, too."""
    expected = _result(f, x)
    with tracejit.config(disable_jit=True):
        found = _result(tracejit.jit(f), x)
    if isinstance(expected, type) or isinstance(found, type):
        assert found is expected
        return
    for e, r in zip(*((v,) if not isinstance(v, tuple) else v for v in (expected, found)),
                    strict=True):
        assert np.asarray(r).dtype == np.asarray(e).dtype
        np.testing.assert_allclose(r, e, rtol=1e-12, atol=1e-13)
    if gradient and x.dtype == np.float64 and np.all(np.isfinite(expected)):
        def total(x: Any) -> Any:
            return np.sum(f(x))

        with tracejit.config(disable_jit=True):
            by_us = tracejit.grad(total)(x.copy())
        np.testing.assert_allclose(by_us, numeric_gradient(total, [x.copy()], 0, 1e-6), rtol=1e-5,
                                   atol=1e-7)


DTYPES = ("int8", "uint8", "int16", "int64", "uint32", "bool", "float32", "float64", "complex128")


@pytest.mark.parametrize("axis", [None, 0, 1, -1, -2])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_of_sparse_matrices_have_numpys_dtypes(dtype: str, form: str, axis: Any) -> None:
    x = np.array([[100, 0, 90], [50, 120, 0], [101, 0, 99]]).astype(dtype)
    _assert_as_scipy(lambda x: getattr(sp, f"{form}_array")(x).sum(axis=axis), x, gradient=False)


@pytest.mark.parametrize("wanted", ["left out", None, np.int64, np.int8, np.float32, np.float64,
                                    np.complex128])
@pytest.mark.parametrize("dtype", ["int64", "int8", "float32", "float64"])
@pytest.mark.parametrize("made", [sp.diags_array, sp.diags])
def test_diagonals_have_the_dtype_that_is_asked_for(made: Any, dtype: str, wanted: Any) -> None:
    given = {} if isinstance(wanted, str) else {"dtype": wanted}
    x = np.array([1.75, 2.0, 3.25]).astype(dtype)
    _assert_as_scipy(lambda x: made([x, 2 * x[:2]], offsets=[0, 1], **given).toarray(), x,
                     gradient=wanted not in (np.int64, np.int8, np.complex128, np.float32))


@pytest.mark.parametrize("offsets", [0, 1, -2, [0], [1], [0, 0], [0, 1, 2]])
@pytest.mark.parametrize("many", [0, 1, 2])
@pytest.mark.parametrize("made", [sp.diags_array, sp.diags])
def test_diagonals_and_offsets_have_to_agree(made: Any, many: int, offsets: Any) -> None:
    _assert_as_scipy(lambda x: made([x, x][:many] if many else x, offsets=offsets).toarray(),
                     np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("name", ["cg", "gmres", "bicgstab"])
@pytest.mark.parametrize("options", [{"maxiter": 1}, {"rtol": 0.5}, {"atol": 2.0}])
def test_an_iteration_that_ends_early_is_refused(name: str, options: dict[str, Any]) -> None:
    a = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
    solve = getattr(sl, name)
    with tracejit.config(disable_jit=True):
        with pytest.raises(tracejit.Refusal, match=f"{name} that ends before its limit"):
            tracejit.jit(lambda x: solve(sp.csr_array(a), x, **options)[0])(np.ones(3))
    _assert_as_scipy(lambda x: solve(sp.csr_array(a), x, rtol=1e-13, atol=1e-13)[0], np.arange(3.0))


@pytest.mark.parametrize("name", ["cg", "gmres", "bicgstab"])
def test_a_matrix_that_steers_an_iteration_is_refused(name: str) -> None:
    solve = getattr(sl, name)
    with tracejit.config(disable_jit=True):
        with pytest.raises(tracejit.Refusal, match="Leave M= out"):
            tracejit.jit(lambda x: solve(np.eye(3), x, M=2.0 * np.eye(3))[0])(np.ones(3))


UNITARY = np.linalg.qr(np.random.default_rng(5).normal(size=(12, 12)))[0]
SPECTRA = {"ordinary": np.linspace(1.0, 9.0, 12), "alternating": np.tile([1.0, -1.0], 6),
           "far apart": np.logspace(-13, 0, 12), "near": np.logspace(-3, 0, 12)}


@pytest.mark.parametrize("start", [None, 3.0])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_conjugate_gradients_end_where_scipys_do(spectrum: str, start: Any) -> None:
    matrix = (UNITARY * SPECTRA[spectrum]) @ UNITARY.T
    given = {} if start is None else {"x0": np.full(12, start)}
    diagonal = spectrum == "alternating"

    def solved(x: np.ndarray) -> Any:
        a = np.diag(SPECTRA[spectrum]) if diagonal else 0.5 * (matrix + matrix.T)
        return sl.cg(a, x, rtol=1e-12, **given)

    x = np.ones(12) if diagonal else np.arange(12.0)
    with np.errstate(all="ignore"):
        expected, info = solved(x)
    with tracejit.config(disable_jit=True):
        if info == 0:
            found, ours = tracejit.jit(solved)(x)
            assert ours == 0
            assert np.allclose(found, expected, rtol=1e-6, atol=1e-6)
        else:
            with pytest.raises(tracejit.Refusal, match="does not end within its 10 n iterations"):
                tracejit.jit(solved)(x)
    assert (info == 0) == (spectrum in ("ordinary", "near") or (diagonal and start is not None))


_SHIFTED = {n: np.roll(np.eye(n), 1, 0) for n in (2, 5, 30)}
UNLIKE = {**{f"shift of {n}": a for n, a in _SHIFTED.items()},
          "turn": np.array([[0.0, 1.0], [-1.0, 0.0]]), "one": np.array([[3.0]]),
          "signs": np.diag([1.0, -2.0, 3.0, 4.0]), "ordinary": UNITARY + 2.0 * np.eye(12),
          "complex": UNITARY * 1j + 2.0 * np.eye(12), "unitary": UNITARY,
          "float32": (UNITARY + 2.0 * np.eye(12)).astype(np.float32),
          "random": np.random.default_rng(1).normal(size=(30, 30)) + 5.0 * np.eye(30)}


@pytest.mark.parametrize("right", ["one", "range", "zeros"])
@pytest.mark.parametrize("start", [None, 3.0])
@pytest.mark.parametrize("matrix", UNLIKE)
@pytest.mark.parametrize("name", ["gmres", "bicgstab"])
def test_iterations_end_where_scipys_do(name: str, matrix: str, start: Any, right: str) -> None:
    a = UNLIKE[matrix]
    n = len(a)
    b = {"one": np.eye(n)[0], "range": np.arange(1.0, n + 1.0), "zeros": np.zeros(n)}[right]
    given = {} if start is None else {"x0": np.full(n, start, a.dtype)}

    def solved(a: np.ndarray, b: np.ndarray) -> Any:
        return getattr(sl, name)(a, b, rtol=1e-4 if a.dtype == np.float32 else 1e-8, **given)

    operands = a, b.astype(a.dtype)
    with np.errstate(all="ignore"):
        expected, info = solved(*operands)
    with tracejit.config(disable_jit=True):
        if info == 0:
            found, ours = tracejit.jit(solved)(*operands)
            assert ours == 0
            assert np.allclose(found, expected, rtol=1e-3, atol=1e-3)
        else:
            with pytest.raises(tracejit.Refusal, match="does not end within its 10 n iterations"):
                tracejit.jit(solved)(*operands)


@pytest.mark.parametrize("boundary", [None, "zeros"])
@pytest.mark.parametrize("nperseg", [4, 5, 7, 8, 9])
@pytest.mark.parametrize("padded", [False, True])
def test_times_of_short_transforms_are_scipys(nperseg: int, boundary: Any, padded: bool) -> None:
    _assert_as_scipy(lambda x: ss.stft(x, 2.0, nperseg=nperseg, boundary=boundary, padded=padded),
                     RNG.normal(size=24), gradient=False)


ROWS = [np.array(row) for row in (
    [1000.0, 0.0, 1.0], [-1000.0, 0.5, 2.0], [0.3, -0.2, 0.9], [1e15, 1e15 + 1.0, 1e15 - 2.0],
    [np.inf, 0.0, 1.0], [-np.inf, 0.0, 1.0], [np.nan, 0.0, 1.0], [-np.inf] * 3)]
WEIGHTS = [None, *(np.array(row) for row in (
    [0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [-0.5, 2.0, 1.0],
    [-1.0, -2.0, -3.0], [[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]]))]


NAN_FOR_SCIPY = {(0, 4), (3, 4), (4, 4), (6, 4), (4, 7)}
"""Rows and weights of which SciPy multiplies an infinity, which has no weight, by 0."""


@pytest.mark.parametrize(("row", "weights"), [
    (i, k) for i in range(len(ROWS)) for k in range(len(WEIGHTS)) if (i, k) not in NAN_FOR_SCIPY])
def test_sums_of_exponentials_are_scipys(row: int, weights: int) -> None:
    b = WEIGHTS[weights]
    _assert_as_scipy(lambda x: special.logsumexp(x, b=b), ROWS[row], gradient=row == 2)
    _assert_as_scipy(lambda x: special.logsumexp(x, b=b, axis=-1, keepdims=True), ROWS[row],
                     gradient=row == 2)


@pytest.mark.parametrize("weight", [0.0, 0.5, 2.0])
def test_a_weight_of_a_sum_of_exponentials_has_its_derivative(weight: float) -> None:
    _assert_as_scipy(lambda b: special.logsumexp(np.array([0.2, 1.4]), b=b),
                     np.array([weight, 1.0]))


@pytest.mark.parametrize("x", [
    np.array([1.0 + 4.0j, 1.0 - 2.0j]), np.array([3.0 + 7.0j]), np.array([700.0 + 1.0j, 710.0])])
@pytest.mark.parametrize("b", [None, np.array([0.5])])
def test_complex_sums_of_exponentials_are_scipys(x: np.ndarray, b: Any) -> None:
    _assert_as_scipy(lambda x: special.logsumexp(x, b=b), x)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
@pytest.mark.parametrize("axis", [-1, 0])
def test_sums_of_no_exponentials_are_scipys(shape: tuple[int, ...], axis: int) -> None:
    _assert_as_scipy(lambda x: special.logsumexp(x, axis=axis), np.zeros(shape), gradient=False)


@pytest.mark.parametrize("row", range(len(ROWS) - 1))
@pytest.mark.parametrize("shift", [0.0, 1e15, -1e15])
def test_log_softmax_is_scipys_far_from_zero(row: int, shift: float) -> None:
    _assert_as_scipy(lambda x: special.log_softmax(x + shift), ROWS[row],
                     gradient=row == 2 and not shift)


KERNELS = [np.array([1.0, 2.0, 0.5]), np.array([1.0 + 1.0j, 2.0, 0.5j]), np.array([1.0, 2.0j])]


@pytest.mark.parametrize("name", ["correlate1d", "convolve1d", "correlate", "convolve"])
@pytest.mark.parametrize("kernel", range(len(KERNELS)))
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_filters_of_complex_weights_are_scipys(name: str, kernel: int, dtype: str) -> None:
    x = (RNG.normal(size=7) + (1j * RNG.normal(size=7) if dtype[0] == "c" else 0.0)).astype(dtype)
    _assert_as_scipy(lambda x: getattr(nd, name)(x, KERNELS[kernel]), x,
                     gradient=kernel == 0 and dtype[0] == "f")


FILTERS: dict[str, Callable[[Any], Any]] = {
    "gaussian": lambda x: nd.gaussian_filter(x, 0.0), "uniform": lambda x: nd.uniform_filter(x, 1),
    "one axis": lambda x: nd.gaussian_filter(x, (0.0, 1.0)),
    "uniform1d": lambda x: nd.uniform_filter1d(x, 1), "maximum": lambda x: nd.maximum_filter(x, 1),
    "median": lambda x: nd.median_filter(x, 1), "shift": lambda x: nd.shift(x, 0.0, order=1),
    "of width 0": lambda x: nd.gaussian_filter1d(x, 0.0)}


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_that_changes_nothing_gives_a_copy(name: str) -> None:
    def program(x: Any) -> Any:
        before = x * 1.0
        after = FILTERS[name](before)
        before[0, 1] = 100.0
        after[1, 1] *= 2.0
        return after - before

    _assert_as_scipy(program, np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize("method", ["auto", "direct", "fft", "fast", None])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_methods_of_convolutions_are_scipys(name: str, method: Any) -> None:
    _assert_as_scipy(lambda x: getattr(ss, name)(x, np.arange(3.0), method=method), np.arange(5.0))
