"""A number that is an int on one path and a float on another: right, or refused where it shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """Return the value of a result, as a float where it is an int, or the kind of an error."""
    try:
        found = function(*args)
    except tracejit.Refusal:
        return "refused"
    except (ArithmeticError, TypeError, IndexError, AttributeError) as error:
        return "refused" if "of another type than" in str(error) else type(error).__name__
    leaves = found if isinstance(found, tuple) else (found,)
    return [bool(x) if isinstance(x, (bool, np.bool_)) else
            repr(np.asarray(x, complex).tolist()) for x in leaves]


# --- names that branches leave --------------------------------------------------------------------

USES: dict[str, Callable[..., Any]] = {
    "is an int": lambda r, a: isinstance(r, int),
    "is a float": lambda r, a: isinstance(r, float),
    "is either": lambda r, a: isinstance(r, (int, float)),
    "has a type": lambda r, a: type(r) is int,
    "floor": lambda r, a: r // 2,
    "floor by a negative": lambda r, a: r // -3,
    "remainder": lambda r, a: r % 2,
    "twice": lambda r, a: isinstance(r * 2, int),
    "half": lambda r, a: isinstance(r / 2, float),
    "sum with itself": lambda r, a: isinstance(r + r, int),
    "negated": lambda r, a: (-r, abs(r), +r),
    "power": lambda r, a: (r ** 2, r ** -1, abs(r) ** 0.5),
    "reciprocal": lambda r, a: 1 / (r - 3),
    "divisor of NumPy's": lambda r, a: a[0] / (r + 1),
    "index": lambda r, a: a[r],
    "range": lambda r, a: sum(i for i in range(r)),
    "repeated list": lambda r, a: len([0] * r),
    "bits": lambda r, a: r & 1,
    "comparison": lambda r, a: (r == 3, r < 3),
    "rounded": lambda r, a: (round(r), int(r), float(r), bool(r)),
    "with an array": lambda r, a: np.sum(a * r),
    "with float32": lambda r, a: (a.astype(np.float32) * r).dtype == np.float32,
    "with ints": lambda r, a: (np.arange(3) * r).sum(),
    "in a function": lambda r, a: np.sqrt(r) + np.sin(r),
    "in an array": lambda r, a: np.array([r, a[0]]).sum(),
    "written": lambda r, a: np.where(a > 0.0, r, a).sum(),
    "largest": lambda r, a: (max(r, 2), min(r, 2.75), max(a[0], r)),
    "attribute": lambda r, a: r.is_integer(),
    "in a condition": lambda r, a: 1.0 if r else 2.0,
    "through a branch": lambda r, a: isinstance(r if a[0] > 0.0 else 5, int),
    "through a branch of floats": lambda r, a: isinstance(r if a[0] > 2.0 else 5.0, int),
}

PAIRS: dict[str, Callable[[float], Any]] = {
    "int, float": lambda x: 3 if x > 0.0 else 2.5,
    "float, int": lambda x: 2.5 if x > 0.0 else -7,
    "int, traced float": lambda x: 3 if x > 0.0 else x,
    "zero, NumPy's float": lambda x: 0 if x > 0.0 else np.float64(x),
    "largest of both": lambda x: max(0, x),
    "smallest of both": lambda x: min(x, 2),
    "operand of or": lambda x: (x > 0.0 and 3) or x,
    "int, complex": lambda x: 3 if x > 0.0 else 1j * x,
}


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("use", USES)
def test_a_number_of_two_types_is_used_as_in_python_or_refused(use: str, pair: str) -> None:
    chosen, used = PAIRS[pair], USES[use]

    def f(x: float, a: np.ndarray) -> Any:
        r = chosen(x)
        return used(r, a)

    captured = tracejit.jit(f)
    a = np.array([1.5, 2.0, -3.0, 4.0])
    with tracejit.config(disable_jit=True), np.errstate(all="ignore"):
        for x in (1.0, -1.0, 0.25):
            found, wanted = outcome(captured, x, a), outcome(f, x, a)
            assert found in (wanted, "refused"), x


RIGHT = ("is an int", "is a float", "is either", "floor", "remainder", "twice", "half", "negated",
         "power", "reciprocal", "divisor of NumPy's", "comparison", "rounded", "with an array",
         "with float32", "in a function", "in an array", "written", "largest", "in a condition",
         "through a branch")


@pytest.mark.parametrize("use", RIGHT)
def test_what_does_not_need_the_type_at_capture_is_not_refused(use: str) -> None:
    used = USES[use]

    def f(x: float, a: np.ndarray) -> Any:
        r = 3 if x > 0.0 else 2.5
        return used(r, a)

    a = np.array([1.5, 2.0, -3.0, 4.0])
    with tracejit.config(disable_jit=True):
        assert outcome(tracejit.jit(f), -1.0, a) == outcome(f, -1.0, a) != "refused"


def test_compiled_code_tells_the_types_apart_at_run_time() -> None:
    def f(x: float) -> Any:
        r = 0 if x > 0.0 else x
        s, t = isinstance(r, int), 0
        while t < x * 3.0:
            t = t + 0.5
        return s, isinstance(t, int), r // 2, t // 1

    captured = tracejit.jit(f)
    for x in (1.0, 4.0, -1.0, 0.0):
        assert captured(x) == f(x)


def test_python_raises_on_the_path_of_its_own_ints_alone() -> None:
    def f(x: np.ndarray, n: int) -> Any:
        s = 0
        if x[0] > 0.0:
            s = x[0]
        return s / n

    captured = tracejit.jit(f)
    with np.errstate(all="ignore"):
        assert captured(np.array([1.0]), 0) == np.inf
    with pytest.raises(ZeroDivisionError):
        captured(np.array([-1.0]), 0)
    assert captured(np.array([-1.0]), 2) == 0.0


# --- loops ----------------------------------------------------------------------------------------


def counted(n: int, x: float) -> Any:
    r = 0
    for _ in range(n):
        r = r + x
    return isinstance(r, int), isinstance(r, float), r // 1


def over_an_array(n: int, x: float) -> Any:
    s = 0
    for v in np.full(n, x):
        s += v * v
    return isinstance(s, int), s * 2


def mean_of_none(n: int, x: float) -> Any:
    s = 0
    for v in np.full(n, x):
        s += v
    return s / n


def by_data(n: int, x: float) -> Any:
    r = 0
    while r < n:
        r = r + x
    return isinstance(r, int), r % 2


def first_turn(n: int, x: float) -> Any:
    r, ints = 0, 0.0
    for _ in range(n):
        if isinstance(r, int):
            ints += 1.0
        r = r + x
    return ints


def int_at_the_end(n: int, x: float) -> Any:
    r = x
    for _ in range(n):
        r = 2
    return isinstance(r, int), r // 2


def branch_in_a_loop(n: int, x: float) -> Any:
    r = 0
    for i in range(n):
        if x > i:
            r += x
    return r * 2.0 + 1.0


def sum_of_a_list(n: int, x: float) -> Any:
    t = sum([x * i for i in range(n)])
    return isinstance(t, int), t // 2


def sum_of_a_generator(n: int, x: float) -> Any:
    t = sum(x for _ in range(n))
    return isinstance(t, int), t + 1


def sum_of_an_array(n: int, x: float) -> Any:
    t = sum(np.full(n, x))
    return isinstance(t, int), isinstance(t, float), t


def mean_of_an_array(n: int, x: float) -> Any:
    return sum(np.full(n, x)) / n


def sum_of_rows(n: int, x: float) -> Any:
    return isinstance(sum(np.full((n, 2), x)), int)


def filtered(n: int, x: float) -> Any:
    found = [v for v in np.arange(n) * 1.0 if v > x]
    t = sum(found)
    return isinstance(t, int), t // 1


def mean_of_the_filtered(n: int, x: float) -> Any:
    found = [v for v in np.arange(n) * 1.0 if v > x]
    return sum(found) / len(found)


def reciprocal_of_the_filtered(n: int, x: float) -> Any:
    return 1 / sum([v for v in np.arange(n) * 1.0 if v > x])


def sum_from_a_start(n: int, x: float) -> Any:
    t = sum([v for v in np.arange(n) * 1.0 if v > x], 1)
    return isinstance(t, int), t


LOOPS = [counted, over_an_array, mean_of_none, by_data, first_turn, int_at_the_end,
         branch_in_a_loop, sum_of_a_list, sum_of_a_generator, sum_of_an_array, mean_of_an_array,
         sum_of_rows, filtered, mean_of_the_filtered, reciprocal_of_the_filtered, sum_from_a_start]


@pytest.mark.parametrize("f", LOOPS)
def test_sums_and_loops_that_may_be_of_nothing_have_pythons_types(f: Any) -> None:
    captured = tracejit.jit(f)
    with tracejit.config(disable_jit=True), np.errstate(all="ignore"):
        for n in (0, 1, 3, 0):
            for x in (1.5, 0.5, 9.0):
                assert outcome(captured, n, x) == outcome(f, n, x)


# --- ordinary programs stay captured --------------------------------------------------------------


def newton_by_numpy(n: int, x: float) -> Any:
    y = 0.5
    for _ in range(n):
        total = 0
        for t, c in enumerate(np.full(3, x), start=1):
            total += c * (1 + y) ** -t
        y = y - 0.1 * total / (1.0 + 1.0 / (y + 9.0))
    return y


def decay_of_float32(n: int, x: float) -> Any:
    s = 0.0
    for v in np.full(n, x, np.float32):
        s = s * 0.5 + v
    return float(s)


def likelihood(n: int, x: float) -> Any:
    total = 0
    for i in range(n):
        if x > i:
            total += np.log(x + i)
        else:
            total -= 1
    return -total / max(n, 1)


def smallest_so_far(n: int, x: float) -> Any:
    best = 10 ** 18
    for i in range(n):
        value = (x - i) ** 2
        if value < best:
            best = value
    return best * 0.5


def nested_accumulators(n: int, x: float) -> Any:
    total = 0
    for i in range(n):
        part = 0
        for v in np.full(i, x):
            part += v
        total += part / (i + 1)
        total = total / 2
    return total / (n + 1)


@pytest.mark.parametrize("f", [newton_by_numpy, decay_of_float32, likelihood, smallest_so_far,
                               nested_accumulators])
def test_ordinary_accumulators_that_begin_with_an_int_are_captured(f: Any) -> None:
    captured = tracejit.jit(f)
    with tracejit.config(disable_jit=True):
        for n in (0, 1, 4):
            np.testing.assert_allclose(captured(n, 1.5), f(n, 1.5), rtol=1e-6)
        assert np.isfinite(tracejit.grad(f, argnums=1)(4, 1.5))
