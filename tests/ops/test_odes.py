"""`scipy.integrate` of functions: SciPy's numbers, and the derivatives of solutions."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate
from test_numpy_cases import check_case

import tracejit
from tracejit.trace.ground.dispatch import FOREIGN, makes_traced

FINE = {"rtol": 1e-9, "atol": 1e-11}
START = np.array([1.0, 1.5])
RATES = np.array([1.0, 0.8, 0.7, 1.1])


def predators(t: float, y: NDArray[np.float64], p: NDArray[np.float64]) -> list[Any]:
    return [p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]]


def at_times(y: NDArray[np.float64], p: NDArray[np.float64]) -> Any:
    times = np.linspace(0.0, 2.0, 6)
    return integrate.solve_ivp(predators, (0.0, 2.0), y, t_eval=times, args=(p,), **FINE).y


def at_the_end(y: NDArray[np.float64], p: NDArray[np.float64]) -> Any:
    found = integrate.solve_ivp(lambda t, u: np.array(predators(t, u, p)), (0, 1), y, "RK23",
                                rtol=1e-7, atol=1e-9)
    assert found.success
    return found.y[:, -1]


def backwards(y: NDArray[np.float64], p: NDArray[np.float64]) -> Any:
    return integrate.solve_ivp(lambda t, u: -p[:2] * u * t, (1.5, 0.2), y, t_eval=[1.5, 0.9, 0.2],
                               max_step=0.2, first_step=0.05, **FINE).y


@pytest.mark.parametrize("f", [at_times, at_the_end, backwards])
def test_solutions_are_scipys_and_derivatives_are_differences(f: Any) -> None:
    expected = f(START, RATES)
    dots = np.array([0.3, -1.0]), np.array([0.2, 0.7, -0.4, 0.5])
    with tracejit.config(disable_jit=True):
        value, tangent = tracejit.jvp(f, (START, RATES), dots)
        bars = tracejit.vjp(f, START, RATES)[1](np.cos(expected))
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    h = 1e-3
    far = [f(START + s * h * dots[0], RATES + s * h * dots[1]) for s in (1, -1, 2, -2)]
    slope = (8.0 * (far[0] - far[1]) - (far[2] - far[3])) / (12.0 * h)
    np.testing.assert_allclose(tangent, slope, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(sum(np.vdot(b, d) for b, d in zip(bars, dots, strict=True)),
                               np.vdot(np.cos(expected), tangent), rtol=1e-11)


def test_a_function_may_read_traced_values_beside_plain_arguments() -> None:
    """Nothing that is passed is traced here, as in most programs: rates are in a closure."""
    def decayed(rate: float) -> Any:
        found = integrate.solve_ivp(lambda t, y: -rate * y, (0, 1), [1.0, 2.0], rtol=1e-9,
                                    atol=1e-11)
        return found.y[1, -1]

    with tracejit.config(disable_jit=True):
        value, slope = tracejit.value_and_grad(decayed)(1.3)
    np.testing.assert_allclose(value, decayed(1.3), rtol=1e-12)
    np.testing.assert_allclose(slope, -2.0 * np.exp(-1.3), rtol=1e-6)


def test_captures_that_call_a_users_function_are_marked() -> None:
    """Else one that reads a traced value is called by SciPy itself, with plain arguments."""
    calling = {name: capture for name, capture in FOREIGN.items()
               if inspect.isfunction(capture) and any(
                   "Callable" in str(p.annotation)
                   for p in inspect.signature(capture).parameters.values())}
    assert len(calling) > 9
    assert [name for name, capture in calling.items() if not makes_traced(name, capture)] == []


def test_steps_are_as_many_as_scipys_and_their_sizes_have_no_derivative() -> None:
    def steps(y: NDArray[np.float64]) -> Any:
        found = integrate.solve_ivp(lambda t, u: -u, (0.0, 3.0), y)
        return found.t, found.y

    times, found = steps(np.array([1.0, 0.5]))
    with tracejit.config(disable_jit=True):
        own = tracejit.jit(steps)(np.array([1.0, 0.5]))
        slope = tracejit.grad(lambda y: steps(y)[1][0, -1])(np.array([1.0, 0.5]))
    np.testing.assert_allclose(own[0], times, rtol=1e-12)
    np.testing.assert_allclose(own[1], found, rtol=1e-12)
    np.testing.assert_allclose(slope, [found[0, -1], 0.0], rtol=1e-12)  # it is linear


@pytest.mark.parametrize("start", [0.5, 0.0, -2.0])
@pytest.mark.parametrize("method", ["RK45", "DOP853"])
def test_an_empty_interval_has_two_columns(method: str, start: float) -> None:
    def program(y: Any, end: float) -> Any:
        found = integrate.solve_ivp(lambda t, u: -(t + 1.0) * u, (start, end), y, method,
                                    dense_output=True)
        return found.t, found.y, found.sol(start)

    y = np.array([1.0, 2.0])
    with tracejit.config(disable_jit=True):
        for got, wanted in zip(tracejit.jit(program)(y, start), program(y, start), strict=True):
            np.testing.assert_array_equal(got, wanted)
        slope = tracejit.grad(lambda t: program(y, t)[1][1, -1])(start)
        assert np.isclose(slope, -2.0 * (start + 1.0))


@pytest.mark.parametrize("options", [{"first_step": 0.25, "max_step": 0.25},
                                     {"first_step": 1.0, "rtol": 10.0}])
def test_a_step_that_ends_at_the_end_by_chance_moves_with_it(options: dict[str, float]) -> None:
    def last(end: float) -> Any:
        return integrate.solve_ivp(lambda t, y: -y, (0.0, end), [1.0], **options).y[0, -1]

    for end in (1.0, -1.0):
        with tracejit.config(disable_jit=True):
            assert np.isclose(tracejit.grad(last)(end), -last(end), rtol=0.02)


@pytest.mark.parametrize("times", [[0.0], [1.5], [0.5, 1.5]])
def test_one_time_of_odeint_has_the_state_that_is_given(times: list[float]) -> None:
    def program(y: Any) -> Any:
        return integrate.odeint(lambda u, t: -t * u, y, times)

    y = np.array([1.0, 2.0])
    np.testing.assert_allclose(tracejit.jit(program)(y), program(y), rtol=1e-9)
    slopes = np.exp(0.5 * (times[0] ** 2 - np.square(times)))
    jacobian = tracejit.jacobian(program)(y)
    np.testing.assert_allclose(jacobian, slopes[:, None, None] * np.eye(2), rtol=1e-5)


def test_derivatives_by_the_ends_are_slopes() -> None:
    def last(start: float, end: float) -> Any:
        return integrate.solve_ivp(lambda t, u: -t * u, (start, end), [2.0], **FINE).y[0, -1]

    with tracejit.config(disable_jit=True):
        by_start, by_end = tracejit.grad(last, argnums=(0, 1))(0.5, 1.7)
    final = 2.0 * np.exp(0.5 * (0.25 - 1.7 ** 2))
    np.testing.assert_allclose([by_start, by_end], [0.5 * final, -1.7 * final], rtol=1e-6)


@pytest.mark.parametrize(("f", "args"), [
    (lambda a, b, k: integrate.fixed_quad(lambda t: np.exp(-k * t), a, b)[0], (0.2, 1.3, 0.7)),
    (lambda k: integrate.fixed_quad(lambda t, c: np.cos(c * t), 0, 2, (k,), n=7)[0], (0.7,)),
    (lambda y: integrate.romb(y, dx=0.3), (np.cos(np.arange(9.0)),)),
    (lambda y: integrate.romb(y, axis=0), (np.cos(np.arange(10.0)).reshape(5, 2),)),
    (lambda y: integrate.romb(y), (np.array([1.0, 2.5]),))])
def test_rules_are_scipys(f: Any, args: Any) -> None:
    with tracejit.config(disable_jit=True):
        check_case(f, args)


@pytest.mark.parametrize("options", [{}, {"first_step": 0.1}, {"t_eval": np.linspace(0.0, 2.0, 5)},
                                     {"method": "RK23"}, {"max_step": 0.3}])
def test_the_slope_is_called_as_often_as_by_scipy(options: dict[str, Any]) -> None:
    def program(y: Any) -> Any:
        seen = [0.0]

        def slope(t: Any, y: Any) -> Any:
            seen[0] = seen[0] + 1.0
            return -y + 0.01 * seen[0]

        found = integrate.solve_ivp(slope, (0.0, 2.0), y, **options)
        return found.y[:, -1] + seen[0]

    y = np.array([1.0, 2.5])
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.jit(program)(y), program(y), rtol=1e-12)
