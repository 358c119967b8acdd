# ruff: noqa: B012
"""Code of a `finally` and of `__exit__` with jumps and errors of its own, on the way of others.

A jump on its way hides nothing of what the code does. Nor does an error of the code take the place
of one that ends an attempt of a capture, as a list that gets longer in a branch does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit


class Closing:
    """A manager that raises where it is left."""

    def __init__(self, seen: list[Any]) -> None:
        self.seen = seen

    def __enter__(self) -> list[Any]:
        return self.seen

    def __exit__(self, *error: object) -> None:
        self.seen.append(2.0)
        raise ValueError


def loop_after_a_return(x: Any) -> Any:
    t = [0.0]
    try:
        return t
    finally:
        for v in x:
            if v > 9.0:
                return t
            t[0] += v


def code_behind_a_loop(x: Any) -> Any:
    t = x[0]
    try:
        return x[1]
    finally:
        k = 0
        while k < 3:
            k += 1
            if t > 1.0:
                return t * k
            t += 0.3


def break_after_a_break(x: Any) -> Any:
    t = 1.0
    for v in x:
        try:
            if v > 0.3:
                break
        finally:
            try:
                if v > 0.9:
                    break
            finally:
                t += v
            t *= 5.0
    return t


def continue_after_a_break(x: Any) -> Any:
    t = 1.0
    for v in x:
        try:
            if v > 0.6:
                break
            t += v
        finally:
            for _ in range(2):
                if v > 0.9:
                    continue
                t *= 1.5
            if t < 4.0:
                continue
    return t


def error_behind_a_longer_list(x: Any) -> Any:
    t, seen = x[0], []
    try:
        if x[0] > 0.6:
            t += 1.0
        else:
            try:
                seen.append(t)
            finally:
                raise ValueError
    except ValueError:
        t += 200.0
    return t + sum(seen)


def error_behind_a_handler(x: Any) -> Any:
    t, seen = x[0], []
    try:
        if x[0] > 0.6:
            t += 1.0
        else:
            try:
                t -= x[1]
                seen.append(t)
            except KeyError:
                t = 5.0
            finally:
                int("no number")
    except ValueError:
        t += 200.0
    return t + sum(seen)


def error_of_a_manager(x: Any) -> Any:
    t, seen = x[0], [x[1]]
    try:
        if x[0] > 0.6:
            t += 1.0
        else:
            with Closing(seen) as found:
                found.append(t)
    except ValueError:
        t += 200.0
    return t + sum(seen)


def error_in_a_loop(x: Any) -> Any:
    t, n = 0.0, 0
    for v in x:
        try:
            if v > 0.5:
                t += v
            else:
                try:
                    n = n + 0.5 * v
                finally:
                    {}["no key"]
        except KeyError:
            t -= 3.0
    return t + n


PROGRAMS = (loop_after_a_return, code_behind_a_loop, break_after_a_break, continue_after_a_break,
            error_behind_a_longer_list, error_behind_a_handler, error_of_a_manager,
            error_in_a_loop)
POINTS = ((0.71, 1.62, 0.41), (0.27, 0.83, 1.19), (-0.37, -0.21, 0.93), (1.13, 0.11, -0.57))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_are_as_python_runs_them(f: Callable[..., Any]) -> None:
    def number(x: Any) -> Any:
        return np.sum(np.array(f(x)))

    both = tracejit.value_and_grad(number)
    with tracejit.config(disable_jit=True):
        for point in POINTS:
            x = np.array(point)
            value, slope = both(x)
            assert value == pytest.approx(number(x), rel=1e-12)
            slopes = [(number(x + s) - number(x - s)) / 2e-6 for s in 1e-6 * np.eye(3)]
            assert slope == pytest.approx(np.array(slopes), rel=1e-6, abs=1e-6)


def test_compiled() -> None:
    for f in (code_behind_a_loop, error_behind_a_handler):
        compiled = tracejit.jit(f)
        for point in POINTS:
            assert compiled(np.array(point)) == pytest.approx(f(np.array(point)), rel=1e-12)


def item_or_number(x: Any) -> Any:
    t, seen = x[0] * 2.0, []
    try:
        p = (t, 0.5)
        t = p[1]
        for _ in x:
            try:
                for _ in x:
                    t -= x[1]
            finally:
                t = next((s for s in seen if s > 1.0), t)
    except IndexError:
        t += 400.0
    return t + sum(seen)


def test_a_probe_that_cannot_be_repeated_is_no_error_of_its_own() -> None:
    """It is refused by the line that leaves a float or a `np.float64`."""
    with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal, match="TJ413"):
        tracejit.jit(item_or_number)(np.array([0.7, 0.6, 0.9]))
