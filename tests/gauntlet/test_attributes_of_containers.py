"""Attributes of objects whose classes are lists, dicts or sets are attributes, and no items."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

CLASSES: dict[str, tuple[type, tuple[Any, ...]]] = {
    base.__name__: (type(f"Of{base.__name__}", (base,), {}), given) for base, given in (
        (list, ([1.0, 2.0],)), (dict, ({"k": 1.0, 0: 2.0},)), (set, ([1, 2],)),
        (collections.deque, ([1.0, 2.0],)), (collections.Counter, ("ab",)),
        (collections.OrderedDict, ([("k", 1.0)],)), (collections.defaultdict, (float,)),
        (tuple, ((1.0, 2.0),)), (object, ()))}

X = np.array([0.31, 1.27, -0.83])


def set_in_a_branch(x: Any, o: Any) -> Any:
    o.k = x[0]
    if x[1] > 1.0:
        o.k = 5.0 * x[2]
    return o.k


def changed_in_a_loop(x: Any, o: Any) -> Any:
    o.k = 0.0
    for v in x:
        if v > 0.0:
            o.k += v * v
        else:
            o.k *= v
    return o.k


def changed_until_it_is_large(x: Any, o: Any) -> Any:
    o.k = o.n = x[0] ** 2
    while o.k < 3.0:
        o.k = 1.5 * o.k + 0.1
        o.n += 1.0
    return o.k * o.n


def set_in_one_branch(x: Any, o: Any) -> Any:
    if x[1] > 1.0:
        o.k = x[2]
    return getattr(o, "k", 2.0) * x[0]


def lost_in_a_branch(x: Any, o: Any) -> Any:
    o.k = x[0]
    if x[1] > 1.0:
        del o.k
    return o.k if hasattr(o, "k") else 7.0 * x[2]


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("f", [set_in_a_branch, changed_in_a_loop, changed_until_it_is_large,
                               set_in_one_branch, lost_in_a_branch])
def test_attributes_of_containers_are_no_items(f: Callable[..., Any], name: str) -> None:
    cls, given = CLASSES[name]
    if cls.__base__ is object:
        cls = type("Plain", (), {})
    with tracejit.config(disable_jit=True):
        both = tracejit.value_and_grad(lambda x: f(x, cls(*given)))
        for x in (X, X[::-1].copy(), -X):
            try:
                value, gradient = both(x)
            except tracejit.Refusal:
                assert f in (lost_in_a_branch, set_in_one_branch)
                continue
            h = 1e-6 * np.eye(3)
            differences = [(f(x + d, cls(*given)) - f(x - d, cls(*given))) / 2e-6 for d in h]
            assert value == pytest.approx(f(x, cls(*given)), rel=1e-12)
            np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-8)
