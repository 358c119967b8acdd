"""Debugging: where a NaN began, prints from compiled code, and why something was compiled."""

from __future__ import annotations

import inspect
import math
import re
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.runtime import origins

# --- debug_nans: the line where it began --------------------------------------------------------


def _sqrt_at_zero(x: np.ndarray) -> float:
    doubled = 2.0 * x
    roots = np.sqrt(doubled)  # here
    return np.sum(roots)


def _log_at_zero(x: np.ndarray) -> float:
    total = np.sum(x)
    chosen = np.where(x >= 0.0, x * np.log(x), 0.0)  # here
    return np.sum(chosen) + total


def _division_in_a_loop(x: np.ndarray) -> float:
    total = 0.0
    for k in range(1, 6):
        shifted = x[1] - 0.25 * k
        total = total + 1.0 / shifted  # here
    return total


def _carried_on(x: np.ndarray) -> float:
    state = x[1]
    for k in range(200):
        state = state - np.log(200.0 - k - 50.0) * x[0]  # here
        state = 0.5 * state
    return state


def _in_a_list(x: np.ndarray) -> float:
    found, i = [], 0
    while i < 3.0 * x[1]:
        found.append(x[i % 2] * x[1])
        i += 1
    found[1] = found[0] / np.sin(x[0])  # here
    return sum(found)


def _in_a_while(x: np.ndarray) -> float:
    s = x[2]
    while s > -2.0:
        s = s - 0.5
        s = s + 0.0 * np.log(s + 1.0)  # here
    return s


def _in_a_branch(x: np.ndarray) -> float:
    if x[0] > 5.0:
        y = np.sum(x * x)
    else:
        y = np.sum(1.0 / x)  # here
    return y


def _written(x: np.ndarray) -> float:
    kept = np.zeros(4)
    for i in range(4):
        kept[i] = np.sqrt(x[i] - 0.5)  # here
    return kept[0] + 0.5 * kept[3]


def _contracted(x: np.ndarray) -> float:
    weights = np.exp(1000.0 * x)  # here
    return np.sum(np.outer(x, weights) @ x)


def _through_a_nest(x: np.ndarray) -> float:
    total = 0.0
    for i in range(3):
        part = 0.0
        for j in range(i, 4):
            part = part + np.sqrt(x[j] + 0.0 * i)  # here
        total = total + part * part
    return total


def _by_power(x: np.ndarray) -> float:
    y = x ** 0.5  # here
    return np.sum(y * y * y)


AT_ZERO = np.array([0.0, 0.5, 1.0, 2.0])
PLANTED = [
    (tracejit.grad, _sqrt_at_zero, "backward", ()), (tracejit.grad, _log_at_zero, "forward", ()),
    (tracejit.jit, _log_at_zero, "", ()), (tracejit.jit, _division_in_a_loop, "", (2,)),
    (tracejit.grad, _division_in_a_loop, "backward", (2,)),
    (tracejit.value_and_grad, _division_in_a_loop, "", (2,)),
    (tracejit.jit, _carried_on, "", (150,)), (tracejit.grad, _carried_on, "backward", (199,)),
    (tracejit.jit, _in_a_list, "", ()), (tracejit.grad, _in_a_list, "", ()),
    (tracejit.jit, _in_a_while, "", (3,)), (tracejit.grad, _in_a_while, "", (3,)),
    (tracejit.grad, _in_a_branch, "backward", ()), (tracejit.jit, _in_a_branch, "", ()),
    (tracejit.jit, _written, "", (0,)), (tracejit.grad, _written, "", (0,)),
    (tracejit.grad, _contracted, "forward", ()), (tracejit.jit, _contracted, "", ()),
    (tracejit.grad, _through_a_nest, "backward", (0, 0)), (tracejit.grad, _by_power, "", ()),
    (tracejit.jacobian, _sqrt_at_zero, "", ()), (tracejit.hessian, _sqrt_at_zero, "", (1,)),
    (tracejit.jacfwd, _sqrt_at_zero, "", ()),
]


def _line_of(fn: Callable[..., Any], mark: str = "# here") -> int:
    lines, first = inspect.getsourcelines(fn)
    return first + next(k for k, text in enumerate(lines) if mark in text)


def _error_of(call: Callable[[], Any]) -> FloatingPointError:
    with tracejit.config(debug_nans=True), pytest.raises(FloatingPointError) as caught:
        call()
    return caught.value


@pytest.mark.parametrize(("transform", "fn", "part", "iterations"), PLANTED)
@pytest.mark.parametrize("disable_jit", [False, True])
def test_a_nan_is_traced_to_the_line_that_made_it(
        transform: Any, fn: Any, part: str, iterations: tuple[int, ...],
        disable_jit: bool) -> None:
    with tracejit.config(disable_jit=disable_jit):
        error = _error_of(lambda: transform(fn)(AT_ZERO))
    line = _line_of(fn)
    assert traceback.extract_tb(error.__traceback__)[-1].lineno == line
    assert f"{__file__}:{line}" in str(error)
    assert f"the {part} part" in str(error) or not part
    found = re.findall(r"(?:iteration|element) (\d+) of the (?:loop|map)", str(error))
    assert tuple(map(int, reversed(found)))[:len(iterations)] == iterations or not iterations


def test_the_error_says_what_made_what_of_what() -> None:
    error = _error_of(lambda: tracejit.grad(_sqrt_at_zero)(AT_ZERO))
    where = f"{__file__}:{_line_of(_sqrt_at_zero)}"
    assert str(error) == ("the result of grad[_sqrt_at_zero] is inf at [0]. It began with "
                          f"div(0.5, 0.0) = inf at [0], in the backward part of {where}")


def test_an_infinity_is_no_less_an_origin_than_a_nan() -> None:
    text = str(_error_of(lambda: tracejit.jit(lambda x: np.exp(x) - np.exp(x))(800.0)))
    assert "is nan. It began with exp(800.0) = inf" in text


def test_what_where_does_not_select_is_not_blamed() -> None:
    def f(x: np.ndarray) -> float:
        safe = np.where(x > 0.0, np.log(x), 0.0)
        return np.sum(safe * np.sqrt(x - 0.5))

    with tracejit.config(debug_nans=True):
        positive = tracejit.jit(f)(AT_ZERO + 1.0)
        masked = tracejit.jit(lambda x: np.sum(np.where(x > 0.0, np.log(x), 0.0)))(AT_ZERO)
    assert positive == tracejit.jit(f)(AT_ZERO + 1.0)
    assert masked == np.log(0.5) + np.log(2.0)
    assert "sqrt(-0.5)" in str(_error_of(lambda: tracejit.jit(f)(AT_ZERO)))


def test_of_many_that_are_not_finite_the_one_that_reached_the_result_is_named() -> None:
    def f(x: np.ndarray) -> float:
        unused = np.log(x - 10.0)
        roots = np.sqrt(x - 1.0)  # here
        return np.where(x < 0.0, unused, roots)[1]

    text = str(_error_of(lambda: tracejit.jit(f)(AT_ZERO)))
    assert f"sqrt(-0.5) = nan at [1], in {__file__}:{_line_of(f)}" in text


def test_an_input_that_holds_it_is_named() -> None:
    x = np.array([1.0, 2.0, np.nan])
    text = str(_error_of(lambda: tracejit.jit(lambda x, values: x * np.cumsum(values))(2.0, x)))
    assert text.endswith("The input values holds nan at [2]")


def test_a_constant_that_is_infinite_is_shown() -> None:
    text = str(_error_of(lambda: tracejit.jit(lambda x: x + np.inf)(2.0)))
    assert "add(2.0, inf) = inf" in text


def test_elements_of_maps_are_counted() -> None:
    batch = np.array([[1.0, 2.0], [3.0, 0.0]])
    text = str(_error_of(lambda: tracejit.vmap(tracejit.grad(_sqrt_at_zero))(batch)))
    assert "is inf at [1, 1]. It began with div(0.5, 0.0) = inf at [1]" in text
    assert "element 1 of the map" in text


def test_pullbacks_are_looked_at() -> None:
    def call() -> None:
        _, pullback = tracejit.vjp(_sqrt_at_zero)(AT_ZERO)
        pullback(1.0)

    error = _error_of(call)
    assert traceback.extract_tb(error.__traceback__)[-1].lineno == _line_of(_sqrt_at_zero)


@pytest.mark.parametrize("trips", [1, 63, 64, 65, 200, 5000])
def test_loops_of_any_length_are_followed_to_their_iteration(trips: int) -> None:
    def f(x: float, n: int, bad: int) -> float:
        s = 0.0
        for k in range(n):
            s = 0.999 * s + np.divide(1.0, x + k - bad)
        return s

    for bad in {0, trips // 2, trips - 1}:
        text = str(_error_of(lambda bad=bad: tracejit.jit(f)(0.0, trips, bad)))
        assert f"div(1.0, 0.0) = inf, in {__file__}" in text
        assert f"iteration {bad} of the loop" in text


def test_states_between_iterations_are_kept_in_small_numbers(
        monkeypatch: pytest.MonkeyPatch) -> None:
    run, held = origins.block_env, []

    def counted(block: Any, env: Any, args: Any) -> Any:
        held.append(1)
        return run(block, env, args)

    monkeypatch.setattr(origins, "block_env", counted)
    trips = 64 * 64
    _error_of(lambda: tracejit.jit(_sum_of_roots)(0.5, trips))
    assert len(held) < 4 * trips


def _sum_of_roots(x: float, n: int) -> float:
    s = 0.0
    for k in range(n):
        s = s + np.sqrt(x - 1.0 * (n - k > n - 1))
    return s


def test_results_are_those_without_the_setting() -> None:
    x = AT_ZERO + 1.0
    f = tracejit.value_and_grad(_through_a_nest)
    plain = f(x)
    with tracejit.config(debug_nans=True):
        watched = f(x)
    assert plain[0] == watched[0]
    assert np.array_equal(plain[1], watched[1])


# --- calls that look at the settings ------------------------------------------------------------


def _is_fast(f: Any) -> bool:
    return "__call__" in vars(type(f))


def test_a_function_that_is_compiled_already_is_looked_at() -> None:
    f = tracejit.grad(_sqrt_at_zero)
    assert np.isinf(f(AT_ZERO)[0])
    assert _is_fast(f)
    for _ in range(2):
        _error_of(lambda: f(AT_ZERO))
        assert _is_fast(f)
    assert np.isinf(f(AT_ZERO)[0])


def test_a_function_that_was_compiled_meanwhile_is_fast_afterwards() -> None:
    f = tracejit.grad(_sqrt_at_zero)
    with tracejit.config(debug_nans=True):
        f(AT_ZERO + 1.0)
        with tracejit.config(debug_nans=False):
            f(AT_ZERO)
            assert not _is_fast(f)
    assert _is_fast(f)


def test_other_threads_go_on_without_errors() -> None:
    f = tracejit.grad(_sqrt_at_zero)
    f(AT_ZERO)
    found = []
    with tracejit.config(debug_nans=True):
        thread = threading.Thread(target=lambda: found.append(f(AT_ZERO)))
        thread.start()
        thread.join()
        with pytest.raises(FloatingPointError):
            f(AT_ZERO)
    assert np.isinf(found[0][0])


def test_the_interpreter_runs_what_is_compiled_already() -> None:
    f = tracejit.jit(_sqrt_at_zero)
    f(AT_ZERO)
    with tracejit.config(disable_jit=True):
        f(AT_ZERO)
        assert len(f._table) == 2
    f(AT_ZERO)
    assert len(f._table) == 2


def test_the_environment_switches_it_on() -> None:
    program = """
import numpy as np, tracejit
f = tracejit.grad(lambda x: np.sum(np.sqrt(x)))
f(np.ones(2))
try:
    f(np.zeros(2))
except FloatingPointError as e:
    print("raised")
with tracejit.config(debug_nans=False):
    print(f(np.zeros(2))[0])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        env={"PATH": "", "PYTHONPATH": str(Path(__file__).parents[2]), "TRACEJIT_CACHE": "0",
             "TRACEJIT_DEBUG_NANS": "1"})
    assert done.stdout.split() == ["raised", "inf"]


# --- tapes --------------------------------------------------------------------------------------


@pytest.fixture
def quiet_numpy() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


@pytest.mark.usefixtures("quiet_numpy")
def test_a_call_on_a_tape_raises_where_it_is() -> None:
    x = tracejit.Variable(AT_ZERO)

    def call() -> None:
        with tracejit.GradientTape():
            y = x * 2.0
            np.log(y)  # here

    error = _error_of(call)
    assert str(error) == "log made -inf at [0] of finite operands"
    assert _line_of(call) in [f.lineno for f in traceback.extract_tb(error.__traceback__)]


@pytest.mark.usefixtures("quiet_numpy")
@pytest.mark.parametrize("before", [0, 5])
def test_the_way_back_of_a_tape_names_the_line_that_it_is_of(before: int) -> None:
    x = tracejit.Variable(AT_ZERO)

    def call() -> Any:
        with tracejit.GradientTape() as tape:
            y = x * 2.0
            z = np.sum(np.sqrt(y))  # here
        return tape.gradient(z, x)

    for _ in range(before):  # the third time it would be compiled as a whole
        call()
    error = _error_of(call)
    assert "the way back of sqrt made inf at [0] of finite values" in str(error)
    assert traceback.extract_tb(error.__traceback__)[-1].lineno == _line_of(call)
    assert np.isinf(call()[0])


# --- why something was compiled -----------------------------------------------------------------

WIDTH = 3


def _reshaped(x: np.ndarray, scale: float = 1.0) -> float:
    return np.sum(x.reshape(WIDTH, -1)) * scale


def _logged(caplog: pytest.LogCaptureFixture, start: str, call: Callable[[], Any]) -> list[str]:
    caplog.clear()
    call()
    return [r.getMessage() for r in caplog.records
            if r.levelname == "WARNING" and start in r.getMessage()]


CALLS = [
    ((np.ones(6),), "(first call)"), ((np.ones(6),), None), ((np.ones(9),), None),
    ((np.ones(6, np.float32),), "(x is float32[:] and was float64[:])"),
    ((np.ones((3, 2)),), "(x is float64[:, :] and was float64[:])"),
    ((np.ones(6), 2.0), "(the arguments are of another number, or put together otherwise)"),
    ((np.ones(6), 2), "(scale is a Python int and was a Python float)"),
]


def test_each_compilation_is_logged_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    f = tracejit.grad(_reshaped)
    with tracejit.config(log_compiles=True):
        for args, reason in CALLS:
            lines = _logged(caplog, "compiled ", lambda args=args: f(*args))
            if reason is None:
                assert lines == []
                continue
            (line,) = lines
            assert line.startswith("compiled grad[_reshaped] for x: f")
            assert reason in line
            stages = re.findall(r"(\w+) \d+\.\d ms", line)
            assert stages == ["capture", "passes", "codegen", "translation", "llvm", "object"]


def test_a_guard_that_failed_is_named(monkeypatch: pytest.MonkeyPatch,
                                      caplog: pytest.LogCaptureFixture) -> None:
    f = tracejit.jit(_reshaped)
    with tracejit.config(log_compiles=True):
        f(np.ones(6))
        monkeypatch.setitem(globals(), "WIDTH", 2)
        (line,) = _logged(caplog, "compiled ", lambda: f(np.ones(6)))
    assert "(WIDTH has changed from 3 to 2)" in line


def test_sizes_that_were_fixed_are_named(caplog: pytest.LogCaptureFixture) -> None:
    f = tracejit.jit(lambda x: np.sum(x) * math.factorial(len(x)))
    with tracejit.config(log_compiles=True):
        f(np.ones(3))
        (line,) = _logged(caplog, "compiled ", lambda: f(np.ones(4)))
    assert "(it was made for other sizes: x has the shape (4,); " in line
    assert ": fixed at 4)" in line


def test_compilations_are_silent_without_the_setting(caplog: pytest.LogCaptureFixture) -> None:
    assert _logged(caplog, "", lambda: tracejit.jit(_reshaped)(np.ones(6))) == []


def test_misses_are_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Any,
                              caplog: pytest.LogCaptureFixture) -> None:
    x = np.ones(6)
    with tracejit.config(explain_cache_misses=True, cache=True, cache_dir=str(tmp_path)):
        f = tracejit.jit(_reshaped)
        (first,) = _logged(caplog, "no program serves", lambda: f(x))
        assert first == ("jit[_reshaped]: no program serves this call. In this process: first "
                         "call. In the store: nothing was kept for such calls")
        assert _logged(caplog, "no program serves", lambda: tracejit.jit(_reshaped)(x)) == []
        monkeypatch.setitem(globals(), "WIDTH", 2)
        (changed,) = _logged(caplog, "no program serves", lambda: f(x))
        assert "In this process: WIDTH has changed from 3 to 2. In the store: " in changed
        assert changed.endswith("does not serve: WIDTH has changed")
    with tracejit.config(explain_cache_misses=True):
        (off,) = _logged(caplog, "no program serves", lambda: tracejit.jit(_reshaped)(x))
    assert off.endswith("In the store: it is switched off")
