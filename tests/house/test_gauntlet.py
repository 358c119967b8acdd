"""The gauntlet: tracejit is right on its programs or says why not; its page is what was kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tracejit
from benchmarks.gauntlet.page import PAGE, RESULTS, page, programs
from benchmarks.gauntlet.program import PEERS, Between, Outcome, Program, Raises
from benchmarks.gauntlet.tools import Tool, Tracejit

PROGRAMS = {one.name: one for group in programs().values() for one in group}
KEPT = json.loads(RESULTS.read_text(encoding="utf-8"))
TOLD = {"largest less largest", "special case at a point"}
"""The first of an axis' equal elements has all, a branch its side's slope: docs/sharp-bits.md."""
FORMULA = {"root of a square squared", "softplus that overflows"}
"""The formula has 0 times infinity, and so has its gradient: docs/numerics.md tells of masks."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_answer_is_right_or_there_is_none(name: str) -> None:
    with tracejit.config(disable_jit=True):
        outcome = PROGRAMS[name].outcome("tracejit", Tracejit())
    allowed = {"wrong"} if name in TOLD else {"NaN"} if name in FORMULA else {
        "right", "refused", "error"}
    assert outcome.kind in allowed, outcome
    assert outcome.kind == KEPT["outcomes"][name]["tracejit"][0]


def test_names_are_names_of_one_program() -> None:
    assert len(PROGRAMS) == sum(map(len, programs().values())) >= 100
    assert set(PROGRAMS) == set(KEPT["outcomes"])


def test_every_tool_was_asked() -> None:
    for name, told in KEPT["outcomes"].items():
        assert set(told) == set(PEERS), name
        for peer in PEERS:
            no_way = isinstance(PROGRAMS[name].ways[peer], str)
            assert (told[peer][0] == "no way") is no_way, (name, peer)


def test_the_page_is_made_of_what_the_runner_kept(
        expect_text: Callable[[Path, str], None]) -> None:
    expect_text(PAGE, page(KEPT))


def told_of(answer: Callable[[], object], right: object) -> Outcome:
    """Return what is told of a tool that gives an answer."""
    one = Program(name="planted", asks="", right=lambda: right, ways={"JAX": lambda _: answer()})
    return one.outcome("JAX", Tool())


def test_wrong_answers_are_told() -> None:
    assert told_of(lambda: 2.0, 2.0).kind == "right"
    assert told_of(lambda: 2.0 + 1e-4, 2.0).kind == "wrong"
    assert told_of(lambda: np.nan, 2.0).kind == "NaN"
    assert told_of(lambda: np.inf, 2.0).kind == "wrong"
    assert told_of(lambda: [2.0, 2.0], 2.0).kind == "wrong"
    assert told_of(lambda: None, 2.0).kind == "wrong"
    assert told_of(lambda: 0.5, Between(0.0, 1.0)).kind == "right"
    assert told_of(lambda: 1.5, Between(0.0, 1.0)).kind == "wrong"
    assert told_of(lambda: 1j, 1.0).kind == "wrong"


def test_errors_are_told() -> None:
    raises = Raises(IndexError, "out of bounds")
    assert told_of(lambda: [][1], raises).kind == "right"
    assert told_of(lambda: 1.0, raises).kind == "wrong"
    assert told_of(lambda: int("x"), raises).kind == "error"
    assert told_of(lambda: int("x"), 1.0) == (
        "error", "ValueError: invalid literal for int() with base 10: 'x'")
