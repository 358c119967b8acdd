"""The dict of `**options` belongs to its call: regions around the call see none of its changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

X = np.array([0.5, 2.0, 1.25])


def total(x: Any, **options: Any) -> Any:
    options["axis"] = 0
    return np.sum(x, **options)


def moved(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a reduction that calls its axis `dim`, as PyTorch's references do."""
    def wrapper(x: Any, *args: Any, **options: Any) -> Any:
        options["axis"] = options.pop("dim", None)
        return function(x, *args, **options)
    return wrapper


def doubled(**given: Any) -> Any:
    given["a"] = given["a"] * 2
    return given


def again(x: Any, **state: Any) -> Any:
    state["depth"] = state.get("depth", 0) + 1
    return np.sum(x) if state["depth"] > 3 else again(x * x[0], **state) * state["depth"]


class Scaled:
    def __init__(self, **options: Any) -> None:
        options["scale"] = 2.0
        self.options = options

    def __call__(self, x: Any, **options: Any) -> Any:
        options.setdefault("by", self.options["scale"])
        self.options["scale"] = options["by"] * x[0]
        return np.sum(x) * options["by"]


def while_on_data(x: Any) -> Any:
    t = np.sum(x * x)
    while t < 100.0:
        t = t + total(x) * t
    return t


def a_branch_on_data(x: Any) -> Any:
    t = 0.0
    for k in range(x.shape[0]):
        t = t + (total(x) * x[k] if x[k] > 1.0 else total(x * x))
    return t


def of_a_wrapper(x: Any) -> Any:
    return moved(np.sum)(x ** 3, dim=0)


def what_was_given_stays(x: Any) -> Any:
    d = {"a": x[0]}
    e = doubled(**d)
    return d["a"] * e["a"] + doubled(**e)["a"] * e["a"]


def chosen_by_data(x: Any) -> Any:
    d = {"a": x[0]}
    if x[1] > 0.0:
        d = doubled(**d)
    return d["a"] ** 2


def recursive(x: Any) -> Any:
    return again(x)


def kept_in_an_object(x: Any) -> Any:
    f, t = Scaled(other=1), 0.0
    for _ in range(3):
        t = t + f(x)
    return t


def changed_by_an_inner_function(x: Any, **state: Any) -> Any:
    state["q"] = x

    def inner(y: Any) -> Any:
        state["q"] = state["q"] * y
        return state["q"]

    return np.sum(inner(x)) + np.sum(inner(x))


def for_all_at_once(x: Any) -> Any:
    return np.sum(tracejit.vmap(lambda r: total(np.stack([r, r * r])) * r)(x))


PROGRAMS = (while_on_data, a_branch_on_data, of_a_wrapper, what_was_given_stays, chosen_by_data,
            recursive, kept_in_an_object, changed_by_an_inner_function, for_all_at_once)


def differences(f: Callable[..., Any], x: np.ndarray) -> np.ndarray:
    h = 1e-6 * np.eye(x.size)
    return np.array([(f(x + d) - f(x - d)) / 2e-6 for d in h])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("interpreted", [True, False], ids=["interpreted", "compiled"])
def test_a_call_may_change_its_keywords(f: Callable[..., Any], interpreted: bool) -> None:
    with tracejit.config(disable_jit=interpreted):
        value, slope = tracejit.value_and_grad(f)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-13)
    np.testing.assert_allclose(slope, differences(f, X), rtol=1e-6)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_and_within_a_function_that_is_differentiated_within_another(f: Callable[..., Any]) -> None:
    def slopes(x: Any) -> Any:
        return np.sum(tracejit.grad(f)(x) * x)

    with tracejit.config(disable_jit=True):
        found = tracejit.grad(slopes)(X)
        expected = differences(slopes, X)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
