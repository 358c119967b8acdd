"""NumPy's functions whose results are as long as data says: their values, and their gradients."""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from size_programs import program

import tracejit

X = np.array([0.5, 1.5, 2.5, -0.7, 3.3, 0.1])
A = np.arange(12.0).reshape(3, 4) * 0.37 - 1.0
TIES = np.array([2.0, 1.0, 2.0, 3.0, 1.0, np.nan, np.nan, -0.5])
INTS = np.array([3, 1, 3, 0, 7, 1])
CONTENTS = np.array([4, 2, 9, 1, 5])

Case = tuple[Callable[[Any], Any], np.ndarray]


def written(x: Any) -> Any:
    y = x.copy()
    y[x > 0.2] = np.arange(np.sum(x > 0.2)) * 1.0
    return y


CASES: dict[str, Case] = {
    "flatnonzero": (lambda x: np.flatnonzero(x > 0.2), A),
    "argwhere": (lambda x: np.argwhere(x > 0.2), A),
    "argwhere of a vector": (lambda x: np.argwhere(x), X),
    "extract": (lambda x: np.extract(x > 0.2, x * 2.0), A),
    "extract, short": (lambda x: np.extract(x[:3] > 0.2, x * 2.0), X),
    "compress": (lambda x: np.compress(x > 0.2, x), X),
    "compress rows": (lambda x: np.compress(x[:, 0] > -0.5, x, axis=0), A),
    "compress columns": (lambda x: x.compress(x[0] > -0.5, axis=1), A),
    "compress flat": (lambda x: np.compress(x[:, 0] > -0.5, x), A),
    "unique": (np.unique, TIES), "unique of ints": (np.unique, INTS),
    "unique of bools": (lambda x: np.unique(x > 1), INTS),
    "unique of complex": (lambda x: np.unique(x + 1j * np.abs(x)), INTS * 1.0),
    "unique, all": (lambda x: np.unique(x, return_index=True, return_inverse=True,
                                        return_counts=True), TIES),
    "unique, each NaN": (lambda x: np.unique(x, return_counts=True, equal_nan=False), TIES),
    "unique of a matrix": (lambda x: np.unique(np.floor(x), return_inverse=True), A),
    "unique_counts": (np.unique_counts, INTS), "unique_inverse": (np.unique_inverse, INTS),
    "unique_all": (np.unique_all, INTS),
    "unique_values": (lambda x: np.sort(np.unique_values(x)), INTS),
    "unique_values, each NaN": (lambda x: np.sort(np.unique_values(x)), TIES),
    "union1d": (lambda x: np.union1d(x, x[::2] + 1), INTS),
    "union1d of kinds": (lambda x: np.union1d(x, np.arange(3)), TIES[:5]),
    "intersect1d": (lambda x: np.intersect1d(x, x[::2] + 1), INTS),
    "intersect1d, where": (lambda x: np.intersect1d(x, x[::2] + 2, return_indices=True), INTS),
    "intersect1d of unique": (lambda x: np.intersect1d(
        x[:3], x[2:], assume_unique=True, return_indices=True), CONTENTS),
    "setdiff1d": (lambda x: np.setdiff1d(x, x[:2]), INTS),
    "setdiff1d of unique": (lambda x: np.setdiff1d(x, x[:2], assume_unique=True), CONTENTS),
    "setxor1d": (lambda x: np.setxor1d(x, x[::2] + 1), INTS),
    "isin": (lambda x: np.isin(x, x[x > 2]), INTS),
    "bincount": (np.bincount, INTS),
    "bincount of weights": (lambda x: np.bincount(x, weights=x * 0.5, minlength=3), INTS),
    "bincount, long": (lambda x: np.bincount(x, minlength=20), INTS),
    "bincount, negative": (lambda x: np.bincount(x - 2), INTS),
    "repeat": (lambda x: np.repeat(x * 0.5, x), INTS),
    "repeat rows": (lambda x: np.repeat(x, np.floor(np.abs(x[:, 0]) * 3.0).astype(int), axis=0),
                    A),
    "repeat, known": (lambda x: np.repeat(x, [1, 2, 1, 0], axis=1), A),
    "repeat, a list of one": (lambda x: np.repeat(x, [2]), X),
    "repeat, negative": (lambda x: np.repeat(x, x - 1), INTS),
    "repeat, too few": (lambda x: np.repeat(x, x[:3]), INTS),
    "repeat, one number": (lambda x: np.repeat(x, x[0]), INTS),
    "arange": (lambda x: np.arange(0.0, x[1], x[0]), X),
    "arange down": (lambda x: np.arange(x[2], x[0], -0.3), X),
    "arange of nothing": (lambda x: np.arange(x[2], x[0], 0.3), X),
    "arange to NaN": (lambda x: np.arange(0.0, x[5]), TIES),
    "linspace": (lambda x: np.linspace(x[0], x[1], np.sum(x > 0.2)), X),
    "linspace, open": (lambda x: np.linspace(x[0], x[1], np.sum(x > 0.2), endpoint=False), X),
    "zeros": (lambda x: np.zeros((np.sum(x > 0.2), 2)), X),
    "full": (lambda x: np.full(np.sum(x > 0.2), x[0]), X),
    "eye": (lambda x: np.eye(np.sum(x > 0.2)), X),
    "delete by mask": (lambda x: np.delete(x, x > 0.2), X),
    "delete by indices": (lambda x: np.delete(x, np.argsort(x)[:2]), X),
    "delete columns": (lambda x: np.delete(x, x[0] > -0.8, axis=1), A),
    "ix_": (lambda x: x[np.ix_(x[:, 0] > -0.5, x[0] > -0.8)], A),
    "nonzero": (lambda x: (x > 0.2).nonzero(), A),
    "a strided part": (lambda x: x[::-2][x[::-2] > 0.1], X),
    "a written mask": (written, X),
    "a mask of no axes": (lambda x: x[x[0] > 0.2], X),
    "a mask that is short": (lambda x: x[(x > 0.2)[:4]], X),
    "stack": (lambda x: np.stack([x[x > 0.2], 2.0 * x[x > 0.2]]), X),
    "outer": (lambda x: np.outer(x[x > 0.2], x), X),
    "tile": (lambda x: np.tile(x[x > 0.2], 2), X),
    "quantile": (lambda x: np.quantile(x[x > -9.0], 0.3), X[:4]),
    "roll and pad": (lambda x: np.pad(np.roll(x[x > 0.2], 1), 1), X),
    "solve": (lambda x: np.linalg.solve(np.eye(np.sum(x > 0.2)) * 2.0, x[x > 0.2]), X),
    "einsum": (lambda x: np.einsum("i,j->ij", x[x > 0.2], x[x > 0.2]), X),
    "truths": (lambda x: (np.any(x[x > 0.2] > 3.0), np.all(x[x > 0.2] > 0.3)), X),
    "gradient": (lambda x: np.gradient(x[x > 0.2]), X),
    "rows times rows": (lambda x: x[x[:, 0] > -0.5] @ x[x[:, 0] > -0.5].T, A),
    "rows, transposed and flat": (lambda x: x[x[:, 0] > -0.5].T.ravel(), A),
}

GRADIENTS: dict[str, Case] = {
    "extract": (lambda x: np.extract(x > 0.2, x * x), A),
    "compress": (lambda x: np.compress(x[0] > -0.5, x, axis=1) ** 2, A),
    "unique": (lambda x: np.unique(x) ** 2, X),
    "unique of ties": (lambda x: np.unique(np.where(x > 1.0, 2.0, x * x)), X),
    "union1d": (lambda x: np.union1d(x, x[:2] + 0.1) ** 2, X),
    "intersect1d": (lambda x: np.intersect1d(x, x[1:4]) ** 2, X),
    "setdiff1d": (lambda x: np.setdiff1d(x, x[1:3]) ** 2, X),
    "bincount": (lambda x: np.bincount(np.floor(np.abs(x)).astype(int), weights=x * x), X),
    "repeat": (lambda x: np.repeat(x * x, np.floor(np.abs(x)).astype(int)), X),
    "repeat columns": (lambda x: np.repeat(x * x, [1, 2, 0, 1], axis=1), A),
    "arange": (lambda x: np.arange(x[0], x[2], 0.3 * x[1]) ** 2, X),
    "linspace": (lambda x: np.linspace(x[0], x[1], np.sum(x > 0.2)) ** 2, X),
    "delete": (lambda x: np.delete(x, x > 0.2, axis=0) ** 2, X),
    "argwhere": (lambda x: x[np.argwhere(x > 0.2)[:, 0]] ** 2, X),
    "ix_": (lambda x: x[np.ix_(x[:, 0] > -0.5, x[0] > -0.8)] ** 2, A),
    "roll and sort": (lambda x: np.sort(np.roll(x[x > 0.2], 1)) ** 2, X),
    "median": (lambda x: np.median(x[x > 0.2]) ** 2, X),
    "solve": (lambda x: np.linalg.solve(np.eye(np.sum(x > 0.2)) + np.outer(
        x[x > 0.2], x[x > 0.2]), x[x > 0.2]), X),
}


def inputs_of(x: np.ndarray) -> Iterator[np.ndarray]:
    yield from (x, -x, x[:0], x[:1], np.ascontiguousarray(x[::-1]))


def outcome(f: Callable[[Any], Any], x: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return f(x.copy())
        except (ValueError, IndexError, TypeError) as e:
            return type(e)


def same(found: Any, expected: Any) -> bool:
    if isinstance(expected, tuple):
        return type(found) is type(expected) and len(found) == len(expected) and all(
            map(same, found, expected))
    if isinstance(expected, type):
        return bool(found is expected)
    return found.dtype == expected.dtype and found.shape == expected.shape and np.allclose(
        found, expected, 1e-12, equal_nan=True)


def check(f: Callable[[Any], Any], x: np.ndarray) -> None:
    compiled = tracejit.jit(f)
    for y in inputs_of(x):
        found, expected = outcome(compiled, y), outcome(f, y)
        assert same(found, expected), (y, found, expected)


@pytest.mark.parametrize("name", CASES)
def test_results_are_numpys(name: str) -> None:
    with tracejit.config(disable_jit=True):
        check(*CASES[name])


@pytest.mark.parametrize("name", ["unique, all", "intersect1d, where", "setdiff1d", "repeat rows",
                                  "bincount of weights", "arange down", "delete by indices",
                                  "argwhere", "compress columns", "solve"])
def test_results_of_compiled_programs_are_numpys(name: str) -> None:
    check(*CASES[name])


def weighted(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def total(x: Any) -> Any:
        y = np.ravel(f(x))
        return np.sum(y * np.arange(1, y.size + 1))

    return total


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_those_of_what_was_chosen(name: str) -> None:
    f, x = GRADIENTS[name]
    total = weighted(f)
    expected = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        h = np.zeros(x.shape)
        h[i] = 1e-6
        expected[i] = (total(x + h) - total(x - h)) / 2e-6
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.grad(total)(x), expected, rtol=1e-5, atol=1e-5)
        along = np.cos(np.arange(x.size)).reshape(x.shape)
        np.testing.assert_allclose(tracejit.jvp(total, (x,), (along,))[1], np.sum(expected * along),
                                   rtol=1e-5, atol=1e-5)


def test_gradients_compiled() -> None:
    for name in ("unique", "repeat", "arange", "solve", "setdiff1d"):
        f, x = GRADIENTS[name]
        with tracejit.config(disable_jit=True):
            expected = tracejit.grad(weighted(f))(x)
        np.testing.assert_allclose(tracejit.grad(weighted(f))(x), expected, rtol=1e-10)


def test_one_point_of_a_range_is_its_start() -> None:
    """Also where the size of an argument says that there is but one."""
    for jit in (False, True):
        with tracejit.config(disable_jit=not jit):
            f = tracejit.jit(lambda x: np.linspace(1.0, 2.0, len(x)))
            for n in (3, 1, 0, 5):
                np.testing.assert_array_equal(f(np.ones(n)), np.linspace(1.0, 2.0, n))


def test_differences_of_one_element_raise() -> None:
    f = tracejit.jit(lambda x: np.gradient(x))
    with tracejit.config(disable_jit=True):
        f(X)
        with pytest.raises(ValueError, match="too small to calculate a numerical gradient"):
            f(X[:1])


# --- random programs ----------------------------------------------------------------------------


def checked(seed: int) -> None:
    """Compare a random program with NumPy, for several sizes; an error has to be NumPy's too."""
    source, name = program(seed), f"<sizes {seed}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names: dict[str, Any] = {"np": np}
    exec(compile(source, name, "exec"), names)
    f, random = names["f"], np.random.default_rng(seed)
    slope = tracejit.value_and_grad(f)
    for n in (6, 0, 1, 2, 9):
        x = random.uniform(-1.2, 2.2, n)
        along = random.normal(size=n)
        expected = outcome(f, x)
        try:
            value, gradient = slope(x)
        except ValueError as e:
            if "a size of 1 does not broadcast" in str(e) or expected is type(e):
                continue
            raise
        if not np.isfinite(expected) or abs(expected) > 1e8:
            continue
        np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-9, err_msg=source)
        steep = [(outcome(f, x + h * along) - outcome(f, x - h * along)) / (2 * h)
                 for h in (1e-6, 3e-7)]
        if abs(steep[0] - steep[1]) < 1e-3 * max(1.0, abs(steep[0])):  # no kink between
            np.testing.assert_allclose(gradient @ along, steep[0], rtol=1e-3, atol=1e-3,
                                       err_msg=source)


@pytest.mark.parametrize("first", range(0, 200, 10))
def test_random_programs_are_right(first: int) -> None:
    with tracejit.config(disable_jit=True):
        for seed in range(first, first + 10):
            checked(seed)


@pytest.mark.parametrize("seed", range(1000, 1003))
def test_random_programs_are_right_compiled(seed: int) -> None:
    checked(seed)
