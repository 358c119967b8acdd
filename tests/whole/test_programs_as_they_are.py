"""Programs as their authors write them: right, compiled once for both sizes, or refused with words.

A refused program is in the table beside it, with the beginning of the message.
"""

from __future__ import annotations

import importlib
import logging
import pkgutil
from pathlib import Path
from typing import Any

import numpy as np
import programs_as_they_are
import pytest
from programs.derivatives import derivative_along, direction_like, is_floating
from programs.program import Program
from programs_as_they_are.table import PROGRAMS

import tracejit
from tracejit.tree import flatten

for _module in pkgutil.iter_modules(programs_as_they_are.__path__, "programs_as_they_are."):
    importlib.import_module(_module.name)

ROOM = Path(programs_as_they_are.__file__).parent

REFUSED = [p for p in PROGRAMS if p.refused]


def _inner(gradient: Any, direction: Any) -> float:
    pairs = zip(flatten(gradient)[0], flatten(direction)[0], strict=True)
    return float(sum(np.sum(g * v) for g, v in pairs if is_floating(v)))


def _check(program: Program, function: Any, n: int) -> None:
    args, before = program.arguments(n), program.arguments(n)
    value, gradients = function(*args)
    for x, b in zip(flatten(args)[0], flatten(before)[0], strict=True):
        np.testing.assert_array_equal(x, b, "an argument has been written to")
    expected = program.function(*program.arguments(n))
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-9)
    rng = np.random.default_rng([n, 1])
    for k, gradient in zip(program.argnums, gradients, strict=True):
        direction = direction_like(rng, args[k])
        slope = derivative_along(program, args, k, direction)
        np.testing.assert_allclose(_inner(gradient, direction), slope, rtol=program.differences,
                                   atol=program.differences)


captured_programs = pytest.mark.parametrize(
    "program", [p for p in PROGRAMS if not p.refused and not p.wrong], ids=str)


@captured_programs
def test_programs_are_right(program: Program) -> None:
    function = tracejit.value_and_grad(program.function, argnums=program.argnums)
    with tracejit.config(disable_jit=True):
        for n in program.sizes:
            _check(program, function, n)


@captured_programs
def test_programs_are_compiled_once(program: Program, caplog: pytest.LogCaptureFixture) -> None:
    """The same in machine code; of these cases some are drawn every day (`conftest.py`)."""
    function = tracejit.value_and_grad(program.function, argnums=program.argnums)
    with caplog.at_level(logging.DEBUG, "tracejit"):
        for n in program.sizes:
            _check(program, function, n)
    lines = [r.getMessage() for r in caplog.records if r.getMessage().startswith("compiled ")]
    assert len(lines) == program.compilations, lines


def _call_at_each_size(program: Program, function: Any) -> None:
    for n in program.sizes:
        function(*program.arguments(n))


@pytest.mark.parametrize("program", REFUSED or [None], ids=str)
def test_what_is_refused_is_refused_in_these_words(program: Program | None) -> None:
    if program is None:
        return
    function = tracejit.value_and_grad(program.function, argnums=program.argnums)
    with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal) as caught:
        _call_at_each_size(program, function)
    place, _, words = str(caught.value).partition(": ")
    assert words.startswith(program.refused)
    assert place.startswith(str(ROOM)) or Path(place.partition(":")[0]).parent == ROOM
