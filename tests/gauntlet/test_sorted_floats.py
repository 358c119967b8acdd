"""`sorted` and `list.sort` of a few numbers, some of them traced: the items in order, as items."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tracejit


def _in_a_branch(a: Any, x: Any) -> Any:
    items = [a, x[0], 0.3]
    if a > 0.1:
        items.sort()
    return items[0] + 2 * items[1]


def _in_a_loop(a: Any, x: Any) -> Any:
    items = [a, x[0], 0.3]
    for v in x:
        items[0] = items[0] * 1.5 + v
        items.sort()
    return items[0] + 2 * items[1]


def _in_a_while(a: Any, x: Any) -> Any:
    items = [a, x[0]]
    while a < 3.0:
        a = a * 2 + 1.0
        items[0] = -a
        items.sort()
    return items[0] + 2 * items[1]


def _divided_by(a: Any, x: Any) -> Any:
    items = [a, x[0], 0.3]
    for v in x:
        items[0] = items[0] * 1.5 + v
        items.sort(reverse=True)
        items[1] = 1.0 / items[2]
    return items[0] + 2 * items[1] - items[2]


def _bound_anew(a: Any, x: Any) -> Any:
    items = [a, x[0]]
    for v in x:
        items = sorted([*items, v * a])[1:]
    return items[0] + 2 * items[1]


def _of_known_length(a: Any, x: Any) -> Any:
    items = [a, x[0]]
    for v in x:
        items.append(v * a)
        items.sort()
        items.pop()
    return items[0] + 2 * items[1]


def _two_names(a: Any, x: Any) -> Any:
    low, high = a, x[0]
    while low < 3:
        low, high = sorted((high + 1.0, low * 2 + 1))
    return math.sqrt(low) + 3 * high


def _under_another_name(a: Any, x: Any) -> Any:
    items = [a, x[0], 0.3]
    other = items
    items.sort(reverse=True)
    return other[0] + 2 * other[1] + len(other)


def _again(a: Any, x: Any) -> Any:
    items = [a, x[0]]
    items.append(x[1])
    items.sort()
    items.append(a)
    items.sort()
    return items[0] + 2 * items[1] + 3 * items[2] + 4 * items[3]


def _is_new(a: Any, x: Any) -> Any:
    items = [a, x[0], 0.3]
    new = sorted(items)
    new[0] = 5.0
    new.append(a)
    return sum(new) + new[1] + items[0] * 10.0


PROGRAMS = (
    _in_a_branch, _in_a_loop, _in_a_while, _divided_by, _bound_anew, _of_known_length, _two_names,
    _under_another_name, _again, _is_new,
    lambda a, x: sorted([a, x[0], 0.3])[0], lambda a, x: sorted((a, x[0]), reverse=True)[0],
    lambda a, x: sum(k * v for k, v in enumerate(sorted([3 * a, a, 2 * a]))),
    lambda a, x: sorted(x, reverse=True)[0] + sorted(list(x))[1] * a,
    lambda a, x: sorted([a, x[0]], key=lambda v: -v)[0],
    lambda a, x: sorted([a])[0] * a, lambda a, x: max(sorted([a, x[1]])) - min(sorted(x)))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_floats_are_sorted(f: Any) -> None:
    x, step = np.array([0.5, 0.2, 0.9]), 1e-6
    with tracejit.config(disable_jit=True, verify=True):
        compute = tracejit.value_and_grad(f)
        for a in (0.41, 0.77, -0.3):
            value, slope = compute(a, x)
            assert abs(value - f(a, x)) < 1e-12
            error = slope - (f(a + step, x) - f(a - step, x)) / (2 * step)
            assert abs(error) < 1e-6 * max(1.0, abs(slope))


@pytest.mark.parametrize("f", [
    lambda k, m: sorted([k, m, 5]), lambda k, m: sorted((m, k), reverse=True),
    lambda k, m: sorted(v * k for v in (3, m, 1)), lambda k, m: sorted(map(abs, [k, m, -4]))[1],
    lambda k, m: sorted(zip([k, m], [m, k], strict=True)), lambda k, m: sorted([[k, 1], [m, 2]][0]),
    lambda k, m: np.arange(sorted([k, m, 9])[1]), lambda k, m: sorted([k, m])[1] // min(m, 2),
    lambda k, m: type(sorted([k, m])[0]).__name__, lambda k, m: sorted([k, m]) == [m, k]])
def test_ints_are_sorted(f: Any) -> None:
    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(f)
        for k, m in ((3, 7), (7, 3), (4, 4)):
            found, right = compiled(k, m), f(k, m)
            np.testing.assert_equal(found, right)
            assert type(found) is type(right)


def _of_ints_and_floats(a: Any, x: Any) -> Any:
    return sorted([2, a, 1])[2] // 2


def _of_lists(a: Any, x: Any) -> Any:
    return sorted([[a, 1.0], [x[0], 2.0]])[0][1]


def test_what_cannot_be_told_apart_is_refused() -> None:
    with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal, match="test_sorted"):
        tracejit.jit(_of_ints_and_floats)(0.4, np.array([0.5, 0.2, 0.9]))


def test_lists_are_sorted_by_their_items() -> None:
    with tracejit.config(disable_jit=True):
        compute = tracejit.jit(_of_lists)
        for a in (0.4, 0.5, 0.6, float("nan")):
            x = np.array([0.5, 0.2, 0.9])
            assert compute(a, x) == _of_lists(a, x)


# --- what is stored for the way back has its size in the same Log -------------------------------


def _sorts_as_data_decides(a: Any, x: Any) -> Any:
    items = []
    for v in x:
        items.append(v * a)
    while a < 2.0:
        a = a * 2.0 + 1.0
        items.sort()
        items[0] = items[0] * 1.5
    return items[0] + 2.0 * items[-1]


def _grows_and_sorts(a: Any, x: Any) -> Any:
    items = [v * a for v in x]
    while a < 2.0:
        a = a * 2.0 + 1.0
        items.append(np.sin(a))
        items.sort()
    return items[0] + 2.0 * items[1] + 3.0 * items[-1]


def _sorts_a_slice(a: Any, x: Any) -> Any:
    items = [v * a for v in x]
    while a < 2.0:
        a = a * 2.0 + 1.0
        items[:] = sorted(items)
        items.insert(0, np.cos(a))
    return items[0] + 2.0 * items[1] + 3.0 * items[-1]


@pytest.mark.parametrize("interpreted", [True, False])
@pytest.mark.parametrize("f", [_sorts_as_data_decides, _grows_and_sorts, _sorts_a_slice],
                         ids=lambda f: f.__name__)
def test_lists_are_sorted_as_data_decides(f: Any, interpreted: bool) -> None:
    step = 1e-6
    with tracejit.config(disable_jit=interpreted, verify=True):
        compute = tracejit.value_and_grad(f)
        for a, x in ((0.41, np.array([0.5, 0.2, 0.9])), (-0.3, np.array([0.7, 0.1, 0.6, 0.45]))):
            value, slope = compute(a, x)
            assert abs(value - f(a, x)) < 1e-12
            error = slope - (f(a + step, x) - f(a - step, x)) / (2 * step)
            assert abs(error) < 1e-6 * max(1.0, abs(slope))


def test_a_nan_in_a_list_that_is_sorted_raises_and_has_no_order_of_its_own() -> None:
    def of_array(x: np.ndarray) -> Any:
        return sorted(x)[0]

    def of_list(a: float, b: float, c: float) -> Any:
        found = [a, b, c]
        found.sort()
        return found[0], sorted((a, b, c), reverse=True)[0]

    with tracejit.config(disable_jit=True):
        assert tracejit.jit(of_array)(np.array([3.0, 1.0, 2.0])) == 1.0
        assert tracejit.jit(of_list)(3.0, 1.0, np.inf) == (1.0, np.inf)
        for place in range(3):
            items = [3.0, 1.0, 2.0]
            items[place] = np.nan
            with pytest.raises(ValueError, match="NaN in a list"):
                tracejit.jit(of_array)(np.array(items))
            with pytest.raises(ValueError, match="NaN in a list"):
                tracejit.jit(of_list)(*items)
