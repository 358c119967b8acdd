"""Law: objects of which data says which one is meant are Python's: trees, graphs, linked lists."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from list_laws import (
    loaded,
    require_compiled,
    require_same_as_python,
    require_values_and_derivatives,
)
from oracles import numeric_gradient, outcome

import tracejit
from tracejit import Refusal
from tracejit.trace import capture
from tracejit.trace.ground.findings import Findings
from tracejit.trace.ground.pool_facts import PoolFacts
from tracejit.trace.python.object_pools import can_be_pooled

XS = [np.array([0.31, 1.27, 0.83, 0.52]), np.array([1.13, 0.43, 0.77, 0.15, 0.92]),
      np.array([0.613, 0.151, 0.882, 0.344, 0.523, 0.267, 0.771])]
PROGRAMS: list[Callable[..., Any]] = []


def program(f: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS.append(f)
    return f


class Link:
    def __init__(self, v, after):
        self.v = v
        self.next = after


@program
def linked_list(x):
    head = None
    for v in x:
        if v > 0.3:
            head = Link(v * v, head)
    t, k = 0.0, 1
    while head is not None:
        t += k * head.v
        k += 1
        head = head.next
    return t


@program
def reversed_in_place(x):
    head = None
    for v in x:
        if v > 0.2:
            head = Link(v, head)
    before = None
    while head:
        head.next, before, head = before, head, head.next
    t = 0.0
    while before:
        t = 0.7 * t + before.v
        before = before.next
    return t


class Tree:
    __slots__ = ("key", "left", "right")

    def __init__(self, key):
        self.key = key
        self.left = self.right = None


@program
def search_tree(x):
    root = Tree(x[0])
    for v in x[1:]:
        cur = root
        while True:
            if v < cur.key:
                if cur.left is None:
                    cur.left = Tree(v)
                    break
                cur = cur.left
            else:
                if cur.right is None:
                    cur.right = Tree(v)
                    break
                cur = cur.right
    stack, t = [(root, 1.0)], 0.0
    while stack:
        n, w = stack.pop()
        t += w * n.key
        if n.left is not None:
            stack.append((n.left, w * 0.5))
        if n.right is not None:
            stack.append((n.right, w * 0.7 * n.key))
    return t


def insert(node, v):
    if node is None:
        return Tree(v)
    if v < node.key:
        node.left = insert(node.left, v)
    else:
        node.right = insert(node.right, v)
    return node


def total(node, depth):
    if node is None:
        return 0.0
    return node.key * depth + total(node.left, depth + 1) + total(node.right, depth + 1)


@program
def search_tree_by_recursion(x):
    root = None
    for v in x:
        root = insert(root, v)
    return total(root, 1)


class Element:
    def __init__(self, v):
        self.parent = self
        self.rank = 0
        self.sum = v


def find(s):
    while s.parent is not s:
        s.parent = s.parent.parent
        s = s.parent
    return s


@program
def union_find(x):
    sets = [Element(v) for v in x]
    n = len(x)
    for k in range(n):
        a, b = find(sets[k]), find(sets[int(x[k] * 97.3) % n])
        if a is b:
            continue
        if a.rank < b.rank:
            a, b = b, a
        b.parent = a
        a.sum = a.sum + b.sum * 0.5
        if a.rank == b.rank:
            a.rank += 1
    return sum(find(s).sum for s in sets)


class Entry:
    after = None

    def __init__(self, v):
        self.v = v


@program
def default_of_the_class(x):
    first = last = Entry(x[0])
    for v in x[1:]:
        if v > 0.2:
            last.after = Entry(v)
            last = last.after
    t, c = 0.0, first
    while c is not None:
        t = 0.5 * t + c.v
        c = c.after
    return t


@dataclass
class Particle:
    pos: float
    vel: float
    hits: int = 0

    def step(self, dt):
        self.pos = self.pos + dt * self.vel

    @property
    def energy(self):
        return 0.5 * self.vel ** 2


@program
def particles(x):
    ps = [Particle(v, 1.0 - v) for v in x]
    for _ in range(2 * len(x)):
        best = ps[0]
        for p in ps:
            if p.pos < best.pos:
                best = p
        best.step(0.3)
        best.hits += 1
        best.vel *= 0.9
    return sum(p.pos * p.hits + p.energy for p in ps)


@dataclass
class Quad:
    cx: float
    cy: float
    half: float
    mass: float = 0.0
    mx: float = 0.0
    my: float = 0.0
    kids: list = field(default_factory=list)
    body: int = -1


def child(q, x, y):
    return q.kids[2 * int(x > q.cx) + int(y > q.cy)]


@program
def quad_tree(x):
    y = np.sin(3 * x)
    root = Quad(0.5, 0.0, 2.0)
    for k in range(len(x)):
        q, depth = root, 0
        while True:
            q.mass += 1.0
            q.mx += x[k]
            q.my += y[k]
            if not q.kids and q.body < 0:
                q.body = k
                break
            if not q.kids and depth > 5:
                break
            if not q.kids:
                h = q.half / 2
                for sx in (-1, 1):
                    for sy in (-1, 1):
                        q.kids.append(Quad(q.cx + sx * h, q.cy + sy * h, h))
                old = q.body
                c = child(q, x[old], y[old])
                c.body, c.mass, c.mx, c.my = old, 1.0, x[old], y[old]
                q.body = -1
            q = child(q, x[k], y[k])
            depth += 1
    t = 0.0
    for k in range(len(x)):
        stack = [root]
        while stack:
            q = stack.pop()
            if q.mass == 0:
                continue
            dx, dy = q.mx / q.mass - x[k], q.my / q.mass - y[k]
            r = np.sqrt(dx * dx + dy * dy + 0.1)
            if not q.kids or q.half / r < 0.4:
                t += q.mass / r
            else:
                for c in q.kids:
                    stack.append(c)
    return t


class Event:
    def __init__(self, time, size):
        self.time, self.size = time, size

    def __lt__(self, other):
        return self.time < other.time


@program
def events(x):
    queue, t = [], 0.0
    for v in x:
        heapq.heappush(queue, Event(v, 1.0))
    while queue and t < 9.0:
        e = heapq.heappop(queue)
        t += e.time * e.size
        if e.size > 0.3:
            heapq.heappush(queue, Event(e.time + 0.4, e.size * 0.5))
    return t


class Place:
    def __init__(self, w):
        self.w = w
        self.near = []
        self.seen = False


@program
def graph_walk(x):
    nodes = [Place(v) for v in x]
    n = len(x)
    for k in range(n):
        a, b = nodes[k], nodes[int(x[k] * 9.7) % n]
        a.near.append(b)
        b.near.append(a)
    stack, t = [nodes[0]], 0.0
    nodes[0].seen = True
    while stack:
        a = stack.pop()
        t = 0.9 * t + a.w
        for b in a.near:
            if not b.seen:
                b.seen = True
                stack.append(b)
    return t


class KD:
    def __init__(self, point, axis):
        self.point, self.axis = point, axis
        self.low = None
        self.high = None

    def add(self, point):
        if point[self.axis] < self.point[self.axis]:
            if self.low is None:
                self.low = KD(point, 1 - self.axis)
            else:
                self.low.add(point)
        elif self.high is None:
            self.high = KD(point, 1 - self.axis)
        else:
            self.high.add(point)


@program
def kd_tree(x):
    points = np.stack([x, np.cos(4 * x)], axis=1)
    root = KD(points[0], 0)
    for p in points[1:]:
        root.add(p)
    best, stack, q = 9.0, [root], np.array([0.4, 0.1])
    while stack:
        n = stack.pop()
        if n is None:
            continue
        d = np.sum((n.point - q) ** 2)
        if d < best:
            best = d
        gap = q[n.axis] - n.point[n.axis]
        near, far = (n.low, n.high) if gap < 0 else (n.high, n.low)
        if gap * gap < best:
            stack.append(far)
        stack.append(near)
    return best


class Slot:
    def __init__(self):
        self.body = None
        self.total = 0.0


@program
def none_or_a_tuple_with_an_array(x):
    slots = [Slot() for _ in range(3)]
    t = 0.0
    for v in np.stack([x, x * x], axis=1):
        s = slots[int(v[0] * 10) % 3]
        if s.body is not None:
            a, b = s.body
            t += a[1] * b
        s.total += v[0]
        s.body = v, 2 * v[1]
    return t + sum(s.total ** 2 for s in slots)


class Pair:
    """One that makes others of its class in its own `__init__`."""

    def __init__(self, lo, hi, x):
        self.sum = 0.0
        self.low = Pair(lo, (lo + hi) // 2, x) if hi - lo > 1 else None
        self.high = Pair((lo + hi) // 2, hi, x) if hi - lo > 1 else None
        self.sum = x[lo] if hi - lo == 1 else self.low.sum + 2 * self.high.sum


@program
def made_within_each_other(x):
    root, t = Pair(0, 4, x), 0.0
    node = root
    while node.low is not None:
        node = node.low if node.low.sum > 0.6 * node.high.sum else node.high
        t += node.sum
        node.sum = 0.5
    return t + root.high.sum


# --- the laws -------------------------------------------------------------------------------------


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_derivatives(f: Callable[..., Any]) -> None:
    require_values_and_derivatives(f, XS)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled(f: Callable[..., Any]) -> None:
    """A compiled gradient within a compiled function."""
    require_compiled(f, XS)


@pytest.mark.parametrize("f", [linked_list, search_tree, union_find, quad_tree, events, graph_walk],
                         ids=lambda f: f.__name__)
def test_one_program_for_all_lengths(f: Callable[..., Any]) -> None:
    with tracejit.config(disable_jit=True):
        g = tracejit.grad(f)
        for x in XS:
            g(x)
    assert sum(map(len, g._table.values())) == 1


# --- errors and refusals --------------------------------------------------------------------------


def attribute_of_none(x):
    head = None
    for v in x:
        if v > 0.8:
            head = Link(v, head)
    while head.v > 0.1:
        head = head.next
    return x[0]


@pytest.mark.parametrize("interpreted", [True, False])
def test_errors_are_pythons(interpreted: bool) -> None:
    with tracejit.config(disable_jit=interpreted):
        found = outcome(tracejit.jit(attribute_of_none), XS[0])
    assert isinstance(outcome(attribute_of_none, XS[0]), AttributeError)
    assert type(found) is AttributeError


def one_returned(x):
    best = None
    for v in x:
        if v > 0.5:
            best = Link(v, best)
    return best.next


class Uneven:
    def __init__(self, v):
        self.v = v
        if v > 0.5:
            self.large = v


def attributes_by_data(x):
    made = [Uneven(v) for v in x]
    for v in x:
        made[int(v * 9) % len(x)].v += 1.0
    return sum(u.v for u in made)


def two_kinds_of_things(x):
    made = [Link(v, None) for v in x]
    for v in x:
        a, b = made[int(v * 9) % len(x)], made[int(v * 23) % len(x)]
        a.v = b if v > 0.5 else 0.25
    return sum(1.0 for u in made if u.next is None)


def dicts_in_attributes(x):
    made = [Link({1: v}, None) for v in x]
    for v in x:
        made[int(v * 9) % len(x)].v[1] += v
    return sum(u.v[1] for u in made)


def an_array_augmented(x):
    made = [Link(np.array([v, 1.0]), None) for v in x]
    for v in x:
        made[int(v * 9) % len(x)].v += v
    return sum(u.v[0] for u in made)


@pytest.mark.parametrize("f", [one_returned, attributes_by_data, two_kinds_of_things,
                               dicts_in_attributes, an_array_augmented], ids=lambda f: f.__name__)
def test_refused_at_the_users_line(f: Callable[..., Any]) -> None:
    with tracejit.config(disable_jit=True):
        found = outcome(tracejit.jit(f), XS[0])
    if isinstance(found, float):
        assert found == f(XS[0])
    else:
        assert isinstance(found, Refusal), found
        assert "test_objects_chosen_by_data.py" in str(found)


# --- objects in pools from the start --------------------------------------------------------------

SMALL: list[Callable[..., Any]] = []


def small(f: Callable[..., Any]) -> Callable[..., Any]:
    SMALL.append(f)
    return f


class Held:
    count = 0
    def __init__(self, v, n=None):
        self.v = v
        self.n = n


@small
def two_lists_of_one_class(x):
    a = [Held(v) for v in x]
    b = [Held(2 * v) for v in x]
    for k in range(len(x)):
        p = a[int(x[k] * 7) % len(x)]
        p.n = b[int(x[k] * 13) % len(x)]
        p.n.v += p.v
    return sum(p.n.v * p.v if p.n else p.v for p in a) + sum(p.v for p in b)


@small
def aliases(x):
    a = Held(x[0])
    b = a
    c = Held(x[1], a)
    for v in x:
        if v > 0.5:
            c.n.v += v
        else:
            b.v *= 0.5
        if v > 0.8:
            b = c
    return a.v + b.v + c.v


@small
def swap_attributes(x):
    r = Held(x[0], Held(x[1], Held(x[2])))
    for v in x:
        if v > 0.4 and r.n is not None:
            r.v, r.n.v = r.n.v, r.v
            r.n, r = r.n.n, r.n
    return r.v + (r.n.v if r.n is not None else 0.0)


@small
def bools_and_ints(x):
    ns = [Held(False) for _ in x]
    for k in range(len(x)):
        m = ns[int(x[k] * 9) % len(x)]
        m.v = not m.v
        m.n = m if m.v else None
    total = sum((2.0 if n.v else x[0]) * (k + 1) for k, n in enumerate(ns))
    return total + sum(n.n is None for n in ns)


class Sums:
    def __init__(self):
        self.total = 0.0
        self.items = []
    def add(self, v):
        self.items.append(v)
        self.total += v
        return self


@small
def lists_in_attributes(x):
    accs = [Sums() for _ in range(3)]
    for k, v in enumerate(x):
        accs[int(v * 10) % 3].add(v).add(v * k)
    t = 0.0
    for a in accs:
        for i, w in enumerate(a.items):
            t += w * (i + 1) * a.total
        if len(a.items) > 2:
            a.items.pop()
            a.items[0] *= 3
    return t + sum(sum(a.items) for a in accs)


@small
def shared_list(x):
    shared = []
    ns = [Held(shared), Held([]), Held(shared)]
    for v in x:
        ns[int(v * 10) % 3].v.append(v)
    return sum(ns[0].v) + 2 * sum(ns[1].v) + 3 * len(ns[2].v)


@small
def identity_of_none(x):
    head = Held(x[0])
    t = 0.0
    for v in x:
        if v > 0.5:
            head = head.n if head.n is not None else Held(v, head)
        t += 1.0 if head.n is None else 2.0 * head.v
    return t


@small
def deep_attribute_chain(x):
    r = Held(x[0], Held(x[1], Held(x[2], None)))
    for v in x:
        if v > 0.3:
            r.n.n = Held(v, r.n.n)
    t, k = 0.0, 1
    while r is not None:
        t += r.v * k
        k += 1
        r = r.n
    return t


class Ordered:
    def __init__(self, v, w):
        self.v, self.w = v, w
    def __eq__(self, o):
        return self.w == o.w
    def __lt__(self, o):
        return (self.w, self.v) < (o.w, o.v)


@small
def own_comparison(x):
    cs = [Ordered(v, int(v * 4) % 3) for v in x]
    t = 0.0
    for k in range(len(x)):
        a, b = cs[k], cs[int(x[k] * 9) % len(x)]
        if a == b:
            t += a.v * b.v
        if a < b:
            t += 0.1 * b.v
        if a is b:
            t += 3
        if a != b:
            b.v += 0.1
    return t


@dataclass
class Plain:
    v: float
    w: int = 1


@small
def dataclass_equality(x):
    ds = [Plain(float(int(v * 3)), int(v * 5) % 2) for v in x]
    t = 0.0
    for k in range(len(x)):
        a, b = ds[k], ds[int(x[k] * 9) % len(x)]
        if a == b:
            t += x[k]
        a.w += 1
    return t


class Guarded:
    def __init__(self, v):
        self._v = v
        self.log = 0
    @property
    def val(self):
        return self._v
    @val.setter
    def val(self, v):
        self.log += 1
        self._v = 2 * v
    @staticmethod
    def f(a):
        return a * 3
    @classmethod
    def make(cls, v):
        return cls(v)


@small
def properties(x):
    ps = [Guarded.make(v) for v in x]
    for k in range(len(x)):
        p = ps[int(x[k] * 9) % len(x)]
        p.val = p.val + x[k]
        p.val += 1.0
    return sum(p.val * p.log + p.f(p.val) for p in ps)


@small
def arrays(x):
    ns = [Held(np.array([v, 1.0])) for v in x]
    for k in range(len(x)):
        a, b = ns[k], ns[int(x[k] * 9) % len(x)]
        old = b.v
        b.v = b.v * 0.5 + a.v
        a.v = old
    return sum(np.sum(n.v) * (k + 1) for k, n in enumerate(ns))


@small
def getattr_setattr(x):
    ns = [Held(v) for v in x]
    for k in range(len(x)):
        a = ns[int(x[k] * 9) % len(x)]
        for name in ("v",):
            setattr(a, name, getattr(a, name) * 2)
        if hasattr(a, "w"):
            a.v = 0.0
        if isinstance(a, Held) and type(a) is Held and a.__class__ is Held:
            a.v += 1
    return sum(n.v * (k + 1) for k, n in enumerate(ns))


class Every(set[type]):
    """All classes whose objects can be in pools."""

    def __contains__(self, cls: object) -> bool:
        return isinstance(cls, type) and can_be_pooled(cls)

    def __bool__(self) -> bool:
        return True


@pytest.mark.parametrize("f", [*SMALL, *PROGRAMS], ids=lambda f: f.__name__)
def test_pools_from_the_start(f: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "Findings", lambda: Findings(pool_facts=PoolFacts(Every())))
    require_values_and_derivatives(f, XS)


@pytest.mark.parametrize("f", [linked_list, search_tree, union_find, graph_walk, events],
                         ids=lambda f: f.__name__)
def test_batches_and_second_derivatives(f: Callable[..., Any]) -> None:
    x = np.array([0.613, 0.151, 0.882, 0.344, 0.523])
    batch = np.stack([x, x[::-1], x * 0.9 + 0.03])

    def curved(z: Any) -> Any:
        return np.sum(tracejit.grad(f)(z) ** 2)

    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.vmap(f)(batch), [f(r) for r in batch], rtol=1e-12)
        np.testing.assert_allclose(tracejit.grad(curved)(x), numeric_gradient(curved, [x], 0),
                                   rtol=1e-5, atol=1e-4)


# --- random sequences -----------------------------------------------------------------------------

CLASSES = [
    "class C:\n    def __init__(self, v, other=None):\n        self.v = v\n"
    "        self.next = other\n        self.n = 0\n        self.kids = []\n"
    "        self.own = None",
    "@dataclass(eq=False)\nclass C:\n    v: float\n    next: object = None\n    n: int = 0\n"
    "    kids: list = field(default_factory=list)\n    own: object = None",
    "class C:\n    __slots__ = ('v', 'next', 'n', 'kids', 'own')\n    def __init__(self, v, "
    "other=None):\n        self.own = None\n        self.next = other\n        self.kids = []\n"
    "        self.v, self.n = v, 0",
    "class C:\n    own = None\n    def __init__(self, v, other=None):\n        self.v = v\n"
    "        self.kids = []\n        self.next = self if other is None else other\n"
    "        self.n = 0",
]
METHODS = """
    def add(self, w):
        self.v = self.v * 0.9 + w
        return self.v

    def last(self):
        c, k = self, 0
        while c.next is not None and k < 5:
            c = c.next
            k += 1
        return c

    @property
    def twice(self):
        return 2 * self.v
"""

DONE = [
    "c[{k}].v = {v}", "c[{k}].v += {v}", "t += c[{k}].v", "t += c[{k}].add({v})", "a = c[{k}]",
    "c[{k}].next = c[{j}]", "c[{k}].next = None", "a.next = c[{k}]", "c[{k}].n += 1",
    "t += c[{k}].n * 0.3", "if a is c[{k}]:\n    t += 0.25", "a = a.next if a.next else c[{k}]",
    "if c[{k}].next is not None:\n    t += c[{k}].next.v", "c.append(C({v}, c[{k}]))",
    "c.append(C({v}))", "c[{k}] = C({v})", "c[{k}] = c[{j}]", "c[{k}], c[{j}] = c[{j}], c[{k}]",
    "c[{k}].kids.append(c[{j}])", "c[{k}].kids.append(C({v}))",
    "for b in c[{k}].kids:\n    t += b.v * 0.2", "for b in c[{k}].kids:\n    b.v *= 0.8",
    "if c[{k}].kids:\n    a = c[{k}].kids.pop()", "t += len(c[{k}].kids)", "t += c[{k}].twice",
    "c[{k}].own = {v}", "if c[{k}].own is not None:\n    t += c[{k}].own",
    "if a.own:\n    a.own = None", "t += c[{k}].last().v", "a = c[{k}].last()\na.v = {v}",
    "b = a\nb.v = {v}", "if t > 1.3:\n    a = c[{k}]", "if t > 1.1:\n    a = C({v}, a)",
    "d.append(a)", "if d:\n    d.pop().v += 0.1", "d.append(a.next)",
    "if d and d[-1] is not None:\n    t += d[-1].v", "e.append((t, c[{k}]))",
    "for s, b in e:\n    t += 0.1 * s * b.v", "t += sum(b.v for b in c)",
    "best = c[0]\nfor b in c:\n    if b.v > best.v:\n        best = b\nbest.n += 2",
    "t += change(c[{k}], {v})", "t += reach(c[{k}], 0)",
    "if c[{k}] == c[{j}]:\n    t += 0.5", "if a in c[:2]:\n    t += 0.1",
    "t += sum(b.n for b in c if b.next is not None)",
    "k, b = 0, a\nwhile b is not None and k < 4:\n    t += b.v * 0.1\n    b = b.next\n    k += 1",
]


def _filled(r: random.Random, text: str) -> list[str]:
    def number() -> str:
        return r.choice(["x[0] * t", "x[-1] - t", "np.sin(3 * t + x[0])", "x_k * 0.9", "0.75"])

    def key() -> str:
        return r.choice(["int(abs(t) * 3) % 2", "int(x_k * 4) % 3 % len(c)", "0", "1",
                         "int(x_k * 7 + abs(t)) % len(c)"])

    return text.format(v=number(), k=key(), j=key()).split("\n")


def _block(r: random.Random, depth: int) -> list[str]:
    if depth < 2 and r.random() < 0.35:
        head = r.choice(["for x_k in x:", "for x_k in x:", "if t > 1.1:", "if x[0] < t:",
                         "for k in range(3):"])
        body = [line for _ in range(r.randint(1, 3)) for line in _block(r, depth + 1)]
        return [head, *("    " + line for line in body)]
    return _filled(r, r.choice(DONE))


def text_of(seed: int) -> str:
    """Return a function that has objects in a list, in each other and under names."""
    r = random.Random(seed)
    start = r.choice(["c = [C(v) for v in x]", "c = [C(x[0]), C(0.5), C(x[1] * 2)]",
                      "c = []\nfor v in x:\n    c.append(C(v))", "c = [C(1.0)] * 2 + [C(x[0])]"])
    lines = ["t = x[0] * 0.5", "x_k = x[-1]", *start.split("\n"), "a = c[0]", "d = []", "e = []",
             "for x_k in x:", "    c[int(x_k * 5) % len(c)].v += x_k"]
    for _ in range(r.randint(2, 6)):
        lines += _block(r, 0)
    lines += ["for k in range(len(c)):", "    t += c[k].v * (k + 1) + c[k].n", "t += a.v"]
    body = "\n".join("    " + line for line in [*lines, "return t"])
    return ("from dataclasses import dataclass, field\n\nimport numpy as np\n\n\n"
            f"{r.choice(CLASSES)}\n{METHODS}\n\ndef change(b, v):\n    b.v = b.v * 0.5 + v\n"
            "    return b.v\n\n\ndef reach(b, k):\n    if b is None or k > 3:\n        return 0.0\n"
            f"    return b.v + reach(b.next, k + 1)\n\n\ndef f(x):\n{body}\n")


@pytest.mark.parametrize("seed", range(100))
def test_random_sequences(seed: int, tmp_path: Path) -> None:
    f = loaded(text_of(seed), tmp_path / f"objects{seed}.py")
    require_same_as_python(f, [np.array([0.31, 1.27, 0.83]), np.array([1.13, 0.43, 0.77, 0.15])],
                           f"objects{seed}.py")
