"""State that a call on a tape reads: gradients are those of the state when it was recorded."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tracejit

X = np.array([1.3, 2.1, -0.7])


@pytest.fixture(autouse=True)
def _interpreted() -> Iterator[None]:
    with tracejit.config(disable_jit=True):
        yield


class Model:
    """An object with state of some kind, and the factor that the state stands for."""

    scale: Any

    def __init__(self, scale: Any) -> None:
        self.scale = scale

    def f(self, v: Any) -> Any:
        return v * v * _factor(self.scale)

    def __call__(self, v: Any) -> Any:
        return v * v * _factor(self.scale)


def _factor(s: Any) -> Any:
    if isinstance(s, str):
        return 2.0 if s == "a" else 5.0
    if isinstance(s, bool):
        return 3.0 if s else -1.0
    if isinstance(s, list):
        return s[0]
    return s


def of_object(v: Any, o: Any) -> Any:
    return v * v * _factor(o.scale)


def _op(fn: Callable[..., Any]) -> Any:
    op: Any = tracejit.register_op(f"StateOnTapes{next(_NUMBERS)}", fn)

    @tracejit.RegisterGradient(op.op.name)
    def rule(op: Any, g: Any) -> Any:
        return g * 2.0 * op.inputs[0] * _factor(HELD[-1].scale)

    return op


_NUMBERS = itertools.count()
HELD: list[Model] = []

WAYS: dict[str, Callable[[Model], Callable[[Any], Any]]] = {
    "argument": lambda m: functools.partial(lambda j, x: j(x, m), tracejit.jit(of_object)),
    "keyword": lambda m: functools.partial(lambda j, x: j(x, o=m), tracejit.jit(of_object)),
    "in a list": lambda m: functools.partial(
        lambda j, x: j(x, [m]), tracejit.jit(lambda v, o: of_object(v, o[0]))),
    "in a dict": lambda m: functools.partial(
        lambda j, x: j(x, {"m": m}), tracejit.jit(lambda v, o: of_object(v, o["m"]))),
    "bound": lambda m: tracejit.jit(m.f),
    "called": lambda m: tracejit.jit(m),
    "closure": lambda m: tracejit.jit(lambda v: of_object(v, m)),
    "partial": lambda m: tracejit.jit(functools.partial(of_object, o=m)),
    "checkpoint": lambda m: functools.partial(
        lambda c, x: c(x, m), tracejit.checkpoint(of_object)),
    "vmap": lambda m: functools.partial(
        lambda c, x: c(x, m), tracejit.vmap(lambda v, o: v * v * _factor_at(o), (0, None))),
    "vjp": lambda m: lambda x: tracejit.vjp(lambda v: of_object(v, m), x)[0],
    "along an axis": lambda m: lambda x: np.apply_along_axis(m.f, 0, x),
    "called along an axis": lambda m: lambda x: np.apply_along_axis(m, 0, x),
    "given along an axis": lambda m: lambda x: np.apply_along_axis(of_object, 0, x, m),
    "custom gradient": lambda m: functools.partial(lambda c, x: c(x, m), tracejit.custom_gradient(
        lambda v, o: (of_object(v, o), lambda u: (u * 2.0 * v * _factor(o.scale), None)))),
    "op": lambda m: functools.partial(lambda op, x: op(x, m), _op(of_object)),
}


def _factor_at(o: Any) -> Any:
    return _factor(o.scale)


STATES: dict[str, tuple[Any, ...]] = {
    "floats": (2.0, 3.0, 4.0, 3.0), "ints": (2, 3, 4, 3), "texts": ("a", "b", "a", "b"),
    "bools": (True, False, False, True), "lists": ([2.0], [3.0], [5.0], [2.0]),
    "NumPy's": tuple(map(np.float64, (2.0, 3.0, 4.0, 3.0))),
    "kinds": (2.0, 3, np.float64(4.0), "b"),
    "arrays": tuple(np.array([a, 1.0, 2.0]) for a in (2.0, 3.0, 4.0, 3.0)),
}


DECIDING = {"ints", "texts", "bools", "lists", "kinds"}
"""Kinds of which some decide what the program is; the first list is another object."""


def _cases() -> list[tuple[str, str]]:
    return [(way, kind) for way in WAYS for kind in STATES if (way, kind) not in
            {("vmap", "arrays"), ("op", "arrays")}]  # a rule that reads an array is refused


def _change(m: Model, state: Any, *, in_place: bool) -> None:
    if in_place and isinstance(m.scale, (list, np.ndarray)):
        m.scale[0] = state[0]
    else:
        m.scale = state.copy() if isinstance(state, (list, np.ndarray)) else state


def _gradient(m: Model) -> np.ndarray:
    """Return the gradient of v * v * factor by differences, computed by NumPy."""
    found = np.empty(X.shape)
    for k in range(X.size):
        h = 1e-6 * np.eye(X.size)[k]
        found[k] = np.sum((m.f(X + h) - m.f(X - h)) / 2e-6)
    return found


@pytest.mark.parametrize(("way", "kind"), _cases())
def test_each_recording_has_the_gradient_of_its_state(way: str, kind: str) -> None:
    for in_place in (False, True):
        m = Model(None)
        HELD[:] = [m]
        _change(m, STATES[kind][0], in_place=False)
        call = WAYS[way](m)
        for state in STATES[kind] * 2:
            _change(m, state, in_place=in_place)
            x = tracejit.constant(X)
            with tracejit.GradientTape() as tape:
                tape.watch(x)
                y = np.sum(call(x))
            np.testing.assert_allclose(float(y), np.sum(m.f(X)))
            np.testing.assert_allclose(tape.gradient(y, x).numpy(), _gradient(m), atol=1e-7)


@pytest.mark.parametrize(("way", "kind"), _cases())
def test_a_change_after_the_recording_leaves_the_gradient_or_is_refused(way: str,
                                                                        kind: str) -> None:
    for in_place, before in itertools.product((False, True), (0, 3)):
        m = Model(None)
        HELD[:] = [m]
        _change(m, STATES[kind][0], in_place=False)
        call = WAYS[way](m)
        for k in range(before + 1):
            x = tracejit.constant(X)
            with tracejit.GradientTape() as tape:
                tape.watch(x)
                y = np.sum(call(x))
            expected = _gradient(m)
            if k == before:
                _change(m, STATES[kind][1], in_place=in_place)
            if k == before and kind in DECIDING:
                with contextlib.suppress(tracejit.Refusal):
                    np.testing.assert_allclose(tape.gradient(y, x).numpy(), expected, atol=1e-7)
            else:
                np.testing.assert_allclose(tape.gradient(y, x).numpy(), expected, atol=1e-7)


# --- pullbacks ----------------------------------------------------------------------------------

PULLED: dict[str, Callable[[Model], tuple[Callable[..., Any], tuple[Any, ...]]]] = {
    "closure": lambda m: (lambda v: of_object(v, m), ()),
    "argument": lambda m: (of_object, (m,)),
    "in a list": lambda m: (lambda v, o: of_object(v, o[0]), ([m],)),
    "bound": lambda m: (m.f, ()),
    "called": lambda m: (m, ()),
    "partial": lambda m: (functools.partial(of_object, o=m), ()),
    "branch": lambda m: (lambda v: of_object(v, m) if v[0] > 0 else v, ()),
    "written": lambda m: (_written(m), ()),
}


def _written(m: Model) -> Callable[[Any], Any]:
    def f(v: Any) -> Any:
        y = np.zeros(v.shape)
        y[:] = v * v
        y *= _factor(m.scale)
        return y

    return f


def _pulled_back(way: str, kind: str) -> None:
    for in_place in (False, True):
        m = Model(None)
        _change(m, STATES[kind][0], in_place=False)
        fn, more = PULLED[way](m)
        for state in STATES[kind]:
            expected = _gradient(m)
            y, pullback = tracejit.vjp(fn, X, *more)
            np.testing.assert_allclose(y, m.f(X))
            np.testing.assert_allclose(pullback(np.ones(3))[0], expected, atol=1e-7)
            _change(m, state, in_place=in_place)
            try:
                found = pullback(np.ones(3))[0]
            except tracejit.Refusal:
                if kind not in DECIDING:
                    raise
                continue
            np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("kind", STATES)
@pytest.mark.parametrize("way", PULLED)
def test_a_pullback_is_of_the_state_that_its_call_read(way: str, kind: str) -> None:
    _pulled_back(way, kind)


@pytest.mark.parametrize(("way", "kind"), [("closure", "arrays"), ("argument", "floats")])
def test_a_compiled_pullback_is_of_the_state_that_its_call_read(way: str, kind: str) -> None:
    with tracejit.config(disable_jit=False):
        _pulled_back(way, kind)


def test_a_pullback_of_a_variable_is_of_its_value_at_the_call() -> None:
    v = tracejit.Variable(X)
    _, pullback = tracejit.vjp(lambda x: np.sum(x * x * v), X)
    v.assign(np.zeros(3))
    np.testing.assert_allclose(pullback(1.0)[0], 2 * X * X)


# --- tape values and variables ------------------------------------------------------------------


def test_tape_values_under_two_names_are_told_apart() -> None:
    v, w = tracejit.constant(2.0), tracejit.constant(5.0)
    held = {"a": v, "b": v}
    f = tracejit.jit(lambda x: x * held["a"] + 10.0 * held["b"])
    for a, b in itertools.product((v, w), repeat=2):
        held["a"], held["b"] = a, b
        with tracejit.GradientTape(persistent=True) as tape:
            tape.watch([v, w])
            y = f(3.0)
        assert float(y) == 3.0 * float(a) + 10.0 * float(b)
        for source in (v, w):
            expected = 3.0 * (a is source) + 10.0 * (b is source)
            assert float(tape.gradient(y, source) or 0.0) == expected


def _assigned(v: Any, x: Any, times: int, after: Callable[[Any], Any]) -> Any:
    with tracejit.GradientTape() as tape:
        z = v * v
        for _ in range(times):
            v.assign_add(v * x)
        z = z + after(v)
    return tape.gradient(z, v)


@pytest.mark.parametrize("times", [1, 3, 20])
def test_a_tape_within_a_capture_refuses_to_go_through_an_assignment(times: int) -> None:
    v = tracejit.Variable(1.0)
    with pytest.raises(tracejit.Refusal, match="gradients end where a variable is assigned"):
        tracejit.jit(lambda x: _assigned(v, x, times, lambda v: v * v))(2.0)


def test_a_tape_within_a_capture_is_that_outside_where_nothing_goes_through() -> None:
    def given(v: Any, x: Any) -> Any:
        with tracejit.GradientTape() as tape:
            z = v * v * x
            v.assign(x)
            z = z + v * v * v
        return tape.gradient(z, v)

    def moving(v: Any, x: Any) -> Any:
        with tracejit.GradientTape() as tape:
            z = v * v * x
            MEAN.assign(MEAN * 0.9 + z * 0.1)
        return tape.gradient(z, v)

    for fn in (given, moving, lambda v, x: _assigned(v, x, 1, lambda v: 0.0)):
        found = []
        for wrap in (lambda f: f, tracejit.jit):
            v = tracejit.Variable(1.5)
            found.append(float(wrap(lambda x, v=v, fn=fn: fn(v, x))(2.0)))
        assert found[0] == found[1]


MEAN = tracejit.Variable(0.5, trainable=False)
