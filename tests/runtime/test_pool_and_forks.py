"""The pool of threads: each stretch is done once, whoever calls, and whenever the process forks."""

from __future__ import annotations

import ctypes
import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import tracejit
from tracejit.configuration import thread_count
from tracejit.program.threads import parallel_for_address

numba = pytest.importorskip("numba")
SHARE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, *(ctypes.c_int64,) * 5)
LENGTH = 6000


@numba.cfunc("void(CPointer(int64), int64, int64)")
def count(table, lo, hi):  # type: ignore[no-untyped-def]
    places = numba.carray(table, (LENGTH,))
    for i in range(lo, hi):
        places[i] += 1 + i


def _loops_are_done_once(seed: int, number: int) -> bool:
    share, choose = SHARE(parallel_for_address()), random.Random(seed)
    places, expected = np.zeros(LENGTH, np.int64), np.zeros(LENGTH, np.int64)
    for _ in range(number):
        lo, length = choose.randrange(50), choose.choice((0, 1, 2, 3, 100, 5000))
        grain, threads = choose.choice((1, 2, 7, 64, 500)), choose.choice((1, 2, 3, 5))
        assert share(count.address, places.ctypes.data, lo, lo + length, grain, threads, 0) == 0
        expected[lo:lo + length] += 1 + np.arange(lo, lo + length)
    return bool(np.array_equal(places, expected))


def test_every_stretch_is_done_once_while_others_call_and_fork() -> None:
    found: list[bool] = []
    parallel_for_address()  # no child is to be forked while another thread compiles

    def call(seed: int) -> None:
        found.append(_loops_are_done_once(seed, 800))

    callers = [threading.Thread(target=call, args=(seed,)) for seed in range(3)]
    for caller in callers:
        caller.start()
    for seed in range(20):
        child = os.fork()
        if child == 0:
            os._exit(0 if _loops_are_done_once(seed, 50) else 1)
        assert os.waitpid(child, 0)[1] == 0
    for caller in callers:
        caller.join()
    assert found == [True, True, True]


@numba.cfunc("void(CPointer(int64), int64, int64)")
def count_slowly(table, lo, hi):  # type: ignore[no-untyped-def]
    places = numba.carray(table, (LENGTH,))
    for i in range(lo, hi):
        x = float(i)
        for _ in range(20_000):
            x = x * 0.5 + 1.0
        places[i] += 1 + i + (x > 1e9)


@pytest.mark.parametrize("calls", [True, False])
def test_a_signal_handler_forks_within_a_shared_loop(calls: bool) -> None:
    """Handlers run where a loop asks whether to leave it: a child goes on with what is left."""
    share = SHARE(parallel_for_address())
    places, children, parent = np.zeros(LENGTH, np.int64), [], os.getpid()

    def handler() -> int:
        if os.getpid() == parent and len(children) < 3:
            children.append(os.fork())
            if not children[-1] and calls:
                assert _loops_are_done_once(0, 30)
        return 0

    poll = ctypes.CFUNCTYPE(ctypes.c_int32)(handler)
    address = ctypes.cast(poll, ctypes.c_void_p).value
    share(count_slowly.address, places.ctypes.data, 0, LENGTH, 30, 4, address)
    is_whole = np.array_equal(places, 1 + np.arange(LENGTH))
    if os.getpid() != parent:
        os._exit(0 if is_whole and _loops_are_done_once(1, 30) else 1)
    assert is_whole
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]


DAEMON = """
import threading
import time

import numpy as np
import tracejit


def orbit(m):
    s = m
    for _ in range(3000):
        s = np.cos(s) + m
    return s


x = np.linspace(-1.0, 1.0, 300_000)
many = tracejit.vmap(orbit, threads=3)
many(x[:3000])
threading.Thread(target=lambda: many(x), daemon=True).start()
time.sleep(0.3)
"""


def test_python_ends_while_a_daemon_is_in_a_shared_loop(tmp_path: Path) -> None:
    path = tmp_path / "daemon.py"
    path.write_text(DAEMON)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=300,
                          check=False)
    assert done.returncode == 0, done.stderr


def test_very_many_threads_are_as_many_as_there_may_be() -> None:
    x = np.linspace(0.0, 1.0, 100)
    expected = tracejit.jit(np.exp, threads=1)(x)
    assert tracejit.jit(np.exp, threads=10 ** 20)(x).tobytes() == expected.tobytes()
    assert thread_count(10 ** 20) == thread_count(2000) == 1024
    with pytest.raises(ValueError, match="threads is a number"):
        tracejit.jit(np.exp, threads=np.array([2, 3]))
