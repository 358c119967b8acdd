"""Floats that are written to ints, arrays without axes that were numbers, read-only arguments."""

from __future__ import annotations

import itertools
import linecache
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

# --- floats into arrays of ints -------------------------------------------------------------------


def first(a: np.ndarray, x: Any) -> np.ndarray:
    a[0] = x
    return a


def every(a: np.ndarray, x: Any) -> np.ndarray:
    a[:] = x
    return a


def some(a: np.ndarray, x: Any) -> np.ndarray:
    a[[0, 1]] = x
    return a


def masked(a: np.ndarray, x: Any) -> np.ndarray:
    a[a > 1] = x
    return a


def filled(a: np.ndarray, x: Any) -> np.ndarray:
    a.fill(x)
    return a


def added_to_one(a: np.ndarray, x: Any) -> np.ndarray:
    a[0] += x
    return a


def added(a: np.ndarray, x: Any) -> np.ndarray:
    a += x
    return a


def listed(a: np.ndarray, x: Any) -> np.ndarray:
    return np.array([x, 1], dtype=a.dtype)


def full(a: np.ndarray, x: Any) -> np.ndarray:
    return np.full(2, x, dtype=a.dtype)


def copied(a: np.ndarray, x: Any) -> np.ndarray:
    np.copyto(a, x)
    return a


def row(a: np.ndarray, x: Any) -> np.ndarray:
    b = a.reshape(1, 3)
    b[0] = x
    return b


def in_a_branch(a: np.ndarray, x: Any) -> np.ndarray:
    if a[0] > 0:
        a[0] = x
    return a


def in_a_loop(a: np.ndarray, x: Any) -> np.ndarray:
    for i in range(len(a)):
        a[i] = x
    return a


WRITES = [first, every, some, masked, filled, added_to_one, added, listed, full, copied, row,
          in_a_branch, in_a_loop]
NUMBERS = [2.7, -2.7, 0.0, -0.5, 300.5, -129.0, 127.9, float("nan"), float("inf"), -float("inf"),
           1e300, 2.0 ** 63, -2.0 ** 63, 3e9, 7, True]
DTYPES = ["int64", "int32", "int8", "uint8", "uint64"]


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """Return a call's result, or the kind of its error."""
    copies = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = function(*copies)
    except (ValueError, TypeError, OverflowError) as error:
        if type(error) is tracejit.Refusal:
            return str(error)
        return next(k for k in (OverflowError, ValueError, TypeError) if isinstance(error, k))
    return str(found.dtype), found.tolist()


def is_left_to_the_processor(dtype: str, x: Any) -> bool:
    """Return whether a float is out of the range of ints, where NumPy casts without a check."""
    return not (isinstance(x, int) or np.iinfo(dtype).min <= x <= np.iinfo(dtype).max)


@pytest.mark.parametrize(("write", "dtype"), list(itertools.product(WRITES, DTYPES)))
def test_a_float_becomes_an_int_as_in_numpy(write: Callable[..., Any], dtype: str) -> None:
    a = np.array([1, 2, 3]).astype(dtype)
    captured = tracejit.jit(write)
    with tracejit.config(disable_jit=True):
        for x in (*NUMBERS, *map(np.float64, NUMBERS[:-2])):
            wanted = outcome(write, a, x)
            if isinstance(wanted, tuple) and is_left_to_the_processor(dtype, x):
                continue
            assert outcome(captured, a, x) == wanted, x


def test_compiled_code_raises_what_numpy_raises_of_floats_for_ints() -> None:
    a = np.array([1, 2, 3])
    captured = tracejit.jit(in_a_loop)
    for x, message in ((np.nan, "cannot convert float NaN to integer"),
                       (np.inf, "cannot convert float infinity to integer"),
                       (1e300, "Python int too large to convert to C long")):
        with pytest.raises((ValueError, OverflowError), match=message):
            captured(a.copy(), float(x))
    assert captured(a.copy(), 2.7).tolist() == [2, 2, 2]


def test_a_known_float_that_is_no_int_raises_where_it_is_written() -> None:
    def f(a: np.ndarray, x: float) -> np.ndarray:
        if x > 0.0:
            a[0] = float("nan")
        return a

    captured = tracejit.jit(f)
    assert captured(np.array([1, 2]), -1.0).tolist() == [1, 2]
    with pytest.raises(ValueError, match="cannot convert float NaN to integer"):
        captured(np.array([1, 2]), 1.0)


# --- what is written, by whichever function -------------------------------------------------------

WRITERS = {
    "to an element": "a[0] = {}", "to a slice": "a[:1] = {}", "at indices": "a[[0, 1]] = {}",
    "at a mask": "a[a > 1] = {}", "fill": "a.fill({})", "flat": "a.flat[:1] = {}",
    "put": "np.put(a, [0], {})", "putmask": "np.putmask(a, a > 1, {})",
    "place": "np.place(a, a > 1, {})", "copyto": "np.copyto(a, {})",
    "fill_diagonal": "np.fill_diagonal(a.reshape(2, 2), {})", "insert": "a = np.insert(a, 0, {})",
    "full": "a = np.full(2, {}, a.dtype)", "full_like": "a = np.full_like(a, {})",
    "array": "a = np.array([{}], a.dtype)", "in a list": "a[:] = [{}] * 4",
}
WRITTEN = (
    "1.7", "-1.7", "300", "-1", "2**40", "1 + 2j", "True", "x", "n", "x * 1j", "np.nan", "-np.inf",
    "1e300", "np.float64(1.7)", "np.float64('nan')", "np.int8(-3)", "np.float32(1.1)",
    "np.array(1.7)", "np.array([1.7])", "np.array([300])", "np.array([2j])", "np.array([x])",
    "[1.7]", "[x]", "[n]", "[300]", "[1j]", "[np.float64('nan')]", "(2.5,)")
TARGETS = ("float32", "int32", "uint8", "complex64", "bool", "int64", "float64")


@pytest.mark.parametrize(("writer", "written"), [
    (r, n) for r in WRITERS for n in WRITTEN if not (r == "in a list" and n.startswith("["))])
def test_what_is_written_is_converted_as_numpy_converts_it(writer: str, written: str) -> None:
    text = f"def f(a, x, n):\n    {WRITERS[writer].format(written)}\n    return a\n"
    name = f"<written {writer} {written}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), names)
    captured = tracejit.jit(names["f"])
    with tracejit.config(disable_jit=True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in TARGETS:
            arguments = np.array([1, 2, 3, 4]).astype(dtype), 2.6, -7
            found = outcome(captured, *arguments)
            if "complex numbers lose" in str(found) or "an array of bools" in str(found):
                continue
            assert str(found) == str(outcome(names["f"], *arguments)), dtype


@pytest.mark.parametrize("median", [np.median, np.nanmedian])
def test_the_median_of_large_numbers_is_one_of_them(median: Callable[..., Any]) -> None:
    with (tracejit.config(disable_jit=True), np.errstate(all="ignore"),
          warnings.catch_warnings()):
        warnings.simplefilter("ignore")
        for x in ([1e308, 1.2e308, 1.0], [1.5e308], [1e308, 1.7e308, 1.2e308, np.nan]):
            np.testing.assert_array_equal(tracejit.jit(median)(np.array(x)), median(np.array(x)))


# --- what is a number or an array without axes ----------------------------------------------------


def bound_and_added(n: int, x: float) -> Any:
    r, a = 1.0, np.array(x)
    for _ in range(n):
        r = a
    r += 1
    return a + 0, r + 0


def original_is_written(n: int, x: float) -> Any:
    r, a = 1.0, np.array(x)
    for _ in range(n):
        r = a
    a += 1
    return a + 0, r + 0


def earlier_name(n: int, x: float) -> Any:
    r, a, s = 1.0, np.array(x), 0.0
    for _ in range(n):
        s = r
        r = a
        a += 1
        s = s + r
    return a + 0, r + 0, s


def view_is_bound(n: int, x: float) -> Any:
    a = np.full(3, x)
    r, v = 1.0, a[:1].reshape(())
    for _ in range(n):
        r = v
    r *= 3
    return a.sum(), r + 0


def second_name(n: int, x: float) -> Any:
    r, a, s = 1.0, np.array(x), 0.0
    for _ in range(n):
        s = r
        r += 1
        s = s + 0.0
        r = a
    return s + 0, r + 0, a + 0


def branch_and_second_name(n: int, x: float) -> Any:
    r, a = 1.0, np.array(x)
    if n > 0:
        r = a
    s = r
    r += 1
    return s + 0, r + 0


def by_while(n: int, x: float) -> Any:
    r, a = 0.0, np.zeros(())
    while a < n:
        a = a + 1
        r = a
        r += 0.5 * x
    return a + 0, r + 0


def named_in_a_list(n: int, x: float) -> Any:
    r, a = 1.0, np.array(x)
    b = [r]
    for _ in range(n):
        b[0] = a
        a += 1
    return b[0] + 0, a + 0


def made_anew(n: int, x: float) -> Any:
    total = 0.0
    for _ in range(n):
        total = np.where(x > 0.0, total + x, total)
        total += 1
    return total + 0


def kept_old(n: int, x: float) -> Any:
    total = 0.0
    for _ in range(n):
        old = total
        total = np.where(x > 0.0, total + x, total)
        total += 1
        total = total + old
    return total + 0


ALIASES = [bound_and_added, original_is_written, earlier_name, view_is_bound, second_name,
           branch_and_second_name, by_while, named_in_a_list, made_anew, kept_old]


@pytest.mark.parametrize("f", ALIASES)
def test_a_name_that_was_a_number_is_an_alias_of_the_array_it_is_bound_to(f: Any) -> None:
    captured = tracejit.jit(f)
    right = 0
    with tracejit.config(disable_jit=True):
        for n in range(4):
            try:
                found = captured(n, 1.5)
            except tracejit.Refusal:
                continue
            right += 1
            np.testing.assert_equal(found, f(n, 1.5))
    assert right == 4 or f not in (by_while, made_anew, kept_old)


# --- read-only arguments --------------------------------------------------------------------------


def swapped_then_written(a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
    for _ in range(n):
        a, b = b, a
        a[0] = 1.0
    return b


def written_then_swapped(a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
    for _ in range(n):
        a[0] = 1.0
        a, b = b, a
    return b


def rotated(a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
    c = np.zeros(2)
    for _ in range(n):
        a, b, c = b, c, a
        a += 1.0
    return a + b + c


def bound_in_a_while(a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
    c = a
    while c[0] < n:
        c = b
        c[0] += 1.0
    return c + 0.0


def chosen(a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
    c = a
    if n > 1:
        c = b
    c[0] = 7.0
    return c + 0.0


READ_ONLY = r"read-only|is bound to|which array it is"


@pytest.mark.parametrize("f", [swapped_then_written, written_then_swapped, rotated,
                               bound_in_a_while, chosen])
def test_a_read_only_argument_is_never_written_to_in_silence(f: Any) -> None:
    def arguments(which: tuple[bool, bool], n: int) -> list[Any]:
        arrays = [np.array([0.0, 2.0]), np.array([0.5, 3.0])]
        for x, writeable in zip(arrays, which, strict=True):
            x.flags.writeable = writeable
        return [*arrays, n]

    captured = tracejit.jit(f)
    with tracejit.config(disable_jit=True):
        for which, n in itertools.product(itertools.product((True, False), repeat=2), range(4)):
            given, wanted = arguments(which, n), arguments(which, n)
            try:
                result = f(*wanted)
            except ValueError:
                with pytest.raises((ValueError, tracejit.Refusal), match=READ_ONLY):
                    captured(*given)
                continue
            try:
                found = captured(*given)
            except tracejit.Refusal:
                assert f in (bound_in_a_while, chosen) or not all(which)
                continue
            np.testing.assert_equal(found, result)
            np.testing.assert_equal(given, wanted)
