"""Events and dense output of `solve_ivp`: SciPy's numbers, and derivatives of event times.

Numbers of threads in comments are those of other tools' trackers, where such a case was met.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from oracles import numeric_gradient
from scipy.integrate import solve_ivp

import tracejit
from tracejit.errors import Refusal

FINE = {"rtol": 1e-9, "atol": 1e-11}
P = np.array([1.7, 1.0, 0.2])


def swing(p: NDArray[np.float64], span: tuple[float, float] = (0.0, 10.0), **more: Any) -> Any:
    def upwards(t, y):
        return y[0] - p[2]

    def at_rest(t, y):
        return y[1]

    upwards.direction, at_rest.terminal = 1, 3
    return solve_ivp(lambda t, y: np.array([y[1], -p[0] * y[0]]), span, np.array([p[1], 0.1]),
                     events=(upwards, at_rest), rtol=1e-8, atol=1e-10, **more)


CASES: dict[str, dict[str, Any]] = {
    "RK45": {}, "RK23": {"method": "RK23", "max_step": 0.2}, "DOP853": {"method": "DOP853"},
    "at times": {"t_eval": np.linspace(0.0, 10.0, 23)},
    "both": {"t_eval": np.linspace(0.0, 10.0, 23), "dense_output": True},
    "backwards": {"span": (10.0, 0.0), "dense_output": True, "t_eval": np.linspace(10, 0, 11)}}


@pytest.mark.parametrize("name", CASES)
def test_events_are_scipys(name: str) -> None:
    def program(p: Any) -> Any:
        s = swing(p, **CASES[name])
        found = [s.t, s.y, *s.t_events, *s.y_events, s.status, s.success, s.message.startswith("A")]
        return [*found, s.sol(np.array([0.3, 1.2])), s.sol(0.7)] if s.sol is not None else found

    with tracejit.config(disable_jit=True):
        ours, theirs = tracejit.jit(program)(P), program(P)
    assert [type(x) for x in ours] == [type(x) for x in theirs]
    for x, y in zip(ours, theirs, strict=True):  # steps of order 8 follow the rounding of errors
        assert np.shape(x) == np.shape(y)
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-8 if name == "DOP853" else 1e-11)


def fall(t, y, g):
    return np.array([y[1], -g])


def ground(t, y, g):
    return y[0]


ground.terminal, ground.direction = True, -1


def landing(p):
    s = solve_ivp(fall, (0.0, 10.0), p[:2], events=ground, args=(p[2],), **FINE)
    return s.t_events[0][0], s.y_events[0][0][1], s.t[-1], s.y[1, -1]


def test_derivatives_of_event_times_and_states_are_those_of_a_fall() -> None:
    """diffrax#363, diffrax#729: wrong, or zero."""
    h, v, g = p = np.array([2.0, 3.0, 9.81])
    root = np.sqrt(v * v + 2.0 * g * h)
    time = (v + root) / g
    by_time = np.array([1.0 / root, (1.0 + v / root) / g, -time / g + h / (g * root)])
    by_speed = np.array([-g / root, -v / root, -h / root])
    value, slopes = landing(p), tracejit.jacfwd(lambda p: np.stack(landing(p)))(p)
    np.testing.assert_allclose(value, [time, -root, time, -root], rtol=1e-9)
    np.testing.assert_allclose(slopes, [by_time, by_speed, by_time, by_speed], rtol=1e-8)
    with tracejit.config(disable_jit=True):
        dot = np.array([0.3, -0.5, 0.2])
        bend = tracejit.grad(lambda p: tracejit.jvp(lambda p: landing(p)[0], (p,), (dot,))[1])(p)

    def exact(p: Any) -> Any:
        h, v, g = p
        root = np.sqrt(v * v + 2.0 * g * h)
        return np.array([1.0 / root, (1.0 + v / root) / g,
                         -(v + root) / g ** 2 + h / (g * root)]) @ dot

    np.testing.assert_allclose(bend, numeric_gradient(exact, [p], 0, 1e-6), rtol=1e-6)


def test_a_ball_that_bounces_has_the_derivatives_of_its_series() -> None:
    """It falls from rest: the second landing is at sqrt(2 h / g) (1 + 2 e)."""
    def second(p):
        s = solve_ivp(fall, (0.0, 10.0), np.array([p[0], 0.0]), events=ground, args=(p[2],), **FINE)
        after = np.array([0.0, -p[1] * s.y[1, -1]])
        return solve_ivp(fall, (s.t[-1], 10.0), after, events=ground, args=(p[2],), **FINE).t[-1]

    h, e, g = p = np.array([2.0, 0.7, 9.81])
    with tracejit.config(disable_jit=True):
        value, slope = tracejit.value_and_grad(second)(p)
    first, series = np.sqrt(2.0 * h / g), 1.0 + 2.0 * e
    np.testing.assert_allclose(value, first * series, rtol=1e-9)
    np.testing.assert_allclose(slope, [first * series / (2.0 * h), 2.0 * first,
                                       -first * series / (2.0 * g)], rtol=1e-7)


@pytest.mark.parametrize("method", ["RK45", "RK23", "DOP853"])
@pytest.mark.parametrize("span", [(0.0, 2.0), (2.0, 0.0)])
def test_dense_output_is_scipys_and_has_derivatives(method: str, span: tuple[float, float]) -> None:
    def program(p: Any, at: Any) -> Any:
        s = solve_ivp(lambda t, y, k: np.array([y[1], -k * np.sin(y[0])]), span, p[:2],
                      method=method, dense_output=True, args=(p[2],), **FINE)
        return s.sol(at), s.sol(at[1]), s.sol.t_max, s.sol(s.t)

    def loss(p: Any, at: Any) -> Any:
        return np.sum(np.cos(program(p, at)[0] * np.array([[1.0], [2.0]])))

    at = np.array([0.0, 1.3, 0.4, 2.0])
    with tracejit.config(disable_jit=True):
        for x, y in zip(tracejit.jit(program)(P, at), program(P, at), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-8 if method == "DOP853" else 1e-11)
        slopes = tracejit.grad(loss, argnums=(0, 1))(P, at)
    expected = [numeric_gradient(loss, [P, at], k, 1e-3 if k == 0 else 1e-5) for k in (0, 1)]
    np.testing.assert_allclose(slopes[0], expected[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(slopes[1], expected[1], rtol=1e-6, atol=1e-6)


def test_settings_of_an_event_are_read_at_every_call() -> None:
    def mark(t, y):
        return y[0] - 0.5

    def last(y):
        return solve_ivp(lambda t, y: -y, (0.0, 3.0), y, events=mark, **FINE).t[-1]

    with tracejit.config(disable_jit=True):
        staged, y = tracejit.jit(last), np.array([1.0])
        assert staged(y) == 3.0
        mark.terminal = True
        np.testing.assert_allclose(staged(y), np.log(2.0), rtol=1e-8)
        mark.direction = 1
        assert staged(y) == 3.0
        mark.terminal = -1
        for f in (last, staged):
            with pytest.raises(ValueError, match="must be a boolean or positive integer"):
                f(y)


def test_an_event_whose_settings_are_computed_is_refused() -> None:
    def last(y):
        def mark(t, y):
            return y[0] - 0.5

        mark.direction = y[0]
        return solve_ivp(lambda t, y: -y, (0.0, 3.0), y, events=mark).t[-1]

    with tracejit.config(disable_jit=True), pytest.raises(Refusal, match="direction or terminal"):
        tracejit.jit(last)(np.array([1.0]))
