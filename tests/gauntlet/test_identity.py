"""Which names are one object: `is` is Python's, and a program holds for calls in which it is so."""

from __future__ import annotations

import operator
from collections import deque, namedtuple
from typing import Any

import numpy as np
import pytest

import tracejit

LIST = [1.0, 2.0]
ALIAS: Any = LIST
ARRAY = np.arange(3.0)
OTHER: Any = ARRAY
TABLE = {"k": LIST, "w": ARRAY}


def doubled_if_one(a: Any, b: Any) -> Any:
    return np.sum(a) * 2.0 if a is b else np.sum(a) + np.sum(b)


def not_one(a: Any, b: Any) -> Any:
    return np.sum(a) if a is not b else np.sum(b) * 3.0


def by_operator(a: Any, b: Any) -> Any:
    return np.sum(a) if operator.is_(a, b) else np.sum(b) * 3.0


def of_a_view(a: Any, b: Any) -> Any:
    return np.sum(a) if a[:] is a or a.T is b else np.sum(b) * 3.0


def after_a_name(a: Any, b: Any) -> Any:
    c = a
    d = b
    return np.sum(c) if c is d else np.sum(d) * 3.0


def in_a_list(a: Any, b: Any) -> Any:
    both = [a, b]
    return np.sum(a) if both[0] is both[1] else np.sum(b) * 3.0


def in_a_function(a: Any, b: Any) -> Any:
    def one(x: Any, y: Any) -> Any:
        return x is y

    return np.sum(a) if one(b, a) else np.sum(b) * 3.0


PROGRAMS = (doubled_if_one, not_one, by_operator, of_a_view, after_a_name, in_a_list, in_a_function)


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("transform", [tracejit.jit, tracejit.value_and_grad])
def test_arguments(f: Any, transform: Any) -> None:
    x, y = np.arange(3.0), np.arange(3.0) + 1.0
    with tracejit.config(disable_jit=True):
        compute = transform(f)
        for args in ((x, x), (x, y), (x, x[:]), (y, x), (x, x), (y, y), (x[:], x)):
            found = compute(*args)
            value = found[0] if transform is tracejit.value_and_grad else found
            assert value == f(*args)


@pytest.mark.parametrize("f", [doubled_if_one, not_one])
def test_arguments_compiled_and_within_a_capture(f: Any) -> None:
    x, y = np.arange(3.0), np.arange(3.0) + 1.0
    compute, inside = tracejit.value_and_grad(f), tracejit.jit(
        lambda a, b: tracejit.value_and_grad(f)(a, b))
    for args in ((x, x), (x, y), (x, x[:]), (x, x)):
        assert compute(*args)[0] == f(*args)
        assert inside(*args)[0] == f(*args)
        assert np.array_equal(compute(*args)[1], inside(*args)[1])


CONTAINERS: dict[str, Any] = {
    "lists": lambda: [1.0, 2.0], "dicts": lambda: {"a": 1.0}, "lists of arrays": lambda: [ARRAY],
    "nested": lambda: [[1.0], [2.0]], "empty": lambda: [],
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers_among_the_arguments(name: str) -> None:
    def f(a: Any, b: Any) -> Any:
        return 1.0 if a is b else 2.0

    def parts(a: Any) -> Any:
        return 1.0 if a[0] is a[1] else 2.0

    def mixed(a: Any, b: Any) -> Any:
        return 1.0 if a is b[0] else 2.0

    make = CONTAINERS[name]
    one, other = make(), make()
    with tracejit.config(disable_jit=True):
        for g, calls in ((f, ((one, one), (one, other), (one, one))),
                         (parts, (([one, one],), ([one, other],), ((one, one),))),
                         (mixed, ((one, [one]), (one, [other])))):
            compute = tracejit.jit(g)
            for args in calls:
                assert compute(*args) == g(*args)


def test_a_list_that_is_passed_twice_is_changed_once() -> None:
    def appends(a: Any, b: Any) -> Any:
        a.append(a[0] * 2.0)
        return sum(b)

    def assigns(a: Any, b: Any) -> Any:
        a[0] = 7.0 * a[1]
        return sum(b)

    def of_a_dict(a: Any, b: Any) -> Any:
        a["x"] = 3.0
        return sum(b.values())

    with tracejit.config(disable_jit=True):
        for f, make in ((appends, lambda: [1.0, 2.0]), (assigns, lambda: [1.0, 2.0]),
                        (of_a_dict, lambda: {"x": 1.0, "y": 2.0})):
            one = make()
            with pytest.raises(tracejit.Refusal, match="twice"):
                tracejit.value_and_grad(f)(one, one)
            value, _ = tracejit.value_and_grad(f, argnums=(0, 1))(one, make())
            assert value == f(make(), make())


def test_globals_that_name_one_object() -> None:
    global ALIAS, OTHER

    def lists(x: Any) -> Any:
        return x * 2.0 if LIST is ALIAS else x

    def arrays(x: Any) -> Any:
        return x * 2.0 if ARRAY is OTHER else x

    def items(x: Any) -> Any:
        return x * 2.0 if TABLE["k"] is ALIAS and TABLE["w"] is OTHER else x

    with tracejit.config(disable_jit=True):
        for start in (True, False):
            for f in (lists, arrays, items):
                compute = tracejit.jit(f)
                for one in (start, not start, start, not start):
                    ALIAS = LIST if one else list(LIST)
                    OTHER = ARRAY if one else ARRAY.copy()
                    assert compute(1.0) == f(1.0)
    ALIAS, OTHER = LIST, ARRAY


def test_an_argument_and_a_global() -> None:
    def f(x: Any) -> Any:
        return np.sum(x) * 2.0 if x is ARRAY else np.sum(x)

    compute = tracejit.jit(f)
    for x in (ARRAY, ARRAY.copy(), ARRAY[:], ARRAY):
        assert compute(x) == f(x)


def test_identity_in_a_membership() -> None:
    def f(a: Any, b: Any) -> Any:
        return 1.0 if any(x is a for x in [b, b * 1.0]) else 2.0

    x = np.arange(3.0)
    with tracejit.config(disable_jit=True):
        compute = tracejit.jit(f)
        for args in ((x, x), (x, x.copy()), (x, x)):
            assert compute(*args) == f(*args)


def test_ids_are_refused() -> None:
    def arrays(a: Any, b: Any) -> Any:
        return np.sum(a) if id(a) == id(b) else np.sum(b) * 2.0

    def lists(x: Any) -> Any:
        return x if id(LIST) == id(ALIAS) else x * 2.0

    x = np.arange(3.0)
    with pytest.raises(tracejit.Refusal, match="`is`"):
        tracejit.jit(arrays)(x, x)
    with pytest.raises(tracejit.Refusal, match="`is`"):
        tracejit.jit(lists)(1.0)


def test_what_data_decides_is_refused() -> None:
    def f(x: Any, y: Any) -> Any:
        z = x if np.sum(x) > 1.0 else y
        return 1.0 if z is x else 2.0

    x = np.arange(3.0)
    with pytest.raises(tracejit.Refusal):
        tracejit.jit(f)(x, x + 1.0)


# --- results ------------------------------------------------------------------------------------


@pytest.mark.parametrize("interpreted", [True, False])
def test_results_are_the_objects_that_they_are_in_python(interpreted: bool) -> None:
    def twice(x: Any) -> Any:
        y = x * 2.0
        return y, y, {"a": [y]}

    def given(x: Any, y: Any) -> Any:
        return x, y * 2.0, [x, y]

    def written(x: Any) -> Any:
        x *= 2.0
        return x

    def rebound(x: Any) -> Any:
        y = x
        x = x + 1.0
        return x, y

    with tracejit.config(disable_jit=interpreted):
        a, b, c = tracejit.jit(twice)(ARRAY)
        assert a is b is c["a"][0]
        x, y = np.arange(3.0), np.ones(2)
        compute = tracejit.jit(given)
        for _ in range(2):
            r = compute(x, y)
            assert r[0] is x and r[2][0] is x and r[2][1] is y and r[1] is not y
        assert tracejit.jit(written)(x) is x and x.tolist() == [0.0, 2.0, 4.0]
        r = tracejit.jit(rebound)(x)
        assert r[1] is x and r[0] is not x
        zero = np.array(2.0)
        assert tracejit.jit(written)(zero) is zero and zero == 4.0


def test_arrays_without_axes_among_the_arguments() -> None:
    def counts(total: Any, x: Any) -> Any:
        total += np.sum(x)
        return total * 1.0

    def sets(total: Any, x: Any) -> Any:
        total[...] = x[0]
        return x[1]

    def rebinds(total: Any, x: Any) -> Any:
        total = total + 1.0
        return total

    x = np.arange(3.0) + 1.0
    for interpreted in (True, False):
        with tracejit.config(disable_jit=interpreted):
            for f in (counts, sets, rebinds):
                ours, theirs = np.array(2.0), np.array(2.0)
                compute = tracejit.jit(f)
                for _ in range(2):
                    assert compute(ours, x) == f(theirs, x)
                    assert ours == theirs
                value, slope = tracejit.value_and_grad(f, argnums=(0, 1))(np.array(2.0), x)
                assert value == f(np.array(2.0), x)
                assert np.shape(slope[0]) == ()
    whole = np.array(3)
    assert tracejit.jit(lambda n: n * 2)(whole) == 6


def doubles_the_first(a: Any, b: Any) -> Any:
    a[0] = a[0] * 2.0
    return b[0] ** 2 + a[1]


def asks_whether_it_is_one(a: Any, b: Any) -> Any:
    return (a[0] if a is b else 5.0 * a[0]) * b[1] ** 2


@pytest.mark.parametrize("transform", ["jvp", "hvp"])
@pytest.mark.parametrize("fn", [doubles_the_first, asks_whether_it_is_one])
def test_a_list_that_is_two_primals(fn: Any, transform: str) -> None:
    xs, ones = [3.0, 4.0], [1.0, 0.0]
    with tracejit.config(disable_jit=True):
        try:
            value, tangent = getattr(tracejit, transform)(fn)((xs, xs), (ones, ones))
        except tracejit.Refusal as e:
            assert "test_identity.py" in str(e)  # noqa: PT017
            return
    assert (value, tangent) == (48.0, 16.0)


def test_equal_lists_are_two_primals() -> None:
    ones = [1.0, 0.0]
    with tracejit.config(disable_jit=True):
        assert tracejit.jvp(asks_whether_it_is_one)(
            ([3.0, 4.0], [3.0, 4.0]), (ones, ones)) == (240.0, 80.0)


@pytest.mark.parametrize("transform", ["vmap", "jacfwd", "jacrev", "jacobian", "hessian"])
@pytest.mark.parametrize("fn", [doubles_the_first, asks_whether_it_is_one])
def test_a_list_that_is_two_arguments_of_a_composition(fn: Any, transform: str) -> None:
    xs = [np.array([3.0, 1.0]), np.array([4.0, 2.0])] if transform == "vmap" else [3.0, 4.0]
    with (tracejit.config(disable_jit=True),
          pytest.raises(tracejit.Refusal, match=r"test_identity.py.* argument twice")):
        getattr(tracejit, transform)(fn)(xs, xs)


def test_a_tuple_may_be_two_arguments_of_a_composition() -> None:
    t = (3.0, 4.0)
    with tracejit.config(disable_jit=True):
        assert tracejit.hvp(lambda a, b: a[0] ** 2 * b[1])(
            (t, t), ((1.0, 0.0), (0.0, 0.0))) == ((8.0, 0.0), (0.0, 6.0))


@pytest.mark.parametrize("transform", ["grad", "value_and_grad", "vjp", "hessian"])
def test_a_list_that_is_two_arguments_of_a_call_within_a_capture(transform: str) -> None:
    apply = {"vjp": lambda f: lambda *xs: tracejit.vjp(f, *xs)[0]}.get(
        transform, getattr(tracejit, transform))

    def outer(xs: Any) -> Any:
        return apply(asks_whether_it_is_one)(xs, xs)

    def along(xs: Any) -> Any:
        return tracejit.jvp(asks_whether_it_is_one, (xs, xs), ([1.0, 0.0], [1.0, 0.0]))

    with tracejit.config(disable_jit=True):
        for program in (outer, along):
            with pytest.raises(tracejit.Refusal, match=r"test_identity.py.* argument twice"):
                tracejit.jit(program)([3.0, 4.0])


class Held:
    """An object with one attribute."""

    def __init__(self, v: Any) -> None:
        """Keep it."""
        self.v = v


Pair = namedtuple("Pair", "a b")

MADE: dict[str, Any] = {
    "list": lambda x: [x, 1.0], "empty list": lambda x: [], "list of lists": lambda x: [[x], [1.0]],
    "list of objects": lambda x: [Held(x)], "dict": lambda x: {"a": x}, "tuple": lambda x: (x, 1.0),
    "named tuple": lambda x: Pair(x, 1.0), "object": Held, "set": lambda x: {1, 2},
    "deque": lambda x: deque([x]), "array": lambda x: x * np.ones(2),
    "bytes": lambda x: bytearray(2),
    "function": lambda x: lambda u: u * x, "float": lambda x: x * 2.0, "constant": lambda x: 1.5,
    "truth": lambda x: x > 1.0, "text": lambda x: "ab",
}


def _one_or_none(make: Any, x: Any, c: Any) -> Any:
    first, second, held = make(x), make(x), None
    if c > 0.0:
        held = first
    elif c < -1.5:
        held = second
    return (1.0 if held is first else 0.0) + (2.0 if held is not second else 0.0)


def _one_of_two(make: Any, x: Any, c: Any) -> Any:
    first, second = make(x), make(x)
    held = first if c > 0.0 else second
    return 1.0 if held is first else 0.0


def _one_or_a_number(make: Any, x: Any, c: Any) -> Any:
    first, held = make(x), 3.0
    if c > 0.0:
        held = first
    t = x
    for k in range(3):
        if held is first:
            t += 1.0
        if x * k > c:
            held = x * 0.25
    return t


def _exchanged(make: Any, x: Any, c: Any) -> Any:
    first, second = make(x), make(x)
    p, q = first, second
    for k in range(3):
        if c > k:
            p, q = q, p
    return (1.0 if p is first else 0.0) + (2.0 if q is p else 0.0)


def _exchanged_in_a_loop_on_data(make: Any, x: Any, c: Any) -> Any:
    first, second = make(x), make(x)
    p, q = first, second
    k = 0
    while k < abs(c) + 1.0:
        p, q = q, p
        k += 1
    return (1.0 if p is first else 0.0) + (2.0 if q is first else 0.0)


def _by_id(make: Any, x: Any, c: Any) -> Any:
    first, second = make(x), make(x)
    held = first if c > 0.0 else second
    return 1.0 if id(held) == id(first) else 0.0


def _by_id_in_a_dict(make: Any, x: Any, c: Any) -> Any:
    first, second = make(x), make(x)
    p, q = first, second
    for k in range(3):
        if c > k:
            p, q = q, p
    return {id(first): 1.0, id(second): 2.0}[id(p)]


KNOWN = {"object", "set", "bytes", "function", "text"}
"""Kinds of things of which a choice by data keeps apart which one it is: nothing is refused."""


@pytest.mark.parametrize("use", [_one_or_none, _one_of_two, _one_or_a_number, _exchanged,
                                 _exchanged_in_a_loop_on_data, _by_id, _by_id_in_a_dict],
                         ids=lambda use: use.__name__)
@pytest.mark.parametrize("kind", MADE)
def test_whether_two_names_hold_one_thing_is_right_or_refused(kind: str, use: Any) -> None:
    make = MADE[kind]
    compiled = tracejit.jit(lambda x, c: use(make, x, c))
    with tracejit.config(disable_jit=True):
        for c in (1.0, -1.0, -2.0, 2.5):
            try:
                found = compiled(1.5, c)
            except tracejit.Refusal:
                assert kind not in KNOWN or "id" in use.__name__
                continue
            assert found == use(make, 1.5, c)


def test_a_number_of_which_data_decides_the_type_is_not_none() -> None:
    def f(x: Any) -> Any:
        held, t = None, 0.0
        for k in range(4):
            if held is not None:
                t += held
            held = 0.5 if x[k] < 0.0 else x[k]
        return t

    compiled = tracejit.value_and_grad(f)
    with tracejit.config(disable_jit=True):
        for x in (np.array([1.0, -2.0, 3.0, 4.0]), -np.ones(4), np.arange(1.0, 5.0)):
            value, slope = compiled(x)
            assert value == f(x)
            np.testing.assert_array_equal(slope, (x > 0.0) & (np.arange(4) < 3))


NAN = float("nan")

WITH_NAN: dict[str, Any] = {
    "in a list": lambda x, y, c: (x if c > 0.0 else y) in [x],
    "in a tuple with others": lambda x, y, c: (x if c > 0.0 else y) in (1.0, x, 2.0),
    "equal tuples": lambda x, y, c: ((x if c > 0.0 else y), 1.0) == (x, 1.0),
    "tuples that differ": lambda x, y, c: ((x if c > 0.0 else y), 1.0) != (x, 1.0),
    "tuples in order": lambda x, y, c: ((x if c > 0.0 else y), 1.0) < (x, 2.0),
    "later items": lambda x, y, c: (c, x if c > 0.0 else y) <= (c, x),
    "items that do not decide": lambda x, y, c: (c, x) < (c + 1.0, y),
    "one name": lambda x, y, c: x in [x] and (x, c) == (x, c),
    "a list made by a loop": lambda x, y, c: x in [x * k for k in range(int(c) + 2)],
    "its own item": lambda x, y, c: (lambda items: items[0] in items)([x, c, y]),
}


@pytest.mark.parametrize("use", WITH_NAN)
def test_nan_in_lists_and_tuples_is_right_or_an_error(use: str) -> None:
    """Python takes items for equal that are one object, and a NaN is not equal to itself."""
    def f(x: Any, y: Any, c: Any) -> Any:
        return 1.0 if WITH_NAN[use](x * 1.0, y * 1.0, c) else 0.0

    compiled = tracejit.jit(f)
    with tracejit.config(disable_jit=True):
        for x, y in ((1.0, 1.0), (1.0, 2.0), (1.0, NAN), (NAN, 1.0), (NAN, NAN)):
            for c in (1.0, -1.0):
                try:
                    found = compiled(x, y, c)
                except ValueError as e:
                    found = str(e)
                if isinstance(found, str):
                    assert "two NaN are compared" in found and x != x
                else:
                    assert found == f(x, y, c)


def test_truths_are_one_of_two_objects() -> None:
    def f(x: Any) -> Any:
        positive, large = x > 0.0, x > 1.0
        return [positive is True, positive is False, positive is large, large is not True]

    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(f)
        for x in (1.5, 0.5, -1.0, np.float64(1.5), np.float64(-1.0)):
            assert compiled(x) == f(x)


def test_a_list_from_before_a_loop_is_one_of_what_a_name_may_hold() -> None:
    def f(x: Any, p: Any) -> Any:
        held = x * 0.5
        if p[0] < -0.4:
            held = [np.sin(x), p[-1]]
        for k in range(len(p)):
            if x * k > 1.3:
                held = p[k]
        return sum(held) if isinstance(held, list) else held

    compiled = tracejit.value_and_grad(f)
    with tracejit.config(disable_jit=True):
        for x, n in ((0.9, 4), (0.2, 3), (-0.5, 5), (3.0, 2), (0.4, 1)):
            p = np.linspace(-1.0, 1.3, n)
            value, slope = compiled(x, p)
            assert value == f(x, p)
            np.testing.assert_allclose(slope, (f(x + 1e-6, p) - f(x - 1e-6, p)) / 2e-6, atol=1e-8)


def _begun_as_one(x: Any, n: int) -> Any:
    a = x * np.ones(2)
    b, t = a, 0.0
    for _ in range(n):
        if b is a:
            t += 1.0
        b = b * 0.5
    return t + b.sum()


def _become_one(x: Any, n: int) -> Any:
    a = x * np.ones(2)
    b, t = a * 2.0, 0.0
    for _ in range(n):
        if b is a:
            t += 1.0
        b = a
    return t + b.sum()


def _change_places(x: Any, n: int) -> Any:
    a = x * np.ones(2)
    b, c, t = a * 2.0, a, 0.0
    for _ in range(n):
        if b is c:
            t += 1.0
        b, c = c, b * 1.0
    return t + b.sum()


def _was_none(x: Any, n: int) -> Any:
    a, b, t = x * np.ones(2), None, 0.0
    for _ in range(n):
        if b is a:
            t += 1.0
        b = a
    return t


def _items_change_places(x: Any, n: int) -> Any:
    a = x * np.ones(2)
    items, t = [a, a * 2.0], 0.0
    for _ in range(n):
        if items[0] is a:
            t += 1.0
        items = [items[1], items[0]]
    return t


def _attribute(x: Any, n: int) -> Any:
    held = Held(x * np.ones(2))
    a, t, k = held.v, 0.0, 0
    while k < n * x:
        if held.v is a:
            t += 1.0
        held.v = held.v * 1.0
        k += 1
    return t


def _lists(x: Any, n: int) -> Any:
    a = [x, 1.0]
    b, t = a, 0.0
    for _ in range(n):
        if b is a:
            t += 1.0
        b = [b[0] * 0.5, 1.0]
    return t + b[0]


def _tuples(x: Any, n: int) -> Any:
    a = (x, 1.0)
    b, t = a, 0.0
    for _ in range(n):
        if b is a:
            t += 1.0
        b = (b[0] * 0.5, 1.0)
    return t


@pytest.mark.parametrize("f", [_begun_as_one, _become_one, _change_places, _was_none, _tuples,
                               _items_change_places, _attribute, _lists], ids=lambda f: f.__name__)
def test_whether_iterations_begin_with_one_thing_is_right_or_refused(f: Any) -> None:
    compiled = tracejit.jit(f)
    with tracejit.config(disable_jit=True):
        for n in (0, 1, 3, 14):
            try:
                found = compiled(1.5, n)
            except tracejit.Refusal:
                continue
            assert found == f(1.5, n)
