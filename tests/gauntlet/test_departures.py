"""Departures from Python or NumPy on purpose: the rows of docs/numerics.md, one test each."""

from __future__ import annotations

import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tracejit

PAGE = Path(__file__).parents[2] / "docs" / "numerics.md"


def test_there_are_at_most_ten_rows() -> None:
    rows = re.findall(r"^\| .*\|$", PAGE.read_text(), re.M)
    assert 2 <= len(rows) - 1 <= 10


def test_an_int_that_leaves_64_bits_is_an_error() -> None:
    with pytest.raises(OverflowError, match="64 bits"):
        tracejit.jit(lambda n: n * n)(2 ** 40)


def test_a_negative_float_to_a_broken_power_is_an_error() -> None:
    with pytest.raises(ValueError, match="complex in Python"):
        tracejit.jit(lambda x: x ** (1 / 3))(-8.0)


def test_an_int_to_a_negative_power_that_is_data_is_an_error() -> None:
    with pytest.raises(ValueError, match="float in Python"):
        tracejit.jit(lambda n, m: n ** m)(2, -1)
    assert tracejit.jit(lambda n: n ** -1)(2) == 0.5


def test_an_int_on_one_path_and_a_float_on_another_is_a_float() -> None:
    def f(x: float) -> Any:
        return 1 if x > 0.0 else 2.5

    assert type(tracejit.jit(f)(1.0)) is float
    assert tracejit.jit(f)(1.0) == f(1.0)

    def counts(x: np.ndarray) -> Any:
        return np.array([1, 2]) if x[0] > 0.0 else x

    found = tracejit.jit(counts)(np.ones(2))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, counts(np.ones(2)))


HELD: dict[str, Any] = {"items": [1.0, 2.0], "object": SimpleNamespace(items=[3.0])}


@pytest.mark.parametrize("f", [
    lambda x: x, lambda x: HELD, lambda x: HELD["items"], lambda x: HELD["object"].items])
def test_containers_that_are_returned_are_new(f: Any) -> None:
    given = {"items": [4.0]}
    found, expected = tracejit.jit(f)(given), f(given)
    assert found == expected and found is not expected
    assert tracejit.jit(lambda x: HELD["object"])(given) is HELD["object"]


def test_an_array_without_axes_is_returned_as_a_scalar() -> None:
    def f(x: float) -> Any:
        total = np.zeros(())
        total += x
        return total

    found = tracejit.jit(f)(1.5)
    assert type(found) is np.float64
    assert found == f(1.5)
    given = np.array(2.5)
    assert tracejit.jit(lambda x: x)(given) is given


def test_eigenvalues_of_real_matrices_are_complex() -> None:
    a = np.diag([1.0, 2.0])
    with tracejit.config(disable_jit=True):
        for f in (np.linalg.eigvals, lambda a: np.linalg.eig(a)[1],
                  lambda a: np.roots(a[:, 1] + 1)):
            found = tracejit.jit(f)(a)
            assert found.dtype == np.complex128
            np.testing.assert_array_equal(found, f(a))


def test_fsum_is_a_sum_in_twice_the_precision() -> None:
    def f(a: float, b: float) -> Any:
        return math.fsum([1e16, a, -1e16, b, 0.1, -b])

    for args in ((1.0, 3.0), (1.0, 1e10), (-0.3, 1e-10)):
        assert tracejit.jit(f)(*args) == pytest.approx(f(*args), rel=1e-15)
    assert tracejit.grad(f)(1.0, 3.0) == 1.0


def test_quotients_of_large_ints_are_near() -> None:
    for n, m in ((2 ** 62 + 1, 3), (2 ** 53 + 1, 7), (2 ** 63 - 1, 2 ** 61 + 3)):
        assert tracejit.jit(lambda n, m: n / m)(n, m) == pytest.approx(n / m, rel=3e-16)


def test_small_powers_are_near() -> None:
    x = np.random.default_rng(0).uniform(0.1, 9.0, 1000)
    for p in (2, 3, 4, -2, -0.5):
        np.testing.assert_allclose(tracejit.jit(lambda x, p=p: x ** p)(x), x ** p, rtol=9e-16)


def test_an_error_that_no_data_decides_comes_before_what_is_written_and_drawn() -> None:
    def f(x: np.ndarray, rng: np.random.Generator) -> Any:
        x[0] = rng.random()
        raise ValueError("always")

    x, rng = np.ones(2), np.random.default_rng(3)
    with pytest.raises(ValueError, match="always"):
        tracejit.jit(f)(x, rng)
    assert x[0] == 1.0
    assert rng.random() == np.random.default_rng(3).random()


def test_what_numpy_warns_of_is_computed_in_silence() -> None:
    def raising(x: np.ndarray) -> np.ndarray:
        with np.errstate(divide="raise"):
            return 1.0 / x

    def ignoring(x: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return 1.0 / x

    with pytest.raises(tracejit.Refusal, match="errstate"):
        tracejit.jit(raising)(np.zeros(2))
    assert np.isinf(tracejit.jit(ignoring)(np.zeros(2))).all()


# --- arrays that are not plain -------------------------------------------------------------------


class Doubling(np.ndarray):
    def __mul__(self, other: Any) -> Any:
        return np.asarray(self) * other * 2.0


class Watching(np.ndarray):
    def __array_finalize__(self, source: Any) -> None:
        self.note = "seen"


class Handling(np.ndarray):
    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        return 7.0


class Named(np.ndarray):
    title = "a subclass that changes nothing"


@pytest.mark.parametrize("kind", [Doubling, Watching, Handling, np.ma.MaskedArray, np.matrix,
                                  np.recarray])
def test_an_array_with_operations_of_its_own_is_refused(kind: Any) -> None:
    plain = np.ones((2, 2))
    other = np.ma.array(plain) if kind is np.ma.MaskedArray else plain.view(kind)
    captured = tracejit.jit(lambda x: x * 3.0)
    assert (captured(plain) == 3.0).all()
    for call in (lambda: captured(other), lambda: tracejit.grad(np.sum)(other),
                 lambda: tracejit.jit(lambda x: x * other)(plain)):
        with pytest.raises(tracejit.Refusal, match=kind.__name__):
            call()


def test_arrays_that_only_lie_elsewhere_are_taken(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=(3,))
    mapped[:] = [1.0, 2.0, 3.0]
    for x in (mapped, np.arange(3.0).view(Named)):
        assert (tracejit.jit(lambda x: x * 2.0)(x) == np.asarray(x) * 2.0).all()
