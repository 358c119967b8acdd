"""Arrays, lists and dicts that are passed twice: a derivative by each argument, or by the memory.

By each argument, as its own, where nothing is written; by the memory that both name, where it is.
A change of a list or dict that is two arguments is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.tree import flatten

A = np.array([1.0, 2.0])


def product(x: Any, y: Any) -> Any:
    return np.sum(x * x * y)


def doubled(x: Any, y: Any) -> Any:
    x *= 2.0
    return np.sum(x * y)


HOLDERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "array": (lambda a: a, lambda h: h), "list": (lambda a: [a], lambda h: h[0]),
    "tuple": (lambda a: (a, 1.0), lambda h: h[0]), "dict": (lambda a: {"a": a}, lambda h: h["a"]),
    "nest": (lambda a: {"a": [a, 2.0]}, lambda h: h["a"][0])}
"""What holds an array, and how to get it out."""


def calls(name: str) -> dict[str, tuple[Any, Callable[[], tuple[Any, ...]]]]:
    """Return functions of two arguments, and ways to pass one array as both."""
    hold, get = HOLDERS[name]

    def over(f: Callable[[Any, Any], Any]) -> Any:
        return lambda x, y: f(get(x), get(y))

    def one_holder() -> tuple[Any, ...]:
        h = hold(A.copy())
        return h, h

    def two_holders() -> tuple[Any, ...]:
        a = A.copy()
        return hold(a), hold(a)

    return {f"{f.__name__} {way.__name__}": (over(f), way)
            for f in (product, doubled) for way in (one_holder, two_holders)}


CASES = [(name, call) for name in HOLDERS for call in calls(name)]


@pytest.mark.parametrize("interpreted", [True, False], ids=["interpreted", "compiled"])
@pytest.mark.parametrize(("name", "call"), CASES)
def test_derivatives_by_one_array_under_two_names(name: str, call: str, interpreted: bool) -> None:
    f, way = calls(name)[call]
    get = HOLDERS[name][1]
    expected = (2 * A * A, A * A) if call.startswith("product") else (8 * A, 8 * A)
    with tracejit.config(disable_jit=interpreted):
        first = tracejit.grad(f)(*way())
        both = tracejit.grad(f, argnums=(0, 1))(*way())
        value, pullback = tracejit.vjp(f, *way())
        pulled = pullback(1.0)
    assert value == pytest.approx(f(*way()))
    assert get(first) == pytest.approx(expected[0])
    for found in (both, pulled):
        assert [list(get(x)) for x in found] == [pytest.approx(e) for e in expected]


def test_one_array_twice_in_one_list() -> None:
    for f, expected in ((product, [2 * A * A, A * A]), (doubled, [8 * A, 8 * A])):
        x = A.copy()
        found = tracejit.grad(lambda pair, f=f: f(pair[0], pair[1]))([x, x])
        assert [list(g) for g in found] == [pytest.approx(e) for e in expected]
        assert np.array_equal(x, A)


@pytest.mark.parametrize("make", [lambda: [1.0, 2.0], lambda: {0: 1.0}], ids=["list", "dict"])
@pytest.mark.parametrize("transform", [
    tracejit.jit, tracejit.grad, tracejit.value_and_grad,
    lambda f: lambda a, b: tracejit.vjp(f, a, b)])
def test_changes_of_what_is_two_arguments_are_refused(transform: Any, make: Any) -> None:
    def f(a: Any, b: Any) -> Any:
        a[0] = a[0] * 3.0
        return a[0] * b[0]

    given = make()
    with pytest.raises(tracejit.Refusal, match=f"{__file__}:.*an argument twice"):
        transform(f)(given, given)
    assert given == make()


@pytest.mark.parametrize("transform", [
    lambda f, x: tracejit.jvp(f, (x, x), (x, x)), lambda f, x: tracejit.hessian(f)(x, x),
    lambda f, x: tracejit.jacobian(f)(x, x), lambda f, x: tracejit.hvp(f, (x, x), (x, x)),
    lambda f, x: tracejit.vmap(lambda a, b: f(a, b))(x[None], x[None])],
    ids=["jvp", "hessian", "jacobian", "hvp", "vmap"])
def test_other_transforms_are_right_or_refuse_the_write(transform: Any) -> None:
    x = A.copy()
    transform(product, x)
    with pytest.raises(tracejit.Refusal, match=f"{__file__}:") as caught:
        transform(doubled, x)
    assert "written to" in str(caught.value)
    assert np.array_equal(x, A)


@pytest.mark.parametrize("interpreted", [True, False], ids=["interpreted", "compiled"])
def test_elements_of_a_vmap_write_to_copies(interpreted: bool) -> None:
    def count(x: Any, shared: Any) -> Any:
        shared[0] += x[0]
        return np.sum(shared)

    rows, shared = np.arange(6.0).reshape(3, 2) + 1.0, np.array([10.0, 20.0])
    with tracejit.config(disable_jit=interpreted):
        found = tracejit.vmap(count, in_axes=(0, None))(rows, shared)
        slopes = tracejit.vmap(tracejit.grad(count, argnums=1), in_axes=(0, None))(rows, shared)
    assert found.tolist() == [count(row, shared.copy()) for row in rows]
    assert np.array_equal(shared, [10.0, 20.0])
    assert slopes.tolist() == [[1.0, 1.0]] * 3


def test_leaves_of_what_is_passed_are_gradients_of_its_shape() -> None:
    given = {"a": [A, A], "b": (A,)}
    found = tracejit.grad(lambda p, q: np.sum(p["a"][0] * q["a"][1] * q["b"][0]))(given, given)
    leaves, _ = flatten(found)
    assert [list(g) for g in leaves] == [list(A * A), [0.0, 0.0], [0.0, 0.0]]
