"""Threads that differentiate at once have their own gradients, though they share programs."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.tape import programs


def _in_threads(count: int, work: Callable[[int], object]) -> list[Any]:
    """Return what each thread gives, all at once; raise what one raised."""
    found: list[Any] = [None] * count
    begin = threading.Barrier(count)

    def run(k: int) -> None:
        try:
            begin.wait(20)
            found[k] = work(k)
        except Exception as e:
            found[k] = e

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    for x in found:
        if isinstance(x, Exception):
            raise x
    return found


def _slope(x: np.ndarray) -> np.ndarray:
    return np.cos(x * x) * 2.0 * x + 0.1 * np.exp(0.1 * x)


def _gradient(a: np.ndarray) -> Any:
    x = tracejit.Variable(a)
    with tracejit.GradientTape() as tape:
        y = np.sum(np.sin(x * x) + np.exp(0.1 * x))
    return tape.gradient(y, x)


def test_a_program_is_made_for_the_request_of_its_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    tracejit.clear_caches()  # also plans whose numbers other tests' calls made operands
    arrays = [np.arange(1.0, 4.0), np.arange(2.0, 7.0)]
    for _ in range(programs.REPEATS + 1):  # until the structure has a program
        _gradient(arrays[0])
    (program,) = programs._PROGRAMS.values()
    asked, both, right = threading.local(), threading.Barrier(2), []
    run, compiled = programs.Backward.run, program.compiled

    def noted(self: Any, request: Any, cts: Any) -> Any:
        asked.request = request
        return run(self, request, cts)

    def together(*values: Any) -> Any:
        both.wait(20)  # each thread has asked, and none is done
        right.append(program.make_program((), None, None) is asked.request)
        both.wait(20)
        return compiled(*values)

    monkeypatch.setattr(programs.Backward, "run", noted)
    monkeypatch.setattr(program, "compiled", together)
    monkeypatch.setattr(program, "studied", None)
    monkeypatch.setattr(program, "_study", lambda request: request)
    for a, slope in zip(arrays, _in_threads(2, lambda k: _gradient(arrays[k])), strict=True):
        np.testing.assert_allclose(slope, _slope(a))
    assert right == [True, True]


@pytest.mark.parametrize("way", ["a tape each", "one persistent tape", "one pullback"])
def test_threads_have_their_own_gradients(way: str) -> None:
    rng = np.random.default_rng(0)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    shared = tracejit.Variable(np.array([0.5, 1.5, -2.0]))
    with tracejit.config(disable_jit=True), tracejit.GradientTape(persistent=True) as tape:
        ys = [np.sum(np.sin(shared * shared) * float(k + 1)) for k in range(4)]
    _, pullback = tracejit.vjp(lambda x: np.sin(x * x))(shared._data)
    arrays = [[rng.standard_normal(2 + k + j % 3) for j in range(6)] for k in range(4)]

    def work(k: int) -> list[tuple[Any, Any]]:
        with tracejit.config(disable_jit=True):
            return pairs_of(k)

    def pairs_of(k: int) -> list[tuple[Any, Any]]:
        if way == "a tape each":
            return [(_gradient(a), _slope(a)) for a in arrays[k]]
        x = shared._data
        expected = np.cos(x * x) * 2.0 * x * (k + 1)
        if way == "one pullback":
            return [(pullback(np.full(3, float(k + 1)))[0], expected) for _ in range(6)]
        return [(tape.gradient(ys[k], shared), expected) for _ in range(6)]

    try:
        for pairs in _in_threads(4, work):
            for found, expected in pairs:
                np.testing.assert_allclose(found, expected)
    finally:
        sys.setswitchinterval(before)
