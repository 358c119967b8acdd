"""Leaving a running kernel: Ctrl-C, and running out of memory."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.codegen.interrupts import CHUNK

LOOPS = {
    "a while that never ends": """
        while s > -2.0:
            s = np.cos(s)
    """,
    "a long for": """
        for i in range(10 ** 13):
            s = np.cos(s)
    """,
    "a long for backwards": """
        for i in range(10 ** 13, 0, -1):
            s = np.cos(s) * x
    """,
    "whole arrays": """
        u = np.ones(1000) * x
        while u[0] > -2.0:
            u[1:-1] = 0.5 * (u[2:] + u[:-2])
        s = u[1]
    """,
    "loops in loops": """
        for i in range(10 ** 12):
            for j in range(i % 7):
                s = np.cos(s)
    """,
}
PROGRAM = """
import os, signal, threading, time
import numpy as np
import tracejit

def f(x):
    s = x
{loop}
    return s

signal.signal(signal.SIGINT, signal.default_int_handler)
g = tracejit.{transform}(f)
started = []

def kill():
    started.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer({wait}, kill).start()
try:
    g({argument})
except KeyboardInterrupt:
    assert time.monotonic() - started[0] < 1.0
    print("left", tracejit.jit(lambda x: x * 2.0)(2.0))
"""


@pytest.mark.parametrize(("name", "transform"), [
    *((name, "jit") for name in LOOPS), ("loops in loops", "vmap")])
def test_ctrl_c_leaves_a_loop_within_a_second(name: str, transform: str, tmp_path: Any) -> None:
    loop = textwrap.indent(textwrap.dedent(LOOPS[name]), "    ")
    path = tmp_path / "loop.py"
    argument = "0.5" if transform == "jit" else "np.array([0.5])"
    path.write_text(PROGRAM.format(loop=loop, transform=transform, wait=2.0, argument=argument))
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.stdout == "left 4.0\n", done.stderr


OUT_OF_MEMORY = """
import resource
import numpy as np
import tracejit

def f(x, end):
    s = x
    {head}
        s = np.cos(s) * x
    return s

g = tracejit.grad(f)
g(0.5, {few})
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
try:
    g(0.5, {many})
except MemoryError as e:
    print(e, *getattr(e, "__notes__", ()))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's here")
@pytest.mark.parametrize(("head", "few", "many", "text"), [
    ("while s > end:", "0.9", "-2.0", "what this loop stores for its way back does not fit"),
    ("for i in range(end):", "10", "10 ** 11", "bytes for arrays and for what its loops store"),
])
def test_what_does_not_fit_into_memory(head: str, few: str, many: str, text: str,
                                       tmp_path: Any) -> None:
    path = tmp_path / "large.py"
    path.write_text(OUT_OF_MEMORY.format(head=head, few=few, many=many, limit=3 << 30))
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120,
                          check=False)
    assert text in done.stdout, done.stdout + done.stderr
    assert "tracejit.checkpoint stores less" in done.stdout
    if "while" in head:
        assert f"{path}:8" in done.stdout


def test_loops_in_chunks_are_the_loops() -> None:
    """Sums over more than one chunk, forwards and backwards."""
    def forwards(a: Any, n: Any) -> Any:
        s = 0.0
        for i in range(3, n):
            s = s + a * i
        return s

    def backwards(a: Any, n: Any) -> Any:
        s = 0.0
        for i in range(n, 5, -1):
            s = 0.5 * s + a * i
        return s

    n = CHUNK + 7
    assert tracejit.jit(forwards)(1.0, n) == pytest.approx(np.arange(3, n).sum())
    expected = 0.0
    for i in range(60, 5, -1):  # the last terms are all that is left
        expected = 0.5 * expected + i
    assert tracejit.jit(backwards)(1.0, n) == pytest.approx(expected, rel=1e-12)
    assert tracejit.grad(backwards)(1.0, 2 * n) == pytest.approx(expected, rel=1e-12)
    assert tracejit.jit(backwards)(1.0, 5) == tracejit.jit(forwards)(1.0, 2) == 0.0
