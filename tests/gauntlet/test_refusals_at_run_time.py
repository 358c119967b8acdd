"""Where a number of Python's would be one that a program has no room for, its run is refused.

The refusal names the user's file and line, and is of the class that callers may know already: a
`ValueError` for a result that would be complex, an `OverflowError` for an int of more than 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.errors import ComplexResult, LargeInt, Refusal


def root(x: float) -> Any:
    return x ** (1.0 / 3.0)


def power(x: float, k: float = 0.5) -> Any:
    return abs(pow(x, k))


def powers_in_a_loop(x: float) -> Any:
    s = 0.0
    for k in range(4):
        s = s + x ** (k * 0.5)
    return s


def whole(x: float) -> Any:
    return int(x * 1e19)


def whole_items(x: float) -> Any:
    return [int(x * k) for k in (1e17, 1e19)]


def product(n: int) -> Any:
    return n * n


COMPLEX: list[tuple[Callable[..., Any], Any, Any]] = [
    (root, 8.0, -8.0), (power, 4.0, -4.0), (powers_in_a_loop, 4.0, -4.0)]
LARGE: list[tuple[Callable[..., Any], Any, Any]] = [
    (whole, 0.5, 5.0), (whole_items, 0.5, -5.0), (product, 3, 1 << 40)]


def check(fn: Any, good: Any, bad: Any, kinds: tuple[type[Exception], ...]) -> None:
    staged = tracejit.jit(fn)
    for _ in range(2):
        assert staged(good) == pytest.approx(fn(good))
        with pytest.raises(kinds[0]) as caught:
            staged(bad)
        assert all(isinstance(caught.value, kind) for kind in kinds)
        assert str(caught.value).startswith(f"{__file__}:")
    fn(bad)  # Python has a number


@pytest.mark.parametrize("interpreted", [True, False])
@pytest.mark.parametrize(("fn", "good", "bad"), COMPLEX)
def test_a_complex_result_is_refused(fn: Any, good: Any, bad: Any, interpreted: bool) -> None:
    with tracejit.config(disable_jit=interpreted):
        check(fn, good, bad, (ComplexResult, Refusal, ValueError))


@pytest.mark.parametrize("interpreted", [True, False])
@pytest.mark.parametrize(("fn", "good", "bad"), LARGE)
def test_a_large_int_is_refused(fn: Any, good: Any, bad: Any, interpreted: bool) -> None:
    with tracejit.config(disable_jit=interpreted):
        check(fn, good, bad, (LargeInt, Refusal, OverflowError))


@pytest.mark.parametrize("x", [np.inf, -np.inf, np.nan])
def test_what_python_raises_is_no_refusal(x: float) -> None:
    with tracejit.config(disable_jit=True), pytest.raises((OverflowError, ValueError)) as caught:
        tracejit.jit(lambda v: int(v))(x)
    with pytest.raises(type(caught.value)) as expected:
        int(x)
    assert str(caught.value) == str(expected.value)
    assert not isinstance(caught.value, Refusal)


def catches(x: float) -> Any:
    try:
        return abs(x ** 0.5)
    except ValueError:
        return -1.0


def test_a_program_cannot_take_a_refusal_for_an_error_of_its_own() -> None:
    with tracejit.config(disable_jit=True), pytest.raises(Refusal, match="complex in Py"):
        tracejit.jit(catches)(-4.0)
