"""State from outside is never stale: after a change a transform has the function's result."""

from __future__ import annotations

import builtins
import decimal
import itertools
import os
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from state_cases import Case
from state_sequences import CASES, Subject, across, load
from state_sequences import run as sequence

import tracejit

_NUMBERS = itertools.count()
X = 1.5


@pytest.fixture(autouse=True)
def _world(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put back the process's state that cases change."""
    monkeypatch.chdir(".")
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(builtins, "abs", abs)
    for name in ("STATE_K", "STATE_OTHER"):
        monkeypatch.setenv(name, "")
    limit, folder = sys.getrecursionlimit(), Path.cwd()
    with np.errstate(), np.printoptions(), decimal.localcontext():
        yield
    sys.setrecursionlimit(limit)
    os.chdir(folder)
    for name in ("state_m", "state_new"):
        sys.modules.pop(name, None)


def require_same(case: Case, change: str, got: Any, expected: Any) -> None:
    """Fail where an outcome is not Python's."""
    if isinstance(got, tracejit.Refusal):
        assert case.refused, f"refused after {change!r}: {got}"
        assert re.match(r"\S*state_of_\d+\.py:\d+: ", str(got)), got
    elif isinstance(expected, Exception):
        assert type(got) is type(expected), f"after {change!r}: {got!r}, not {expected!r}"
    else:
        assert not isinstance(got, Exception), f"after {change!r}: {got!r}, not {expected!r}"
        assert np.array_equal(got, expected, equal_nan=True) and np.signbit(np.sum(got)) == (
            np.signbit(np.sum(expected))), f"after {change!r}: {got!r}, not {expected!r}"


def run(case: Case, folder: Path) -> None:
    """Call, change, call: compare with the function itself each time."""
    module = load(case.text, folder, f"state_of_{next(_NUMBERS)}")
    plain, jitted = Subject(module), Subject(module, tracejit.jit)
    try:
        for change in ("", "", *case.changes):
            exec(change, vars(module))
            for _ in range(2):
                require_same(case, change, jitted.outcome(case), plain.outcome(case))
    finally:
        sys.modules.pop(module.__name__, None)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_interpreted(case: Case, tmp_path: Path) -> None:
    with tracejit.config(disable_jit=True):
        run(case, tmp_path)


FOUND = ("anew: ", "once: ", "called: ", "argument: ", "function: ", "class", "absent: ",
         "across: ", "result: set", "in place: partial", "in place: view",
         "in place: items of a proxy", "in place: arrays of a queue",
         "in place: shape of an array", "world: context variable", "world: environment",
         "world: file", "world: working folder", "world: arguments", "world: cached",
         "world: weak reference", "world: eval", "global: zeros", "global: keys", "global: set",
         "global: order", "global: a view", "global: factory", "global: decimal", "global: range")


ROWS = [case for case in CASES if case.name.startswith(FOUND)]


def test_there_are_cases_of_all_that_was_found_stale() -> None:
    assert len(ROWS) > 120


@pytest.mark.filterwarnings("ignore:Setting the shape")  # deprecated since NumPy 2.5
@pytest.mark.parametrize("case", ROWS, ids=lambda case: case.name)
def test_what_was_found_stale(case: Case, tmp_path: Path) -> None:
    with tracejit.config(disable_jit=True):
        run(case, tmp_path)


COMPILED = [case for case in CASES if not case.refused]


@pytest.mark.parametrize("case", COMPILED, ids=lambda case: case.name)
def test_compiled(case: Case, tmp_path: Path) -> None:
    run(case, tmp_path)


@pytest.mark.parametrize("index", range(len(CASES)), ids=lambda k: CASES[k].name)
def test_across_processes(index: int) -> None:
    wrong, _ = across(index, random.Random(index))
    assert not wrong


ACROSS = [k for k, case in enumerate(CASES) if case.name.startswith("across: ")]


@pytest.mark.parametrize("index", ACROSS[::5], ids=lambda k: CASES[k].name)
def test_bound_to_other_contents_across_processes(index: int) -> None:
    wrong, _ = across(index, random.Random(index))
    assert not wrong


@pytest.mark.parametrize("seed", range(20))
def test_sequences(seed: int, tmp_path: Path) -> None:
    for number in range(10):
        assert not sequence(number, seed, tmp_path, compiled=False)


MANY = list(range(600))
FEW = list(range(400))


def test_why_says_that_there_are_very_many_guards() -> None:
    text = "things from outside are looked at by every call"
    assert text in tracejit.jit(lambda x: x * sum(MANY) * max(FEW)).trace(1.0).why()
    assert text not in tracejit.jit(lambda x: x * sum(FEW)).trace(1.0).why()
