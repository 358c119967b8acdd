"""Memory that programs hold: Logs of loops that run again, arenas, and how it is given back."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracejit

ROOT = Path(__file__).parents[2]


def squared(w: Any) -> Any:
    while w < 1000.0:
        w = w * w
    return w


def halved_in_nests(w: Any) -> Any:
    while w > 1.0:
        v = w
        while v > 0.5:
            v = 0.5 * v
        w = 0.5 * w + 0.1 * v
    return w


def of_arrays(w: Any) -> Any:
    v = np.array([w, 2.0 * w, 3.0])
    while v[0] < 1000.0:
        v = v * v
    return np.sum(v)


def descends(f: Any, n: int) -> Any:
    def once(w: Any) -> Any:
        for _ in range(n):
            w = w - 1e-10 * tracejit.grad(f)(w)
        return w

    return tracejit.jit(once)


def descends_in_nests(f: Any, n: int) -> Any:
    def twice(w: Any) -> Any:
        for _ in range(4):
            for _ in range(n // 4):
                w = w - 1e-10 * tracejit.grad(f)(w)
        return w

    return tracejit.jit(twice)


def spread(n: int) -> Any:
    return np.linspace(1.0, 1.2, n)


REPEATED: dict[str, Callable[[Any, int], Callable[[Any], Any]]] = {
    "a loop": descends, "a loop in a loop": descends_in_nests,
    "vmap": lambda f, n: lambda w: tracejit.vmap(tracejit.grad(f))(spread(n) * w),
    "map": lambda f, n: tracejit.jit(lambda w: tracejit.map(tracejit.grad(f), spread(n) * w)),
    "jacobian": lambda f, n: lambda w: tracejit.jacobian(
        lambda x: tracejit.map(f, x))(spread(n) * w).diagonal(),
    "a second gradient": lambda f, n: tracejit.grad(lambda w: np.sum(
        tracejit.map(tracejit.grad(f), spread(n) * w))),
}
"""By the way of doing it, n reverse passes through one `while`."""


@pytest.mark.parametrize("f", [squared, halved_in_nests, of_arrays])
@pytest.mark.parametrize("way", REPEATED)
@pytest.mark.parametrize("count", [24, 200])
def test_a_while_can_be_gone_back_through_any_number_of_times(
        way: str, count: int, f: Callable[[Any], Any]) -> None:
    found = REPEATED[way](f, count)(1.1)
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(found, REPEATED[way](f, count)(1.1), rtol=1e-9)


BOUNDED = """
import resource
import numpy as np, tracejit

def squared(w):
    while w < 1000.0:
        w = w * w
    return w

def descend(w, n):
    for _ in range(n):
        w = w - 1e-12 * tracejit.grad(squared)(w)
    return w

slopes, descend = tracejit.vmap(tracejit.grad(squared)), tracejit.jit(descend)
slopes(np.full(2, 1.1)), descend(1.1, 2)
used = 1024 * int(next(x.split()[1] for x in open("/proc/self/status") if x.startswith("VmSize")))
resource.setrlimit(resource.RLIMIT_AS, (used + (16 << 20),) * 2)
slopes(np.full(5000, 1.1)), descend(1.1, 5000)
print("bounded")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's here")
def test_what_repeated_passes_store_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "bounded.py").write_text(BOUNDED)
    done = subprocess.run([sys.executable, "bounded.py"], capture_output=True, text=True,
                          timeout=120, check=False, cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.stdout == "bounded\n", done.stderr


# --- what is kept between calls -------------------------------------------------------------------

KEPT = """
import ctypes, gc, json
import numpy as np, tracejit
from tracejit.program.entry_memory import MAX_KEPT

def resident():
    ctypes.CDLL(None).malloc_trim(ctypes.c_size_t(0))
    return int(open("/proc/self/statm").read().split()[1]) * 4096

def f(x):
    y = x
    for k in range(4):
        y = np.sin(y) * x[::-1]
    return np.sum(y * y)

g = tracejit.grad(f)
for n in (1000, 1000):
    g(np.ones(n))
before = resident()
held = []
for n in {sizes}:
    g(np.ones(n))
    gc.collect()
    held.append(resident() - before)
tracejit.clear_caches()
held.append(resident() - before)
assert MAX_KEPT == 256 << 20
assert g(np.ones(1000)).shape == (1000,)
print(json.dumps(held))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is looked at in /proc")
@pytest.mark.parametrize(("sizes", "most"), [
    ([1 << 20] * 3, 256), ([30_000_000], 16), ([1 << 22, 30_000_000], 16),
    ([1 << 20, 1 << 22, 1 << 20], 256)])
def test_what_is_held_between_calls_is_bounded_and_given_back(tmp_path: Path, sizes: list[int],
                                                              most: int) -> None:
    """One call on 240 MB left 481 MB."""
    (tmp_path / "kept.py").write_text(KEPT.format(sizes=sizes))
    done = subprocess.run([sys.executable, "kept.py"], capture_output=True, text=True, timeout=300,
                          check=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)})
    *_, held, given_back = json.loads(done.stdout)
    assert held < most << 20
    assert given_back < 16 << 20


def test_caches_that_were_cleared_fill_again() -> None:
    def by_tape() -> Any:
        x = tracejit.Variable(np.arange(3.0))
        with tracejit.GradientTape() as tape:
            y = np.sum(np.sin(x) * x)
        return tape.gradient(y, x)

    g = tracejit.grad(lambda x: np.sum(np.sin(x) * x))
    for _ in range(5):
        np.testing.assert_allclose(by_tape(), g(np.arange(3.0)), rtol=1e-14)
        tracejit.clear_caches()


# --- what the garbage collector meets -------------------------------------------------------------

COLLECTED = """
import gc
import numpy as np, tracejit

def called(scale):
    def plain(x):
        return np.sum(x * x) * scale

    def by_name(x, *, power):
        return np.sum(x ** power) * scale

    f, g, x = tracejit.grad(plain), tracejit.grad(by_name), np.ones(3)
    for _ in range(3):
        scale = scale + 1.0  # which another record of the table leads to
        f(x), g(x, power=2.0)
    return f, g

held = [called(float(k)) for k in range(3)]
del held
gc.collect()
print("collected")
"""


def test_entries_are_collected_in_any_order(tmp_path: Path) -> None:
    """A function reads its flags to free its parts, and they had been freed before it."""
    (tmp_path / "collected.py").write_text(COLLECTED)
    done = subprocess.run([sys.executable, "collected.py"], capture_output=True, text=True,
                          timeout=300, check=False, cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONMALLOC": "malloc",
                               "MALLOC_PERTURB_": "255"})  # what glibc frees is all ones
    assert done.stdout == "collected\n", done.stderr


# --- what a call takes ---------------------------------------------------------------------------


def kept_part(x: Any, k: int) -> Any:
    return x[x > 0.0]


def beyond(x: Any, k: int) -> Any:
    return x[k + len(x)]


def beyond_a_part(x: Any, k: int) -> Any:
    y = x[x > 0.0]
    return y[k + len(x)]


def raised_in_the_middle(x: Any, k: int) -> Any:
    y, items = x[x > 0.0], []
    for v in x:
        items.append(v)
        if len(items) == len(x) - k:
            raise ValueError("a full list")
    return y, items


def raised_on_the_way(x: Any, k: int) -> Any:
    total, i = 0.0, 0
    while total < 1e300:
        total = total + x[i + k] * x[i + k]
        i += 1
    return total


TAKERS: dict[str, tuple[Any, type[Exception] | None]] = {
    "a part that is returned": (tracejit.jit(kept_part), None),
    "an index": (tracejit.jit(beyond), IndexError),
    "an index into a part": (tracejit.jit(beyond_a_part), IndexError),
    "a part and half a list": (tracejit.jit(raised_in_the_middle), ValueError),
    "a gradient that has stored half its way": (tracejit.grad(raised_on_the_way), IndexError),
}


@pytest.mark.parametrize("name", TAKERS)
def test_a_call_gives_back_what_it_took(name: str) -> None:
    """Each exception left a tuple and two floats behind."""
    f, error = TAKERS[name]

    def calls(count: int, x: Any) -> None:
        for _ in range(count):
            with nullcontext() if error is None else pytest.raises(error):
                f(x, 0)

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    few, many = np.ones(20), np.ones(200_000)
    calls(50, few)
    gc.collect()
    blocks = sys.getallocatedblocks()
    calls(1000, few)
    gc.collect()
    assert sys.getallocatedblocks() - blocks < 500
    if sys.platform == "linux":
        calls(3, many)
        before = resident()
        calls(60, many)
        assert resident() - before < 32 << 20  # where one call takes 1.6 MB for each Log
