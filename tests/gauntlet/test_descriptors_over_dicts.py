"""Descriptors and properties that keep their values under their own names in an object's dict.

Writes to `o.__dict__["size"]` where the class has a descriptor `size`: the dict's entry is what
changes, in branches and loops too, and no code of the descriptor runs for it. The oracle is Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit


class Named:
    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        return instance.__dict__[self.name]

    def __set__(self, instance: Any, content: Any) -> None:
        instance.__dict__[self.name] = content * 2.0


class Through:
    """The same by `vars`, with a default."""

    def __get__(self, instance: Any, owner: type) -> Any:
        return vars(instance).get("size", 0.5) + 1.0

    def __set__(self, instance: Any, content: Any) -> None:
        vars(instance)["size"] = content


class OfNamed:
    size = Named()


class OfThrough:
    size = Through()


class OfProperty:
    @property
    def size(self) -> Any:
        return self.__dict__["size"] * 3.0

    @size.setter
    def size(self, content: Any) -> None:
        self.__dict__["size"] = content


def once(cls: Any, x: Any) -> Any:
    o = cls()
    o.size = x[0]
    return o.size


def in_a_branch(cls: Any, x: Any) -> Any:
    o = cls()
    o.size = x[0]
    if x[1] > 0.4:
        o.size = x[1] * o.size
    return o.size


def in_a_loop(cls: Any, x: Any) -> Any:
    o = cls()
    o.size = x[0]
    for k in range(x.shape[0]):
        o.size = o.size * 0.25 + x[k]
    return o.size


def in_a_loop_on_data(cls: Any, x: Any) -> Any:
    o = cls()
    o.size = x[0]
    count = 0
    while o.size < 40.0 and count < 5:
        o.size = o.size * 1.5 + x[1]
        count += 1
    return o.size + count


def by_the_dict(cls: Any, x: Any) -> Any:
    o = cls()
    o.__dict__["size"] = x[0]
    if x[1] > 0.4:
        o.__dict__["size"] = x[1]
    return o.size + o.__dict__["size"]


def deleted(cls: Any, x: Any) -> Any:
    o = cls()
    o.size = x[0]
    before = o.size
    del o.__dict__["size"]
    o.size = x[1]
    return before + o.size


PROGRAMS = [once, in_a_branch, in_a_loop, in_a_loop_on_data, by_the_dict, deleted]
POINTS = [np.array([0.5, 0.8, 1.1]), np.array([0.9, 0.2, 0.3, 0.7])]


@pytest.mark.parametrize("cls", [OfNamed, OfThrough, OfProperty], ids=lambda x: x.__name__)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_descriptors_keep_values_under_their_names(cls: type, f: Callable[..., Any]) -> None:
    value = tracejit.jit(lambda x: f(cls, x))
    gradient = tracejit.grad(lambda x: f(cls, x))
    with tracejit.config(disable_jit=True):
        for x in POINTS:
            assert value(x) == pytest.approx(f(cls, x), rel=1e-12)
            steps = np.eye(len(x)) * 1e-6
            slopes = [(f(cls, x + h) - f(cls, x - h)) / 2e-6 for h in steps]
            np.testing.assert_allclose(gradient(x), slopes, rtol=1e-7, atol=1e-8)
