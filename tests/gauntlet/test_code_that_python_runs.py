"""Users' code that Python or a library runs by itself: its reads are never stale.

Each row is a program, the text of a module, in which such code reads the global T; calls before and
after a change of T, or the row's own change, have to give Python's results.
"""

from __future__ import annotations

import contextlib
import cProfile
import gc
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tracejit

HEAD = """
import abc, collections, contextlib, copy, dataclasses, enum, functools, itertools, types
import numpy as np
T = 2.0
L = [1.0, 2.0]
"""

PROGRAMS: dict[str, tuple[str, ...]] = {
    "__del__": (
        "class D:\n    def __init__(self, out): self.out = out\n"
        "    def __del__(self): self.out.append(T)\n"
        "def f(x):\n    out = []\n    d = D(out)\n    del d\n    return x * out[0]",),
    "generator of a with": (
        "@contextlib.contextmanager\ndef cm():\n    yield T\n"
        "def f(x):\n    with cm() as k:\n        return x * k",),
    "generator of a with, with an argument": (
        "@contextlib.contextmanager\ndef cm(v):\n    yield v * T\n"
        "def f(x):\n    with cm(2.0) as k:\n        return x * k",),
    "decorator of contextlib": (
        "class cm(contextlib.ContextDecorator):\n    def __enter__(self):\n        return self\n"
        "    def __exit__(self, *a):\n        return False\n@cm()\ndef h(x):\n    return x * T\n"
        "def f(x):\n    return h(x)",),
    "__post_init__": (
        "@dataclasses.dataclass\nclass P:\n    a: float\n    def __post_init__(self):\n"
        "        self.a *= T\ndef f(x):\n    return P(x).a", "T = 3.0",
        "P.__post_init__ = lambda self: None"),
    "replace of a data class": (
        "@dataclasses.dataclass\nclass P:\n    a: float\n"
        "    b: float = dataclasses.field(init=False)\n"
        "    def __post_init__(self):\n        self.b = self.a * T\n"
        "def f(x):\n    return dataclasses.replace(P(x), a=x * 2).b",),
    "__init_subclass__": (
        "class A:\n    def __init_subclass__(cls):\n        cls.k = T\n"
        "def f(x):\n    class B(A):\n        pass\n    return x * B.k",),
    "__set_name__": (
        "class D:\n    def __set_name__(self, owner, name):\n        self.k = T\n"
        "    def __get__(self, o, t):\n        return self.k\n"
        "def f(x):\n    class B:\n        d = D()\n    return x * B().d",),
    "__prepare__": (
        "class M(type):\n    @classmethod\n    def __prepare__(m, n, b):\n        return {'k': T}\n"
        "def f(x):\n    class B(metaclass=M):\n        pass\n    return x * B.k",),
    "__new__ of a metaclass": (
        "class M(type):\n    def __new__(m, n, b, d):\n        d['k'] = T\n"
        "        return super().__new__(m, n, b, d)\n"
        "def f(x):\n    class B(metaclass=M):\n        pass\n    return x * B.k",),
    "__call__ of a metaclass": (
        "class M(type):\n    def __call__(cls, *a):\n        return T\n"
        "class A(metaclass=M):\n    pass\ndef f(x):\n    return x * A()",
        "T = 3.0", "M.__call__ = lambda cls, *a: 10.0"),
    "__instancecheck__": (
        "class M(type):\n    def __instancecheck__(cls, o):\n        return T < 2.5\n"
        "class A(metaclass=M):\n    pass\ndef f(x):\n    return x * 2 if isinstance(3, A) else x",
        "T = 3.0", "M.__instancecheck__ = lambda cls, o: True"),
    "__subclasscheck__": (
        "class M(type):\n    def __subclasscheck__(cls, o):\n        return T < 2.5\n"
        "class A(metaclass=M):\n    pass\ndef f(x):\n"
        "    return x * 2 if issubclass(int, A) else x",),
    "__instancecheck__ of a match": (
        "class M(type):\n    def __instancecheck__(cls, o):\n        return T < 2.5\n"
        "class A(metaclass=M):\n    pass\ndef f(x):\n    match 3:\n        case A():\n"
        "            return x * 2\n    return x",),
    "__class_getitem__": (
        "class A:\n    def __class_getitem__(cls, k):\n        return T\ndef f(x):\n"
        "    return x * A[1]",),
    "__new__": (
        "class A:\n    def __new__(cls, *a):\n        return T\ndef f(x):\n    return x * A()",),
    "__new__ of a float": (
        "class A(float):\n    def __new__(cls, v):\n        return super().__new__(cls, v * T)\n"
        "def f(x):\n    return x * float(A(1.0))",),
    "__new__ of a tuple": (
        "class A(tuple):\n    def __new__(cls, *v):\n        return super().__new__(cls, [T, *v])\n"
        "def f(x):\n    return x * A(1.0)[0]",),
    "__init__ of a list": (
        "class A(list):\n    def __init__(self, *v):\n        super().__init__([T])\n"
        "def f(x):\n    return x * A()[0]",),
    "__init__ of an exception": (
        "class A(Exception):\n    def __init__(self):\n        self.k = T\n"
        "def f(x):\n    try:\n        raise A()\n    except A as e:\n        return x * e.k",),
    "factory of a dict": (
        "def make():\n    return T\ndef f(x):\n    return x * collections.defaultdict(make)['q']",),
    "sum of objects": (
        "class A:\n    def __radd__(self, o):\n        return o + T\na = A()\n"
        "def f(x):\n    return x * (1 + a) * sum([a])",),
    "__array_ufunc__": (
        "class A:\n    def __array_ufunc__(self, u, m, *i, **k):\n        return T\na = A()\n"
        "def f(x):\n    return x * np.sin(a)",),
    "cache made within": ("def g(v):\n    return v * T\ndef f(x):\n"
                          "    return x * functools.lru_cache(g)(2.0)",),
    "cache of a method": (
        "class A:\n    @functools.lru_cache\n    def k(self):\n        return T\na = A()\n"
        "def f(x):\n    return x * a.k()", "T = 3.0", "A.k.cache_clear()"),
    "pattern of an attribute": (
        "class A:\n    __match_args__ = ('k',)\na = A()\na.k = 2.0\n"
        "def f(x):\n    match a:\n        case A(k):\n            return x * k",
        "a.k = 3.0", "A.__match_args__ = ('j',); a.j = 9.0", "A.j = 7.0; vars(a).pop('j', 0)"),
    "pattern of a value": (
        "class A:\n    pass\na = A()\na.k = 2.0\ndef f(x):\n    match a:\n        case A(k=2.0):\n"
        "            return x * 5\n        case A(k=v):\n            return x * v",
        "a.k = 3.0", "a.k = 2.0", "a.k = 7"),
    "pattern of a property": (
        "class A:\n    @property\n    def k(self):\n        return T\na = A()\n"
        "def f(x):\n    match a:\n        case A(k=v):\n            return x * v",),
    "pattern in a tuple": (
        "class A:\n    pass\na = A()\na.k = 2.0\ndef f(x):\n    match (a, 1):\n"
        "        case (A(k=v), n):\n            return x * v * n", "a.k = 3.0"),
    "pattern in a pattern": (
        "class A:\n    pass\na = A()\na.b = A()\na.b.k = 2.0\ndef f(x):\n    match a:\n"
        "        case A(b=A(k=v)):\n            return x * v", "a.b.k = 3.0"),
    "pattern of an array": (
        "class A:\n    pass\na = A()\na.k = np.ones(2)\ndef f(x):\n    match a:\n"
        "        case A(k=v):\n"
        "            return x * np.sum(v)", "a.k[0] = 3.0", "a.k = np.ones(3)"),
    "pattern of a data class": (
        "@dataclasses.dataclass\nclass P:\n    a: float\n    b: float\np = P(1.0, 2.0)\n"
        "def f(x):\n    match p:\n        case P(a, b):\n            return x * a * b",
        "p.b = 5.0", "p = P(3.0, 3.0)"),
    "a global that is an input besides": (
        "def g(v):\n    return v * T\ndef f(x):\n"
        "    return x * T * next(itertools.starmap(g, [(2.0,)]))",),
}


def loaded(folder: Path, text: str, name: str) -> ModuleType:
    (folder / f"{name}.py").write_text(HEAD + text + "\n")
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def check(folder: Path, text: str, steps: tuple[str, ...]) -> None:
    mine = loaded(folder, text, "code_by_python")
    try:
        call, slope = tracejit.jit(mine.f), tracejit.grad(mine.f)
        for step in ("", *(steps or ("T = 3.0",))):
            exec(step, vars(mine))
            expected = [mine.f(1.5), mine.f(2.5)]
            exec(step, vars(mine))  # what the calls above have left in caches and dicts, say
            assert call(1.5) == pytest.approx(expected[0])
            assert slope(1.5) == pytest.approx(expected[1] - expected[0])
    finally:
        del sys.modules["code_by_python"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_code_reads_that_python_runs(name: str, tmp_path: Path) -> None:
    text, *steps = PROGRAMS[name]
    with tracejit.config(disable_jit=True):
        check(tmp_path, text, tuple(steps))


@pytest.mark.parametrize("name", ["generator of a with", "__post_init__", "pattern of a value"])
def test_what_code_reads_that_python_runs_compiled(name: str, tmp_path: Path) -> None:
    text, *steps = PROGRAMS[name]
    check(tmp_path, text, tuple(steps))


def test_changes_by_a_generator_that_is_not_captured_are_refused(tmp_path: Path) -> None:
    mine = loaded(tmp_path, "O = {'k': 1.0}\n@contextlib.contextmanager\ndef cm():\n"
                  "    O['k'] = T\n    yield\n    O['k'] = 1.0\n"
                  "def f(x):\n    with cm():\n        return x * O['k']", "code_by_python")
    with pytest.raises(tracejit.Refusal, match=r"code_by_python\.py:.*cm, changes"):
        tracejit.jit(mine.f)(1.5)


@pytest.mark.parametrize("body", [
    "t = threading.Thread(target=lambda: out.append(T))\n    t.start()\n    t.join()",
    "t = threading.Timer(0.0, lambda: out.append(T))\n    t.start()\n    t.join()"],
    ids=["Thread", "Timer"])
def test_threads_that_captured_code_starts_are_refused(body: str, tmp_path: Path) -> None:
    mine = loaded(tmp_path, f"import threading\ndef f(x):\n    out = []\n    {body}\n"
                  "    return x * out[0]", "code_by_python")
    with pytest.raises(tracejit.Refusal, match=r"code_by_python\.py:.*a thread that captured"):
        tracejit.jit(mine.f)(1.5)


def test_callbacks_of_the_collector_are_no_code_of_the_program(tmp_path: Path) -> None:
    ran: list[str] = []

    def callback(phase: str, info: object) -> None:
        ran[:] = [phase]

    mine = loaded(tmp_path, "@contextlib.contextmanager\ndef cm():\n"
                  "    many = [[k] for k in range(1000)]\n    yield len(many)\n"
                  "def f(x):\n    with cm() as k:\n        return x * k", "code_by_python")
    threshold = gc.get_threshold()
    gc.callbacks.append(callback)
    gc.set_threshold(1, 1, 1)
    try:
        g = tracejit.jit(mine.f)
        assert [g(1.5), g(2.5)] == [1500.0, 2500.0]
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(callback)
    assert ran
    assert gc.isenabled()
    assert sum(map(len, g._table.values())) == 1


@contextlib.contextmanager
def profiling(kind: str) -> Iterator[Any]:
    """Run with a profiler of the user's, by kind."""
    before = sys.getprofile()
    profiler = cProfile.Profile()
    if kind == "cProfile":
        profiler.enable()
    else:
        sys.setprofile(lambda *_: None)
    try:
        yield profiler
    finally:
        profiler.disable() if kind == "cProfile" else sys.setprofile(before)


@pytest.mark.parametrize("kind", ["cProfile", "sys.setprofile"])
def test_code_is_seen_under_a_profiler_of_the_user_which_stays(kind: str, tmp_path: Path) -> None:
    mine = loaded(tmp_path, PROGRAMS["generator of a with"][0], "code_by_python")
    with profiling(kind) as profiler:
        used = sys.getprofile()
        g = tracejit.jit(mine.f)
        assert g(1.5) == mine.f(1.5)
        exec("T = 3.0", vars(mine))
        assert g(1.5) == mine.f(1.5)
        assert sys.getprofile() is used
    assert kind != "cProfile" or profiler.getstats()


@pytest.mark.parametrize("function", [np.array_equal, np.array_equiv])
def test_a_library_that_catches_a_refusal_gives_no_other_answer(function: Any) -> None:
    def f(a: Any) -> Any:
        return a * 2.0 if function([a], [2.5]) else a

    compiled = tracejit.jit(f)
    assert compiled(2.5) == f(2.5)
    assert compiled(1.5) == f(1.5)
