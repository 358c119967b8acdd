"""Kinds of state that a function can read, and ways of changing each: cases for `test_state.py`.

A case is the text of a module with a function `f`, of a call of it, and of changes. After each
change the function's own result is the oracle for a transform of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["CASES", "Case", "case_of"]

HEAD = """\
import abc, array, builtins, collections, contextvars, copy, dataclasses, decimal, enum, fractions
import functools, itertools, math, operator, os, pathlib, re, sys, tempfile, types, weakref
from collections import OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from fractions import Fraction
import numpy as np
"""


@dataclass(frozen=True)
class Case:
    """A function that reads state, and the changes of the state between calls.

    refused -- whether a call may be a refusal
    """

    name: str
    setup: str
    changes: list[str]
    call: str = "g(x)"
    refused: bool = False
    text: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", HEAD + self.setup + "\n")


CASES: list[Case] = []


def case_of(name: str, setup: str, *changes: str, call: str = "g(x)",
            refused: bool = False) -> Case:
    """Return a case."""
    return Case(name, setup.strip(), list(changes), call, refused)


def case(name: str, setup: str, *changes: str, call: str = "g(x)", refused: bool = False) -> None:
    """Enter a case; "|" stands for the end of a line."""
    CASES.append(case_of(name, setup.replace("|", "\n"), *changes, call=call, refused=refused))


# --- arguments that are no data -------------------------------------------------------------------

_STATIC = """
class Named:
    def __init__(self, name, k):
        self.name, self.k = name, k
    def __eq__(self, other):
        return isinstance(other, Named) and self.name == other.name
    def __hash__(self):
        return hash(self.name)
    def apply(self, x):
        return self.k * x
class F(float):
    pass
class I(int):
    pass
class S(str):
    pass
def made(kind, content, k):
    x = kind(content)
    x.k = k
    return x
"""

_FUNCTIONS = {
    "attribute": "def f(x, a):\n    return a.k * x",
    "call": "def f(x, a):\n    return a(x)",
    "sign": "def f(x, a):\n    return math.copysign(2.0, float(a)) * x",
    "text": "def f(x, a):\n    return len(str(a)) * x",
    "items": "def f(x, a):\n    r = x\n    for k in a:\n        r = r * 2.0 + k\n    return r",
    "types": "def f(x, a):\n    for k in a:\n        x = x * 2.0 + len(str(k))\n    return x",
    "parts": "def f(x, a):\n    return (a.stop or 0) * x + (a.step or 0)",
    "type": "def f(x, a):\n    return len(type(a).__name__) * x",
}

_ARGUMENTS = [
    ("equal objects", "attribute", ["Named('a', 2.0)", "Named('a', 3.0)", "Named('a', 2)"]),
    ("float with attributes", "attribute", ["made(F, 1.0, 2.0)", "made(F, 1.0, 3.0)"]),
    ("int with attributes", "attribute", ["made(I, 1, 2.0)", "made(I, 1, 3.0)"]),
    ("str with attributes", "attribute", ["made(S, 'a', 2.0)", "made(S, 'a', 3.0)"]),
    ("bound methods", "call", ["Named('a', 2.0).apply", "Named('a', 3.0).apply"]),
    ("partials", "call", ["functools.partial(operator.mul, 2.0)",
                          "functools.partial(operator.mul, 3.0)",
                          "functools.partial(operator.add, 3.0)"]),
    ("lambdas", "call", ["lambda v: v * 2.0", "lambda v: v * 3.0"]),
    ("lambdas with defaults", "call", ["lambda v, k=2.0: v * k", "lambda v, k=3.0: v * k"]),
    ("decimal zeros", "sign", ["Decimal('0')", "Decimal('-0')"]),
    ("decimals", "text", ["Decimal('1.0')", "Decimal('1.000')"]),
    ("bools", "type", ["True", "np.True_"]),
    ("fractions", "text", ["Fraction(1, 2)", "Fraction(1, 3)"]),
    ("text", "text", ["'a'", "'aa'", "b'aa'", "'b'"]),
    ("ranges", "parts", ["range(0, 3, 2)", "range(0, 4, 2)"]),
    ("slices", "parts", ["slice(0, 3, 2)", "slice(0, 4, 2)", "slice(0, True, 2)"]),
    ("sets of numbers", "types", ["{1}", "{True}", "{1.0}"]),
    ("sets of zeros", "types", ["{0.0}", "{-0.0}"]),
    ("orders of sets", "items", ["{8, 0}", "{0, 8}"]),
    ("frozen sets", "types", ["frozenset([1])", "frozenset([True])", "frozenset([1.0])"]),
    ("keys", "types", ["{1: 1.0}", "{True: 1.0}", "{1.0: 1.0}"]),
    ("keys of zero", "types", ["{0.0: 1.0}", "{-0.0: 1.0}"]),
    ("orders of keys", "items", ["{1: 0.0, 2: 0.0}", "{2: 0.0, 1: 0.0}"]),
    ("keys in tuples", "types", ["{(1,): 1.0}", "{(True,): 1.0}", "{(1.0,): 1.0}"]),
    ("queues", "items", ["deque([1, 2])", "deque([2, 1])", "deque([1.0, 2])"]),
    ("bytes", "items", ["b'ab'", "b'ba'"]),
    ("arrays of bytes", "items", ["bytearray(b'ab')", "bytearray(b'ba')"]),
    ("integers and their likes", "type", ["True", "F(1.0)", "I(1)"]),
]

for _name, _kind, _values in _ARGUMENTS:
    case(f"argument: {_name}", f"{_STATIC}\n{_FUNCTIONS[_kind]}\na = {_values[0]}",
         *[f"a = {v}" for v in (*_values[1:], *_values)], call="g(x, a)")

for _name, _setup, _changes in [
    ("attribute of an argument", "a = Named('a', 2.0)", ["a.k = 3.0", "a.k = 4", "a.k = 2.0"]),
    ("attribute of a float", "a = made(F, 1.0, 2)", ["a.k = 3", "a.k = 3.0"]),
]:
    case(f"argument: {_name}", f"{_STATIC}\n{_FUNCTIONS['attribute']}\n{_setup}", *_changes,
         call="g(x, a)")
for _name, _setup, _changes in [
    ("method of a changed object", "m = Named('a', 2.0)\na = m.apply", ["m.k = 3.0", "m.k = 4"]),
    ("method whose class changes", "m = Named('a', 2.0)\na = m.apply",
     ["Named.apply = lambda self, x: self.k + x\na = m.apply"]),
    ("partial in place", "a = functools.partial(lambda v, k: v * k, k=2.0)",
     ["a.keywords['k'] = 3.0", "a.keywords['k'] = 3"]),
    ("function with an attribute", "def a(v):\n    return v * a.k\na.k = 2.0",
     ["a.k = 3.0", "a.k = 3", "a.k = 2.0"]),
    ("function with other defaults", "def a(v, k=2.0):\n    return v * k",
     ["a.__defaults__ = (3.0,)", "a.__defaults__ = (3,)", "a.__defaults__ = (2.0,)"]),
    ("function with other keyword defaults", "def a(v, *, k=2.0):\n    return v * k",
     ["a.__kwdefaults__ = {'k': 3.0}", "a.__kwdefaults__['k'] = 4.0"]),
    ("function with other code", "def a(v):\n    return v * 2.0\ndef b(v):\n    return v * v",
     ["a.__code__ = b.__code__"]),
    ("closure with another content",
     "def maker():\n    k = 2.0\n    def a(v):\n        return v * k\n    return a\na = maker()",
     ["a.__closure__[0].cell_contents = 3.0", "a.__closure__[0].cell_contents = 3"]),
]:
    case(f"argument: {_name}", f"{_STATIC}\n{_FUNCTIONS['call']}\n{_setup}", *_changes,
         call="g(x, a)")
for _name, _setup, _changes in [
    ("queue in place", "a = deque([1, 2])", ["a.append(3)", "a.popleft()", "a[0] = 2.5"]),
    ("set in place", "a = {1}", ["a.add(2)", "a.remove(1)", "a.clear()\na.add(True)"]),
    ("array of bytes in place", "a = bytearray(b'ab')", ["a[0] = 100", "a.append(1)"]),
]:
    case(f"argument: {_name}", f"{_STATIC}\n{_FUNCTIONS['items']}\n{_setup}", *_changes,
         call="g(x, a)")

# --- globals by value -----------------------------------------------------------------------------

_VALUES = [
    ("float", ["2.0", "3.0", "-0.0", "0.0", "2"]), ("int", ["2", "True", "2.0", "3"]),
    ("complex", ["2 + 1j", "2 - 1j", "2.0"]), ("numpy", ["np.float64(2)", "np.float32(2)", "2.0"]),
    ("fraction", ["Fraction(1, 2)", "Fraction(1, 4)"]),
]
for _name, _contents in _VALUES:
    case(f"global: {_name}", f"K = {_contents[0]}\ndef f(x):\n    return np.real(float(K) * x)"
         if _name == "fraction" else f"K = {_contents[0]}\ndef f(x):\n    return np.real(K * x)",
         *[f"K = {c}" for c in (*_contents[1:], _contents[0])])
for _name, _kind, _contents in [
    ("text", "text", ["'a'", "'aa'", "b'abc'"]), ("decimal", "text", ["Decimal('1.0')",
                                                                       "Decimal('1.000')"]),
    ("decimal zero", "sign", ["Decimal('0')", "Decimal('-0')"]),
    ("range", "parts", ["range(0, 3, 2)", "range(0, 4, 2)"]),
    ("slice", "parts", ["slice(0, 3, 2)", "slice(0, 4, 2)", "slice(1, 3, 2)"]),
    ("set", "types", ["{1}", "{True}", "{1.0}"]), ("zeros", "types", ["{0.0}", "{-0.0}"]),
    ("order of a set", "items", ["{8, 0}", "{0, 8}"]),
    ("keys", "types", ["{1: 1}", "{True: 1}", "{1.0: 1}"]),
    ("order of keys", "items", ["{1: 0, 2: 0}", "{2: 0, 1: 0}"]),
    ("frozenset", "types", ["frozenset([1])", "frozenset([True])"]),
    ("views of values", "items", ["{'a': 1.0, 'b': 2}.values()", "{'a': 3.0, 'b': 2}.values()"]),
    ("views of keys", "items", ["{1: 1.0, 2: 2}.keys()", "{2: 3.0, 1: 2}.keys()"]),
    ("proxy", "items", ["types.MappingProxyType({1: 2})", "types.MappingProxyType({2: 2})"]),
    ("view of memory", "items", ["memoryview(b'ab')", "memoryview(b'ba')"]),
    ("bytes", "items", ["b'ab'", "b'ba'"]), ("queue", "items", ["deque([1, 2])", "deque([2, 1])"]),
    ("typed array", "items", ["array.array('i', [1, 2])", "array.array('d', [1, 2])",
                              "array.array('i', [2, 1])"]),
]:
    case(f"global: {_name}",
         f"{_STATIC}\n{_FUNCTIONS[_kind]}\nfunction, A = f, {_contents[0]}\n"
         "def f(x):\n    return function(x, A)",
         *[f"A = {c}" for c in (*_contents[1:], *_contents)])
for _name, _setup, _changes in [
    ("list", "A = [1, 2.0]", ["A[0] = 2", "A[0] = True", "A.append(3.0)", "A.reverse()"]),
    ("queue", "A = deque([1, 2.0])", ["A[0] = 2", "A.rotate(1)", "A.append(2.5)"]),
    ("view of values", "D = {'a': 1.0, 'b': 2}\nA = D.values()",
     ["D['a'] = 2.0", "D['b'] = 3", "D['c'] = 4.0", "del D['a']"]),
    ("view of keys", "D = {1: 1.0, 2: 2}\nA = D.keys()", ["D[3] = 2.0", "del D[1]"]),
    ("proxy", "D = {1: 1.0}\nA = types.MappingProxyType(D)", ["D[2] = 2.0", "del D[1]"]),
    ("view of memory", "B = bytearray(b'ab')\nA = memoryview(B)", ["B[0] = 100"]),
    ("array of bytes", "A = bytearray(b'ab')", ["A[0] = 100", "A.append(1)"]),
    ("typed array", "A = array.array('d', [1, 2])", ["A[0] = 100", "A.append(1)"]),
    ("set", "A = {1}", ["A.add(2)", "A.remove(1)"]),
]:
    case(f"in place: {_name}",
         f"{_STATIC}\n{_FUNCTIONS['items']}\nfunction = f\n{_setup}\n"
         "def f(x):\n    return function(x, A)", *_changes)
case("in place: nested containers", "C = {'a': [1.0, (2, {'b': 3.0})]}\n"
     "def f(x):\n    return x * C['a'][0] + C['a'][1][0] * C['a'][1][1]['b']",
     "C['a'][0] = 2.0", "C['a'][1][1]['b'] = 4.0", "C['a'][1][1]['b'] = 4",
     "C['a'][1] = (3, {'b': 1.0})")
case("in place: items of a proxy", "D = {'k': 2.0}\nA = types.MappingProxyType(D)\n"
     "def f(x):\n    return A['k'] * x", "D['k'] = 3.0", "D['k'] = 3", "del D['k']\nD['k'] = 2.0")
case("in place: arrays of a queue", "Q = deque([np.array([1.0, 2.0])])\n"
     "def f(x):\n    return x * sum(Q[0].tolist())", "Q[0][0] = 5.0", "Q[0] = np.array([3.0])",
     refused=True)
case("in place: sums of arrays of a queue", "Q = deque([np.array([1.0, 2.0])])\n"
     "def f(x):\n    return x * np.sum(Q[0])", "Q[0][0] = 5.0", "Q[0] = np.array([3.0])")
case("in place: shape of an array", "W = np.array([1.0, 2.0, 3.0])\n"
     "def f(x):\n    return np.sum(W * x + W.ndim * np.sum(W + W.T))",
     "W.shape = (3, 1)", "W.shape = (3,)", "W.shape = (1, 3)")
case("in place: type of an array", "W = np.array([1.0, 2.0, 3.0])\n"
     "def f(x):\n    return np.sum(W * x)", "W.dtype = np.int64", "W[:] = 2",
     "W.dtype = np.float64")
case("in place: partial", "p = functools.partial(lambda v, k: v * k, k=2.0)\n"
     "def f(x):\n    return p(x)", "p.keywords['k'] = 3.0", "p.keywords['k'] = 3",
     "p = functools.partial(lambda v, k: v + k, k=2.0)")
for _name, _made in (("partial", "functools.partial(lambda v: v)"),
                     ("OrderedDict", "OrderedDict(a=1)"),
                     ("named tuple", "type('P', (namedtuple('P', 'a'),), {})(1)")):
    case(f"in place: attributes of a copied {_name}",
         f"p = {_made}\ndef f(x):\n    return x * getattr(p, 'n', 7.0)",
         "p.n = 3.0", "p.n = 3", "p.m = 4.0", "p.n = np.array(2.0)", "del p.n", "p.n = 5.0")
case("in place: arguments of a partial",
     "L = [2.0]\np = functools.partial(lambda l, v: v * l[0], L)\n"
     "def f(x):\n    return p(x)", "L[0] = 3.0", "L[0] = 3")
case("in place: bound method of a dict", "T = {'n': 2}\nget = T.get\n"
     "def f(x):\n    return x ** get('n')", "T['n'] = 3", "T['n'] = 2.5", "get = {'n': 4}.get")
case("in place: bound method of a list", "T = [2, 3]\nget = T.__getitem__\n"
     "def f(x):\n    return x ** get(0)", "T[0] = 3", "T.insert(0, 4)", "get = [5].__getitem__")
case("in place: object array", "W = np.array([1, 'a'], dtype=object)\n"
     "def f(x):\n    return x * W[0]", "W[0] = 2", "W[0] = 2.5", refused=True)
case("in place: array of text", "W = np.array(['a', 'bb'])\n"
     "def f(x):\n    return x * len(str(W[0]))", "W[0] = 'bb'", refused=True)

# --- functions and classes ------------------------------------------------------------------------

for _name, _setup, _changes in [
    ("defaults", "def h(v, k=2.0):\n    return v * k",
     ["h.__defaults__ = (3.0,)", "h.__defaults__ = (3,)", "h.__defaults__ = ()"]),
    ("keyword defaults", "def h(v, *, k=2.0):\n    return v * k",
     ["h.__kwdefaults__ = {'k': 3.0}", "h.__kwdefaults__['k'] = 4.0", "h.__kwdefaults__ = None"]),
    ("a list as default", "def h(v, k=[2.0]):\n    return v * k[0]",
     ["h.__defaults__[0][0] = 3.0", "h.__defaults__[0].insert(0, 4)", "h.__defaults__ = ([1.0],)"]),
    ("an array as default", "def h(v, k=np.array([2.0])):\n    return np.sum(v * k)",
     ["h.__defaults__[0][0] = 3.0", "h.__defaults__ = (np.array([1.0, 2.0]),)"]),
    ("code", "def h(v):\n    return v * 2.0\ndef other(v):\n    return v * v",
     ["h.__code__ = other.__code__"]),
    ("replaced", "def h(v):\n    return v * 2.0\ndef other(v):\n    return v * v", ["h = other"]),
    ("attribute", "def h(v):\n    return v * h.k\nh.k = 2.0", ["h.k = 3.0", "h.k = 3"]),
    ("wrapped", "def deco(fn):\n    @functools.wraps(fn)\n    def inner(*a):\n"
     "        return fn(*a)\n    return inner\n@deco\ndef h(v):\n    return v * 2.0\n"
     "def other(v):\n    return v * v",
     ["h.__wrapped__.__code__ = other.__code__", "h.__closure__[0].cell_contents = other"]),
    ("cell", "def maker():\n    k = 2.0\n    def h(v):\n        return v * k\n    return h\n"
     "h = maker()", ["h.__closure__[0].cell_contents = 3.0", "h.__closure__[0].cell_contents = 3",
                     "del h.__closure__[0].cell_contents"]),
    ("dispatch", "@functools.singledispatch\ndef h(v):\n    return v * 2.0\n"
     "def other(v):\n    return v * v", ["h.register(float, other)", "h.register(int, other)"]),
]:
    case(f"function: {_name}", f"{_setup}\ndef f(x):\n    return h(x)", *_changes)
for _name, _change in [("defaults", "f.__defaults__ = (3.0,)"),
                       ("code", "f.__code__ = (lambda x, k=1.0: x + k).__code__")]:
    case(f"function: its own {_name}", "def f(x, k=2.0):\n    return x * k", _change,
         refused=_name == "code")

_CLASS = """
class Base:
    k = 2.0
    n = 2
    def __init__(self):
        self.own = 1.0
    def method(self, v):
        return v * self.k
    @property
    def size(self):
        return self.n
    @classmethod
    def made(cls):
        return cls.n
    @staticmethod
    def plain(v):
        return v * 2.0
    def __call__(self, v):
        return v * 2.0
    def __mul__(self, v):
        return v * 2.0
    def __len__(self):
        return 2
    def __getitem__(self, k):
        return 2.0 * k
    def __contains__(self, k):
        return True
    def __bool__(self):
        return True
    def __iter__(self):
        return iter([1.0, 2.0])
    def __enter__(self):
        return 2.0
    def __exit__(self, *a):
        return None
    @functools.cached_property
    def kept(self):
        return self.n
class C(Base):
    def method(self, v):
        return super().method(v) + 1.0
class Other(Base):
    k = 5.0
    n = 5
    def method(self, v):
        return v - 1.0
    def __call__(self, v):
        return v * 7.0
o = C()
"""
_REPLACED = [
    ("method", "o.method(x)", ["C.method = lambda self, v: v * 5.0"]),
    ("method behind super", "o.method(x)", ["Base.method = lambda self, v: v * 5.0"]),
    ("class attribute", "o.k * x", ["C.k = 3.0", "Base.k = 4.0", "del C.k", "Base.k = 3",
                                    "o.k = 7.0", "del o.k"]),
    ("whole class attribute", "o.n * x", ["C.n = 3", "del C.n", "Base.n = 4", "o.n = 7"]),
    ("property", "o.size * x", ["Base.size = property(lambda self: 5)", "C.size = 3"]),
    ("what a property reads", "o.size * x", ["Base.n = 5", "o.n = 6"]),
    ("class method", "o.made() * x", ["Base.n = 5", "C.made = classmethod(lambda cls: 3)"]),
    ("class method of the class", "C.made() * x", ["C.n = 5", "C.made = classmethod(lambda c: 3)"]),
    ("static method", "o.plain(x)", ["Base.plain = staticmethod(lambda v: v * 3.0)"]),
    ("call", "o(x)", ["Base.__call__ = lambda self, v: v * 3.0", "C.__call__ = lambda s, v: v"]),
    ("product", "o * x", ["Base.__mul__ = lambda self, v: v * 3.0"]),
    ("length", "len(o) * x", ["Base.__len__ = lambda self: 3"]),
    ("item", "o[2] * x", ["Base.__getitem__ = lambda self, k: 3.0 * k"]),
    ("membership", "(2.0 if 1 in o else 3.0) * x", ["Base.__contains__ = lambda self, k: False"]),
    ("truth", "(2.0 if o else 3.0) * x", ["Base.__bool__ = lambda self: False"]),
    ("iteration", "sum([k * x for k in o])", ["Base.__iter__ = lambda self: iter([5.0])"]),
    ("equality", "(2.0 if o == 1 else 3.0) * x", ["Base.__eq__ = lambda self, k: True"]),
    ("sum from the right", "x * 2.0 if not hasattr(o, '__rmul__') else x * o",
     ["Base.__rmul__ = lambda self, v: v * 9.0"]),
    ("instance made here", "C().method(x)", ["Base.k = 5.0", "C.method = lambda self, v: v",
                                             "Base.__init__ = lambda self: setattr(self, 'k', 9.0)",
                                             "C.method = Base.method"]),
    ("initialisation", "C().own * x", ["Base.__init__ = lambda self: setattr(self, 'own', 2.0)",
                                       "C.__init__ = lambda self: setattr(self, 'own', 3.0)"]),
    ("missing attribute", "getattr(o, 'extra', 2.0) * x", ["Base.extra = 3.0", "del Base.extra",
                                                          "o.extra = 4.0", "o.extra = 4"]),
    ("attributes by a method", "getattr(o, 'extra', 2.0) * x",
     ["Base.__getattr__ = lambda self, name: 5.0", "del Base.__getattr__"]),
    ("class of the object", "o.method(x)", ["o.__class__ = Other", "o.__class__ = C"]),
    ("class of the object called", "o(x)", ["o.__class__ = Other", "o.__class__ = C"]),
    ("type", "(2.0 if type(o) is C else 3.0) * x", ["o.__class__ = Other"]),
    ("instance", "(2.0 if isinstance(o, C) else 3.0) * x", ["o.__class__ = Other"]),
    ("bases", "o.method(x)", ["C.__bases__ = (Other,)", "C.__bases__ = (Base,)"]),
    ("attribute by the bases", "o.k * x", ["C.__bases__ = (Other,)", "C.__bases__ = (Base,)"]),
    ("name of the class", "len(type(o).__name__) * x", ["C.__name__ = 'Longer'"]),
    ("attribute of the type", "type(o).n * x", ["C.n = 3", "Base.n = 3", "del C.n"]),
    ("dict of the object", "o.__dict__['own'] * x", ["o.own = 2.0", "o.own = 2"]),
    ("vars of the object", "vars(o)['own'] * x", ["o.own = 2.0", "o.own = 2"]),
    ("items of vars", "sum([v * x for v in vars(o).values()])", ["o.own = 2.0", "o.more = 2"]),
    ("object", "o.k * x", ["o = Other()", "o = C()"]),
    ("cached property", "o.kept * x", ["o.__dict__['kept'] = 5", "del o.__dict__['kept']"]),
    ("descriptor", "o.d * x", [
        "class D:\n    def __get__(self, o, t):\n        return 2.0\nBase.d = D()",
        "D.__get__ = lambda self, o, t: 3.0", "D.__get__ = lambda self, o, t: 3"]),
]
for _name, _read, _changes in _REPLACED:
    _first = [_changes[0]] if _name == "descriptor" else []
    case(f"class: {_name}", f"{_CLASS}\n{''.join(_first)}\ndef f(x):\n    return {_read}",
         *_changes[len(_first):])
case("class: manager of a with", f"{_CLASS}\ndef f(x):\n    with o as k:\n        return x * k",
     "Base.__enter__ = lambda self: 3.0")
case("class: enumeration", "class E(enum.Enum):\n    A = 2\n    B = 3\nk = E.A\n"
     "def f(x):\n    return x * (2.0 if k is E.A else 3.0) * k.value", "k = E.B",
     "class E(enum.Enum):\n    A = 4\n    B = 5")
for _name, _setup, _made in [
    ("data class", "@dataclasses.dataclass\nclass P:\n    v: float\n    K = 2.0\n"
     "    def scaled(self):\n        return self.v * self.K\n    @property\n"
     "    def doubled(self):\n        return self.v * 2.0", "P(x)"),
    ("named tuple", "class P(namedtuple('P', 'v')):\n    K = 2.0\n"
     "    def scaled(self):\n        return self.v * self.K\n    @property\n"
     "    def doubled(self):\n        return self.v * 2.0", "P(x)"),
]:
    for _read, _changes in [
        ("p.K * p.v", ["P.K = 3.0", "P.K = 3"]), ("p.scaled()", ["P.K = 3.0", "P.K = 3",
                                                              "P.scaled = lambda self: self.v"]),
        ("p.doubled", ["P.doubled = property(lambda self: self.v * 3.0)"]),
        ("getattr(p, 'extra', 2.0) * p.v", ["P.extra = 3.0"]),
        ("(p + 1.0) if hasattr(P, '__sub__') else p.v", ["P.__sub__ = 1\nP.__add__ = "
                                                       "lambda self, k: self.v + k"]),
    ]:
        case(f"class of an argument: {_name}: {_read}",
             f"{_setup}\ndef f(p):\n    return {_read}", *_changes, call="g(P(x))")

# --- names that were not there --------------------------------------------------------------------

for _name, _read, _changes in [
    ("global", "try:\n        k = K\n    except NameError:\n        k = 2.0",
     ["K = 3.0", "K = 3", "del K"]),
    ("attribute of a module", "try:\n        k = m.K\n    except AttributeError:\n        k = 2.0",
     ["m.K = 3.0", "m.K = 3", "del m.K"]),
    ("attribute by default", "k = getattr(m, 'K', 2.0)", ["m.K = 3.0", "m.K = 3", "del m.K"]),
    ("attribute that is asked for", "k = m.K if hasattr(m, 'K') else 2.0",
     ["m.K = 3.0", "m.K = 3", "del m.K"]),
    ("attribute by the module", "k = getattr(m, 'K', 2.0)",
     ["m.__getattr__ = lambda name: 3.0", "m.__getattr__ = lambda name: 4", "m.K = 5.0"]),
    ("key", "try:\n        k = T['K']\n    except KeyError:\n        k = 2.0",
     ["T['K'] = 3.0", "T['K'] = 3", "del T['K']"]),
    ("key by default", "k = T.get('K', 2.0)", ["T['K'] = 3.0", "T['K'] = 3", "del T['K']"]),
    ("key that is asked for", "k = T['K'] if 'K' in T else 2.0", ["T['K'] = 3.0", "del T['K']"]),
    ("index", "try:\n        k = L[1]\n    except IndexError:\n        k = 2.0",
     ["L.append(3.0)", "L.pop()"]),
    ("shadowed builtin", "k = len([1, 2])", ["len = lambda v: 5", "len = lambda v: 6", "del len"]),
    ("shadowed builtin in a loop", "k = 0\n    for i in range(3):\n        k = k + i",
     ["range = lambda n: [5, 6]", "del range"]),
    ("shadowed builtin type", "k = float(2)", ["float = lambda v: 5.0", "del float"]),
    ("replaced builtin", "k = abs(-2)",
     ["import numba; builtins.abs = lambda v: 5", "builtins.abs = operator.abs"]),
    ("new builtin", "try:\n        k = state_k\n    except NameError:\n        k = 2.0",
     ["builtins.state_k = 3.0", "del builtins.state_k"]),
    ("global through globals()", "k = globals()['N']", ["N = 3.0", "N = 3"]),
    ("missing through globals()", "k = globals().get('K', 2.0)", ["K = 3.0", "K = 3", "del K"]),
    ("asked for in globals()", "k = 3.0 if 'K' in globals() else 2.0", ["K = 3.0", "del K"]),
    ("through vars of a module", "k = vars(m)['N']", ["m.N = 3.0", "m.N = 3"]),
    ("through the dict of a module", "k = m.__dict__['N']", ["m.N = 3.0", "m.N = 3"]),
    ("missing in vars of a module", "k = vars(m).get('K', 2.0)", ["m.K = 3.0", "del m.K"]),
    ("imported name", "from state_m import N\n    k = N", ["m.N = 3.0", "m.N = 3"]),
    ("imported module", "import state_m\n    k = state_m.N",
     ["m.N = 3.0", "m.N = 3", "sys.modules['state_m'] = types.SimpleNamespace(N=4.0)",
      "sys.modules['state_m'] = m"]),
    ("imported name that is missing", "try:\n        from state_m import K as k\n"
     "    except ImportError:\n        k = 2.0", ["m.K = 3.0", "m.K = 3", "del m.K"]),
    ("imported as", "import state_m as other\n    k = other.N", ["m.N = 3.0", "m.N = 3"]),
    ("local name", "a = 2.0\n    k = locals()['a'] * N", ["N = 3.0", "N = 3"]),
    ("attribute through dict", "k = o.__dict__.get('K', 2.0)", ["o.K = 3.0", "o.K = 3", "del o.K"]),
    ("attribute through vars", "k = 2.0 if 'K' not in vars(o) else o.K", ["o.K = 3.0", "del o.K"]),
    ("class in a class body", "class A:\n        k = N\n    k = A.k", ["N = 3.0", "N = 3"]),
    ("attribute that a library lacks", "k = getattr(math, 'state_k', 2.0)",
     ["math.state_k = 3.0", "del math.state_k"]),
    ("whether a library has an attribute", "k = 3.0 if hasattr(np.linalg, 'state_k') else 2.0",
     ["np.linalg.state_k = 3.0", "del np.linalg.state_k"]),
    ("name that a library lacks", "try:\n        from operator import state_k as k\n"
     "    except ImportError:\n        k = 2.0",
     ["operator.state_k = 3.0", "del operator.state_k"]),
]:
    case(f"absent: {_name}", "m = sys.modules['state_m'] = types.ModuleType('state_m')\nm.N = 2\n"
         f"T, L, N = {{'a': 1}}, [1], 2\no = types.SimpleNamespace(a=1.0)\n"
         f"def f(x):\n    {_read}\n    return k * x", *_changes,
         refused=_name == "replaced builtin")  # before the first capture of a process
case("absent: content of a cell", "def maker():\n    def f(x):\n        try:\n"
     "            n = k\n        except NameError:\n            n = 2.0\n        return n * x\n"
     "    if False:\n        k = 1.0\n    return f\nf = maker()",
     "f.__closure__[0].cell_contents = 3.0", "del f.__closure__[0].cell_contents")
case("absent: pattern", "class m:\n    K = 2\nn = 2\ndef f(x):\n    match n:\n"
     "        case m.K:\n            return x * 2.0\n        case _:\n            return x",
     "m.K = 3", "n = 3", "m.K = 2")

# --- what runs unseen -----------------------------------------------------------------------------

_WORLD = """
v = contextvars.ContextVar('v', default=2.0)
w = contextvars.ContextVar('w')
os.environ['STATE_K'] = '2'
folder = tempfile.mkdtemp()
path = os.path.join(folder, 'k.txt')
def write(text):
    with open(path, 'w') as file:
        file.write(text)
write('2.0')
N = 2
@functools.lru_cache
def cached(n):
    return n * N
@functools.cache
def kept():
    return [N, float(N)]
class O:
    k = 2.0
    def __init__(self):
        self.k = 2.0
o = O()
r = weakref.ref(o)
box = deque([o])
def read():
    with open(path) as file:
        text = file.read()
    return float(text)
def generate():
    for k in range(N):
        yield k + N
"""
_READS = [
    ("context variable", "v.get()", ["v.set(3.0)", "v.set(3)", "v.set(2.0)"]),
    ("default of a context variable", "w.get(2.0)", ["w.set(3.0)", "w.set(4)"]),
    ("object of a context variable", "v.get() if not hasattr(v.get(), 'k') else v.get().k",
     ["v.set(o)", "o.k = 3.0", "o.k = 3", "v.set(2.0)"]),
    ("environment", "float(os.environ['STATE_K'])", ["os.environ['STATE_K'] = '3'"]),
    ("environment by get", "float(os.environ.get('STATE_K', 5))",
     ["os.environ['STATE_K'] = '3'", "del os.environ['STATE_K']"]),
    ("environment by getenv", "float(os.getenv('STATE_K', '5'))",
     ["os.environ['STATE_K'] = '3'", "del os.environ['STATE_K']"]),
    ("a name in the environment", "2.0 if 'STATE_K' in os.environ else 3.0",
     ["del os.environ['STATE_K']", "os.environ['STATE_K'] = '3'"]),
    ("length of the environment", "len(os.environ)", ["os.environ['STATE_OTHER'] = '3'"]),
    ("file", "float(pathlib.Path(path).read_text())", ["write('3.0')", "write('4.0')"]),
    ("file by NumPy", "float(np.loadtxt(path))", ["write('3.0')", "write('4.0')"]),
    ("presence of a file", "2.0 if os.path.exists(path) else 3.0", ["os.remove(path)"]),
    ("folder", "len(os.listdir(folder))", ["open(path + '2', 'w').close()"]),
    ("working folder", "len(os.getcwd())", ["os.chdir(folder)", "os.chdir('/')"]),
    ("arguments of the process", "len(sys.argv)", ["sys.argv.append('a')", "sys.argv = ['a']"]),
    ("import path", "len(sys.path)", ["sys.path.append('a')", "sys.path.insert(0, 'b')"]),
    ("recursion limit", "sys.getrecursionlimit()", ["sys.setrecursionlimit(3000)",
                                                   "sys.setrecursionlimit(1000)"]),
    ("cached function", "cached(2)", ["N = 3", "cached.cache_clear()", "N = 2"]),
    ("cached list", "kept()[0]", ["N = 3", "kept.cache_clear()", "kept()[0] = 7",
                                  "kept()[0] = 7.5"]),
    ("cached property of a cache", "kept()[1]", ["kept()[1] = 7.0", "kept.cache_clear()"]),
    ("weak reference", "r().k", ["o.k = 3.0", "o.k = 3", "o2 = o\no = O()\no.k = 9.0\n"
                                 "r = weakref.ref(o)"]),
    ("proxy of an object", "weak.k", ["o.k = 3.0", "o.k = 3"]),
    ("object in a queue", "box[0].k", ["o.k = 3.0", "o.k = 3", "box[0] = O()"]),
    ("generator function", "sum([k for k in generate()])", ["N = 3", "N = 4"]),
    ("iterator of a list", "next(iter([N, 2]))", ["N = 3"]),
    ("map of a function", "sum(map(lambda k: k * N, [1, 2]))", ["N = 3", "N = 3.5"]),
    ("sorted by a function", "sorted([1, 2, 3], key=lambda k: -k * N)[0]", ["N = -1"]),
    ("precision of decimals", "float(Decimal(1) / Decimal(3))",
     ["decimal.getcontext().prec = 5", "decimal.getcontext().prec = 28"]),
    ("text of eval", "eval('N * 2', {'N': N})", ["N = 3", "N = 4.0"]),
    ("class by text", "O().k", ["O.__init__ = lambda self: setattr(self, 'k', 5.0)"]),
    ("counter", "next(counter)", [""]),
    ("generator kept", "next(generator)", [""]),
    ("attribute getter", "operator.attrgetter('k')(o)", ["o.k = 3.0", "o.k = 3"]),
    ("item getter", "operator.itemgetter(0)(L)", ["L[0] = 3.0", "L[0] = 3"]),
    ("copy of an object", "copy.copy(o).k", ["o.k = 3.0", "o.k = 3"]),
    ("random numbers", "np.random.rand()", [""]), ("clock", "__import__('time').time()", [""]),
    ("function made by exec", "made()", ["N = 3", "N = 3.5"]),
    ("universal function", "double(2.0)", ["N = 3"]),
    ("settings of printing", "np.get_printoptions()['precision']",
     ["np.set_printoptions(precision=5)", "np.set_printoptions(precision=8)"]),
    ("settings of errors", "len(np.geterr()['over'])", ["np.seterr(over='ignore')",
                                                      "np.seterr(over='warn')"]),
    ("interpolation object", "float(spline(0.5))", ["spline.c[:] = 1.0"]),
    ("module by name", "'state_new' in sys.modules", ["sys.modules['state_new'] = sys"]),
    ("chain of maps", "chain['a']", ["chain.maps[1]['a'] = 3.0", "chain.maps[0]['a'] = 4.0"]),
    ("counter of things", "tally['a']", ["tally['a'] = 3", "tally['a'] += 1", "del tally['a']"]),
    ("user dict", "userdict['a']", ["userdict['a'] = 3.0", "userdict['a'] = 3"]),
    ("subclass of dict", "sub['a']", ["sub['a'] = 3.0", "sub['a'] = 3"]),
    ("subclass of list", "sublist[0]", ["sublist[0] = 3.0", "sublist[0] = 3"]),
    ("default dict", "table['a'] + table.get('b', 0)", ["table['a'] = 3.0", "table['b'] = 3"]),
    ("structured record", "float(record['a'][0])", ["record['a'][0] = 3.0"]),
    ("nested closures", "outer()()", ["N = 3", "N = 3.5"]),
    ("method of a literal", "len('{}'.format(N))", ["N = 30", "N = 200"]),
    ("f-string", "len(f'{N}')", ["N = 30", "N = 'abc'"]),
    ("eval without names", "eval('N * 2')", ["N = 3"]),
    ("eval with globals", "eval('N * 2', globals())", ["N = 3"]),
    ("length of a file by a with", "read()", ["write('3.0')", "write('45.0')"]),
]
_REFUSED = {"counter", "generator kept", "random numbers", "clock", "proxy of an object",
            "function made by exec", "generator function",
            "eval without names"}
for _name, _read, _changes in _READS:
    case(f"world: {_name}", f"{_WORLD}\nweak = weakref.proxy(o)\ncounter = itertools.count()\n"
         "generator = (k for k in range(100))\nL = [2.0]\nexec('def made():\\n    return N * 2')\n"
         "double = np.frompyfunc(lambda k: k * N, 1, 1)\n"
         "import scipy.interpolate\n"
         "spline = scipy.interpolate.CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])\n"
         "chain = collections.ChainMap({}, {'a': 2.0})\ntally = collections.Counter('aab')\n"
         "userdict = collections.UserDict({'a': 2.0})\n"
         "class Sub(dict):\n    pass\nsub = Sub(a=2.0)\n"
         "class SubList(list):\n    pass\nsublist = SubList([2.0])\n"
         "table = defaultdict(float, a=2.0)\n"
         "record = np.zeros(2, dtype=[('a', float)])\n"
         "def outer():\n    def inner():\n        return N * 2\n    return inner\n"
         f"def f(x):\n    return {_read} * x", *_changes, refused=_name in _REFUSED)

# --- results --------------------------------------------------------------------------------------

for _name, _made, _change in [
    ("set", "{1, 2}", "r[1].add(9)"), ("list in a set's place", "[1, 2]", "r[1].append(9)"),
    ("dict", "{'a': 1}", "r[1]['b'] = 9"), ("queue", "deque([1, 2])", "r[1].append(9)"),
    ("array of bytes", "bytearray(b'ab')", "r[1].append(9)"),
    ("set in a list", "[{1, 2}]", "r[1][0].add(9)"),
    ("set in a dict", "{'a': {1}}", "r[1]['a'].add(9)"),
    ("nested queue", "deque([[1], 2])", "r[1][0].append(9)"),
    ("default dict", "defaultdict(int, a=1)", "r[1]['b'] = 9"),
    ("ordered dict", "OrderedDict(a=1)", "r[1]['b'] = 9"),
    ("counter", "collections.Counter('ab')", "r[1]['b'] = 9"),
    ("object", "types.SimpleNamespace(a=1)", "r[1].b = 9"),
    ("typed array", "array.array('d', [1.0])", "r[1].append(9)"),
    ("array", "np.array([1.0, 2.0])", "r[1][0] = 9"),
]:
    case(f"result: {_name}", f"def f(x):\n    return x * 2.0, {_made}\ndef changed(r):\n"
         f"    text = repr(r[1])\n    {_change}\n    return len(text) + r[0]", "",
         call="changed(g(x))")

# --- what a second process must not take for the same --------------------------------------------

for _name, _setup, _read, _changes in [
    ("get of a dict", "T = {'n': 2}\nget = T.get", "get('n')",
     ["T['n'] = 3", "get = {'n': 4}.get"]),
    ("item of a list", "T = [2, 3]\nget = T.__getitem__", "get(0)",
     ["T[0] = 5", "get = [7].__getitem__"]),
    ("index of a tuple", "get = (1, 2, 3).index", "get(3)", ["get = (3, 2, 1).index"]),
    ("count of a list", "T = [1, 1]\nget = T.count", "get(1)", ["T.append(1)"]),
    ("upper of a text", "get = 'ab'.upper", "len(get())", ["get = 'abc'.upper"]),
    ("split of a text", "get = 'a b'.split", "len(get())", ["get = 'a b c'.split"]),
    ("length of an int", "get = (5).bit_length", "get()", ["get = (500).bit_length"]),
    ("sum of an int", "get = (5).__add__", "get(1)", ["get = (6).__add__"]),
    ("bytes", "get = b'abc'.count", "get(b'a')", ["get = b'aaa'.count"]),
    ("ufunc of Python", "K = 2\nget = np.frompyfunc(lambda k: k * K, 1, 1)", "get(2)",
     ["K = 3", "get = np.frompyfunc(lambda k: k + 5, 1, 1)"]),
    ("globals", "N = 2", "globals()['N']", ["N = 3", "N = 3.5"]),
    ("a key of a set", "get = {1, 2}.__contains__", "(2 if get(1) else 3)",
     ["get = {2}.__contains__"]),
    ("partial of a bound method", "T = {'n': 2}\nget = functools.partial(T.get, 'n')", "get()",
     ["T['n'] = 3"]),
    ("class method in C", "get = int.from_bytes", "get(b'a', 'big')", ["get = int.__call__\n"
     "get = lambda a, b: 2"]),
    ("defaults", "def get(k=2):\n    return k", "get()", ["get.__defaults__ = (3,)"]),
    ("mapping of a dict", "T = {'n': 2}\nget = T.keys().mapping.get", "get('n')", ["T['n'] = 3"]),
]:
    case(f"across: {_name}", f"{_setup}\ndef f(x):\n    return x * {_read}", *_changes)

# --- methods that Python calls by itself ----------------------------------------------------------

_CALLED = """
N = 2
class P:
    def __init__(self, k):
        self.k = k
    def __iter__(self):
        for k in range(N):
            yield self.k + N
    def __str__(self):
        return 'a' * self.k * N
    def __eq__(self, other):
        return self.k + other.k == N
    def __lt__(self, other):
        return self.k * N < other.k * N
    def __hash__(self):
        return 1
    def score(self, v):
        return v * self.k * N
p, q = P(1), P(2)
L = [p, q]
"""
for _name, _read, _changes in [
    ("iteration by a generator", "sum([k for k in p])", ["N = 3", "p.k = 5", "N = 2"]),
    ("text", "len(str(p))", ["N = 3", "p.k = 5"]),
    ("text in an f-string", "len(f'{p}')", ["N = 3", "p.k = 5"]),
    ("index of equal ones", "L.index(P(1))", ["p.k = 5", "q.k = 1", "N = 6"]),
    ("sorting", "sorted(L)[0].k", ["N = -1", "q.k = 0"]),
    ("sorting by a method", "sorted([1, 2], key=p.score)[0]", ["N = -1", "p.k = -1"]),
    ("largest by a method", "max([1, 2], key=p.score)", ["N = -1", "p.k = -1"]),
    ("keys of a dict", "{p: 2, q: 3}[P(1)]", ["N = 3", "q.k = 1"]),
]:
    case(f"called: {_name}", f"{_CALLED}\ndef f(x):\n    return x * {_read}", *_changes)

# --- one name, a container of another kind --------------------------------------------------------

_KINDS = ["G.keys()", "G.values()", "OrderedDict(G).keys()", "list(G)", "tuple(G)", "deque(G)",
          "set(G)", "frozenset(G)", "types.MappingProxyType(G)", "G", "OrderedDict(G)",
          "G | OrderedDict()", "defaultdict(float, G)", "array.array('d', G)", "iter(list(G))"]
_CHANGES = [f"V = {_kind}" for _kind in _KINDS[:-1]]
for _name, _read in [("sum", "sum(V)"), ("first", "[*V][0]"),
                     ("type", "len(type(V).__name__.lstrip('o'))"),
                     ("isinstance", "isinstance(V, dict) + 2 * isinstance(V, (list, set))"),
                     ("truth of an order", "((V == {1.0, 2.0}) + 1)"), ("length", "len(list(V))")]:
    case(f"global: a view of another kind, {_name}", "G = {1.0: 3.0, 2.0: 4.0}\nV = G.keys()\n"
         f"def f(x):\n    return x * {_read}", *_CHANGES, *reversed(_CHANGES))
for _name, _read in [("copy", "D.copy()['z']"), ("copy.copy", "copy.copy(D)['z']"),
                     ("union", "D.__or__({})['z']"), ("deep copy", "copy.deepcopy(D)['z']"),
                     ("call", "D.default_factory()"), ("None", "(D.default_factory is float) + 1"),
                     ("in a list", "copy.deepcopy([D])[0]['z']"),
                     ("of a method", "D.__copy__()['z']")]:
    case(f"global: factory of a defaultdict, {_name}",
         "K = 2.0\ndef other():\n    return K\nD = defaultdict(lambda: 3.0, a=1.0)\n"
         f"def f(x):\n    return x * {_read}", "D.default_factory = other", "K = 5.0",
         "D.default_factory = lambda: 7.0", "D.default_factory = float",
         "D = defaultdict(other, a=1.0)", "K = 8.0")

# --- which attributes a pattern of a class reads by their places ----------------------------------

for _name, _pattern in [("alone", "P(v)"), ("in a pattern of a list", "[P(v)]"),
                        ("behind another part", "P(v, b=5)")]:
    _subject = "[p]" if "[" in _pattern else "p"
    case(f"pattern: places of a class, {_name}",
         "class Base:\n    pass\nclass P(Base):\n    __match_args__ = ('a', 'b')\np = P()\n"
         f"p.a, p.b = 2, 5\ndef f(x):\n    match {_subject}:\n        case {_pattern}:\n"
         "            return x * v\n    return x",
         "P.__match_args__ = ('c', 'a')", "p.c = 7", "P.__match_args__ = ('b',)" if "b=" not in
         _pattern else "P.__match_args__ = ('c',)", "P.__match_args__ = ('a', 'b')",
         "del P.__match_args__; Base.__match_args__ = ('c',)")
