"""Calls with nests and keywords: taken apart without the slow way, and all kinds told apart."""

from __future__ import annotations

import collections
import traceback
from collections import OrderedDict
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.runtime.function import Function

Pair = collections.namedtuple("Pair", "w b")


class OwnPair(Pair):
    """A named tuple with attributes besides."""


@dataclass
class Layer:
    w: Any
    b: Any


@dataclass(frozen=True, slots=True)
class Slotted:
    w: Any
    b: Any


class Model:
    def __init__(self, w: Any, b: Any) -> None:
        self.w, self.b = w, b

    def loss(self, x: Any) -> Any:
        return np.sum(np.tanh(self.w * x + self.b))


class Guarded(Model):
    """A class with code of its own between an object and its attributes."""

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, name)


class Computed(Model):
    @property
    def both(self) -> Any:
        return self.w + self.b


W, B, X = np.array([0.5, -1.0]), np.array([0.1, 0.2]), np.array([1.0, 2.0])


def by_items(p, x):
    return np.sum(np.tanh(p["w"] * x + p["b"]))


def by_places(p, x):
    return np.sum(np.tanh(p[0] * x + p[1]))


def by_names(p, x):
    return np.sum(np.tanh(p.w * x + p.b))


def deep(p, x):
    first, (second, rest) = p["layers"]
    out = first["w"] * x + second.b
    return np.sum(np.tanh(out * second.w)) + rest[0] * (1.0 if p["none"] is None else 2.0)


DEEP = {"layers": [{"w": W}, (Layer(B, W), [3.0])], "none": None, "extra": (2, True, "text")}
NESTS = {"dict": (by_items, {"w": W, "b": B}), "list": (by_places, [W, B]),
         "tuple": (by_places, (W, B)), "named tuple": (by_names, Pair(W, B)),
         "data class": (by_names, Layer(W, B)), "slots": (by_names, Slotted(W, B)),
         "object": (by_names, Model(W, B)), "property": (by_names, Computed(W, B))}
"""The functions and their first arguments; by each of its leaves there is a derivative."""


@pytest.fixture
def taken_apart(monkeypatch):
    """The calls that Python took apart."""
    calls: list[object] = []
    whole = Function._dispatch

    def dispatch(self: Any, args: Any, kwargs: Any) -> Any:
        calls.append(args)
        return whole(self, args, kwargs)

    monkeypatch.setattr(Function, "_dispatch", dispatch)
    return calls


def equal(x: Any, y: Any) -> bool:
    """Whether two nests are alike: types, keys and numbers."""
    if type(x) is not type(y):
        return False
    if isinstance(x, dict):
        return [*x] == [*y] and all(map(equal, x.values(), y.values()))
    if isinstance(x, (list, tuple)):
        return len(x) == len(y) and all(map(equal, x, y))
    if isinstance(x, (Model, Layer)):
        return equal(vars(x), vars(y))
    if isinstance(x, Slotted):
        return equal((x.w, x.b), (y.w, y.b))
    if isinstance(x, (np.ndarray, float)):
        return np.shape(x) == np.shape(y) and bool(np.allclose(x, y, rtol=1e-13))
    return bool(x == y)


def interpreted(f: Any, *args: Any, **kwargs: Any) -> Any:
    with tracejit.config(disable_jit=True):
        return tracejit.value_and_grad(f)(*args, **kwargs)


@pytest.mark.parametrize("name", NESTS)
def test_a_nest_is_taken_apart_once(name, taken_apart):
    f, nest = NESTS[name]
    g = tracejit.value_and_grad(f)
    results = [g(nest, X), g(nest, 2.0 * X), g(nest, x=X), g(x=X, p=nest), g(nest, x=2.0 * X)]
    assert len(taken_apart) == 3  # one for each way to write the call
    for x, found in zip((X, 2.0 * X, X, X, 2.0 * X), results, strict=True):
        assert equal(found, interpreted(f, nest, x))
    assert results[0][1] is not results[3][1]


def test_a_deep_nest_is_taken_apart_once(taken_apart):
    g = tracejit.jit(deep)
    assert g(DEEP, X) == g(DEEP, X) == pytest.approx(deep(DEEP, X), rel=1e-14)
    assert g({**DEEP}, 3.0 * X) == pytest.approx(deep(DEEP, 3.0 * X), rel=1e-14)
    assert len(taken_apart) == 1


OTHERS = {
    "keys in another order": (by_items, {"b": B, "w": W}),
    "a further key": (by_items, {"w": W, "b": B, "c": B}),
    "a missing key": (by_items, {"w": W}),
    "keys of another type": (lambda p, x: np.sum(p[1] * x), {True: W}),
    "a subclass of dict": (by_items, OrderedDict(w=W, b=B)),
    "another length": (by_places, [W, B, W]),
    "a tuple": (by_places, (W, B)),
    "another dtype": (by_places, [W.astype(np.float32), B]),
    "another rank": (by_places, [W[:1], B[0]]),
    "a number": (by_places, [2.0, B]),
    "an int": (by_places, [2, B]),
    "no contiguous array": (by_places, [np.array([W, W]).T[:, 0], B]),
    "one array twice": (by_places, [W, W]),
    "an attribute more": (by_names, Pair(W, B)),
    "a named tuple with attributes": (by_names, OwnPair(W, B)),
    "code between": (by_names, Guarded(W, B)),
    "a namespace": (by_names, SimpleNamespace(w=W, b=B)),
}


@pytest.mark.parametrize("first", ["dict", "list", "tuple", "named tuple", "object"])
@pytest.mark.parametrize("name", OTHERS)
def test_other_nests_are_told_apart(name, first):
    """A function that reads its argument in whatever form it has, first called with another."""
    def f(p, x):
        if isinstance(p, dict):
            parts = [p[k] for k in p]
            names = "".join(map(str, p))
        else:
            parts = list(p) if isinstance(p, (list, tuple)) else [p.w, p.b]
            names = type(p).__name__
        return np.sum(sum((k + 1.0) * np.sin(part * x) for k, part in enumerate(parts))) + (
            100.0 * len(names) + len(parts))

    g = tracejit.jit(f)
    nest, other = NESTS[first][1], OTHERS[name][1]
    for argument in (nest, other, nest, other, other):
        np.testing.assert_allclose(g(argument, X), f(argument, X), rtol=1e-6)


def test_one_container_twice_is_no_two():
    def f(p, q):
        return np.sum(p[0] * q[0]) * (2.0 if p is q else 1.0)

    g = tracejit.jit(f)
    assert g([W], [W]) == f([W], [W])
    one = [W]
    expected = f([W], [W]) * 2.0
    assert g(one, one) == expected
    assert g([W], [W]) == f([W], [W])


def test_what_an_object_has_is_looked_at_in_each_call():
    g = tracejit.value_and_grad(by_names)
    model = Model(W, B)
    for _ in range(2):
        assert equal(g(model, X), interpreted(by_names, model, X))
    model.w = 3.0
    assert equal(g(model, X), interpreted(by_names, model, X))
    model.w, model.more = W, B
    assert equal(g(model, X), interpreted(by_names, model, X))
    del model.b
    with pytest.raises(AttributeError, match="b"):
        g(model, X)
    slotted = Slotted(W, B)
    g(slotted, X)
    object.__delattr__(slotted, "b")
    with pytest.raises(AttributeError, match="b"):
        g(slotted, X)


def test_state_and_settings_are_looked_at_in_each_call():
    scale = [2.0]

    def f(p, x):
        return np.sum(p["w"] * x) * scale[0]

    g = tracejit.value_and_grad(f)
    for factor in (2.0, 3.0, 3.0, 2.0):
        scale[0] = factor
        value, slope = g({"w": W}, X)
        assert value == pytest.approx(f({"w": W}, X), rel=1e-14)
        np.testing.assert_array_equal(slope["w"], X * factor)
    with tracejit.config(debug_nans=True), pytest.raises(FloatingPointError):
        g({"w": np.array([np.nan, 1.0])}, X)
    w = tracejit.constant(W)
    with tracejit.GradientTape() as tape:
        tape.watch(w)
        value, _ = g({"w": w}, X)
    np.testing.assert_array_equal(tape.gradient(value, w), X * 2.0)


def test_methods_and_what_goes_wrong(taken_apart):
    method = tracejit.value_and_grad(Model.loss)
    models = [Model(W * k, B) for k in range(1, 6)]
    for model in models:
        value, slopes = method(model, X)
        assert value == pytest.approx(model.loss(X), rel=1e-14)
        assert type(slopes) is Model
    assert len(taken_apart) == 1
    with pytest.raises(ValueError, match="broadcast") as caught:
        method(models[0], np.ones(3))
    shown = "".join(traceback.format_exception(caught.value))
    assert ", in call\n" not in shown


@pytest.mark.parametrize("result", [lambda p: None, lambda p: (), lambda p: [p["w"] * 2.0],
                                    lambda p: {"a": p["w"] + 1.0, "b": (None, p["b"] * 2.0)},
                                    lambda p: Pair(p["w"] * 2.0, [p["b"] * 3.0]), lambda p: p,
                                    lambda p: (p["w"], "text", 3)])
def test_results_are_put_together_anew(result):
    f = tracejit.jit(result)
    p = {"w": W, "b": B}
    for _ in range(3):
        assert equal(f(p), result(p))
    assert f(p) is not f(p) or f(p) in (None, ())


@pytest.mark.parametrize("name", ["flat", "dict", "list", "tuple"])
def test_loaded_programs_are_as_fast(name, tmp_path, monkeypatch):
    """A call is taken apart by Python where it is of another kind, which is an error."""
    if name == "flat":
        f, args, others = lambda w, x: np.sum(w * x), (W, X), (W, 2)
    else:
        f, nest = NESTS[name]
        args, others = (nest, X), (nest, [X])
    g = tracejit.value_and_grad(f)
    g.trace(*args).lower().compile().save(tmp_path / "program.tj")
    loaded = tracejit.load(tmp_path / "program.tj")
    slow: list[object] = []
    whole = type(loaded).attempt

    def attempt(self: Any, args: Any, kwargs: Any) -> Any:
        slow.append(args)
        return whole(self, args, kwargs)

    monkeypatch.setattr(type(loaded), "attempt", attempt)
    assert equal(loaded(*args), g(*args))
    assert equal(loaded(*args), g(*args))
    assert slow == []
    with pytest.raises(TypeError, match="was compiled for"):
        loaded(*others)
    with pytest.raises(TypeError, match="was compiled for"):
        loaded(args[0], x=args[1])
    assert len(slow) == 2
