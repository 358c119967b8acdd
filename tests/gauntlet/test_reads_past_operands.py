"""A gradient of one's own never loses what its function reads past its arguments, in any way."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tracejit

X = np.array([1.5, -0.5])
_NUMBERS = itertools.count()


@pytest.fixture(autouse=True)
def _interpreted() -> Iterator[None]:
    with tracejit.config(disable_jit=True):
        yield


class Layer:
    """An object that holds a value, and has a method that multiplies by it."""

    def __init__(self, w: Any) -> None:
        self.w = w

    def f(self, x: Any) -> Any:
        return x * self.w

    @property
    def doubled(self) -> Any:
        return self.w + self.w


HELD = Layer(2.0)

READERS: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "cell": lambda w: lambda x: x * w,
    "dict": lambda w: (lambda p: lambda x: x * p["w"])({"w": w}),
    "list": lambda w: (lambda p: lambda x: x * p[0])([w]),
    "tuple": lambda w: (lambda p: lambda x: x * p[0])((w, 1.0)),
    "object": lambda w: (lambda m: lambda x: x * m.w)(Layer(w)),
    "property": lambda w: (lambda m: lambda x: x * m.doubled)(Layer(w)),
    "method": lambda w: Layer(w).f,
    "inner function": lambda w: (lambda inner: lambda x: inner(x))(lambda x: x * w),
    "default": lambda w: lambda x, k=w: x * k,
    "computed": lambda w: (lambda p: lambda x: x * p[0])([np.sin(w) + 1.0]),
    "branch": lambda w: (lambda p: lambda x: x * p[0] if x[0] > 0 else x)([w]),
    "loop": lambda w: (lambda p: lambda x: _powers(x, p[0]))([w]),
    "copy": lambda w: (lambda p: lambda x: x * p[0])([np.stack([w, w])]),
}


def _powers(x: Any, w: Any) -> Any:
    for _ in range(int(x.shape[0])):
        x = x * w
    return x


def _custom(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return tracejit.custom_gradient(lambda x: (f(x), lambda u: u * 2.0))


def _op(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    name = f"ReadsPast{next(_NUMBERS)}"
    op = tracejit.register_op(name, f)
    tracejit.RegisterGradient(name)(lambda op, g: g * 2.0)
    return op


@pytest.mark.parametrize("reader", READERS)
def test_a_gradient_of_ones_own_refuses_what_it_would_lose(reader: str) -> None:
    def f(w: Any) -> Any:
        return np.sum(_custom(READERS[reader](w))(X))

    for transform in (tracejit.grad(f), tracejit.jit(f), tracejit.hessian(f)):
        with pytest.raises(tracejit.Refusal, match="reads a traced value from outside"):
            transform(2.0)


@pytest.mark.parametrize("made", [lambda x: x[0] * x[1], lambda x: np.sum(x), lambda x: x[0] + 1.0])
@pytest.mark.parametrize("reader", READERS)
def test_what_is_made_of_the_argument_is_lost_as_well(reader: str, made: Any) -> None:
    def f(x: Any) -> Any:
        return np.sum(_custom(READERS[reader](made(x)))(x))

    for transform in (tracejit.grad(f), tracejit.jit(f)):
        with pytest.raises(tracejit.Refusal, match="reads a traced value from outside"):
            transform(X)


SAME = {"itself": lambda x: x, "all of it": lambda x: x[:], "a copy": lambda x: x.copy(),
        "as an array": np.asarray, "backwards": lambda x: x[::-1], "an element": lambda x: x[0],
        "reshaped": lambda x: x.reshape(-1)}


@pytest.mark.parametrize("made", SAME)
@pytest.mark.parametrize("reader", READERS)
def test_the_argument_itself_is_lost_by_another_way(reader: str, made: str) -> None:
    def f(x: Any) -> Any:
        return np.sum(_custom(READERS[reader](SAME[made](x)))(x))

    def kept(x: Any) -> Any:
        p = {}
        p["w"] = SAME[made](x)
        own = tracejit.custom_gradient(lambda z: (z * p["w"], lambda u: u * 2.0))
        return np.sum(own(x))

    for g in (f, kept):
        for transform in (tracejit.grad(g), tracejit.jit(g)):
            with pytest.raises(tracejit.Refusal, match="reads a traced value from outside"):
                transform(X)


def test_the_gradient_function_may_read_what_is_around_it() -> None:
    def f(x: Any, w: Any) -> Any:
        @tracejit.custom_gradient
        def own(z: Any) -> Any:
            e = np.exp(z)
            return np.sum(z * e), lambda u: u * x * w * e

        return own(x) * np.sum(x)

    w = np.array([2.0, 3.0])
    value, slope = tracejit.value_and_grad(f)(X, w)
    inner = np.sum(X * np.exp(X))
    np.testing.assert_allclose(value, inner * np.sum(X))
    np.testing.assert_allclose(slope, X * w * np.exp(X) * np.sum(X) + inner)


@pytest.mark.parametrize("reader", READERS)
def test_an_equal_expression_in_the_function_is_its_own(reader: str) -> None:
    inner = READERS[reader](2.0)
    own = tracejit.custom_gradient(lambda z: (inner(z) * np.sum(z) * z[0], lambda u: u * 2.0))

    def f(x: Any) -> Any:
        return np.sum(x) * x[0] + np.sum(own(x)) * np.sum(x)

    expected = np.sum(X) * X[0] + np.sum(inner(X) * np.sum(X) * X[0]) * np.sum(X)
    np.testing.assert_allclose(tracejit.value_and_grad(f)(X)[0], expected)


@pytest.mark.parametrize("reader", READERS)
def test_an_op_refuses_what_it_would_lose(reader: str) -> None:
    held = Layer(2.0)
    op = _op(lambda x: READERS[reader](held.w)(x))

    def f(w: Any) -> Any:
        held.w = w
        return np.sum(op(X))

    with pytest.raises(tracejit.Refusal):
        tracejit.grad(f)(2.0)


def test_an_argument_by_name_or_in_a_list_is_not_lost() -> None:
    cut = tracejit.custom_gradient(lambda x, k=1.0: (x * k, lambda u: u * 2.0))
    pair = tracejit.custom_gradient(lambda x, k: (x * k[0], lambda u: (u * 2.0, None)))
    layer = tracejit.custom_gradient(lambda x, m: (x * m.w, lambda u: (u * 2.0, None)))
    for f in (lambda w: np.sum(cut(X, k=w)), lambda w: np.sum(pair(X, [w])),
              lambda w: np.sum(layer(X, Layer(w)))):
        with pytest.raises(tracejit.Refusal, match="reads a traced value from outside"):
            tracejit.grad(f)(2.0)


@pytest.mark.parametrize("make", [_custom, _op])
@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_argument_is_read(reader: str, make: Callable[..., Any]) -> None:
    inner = READERS[reader](2.0)
    own = make(lambda x: inner(x))

    def f(x: Any) -> Any:
        y = x * 3.0
        return np.sum(own(y) + y * 3.0 * y)  # equal expressions in it and outside are shared

    np.testing.assert_allclose(tracejit.value_and_grad(f)(X)[0], np.sum(
        inner(X * 3.0) + 27.0 * X * X))
    np.testing.assert_allclose(tracejit.grad(f)(X), 6.0 + 54.0 * X)
