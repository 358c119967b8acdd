"""`config(debugger=True)`: debuggers stop in the user's frame, where names hold NumPy's values."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import tracejit
from tracejit import config, grad, jit, value_and_grad, vjp


class Model:
    """A class with a method that stops."""

    def __init__(self, w):
        self.w = w

    def loss(self, x):
        y = self.w * x
        breakpoint()
        return np.sum(y ** 2)


def stops_in_loop(w, x):
    y = w * x
    for k in range(2):
        if y[0] > 0:
            breakpoint()
        y = y + k
    return np.sum(y)


W, X = np.array([1.0, 2.0]), 3.0
TRANSFORMS = {
    "jit": lambda f, *args: jit(f)(*args), "grad": lambda f, *args: grad(f)(*args),
    "value_and_grad": lambda f, *args: value_and_grad(f)(*args),
    "vjp": lambda f, *args: vjp(f, *args)[1](1.0),
}


@pytest.fixture
def stops(monkeypatch):
    found = []

    def hook(*args, **kwargs):
        frame = sys._getframe(1)
        found.append((frame.f_code.co_name, {k: type(v) for k, v in frame.f_locals.items()}))

    monkeypatch.setattr(sys, "breakpointhook", hook)
    return found


@pytest.mark.parametrize("how", [*TRANSFORMS])
def test_breakpoints_stop_in_the_users_frame_with_numpys_values(how, stops):
    without = tracejit.config(disable_jit=True)
    with without, config(debugger=True):
        found = TRANSFORMS[how](stops_in_loop, W, X)
    name, kinds = stops[0]
    assert len(stops) == 2 and name == "stops_in_loop"
    assert kinds["w"] is kinds["y"] is np.ndarray and kinds["x"] is float and kinds["k"] is int
    expected = {"jit": 11.0, "grad": (3.0, 3.0), "value_and_grad": (11.0, 3.0, 3.0),
                "vjp": (3.0, 3.0, 3.0)}[how]
    parts = found if isinstance(found, tuple) else (found,)
    np.testing.assert_allclose(np.hstack(parts), expected)


def test_methods_stop_and_arguments_stay_as_they_were(stops):
    model, w = Model(W), W.copy()
    with config(disable_jit=True, debugger=True):
        slope = grad(Model.loss, argnums=1)(model, X)
    assert [name for name, _ in stops] == ["loss"]
    np.testing.assert_allclose(slope, 2 * np.sum(W ** 2) * X)

    def writes(w):
        w[0] = 7.0
        breakpoint()
        return np.sum(w)

    with config(disable_jit=True, debugger=True):
        grad(writes)(w)
    np.testing.assert_array_equal(w, W)


def test_prints_come_once_and_errors_are_pythons(capsys):
    def f(x):
        print("x", x)
        if x > 2:
            raise KeyError("no")
        return x

    with config(disable_jit=True, debugger=True):
        grad(f)(1.0)
        with pytest.raises(KeyError, match="no"):
            grad(f)(3.0)
    assert capsys.readouterr().out == "x 1.0\nx 3.0\n"


def test_elsewhere_a_debugger_is_refused_with_the_remedy():
    def f(x):
        breakpoint()
        return x

    with pytest.raises(tracejit.Refusal, match=r"config\(debugger=True\)"):
        jit(f)(1.0)
