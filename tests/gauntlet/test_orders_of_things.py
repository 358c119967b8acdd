"""Lists of arrays, tuples, texts, functions and objects that data puts in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit


class Body:
    """Two numbers with names."""

    def __init__(self, place: Any, mass: Any) -> None:
        """Keep them."""
        self.place = place
        self.mass = mass


THINGS: dict[str, Callable[[Any, Any], list[Any]]] = {
    "arrays": lambda x, a: [x, x * a, x + a],
    "arrays of unlike sizes": lambda x, a: [x, (x * a)[:2], x[:1] + a],
    "tuples": lambda x, a: [(x[0], a), (x[1], 2.0), (a, x[2])],
    "tuples of unlike things": lambda x, a: [("p", x[0]), ("q", x[1]), ("r", a)],
    "lists": lambda x, a: [[x[0], a], [x[1], 2.0], [a, x[2]]],
    "dicts": lambda x, a: [{"v": x[0]}, {"v": x[1] * a}, {"v": a}],
    "objects": lambda x, a: [Body(x[0], 1.0), Body(x[1], a), Body(a, x[2])],
    "texts": lambda x, a: ["p", "q", "r"],
    "functions": lambda x, a: [np.sin, np.cos, np.tanh],
}


def _numbers(thing: Any, x: Any) -> list[Any]:
    """Return the numbers of a thing, as captured code finds them."""
    if isinstance(thing, Body):
        return [thing.place, thing.mass]
    if isinstance(thing, dict):
        return [thing["v"]]
    if isinstance(thing, str):
        return [x[0] if thing == "p" else x[1] * 2.0 if thing == "q" else x[2]]
    if isinstance(thing, (tuple, list)):
        return [v for v in thing if not isinstance(v, str)]
    if callable(thing):
        return [thing(x[1])]
    return [np.sum(thing), thing[0]]


def _by_sorted(things: list[Any], key: Any, x: Any) -> Any:
    found = sorted(things, key=key)
    return sum((k + 1) * v for k, t in enumerate(found) for v in _numbers(t, x))


def _by_sorted_down(things: list[Any], key: Any, x: Any) -> Any:
    found = sorted(things, key=key, reverse=True)
    return sum((k + 1) * v for k, t in enumerate(found) for v in _numbers(t, x))


def _by_sort(things: list[Any], key: Any, x: Any) -> Any:
    things.sort(key=key)
    return 2.0 * _numbers(things[0], x)[-1] + _numbers(things[-1], x)[0]


def _by_max(things: list[Any], key: Any, x: Any) -> Any:
    best = max(things, key=key)
    return sum(_numbers(best, x))


def _by_min(things: list[Any], key: Any, x: Any) -> Any:
    return sum(_numbers(min(things, key=key), x))


def _by_keys_that_count(things: list[Any], key: Any, x: Any) -> Any:
    asked: list[int] = []

    def counted(thing: Any) -> Any:
        asked.append(1)
        return key(thing)

    best, worst = max(things, key=counted), min(things, key=counted)
    return sum(_numbers(best, x)) * len(asked) - sum(_numbers(worst, x)) + len(sorted(
        things, key=counted)) * len(asked)


USES = [_by_sorted, _by_sorted_down, _by_sort, _by_max, _by_min, _by_keys_that_count]

INPUTS = [((1.0, 0.6, -0.7), 0.3), ((-1.1, 0.45, 2.0), -2.0), ((0.2, 3.1, 1.0), 4.0),
          ((1.0, 1.0, 0.0), 1.0), ((-2.0, 0.1, 0.4), 0.1)]


def _program(things: Callable[[Any, Any], list[Any]],
             use: Callable[[list[Any], Any, Any], Any]) -> Any:
    def f(x: Any, a: Any) -> Any:
        return use(things(x, a), lambda thing: _numbers(thing, x)[0], x)

    return f


@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
@pytest.mark.parametrize("kind", THINGS)
def test_things_in_order_are_pythons(kind: str, use: Any) -> None:
    f = _program(THINGS[kind], use)
    compiled = tracejit.value_and_grad(f, argnums=(0, 1))
    with tracejit.config(disable_jit=True):
        for items, a in INPUTS:
            x = np.array(items)
            value, (by_x, by_a) = compiled(x, a)
            np.testing.assert_allclose(value, f(x, a), rtol=1e-14)
            if len(set(items)) < len(items) or a in items:
                continue  # at a tie there is no derivative
            h = 1e-6
            slopes = [(f(x + h * e, a) - f(x - h * e, a)) / (2 * h) for e in np.eye(len(x))]
            np.testing.assert_allclose(by_x, slopes, rtol=1e-6, atol=1e-7)
            np.testing.assert_allclose(by_a, (f(x, a + h) - f(x, a - h)) / (2 * h),
                                       rtol=1e-6, atol=1e-7)


def _writes_to_the_first(x: Any, a: Any) -> Any:
    u, w = x * 1.0, x * a
    order = sorted([u, w], key=np.sum)
    order[0][0] = 7.0
    return u.sum() + 2.0 * w.sum() + order[1].sum()


def _writes_before_it_reads(x: Any, a: Any) -> Any:
    u, w = x * 1.0, x * a
    order = sorted([u, w], key=np.sum)
    u[0] = 9.0
    return order[0].sum() + 2.0 * order[1].sum()


def _writes_to_the_largest(x: Any, a: Any) -> Any:
    u, w = x * 1.0, x * a
    best = max([u, w], key=np.sum)
    best += 1.0
    return u.sum() + 2.0 * w.sum()


def _changes_an_item(x: Any, a: Any) -> Any:
    u, w = [x[0], a], [x[1], 2.0]
    order = sorted([u, w], key=lambda r: r[0])
    order[0][1] += 5.0
    return u[1] + 3.0 * w[1]


def _changes_an_object(x: Any, a: Any) -> Any:
    u, w = Body(x[0], 1.0), Body(x[1], a)
    order = sorted([u, w], key=lambda b: b.place)
    order[0].mass = 5.0
    return u.mass + 3.0 * w.mass


@pytest.mark.parametrize("f", [_writes_to_the_first, _writes_before_it_reads, _changes_an_item,
                               _writes_to_the_largest, _changes_an_object],
                         ids=lambda f: f.__name__)
def test_things_in_order_are_the_very_things(f: Any) -> None:
    with tracejit.config(disable_jit=True):
        for items, a in INPUTS:
            x = np.array(items)
            try:
                found = tracejit.jit(f)(x, a)
            except tracejit.Refusal:
                continue
            np.testing.assert_allclose(found, f(x, a), rtol=1e-14)


@pytest.mark.parametrize("f", [
    lambda x: sorted([(x[0], 1.0), (x[1], 2.0), (x[2], 3.0)])[0][1],
    lambda x: x[sorted(range(3), key=lambda k: x[k])[0]],
    lambda x: sorted([(x[k], k) for k in range(3)], reverse=True)[0][1],
    lambda x: sorted([Body(x[0], 1.0), Body(x[1], 2.0)], key=lambda b: -b.place)[0].mass,
    lambda x: sorted([x, x[1:]], key=lambda v: v[0])[0][1],
    lambda x: sorted([("p", x[0]), ("q", x[1])], key=lambda t: (t[1], t[0]))[0][1],
])
def test_a_nan_has_no_place_in_an_order(f: Any) -> None:
    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(f)
        x = np.array([3.0, 1.0, 2.0])
        np.testing.assert_array_equal(compiled(x), f(x))
        with pytest.raises(ValueError, match="a NaN in a list that is sorted"):
            compiled(np.array([1.0, np.nan, 2.0]))
