"""Lists, tuples and dicts of classes of their own, and functions made anew, on paths of data."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit


class Tagged(tuple):
    """A tuple with an attribute."""

    k = 1.0

    def tagged(self, k: float) -> Tagged:
        self.k = k
        return self


class Named(list):
    """A list with an attribute, and a method of its own."""

    def __init__(self, items: Any, k: float = 1.0) -> None:
        super().__init__(items)
        self.k = k

    def total(self) -> Any:
        return self[0] + self[1] * self.k


class Table(dict):
    """A dict with a method of its own."""

    k = 1.0

    def __missing__(self, key: str) -> float:
        return 7.0

    def total(self) -> Any:
        return sum(self.values())


class Pair(namedtuple("Pair", "a b")):
    """A named tuple with a method."""

    def total(self) -> Any:
        return self.a + self.b


MADE: dict[str, Callable[[Any, float], Any]] = {
    "tuple": lambda v, k: Tagged((v, 2.0)).tagged(k),
    "tuple of one tag": lambda v, k: Tagged((v, 2.0)).tagged(3.0),
    "list": lambda v, k: Named([v, 2.0], k), "list of one tag": lambda v, k: Named([v, 2.0]),
    "dict": lambda v, k: Table(a=v, b=2.0),
    "defaultdict": lambda v, k: defaultdict(float, a=v, b=k),
    "dicts of two factories": lambda v, k: defaultdict(float if k > 2 else int, a=v, b=k),
    "Counter": lambda v, k: Counter(a=v, b=2), "OrderedDict": lambda v, k: OrderedDict(a=v, b=k),
    "named tuple": lambda v, k: Pair(v, k),
}

READ: dict[str, Callable[[Any], Any]] = {
    "attribute": lambda c: c.k, "method": lambda c: c.total(),
    "class": lambda c: 1.0 if type(c) in (Tagged, Named, Table, defaultdict, Counter, OrderedDict,
                                          Pair) else 2.0,
    "is of Python's": lambda c: 1.0 if type(c) in (list, tuple, dict) else 2.0,
    "first": lambda c: c[0], "item": lambda c: c["a"] * 2.0, "missing": lambda c: c["zz"],
    "length": lambda c: len(c), "fields": lambda c: c.a * c.b,
    "values": lambda c: [v * (i + 1.0) for i, v in enumerate(c.values())][-1],
    "default": lambda c: 1.0 if c.default_factory is float else 2.0,
    "most common": lambda c: c.total(), "sorted": lambda c: sorted(c.keys())[0] == "a",
}


def by_expression(make: Any, read: Any) -> Any:
    def f(x: float) -> Any:
        c = make(x, 3.0) if x > 0 else make(2.0 * x, 2.0)
        return read(c) * x
    return f


def by_if(make: Any, read: Any) -> Any:
    def f(x: float) -> Any:
        c = make(x, 3.0)
        if x < 0:
            c = make(2.0 * x, 3.0)
        return read(c) * x
    return f


def by_for(make: Any, read: Any) -> Any:
    def f(x: float) -> Any:
        c = make(x, 2.0)
        for _ in range(20):
            c = make(x * 0.5, 3.0)
        return read(c) * x
    return f


def by_while(make: Any, read: Any) -> Any:
    def f(x: float) -> Any:
        c, t = make(x, 2.0), 0.0
        while t < x:
            c, t = make(t, 3.0), t + 0.4
        return read(c) * x
    return f


def outcome(function: Callable[[float], Any], x: float) -> Any:
    try:
        return float(function(x))
    except tracejit.Refusal:
        return "refused"
    except (TypeError, AttributeError, LookupError) as error:
        return type(error).__name__


@pytest.mark.parametrize("path", [by_expression, by_if, by_for, by_while])
@pytest.mark.parametrize("made", MADE)
def test_containers_of_own_classes_keep_class_and_attributes_or_are_refused(made: str,
                                                                            path: Any) -> None:
    for name, read in READ.items():
        f = path(MADE[made], read)
        captured = tracejit.jit(f)
        with tracejit.config(disable_jit=True):
            for x in (1.5, -1.5):
                found, wanted = outcome(captured, x), outcome(f, x)
                if not isinstance(wanted, str) or found != "refused":
                    assert found in (wanted, "refused"), (name, x)


@pytest.mark.parametrize(("made", "read"), [
    ("tuple", "attribute"), ("tuple of one tag", "first"), ("list", "method"),
    ("dict", "method"), ("dict", "missing"), ("defaultdict", "missing"), ("defaultdict", "class"),
    ("Counter", "missing"), ("OrderedDict", "values"), ("named tuple", "method")])
def test_containers_of_own_classes_are_merged(made: str, read: str) -> None:
    f = by_expression(MADE[made], READ[read])
    captured, gradient = tracejit.jit(f), tracejit.grad(f)
    with tracejit.config(disable_jit=True):
        for x in (1.5, -1.5):
            np.testing.assert_allclose(captured(x), f(x))
            np.testing.assert_allclose(gradient(x), (f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rtol=1e-6)


# --- functions that iterations make anew ----------------------------------------------------------


def make() -> Any:
    def g(v: Any) -> Any:
        return v
    return g


ASKED: dict[str, Callable[[Any, Any], Any]] = {
    "is": lambda g, first: 1.0 if g is first else 2.0,
    "is not": lambda g, first: 1.0 if g is not first else 2.0,
    "equal": lambda g, first: 1.0 if g == first else 2.0,
    "key": lambda g, first: {first: 3.0}.get(g, 5.0),
    "in a set": lambda g, first: 1.0 if g in {first} else 2.0,
    "in a list": lambda g, first: 1.0 if g in [first] else 2.0,
    "counted": lambda g, first: [first].count(g) * 1.0,
    "id": lambda g, first: 1.0 if id(g) == id(first) else 2.0,
    "called": lambda g, first: g(2.0) + first(1.0),
    "mapped": lambda g, first: next(map(g, [2.0])),
    "key of a sort": lambda g, first: sorted([2.0, 1.0], key=g)[0],
}
CALLED = ("called", "mapped", "key of a sort")


@pytest.mark.parametrize("asked", ASKED)
def test_functions_made_anew_in_each_iteration_are_several_functions(asked: str) -> None:
    ask = ASKED[asked]

    def f(x: float, n: int) -> Any:
        g = make()
        first, s = g, 0.0
        for i in range(n):
            s = s + x * ask(g, first) * (i + 1)
            g = make()
        return s

    def h(x: float, n: int) -> Any:
        g = make()
        first, t = g, 0.0
        while t < n * x:
            g, t = make(), t + 1.0
        return ask(g, first) * x

    for function in (f, h):
        captured = tracejit.jit(function)
        with tracejit.config(disable_jit=True):
            for n in (1, 20):
                try:
                    assert captured(1.5, n) == function(1.5, n)
                except tracejit.Refusal:
                    assert asked not in CALLED


class Shifted(list):
    """A list whose items are read with 1 more, and which tells another length."""

    def __getitem__(self, k: Any) -> Any:
        return super().__getitem__(k) + 1.0

    def __len__(self) -> int:
        return 9


def each_of_a_comprehension(x: Any) -> Any:
    return sum(o[0] * o[1] * len(o) for o in [Shifted([v, 2.0 * v]) for v in x])


def each_of_an_append(x: Any) -> Any:
    made: list[Any] = []
    for v in x:
        made.append(Shifted([v, 2.0 * v]))
    return sum(o[0] * o[1] * len(o) for o in made)


def whether_they_are_lists(x: Any) -> Any:
    return sum(v for v, o in zip(x, [Shifted([v, v]) for v in x], strict=True)
               if type(o) is Shifted)


@pytest.mark.parametrize("f", [each_of_a_comprehension, each_of_an_append, whether_they_are_lists])
def test_lists_of_lists_of_a_users_class_keep_the_class(f: Callable[..., Any]) -> None:
    x = np.array([0.31, 1.27, -0.83, 0.44])
    with tracejit.config(disable_jit=True):
        assert tracejit.jit(f)(x) == pytest.approx(f(x), rel=1e-12)
