"""Emitted source: every byte of it, for a dozen programs, is in `tests/golden/`.

Each `NAME.py` there has a program and its argument specs, `NAME.ir` the IR that is lowered and
the text of `.why()`, `NAME.source.py` the source, headed by that IR. Nothing is compiled.
`make golden` writes the texts again.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tracejit
from tracejit.runtime.stages import Traced

FOLDER = Path(__file__).parents[1] / "golden"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if "." not in path.stem)


def traced_of(name: str) -> Traced:
    """Return a program of the folder, traced for its arguments."""
    module = module_of(name)
    traced: Traced = module.program.trace(*map(tracejit.spec, module.arguments))
    return traced


def module_of(name: str) -> Any:
    """Return a module of the folder."""
    spec = importlib.util.spec_from_file_location(f"golden_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def emitted(name: str, *, verify: bool = False) -> dict[str, str]:
    """Return a program's IR with its reasons, and its source, by the endings of their files."""
    with tracejit.config(verify=verify):
        traced = traced_of(name)
        source = traced.lower().source
    head, graph, code = split(source)
    why = "".join(f"# {line}\n" for line in traced.why().splitlines())
    return {"ir": f"{graph}\n\n# why\n{why}", "source.py": f"{head}{code}\n"}


def split(source: str) -> tuple[str, str, str]:
    """Return the text above the IR in a source, the IR, and the code below."""
    begin = source.index("\ngraph ") + 1
    end = source.index("\n}\n", begin) + 2
    return source[:begin], source[begin:end], source[end:].lstrip("\n")


@pytest.mark.parametrize("name", NAMES)
def test_source_is_what_it_was(name: str, expect_text: Callable[[Path, str], None]) -> None:
    for ending, text in emitted(name).items():
        expect_text(FOLDER / f"{name}.{ending}", text)


def test_source_in_verify_mode_is_what_it_was(expect_text: Callable[[Path, str], None]) -> None:
    for ending, text in emitted("counted_loop", verify=True).items():
        expect_text(FOLDER / f"counted_loop.verify.{ending}", text)


def test_every_text_belongs_to_a_program() -> None:
    texts = {path.name.partition(".") for path in FOLDER.iterdir() if path.is_file()}
    assert {name for name, _, _ in texts} == set(NAMES)
    assert {ending for _, _, ending in texts} == {
        "py", "ir", "source.py", "verify.ir", "verify.source.py"}


def test_source_does_not_depend_on_what_was_emitted_before() -> None:
    first = {name: emitted(name) for name in NAMES}
    second = {name: emitted(name) for name in reversed(NAMES)}
    assert first == second


def test_source_does_not_depend_on_the_hash_seed() -> None:
    code = ("import tracejit, test_golden as t; from programs_as_they_are import histories;"
            "print(*map(t.emitted, t.NAMES), tracejit.grad(histories.accepted_steps).trace("
            "'f64[2]', 'float', 'float').program.graph)")  # it has numbers of either kind
    found = set()
    for seed in ("0", "1", "4711"):
        path = os.pathsep.join(sys.path)
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        done = subprocess.run([sys.executable, "-c", code], env=env, text=True, check=True,
                              capture_output=True)
        found.add(done.stdout)
    assert len(found) == 1
