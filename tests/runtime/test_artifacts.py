"""The store of compiled programs: when they are found, when not and why, and damage to them."""

from __future__ import annotations

import dataclasses
import functools
import json
import logging
import math
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from test_gallery import PROGRAMS

import tracejit
from tracejit.runtime import making
from tracejit.store import environment, store

ROOT = Path(__file__).parents[2]
X = np.array([0.3, 0.5, 0.9])


@pytest.fixture
def made(tmp_path: Path, monkeypatch: Any) -> Iterator[list[str]]:
    """Switch the store on; yield the names of the programs that were compiled."""
    names: list[str] = []
    make = making.make
    monkeypatch.setattr(making, "make", lambda call: names.append(
        getattr(call.function, "__name__", "?")) or make(call))
    monkeypatch.setattr(store, "_WARNED", set())
    with tracejit.config(cache=True, cache_dir=str(tmp_path / "cache")):
        yield names


def artifacts(tmp_path: Path) -> list[Path]:
    return sorted(p.parent for p in (tmp_path / "cache").glob("artifacts/*/*/manifest.json"))


class Project:
    """Modules in a folder, and scripts that are run with a store of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "TRACEJIT_CACHE": "1", "PYTHONPATH": str(ROOT),
                            "TRACEJIT_CACHE_DIR": str(folder / "cache")}

    def write(self, **modules: str) -> None:
        for name, text in modules.items():
            (self.folder / f"{name}.py").write_text(text)

    def start(self, script: str) -> Any:
        return subprocess.Popen([sys.executable, "-c", script], cwd=self.folder, text=True,
                                env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def run(self, script: str) -> Any:
        """Return the last line of a script's output, read as JSON."""
        process = self.start(script)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        return json.loads(out.splitlines()[-1])


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


# --- a fresh process ----------------------------------------------------------------------------

MODEL = """
import numpy as np
import tracejit
import helpers

RATE = 0.5
COUNT = 3

@tracejit.value_and_grad
def loss(w, x, power=2):
    '''Sum something up.'''
    total = 0.0
    for i in range(COUNT):
        total += np.sum(helpers.curve(w * RATE) @ x)
    if total > 1e6:
        raise ValueError("too much")
    return total ** power
"""
HELPERS = """
import numpy as np

ORDER = [1, 2]

def largest(k):
    return ORDER[k]

def curve(x):
    k = max([0, 1], key=largest)
    return np.exp(np.tanh(x)) * (k + 1.0)

def unrelated(x):
    return x
"""
CALL = """
import json, sys
import numpy as np
import model
w, x = np.linspace(0.0, 1.0, 5), np.arange(15.0).reshape(5, 3)
value, slope = model.loss(w, x)
print(json.dumps([value.hex(), slope.tobytes().hex(), "numba" in sys.modules,
                  sorted(m for m in sys.modules if m.startswith("tracejit.trace."))]))
"""
LIGHT = {f"tracejit.trace.{name}" for name in (
    "ground", "ground.active", "ground.attributes", "ground.callbacks", "ground.dependencies",
    "ground.facts", "ground.faults", "ground.modules", "ground.strangers", "state", "state.guards",
    "state.paths", "values", "values.eager", "values.specs")}


def test_a_fresh_process_finds_the_program_and_imports_neither_numba_nor_the_tracer(
        project: Project) -> None:
    project.write(model=MODEL, helpers=HELPERS)
    first, second = project.run(CALL), project.run(CALL)
    assert first[2] and not second[2]
    assert set(second[3]) <= LIGHT
    assert first[:2] == second[:2]


CHANGES: dict[str, tuple[dict[str, tuple[str, str]], str]] = {
    "a callee in another file": ({"helpers": ("np.tanh(x)", "np.tanh(2.0 * x)")}, "curve"),
    "a number that is no input": ({"model": ("COUNT = 3", "COUNT = 4")}, "COUNT"),
    "a default": ({"model": ("power=2", "power=3")}, "a default of model:loss"),
    "a name that hides a builtin": ({"model": (
        "RATE = 0.5", "RATE = 0.5\ndef range(n): return [0]")}, "the builtin"),
    "what a function reads that Python calls": (
        {"helpers": ("ORDER = [1, 2]", "ORDER = [3, 2]")}, "ORDER"),
    "the code": ({"model": ("total ** power", "total ** power * 2.0")}, "the code"),
}
KEPT: dict[str, dict[str, tuple[str, str]]] = {
    "a comment": {"model": ("    total = 0.0", "    # a sum\n    total = 0.0  # begins here")},
    "an unrelated function": {"helpers": ("return x\n", "return x + 1.0\n")},
    "a number that is an input": {"model": ("RATE = 0.5", "RATE = 0.25")},
    "nothing but the time": {},
}
EXPLAIN = """
import json
import numpy as np
import model, tracejit
w, x = np.linspace(0.0, 1.0, 5), np.arange(15.0).reshape(5, 3)
print(json.dumps(tracejit.cache.explain(model.loss, w, x)))
"""


def changed(project: Project, changes: dict[str, tuple[str, str]]) -> None:
    texts = {"model": MODEL, "helpers": HELPERS}
    for name, (old, new) in changes.items():
        assert old in texts[name]
        texts[name] = texts[name].replace(old, new)
    project.write(**texts)


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_a_miss_with_its_reason(project: Project, what: str) -> None:
    changes, reason = CHANGES[what]
    changed(project, {})
    before = project.run(CALL)
    changed(project, changes)
    assert reason in project.run(EXPLAIN)
    after = project.run(CALL)
    assert after[2]
    assert after[1] != before[1]
    changed(project, {})
    assert project.run(CALL)[:3] == [*before[:2], False]  # the old one is still there


@pytest.mark.parametrize("what", KEPT)
def test_what_does_not_matter_is_a_hit(project: Project, what: str) -> None:
    changed(project, {})
    before = project.run(CALL)
    changed(project, KEPT[what])
    after = project.run(CALL)
    assert not after[2]
    assert (after[1] != before[1]) == (what == "a number that is an input")


def test_an_error_names_the_line_that_moved(project: Project) -> None:
    script = CALL.replace("value, slope = model.loss(w, x)", """
import traceback
try:
    model.loss(w, 1e6 * x)
except ValueError as e:
    last = traceback.extract_tb(e.__traceback__)[-1]
    print(json.dumps([str(e), last.lineno, last.line, "numba" in sys.modules]))
    sys.exit()
""")
    changed(project, {})
    line = 1 + MODEL.splitlines().index('        raise ValueError("too much")')
    text = 'raise ValueError("too much")'
    assert project.run(script) == ["too much", line, text, True]
    assert project.run(script) == ["too much", line, text, False]
    changed(project, {"model": ("RATE = 0.5", "# one\n# two\nRATE = 0.5")})
    assert project.run(script) == ["too much", line + 2, text, False]


def test_a_registered_gradient_is_a_part_of_the_program(project: Project) -> None:
    text = """
import numpy as np
import tracejit

twice = tracejit.register_op("Twice", lambda x: 2.0 * x)

@tracejit.RegisterGradient("Twice")
def slope(op, grad):
    return 2.0 * grad

@tracejit.grad
def f(x):
    return np.sum(twice(x) ** 2)
"""
    call = """
import json, sys
import numpy as np, model
print(json.dumps([model.f(np.arange(3.0)).tolist(), "numba" in sys.modules]))
"""
    project.write(model=text)
    assert project.run(call) == [[0.0, 8.0, 16.0], True]
    assert project.run(call) == [[0.0, 8.0, 16.0], False]
    project.write(model=text.replace("return 2.0 * grad", "return 20.0 * grad"))
    assert project.run(call) == [[0.0, 80.0, 160.0], True]
    project.write(model=text.replace("lambda x: 2.0 * x", "lambda x: 3.0 * x"))
    assert project.run(call) == [[0.0, 12.0, 24.0], True]


@pytest.mark.parametrize("name", ["numpy", "processor features", "tracejit", "vector math"])
def test_another_version_is_a_miss_with_its_reason(made: list[str], name: str,
                                                   monkeypatch: Any) -> None:
    def f(x: Any) -> Any:
        return np.sum(x * x)

    tracejit.grad(f)(X)
    tracejit.grad(f)(X)
    assert made == ["f"]
    other = {**environment.describe_environment(), name: "0.0"}
    monkeypatch.setattr("tracejit.artifacts.loading.describe_environment", lambda: other)
    assert f"{name} " in tracejit.cache.explain(tracejit.grad(f), X)
    tracejit.grad(f)(X)
    assert made == ["f", "f"]


# --- what is found ------------------------------------------------------------------------------


@pytest.mark.parametrize("program", PROGRAMS[::12], ids=str)
def test_programs_from_the_store_give_what_they_gave(made: list[str], program: Any) -> None:
    """To the last bit, and a run-time size or another transform compiles anew."""
    results = [tracejit.jit(program.function)(*program.arguments(program.sizes[0]))
               for _ in range(2)]
    flat = [np.concatenate([np.ravel(np.asarray(x)) for x in np.atleast_1d(
        np.asarray(r, dtype=object)).ravel()]) for r in results]
    np.testing.assert_array_equal(*flat)
    told = tracejit.cache.explain(tracejit.jit(program.function),
                                  *program.arguments(program.sizes[0]))
    assert len(made) == (2 if "not kept" in told else 1)


class Model:
    scale = 2.0

    def __init__(self, n: int) -> None:
        self.n = n

    def curve(self, x: Any) -> Any:
        return np.sin(x) * self.scale

    def __call__(self, x: Any) -> Any:
        total = 0.0
        for _ in range(self.n):
            total = total + np.sum(self.curve(x))
        return total

    def curve_of_many(self, x: Any) -> Any:
        return self(x)


def closure(k: float, inner: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: np.sum(inner(x)) * k


def shifted(inner: Callable[[Any], Any], by: Any) -> Callable[[Any], Any]:
    return lambda x: inner(x * x + by)


def times(k: Any) -> Callable[[Any], Any]:
    return lambda x: x * k


def both(f: Any, g: Any) -> Callable[[Any], Any]:
    return lambda x: np.sum(f(x) * g(x))


def perhaps(f: Any, flag: bool) -> Callable[[Any], Any]:
    def call(x: Any) -> Any:
        if flag:
            return f(x)
        return x

    return call


MODEL_OF_THREE = Model(3)


@dataclasses.dataclass
class Point:
    x: Any
    k: float


class Pair(NamedTuple):
    x: Any
    k: float

    def total(self) -> Any:
        return np.sum(self.x) * self.k


PAIR = Pair(X, 2.0)
NAME = "pi"
TWICE = times(2.0)
TABLE = {"a": [1.0, 2.0], "b": (3, "c")}
def importing(x: Any) -> Any:
    from math import pi

    return np.sum(x) * pi


FOUND: dict[str, tuple[Callable[[], Any], tuple[Any, ...]]] = {
    "closures": (lambda: closure(2.0, np.cos), (X,)),
    "closures over functions": (lambda: closure(2.0, closure(3.0, np.cos)), (X,)),
    "partials": (lambda: functools.partial(lambda k, x: np.sum(x) * k, 2.0), (X,)),
    "closures over arrays": (lambda: shifted(shifted(np.sum, np.ones(3)), np.arange(3.0)), (X,)),
    "containers": (lambda: lambda x: np.sum(x) * TABLE["a"][1] + TABLE["b"][0], (X,)),
    "nests": (lambda: lambda p: np.sum(p["w"] * p["b"][0]), ({"w": X, "b": [2.0, None]},)),
    "functions with branches": (lambda: lambda x, flag: np.sum(x if flag else -x), (X, True)),
    "an attribute by its name": (lambda: lambda x: np.sum(x) * hasattr(math, NAME), (X,)),
    "an import": (lambda: importing, (X,)),
    "strings": (lambda: lambda x, kind: np.sum(x) * len(kind), (X, "abc")),
    "methods": (lambda: Model(3).__call__, (X,)),
    "objects": (lambda: lambda x: MODEL_OF_THREE(x), (X,)),
    "objects made anew": (lambda: Model(3), (X,)),
    "objects as arguments": (lambda: lambda x, m: m(x), (X, Model(3))),
    "data classes": (lambda: lambda p: np.sum(p.x * p.k), (Point(X, 2.0),)),
    "named tuples": (lambda: lambda p: np.sum(p.x * p.k), (Pair(X, 2.0),)),
    "methods of named tuples": (lambda: lambda p: p.total(), (Pair(X, 2.0),)),
    "named tuples from outside": (lambda: lambda x: np.sum(x) * PAIR.k, (X,)),
    "classes": (lambda: lambda x: np.sum(x) * Model.scale, (X,)),
    "matrix products": (lambda: lambda x: np.sum((np.outer(x, x) @ np.outer(x, x)) ** 2), (X,)),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_is_found_again(made: list[str], name: str) -> None:
    make, args = FOUND[name]
    first, second = (tracejit.value_and_grad(make())(*args) for _ in range(2))
    assert repr(first) == repr(second)
    assert len(made) == 1


CHANGING: dict[str, tuple[Callable[[int], Any], tuple[Any, ...]]] = {
    "a closure's int": (lambda k: lambda x: np.sum(x) * k, (X,)),
    "a default": (lambda k: lambda x, k=k: np.sum(x) * k, (X,)),
    "a partial's argument": (lambda k: functools.partial(lambda k, x: np.sum(x) * len(k),
                                                         "a" * k), (X,)),
    "an object's int": (lambda k: Model(k), (X,)),
    "what a method reads": (lambda k: Model(k).curve_of_many, (X,)),
    "what a partial's object has": (lambda k: functools.partial(Model.curve_of_many, Model(k)),
                                    (X,)),
    "two names of one function": (lambda k: both(TWICE, TWICE if k == 1 else times(5.0)), (X,)),
    "a closure that is not read": (lambda k: both(
        perhaps(None if k == 1 else times(7.0), False), times(2.0 + k)), (X,)),
    "an inner function": (lambda k: (lambda g: lambda x: np.sum(g(x)))(
        (lambda x: x * 1.0) if k == 1 else (lambda x: x * 2.0)), (X,)),
    "a transformed function inside": (lambda k: (lambda g: lambda x: np.sum(g(x, x)))(
        tracejit.grad(lambda x, y: np.sum(x * x * y), argnums=k - 1)), (X,)),
    "a gradient of one's own": (lambda k: (lambda g: lambda x: g(x))(
        tracejit.custom_gradient((lambda x: (np.sum(x), lambda ct: ct * x)) if k == 1 else (
            lambda x: (np.sum(x), lambda ct: ct * x * 2.0)))), (X,)),
}


HOW_MANY = {"a closure that is not read": 1}
"""How many programs are kept, if not two: a float is an input of one."""


@pytest.mark.parametrize("name", CHANGING)
def test_what_must_not_be_taken_for_another(made: list[str], name: str) -> None:
    make, args = CHANGING[name]
    slopes = [np.asarray(tracejit.grad(make(k))(*args)) for k in (1, 2, 1, 2)]
    with tracejit.config(disable_jit=True):
        expected = [np.asarray(tracejit.grad(make(k))(*args)) for k in (1, 2, 1, 2)]
    np.testing.assert_array_equal(slopes, expected)
    assert not np.array_equal(expected[0], expected[1])
    assert tracejit.cache.info().count == HOW_MANY.get(name, 2)


def test_a_class_whose_method_changed_is_another(made: list[str]) -> None:
    def of(power: int) -> Any:
        class Curve:
            if power == 2:
                def __call__(self, x: Any) -> Any:
                    return np.sum(x ** 2)
            else:
                def __call__(self, x: Any) -> Any:
                    return np.sum(x ** 3)

        curve = Curve()
        return lambda x: curve(x)

    for power in (2, 3, 2):
        np.testing.assert_allclose(tracejit.grad(of(power))(X), power * X ** (power - 1))


UNSTORABLE: dict[str, tuple[Callable[[], Any], str]] = {
    "the environment": (lambda: lambda x: np.sum(x) * len(os.environ), "_Environ"),
    "what an object is printed as": (lambda: lambda x: np.sum(x) * len(str(MODEL_OF_THREE)),
                                     "no guard sees"),
    "a file": (lambda: lambda x: np.sum(x) * len(open(__file__).name), "open"),
}


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", UNSTORABLE)
def test_what_another_process_could_not_know_is_not_kept(made: list[str], name: str,
                                                         tmp_path: Path) -> None:
    make, reason = UNSTORABLE[name]
    g = tracejit.grad(make())
    g(X)
    assert artifacts(tmp_path) == []
    assert reason in tracejit.cache.explain(g, X)


# --- harm ---------------------------------------------------------------------------------------


def square(x: Any) -> Any:
    return np.sum(x * x)


def check_square(made: list[str], compiled: int) -> None:
    del made[:]
    np.testing.assert_array_equal(tracejit.grad(square)(X), 2.0 * X)
    assert len(made) == compiled


@pytest.mark.parametrize("harm", ["flip", "cut", "empty", "gone"])
@pytest.mark.parametrize("name", ["manifest.json", "object.o"])
def test_damage_is_a_miss_with_a_warning(made: list[str], name: str, harm: str, tmp_path: Path,
                                         caplog: Any) -> None:
    check_square(made, 1)
    check_square(made, 0)
    (folder,) = artifacts(tmp_path)
    rng = random.Random(0)
    for _ in range(8):
        path = folder / name
        data = bytearray(path.read_bytes())
        if harm == "flip":
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        elif harm == "cut":
            del data[rng.randrange(len(data)):]
        path.unlink()
        if harm != "gone":
            path.write_bytes(b"" if harm == "empty" else bytes(data))
            path.chmod(0o600)
        tracejit.artifacts.loading._LOADED.clear()
        caplog.clear()
        store._WARNED.clear()
        with caplog.at_level(logging.WARNING, "tracejit"):
            check_square(made, 1)
        assert harm == "gone" or "is not used" in caplog.text
        check_square(made, 0)  # it has been replaced
        (folder,) = artifacts(tmp_path)
        tracejit.artifacts.loading._LOADED.clear()
        check_square(made, 0)
        assert harm == "gone" or tracejit.cache.verify() == []


def test_object_code_that_needs_what_is_not_here_is_not_loaded(made: list[str],
                                                               monkeypatch: Any) -> None:
    check_square(made, 1)
    tracejit.artifacts.loading._LOADED.clear()
    monkeypatch.setattr("tracejit.artifacts.loading.undefined_symbols",
                        lambda data: ["tracejit_no_such_symbol"])
    assert "tracejit_no_such_symbol" in tracejit.cache.explain(tracejit.grad(square), X)
    check_square(made, 1)


def test_a_folder_that_others_can_write_to_is_not_used(made: list[str], tmp_path: Path,
                                                       caplog: Any) -> None:
    check_square(made, 1)
    (tmp_path / "cache" / "artifacts").chmod(0o777)
    check_square(made, 1)
    assert "chmod go-w" in caplog.text
    (tmp_path / "cache" / "artifacts").chmod(0o700)
    (folder,) = artifacts(tmp_path)
    (folder / "object.o").chmod(0o666)
    tracejit.artifacts.loading._LOADED.clear()
    check_square(made, 1)
    check_square(made, 0)


def test_what_is_kept_is_the_users_alone(made: list[str], tmp_path: Path) -> None:
    check_square(made, 1)
    for path in [tmp_path / "cache" / "artifacts", *(tmp_path / "cache").glob("artifacts/**/*")]:
        assert path.stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_made(made: list[str], tmp_path: Path, caplog: Any) -> None:
    (tmp_path / "file").write_text("")
    with tracejit.config(cache_dir=str(tmp_path / "file" / "below")):
        check_square(made, 1)
        check_square(made, 1)
        assert tracejit.cache.info().path is None
    assert caplog.text.count("not kept") == 1


def test_the_least_recently_used_go_first(made: list[str], tmp_path: Path) -> None:
    functions = [(lambda k: lambda x: np.sum(x) * k)(k) for k in range(2, 8)]
    for f in functions:
        tracejit.grad(f)(X)
    sizes = [e.size for e in tracejit.cache.ls()]
    assert len(sizes) == 6
    old = time.time() - 1000
    for k, entry in enumerate(artifacts(tmp_path)):
        os.utime(entry / "manifest.json", (old + k, old + k))
    oldest, *others = (p.name for p in artifacts(tmp_path))
    with tracejit.config(cache_size=sum(sizes) - 1):
        assert tracejit.cache.prune() == 1
    assert [p.name for p in artifacts(tmp_path)] == others
    assert oldest not in others
    assert tracejit.cache.clear() == 5
    assert tracejit.cache.info().count == 0


# --- many processes -----------------------------------------------------------------------------


def test_many_processes_on_an_empty_store(project: Project) -> None:
    project.write(model=MODEL, helpers=HELPERS)
    started = [project.start(CALL) for _ in range(8)]
    results = [json.loads(p.communicate(timeout=300)[0]) for p in started]
    assert len({tuple(r[:2]) for r in results}) == 1
    assert sum(r[2] for r in results) == 1  # one compiled, the others waited
    assert len(artifacts(project.folder)) == 1


def test_processes_that_are_killed_leave_a_store_that_works(project: Project) -> None:
    project.write(model=MODEL, helpers=HELPERS)
    rng = random.Random(0)
    for _ in range(12):
        process = project.start(CALL)
        time.sleep(rng.uniform(0.3, 1.8))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    expected = project.run(CALL)
    assert project.run(CALL) == [*expected[:2], False, project.run(CALL)[3]]
    assert project.run("import tracejit, json; print(json.dumps(tracejit.cache.verify()))") == []


def _gradient(x: Any) -> Any:
    with tracejit.config(cache=True):
        return tracejit.grad(square)(x)


def test_forks(made: list[str]) -> None:
    check_square(made, 1)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for found in pool.map(_gradient, [X, X, X]):
            np.testing.assert_array_equal(found, 2.0 * X)


# --- the same by hand ---------------------------------------------------------------------------


def test_warmup_and_command_line(project: Project) -> None:
    project.write(model=MODEL.replace("@tracejit.value_and_grad\n", ""), helpers=HELPERS)

    def command(*args: str, status: int = 0) -> str:
        done = subprocess.run([sys.executable, "-m", "tracejit", *args], cwd=project.folder,
                              env=project.environment, capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    text = command("compile", "model:loss", "--spec", "f64[n]", "f64[n, m]", "--value-and-grad")
    assert "serves this call" in text
    script = CALL.replace("model.loss(", "tracejit.value_and_grad(model.loss)(").replace(
        "import model", "import model, tracejit")
    assert not project.run(script)[2]
    assert "1 programs" in command("cache", "info")
    (line,) = command("cache", "ls").splitlines()
    assert "value_and_grad of model:loss" in line
    explained = command("cache", "explain", line[:8])
    for part in ("model.COUNT", "model.RATE", "the code and defaults of model:loss", "numpy: "):
        assert part in explained
    for what, part in (("ir", "graph jit"), ("source", "def kernel"), ("llvm", "define"),
                       ("asm", "tracejit_"), ("why", "")):
        assert part.replace("graph jit", "graph loss") in command(
            "inspect", "model:loss", "--spec", "f64[n]", "f64[n, m]", "--what", what)
    assert "all whole" in command("cache", "verify")
    assert "0 programs removed" in command("cache", "prune")
    assert "1 programs removed" in command("cache", "clear")
    assert "no stored program" in command("cache", "explain", "0", status=1)
    assert "did you mean loss?" in command("compile", "model:los", status=1)
    assert "MODULE:FUNCTION" in command("compile", "model", status=1)
    assert "no spec" in command("compile", "model:loss", "--spec", "f99", status=1)


def test_warmup_leaves_nothing_to_compile(made: list[str]) -> None:
    g = tracejit.grad(lambda x, a: np.sum(x) * a)
    g.warmup(("f64[n]", "float"), ("f32[n]", 2.0))
    del made[:]
    g(X, 2.0)
    g(np.ones(4), 2.0)
    g(X.astype(np.float32), 1.0)
    assert made == []


SHIFT = np.array([1.0, 2.0, 3.0])


def test_a_snapshot_whose_archive_is_damaged_is_refused(tmp_path: Path) -> None:
    """Flags and methods in the headers of its files: NotImplementedError got through."""
    path = tracejit.jit(lambda x: x + 1.0).trace(X).lower().compile().save(tmp_path / "f.tracejit")
    data = path.read_bytes()
    for match in re.finditer(b"PK\x01\x02|PK\x03\x04", data):
        for k in range(match.start() + 4, match.start() + 14):
            for bit in (1, 4, 64):
                path.write_bytes(bytes([*data[:k], data[k] ^ bit, *data[k + 1:]]))
                tracejit.artifacts.loading._LOADED.clear()
                try:
                    np.testing.assert_array_equal(tracejit.load(path)(X), X + 1.0)
                except tracejit.errors.SnapshotError:
                    continue


def test_a_snapshot_needs_no_source(project: Project, tmp_path: Path) -> None:
    def f(x: Any, k: Any) -> Any:
        return np.sum((x + SHIFT) ** 2) * k

    compiled = tracejit.value_and_grad(f).trace(X, 2.0).lower().compile()
    path = compiled.save(tmp_path / "f.tracejit")
    loaded = tracejit.load(path)
    value, slope = loaded(X, 2.0)
    np.testing.assert_array_equal(slope, tracejit.grad(f)(X, 2.0))
    np.testing.assert_array_equal(value, f(X, 2.0))
    assert "graph value_and_grad" in loaded.graph
    with pytest.raises(TypeError, match="compiled for"):
        loaded(X)
    with pytest.raises(TypeError, match="compiled for"):
        loaded(X.astype(np.float32), 2.0)
    assert project.run(f"""
import json, sys
import numpy as np, tracejit
f = tracejit.load({str(path)!r})
print(json.dumps([f(np.array({X.tolist()}), 2.0)[1].tolist(), "numba" in sys.modules]))
""") == [slope.tolist(), False]
    data = bytearray(path.read_bytes())
    for k in range(0, len(data), len(data) // 40):
        (tmp_path / "bad").write_bytes(bytes([*data[:k], data[k] ^ 4, *data[k + 1:]]))
        tracejit.artifacts.loading._LOADED.clear()
        refused = re.compile("cannot be loaded")
        try:
            found = tracejit.load(tmp_path / "bad")(X, 2.0)[1]
        except ValueError as e:
            found = slope if refused.search(str(e)) else None
        np.testing.assert_array_equal(found, slope)
