"""Dask knows a compiled function by all that its results depend on besides its arguments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from dask.base import tokenize

import tracejit

RATE = 1.0
TABLE = np.array([1.0, 2.0])


settings_of_a_user = ModuleType("settings_of_a_user")
settings_of_a_user.power = 2.0  # type: ignore[attr-defined]


def helper(x: Any) -> Any:
    return np.sin(x) * RATE


@tracejit.jit
def inner(x: Any) -> Any:
    return np.sum(helper(x) * TABLE)


def f(x: Any, y: Any = 2.0) -> Any:
    return np.sum(helper(x)) * y + inner(x) ** settings_of_a_user.power


def test_equal_functions_have_one_token() -> None:
    assert tokenize(tracejit.grad(f)) == tokenize(tracejit.grad(f))
    made = [tracejit.jit(lambda x, k=k: x * k) for k in (1.0, 1.0, 2.0)]
    assert tokenize(made[0]) == tokenize(made[1]) != tokenize(made[2])


@pytest.mark.parametrize("other", [
    lambda: tracejit.jit(f), lambda: tracejit.value_and_grad(f), lambda: tracejit.grad(f, 1),
    lambda: tracejit.grad(f, has_aux=True), lambda: tracejit.grad(f, fp="strict"),
    lambda: tracejit.grad(helper)])
def test_other_transforms_have_other_tokens(other: Callable[[], Any]) -> None:
    assert tokenize(tracejit.grad(f)) != tokenize(other())


def test_what_a_function_reads_is_in_its_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask keeps results by token: those of a function that reads something else are other ones."""
    shift = 1.0

    def g(x: Any) -> Any:
        return f(x) + shift

    gradient, found = tracejit.grad(g), set[str]()

    def look() -> None:
        found.add(tokenize(gradient))
        assert tokenize(gradient) in found

    look()
    shift = 2.0
    look()
    monkeypatch.setitem(globals(), "RATE", 2.0)  # of a function that a function calls
    look()
    monkeypatch.setitem(globals(), "TABLE", TABLE * 2.0)  # of a transformed one
    look()
    TABLE[0] += 1.0
    look()
    monkeypatch.setitem(globals(), "helper", np.cos)
    look()
    monkeypatch.setattr(settings_of_a_user, "power", 3.0, raising=False)
    look()
    assert len(found) == 7


def test_a_function_that_nothing_can_tell_has_a_new_token_each_time() -> None:
    lock = threading.Lock()
    for lost in (tracejit.jit(lambda x: x if lock else -x), tracejit.jit(lambda x, by=lock: x)):
        assert tokenize(lost) != tokenize(lost)


SCRIPT = """
import json
import numpy as np
import tracejit
from dask.base import tokenize
from examples.dask_gradient import loss

RATE = {rate}

def f(x):  # {comment}
    return np.sum(x) * RATE

if __name__ == "__main__":
    print(json.dumps([tokenize(loss), tokenize(tracejit.grad(f))]))
"""


def test_processes_agree_on_tokens(tmp_path: Path) -> None:
    found = []
    for rate, comment in ((1.0, "one"), (1.0, "another"), (2.0, "one")):
        (tmp_path / "script.py").write_text(SCRIPT.format(rate=rate, comment=comment))
        done = subprocess.run(
            [sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True,
            check=True, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])})
        found.append(json.loads(done.stdout))
    assert found[0] == found[1]
    assert found[2][0] == found[0][0]
    assert found[2][1] != found[0][1]
