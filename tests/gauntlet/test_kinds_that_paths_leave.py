"""Numbers and arrays of two kinds, of which data decides: every use is Python's, or refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tracejit

NUMBERS: dict[str, Callable[[], Any]] = {
    "bool": lambda: True, "int": lambda: 5, "large int": lambda: 300, "negative int": lambda: -7,
    "float": lambda: 0.1, "half": lambda: 2.5, "complex": lambda: 2j + 1,
    "np.bool": lambda: np.bool_(True), "int8": lambda: np.int8(100), "int16": lambda: np.int16(300),
    "int32": lambda: np.int32(70000), "int64": lambda: np.int64(3), "uint8": lambda: np.uint8(200),
    "uint16": lambda: np.uint16(9), "uint32": lambda: np.uint32(9), "uint64": lambda: np.uint64(9),
    "float32": lambda: np.float32(0.1), "float64": lambda: np.float64(0.1),
    "complex64": lambda: np.complex64(0.1j), "complex128": lambda: np.complex128(0.1j + 1)}

ARRAYS: dict[str, Callable[[], Any]] = {
    "bool[]": lambda: np.array([True, False, True]),
    "int8[]": lambda: np.array([100, 2, 3], np.int8),
    "uint8[]": lambda: np.array([200, 2, 3], np.uint8),
    "int32[]": lambda: np.array([1, 0, 3], np.int32),
    "int64[]": lambda: np.array([1, 0, 3]),
    "uint64[]": lambda: np.array([1, 0, 3], np.uint64),
    "float32[]": lambda: np.array([0.1, 2.0, 3.0], np.float32),
    "float64[]": lambda: np.array([0.1, 2.0, 3.0]),
    "complex128[]": lambda: np.array([0.1j, 2.0, 3.0])}

SINGLE: dict[str, Callable[[], Any]] = {
    "bool[()]": lambda: np.array(True), "int64[()]": lambda: np.array(3),
    "float64[()]": lambda: np.array(3.5)}

PAIRS = {f"{a}, {b}": (first, second)
         for kinds in (NUMBERS, ARRAYS, SINGLE, {**SINGLE, "int": lambda: 5, "float": lambda: 0.1})
         for a, first in kinds.items() for b, second in kinds.items() if a != b}


# --- uses -----------------------------------------------------------------------------------------


def put_into(a: np.ndarray, y: Any) -> Any:
    a[0] = y
    return a.sum()


def written(y: Any) -> Any:
    y[0] = 1.7
    return y.sum()


def part_written(y: Any) -> Any:
    part = y[1:]
    part[0] = 1.7
    return y.sum()


def item_augmented(y: Any) -> Any:
    y[0] += 0.5
    return y * 1


def augmented(y: Any) -> Any:
    y += 200
    return y


def scaled(y: Any) -> Any:
    y *= 0.5
    return y


def accumulated(y: Any) -> Any:
    for _ in range(3):
        y = y + 0.5
    return y


class Holder:
    """An object with an attribute."""

    content: Any


def through_an_attribute(y: Any) -> Any:
    holder = Holder()
    holder.content = y
    return holder.content * 2


USES: dict[str, Callable[[Any], Any]] = {
    "returned": lambda y: y, "twice": lambda y: y * 2, "added": lambda y: y + y,
    "next": lambda y: y + 1, "negated": lambda y: -y, "inverted": lambda y: ~y,
    "third": lambda y: y / 3, "floor": lambda y: y // 2, "remainder": lambda y: y % 2,
    "square": lambda y: y ** 2, "inverse": lambda y: y ** -1, "reciprocal": lambda y: 1 / y,
    "over zero": lambda y: y / 0, "bits": lambda y: y & 3, "shifted": lambda y: y << 1,
    "compared": lambda y: (y == 0.1, y < 2.6, y == 100, y > 250, y != 0),
    "small sum": lambda y: y * 1e-10 + y, "absolute": lambda y: abs(y), "not": lambda y: not y,
    "is a bool": lambda y: isinstance(y, bool), "is an int": lambda y: isinstance(y, int),
    "is a float": lambda y: isinstance(y, float),
    "is NumPy's": lambda y: isinstance(y, np.integer),
    "is an array": lambda y: isinstance(y, np.ndarray),
    "type": lambda y: 1.0 if type(y) is int else 2.0,
    "type's name": lambda y: len(type(y).__name__),
    "dtype": lambda y: 1.0 if y.dtype == np.int64 else 2.0, "item size": lambda y: y.itemsize,
    "dtype of an array": lambda y: 1.0 if np.asarray(y).dtype == np.int64 else 2.0,
    "rounded's type": lambda y: 1.0 if isinstance(round(y, 1), int) else 2.0,
    "rounded": lambda y: round(y), "int()": lambda y: int(y), "float()": lambda y: float(y),
    "bool()": lambda y: bool(y), "complex()": lambda y: complex(y),
    "text": lambda y: 1.0 if f"{y}" == "True" else 2.0,
    "index": lambda y: np.arange(400.0)[y], "index of a list": lambda y: [*range(9)][y] * 1.5,
    "range": lambda y: sum(i for i in range(y)), "size": lambda y: len([0.0] * y),
    "slice": lambda y: np.sum(np.arange(400.0)[:y]),
    "key": lambda y: {5: 1.0, 1: 2.0}.get(y, 3.0),
    "np.sqrt": lambda y: np.sqrt(abs(y)), "np.sin": lambda y: np.sin(y),
    "math.cos": lambda y: math.cos(abs(y)), "np.add": lambda y: np.add(y, y),
    "np.multiply": lambda y: np.multiply(y, 3), "np.invert": lambda y: np.invert(y),
    "np.sum": lambda y: np.sum(y), "np.mean": lambda y: np.mean(y), "np.square": np.square,
    "max": lambda y: max(y, 2), "np.maximum": lambda y: np.maximum(y, 2),
    "np.where": lambda y: np.where(np.arange(3) > 1, y, 1).sum(),
    "in an array": lambda y: np.array([y, 1]) * 100, "np.full": lambda y: np.full(2, y) * 100,
    "np.zeros_like": lambda y: np.zeros_like(y) + 0.5,
    "put among floats": lambda y: put_into(np.zeros(2), y),
    "put among ints": lambda y: put_into(np.zeros(2, int), y),
    "with float32": lambda y: (np.ones(2, np.float32) * y).sum(),
    "with int8": lambda y: (np.ones(2, np.int8) * y).sum(),
    "with float64": lambda y: (np.ones(2) * y).sum(),
    "astype": lambda y: y.astype(int) * 2, "sum": lambda y: y.sum(), "real": lambda y: y.real,
    "copy": lambda y: y.copy() * 2, "bit length": lambda y: y.bit_length(),
    "divmod": lambda y: divmod(y, 2), "sum()": lambda y: sum([y, y]),
    "in a list": lambda y: [y, 1.0][0] * 2, "in a dict": lambda y: {"a": y}["a"] * 3,
    "attribute": through_an_attribute, "closure": lambda y: (lambda: y * 2)(),
    "augmented": augmented, "scaled": scaled, "accumulated": accumulated,
    "written to": written, "part written to": part_written, "item augmented": item_augmented,
    "item": lambda y: y[0] * 2, "item's type": lambda y: 1.0 if isinstance(y[0], float) else 2.0,
    "outer": lambda y: np.outer(y, y), "matmul": lambda y: y @ y, "largest": lambda y: y.max() * 2,
    "mask": lambda y: np.arange(3.0)[y].sum(), "sorted": lambda y: np.sort(y) * 2,
    "clipped": lambda y: np.clip(y, 0, 150) * 2, "joined": lambda y: np.concatenate([y, y]) * 2,
}


# --- paths ----------------------------------------------------------------------------------------


def by_expression(a: Any, b: Any, use: Any) -> Any:
    def f(x: float) -> Any:
        y = a() if x > 0 else b()
        return use(y)
    return f


def by_if(a: Any, b: Any, use: Any) -> Any:
    def f(x: float) -> Any:
        y = b()
        if x > 0:
            y = a()
        return use(y)
    return f


def by_for(a: Any, b: Any, use: Any) -> Any:
    def f(x: float) -> Any:
        y = b()
        for i in range(20):
            if x > 0 and i == 3:
                y = a()
        return use(y)
    return f


def in_a_for(a: Any, b: Any, use: Any) -> Any:
    def f(x: float) -> Any:
        y, r = a(), 0.0
        for i in range(20):
            r = r + x * np.sum(np.asarray(use(y))).real * (i + 1)
            y = b()
        return r
    return f


def by_while(a: Any, b: Any, use: Any) -> Any:
    def f(x: float) -> Any:
        y, t = b(), 0.0
        while t < x:
            y, t = a(), t + 0.4
        return use(y)
    return f


def by_try(a: Any, b: Any, use: Any) -> Any:
    def f(x: float) -> Any:
        y = b()
        try:
            if x > 0:
                raise ValueError
        except ValueError:
            y = a()
        return use(y)
    return f


def by_function(a: Any, b: Any, use: Any) -> Any:
    def pick(x: float) -> Any:
        if x > 0:
            return a()
        return b()

    def f(x: float) -> Any:
        return use(pick(x))
    return f


PATHS = [by_expression, by_if, by_for, in_a_for, by_while, by_try, by_function]


# --- laws -----------------------------------------------------------------------------------------


def outcome(function: Callable[[float], Any], x: float) -> Any:
    """Return a result as complex arrays, `"refused"`, or `"an error"`."""
    try:
        return list(leaves(function(x)))
    except tracejit.Refusal:
        return "refused"
    except (ArithmeticError, TypeError, ValueError, LookupError, AttributeError) as error:
        return "refused" if "on all paths" in str(error) else "an error"


def leaves(x: Any) -> Iterator[np.ndarray]:
    for y in x if isinstance(x, tuple) else (x,):
        yield np.asarray(y).astype(complex)


def agree(found: Any, wanted: Any) -> bool:
    if isinstance(found, str) or isinstance(wanted, str):
        return isinstance(found, str) and found in ("refused", wanted)
    return len(found) == len(wanted) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-12, atol=1e-14, equal_nan=True)
        for a, b in zip(found, wanted, strict=True))


LACKING = {"rounded", "rounded's type"}
"""The uses of arrays without axes, beside numbers, of which the refusal is a `TypeError`."""


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.filterwarnings("ignore")
def test_a_value_of_two_kinds_is_used_as_in_python_or_refused(pair: str) -> None:
    a, b = PAIRS[pair]
    for k, (name, use) in enumerate(USES.items()):
        if "[()]" in pair and name in LACKING:
            continue
        path = PATHS[(k + len(pair)) % len(PATHS)]
        f = path(a, b, use)
        captured = tracejit.jit(f)
        with tracejit.config(disable_jit=True), np.errstate(all="ignore"):
            results = [(outcome(captured, x), outcome(f, x)) for x in (1.0, -1.0)]
        assert all(itertools.starmap(agree, results)), (name, path.__name__, results)


# --- programs that stay captured ------------------------------------------------------------------


def narrow_or_python(x: float) -> Any:
    y = np.int8(100) if x > 0 else 100
    return float(y * 2) * x


def single_or_double(x: float) -> Any:
    y = np.float32(0.1) if x > 0 else 0.1
    return (float(y) - 0.1) * 1e9 * x


def truth_or_int(x: float) -> Any:
    y = True if x > 0 else 5
    return x * (2.0 if isinstance(y, bool) else 3.0)


def inverted_truth_or_int(x: float) -> Any:
    y = np.bool_(True) if x > 0 else 5
    return x * float(~y)


def rounded_int_or_float(x: float) -> Any:
    y = 2 if x > 0 else 2.5
    return x * (1.0 if isinstance(round(y, 1), int) else 2.0)


def ints_written_as_floats(x: float) -> Any:
    a = np.arange(3)
    if x > 0:
        a = a * 0.5
    a[0] = 1.7
    return x * np.sum(a)


def narrow_array(x: float) -> Any:
    a = np.array([200], dtype=np.uint8) if x > 0 else np.array([200])
    return float((a + a)[0]) * x


def too_large_for_the_other(x: float) -> Any:
    y = 300 if x > 0 else np.uint8(3)
    return float(y) * x


def inverted_mask(x: float) -> Any:
    a = np.array([True, False]) if x > 0 else np.array([5, 6])
    return x * float(np.sum(~a))


def python_or_numpy_int(x: float) -> Any:
    v = np.array([x, 2.0 * x, 3.0])
    k = 0 if x > 2 else np.argmax(v)
    return v[k] * k + np.sum(v[:k]) + len(np.zeros(k)) + sum(v[j] for j in range(k))


def counts_of_both(x: float) -> Any:
    total, count = 0, 0
    for v in np.array([x, 2.0, 3.0 * x, -x] * 5):
        total += v
        count += v > 0.5
    return total / count


def until_converged(x: float) -> Any:
    done, y, turns = False, abs(x) + 1.0, 0
    while not done:
        y = 0.5 * (y + (abs(x) + 1.0) / y)
        turns += 1
        done = np.abs(y * y - abs(x) - 1.0) < 1e-12 or turns > 50
    return y


def descent_from_ints(x: float) -> Any:
    w = np.array([1, 2, 3])
    for _ in range(50):
        w = w - 0.1 * (w - x)
    return np.sum(w)


def descent_until_small(x: float) -> Any:
    w, turns = np.array([1, 1, 1]), 0
    while np.sum(np.abs(w - x)) > 1e-3 and turns < 100:
        w = w - 0.5 * (w - x)
        turns += 1
    return np.sum(w)


def a_sum_of_float32(x: float) -> Any:
    s = 0.0
    for v in np.full(20, x, np.float32):
        s = s + v * v
    return float(s)


def a_matrix_of_ints(x: float) -> Any:
    m = np.eye(3, dtype=int)
    for _ in range(20):
        m = m @ (np.eye(3) * (0.9 * x))
    return np.sum(m)


def scaled_in_some_turns(x: float) -> Any:
    w = np.arange(3)
    for i in range(20):
        if x > i * 0.1:
            w = w * x
    return np.sum(w)


def functions_of_an_accumulator(x: float) -> Any:
    t = x if x > 1 else 0
    u = max(t, 1) if x > 0 else 1
    return t * u + abs(t) + round(t) + int(t) + float(t) + np.exp(t) + np.sqrt(u)


ORDINARY = [narrow_or_python, single_or_double, truth_or_int, inverted_truth_or_int,
            rounded_int_or_float, ints_written_as_floats, narrow_array, too_large_for_the_other,
            inverted_mask, python_or_numpy_int, counts_of_both, until_converged, descent_from_ints,
            descent_until_small, a_matrix_of_ints, scaled_in_some_turns,
            functions_of_an_accumulator]


@pytest.mark.parametrize("f", ORDINARY)
def test_programs_of_two_kinds_have_pythons_values_and_gradients(f: Any) -> None:
    captured, gradient = tracejit.jit(f), tracejit.grad(f)
    with tracejit.config(disable_jit=True), np.errstate(all="ignore"):
        for x in (1.35, -0.7):
            np.testing.assert_allclose(captured(x), f(x), rtol=1e-12)
            difference = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
            np.testing.assert_allclose(gradient(x), difference, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("f", [narrow_or_python, ints_written_as_floats, python_or_numpy_int,
                               descent_from_ints, a_sum_of_float32])
def test_compiled_programs_of_two_kinds_have_pythons_values(f: Any) -> None:
    captured = tracejit.jit(f)
    with np.errstate(all="ignore"):
        for x in (1.35, -0.7):
            np.testing.assert_allclose(captured(x), f(x), rtol=1e-12)


ASKED = ("twice", "next", "third", "is a bool", "is an int", "is a float", "float()", "compared",
         "in a list", "attribute", "closure", "with float64", "np.add", "rounded's type")


@pytest.mark.parametrize("use", ASKED)
def test_no_pair_of_kinds_is_refused_for_what_depends_on_the_kind(use: str) -> None:
    kinds = ("bool", "int", "float", "np.bool", "int8", "int64", "uint8", "float32", "float64")
    for a in kinds:
        for b in kinds:
            f = by_if(NUMBERS[a], NUMBERS[b], USES[use])
            captured = tracejit.jit(f)
            with tracejit.config(disable_jit=True), np.errstate(all="ignore"):
                for x in (1.0, -1.0):
                    assert agree(found := outcome(captured, x), wanted := outcome(f, x))
                    assert found != "refused" or wanted == "an error", (a, b, x)
