"""Edges of library functions: where SciPy raises or is NaN, and which results are writable."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

linalg = pytest.importorskip("scipy.linalg")
ndimage = pytest.importorskip("scipy.ndimage")
special = pytest.importorskip("scipy.special")


def outcome(function: Callable[..., Any], *args: object) -> Any:
    try:
        with np.errstate(all="ignore"):
            return function(*args)
    except Exception as error:
        return type(error)


def require_same(function: Callable[..., Any], *args: object, rtol: float = 1e-9,
                 atol: float = 1e-300) -> None:
    with tracejit.config(disable_jit=True):
        got, expected = outcome(tracejit.jit(function), *args), outcome(function, *args)
    if isinstance(expected, type):
        assert isinstance(got, type) and issubclass(got, expected), (args, got)
    else:
        assert not isinstance(got, type), (args, got, expected)
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("width", [0, 1, 2])
def test_a_band_has_to_be_positive_definite(lower: bool, width: int) -> None:
    rng = np.random.default_rng(width)
    for k in range(6):
        ab, imag = rng.normal(size=(2, width + 1, 5))
        ab = ab + 1j * imag if k % 2 else ab
        main = 0 if lower else -1
        ab[main] = np.abs(ab[main].real) + (3 * width if k < 3 else 0.0)
        if k == 5:
            ab[main, 3] = -1.0
        require_same(lambda a, b: linalg.solveh_banded(a, b, lower=lower), ab, rng.normal(size=5))


def test_an_error_of_linear_algebra_that_data_decides() -> None:
    def function(x: Any) -> Any:
        if x < 0.0:
            raise np.linalg.LinAlgError("below zero")
        return x * 2.0

    jitted = tracejit.jit(function)
    assert jitted(1.5) == 3.0
    with pytest.raises(np.linalg.LinAlgError, match="below zero"):
        jitted(-1.0)


@pytest.mark.parametrize("mode", ["reflect", "constant", "nearest", "mirror", "wrap"])
def test_a_running_mean_keeps_what_is_not_finite(mode: str) -> None:
    rng = np.random.default_rng(0)
    for size, axis, cval, bad in itertools.product((1, 2, 3, 5), (0, 1), (0.0, np.nan),
                                                   (np.nan, np.inf, 0.0)):
        x = rng.normal(size=(5, 6))
        x[2, 3] = bad
        require_same(lambda x, n=size, a=axis, c=cval: ndimage.uniform_filter1d(
            x, n, a, mode=mode, cval=c), x, atol=1e-14)


@pytest.mark.parametrize("name", ["elliprf", "elliprd"])
def test_carlsons_integrals_of_arguments_far_apart(name: str) -> None:
    rng = np.random.default_rng(0)
    ends = np.array([-1.0, 0.0, 0.5, 2.0, np.inf, np.nan])
    require_same(getattr(special, name), *map(np.ravel, np.meshgrid(ends, ends, ends)))
    for width in (1, 10, 100):
        require_same(getattr(special, name), *10.0 ** rng.uniform(-width, width, (3, 50)),
                     rtol=1e-13)


def test_incomplete_integrals_next_to_one() -> None:
    angle = 0.5 * np.pi - 10.0 ** -np.arange(1.0, 16.0)
    for m in (0.3, 1.0 - 1e-6, 1.0 - 1e-12):
        require_same(lambda a, m: special.ellipkinc(a, m), angle, np.full(15, m))
        require_same(lambda a, m: special.ellipeinc(a, m), angle, np.full(15, m))


@pytest.mark.parametrize("name", ["j0", "j1", "y0", "y1", "jv", "yv", "ive", "kve", "iv", "kv",
                                  "yn", "kn"])
def test_bessel_functions_at_infinity(name: str) -> None:
    x = np.array([-np.inf, -2.5, 0.5, 3.0, np.inf, np.nan])
    function = getattr(special, name)
    if len(name) == 2 and name[1].isdigit():
        require_same(lambda x: function(x), x)
    else:
        for order in (0.0, 1.0, 2.0) if name[1] == "n" else (0.0, 1.0, 2.5, -1.0):
            require_same(lambda v, x: function(v, x), np.full(6, order), x)


def test_keys_of_unlike_lengths_are_no_keys() -> None:
    for a, b in ((1, 3), (3, 1), (3, 3), (2, 3)):
        require_same(lambda a, b: np.lexsort((a, b)), np.arange(float(a))[::-1], np.ones(b))


def test_a_sum_of_floats_takes_no_complex_numbers() -> None:
    for x in (1.5, 2, 1.0 + 2.0j):
        require_same(lambda x: math.fsum([x, 2.0]), x)


def test_the_imaginary_part_of_real_numbers_is_not_written_to() -> None:
    def function(x: Any) -> Any:
        part = x.imag
        part[0] = 3.0
        return part

    with pytest.raises(tracejit.Refusal, match="imaginary part"), tracejit.config(disable_jit=True):
        tracejit.jit(function)(np.ones(3))


COPIES: dict[str, Callable[[Any], Any]] = {
    "times one": lambda x: x * 1, "copy": lambda x: x.copy(), "negative": lambda x: np.negative(-x),
    "plus": lambda x: +x, "as it was": lambda x: np.array(x),
    "to floats": lambda x: x.astype(float),
    "reshaped": lambda x: (x * 1.0).reshape(2, 2), "concatenated": lambda x: np.concatenate([x]),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_is_one_where_the_interpreter_runs_too(name: str) -> None:
    def function(x: Any) -> Any:
        y, z = COPIES[name](x), COPIES[name](x)
        x[0] = 9.0
        return y, z

    for interpreted in (True, False):
        with tracejit.config(disable_jit=interpreted):
            x = np.array([3.0, 1.0, 2.0, 5.0])
            y, z = tracejit.jit(function)(x)
            assert y.ravel()[0] == z.ravel()[0] == 3.0 and x[0] == 9.0
            y += 1.0
            assert x[0] == 9.0 and z.ravel()[0] == 3.0


@pytest.mark.parametrize("seed", range(8))
def test_interp_at_nodes_that_are_there_twice_is_numpys(seed: int) -> None:
    def plain(x: Any, xp: Any, fp: Any) -> Any:
        return np.interp(x, xp, fp)

    def with_ends(x: Any, xp: Any, fp: Any) -> Any:
        return np.interp(x, xp, fp, left=-1.0, right=9.0)

    rng = np.random.default_rng(seed)
    for _ in range(10):
        xp = np.sort(rng.integers(0, 4, rng.integers(1, 6))).astype(float)
        fp = rng.normal(size=len(xp))
        x = np.concatenate([xp, np.arange(4.0), rng.uniform(-1.0, 5.0, 4)])
        for function in (plain, with_ends):
            require_same(function, x, xp, fp, rtol=1e-12, atol=1e-12)
        with tracejit.config(disable_jit=True):
            slope = tracejit.grad(lambda fp: np.sum(plain(x, xp, fp)))(fp)
        columns = [plain(x, xp, unit).sum() for unit in np.eye(len(xp))]
        np.testing.assert_allclose(slope, columns, rtol=1e-12, atol=1e-12)
