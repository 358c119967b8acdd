"""Errors that data raises in loops of the graph: a `try` around them ends the loop."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles import assert_close, assert_same, numeric_gradient

import tracejit
from tracejit.errors import name_of_raisable, raisable

Program = Callable[..., Any]
X = np.linspace(0.3, 2.1, 30)


class SimulationError(Exception):
    pass


class Diverged(SimulationError):
    def __init__(self, step: Any, value: Any) -> None:
        super().__init__(f"diverged at {step}: {value}")
        self.step, self.value = step, value


class Stuck(SimulationError, ValueError):
    pass


def in_a_function(x: Any, limit: float) -> Any:
    def simulate() -> Any:
        y = x[0]
        for k in range(len(x)):
            y = y + 0.3 * y * y
            if y > limit:
                raise Diverged(k, y * x[1])
        return y

    try:
        result = simulate()
    except Diverged as e:
        result = e.value * 0.1 + e.step
    else:
        result = result * 2
    return result


def in_nested_loops(x: Any, limit: float) -> Any:
    total = 0.0
    for i in range(3):
        try:
            for v in x:
                for w in x:
                    if v * w > limit + i:
                        raise KeyError("large")
                    total += v * w
        except KeyError:
            total *= 0.5
    return total


def in_whiles(x: Any, limit: float) -> Any:
    i = j = 0
    total = 0.0
    try:
        while i < len(x):
            j = 0
            while j < 3:
                total += x[i] * j
                if total > limit:
                    raise ValueError(total)
                j += 1
            i += 1
    except ValueError as e:
        return e.args[0] * 2 + i * 10 + j
    return total


def with_a_break_and_a_continue(x: Any, limit: float) -> Any:
    total, n = 0.0, 0
    try:
        for v in x:
            if v < 0.5:
                continue
            if v > 2.0:
                break
            if v > limit:
                raise Stuck("stuck")
            total, n = total + v, n + 1
    except SimulationError:
        total = -total
    return total * n


def handled_twice(x: Any, limit: float) -> Any:
    try:
        try:
            for v in x:
                if v > limit:
                    raise Diverged(1, v * v)
        except Diverged as e:
            if e.value > 0.3:
                raise Stuck("again") from e
            raise
    except Stuck:
        return 5.0 * x[0]
    except Diverged as e:
        return e.value
    else:
        return x.sum()


def tried_again(x: Any, limit: float) -> Any:
    last = total = attempt = 0.0
    for attempt in range(3):
        try:
            total = 0.0
            for v in x:
                total += v
                if total > limit * 10 * (attempt + 1):
                    raise Diverged(attempt, total)
        except Diverged as e:
            last = e.value
            continue
        break
    else:
        return last * 100
    return total + attempt


def raised_by_an_index(x: Any, limit: float) -> Any:
    total, k = 0.0, 0
    try:
        for i in (x * limit * 20).astype(int):
            total += x[i]
            k += 1
    except IndexError:
        total *= 10
    return total + k


def raised_by_a_function(x: Any, limit: float) -> Any:
    total, k = 0.0, 0
    try:
        while k < len(x):
            total += math.sqrt(limit - x[k] * x[k])
            k += 1
    except ValueError:
        total = -total
    return total


def in_a_while_on_known_numbers(x: Any, limit: float) -> Any:
    k, y = 0, x[0]
    try:
        while k < 14:
            y = y * 1.1 + x[k]
            if y > limit * 9:
                raise Diverged(k, y)
            k += 1
    except Diverged as e:
        return e.value * e.step
    return y


PROGRAMS: tuple[Program, ...] = (
    in_a_while_on_known_numbers,
    in_a_function, in_nested_loops, in_whiles, with_a_break_and_a_continue, handled_twice,
    tried_again, raised_by_an_index, raised_by_a_function)


@pytest.mark.parametrize("f", PROGRAMS)
def test_an_error_ends_the_loops_up_to_its_handler(f: Program) -> None:
    captured, slope = tracejit.jit(f), tracejit.grad(f)
    with tracejit.config(disable_jit=True):
        for limit in (0.501, 1.203, 2.3, 100.0):
            for x in (X, X[:14]):
                assert_same(captured(x, limit), f(x, limit))
        assert_close(slope(X, 1.203), numeric_gradient(f, (X, 1.203), 0))


def test_compiled_loops_end_so_too() -> None:
    for limit in (0.5, 100.0):
        value, slope = tracejit.value_and_grad(in_a_function)(X, limit)
        assert_same(value, in_a_function(X, limit))
        assert_close(slope, numeric_gradient(in_a_function, (X, limit), 0))


def uncaught(x: Any, limit: float) -> Any:
    for v in x:
        if v > limit:
            raise Stuck(f"stuck at {v:.2f}")
    return x.sum()


@pytest.mark.parametrize("interpreted", [True, False])
def test_an_error_of_the_users_own_leaves_the_program(interpreted: bool) -> None:
    captured = tracejit.jit(uncaught)
    with tracejit.config(disable_jit=interpreted):
        assert captured(X, 5.0) == uncaught(X, 5.0)
        with pytest.raises(Stuck, match=r"^stuck at 1\.") as raised:
            captured(X, 1.0)
    with pytest.raises(Stuck) as plain:
        uncaught(X, 1.0)
    assert type(raised.value) is Stuck
    assert raised.value.args == plain.value.args


SCRIPT = """
import sys
import numpy as np
import tracejit
import problem

f = tracejit.jit(problem.f)
try:
    f(np.ones(3), 0.5)
except problem.TooLarge as e:
    print(type(e).__name__, e)
"""
MODULE = """
class TooLarge(Exception):
    pass

def f(x, limit):
    if x[0] > limit:
        raise TooLarge("too large")
    return x.sum()
"""


def test_a_program_from_the_store_raises_it(tmp_path: Path) -> None:
    (tmp_path / "problem.py").write_text(MODULE)
    (tmp_path / "script.py").write_text(SCRIPT)
    env = {**os.environ, "TRACEJIT_CACHE": "1", "TRACEJIT_CACHE_DIR": str(tmp_path / "store"),
           "PYTHONPATH": os.pathsep.join(sys.path)}
    for _ in range(2):
        found = subprocess.run([sys.executable, tmp_path / "script.py"], env=env, text=True,
                               capture_output=True, check=True)
        assert found.stdout == "TooLarge too large\n"


def test_an_error_that_holds_numbers_is_not_raised_by_the_run() -> None:
    def f(x: Any) -> Any:
        if x > 1.0:
            raise Diverged(1, x)
        return x

    with pytest.raises(tracejit.Refusal, match="made of a text alone"):
        tracejit.jit(f)(2.0)


class Meta(type):
    pass


class WithMeta(Exception, metaclass=Meta):
    pass


class OfACodec(UnicodeDecodeError):
    pass


@pytest.mark.parametrize("kind", [OSError, EOFError, Stuck, np.linalg.LinAlgError, KeyError])
def test_exceptions_of_a_text_are_found_by_their_names(kind: type[Exception]) -> None:
    name = name_of_raisable(kind)
    assert name is not None
    assert raisable(name) is kind


@pytest.mark.parametrize("kind", [
    UnicodeDecodeError, OfACodec, WithMeta, Diverged, np.exceptions.AxisError, KeyboardInterrupt,
    type("Local", (Exception,), {}), tracejit.Refusal])
def test_other_exceptions_have_no_name(kind: type[Exception]) -> None:
    assert name_of_raisable(kind) is None


def test_the_text_of_a_caught_error_is_not_looked_at() -> None:
    def f(x: Any) -> Any:
        try:
            for v in x:
                if v > 1.0:
                    raise ValueError(f"large: {v}")
        except ValueError as e:
            return len(str(e)) * x[0]
        return x[0]

    with pytest.raises(tracejit.Refusal, match="text of an error"):
        tracejit.jit(f)(X)


def test_errors_that_njit_code_raises_are_pickled_by_name() -> None:
    from tracejit.codegen.njit_errors import formatted
    assert pickle.loads(pickle.dumps(formatted(ValueError))) is formatted(ValueError)
    assert pickle.loads(pickle.dumps(formatted(Stuck))) is formatted(Stuck)
