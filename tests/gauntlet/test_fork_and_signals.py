"""Forks and signals at any moment: no child hangs, and a signal handler's error gets out."""

from __future__ import annotations

import ast
import functools
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.trace import attempt
from tracejit.trace.ground.active import CAPTURES
from tracejit.trace.hooks.hooks import Hooks
from tracejit.trace.regions.loop_tracer import LoopTracer

ROOT = Path(__file__).parents[2]

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")


def run(script: str, folder: Path, **environment: str) -> Any:
    """Return the last line that a script prints in a process of its own, as JSON."""
    path = folder / "script.py"
    path.write_text(script)
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", str(path)], capture_output=True,
        text=True, timeout=300, check=False, cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TRACEJIT_CACHE": "0", **environment})
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


# --- forks ----------------------------------------------------------------------------------------

HELD = """
import importlib, json, os, signal, sys, threading
import numpy as np
import tracejit
from tracejit.program import forks

forks.PATIENCE = {patience}
ready = tracejit.grad(lambda x: np.sum(x ** 3))
ready(np.ones(3))

def attempt(function):
    try:
        return list(function(np.ones(3)))
    except RuntimeError as e:
        return str(e)

def child(write):
    signal.alarm(60)
    found = [attempt(ready), attempt(tracejit.grad(lambda x: np.sum(x ** 2)))]
    os.write(write, json.dumps(found).encode())
    os._exit(0)

results = {{}}
for module, path in {locks}:
    owner = importlib.import_module(module)
    for step in path.split("."):
        owner = getattr(owner, step)
    held, done = threading.Event(), threading.Event()

    def hold():
        with owner:
            held.set()
            done.wait({hold})

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        child(write)
    done.set()
    os.close(write)
    with open(read) as f:
        results[module + ":" + path] = f.read()
    os.waitpid(process, 0)
    thread.join()
print(json.dumps(results))
"""


def known_locks() -> list[tuple[str, str]]:
    from tracejit.program.forks import _LOCKS

    return [lock for lock in _LOCKS if "cuda" not in lock[0]]


@needs_fork
@pytest.mark.parametrize(("patience", "hold"), [(20.0, 0.2), (0.05, 30.0)])
def test_a_child_forked_while_a_lock_is_held_calls_and_compiles_or_says_what_to_do(
        tmp_path: Path, patience: float, hold: float) -> None:
    """Each lock in turn: the fork waits for it, or where it cannot the child's compilation says."""
    script = HELD.format(patience=patience, hold=hold, locks=known_locks())
    for lock, text in run(script, tmp_path).items():
        assert text, f"the child hung on {lock}"
        called, compiled = json.loads(text)
        assert called == [3.0, 3.0, 3.0]
        if patience > 1.0:
            assert compiled == [2.0, 2.0, 2.0]
        else:
            assert "forked while another thread compiled" in compiled
            assert ".warmup()" in compiled


def test_every_lock_of_a_module_is_known_to_forks() -> None:
    """Locks made at the top of a module, or held by an object made there; devices do not fork."""
    from tracejit.program.forks import _LOCKS

    known = {(module, path.split(".")[0]) for module, path in _LOCKS}
    for top, name in (("tracejit", "tracejit"), ("codegen", "tracejit.codegen")):
        for path in (ROOT / top).rglob("*.py"):
            module = ".".join((name, *path.relative_to(ROOT / top).with_suffix("").parts))
            tree = ast.parse(path.read_text())
            makers = {c.name for c in tree.body if isinstance(c, ast.ClassDef) and _locks(c)}
            for node in tree.body:
                if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
                    continue
                names = {getattr(n, "id", "") for n in ast.walk(node.value)}
                if _locks(node.value) or makers & names:
                    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                    assert (module, ast.unparse(target)) in known


def _locks(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Call) and ast.unparse(n.func).endswith(("Lock", "Condition"))
               for n in ast.walk(node))


def test_the_locks_that_forks_know_are_there() -> None:
    from tracejit.program.forks import _LOCKS, _lock_of

    for module, path in _LOCKS:
        if "cuda" not in module:
            importlib.import_module(module)
            assert hasattr(_lock_of(module, path), "_at_fork_reinit"), (module, path)


COMPILING = """
import json, os, random, signal, sys, threading, time
import numpy as np
import tracejit

ready = tracejit.grad(lambda x: np.sum(x ** 3))
ready(np.ones(3))

def slow(x):
    s = x
    for k in [float(i) for i in range(60)]:
        s = s + np.sum(np.sin(x * k)) * k
    return np.sum(s * x)

exits = []
rng = random.Random({seed})
for _ in range(3):
    thread = threading.Thread(target=lambda: tracejit.grad(lambda x: slow(x))(np.ones(3)))
    thread.start()
    time.sleep(rng.uniform(0.0, 0.8))
    process = os.fork()
    if process == 0:
        signal.alarm(100)
        good = ready(np.ones(3))[0] == 3.0
        good &= tracejit.grad(lambda x: np.sum(x ** 2))(np.ones(3))[0] == 2.0
        os._exit(0 if good else 1)
    exits.append(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
    thread.join()
print(json.dumps(exits))
"""


@needs_fork
@pytest.mark.parametrize("seed", [0, 1])
def test_a_child_forked_in_the_middle_of_a_compilation_compiles(tmp_path: Path, seed: int) -> None:
    assert run(COMPILING.format(seed=seed), tmp_path) == [0, 0, 0]


# --- signals --------------------------------------------------------------------------------------

HANDLER = """
import json, random, signal, sys
import numpy as np
import tracejit

class Mine(Exception):
    pass

def handler(*args):
    raise {error}

signal.signal(signal.SIGALRM, handler)

def attempt(call, *args):
    try:
        return [type(call(*args)).__name__, ""]
    except BaseException as e:
        return [type(e).__name__, str(e)]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
"""
RUNNING = HANDLER + """
def endless(x):
    s = x
    while s > -2.0:
        s = np.cos(s)
    return s

def short(x):
    return np.cos(x) * x

tracejit.grad(short)(0.5), tracejit.vmap(short)(np.ones(2))  # imports what compilations need
slow, found = tracejit.jit(endless), []
for g, args in ((slow, (0.5,)), (slow, (0.5,)), (tracejit.vmap(endless), (np.array([0.5]),)),
                (tracejit.grad(endless), (0.5,))):
    signal.setitimer(signal.ITIMER_REAL, 1.5)
    found.append(attempt(g, *args))
print(json.dumps(found))
"""
ERRORS = ["TimeoutError('late')", "Mine('late')", "KeyboardInterrupt('late')", "ValueError('late')",
          "OSError('late')", "SystemExit('late')"]


@pytest.mark.parametrize("error", ERRORS)
def test_a_running_kernel_ends_with_what_the_handler_raised(tmp_path: Path, error: str) -> None:
    """In the first call, by ctypes, as in later ones, by the fast entry."""
    found = run(RUNNING.format(error=error), tmp_path)
    assert found == [[error.partition("(")[0], "late"]] * 4


WHILE_COMPILING = HANDLER + """
def f(x):
    s = x
    for k in [float(i) for i in range(25)]:
        s = s + np.sum(np.sin(x * k)) * k
    return np.sum(s * x)

tracejit.grad(lambda x: f(x))(np.ones(3))
rng, found, before = random.Random({seed}), set(), signal.getsignal(signal.SIGALRM)
sys.unraisablehook = lambda *args: None  # what a handler raises in a `__del__`
for k in range(8):
    g = tracejit.grad(lambda x: f(x) + k)
    signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.001, 0.4))
    found.add(tuple(attempt(g, np.ones(3))))
    assert signal.getsignal(signal.SIGALRM) is before
    assert g(np.ones(3)).shape == (3,)  # it can be tried again
print(json.dumps(sorted(found)))
"""


@pytest.mark.parametrize(("error", "cache"), [
    *((error, "0") for error in ERRORS[:5]), (ERRORS[0], "1")])
def test_a_compilation_ends_with_what_the_handler_raised(tmp_path: Path, error: str,
                                                         cache: str) -> None:
    """Nowhere is it taken for a fault of tracejit, or for a failure of the store."""
    found = run(WHILE_COMPILING.format(error=error, seed=len(error)), tmp_path,
                TRACEJIT_CACHE=cache, TRACEJIT_CACHE_DIR=str(tmp_path / "cache"))
    assert {tuple(x) for x in found} <= {(error.partition("(")[0], "late"), ("ndarray", "")}
    assert len(found) > 1 or found[0][1] == "late"


FIRST = HANDLER + """
import importlib.abc, os

class Late(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "{module}" and self in sys.meta_path:
            sys.meta_path.remove(self)
            {late}

def interrupt():
    os.kill(os.getpid(), signal.SIGALRM)

def cut_off_registration():
    from numba.core import utils
    seen = []

    def stream_list(items):
        start = 0
        while True:
            seen.append(items)
            if len(seen) == {count}:
                interrupt()
            stop = len(items)
            yield iter(items[start:stop])
            start = stop

    utils.stream_list = stream_list

sys.meta_path.insert(0, Late())
g = tracejit.grad(lambda x: np.sum(np.sin(x) * x))
print(json.dumps([attempt(g, np.zeros(3)), attempt(g, np.zeros(3))]))
"""


@pytest.mark.parametrize(("module", "late", "count"), [
    ("numba.core.cpu", "interrupt()", 0), ("numba.core.typing", "interrupt()", 0),
    ("tracejit.codegen.translation", "cut_off_registration()", 1),
    ("tracejit.codegen.translation", "cut_off_registration()", 4)])
def test_the_first_compilation_of_a_process_can_be_tried_again(tmp_path: Path, module: str,
                                                               late: str, count: int) -> None:
    """What an exception cuts off in Numba stays so: half of an import, or of its functions."""
    found = run(FIRST.format(error="KeyboardInterrupt('late')", module=module, late=late,
                             count=count), tmp_path)
    assert found == [["KeyboardInterrupt", "late"], ["ndarray", ""]]


def test_a_capture_that_is_cut_off_anywhere_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A handler's error may come between any two instructions, in `__exit__` too."""
    class CutOff:
        def __init__(self, trace: Any) -> None:
            self.trace = trace

        def __enter__(self) -> Any:
            CAPTURES.traces.append(self.trace)
            return self.trace

        def __exit__(self, *error: object) -> None:
            raise TimeoutError

    f = lambda x: np.sum(np.sin(x) * x)  # noqa: E731
    with tracejit.config(disable_jit=True):
        with monkeypatch.context() as patch:
            patch.setattr(attempt, "active", CutOff)
            with pytest.raises(TimeoutError):
                tracejit.grad(f)(np.ones(3))
        assert not CAPTURES.traces
        assert gc.isenabled()
        np.testing.assert_allclose(tracejit.grad(f)(np.ones(3)), np.sin(1.0) + np.cos(1.0))


STAGES = HANDLER + """
import os
from tracejit.{package} import {module} as module

f = lambda x: np.sum(np.sin(x) * x)
kept = module.{name}

def late(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGALRM)
    return kept(*args, **kwargs)

module.{name} = late
traced = tracejit.grad(f).trace(np.ones(3))
print(json.dumps([attempt(tracejit.grad(f), np.ones(3)),
                  attempt(lambda: traced.lower().compile())]))
"""


@pytest.mark.parametrize(("package", "module", "name"), [
    ("runtime", "stages", "load_source"), ("runtime", "stages", "unroll_and_jam"),
    ("program", "emitted", "_file_of"), ("codegen", "compile", "_translate")])
def test_a_stage_ends_with_what_the_handler_raised(tmp_path: Path, package: str, module: str,
                                                   name: str) -> None:
    found = run(STAGES.format(error="TimeoutError('late')", package=package, module=module,
                              name=name), tmp_path)
    assert ["TimeoutError", "late"] in found
    assert all(x in (["TimeoutError", "late"], ["ndarray", ""], ["Compiled", ""]) for x in found)


HANDLERS = """
import json, signal
import numpy as np
import tracejit
from tracejit.signals import keeping_signals

BEFORE = signal.getsignal(signal.SIGINT)  # ignored, where a shell began it in the background
first, second = (lambda *a: None), (lambda *a: None)
signal.signal(signal.SIGUSR1, first)
signal.signal(signal.SIGUSR2, signal.SIG_IGN)
with keeping_signals():
    signal.signal(signal.SIGUSR2, second)
    tracejit.grad(lambda x: x * x)(2.0)
print(json.dumps([signal.getsignal(signal.SIGUSR1) is first,
                  signal.getsignal(signal.SIGUSR2) is second,
                  signal.getsignal(signal.SIGINT) is BEFORE]))
"""


def test_handlers_are_what_they_were(tmp_path: Path) -> None:
    assert run(HANDLERS, tmp_path) == [True, True, True]


def _carried(x: Any) -> Any:
    total = 0
    for v in x:
        for w in x:
            if v > w:
                total = total + v * w
    return total


def _found(x: Any) -> Any:
    best = None
    for k in range(len(x)):
        if x[k] > 0.5:
            best = x[k]
    return 0.0 if best is None else best


def _rests_on_a_guess(x: Any) -> Any:
    last: Any = None
    for k in range(len(x)):
        if last is not None and last.ndim > 3:
            return x
        last = x * float(k)
    return last


class _Handler:
    def __init__(self, error: type[Exception]) -> None:
        self.error = error

    def __call__(self, *_: object) -> None:
        raise self.error("late")


@pytest.mark.parametrize("error", [TimeoutError, ValueError, KeyError, IndexError, TypeError,
                                   ZeroDivisionError, RuntimeError])
@pytest.mark.parametrize(("function", "owner", "stage"), [
    (_carried, Hooks, "compare"), (_found, Hooks, "compare"), (_rests_on_a_guess, Hooks, "compare"),
    (_carried, LoopTracer, "_improve"), (_rests_on_a_guess, LoopTracer, "_improve")])
def test_a_capture_of_loops_ends_with_what_the_handler_raised(
        monkeypatch: pytest.MonkeyPatch, function: Any, owner: Any, stage: str,
        error: type[Exception]) -> None:
    kept, before = getattr(owner, stage), signal.getsignal(signal.SIGUSR1)
    left = 0

    def interrupted(*operands: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            signal.raise_signal(signal.SIGUSR1)
        return kept(*operands)

    monkeypatch.setattr(owner, stage, interrupted)
    handler = _Handler(error)
    forms = (handler, handler.__call__, lambda *_: handler(), functools.partial(handler))
    try:
        for handling in forms:
            left = 1
            signal.signal(signal.SIGUSR1, handling)
            with tracejit.config(disable_jit=True), pytest.raises(error, match="late"):
                tracejit.jit(lambda x: function(x))(np.array([0.3, 0.9, 0.1]))
            assert left == 0, "the capture went on"
    finally:
        signal.signal(signal.SIGUSR1, before)
