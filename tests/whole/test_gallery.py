"""The gallery's programs: their values are Python's, their gradients an independent oracle's.

Every program is run at each of its sizes by one function object: interpreted, and compiled.
"""

from __future__ import annotations

import importlib
import logging
import pkgutil
from functools import lru_cache
from typing import Any

import numpy as np
import programs
import pytest
from programs.derivatives import derivative_along, direction_like, is_floating
from programs.program import PROGRAMS, Program

import tracejit
from tracejit.tree import flatten

for _module in pkgutil.iter_modules(programs.__path__, "programs."):
    importlib.import_module(_module.name)

TOLERANCE = 1e-9
"""Relative error of values, and of derivatives whose reference is exact."""

DIRECTIONS = 2
"""Random directions along which the gradient by each argument is compared."""

every_program = pytest.mark.parametrize("program", PROGRAMS, ids=str)


def _arguments(program: Program, n: int) -> tuple[Any, ...]:
    reason = program.refused or program.wrong
    if reason:
        pytest.skip(reason)
    return program.arguments(n)


def _is_unchanged(args: Any, before: Any) -> bool:
    return all(np.array_equal(x, b) for x, b in zip(flatten(args)[0], flatten(before)[0],
                                                    strict=True))


def _inner(gradient: Any, direction: Any) -> float:
    """Return the inner product of two nests over their floating leaves."""
    pairs = zip(flatten(gradient)[0], flatten(direction)[0], strict=True)
    return float(sum(np.sum(g * v) for g, v in pairs if is_floating(v)))


@lru_cache(maxsize=16)
def _expected(program: Program, n: int) -> tuple[Any, list[list[tuple[Any, float]]]]:
    """Return the value in Python, and by argument some directions with the derivatives there."""
    args = program.arguments(n)
    rng = np.random.default_rng([n, 1])
    slopes = []
    for k in program.argnums:
        directions = [direction_like(rng, args[k]) for _ in range(DIRECTIONS)]
        slopes.append([(v, derivative_along(program, args, k, v)) for v in directions])
    return program.function(*program.arguments(n)), slopes


def _check_gradient(program: Program, function: Any, n: int) -> None:
    args, before = _arguments(program, n), _arguments(program, n)
    value, gradients = function(*args)
    assert _is_unchanged(args, before), "an argument has been written to"
    expected, slopes = _expected(program, n)
    tolerance = 2e-5 if np.asarray(expected).dtype == np.float32 else TOLERANCE
    np.testing.assert_allclose(value, expected, rtol=tolerance, atol=tolerance)
    for k, gradient, found in zip(program.argnums, gradients, slopes, strict=True):
        assert flatten(gradient)[1] == flatten(args[k])[1]
        for direction, slope in found:
            _assert_close_derivative(program, _inner(gradient, direction), slope)


def _assert_close_derivative(program: Program, actual: Any, expected: float) -> None:
    tolerance = program.differences or TOLERANCE
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


@every_program
def test_gradient_is_the_derivative(program: Program) -> None:
    """Interpreted."""
    gradient = tracejit.value_and_grad(program.function, argnums=program.argnums)
    with tracejit.config(disable_jit=True, verify=True):
        for n in program.sizes:
            _check_gradient(program, gradient, n)


@every_program
def test_compiled_once_for_all_sizes(program: Program, caplog: pytest.LogCaptureFixture) -> None:
    """Against the same derivatives."""
    gradient = tracejit.value_and_grad(program.function, argnums=program.argnums)
    with tracejit.config(verify=True), caplog.at_level(logging.DEBUG, "tracejit"):
        for n in program.sizes:
            _check_gradient(program, gradient, n)
    lines = [r.getMessage() for r in caplog.records if r.getMessage().startswith("compiled ")]
    assert len(lines) == program.compilations, lines


@every_program
def test_tangent_is_the_derivative(program: Program) -> None:
    n, rng = program.sizes[-1], np.random.default_rng([0, 1])
    args = _arguments(program, n)
    directions = [direction_like(rng, args[k]) for k in program.argnums]

    def of_floats(*active: Any) -> Any:
        given = [active[program.argnums.index(k)] if k in program.argnums else x
                 for k, x in enumerate(args)]
        return program.function(*given)

    with tracejit.config(disable_jit=True, verify=True):
        _, tangent = tracejit.jvp(of_floats, tuple(args[k] for k in program.argnums),
                                  tuple(directions))
    expected = sum(derivative_along(program, args, k, v)
                   for k, v in zip(program.argnums, directions, strict=True))
    _assert_close_derivative(program, tangent, expected)
