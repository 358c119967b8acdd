"""The tool for GradBench answers its messages; the evals themselves judge its numbers."""

from __future__ import annotations

import io
import json
import sys

import numpy as np
import pytest

from benchmarks.gradbench import tool
from benchmarks.gradbench.__main__ import EVALS


@pytest.mark.parametrize("name", list(EVALS))
def test_each_eval_is_defined(name: str) -> None:
    assert tool.answer({"id": 3, "kind": "define", "module": name}) == {"id": 3, "success": True}


def test_messages_are_answered_line_by_line(monkeypatch: pytest.MonkeyPatch,
                                            capsys: pytest.CaptureFixture[str]) -> None:
    messages = [{"kind": "start", "eval": "hello"}, {"kind": "define", "module": "hello"},
                {"kind": "evaluate", "module": "hello", "function": "double", "input": 3.0},
                {"kind": "evaluate", "module": "hello", "function": "half", "input": 3.0},
                {"kind": "define", "module": "no_eval"}]
    lines = [json.dumps({"id": k} | message) for k, message in enumerate(messages)]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))
    tool.main()
    start, define, double, half, no_eval = map(json.loads, capsys.readouterr().out.splitlines())
    assert start == {"id": 0, "tool": "tracejit"}
    assert define == {"id": 1, "success": True}
    assert double["output"] == 6.0
    assert [timing["name"] for timing in double["timings"]] == ["evaluate"]
    assert not half["success"]
    assert "half" in half["error"]
    assert not no_eval["success"]


def test_work_is_repeated_as_often_as_an_input_asks_for() -> None:
    x = np.linspace(-1.0, 1.0, 5)
    reply = tool.answer({"id": 0, "kind": "evaluate", "module": "lse", "function": "gradient",
                         "input": {"x": x.tolist(), "min_runs": 3, "min_seconds": 0.0}})
    assert len(reply["timings"]) == 3
    np.testing.assert_allclose(reply["output"], np.exp(x) / np.sum(np.exp(x)), rtol=1e-14)
