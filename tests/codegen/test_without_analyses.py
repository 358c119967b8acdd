"""Analyses that are switched off: results stay right, and programs are made anew."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_gallery import PROGRAMS

import tracejit
from tracejit.analyses import ANALYSES
from tracejit.tree import flatten

X = np.linspace(0.1, 1.0, 37)
CASES = [(p, name) for p in PROGRAMS if not (p.refused or p.wrong) for name in ANALYSES]


def mixed(x: np.ndarray, a: np.ndarray) -> Any:
    """Return a number by loops, functions of arrays, a product and a search."""
    h, s = np.tanh(a @ x), 0.0
    for i in range(len(x)):
        y = np.sin(x[i]) * h[i]
        for _ in range(3):
            y = np.sqrt(y * y + 1.0) * np.exp(-y)
        s += y * a[i, np.argmax(a[i])]
    z = np.exp(h) * np.cos(x) + h
    return s + np.sum(z * z)


@pytest.mark.parametrize(("program", "name"), CASES, ids=[f"{p}-{n}" for p, n in CASES])
def test_without_an_analysis_results_agree(program: Any, name: str) -> None:
    arguments = program.arguments(program.sizes[-1])
    whole, part = (tracejit.value_and_grad(program.function, program.argnums, fp="strict", **how)
                   (*arguments) for how in ({}, {"without": name}))
    for found, expected in zip(flatten(part)[0], flatten(whole)[0], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("names", [tuple(ANALYSES), ("fusion", "recomputation"),
                                   ("jamming", "vectorisation")], ids=lambda x: str(len(x)))
def test_several_are_switched_off_together(names: tuple[str, ...]) -> None:
    args = X, np.outer(X, X[::-1])
    strict = [tracejit.grad(mixed, (0, 1), fp="strict", without=w)(*args) for w in ((), names)]
    for given in (strict[1], tracejit.grad(mixed, (0, 1), without=names)(*args)):
        for found, expected in zip(given, strict[0], strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


# --- what is so without each ----------------------------------------------------------------------


def lowered(f: Callable[..., Any], *args: object, **how: Any) -> Any:
    """Return the emitted program of a gradient."""
    return tracejit.grad(f, **how).trace(*args).lower()


def aligned(x: np.ndarray) -> Any:
    """Return a number by a table of which an element needs its neighbours before it."""
    r = np.zeros((len(x) + 1, x.shape[1] + 1))
    for i in range(len(x)):
        for j in range(x.shape[1]):
            v = x[i, j] + 0.3 * r[i, j] + 0.3 * r[i, j + 1] + 0.3 * r[i + 1, j]
            r[i + 1, j + 1] = np.sqrt(1.0 + v * v) / (2.0 + v * v) - v / np.sqrt(2.0 + v * v)
    return r[-1, -1]


def test_without_jamming_loops_handle_one_iteration() -> None:
    x = np.ones((20, 20))
    assert lowered(aligned, x).arranged
    assert not lowered(aligned, x, without="jamming").arranged


def test_without_fusion_each_operation_has_its_loops() -> None:
    def f(x: np.ndarray) -> Any:
        return np.sum(np.exp(np.sin(x) * x))

    whole, part = (str(lowered(f, X, without=w)) for w in ((), "fusion"))
    assert part.count("for ") > whole.count("for ") + 3
    assert "without fusion: " in lowered(f, X, without="fusion").why()


def test_without_recomputation_all_is_stored_and_without_storing_what_has_to_be() -> None:
    def f(x: np.ndarray) -> Any:
        a = 1.0
        for k in range(len(x)):
            a = np.exp(-a) * np.sin(a * x[k])
        return a

    def pushed(**how: Any) -> int:
        return str(tracejit.grad(f, **how).trace(X).graph).count("update(")

    assert pushed(without="recomputation") > pushed() >= pushed(without="storing") >= 1


def test_without_vectorisation_no_instruction_has_several_numbers() -> None:
    def f(x: np.ndarray) -> Any:
        return np.sum(np.sqrt(x) * x)

    wide = re.compile(r"<\d+ x double>")
    assert wide.search(lowered(f, X).compile().llvm)
    assert not wide.search(lowered(f, X, without="vectorisation").compile().llvm)


def test_without_threads_no_loop_is_shared() -> None:
    def f(x: np.ndarray) -> Any:
        return np.sum(np.exp(np.sin(x)))

    with tracejit.config(threads=2):
        assert lowered(f, X).kernel.parts
        assert not lowered(f, X, without="threads").kernel.parts


def test_without_short_loops_rows_have_no_code_for_their_length() -> None:
    def f(x: np.ndarray) -> Any:
        return np.sum(np.sqrt(np.sum(x * x, axis=1)))

    points = np.ones((50, 3))
    assert lowered(f, points).kernel.short
    assert not lowered(f, points, without="short_loops").kernel.short


# --- programs -------------------------------------------------------------------------------------


def test_two_settings_never_share_a_program() -> None:
    g = tracejit.grad(mixed)
    args = X, np.outer(X, X)
    g(*args)
    with tracejit.config(without=("fusion", "jamming")):
        g(*args)
        inner = str(g.trace(*args).lower())
    assert len(g._table) == 2
    assert str(g.trace(*args).lower()) != inner
    g(*args)
    assert len(g._table) == 2


STORED = """
import sys
import numpy as np, tracejit
from tracejit import cache

def f(x):
    return np.sum(np.exp(np.sin(x) * x))

for without in sys.argv[1:]:
    g = tracejit.grad(f, without=without)
    g(np.ones(5))
    print(cache.explain(g, np.ones(5)))
"""


def test_the_store_keeps_them_apart(tmp_path: Path) -> None:
    (tmp_path / "stored.py").write_text(STORED)

    def run(*without: str) -> list[str]:
        done = subprocess.run([sys.executable, tmp_path / "stored.py", *without], text=True,
                              capture_output=True, check=True, cwd=tmp_path, env={
                                  **__import__("os").environ, "TRACEJIT_CACHE_DIR": str(tmp_path),
                                  "TRACEJIT_CACHE": "1"})
        return done.stdout.splitlines()

    run("", "fusion")
    assert len([*tmp_path.rglob("*.o")]) == 2
    run("fusion", "")
    assert len([*tmp_path.rglob("*.o")]) == 2


def test_one_inside_of_a_capture_is_switched_off_there_alone() -> None:
    def product(x: np.ndarray) -> Any:
        a = 1.0
        for k in range(len(x)):
            a = np.exp(-a) * np.sin(a * x[k])
        return a

    inner = tracejit.grad(product, without="recomputation")
    outer = tracejit.jit(lambda x: inner(x) + tracejit.grad(product)(x))
    graph = str(outer.trace(X).graph)
    whole = str(tracejit.jit(lambda x: tracejit.grad(product)(x)).trace(X).graph)
    assert graph.count("update(") > 2 * whole.count("update(")
    np.testing.assert_allclose(outer(X), 2.0 * inner(X), rtol=1e-12)


@pytest.mark.parametrize(("given", "hint"), [("jaming", "did you mean jamming"),
                                             (("fusion", "treads"), "did you mean threads"),
                                             ("?", "there are recomputation, storing")])
def test_a_misspelt_name_gets_the_nearest(given: Any, hint: str) -> None:
    with pytest.raises(ValueError, match=hint):
        tracejit.grad(mixed, without=given)
    with pytest.raises(ValueError, match=hint), tracejit.config(without=given):
        pass


def test_the_environment_switches_off(tmp_path: Path) -> None:
    text = "from tracejit.configuration import settings; print(sorted(settings().without))"
    env = {**__import__("os").environ, "TRACEJIT_WITHOUT": "fusion, threads"}
    done = subprocess.run([sys.executable, "-c", text], text=True, capture_output=True, check=True,
                          env=env)
    assert done.stdout == "['fusion', 'threads']\n"
