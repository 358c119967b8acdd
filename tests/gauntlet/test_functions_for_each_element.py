"""`np.vectorize` and `np.apply_along_axis`: how often they call, of which dtype, after a change."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "twice": lambda t: 2 * t, "half": lambda t: t / 2, "truth": lambda t: t > 1,
    "itself": lambda t: t, "a constant": lambda t: 1, "a float": lambda t: 0.5 + 0 * t,
    "an int": lambda t: int(t)}
DTYPES = ["float64", "float32", "int64", "int32", "bool"]
MADE: Any = None


def of_made(x: Any) -> Any:
    return MADE(x)


def counting(x: Any) -> Any:
    count = [0]

    def numbered(t: Any) -> Any:
        count[0] += 1
        return t * count[0]

    return np.vectorize(numbered)(x), count[0]


@pytest.mark.parametrize(("name", "dtype"), list(itertools.product(FUNCTIONS, DTYPES)))
def test_vectorize_gives_the_dtype_of_its_first_call(name: str, dtype: str) -> None:
    x = np.array([[1, 0, 3], [2, 5, 1]]).astype(dtype)
    with tracejit.config(disable_jit=True):
        for otypes in (None, "d", [np.int64]):
            globals()["MADE"] = np.vectorize(FUNCTIONS[name], otypes=otypes)
            found, wanted = tracejit.jit(of_made)(x), of_made(x)
            assert found.dtype == wanted.dtype and found.tolist() == wanted.tolist()


@pytest.mark.parametrize("count", [1, 2, 5, 20])
def test_vectorize_calls_once_more_for_the_first_element(count: int) -> None:
    x = np.arange(1.0, count + 1.0)
    with tracejit.config(disable_jit=True):
        found, wanted = tracejit.jit(counting)(x), counting(x)
    assert found[0].tolist() == wanted[0].tolist() and found[1] == wanted[1]


def test_an_object_of_vectorize_is_read_at_every_call() -> None:
    globals()["MADE"] = made = np.vectorize(FUNCTIONS["twice"])
    captured, x = tracejit.jit(of_made), np.array([1.0, 2.5])
    with tracejit.config(disable_jit=True):
        for name, content in (("pyfunc", FUNCTIONS["half"]), ("pyfunc", FUNCTIONS["twice"]),
                              ("otypes", "l"), ("otypes", "d"), ("otypes", None)):
            captured(x)
            setattr(made, name, content)
            found, wanted = captured(x), of_made(x)
            assert found.dtype == wanted.dtype and found.tolist() == wanted.tolist()


def test_a_dtype_along_an_axis_that_data_decides_is_refused() -> None:
    def mixed(x: Any) -> Any:
        return np.apply_along_axis(lambda v: 0 if v[0] > 0 else v.sum(), 1, x)

    def alike(x: Any) -> Any:
        return np.apply_along_axis(lambda v: 0.0 if v[0] > 0 else v.sum(), 1, x)

    x = np.array([[1.0, 2.0], [-1.5, 0.2]])
    with tracejit.config(disable_jit=True):
        assert tracejit.jit(alike)(x).tolist() == alike(x).tolist()
        with pytest.raises(tracejit.Refusal, match="Give it one type on all paths"):
            tracejit.jit(mixed)(x)


def test_place_of_an_array_s_own_elements_is_refused() -> None:
    def own(x: Any) -> Any:
        y = x * 1.0
        np.place(y, y > 1.5, y[1:])
        return y

    def copied(x: Any) -> Any:
        y = x * 1.0
        np.place(y, y > 1.5, y[1:].copy())
        return y

    x = np.array([1.0, 2.0, 2.0, 3.0])
    with tracejit.config(disable_jit=True):
        assert tracejit.jit(copied)(x).tolist() == copied(x).tolist()
        with pytest.raises(tracejit.Refusal, match=r"view\.copy"):
            tracejit.jit(own)(x)


@pytest.mark.parametrize("keywords", [{}, {"bias": True}, {"ddof": 3}, {"weighted": 0},
                                      {"weighted": 9}])
def test_covariances_of_too_few_elements_are_numpy_s(keywords: dict[str, Any]) -> None:
    def f(x: Any) -> Any:
        if "weighted" in keywords:
            return np.cov(x, fweights=x.astype(int), ddof=keywords["weighted"])
        return np.cov(x, **keywords)

    for count in range("weighted" in keywords, 5):
        x = np.arange(1.0, count + 1.0)
        with warnings.catch_warnings(), tracejit.config(disable_jit=True):
            warnings.simplefilter("ignore")
            np.testing.assert_allclose(tracejit.jit(f)(x), f(x))
