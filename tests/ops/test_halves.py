"""Floats of two bytes: NumPy's bits and dtypes, op by op; gradients close to those of float32."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import tracejit
import tracejit.api
from tracejit.ir.dtypes import DTYPES
from tracejit.trace.ground.dispatch import UFUNCS
from tracejit.trace.values.equations import COMPOSITES

HALF = np.float16
EVERY = np.arange(65536, dtype=np.uint16).view(HALF)
"""Every float16 there is."""
RNG = np.random.default_rng(16)
OTHERS = RNG.permutation(EVERY)
NUMBERS = RNG.permutation(np.concatenate([
    EVERY[RNG.integers(0, 65536, 20_000)], RNG.normal(size=40_000).astype(HALF),
    np.tile(np.array([0, -0.0, 1, -1, 2, np.inf, -np.inf, np.nan, 65504, 6e-8, 6.1e-5], HALF),
            504)[:5_536]]))
"""As many as `EVERY`, of which most are near 1."""

REFUSED = {"nextafter"}
"""The ufuncs that are about the numbers that a dtype has."""


def bits(x: Any) -> np.ndarray:
    """Return bits, the same ones of all NaN."""
    x = np.asarray(x)
    if x.dtype.kind not in "f":
        return x
    return np.where(np.isnan(x), x.dtype.type(np.nan), x).view(f"u{x.dtype.itemsize}")


def distance(x: Any, y: Any) -> Any:
    """Return how many float16 lie between those of two arrays, at the most."""
    places = []
    for a in (x, y):
        raw = bits(a).astype(np.int64)
        places.append(np.where(raw >= 1 << 15, (1 << 15) - raw, raw))
    return np.max(np.abs(places[0] - places[1]), initial=0)


def ufuncs() -> list[Any]:
    """Return the captured ufuncs that NumPy has for float16."""
    found = []
    for u in {*UFUNCS, *COMPOSITES}:
        try:
            dtypes = u.resolve_dtypes((*(np.dtype(HALF),) * u.nin, *(None,) * u.nout))
        except TypeError:
            continue
        if not u.signature and all(t == HALF for t in dtypes[:u.nin]):
            found.append(u)
    return sorted(found, key=lambda u: u.__name__)


ROUNDED = {"add", "subtract", "multiply", "divide", "sqrt", "square", "reciprocal", "negative",
           "positive", "absolute", "fabs", "sign", "floor", "ceil", "trunc", "rint", "maximum",
           "minimum", "fmax", "fmin", "copysign", "fmod", "remainder", "floor_divide", "divmod",
           "conjugate", "signbit", "isnan", "isinf", "isfinite", "heaviside", "modf"}
"""The ufuncs of which each result is that of float32, which is exact, rounded once."""


@pytest.mark.parametrize("ufunc", ufuncs(), ids=lambda u: u.__name__)
def test_ufuncs_of_float16_are_numpys(ufunc: Any) -> None:
    f = tracejit.jit(lambda *xs: ufunc(*xs))
    if ufunc.__name__ in REFUSED:
        with pytest.raises(tracejit.Refusal, match=r"astype\(np.float32\)"):
            f(*(EVERY,) * ufunc.nin)
        return
    pairs = [(EVERY, NUMBERS), (NUMBERS, OTHERS)] if ufunc.nin == 2 else [(EVERY,)]
    for operands in pairs:
        if ufunc.__name__ not in ROUNDED:  # of NaN, NumPy's vector code has others than C
            known = ~np.isnan(operands[0]) & ~np.isnan(operands[-1])
            operands = tuple(x[known] for x in operands)
        with np.errstate(all="ignore"):
            expected = ufunc(*operands)
        actual = f(*operands)
        if not isinstance(expected, tuple):
            actual, expected = (actual,), (expected,)
        for a, e in zip(actual, expected, strict=True):
            assert a.dtype == e.dtype
            if e.dtype != HALF or ufunc.__name__ in ROUNDED:
                np.testing.assert_array_equal(bits(a), bits(e))
            else:
                assert distance(a, e) <= 1
                assert np.mean(bits(a) != bits(e)) < 0.01


# --- promotion and casts --------------------------------------------------------------------------

ARRAYS = {name: np.ones(3, dtype) for name, dtype in DTYPES.items()}
OPERANDS = {**ARRAYS, **{f"{name}-scalar": x[0] for name, x in ARRAYS.items()},
            "bool-python": True, "int": 2, "float": 0.5, "complex": 0.5j}


@pytest.mark.parametrize("op", [operator.add, operator.mul, operator.truediv, operator.pow,
                                operator.lt, np.maximum, np.arctan2])
@pytest.mark.parametrize("half", ["f16", "f16-scalar"])
def test_float16_promotes_as_in_numpy(half: str, op: Any) -> None:
    with tracejit.config(disable_jit=True):
        for name, other in OPERANDS.items():
            for pair in ((OPERANDS[half], other), (other, OPERANDS[half])):
                try:
                    expected = op(*pair)
                except TypeError:  # of complex numbers
                    with pytest.raises(TypeError):
                        tracejit.jit(lambda x, y: op(x, y))(*pair)
                    continue
                actual = tracejit.jit(lambda x, y: op(x, y))(*pair)
                assert type(actual) is type(expected), (name, op)
                assert np.asarray(actual).dtype == np.asarray(expected).dtype, (name, op)


@pytest.mark.parametrize("ufunc", [np.sin, np.sqrt, np.rint, np.degrees, np.logaddexp])
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int16])
def test_floats_of_small_ints_are_numpys(ufunc: Any, dtype: Any) -> None:
    x = np.array([0, 1, 1, 0, 1]).astype(dtype)
    f = tracejit.jit(lambda *xs: ufunc(*xs))
    expected, actual = ufunc(*(x,) * ufunc.nin), f(*(x,) * ufunc.nin)
    assert actual.dtype == expected.dtype
    np.testing.assert_allclose(actual.astype(float), expected.astype(float), 2e-3)


def near_ties() -> np.ndarray:
    """Return numbers at, just below and just above the middles between two float16."""
    finite = np.sort(EVERY[np.isfinite(EVERY)].astype(np.float64))
    middles = (finite[1:] + finite[:-1]) / 2
    ends = np.array([65519.999, 65520.0, 1e9, 1e300, np.inf, np.nan, 5e-324, 2.0 ** -25, 3e-8])
    return np.concatenate([*(np.nextafter(middles, to) for to in (-np.inf, np.inf)), middles,
                           middles * (1 + 2.0 ** -30), middles * (1 - 2.0 ** -30), ends, -ends])


@pytest.mark.parametrize("dtype", list(DTYPES.values()), ids=list(DTYPES))
def test_casts_from_and_to_float16_are_numpys(dtype: Any) -> None:
    if dtype.kind in "fc":
        with np.errstate(over="ignore"):
            x = near_ties().astype(dtype)
    elif dtype == np.bool_:
        x = np.array([True, False])
    else:
        info = np.iinfo(dtype)
        x = np.unique(np.concatenate([np.linspace(info.min, info.max, 999), np.arange(-99, 99),
                                      np.linspace(-70_000, 70_000, 9_999)]).clip(
                                          info.min, info.max // 2)).astype(dtype)
    back = EVERY if dtype.kind in "fc" else np.clip(NUMBERS, -100 * (dtype.kind == "i"), 100)
    back = back if dtype.kind in "fc" else np.nan_to_num(back)
    with np.errstate(all="ignore"), pytest.warns() if dtype.kind == "c" else np.errstate():
        narrow, wide = x.astype(HALF), back.astype(dtype)
    np.testing.assert_array_equal(bits(tracejit.jit(lambda x: x.astype(HALF))(x)), bits(narrow))
    np.testing.assert_array_equal(tracejit.jit(lambda x: x.astype(dtype))(back), wide)


# --- programs -------------------------------------------------------------------------------------


def horner(x: Any, c: Any) -> Any:
    """A loop that carries a number."""
    total = np.float16(0)
    for k in range(c.shape[0]):
        total = total * x + c[k]
    return total


def smooth(x: Any, a: Any) -> Any:
    """A recurrence over slices of an array that is written in place."""
    y = x.copy()
    for _ in range(3):
        y[1:-1] += a * (y[2:] - 2 * y[1:-1] + y[:-2])
    return y


def scan(x: Any) -> Any:
    """A recurrence over elements, with a branch."""
    y = np.zeros(len(x), x.dtype)
    for i in range(1, len(x)):
        if x[i] > 0:
            y[i] = y[i - 1] * np.float16(0.5) + x[i]
        else:
            y[i] = y[i - 1] - x[i] / 3
    return y


def newton(x: Any) -> Any:
    """A loop whose end data decides."""
    y, turns = x * 0 + 1, 0
    while np.max(np.abs(y * y - x)) > 0.004 and turns < 20:
        y = (y + x / y) / 2
        turns += 1
    return y


def scatter(x: Any) -> Any:
    """Writes and additions at places in an array."""
    y = np.zeros_like(x)
    places = np.arange(len(x)) // 2
    np.add.at(y, places, x)
    y[places[::-1]] *= 2
    return y


X = RNG.normal(size=12).astype(HALF)
Y = RNG.uniform(0.5, 2.0, 12).astype(HALF)
M = RNG.normal(size=(4, 3)).astype(HALF)
N = RNG.normal(size=(3, 5)).astype(HALF)
PROGRAMS: dict[str, tuple[Any, ...]] = {
    "chain": (lambda x, y: x * y + x / y - y * y * x, X, Y),
    "functions": (lambda x, y: np.sin(x) * np.exp(-y) + np.sqrt(y) * np.tanh(x), X, Y),
    "squares": (lambda x: (x - x.mean()) ** 2, X), "where": (lambda x, y: np.where(
        x > 0, x * y, -x / y), X, Y),
    "mask": (lambda x: x[x > 0] * 2, X), "sum": (lambda x: x.sum(), X),
    "rows": (lambda a: a.sum(axis=0) * a.max(axis=1)[:3], M), "norm": (np.linalg.norm, X),
    "products": (lambda a, b: a @ b, M, N), "softmax": (lambda a: np.exp(a - a.max(
        axis=1, keepdims=True)) / np.exp(a - a.max(axis=1, keepdims=True)).sum(
            axis=1, keepdims=True), M),
    "horner": (horner, Y[0], X), "smooth": (smooth, X, HALF(0.25)), "scan": (scan, X),
    "newton": (newton, Y), "scatter": (scatter, X), "powers": (lambda x: x ** 3 + 2 ** x, Y),
    "stack": (lambda x, y: np.concatenate([x[::-1], y])[2:].reshape(11, 2).T, X, Y),
    "mixed": (lambda x, k: x * k + x.astype(np.float32) * 0.1, X, np.arange(12)),
    "numbers": (lambda x, y: x * y + 2 * x - y / 3, HALF(0.3), HALF(1.7)),
    "convolve": (lambda x, y: np.convolve(x, y) + np.correlate(x, y, "full"), X, Y),
    "joined": (lambda x: np.r_[x, 0.1, 2:5], X),
    "clip": (lambda x: np.clip(x, -0.5, 0.5) + np.abs(x), X),
    "sort": (lambda x: np.sort(x) * np.arange(12, dtype=HALF), X),
    "cumsum": (lambda x: np.cumsum(x), X), "var": (lambda x: np.var(x) + np.std(x), X),
    "gelu": (lambda x: x * (1 + np.tanh(0.8 * (x + 0.045 * x ** 3))) / 2, X),
}
OF_SUMS = {"sum", "rows", "norm", "products", "softmax", "squares", "cumsum", "var", "convolve"}
"""The programs with sums, which NumPy rounds where it adds, and tracejit at the end."""


def copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arguments that may be written to."""
    return tuple(x.copy() for x in args)


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_programs_of_float16_are_numpys(name: str) -> None:
    fn, *args = PROGRAMS[name]
    expected, actual = fn(*copied(args)), tracejit.jit(fn)(*copied(args))
    assert type(actual) is type(expected)
    assert actual.dtype == expected.dtype
    if name in OF_SUMS:
        assert distance(actual, expected) <= 4
    else:
        assert distance(actual, expected) <= (name in ("functions", "powers", "gelu"))
    with tracejit.config(disable_jit=True):
        assert distance(tracejit.jit(fn)(*copied(args)), actual) <= (name in OF_SUMS)


@pytest.mark.parametrize("fn", [
    lambda x, y: (x * y + x / y - y) * x, lambda x, y: np.sqrt(np.abs(x * y)) - x * x * y,
    lambda x, y: np.where(x > y, x + y * 3, x / 7 - y), lambda x, y: 0.1 * x - y * 2 + x // y])
def test_operations_in_one_loop_are_rounded_one_by_one(fn: Any) -> None:
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(bits(tracejit.jit(fn)(EVERY, NUMBERS)),
                                      bits(fn(EVERY, NUMBERS)))


def in_float32(x: Any) -> Any:
    """Return an argument with its float16 in float32."""
    return x.astype(np.float32) if np.asarray(x).dtype == HALF else x


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_gradients_of_float16_are_those_of_float32_rounded(name: str) -> None:
    fn, *args = PROGRAMS[name]
    wide = tuple(map(in_float32, args))

    def loss(*xs: Any) -> Any:
        return np.sum(fn(*xs))

    argnums = tuple([k for k, x in enumerate(args) if np.asarray(x).dtype == HALF])
    found = tracejit.grad(loss, argnums)(*copied(args))
    expected = tracejit.grad(loss, argnums)(*copied(wide))
    for g, e, k in zip(found, expected, argnums, strict=True):
        assert type(g) is type(args[k]) and g.dtype == HALF
        scale = max(np.max(np.abs(e)), 1.0)
        np.testing.assert_allclose(g.astype(float), np.asarray(e, float), rtol=1e-3 * ROUGH.get(
            name, 2), atol=1e-3 * scale * ROUGH.get(name, 2))
    with tracejit.config(disable_jit=True):
        for g, e in zip(tracejit.grad(loss, argnums)(*copied(args)), found, strict=True):
            assert distance(g, e) <= 1


ROUGH = {"smooth": 3, "scan": 3, "newton": 8, "softmax": 4}
"""Programs whose values, rounded at each step, are further from those of float32."""
