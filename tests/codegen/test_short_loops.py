"""Loops over a size of 2 to 4 that are written out: text in, text out, and the numbers of nests."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from loop_text import nodes, text

import tracejit
from tracejit.codegen.loop_ir import Loop
from tracejit.codegen.short_loops import write_out_short_loops

WRITTEN_OUT = {
    "a loop over a size that is 3 is written out behind a test, and stays for other values": ("""
        for i in range(n):
            for k in range(m):
                out[i * m + k] = x[i * m + k] * 2.0
        """, """
        if m == 3:
            for i in range(n):
                out[i * 3] = x[i * 3] * 2.0
                out[i * 3 + 1] = x[i * 3 + 1] * 2.0
                out[i * 3 + 2] = x[i * 3 + 2] * 2.0
        else:
            for i in range(n):
                for k in range(m):
                    out[i * m + k] = x[i * m + k] * 2.0
        """),
    "scalars of an iteration get names of their own": ("""
        for i in range(n):
            for k in range(2):
                v = x[i * 2 + k]
                out[i * 2 + k] = v * v
        """, """
        for i in range(n):
            v1 = x[i * 2]
            out[i * 2] = v1 * v1
            v2 = x[i * 2 + 1]
            out[i * 2 + 1] = v2 * v2
        """),
    "sums at places that were set before are kept in registers": ("""
        g[0] = 0.0
        g[1] = 0.0
        for i in range(n):
            for k in range(2):
                g[k] = g[k] + x[i * 2 + k]
        """, """
        g[0] = 0.0
        g[1] = 0.0
        s1 = g[0]
        s2 = g[1]
        for i in range(n):
            s1 = radd(s1, x[i * 2])
            s2 = radd(s2, x[i * 2 + 1])
        g[0] = s1
        g[1] = s2
        """),
    "a place that was not set before may not be there": ("""
        for i in range(n):
            for k in range(2):
                g[k] = g[k] + x[i * 2 + k]
        """, """
        for i in range(n):
            g[0] = g[0] + x[i * 2]
            g[1] = g[1] + x[i * 2 + 1]
        """),
    "a place that moves stays in memory": ("""
        for i in range(n):
            for k in range(2):
                g[i * 2 + k] = g[i * 2 + k] + x[k]
        """, """
        for i in range(n):
            g[i * 2] = g[i * 2] + x[0]
            g[i * 2 + 1] = g[i * 2 + 1] + x[1]
        """),
    "memory that something else in the loop reads stays memory": ("""
        g[0] = 0.0
        g[1] = 0.0
        for i in range(n):
            for k in range(2):
                g[k] = g[k] + x[i * 2 + k]
            out[i] = g[j]
        """, """
        g[0] = 0.0
        g[1] = 0.0
        for i in range(n):
            g[0] = g[0] + x[i * 2]
            g[1] = g[1] + x[i * 2 + 1]
            out[i] = g[j]
        """),
    "so does memory at indices of which nothing says that they differ": ("""
        g[j] = 0.0
        g[l] = 0.0
        for i in range(n):
            for k in range(2):
                out[i * 2 + k] = x[k]
            g[j] = g[j] + x[i]
            g[l] = g[l] + x[i]
        """, """
        g[j] = 0.0
        g[l] = 0.0
        for i in range(n):
            out[i * 2] = x[0]
            out[i * 2 + 1] = x[1]
            g[j] = g[j] + x[i]
            g[l] = g[l] + x[i]
        """),
    "what is no sum stays in memory": ("""
        g[0] = 1.0
        g[1] = 1.0
        for i in range(n):
            for k in range(2):
                g[k] = g[k] * x[i * 2 + k]
        """, """
        g[0] = 1.0
        g[1] = 1.0
        for i in range(n):
            g[0] = g[0] * x[i * 2]
            g[1] = g[1] * x[i * 2 + 1]
        """),
    "scalars within a test get names of their own, too": ("""
        for i in range(n):
            for k in range(2):
                if i < k:
                    v = x[i * 2 + k]
                    out[i * 2 + k] = v * v
        """, """
        for i in range(n):
            if i < 0:
                v1 = x[i * 2]
                out[i * 2] = v1 * v1
            if i < 1:
                v2 = x[i * 2 + 1]
                out[i * 2 + 1] = v2 * v2
        """),
    "a loop over 5 is a loop": ("""
        for i in range(n):
            for k in range(5):
                out[i * 5 + k] = x[k]
        """, ""),
    "a loop that is in no other one is a loop": ("""
        for k in range(m):
            out[k] = x[k]
        """, ""),
    "a loop over a size that was 7 is a loop": ("""
        for i in range(n):
            for k in range(p):
                out[i] = x[k]
        """, ""),
}


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_short_loops_are_written_out(name: str) -> None:
    before, after = WRITTEN_OUT[name]
    numbers = itertools.count(1)
    kernel = SimpleNamespace(nodes=nodes(before), short={})
    write_out_short_loops(cast(Any, kernel), {"m": 3, "n": 9, "p": 7},
                          lambda stem: f"{stem}{next(numbers)}")
    assert text(kernel.nodes) == text(nodes(after or before))


def test_a_loop_that_runs_backwards_stays_a_loop() -> None:
    outer, = nodes("for i in range(n):\n    for k in range(3):\n        out[k] = out[k + 1]\n")
    assert isinstance(outer, Loop) and isinstance(outer.body[0], Loop)
    outer.body[0].reverse = True
    kernel = SimpleNamespace(nodes=[outer], short={})
    before = text(kernel.nodes)
    write_out_short_loops(cast(Any, kernel), {}, str)
    assert text(kernel.nodes) == before


def pairs(r: Any, q: Any) -> Any:
    """Return the energy of points that attract one another."""
    d = r[:, None, :] - r[None, :, :]
    return np.sum(q[:, None] * q / np.sqrt(np.sum(d * d, axis=2) + 0.1))


def spread(r: Any, q: Any) -> Any:
    """Return the determinant of points' second moments, and more."""
    c = r - np.mean(r, axis=0)
    return np.linalg.det(c.T @ (c * q[:, None]) + np.eye(r.shape[1])) + np.sum(c ** 3, axis=0) @ q[
        :r.shape[1]]


def in_a_loop(r: Any, q: Any) -> Any:
    """Return where points are after some steps."""
    v = np.zeros_like(r)
    for _ in range(3):
        v = v - 0.1 * q[:, None] * np.sin(r) / (1.0 + np.sum(r * r, axis=1))[:, None]
        r = r + v
    return np.sum(r * r * v)


@pytest.mark.parametrize("first", [3, 6])
@pytest.mark.parametrize("f", [pairs, spread, in_a_loop])
def test_one_program_is_right_for_every_size(f: Callable[[Any, Any], Any], first: int) -> None:
    rng = np.random.default_rng(0)
    g = tracejit.value_and_grad(f, argnums=(0, 1))
    with tracejit.config(verify=True):
        for m in (first, 1, 2, 3, 4, 5):
            r, q = rng.standard_normal((20, m)), rng.uniform(0.5, 1.5, 20)
            value, slopes = g(r, q)
            with tracejit.config(disable_jit=True):
                expected, wanted = tracejit.value_and_grad(f, argnums=(0, 1))(r, q)
            assert np.isclose(value, expected, rtol=1e-12)
            for found, want in zip(slopes, wanted, strict=True):
                assert np.allclose(found, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("shape", "is_short"), [
    ((20, 3), True), ((20, 5), False), ((4, 3), False), ((20, 1), False)])
def test_why_says_which_sizes_have_loops_of_their_own(shape: tuple[int, int],
                                                      is_short: bool) -> None:
    lowered = tracejit.grad(pairs).trace(np.ones(shape), np.ones(shape[0])).lower()
    assert ("m == 3: loops over it are written out" in lowered.why()) is is_short


# --- names --------------------------------------------------------------------------------------


def _rolled(W: Any, b: Any, V: Any, c: Any, x: Any, steps: int) -> Any:
    """Take steps of a network whose b has no part in it; its size takes a letter."""
    for _ in range(steps):
        x = x + 0.1 * (np.tanh(x ** 3 @ W) @ V + c)
    return np.sum(x ** 2)


def test_sums_in_registers_have_names_that_no_loop_has() -> None:
    """Five loops, and sizes of five letters: the innermost loop counts by `s`."""
    rng = np.random.default_rng(0)
    W, b, V, c = (rng.normal(size=(3, *shape)) for shape in ((2, 4), (4,), (4, 2), (2,)))
    x = rng.normal(size=(16, 2))
    slopes = tracejit.grad(_rolled, argnums=(0, 1, 2, 3))
    together = tracejit.vmap(slopes, in_axes=(0, 0, 0, 0, None, None))
    found = together(W, b, V, c, x, 2)
    with tracejit.config(verify=True):
        checked = tracejit.vmap(slopes, in_axes=(0, 0, 0, 0, None, None))(W, b, V, c, x, 2)
    for k in range(3):
        alone = slopes(W[k], b[k], V[k], c[k], x, 2)
        for f, g, h in zip(found, checked, alone, strict=True):
            np.testing.assert_allclose(f[k], h, rtol=1e-11, atol=1e-13)
            np.testing.assert_allclose(g[k], h, rtol=1e-11, atol=1e-13)
    step = 1e-6
    up, down = (_rolled(W[0] + h, b[0], V[0], c[0], x, 2) for h in (step, -step))
    assert np.sum(found[0][0]) == pytest.approx((up - down) / (2 * step), rel=1e-6)
