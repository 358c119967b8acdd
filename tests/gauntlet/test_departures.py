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
        tracejit.jit(lambda n, x: n ** int(x[0]))(2, np.array([-1.0]))
    power = tracejit.jit(lambda n, m: n ** m)
    for n, m in ((2, -1), (2, 3), (-1, -3), (3, 0)):
        assert power(n, m) == n ** m and type(power(n, m)) is type(n ** m)
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


def test_a_float_of_pythons_on_one_path_and_numpys_on_another_is_numpys() -> None:
    def f(x: np.ndarray) -> Any:
        total = 0.0
        for v in x:
            if v > 0.0:
                total += v
        return total

    for x in (-np.ones(2), np.ones(2)):
        found = tracejit.jit(f)(x)
        assert type(found) is np.float64
        assert found == f(x)
    assert type(f(-np.ones(2))) is float


def test_arrays_that_are_returned_are_in_the_machines_byte_order() -> None:
    def f(x: np.ndarray) -> Any:
        return x.copy(), x[::-1]

    x = np.arange(3.0).astype(np.dtype(float).newbyteorder())
    for found, expected in zip(tracejit.jit(f)(x), f(x), strict=True):
        assert found.dtype.isnative
        assert not expected.dtype.isnative
        np.testing.assert_array_equal(found, expected)


HELD: dict[str, Any] = {"items": [1.0, 2.0], "object": SimpleNamespace(items=[3.0])}


@pytest.mark.parametrize("f", [
    lambda x: x, lambda x: HELD, lambda x: HELD["items"], lambda x: HELD["object"].items])
def test_containers_that_are_returned_are_new(f: Any) -> None:
    given = {"items": [4.0]}
    found, expected = tracejit.jit(f)(given), f(given)
    assert found == expected and found is not expected
    assert tracejit.jit(lambda x: HELD["object"])(given) is HELD["object"]


def test_an_array_without_axes_on_one_path_is_returned_as_a_scalar() -> None:
    def f(x: float) -> Any:
        return np.array(x) if x > 0.0 else x

    found = tracejit.jit(f)(1.5)
    assert isinstance(found, float) and type(f(1.5)) is np.ndarray
    assert found == f(1.5)


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


def test_sines_of_elements_and_of_vectors_are_near() -> None:
    x = np.random.default_rng(0).uniform(-50.0, 50.0, 61)
    for fp in ("default", "strict"):
        together = tracejit.jit(lambda x: np.sin(x), fp=fp)(x)
        one = tracejit.jit(lambda x, k: np.sin(x[k]), fp=fp)
        alone = np.array([one(x, k) for k in range(len(x))])
        units = np.abs(together - alone) / np.spacing(np.abs(alone))
        assert np.max(units) <= (4 if fp == "default" else 0)


def test_special_functions_at_the_ends_of_the_range() -> None:
    special = pytest.importorskip("scipy.special")
    with tracejit.config(disable_jit=True):
        for shape in (1e-12, 1e-8, 1e-4):
            found = tracejit.jit(lambda a, x: special.gammaincc(a, x))(shape, 0.5)
            assert abs(found - special.gammaincc(shape, 0.5)) < 1e-12
        for name in ("gammainc", "gammaincc", "stdtr"):
            for shape in (1e-300, 1e100) if name != "stdtr" else (5e-310,):
                with pytest.raises(tracejit.Refusal, match="of a shape below 1e-290 or above 1e"):
                    tracejit.jit(lambda a, x, name=name: getattr(special, name)(a, x))(shape, 0.5)
        with np.errstate(all="ignore"):
            for name, x in (("j0", 1e155), ("j1", 1e155), ("y0", 1e300), ("y1", 1e300)):
                found = tracejit.jit(lambda x, name=name: getattr(special, name)(x))(x)
                assert abs(found) <= np.sqrt(2.0 / np.pi / x)
            for name in ("ive", "kve"):
                found = tracejit.jit(lambda x, name=name: getattr(special, name)(1.0, x))(1e12)
                limit = np.sqrt(np.pi / 2e12) / (np.pi if name == "ive" else 1.0)
                assert found == pytest.approx(limit, rel=1e-9)
            found = tracejit.jit(lambda x: special.k0(x))(1e-310)
            assert found == pytest.approx(713.9173103438125)  # SciPy: k0 is, kv is infinite


@pytest.mark.parametrize(("x", "y"), [(1e155, 1e-300), (5e-324, 1e300), (1e-300, 1e155),
                                      (1.0, 5e-324), (0.3, 0.7), (0.5, 0.5)])
def test_relative_entropies_have_quotients_that_overflow(x: float, y: float) -> None:
    special = pytest.importorskip("scipy.special")
    with tracejit.config(disable_jit=True):
        found = tracejit.jit(lambda x, y: special.rel_entr(x, y))(x, y)
        assert found == pytest.approx(special.rel_entr(x, y), rel=1e-13)
        if x >= 1e-300:
            by_x = tracejit.grad(lambda x, y: special.rel_entr(x, y))(x, y)
            assert by_x == pytest.approx(np.log(x) - np.log(y) + 1.0, rel=1e-13)


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


@pytest.mark.parametrize("interpreted", [True, False])
def test_an_argument_is_as_before_a_call_that_ends_in_an_error(interpreted: bool) -> None:
    def writes_and_raises(x: Any) -> Any:
        x[0] = 5.0
        if x[1] > 0.0:
            raise ValueError("positive")
        return x.sum()

    with tracejit.config(disable_jit=interpreted):
        x = np.array([1.0, 2.0])
        with pytest.raises(ValueError, match="positive"):
            tracejit.jit(writes_and_raises)(x)
        assert x.tolist() == [1.0, 2.0]  # in Python x[0] is 5.0


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
