"""Kinds of state that a function can read, and ways of changing each: cases for `test_state.py`.

A case is the text of a module with a function `f`, of a call of it, and of changes. After each
change the function's own result says what a transform of it has to give.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["CASES", "Case"]

HEAD = """\
import array, builtins, collections, contextvars, copy, dataclasses, decimal, enum, fractions
import functools, itertools, math, operator, os, re, sys, tempfile, types, weakref
from collections import OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from fractions import Fraction
import numpy as np
"""


@dataclass(frozen=True)
class Case:
    """A function that reads state, and what happens to the state between calls.

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


def case(name: str, setup: str, *changes: str, call: str = "g(x)", refused: bool = False) -> None:
    """Enter a case; "|" stands for the end of a line."""
    CASES.append(Case(name, setup.replace("|", "\n").strip(), list(changes), call, refused))


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
