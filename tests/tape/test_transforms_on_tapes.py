"""Transforms of tape values and variables: what they give of numbers, and its derivatives.

Each case is a transform, an argument, and how the argument is given. The oracle is the transform of
plain numbers and arrays, and its gradient by `tracejit.grad` and differences.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tracejit

FACTOR = np.array([2.0, 0.5, -1.0])
SCALE = 1.5


def f(x):
    """Return a number."""
    return np.sum(x * x * x * np.sin(x)) * SCALE


def several(x):
    """Return an array and a number."""
    return x * x * SCALE, np.sum(np.cos(x))


def held(x):
    """Read an array from outside."""
    return np.sum(x * x * FACTOR[0]) + np.sum(FACTOR) * np.sum(np.exp(0.1 * x))


def first(x: Any) -> Any:
    return x[0] if isinstance(x, tuple) else x


def along(x: Any) -> Any:
    """Return a tangent: ones like an argument."""
    return np.ones(np.shape(x))[()]


WAYS = {
    "jit": lambda x: tracejit.jit(f)(x),
    "grad": lambda x: tracejit.grad(f)(x),
    "value_and_grad": lambda x: tracejit.value_and_grad(f)(x)[1],
    "grad of held": lambda x: tracejit.grad(held)(x),
    "vjp": lambda x: tracejit.vjp(f, x)[1](2.0)[0],
    "value of vjp": lambda x: tracejit.vjp(f, x)[0],
    "vjp of several": lambda x: tracejit.vjp(several, x)[1]((3.0 * along(x), -1.0))[0],
    "vjp of held": lambda x: tracejit.vjp(held, x)[1](-0.5)[0],
    "vjp by argnums": lambda x: tracejit.vjp(lambda a, b: f(b) * a, 2.0, x, argnums=1)[1](3.0),
    "vjp with aux": lambda x: tracejit.vjp(lambda a: (f(a), 7.0), x, has_aux=True)[1](3.0)[0],
    "a cotangent on the tape": lambda x: tracejit.vjp(f, x)[1](held(x))[0],
    "jvp": lambda x: tracejit.jvp(f, (x,), (along(x),))[1],
    "hvp": lambda x: tracejit.hvp(f, (x,), (along(x),)),
    "jacrev": lambda x: tracejit.jacrev(lambda a: first(several(a)))(x),
    "jacfwd": lambda x: tracejit.jacfwd(lambda a: first(several(a)))(x),
    "hessian": lambda x: tracejit.hessian(f)(x),
    "checkpoint": lambda x: tracejit.grad(tracejit.checkpoint(f))(x),
}
POINTS = {
    "number": 0.7, "array": np.array([0.3, -0.4, 1.1]), "matrix": np.array([[0.3, 1.2, 0.1]]),
}
KINDS = {"tape value": tracejit.constant, "variable": tracejit.Variable}


def plain(way: Any, x: Any) -> np.ndarray:
    return np.asarray(way(x), float)


def by_differences(way: Any, x: Any) -> np.ndarray:
    """Return the gradient of the sum of what a way gives."""
    x, h = np.asarray(x, float), 1e-5
    found = np.zeros(x.shape)
    for k in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[k] = h
        sides = [np.sum(plain(way, (x + s * step)[()])) for s in (1, -1)]
        found[k] = (sides[0] - sides[1]) / (2 * h)
    return found


@pytest.mark.parametrize(("way", "point", "kind"), [*itertools.product(WAYS, POINTS, KINDS)])
def test_a_transform_of_recorded_values_is_that_of_numbers(way, point, kind):
    call, x = WAYS[way], POINTS[point]
    with tracejit.config(disable_jit=True):
        expected, slope = plain(call, x), by_differences(call, x)
        given = KINDS[kind](x)
        outside = call(given)
        np.testing.assert_allclose(np.asarray(outside), expected, rtol=1e-10, atol=1e-12)
        with tracejit.GradientTape() as tape:
            tape.watch(given)
            y = call(given)
        np.testing.assert_allclose(y.numpy(), expected, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(tape.gradient(y, given).numpy(), slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("recorded", "taped", "change"), [*itertools.product(
    (False, True), (False, True), ("nothing", "an element", "a number", "an array"))])
def test_a_pullback_on_a_tape_has_the_state_of_its_call(recorded, taped, change, monkeypatch):
    monkeypatch.setitem(globals(), "FACTOR", np.array([2.0, 0.5, -1.0]))
    monkeypatch.setitem(globals(), "SCALE", 1.5)
    x = np.array([0.5, 1.0, 2.0])
    tape = tracejit.GradientTape()

    def both(x):
        return held(x) * SCALE

    with tracejit.config(disable_jit=True):
        expected = tracejit.grad(both)(x)
        given = tracejit.constant(x) if recorded else x
        if taped:
            tape.__enter__()
        try:
            pullback = tracejit.vjp(both, given)[1]
            if change == "an element":
                FACTOR[:] = 9.0
            elif change == "a number":
                globals()["SCALE"] = 5.0
            elif change == "an array":
                globals()["FACTOR"] = np.full(3, 7.0)
            found = pullback(1.0)[0]
        finally:
            if taped:
                tape.__exit__()
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12)
