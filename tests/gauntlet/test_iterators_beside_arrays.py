"""`zip` of an array and what Python can iterate over; lists that branches on constants fill.

An item is Python's, or the program is refused; a loop over the elements of a constant is no other
than one over an argument's.
"""

from __future__ import annotations

import collections
import enum
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from oracles import numeric_gradient

import tracejit


class Kind(enum.Enum):
    A = 1
    B = 2
    C = 5


class Counted:
    def __init__(self, *items: Any) -> None:
        self.items = [*items]
        self.begun = 0

    def __iter__(self) -> Iterator[Any]:
        self.begun += 1
        return iter(self.items)


MAKERS: dict[str, Callable[[Any], Any]] = {
    "generator": lambda x: (k.value for k in Kind),
    "object": lambda x: Counted(1.0, x[0], 3.0), "list": lambda x: iter([1.0, 2.0, x[1], 4.0]),
    "tuple": lambda x: iter((1.0, x[2], 3.0)), "range": lambda x: iter(range(2, 20, 3)),
    "reversed": lambda x: reversed([1.0, x[0], 5.0]), "text": lambda x: map(ord, "abc"),
    "keys": lambda x: iter({1: 2, 3: 4, 5: 6}), "deque": lambda x: iter(collections.deque([1, 2])),
    "chain": lambda x: itertools.chain([1.0], x[:1], [2.0, 4.0]),
    "slice": lambda x: itertools.islice(itertools.count(3), 1, 9, 2),
    "pairs": lambda x: itertools.starmap(pow, [(1, 2), (3, 2), (2, 2)]),
    "short": lambda x: iter([4.0]), "empty": lambda x: iter(()),
    "pairwise": lambda x: itertools.chain.from_iterable(
        itertools.pairwise([1.0, 2.0, 5.0])),
    "copies": lambda x: itertools.tee([1.0, 2.0, 3.0])[1],
    "numbered": lambda x: [k * v for k, v in enumerate([3.0, 4.0, x[1]])],
    "begun": lambda x: (lambda it: (next(it), it)[1])(iter([9.0, 1.0, 2.0, x[0]])),
    "endless": lambda x: itertools.chain([1.0], itertools.count(2.0)),
}


def _changed(x: Any) -> Any:
    items, total = [1.0, 2.0, 3.0], 0.0
    for a, k in zip(x, iter(items), strict=False):
        items[-1] = a
        total += a * k
    return total


def _longer(x: Any) -> Any:
    items, total = [1.0, 2.0], 0.0
    for a, k in zip(x, iter(items), strict=False):
        if len(items) < 5:
            items.append(7.0)
        total += a * k
    return total


def _read_on(x: Any) -> Any:
    items = iter([1.0, 2.0, 3.0, 4.0, 5.0])
    return sum(a * k for a, k in zip(x, items, strict=False)) + next(items)


def _left(x: Any) -> Any:
    items, total = iter([1.0, 2.0, 3.0, 4.0]), 0.0
    for a, k in zip(x, items, strict=False):
        total += a * k
        if a > 1.0:
            break
    return total * next(items)


def _twice(x: Any) -> Any:
    items = Counted(1.0, 2.0, 3.0)
    first = sum(a * k for a, k in zip(x, items, strict=False))
    items.items[0] = 7.0
    return first + sum(a * k for a, k in zip(x, items, strict=False)) + items.begun


class Ticking:
    """An iterator of a user's class, whose state tells how many items were taken."""

    def __init__(self) -> None:
        self.n = 0

    def __iter__(self) -> Ticking:
        return self

    def __next__(self) -> int:
        self.n += 1
        if self.n > 9:
            raise StopIteration
        return self.n


WITHIN: dict[str, Callable[[Any], Any]] = {
    "zip": lambda items: (a for a, _ in zip(items, [1, 2, 3, 4, 5, 6], strict=False)),
    "pairs": lambda items: zip(items, [1, 2, 3, 4, 5, 6], strict=False), "numbered": enumerate,
    "chain": lambda items: itertools.chain(items, [1.0]),
    "slice": lambda items: itertools.islice(items, 5), "tee": lambda items: itertools.tee(items)[0],
    "product": lambda items: itertools.product(items, [1, 2]),
}


@pytest.mark.parametrize("name", WITHIN)
@pytest.mark.parametrize("make", [Ticking, lambda: None])
def test_a_users_iterator_within_another_is_read_as_far_as_python_reads(
        name: str, make: Callable[[], Any]) -> None:
    def function(x: Any) -> Any:
        taken = [0]

        def ticks() -> Any:
            for k in range(1, 10):
                taken[0] += 1
                yield k

        source = make()
        total = 0.0 * x[0]
        for a, k in zip(x, WITHIN[name](ticks() if source is None else source), strict=False):
            total = total + a * np.sum(k)
        return total + (taken[0] if source is None else source.n)

    with tracejit.config(disable_jit=True):
        try:
            found = tracejit.jit(function)(POINTS[0])
        except tracejit.Refusal:
            return
    assert np.isclose(found, function(POINTS[0]))


def _enum(x: Any) -> Any:
    return sum(k.value * a for k, a in zip(Kind, x, strict=False)) + dict(zip(
        Kind, x, strict=False))[Kind.B]


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "changed": _changed, "longer": _longer, "read on": _read_on, "left": _left, "twice": _twice,
    "an enum": _enum,
    **{f"{name} behind": lambda x, make=make: sum(
        (a * k for a, k in zip(x, make(x), strict=False)), 0.0 * x[0])
        for name, make in MAKERS.items()},
    **{f"{name} before": lambda x, make=make: sum(
        (a * k for k, a in zip(make(x), x, strict=False)), 0.0 * x[0])
        for name, make in MAKERS.items()},
    **{f"{name} mapped": lambda x, make=make: sum(
        map(lambda a, k: a * k, x, make(x)), 0.0 * x[0]) for name, make in MAKERS.items()},
}
LAZY = ("pairs", "endless", "text", "generator", "copies")
REFUSED = {"changed", "longer", "read on", "left"}
POINTS = (np.array([0.7, 1.3, 2.1]), np.array([2.5, 0.2, 0.9]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_items_beside_an_array_are_pythons_or_the_program_is_refused(name: str) -> None:
    function = PROGRAMS[name]
    with tracejit.config(disable_jit=True):
        for x in POINTS:
            try:
                value, gradient = tracejit.value_and_grad(function)(x.copy())
            except tracejit.Refusal:
                assert name in REFUSED or name.startswith(LAZY)
                return
            assert np.isclose(value, function(x.copy()))
            assert np.allclose(gradient, numeric_gradient(function, [x], 0), atol=1e-6)
    assert name not in REFUSED


def _chosen(x: Any) -> Any:
    chosen = []
    for k in np.arange(4):
        if k != 1:
            chosen.append(x[k % 3] * k)
    return sum(chosen) + len(chosen)


def _flagged(x: Any) -> Any:
    rows = []
    for use, row in zip(np.array([True, False, True]), np.outer(x, x), strict=True):
        if use:
            rows.append(row)
    return np.stack(rows).sum() * x[0]


def _by_zeros(x: Any) -> Any:
    return sum([v * 2.0 for v, z in zip(x, np.zeros(3), strict=False) if z == 0.0])


def _indexed(x: Any) -> Any:
    places = []
    for k in np.array([2, 0, 1]):
        if k > 0:
            places.append(k)
    return x[np.array(places)].sum()


@pytest.mark.parametrize("function", [_chosen, _flagged, _by_zeros, _indexed])
def test_branches_on_constants_lengthen_lists(function: Callable[[Any], Any]) -> None:
    with tracejit.config(disable_jit=True):
        for x in POINTS:
            value, gradient = tracejit.value_and_grad(function)(x.copy())
            assert np.isclose(value, function(x.copy()))
            assert np.allclose(gradient, numeric_gradient(function, [x], 0), atol=1e-6)
