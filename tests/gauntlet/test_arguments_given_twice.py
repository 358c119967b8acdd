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


# --- derivatives by the memory, in all transforms ------------------------------------------------


def second(x: Any, y: Any) -> Any:
    y *= 2.0
    return np.sum(x * x * y)


def twice(x: Any, y: Any) -> Any:
    x *= y
    x *= y
    return np.sum(x * y)


def item(x: Any, y: Any) -> Any:
    x[0] = x[1] * y[0]
    return np.sum(np.sin(x) * y)


def in_loop(x: Any, y: Any) -> Any:
    for i in range(len(x)):
        x[i] = x[i] * y[i - 1]
    return np.sum(x * y)


def in_branch(x: Any, y: Any) -> Any:
    if x[0] > 0:
        y[1] = y[1] * x[0]
    return np.sum(x * x * y)


def through_view(x: Any, y: Any) -> Any:
    r = x[::-1]
    r += y * y
    return np.sum(x * y)


WRITERS: dict[str, Callable[[Any, Any], Any]] = {
    f.__name__: f for f in (doubled, second, twice, item, in_loop, in_branch, through_view)}


def by_memory(f: Callable[[Any, Any], Any], x: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return value, gradient and Hessian of a function of one memory under two names."""
    def at(*steps: tuple[int, complex]) -> Any:
        z = x.astype(complex)
        for k, step in steps:
            z[k] += step
        return f(z, z)

    h, n = 1e-5, range(len(x))
    slope = np.array([at((k, 1e-30j)).imag / 1e-30 for k in n])
    bend = np.array([[(at((k, 1e-30j), (j, h)).imag - at((k, 1e-30j), (j, -h)).imag) / 2e-30 / h
                      for j in n] for k in n])
    return at().real, slope, bend


V = np.array([0.3, -0.7])
TRANSFORMS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any, Any], Any]]] = {
    "grad": (lambda f: lambda x: tracejit.grad(f)(x, x), lambda v, g, h: g),
    "grad second": (lambda f: lambda x: tracejit.grad(f, argnums=1)(x, x), lambda v, g, h: g),
    "grad both": (lambda f: lambda x: tracejit.grad(f, argnums=(0, 1))(x, x),
                  lambda v, g, h: (g, g)),
    "vjp": (lambda f: lambda x: tracejit.vjp(f, x, x)[1](2.0), lambda v, g, h: (2 * g, 2 * g)),
    "jvp": (lambda f: lambda x: tracejit.jvp(f, (x, x), (V, V)), lambda v, g, h: (v, g @ V)),
    "jacfwd": (lambda f: lambda x: tracejit.jacfwd(f)(x, x), lambda v, g, h: g),
    "jacfwd second": (lambda f: lambda x: tracejit.jacfwd(f, argnums=1)(x, x),
                      lambda v, g, h: g),
    "jacrev both": (lambda f: lambda x: tracejit.jacrev(f, argnums=(0, 1))(x, x),
                    lambda v, g, h: (g, g)),
    "hessian": (lambda f: lambda x: tracejit.hessian(f)(x, x), lambda v, g, h: h),
    "hessian both": (lambda f: lambda x: tracejit.hessian(f, argnums=(0, 1))(x, x),
                     lambda v, g, h: ((h, h), (h, h))),
    "hvp": (lambda f: lambda x: tracejit.hvp(f, (x, x), (V, V)), lambda v, g, h: (h @ V, h @ V)),
    "vmap": (lambda f: lambda x: tracejit.vmap(lambda a, b: f(a, b))(x[None], x[None]),
             lambda v, g, h: [v]),
    "vmap grad": (lambda f: lambda x: tracejit.vmap(tracejit.grad(f))(x[None], x[None]),
                  lambda v, g, h: g[None]),
    "vmap of all": (lambda f: lambda x: tracejit.vmap(
        lambda s, a, b: s * f(a, b), in_axes=(0, None, None))(V, x, x), lambda v, g, h: V * v),
    "grad of grad": (lambda f: lambda x: tracejit.grad(
        lambda a, b: np.sum(tracejit.grad(f)(a, b)))(x, x), lambda v, g, h: np.sum(h, 0)),
    "jacfwd of grad": (lambda f: lambda x: tracejit.jacfwd(lambda a, b: tracejit.grad(f)(a, b))(
        x, x), lambda v, g, h: h),
    "jacrev of grad": (lambda f: lambda x: tracejit.jacrev(lambda a, b: tracejit.grad(f)(a, b))(
        x, x), lambda v, g, h: h),
    "grad of a list": (lambda f: lambda x: tracejit.grad(lambda p: f(p[0], p[1]))([x, x]),
                       lambda v, g, h: [g, g]),
}


def check_by_memory(transform: str, writer: str, inside: bool) -> None:
    make, expect = TRANSFORMS[transform]
    call = make(WRITERS[writer])
    x = A + 0.1
    found = (tracejit.jit(call) if inside else call)(x)
    expected = expect(*by_memory(WRITERS[writer], x))
    assert np.array_equal(x, A + 0.1)
    for got, want in zip(flatten(found)[0], flatten(expected)[0], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("inside", [False, True], ids=["outside", "inside"])
@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_derivatives_by_one_memory(transform: str, writer: str, inside: bool) -> None:
    with tracejit.config(disable_jit=True):
        check_by_memory(transform, writer, inside)


@pytest.mark.parametrize("transform", ["jvp", "hessian", "vmap grad"])
def test_derivatives_by_one_memory_compiled(transform: str) -> None:
    check_by_memory(transform, "in_loop", True)


@pytest.mark.parametrize("transform", [
    tracejit.grad, tracejit.hessian, tracejit.jacfwd, tracejit.jacrev,
    lambda f: lambda x, y: tracejit.jvp(f, (x, y), (V, 2.0 * V)),
    lambda f: lambda x, y: tracejit.vmap(tracejit.grad(f))(x[None], y[None]),
    lambda f: tracejit.grad(lambda a, b: np.sum(tracejit.grad(f)(a, b)))])
def test_what_is_only_read_is_two_arguments(transform: Any) -> None:
    with tracejit.config(disable_jit=True):
        x, y = A.copy(), A.copy()
        together, apart = transform(product)(x, x), transform(product)(x, y)
        for got, want in zip(flatten(together)[0], flatten(apart)[0], strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("inside", [False, True], ids=["outside", "inside"])
@pytest.mark.parametrize("name", ["jvp", "hvp"])
def test_one_memory_has_one_tangent(name: str, inside: bool) -> None:
    def call(x: Any, v: Any, w: Any) -> Any:
        return getattr(tracejit, name)(doubled, (x, x), (v, w))

    with tracejit.config(disable_jit=True), pytest.raises(
            ValueError, match="tangents have to be the same"):
        (tracejit.jit(call) if inside else call)(A.copy(), V, V + 1.0)


@pytest.mark.parametrize("inside", [False, True], ids=["outside", "inside"])
@pytest.mark.parametrize("transform", [
    lambda f, x: tracejit.grad(f)(x[:-1], x[1:]), lambda f, x: tracejit.hessian(f)(x[:-1], x[1:]),
    lambda f, x: tracejit.jacfwd(f)(x[:-1], x[1:]), lambda f, x: tracejit.vmap(
        tracejit.grad(f))(x[None, :-1], x[None, 1:]),
    lambda f, x: tracejit.jvp(f, (x[:-1], x[1:]), (x[:-1], x[1:]))],
    ids=["grad", "hessian", "jacfwd", "vmap grad", "jvp"])
def test_parts_of_one_memory_are_refused(transform: Any, inside: bool) -> None:
    x = np.arange(1.0, 4.0)
    with tracejit.config(disable_jit=True), pytest.raises(
            tracejit.Refusal, match=f"{__file__}:.*shares memory"):
        (tracejit.jit(lambda x: transform(doubled, x)) if inside else
         lambda x: transform(doubled, x))(x)
    assert np.array_equal(x, np.arange(1.0, 4.0))


@pytest.mark.parametrize("how", ["read outside", "copy of a copy"])
def test_a_copy_that_is_written_and_its_array_that_is_read(how: str) -> None:
    def outside(x: Any) -> Any:
        return tracejit.grad(lambda a: tracejit.grad(lambda b: doubled(b, x))(a)[0])(x)

    def again(x: Any) -> Any:
        return tracejit.grad(lambda a: np.sum(tracejit.grad(doubled)(a, x)))(x)

    f = outside if how == "read outside" else again
    with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal, match="shares memory"):
        tracejit.jit(f)(A.copy())


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
