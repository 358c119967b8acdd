"""Branches on data of which each ends by an error: a handler sees all that they left before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit


def list_before_a_known_error(x: Any) -> Any:
    t, seen = x[0], []
    try:
        if t > 2.0:
            raise ValueError(t)
        else:
            seen.append(t)
            1 / 0
    except ArithmeticError:
        t += 400.0
    return t + sum(seen)


def return_before_the_error_of_a_finally(x: Any) -> Any:
    t, seen = x[0], []
    try:
        if t > 2.0:
            raise ValueError(t)
        try:
            seen.append(t)
            return t
        finally:
            {}["no key"]
    except KeyError:
        t += 400.0
    return t + sum(seen)


def lists_and_dicts(x: Any) -> Any:
    t, seen, d = x[0], [], {}
    try:
        if t > 0.5:
            seen.append(2 * t)
            d["a"] = t
            raise KeyError
        else:
            seen.append(t)
            seen.append(t)
            d["b"] = t * 2
            1 / 0
    except ArithmeticError:
        t += 400.0
    except KeyError:
        t += 100.0
    return t + sum(seen) + sum(d.values())


def items_taken_and_arrays_written(x: Any) -> Any:
    t, seen, y = x[0], [1.0], x.copy()
    try:
        if t > 0.5:
            seen.pop()
            y[0] = 5.0
            raise KeyError
        else:
            seen.append(t)
            y *= 2.0
            if t > 0.2:
                raise KeyError
            seen.append(1.0)
            1 / 0
    except (KeyError, ArithmeticError):
        t += 100.0 * len(seen)
    return t + sum(seen) + np.sum(y)


def in_a_loop(x: Any) -> Any:
    t, seen, y, i = x[0], [1.0], x.copy(), 0
    try:
        while i < 5:
            i += 1
            if x[i % 3] > 0.5:
                seen.append(x[i % 3])
                raise KeyError
            else:
                seen.append(t)
                y *= 2.0
                if i == 2:
                    {}["no key"]
    except KeyError:
        t += 100.0 * len(seen)
    return t + sum(seen) + np.sum(y)


def error_of_a_guess_about_a_loop(x: Any) -> Any:
    t, d, k = x[0], {}, 1
    try:
        for _ in x:
            if x[2] > 0.7:
                raise KeyError(k)
            for k in range(3):  # noqa: B007
                d = dict(d, b=t)
    except KeyError:
        t += 100.0
    return t + len(d)


PROGRAMS = (list_before_a_known_error, return_before_the_error_of_a_finally, lists_and_dicts,
            items_taken_and_arrays_written, in_a_loop, error_of_a_guess_about_a_loop)
POINTS = ((0.71, 1.62, 0.41), (0.27, 0.83, 1.19), (-0.37, -0.21, 0.93), (1.13, 0.11, -0.57))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_handlers_see_what_branches_left(f: Callable[..., Any]) -> None:
    both = tracejit.value_and_grad(f)
    with tracejit.config(disable_jit=True):
        for point in POINTS:
            x = np.array(point)
            value, slope = both(x)
            assert value == pytest.approx(f(x), rel=1e-12)
            slopes = [(f(x + s) - f(x - s)) / 2e-6 for s in 1e-6 * np.eye(3)]
            assert slope == pytest.approx(np.array(slopes), rel=1e-6, abs=1e-6)
