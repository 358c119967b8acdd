"""The guards of the fast entry: it finds each kind of state changed, and needs no Python."""

from __future__ import annotations

import gc
import itertools
import random
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from state_sequences import load

import tracejit
from tracejit.program import layout
from tracejit.program.specialisation import Specialisation
from tracejit.trace.state import paths

_NUMBERS = itertools.count()

HEAD = """\
import enum
from collections import OrderedDict, defaultdict, deque, namedtuple
from functools import partial
from types import SimpleNamespace
import numpy as np
Pair = namedtuple('Pair', 'a b')
class Color(enum.IntEnum):
    RED = 1000
    BLUE = 2000
class Meta(type):
    pass
class Base:
    c = 2
    k = 2.5
class O(Base):
    def __init__(self):
        self.f, self.n, self.i = 2.0, 300, None
        self.l, self.d, self.t = [1000, 2.0], {'a': 1000, 'b': 2.0}, (1000, 2.0)
        self.w = np.array([1.0, 2.0])
    def m(self):
        return 3
    @property
    def p(self):
        return self.n
    @classmethod
    def made(cls):
        return cls.c
class Slots:
    __slots__ = ('n', 'f', 'unset')
    def __init__(self):
        self.n, self.f = 1000, 2.0
def h(v, j=1000, *, q=2000):
    return v * j + q
def maker(cell):
    return lambda: cell
o, s = O(), Slots()
o.i = O()
D, L, N, K = {'a': 1000, 'b': 3.0}, [1000, 2.0, [5, 6.0]], 1000, 2.0
P, Q = L, D
closure = maker(1000)
S, B = {3, 7}, {*range(300)}
U, R = deque([1000, 2.0]), deque(range(300, 500), 200)
I = {1: 1000, 2.5: 7.5, (1, 'a'): 3000, None: 4000}
F, G = defaultdict(int, a=1000, b=2.5), OrderedDict(a=1000, b=2.5)
T = Pair(1000, 2.5)
E = Color.RED
V = SimpleNamespace(n=1000, f=2.5)
h.w, h.v = 1000, 2.5
p = partial(h, 1000, q=2000)
Z = 2.0 + 1.0j
M = Meta('M', (), {'n': 1000})
class Asked:
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)
asked = Asked()
asked.n, asked.f = 1000, 2.5
"""

KINDS: dict[str, tuple[str, list[str]]] = {
    "global": ("N + K", ["N = 1001", "K = 5.0", "N = 1000.5", "N = True", "N = 1000",
                         "globals().update(N=5)", "del N\nN = 7", "K = 2"]),
    "attribute": ("o.n + o.f", ["o.n = 301", "o.f = 3.0", "o.f = 3", "o.n = True", "o.n = 300",
                                "o.__dict__['n'] = 7", "o.__dict__ = dict(o.__dict__, n=301)",
                                "del o.n\no.n = 9", "o = O()", "o.extra = 5", "o.n += 1",
                                "O.n = property(lambda self: 5)",
                                "O.__getattr__ = lambda self, name: 1"]),
    "attribute of a class": ("o.c + o.k", ["o.c = 5", "del o.c", "Base.c = 7", "O.c = 9", "del O.c",
                                           "Base.k = 3.5", "Base.k = 3", "o.k = 9.0", "Base.c = 2",
                                           "O.__bases__ = (type('B', (), {'c': 1, 'k': 1.5}),)"]),
    "attribute of the class itself": ("O.c + Base.k", ["Base.c = 7", "O.c = 9", "Base.k = 1.0"]),
    "method": ("o.m() + o.made()", ["O.m = lambda self: 4", "o.m = lambda: 9", "del o.m",
                                    "O.made = classmethod(lambda cls: 7)", "Base.c = 5",
                                    "O.m.__code__ = (lambda self: 8).__code__"]),
    "property": ("o.p", ["o.n = 5", "O.p = property(lambda self: 6)", "O.p = 7"]),
    "class of an object": ("o.c * (2 if type(o) is O else 3)",
                           ["o.__class__ = type('O2', (O,), {'c': 11})", "o.__class__ = O"]),
    "slots": ("s.n + s.f + getattr(s, 'unset', 1)", ["s.n = 1001", "s.f = 3.5", "s.n = 1000.5",
                                                     "s.unset = 5", "del s.unset", "s = Slots()",
                                                     "del s.n\ns.n = 4"]),
    "list": ("o.l[0] + o.l[1] + L[2][0] + len(L)",
             ["o.l[0] = 1001", "o.l[1] = 5.0", "o.l[1] = 5", "o.l.append(3)", "o.l.pop()",
              "o.l.insert(0, 7)", "o.l = [1000, 2.0]", "L[2][0] = 8", "L[2] = [5, 7.0]",
              "L.append(1)", "L = L[:3]", "L.clear()", "L.extend([1, 2, [3, 4]])"]),
    "dict": ("D['a'] + D['b'] + o.d['a'] + sum(o.d.values())",
             ["D['a'] = 1001", "D['b'] = 9.0", "D['z'] = 1", "D.pop('z', 0)", "D = dict(D)",
              "v = o.d.pop('a')\no.d['a'] = v", "o.d = {'b': 2.0, 'a': 1000}", "o.d['c'] = 1",
              "D.clear()\nD.update(a=1000, b=3.0)", "o.d['a'] = 1000.5"]),
    "order of a dict": ("len(','.join(D)) + [*D].index('b')",
                        ["v = D.pop('a')\nD['a'] = v", "D['c'] = 1", "D.pop('c', 0)"]),
    "tuple": ("o.t[0] + o.t[1]", ["o.t = (1001, 2.0)", "o.t = (1001, 2.5)", "o.t = (1, 2, 3)"]),
    "nested object": ("o.i.n + o.i.f", ["o.i.n = 7", "o.i.f = 3.0", "o.i = O()", "o.i = s"]),
    "missing attribute": ("getattr(o, 'absent', 2)", ["o.absent = 3", "del o.absent",
                                                      "Base.absent = 4", "del Base.absent"]),
    "missing key": ("D.get('absent', 2)", ["D['absent'] = 3", "del D['absent']"]),
    "code and defaults": ("h(2)", ["h.__defaults__ = (5,)", "h.__kwdefaults__ = {'q': 3}",
                                   "h.__kwdefaults__['q'] = 4", "h.__defaults__ = (1000,)",
                                   "h.__code__ = (lambda v, j=1, *, q=1: v + j + q).__code__"]),
    "cell": ("closure()", ["closure.__closure__[0].cell_contents = 5",
                           "closure.__closure__[0].cell_contents = 5.5"]),
    "one object": ("2 if P is L else 3", ["P = [*L]", "P = L", "L = [1000, 2.0, [5, 6.0]]"]),
    "builtin": ("abs(-2) + len('abc')", ["abs = lambda v: 7", "del abs", "len = lambda v: 9"]),
    "set": ("(2 if 3 in S else 3) * len(S)", [
        "S.add(4)", "S.discard(4)", "S.remove(3)", "S.add(3)", "S = {3, 7}", "S.clear()",
        "S |= {7, 3}", "S ^= {3}", "S = {3.0, 7}", "S.update(range(50))", "S = frozenset({3})"]),
    "large set": ("2 if 250 in B else 3", [
        "B.remove(250)", "B.add(250)", "B.pop()", "B.clear()", "B |= {*range(400)}",
        "B -= {5}"]),
    "deque": ("U[0] + U[-1] + len(U)", [
        "U[0] = 1001", "U[-1] = 5.0", "U.rotate(1)", "U.append(3)", "U.popleft()",
        "U.appendleft(7)", "U.clear()", "U.extend([1000, 2.0])", "U = deque([1000, 2.0], 5)",
        "U.reverse()"]),
    "deque of many": ("R[3] + R[170]", ["R[170] = 5", "R[170] = 5.5", "R.append(9)", "R.rotate(80)",
                                        "R.rotate(-70)", "R.popleft()", "R.extend(range(100))"]),
    "keys of other types": ("I[1] + I[2.5] + I[1, 'a'] + I[None]", [
        "I[1] = 5", "I[True] = 6", "I[2.5] = 9.5", "I[1, 'a'] = 7", "I.pop(1)\nI[1] = 1000",
        "I[None] = 4", "I[7] = 1", "del I[2.5]\nI[2.5] = 7.5", "I = dict(I)", "I[2.5] = 1",
        "I.update({k: k for k in range(100, 200)})"]),
    "defaultdict": ("F['a'] + F['b']", [
        "F.default_factory = None", "F['a'] = 5", "F['b'] = 9.0", "F['c'] = 1", "F.pop('a')",
        "F['a'] = 1000"]),
    "OrderedDict": ("G['a'] + G['b'] + [*G].index('a')", [
        "G['a'] = 5", "G['b'] = 9.0", "G.move_to_end('a')", "G['c'] = 1", "G.popitem()",
        "G.clear()",
        "G.update(b=2.5, a=1000)", "G.move_to_end('b')", "G = OrderedDict(a=1000, b=2.5)"]),
    "named tuple": ("T.a + T.b + len(T)", [
        "T = Pair(1000, 3.5)", "T = Pair(1001, 2.5)", "T = T._replace(a=7)", "T = (1000, 2.5)",
        "Pair.a = 17", "Pair.__len__ = lambda self: 1 + tuple.__len__(self) - 1"]),
    "member of an Enum": ("E.value * (2 if E is Color.RED else 3) + Color.BLUE", [
        "E = Color.BLUE", "E._value_ = 5", "Color.RED._value_ = 7", "E = 1000", "E = Color.RED",
        "Color.value = 11"]),
    "namespace": ("V.n + V.f", ["V.n = 5", "V.f = 9.0", "V.n = 5.5", "del V.n\nV.n = 7",
                                "V = SimpleNamespace(n=1000, f=2.5)", "vars(V).clear()",
                                "V.n, V.f = 1000, 2.5"]),
    "attribute of a function": ("h.w + h.v", [
        "h.w = 5", "h.v = 9.0", "h.w = 1000.5", "h.__dict__ = {'w': 3, 'v': 4.0}",
        "del h.w\nh.w = 1"]),
    "partial": ("p(2)", [
        "p = partial(h, 1001, q=2000)", "p.keywords['q'] = 5", "h.__defaults__ = (3,)",
        "p.__setstate__((h, (7,), {'q': 1}, {}))", "p = h", "p = partial(h, 1000, q=2000)"]),
    "complex number": ("abs(Z)", ["Z = 3.0 + 4.0j", "Z = 5.0", "Z = np.complex128(1.0 + 1.0j)"]),
    "metaclass": ("M.n + (2 if isinstance(M, Meta) else 3)", [
        "M.n = 5", "Meta.n = property(lambda cls: 7)", "Meta.n = 9", "M.n = 1000",
        "del Meta.n", "M.__class__ = type('Meta2', (Meta,), {'n': property(lambda cls: 8)})"]),
    "kind of an object": ("(2 if isinstance(o, Base) else 3)", [
        "O.__bases__ = (type('B', (), {}),)", "O.__bases__ = (Base,)", "o = s", "o = O()",
        "o.__class__ = type('O3', (), {})"]),
    "getter of a class": ("asked.n + asked.f", [
        "asked.n = 5", "asked.f = 9.0", "asked.n = 1.5",
        "Asked.__getattribute__ = lambda self, name: object.__getattribute__(\n"
        "    self, {'n': 'f', 'f': 'n'}.get(name, name))"]),
    "array": ("np.sum(o.w)", ["o.w[0] = 5.0", "o.w = np.array([7.0])", "o.w = np.array([1, 2])"]),
}
SLOW = {"order of a dict"}
"""Kinds of which text is made, which is asked for in Python."""


def outcome(fn: Any) -> Any:
    try:
        return fn(1.5)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_is_seen_by_the_fast_entry(kind: str, tmp_path: Path) -> None:
    """Changes in order, then in random order, each followed by calls."""
    expression, changes = KINDS[kind]
    module = load(f"{HEAD}def f(x):\n    return x * ({expression})\n", tmp_path,
                  f"fast_{next(_NUMBERS)}")
    g = tracejit.jit(module.f)
    assert g(1.5) == module.f(1.5)
    assert next(iter(g._table.values()))[0].entry is not None
    rng = random.Random(kind)
    for change in [*changes, *rng.choices(changes, k=len(changes))]:
        try:
            exec(change, vars(module))
        except (AttributeError, IndexError, KeyError, NameError, TypeError):
            continue  # what is to be deleted is not there
        for _ in range(3):
            assert outcome(g) == outcome(module.f), change
        gc.collect()
    sys.modules.pop(module.__name__)


@pytest.mark.skipif(not layout.has_dict_versions(), reason="dicts have no versions")
@pytest.mark.parametrize("kind", sorted(KINDS.keys() - SLOW))
def test_a_call_needs_no_python(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither at first, nor after a guarded object is replaced by an equal one."""
    module = load(f"{HEAD}def f(x):\n    return x * ({KINDS[kind][0]})\n", tmp_path,
                  f"fast_{next(_NUMBERS)}")
    g = tracejit.jit(module.f)
    g(1.5)
    slow: list[int] = []
    attempt = Specialisation.attempt
    monkeypatch.setattr(Specialisation, "attempt",
                        lambda self, leaves: slow.append(1) or attempt(self, leaves))
    for change in ("", "o = O()\no.i = O()", "s = Slots()", "D, N = dict(D), int('1000')\nQ = D",
                   "Base.other = 1", "O.other = 2", "o.other = 3", "other = 4",
                   "o.l = [int('1000'), 2.0]"):
        exec(change, vars(module))
        for _ in range(70):  # its records are made anew not later than after 64 calls
            g(1.5)
        slow.clear()
        assert g(1.5) == module.f(1.5)
        assert slow == [], change
    sys.modules.pop(module.__name__)


HELD = {
    "member of a set": ("if 1000.5 in S: x = x + 1.0", "S.clear(); S.add(float(str({}.5)))"),
    "tuple in a set": ("if (1000, 2) in S: x = x + 1.0", "S.clear(); S.add((int('{}'), 2))"),
    "keys": ("for a, b in I: x = x + a", "I.clear(); I[int('{}'), 2] = 1.0"),
    "keys in order": ("for a, b in G: x = x + a", "G.clear(); G[int('{}'), 2] = 1.0"),
    "deque": ("for v in U: x = x + v", "U.clear(); U.append(int('{}'))"),
}
"""Per kind of container: what a function makes of it, and what puts another thing in."""


@pytest.mark.parametrize("kind", HELD)
def test_what_is_gone_leaves_its_address_to_others(kind: str, tmp_path: Path) -> None:
    """An object equal to the guarded one is let go of; the next object gets its memory."""
    statement, change = HELD[kind]
    module = load(f"{HEAD}def f(x):\n    {statement}\n    return x\n", tmp_path,
                  f"fast_{next(_NUMBERS)}")
    g = tracejit.jit(module.f)
    for number in [1000, 1000, 1000, 2000, 1000, 1000, 3000] * 4:
        exec(change.format(number), vars(module))
        for _ in range(3):
            assert g(1.5) == module.f(1.5), number
    sys.modules.pop(module.__name__)


def test_what_a_kernel_reads_outlives_its_run(tmp_path: Path) -> None:
    """Another thread binds the name anew, while the kernel runs without the GIL."""
    module: Any = load("import numpy as np\nW = np.ones(4000)\ndef f(x, m):\n    s = 0.0\n"
                       "    for k in range(m):\n        s = s + W[k * 7 % 4000] * x\n"
                       "    return s\n", tmp_path, f"fast_{next(_NUMBERS)}")
    g, trips, done = tracejit.jit(module.f), 1_000_000, threading.Event()
    assert g(1.0, trips) == trips

    def bind() -> None:
        for number in itertools.count(1):
            module.W = np.full(4000, float(number))
            if done.wait(0.0005):
                return

    thread = threading.Thread(target=bind)
    thread.start()
    try:
        found = [g(1.0, trips) / trips for _ in range(20)]
    finally:
        done.set()
        thread.join()
        sys.modules.pop(module.__name__)
    assert found == [*map(round, found)]  # of one array each


def test_other_threads_may_run_while_python_reads(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An array that the entry has looked at is looked at once more: it may be gone by then."""
    module: Any = load(f"{HEAD}W = np.ones(4000)\ndef f(x):\n    return (W * x).sum() * asked.f\n",
                       tmp_path, f"fast_{next(_NUMBERS)}")
    g, read, numbers = tracejit.jit(module.f), paths.Path.read, itertools.count(2)
    assert g(1.0) == 10000.0

    def read_slowly(path: Any) -> Any:
        module.W = np.full(4000, float(next(numbers)))  # as another thread does
        return read(path)

    monkeypatch.setattr(paths.Path, "read", read_slowly)
    for _ in range(20):
        assert g(1.0) == module.W[0] * 10000.0
    sys.modules.pop(module.__name__)


def test_an_entry_outlives_its_specialisation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kinds of calls that a function forgets leave entries that others may call."""
    monkeypatch.setattr("tracejit.runtime.function.MOST_KINDS", 3)
    g = tracejit.jit(lambda x, kind: x * len(kind))
    kinds = ["a" * k for k in range(1, 7)]
    for kind in [*kinds, *reversed(kinds)]:
        assert g(1.5, kind) == 1.5 * len(kind)
        gc.collect()
    assert len(g._table) == 3


def test_inputs_of_objects_are_read_at_each_call() -> None:
    class Model:
        scale = 2.0

        def __init__(self) -> None:
            self.k, self.w = 2.0, np.ones(3)

        def loss(self, x: Any) -> Any:
            return np.sum(x * self.w) * self.k * self.scale

    model = Model()
    g, x = tracejit.grad(model.loss), np.ones(3)
    for k in range(5):
        model.k, model.w[0], Model.scale = float(k), k + 1.0, 1.0 + k
        np.testing.assert_array_equal(g(x), model.w * k * (1.0 + k))
    assert len(next(iter(g._table.values()))) == 1
