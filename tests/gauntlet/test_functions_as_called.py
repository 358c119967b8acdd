"""Functions of NumPy and SciPy as strangers call them: by place, on odd shapes and dtypes.

NumPy and SciPy themselves are the oracle of value, dtype and error, on operands of several dtypes
and layouts, and central differences of the gradient.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.spatial.distance
import scipy.special
from oracles import assert_close, numeric_gradient

import tracejit

R = np.random.default_rng(3)
A = R.normal(size=(3, 3)) + 3.0 * np.eye(3)
S, M, V = A @ A.T, R.normal(size=(4, 3)), R.normal(size=9)
BAND = np.array([[0.5, 0.3, 0.2, 0.0], [4.0, 5.0, 6.0, 7.0]])
W = np.array([0.2, 0.5, -0.3])
SOS = np.array([[0.2, 0.3, 0.1, 1.0, 0.1, 0.05]])

PROGRAMS: list[tuple[str, Callable[[Any], Any], np.ndarray]] = [
    ("lower by place", lambda a: scipy.linalg.solveh_banded(a, np.ones(4), True), BAND),
    ("overwritten by place",
     lambda a: scipy.linalg.solveh_banded(a.copy(), np.ones(4), True, True), BAND),
    ("lu by place", lambda a: scipy.linalg.lu(a, False, True), A),
    ("qr by place", lambda a: scipy.linalg.qr(a, True, None, "economic"), M),
    ("eigvals by place", lambda a: scipy.linalg.eigvals(a, None, True, False).real, S),
    ("svd by place", lambda a: scipy.linalg.svd(a, False, False, True, False), M),
    ("not checked", lambda a: scipy.linalg.norm(a, check_finite=False), M),
    ("not checked by place", lambda a: scipy.linalg.det(a, False, False), A),
    ("hermitian svd", lambda a: np.linalg.svd(a, hermitian=True, compute_uv=False), S),
    ("hermitian vectors",
     lambda a: (lambda r: (r[0] * r[1][..., None, :]) @ r[2])(np.linalg.svd(a, hermitian=True)), S),
    ("hermitian rank", lambda a: np.linalg.matrix_rank(a, hermitian=True), S),
    ("rank above a number", lambda a: np.linalg.matrix_rank(a, tol=0.9), M),
    ("least squares of negative rcond", lambda a: np.linalg.lstsq(
        np.concatenate([a, a[:, :1]], 1), a[:, 0] ** 2, rcond=-1)[0], M),
    ("rank of negative rcond", lambda a: np.linalg.lstsq(
        np.concatenate([a, a[:, :1]], 1), a[:, 0] ** 2, rcond=-1)[2], M),
    ("pinv of many rconds", lambda a: np.linalg.pinv(a, rcond=np.array([0.1])), M),
    *((f"cond {p}", lambda a, p=p: np.linalg.cond(a, p), A)
      for p in (None, 1, -1, 2, np.inf, "fro")),
    *((f"norm {p}", lambda a, p=p: np.linalg.norm(a, p), M) for p in (1, 2, np.inf, "nuc", "fro")),
    ("norm of rows", lambda a: np.linalg.norm(a, np.inf, axis=-1), M),
    ("multi_dot", lambda a: np.linalg.multi_dot([a.T, a, a.T]), M),
    ("vecdot along first axes", lambda a: np.linalg.vecdot(a, np.arange(4.0) + 1.0, axis=0), M),
    ("vecdot of one row", lambda a: np.linalg.vecdot(a, np.ones((4, 3)), axis=0), M),
    ("tensorinv", lambda a: np.linalg.tensorinv(a.reshape(4, 1, 3), ind=1), M),
    ("tensorsolve", lambda a: np.linalg.tensorsolve(a, np.ones(3)), A),
    ("definite", lambda a: scipy.linalg.solve(a, np.ones(3), assume_a="pos"), S),
    ("symmetric", lambda a: scipy.linalg.solve(a, np.ones(3), assume_a="sym"), S),
    ("of two precisions", lambda a: scipy.linalg.solve_banded((1, 0), a[::-1], np.ones(4)), BAND),
    ("generalised", lambda a: scipy.linalg.eigh(a, np.eye(3) * 2.0)[0], S),
    ("exponential", lambda a: scipy.linalg.expm(a / 4), A),
    ("logarithm", lambda a: scipy.linalg.logm(a), S),
    ("state at rest", lambda b: scipy.signal.lfilter_zi(b, [1.0, 0.2, 0.1]), W),
    ("division by a[0]", lambda a: scipy.signal.lfilter([0.3, 0.1], a, np.ones(5)), W),
    ("sections", lambda s: scipy.signal.sosfilt(s, np.arange(5.0)), SOS),
    ("there and back", lambda x: scipy.signal.filtfilt([0.5, 0.2], [1.0, 0.3], x), V),
    ("line of points", lambda x: scipy.signal.detrend(x, axis=0), M),
    ("smoothed", lambda x: scipy.signal.savgol_filter(x, 5, 2), V),
    ("valid in both axes", lambda x: scipy.signal.convolve(x, np.ones((2, 2)), "valid"), M),
    ("filled", lambda x: scipy.signal.convolve2d(x, np.ones((2, 2)) / 2, fillvalue=2.5), M),
    ("axes in their order", lambda x: np.gradient(x, 0.5, 2.0, axis=(1, 0)), M),
    ("too many spacings", lambda x: np.gradient(x, 0.5, 2.0, 3.0), M),
    *((f"quantile {m}", lambda x, m=m: np.quantile(x, [0.2, 0.7], method=m), V)
      for m in ("lower", "nearest", "inverted_cdf", "closest_observation")),
    ("ramp", lambda x: np.pad(x, (2, 3), mode="linear_ramp", end_values=(1, -2)), V),
    ("pairs that do not fit", lambda x: np.pad(np.stack([x, x]), ((1, 2), (0, 1)), "edge"), M),
    ("nodes and values", lambda x: np.interp(0.4, [0.0, 1.0], x), V),
    ("between arrays", lambda x: np.linspace(x, 1.0, 4), V),
    ("weights of numbers", lambda x: np.bincount(np.arange(9) // 2, weights=x), V),
    ("diagonal of a matrix", lambda x: np.einsum("ii->i", x), A),
    ("differences of order -1", lambda x: np.diff(x, n=-1), V),
    ("derivatives of a polynomial", lambda x: np.polyder(x[:2], 2), V),
    ("integral", lambda x: scipy.integrate.simpson(x, dx=0.5), V),
    ("running integral", lambda x: scipy.integrate.cumulative_trapezoid(x, initial=0), V),
    *((f"distance {n}", lambda x, n=n: getattr(scipy.spatial.distance, n)(x, np.arange(9.0) + 1), V)
      for n in ("euclidean", "cosine", "correlation", "cityblock", "canberra", "sqeuclidean")),
    ("pairs of rows", lambda x: scipy.spatial.distance.pdist(x), M),
    ("rows of two", lambda x: scipy.spatial.distance.cdist(x, np.ones((2, 3))), M),
    ("combinations", lambda x: scipy.special.comb(np.abs(x) + 3, 2), V),
    ("polynomial of a degree", lambda x: scipy.special.eval_legendre(3, x), V),
    ("loss with a number", lambda x: scipy.special.huber(0.5, x), V),
    ("parts of a number", lambda x: math.modf(3.3 * float(x[-1])), V),
    ("neighbours", lambda x: scipy.ndimage.correlate1d(x, [-0.3, 0.5, -2.2]), V),
    ("means", lambda x: scipy.ndimage.uniform_filter1d(x, 3), V),
    ("modes of axes", lambda x: scipy.ndimage.gaussian_filter(x, 0.8, mode=["wrap", "nearest"]), M),
]

UNLIKE = {("logarithm", "zero"), ("logarithm", "negative"), ("means", "NaN"),
          ("pinv of many rconds", "NaN"), ("lower by place", "negative"),
          ("overwritten by place", "negative"), ("distance canberra", "int64"),
          ("distance correlation", "one row")}
"""Where SciPy's own way of computing shows: a band that is not definite is solved here, say."""


def _variants(a: np.ndarray) -> dict[str, np.ndarray]:
    hit = np.arange(a.size).reshape(a.shape) == 1
    return {
        "float64": a, "float32": a.astype(np.float32), "int64": np.round(3 * a).astype(np.int64),
        "complex": a + 0.5j * a[::-1], "NaN": np.where(hit, np.nan, a), "zero": 0.0 * a,
        "negative": -a, "one row": a[:1], "reversed": a[::-1].copy()[::-1],
        "Fortran": np.asfortranarray(a), "one column less": a[..., :-1]}


def _outcome(function: Callable[[Any], Any], x: np.ndarray) -> Any:
    try:
        return function(x)
    except tracejit.Refusal:
        return None
    except (ValueError, TypeError, ArithmeticError, LookupError, RuntimeError) as error:
        return error


def _require_same(actual: Any, expected: Any, tolerance: float) -> None:
    if isinstance(expected, (list, tuple)):
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected, strict=True):
            _require_same(a, e, tolerance)
        return
    a, e = np.asarray(actual), np.asarray(expected)
    assert a.dtype == e.dtype
    assert a.shape == e.shape
    np.testing.assert_allclose(a, e, rtol=tolerance, atol=tolerance * max(
        1.0, float(np.max(np.abs(e), initial=0.0, where=np.isfinite(e)))))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", _variants(A))
@pytest.mark.parametrize("name", [name for name, *_ in PROGRAMS])
def test_value_dtype_and_error_are_those_of_the_function_itself(name: str, kind: str) -> None:
    function, x = next((f, x) for n, f, x in PROGRAMS if n == name)
    if (name, kind) in UNLIKE:
        pytest.skip("what SciPy computes on the way shows")
    x = _variants(x)[kind]
    expected = _outcome(function, x.copy())
    with tracejit.config(disable_jit=True):
        actual = _outcome(tracejit.jit(function), x)
    if actual is None:
        return
    if isinstance(expected, Exception):
        assert isinstance(actual, type(expected)), (actual, expected)
        return
    assert not isinstance(actual, Exception), (actual, expected)
    _require_same(actual, expected, 1e-4 if kind == "float32" else 1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [
    name for name, *_ in PROGRAMS if name not in ("sections", "rank above a number")])
def test_its_gradient_is_that_of_differences(name: str) -> None:
    function, x = next((f, x) for n, f, x in PROGRAMS if n == name)

    def loss(x):
        found = function(x)
        total = 0.0
        for r in found if isinstance(found, tuple) else (found,):
            total = total + np.sum(np.asarray(r, float) ** 2 * np.cos(np.asarray(r, float)))
        return total

    try:
        function(x.copy())
    except (ValueError, TypeError):
        return
    with tracejit.config(disable_jit=True):
        try:
            gradient = tracejit.grad(loss)(x)
        except tracejit.Refusal:
            return
    assert_close(gradient, numeric_gradient(loss, [x], 0), 2e-5)


def test_roots_of_as_many_coefficients_as_data_says() -> None:
    def roots(c):
        return np.sort(np.roots(c[c != 0.0]).real)

    c = np.array([1.0, -6.3, 0.0, 11.0, -5.9])
    with tracejit.config(disable_jit=True):
        assert_close(tracejit.jit(roots)(c), roots(c), 1e-9)
        assert tracejit.jit(np.roots)(np.zeros(0)).shape == (0,)


def test_the_exponential_of_an_infinite_matrix_ends() -> None:
    with tracejit.config(disable_jit=True):
        found = tracejit.jit(lambda a: scipy.linalg.expm(a))(np.full((2, 2), np.inf))
    assert not np.any(np.isfinite(found))
