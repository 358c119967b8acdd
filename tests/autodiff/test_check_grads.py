"""`check_grads`: it passes right gradients, and finds each planted wrong one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit import check_grads

X = np.array([0.3, 1.0, -0.5])
MODES = [("fwd",), ("rev",), ("fwd", "rev")]


@pytest.fixture(autouse=True)
def interpreted() -> Iterator[None]:
    """Check in the interpreter: nothing is compiled."""
    with tracejit.config(disable_jit=True):
        yield


def branches(x: Any) -> Any:
    return x * x * x if x > 0.0 else -np.sin(x)


def writes(x: Any) -> Any:
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = np.sin(x[i]) * y[i - 1]
    return y


def halves_while(x: Any) -> Any:
    while x * x > 0.2:
        x = 0.5 * x * x
    return x


def nested(tree: Any, scale: Any, count: int) -> Any:
    return {"a": tree["x"] ** count * scale, "b": [np.sum(tree["y"]), (scale * scale,)]}


CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "branch taken": (branches, (0.3,)), "branch not taken": (branches, (-0.3,)),
    "element writes": (writes, (X,)), "while": (halves_while, (1.3,)),
    "several arguments and nests": (nested, ({"x": X, "y": X[:2]}, 0.7, 3)),
    "complex, analytic": (lambda z: z * np.exp(z), (X + 1j,)),
    "complex, not analytic": (lambda z: z * z * np.conj(z), (X - 0.5j,)),
    "complex to real": (lambda z: np.real(np.exp(z)) + np.imag(z), (0.3 + 0.2j,)),
    "float32": (writes, (X.astype(np.float32),)),
    "a branch in float32": (branches, (np.float32(0.3),)),
    "results that are no floats": (lambda x: (x * x, 3, None, np.argmax(x), x > 0.0), (X,)),
    "a result that is constant": (lambda x: (3.0, x * x), (X,)),
}


@pytest.mark.parametrize("modes", MODES, ids="+".join)
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_a_right_gradient_passes(name: str, order: int, modes: tuple[str, ...]) -> None:
    fn, args = CASES[name]
    check_grads(fn, args, order, modes)


def test_compiled_and_transformed_functions_pass() -> None:
    with tracejit.config(disable_jit=False):
        check_grads(tracejit.jit(branches), (0.3,))
        check_grads(tracejit.grad(branches), (0.3,))
        check_grads(branches, (0.3,), 1, "rev")


def test_arguments_are_left_as_they_are() -> None:
    x, k = X.copy(), np.arange(3)

    def overwrites(x: Any, k: Any) -> Any:
        x[0] = x[1] * k[1]
        return x

    check_grads(overwrites, (x, k), 2)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(k, np.arange(3))


# --- planted faults -----------------------------------------------------------------------------


def stops(x: Any) -> Any:
    return tracejit.stop_gradient(x) * x


@tracejit.custom_gradient
def off_by_a_thousandth(x: Any) -> Any:
    return x * x, lambda ct: 2.002 * x * ct


@tracejit.custom_gradient
def _sine(x: Any) -> Any:
    return np.sin(x), lambda ct: ct * _cosine(x)


@tracejit.custom_gradient
def _cosine(x: Any) -> Any:
    return np.cos(x), lambda ct: ct * np.sin(x)  # the sign is wrong


@pytest.mark.parametrize(("fn", "x", "order", "modes", "found"), [
    (stops, X, 1, "fwd", "^fwd: the derivative along a random direction is "),
    (stops, X, 1, "rev", "^rev: the derivative along a random direction is "),
    (lambda x: stops(x) if x > 0.0 else x, 0.3, 1, "rev", "^rev: "),
    (off_by_a_thousandth, X, 1, "rev", "^rev: "),
    (_sine, X, 2, "rev", "^rev of rev: "),
    (lambda x: x * stops(x), X.astype(np.float32), 1, "fwd", "^fwd: "),
    (lambda z: z * tracejit.stop_gradient(z), X + 1j, 1, "rev", "^rev: "),
    (lambda x: np.sum(x) * 0.0 + tracejit.stop_gradient(np.sum(x)), X, 1, ("fwd", "rev"), "^fwd: "),
], ids=["fwd", "rev", "in a branch", "by a thousandth", "second order", "float32", "complex",
        "unconnected"])
def test_a_wrong_gradient_is_found(fn: Any, x: Any, order: int, modes: Any, found: str) -> None:
    with pytest.raises(AssertionError, match=found):
        check_grads(fn, (x,), order, modes)


def test_a_gradient_that_is_right_to_first_order_passes_to_first_order() -> None:
    check_grads(_sine, (X,), 1, "rev")


def test_a_message_shows_both_numbers() -> None:
    with pytest.raises(AssertionError) as caught:
        check_grads(lambda x: 2.0 * x + tracejit.stop_gradient(x), (1.0,), modes="fwd")
    words = str(caught.value).split()
    given, expected = float(words[words.index("is") + 1].rstrip(",")), float(words[-1])
    assert given * 3.0 == pytest.approx(expected * 2.0)


def test_tolerances_decide() -> None:
    with pytest.raises(AssertionError):
        check_grads(off_by_a_thousandth, (X,), 1, "rev")
    check_grads(off_by_a_thousandth, (X,), 1, "rev", rtol=1e-2)
    check_grads(off_by_a_thousandth, (X,), 1, "rev", atol=1.0)
    with pytest.raises(AssertionError):
        check_grads(np.exp, (1.0,), eps=1.0)
    check_grads(np.exp, (1.0,), eps=1e-5, rtol=1e-8)


# --- what it is called with ---------------------------------------------------------------------


@pytest.mark.parametrize(("args", "keywords", "error", "text"), [
    ((3, (1.0,)), {}, TypeError, "check_grads takes a function, not 3"),
    ((np.sin, 1.0), {}, TypeError, "args is the tuple of the function's arguments, not 1.0"),
    ((np.sin, (3,)), {}, TypeError, "none of the arguments is a float or an array of floats"),
    ((np.argmax, (X,)), {}, TypeError,
     "none of what the function returns is a float or an array of floats"),
    ((np.sin, (1.0,)), {"order": 0}, ValueError, "order must be an int, 1 or more, not 0"),
    ((np.sin, (1.0,)), {"order": 1.5}, ValueError, "order must be an int, 1 or more, not 1.5"),
    ((np.sin, (1.0,)), {"modes": "both"}, ValueError, "modes are 'fwd' and 'rev', not 'both'"),
    ((np.sin, (1.0,)), {"modes": ()}, ValueError, "modes are 'fwd' and 'rev', not ()"),
    ((np.sin, (1.0,)), {"eps": 0.0}, ValueError, "eps must be positive, not 0.0"),
])
def test_bad_arguments_are_named(args: Any, keywords: Any, error: Any, text: str) -> None:
    with pytest.raises(error) as caught:
        check_grads(*args, **keywords)
    assert str(caught.value) == text
