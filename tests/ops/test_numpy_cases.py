"""NumPy as users write it: values and types are NumPy's own, derivatives close to differences.

Each case is a function and arguments for it. The tables of captured functions say which cases must
exist, so that a function added to them without a case here fails a test.
"""

from __future__ import annotations

import cmath
import dataclasses
import functools
import math
import operator
import types
import warnings
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from linalg_cases import LINALG_CASES
from matrix_cases import MATRIX_CASES
from oracles import TOLERANCES, random_like
from scipy import special
from scipy_cases import EDGES, SPECIAL_CASES
from series_cases import SERIES_CASES

import tracejit
import tracejit.api
from tracejit.trace.ground.dispatch import FOREIGN, FUNCTIONS, METHODS, PROPERTIES, UFUNCS
from tracejit.trace.python.builtin_calls import BUILTINS
from tracejit.trace.values.equations import COMPOSITES

RNG = np.random.default_rng(20)
V = RNG.uniform(0.2, 0.9, 5)
W = RNG.uniform(-0.9, -0.2, 5) * np.array([1.0, -1.0, 1.0, 1.0, -1.0])
A = RNG.uniform(-1.0, 1.0, (3, 4))
B = RNG.uniform(-1.0, 1.0, (4, 3))
C = RNG.uniform(-1.0, 1.0, (2, 3, 4))
SQUARE = RNG.uniform(-1.0, 1.0, (3, 3)) + 2.0 * np.eye(3)
SPD = SQUARE @ SQUARE.T + np.eye(3)
B3 = RNG.uniform(-1.0, 1.0, 3)
IDX = np.array([2, 0, 2, 1])
MASK = np.array([True, False, True, True, False])
INTS = np.array([3, -1, 4, 1, 5])
Z = RNG.uniform(-1.0, 1.0, 5) + 1j * RNG.uniform(-1.0, 1.0, 5)
F32 = V.astype(np.float32)
HOLES = np.array([1.0, np.nan, 0.5, 2.0, np.nan])

Pair = namedtuple("Pair", ["left", "right"])


@dataclasses.dataclass
class Layer:
    """Two arrays and a number, as users group parameters."""

    weights: Any
    bias: Any
    scale: float = 2.0


# --- what equal means ---------------------------------------------------------------------------


def leaves(x: Any) -> list[Any]:
    """Return the numbers and arrays in nested containers."""
    if isinstance(x, (list, tuple)):
        return [leaf for part in x for leaf in leaves(part)]
    if isinstance(x, dict):
        return [leaf for part in x.values() for leaf in leaves(part)]
    if dataclasses.is_dataclass(x):
        return [leaf for f in dataclasses.fields(x) for leaf in leaves(getattr(x, f.name))]
    return [x]


def mapped(fn: Callable[[Any], Any], x: Any) -> Any:
    """Return nested containers with a function applied to their leaves."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(mapped(fn, part) for part in x))
    if isinstance(x, (list, tuple)):
        return type(x)(mapped(fn, part) for part in x)
    if isinstance(x, dict):
        return {k: mapped(fn, part) for k, part in x.items()}
    if dataclasses.is_dataclass(x):
        return dataclasses.replace(x, **{f.name: mapped(fn, getattr(x, f.name))
                                         for f in dataclasses.fields(x)})
    return fn(x)


def copied(x: Any) -> Any:
    """Return arguments whose arrays may be written to."""
    return mapped(lambda a: a.copy() if isinstance(a, np.ndarray) else a, x)


def is_floating(x: Any) -> bool:
    """Whether a leaf has derivatives."""
    return isinstance(x,
                      (float, complex, np.ndarray, np.generic)) and np.asarray(x).dtype.kind in "fc"


def assert_identical(actual: Any, expected: Any, what: str = "the result") -> None:
    """Assert that a result equals NumPy's: structure, types, dtypes, shapes, numbers."""
    if not isinstance(expected, bool):  # a truth value that depends on data is NumPy's
        assert type(actual) is type(expected), f"{what}: {type(actual)} is not {type(expected)}"
    if isinstance(expected, (list, tuple, dict)) or dataclasses.is_dataclass(expected):
        if isinstance(expected, dict):
            assert list(actual) == list(expected), what
        parts = zip(leaves(actual), leaves(expected), strict=True)
        for k, (a, e) in enumerate(parts):
            assert_identical(a, e, f"{what}, leaf {k}")
        return
    if not isinstance(expected, (int, float, complex, np.ndarray, np.generic)):
        assert actual == expected, what
        return
    a, e = np.asarray(actual), np.asarray(expected)
    assert a.dtype == e.dtype, f"{what}: {a.dtype} is not {e.dtype}"
    assert a.shape == e.shape, f"{what}: {a.shape} is not {e.shape}"
    if e.dtype.kind not in "fc":
        np.testing.assert_array_equal(a, e, what)
        return
    tolerance = TOLERANCES[e.dtype.str[1:]]
    np.testing.assert_allclose(a, e, rtol=tolerance, atol=tolerance, err_msg=what)


def _wide(x: Any) -> Any:
    """Return a leaf in double precision."""
    wide = {np.dtype(np.float32): np.float64, np.dtype(np.complex64): np.complex128}
    dtype = getattr(x, "dtype", None)
    return x.astype(wide[dtype]) if dtype in wide else x


def check_case(fn: Callable[..., Any], args: tuple[Any, ...], *, forward: bool = True) -> None:
    """Check values, types and derivatives of a function in both modes, along one direction."""
    expected = fn(*copied(args))
    value, pullback = tracejit.vjp(fn, *copied(args))
    assert_identical(value, expected)
    if not any(map(is_floating, leaves(args))) or not any(map(is_floating, leaves(expected))):
        return
    rng = np.random.default_rng(1)
    cts = mapped(lambda y: random_like(rng, y) if is_floating(y) else np.zeros_like(y), expected)
    dots = mapped(lambda x: random_like(rng, x) if is_floating(x) else np.zeros_like(x), args)
    wide = mapped(_wide, args)

    def moved(t: float) -> list[np.ndarray]:
        steps = iter(leaves(dots))

        def move(x: Any) -> Any:
            d = next(steps)
            return type(x)(x + t * d) if type(x) in (float, complex) else (
                x + t * _wide(d) if is_floating(x) else x)

        return [np.asarray(y) for y in leaves(fn(*copied(mapped(move, wide))))]

    step = 1e-4
    near, far = zip(moved(step), moved(-step), strict=True), zip(moved(2 * step), moved(-2 * step),
                                                                 strict=True)
    slopes = [(8 * (a - b) - (c - d)) / (12 * step) if a.dtype.kind in "fc" else None
              for (a, b), (c, d) in zip(near, far, strict=True)]
    single = any(np.asarray(x).dtype in (np.float32, np.complex64) for x in leaves((args,
                                                                                    expected)))
    tolerance = 3e-4 if single else 1e-7
    bars = pullback(cts)
    got = sum(np.real(np.vdot(bar, dot)) for bar, dot in zip(leaves(bars), leaves(dots),
                                                             strict=True)
              if bar is not None)
    wanted = sum(np.real(np.vdot(ct, s)) for ct, s in zip(leaves(cts), slopes, strict=True)
                 if s is not None)
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance, err_msg="the pullback")
    for bar, x in zip(leaves(bars), leaves(args), strict=True):
        if is_floating(x):
            assert_type_like(bar, x)
    if forward:
        value, tangent = tracejit.jvp(fn, copied(args), dots)
        assert_identical(value, expected, "the value beside the tangent")
        for t, s in zip(leaves(tangent), slopes, strict=True):
            if s is not None:
                np.testing.assert_allclose(t, s, rtol=tolerance, atol=tolerance,
                                           err_msg="the tangent")


def assert_type_like(bar: Any, x: Any) -> None:
    """Assert that a cotangent has the type, dtype and shape of its primal."""
    assert type(bar) is type(x) or np.ndim(x) == 0
    assert np.asarray(bar).dtype == np.asarray(x).dtype
    assert np.shape(bar) == np.shape(x)


# --- ufuncs: generated from the table -----------------------------------------------------------

DOMAINS = {np.arccosh: (1.1, 3.0), np.arcsin: (-0.9, 0.9), np.arccos: (-0.9, 0.9),
           np.arctanh: (-0.9, 0.9), np.log: (0.2, 3.0), np.log2: (0.2, 3.0), np.log10: (0.2, 3.0),
           np.log1p: (-0.5, 3.0), np.sqrt: (0.2, 3.0), np.power: (0.2, 2.0),
           np.float_power: (0.2, 2.0), np.fmod: (0.6, 2.0), np.remainder: (0.6, 2.0),
           np.floor_divide: (0.6, 2.0), np.divmod: (0.6, 2.0),
           np.divide: (0.6, 2.0)}
"""Where to test ufuncs that are not defined, or not smooth, everywhere on (-2, 2)."""

ROTATION = np.array([[0.3, -1.0, 0.2], [1.5, 0.1, 0.4], [0.0, 0.2, 1.0]])
OPERANDS = {"f8": float, "f4": np.float32, "i8": np.int64, "c16": complex, "b": bool}


def operand(ufunc: Any, dtype: Any, k: int, shape: Any = (4,)) -> Any:
    """Return an operand in the domain of a ufunc."""
    low, high = DOMAINS.get(ufunc, (-2.0, 2.0))
    rng = np.random.default_rng(7 + k)
    x = rng.uniform(low, high, shape)
    if dtype is bool:
        return x > 0
    if dtype is complex:
        return x + 1j * rng.uniform(-1.0, 1.0, shape)
    if dtype is np.int64:
        return rng.integers(1, 5, shape)
    return x.astype(dtype)


def ufunc_cases() -> Iterator[Any]:
    """Yield each captured ufunc with each dtype that NumPy takes, and mixtures of operands."""
    for ufunc in sorted({*UFUNCS, *COMPOSITES}, key=lambda u: u.__name__):
        if ufunc is np.matmul:
            continue  # among the functions below
        for name, dtype in OPERANDS.items():
            for label, operands in _mixtures(ufunc, dtype):
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    try:
                        ufunc(*operands)
                    except (TypeError, RuntimeWarning):  # not defined for these operands
                        continue
                if ufunc is np.nextafter and dtype is bool:
                    continue  # of float16: refused, see test_messages.py
                yield pytest.param(ufunc, operands, id=f"{ufunc.__name__}-{name}-{label}")


def _mixtures(ufunc: Any, dtype: Any) -> Iterator[tuple[str, tuple[Any, ...]]]:
    x, y = operand(ufunc, dtype, 0), operand(ufunc, dtype, 1, (3, 1))
    scalar = operand(ufunc, dtype, 2)[1]
    if ufunc.nin == 1:
        yield from (("array", (x,)), ("scalar", (scalar,)), ("number", (scalar.item(),)))
        return
    yield from (("arrays", (x, y)), ("array-scalar", (x, scalar)),
                ("number-array", (scalar.item(), x)))
    if dtype is not bool:
        yield "array-int", (x, 2)
        yield "array-double", (x, operand(ufunc, np.float64, 4))


@pytest.mark.parametrize(("ufunc", "operands"), list(ufunc_cases()))
def test_ufuncs_are_numpys(ufunc: Any, operands: tuple[Any, ...]) -> None:
    with tracejit.config(disable_jit=True):
        check_case(lambda *xs: ufunc(*xs), operands)


# --- functions, methods and attributes: a case for every entry of the tables ----------------------

BUILTIN_AT = np.ufunc.at

FUNCTION_CASES: dict[Any, list[tuple[Any, ...]]] = {
    # reductions
    np.sum: [(lambda x: np.sum(x), A), (lambda x: np.sum(x, axis=0), A),
             (lambda x: np.sum(x, axis=(0, 2), keepdims=True), C), (lambda x: np.sum(x, -1), C),
             (lambda x: np.sum(x), INTS), (lambda x: np.sum(x), MASK), (lambda x: np.sum(x), F32),
             (lambda x: np.sum(x, dtype=np.float64), F32), (lambda x: np.sum(x, initial=2.0), V),
             (lambda x: np.sum(x, where=x > 0.0), A), (lambda x: np.sum(x), Z)],
    np.prod: [(lambda x: np.prod(x), V), (lambda x: np.prod(x, axis=1), A),
              (lambda x: np.prod(x), INTS)],
    np.mean: [(lambda x: np.mean(x), A), (lambda x: np.mean(x, 1), A), (lambda x: np.mean(x), INTS),
              (lambda x: np.mean(x, axis=0, keepdims=True), F32)],
    np.average: [(lambda x: np.average(x), A), (lambda x, w: np.average(x, weights=w), V,
                                                V[::-1].copy()),
                 (lambda x, w: np.average(x, axis=0, weights=w), A, V[:3].copy())],
    np.var: [(lambda x: np.var(x), A), (lambda x: np.var(x, axis=0, ddof=1), A)],
    np.std: [(lambda x: np.std(x), A), (lambda x: np.std(x, axis=1, keepdims=True), A)],
    np.max: [(lambda x: np.max(x), A), (lambda x: np.max(x, axis=1), A),
             (lambda x: np.max(x), INTS),
             (lambda x: np.max(x, axis=0, keepdims=True), A)],
    np.min: [(lambda x: np.min(x), A), (lambda x: np.min(x, axis=0), A)],
    np.amax: [(lambda x: np.amax(x, 0), A)], np.amin: [(lambda x: np.amin(x, 0), A)],
    np.ptp: [(lambda x: np.ptp(x), A), (lambda x: np.ptp(x, axis=1), A)],
    np.argmax: [(lambda x: np.argmax(x), A), (lambda x: np.argmax(x, axis=1), A)],
    np.argmin: [(lambda x: np.argmin(x), A), (lambda x: np.argmin(x, axis=0), A)],
    np.all: [(lambda x: np.all(x > -2.0), A), (lambda x: np.all(x > 0.0, axis=0), A)],
    np.any: [(lambda x: np.any(x > 0.9), A), (lambda x: np.any(x > 0.0, axis=1), A)],
    np.count_nonzero: [(lambda x: np.count_nonzero(x > 0.0), A),
                       (lambda x: np.count_nonzero(x, axis=0), A)],
    np.nansum: [(lambda x: np.nansum(x), HOLES)], np.nanmean: [(lambda x: np.nanmean(x), HOLES)],
    np.nanmax: [(lambda x: np.nanmax(x), HOLES)], np.nanmin: [(lambda x: np.nanmin(x), HOLES)],
    np.cumsum: [(lambda x: np.cumsum(x), V), (lambda x: np.cumsum(x, axis=1), A),
                (lambda x: np.cumsum(x), A), (lambda x: np.cumsum(x), INTS)],
    np.cumprod: [(lambda x: np.cumprod(x), V), (lambda x: np.cumprod(x, axis=0), A)],
    np.diff: [(lambda x: np.diff(x), V), (lambda x: np.diff(x, axis=0), A),
              (lambda x: np.diff(x, n=2), V),
              (lambda x, y: np.diff(x, 0, prepend=y, append=y), V, V)],
    np.trapezoid: [(lambda y: np.trapezoid(y), V), (lambda y, x: np.trapezoid(y, x), V,
                                                    np.cumsum(V)),
                   (lambda y: np.trapezoid(y, dx=0.5, axis=0), A)],
    np.gradient: [(lambda x: np.gradient(x), V), (lambda x: np.gradient(x, 0.5), V),
                  (lambda x: np.gradient(x, axis=1), A), (lambda x: np.gradient(x), A)],
    np.cov: [(lambda x: np.cov(x), A), (lambda x: np.cov(x, rowvar=False), A)],
    np.median: [(lambda x: np.median(x), V), (lambda x: np.median(x, axis=1), A)],
    np.quantile: [(lambda x: np.quantile(x, 0.3), V),
                  (lambda x: np.quantile(x, [0.0, 0.55, 1.0]), V),
                  (lambda x: np.quantile(x, 0.4, axis=1), A), (lambda x: np.quantile(x, 0.9), INTS),
                  (lambda x, q: np.quantile(x, q, axis=0, keepdims=True), A, 0.35),
                  (lambda x: np.quantile(x, [[0.1, 0.7]], axis=0, keepdims=True), A)],
    np.percentile: [(lambda x: np.percentile(x, 30), V),
                    (lambda x: np.percentile(x, (5, 95.5), axis=0), A)],
    np.corrcoef: [(lambda x: np.corrcoef(x), A),
                  (lambda x, y: np.corrcoef(x, y, rowvar=False), B, B),
                  (lambda x: np.corrcoef(x), V)],
    np.polyval: [(lambda p, x: np.polyval(p, x), V, 0.7), (lambda p, x: np.polyval(p, x), V, A),
                 (lambda p: np.polyval(p, 3), INTS), (lambda x: np.polyval([1, 2, 3.5], x), V)],
    # shapes
    np.reshape: [(lambda x: np.reshape(x, (4, 3)), A), (lambda x: np.reshape(x, -1), A),
                 (lambda x: np.reshape(x, (2, -1)), A), (lambda x: np.reshape(x, (4, 3), order="F"),
                                                         A)],
    np.ravel: [(lambda x: np.ravel(x), A), (lambda x: np.ravel(x, order="F"), A)],
    np.expand_dims: [(lambda x: np.expand_dims(x, 1), A),
                     (lambda x: np.expand_dims(x, (0, -1)), A)],
    np.squeeze: [(lambda x: np.squeeze(x[None]), A), (lambda x: np.squeeze(x[:, None], axis=1), V)],
    np.atleast_1d: [(lambda x: np.atleast_1d(x), 0.5), (lambda x: np.atleast_1d(x), V)],
    np.atleast_2d: [(lambda x: np.atleast_2d(x), V), (lambda x: np.atleast_2d(x), 0.5)],
    np.transpose: [(lambda x: np.transpose(x), A), (lambda x: np.transpose(x, (1, 2, 0)), C)],
    np.permute_dims: [(lambda x: np.permute_dims(x, (2, 0, 1)), C)],
    np.swapaxes: [(lambda x: np.swapaxes(x, 0, 2), C)],
    np.moveaxis: [(lambda x: np.moveaxis(x, 0, -1), C), (lambda x: np.moveaxis(x, (0, 1), (-1, 0)),
                                                         C)],
    np.broadcast_to: [(lambda x: np.broadcast_to(x, (3, 5)), V),
                      (lambda x: np.broadcast_to(x[:, None], (5, 2)), V)],
    np.concatenate: [(lambda x, y: np.concatenate([x, y]), V, W),
                     (lambda x: np.concatenate([x, x[:1]], axis=0), A),
                     (lambda x, y: np.concatenate((x, y.T), axis=1), A, B),
                     (lambda x: np.concatenate((x, x), axis=None), A),
                     (lambda x, y: np.concatenate([x, y]), V, INTS),
                     (lambda x, y: np.concatenate([x, y]), V, F32)],
    np.stack: [(lambda x, y: np.stack([x, y]), V, W), (lambda x, y: np.stack((x, y), axis=1), V, W),
               (lambda x, y: np.stack([x, y], axis=-1), V, INTS)],
    np.vstack: [(lambda x, y: np.vstack([x, y]), V, W)],
    np.hstack: [(lambda x, y: np.hstack([x, y]), V, W), (lambda x: np.hstack([x, x]), A)],
    np.column_stack: [(lambda x, y: np.column_stack([x, y]), V, W),
                      (lambda x: np.column_stack(x), V)],
    np.append: [(lambda x, y: np.append(x, y), V, W), (lambda x: np.append(x, 1.0), V)],
    np.split: [(lambda x: np.split(x, 2, axis=1), A), (lambda x: np.split(x, [1, 3]), V),
               (lambda x: np.split(x, np.cumsum((1, 2))), V),
               (lambda x: np.split(x, range(1, x.shape[0], 2)), V)],
    np.array_split: [(lambda x: np.array_split(x, [2]), V), (lambda x: np.array_split(x, 2), V)],
    np.flip: [(lambda x: np.flip(x), A), (lambda x: np.flip(x, axis=1), A)],
    np.fliplr: [(lambda x: np.fliplr(x), A)], np.flipud: [(lambda x: np.flipud(x), A)],
    np.roll: [(lambda x: np.roll(x, 2), V), (lambda x: np.roll(x, -1, axis=1), A),
              (lambda x: np.roll(x, 3), A), (lambda x: np.roll(x, 12), V),
              (lambda x: np.roll(x, 0), V),
              (lambda x: np.roll(x, 1, axis=(0, 1)), A), (lambda x, k: np.roll(x, k), V, 3),
              (lambda x: x[:0] + np.roll(x[:0], 1), V), (lambda x: np.roll(x, 1) * x, V),
              (lambda x: np.roll(x, (1, 2), axis=(0, 1)), A)],
    np.pad: [(lambda x: np.pad(x, 2), V), (lambda x: np.pad(x, ((1, 0), (2, 1))), A),
             (lambda x: np.pad(x, (1, 2), mode="edge"), V),
             (lambda x: np.pad(x, 2, mode="wrap"), V),
             (lambda x: np.pad(x, 2, mode="reflect"), V),
             (lambda x: np.pad(x, 2, mode="symmetric"), V),
             (lambda x: np.pad(x, 1, constant_values=3.0), V)],
    np.tile: [(lambda x: np.tile(x, 3), V), (lambda x: np.tile(x, (2, 2)), A)],
    np.repeat: [(lambda x: np.repeat(x, 2), A), (lambda x: np.repeat(x, 2, axis=0), A)],
    np.isscalar: [(lambda x: x * (2.0 if np.isscalar(x) else 3.0), V)],
    np.result_type: [(lambda x: x.astype(np.result_type(x, np.float32, 1)), F32), (
        lambda x, k: x.astype(np.result_type(x, k, 2j)), V, 0.5)],
    np.can_cast: [(lambda x: x * (2.0 if np.can_cast(x.dtype, np.float32) else 3.0), V)],
    np.from_dlpack: [(lambda x: np.from_dlpack(x * 2.0), A),
                     (lambda x: np.from_dlpack(x, device="cpu", copy=True), V)],
    np.astype: [(lambda x: np.astype(x, np.float32), V), (
        lambda x: np.astype(np.sum(x), np.float32), V)],
    np.broadcast_shapes: [(lambda x, y: np.ones(np.broadcast_shapes(x.shape, y[:1].shape)) * x, A,
                           V)],
    np.iterable: [(lambda x: x * (2.0 if np.iterable(x) else 3.0), V)],
    np.i0: [(np.i0, V), (np.i0, F32)],
    np.shape: [(lambda x: np.shape(x), A)], np.ndim: [(lambda x: np.ndim(x) * x, V)],
    np.size: [(lambda x: np.size(x) * x, A), (lambda x: np.size(x, 1) * x, A)],
    # creation
    np.zeros: [(lambda x: np.zeros(3) + x, 0.5), (lambda x: np.zeros((2, len(x))) + x, V),
               (lambda n: np.zeros(n, dtype=np.int64), 3),
               (lambda x: np.zeros(x.shape, np.float32), A)],
    np.ones: [(lambda x: np.ones((len(x), 2)) * x[:, None], V), (lambda x: np.ones(3, int), 1.0)],
    np.empty: [(lambda x: _filled(np.empty(5), x), V)],
    np.ndarray: [(lambda x: _filled(np.ndarray((5,)), x), V)],
    np.full: [(lambda x: np.full((2, 3), x), 0.5), (lambda x: np.full(3, 7), 0.5),
              (lambda x: np.full((2, 5), x), V), (lambda x: np.full(2, 1, dtype=float), 0.5)],
    np.zeros_like: [(lambda x: np.zeros_like(x) + x, A), (lambda x: np.zeros_like(x), INTS),
                    (lambda x: np.zeros_like(x, dtype=np.float32), A)],
    np.ones_like: [(lambda x: np.ones_like(x) * x, A)],
    np.full_like: [(lambda x: np.full_like(x, 2.5) * x, A), (lambda x: np.full_like(x, 2.5), INTS)],
    np.empty_like: [(lambda x: _filled(np.empty_like(x), x), V)],
    np.array: [(lambda x: np.array([x, 2.0 * x, 1.0]), 0.5), (lambda x: np.array(x) * 2.0, V),
               (lambda x: np.array([[x[0], 0.0], [1, x[1]]]), V), (lambda x: np.array([x, x]), V),
               (lambda x: np.array([1, 2, 3]), V), (lambda x: np.array([1, x]), 0.5),
               (lambda x: np.array(x, dtype=np.float32), V), (lambda x: np.array(x, ndmin=2), V)],
    np.asarray: [(lambda x: np.asarray(x) + 1.0, V), (lambda x: np.asarray([x[0], x[1]]), V)],
    np.asanyarray: [(lambda x: np.asanyarray(x), V)],
    np.ascontiguousarray: [(lambda x: np.ascontiguousarray(x.T), A)],
    np.asfortranarray: [(lambda x: np.asfortranarray(x) * 2.0, A)],
    np.copy: [(lambda x: _filled(np.copy(x), 2.0 * x), V)],
    np.copyto: [(lambda x: _copyto(np.zeros(5), x), V),
                (lambda x: _copyto(np.ones(5), x, where=x > 0.5), V)],
    np.arange: [(lambda x: np.arange(len(x)) * x, V), (lambda x: np.arange(1.0, 2.0, 0.25), 0.5),
                (lambda x: np.arange(2, 9, 3), 1.0), (lambda n: np.arange(n, 0, -1), 4),
                (lambda n: np.arange(n), 4), (lambda n: np.arange(n, dtype=float), 4),
                (lambda x: np.arange(3.0), 0.5)],
    np.linspace: [(lambda x: np.linspace(0.0, x, 5), 2.0),
                  (lambda x: np.linspace(x, 1.0, 4, endpoint=False), 0.5),
                  (lambda x: np.linspace(0, 1, len(x)) * x, V),
                  (lambda x: np.linspace(0.0, x, 3, retstep=True), 2.0)],
    np.eye: [(lambda x: np.eye(3) * x, 0.5), (lambda x: np.eye(2, 4, k=1) * x, 0.5),
             (lambda x: np.eye(len(x)) @ x, V), (lambda x: np.eye(2, dtype=int), 0.5)],
    np.identity: [(lambda x: np.identity(3) * x, 0.5)],
    np.tri: [(lambda x: np.tri(5) @ x, V), (lambda x: np.tri(2, 3, 1), V)],
    np.indices: [(lambda x: np.indices((2, 3)) * x, 0.5)],
    np.fromfunction: [(lambda x: np.fromfunction(lambda i, j: x * i + j, (2, 3)), 0.5)],
    np.meshgrid: [(lambda x, y: np.meshgrid(x, y), V, B3),
                  (lambda x, y: np.meshgrid(x, y, indexing="ij"), V, B3)],
    # elementwise with more to say
    np.where: [(lambda x: np.where(x > 0.0, x, 2.0 * x), A), (lambda x: np.where(x > 0.0, 1, 0), A),
               (lambda x, y: np.where(x > 0.5, x, y), V, F32),
               (lambda x: np.where(x > 0.5, x, 0.0), F32),
               (lambda x: np.where(x[:, None] > 0.5, x, -x), V),
               (lambda x: np.where(x > 0.0, np.log(np.where(x > 0.0, x, 1.0)), 0.0), A)],
    np.select: [(lambda x: np.select([x > 0.7, x > 0.2], [x * x, 3.0 * x], 0.5 * x), A),
                (lambda x, y: np.select([x > 0.5], [x]) * y, F32, V),
                (lambda x: np.select([x[:, None] > 0.5, x > 0.1], [x, 2], 7), V),
                (lambda x: np.select((x > 0.9, x > 0.9), (1, 2)), A)],
    np.clip: [(lambda x: np.clip(x, -0.5, 0.5), A), (lambda x: np.clip(x, 0.0, None), A),
              (lambda x: np.clip(x, None, x.mean()), A), (lambda x: np.clip(x, 0, 3), INTS)],
    np.round: [(lambda x: np.round(x), A), (lambda x: np.round(x, 1), A),
               (lambda x: np.round(x), INTS)],
    np.around: [(lambda x: np.around(x, 1), A)],
    np.nan_to_num: [(lambda x: np.nan_to_num(x), HOLES),
                    (lambda x: np.nan_to_num(x, nan=3.0), HOLES)],
    np.sinc: [(lambda x: np.sinc(x), V)],
    np.random.default_rng: [(lambda x: np.random.default_rng(3).random() * x, V)],
    np.array_equal: [(lambda x: np.array_equal(x, x), V),
                     (lambda x, y: np.array_equal(x, y), V, W)],
    np.vander: [(lambda x: np.vander(x), V), (lambda x: np.vander(x, 2, increasing=True), V)],
    np.hanning: [(lambda x: np.hanning(5) * x[0], V)],
    np.hamming: [(lambda x: np.hamming(5) * x[0], V)],
    np.blackman: [(lambda x: np.blackman(5) * x[0], V)],
    np.bartlett: [(lambda x: np.bartlett(5) * x[0], V)],
    np.real: [(lambda x: np.real(x), Z), (lambda x: np.real(x), V)],
    np.imag: [(lambda x: np.imag(x), Z), (lambda x: np.imag(x), V)],
    np.angle: [(lambda x: np.angle(x), Z)],
    np.isclose: [(lambda x, y: np.isclose(x, y), V, V + 1e-12), (lambda x: np.isclose(x, 0.5), V)],
    np.allclose: [(lambda x, y: np.allclose(x, y), V, V + 1e-12),
                  (lambda x, y: np.allclose(x, y), V, W)],
    # linear algebra
    np.dot: [(lambda x, y: np.dot(x, y), V, W), (lambda x, y: np.dot(x, y), A, B),
             (lambda x, y: np.dot(x, y), A, V[:4].copy()), (lambda x: np.dot(x, 2.0), A)],
    np.matmul: [(lambda x, y: np.matmul(x, y), A, B), (lambda x, y: np.matmul(x, y), C, B),
                (lambda x, y: np.matmul(x, y), B3, A), (lambda x, y: np.matmul(x, y), V, W)],
    np.vdot: [(lambda x, y: np.vdot(x, y), V, W), (lambda x, y: np.vdot(x, y), Z, Z[::-1].copy())],
    np.inner: [(lambda x, y: np.inner(x, y), V, W), (lambda x: np.inner(x, x), A)],
    np.outer: [(lambda x, y: np.outer(x, y), V, B3)],
    np.tensordot: [(lambda x, y: np.tensordot(x, y, 1), A, B),
                   (lambda x, y: np.tensordot(x, y, axes=([1, 2], [1, 0])), C, B)],
    np.einsum: [(lambda x, y: np.einsum("ij,jk->ik", x, y), A, B),
                (lambda x: np.einsum("ii", x), SQUARE),
                (lambda x: np.einsum("ij->j", x), A), (lambda x, y: np.einsum("ij,ji", x, y), A, B),
                (lambda x, y: np.einsum("bij,jk->bik", x, y), C, B),
                (lambda x: np.einsum("ij->ji", x), A),
                (lambda x, y: np.einsum("...j,jk->...k", x, y), C, B),
                (lambda x: np.einsum("ii->i", x), SQUARE),
                (lambda x, y, z: np.einsum("i,ij,j->", x, y, z), B3, A, V[:4].copy())],
    np.trace: [(lambda x: np.trace(x), SQUARE), (lambda x: np.trace(x, offset=1), A)],
    np.diag: [(lambda x: np.diag(x), SQUARE), (lambda x: np.diag(x), V),
              (lambda x: np.diag(x, 1), B3)],
    np.lib.stride_tricks.sliding_window_view: [
        (lambda x, n=n, axis=axis: np.lib.stride_tricks.sliding_window_view(x, n, axis), x)
        for x, n, axis in ((V, 3, None), (V, 0, None), (A, (2, 2), None), (A, 2, 0),
                           (A, (2, 2), (1, 1)), (A, (2, 3), (0, -1)), (INTS, 2, None))] + [
        (lambda x: np.lib.stride_tricks.sliding_window_view(x, len(x) // 2).mean(axis=-1), V)],
    np.diagonal: [(lambda x: np.diagonal(x), A), (lambda x: np.diagonal(x, 1), A)],
    np.tril: [(lambda x: np.tril(x), SQUARE), (lambda x: np.tril(x, -1), SQUARE)],
    np.triu: [(lambda x: np.triu(x), A), (lambda x: np.triu(x, 1), A)],
    np.linalg.norm: [(lambda x: np.linalg.norm(x), V), (lambda x: np.linalg.norm(x), A),
                     (lambda x: np.linalg.norm(x, axis=1), A), (lambda x: np.linalg.norm(x, 1), V),
                     (lambda x: np.linalg.norm(x, np.inf), V),
                     (lambda x: np.linalg.norm(x, ord=3), V),
                     (lambda x: np.linalg.norm(x, "fro"), A)],
    np.linalg.cholesky: [(lambda x: np.linalg.cholesky((x + x.T) / 2.0), SPD)],
    np.linalg.solve: [(lambda a, b: np.linalg.solve(a, b), SQUARE, B3),
                      (lambda a, b: np.linalg.solve(a, b), SQUARE, A)],
    np.linalg.inv: [(lambda a: np.linalg.inv(a), SQUARE)],
    np.linalg.det: [(lambda a: np.linalg.det(a), SQUARE)],
    np.linalg.slogdet: [(lambda a: np.linalg.slogdet(a)[1], SQUARE),
                        (lambda a: tuple(np.linalg.slogdet(a)), SQUARE)],
    np.cross: [(lambda x, y: np.cross(x, y), B3, V[:3].copy()),
               (lambda x: np.cross(x[:, :3], x[:, 1:]), A)],
    np.kron: [(lambda x, y: np.kron(x, y), A, SQUARE), (lambda x: np.kron(x, x), V)],
    # selection
    BUILTIN_AT: [(lambda x: _add_at(np.zeros(3), IDX, x), V[:4].copy()),
                 (lambda x: _add_at(np.zeros(3), (np.array([0, 0, 1]),), x), B3),
                 (lambda x: _add_at(np.zeros((3, 4)), IDX, x), A[0].copy())],
    np.take: [(lambda x: np.take(x, IDX), V), (lambda x: np.take(x, IDX, axis=1), A),
              (lambda x: np.take(x, 2, axis=0), A), (lambda x: np.take(x, IDX + 1, mode="wrap"),
                                                     B3)],
    np.ix_: [(lambda x: x[np.ix_([1, 0], [0, 2, 0])], A),
             (lambda x: x[np.ix_(np.argsort(x[:, 0]), [2, 1])], A)],
    np.tril_indices: [(lambda x: x[np.tril_indices(len(x))], A),
                      (lambda x: x[np.tril_indices(len(x), -1, x.shape[1])], A @ A.T),
                      (lambda x: x[np.tril_indices(len(x), 1)], A @ A.T)],
    np.triu_indices: [(lambda x: x[np.triu_indices(len(x), 1)], A @ A.T),
                      (lambda x: x[np.triu_indices(len(x), 1, x.shape[1])], A),
                      (lambda x: x[np.triu_indices(len(x), -1)], A @ A.T)],
    np.tril_indices_from: [(lambda x: x[np.tril_indices_from(x, -1)], A @ A.T)],
    np.triu_indices_from: [(lambda x: x[np.triu_indices_from(x)], A @ A.T)],
    np.diag_indices: [(lambda x: x[np.diag_indices(len(x))], A @ A.T)],
    np.diag_indices_from: [(lambda x: x[np.diag_indices_from(x)], A @ A.T)],
    np.convolve: [(lambda x, m=m, v=v: np.convolve(x, v, m), V)
                  for m in ("full", "same", "valid") for v in ([0.5, 2.0], np.ones(9), [1.5])] + [
                  (lambda x: np.convolve(x[0], x[1, :3], "same"), A)],
    np.correlate: [(lambda x, m=m, k=k: np.correlate(x[0], x[1, :k], m), A)
                   for m in ("full", "same", "valid") for k in (1, 2, 3)] + [
                   (lambda x: np.correlate(x[0, :2], x[1], "same"), A)],
    np.polyder: [(np.polyder, V), (lambda x: np.polyder(x, 2), V)],
    np.rot90: [(lambda x, k=k: np.rot90(x, k), A) for k in range(-1, 5)] + [
               (lambda x: np.rot90(x[:, None] * x, 1, (2, 0)), A)],
    np.block: [(lambda x: np.block([[x, x[:, :1]], [x[:1] * 2.0, 1.0]]), A),
               (lambda x: np.block([x[0], x[1, :2]]), A), (np.block, A),
               (lambda x: np.block([[x], [np.ones((2, 4))]]), A)],
    np.dstack: [(lambda x: np.dstack([x, x * x]), A), (lambda x: np.dstack([x, 2.0 * x]), V)],
    np.vsplit: [(lambda x: np.vsplit(x, 3)[1], A)],
    np.dsplit: [(lambda x: np.dsplit(x[None], 2)[1], A)],
    np.hsplit: [(lambda x: np.hsplit(x, 2)[1], A), (lambda x: np.hsplit(x, [1, 3])[1], V)],
    np.piecewise: [(lambda x: np.piecewise(x, [x < -0.2, x > 0.4], [np.sin, lambda t: t**2, 1.5]),
                    V),
                   (lambda x: np.piecewise(x, [x < 0.0], [0.0, lambda t, a: t * a], 3.0), V)],
    np.unravel_index: [(lambda x: x[np.unravel_index(np.argmax(x), x.shape)], A)],
    np.linalg.matmul: [(lambda x: np.linalg.matmul(x, x.T), A)],
    np.linalg.outer: [(lambda x: np.linalg.outer(x, x), V)],
    np.linalg.tensordot: [(lambda x: np.linalg.tensordot(x, x, axes=1), A @ A.T)],
    np.linalg.trace: [(lambda x: np.linalg.trace(x, offset=1), A)],
    np.linalg.diagonal: [(lambda x: np.linalg.diagonal(x, offset=1), A)],
    np.linalg.matrix_transpose: [(lambda x: np.linalg.matrix_transpose(x[:, None] * x), A)],
    np.matrix_transpose: [(np.matrix_transpose, A)],
    np.linalg.multi_dot: [(lambda x: np.linalg.multi_dot([x, x.T, x]), A)],
    np.linalg.matrix_power: [(lambda x, n=n: np.linalg.matrix_power(x, n), A @ A.T + np.eye(3))
                             for n in (0, 1, 2, 5, -2)],
    np.fill_diagonal: [(lambda x: _fill_diagonal(np.ones((4, 3)), x[:3]), V),
                       (lambda x: _fill_diagonal(x * x, x[0, 1]), A)],
    np.take_along_axis: [(lambda x: np.take_along_axis(x, np.argsort(x, axis=1), axis=1), A)],
    np.argsort: [(lambda x: np.argsort(x), V), (lambda x: np.argsort(x, axis=0), A)],
    np.delete: [(lambda x: np.delete(x, 1), V), (lambda x, j: np.delete(x, j, axis=1), A, 2),
                (lambda x: np.delete(x, -1, 0), A), (lambda x: np.delete(x, slice(1, 3)), V),
                (lambda x: np.delete(x, slice(None, None, 2), 1), A),
                (lambda x: np.delete(x, [0, 2]), V), (lambda x: np.delete(x, 3), A),
                (lambda x: np.delete(x, MASK), V)],
    np.insert: [(lambda x, y: np.insert(x, 1, y), V, 0.5), (lambda x: np.insert(x, [0, 3], 2.0), V),
                (lambda x, y: np.insert(x, 1, y[:3], axis=1), A, V),
                (lambda x: np.insert(x, -1, x[:1], axis=0), A)],
    np.compress: [(lambda x: np.compress([True, False, True], x, axis=0), A),
                  (lambda x: np.compress(MASK, x), V)],
    np.nonzero: [(lambda x: x[np.nonzero(MASK)], V)],
    np.fft.fftfreq: [(lambda x: x * np.fft.fftfreq(len(x)), V),
                     (lambda x, d: x * np.fft.fftfreq(len(x), d), V, 0.5)],
    np.fft.rfftfreq: [(lambda x: x[0] * np.fft.rfftfreq(len(x)), V),
                      (lambda x, n: x[0] * np.fft.rfftfreq(n, 0.1), V, 6)],
    np.fft.fftshift: [(lambda x: np.fft.fftshift(x), V), (lambda x: np.fft.fftshift(x), A),
                      (lambda x: np.fft.fftshift(x, axes=1), A)],
    np.fft.ifftshift: [(lambda x: np.fft.ifftshift(x), V), (lambda x: np.fft.ifftshift(x, 0), A)],
    np.unique: [(lambda x: x[np.unique(IDX)], V)],
    **{f: [(lambda x, f=f: x * np.sum(leaves(f(IDX))[0]), V)] for f in (
        np.unique_all, np.unique_counts, np.unique_inverse, np.unique_values, np.flatnonzero,
        np.argwhere, np.trim_zeros, np.bincount)},
    np.histogram: [(lambda x, w: np.histogram(x, bins=3, weights=w), V, W),
                   (lambda x: np.histogram(x, bins=3, density=True), V),
                   (lambda x: np.histogram(x, bins=[-1.0, 0.0, 0.5], range=(0.0, 1.0)), V)],
    np.histogram_bin_edges: [(lambda x: np.histogram_bin_edges(x, 3), V),
                             (lambda x: x * np.histogram_bin_edges(IDX, 3)[1], V)],
    **{f: [(lambda x, f=f: x * np.sum(f(IDX, [1, 2, 7])), V)] for f in (
        np.intersect1d, np.union1d, np.setdiff1d, np.setxor1d)},
    np.isin: [(lambda x: x * np.isin(x, [0.5, 3.0]), V),
              (lambda x: x * np.isin(IDX, [1, 7])[0], V)],
    np.extract: [(lambda x: x * np.sum(np.extract(MASK, np.arange(5.0))), V)],
    np.lexsort: [(lambda x: x[np.lexsort((IDX,))], V), (lambda x, y: x[np.lexsort((y, x))], V, W),
                 (lambda x: np.lexsort(x), A)],
    **{f: [(lambda x, f=f: f(x), V), (lambda x, f=f: f(x, 7, norm="ortho"), Z if f not in (
        np.fft.rfft, np.fft.ihfft) else V), (lambda x, f=f: f(x, axis=0, norm="forward"), A),
           (lambda x, f=f: f(x), np.tile(V, 14)[:67]), (lambda x, f=f: f(x), F32)]
       for f in (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft)},
    **{f: [(lambda x, f=f: f(x), A), (lambda x, f=f: f(x, s=(2, -1), axes=(0, 2)), C)]
       for f in (np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn, np.fft.rfft2, np.fft.irfft2,
                 np.fft.rfftn, np.fft.irfftn)},
    np.linalg.eigvalsh: [(np.linalg.eigvalsh, SPD + np.triu(SQUARE, 1)), (
        lambda a: np.linalg.eigvalsh(a, "U"), SQUARE),
        (np.linalg.eigvalsh, C @ C.transpose(0, 2, 1)),
        (lambda a: np.sum(np.linalg.eigvalsh(a) ** 3), np.eye(3))],
    np.linalg.svdvals: [(np.linalg.svdvals, A), (np.linalg.svdvals, C)],
    np.linalg.svd: [(lambda a: np.linalg.svd(a, compute_uv=False), B), (np.linalg.svd, A),
                    (lambda a: np.linalg.svd(a, False), A.T), (np.linalg.svd, C),
                    (lambda a: np.linalg.svd(a, full_matrices=False), Z[:3] * SQUARE + 1j)],
    np.linalg.eigh: [(np.linalg.eigh, SPD), (lambda a: np.linalg.eigh(a, "U"), SQUARE),
                     (np.linalg.eigh, C @ C.transpose(0, 2, 1)),
                     (np.linalg.eigh, SPD + 1j * (SQUARE - SQUARE.T))],
    np.linalg.qr: [(lambda a, m=m: np.linalg.qr(a, m), x) for m in ("reduced", "r")
                   for x in (A, A.T, C)] + [(lambda a: np.linalg.qr(a, "complete")[1], A.T),
                                            (np.linalg.qr, SQUARE + 1j * SPD)],
    np.linalg.eig: [(lambda a: np.linalg.eig(a)[0], ROTATION), (np.linalg.eig, SQUARE + 1j * SPD)],
    np.linalg.eigvals: [(np.linalg.eigvals, ROTATION), (np.linalg.eigvals, SQUARE + 1j * SPD)],
    np.linalg.pinv: [(np.linalg.pinv, A), (np.linalg.pinv, C), (np.linalg.pinv, SQUARE + 1j * SPD),
                     (lambda a: np.linalg.pinv(a, 0.3), A.T),
                     (lambda a: np.linalg.pinv(a, rtol=None), A.T),
                     (lambda a: np.linalg.pinv(a, hermitian=True), SPD)],
    np.linalg.lstsq: [(lambda a, b: np.linalg.lstsq(a, b)[0], A, V[:3]),
                      (lambda a, b: np.linalg.lstsq(a, b)[1], A.T, V[:4]),
                      (lambda a, b: np.linalg.lstsq(a, b, 1e-3)[::3], A.T, A.T)],
    np.polyfit: [(lambda x, y: np.polyfit(x, y, 2), V, W),
                 (lambda x, y: np.polyfit(x, y, 1, w=y * y + 1.0, cov=True), V, W),
                 (lambda x, y: np.polyfit(x, y, 2, full=True)[0], V, W)],
    np.roots: [(np.roots, np.array([1.0, 2.0, 3.0, 5.0])), (np.roots, np.array([1.0, 2.0, 3.0]))],
    np.linalg.cond: [(lambda a, p=p: np.linalg.cond(a, p), SQUARE) for p in (None, -2, 1, "fro")],
    np.linalg.matrix_rank: [(lambda a: a * np.linalg.matrix_rank(a), SQUARE),
                            (lambda a, x: a * np.linalg.matrix_rank(a, rtol=x[0] * x[0]),
                             SQUARE, V)],
    np.vecdot: [*((np.vecdot, (100 * np.arange(6).reshape(2, 3)).astype(t), np.arange(3).astype(t))
                  for t in (np.int8, np.uint16, np.int32, np.bool_)),
                (np.vecdot, A, V[:4]), (lambda x, y: np.vecdot(x, y, axis=0), A, A)],
    np.linalg.vecdot: [(np.linalg.vecdot, Z, Z * 2j)],
    np.matvec: [(np.matvec, A, V[:4])], np.vecmat: [(np.vecmat, Z[:3], A), (
        np.vecmat, np.ones(2, bool), np.eye(2, dtype=bool))],
    np.linalg.cross: [(np.linalg.cross, SQUARE, SPD), (
        lambda x, y: np.linalg.cross(x, y, axis=0), SQUARE, SPD)],
    np.linalg.vector_norm: [(lambda x, k=k: np.linalg.vector_norm(x, ord=k, axis=1), A)
                            for k in (1, 2, 3, np.inf)] + [(np.linalg.vector_norm, A)],
    np.linalg.matrix_norm: [(lambda x, k=k: np.linalg.matrix_norm(x, ord=k), C)
                            for k in ("fro", 1, np.inf, 2, -2, "nuc")],
    np.cumulative_sum: [(np.cumulative_sum, V), (
        lambda x: np.cumulative_sum(x, axis=1, include_initial=True), A)],
    np.cumulative_prod: [(np.cumulative_prod, V), (
        lambda x: np.cumulative_prod(x, axis=0, include_initial=True), A)],
    np.atleast_3d: [(np.atleast_3d, V), (np.atleast_3d, A), (lambda x: np.atleast_3d(x, 2.0), C)],
    np.rollaxis: [(lambda x, k=k: np.rollaxis(x, k, 1), C) for k in (0, 1, 2, -1)],
    np.diagflat: [(np.diagflat, A), (lambda x: np.diagflat(x, -1), V)],
    np.broadcast_arrays: [(lambda x, y: np.broadcast_arrays(x, y[:, None]), V, W)],
    np.unstack: [(np.unstack, A), (lambda x: np.unstack(x, axis=1), A)],
    np.resize: [(lambda x: np.resize(x, (2, 4)), V), (lambda x: np.resize(x, 2), A)],
    np.ediff1d: [(np.ediff1d, A), (lambda x, y: np.ediff1d(x, to_begin=y, to_end=1.0), V, W)],
    np.unwrap: [(lambda x: np.unwrap(9.0 * x), V), (lambda x: np.unwrap(x, period=0.4, axis=0), A)],
    np.partition: [(lambda x: np.partition(x, 2)[2], V)],
    np.argpartition: [(lambda x: x[np.argpartition(x, 2)[2]], V)],
    np.sort_complex: [(np.sort_complex, Z), (np.sort_complex, V)],
    np.ravel_multi_index: [(lambda x, i: x * np.ravel_multi_index((i, i), (3, 4), mode="clip"), V,
                            np.array([0, 1, 2, 1, 7]))],
    np.array_equiv: [(np.array_equiv, V, V), (np.array_equiv, V, A[0])],
    np.nanprod: [(np.nanprod, HOLES), (lambda x: np.nanprod(x, axis=0), A)],
    np.nancumsum: [(np.nancumsum, HOLES)], np.nancumprod: [(np.nancumprod, HOLES)],
    np.nanargmax: [(lambda x: x[np.nanargmax(x)], HOLES), (lambda x: np.nanargmax(x, axis=0), A)],
    np.nanargmin: [(lambda x: x[np.nanargmin(x)], HOLES)],
    np.nanvar: [(np.nanvar, HOLES), (lambda x: np.nanvar(x, axis=1, ddof=1, keepdims=True), A),
                (np.nanvar, Z)],
    np.nanstd: [(np.nanstd, HOLES), (lambda x: np.nanstd(x, axis=0, correction=1), A)],
    np.nanmedian: [(np.nanmedian, HOLES), (lambda x: np.nanmedian(x, axis=(0, 2)), C)],
    np.nanquantile: [(lambda x: np.nanquantile(x, 0.3), HOLES),
                     (lambda x: np.nanquantile(x, [0.1, 0.7], axis=1), A)],
    np.nanpercentile: [(lambda x: np.nanpercentile(x, 40.0), HOLES)],
    np.logspace: [(lambda x: np.logspace(x, 1.0, 4), 0.5),
                  (lambda x: np.logspace(0, x, 3, endpoint=False, base=2.0), 0.5)],
    np.geomspace: [(lambda x, y: np.geomspace(x, y, 4), 0.5, 3.0),
                   (lambda x: np.geomspace(-1.0, x, 3, endpoint=False), -8.0)],
    np.digitize: [(lambda x: x * np.digitize(x, [-0.5, 0.5]), V), (np.digitize, V, np.sort(W)),
                  (lambda x, b: np.digitize(x, b, right=True), V, np.sort(W)[::-1].copy())],
    np.isreal: [(lambda x: x * np.isreal(x), Z)],
    np.iscomplex: [(lambda x: x * np.iscomplex(x), Z)],
    np.isrealobj: [(lambda x: x * np.isrealobj(x), V)],
    np.iscomplexobj: [(lambda x: x * np.iscomplexobj(x), V)],
    np.isposinf: [(lambda x: x * np.isposinf(1.0 / x), V)],
    np.isneginf: [(lambda x: x * np.isneginf(1.0 / x), V)],
    np.real_if_close: [(np.real_if_close, V)], np.fix: [(np.fix, 3.0 * W)],
    np.put: [(lambda x, y: _written(np.put, x, [1, -1, 2], y), V, W[:2]),
             (lambda x: _written(np.put, x, [1, 17], 2.0, "wrap"), A)],
    np.putmask: [(lambda x, y: _written(np.putmask, x, x > 0.2, y), V, W[:2])],
    np.place: [(lambda x, y: _written(np.place, x, x > 0.2, y), V, W[:2])],
    np.put_along_axis: [(lambda x, y: _written(np.put_along_axis, x, np.array([[0], [2], [1]]),
                                               y[:3, None], 1), A, V)],
    np.choose: [(lambda x, y: np.choose(MASK.astype(int), [x, y]), V, W),
                (lambda x, i: np.choose(i, [x, 1.0], mode="wrap"), V, IDX[:1])],
    np.polyadd: [(np.polyadd, V, W[:2])], np.polysub: [(np.polysub, W[:2], V)],
    np.polymul: [(np.polymul, V, W)],
    np.polydiv: [(np.polydiv, V, W[:3].copy()), (np.polydiv, W[:2].copy(), V), (np.polydiv, Z, V),
                 (lambda u: np.polydiv(u, 2.0), V), (lambda u: np.polydiv(u, [1, 2]), INTS)],
    np.kaiser: [*((lambda b, n=n: np.kaiser(n, b), 2.5) for n in (0, 1, 2, 7)),
                (lambda x, b: x * np.kaiser(len(x), b), V, -3.0)],
    **{getattr(np.emath, name): [(getattr(np.emath, name), x) for x in (V, F32, Z, V[0])]
       for name in ("sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh")},
    np.emath.logn: [(np.emath.logn, 2.5, V), (lambda x: np.emath.logn(2, x), F32)],
    np.emath.power: [(np.emath.power, V, W), *((lambda x, p=p: np.emath.power(x, p), x) for x in (
        V, F32, Z, MASK + 1) for p in (2, -1, 0.5, [-2, 1, 0, 2, 1]))],
    np.histogram2d: [
        *((lambda x, y, w, k=k: np.histogram2d(x, y, weights=w, **k), V, W, W * W) for k in (
            {}, {"bins": 3, "density": True}, {"bins": (2, 3), "range": [[0, 1], None]},
            {"bins": [3, np.array([-1.0, 0.0, 0.5, 0.5])]})),
        (lambda x, y, e: np.histogram2d(x, y, [e, e], density=True), V, W,
         np.array([-1.0, 0.3, 1.0])),
        (lambda x, y: np.histogram2d(x, y, np.array([-1, 0, 1])), V, W)],
    np.histogramdd: [(lambda x: np.histogramdd(x, 2, density=True), A[:, :3].copy()),
                     (lambda x, y: np.histogramdd([x, y, x * y], [2, 3, 2]), V, W),
                     (lambda x: np.histogramdd(x, 4), HOLES[2:4]),
                     (lambda x: np.histogramdd(x, 3), INTS.reshape(5, 1))],
    np.polyint: [(np.polyint, V), (lambda x, k: np.polyint(x, 2, [k, 1.0]), V, 0.5)],
    np.poly: [(np.poly, V), (np.poly, SQUARE), (np.poly, np.eye(3)),
              (lambda x: np.poly(np.roots(x)), V[:4])],
    np.apply_along_axis: [
        (lambda x: np.apply_along_axis(lambda r: r / r.sum(), 0, x), A),
        (lambda x: np.apply_along_axis(np.sum, 1, x), A),
        (lambda x, y: np.apply_along_axis(lambda r, s: np.outer(r, s), 1, x, y), A, V[:2])],
    np.apply_over_axes: [(lambda x: np.apply_over_axes(np.sum, x, [0, -1]), C)],
    vars(np.vectorize)["__call__"]: [
        (lambda x, y: np.vectorize(lambda a, b: a * b if a > b else a + b)(x, y), V, W),
        (lambda x: np.vectorize(lambda a: 0 if a < 0.5 else a, otypes=[float])(x), V)],
    np.sort: [(lambda x: np.sort(x), V), (lambda x: np.sort(x, axis=0), A),
              (lambda x: np.sort(x), Z), (lambda x: np.sort(x.real), Z),
              (lambda x: np.sort(x), INTS)],
    np.interp: [(lambda x, fp: np.interp(x, np.arange(5.0), fp), np.array([0.3, 2.7, -1.0, 9.0]),
                 V)],
    np.searchsorted: [(lambda x: np.searchsorted(np.array([0.1, 0.4, 0.8]), x), V),
                      (lambda x: np.searchsorted(x, 0.5, side="right"), np.sort(V))],
}

MATH_CASES: dict[Any, list[tuple[Any, ...]]] = {
    f: [(lambda x, f=f: f(x), 1.5 if f is math.acosh else 0.4)] for f in (
        math.acos, math.acosh, math.asin, math.asinh, math.atan, math.atanh, math.cbrt, math.ceil,
        math.cos, math.cosh, math.degrees, math.erf, math.erfc, math.exp, math.exp2, math.expm1,
        math.fabs, math.floor, math.isfinite, math.isinf, math.isnan, math.log, math.log10,
        math.log1p, math.log2, math.radians, math.sin, math.sinh, math.sqrt, math.tan, math.tanh,
        math.trunc, math.gamma, math.lgamma) if f in FUNCTIONS}
MATH_CASES.update({
    f: [(lambda x, y, f=f: f(x, y), 0.7, 1.6)] for f in (
        math.atan2, math.copysign, math.fmod, math.hypot, math.nextafter, math.pow,
        math.remainder)})
MATH_CASES[math.modf] = [(lambda x: math.modf(x)[0], 1.6), (lambda x: math.modf(x)[1], -2.3)]
MATH_CASES[math.hypot] += [(lambda x, y: math.hypot(x, y, x * y), 0.7, 1.6),
                           (lambda x: math.hypot(x), -0.7)]
MATH_CASES[math.dist] = [(lambda x, y: math.dist((x, y), (0.0, x * y)), 0.7, 1.6)]
MATH_CASES[math.log] += [(lambda x: math.log(x, 2), 3.0)]
FUNCTION_CASES.update(MATH_CASES)
FUNCTION_CASES.update({
    f: [(lambda x, f=f: f(complex(x, 0.3)), 0.4)] for f in (
        cmath.acos, cmath.acosh, cmath.asin, cmath.asinh, cmath.atan, cmath.atanh, cmath.cos,
        cmath.cosh, cmath.exp, cmath.isfinite, cmath.isinf, cmath.isnan, cmath.log, cmath.log10,
        cmath.phase, cmath.sin, cmath.sinh, cmath.sqrt, cmath.tan, cmath.tanh)})
FUNCTION_CASES[cmath.polar] = [(lambda x, k=k: cmath.polar(complex(x, 0.3))[k], 0.4)
                               for k in range(2)]
FUNCTION_CASES[cmath.rect] = [(lambda x, y: cmath.rect(x, y), 0.7, 1.6)]

METHOD_CASES: dict[str, list[tuple[Any, ...]]] = {
    "__round__": [(lambda x: round(x, 1), 0.26)],
    "__array_namespace__": [(lambda x: x.__array_namespace__().tanh(x), V)],
    "to_device": [(lambda x: x.to_device("cpu") * 2.0, V)],
    "__array_copy__": [(lambda x: x.copy() + 1.0, V)],
    "all": [(lambda x: (x > 0.0).all(), V)], "any": [(lambda x: (x > 0.0).any(axis=1), A)],
    "argmax": [(lambda x: x.argmax(), A), (lambda x: x[x.argmax()], V)],
    "argmin": [(lambda x: x.argmin(axis=1), A)], "argsort": [(lambda x: x[x.argsort()], V)],
    "astype": [(lambda x: x.astype(np.float32), V), (lambda x: x.astype(int), A),
               (lambda x: x.astype(float) * 0.5, INTS), (lambda x: x.astype("complex128"), V)],
    "clip": [(lambda x: x.clip(0.0, 0.5), A)], "view": [(lambda x: x.view() * 2.0, A)],
    "compress": [(lambda x: x.compress([True, False, True]), V)],
    "choose": [(lambda x: IDX.choose([x[:4], 1.0, x[1:]]), V)],
    "argpartition": [(lambda x: x[x.argpartition(1)[1]], V)],
    "partition": [(lambda x: _partitioned(x.copy())[1], V)],
    "put": [(lambda x, y: _put(x.copy(), y), V, W[:2])],
    "nonzero": [(lambda x: x[MASK.nonzero()], V)],
    "conj": [(lambda x: x.conj() * x, Z)], "conjugate": [(lambda x: x.conjugate(), Z)],
    "tolist": [(lambda x: sum(v * v for v in x.tolist()), V), (lambda x: x.tolist(), V)],
    "copy": [(lambda x: _filled(x.copy(), x * x), V)],
    "cumprod": [(lambda x: x.cumprod(), V)], "cumsum": [(lambda x: x.cumsum(axis=0), A)],
    "diagonal": [(lambda x: x.diagonal(), A)], "dot": [(lambda x, y: x.dot(y), A, B)],
    "fill": [(lambda x: _fill(np.zeros(3), x), 0.5)], "flatten": [(lambda x: x.flatten(), A)],
    "item": [(lambda x: x.sum().item(), A), (lambda x: x.item(2), V)],
    "max": [(lambda x: x.max(), A), (lambda x: x.max(axis=0, keepdims=True), A)],
    "mean": [(lambda x: x.mean(axis=1), A)], "min": [(lambda x: x.min(1), A)],
    "prod": [(lambda x: x.prod(), V)],
    "ravel": [(lambda x: x.ravel(), A)], "repeat": [(lambda x: x.repeat(2), V)],
    "reshape": [(lambda x: x.reshape(4, 3), A), (lambda x: x.reshape(-1, 2), A),
                (lambda x: x.reshape((2, 6)), A)],
    "round": [(lambda x: x.round(1), A)], "sort": [(lambda x: _sorted(x.copy()), V)],
    "squeeze": [(lambda x: x[None].squeeze(), V)], "std": [(lambda x: x.std(axis=0), A)],
    "sum": [(lambda x: x.sum(), A), (lambda x: x.sum(axis=-1), C)],
    "swapaxes": [(lambda x: x.swapaxes(0, 1), A)], "take": [(lambda x: x.take(IDX), V)],
    "trace": [(lambda x: x.trace(), SQUARE)],
    "transpose": [(lambda x: x.transpose(), A), (lambda x: x.transpose(2, 0, 1), C),
                  (lambda x: x.transpose((1, 0)), A)],
    "var": [(lambda x: x.var(), A)],
}

PROPERTY_CASES: dict[str, list[tuple[Any, ...]]] = {
    "T": [(lambda x: x.T, A), (lambda x: x.T, C)], "mT": [(lambda x: x.mT, C)],
    "flat": [(lambda x: x.flat[2] * x.flat[-1], A), (lambda x: x.flat[1:7:2], A),
             (lambda x: sum(v * v for v in x.flat), A)],
    "real": [(lambda x: x.real, Z)], "imag": [(lambda x: x.imag, Z)],
    "device": [(lambda x: x * len(x.device), V)], "nbytes": [(lambda x: x.nbytes * x, A)],
    "size": [(lambda x: x.sum() / x.size, A)], "itemsize": [(lambda x: x.itemsize * x, V)],
}

QUANTILES = ("lower", "higher", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf",
             "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
             "median_unbiased", "normal_unbiased")
FOLDED = (np.subtract, np.divide, np.fmax, np.fmin, np.hypot, np.logaddexp2)
MORE_CASES: dict[Any, list[tuple[Any, ...]]] = {
    np.array_split: [(lambda x, n=n: np.array_split(x, n), V) for n in (2, 3, 4, 7)],
    np.corrcoef: [(lambda x, y: np.corrcoef(x, y, rowvar=False), V, W * W)],
    np.cov: [(lambda x, y: np.cov(x, y, rowvar=False), V, W),
             (lambda x: np.cov(x, fweights=[1, 2, 1, 3]), A),
             (lambda x, w: np.cov(x, aweights=w), A, np.abs(W[:4])),
             (lambda x: np.cov(x, fweights=[1, 2, 1], aweights=[1.0, 0.5, 2.0], bias=True,
                               rowvar=False), A)],
    np.average: [(lambda x, w: np.average(x, weights=w, returned=True), V, np.abs(W)),
                 (lambda x: np.average(x, 1, returned=True), A),
                 (lambda x, w: np.average(x, (0, 2), w), C, np.abs(B.T[:2, :])[:, [0, 1, 2, 3]]),
                 (lambda x, w: np.average(x, (2, 0), w.T, keepdims=True), C, np.abs(B.T[:2]))],
    np.var: [(lambda x: np.var(x, where=x > -0.5), A), (lambda x: np.var(
        x, mean=np.mean(x, axis=0, keepdims=True), axis=0), A)],
    np.std: [(lambda x: np.std(x, axis=1, where=x > -0.9, keepdims=True, ddof=1), A)],
    np.median: [(lambda x: np.median(x, axis=(0, 2), keepdims=True), C)],
    np.quantile: [(lambda x, m=m: np.quantile(x, [0.2, 0.5, 0.9, 1.0], method=m), V)
                  for m in QUANTILES] + [(lambda x: np.quantile(x, 0.3, axis=(1, 2)), C)],
    np.percentile: [(lambda x: np.percentile(x, [20, 70], (0, 1), method="weibull",
                                             keepdims=True), C)],
    np.gradient: [(lambda x, k=k: np.gradient(x, np.arange(5.0) ** 2, edge_order=k), V)
                  for k in (1, 2)] + [(lambda x: np.gradient(x, edge_order=2), A),
                                      (lambda x, y: np.gradient(y, np.cumsum(x * x + 0.1)), V, W)],
    np.einsum: [(lambda x, y: np.einsum(x, [0, 1], y, [1, 2], [2, 0]), A, B),
                (lambda x: np.einsum(x, [0, 0]), SQUARE),
                (lambda x: np.einsum(x, [Ellipsis, 0], [Ellipsis]), C)],
    np.pad: [(lambda x, m=m: np.pad(x, ((1, 2), (0, 1)), m), A)
             for m in ("linear_ramp", "maximum", "mean", "median", "minimum")] + [
        (lambda x, m=m: np.pad(x, ((2, 9), (13, 1)), m, reflect_type="odd"), A)
        for m in ("reflect", "symmetric")] + [
        (lambda x: np.pad(x, (1, 2), constant_values=(x[0], 2.0)), V),
        (lambda x: np.pad(x, ((1, 2), (0, 1)), constant_values=((1.0, 2.0), (3.0, 4.0))), A),
        (lambda x: np.pad(x, 2, "linear_ramp", end_values=(x[0], 2.0)), V),
        (lambda x: np.pad(x, 2, "mean", stat_length=3), V), (lambda x: np.pad(x, {1: (1, 2)}), A)],
    np.linspace: [(lambda x: np.linspace(x, 2.0 * x, 4), V), (lambda x, y: np.linspace(
        x, y, 3, axis=1, endpoint=False, retstep=True), V, W)],
    np.interp: [(lambda x: np.interp(x, [0.0, 1.0, 1.5], [1.0, 2.0, 3.0], period=1.7), 3.0 * V)],
    np.searchsorted: [(lambda x: x * np.searchsorted(x, 0.1, sorter=np.argsort(x)), V)],
    np.take: [(lambda x: np.take(x, [0, 9, -2], mode="wrap"), V)],
    np.linalg.vector_norm: [(lambda x: np.linalg.vector_norm(x, axis=(0, 2), keepdims=True), C)],
    np.linalg.tensorsolve: [(lambda a: np.linalg.tensorsolve(
        a + 4.0 * np.eye(6).reshape(2, 3, 6), A[:2, :3]), np.arange(36.0).reshape(2, 3, 6) / 40.0)],
    np.linalg.tensorinv: [(lambda a: np.linalg.tensorinv(
        a + 4.0 * np.eye(6).reshape(6, 2, 3), 1), np.arange(36.0).reshape(6, 2, 3) / 40.0)],
    np.ufunc.reduceat: [(lambda x, f=f: f.reduceat(x, [0, 3, 1]), V)
                        for f in (np.add, np.multiply, np.maximum, *FOLDED)],
    np.add: [(lambda x, f=f: f.reduce(x), V) for f in FOLDED] + [
        (lambda x, f=f: f.accumulate(x, axis=1), A) for f in (np.maximum, *FOLDED)] + [
        (lambda x: np.fmax.reduce(x, axis=(0, 2)), C),
        (lambda x: np.hypot.reduce(x, keepdims=True), V[:1])],
    np.ufunc.at: [(lambda x, f=f: _changed_at(f, x, [0, 2, 0], x[1:4]), V)
                  for f in (np.multiply, np.maximum, np.divide)] + [
        (lambda x: _changed_at(np.negative, x, [1, 2]), V),
        (lambda x: _changed_at(np.multiply, x, [1, 1], 2.0), A)],
}


def _changed_at(ufunc: Any, x: Any, *args: Any) -> Any:
    y = x.copy()
    ufunc.at(y, *args)
    return y


for _key in MORE_CASES:
    FUNCTION_CASES[_key] = FUNCTION_CASES.get(_key, []) + MORE_CASES[_key]


FOREIGN_CASES: dict[str, list[tuple[Any, ...]]] = {
    "solve_triangular": [(lambda a, b: scipy.linalg.solve_triangular(a, b, lower=True),
                          np.tril(SQUARE), B3),
                         (lambda a, b: scipy.linalg.solve_triangular(a, b), np.triu(SQUARE), B3),
                         (lambda a, b: scipy.linalg.solve_triangular(a, b, trans=1, lower=True),
                          np.tril(SQUARE), A),
                         (lambda a, b: scipy.linalg.solve_triangular(a, b, 2, unit_diagonal=True),
                          SQUARE + 1j * SPD, B3),
                         (scipy.linalg.solve_triangular,
                          np.stack([np.triu(SQUARE), np.triu(SPD)]), A)],
    "logsumexp": [(lambda x: special.logsumexp(x), V),
                  (lambda x: special.logsumexp(x, axis=1), A)],
    "softmax": [(lambda x: special.softmax(x), V),
                (lambda x: special.softmax(x, axis=0), A)],
    "log_softmax": [(lambda x: special.log_softmax(x, axis=1), A)],
    "cholesky": [(lambda x: scipy.linalg.cholesky((x + x.T) / 2.0, lower=True), SPD),
                 (lambda x: scipy.linalg.cholesky((x + x.T) / 2.0), SPD)],
    "solve": [(lambda a, b: scipy.linalg.solve(a, b), SQUARE, B3)],
    "inv": [(lambda a: scipy.linalg.inv(a), SQUARE)], "det": [(lambda a: scipy.linalg.det(a),
                                                               SQUARE)],
    "norm": [(lambda x: np.float64(scipy.linalg.norm(x)), V)],
}
FOREIGN_CASES.update({f.__name__: [(lambda x, f=f: f(x), V)] for f in (
    special.erf, special.erfc, special.expit, special.logit, special.log_expit, special.entr,
    special.ndtr, special.cbrt, special.exp2, special.expm1, special.log1p, special.j0,
    special.j1)})
FOREIGN_CASES.update({f.__name__: [(lambda x, y, f=f: f(x, y), V, np.abs(W))]
                      for f in (special.xlogy, special.xlog1py)})


FOREIGN_CASES.update({f.__name__: [(lambda x, f=f: f(x), V), (lambda x, f=f: f(x), F32)] for f in (
    special.gammaln, special.gamma, special.psi, special.loggamma, special.rgamma, special.i0,
    special.i1, special.i0e, special.i1e, special.ndtri, special.erfinv, special.erfcinv,
    special.log_ndtr, special.exprel, special.exp10)})
FOREIGN_CASES.update({f.__name__: [(lambda x, y, f=f: f(x, y), V, np.abs(W)),
                                   (lambda x, f=f: f(x[:, None], x), V[:3] * 2.0)]
                      for f in (special.betaln, special.beta, special.rel_entr, special.kl_div,
                                special.pseudo_huber, special.boxcox, special.boxcox1p,
                                special.inv_boxcox, special.inv_boxcox1p)})
FOREIGN_CASES.update({
    "cho_factor": [(lambda a: scipy.linalg.cho_factor(a, lower=True)[0], SPD),
                   (lambda a: scipy.linalg.cho_factor(a)[0], SPD + np.triu(SQUARE, 1))],
    "cho_solve": [(lambda a, b: scipy.linalg.cho_solve(scipy.linalg.cho_factor(a), b), SPD, B3),
                  (lambda a, b: scipy.linalg.cho_solve((a, True), b), SPD, A)],
    "toeplitz": [(scipy.linalg.toeplitz, V), (scipy.linalg.toeplitz, Z, V[:3])],
    "circulant": [(scipy.linalg.circulant, V)],
    "hankel": [(scipy.linalg.hankel, V), (scipy.linalg.hankel, V, W[:3])],
    "block_diag": [(lambda a, b: scipy.linalg.block_diag(a, b, 1.0), A, V)],
    "expm": [(scipy.linalg.expm, SQUARE), (scipy.linalg.expm, 4.0 * SPD),
             (lambda a: scipy.linalg.expm(1j * a), SQUARE),
             (lambda a: scipy.linalg.expm(np.stack([a, 2.0 * a])), SQUARE)],
})
BANDS = np.abs(RNG.normal(size=(4, 5))) + np.array([[0.0], [6.0], [0.0], [0.0]])
HERMITIAN = SPD + 1j * (SQUARE - SQUARE.T) / 4.0
FOREIGN_CASES.update({
    "lu": [(scipy.linalg.lu, SQUARE), (scipy.linalg.lu, A), (scipy.linalg.lu, B),
           (lambda a: scipy.linalg.lu(a, permute_l=True), SQUARE),
           (lambda a: scipy.linalg.lu(a, p_indices=True), SQUARE + 1j * SPD)],
    "lu_factor": [(scipy.linalg.lu_factor, SQUARE), (lambda a: scipy.linalg.lu_factor(a)[0], B)],
    "lu_solve": [(lambda a, b, t=t: scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b, t),
                  SQUARE + 1j * SPD, V[:3]) for t in (0, 1, 2)],
    "eigh": [(lambda a: scipy.linalg.eigh(a, driver="evd"), SQUARE),
             (lambda a: np.abs(scipy.linalg.eigh(a, lower=False)[1]), HERMITIAN),
             (lambda a, b: scipy.linalg.eigh(a @ a.T, b), SQUARE, SPD)],
    "eigvalsh": [(scipy.linalg.eigvalsh, SPD), (
        lambda a: scipy.linalg.eigvalsh(a, subset_by_index=[1, 2]), SPD)],
    "svdvals": [(scipy.linalg.svdvals, A)],
    "svd": [(scipy.linalg.svd, SQUARE), (lambda a: scipy.linalg.svd(a, False), A)],
    "eig": [(scipy.linalg.eig, SQUARE + 1j * SPD)], "eigvals": [(scipy.linalg.eigvals, ROTATION)],
    "qr": [(lambda a: scipy.linalg.qr(a, mode="economic"), B), (scipy.linalg.qr, A),
           (lambda a: scipy.linalg.qr(a, mode="r"), B)],
    "pinv": [(scipy.linalg.pinv, B), (lambda a: scipy.linalg.pinv(a, rtol=1e-3), A)],
    "lstsq": [(lambda a, b: [part * 1.0 for part in scipy.linalg.lstsq(a, b)[:2]], B, W[:4])],
    "sqrtm": [(scipy.linalg.sqrtm, SPD), (scipy.linalg.sqrtm, SQUARE + 1j * SPD),
              (scipy.linalg.sqrtm, np.eye(3))],
    "logm": [(scipy.linalg.logm, SPD), (scipy.linalg.logm, HERMITIAN),
             (scipy.linalg.logm, np.eye(2))],
    "solve_sylvester": [(scipy.linalg.solve_sylvester, SQUARE, SPD, SQUARE),
                        (scipy.linalg.solve_sylvester, HERMITIAN, A.T @ A + np.eye(4), A)],
    "solve_continuous_lyapunov": [(scipy.linalg.solve_continuous_lyapunov, SQUARE, SPD)],
    "solve_lyapunov": [(scipy.linalg.solve_lyapunov, SPD, HERMITIAN)],
    "solve_discrete_lyapunov": [
        (lambda a, q, m=m: scipy.linalg.solve_discrete_lyapunov(0.2 * a, q, m), SQUARE, SPD)
        for m in (None, "bilinear")],
    "solve_banded": [(lambda ab, b: scipy.linalg.solve_banded((2, 1), ab, b), BANDS, V),
                     (lambda ab, b: scipy.linalg.solve_banded((0, 3), ab[::-1], b), 1j + BANDS,
                      np.stack([V, W], 1))],
    "solveh_banded": [(lambda ab, b: scipy.linalg.solveh_banded(ab, b), BANDS[:2], V),
                      (lambda ab, b: scipy.linalg.solveh_banded(ab, b, lower=True), BANDS[1:],
                       np.stack([V, W], 1))],
    "solve_toeplitz": [(lambda c, b: scipy.linalg.solve_toeplitz(c + 3.0 * np.eye(5)[0], b), V, W),
                       (lambda c, r, b: scipy.linalg.solve_toeplitz((3.0 + c, r), b), V, W, V)],
})
OTHER = RNG.standard_normal((3, 3))
GAIN = RNG.standard_normal((3, 2))
FOREIGN_CASES.update({
    **{name: [(getattr(scipy.linalg, name), SQUARE), (getattr(scipy.linalg, name), HERMITIAN)]
       for name in ("cosm", "sinm", "coshm", "sinhm")},
    "tanm": [(lambda a: scipy.linalg.tanm(0.3 * a), SQUARE)],
    "tanhm": [(lambda a: scipy.linalg.tanhm(0.3 * a), SQUARE)],
    "fractional_matrix_power": [(scipy.linalg.fractional_matrix_power, SPD, 0.7), (
        lambda a: scipy.linalg.fractional_matrix_power(a, 2), SQUARE)],
    "expm_frechet": [(scipy.linalg.expm_frechet, SQUARE, OTHER), (
        lambda a, e: scipy.linalg.expm_frechet(a, e, compute_expm=False), SQUARE, OTHER)],
    "polar": [(scipy.linalg.polar, SQUARE), (lambda a: scipy.linalg.polar(a, "left"), SQUARE),
              (scipy.linalg.polar, B), (scipy.linalg.polar, 1.5 * np.eye(3)),
              (scipy.linalg.polar, SQUARE + 1j * SPD)],
    "orthogonal_procrustes": [(scipy.linalg.orthogonal_procrustes, SQUARE, OTHER)],
    "companion": [(scipy.linalg.companion, V)], "fiedler": [(scipy.linalg.fiedler, V)],
    "khatri_rao": [(scipy.linalg.khatri_rao, SQUARE, GAIN.T @ OTHER)],
    "matmul_toeplitz": [(scipy.linalg.matmul_toeplitz, V, W), (
        lambda c, r, x: scipy.linalg.matmul_toeplitz((c, r), x), V, W, V)],
    "solve_circulant": [(scipy.linalg.solve_circulant, V + 4.0, W)],
    "solve_continuous_are": [(lambda a, b, q, r, k=k: scipy.linalg.solve_continuous_are(
        k * a, b, q + q.T, r + r.T), SQUARE, GAIN, SPD, np.eye(2) + 0.1) for k in (0.3, -1.0)],
    "solve_discrete_are": [(lambda a, b, q, r, k=k: scipy.linalg.solve_discrete_are(
        k * a, b, q + q.T, r + r.T), SQUARE, GAIN, SPD, np.eye(2) + 0.1) for k in (0.3, 2.0)],
})
FOREIGN_CASES["solve"] += [
    (lambda a, b, k=k: scipy.linalg.solve(a, b, assume_a=k, lower=True), x, B3)
    for k, x in (("diagonal", SQUARE), ("tridiagonal", SQUARE), ("banded", SQUARE),
                 ("upper triangular", SQUARE), ("lower triangular", SQUARE), ("sym", SQUARE),
                 ("her", HERMITIAN), ("pos", SPD))]
FOREIGN_CASES["huber"] = [(lambda x, y: special.huber(x, y), V, np.abs(W))]
FOREIGN_CASES.update({f.__name__: [(lambda x, f=f, n=n: f(n, x), V) for n in (0, 1, 4)] for f in (
    special.eval_legendre, special.eval_chebyt, special.eval_chebyu, special.eval_hermite,
    special.eval_hermitenorm, special.eval_laguerre)})
FOREIGN_CASES["polygamma"] = [(lambda x, n=n: special.polygamma(n, x), V) for n in (0, 1, 2, 5)]
FOREIGN_CASES["polygamma"] += [(lambda x, n=n: special.polygamma(n, x), W) for n in (1, 2, 3)]
FOREIGN_CASES["multigammaln"] = [(lambda x: special.multigammaln(x + 1.0, 3), V)]
FOREIGN_CASES.update(SPECIAL_CASES)
_SHARES, _TENTHS = np.array([0.2, 0.7, 0.9]), np.array([-3, 0, 5, 127])
FUNCTION_CASES.update({
    np.common_type: [(lambda x, z: x.astype(np.common_type(x, z)), V, Z)],
    np.asarray_chkfinite: [(lambda x: np.asarray_chkfinite(x), V)],
    np.polynomial.polynomial.polyvalfromroots: [
        (lambda x, r: np.polynomial.polynomial.polyvalfromroots(x, r), V, W)],
    np.polynomial.chebyshev.chebinterpolate: [
        (lambda a: np.polynomial.chebyshev.chebinterpolate(lambda t: np.exp(a * t), 3), 0.7)],
    **{f: [(lambda a, b, f=f: f(a, b), 1.5, -0.3)] for f in (
        np.polynomial.polynomial.polyline, np.polynomial.chebyshev.chebline,
        np.polynomial.legendre.legline, np.polynomial.hermite.hermline,
        np.polynomial.hermite_e.hermeline, np.polynomial.laguerre.lagline)},
    **{f: [(lambda x, f=f: f(x), _SHARES)] for f in (
        np.polynomial.chebyshev.chebweight, np.polynomial.legendre.legweight,
        np.polynomial.hermite.hermweight, np.polynomial.hermite_e.hermeweight,
        np.polynomial.laguerre.lagweight)}})
FUNCTION_CASES[np.modf] = [
    (lambda x: np.frexp(x)[0], V), (lambda x: np.frexp(x)[1], V.astype(np.float32)),
    (lambda k: np.frexp(k * 5e-324), np.array([0, 1, 3, 1024])),
    (lambda x: np.ldexp(x, 3), V), (lambda k: np.ldexp(1.5, k), _TENTHS),
    (lambda x: x + np.spacing(x), V), (lambda k: np.bitwise_count(k), _TENTHS),
    (lambda k: np.bitwise_count(k), _TENTHS.astype(np.int8))]
FOREIGN_CASES.update(LINALG_CASES)
FURTHER = {name.rpartition(".")[2] for name in MATRIX_CASES}
"""Functions of `scipy.linalg` with cases in `test_further_functions.py`."""
FUNCTION_CASES.update({f: [
    *((lambda x, c, f=f: f(x, c), x, c) for x in (V, 0.3, A) for c in (W, V[:1], V[:2], V[:3])),
    (lambda x, c, f=f: f(x, c), V, C[0]), (lambda x, c, f=f: f(x, c, tensor=False), V[:4], A),
    (lambda x, c, f=f: f(x, c), F32, F32), (lambda x, c, f=f: f(x, c), F32, W),
    (lambda x, c, f=f: f(x, c), V, F32), (lambda x, f=f: f(x, [1, 2, 3, 4]), V),
    (lambda z, c, f=f: f(z, c), Z, W)] for f in (
        np.polynomial.polynomial.polyval, np.polynomial.chebyshev.chebval,
        np.polynomial.legendre.legval, np.polynomial.hermite_e.hermeval,
        np.polynomial.hermite.hermval, np.polynomial.laguerre.lagval)})


def _over_elements(x: Any) -> Any:
    s = 0.0
    for a, b in np.nditer([x, np.arange(float(x.shape[-1]))]):
        s = s * 0.5 + a * b
    return s


def _over_pairs(x: Any, y: Any) -> Any:
    s = 0.0
    for a, b in np.broadcast(x, y):
        s = s * 0.5 + a * b
    return s


FUNCTION_CASES.update({np.nditer: [(_over_elements, V), (_over_elements, A)],
                       np.broadcast: [(_over_pairs, V, V[:1]), (_over_pairs, 2.0, V)]})


def _plus(x: Any, y: Any) -> Any:
    return x + y


BUILTIN_CASES: dict[Any, list[tuple[Any, ...]]] = {
    range: [(lambda x: [x * k for k in range(3)], 0.5), (lambda x: [x[k] for k in range(1, 5, 2)],
                                                         V)],
    enumerate: [(lambda x: [k * a for k, a in enumerate([x, x * x])], 0.5)],
    zip: [(lambda x, y: [a * b for a, b in zip([x, y], [y, y], strict=True)], 0.5, 0.7)],
    reversed: [(lambda x: [a for a in reversed([x, x * x])], 0.5)],
    np.fromiter: [(lambda x: np.fromiter((v * 2.0 for v in x), float), V)],
    len: [(lambda x: len(x) * x, A), (lambda x: len([x, x]) * x, 0.5)],
    max: [(lambda x, y: max(x, y), 0.5, 0.7), (lambda x: max(x[0], x[1], 0.1), V),
          (lambda x: max(x), V),
          (lambda x: max(0.0, x), -0.5), (lambda x: max([x, 2 * x]), 0.5)],
    min: [(lambda x, y: min(x, y), 0.5, 0.7), (lambda x: min(x), V)],
    sum: [(lambda x: sum(x), V), (lambda x: sum([x, x * x], 1.0), 0.5), (lambda x: sum(x), A),
          (lambda x: sum(a * a for a in x), V)],
    int: [(lambda x: int(x) * x, 2.7), (lambda x: int(x[0] * 10.0), V)],
    float: [(lambda x: float(x) * 2.0, 0.5), (lambda x: float(x[0]), V),
            (lambda n: float(n) / 2.0, 3)],
    bool: [(lambda x: bool(x > 0.1), 0.5)],
    round: [(lambda x: round(x), 2.7), (lambda x: round(x, 1) + x, 2.74)],
    isinstance: [(lambda x: x if isinstance(x, np.ndarray) else 2 * x, V),
                 (lambda x: x if isinstance(x, float) else 2 * x, 0.5),
                 (lambda n: n if isinstance(n, int) else 2 * n, 3)],
    issubclass: [(lambda x: x if issubclass(float, (int, float)) else 2 * x, V)],
    list: [(lambda x: list((x, x * x)), 0.5)], dict: [(lambda x: dict(a=x, b=2.0 * x), 0.5)],
    sorted: [(lambda x: sorted([-v for v in x])[0], V)],
    set: [(lambda x: x * len(set([1, 2])), 0.5)],
    complex: [(lambda x, y: complex(x, y), 5.3, 2.0), (lambda x: complex(x), 1.5)],
    divmod: [(lambda x, y: divmod(x, y), 5.3, 2.0), (lambda x: divmod(x, 2), INTS)],
    setattr: [(lambda x: _attributes(x), 0.5)], delattr: [(lambda x: _attributes(x), 0.7)],
    iter: [(lambda x: [a * a for a in iter([x, 2.0 * x])], 0.5)],
    next: [(lambda x: next(iter([x, 2.0 * x])) * next(iter([]), 3.0), 0.5)],
    type: [(lambda x: x * 2.0 if type(x) is np.ndarray else x, V), (lambda n: type(n)(7) * n, 3)],
    str: [(lambda n, x: {"3": x}[str(n)], 3, 0.5)],
    repr: [(lambda n, x: {"3": x}[repr(n)], 3, 0.5)],
    ascii: [(lambda n, x: {"3": x}[ascii(n)], 3, 0.5)],
    format: [(lambda n, x: {"003": x}[format(n, "03")], 3, 0.5)],
    np.ndindex: [(lambda x: sum(x[k] * k[0] for k in np.ndindex(x.shape)), A),
                 (lambda x, n: [x * (i - j) for i, j in np.ndindex(n, 2)], 0.5, 3),
                 (lambda x: [x * k for k, in np.ndindex(3)], 0.5)],
    np.ndenumerate: [(lambda x: sum(v * (i + 2.0 * j) for (i, j), v in np.ndenumerate(x)), A),
                     (lambda x: [v * k for (k,), v in np.ndenumerate(x)], V)],
    tuple: [(lambda x: tuple([x, x * x]), 0.5), (lambda x: sum(tuple(x)), V)],
    getattr: [(lambda x, name="T": getattr(x, name) * getattr(x, "factor", 2.0), A)],
    any: [(lambda x: any([x > 0.2, x > 0.9]), 0.5)], all: [(lambda x: all([x > 0.2, x > 0.9]),
                                                            0.5)],
    abs: [(lambda x: abs(x), A), (lambda x: abs(x), -0.5), (lambda x: abs(x), Z)],
    id: [(lambda x: x if id(None) == id(None) else 2.0 * x, V)],
    operator.index: [(lambda x, n: x[:operator.index(n)], V, np.int8(2)),
                     (lambda x, n: x * operator.index(n), V, np.array(3))],
    operator.is_: [(lambda x: x if operator.is_(x, x) else 2.0 * x, V)],
    operator.is_not: [(lambda x: x if operator.is_not(x, None) else 2.0 * x, V)],
    hasattr: [(lambda x: x if hasattr(x, "shape") else 2.0 * x, V)],
    vars: [(lambda x: x * len(vars(types.SimpleNamespace(a=1))), 0.5)],
    callable: [(lambda x: x if callable(np.sin) and not callable(x) else 2.0 * x, V)],
    hash: [(lambda n, x: hash(n) * x, 3, 0.5)],
    pow: [(lambda n, x: pow(n, 2, 5) * x, 4, 0.5), (lambda x: pow(x, 3), 0.5),
          (lambda x, y: pow(x, y), V, 2.5)],
    map: [(lambda x: list(map(lambda a: a * a, [x, 2.0 * x])), 0.5)],
    functools.reduce: [(lambda x: functools.reduce(_plus, [x, x, x * x]), 0.5),
                       (lambda x: functools.reduce(operator.mul, [x, x], 2.0), 0.5)],
    math.prod: [(lambda x: math.prod([x, x, 3.0]), 0.5)],
    math.fsum: [(lambda x: math.fsum([x, x * x]), 0.5)],
}


def _filled(x: Any, value: Any) -> Any:
    x[:] = value
    return x


def _fill(x: Any, value: Any) -> Any:
    x.fill(value)
    return x


def _sorted(x: Any) -> Any:
    x.sort()
    return x


def _written(write: Callable[..., None], x: Any, *args: Any) -> Any:
    y = x.copy()
    write(y, *args)
    return y


def _partitioned(x: Any) -> Any:
    x.partition(1)
    return x


def _put(x: Any, values: Any) -> Any:
    x.put([3, 0, 1], values)
    return x


def _fill_diagonal(x: Any, value: Any) -> Any:
    np.fill_diagonal(x, value)
    return x


def _copyto(x: Any, value: Any, where: Any = True) -> Any:
    np.copyto(x, value, where=where)
    return x


def _attributes(x: Any) -> Any:
    o = types.SimpleNamespace(a=x)
    setattr(o, "b", 2.0 * x)  # noqa: B010
    delattr(o, "a")
    return o.b if not hasattr(o, "a") else o.a


def _add_at(x: Any, index: Any, value: Any) -> Any:
    np.add.at(x, index, value)
    return x


def _name(key: Any) -> str:
    return key if isinstance(key, str) else getattr(key, "__name__", str(key))


def _label(label: str, key: Any) -> str:
    """Return the beginning of a case's name: functions of `numpy.polynomial` are library code."""
    is_series = str(getattr(key, "__module__", "")).startswith("numpy.polynomial")
    return "polynomial" if is_series else label


def table_cases() -> list[Any]:
    """Return the cases of all tables."""
    tables = [FUNCTION_CASES, METHOD_CASES, PROPERTY_CASES, FOREIGN_CASES, BUILTIN_CASES]
    labels = ["np", "method", "property", "scipy", "builtin"]
    return [pytest.param(fn, args, id=f"{_label(label, key)}-{_name(key)}-{k}")
            for label, table in zip(labels, tables, strict=True) for key, cases in table.items()
            for k, (fn, *args) in enumerate(cases)]


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated")  # since NumPy 2.5
@pytest.mark.parametrize(("fn", "args"), table_cases())
def test_functions_are_numpys(fn: Callable[..., Any], args: list[Any]) -> None:
    with tracejit.config(disable_jit=True):
        check_case(fn, tuple(args))


@pytest.mark.filterwarnings("ignore")
def test_at_ends_special_functions_are_scipys() -> None:
    wrong = []
    with tracejit.config(disable_jit=True):
        for function, args in EDGES:
            found = tracejit.jit(lambda *xs, f=function: f(*xs))(*args)
            expected = function(*args)
            if not np.allclose(found, expected, rtol=4e-12, atol=0.0, equal_nan=True):
                wrong.append((function.__name__, args, found, expected))
    assert wrong == []


def test_the_order_of_a_bessel_function_has_no_derivative() -> None:
    assert tracejit.grad(lambda v, x: special.jv(v, x), argnums=1)(0.5, 2.0) == pytest.approx(
        special.jvp(0.5, 2.0))
    with pytest.raises(tracejit.Refusal, match=r"the order of a Bessel function is not known"):
        tracejit.grad(lambda v, x: special.jv(v, x))(0.5, 2.0)
    with pytest.raises(tracejit.Refusal, match=r"the order of a Bessel function is not known"):
        tracejit.jvp(lambda v: special.kv(v, 2.0), (0.5,), (1.0,))


def test_a_derivative_wrong_by_a_thousandth_is_caught() -> None:
    @tracejit.custom_gradient
    def sine(x: Any) -> Any:
        return np.sin(x), lambda ct: ct * np.cos(x) * 1.001

    with (tracejit.config(disable_jit=True),
          pytest.raises(AssertionError, match="the pullback")):
        check_case(lambda x: sine(x), (V,))


def test_a_result_of_another_type_is_caught() -> None:
    for actual, expected in ((np.float64(1.0), 1.0), (np.ones(2, np.float32), np.ones(2)),
                             (np.ones((2, 1)), np.ones(2)), ([1.0], (1.0,)), (1.0, 1.0 + 1e-9)):
        with pytest.raises(AssertionError):
            assert_identical(actual, expected)


@pytest.mark.parametrize(("table", "cases"), [
    (FUNCTIONS, FUNCTION_CASES | SERIES_CASES), (METHODS, METHOD_CASES),
    (PROPERTIES, PROPERTY_CASES), (FOREIGN, FOREIGN_CASES), (BUILTINS, BUILTIN_CASES)],
    ids=["functions", "methods", "properties", "scipy", "builtins"])
def test_everything_captured_has_a_case(table: Any, cases: Any) -> None:
    """Whoever adds a function to the tables adds a case for it."""
    public = [key for key in table if not str(getattr(key, "__module__", "")).startswith("tracejit")
              and "ADVANCED" not in str(key)]
    if table is FOREIGN:  # functions of other modules have tables of their own
        public = [key.rpartition(".")[2] for key in public
                  if key.startswith(("scipy.linalg.", "scipy.special."))]
    assert [_name(key) for key in public if not cases.get(key) and key not in FURTHER] == []


# --- the language ---------------------------------------------------------------------------------

LANGUAGE: dict[str, tuple[Any, tuple[Any, ...]]] = {}


def case(*args: Any) -> Callable[[Any], Any]:
    """Enter a function and arguments for it."""

    def enter(fn: Any) -> Any:
        LANGUAGE[fn.__name__] = (fn, args)
        return fn

    return enter


def cases(*names_and_rest: tuple[Any, ...]) -> None:
    """Enter (name, function, *arguments)."""
    for name, fn, *args in names_and_rest:
        LANGUAGE[name] = (fn, tuple(args))


cases(
    # operators, either side
    ("add_either_side", lambda x: (x + 1.0) * (1.0 + x) + (x + 1) * (1 + x), V),
    ("sub_either_side", lambda x: (x - 1.0) * (2 - x), V),
    ("div_either_side", lambda x: x / 2 + 2 / x, V),
    ("pow_either_side",
     lambda x: x ** 2 + x ** 3 + x ** 0.5 + x ** -1 + x ** 2.5 + 2.0 ** x + 2 ** x, V),
    ("pow_of_arrays", lambda x, y: x ** y, V, W),
    ("floor_and_mod", lambda x: x // 0.4 + x % 0.3 + 1.7 // x + 1.7 % x, V),
    ("matmul_operator", lambda x, y: x @ y + (y.T @ x.T).T, A, B),
    ("negation_and_plus", lambda x: -x + +x * 3.0 + abs(-x), V),
    ("comparisons", lambda x: (x > 0.5, x < 0.5, 0.5 >= x, x <= x, x == x, x != 0.5), V),
    ("masks_combined", lambda x: np.where((x > 0.3) & (x < 0.8) | ~(x > 0.2), x, 2.0 * x), V),
    ("int_operators", lambda n: (n + 2, n - 2, n * 3, n // 2, n % 3, -n, n ** 2, n / 2, 2 ** n,
                                 7 // n), 5),
    ("int_array_operators", lambda n: (n & 3, n | 1, n ^ 2, ~n, n << 1, n >> 1, n // 2, n % 3,
                                       n / 2), INTS),
    ("int_by_float", lambda n, x: n * x + x / n - n, INTS, V),
    ("bool_arithmetic", lambda m, x: m * x + (m + m) * 1.0 + x[m].sum(), MASK, V),
    ("numpy_scalars", lambda x: np.float32(2.0) * x + np.int64(3) + np.float64(0.5) / x, V),
    ("python_scalars", lambda x, y: (x + y) * x / y - x ** y + x // y + x % y, 2.5, 1.5),
    ("scalar_of_array", lambda x: x[0] * x[1] + x.sum() / x[-1], V),
    ("complex_arithmetic", lambda z: (z * z.conjugate() + 1j * z - 2.0) / (z + 3.0), Z),
    ("complex_from_real", lambda x: np.exp(1j * x) * (1.0 + 2.0j), V),
    ("complex_parts", lambda z: z.real ** 2 + z.imag * 3.0 + np.abs(z), Z),
    ("complex64", lambda z: z * (2.0 + 1.0j) + abs(z), Z.astype(np.complex64)),
    # promotion
    ("float32_stays", lambda x: np.sin(x * 2.0) + 1 + x ** 2, F32),
    ("float32_with_array", lambda x, y: x * y, F32, V),
    ("float32_with_numpy_scalar", lambda x: x * np.float64(2.0), F32),
    ("float32_with_ints", lambda x, n: x * n, F32, INTS),
    ("float32_with_int32", lambda x, n: x * n + n, F32, INTS.astype(np.int32)),
    ("small_ints", lambda n: (n + n, n.sum(), n * 2, n / 2, n.mean()), INTS.astype(np.int16)),
    ("bytes", lambda n: (n + n, n.sum(), n // 3), np.array([250, 3, 9], np.uint8)),
    ("int32_and_int64", lambda n, m: n * m, INTS.astype(np.int32), INTS),
    # indexing
    ("slices", lambda x: x[1:3] + x[:2] * x[-2:] + x[2:4], V),
    ("negative_steps", lambda x: x[::-1] * x + x[::-2].sum() + x[3:0:-1].sum(), V),
    ("steps", lambda x: x[::2].sum() * x[1::2], V),
    ("slices_beyond_the_end", lambda x: x[2:99].sum() + x[-99:3].sum() + x[4:2].sum(), V),
    ("newaxis", lambda x, y: x[:, None] * y[None, :] + x[:, np.newaxis], V, B3),
    ("ellipsis", lambda x: x[..., 0] + x[0, ..., 1].sum() + x[...].sum(), C),
    ("rows_and_columns", lambda x: x[0] * x[-1] + x[:, 1].sum() + x[1, 2], A),
    ("blocks", lambda x: x[1:, :-1] * x[:-1, 1:], A),
    ("index_array", lambda x, i: x[i] * 2.0, V, IDX), ("index_list", lambda x: x[[0, 0, 3]], V),
    ("index_array_on_an_axis", lambda x, i: x[:, i], A, IDX),
    ("index_array_2d", lambda x: x[np.array([[0, 1], [2, 2]])], V),
    ("index_arrays_together", lambda x: x[np.array([0, 2, 1]), np.array([1, 1, 3])], A),
    ("index_array_and_slice", lambda x: x[np.array([1, 0]), 1:3], A),
    ("index_array_and_int", lambda x: x[np.array([2, 0]), 1], A),
    ("index_negative_array", lambda x: x[np.array([-1, -2])], V),
    ("mask_folds", lambda x: x[x > 0.4].sum() + x[x > 0.4].mean() * x[x > 0.4].max(), V),
    ("traced_index", lambda x, i: x[i] * x[-i] + x[i - 1], V, 2),
    ("index_by_argmax", lambda x: x[np.argmax(x)] * x[np.argmin(x)], V),
    ("traced_slice", lambda x, i: x[i:i + 2] * x[:2], V, 2),
    ("shape_arithmetic", lambda x: x.reshape(x.shape[1],
                                             x.shape[0]).sum(axis=1) / x.shape[0] + x.ndim, A),
    # builtins and math
    ("math_functions", lambda x: math.sin(x) * math.exp(x) + math.sqrt(x) + math.pi * math.pow(x,
                                                                                               2),
                                                                                               0.5),
    ("math_floor_ceil", lambda x: math.floor(x * 7.0) + math.ceil(x) + x, 0.5),
    ("chained_comparison", lambda x: x if 0.0 < x < 1.0 else 2.0 * x, 0.5),
    ("ternary_nested", lambda x: 1.0 * x if x > 2.0 else (2.0 * x if x > 0.2 else 3.0 * x), 0.5),
    ("and_or_not", lambda x, y: x if x > 0.2 and (y > 9.0 or not y > 8.0) else y, 0.5, 0.7),
    ("comprehension", lambda x: sum([a * k for k, a in enumerate(x)]), V),
    ("comprehension_to_array", lambda x: np.array([x[i] * x[i + 1] for i in range(len(x) - 1)]), V),
    ("comprehension_nested", lambda x: sum(x[i] * x[j] for i in range(3) for j in range(i)), V),
    ("dict_comprehension", lambda x: {name: x * k for k, name in enumerate("abc")}, 0.5),
    ("lambda_in_lambda", lambda x: (lambda y: y * x)(x + 1.0), 0.5),
    ("starred_call", lambda x: np.sum(np.stack([*(x, x * x), x]), *(0,)), V),
    ("einsum_of_three", lambda x, y, z: np.einsum("ij,jk,k->i", x, y, z), A, B, B3),
    ("out_argument", lambda x: _out(x), V),
    ("ufunc_methods", lambda x: np.add.reduce(x) + np.multiply.outer(x,
                                                                     x)[0] + np.add.accumulate(x),
                                                                     V),
    ("gaussian_likelihood", lambda k, y: _likelihood(k, y), SPD, B3),
)


def _out(x: Any) -> Any:
    y = np.empty_like(x)
    np.multiply(x, 2.0, out=y)
    np.exp(y, out=y)
    return y


def _likelihood(k: Any, y: Any) -> Any:
    low = np.linalg.cholesky((k + k.T) / 2.0)
    z = np.linalg.solve(low, y)
    return -0.5 * z @ z - np.sum(np.log(np.diag(low)))


# in-place


@case(V)
def augmented_names(x: Any) -> Any:
    y = x * 1.0
    y += x
    y -= 0.5
    y *= x
    y /= 2.0
    y **= 2
    y %= 0.7
    return y


@case(V)
def augmented_elements(x: Any) -> Any:
    y = x.copy()
    y[0] += x[1]
    y[1:3] *= 2.0
    y[-1] /= x[0]
    y[::2] -= x[:3]
    return y


@case(A)
def writes_of_rows_and_blocks(x: Any) -> Any:
    z = np.zeros_like(x)
    z[0] = x[1]
    z[:, 1] = x[:, 2] * 2.0
    z[1:, 2:] += x[:-1, :2]
    z[-1, -1] = 3.0
    z[..., 0] = 1.0
    return z


@case(V)
def views_write_through(x: Any) -> Any:
    z = np.zeros((2, 5))
    row = z[1]
    row[2] = x[0]
    row += x
    z.T[4, 0] = x[1]
    flat = z.reshape(-1)
    flat[3] = x[2]
    z[:, ::-1][0, 1] = x[3]
    return z


@case(V)
def aliases_see_writes(x: Any) -> Any:
    y = x * 2.0
    alias = y
    copy = y.copy()
    y[0] = 7.0
    positive = +y
    positive[1] = 9.0
    return alias[0] * x[0] + copy[0] + y[1]


@case(V)
def overlapping_source(x: Any) -> Any:
    y = x.copy()
    y[1:] = y[:-1]
    y[:-2] += y[2:]
    y[:] = y[::-1]
    return y


@case(V, IDX)
def scatters(x: Any, i: Any) -> Any:
    z = np.zeros(5)
    z[i] = x[:4]
    np.add.at(z, i, x[1:])
    np.subtract.at(z, i, 0.5)
    z[[3, 4]] += x[:2]
    return z


@case(V)
def masked_writes(x: Any) -> Any:
    y = x.copy()
    y[y > 0.6] = 0.0
    y[x < 0.4] *= 3.0
    return y


@case(A)
def swapped_elements(x: Any) -> Any:
    y = x.copy()
    y[0, 0], y[1, 1] = y[1, 1], y[0, 0]
    a, b = y[0, 1], y[1, 0]
    a, b = b, a
    return y * a + b


@case(A)
def writes_to_the_argument(x: Any) -> Any:
    x[0] = x[1] * 2.0
    x += 1.0
    return x.sum()


@case(V)
def float_writes_to_ints(x: Any) -> Any:
    n = np.zeros(5, dtype=np.int64)
    n[:] = x * 10.0
    return n * x


# control flow


@case(0.7)
def branches(x: Any) -> Any:
    if x > 1.0:
        y = x * x
    elif x > 0.5:
        y = np.sin(x)
        y = y * 2.0
    else:
        y = 3.0
    return y


@case(V)
def branches_in_a_loop(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0.5:
            total += x[i] ** 2
        elif i % 2 == 0:
            total -= x[i]
    return total


@case(3.7)
def while_loop(x: Any) -> Any:
    steps = 0
    while x > 0.5:
        x = x / 2.0
        steps += 1
    return x * steps


@case(2.0)
def newton(a: Any) -> Any:
    x = a
    while abs(x * x - a) > 1e-13:
        x = 0.5 * (x + a / x)
    return x


@case(V)
def break_and_continue(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        if x[i] < 0.3:
            continue
        total += x[i]
        if total > 1.0:
            break
    return total * 2.0


@case(V)
def loop_else(x: Any) -> Any:
    for i in range(len(x)):
        if x[i] > 5.0:
            found = x[i]
            break
    else:
        found = x[0] * 10.0
    return found


@case(0.3)
def while_true(x: Any) -> Any:
    count = 0
    while True:
        x = x * 1.5
        count += 1
        if x > 2.0:
            break
    return x + count


@case(V)
def early_return(x: Any) -> Any:
    for i in range(len(x)):
        if x[i] > 0.6:
            return x[i] * 3.0
    return x[0]


@case(0.5, 3)
def counted_by_an_argument(x: Any, n: Any) -> Any:
    y = 1.0
    for k in range(n):
        y = y * x + k
    return y


@case(A)
def nested_and_triangular(x: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(i, x.shape[1], 2):
            total += x[i, j] * (i + j)
    return total


@case(V)
def backwards(x: Any) -> Any:
    y = x.copy()
    for i in range(len(x) - 2, -1, -1):
        y[i] += 0.5 * y[i + 1]
    for i in reversed(range(1, 3)):
        y[i] *= y[i - 1]
    return y


@case(A)
def over_rows(x: Any) -> Any:
    total = np.zeros(4)
    for k, row in enumerate(x):
        total = total * 0.5 + row * k
    return total


@case(V, W)
def over_pairs(x: Any, y: Any) -> Any:
    total = 0.0
    for a, b in zip(x, y, strict=True):
        total += a * b
    for a in reversed(x):
        total = total * a
    return total


@case(V, W)
def numbered_backwards(x: Any, y: Any) -> Any:
    """Numbers count iterations, whichever way items come; pairs are of items in that order."""
    total = 1.0
    for k, a in enumerate(reversed(x), 1):
        total = total * 0.5 + k * a
    for k, i in enumerate(range(len(x) - 1, -1, -1)):
        total += (k - 3) * x[i] * total
    for a, b, i in zip(x, reversed(y), range(len(x) - 1, 0, -1), strict=False):
        total += a * b * i * total
    return total


@case(V)
def prefix_sums(x: Any) -> Any:
    y = np.empty(len(x) + 1)
    y[0] = 0.0
    for i in range(len(x)):
        y[i + 1] = y[i] + x[i]
    return y


@case(V)
def swapped_buffers(x: Any) -> Any:
    old, new = x.copy(), np.zeros_like(x)
    for _ in range(3):
        new[1:-1] = 0.5 * (old[:-2] + old[2:])
        old, new = new, old
    return old


@case(V)
def int_accumulator_becomes_float(x: Any) -> Any:
    total = 0
    for i in range(len(x)):
        total += x[i]
    return total


@case(V)
def walrus(x: Any) -> Any:
    if (y := np.sum(x)) > 1.0:
        return y * y
    return y


@case(5.2)
def tuple_state(x: Any) -> Any:
    pair = (x, 1.0)
    while pair[0] > 1.0:
        pair = (pair[0] / 2.0, pair[1] + pair[0])
    return pair[0] * pair[1]


@case(0.4)
def list_state(x: Any) -> Any:
    state = [x, 1.0]
    for _ in range(4):
        state[0] = state[0] * 1.5
        if state[0] > 1.0:
            state[1] = state[1] + state[0]
    return state


@case(V)
def asserts_and_raises(x: Any) -> Any:
    assert np.all(x > 0.0), "positive"
    if x[0] < 0.0:
        raise ValueError("negative")
    return np.log(x)


# functions and state


def _square(x: Any) -> Any:
    return x * x


SCALE = 1.5
OFFSETS = {"low": 0.25, "high": np.array([1.0, 2.0, 3.0, 4.0, 5.0])}


@case(V)
def calls_and_globals(x: Any) -> Any:
    return _square(x) * SCALE + OFFSETS["low"] * OFFSETS["high"]


@case(0.5)
def nested_functions(x: Any) -> Any:
    def inner(y: Any, k: Any = 2.0) -> Any:
        return y * x + k

    def twice(f: Any, y: Any) -> Any:
        return f(f(y))

    return twice(inner, 3.0) + inner(x, k=1.0)


@case(0.5)
def nonlocal_state(x: Any) -> Any:
    total = 0.0

    def add(y: Any) -> None:
        nonlocal total
        total = total + y * y

    add(x)
    add(2.0 * x)
    return total


@case(0.9)
def recursion_on_an_int(x: Any) -> Any:
    return _power(x, 5)


def _power(x: Any, n: int) -> Any:
    if n == 0:
        return 1.0
    return x * _power(x, n - 1)


@case(V, 2)
def keywords_and_stars(x: Any, n: Any) -> Any:
    def f(*args: Any, scale: Any = 1.0, **rest: Any) -> Any:
        return sum(args) * scale + rest["offset"]

    return f(x, x * x, scale=n, **{"offset": 0.5})


@case({"w": A, "b": B3, "deep": [V, (0.5, {"x": W})]}, A[0].copy())
def dict_argument(p: Any, x: Any) -> Any:
    h = np.tanh(p["w"] @ x + p["b"])
    return np.sum(h) * p["deep"][1][0] + np.sum(p["deep"][0] * p["deep"][1][1]["x"])


@case(Pair(V, (0.5, W)))
def namedtuple_argument(p: Any) -> Any:
    return Pair(p.left * p.right[0], p.right[1].sum())


@case(Layer(A, B3, 1.5), A[0].copy())
def dataclass_argument(layer: Any, x: Any) -> Any:
    return np.tanh(layer.weights @ x + layer.bias) * layer.scale


@case([V, W, 2.0])
def list_argument(xs: Any) -> Any:
    a, *rest = xs
    return [a * rest[1], rest[0] + a]


@case(V)
def objects_made_inside(x: Any) -> Any:
    layer = Layer(x, x[0], scale=3.0)
    pair = Pair(layer.weights * layer.scale, layer.bias)
    return pair.left * pair.right


@case(V)
def dict_built_inside(x: Any) -> Any:
    parts = {"a": x}
    parts["b"] = parts["a"] * 2.0
    for name in ("a", "b"):
        parts[name] = parts[name] + 1.0
    return {k: v * v for k, v in parts.items()}


@case(V)
def list_built_in_a_loop(x: Any) -> Any:
    found = []
    for k in range(3):
        found.append(x * k)
    return np.stack(found)


@pytest.mark.parametrize("name", LANGUAGE)
def test_the_language_is_pythons(name: str) -> None:
    fn, args = LANGUAGE[name]
    with tracejit.config(disable_jit=True):
        check_case(fn, args)


@pytest.mark.parametrize("name", LANGUAGE)
def test_jit_leaves_arguments_as_python_does(name: str) -> None:
    fn, args = LANGUAGE[name]
    here, there = copied(args), copied(args)
    with tracejit.config(disable_jit=True):
        assert_identical(tracejit.jit(fn)(*here), fn(*there))
    assert_identical(here, there, "the arguments afterwards")


COMPILED = [
    "augmented_elements", "writes_of_rows_and_blocks", "views_write_through", "overlapping_source",
    "scatters",
    "masked_writes", "writes_to_the_argument", "branches", "branches_in_a_loop", "while_loop",
    "newton",
    "break_and_continue", "loop_else", "while_true", "early_return", "counted_by_an_argument",
    "nested_and_triangular", "backwards", "over_rows", "over_pairs", "prefix_sums",
    "swapped_buffers",
    "int_accumulator_becomes_float", "tuple_state", "calls_and_globals", "dict_argument",
    "dataclass_argument",
    "complex_arithmetic", "float32_stays", "int_array_operators", "small_ints", "negative_steps",
    "index_arrays_together", "mask_folds", "traced_slice", "pow_either_side", "math_functions",
    "comprehension_to_array", "gaussian_likelihood", "slices_beyond_the_end"]


@pytest.mark.parametrize("name", COMPILED)
def test_kernels_compute_it_too(name: str) -> None:
    fn, args = LANGUAGE[name]
    check_case(fn, args, forward=False)


@pytest.mark.parametrize("fn", [
    lambda x: np.linalg.matrix_power(x, 2), lambda x: np.linalg.outer(x, x),
    lambda x: np.convolve(x, x), lambda x: np.convolve(x[0], x[1], "most"),
    lambda x: np.piecewise(x, [x > 0.0], [1.0, 2.0, 3.0]),
    lambda x: x[np.unravel_index(12, (np.argmax(x) * 0 + 3, 4))]])
def test_bad_arguments_are_numpys_errors(fn: Any) -> None:
    with pytest.raises(ValueError) as theirs:
        fn(A)
    with tracejit.config(disable_jit=True), pytest.raises(ValueError) as ours:
        tracejit.jit(fn)(A)
    assert type(ours.value) is type(theirs.value)


# --- refused in the run: the dtype or the size of a result is what data says ----------------------


@pytest.mark.parametrize(("fn", "args", "words"), [
    (lambda x: np.emath.sqrt(x), (W,), "np.emath.sqrt of a number below 0"),
    (lambda x: np.emath.arccos(x), (2.0 * W,), "np.emath.arccos of a number outside of -1 to 1"),
    (lambda x, p: np.emath.power(x, p), (V, INTS), "np.emath.power of an int exponent below 0"),
    (lambda u: np.polydiv(u, [1.0, 1.0, 1.0]), (np.array([1.0, 2.0, 2.0, 1.0]),),
     "np.polydiv whose remainder")], ids=["sqrt", "arccos", "power", "polydiv"])
def test_a_result_of_another_dtype_or_size_is_refused(fn: Any, args: Any, words: str) -> None:
    with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal, match=words):
        tracejit.jit(fn)(*args)


def test_outside_of_a_domain_known_numbers_of_emath_are_complex() -> None:
    with tracejit.config(disable_jit=True):
        check_case(lambda x: x * np.emath.sqrt(np.array([-4.0, 2.0])), (V[:2].copy(),))
