"""What NumPy"s own tests found where they were put to captured calls: values, kinds and errors.

`tests/numpy_suite.py` runs all of them; these are the calls that once were not NumPy"s.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special

import tracejit

pytestmark = pytest.mark.filterwarnings("ignore")

LINE, TABLE = np.arange(6.0), np.arange(30.0).reshape(6, 5)
CASES: list[tuple[Any, Any]] = [
    (lambda a: np.delete(a, slice(60, None), axis=1), np.arange(10).reshape(2, 5)),
    (lambda a: np.delete(a, 3, axis=1), np.arange(10).reshape(2, 5, order="F")),
    (lambda x: np.gradient(x, x, axis=None), np.arange(4.).reshape(2, 2)),
    (lambda x: np.gradient(x, 1, 1), LINE),
    (lambda x: np.gradient(x, 1, 1, axis=0), np.arange(4.).reshape(2, 2)),
    (lambda x: np.gradient(x, 1, axis=()), np.arange(4.).reshape(2, 2)),
    (lambda a: np.place(a, [], []), np.array([1, 4, 3, 2, 5, 8, 7])),
    (lambda a: np.place(a, [0]*7, []), np.array([1, 4, 3, 2, 5, 8, 7])),
    (lambda x: np.piecewise(x, [True, False], [1]), np.array([0, 0])),
    (lambda x: np.piecewise(x, [[True, False]], [1]), np.array([0, 0])),
    (lambda x: np.piecewise(x, np.array([True, False]), [1]), np.array([0, 0])),
    (lambda x: np.piecewise(x, [[False, True], [True, False]], [lambda y: -1.0, 2]),
     np.array([1.0, 2.0])),
    (lambda x: np.interp(0.5, [0, 1], x), np.array([complex(-np.inf, 0), complex(1, 0)])),
    (lambda x: np.quantile(x, 0.5, method="linear"), np.array([True, False, True])),
    (lambda x: np.nanquantile(x, 0.5), np.array([1, 2, 3, 4], np.int8)),
    (lambda x: np.quantile(x, 1), np.array([1, 2, 3, 4], np.int8)),
    (lambda x: np.quantile(x, np.int8(1)), np.array([1, 2, 3, 4], np.int8)),
    (lambda x: np.percentile(x, 101), LINE),
    (lambda x: np.percentile(x, np.nan), LINE),
    (lambda x: np.add(np.float64(1e300)*x, np.array([1.], "f4")), np.array([1], "f4")),
    (lambda x: np.result_type(x, np.int8(3)), np.array([1., 2])),
    (lambda x: np.clip(x, np.nan, 3), np.array([1, 2])),
    (lambda x: np.clip(x, 0), np.array([1, 2])),
    (lambda x: np.clip(x, None, None), np.array([1, 2])),
    (lambda x: np.clip(x, np.uint64(3), -3), np.array([1, 2], "i1")),
    (lambda x: np.array([x, x[:1]]), np.array([1, 2])),
    (lambda x: np.convolve(x, x, mode=0), np.array([1, 2])),
    (lambda x: np.convolve(x, x, mode="f"), np.array([1, 2])),
    (lambda x: np.correlate(x, x, mode="none"), np.array([1, 2])),
    (lambda x: np.einsum(x, [0, -1]), np.ones((2, 2))),
    (lambda x: np.einsum(x, [0, 52]), np.ones((2, 2))),
    (lambda x: np.einsum("i, i", x, x), np.ones(2)),
    (lambda x: np.einsum("", x), np.array(2.)),
    (lambda x: np.einsum(x, [], []), np.array(2.)),
    (lambda x: np.histogramdd(x, bins=[2, 0, 2]), np.ones((5, 3))),
    (lambda x: np.histogramdd(x, bins=[2, -1, 2]), np.ones((5, 3))),
    (lambda x: np.histogramdd(x, bins=[2, 2.5, 2]), np.ones((5, 3))),
    (lambda x: np.isin(x, x, kind="quicksort"), np.ones(3)),
    (lambda x: np.isin(x, [1], kind="table"), np.ones(3)),
    (lambda x: np.isin(5, x), np.ones(3, int)),
    (lambda x: np.isin(x, 5), np.array(5)),
    (lambda x: np.linalg.cond(x, -2), np.ones((0, 0))),
    (lambda x: np.linalg.cond(x, -2), np.ones((2, 0, 0))),
    (lambda x: np.linalg.norm(x, "nuc", axis=(0,)), np.ones((2, 2))),
    (lambda x: np.linalg.norm(x, "fro", axis=0), np.ones((2, 2))),
    (lambda x: np.linalg.norm(x, "fro"), np.ones(2)),
    (lambda x: np.linalg.norm(x, 3), np.ones((2, 2))),
    (lambda x: np.linalg.norm(x, 0), np.ones((2, 2))),
    (lambda x: np.linalg.norm(x, axis=(0, 0)), np.ones((2, 2))),
    (lambda x: np.linalg.norm(x), np.ones((2, 2, 2))),
    (lambda x: np.linalg.norm(x, 1), np.ones((2, 2, 2))),
    (lambda x: np.linalg.norm(x, axis=(0, 1, 2)), np.ones((2, 2, 2))),
    (lambda x: np.linalg.norm(x, 2, axis=3), np.ones((2, 2, 2))),
    (lambda x: np.linalg.norm(x, None, (0, 1, 2)), np.ones((2, 2, 2))),
    (lambda x: np.var(x, ddof=1, correction=0), np.ones((2, 2, 2))),
    (lambda x: np.nanvar(x, ddof=1, correction=0), np.ones((2, 2, 2))),
    (lambda x: np.nanstd(x, correction=1), np.array([1., 2, 4])),
    (lambda x: np.poly(x), np.ones((0, 0))),
    (lambda x: np.poly(x), np.ones((2, 3))),
    (lambda x: np.put(x, [], [1]), np.ones((0,))),
    (lambda x: np.put(x, [1], []), np.ones((3,))),
    (lambda x: np.put(x, [], []), np.ones((3,))),
    (lambda x: np.ravel_multi_index((x, x), (0, 3), mode="clip"), np.array([], int)),
    (lambda x: np.ravel_multi_index((x, x), (0, 3)), np.array([], int)),
    (lambda x: np.unravel_index(x, (3, 4)), np.array([1, 2], np.int16)),
    (lambda x: np.unravel_index(x, (3, 4)), np.array([], float)),
    (lambda x: np.unravel_index(x, (3, 4)), np.array([1.0])),
    (lambda x: np.tensordot(x, x, axes=([0, 0], [0, 1])), np.ones((2, 2))),
    (lambda x: np.tensordot(x, x, axes=2), np.ones((2, 2))),
    (lambda x: np.tensordot(x, x, axes=([0], [0, 1])), np.ones((2, 2))),
    (lambda x: np.linalg.tensordot(x, x, axes=2), np.ones((2, 2))),
    (lambda x: np.array_equiv(x, [[1, 2], [1, 2]]), np.array([1, 2])),
    (lambda x: np.array_equiv(x, [[1, 2], [1, 3]]), np.array([1, 2])),
    (lambda x: np.array_equiv(x, [1]), np.array([1, 1])),
    (lambda x: np.imag(x), np.array(1+1j)),
    (lambda x: np.real(x), np.array(1+1j)),
    (lambda x: np.real(x), np.array(1.)),
    (lambda x: x.real, np.array(1.+1j)),
    (lambda x: np.linalg.svd(x, hermitian=True), np.ones((3, 3))),
    (lambda x: np.linalg.svd(x, hermitian=True), np.zeros((2, 2))),
    (lambda x: np.take_along_axis(x, np.array([1]), 0), np.ones((3, 3))),
    (lambda x: np.take_along_axis(x, np.array([[1]]), None), np.ones((3, 3))),
    (lambda x: np.take_along_axis(x, x, 0), np.ones((3, 3))),
    (lambda x: np.put_along_axis(x, np.array([1]), 1, 0), np.ones((3, 3))),
    (lambda x: np.apply_along_axis(lambda r: r[1:], 1, x), np.ones((0, 3))),
    (lambda x: np.apply_along_axis(lambda r: r[1:], 0, x), np.ones((0, 3))),
    (lambda x: np.vsplit(x, 2), np.ones(4)),
    (lambda x: np.hsplit(x, 2), np.array(4)),
    (lambda x: np.dsplit(x, 2), np.ones((4, 4))),
    (lambda x: np.bincount(x, minlength=-1), np.array([1, 2])),
    (lambda x: np.bincount(x), np.array([1, 2], np.uint64)),
    (lambda x: np.bincount(x, weights=[1, 2, 3]), np.array([1, 2])),
    (lambda x: np.rot90(x, axes=(1, 1)), np.ones((2, 2))),
    (lambda x: np.rot90(x, axes=(0,)), np.ones((2, 2))),
    (lambda x: np.rot90(x, axes=(0, 5)), np.ones((2, 2))),
    (lambda x: np.rot90(x), np.ones((2,))),
    (lambda x: np.cov(x, fweights=np.array([1.5, 1, 1])), np.ones((2, 3))),
    (lambda x: np.cov(x, fweights=np.array([1, 1])), np.ones((2, 3))),
    (lambda x: np.cov(x, fweights=np.ones((2, 3), int)), np.ones((2, 3))),
    (lambda x: np.cov(x, fweights=-np.ones(3, int)), np.ones((2, 3))),
    (lambda x: np.cov(x, aweights=np.ones(2)), np.ones((2, 3))),
    (lambda x: np.cov(x, aweights=np.ones((2, 3))), np.ones((2, 3))),
    (lambda x: np.cov(x, aweights=-np.ones(3)), np.ones((2, 3))),
    (lambda x: np.cov(x, ddof=1.5), np.ones((2, 3))),
    (lambda x: np.pad(x, ((3, 3), (0, 0)), mode="maximum"), np.ones((2, 0, 2))[:, :, 0]),
    (lambda x: np.pad(x, ((3, 3), (0, 0)), mode="mean"), np.ones((2, 0, 2))[:, :, 0]),
    (lambda x: np.pad(x, ((3, 3), (0, 0)), mode="edge"), np.ones((2, 0, 2))[:, :, 0]),
    (lambda x: np.pad(x, ((3, 3), (0, 0)), mode="median"), np.ones((2, 0, 2))[:, :, 0]),
    (lambda x: np.pad(x, 2, mode="mean", stat_length=-2), TABLE),
    (lambda x: np.pad(x, 2, mode="mean", stat_length=(3, -1)), TABLE),
    (lambda x: np.pad(x, 2, mode="mean", stat_length=((4, 5), (-1, 2))), TABLE),
    (lambda x: np.pad(x, ((1, 2), (3, 4), (5, 6))), TABLE),
    (lambda x: np.pad(x, (4, 5, 6)), TABLE),
    (lambda x: np.pad(x, ((3, 4, 5), (0, 1, 2))), TABLE),
    (lambda x: np.pad(x, ((3,), (1,))), TABLE),
    (lambda x: np.pad(x, [[[3]]]), TABLE),
    (lambda x: np.pad(x, np.array([[1, 2], [3, 1]])), TABLE),
    (lambda x: np.pad(x, np.array([1, 2])), TABLE),
    (lambda x: np.pad(x, ((1,),)), TABLE),
    (lambda x: np.pad(x, [1]), TABLE),
    (lambda x: np.pad(x, ((1, 2, 3),)), TABLE),
    (lambda x: np.pad(x, np.array(3)), TABLE),
    (lambda x: np.pad(x, 1.5), TABLE),
    (lambda x: np.pad(x, np.array([1.5, 2.0])), TABLE),
    (lambda a: np.partition(a, 0), np.ones(0)),
    (lambda a: np.argpartition(a, [0, 3], axis=1), np.ones((0, 2))),
    (lambda a: np.choose(0, (a, np.array([1], "u1"))), np.array([1], "u1")),
    (lambda a: np.choose([0], (a, 4)), np.array([1], "u1")),
    (lambda a: np.choose([0], (a, 4.0)), np.array([1], "f4")),
    (lambda a: np.choose(a, (np.float32(1), 4.0)), np.array([1])),
    (lambda a: np.choose(a, (1, 4)), np.array([1])),
    (lambda a: np.divide.reduce(a), np.ones(0)),
    (lambda a: np.subtract.reduce(a), np.ones(0)),
    (lambda a: np.logical_xor.reduce(a), np.ones(0)),
    (lambda a: np.bitwise_and.reduce(a), np.ones(0, "u1")),
    (lambda a: np.bitwise_and.reduce(a), np.ones(3, "u1")),
    (lambda a: np.bitwise_xor.reduce(a), np.ones(0, "u1")),
    (lambda a: np.equal.reduce(a), np.ones(3)),
    (lambda a: np.equal.reduce(a), np.ones(3, bool)),
    (lambda a: np.less.reduce(a), np.ones(3)),
    (lambda a: np.hypot.reduce(a), np.ones(0)),
    (lambda a: np.maximum.reduce(a), np.ones(0)),
    (lambda a: np.add.reduceat(a, []), np.ones(3)),
    (lambda a: np.add.reduceat(a, np.array([], int)), np.ones(3)),
    (lambda a: np.ones(a), np.array([2, 3])),
    (lambda a: np.zeros(a), np.array(2)),
    (lambda a: np.zeros((a[0], 2)), np.array([2])),
    (lambda a: np.add(a, 1, out=[1]), np.ones(2)),
    (lambda a: np.logical_xor.reduce(a), np.ones(3)),
    (lambda a: np.add.reduceat(a, [0, 5]), np.ones(3)),
]


ORDER = -np.inf
CASES += [
    *((lambda x, k=k: np.linalg.norm(x, k), TABLE) for k in (1, -1, 2, np.inf, -np.inf, "nuc")),
    (lambda x: np.linalg.matrix_norm(x, ord=1), TABLE), (scipy.special.logsumexp, TABLE),
    (lambda x: np.pad(x, "2"), LINE), (lambda x: np.pad(x, 2j), LINE),
    (lambda x: np.linalg.cond(x, ORDER), np.diag([1.0, 2.0, 5.0])),
    (lambda x: np.piecewise(x, np.array([1, 0]), [1]), np.array([0, 0])),
    (lambda x: np.linalg.svd(x, hermitian=True)[2], np.ones((2, 2), np.float32)),
    (lambda x: np.nanvar(x, ddof=0.5, correction=0.5), np.ones(3)),
]
HALF = np.float16(1.5)


def test_an_outer_number_of_a_dtype_that_is_not_captured_is_a_constant() -> None:
    global HALF
    with tracejit.config(disable_jit=True):
        program = tracejit.jit(lambda x: x * float(HALF) if HALF > 1 else x)
        np.testing.assert_array_equal(program(np.ones(2)), [1.5, 1.5])
        try:
            HALF = np.float16(0.5)
            np.testing.assert_array_equal(program(np.ones(2)), [1.0, 1.0])
        finally:
            HALF = np.float16(1.5)


def leaves(found: Any) -> list[Any]:
    if isinstance(found, (tuple, list)):
        return [x for part in found for x in leaves(part)]
    return [found]


def call(function: Any, x: np.ndarray) -> tuple[Any, Any, np.ndarray]:
    """Return the result of a call and its error, one of them None, and what became of the array."""
    own = x.copy(order="K")
    try:
        return function(own), None, own
    except Exception as error:
        return None, error, own


@pytest.mark.parametrize("case", range(len(CASES)))
def test_a_call_is_numpys(case: int) -> None:
    function, x = CASES[case]
    expected, error, written = call(function, x)
    with tracejit.config(disable_jit=True):
        found, failure, own = call(tracejit.jit(function), x)
    assert (failure is None) == (error is None), failure
    assert error is None or isinstance(error, type(failure)), failure
    for a, b in zip([*leaves(found), own], [*leaves(expected), written], strict=True):
        assert type(a) is type(b)
        if b is None or isinstance(b, (bool, np.dtype)):
            assert a == b
        else:
            assert np.result_type(a) == np.result_type(b)
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
