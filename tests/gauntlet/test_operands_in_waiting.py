"""A value that only Python's evaluation stack holds while a later operand's code writes to others.

    t = (u, go())    # go() writes to u, and then binds u anew

The oracle is Python. What a capture cannot tell apart is refused.
"""

from __future__ import annotations

import collections
import enum
import functools
import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

BOUND = {
    "array": ("2.0 * x", "u += 1.0", "u = 2.0 * u", "np.sum({})"),
    "item": ("2.0 * x", "u[0] = 7.0", "u = 1.5 * u", "np.sum({})"),
    "resized": ("2.0 * x", "u[0] = 50.0", "u = u[::-1][:2]", "np.sum({})"),
    "view": ("x.copy()", "u[1] = 9.0", "u = np.concatenate((u, u[:1]))", "np.sum({})"),
    "list": ("[x[0], x[1]]", "u[0] = 7.0 * u[1]", "u = [u[0], 2.0]", "{}[0]"),
    "object": ("Box(x[0])", "u.v = 7.0", "u = Box(2.0 * u.v)", "{}.v"),
    "dict": ("{'a': x[0]}", "u['a'] = 7.0", "u = {'a': 2.0 * u['a']}", "{}['a']"),
    "array of an object": ("Box(2.0 * x)", "u.v += 1.0", "u.v = 2.0 * u.v", "np.sum({}.v)"),
}
"""Things that go() changes: the first one, a write, a new one, a number of one."""

GOING = {
    "counted": "for _ in range(4):\n            {write}\n            {bind}",
    "by size": "for _ in range(len(x)):\n            {write}\n            {bind}",
    "by data": "k = 0.0\n        while k < x[0]:\n            {write}\n            {bind}\n"
               "            k += 0.3",
    "branch": "if x[0] > 1.0:\n            {bind}\n        {write}\n        {bind}",
    "other branch": "r = u\n        if x[0] > 1.0:\n            r = None\n            {bind}\n"
                    "        {write}\n        {bind}",
}

HELD = {
    "nothing": "go()\n    return of(u)",
    "tuple": "t = (u, go())\n    return of(t[0])", "list": "t = [u, go()]\n    return of(t[0])",
    "dict": "t = {'a': u, 'b': go()}\n    return of(t['a'])",
    "key and value": "t = {go(): u}\n    return of(t[0])",
    "unpacked": "t, _ = u, go()\n    return of(t)",
    "starred": "t = [*[u], go()]\n    return of(t[0])",
    "call": "return first(u, go())", "named": "return first(a=u, b=go())",
    "called star": "return first(*[u], *[go()])",
    "called mapping": "return first(**{'a': u}, b=go())",
    "constructor": "return of(Pair(u, go()).a)",
    "inside": "t = (Pair(u, 0).a, go())\n    return of(t[0])",
    "inside a pair": "t = (Pair(u, 0), go())\n    return of(t[0].a)",
    "nested call": "return first(first_of(u, 0), go())", "method": "return Pair(u, 0).first(go())",
    "bound method": "return [u].index(u, go()) + of(u)",
    "partial": "return functools.partial(first, u)(go())",
    "lambda": "return (lambda a, b: of(a))(u, go())",
    "default": "return (lambda b, a=u: of(a))(go())",
    "index": "return of([u][go()])", "slice": "return of([u][go():][0])",
    "conditional": "t = (u, go() if x[0] > 0 else 0)\n    return of(t[0])",
    "and": "t = (u, True and go())\n    return of(t[0])",
    "comparison": "t = (u, 0 <= go())\n    return of(t[0])",
    "text": "t = (u, f'{go()}')\n    return of(t[0])",
    "list comprehension": "t = [v for v in [u, go()][:1]]\n    return of(t[0])",
    "items so far": "t = [first_of(u, go()) for _ in range(2)]\n    return of(t[0]) + of(t[1])",
    "items by go": "t = [(go(), u)[1] for _ in range(2)]\n    return of(t[0]) + of(t[1])",
    "values so far": "t = {k: (go(), u)[1] for k in 'ab'}\n    return of(t['a']) + of(t['b'])",
    "two loops": "t = [(go(), u)[1] for _ in 'ab' for _ in 'c']\n    return of(t[0]) + of(t[1])",
    "expression": "t = list((go(), u)[1] for _ in range(2))\n    return of(t[0]) + of(t[1])",
    "for": "s = 0.0\n    for v in [None, u]:\n        s = s + (0.0 if v is None else of(v))\n"
           "        go()\n    return s",
    "for tuple": "s = 0.0\n    for k, v in ((0, None), (1, u)):\n"
                 "        s = s + of(v) if k else s\n        go()\n    return s",
    "for enumerate": "s = 0.0\n    for k, v in enumerate((None, u)):\n"
                     "        s = s + of(v) if k else s\n        go()\n    return s",
    "for zip": "s = 0.0\n    for k, v in zip((0, 1), (None, u)):\n"
               "        s = s + of(v) if k else s\n        go()\n    return s",
    "for reversed": "s = 0.0\n    for v in reversed([u, None]):\n"
                    "        s = s if v is None else s + of(v)\n        go()\n    return s",
    "for dict": "s = 0.0\n    for k, v in {'a': None, 'b': u}.items():\n"
                "        s = s if v is None else s + of(v)\n        go()\n    return s",
    "for generator": "s = 0.0\n    for v in items(u):\n"
                     "        s = s if v is None else s + of(v)\n        go()\n    return s",
    "map": "t = list(map(lambda k, v: (go(), v)[1], (0, 1), (u, u)))\n    return of(t[1])",
    "with": "with Pair(u, 0) as t:\n        go()\n    return t",
    "reduce": "return of(functools.reduce(lambda a, b: (go(), b)[1], [0, u]))",
    "sorted": "t = sorted([u], key=lambda v: go())\n    return of(t[0])",
    "max": "return of(max([u, u], key=lambda v: go()))",
    "class": "class C: pass\n    C.a = u\n    go()\n    return of(C.a)",
    "class body": "class C:\n        a = u\n    go()\n    return of(C.a)",
    "base": "class A: pass\n    class B(A): pass\n    A.a = u\n    go()\n    return of(B.a)",
    "class by type": "C = type('C', (), {'a': u})\n    go()\n    return of(C.a)",
    "property": "c = type('C', (), {'a': property(lambda s, v=u: v)})()\n    go()\n"
                "    return of(c.a)",
    "named tuple": "c = collections.namedtuple('C', 'a')(u)\n    go()\n    return of(c.a)",
    "instance of class": "class C: pass\n    C.a = u\n    c = C()\n    go()\n    return of(c.a)",
    "function": "def g(): pass\n    g.a = u\n    go()\n    return of(g.a)",
    "decorated": "@with_argument(u, go())\n    def t(a): return of(a)\n    return t()",
    "returned": "return pair_sum((u, go()))", "walrus": "t = ((v := u), go())\n    return of(t[0])",
    "nested": "t = (((u, 0), go()), 1)\n    return of(t[0][0][0])",
    "in a set": "t = {Pair(u, 0), go()}\n    return sum(of(v.a) for v in t if v != 0)",
    "augmented": "box = [0, (u,)]\n    box[1] += (go(),)\n    return of(box[1][0])",
    "attribute": "b = Box((u,))\n    b.v += (go(),)\n    return of(b.v[0])",
    "name": "t = (u,)\n    t += (go(),)\n    return of(t[0])",
}

SOURCE = """
class Box:
    def __init__(self, v): self.v = v

class Pair:
    def __init__(self, a, b): self.a, self.b = a, b
    def first(self, b): return number(self.a)
    def __enter__(self): return self
    def __exit__(self, *_): self.b = 1

def number(t): return {number}
def first_of(a, b): return a
def items(u):
    yield None
    yield u

def f(x):
    u = {first}
    of = number
    def go():
        nonlocal u
        {going}
        return 0
    def first(a, b): return of(a)
    def pair_sum(p): return of(p[0])
    def with_argument(a, b): return lambda g: functools.partial(g, a)
    {held}
"""


def made(bound: str, going: str, held: str) -> Callable[..., Any]:
    first, write, bind, number = BOUND[bound]
    text = HELD[held].replace("return t\n", "return of(t.a)\n")
    if held == "with":
        text = text.replace("return t", "return of(t.a)")
    source = SOURCE.format(first=first, going=GOING[going].format(write=write, bind=bind),
                           held=text, number=number.format("t"))
    name = f"<waiting {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space: dict[str, Any] = {"np": np, "collections": collections, "functools": functools,
                             "__name__": "waiting"}
    exec(compile(source, name, "exec"), space)
    fn: Callable[..., Any] = space["f"]
    return fn


@pytest.mark.parametrize("make", [
    lambda: type("C", (), {}), lambda: collections.namedtuple("C", "a"),
    lambda: enum.Enum("C", "A B"), lambda: type(np.ndarray)("C", (object,), {})])
def test_a_class_that_a_call_makes_is_of_the_users_module(make: Any) -> None:
    assert tracejit.jit(lambda x: x * (make().__module__ == __name__))(2.0) == 2.0


@pytest.mark.parametrize("case", [*itertools.product(BOUND, GOING, HELD)], ids="-".join)
def test_a_held_operand_is_as_in_python_or_refused(case: tuple[str, str, str]) -> None:
    fn = made(*case)
    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(fn)
        for x in (np.array([1.5, 2.0, 3.0]), np.array([0.4, 2.0, 3.0])):
            try:
                found = compiled(x.copy())
            except tracejit.Refusal:
                assert case[1] != "counted" and case[2] != "nothing"
                return
            assert np.isclose(found, fn(x.copy())), (case, x)
