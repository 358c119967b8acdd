"""The ways in which others' gradients of loops and writes went silently wrong, one test each.

For each, programs that have it are right, and a planted version of the fault is caught: a rule of
an op, or a part of the gradient pass, is replaced by a wrong one, and the same check has to fail.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.ir.core import Span
from tracejit.ir.optable import OPS
from tracejit.ops import cotangents
from tracejit.trace.values.equations import apply

X = np.array([0.3, -0.7, 1.1, 0.4, 0.9])

# --- programs -----------------------------------------------------------------------------------


def overwritten_element(x: Any) -> Any:
    """An element's old value does not matter after it was replaced."""
    y = x * 2.0
    for i in range(len(y)):
        y[i] = y[i] ** 2
        y[0] = x[1]
    return np.sum(y * x)


def read_modify_write(x: Any) -> Any:
    """One element is read and written in one statement."""
    y = x.copy()
    for i in range(1, len(y)):
        y[i] = y[i] * y[i - 1] + y[i]
        y[i] *= np.sin(y[i])
    return np.sum(y)


def carried_read_after_write(x: Any) -> Any:
    """An iteration reads an element that the iteration before has written."""
    y = np.zeros_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = np.tanh(y[i - 1]) * x[i]
    return y[len(x) - 1] + y[2] * y[1]


def duplicate_indices(x: Any) -> Any:
    """An index array names an element twice."""
    where = np.array([0, 2, 2, 1, 2])
    y = np.zeros(3)
    np.add.at(y, where, x ** 2)
    return np.sum(x[where] ** 3) + np.sum(y ** 2)


def overlapping_views(x: Any) -> Any:
    """Source and destination of a write share memory."""
    y = x * 1.0
    for _ in range(3):
        y[1:] += y[:-1] * y[1:]
        y[:-1] = y[1:] * 0.5
        row = y[1:4]
        row[0] = np.sin(row[2])
    return np.sum(y ** 2)


def overwritten_before_it_is_read(x: Any) -> Any:
    """The way back needs values that later iterations replace."""
    y = x * 1.0
    for _ in range(4):
        z = np.exp(-y * y)
        y = y * z + x
    return np.sum(y)


def float_of_an_int(x: Any) -> Any:
    """A name begins as an int and goes on as a float."""
    total, count = 0, 1
    for i in range(len(x)):
        total += x[i] * count
        count = count * 0.5 + i
    return total * count


def ended_by_data(x: Any) -> Any:
    """How often a loop runs is decided by data, and has no bound."""
    s, k = x[0], 0
    while s < 50.0:
        s = s * 1.1 + abs(x[1])
        k += 1
    return s * x[2] + k


def swapped_buffers(x: Any) -> Any:
    """Two arrays exchange their names in each iteration."""
    u, v = x * 1.0, np.zeros_like(x)
    for _ in range(5):
        v[1:-1] = u[1:-1] + 0.1 * (u[2:] * u[:-2])
        v[0], v[-1] = u[-1], u[0]
        u, v = v, u
    return np.sum(u ** 2) + v[1]


PROGRAMS = [overwritten_element, read_modify_write, carried_read_after_write, duplicate_indices,
            overlapping_views, overwritten_before_it_is_read, float_of_an_int, ended_by_data,
            swapped_buffers]


def require_right(f: Callable[..., Any]) -> None:
    """Assert that a value is Python's, and a gradient close to differences."""
    value, gradient = tracejit.value_and_grad(f)(X)
    assert value == pytest.approx(f(X.copy()), rel=1e-12)
    steps = 1e-6 * np.eye(len(X))
    expected = [(f(X + d) - f(X - d)) / 2e-6 for d in steps]
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("interpreted", [True, False], ids=["interpreter", "kernel"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_are_right(f: Any, interpreted: bool) -> None:
    with tracejit.config(disable_jit=interpreted, verify=True):
        require_right(f)


# --- planted faults -----------------------------------------------------------------------------


@contextmanager
def _rule(op: str, **fields: Any) -> Iterator[None]:
    right = OPS[op]
    OPS[op] = replace(right, **fields)
    try:
        yield
    finally:
        OPS[op] = right


def _keeps_the_cotangent(sweep: Any, eqn: Any, cts: Any) -> list[Any]:
    (ct,) = cts
    return [ct, apply("index", ct, at=eqn.params["at"])]


@contextmanager
def _a_write_keeps_the_cotangent_of_what_it_replaced() -> Iterator[None]:
    with _rule("update", vjp=_keeps_the_cotangent):
        yield


@contextmanager
def _a_read_overwrites_its_cotangent() -> Iterator[None]:
    def transpose(sweep: Any, eqn: Any, cts: Any) -> list[Any]:
        ct = cts[0].dense() if isinstance(cts[0], cotangents.Masked) else cts[0]
        aval = eqn.inputs[0].aval
        return [cotangents.Scattered(
            aval, lambda acc: apply("update", acc, ct, at=eqn.params["at"]))]

    with _rule("index", vjp=transpose):
        yield


@contextmanager
def _only_the_first_iteration_is_stored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make each iteration write its residuals over the previous iteration's."""
    monkeypatch.setattr("tracejit.autodiff.storing.place_of", lambda store, ahead=0: (
        *(0 for _ in store.home.loops), *(Span(0, d) for d in store.values[0].aval.shape)))
    yield


@pytest.mark.parametrize("f", [overwritten_element, overlapping_views, swapped_buffers])
def test_a_write_that_keeps_the_old_cotangent_is_caught(f: Any) -> None:
    with _a_write_keeps_the_cotangent_of_what_it_replaced(), tracejit.config(disable_jit=True), \
            pytest.raises(AssertionError):
        require_right(f)


@pytest.mark.parametrize("f", [read_modify_write, carried_read_after_write, overlapping_views])
def test_a_read_that_overwrites_its_cotangent_is_caught(f: Any) -> None:
    with _a_read_overwrites_its_cotangent(), tracejit.config(disable_jit=True), \
            pytest.raises(AssertionError):
        require_right(f)


@pytest.mark.parametrize("f", [read_modify_write, overwritten_before_it_is_read])
def test_residuals_of_another_iteration_are_caught(f: Any,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    with _only_the_first_iteration_is_stored(monkeypatch), tracejit.config(disable_jit=True), \
            pytest.raises(AssertionError):
        require_right(f)


def test_duplicate_indices_that_do_not_add_up_are_caught() -> None:
    def lossy(x: Any, v: Any, *index: Any, **params: Any) -> Any:
        y = np.array(x)
        y[tuple(index)] = np.asarray(x)[tuple(index)] + v
        return y

    adds = [name for name, op in OPS.items() if getattr(op.lowering, "gathered", False)
            and op.lowering.combine == "add"]  # type: ignore[union-attr]
    assert len(adds) == 1
    with _rule(adds[0], reference=lossy), tracejit.config(disable_jit=True), \
            pytest.raises(AssertionError):
        require_right(duplicate_indices)


def test_a_loop_with_one_trip_less_on_its_way_back_is_caught(
        monkeypatch: pytest.MonkeyPatch) -> None:
    from tracejit.ops import control

    lo = control.LoopEqn.lo.fget
    monkeypatch.setattr(control.LoopEqn, "lo", property(
        lambda loop: lo(loop) + (1 if sys._getframe(1).f_code.co_name == "_loop_vjp" else 0)))
    with tracejit.config(disable_jit=True), pytest.raises(AssertionError):
        require_right(ended_by_data)


def test_a_silent_cast_to_int_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    from tracejit.trace.regions import guesses

    monkeypatch.setattr(guesses, "_joined", lambda g, x, name: g)
    with tracejit.config(disable_jit=True), pytest.raises((AssertionError, TypeError)):
        require_right(float_of_an_int)


# --- selections that are computed again ---------------------------------------------------------


def _selected_by_where(x: Any) -> Any:
    y = x * 1.0
    for _ in range(3):
        y = np.where(np.exp(y) > 1.0, np.sin(y) + x, np.cos(y) * x)
    return np.sum(y)


def _equal_to_its_maximum(x: Any) -> Any:
    total = 0.0
    for i in range(4):
        e = np.exp(x * (0.3 + 0.1 * i))
        total += np.sum(np.where(e == np.max(e), e * x, 0.1 * e))
    return total


def _equal_to_an_element(x: Any) -> Any:
    e = np.exp(x * 0.7)
    return np.sum(np.where(e == e[len(x) // 2], e * x, 0.1 * e))


def _largest(x: Any) -> Any:
    y = x * 1.0
    for _ in range(3):
        y = np.exp(np.sin(y)) * x
        y[0] += np.max(np.tanh(y)) + np.min(np.exp(y))
    return np.sum(y)


def _sorted(x: Any) -> Any:
    y = x * 1.0
    for i in range(3):
        y = np.sort(np.exp(np.sin(y * (i + 1)))) * x
    return np.sum(y * np.arange(len(x)))


def _clipped(x: Any) -> Any:
    y = x * 1.0
    for _ in range(4):
        y = np.clip(np.exp(y) - 1.0, -0.4, 0.9) + np.maximum(np.log1p(y * y), 0.1) * x
    return np.sum(y)


def _guarded(x: Any) -> Any:
    """The branch that is not taken has an infinite derivative."""
    total = 0.0
    for i in range(len(x)):
        safe = np.where(x > 0.35, x, 1.0)
        total += np.sum(np.where(x > 0.35, np.sqrt(safe) * np.log(safe), 0.0)) * (i + 1)
        total += np.sum(np.where(x > 0.35, np.sqrt(np.abs(x - 0.3)), x))
    return total


def _zeros_left_out_by_masks(x: Any) -> Any:
    """Masks meet: each leaves out other elements, and a root of zero is behind all."""
    r = np.sqrt((x[:, None] - x) ** 2)
    apart = r > 0.0
    r[apart] = 1.0 / np.sqrt(0.1 + r[apart])
    nearer = np.where(apart, np.where(r > 1.2, r * r, np.sin(r)), 0.0)
    return np.sum(np.triu(r * x, 1)) + np.sum(nearer * x)


GAUNTLET = [_selected_by_where, _equal_to_its_maximum, _equal_to_an_element, _largest, _sorted,
            _clipped, _guarded, _zeros_left_out_by_masks]


@pytest.mark.parametrize("n", [1, 3, 8, 33, 100])
@pytest.mark.parametrize("f", GAUNTLET, ids=lambda f: f.__name__.strip("_"))
def test_selections_survive_being_computed_again(f: Any, n: int) -> None:
    """Vector code and scalar code differ in the last bit; decisions are the same on both ways."""
    rng = np.random.default_rng(n)
    g = tracejit.value_and_grad(f)
    for _ in range(20):
        x = rng.uniform(-1.5, 1.5, n)
        v = rng.normal(size=n)
        value, gradient = g(x)
        assert value == pytest.approx(f(x.copy()), rel=1e-10, abs=1e-12)
        slopes = [(f(x + h * v) - f(x - h * v)) / (2 * h) for h in (1e-6, 3e-7)]
        if abs(slopes[0] - slopes[1]) > 1e-4 * max(1.0, abs(slopes[0])):
            continue  # a kink lies between
        assert gradient @ v == pytest.approx(slopes[0], rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("side", [True, False])
def test_sides_of_a_where_that_are_merged_the_wrong_way_are_caught(
        side: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The values of the two sides of one `where` are one selection, not two and their sum."""
    x = np.array([0.3, -0.7, 1.1])

    def slope() -> float:
        return float(tracejit.grad(_zeros_left_out_by_masks)(x)[0])

    h = np.array([1e-6, 0.0, 0.0])
    expected = (_zeros_left_out_by_masks(x + h) - _zeros_left_out_by_masks(x - h)) / 2e-6
    with tracejit.config(disable_jit=True):
        assert slope() == pytest.approx(expected, rel=1e-6)
        monkeypatch.setattr(cotangents, "_merge_sides",
                            lambda a, b: (a if side else b).value)
        assert slope() != pytest.approx(expected, rel=1e-3)
