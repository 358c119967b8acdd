"""Every ufunc on every pair of dtypes and special values: NumPy's value, dtype and exception."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracles import outcome

import tracejit
import tracejit.numpy_api
import tracejit.ops  # the tables that follow are full
from tracejit.trace.ground.dispatch import UFUNCS
from tracejit.trace.values.equations import COMPOSITES

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "c8", "c16"]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, np.inf, -np.inf, np.nan, 5e-324, 1e308, -1e308,
          1e-310, 700.0, 2.0 ** 63]
PARTS = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e300, 5e-324]
PYTHON: dict[str, list[Any]] = {
    "int": [0, 1, -1, 2, 7, 255, 256, 300, -129, 2 ** 31, 2 ** 63 - 1, -2 ** 63, 2 ** 64 - 1],
    "float": FLOATS, "bool": [True, False], "complex": [0j, 1 + 2j, complex(np.nan, 1.0)]}
UFUNCS_OF = {n: [u for u in {**UFUNCS, **COMPOSITES}
                 if isinstance(u, np.ufunc) and u.nin == n and u is not np.matmul] for n in (1, 2)}

pytestmark = pytest.mark.filterwarnings("ignore")


COMPOSED = (np.reciprocal, np.exp2, np.log2)
"""What is computed from other functions of complex numbers: NumPy's where nothing overflows."""


def values_of(dtype: str) -> np.ndarray:
    """Return the special values of a dtype."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([True, False])
    if kind in "iu":
        info = np.iinfo(dtype)
        small = {0, 1, 2, 3, 7} | ({-1, -2, -3} if kind == "i" else set())
        return np.array(sorted(small | {info.min, info.max, info.max - 1}), dtype)
    if kind == "f":
        return np.array(FLOATS).astype(dtype)
    return np.array([complex(a, b) for a in PARTS for b in PARTS]).astype(dtype)


def quiet(fn: Callable[..., Any], *args: Any) -> Any:
    """Return an outcome, without NumPy's warnings."""
    with np.errstate(all="ignore"):
        return outcome(fn, *args)


def difference(found: Any, expected: Any) -> str | None:
    """Return how two results differ, or None."""
    if isinstance(found, Exception) or isinstance(expected, Exception):
        same = isinstance(found, type(expected)) or isinstance(expected, type(found))
        return None if same else f"{found!r}, not {expected!r}"
    if isinstance(expected, tuple):
        return next(filter(None, map(difference, found, expected)), None)
    found, expected = np.asarray(found), np.asarray(expected)
    if (found.dtype, found.shape) != (expected.dtype, expected.shape):
        return f"{found.dtype}{found.shape}, not {expected.dtype}{expected.shape}"
    if expected.dtype.kind == "c":
        return difference(found.real, expected.real) or difference(found.imag, expected.imag)
    equal = found == expected
    if expected.dtype.kind == "f":
        near = 4 * np.finfo(expected.dtype).eps * np.abs(expected)
        equal = np.where((expected == 0) | np.isinf(expected),
                         equal & (np.signbit(found) == np.signbit(expected)),
                         np.abs(found - expected) <= near) | (np.isnan(found) & np.isnan(expected))
    bad = np.flatnonzero(~np.atleast_1d(equal))
    if not bad.size:
        return None
    return f"{np.ravel(found)[bad[0]]!r}, not {np.ravel(expected)[bad[0]]!r} at {bad[0]}"


def without_zeros(result: Any, ufunc: Any) -> Any:
    """Return a result in which complex zeros have no sign, of ufuncs that do not keep NumPy's."""
    if ufunc in (np.power, np.sign, *COMPOSED) and np.asarray(result).dtype.kind == "c":
        return np.asarray(result) + 0.0
    return result


def pairs(ufunc: np.ufunc, a: str, b: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Return every pair of special values of two dtypes for which NumPy defines a result."""
    x, y = values_of(a), values_of(b)
    x, y = (v[::3] if v.dtype.kind == "c" else v for v in (x, y))
    whole = x.dtype.kind in "biu" and y.dtype.kind in "biu"
    if whole and ufunc in (np.power, np.left_shift, np.right_shift):
        y = y[(y >= 0)]
    return (np.repeat(x, len(y)), np.tile(y, len(x))) if len(y) else None


@pytest.mark.parametrize("ufunc", UFUNCS_OF[1], ids=lambda u: u.__name__)
def test_a_ufunc_of_one_operand_is_numpys(ufunc: Any) -> None:
    captured = tracejit.jit(functools.partial(_of_one, ufunc))
    with tracejit.config(disable_jit=True):
        for dtype in DTYPES:
            x = values_of(dtype)
            if ufunc is np.reciprocal and x.dtype.kind in "iu":
                x = x[x != 0]  # a division by zero, which processors do differently
            if ufunc in COMPOSED and x.dtype.kind == "c":
                size = np.abs(x)
                x = x[np.isfinite(x) & (size > 1e-30) & (size < 1e30)]
            d = difference(*(without_zeros(quiet(f, x), ufunc) for f in (captured, ufunc)))
            assert not d, f"{dtype}: {d}"


@pytest.mark.parametrize("ufunc", [u for u in UFUNCS_OF[1] if u not in (np.sign, np.positive)],
                         ids=lambda u: u.__name__)
def test_compiled_code_takes_truths_as_numpy_does(ufunc: Any) -> None:
    x = np.array([True, False])
    assert difference(quiet(tracejit.jit(lambda x: ufunc(x)), x), quiet(ufunc, x)) is None


@pytest.mark.parametrize("ufunc", UFUNCS_OF[2], ids=lambda u: u.__name__)
def test_a_ufunc_of_two_operands_is_numpys(ufunc: Any) -> None:
    captured = tracejit.jit(functools.partial(_of_two, ufunc))
    with tracejit.config(disable_jit=True):
        for a, b in itertools.product(DTYPES, DTYPES):
            operands = pairs(ufunc, a, b)
            if operands is not None:
                d = difference(quiet(captured, *operands), quiet(ufunc, *operands))
                assert not d, f"{a}, {b}: {d}"


@pytest.mark.parametrize("kind", PYTHON)
@pytest.mark.parametrize("ufunc", UFUNCS_OF[2], ids=lambda u: u.__name__)
def test_a_ufunc_of_an_array_and_a_python_number_is_numpys(ufunc: Any, kind: str) -> None:
    with tracejit.config(disable_jit=True):
        for dtype, number in itertools.product(DTYPES, PYTHON[kind]):
            x = values_of(dtype)
            if ufunc is np.power and "c" in (x.dtype.kind, np.asarray(number).dtype.kind):
                continue  # see test_complex_powers_are_near
            if ufunc in (np.power, np.float_power) and number == 0.5:
                x = x[x > 0]  # of one number NumPy takes the root: docs/numerics.md
            for fn in (functools.partial(_after, ufunc, number), functools.partial(
                    _before, ufunc, number)):
                d = difference(*(without_zeros(quiet(f, x), ufunc)
                                 for f in (tracejit.jit(fn), fn)))
                assert not d, f"{dtype}, {number!r}: {d}"


@pytest.mark.parametrize("power", [0, 1, 2, 3, 4, -1, -2, 0.5, -0.5, 1.5, 1 + 2j])
def test_complex_powers_are_near(power: Any) -> None:
    x = np.array([complex(a, b) for a in (-2.5, 0.5, 1.0) for b in (-1.5, 0.25, 3.0)])
    for dtype in ("c8", "c16"):
        fn = functools.partial(_after, np.power, power)
        found, expected = tracejit.jit(fn)(x.astype(dtype)), fn(x.astype(dtype))
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=8 * np.finfo(found.dtype).eps)


QUADRANTS = np.array([complex(a, b) for a in (0.0, -0.0, 0.5, -0.5, 1.0, -2.0, 300.0)
                      for b in (0.0, -0.0, 0.5, -1.0, 2.5)])
"""Complex numbers of all quadrants, on the axes from both sides, and zero."""
INFINITE = np.array([complex(a, b) for a in (0.0, 1.0, np.inf, -np.inf, np.nan)
                     for b in (0.0, -1.0, np.inf, -np.inf, np.nan)])


def test_compiled_complex_powers_are_numpys_in_all_quadrants() -> None:
    with np.errstate(all="ignore"):
        for x, y in ((QUADRANTS[:, None], QUADRANTS[::3]), (QUADRANTS, -QUADRANTS),
                     (INFINITE, 2.0), (INFINITE, 1.0), (QUADRANTS, 99.0), (0j, 1 + 0.5j)):
            found, expected = tracejit.jit(np.power)(x, y), np.power(x, y)
            np.testing.assert_allclose(found, expected, rtol=1e-11)


FAR = np.array([complex(a, b) for a in (0.0, -0.0, 1e-320, 0.5, -1.0, 750.0, -711.0, 1e160, 1e308)
                for b in (0.0, -0.0, 1e-320, 1.0, -750.0, 1e308)])
"""Complex numbers whose functions overflow or underflow, on the axes and beside them."""


@pytest.mark.parametrize("name", ["cos", "cosh", "sin", "sinh", "tan", "tanh", "exp", "log",
                                  "sqrt", "arcsin", "arccosh", "arctan"])
@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_compiled_functions_of_complex_numbers_are_numpys_far_away(name: str, dtype: str) -> None:
    function = getattr(np, name)
    with np.errstate(all="ignore"):
        z = np.concatenate([FAR, INFINITE]).astype(dtype)
        found, expected = tracejit.jit(lambda z: function(z))(z), function(z)
        near = np.abs(found - expected) <= 4 * np.finfo(dtype).eps * np.abs(expected)
        near |= np.isnan(found) & np.isnan(expected)
    for part in ("real", "imag"):
        f, e = getattr(found, part), getattr(expected, part)
        bad = ~(near | (f == e))
        assert not bad.any(), (part, z[bad][0], found[bad][0], expected[bad][0])


@pytest.mark.parametrize("subscripts", ["ij->i", "ij->", "ij,ij->j", "ij,kj->ik", "ij,ij,ij->i"])
def test_einsum_has_the_dtype_of_its_operands(subscripts: str) -> None:
    a = (np.arange(12).reshape(3, 4) * 37) % 251
    with tracejit.config(disable_jit=True):
        for dtypes in itertools.product(("?", "u1", "i8", "f4"), repeat=subscripts.count(",") + 1):
            operands = [a.astype(d) for d in dtypes]
            captured = tracejit.jit(lambda *xs: np.einsum(subscripts, *xs))
            found, expected = captured(*operands), np.einsum(subscripts, *operands)
            assert found.dtype == expected.dtype, dtypes
            np.testing.assert_allclose(found, expected, rtol=1e-5)


def _of_one(ufunc: Any, x: Any) -> Any:
    return ufunc(x)


def _of_two(ufunc: Any, x: Any, y: Any) -> Any:
    return ufunc(x, y)


def _after(ufunc: Any, number: Any, x: Any) -> Any:
    return ufunc(x, number)


def _before(ufunc: Any, number: Any, x: Any) -> Any:
    return ufunc(number, x)


# --- ints that only the run knows -----------------------------------------------------------------


def _set(a: Any, n: Any) -> Any:
    a = a.copy()
    a[0] = n
    a[1:] = n
    return a


def _fill(a: Any, n: Any) -> Any:
    a = a.copy()
    a.fill(n)
    return a


def _add_to(a: Any, n: Any) -> Any:
    a = a.copy()
    a += n
    return a


WITH_INTS: dict[str, Callable[[Any, Any], Any]] = {
    "a + n": lambda a, n: a + n, "n - a": lambda a, n: n - a, "a * n": lambda a, n: a * n,
    "a == n": lambda a, n: a == n, "n < a": lambda a, n: n < a, "a >= n": lambda a, n: a >= n,
    "a != n": lambda a, n: a != n, "a[0] + n": lambda a, n: a[0] + n,
    "a[0] == n": lambda a, n: a[0] == n, "a & n": lambda a, n: a & n, "a // n": lambda a, n: a // n,
    "maximum": lambda a, n: np.maximum(a, n), "clip": lambda a, n: np.clip(a, 0, n),
    "full_like": lambda a, n: np.full_like(a, n), "where": lambda a, n: np.where(a > 1, a, n),
    "full": lambda a, n: np.full(3, n, a.dtype), "array": lambda a, n: np.array([n, 1], a.dtype),
    "sum + n": lambda a, n: np.sum(a) + n, "set": _set, "fill": _fill, "+=": _add_to,
    "a + 300": lambda a, n: a + 300, "a == -1": lambda a, n: a == -1,
    "a < 300": lambda a, n: a < 300}
NUMBERS = [0, 1, -1, 127, 128, -129, 255, 256, 300, 2 ** 31, 2 ** 63 - 1, -2 ** 63]


@pytest.mark.parametrize("dtype", ["i1", "i8", "u1", "u4", "u8", "f4", "f8"])
@pytest.mark.parametrize("name", WITH_INTS)
def test_an_int_beside_an_array_fits_or_raises(name: str, dtype: str) -> None:
    fn = WITH_INTS[name]
    captured = tracejit.jit(fn)
    a = np.array([1, 2, 100]).astype(dtype)
    if name == "a & n" and a.dtype.kind == "f":
        return
    with tracejit.config(disable_jit=True):
        for n in NUMBERS:
            if name != "a // n" or n:
                d = difference(quiet(captured, a, n), quiet(fn, a, n))
                assert not d, f"{n}: {d}"


@pytest.mark.parametrize("name", WITH_INTS)
def test_compiled_code_checks_an_int_beside_an_array(name: str) -> None:
    fn = WITH_INTS[name]
    captured = tracejit.jit(fn)
    a = np.array([1, 2, 255], np.uint8)
    for n in (3, 300, -1):
        d = difference(quiet(captured, a, n), quiet(fn, a, n))
        assert not d, f"{n}: {d}"


FOUND: list[Callable[..., Any]] = [
    lambda a: a == -1, lambda a: a + 300, lambda a: a.astype(np.int8) * 200,
    lambda a: a.astype(np.uint64) == -1, lambda a: a.astype(np.uint64) + -1,
    lambda a: np.ceil((a > 1) ** 2), lambda a: np.split(a[:5], 2), lambda a: a < -1,
    lambda a: a.astype(np.uint64) > np.int64(-1), lambda a: np.sign(a * -0.0)]


@pytest.mark.parametrize("k", range(len(FOUND)))
def test_what_was_found_is_numpys(k: int) -> None:
    a = np.array([0, 1, 2, 100, 255, 7], np.uint8)
    for captured in (tracejit.jit(FOUND[k]),):
        assert not (d := difference(quiet(captured, a), quiet(FOUND[k], a))), d
