"""A gradient by an object is an object of its class: floats are gradients, all else is its own."""

from __future__ import annotations

import collections
import functools
import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit import config, grad, jit, value_and_grad, vjp


class Plain:
    """A class of one's own, with all that it may hold."""

    def __init__(self, a, w, inner=None):
        self.a, self.w, self.inner = a, w, inner
        self.n, self.name, self.flags, self.none = 2, "squares", {"b": True}, None
        self.labels, self.log, self.act = np.arange(2), logging.getLogger("tests"), np.tanh

    def loss(self, x):
        y = self.a * np.sum(self.act(self.w) * x) ** self.n
        return y if self.inner is None else y * self.inner.loss(x)


class Derived(Plain):
    """One with a base, a property and a class method."""

    @property
    def double(self):
        return 2 * self.a

    @classmethod
    def made(cls, a, w):
        return cls(a, w)

    def loss(self, x):
        return self.double + super().loss(x)


class Slotted:
    """One without a dict."""

    __slots__ = ("a", "inner", "w")

    def __init__(self, a, w, inner=None):
        self.a, self.w, self.inner = a, w, inner

    def loss(self, x):
        return self.a * np.sum(self.w * x)


class Mixed(Slotted):
    """One with slots and a dict."""

    def __init__(self, a, w, inner=None):
        super().__init__(a, w, inner)
        self.n = 3


@dataclass
class Data:
    """A data class with fields that are no floats."""

    a: Any
    w: Any
    inner: Any = None
    n: int = 3
    name: str = "data"

    def loss(self, x):
        return self.a ** self.n * np.sum(self.w * x)


@dataclass(frozen=True, slots=True)
class Frozen:
    """A frozen one, with slots."""

    a: Any
    w: Any
    inner: Any = None
    n: int = 3

    def loss(self, x):
        return self.a ** self.n * np.sum(self.w * x)


class Keyed(dict):
    """A dict of a class of its own, taken apart by functions."""

    a = property(lambda self: self["a"])
    w = property(lambda self: self["w"])
    inner = None

    def loss(self, x):
        return self["a"] * np.sum(self["w"] * x)


tracejit.register_structure(Keyed, lambda k: (list(k.values()), tuple(k)),
                            lambda keys, parts: Keyed(zip(keys, parts, strict=True)))


def of_attrs(**settings):
    attr = pytest.importorskip("attr")
    made = attr.make_class("Attrs", {"a": attr.ib(), "w": attr.ib(), "inner": attr.ib(None),
                                     "n": attr.ib(3)}, **settings)
    made.loss = lambda self, x: self.a ** self.n * np.sum(self.w * x)
    return made


A, W, X = 1.5, np.array([0.5, -1.0]), np.array([2.0, 3.0])
OBJECTS = {
    "plain": lambda: Plain(A, W), "nested": lambda: Plain(A, W, Plain(2.0, W + 1)),
    "derived": lambda: Derived.made(A, W), "slots": lambda: Slotted(A, W),
    "slots and dict": lambda: Mixed(A, W), "data": lambda: Data(A, W),
    "frozen": lambda: Frozen(A, W), "in data": lambda: Plain(A, W, Frozen(2.0, W + 1)),
    "attrs": lambda: of_attrs()(A, W), "attrs with slots": lambda: of_attrs(slots=True)(A, W),
    "attrs, frozen": lambda: of_attrs(frozen=True)(A, W), "keyed": lambda: Keyed(a=A, w=W),
}
WAYS = {
    "grad": lambda f, o: grad(f)(o),
    "by name": lambda f, o: grad(lambda x, p: f(p), argnums="p")(1.0, p=o),
    "value_and_grad": lambda f, o: value_and_grad(f)(o)[1],
    "aux": lambda f, o: grad(lambda p: (f(p), ("aux", p.a)), has_aux=True)(o)[0],
    "vjp": lambda f, o: vjp(f, o, argnums=0)[1](1.0),
    "in a list": lambda f, o: grad(lambda ps: f(ps[0]))([o])[0],
    "method": lambda f, o: grad(type(o).loss)(o, X),
}


def slopes(o):
    """Return the derivatives by a and by each element of w, by complex steps."""
    def at(a, w):
        if isinstance(o, Keyed):
            return Keyed(a=a, w=w).loss(X).imag / 1e-30
        made = object.__new__(type(o))
        for name in ("inner", "n", "name", "act"):
            if hasattr(o, name):
                object.__setattr__(made, name, getattr(o, name))
        object.__setattr__(made, "a", a)
        object.__setattr__(made, "w", w)
        return made.loss(X).imag / 1e-30

    return at(o.a + 1e-30j, o.w), [at(o.a, o.w + 1e-30j * e) for e in np.eye(2)]


@pytest.mark.parametrize("way", [*WAYS])
@pytest.mark.parametrize("kind", [*OBJECTS])
def test_floats_are_gradients_and_all_else_is_the_objects_own(kind, way):
    o = OBJECTS[kind]()
    with config(disable_jit=True):
        g = WAYS[way](lambda p: p.loss(X), o)
    assert type(g) is type(o) and g is not o
    a, w = slopes(o)
    np.testing.assert_allclose(g.a, a)
    np.testing.assert_allclose(g.w, w)
    np.testing.assert_array_equal(getattr(g, "labels", 0), getattr(o, "labels", 0))
    for name in ("n", "name", "none", "log", "act"):
        assert getattr(g, name, None) is getattr(o, name, None)
    if o.inner is not None:
        power = 3 if kind == "in data" else 1
        np.testing.assert_allclose(g.inner.a, o.loss(X) / o.inner.a * power)


def test_compiled_a_gradient_by_self_is_one_program_for_all_objects():
    model = type("Model", (Plain,), {"slope": grad(Plain.loss)})
    for k in range(3):
        o = model(1.0 + k, W + k)
        np.testing.assert_allclose(o.slope(X).w, slopes(o)[1])
    table = model.__dict__["slope"]._table
    assert sum(map(len, table.values())) == 1


def test_within_captures_objects_have_gradients_too():
    o = Data(2.0, W)

    @jit
    def f(x):
        p = Plain(x, W)
        return grad(lambda q: q.loss(X) * o.a)(p).a + grad(lambda q: q.loss(X) * x)(o).a

    def python(x):
        return slopes(Plain(x, W))[0] * o.a + slopes(o)[0] * x

    np.testing.assert_allclose(f(3.0), python(3.0))
    o.a, o.n = 5.0, 2
    np.testing.assert_allclose(f(3.0), python(3.0))
    twice = grad(lambda p: grad(lambda q: q.a ** 3 * q.n)(p).a)(Plain(2.0, W))
    np.testing.assert_allclose(twice.a, 24.0)


def held(**more):
    o = Plain(A, W)
    vars(o).update(more)
    return o


def bound():
    o = Plain(A, W)
    o.other = o.loss
    return o


def closing_over():
    o = Plain(A, W)
    o.other = lambda x: o.a * x
    return o


REFUSED = {
    "a method": (bound, "'p.other' is a method that leads to some"),
    "a closure": (closing_over, "'p.other' is a function that leads to some"),
    "a partial": (lambda: held(other=functools.partial(Plain.loss, Plain(1.0, W))),
                  "'p.other' is a partial that leads to some"),
    "an OrderedDict": (lambda: held(other=collections.OrderedDict(k=1.0)),
                       "'p.other' is a OrderedDict that leads to some"),
    "a deque": (lambda: held(other=collections.deque([W])), "is a deque that leads to some"),
    "a polynomial": (lambda: held(other=np.poly1d([1.0, 2.0])), "is a poly1d that leads to some"),
    "no floats": (lambda: held(a=1, w=0), "argument 'p' has none"),
}


@pytest.mark.parametrize("what", [*REFUSED])
def test_numbers_that_no_gradient_would_show_are_refused(what):
    make, message = REFUSED[what]
    with pytest.raises(TypeError, match=message):
        grad(lambda p: p.loss(X))(make())


CHANGES = {
    "an attribute": lambda p: setattr(p, "a", 2.0), "a new one": lambda p: setattr(p, "b", 2.0),
    "a dict": lambda p: p.flags.update(b=False), "an array": lambda p: p.w.__setitem__(0, 1.0),
    "an inner object": lambda p: setattr(p.inner, "a", 1.0),
}


@pytest.mark.parametrize("what", [*CHANGES])
def test_changes_of_an_object_that_a_gradient_is_by_are_refused(what):
    def f(p):
        CHANGES[what](p)
        return p.a

    with pytest.raises(tracejit.Refusal, match="a gradient is by"):
        grad(f)(Plain(A, W, Plain(A, W)))


@pytest.mark.parametrize(("call", "message"), [
    (lambda: tracejit.register_structure(3), "takes a class, not a int"),
    (lambda: tracejit.register_structure(Plain, lambda x: x), "both flatten and unflatten"),
    (lambda: tracejit.register_structure(type("D", (dict,), {})), "more than its attributes")])
def test_what_cannot_be_registered_says_why(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_objects_of_registered_classes_are_results_and_carried():
    @tracejit.register_structure
    class Layer:
        def __init__(self, w, name):
            self.w, self.name = w, name

    def step(layer, x):
        for _ in range(20):
            layer = Layer(layer.w * x, layer.name)
        return layer

    with config(disable_jit=True):
        found = jit(step)(Layer(W, "first"), 0.9)
        mapped = tracejit.vmap(lambda p: Layer(p.w * 2, p.name))(Layer(W, "first"))
    np.testing.assert_allclose(found.w, W * 0.9 ** 20)
    np.testing.assert_allclose(mapped.w, W * 2)
    assert found.name == mapped.name == "first"


class Answering:
    """Has every attribute."""

    def __init__(self, w: float) -> None:
        self.w = w

    def __getattr__(self, name: str) -> object:
        return 0.0


class Anchored:
    """Stands for an array, as each object of it says itself."""

    def __init__(self) -> None:
        self.w = 2.0
        self.__cuda_array_interface__ = {"typestr": "|O8", "shape": (3,), "version": 3}


def test_an_object_is_an_array_if_it_has_the_interface_of_one() -> None:
    gradient = tracejit.grad(lambda m: m.w ** 2)
    assert gradient(Answering(3.0)).w == 6.0
    with pytest.raises(TypeError, match=r"CUDA device|dtype object|is no number"):
        gradient(Anchored())
