"""Items that data finds in lists, indices that a `try` catches, `statistics`: as in Python."""

from __future__ import annotations

import math
import operator
import statistics
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tracejit


@dataclass
class Point:
    a: float


def outcome(function: Callable[..., Any], *args: object) -> Any:
    """Return the result, or the class of the error and whether it is a refusal."""
    try:
        return function(*args)
    except Exception as error:
        return type(error)


def require_same(function: Callable[..., Any], *rows: tuple[object, ...]) -> None:
    with tracejit.config(disable_jit=True):
        jitted = tracejit.jit(function)
        for args in rows:
            got, expected = outcome(jitted, *args), outcome(function, *args)
            if isinstance(expected, type):
                assert got is expected, (args, got, expected)
            else:
                assert not isinstance(got, type), (args, got, expected)
                np.testing.assert_allclose(got, expected, rtol=2e-15, err_msg=str(args))


# --- lists ----------------------------------------------------------------------------------------


def _removed(kind: Any) -> Callable[..., Any]:
    def function(x: Any, y: Any) -> Any:
        items = kind([x, y, 3.0, y * 1.0])
        items.remove(y)
        return list(items)

    return function


def _removed_of_unlike(x: Any, y: Any) -> Any:
    items: list[Any] = [x, "a", y]
    items.remove("a")
    return items


def _removed_known(x: Any, y: Any) -> Any:
    items = [3.0, 4.0, 5.0]
    items.remove(x)
    return items


def _removed_points(x: Any, y: Any) -> Any:
    items = [Point(x), Point(y), Point(3.0)]
    items.remove(Point(y))
    return [p.a for p in items]


def _tried(x: Any, y: Any) -> Any:
    items = [x, y, 3.0]
    try:
        return items.index(x * 2)
    except ValueError:
        return -1


SEARCHES: dict[str, Callable[..., Any]] = {
    "remove": _removed(list), "remove of a deque": _removed(deque), "remove: tried": _tried,
    "remove of unlike things": _removed_of_unlike, "remove of known ones": _removed_known,
    "remove of objects": _removed_points,
    "index": lambda x, y: [x, y, 3.0].index(y),
    "index from": lambda x, y: [x, y, y * 2, y, y * 2].index(y, 2),
    "index within": lambda x, y: [x, y, 3.0, x].index(x, 1, -1),
    "index from the end": lambda x, y: [x, y, 3.0, x].index(x, -2),
    "index of a tuple": lambda x, y: (x, y, y, 3.0).index(3.0),
    "index of a deque": lambda x, y: deque([x, y, 3.0]).index(y),
    "index of objects": lambda x, y: [Point(2.0), Point(x), Point(y)].index(Point(x)),
    "index of tuples": lambda x, y: [(x, 1), (y, 2)].index((y, 2)),
    "index of text": lambda x, y: [x, "b", y].index("b"),
    "count": lambda x, y: [x, y, 3.0, x * 2].count(y),
    "count of a deque": lambda x, y: deque([x, y]).count(x),
    "count of a tuple": lambda x, y: (x, y, 1.0, 2).count(2),
    "count of known ones": lambda x, y: [1, 2, 3].count(x),
    "count of text": lambda x, y: ["a", x, None].count(x),
    "count of objects": lambda x, y: [Point(2.0), Point(x), Point(y)].count(Point(x)),
}
PAIRS = ((1.0, 2.0), (2.0, 2.0), (2.0, 4.0), (3.0, 7.0), (3, 2), (4.0, 3.0))


@pytest.mark.parametrize("name", SEARCHES)
def test_searches_are_pythons(name: str) -> None:
    require_same(SEARCHES[name], *PAIRS)


def test_the_gradient_goes_by_the_item_that_is_left() -> None:
    def function(x: float) -> float:
        items = [x, x * x, 3.0 * x]
        items.remove(x * x)
        return items[0] * items[1]

    assert tracejit.grad(function)(1.5) == 9.0
    assert tracejit.grad(function)(1.0) == (4.0 - 2.5) / 0.5 * 0.0 + 9.0  # x: the first that is 1


# --- indices that a `try` catches -----------------------------------------------------------------


def _item(x: Any, k: Any) -> Any:
    try:
        return x[k]
    except IndexError:
        return x[0] * 2.0 if len(x) else 7.0


def _two_items(x: Any, k: Any) -> Any:
    r = 1.0
    try:
        r = r + x[k] * 2.0
        r = r * x[k + 1]
    except (IndexError, KeyError):
        r = r + 5.0
    else:
        r = -r
    return r


def _in_a_loop(x: Any, k: Any) -> Any:
    s = 0.0
    for i in range(5):
        try:
            s = s + x[i + k]
        except IndexError:
            s = s * 2.0 + 1.0
    return s


def _until(x: Any, k: Any) -> Any:
    s = 0.0
    while True:
        try:
            s, k = s + x[k], k + 1
        except IndexError:
            break
    return s


def _written(x: Any, k: Any) -> Any:
    y = x * 1.0
    try:
        y[k] = 9.0
    except IndexError:
        y = y + 1.0
    return y


def _of_a_list(x: Any, k: Any) -> Any:
    items = [v * 2.0 for v in x]
    try:
        return items[k]
    except LookupError:
        return -1.0


def _by_data(x: Any, k: Any) -> Any:
    try:
        return x[int(x[0]) + k]
    except IndexError:
        return -1.0


def _again(x: Any, k: Any) -> Any:
    try:
        return x[k]
    except IndexError:
        raise


TRIED = (_item, _two_items, _in_a_loop, _until, _written, _of_a_list, _by_data, _again)


@pytest.mark.parametrize("function", TRIED, ids=lambda f: f.__name__)
def test_indices_in_a_try_are_pythons(function: Callable[..., Any]) -> None:
    require_same(function, *[(np.arange(1.0, n + 1.0), k) for n in (0, 1, 3, 8)
                             for k in (-9, -2, -1, 0, 2, 7)])


def test_an_index_in_a_try_is_compiled_with_its_gradient() -> None:
    gradient = tracejit.grad(lambda x, k: _item(x, k) ** 2)
    for k in (1, 5, -1, -7):
        x = np.array([3.0, 4.0, 5.0])
        expected = np.zeros(3)
        at = k if -3 <= k < 3 else 0
        expected[at] = 2.0 * x[at] * (1.0 if -3 <= k < 3 else 4.0)
        np.testing.assert_allclose(gradient(x, k), expected)


# --- statistics and parts of numbers --------------------------------------------------------------

NUMBERS = ((1.5,), (0.3,), (-2.0,), (0.0,), (1e10,), (3.999999999999999,))
DATA: dict[str, Callable[[Any], Any]] = {
    "few": lambda x: [x, x * 2, 3.0, 1.0, 0.5], "two": lambda x: [x, 3.0], "one": lambda x: [x],
    "array": lambda x: np.array([x, 2.0, x * x]), "generator": lambda x: (x * k for k in range(3)),
    "tuple": lambda x: (x, x, -x, 7.0),
}


@pytest.mark.parametrize("name", ["mean", "fmean", "median", "median_low", "median_high",
                                  "variance", "pvariance", "stdev", "pstdev"])
def test_statistics_are_pythons(name: str) -> None:
    for make in DATA.values():
        require_same(lambda x, make=make: getattr(statistics, name)(make(x)), *NUMBERS)
    x, step = 1.7, 1e-6
    function = lambda x: getattr(statistics, name)([x, x * x, 3.0, 0.1])  # noqa: E731
    with tracejit.config(disable_jit=True):
        slope = (function(x + step) - function(x - step)) / (2.0 * step)
        assert math.isclose(tracejit.grad(function)(x), slope, rel_tol=1e-7, abs_tol=1e-9)


@pytest.mark.parametrize("power", [0, 3, -3, 1020, -1070, -1074, -1080, -1090, -2000, 3000])
def test_numbers_are_put_together_as_in_python(power: int) -> None:
    rows = (*NUMBERS, (math.inf,), (1e-310,), (-5e-324,), (7,))
    require_same(lambda x: math.ldexp(x, power), *rows)
    require_same(lambda x: operator.getitem(math.frexp(x), 0), *rows)
    require_same(lambda x: math.frexp(x)[1], *rows)
    with tracejit.config(disable_jit=True):
        assert tracejit.grad(lambda x: math.ldexp(x, 3))(1.3) == 8.0
        assert tracejit.grad(lambda x: math.frexp(x)[0])(-5.0) == 0.125


# --- names that are unset -------------------------------------------------------------------------


def _deleted(x: Any) -> Any:
    y = x
    del y
    try:
        z = y  # noqa: F821
    except UnboundLocalError:
        z = x * 2.0
    return z


def _never_set(x: Any) -> Any:
    try:
        z = q  # noqa: F821
    except UnboundLocalError:
        z = x * 5.0
    if x < -100.0:
        q = 1.0  # noqa: F841
    return z


def _deleted_after_a_loop(x: Any) -> Any:
    y = [x]
    for y in y:  # noqa: B007, B020
        pass
    del y
    try:
        y  # noqa: F821
    except UnboundLocalError as error:
        return x * 7.0 + (type(error) is UnboundLocalError)


def _of_an_inner_function(x: Any) -> Any:
    y = x

    def inner() -> Any:
        return y  # noqa: F821

    del y
    try:
        return inner()
    except NameError as error:
        return x * (3.0 if type(error) is NameError else 4.0)


@pytest.mark.parametrize("function", [_deleted, _never_set, _deleted_after_a_loop,
                                      _of_an_inner_function], ids=lambda f: f.__name__)
def test_a_name_that_is_unset_is_pythons_error(function: Callable[..., Any]) -> None:
    require_same(function, *NUMBERS)
