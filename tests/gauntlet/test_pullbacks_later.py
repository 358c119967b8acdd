"""A pullback of `vjp` is that of the call, whatever is assigned to variables and arrays since."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tracejit

FIRST, SECOND = np.array([1.0, 2.0]), np.array([3.0, 4.0])


@pytest.fixture(autouse=True)
def _interpreted() -> Iterator[None]:
    with tracejit.config(disable_jit=True):
        yield


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "product": lambda a, w: np.sum(a * a * a * w * w),
    "branch": lambda a, w: np.sum(a * a * w * w) if w[0] > 4.0 else np.sum(a * a * a * w * w),
    "loop": lambda a, w: np.sum(_powers(a, w)),
    "nest": lambda a, w: {"y": np.sum(a * a * a * w * w)}["y"],
}
CHANGES: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda v: None,
    "assign": lambda v: v.assign([5.0, 6.0]),
    "assign_add": lambda v: v.assign_add([1.0, 1.0]),
    "assign_sub": lambda v: v.assign_sub([0.5, 7.0]),
    "twice": lambda v: v.assign([5.0, 6.0]).assign([-1.0, 8.0]),
}


def _powers(a: Any, w: Any) -> Any:
    for _ in range(2):
        a = a * a * w
    return a


def _slope(f: Callable[[Any, Any], Any], argnum: int, a: Any, w: Any, step: float = 1e-5) -> Any:
    """Return a gradient by differences."""
    given = [a, w]
    found = np.zeros(2)
    for k, sign in itertools.product(range(2), (1.0, -1.0)):
        moved = [x.copy() for x in given]
        moved[argnum][k] += sign * step
        found[k] += sign * f(*moved) / (2.0 * step)
    return found


def _ways(f: Callable[[Any, Any], Any], a: Any, w: Any) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    return {
        "both arguments": (tracejit.vjp(f, argnums=(0,)), (a, w)),
        "read from outside": (tracejit.vjp(lambda a: f(a, w)), (a,)),
    }


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("way", ["both arguments", "read from outside"])
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("which", [(0,), (1,), (0, 1)], ids=str)
def test_variables_assigned_before_the_pullback(which: tuple[int, ...], name: str, way: str,
                                                change: str) -> None:
    f = FUNCTIONS[name]
    a, w = tracejit.Variable(FIRST), tracejit.Variable(SECOND)
    pull, args = _ways(f, a, w)[way]
    with tracejit.GradientTape(persistent=True) as tape:
        _, pullback = pull(*args)
        for k in which:
            CHANGES[change]((a, w)[k])
        (by_a,) = pullback(1.0)
    np.testing.assert_allclose(by_a, _slope(f, 0, FIRST, SECOND), rtol=1e-6)
    for k, v in enumerate((a, w)):
        expected = _slope(lambda a, w: np.sum(_slope(f, 0, a, w, 1e-3)), k, FIRST, SECOND, 1e-3)
        np.testing.assert_allclose(tape.gradient(by_a, v), expected, rtol=1e-4)


@pytest.mark.parametrize("later", ["on no tape", "on a later tape", "on the tape of the cotangent"])
@pytest.mark.parametrize("value", [FIRST, 1.5], ids=["array", "number"])
def test_a_variable_read_outside_of_tapes(value: Any, later: str) -> None:
    v = tracejit.Variable(value)
    _, pullback = tracejit.vjp(lambda a: np.sum(a * a * v))(2.0)
    v.assign(np.asarray(value) * 10.0)
    expected = 4.0 * np.sum(value)
    if later == "on no tape":
        assert pullback(1.0)[0] == expected
        assert isinstance(pullback(1.0)[0], float)
        return
    ct = tracejit.constant(3.0)
    with tracejit.GradientTape() as tape:
        tape.watch(ct)
        (slope,) = pullback(ct if later == "on the tape of the cotangent" else 3.0)
        y = ct * slope
    assert float(slope) == 3.0 * expected
    also = 3.0 * expected if later == "on the tape of the cotangent" else 0.0
    assert float(tape.gradient(y, ct)) == 3.0 * expected + also


@pytest.mark.parametrize("tape", [False, True])
def test_an_array_that_is_written_to_before_the_pullback(tape: bool) -> None:
    w, v = SECOND.copy(), tracejit.Variable(FIRST)
    with tracejit.GradientTape() as t:
        _, pullback = tracejit.vjp(lambda a: np.sum(a * a * w * v))(v if tape else FIRST)
        w[:] = 100.0
        (slope,) = pullback(1.0)
    np.testing.assert_allclose(slope, 2.0 * FIRST * SECOND * FIRST)
    if tape:
        np.testing.assert_allclose(t.gradient(slope, v), 4.0 * FIRST * SECOND)
