"""Methods whose text nobody has: of a data class, which makes them, and of a class from `exec`."""

from __future__ import annotations

import functools
import itertools
import operator
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import tracejit

NUMBERS = (1.0, 2.0, -0.0, float("nan"), 7.5)


@dataclass(order=True)
class Point:
    a: float = 1.0
    b: float = 2.0


@dataclass
class Longer(Point):
    c: float = 3.0


@dataclass
class Labelled:
    v: float
    label: str = field(default="", compare=False)


@dataclass(frozen=True, order=True)
class Within:
    p: Point
    q: tuple[float, float] = (0.0, 1.0)


@dataclass
class Empty:
    pass


POINT = Point()
OPERATORS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
PAIRS: dict[str, Callable[[Any], tuple[object, object]]] = {
    "with what was there": lambda x: (Point(x, 2.0), POINT),
    "what was there with": lambda x: (POINT, Point(1.0, x)),
    "both made": lambda x: (Point(x), Point(2.0, x)),
    "one object": lambda x: (lambda p: (p, p))(Point(x)),
    "of another class": lambda x: (Longer(x), Point(x)),
    "with a number": lambda x: (Point(x), 3.0),
    "longer": lambda x: (Longer(x, x), Longer(2.0, 2.0, 3.0)),
    "not compared": lambda x: (Labelled(x, "a"), Labelled(2.0, "b")),
    "in another": lambda x: (Within(Point(x)), Within(POINT, (x, x))),
    "empty": lambda x: (Empty(), Empty()),
}


def outcome(function: Callable[..., Any], *args: object) -> Any:
    try:
        return function(*args)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("name", PAIRS)
def test_comparisons_of_data_classes_are_pythons(name: str) -> None:
    for compare in OPERATORS:
        def function(x: Any, compare: Any = compare) -> Any:
            a, b = PAIRS[name](x)
            return 2.0 * x if compare(a, b) else x

        with tracejit.config(disable_jit=True):
            jitted = tracejit.jit(function)
            for x in NUMBERS:
                got, expected = outcome(jitted, x), outcome(function, x)
                assert got is expected or (not isinstance(got, type) and np.array_equal(
                    got, expected, equal_nan=True)), (
                        compare, x, got, expected)


def test_what_a_data_class_compares_is_read_at_each_call() -> None:
    def function(x: float) -> float:
        return 2.0 * x if POINT == Point() else x

    with tracejit.config(disable_jit=True):
        jitted = tracejit.jit(function)
        try:
            for POINT.a, POINT.b in ((1.0, 2.0), (7.0, 2.0), (1.0, 2), (1, 2.5), (1.0, 2.0)):
                assert jitted(1.5) == function(1.5)
        finally:
            POINT.a, POINT.b = 1.0, 2.0


def test_a_data_class_has_its_gradient() -> None:
    def function(x: Any) -> Any:
        items = [Point(x, 1.0), Point(x * x, 2.0), Point(2.0, x)]
        best = items[0]
        for p in items:
            if best < p:
                best = p
        return best.a * best.b

    gradient = tracejit.grad(function)
    for x in (0.5, 1.7, 3.0):
        step = 1e-6
        assert np.isclose(gradient(x), (function(x + step) - function(x - step)) / (2.0 * step))


SCRIPT = """
import dataclasses, tracejit
@dataclasses.dataclass(order=True)
class P:
    a: float
    b: float = 2.0
def made(x):
    return P(x).a * (3.0 if P(x) < P(2.0) else 5.0)
names = {}
exec("def of_exec(x): return x * 7.0", names)
def f(x):
    return made(x) + names["of_exec"](x)
with tracejit.config(disable_jit=True):
    print(tracejit.jit(made)(1.5), tracejit.jit(f)(2.5))
"""


@pytest.mark.skipif(sys.version_info < (3, 13), reason="the text of `python -c` is not kept")
def test_classes_and_functions_from_exec_in_a_script_of_the_command_line() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.stdout.split() == ["4.5", "30.0"], done.stdout + done.stderr


TEXT = """
import functools
class A:
    def __init__(self): self.k = 2.0
    def __add__(self, o): return self.k + o
    def __radd__(self, o): return self.k * 3 + o
    def __call__(self, o): return self.k * o
    def __len__(self): return int(self.k)
    def __getitem__(self, i): return self.k + i
    def __getattr__(self, n): return self.__dict__["k"] * 2.0
    @property
    def size(self): return self.k * 5
    @functools.cached_property
    def kept(self): return self.k * 7
    def method(self, v): return self.k * v
    def __eq__(self, o): return self.k == o
    def __bool__(self): return self.k > 3
    def __contains__(self, v): return v == self.k
    def __float__(self): return float(self.k)
    def __iter__(self): return iter([self.k])
    def __neg__(self): return -self.k
    def __enter__(self): return self.k
    def __exit__(self, *a): return None
"""


def _managed(a: Any, x: Any) -> Any:
    with a as k:
        return k * x


USES: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, x: a + x, "sum from the right": lambda a, x: x + a, "call": lambda a, x: a(x),
    "length": lambda a, x: len(a) * x, "item": lambda a, x: a[1] * x,
    "attribute": lambda a, x: a.none * x, "property": lambda a, x: a.size * x,
    "kept": lambda a, x: a.kept * x, "method": lambda a, x: a.method(x),
    "equality": lambda a, x: x if a == 2.0 else 2.0 * x, "truth": lambda a, x: x if a else 2.0 * x,
    "membership": lambda a, x: x if 2.0 in a else 2.0 * x, "float": lambda a, x: float(a) * x,
    "iteration": lambda a, x: sum([k * x for k in a]), "sign": lambda a, x: -a * x,
    "manager": _managed,
}


@pytest.mark.parametrize("name", USES)
def test_methods_from_exec_read_attributes_at_each_call(name: str) -> None:
    names: dict[str, Any] = {}
    exec(TEXT, names)
    a = names["A"]()
    function = functools.partial(USES[name], a)
    with tracejit.config(disable_jit=True):
        jitted = tracejit.jit(lambda x: USES[name](a, x))
        for k, _ in itertools.product((2.0, 5.0, 7, 2.0), range(2)):
            a.k = k
            assert jitted(1.5) == function(1.5), k


STATE = '''
import collections, sys, time
import numpy as np

class Held:
    n = 0.0

counts, items, chosen, numbers = {"n": 1.0}, [1.0], {1}, collections.deque([1.0])
nested, held, total = ({"a": [1.0]},), [Held()], collections.Counter()

def around():
    n = [0.0]
    k = 0.0
    def within(x):
        n[0] += 1
        return x * n[0]
    def bound(x):
        nonlocal k
        k += 1
        return x * k
    return within, bound

within, bound = around()
'''
CHANGES = (
    "counts['n'] += 1; return x * counts['n']",
    "counts['n'] += 1; return x",
    "counts.update(m=len(counts)); return x * len(counts)",
    "items.append(2.0); return x * len(items)",
    "items[0] += 1; return x * items[0]",
    "chosen.add(len(chosen) + 5); return x * len(chosen)",
    "numbers.appendleft(2.0); return x * len(numbers)",
    "nested[0]['a'].append(1.0); return x * len(nested[0]['a'])",
    "held[0].n += 1; return x * held[0].n",
    "total['k'] += 1; return x * total['k']",
    "setattr(np, 'not_there', getattr(np, 'not_there', 0) + 1); return x * np.not_there",
    "globals()['made'] = globals().get('made', 0) + 1; return x * made",
    "return within(x)", "return bound(x)",
    "return x * len(sys.modules)", "return x * time.perf_counter()",
    "import time; return x * time.perf_counter()",
    "f.n = getattr(f, 'n', 0) + 1; return x * f.n",
    "eval('items.append(1.0)'); return x * len(items)",
)


@pytest.mark.parametrize("call", [
    lambda f, x: f(x), lambda f, x: sum(map(f, [x, x])),
    lambda f, x: np.sum(np.vectorize(f)(np.array([x, 2.0 * x])))])
@pytest.mark.parametrize("body", CHANGES)
def test_what_python_would_do_at_every_call_is_refused(body: str, call: Any) -> None:
    names: dict[str, Any] = {}
    exec(STATE, names)
    exec(f"def f(x):\n    {body}", names)
    f = names["f"]
    with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal):
        tracejit.jit(lambda x: call(f, x))(1.5)
    assert names["counts"] == {"n": 1.0}
    assert not hasattr(np, "not_there")


@pytest.mark.parametrize("text", [
    "def f(x, seen=[]):\n    seen.append(1)\n    return x * len(seen)",
    "def f(x):\n    yield x\n    yield 2.0 * x"])
def test_defaults_and_generators_without_text_are_refused(text: str) -> None:
    names: dict[str, Any] = {}
    exec(text, names)
    with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal):
        tracejit.jit(lambda x: np.sum([*np.atleast_1d(names["f"](x))]))(1.5)


def test_what_is_made_within_may_be_changed() -> None:
    names: dict[str, Any] = {}
    exec("def f(x, d):\n    d['n'] += 1\n    items = [x]\n    items.append(d['n'])\n"
         "    return sum(items)", names)
    inner = names["f"]

    def f(x: float) -> Any:
        d = {"n": x}
        return inner(x, d) * inner(x, d) + d["n"]

    assert tracejit.jit(f)(1.5) == f(1.5)


READS: dict[str, tuple[str, str]] = {
    "namespace": ("import types; a = types.SimpleNamespace(n=[1.0])", "a.n[0]"),
    "counter": ("import collections; a = collections.Counter('aab')", "a['a']"),
    "ordered": ("import collections; a = collections.OrderedDict(n=1.0)", "a['n']"),
    "bytes": ("a = bytearray(b'a')", "a[0]"),
    "array": ("import array; a = array.array('d', [2.0])", "a[0]"),
    "local": ("import threading; a = threading.local(); a.n = 2.0", "a.n"),
    "context": ("import contextvars; a = contextvars.ContextVar('a', default=2.0)", "a.get()"),
    "count": ("import itertools; a = itertools.count(1.0)", "next(a)"),
    "cycle": ("import itertools; a = itertools.cycle([1.0, 2.0])", "next(a)"),
    "text": ("import io; a = io.StringIO('1\\n2\\n3\\n')", "float(a.readline())"),
    "queue": ("import queue; a = queue.Queue(); a.put(1.0); a.put(2.0)", "a.get()"),
    "generator": ("import numpy as np; a = np.random.default_rng(3)", "a.random()"),
    "draws": ("import numpy as np", "np.random.rand()"),
    "errors": ("import numpy as np", "len(np.geterr()['divide'])"),
    "asked by name": ("import numpy as np", "len(getattr(np, 'geterr')()['divide'])"),
    "imported": ("", "__import__('time').perf_counter()"),
    "seeds": ("import numpy as np", "(np.random.seed(0), 2.0)[1]"),
    "precision": ("import numpy as np", "len(np.array2string(np.array([1 / 3])))"),
    "spline": ("import scipy.interpolate as s; a = s.CubicSpline([0., 1., 2.], [0., 1., 4.])",
               "a(0.5)"),
    "sparse": ("import scipy.sparse as s, numpy as np; a = s.csr_array(np.eye(2))",
               "(a @ np.ones(2)).sum()"),
    "partial": ("import functools; n = [0]\ndef g(k):\n    n[0] += 1; return n[0]\n"
                "a = functools.partial(g, 1)", "a()"),
}
BETWEEN: dict[str, Callable[[Any], object]] = {
    "namespace": lambda a: a.n.__setitem__(0, 7.0), "counter": lambda a: a.update("a"),
    "ordered": lambda a: a.update(n=7.0), "bytes": lambda a: a.__setitem__(0, 7),
    "array": lambda a: a.__setitem__(0, 7.0), "local": lambda a: setattr(a, "n", 7.0),
    "context": lambda a: a.set(7.0), "spline": lambda a: a.c.__setitem__((0, 0), 7.0),
    "sparse": lambda a: a.data.__setitem__(0, 7.0),
    "errors": lambda a: np.seterr(divide="ignore"),
    "asked by name": lambda a: np.seterr(divide="ignore"),
    "precision": lambda a: np.set_printoptions(precision=3),
}


def _results(name: str, transform: Callable[..., Any]) -> list[float]:
    prepare, read = READS[name]
    names: dict[str, Any] = {}
    exec(f"{prepare}\ndef f(x):\n    return x * {read}", names)
    f = names["f"]
    function = transform(lambda x: f(x))
    found = []
    with np.errstate(), np.printoptions():
        for _ in range(2):
            found.append(float(function(1.5)))
            if name in BETWEEN:
                BETWEEN[name](names.get("a"))
    return found


@pytest.mark.parametrize("name", READS)
def test_state_that_code_without_text_reads_is_read_anew_or_refused(name: str) -> None:
    state = np.random.get_state()
    expected = _results(name, lambda f: f)
    np.random.set_state(state)
    with tracejit.config(disable_jit=True):
        try:
            found = _results(name, tracejit.jit)
        except tracejit.Refusal:
            return
    assert found == expected


def test_containers_that_contain_themselves_are_refused() -> None:
    items: list[Any] = [1.0]
    items.append(items)
    table: dict[str, Any] = {"a": 2.0}
    table["b"] = {"c": table}
    for function in (lambda x: x * items[0], lambda x: x * table["a"]):
        with pytest.raises(tracejit.Refusal, match="contains itself"):
            tracejit.jit(function)(1.5)


def test_globals_that_hold_the_builtins_are_read() -> None:
    names: dict[str, Any] = {}
    exec("def f(x):\n    return x * 3.0", names)

    def function(x: float) -> float:
        return names["f"](x) * len(names["__builtins__"]["__name__"])

    with tracejit.config(disable_jit=True):
        assert tracejit.jit(function)(1.5) == function(1.5)
