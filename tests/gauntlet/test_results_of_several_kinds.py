"""Functions whose result is of one kind on one path and of another on the other, transformed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit


def number_or_array(x: Any) -> Any:
    y = np.where(x > 0.0, np.sqrt(abs(x) + 1.0), 2.0 * x)  # an array without axes
    return y * 1.0 + x if x > 1.0 else y


def array_or_number(x: Any) -> Any:
    y = np.where(x > 0.0, np.sqrt(abs(x) + 1.0), 2.0 * x)
    return y if x > 1.0 else y * x


def int_or_float(x: Any) -> Any:
    return 2 if x > 3.0 else x * 3.0


def numpy_or_python(x: Any) -> Any:
    return np.sin(x) if x > 1.0 else x * 3.0


def single_in_a_pair(x: Any) -> Any:
    pair = (np.where(x > 0.0, x, -x), 2.0) if x > 1.0 else (x * x, 3.0)
    return pair[0] * pair[1] if x > 2.0 else pair[0]


FUNCTIONS = [number_or_array, array_or_number, int_or_float, numpy_or_python, single_in_a_pair]
POINTS = np.array([-0.7, 0.5, 1.7, 2.6])


def slope(f: Callable[[Any], Any], x: float, h: float = 1e-6) -> float:
    """Return the derivative of a function of a number by central differences."""
    return float(f(x + h) - f(x - h)) / (2.0 * h)


def curvature(f: Callable[[Any], Any], x: float, h: float = 1e-4) -> float:
    """Return the second derivative of a function of a number by central differences."""
    return float(f(x + h) - 2.0 * f(x) + f(x - h)) / (h * h)


def in_a_scan(f: Callable[[Any], Any], x: Any) -> Any:
    return tracejit.scan(lambda c, v: (c, f(v)), 0.0, np.stack([x, x]))[1][1]


def by_gradients(f: Callable[[Any], Any], x: Any) -> Any:
    return tracejit.gradients(f(x), [x])[0]


VALUES: dict[str, Callable[..., Any]] = {
    "jit": lambda f, x: f(x),
    "vmap": lambda f, x: tracejit.vmap(f)(np.stack([x, x]))[1],
    "map": lambda f, x: tracejit.map(f, np.stack([x, x]))[1],
    "scan": in_a_scan,
    "op": lambda f, x: OPS[f](x),
    "checkpoint": lambda f, x: tracejit.checkpoint(f)(x),
    "stopped": lambda f, x: tracejit.stop_gradient(f(x)),
    "custom gradient": lambda f, x: tracejit.custom_gradient(lambda y: (f(y), lambda d: d))(x),
    "forward": lambda f, x: tracejit.jvp(f, (x,), (1.0,))[0],
    "backward": lambda f, x: tracejit.vjp(f, x)[0],
}
SLOPES: dict[str, Callable[..., Any]] = {
    "grad": lambda f, x: tracejit.grad(f)(x),
    "vmap of grad": lambda f, x: tracejit.vmap(tracejit.grad(f))(np.stack([x, x]))[1],
    "grad of vmap": lambda f, x: tracejit.grad(
        lambda y: np.sum(tracejit.vmap(f)(np.stack([y, y]))))(x) * 0.5,
    "jacobian": lambda f, x: tracejit.jacobian(f)(x),
    "forward": lambda f, x: tracejit.jvp(f, (x,), (1.0,))[1],
    "backward": lambda f, x: tracejit.vjp(f, x)[1](1.0)[0],
    "gradients": by_gradients,
    "checkpoint": lambda f, x: tracejit.grad(tracejit.checkpoint(f))(x),
}
CURVATURES: dict[str, Callable[..., Any]] = {
    "hessian": lambda f, x: tracejit.hessian(f)(x),
    "grad of grad": lambda f, x: tracejit.grad(tracejit.grad(f))(x),
    "hvp": lambda f, x: tracejit.hvp(f, (x,), (1.0,)),
}
OPS = {f: tracejit.register_op(f"OfSeveralKinds{k}", f) for k, f in enumerate(FUNCTIONS)}

LAWS = [(name, way, wanted) for table, wanted in (
    (VALUES, lambda f, x: f(x)), (SLOPES, slope), (CURVATURES, curvature))
    for name, way in table.items()]


@pytest.mark.parametrize(("name", "way", "wanted"), LAWS, ids=[f"{w}-{n}" for n, _, w in [
    (name, way, getattr(wanted, "__name__", "value").strip("<>")) for name, way, wanted in LAWS]])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_result_of_several_kinds_is_transformed(f: Callable[..., Any], name: str, way: Any,
                                                  wanted: Any) -> None:
    with tracejit.config(disable_jit=True):
        captured = tracejit.jit(lambda x: way(f, x))
        for x in POINTS:
            np.testing.assert_allclose(captured(float(x)), wanted(f, float(x)), rtol=1e-6,
                                       atol=1e-5, err_msg=f"{name} at {x}")


def single_or_double(x: Any) -> Any:
    return np.float32(2.0) * np.float32(x) if x > 1.0 else x * 3.0


@pytest.mark.parametrize("x", POINTS)
@pytest.mark.parametrize("f", [*FUNCTIONS, single_or_double], ids=lambda f: f.__name__)
def test_such_a_function_is_checked(f: Callable[..., Any], x: float) -> None:
    if f is not int_or_float:  # of ints there is nothing to check
        with tracejit.config(disable_jit=True):
            tracejit.check_grads(f, (float(x),))
            with pytest.raises(AssertionError):
                tracejit.check_grads(tracejit.custom_gradient(lambda y: (f(y), lambda d: d * 0.7)),
                                     (float(x),), modes="rev")
