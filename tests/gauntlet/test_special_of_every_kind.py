"""Functions of `scipy.special` with orders, counts and sizes, of numbers and arrays of each dtype.

They are programs of SciPy's in Python: bools are ints, differences or errors in them, ints wrap
around, and some round to float32 and others do not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as sp
from test_kinds_of_arguments import difference

import tracejit

OF_ORDERS = {name: getattr(sp, name) for name in (
    "jvp", "yvp", "ivp", "kvp", "spherical_jn", "spherical_yn", "spherical_in", "spherical_kn")}
CALLS: dict[str, Callable[[Any], Any]] = {
    "comb": lambda x: sp.comb(x, x), "comb of 5": lambda x: sp.comb(5, x),
    "comb to 2": lambda x: sp.comb(x, 2), "comb turned": lambda x: sp.comb(x, x[::-1]),
    "comb, repeated": lambda x: sp.comb(x, x, repetition=True),
    "comb to 2, repeated": lambda x: sp.comb(x, 2, repetition=True),
    "perm": lambda x: sp.perm(x, x), "perm to 2": lambda x: sp.perm(x, 2),
    "perm of 5": lambda x: sp.perm(5, x), "binom": lambda x: sp.binom(x, x[::-1]),
    "factorial": sp.factorial, "factorial, extended": lambda x: sp.factorial(x, extend="complex"),
    "diric": lambda x: sp.diric(x, 3), "diric, even": lambda x: sp.diric(x, 4),
    "multigammaln": lambda x: sp.multigammaln(x + 3, 2), "softplus": sp.softplus,
    **{f"{name}, {n}": lambda x, f=f, n=n: f(1, x, n) for name, f in OF_ORDERS.items()
       for n in (0, 1, 2) if name.endswith("vp") or n < 2},
    **{f"{name} of orders, {n}": lambda x, f=f, n=n: f(x, 2.5, n) for name, f in OF_ORDERS.items()
       for n in (0, 1, 2) if name.endswith("vp")},
}
KINDS = {"bool": [True, False, True], "int8": [1, 2, 30], "uint8": [3, 2, 20], "int16": [1, 4, 3],
         "int64": [1, 2, 60], "float32": [0.5, 2.0, 3.0], "float64": [0.5, 2.0, 60.5],
         "complex64": [1.0 + 0.5j, 2.0, 3.0], "complex128": [1.0 + 0.5j, 2.0, 3.0]}


def outcome(f: Callable[..., Any], *args: Any) -> Any:
    try:
        with np.errstate(all="ignore"), tracejit.config(disable_jit=True):
            return f(*args)
    except Exception as e:
        return e


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_results_are_scipys_for_every_kind(name: str, kind: str) -> None:
    f, array = CALLS[name], np.array(KINDS[kind], kind)
    numbers = [] if "[::-1]" in name or name in ("comb turned", "binom") else list(array)
    refused = 0
    for x in (array, *numbers):
        found, expected = outcome(tracejit.jit(lambda x: f(x)), x), outcome(f, x)
        assert difference(found, expected, kind == "float32", "") == ""
        if isinstance(expected, Exception) and not isinstance(found, tracejit.Refusal):
            assert type(found) is type(expected)
        refused += isinstance(found, tracejit.Refusal)
    assert not refused or kind.startswith("complex") or name in (
        "factorial, extended", "softplus"), refused


TOPS = np.array([249.0, 249.0, 249.5, 120.0, 120.5, -0.5, 0.0, 150.0, 3.0, 200.0, 1e6, 77.25])
COUNTS = np.array([250.0, 300.0, 250.5, -3.0, -3.0, 200.0, 200.0, 151.0, 200.0, 3.0, 1e6, -180.5])


def test_binomial_coefficients_of_counts_outside_the_row_are_scipys() -> None:
    with tracejit.config(disable_jit=True):
        found = tracejit.jit(lambda n, k: sp.binom(n, k))(TOPS, COUNTS)
        by_n, by_k = tracejit.grad(lambda n, k: np.sum(sp.binom(n, k)), argnums=(0, 1))(
            TOPS, COUNTS)
    expected = sp.binom(TOPS, COUNTS)
    assert np.allclose(found, expected, 1e-9, 0.0)
    h = 1e-6
    near = np.abs(TOPS) < 1e4
    slopes = [(sp.binom(TOPS + h, COUNTS) - sp.binom(TOPS - h, COUNTS)) / (2.0 * h),
              (sp.binom(TOPS, COUNTS + h) - sp.binom(TOPS, COUNTS - h)) / (2.0 * h)]
    for ours, slope in zip((by_n, by_k), slopes, strict=True):
        assert np.allclose(ours[near], slope[near], 1e-5, 1e-6)


@pytest.mark.parametrize("kind", ["uint8", "int8", "int64"])
def test_a_generator_is_made_of_an_int_of_any_dtype(kind: str) -> None:
    def drawn(seed: Any) -> Any:
        return np.random.default_rng(seed).random(3)

    seed = np.array(7, kind)[()]
    found = outcome(tracejit.jit(lambda s: drawn(s)), seed)
    assert isinstance(found, tracejit.Refusal) or np.array_equal(found, drawn(seed))
    with pytest.raises(tracejit.Refusal, match="default_rng of an array that is computed"):
        tracejit.jit(lambda s: drawn(s))(np.array([1, 2], kind))


@pytest.mark.parametrize("numbers", [(5, 2), (2, 5), (0, 0), (5, 0), (-1, 2)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("function", [
    sp.comb, sp.perm, lambda n, k: sp.comb(n, k, repetition=True), sp.binom])
def test_counts_of_each_form_have_scipys_dtype_or_are_refused(
        function: Any, dtype: Any, numbers: tuple[int, int]) -> None:
    for made in (dtype, lambda v: np.array(v, dtype), lambda v: np.array([v, v], dtype)):
        operands = [made(n) for n in numbers]
        expected = function(*operands)
        traced = tracejit.jit(lambda n, k: function(n, k))
        with tracejit.config(disable_jit=True):
            if dtype is np.float32 and expected.dtype == np.float64:
                with pytest.raises(tracejit.Refusal, match="one float32 outside of its range"):
                    traced(*operands)
                continue
            found = traced(*operands)
        assert type(found) is type(expected)
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected, equal_nan=True)


@pytest.mark.parametrize(("function", "first", "second"), [
    (sp.binom, [np.inf, -np.inf, 3.0], [-2.0, -1.0, 0.0, 1.0, 3.0, 19.0, 20.0, 2.5, np.inf]),
    (sp.yv, [100.0, 181.0, 181.5, 200.0, 500.0, 1000.0], [1e-3, 1.0, 50.0, 300.0]),
    (sp.jv, [100.0, 181.0, 181.5, 200.0, 500.0, 1000.0], [1e-3, 1.0, 50.0, 300.0])])
def test_values_that_overflow_are_scipys(function: Any, first: Any, second: Any) -> None:
    operands = np.array(first)[:, None], np.array(second)
    with np.errstate(all="ignore"), tracejit.config(disable_jit=True):
        found = tracejit.jit(lambda a, b: function(a, b))(*operands)
        assert np.allclose(found, function(*operands), rtol=1e-9, atol=1e-300, equal_nan=True)
