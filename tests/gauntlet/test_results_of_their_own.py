"""What a call returns is its own: reading it or writing to it changes no other call's result.

Each case is an expression that a captured function returns, and a use of it that leaves a trace.
The oracle is Python, in which the use gives the same after every call; or the call is refused.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import pytest
from state_sequences import load

import tracejit

HEAD = """\
import array, collections, contextlib, copy, decimal, fractions, functools, io, itertools, operator
import queue, re, string, threading, types
from dataclasses import dataclass, field
import numpy as np
import scipy.interpolate
NT = collections.namedtuple("NT", "a b")
L, D, O = [1], {"a": [1]}, types.SimpleNamespace(l=[1])
class C:
    def __init__(self, o=None):
        self.l, self.o = [], o
    def get(self):
        return self.l
@dataclass
class S:
    l: list = field(default_factory=list)
@dataclass(frozen=True)
class Frozen:
    l: list
class Slots:
    __slots__ = ("l",)
    def __init__(self):
        self.l = []
class Own(list):
    pass
def holding(l):
    def inner():
        return l
    return inner
def grown(l):
    l.append(1)
    return len(l)
"""

ITERATORS = [
    "iter([1, 2, 3])", "zip([1, 2], [3, 4])", "map(str, [1, 2])", "filter(None, [1, 2])",
    "enumerate([1, 2])", "reversed([1, 2])", "iter({1: 2, 3: 4})", "iter({1, 2})", "iter((1, 2))",
    "iter('ab')", "iter(range(3))", "iter({1: 2, 3: 4}.items())", "iter(collections.deque([1, 2]))",
    "iter(L * 2)", "reversed(L * 2)", "(k for k in [1, 2])", "re.finditer('a', 'aab')",
    "itertools.count()", "itertools.chain([1, 2], [3])", "itertools.cycle([1, 2])",
    "itertools.islice([1, 2, 3], 2)", "itertools.permutations([1, 2])", "itertools.pairwise('abc')",
    "itertools.product([1, 2])", "itertools.starmap(max, [(1, 2), (3, 4)])",
    "itertools.accumulate([1, 2])", "itertools.zip_longest([1, 2])", "itertools.tee([1, 2])[0]",
    "itertools.repeat(1, 2)", "itertools.combinations([1, 2, 3], 2)", "np.ndindex(2)",
]

USES = {
    "next(r)": ITERATORS,
    "next(r[0])": [f"[{x}]" for x in ITERATORS[::4]] + [f"({x}, 1)" for x in ITERATORS[1::4]],
    "next(r.l)": [f"types.SimpleNamespace(l={x})" for x in ITERATORS[2::4]],
    "grown(r.l)": ["C()", "S()", "Frozen([])", "Slots()", "types.SimpleNamespace(l=[])", "C(C())"],
    "grown(r.o.l)": ["C(C())", "C(S())", "C(Slots())", "C(types.SimpleNamespace(l=[]))"],
    "grown(r[0])": ["[[]]", "([],)", "NT([], 1)", "collections.deque([[]])", "{0: []}",
                    "collections.OrderedDict({0: []})", "Own([[]])", "collections.UserList([[]])",
                    "collections.ChainMap({0: []})", "types.MappingProxyType({0: []})",
                    "collections.defaultdict(list, {0: []})", "collections.UserDict({0: []})"],
    "grown(r.args[0])": ["ValueError([])", "functools.partial(len, [])", "KeyError([])"],
    "grown(r())": ["(lambda a=[]: a)", "(lambda *, a=[]: a)", "holding([])", "C().get",
                   "functools.partial(lambda a: a, [])", "functools.partial(C().get)",
                   "(lambda g: lambda: g())(holding([]))", "holding(holding([]))()"],
    "(r(5), len(r.__self__))": ["[1].append", "{1}.add", "collections.deque().append",
                                "L.copy().append", "array.array('l', [1]).append"],
    "(r({5: 1}), len(r.__self__))": ["{1: 2}.update", "collections.OrderedDict().update",
                                     "D.copy().update"],
    "list(r)": ["{1: 2}.items()", "{1: 2}.keys()", "{1: 2}.values()", "frozenset([1])", "range(3)"],
    "grown(r.mapping['a'])": ["{'a': []}.items()", "{'a': []}.keys()", "dict(a=[]).values()"],
    "(r[0], r.__setitem__(0, 98))": ["bytearray(b'abc')", "memoryview(bytearray(b'abc'))",
                                     "array.array('l', [1, 2])", "np.array([b'a', b'b'])",
                                     "collections.deque([1, 2])", "[1, 2]", "{0: 1}",
                                     "np.array([1, None])"],
    "(r.template, setattr(r, 'template', 'b'))": ["string.Template('a')"],
    "(r.prec, setattr(r, 'prec', 5))": ["decimal.Context()", "decimal.Context(prec=3)"],
    "grown(r.start)": ["slice([], 1)"],
    "(float(r.c[0]), r.c.__setitem__(0, 5))": ["np.poly1d([1, 2])"],
    "r.read()": ["io.StringIO('abc')", "io.BytesIO(b'abc')"],
    "(r.locked(), r.acquire())": ["threading.Lock()"],
    "(r.put(1), r.qsize())": ["queue.SimpleQueue()", "queue.Queue()"],
    "(r.update('a'), r['a'])": ["collections.Counter('aab')"],
    "(r.fget().append(1), len(r.fget()))": ["property(holding([]))"],
    "str(r)": ["decimal.Decimal('1.5')", "fractions.Fraction(1, 3)", "re.compile('a')", "len",
               "np.sin", "np", "C", "1", "'a'", "None", "...", "np.dtype('f4')", "operator"],
    "r.l is O.l": ["types.SimpleNamespace(l=O.l)", "O", "C(O).o", "NT(O.l, O)[1]"],
    "(r.l is L, r.o is O)": ["types.SimpleNamespace(l=L, o=O)"],
    "(r[0] is r[1], r[0].l is r[1].l)": ["(lambda c: (c, c))(C())", "(C(), C())",
                                         "(lambda c: [c, C(c).o])(C())"],
    "(r[0].l.append(1), len(r[1]()))": ["(lambda c: (c, c.get))(C())"],
    "(r[0].append(1), len(r[1]))": ["(lambda d: (d, C(d).o))(collections.deque())"],
}

ROWS = [(use, made) for use, some in USES.items() for made in some]
_NUMBERS = itertools.count()


def outcome(use: str, call: Any, module: Any) -> Any:
    """Return the value of a use of a call's result; the refusal, if it is refused."""
    try:
        r = call(2.0)[1]
    except tracejit.Refusal as refusal:
        return refusal
    return eval(use, {**vars(module), "r": r})


@pytest.mark.parametrize(("use", "made"), ROWS)
def test_a_result_is_of_its_call(use: str, made: str, tmp_path: Path) -> None:
    text = f"{HEAD}def f(x):\n    return x, {made}\n"
    module = load(text, tmp_path, f"results_of_their_own_{next(_NUMBERS)}")
    call = tracejit.jit(module.f)
    try:
        expected = outcome(use, module.f, module)
        assert repr(outcome(use, module.f, module)) == repr(expected), "the use leaves no trace"
        with tracejit.config(disable_jit=True):
            for _ in range(3):
                found = outcome(use, call, module)
                if isinstance(found, tracejit.Refusal):
                    assert f"{module.__name__}.py" in str(found)
                else:
                    assert repr(found) == repr(expected)
    finally:
        sys.modules.pop(module.__name__, None)


CLASSES = {
    "statement": "class T:\n        k = 1",
    "with bases": "class T(C):\n        pass",
    "of a list": "class T(list):\n        pass",
    "exception": "class T(Exception):\n        pass",
    "data": "@dataclass\n    class T:\n        k: int = 1",
    "slots": "class T:\n        __slots__ = ('k',)",
    "enum": "class T(enum.Enum):\n        A = 1",
    "call": "T = type('T', (), {'k': 1})",
    "call with bases": "T = type('T', (C,), {})",
    "named tuple": "T = collections.namedtuple('T', 'a b', defaults=(1, 2))",
    "typed tuple": "class T(typing.NamedTuple):\n        a: int = 1",
    "enum by call": "T = enum.Enum('T', 'A B')",
    "in a branch": "if x > 0.0:\n        class T:\n            k = 1",
    "in a loop": "for k in range(2):\n        class T:\n            k = 1",
    "of a function": "T = made()",
}
RETURNED = {"the class": "T", "in a list": "[T]", "in a tuple": "(T, 1)", "a value": "{'a': T}",
            "an object": "T.A if hasattr(T, 'A') else T()",
            "objects": "[T.A if hasattr(T, 'A') else T()]"}
MADE = """import enum, typing
def made():
    class M:
        k = 1
    return M
"""


@pytest.mark.parametrize("returned", RETURNED)
@pytest.mark.parametrize("made", CLASSES)
def test_a_class_that_a_call_makes_is_of_this_call(made: str, returned: str,
                                                   tmp_path: Path) -> None:
    text = (f"{HEAD}{MADE}def f(x):\n    {CLASSES[made]}\n    return x, {RETURNED[returned]}\n"
            "def class_of(r):\n    r = r['a'] if type(r) is dict else r\n"
            "    r = r[0] if type(r) in (list, tuple) else r\n"
            "    return r if isinstance(r, type) else type(r)\n")
    module = load(text, tmp_path, f"classes_of_their_own_{next(_NUMBERS)}")
    call = tracejit.jit(module.f)
    refused = ""
    try:
        with tracejit.config(disable_jit=True):
            try:
                found = [module.class_of(call(float(k))[1]) for k in (1, 2, 3)]
            except tracejit.Refusal as e:
                refused = str(e)
        if refused:
            assert f"{module.__name__}.py" in refused
            return
        assert len({*found}) == len({module.class_of(module.f(1.0)[1]) for _ in range(3)})
    finally:
        sys.modules.pop(module.__name__, None)


FUNCTIONS = {
    "of nothing": "g = lambda y: 2.0", "of its argument": "g = lambda y: y * 2.0",
    "of a number of the call": "k = STATE['k']\n    g = lambda y: k",
    "of a default": "g = lambda y, k=STATE['k']: k",
    "of a named default": "def g(y, *, k=STATE['k']):\n        return k",
    "of a text of the call": "k = str(STATE['k'])\n    def g(y):\n        return k",
    "of a function of the call": "k = STATE['k']\n    h = lambda: k\n    g = lambda y: h()",
    "of a global": "g = lambda y: STATE['k'] * y", "of itself": (
        "def g(y):\n        return 1 if y < 1 else y * g(y - 1)"),
    "a generator": "def g(y):\n        yield STATE['k']\n        yield y",
    "from outside": "g = outer", "a method": "g = C([5]).get",
}
KEPT = {"alone": ("g", "r"), "in a list": ("[g]", "r[0]"), "in a dict": ("{'a': g}", "r['a']"),
        "in an object": ("types.SimpleNamespace(l=g)", "r.l"),
        "in a partial": ("functools.partial(g)", "r")}
OUTER = """STATE = {"k": 1}
def outer(y=0.0):
    return STATE["k"] * y
"""


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("made", FUNCTIONS)
def test_a_function_that_a_call_returns_is_of_this_call(made: str, kept: str,
                                                        tmp_path: Path) -> None:
    returned, use = KEPT[kept]
    text = f"{HEAD}{OUTER}def f(x):\n    {FUNCTIONS[made]}\n    return x, {returned}\n"
    module = load(text, tmp_path, f"functions_of_their_own_{next(_NUMBERS)}")
    call = tracejit.jit(module.f)
    args = "()" if made == "a method" else "(2.0)"
    use = f"[*{use}{args}]" if made == "a generator" else f"{use}{args}"
    try:
        with tracejit.config(disable_jit=True):
            for k in (1, 5, 7):
                module.STATE["k"] = k
                found = outcome(use, call, module)
                if isinstance(found, tracejit.Refusal):
                    assert f"{module.__name__}.py" in str(found)
                    assert made != "from outside"
                else:
                    assert repr(found) == repr(outcome(use, module.f, module))
    finally:
        sys.modules.pop(module.__name__, None)


def test_iterators_and_views_are_refused_by_name() -> None:
    with pytest.raises(tracejit.Refusal, match=r"list_iterator, that is returned .* list\(\.\.\."):
        tracejit.jit(lambda x: (x, iter([1, 2])))(2.0)
    with pytest.raises(tracejit.Refusal, match=r"a dict_keys that is returned"):
        tracejit.jit(lambda x: (x, {1: 2}.keys()))(2.0)
    with pytest.raises(tracejit.Refusal, match=r"the method 'append' of a list that is returned"):
        tracejit.jit(lambda x: (x, [1].append))(2.0)
    with pytest.raises(tracejit.Refusal, match=r"the function '<lambda>', which captured code ma"):
        tracejit.jit(lambda x: (x, lambda y: y))(2.0)
