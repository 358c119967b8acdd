"""Methods that Python calls unseen read classes of objects that theirs hold: never stale.

Each case is an expression in a method, a way in which Python calls it, and a change of a class. The
oracle is Python's result at every call.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from state_sequences import refused_around

import tracejit

HEAD = """\
import bisect, dataclasses, functools, heapq, itertools, math, operator, struct
K = 1.0
class Ref:
    K = 1.0
    def m(self):
        return self.K
    @property
    def p(self):
        return self.K
    @classmethod
    def c(cls):
        return cls.K
    def __call__(self, t):
        return self.K * t
class Sub(Ref):
    pass
R = Sub()
def helper(s):
    return s.ref.K
def deep(s):
    return helper(s) * s.ref.m()
"""
CLASS = """
class D:
    def __init__(s, v):
        s.v, s.ref, s.d, s.l, s.fn, s.kind = v, R, {{"a": R}}, [R], deep, Ref
    def __lt__(s, o):
        return s.v * ({0}) < o.v * ({0})
    def __eq__(s, o):
        return ({0}) > 0
    def __hash__(s):
        return 1
    def __str__(s):
        return str(s.v * ({0}))
    def __format__(s, spec):
        return str(s.v * ({0}))
    def __iter__(s):
        return iter([s.v * ({0})])
    def __index__(s):
        return int(s.v * ({0})) + 9
    def __float__(s):
        return s.v * ({0})
    def __bool__(s):
        return ({0}) > 0
"""
READS = ["s.ref.K", "s.ref.m()", "s.ref.p", "s.ref.c()", "type(s.ref).K", "s.d['a'].K",
         "s.d.get('a').m()", "s.ref(1.0)", "helper(s)", "deep(s)", "s.l[0].K", "s.fn(s)",
         "[r.K for r in s.l][0]", "max(r.K for r in s.l)", "(lambda r: r.K)(s.ref)",
         "s.ref.__class__.K", "getattr(s.ref, 'K')", "s.kind.K", "Ref.K", "Sub.K", "R.K", "K"]
CALLS = ["sorted(OBJS)[0].v", "min(OBJS).v", "max(OBJS).v", "heapq.nsmallest(1, OBJS)[0].v",
         "bisect.bisect(OBJS, OBJS[0]) + 1.0", "float((1, OBJS[0]) < (1, OBJS[1]))",
         "float(str(OBJS[0]))", "float(f'{OBJS[0]}')", "list(zip(OBJS[0]))[0][0]",
         "math.fsum(OBJS)", "struct.unpack('d', struct.pack('d', OBJS[0]))[0]",
         "len(range(OBJS[0])) + 1.0", "len([*filter(None, OBJS)]) + 1.0",
         "OBJS.index(OBJS[1]) + 1.0", "len({*OBJS}) + 1.0"]
CHANGES = ["Ref.K = K = -1.0", "Sub.K = K = -1.0", "Ref.K = K = -1.0; Ref.K = K = 1.0"]
ROWS = [(read, CALLS[k % len(CALLS)], CHANGES[k % len(CHANGES)])
        for k, read in enumerate(READS * 4)] + [
    ("s.ref.K", call, CHANGES[0]) for call in CALLS] + [("K", call, CHANGES[0]) for call in CALLS]

LOCAL = """
def make():
    @dataclasses.dataclass
    class D:
        a: float
        def __post_init__(self):
            self.a = 2.0
    class Of:
        class Inner:
            def __set_name__(self, owner, name):
                owner.got = 2.0
    class Base:
        def __init_subclass__(cls):
            cls.got = 2.0
    class Less:
        def __lt__(self, other):
            return self.v < other.v
    return D, Of, Base, Less
D, Of, Base, Less = make()
class Out:
    D, Of, Base, Less = make()
    @dataclasses.dataclass
    class Own:
        a: float
        def __post_init__(self):
            self.a = 2.0
pair = Less(), Less()
pair[0].v, pair[1].v = 1.0, 2.0
def of_set_name(x):
    class T:
        d = Of.Inner()
    return T.got
def of_subclass(x):
    class T(Base):
        pass
    return T.got
"""
REPLACED = [
    ("D(1.0).a", "D.__post_init__ = lambda self: setattr(self, 'a', 10.0)"),
    ("Out.D(1.0).a", "Out.D.__post_init__ = lambda self: setattr(self, 'a', 10.0)"),
    ("Out.Own(1.0).a", "Out.Own.__post_init__ = lambda self: setattr(self, 'a', 10.0)"),
    ("of_set_name(x)", "Of.Inner.__set_name__ = lambda self, o, n: setattr(o, 'got', 10.0)"),
    ("of_subclass(x)", "Base.__init_subclass__ = classmethod(lambda c: setattr(c, 'got', 10.0))"),
    ("sorted(pair)[0].v", "Less.__lt__ = lambda self, o: self.v > o.v"),
    ("D(1.0).a", "D.__init__ = lambda self, a: setattr(self, 'a', 10.0)"),
]


def run(text: str, change: str, folder: Path) -> None:
    with tracejit.config(disable_jit=True):
        assert not refused_around(text, change, folder, "state_of_held")


@pytest.mark.parametrize(("read", "call", "change"), ROWS)
def test_classes_of_held_objects(read: str, call: str, change: str, tmp_path: Path) -> None:
    body = f"OBJS = [D(1.0), D(2.0)]\ndef f(x):\n    return x * ({call})\n"
    run(HEAD + CLASS.format(read) + body, change, tmp_path)


@pytest.mark.parametrize("call", CALLS)
def test_classes_that_exec_makes(call: str, tmp_path: Path) -> None:
    made = f"exec({CLASS.format('K')!r})\n"
    body = f"OBJS = [D(1.0), D(2.0)]\ndef f(x):\n    return x * ({call})\n"
    run(HEAD + made + body, CHANGES[0], tmp_path)


@pytest.mark.parametrize(("expression", "change"), REPLACED)
def test_methods_of_local_classes(expression: str, change: str, tmp_path: Path) -> None:
    run(f"{HEAD}{LOCAL}def f(x):\n    return x * ({expression})\n", change, tmp_path)


def test_chains_of_objects_are_as_long_as_you_like(tmp_path: Path) -> None:
    nodes = """
class A:
    K = 1.0
    def __init__(s, v, next):
        s.v, s.next = v, next
    def __lt__(s, o):
        return s.v * s.next.K < o.v * s.next.K
class B(A):
    def __lt__(s, o):
        return s.v * s.next.K < o.v * s.next.K
def chain(n):
    node = A(0.0, None)
    for k in range(n):
        node = (A, B)[k % 2](float(k), node)
    return node
OBJS = [chain(200), chain(1)]
def f(x):
    return x * min(OBJS).v
"""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(500)  # and the chain is not a long one, of which each node is guarded
    try:
        run(HEAD + nodes, "A.K = -1.0", tmp_path)
    finally:
        sys.setrecursionlimit(before)
