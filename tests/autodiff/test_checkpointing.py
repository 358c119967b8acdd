"""`checkpoint`: it changes no gradient, and nothing is stored per iteration."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.autodiff.snapshots import next_snapshot
from tracejit.ir.walk import all_eqns

POINT = np.array([0.3, 0.7, 1.1, -0.2])
DIRECTION = np.array([0.4, -1.0, 0.2, 0.7])

@tracejit.checkpoint
def layer(h: Any, w: Any) -> Any:
    return np.tanh(h * w + np.sin(h))


@tracejit.checkpoint
def selective(h: Any, w: Any) -> Any:
    for k in range(len(h)):
        if h[k] > 0.2:
            h = h * w[k] + np.cos(h)
    return h, {"sum": np.sum(h)}


def layers(x: Any) -> Any:
    h = x
    for _ in range(3):
        h = layer(h, x)
    return np.sum(h ** 2)


def nests(x: Any) -> Any:
    h, total = x, 0.0
    for k in range(4):
        h, more = selective(h, x)
        total += more["sum"] * x[k]
    return np.sum(h ** 2) + total


def scalars(x: Any) -> Any:
    s = x[0]
    for i in tracejit.checkpoint(range(20), snapshots=3):
        s = s + 0.1 * np.sin(s) * x[1] + 0.01 * i * x[i % 4]
    return s * s


def swapped(x: Any) -> Any:
    u, v, count = x * 1.0, np.zeros_like(x), 0
    for i in tracejit.checkpoint(range(13), snapshots=2):
        v[1:-1] = u[1:-1] + 0.1 * np.sin(u[2:] - 2.0 * u[1:-1] + u[:-2])
        v[0], v[-1] = x[0], np.cos(u[1])
        u, v = v, u
        count += i
    return np.sum(u ** 2) + count * x[1]


def left_early(x: Any) -> Any:
    s = x[0]
    for _ in tracejit.checkpoint(range(50), snapshots=4):
        s = s + 0.1 * np.sin(s) * x[1]
        if s > 0.9:
            break
    return s * s


def within_a_loop(x: Any) -> Any:
    total = 0.0
    for j in range(3):
        s = x[j]
        for i, v in enumerate(tracejit.checkpoint(x, snapshots=2)):
            s = np.sin(s * v) + x[0] * i
        total += s
    return total


def backwards(x: Any) -> Any:
    s = x[0]
    for i in tracejit.checkpoint(range(9, 0, -2), snapshots=1):
        s = s + 0.1 * np.sin(s) * x[i % 4] * i
    return s * s


def never(x: Any) -> Any:
    s = x[0]
    for i in tracejit.checkpoint(range(len(x), 2), snapshots=3):
        s = s * i
    return s * x[1]


PROGRAMS = [layers, nests, scalars, swapped, left_early, within_a_loop, backwards, never]


@pytest.mark.parametrize("interpreted", [True, False], ids=["interpreter", "kernel"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_are_those_without_checkpoints(f: Any, interpreted: bool) -> None:
    with tracejit.config(disable_jit=interpreted, verify=True):
        value, gradient = tracejit.value_and_grad(f)(POINT)
        _, tangent = tracejit.jvp(f, (POINT,), (DIRECTION,))
        curvature = tracejit.hvp(f, (POINT,), (DIRECTION,))
        twice = tracejit.grad(lambda x: tracejit.grad(f)(x) @ DIRECTION)(POINT)

        def along(t: float) -> Any:
            return f(POINT + t * DIRECTION)

        assert value == pytest.approx(along(0.0), rel=1e-12)
        slope = (along(1e-6) - along(-1e-6)) / 2e-6
        assert gradient @ DIRECTION == pytest.approx(slope, rel=1e-6, abs=1e-8)
        assert tangent == pytest.approx(slope, rel=1e-6, abs=1e-8)
        h = 1e-5 * DIRECTION
        expected = (tracejit.grad(f)(POINT + h) - tracejit.grad(f)(POINT - h)) / 2e-5
        np.testing.assert_allclose(curvature, expected, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(twice, curvature, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("f", [scalars, swapped, left_early])
def test_a_loop_with_snapshots_stores_nothing_per_iteration(f: Any) -> None:
    traced = tracejit.grad(f).trace(POINT)
    assert not {e.op.name for e in all_eqns(traced.graph.block)} & {"log_new", "push"}
    assert "snapshots of what the loop carries are kept" in traced.why()
    assert "is stored" not in traced.why()


def test_a_checkpointed_function_is_computed_again() -> None:
    def f(x: Any) -> Any:
        return np.sum(layer(layer(x, x), x))

    names = [e.op.name for e in all_eqns(tracejit.grad(f).trace(POINT).graph.block)]
    assert names.count("tanh") == 1 + 2  # nobody reads the value of the last layer
    assert "again" in names


def test_what_a_checkpoint_does_not_add_to_stays_unconnected() -> None:
    """Zeros in place of no cotangent would meet an infinite derivative."""
    @tracejit.checkpoint
    def first(h: Any, big: Any) -> Any:
        return h[0] * 2.0, big[0] * h[1]

    def by_function(x: Any) -> Any:
        return first(x, np.sqrt(x - x))[0]

    def by_loop(x: Any) -> Any:
        big, s, t = np.sqrt(x - x), x[0], 0.0
        for _ in tracejit.checkpoint(range(3), snapshots=2):
            s = s * x[1]
            t = t + big[0]
        return s

    with tracejit.config(disable_jit=True):
        assert tracejit.grad(by_function)(POINT).tolist() == [2.0, 0.0, 0.0, 0.0]
        np.testing.assert_allclose(tracejit.grad(by_loop)(POINT),
                                   [0.7 ** 3, 3 * 0.3 * 0.7 ** 2, 0.0, 0.0])


def test_values_that_get_their_cotangent_an_iteration_later() -> None:
    def chain(x: Any, iterations: Any) -> Any:
        a, b, c, d = x[0], x[1], x[2], 0.0
        for _ in iterations:
            a, b, c, d = a + b * x[3], b * c, c * c, d + b
        return a

    with tracejit.config(disable_jit=True):
        stored = tracejit.grad(lambda x: chain(x, range(5)))(POINT)
        again = tracejit.grad(lambda x: chain(x, tracejit.checkpoint(range(5), snapshots=2)))(POINT)
    np.testing.assert_allclose(again, stored, rtol=1e-14)
    assert np.all(stored != 0)


def test_the_schedule_computes_as_little_again_as_can_be() -> None:
    """Against dynamic programming over all schedules."""

    @functools.cache
    def least(steps: int, snapshots: int) -> int:
        if steps <= 1:
            return 0
        if snapshots == 1:
            return steps * (steps - 1) // 2
        return min(m + least(steps - m, snapshots - 1) + least(m, snapshots)
                   for m in range(1, steps))

    def needed(steps: int, snapshots: int) -> int:
        total, left, taken = 0, steps, [0]
        while left > 0:
            first = taken[-1]
            k = next_snapshot(first, left, snapshots - len(taken))
            assert first < k < left or first == k == left - 1
            total += k - first
            if k < left - 1:
                taken.append(k)
            else:
                left -= 1
                if first == left:
                    taken.pop()
        return total

    for steps in range(1, 60):
        for snapshots in range(1, 6):
            assert needed(steps, snapshots) == least(steps, snapshots)


def test_without_a_capture_it_is_what_it_was_given() -> None:
    items = range(5)
    assert tracejit.checkpoint(items, snapshots=2) is items
    assert tracejit.checkpoint(np.sin)(0.0) == 0.0
    assert layers(POINT) == pytest.approx(tracejit.jit(layers)(POINT), rel=1e-14)


@pytest.mark.parametrize(("make", "error", "text"), [
    (lambda: tracejit.checkpoint(3.0), TypeError, "takes a function or what a `for` runs over"),
    (lambda: tracejit.checkpoint(range(3)), TypeError, "needs the number of snapshots"),
    (lambda: tracejit.checkpoint(range(3), snapshots=0), ValueError, "1 or more"),
    (lambda: tracejit.checkpoint(np.sin, snapshots=3), TypeError, "snapshots are for loops"),
])
def test_wrong_arguments(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()
