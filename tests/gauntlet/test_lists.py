"""Lists are lists: every way of making one, every use of one, each kind of items, against Python.

A use is a function of a list; it returns the list's items and facts afterwards. Programs
run in the interpreter; a refusal that names the user's line is right, another value is not.
"""

# ruff: noqa: E741, RUF005
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracles import outcome

import tracejit

X = np.array([1.0, 2.0, 3.0])
A = np.arange(12.0).reshape(3, 4)
B = np.arange(1.0, 5.0)


def is_same(a: Any, b: Any) -> bool:
    """Return whether two results are one: types of containers, lengths, numbers."""
    if isinstance(a, Exception) or isinstance(b, Exception):
        return type(a) is type(b)
    if isinstance(a, (list, tuple)) or isinstance(b, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(is_same, a, b))
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and (
            a.shape == b.shape and np.allclose(a, b, rtol=1e-12, equal_nan=True))
    if not all(isinstance(v, (bool, int, float, complex, np.generic)) for v in (a, b)):
        return a is b
    return bool(np.allclose(a, b, rtol=1e-12, equal_nan=True))


def check(fn: Callable[..., Any], *args: Any, may_refuse: bool = True) -> None:
    """Assert that a captured program has Python's result or error."""
    expected = outcome(fn, *args)
    with tracejit.config(disable_jit=True):
        actual = outcome(tracejit.jit(fn), *args)
    if isinstance(actual, tracejit.Refusal) and may_refuse:
        assert __file__.rpartition("/")[2] in str(actual) or "line " in str(actual), actual
        return
    if isinstance(actual, Exception) and not is_same(actual, expected):
        raise actual
    assert is_same(actual, expected), f"{actual!r} is not {expected!r}"


# --- what was found -----------------------------------------------------------------------------


def _fft(x: Any) -> Any:
    if len(x) == 1:
        return [x[0]]
    even, odd = _fft(x[::2]), _fft(x[1::2])
    n = len(x)
    turned = [np.exp(-2j * np.pi * k / n) * odd[k] for k in range(n // 2)]
    return [even[k] + turned[k] for k in range(n // 2)] + [
        even[k] - turned[k] for k in range(n // 2)]


def concatenation(x: Any) -> Any:
    return sum(v * v for v in [a * 2.0 for a in x] + [a * 3.0 for a in x])


def concatenation_with_a_number(x: Any) -> Any:
    return sum(v * v for v in [a * 2.0 for a in x] + [5.0])


def a_number_before(x: Any) -> Any:
    return sum(v * v for v in [5.0] + [a * 2.0 for a in x])


def repetition(x: Any) -> Any:
    return sum(v * v for v in [a * 2.0 for a in x] * 2)


def in_place(x: Any) -> Any:
    values = [a * 2.0 for a in x]
    other = values
    values += [a * 3.0 for a in x]
    return sum(v * v for v in other)


def reversed_and_more(x: Any) -> Any:
    values = [a * 2.0 for a in x]
    return sum(v * k for k, v in enumerate(values[::-1] + [a * 3.0 for a in x]))


def grows_by_name(x: Any) -> Any:
    h = [v for v in x]
    for _ in range(3):
        h = h + [h[-1] * 2.0]
    return sum(h)


def ints_that_get_floats(x: Any) -> Any:
    d = [0 for _ in range(len(x) + 1)]
    for i in range(1, len(x) + 1):
        d[i] = d[i - 1] + x[i - 1] * 0.25
    return d[len(x)] * x[0]


def negative_ints_that_get_floats(x: Any) -> Any:
    best = [-1 for _ in x]
    for i in range(len(x)):
        best[i] = max(best[i], x[i] * 0.5)
    return sum(best)


def bools_that_get_floats(x: Any) -> Any:
    d = [False for v in x]
    for i in range(len(x)):
        d[i] = x[i] * 2
    return sum(d)


def nested_ints_that_get_floats(x: Any) -> Any:
    t = [[0] * 3 for _ in x]
    for i in range(len(x)):
        for j in range(3):
            t[i][j] = x[i] * j * 0.5
    return sum(sum(r) for r in t)


def written_through_views(x: Any) -> Any:
    b = np.stack([x, x * 2])
    rs = [b[i] for i in range(len(b))]
    rs[0][0] = 100.0
    return np.sum(b * b)


def rows_are_views(a: Any) -> Any:
    m = a * 1.0
    rs = [r for r in m]
    rs[1][:] = a[0]
    return np.sum(m * m)


def columns_are_views(a: Any) -> Any:
    m = a * 1.0
    cols = [m[:, k] for k in range(m.shape[1])]
    for k in range(1, m.shape[1]):
        cols[k] -= cols[k - 1] * 0.5
    return np.sum(m * m)


def a_slice_is_a_copy(x: Any) -> Any:
    xs = [v for v in x]
    zs = xs[:]
    zs[1] = 70
    return xs[0] + xs[1] * x[0]


def length_of_a_sum(x: Any) -> Any:
    return len([v for v in x] + [v for v in x]) * x[0]


def is_a_list(x: Any) -> Any:
    rs = [v for v in x]
    return x[0] * isinstance(rs, list) + x[1] * (type(rs) is list)


def is_the_array(x: Any) -> Any:
    rs = [x for _ in x]
    return 1.0 * (rs[0] is x) * x[0]


def equal_to_itself(x: Any) -> Any:
    values = [v for v in x]
    return x[0] if values == values else x[1]


def methods(x: Any) -> Any:
    values = [v for v in x]
    values.extend([v * 2 for v in x])
    values.insert(0, x[0] * 7)
    values.append(x[1])
    values.reverse()
    return sum(v * k for k, v in enumerate(values))


def textbook_fft(x: Any) -> Any:
    r = _fft([v for v in x])
    return sum(abs(v) ** 2 * k for k, v in enumerate(r))


FOUND = [concatenation, concatenation_with_a_number, a_number_before, repetition, in_place,
         reversed_and_more, grows_by_name, ints_that_get_floats, negative_ints_that_get_floats,
         bools_that_get_floats, nested_ints_that_get_floats, written_through_views,
         a_slice_is_a_copy, length_of_a_sum, is_a_list, is_the_array, equal_to_itself, methods]
FOUND_OF_MATRICES = [rows_are_views, columns_are_views]


@pytest.mark.parametrize("fn", [*FOUND, textbook_fft])
@pytest.mark.parametrize("n", [1, 2, 4, 8])
def test_lists_that_were_arrays_are_lists(fn: Any, n: int) -> None:
    check(fn, np.arange(1.0, n + 1.0), may_refuse=False)


@pytest.mark.parametrize("fn", FOUND_OF_MATRICES)
def test_items_that_are_views_write_through(fn: Any) -> None:
    check(fn, A, may_refuse=False)


def _difference(fn: Any, x: Any) -> Any:
    steps = 1e-6 * np.eye(x.size).reshape(x.size, *x.shape)
    return np.array([(fn(x + h) - fn(x - h)) / 2e-6 for h in steps]).reshape(x.shape)


@pytest.mark.parametrize("fn", [*FOUND, textbook_fft])
def test_gradients_of_programs_with_lists(fn: Any) -> None:
    x = np.array([1.3, 0.4, 2.2, 0.9])
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.grad(fn)(x), _difference(fn, x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("fn", FOUND_OF_MATRICES)
def test_gradients_through_lists_of_views(fn: Any) -> None:
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.grad(fn)(A + 0.5), _difference(fn, A + 0.5),
                                   rtol=1e-5, atol=1e-6)


# --- scopes -------------------------------------------------------------------------------------


def late(x: Any) -> Any:
    fs = [lambda v: v * k for k in range(3)]
    return [g(x) for g in fs]


def late_in_a_loop(x: Any) -> Any:
    fs = []
    for k in range(3):
        fs.append(lambda v: v * k)
    return [g(x) for g in fs]


def early_by_default(x: Any) -> Any:
    fs = [lambda v, k=k: v * k for k in range(3)]
    return [g(x) for g in fs]


def late_in_nested_functions(x: Any) -> Any:
    fs = []
    for k in range(3):
        def g(v: Any) -> Any:
            return v * k
        fs.append(g)
    return [g(x) for g in fs]


def late_generators(x: Any) -> Any:
    gs = [(x * k + j for j in range(2)) for k in range(3)]
    return [sum(g) for g in gs]


def late_in_a_dict(x: Any) -> Any:
    fs = {k: (lambda: x * k) for k in range(3)}
    return [f() for f in fs.values()]


def late_in_a_set_of_two(x: Any) -> Any:
    fs = [[lambda: x * (10 * k + j) for j in range(2)] for k in range(2)]
    return [f() for row in fs for f in row]


def of_the_function(x: Any) -> Any:
    k = 5.0
    fs = [lambda v: v * k for _ in range(2)]
    k = 7.0
    return [g(x) for g in fs]


def generator_for_a_function(x: Any) -> Any:
    def twice(it: Any) -> Any:
        return sum(it) + 100.0 * sum(it)

    return twice(x * k for k in range(3))


def late_conditional(x: Any) -> Any:
    fs = [(lambda: x + k) if k else (lambda: x - k) for k in range(3)]
    return [f() for f in fs]


def late_in_a_call(x: Any) -> Any:
    fs = list(lambda: x * k for k in range(3))
    return [f() for f in fs]


def late_through_a_name(x: Any) -> Any:
    return [h() for h in [lambda: (lambda: x * k)() for k in range(4)]]


SCOPES = [late, late_in_a_loop, early_by_default, late_in_nested_functions, late_generators,
          late_in_a_dict, late_in_a_set_of_two, of_the_function, generator_for_a_function,
          late_conditional, late_in_a_call, late_through_a_name]


@pytest.mark.parametrize("fn", SCOPES)
def test_names_are_bound_when_python_binds_them(fn: Any) -> None:
    check(fn, 2.0, may_refuse=False)


# --- every way of making a list, every use ------------------------------------------------------

MAKERS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "squares": (lambda x: [v * v for v in x], "number"),
    "of an array": (lambda x: list(x), "number"),
    "tolist": (lambda x: x.tolist(), "number"),
    "range": (lambda x: [i for i in range(len(x))], "number"),
    "list of range": (lambda x: list(range(len(x))), "number"),
    "bools": (lambda x: [v > 1.5 for v in x], "number"),
    "python floats": (lambda x: [float(v) for v in x], "number"),
    "python ints": (lambda x: [3 for _ in x], "number"),
    "repeated": (lambda x: [x[0]] * len(x), "number"),
    "repeated pair": (lambda x: [x[0], 2.0] * len(x), "number"),
    "mapped": (lambda x: list(map(lambda v: v + 1.0, x)), "number"),
    "sum": (lambda x: [v for v in x] + [1.0], "number"),
    "before": (lambda x: [1, *[v for v in x]], "number"),
    "slice": (lambda x: [v for v in x][1:], "number"),
    "backwards": (lambda x: [v for v in x][::-1], "number"),
    "complex": (lambda x: [v * (1 + 2j) for v in x], "complex"),
    "chosen": (lambda x: [v if v > 1.5 else 0 for v in x], "number"),
    "sorted": (lambda x: sorted([-v for v in x]), "number"),
    "literal": (lambda x: [x[0], x[1] * 2, 3.0], "number"),
    "loop": (lambda x: _filled(x), "number"),
    "zip": (lambda x: [a * b for a, b in zip(x, x[::-1], strict=True)], "number"),
    "rows": (lambda x: [v * x for v in x], "array"),
    "views": (lambda x: [x[i:i + 1] for i in range(len(x))], "array"),
    "one array": (lambda x: [x for _ in x], "array"),
    "rows of a matrix": (lambda x: list(np.stack([x, 2 * x, x * x])), "array"),
    "nested": (lambda x: [[a * b for b in x] for a in x], "list"),
    "nested zeros": (lambda x: [[0] * 3 for _ in x], "list"),
    "nested tolist": (lambda x: np.stack([x, x]).tolist(), "list"),
}


def _filled(x: Any) -> Any:
    found = []
    for v in x:
        found.append(v * 3.0)
    return found


def setting(l: Any, x: Any) -> Any:
    l[1] = x[0] * 9.0
    return l, x


def setting_the_last(l: Any, x: Any) -> Any:
    l[-1] = 7
    return l


def setting_in_a_loop(l: Any, x: Any) -> Any:
    for i in range(len(l)):
        l[i] = l[i] * 0.5
    return l


def augmenting(l: Any, x: Any) -> Any:
    m = l
    l += [x[0], 4.0]
    return m, len(m)


def appending(l: Any, x: Any) -> Any:
    m = l
    l.append(x[1])
    return m, m[-1], len(m)


def extending(l: Any, x: Any) -> Any:
    l.extend([v * 2.0 for v in x])
    return l


def extending_by_an_array(l: Any, x: Any) -> Any:
    l.extend(x)
    return l


def inserting(l: Any, x: Any) -> Any:
    l.insert(0, x[1])
    l.insert(1, 2.0)
    return l


def popping(l: Any, x: Any) -> Any:
    a = l.pop()
    b = l.pop(0)
    return a, b, l, len(l)


def reversing(l: Any, x: Any) -> Any:
    m = l
    l.reverse()
    return m


def sorting(l: Any, x: Any) -> Any:
    l.sort()
    return l


def sorting_backwards(l: Any, x: Any) -> Any:
    l.sort(reverse=True)
    return l, sorted(l)


def clearing(l: Any, x: Any) -> Any:
    m = l[:]
    l.clear()
    return m, l, len(l)


def copying(l: Any, x: Any) -> Any:
    m, k, j = l.copy(), list(l), l[:]
    m[0] = 5.0
    k[1] = 6.0
    return l, m, k, j


def removing(l: Any, x: Any) -> Any:
    l.remove(l[0])
    return l


def deleting(l: Any, x: Any) -> Any:
    del l[0]
    return l


def deleting_a_slice(l: Any, x: Any) -> Any:
    del l[:2]
    return l


def assigning_a_slice(l: Any, x: Any) -> Any:
    l[1:2] = [x[0], x[1], 3.0]
    return l


def counting(l: Any, x: Any) -> Any:
    return l.count(x[0]), l.count(3), l.count(1e9)


def finding(l: Any, x: Any) -> Any:
    return l.index(l[1]), l.index(l[0])


def finding_nothing(l: Any, x: Any) -> Any:
    return l.index(1e9)


def looking(l: Any, x: Any) -> Any:
    return (x[0] if l[1] in l else x[1]), (x[0] if 1e9 in l else x[1])


def adding(l: Any, x: Any) -> Any:
    return l + [1.0], [x[0], 2] + l, l + l


def repeating(l: Any, x: Any) -> Any:
    return l * 2, 3 * l, l * 0, l * -1


def repeating_by_a_size(l: Any, x: Any) -> Any:
    return l * len(x)


def comparing(l: Any, x: Any) -> Any:
    other = list(l)
    other.append(1.0)
    return (l == l), (l == other), (l != other), (l == 3), (l == tuple(l))


def comparing_with_a_copy(l: Any, x: Any) -> Any:
    return x[0] if l == [v for v in l] else x[1]


def ordering(l: Any, x: Any) -> Any:
    return l < l[1:]


def slicing(l: Any, x: Any) -> Any:
    return l[1:], l[:-1], l[::2], l[::-1], l[-2:], l[5:], l[:0], l[1:2]


def slicing_by_sizes(l: Any, x: Any) -> Any:
    return l[:len(l) // 2], l[len(x) - 1:], l[-len(x):]


def iterating(l: Any, x: Any) -> Any:
    total = 0.0
    for v in l:
        total = total + v
    return total


def iterating_backwards(l: Any, x: Any) -> Any:
    total = 0.0
    for v in reversed(l):
        total = 0.5 * total + v
    return total


def enumerating(l: Any, x: Any) -> Any:
    total = 0.0
    for k, v in enumerate(l, 1):
        total = total + k * v
    return total


def zipping(l: Any, x: Any) -> Any:
    total = 0.0
    for v, w in zip(l, x, strict=False):
        total = total + w * v
    return total


def summing(l: Any, x: Any) -> Any:
    return sum(l)


def extremes(l: Any, x: Any) -> Any:
    return max(l), min(l)


def any_and_all(l: Any, x: Any) -> Any:
    return (x[0] if any(l) else x[1]), (x[0] if all(l) else x[1])


def reading(l: Any, x: Any) -> Any:
    return l[0], l[-1], l[len(l) - 1]


def reading_too_far(l: Any, x: Any) -> Any:
    return l[99]


def reading_at_a_float(l: Any, x: Any) -> Any:
    return l[1.0]


def reading_at_data(l: Any, x: Any) -> Any:
    return l[int(x[0])], l[np.argmin(x)]


def unpacking(l: Any, x: Any) -> Any:
    a, b, c = l
    return a, b, c


def unpacking_with_a_star(l: Any, x: Any) -> Any:
    a, *rest = l
    return a, rest, [*l, 1.0]


def truth(l: Any, x: Any) -> Any:
    return x[0] if l else x[1]


def kinds(l: Any, x: Any) -> Any:
    return isinstance(l, list), type(l) is list, isinstance(l, (tuple, np.ndarray))


def arrays(l: Any, x: Any) -> Any:
    return np.array(l), np.asarray(l) * 2.0, np.sum(l), np.concatenate([l, l])


def array_arithmetic(l: Any, x: Any) -> Any:
    return np.array([l, l]), x.sum() * np.asarray(l), np.mean(l), np.max(l)


def plus_an_array(l: Any, x: Any) -> Any:
    return l[:3] + x, x * l[:3]


def plus_a_float(l: Any, x: Any) -> Any:
    return l + 1.0


def times_a_float(l: Any, x: Any) -> Any:
    return l * 2.5


def minus(l: Any, x: Any) -> Any:
    return l - l


def negative(l: Any, x: Any) -> Any:
    return -l


def attribute(l: Any, x: Any) -> Any:
    return l.shape


def comprehension(l: Any, x: Any) -> Any:
    return [v * 2 for v in l], [k + v for k, v in enumerate(l)]


def filtered(l: Any, x: Any) -> Any:
    return [v for k, v in enumerate(l) if k % 2]


def tuples(l: Any, x: Any) -> Any:
    t = tuple(l)
    return t, t[0], len(t), t + t


def identity(l: Any, x: Any) -> Any:
    m = l
    return (m is l), (l[:] is l), (l + [] is l)


def in_other_lists(l: Any, x: Any) -> Any:
    pair = [l, l]
    pair[0][0] = 8.0
    return pair, len(pair), pair[1][0]


def in_a_dict(l: Any, x: Any) -> Any:
    d = {"a": l, "b": l[:]}
    d["a"][0] = 4.0
    return d["a"], d["b"], d["a"] is l


def by_a_function(l: Any, x: Any) -> Any:
    def change(m: Any) -> None:
        m[0] = m[-1]
        m.append(2.0)

    change(l)
    return l


def in_a_branch(l: Any, x: Any) -> Any:
    if x[0] > 0.5:
        l[0] = x[0] * 3.0
    else:
        l[1] = x[1]
    return l


def bound_in_a_branch(l: Any, x: Any) -> Any:
    if x[0] > 0.5:
        m = [v * 2.0 for v in x]
    else:
        m = [v * 3.0 for v in x]
    return m, m[0]


def rebound_in_a_loop(l: Any, x: Any) -> Any:
    for _ in range(len(x)):
        l = [v * 0.5 for v in l]
    return l


def changed_while_iterating(l: Any, x: Any) -> Any:
    for k, v in enumerate(l):
        l[k] = v + 1.0
        if k > 0:
            l[k] = l[k - 1] + v
    return l


def swapping(l: Any, x: Any) -> Any:
    l[0], l[-1] = l[-1], l[0]
    return l


def through_a_while(l: Any, x: Any) -> Any:
    i, s = 0, 0.0
    while i < len(l):
        s = s + l[i] * i
        i += 1
    return s


def items_written_in_place(l: Any, x: Any) -> Any:
    first = l[0]
    first += 1.0
    l[1] *= 2.0
    return first, l, x


def items_written(l: Any, x: Any) -> Any:
    l[0][0] = 50.0
    m = l[:]
    m[1][0] = 60.0
    return l, m, x


def items_identical(l: Any, x: Any) -> Any:
    m = l[:]
    return (m[0] is l[0]), (l[0] is l[1])


def items_bound(l: Any, x: Any) -> Any:
    first = l[0]
    l[0] = x * 5.0
    return first, l


def items_lengthened(l: Any, x: Any) -> Any:
    l[0].append(x[0])
    return l, len(l[0]), len(l[1])


def items_iterated(l: Any, x: Any) -> Any:
    total = 0.0
    for r in l:
        for v in r:
            total = total + v * v
    return total


def items_changed_in_a_loop(l: Any, x: Any) -> Any:
    for r in l:
        r[0] = x[0] * 2.5
    return l, x


def stacked(l: Any, x: Any) -> Any:
    return np.stack(l), np.vstack(l), np.sum(l, axis=0)


USES: dict[str, list[Callable[[Any, Any], Any]]] = {
    "number": [
        setting, setting_the_last, setting_in_a_loop, augmenting, appending, extending,
        extending_by_an_array, inserting, popping, reversing, sorting, sorting_backwards, clearing,
        copying, removing, deleting, deleting_a_slice, assigning_a_slice, counting, finding,
        finding_nothing, looking, adding, repeating, repeating_by_a_size, comparing,
        comparing_with_a_copy, ordering, slicing, slicing_by_sizes, iterating, iterating_backwards,
        enumerating, zipping, summing, extremes, any_and_all, reading, reading_too_far,
        reading_at_a_float, reading_at_data, unpacking, unpacking_with_a_star, truth, kinds, arrays,
        array_arithmetic, plus_an_array, plus_a_float, times_a_float, minus, negative, attribute,
        comprehension, filtered, tuples, identity, in_other_lists, in_a_dict, by_a_function,
        in_a_branch, bound_in_a_branch, rebound_in_a_loop, changed_while_iterating, swapping,
        through_a_while, items_written_in_place],
    "complex": [
        setting, augmenting, appending, extending, inserting, popping, reversing, copying, adding,
        repeating, slicing, iterating, summing, reading, arrays, comprehension, swapping],
    "array": [
        augmenting, appending, inserting, popping, reversing, clearing, copying, adding, repeating,
        slicing, iterating, iterating_backwards, enumerating, summing, reading, reading_too_far,
        unpacking, unpacking_with_a_star, truth, kinds, comprehension, tuples, identity,
        in_other_lists, in_a_dict, swapping, items_written_in_place, items_written,
        items_identical, items_bound, items_iterated, items_changed_in_a_loop, stacked,
        rebound_in_a_loop, setting, setting_in_a_loop, deleting, by_a_function, in_a_branch],
    "list": [
        augmenting, appending, inserting, popping, reversing, clearing, copying, adding, repeating,
        slicing, reading, reading_too_far, unpacking, truth, kinds, tuples, identity,
        in_other_lists, swapping, items_written, items_identical, items_bound, items_lengthened,
        items_iterated, items_changed_in_a_loop, comparing, looking, setting, deleting, arrays,
        by_a_function, in_a_branch],
}

CASES = [(maker, use) for maker, (_, kind) in MAKERS.items() for use in USES[kind]]


@pytest.mark.parametrize(("maker", "use"), CASES,
                         ids=[f"{maker}-{use.__name__}" for maker, use in CASES])
def test_every_use_of_every_list_is_pythons(maker: str, use: Any) -> None:
    make = MAKERS[maker][0]

    def program(x: Any) -> Any:
        y = x * 1.0
        return use(make(y), y)

    check(program, X)
