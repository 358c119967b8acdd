"""Loops that threads share: the same bits for every number of threads and every order of stretches.

Programs run with stretches of one iteration, so that small sizes are shared, too.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import pkgutil
import random
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import programs
import pytest
from programs.program import PROGRAMS, Program

import tracejit
import tracejit.program.invocation
import tracejit.program.specialisation
from tracejit.codegen import loop_costs, stretches
from tracejit.tree import flatten

for _module in pkgutil.iter_modules(programs.__path__, "programs."):
    importlib.import_module(_module.name)

PART = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
SHARE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, *(ctypes.c_int64,) * 5)


@pytest.fixture(autouse=True)
def short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stretches be as short as they can be."""
    monkeypatch.setattr(loop_costs, "STRETCH", 1)
    monkeypatch.setattr(loop_costs, "VECTORS", 1)
    monkeypatch.setattr(stretches, "LEAST", 1)


class AnyOrder:
    """In place of the pool: one thread does all stretches, in another order at each call."""

    def __init__(self) -> None:
        self.loops = self.stretches = 0
        self.choose = random.Random(0)
        self.function = SHARE(self._share)
        self.address = ctypes.cast(self.function, ctypes.c_void_p).value or 0

    def _share(self, part: int, table: int, lo: int, hi: int, grain: int, threads: int,
               poll: int) -> int:
        starts = [*range(lo, hi, grain)]
        self.choose.shuffle(starts)
        self.loops, self.stretches = self.loops + 1, self.stretches + len(starts)
        for first in starts:
            PART(part)(table, first, min(first + grain, hi))
        return 0


@pytest.fixture
def any_order(monkeypatch: pytest.MonkeyPatch) -> Callable[[], AnyOrder]:
    def replace_the_pool() -> AnyOrder:
        pool = AnyOrder()
        for module in (tracejit.program.invocation, tracejit.program.specialisation):
            monkeypatch.setattr(module, "parallel_for_address", lambda: pool.address)
        return pool

    return replace_the_pool


def same(a: Any, b: Any) -> bool:
    """Whether two results, or nests of them, have the same bits."""
    pairs = [*zip(flatten(a)[0], flatten(b)[0], strict=True)]
    return all(np.asarray(x).dtype == np.asarray(y).dtype and np.shape(x) == np.shape(y)
               and np.asarray(x).tobytes() == np.asarray(y).tobytes() for x, y in pairs)


def close(a: Any, b: Any) -> None:
    for x, y in zip(flatten(a)[0], flatten(b)[0], strict=True):
        rtol = 3e-5 if np.asarray(x).dtype in (np.float32, np.complex64) else 1e-11
        scale = np.max(np.abs(y), initial=0.0, where=np.isfinite(y))
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol * scale)


# --- programs -------------------------------------------------------------------------------------

R = np.random.default_rng(0)
X, Y, A = R.standard_normal(500), R.uniform(0.5, 2.0, 500), R.standard_normal((40, 30))
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}


def case(*args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def enter(f: Callable[..., Any]) -> Callable[..., Any]:
        CASES[f.__name__] = f, args
        return f
    return enter


@case(X)
def elementwise(x: Any) -> Any:
    return np.exp(np.sin(x)) * x


@case(R.standard_normal(20_000))
def sum_of_many(x: Any) -> Any:
    return np.sum(np.tanh(x) * x)


@case(R.standard_normal(20_000).astype(np.float32))
def sum_of_float32(x: Any) -> Any:
    return np.mean(x * x), np.sum(x)


@case(X + 1j * Y)
def sum_of_complex(x: Any) -> Any:
    return np.sum(np.exp(x)) * x[0]


@case(np.arange(20_000) % 13)
def sum_of_integers(x: Any) -> Any:
    return np.sum(x * x), x // 3


@case(A)
def rows(a: Any) -> Any:
    b = np.exp(a - a.max(axis=1, keepdims=True))
    return b / b.sum(axis=1, keepdims=True)


@case(A)
def columns(a: Any) -> Any:
    return (a * a).sum(axis=0), np.cos(a).mean(axis=0)


@case(A)
def extremes(a: Any) -> Any:
    b = np.tanh(a)
    return b.max(), b.min(), (b * b.sum(axis=1, keepdims=True)).sum(), b.argmax()


@case(R.standard_normal((60, 3)))
def pairs(p: Any) -> Any:
    d = p[:, None, :] - p[None, :, :]
    return np.sum(1.0 / np.sqrt(np.sum(d * d, axis=-1) + 0.1))


@case(R.standard_normal(30), A)
def matrix_and_vector(w: Any, a: Any) -> Any:
    z = a @ w
    return np.sum(np.log1p(np.exp(z)) - z * 0.3)


@case(R.standard_normal((30, 30)), 4)
def sweeps(a: Any, steps: Any) -> Any:
    a, b = a.copy(), a.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[2:, 1:-1])
        a[1:-1, 1:-1] = 0.3 * (b[1:-1, 1:-1] + b[1:-1, 2:] + b[:-2, 1:-1])
    return np.sum(a * a)


@case(X)
def running(x: Any) -> Any:
    return np.cumsum(x * x), np.sort(x), np.diff(x)


@case(X, np.arange(500)[::-1] % 37)
def places_by_data(x: Any, places: Any) -> Any:
    y = np.zeros(40)
    np.add.at(y, places, x)
    return y, x[places] * 2.0


@case(X)
def shifted(x: Any) -> Any:
    z = np.zeros(len(x))
    z[1:] = x[:-1]
    z[::3] += 1.0
    return np.sum(z * x)


@case(X)
def in_place(x: Any) -> Any:
    x[1:] = x[:-1] + x[1:]
    x[0] = np.sum(x)
    return x * 2.0


@case(A)
def outer_products(a: Any) -> Any:
    u, v = a.sum(axis=1), a.sum(axis=0)
    return np.outer(u, v) * a + a.T.sum()


@case(np.zeros((0, 4)))
def nothing(a: Any) -> Any:
    return np.sum(np.exp(a)), a.sum(axis=0), a * 2.0


@case(np.ones(1))
def one_element(x: Any) -> Any:
    return np.sum(x * x) + x


@case(R.standard_normal((9, 20, 30)), R.standard_normal((9, 30, 25)))
def products_of_many(a: Any, b: Any) -> Any:
    return np.sum(np.tanh(a @ b) ** 2)


def many_orbits(e: Any, m: Any) -> Any:
    anomaly = m
    for _ in range(20):
        anomaly = anomaly - (anomaly - e * np.sin(anomaly) - m) / (1.0 - e * np.cos(anomaly))
    return anomaly


@case(X, Y)
def branches(x: Any, y: Any) -> Any:
    return np.where(x > 0.0, np.sqrt(np.abs(x)), np.exp(x)) / y


def _variants(name: str) -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Return a case, and the gradient of a sum of its results, with arguments."""
    f, args = CASES[name]

    def total(*xs: Any) -> Any:
        found = f(*xs)
        found = found if isinstance(found, tuple) else (found,)
        return sum(np.sum(np.real(y) * (0.5 + k)) for k, y in enumerate(found))

    is_differentiable = np.asarray(args[0]).dtype.kind in "fc"
    return [(f, args), *([(tracejit.value_and_grad(total), args)] if is_differentiable else [])]


def copies(args: tuple[Any, ...]) -> list[Any]:
    return [x.copy() if isinstance(x, np.ndarray) else x for x in args]


@pytest.mark.parametrize("name", sorted(CASES))
def test_bits_are_the_same_for_all_numbers_of_threads_and_orders(
        name: str, any_order: Callable[[], AnyOrder]) -> None:
    variants = [(tracejit.jit(f), args) for f, args in _variants(name)]
    expected = []
    for f, args in variants:
        alone, shared = f(*copies(args)), []
        for threads in (1, 2, 3, 7):
            given = copies(args)
            with tracejit.config(threads=threads):
                shared.append((f(*given), given))
        assert all(same(s, shared[0]) for s in shared)
        close(shared[0][0], alone)
        expected.append(shared[0])
    pool = any_order()
    for (f, args), known in zip(variants, expected, strict=True):
        for _ in range(3):
            given = copies(args)
            with tracejit.config(threads=2):
                assert same((f(*given), given), known)
    assert pool.stretches


@pytest.mark.parametrize("program", [p for p in PROGRAMS if not p.refused and not p.wrong],
                         ids=str)
def test_programs_of_the_gallery_in_every_order(program: Program,
                                                any_order: Callable[[], AnyOrder]) -> None:
    any_order()
    args = program.arguments(program.sizes[-1])
    g = tracejit.value_and_grad(program.function, argnums=program.argnums)
    alone = g(*copies(args))
    with tracejit.config(threads=2):
        found = [g(*copies(args)) for _ in range(3)]
    assert same(found[0], found[1]) and same(found[0], found[2])
    close(found[0], alone)


def test_vmap_is_shared(any_order: Callable[[], AnyOrder]) -> None:
    e, m = Y / 4.0, X
    expected = tracejit.vmap(many_orbits)(e, m)
    pool = any_order()
    assert same(tracejit.vmap(many_orbits, threads=2)(e, m), expected)
    assert pool.stretches >= len(e)
    slopes = tracejit.vmap(tracejit.grad(many_orbits, threads=2), threads=2)
    close(slopes(e, m), tracejit.vmap(tracejit.grad(many_orbits))(e, m))


def counted(x: Any, k: Any) -> Any:
    s = x
    for _ in range(k):
        s = np.sin(s) + x
    return s


def left_early(x: Any) -> Any:
    s = x
    for _ in range(10 ** 18):
        s = np.cos(s)
        if s > 0.5:
            break
    return s


@pytest.mark.parametrize("k", [-3, 0, 5])
def test_bounds_of_loops_may_be_any_numbers(k: int, any_order: Callable[[], AnyOrder]) -> None:
    pool = any_order()
    alone = tracejit.vmap(counted, in_axes=(0, None))(X, k)
    assert same(tracejit.vmap(counted, in_axes=(0, None), threads=2)(X, k), alone)
    found = tracejit.vmap(left_early, threads=2)(X)
    assert same(found, tracejit.vmap(left_early)(X))
    assert pool.stretches


def test_a_few_long_rows_are_summed_without_stretches(any_order: Callable[[], AnyOrder],
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stretches, "LEAST", 64)
    loops = []
    for rows in (20, 300):
        pool = any_order()
        a = np.ones((rows, 6))
        assert same(tracejit.jit(lambda a: a.sum(axis=0), threads=2)(a), a.sum(axis=0))
        loops.append(pool.stretches)
    assert loops == [6, 5]  # columns; stretches of 64 rows


# --- what is not shared ---------------------------------------------------------------------------


def _parts(f: Callable[..., Any], *args: str) -> list[Any]:
    with tracejit.config(verify=False):
        return list(tracejit.jit(f, threads=2).trace(*args).lower().kernel.parts)


def test_recurrences_are_not_shared() -> None:
    def recurrence(x: Any) -> Any:
        y = np.zeros(len(x))
        for i in range(1, len(x)):
            y[i] = 0.5 * y[i - 1] + x[i]
        return y

    assert not any(p.loop.blocks for p in _parts(recurrence, "f64[n]"))
    assert not _parts(lambda x: np.cumsum(x), "f64[n]")


def test_searches_are_shared_and_find_the_first() -> None:
    assert _parts(lambda x: np.argmax(x), "f64[n]")
    x = np.random.default_rng(0).integers(0, 1000, 100_000).astype(float)
    for values in (x, np.where(x == 500.0, np.nan, x)):
        for threads in (1, 2, 3):
            found = tracejit.jit(lambda x: (np.argmax(x), np.argmin(x)), threads=threads)(values)
            assert found == (np.argmax(values), np.argmin(values))


def test_without_threads_there_are_no_parts() -> None:
    lowered = tracejit.jit(elementwise).trace("f64[n]").lower()
    assert not lowered.kernel.parts and "parallel_for" not in lowered.source


# --- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [0, -1, 1.5, "two", True, [2]])
def test_a_wrong_number_of_threads_is_said(threads: Any) -> None:
    with pytest.raises(ValueError, match=r'threads is a number of threads from 1 on, "auto"'):
        tracejit.jit(elementwise, threads=threads)
    with pytest.raises(ValueError, match="threads"), tracejit.config(threads=threads):
        pass


def test_the_setting_holds_within_its_block(any_order: Callable[[], AnyOrder]) -> None:
    pool = any_order()
    f = tracejit.jit(elementwise)
    expected = f(X)
    with tracejit.config(threads=2):
        close(f(X), expected)  # functions of single numbers, not of vectors
        shared = pool.loops
    assert shared > 0
    assert same(f(X), expected)
    assert pool.loops == shared


def test_auto_heeds_the_limits_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    from tracejit.configuration import thread_count

    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert thread_count("auto") == 1
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert thread_count("auto") == len(os.sched_getaffinity(0))
    assert thread_count(3) == 3 and thread_count(None) == 1


# --- the pool -------------------------------------------------------------------------------------


def test_callers_in_several_threads_do_not_disturb_each_other() -> None:
    f = tracejit.value_and_grad(sum_of_many, threads=3)
    args = [R.standard_normal(9000 + k) for k in range(4)]
    expected = [f(x) for x in args]
    wrong: list[int] = []

    def call(k: int) -> None:
        wrong.extend(k for _ in range(100) if not same(f(args[k]), expected[k]))

    callers = [threading.Thread(target=call, args=(k,)) for k in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


SCRIPT = """
import os, signal, threading, time
import numpy as np
import tracejit

def f(x):
    return np.sum(np.tanh(x) * x)

g = tracejit.value_and_grad(f, threads=3)
x = np.linspace(-1.0, 1.0, 50_000)
"""


def _run(text: str, **environment: str) -> str:
    done = subprocess.run([sys.executable, "-c", "import runpy, sys; runpy.run_path(sys.argv[1])",
                           text], capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_children_that_were_forked_share_with_threads_of_their_own(tmp_path: Any) -> None:
    path = tmp_path / "forks.py"
    path.write_text(SCRIPT + textwrap.dedent("""
        expected = g(x)[1].tobytes()
        for k in range(5):
            pid = os.fork()
            if pid == 0:
                os._exit(0 if all(g(x)[1].tobytes() == expected for _ in range(20)) else 1)
            assert os.waitpid(pid, 0)[1] == 0
            assert g(x)[1].tobytes() == expected
        print("equal")
    """))
    assert _run(str(path)) == "equal\n"


def test_a_shared_loop_can_be_left(tmp_path: Any) -> None:
    path = tmp_path / "left.py"
    path.write_text(SCRIPT + textwrap.dedent("""
        def orbit(m):
            s = m
            for _ in range(10 ** 7):
                s = np.cos(s)
            return s

        many = tracejit.vmap(orbit, threads=2)
        many.warmup(("f64[n]",))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        try:
            many(np.linspace(0.0, 1.0, 100_000))
        except KeyboardInterrupt:
            print("left", time.monotonic() - start < 60.0)
        print(len(g(x)[1]))
    """))
    assert _run(str(path)) == "left True\n50000\n"


def test_another_process_finds_the_program_in_the_store(tmp_path: Any) -> None:
    path = tmp_path / "stored.py"
    path.write_text(SCRIPT + textwrap.dedent("""
        import sys
        value, slopes = g(x)
        print(value.hex(), hash(slopes.tobytes()), "numba" in sys.modules)
    """))
    folder = {"TRACEJIT_CACHE_DIR": str(tmp_path / "store"), "TRACEJIT_CACHE": "1",
              "PYTHONHASHSEED": "0"}
    first, second = _run(str(path), **folder), _run(str(path), **folder)
    assert first.replace("True", "False") == second


def test_exported_and_njit_callers_run_parts_themselves(tmp_path: Any) -> None:
    import numba

    f = tracejit.jit(sum_of_many, threads=2)
    x = CASES["sum_of_many"][1][0]

    @numba.njit
    def caller(x: Any) -> Any:
        return f(x)

    assert same(np.float64(caller(x)), np.float64(f(x)))
    files = f.trace("f64[n]").lower().compile().export(tmp_path / "sum.o")
    assert [p.name for p in files] == ["sum.h", "sum.o"]


def test_signals_stay_with_the_main_thread() -> None:
    tracejit.jit(elementwise, threads=3)(X)
    tasks = f"/proc/{os.getpid()}/task"
    blocked = [text for t in os.listdir(tasks) for text in [_blocked(f"{tasks}/{t}/status")]
               if text is not None]
    assert sum(mask >> (signal.SIGINT - 1) & 1 for mask in blocked) >= 1


def _blocked(path: str) -> int | None:
    with open(path, encoding="ascii") as file:
        return next((int(line.split()[1], 16) for line in file if line.startswith("SigBlk")), None)
