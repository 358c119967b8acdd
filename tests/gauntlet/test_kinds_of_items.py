"""The kind of a list's item is Python's: an int stays an int beside floats that went in.

A program makes a list, puts numbers of another kind in it, and looks at items in ways that tell
ints, floats, bools and NumPy's numbers apart. It is Python's to the type, or refused.
"""

# ruff: noqa: E741, RUF005
from __future__ import annotations

import math
import runpy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles import outcome

import tracejit

X = np.array([1.5, -2.0, 3.0])
N = 14

# --- programs that were wrong -------------------------------------------------------------------


def an_int_beside_a_float(x: Any, n: int) -> Any:
    l = [i for i in range(n)]
    l[0] = 0.5
    return isinstance(l[2], int), l[2] // 2, l[3] % 2, l[3] * x[0]


def a_zero_beside_a_float(x: Any, n: int) -> Any:
    l = [0] * n
    l[0] = 0.5
    return isinstance(l[2], int), l[2], l[0], -l[2]


def text_of_an_int(x: Any, n: int) -> Any:
    l = [i for i in range(n)]
    l[0] = 0.5
    return x[0] * len(str(l[2])), round(l[2]), int(l[2])


def large_ints(x: Any, n: int) -> Any:
    l = [2 ** 53 + 1 for _ in range(n)]
    l[0] = 0.5
    return l[1] % 2, l[1] - 2 ** 53


def a_bool_beside_an_int(x: Any, n: int) -> Any:
    l = [False for _ in range(n)]
    l[0] = 3
    return l[1] is False, isinstance(l[1], bool), l[0], l[1]


def a_float_of_python_divides(x: Any, n: int) -> Any:
    l = [0.0] * n
    l[0] = x[0]
    return 1.0 / l[1]


def a_float_of_numpy_divides(x: Any, n: int) -> Any:
    l = [0.0] * n
    l[0] = x[0] * 0.0
    return 1.0 / l[0]


def the_dtype_of_an_item(x: Any, n: int) -> Any:
    l = [v for v in x]
    l[0] = 0.5
    return hasattr(l[0], "dtype"), hasattr(l[1], "dtype")


def ints_that_get_longer(x: Any, n: int) -> Any:
    l = [1]
    for i in range(n):
        l.append(x[0] * i)
    return isinstance(l[0], int), l[0] // 2, l[1] // 2


def ints_and_floats_in_turn(x: Any, n: int) -> Any:
    l: list[Any] = []
    for _ in range(n):
        l.append(1)
        l.append(0.5)
    return l[0] // 2, l[1] // 2, isinstance(l[2], int), isinstance(l[3], int)


def a_part_of_ints(x: Any, n: int) -> Any:
    l = [1 for _ in range(n)] + [v for v in x]
    return [isinstance(v, int) for v in l], l[0] // 2


def single_precision(x: Any, n: int) -> Any:
    l = [np.float32(v) for v in x]
    l[0] = x[0]
    return (l[0] * l[0]).dtype == np.float64, (l[1] * l[1]).dtype == np.float64


def minus_zero(x: Any, n: int) -> Any:
    l = [0] * n
    l[0] = x[0]
    return math.copysign(1.0, -l[1]), math.copysign(1.0, l[1] * -1)


FOUND = [an_int_beside_a_float, a_zero_beside_a_float, text_of_an_int, large_ints,
         a_bool_beside_an_int, a_float_of_python_divides, a_float_of_numpy_divides,
         the_dtype_of_an_item, ints_that_get_longer, ints_and_floats_in_turn, a_part_of_ints,
         single_precision, minus_zero]

# --- every way of mixing, every way of looking --------------------------------------------------

MAKERS: dict[str, Callable[[Any, Any], Any]] = {
    "zeros": lambda x, n: [0] * n,
    "ones": lambda x, n: [1 for _ in range(n)],
    "floats": lambda x, n: [0.0] * n,
    "bools": lambda x, n: [True for _ in range(n)],
    "range": lambda x, n: list(range(n)),
    "elements": lambda x, n: [x[0] * i for i in range(n)],
    "python floats": lambda x, n: [float(x[0]) for i in range(n)],
    "tolist": lambda x, n: x.tolist(),
    "large": lambda x, n: [2 ** 60 + 1 for _ in range(n)],
    "grown": lambda x, n: _grown(n),
    "complex": lambda x, n: [1j] * n,
}


def _grown(n: Any) -> Any:
    l = []
    for _ in range(n):
        l.append(3)
    return l


def put_a_float(l: Any, x: Any) -> Any:
    l[0] = 0.5
    return l


def put_an_int(l: Any, x: Any) -> Any:
    l[0] = 7
    return l


def put_a_bool(l: Any, x: Any) -> Any:
    l[0] = False
    return l


def put_an_element(l: Any, x: Any) -> Any:
    l[0] = x[1]
    return l


def put_a_complex(l: Any, x: Any) -> Any:
    l[0] = 2j
    return l


def put_in_a_loop(l: Any, x: Any) -> Any:
    for i in range(len(x) - 1):
        l[i] = x[i] * 2.0
    return l


def put_on_a_condition(l: Any, x: Any) -> Any:
    if x[0] > 0:
        l[0] = x[0] * 2.0
    return l


def put_in_a_longer_one(l: Any, x: Any) -> Any:
    return l + [0.25, x[0], 4]


def put_by_appending(l: Any, x: Any) -> Any:
    l.append(x[0])
    l.insert(0, 2)
    return l


def put_from_itself(l: Any, x: Any) -> Any:
    for i in range(1, len(l)):
        l[i] = l[i - 1] * 0.5
    return l


PUTS = [put_a_float, put_an_int, put_a_bool, put_an_element, put_a_complex, put_in_a_loop,
        put_on_a_condition, put_in_a_longer_one, put_by_appending, put_from_itself]


def items(l: Any, x: Any) -> Any:
    return l[0], l[1], l[2], l[-1]


def the_list(l: Any, x: Any) -> Any:
    return l


def classes(l: Any, x: Any) -> Any:
    return isinstance(l[0], int), isinstance(l[1], (int, np.generic)), type(l[2]) is float


def halves(l: Any, x: Any) -> Any:
    return l[0] // 2, l[1] // 2, l[2] % 2, l[1] / 2


def arithmetic(l: Any, x: Any) -> Any:
    return l[0] + 1, l[1] * 3, l[2] - l[1], -l[1], abs(l[2]), l[1] ** 2, l[1] + 0.5, l[0] * l[1]


def with_an_element(l: Any, x: Any) -> Any:
    return l[0] + x[0], l[1] * x[1], x[2] / (l[2] + x[0] * 9.0), l[1] - x[0]


def quotients(l: Any, x: Any) -> Any:
    return 1.0 / l[1], 3 / l[2]


def rounded(l: Any, x: Any) -> Any:
    return round(l[1]), int(l[2]), float(l[1])


def compared(l: Any, x: Any) -> Any:
    return (x[0] if l[1] < l[2] else x[1]), l[0] == l[1], (l[1] < 2) + (l[2] < 2)


def sums(l: Any, x: Any) -> Any:
    return sum(l), sum(l, 0.5), sum([v * 2 for v in l])


def arrays(l: Any, x: Any) -> Any:
    return np.array(l) * 1.0, np.sin(l[1]), math.sin(l[2])


def into_others(l: Any, x: Any) -> Any:
    m = [v for v in l]
    m[1] = l[2]
    return m[1], m[2], [l[1], l[2]]


LOOKS = [items, the_list, classes, halves, arithmetic, with_an_element, quotients, rounded,
         compared, sums, arrays, into_others]


def _outcome(fn: Callable[..., Any], *args: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return outcome(fn, *args)


def _kind(x: Any) -> Any:
    """Return the type of a result; a float of either kind may come back for another."""
    return next((k for k in (bool, float, complex) if isinstance(x, k)), {
        np.bool_: bool}.get(type(x), type(x)))


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Exception):
        return type(found) is type(wanted)
    if isinstance(wanted, (list, tuple)):
        return type(found) is type(wanted) and len(found) == len(wanted) and all(
            map(_same, found, wanted))
    if isinstance(wanted, np.ndarray):
        return isinstance(found, np.ndarray) and bool(
            np.allclose(found, wanted, rtol=1e-12, equal_nan=True))
    if _kind(found) is not _kind(wanted):
        return False
    if isinstance(wanted, (int, np.integer)):
        return bool(found == wanted)
    return bool(np.allclose(found, wanted, rtol=1e-12, equal_nan=True)) and (
        isinstance(wanted, (complex, np.complexfloating, bool, np.bool_))
        or math.copysign(1.0, found) == math.copysign(1.0, wanted))


def check(fn: Callable[..., Any], *args: Any) -> None:
    """Assert that a captured program gives Python's result, types included, or is refused."""
    wanted = _outcome(fn, *args)
    with tracejit.config(disable_jit=True):
        found = _outcome(tracejit.jit(fn), *args)
    if isinstance(found, tracejit.Refusal):
        assert "line " in str(found) or ".py:" in str(found), found
        return
    if isinstance(found, OverflowError):
        return
    if isinstance(found, Exception) and not _same(found, wanted):
        raise found
    assert _same(found, wanted), f"{found!r} is not {wanted!r}"


@pytest.mark.parametrize("n", [4, N])
@pytest.mark.parametrize("fn", FOUND)
def test_items_keep_their_kind(fn: Any, n: int) -> None:
    check(fn, X, n)


CASES = [(maker, put, look) for maker in MAKERS for put in PUTS for look in LOOKS
         if (maker, put) != ("complex", put_on_a_condition)]  # which is a choice of two numbers


@pytest.mark.parametrize(("maker", "put", "look"), CASES, ids=[
    f"{maker}-{put.__name__}-{look.__name__}" for maker, put, look in CASES])
def test_every_mixture_is_seen_as_python_sees_it(maker: str, put: Any, look: Any) -> None:
    make = MAKERS[maker]

    def program(x: Any, n: int) -> Any:
        y = x * 1.0
        return look(put(make(y, n), y), y)

    check(program, X, N)


# --- nothing is given up where nothing can tell -------------------------------------------------


def shortest(x: Any, n: int) -> Any:
    best = [0] * n
    for i in range(1, n):
        best[i] = best[i - 1] + x[0] * i
    return best[n - 1] * x[1]


def forward(x: Any, n: int) -> Any:
    c, d = [0.0] * n, [0.0] * n
    c[0], d[0] = x[0] / 4.0, x[1] / 4.0
    for i in range(1, n):
        m = 4.0 - x[2] * c[i - 1]
        c[i] = x[0] / m
        d[i] = (x[1] - x[2] * d[i - 1]) / m
    s = d[n - 1]
    for i in range(n - 2, -1, -1):
        s = d[i] - c[i] * s
    return s


def costs(x: Any, n: int) -> Any:
    each = [0] * n
    for i in range(n):
        each[i] = (x[0] * i - x[1]) ** 2
    return sum(each)


def largest(x: Any, n: int) -> Any:
    best = [-1] * n
    for i in range(n):
        best[i] = max(best[i], np.sin(x[0] * i))
    return sum(best)


def squares(x: Any, n: int) -> Any:
    l = [0.0] * n
    for i in range(n):
        l[i] = x[1] * i
    return sum([v ** 2 for v in l]) + math.exp(l[1]) + np.sin(l[2]) + np.sum(np.array(l))


LOOPS = [shortest, forward, costs, largest, squares]


@pytest.mark.parametrize("fn", LOOPS)
def test_mixtures_that_nothing_tells_apart_stay_loops(fn: Any) -> None:
    with tracejit.config(disable_jit=True):
        slope = tracejit.grad(fn)
        traced = slope.trace(X, N)
        assert "unrolled" not in traced.why()
        assert "fixed at" not in traced.why()
        for n in (5, N, 9):
            steps = 1e-6 * np.eye(3)
            np.testing.assert_allclose(
                slope(X, n), [(fn(X + h, n) - fn(X - h, n)) / 2e-6 for h in steps],
                rtol=1e-5, atol=1e-6)


_USES = {
    "an index": "s += x[p]", "a slice's end": "s += x[:p].sum()", "a float": "s += p / 3",
    "compared": "s += 1.5 if p > 3 else 0.5", "a divisor": "s += x[k] / (p + 1)",
    "with an array": "s += (x * p).sum()", "an int": "s += int(p)", "a power": "s += 2.0 ** p",
    "with float32": "s += float((x.astype(np.float32) * p).sum())",
}


@pytest.mark.parametrize("use", _USES.values(), ids=_USES)
def test_ints_of_python_and_numpy_are_in_one_list(use: str, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(f"""import numpy as np

def f(x, n):
    places = [0, 5]
    for k in range(n):
        places.append((x > x[k]).sum())
    s = 0.0
    for k in range(n + 2):
        p = places[k]
        {use}
    return s
""")
    names = runpy.run_path(str(file))
    x = np.random.default_rng(0).uniform(1.0, 2.0, 15)
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.jit(names["f"])(x, 13), names["f"](x, 13), rtol=1e-12)
