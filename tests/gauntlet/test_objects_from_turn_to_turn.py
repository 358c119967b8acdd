"""Objects of users' classes that branches and iterations make, and lists of them.

`state = State(...)` in a loop, `best = candidate` in a branch, `events.append(Event(t, y))` as data
decides. Python's own run of a program is the oracle of its value, central differences of its
gradient. A test of identity, or a write to an object in a list, is right or refused.
"""

from __future__ import annotations

import copy
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from list_laws import require_same_as_python, require_values_and_derivatives

RIGHT: list[Callable[..., Any]] = []
RIGHT_OR_REFUSED: list[Callable[..., Any]] = []
XS = [np.array([0.31, 1.27, 0.83, 0.44]), np.array([1.1, 0.4, 0.77, 1.93, 0.61, 0.27])]


def right(f: Callable[..., Any]) -> Callable[..., Any]:
    RIGHT.append(f)
    return f


def right_or_refused(f: Callable[..., Any]) -> Callable[..., Any]:
    RIGHT_OR_REFUSED.append(f)
    return f


@dataclass
class State:
    q: Any
    v: Any


@dataclass(frozen=True)
class Frozen:
    x: Any
    t: float


class Plain:
    def __init__(self, q, v):
        self.q, self.v = q, v


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Slotted(self.x + other.x, self.y + other.y)

    def __rmul__(self, a):
        return Slotted(self.x * a, self.y * a)


Event = namedtuple("Event", "t s")


class Typed(NamedTuple):
    t: Any
    s: Any = 0.5

    def moved(self, a):
        return self._replace(t=self.t * a)


# --- names that get one object after another ------------------------------------------------------


@right
def a_state_made_anew(x):
    s = State(x[0], x[1])
    for _ in range(20):
        s = State(s.q + 0.1 * s.v, s.v - 0.1 * np.sin(s.q))
    return s.q * s.v


@right
def a_frozen_state_replaced(x):
    s = Frozen(x[:2], 0.0)
    while s.t < 1.5 + 0.1 * x[0]:
        s = replace(s, x=s.x + 0.1 * np.array([s.x[1], -np.sin(s.x[0])]), t=s.t + 0.1)
    return s.x @ s.x + s.t


@right
def a_state_accepted_or_not(x):
    s = State(x[0], x[1])
    for k in range(15):
        p = State(s.q + 0.1 * s.v, s.v - 0.1 * np.sin(s.q) * x[k % 3])
        s = p if p.q * p.v > 0.3 else State(p.q * 0.9, p.v + 0.05)
    return s.q * s.v


@right
def one_of_two_branches_made(x):
    s = State(x[0], x[1]) if x[0] > 1.0 else State(x[1], x[0] * 2)
    s.q += 1
    return s.q * s.v


@right
def slotted_vectors(x):
    p, v = Slotted(x[0], x[1]), Slotted(0.0, 0.1)
    for _ in range(20):
        v = v + 0.01 * p
        p = p + 0.1 * v
    return p.x * p.y


@right
def one_for_each_iteration_read_afterwards(x):
    for k in range(15):
        m = Plain(0.0, 0)
        for v in x:
            m.v += 1
            m.q += (v * k - m.q) / m.v
        if m.q > 3:
            break
    return m.q


@right
def objects_in_objects(x):
    s = Plain(Plain(x[:2], x[1:3]), 0)
    for _ in range(20):
        s.q = Plain(s.q.q + 0.1 * s.q.v, s.q.v - 0.1 * s.q.q)
    return s.q.q @ s.q.v


@right
def the_best_of_them_or_none(x):
    best = None
    for k in range(len(x)):
        c = State(x[k] * 2, (x[k] - 0.5) ** 2)
        if best is None or c.v < best.v:
            best = c
    return best.q + best.v


@right
def copied_and_changed(x):
    a = b = Plain(1.0, x[0])
    for k in range(len(x)):
        if x[k] > 0.5:
            b = copy.copy(b)
            b.q += x[k]
    return a.q + b.q * 2


@right
def one_that_turns_places(x):
    a, b = Plain(1.0, x[0]), Plain(2.0, x[1])
    first = a
    for k in range(len(x)):
        a, b = b, Plain(x[k], a.v)
    return a.v - 3 * b.v + first.v


@right
def linked(x):
    head = None
    for k in range(len(x)):
        head = Plain(x[k], head)
    total, k = 0.0, 1
    while head is not None:
        total, head, k = total + k * head.q, head.v, k + 1
    return total


@right_or_refused
def the_first_one_kept(x):
    first = last = State(0.0, 1.0)
    for k in range(len(x)):
        last = State(last.q + x[k], last.v)
    last.q *= 3.0
    return first.q + last.q


@right_or_refused
def changed_where_it_may_be_two(x):
    a = Plain(1.0, x[0])
    c = Plain(0.0, 0.0)
    for k in range(len(x)):
        if x[k] > 0.5:
            c = Plain(a.q + x[k], a.v)
        else:
            a.v += 1
            c = a
    return a.v + c.v + c.q


@right_or_refused
def an_older_one_changed(x):
    a = b = Plain(1.0, x[0])
    for k in range(len(x)):
        old = b
        b = Plain(x[k], b.v + 1)
        old.v += 1
    return a.v * b.v


@right_or_refused
def its_list_changed(x):
    a = b = Plain(1.0, [x[0]])
    for k in range(len(x)):
        if x[k] > 1.0:
            b = Plain(x[k], [2.0])
    b.v[0] += 1.0
    return a.v[0] * b.v[0]


@right_or_refused
def its_array_changed(x):
    a = b = Plain(1.0, x[:3] * 1.0)
    for k in range(len(x)):
        if x[k] > 1.0:
            b = Plain(x[k], a.v)
    b.v[0] += 1.0
    return a.v[0] * b.v[0]


def _by_identity(name: str, test: Callable[[Any, Any], Any]) -> None:
    def f(x):
        a = b = Plain(1.0, 2.0)
        for k in range(len(x)):
            if x[k] > 100.0:
                b = Plain(x[k], 3.0)
        return x[0] if test(a, b) else b.q * x[1]

    f.__name__ = name
    RIGHT_OR_REFUSED.append(f)


_by_identity("is", lambda a, b: a is b)
_by_identity("equal", lambda a, b: a == b)
_by_identity("unequal", lambda a, b: not a != b)
_by_identity("in a list", lambda a, b: b in [a])
_by_identity("in a set", lambda a, b: b in {a})
_by_identity("a key", lambda a, b: b in {a: 1.0})
_by_identity("got by a key", lambda a, b: {a: 1}.get(b, 0) == 1)
_by_identity("an index", lambda a, b: [a].count(b) == 1)
_by_identity("a hash", lambda a, b: hash(a) == hash(b))
_by_identity("an id", lambda a, b: id(a) == id(b))


@right
def named_tuples_made_anew(x):
    s = Event(1.0, 2.0)
    for v in x:
        s = Event(s.t * v, s.s + 1)
    return s.t + s.s


@right
def named_tuples_replaced(x):
    s = Typed(1)
    for v in x:
        s = s._replace(t=s.t * v) if v > 0.5 else s.moved(2)
    return s.t * s.s


@right
def named_tuples_made_of_items(x):
    s, counts = Event(0, 1), 0
    for v in x:
        s = Event._make([s.s, s.t + v])
        counts += s._asdict()["t"] > 1
    return s.t * s.s + counts


@right
def a_named_tuple_of_branches(x):
    a = Event(x[0], 1) if x[0] > 1 else Event(2, x[1])
    b = Typed(a, s=a.s) if x[1] > 1 else Typed(a._replace(s=3.0))
    return a.t * a.s * b.t.s + b.s


# --- lists of them --------------------------------------------------------------------------------


@right
def tuples_with_arrays(x):
    found, y, t = [], x[:2] * 1.0, 0.0
    while t < 3:
        t += y[0] * 0.3 + 0.1
        y = np.array([y[1], y[0] * 0.9])
        if y[0] > 0.35:
            found.append((t, y))
    return sum(a * b[0] for a, b in found) + len(found)


@right
def events(x):
    found, y, t = [], x[:2] * 1.0, 0.0
    while t < 3:
        t += y[0] * 0.3 + 0.1
        y = np.array([y[1], y[0] * 0.9])
        if y[0] > 0.35:
            found.append(State(t, y))
    return sum(e.q * e.v[1] for e in found) + found[-1].q


@right
def named_tuples(x):
    found, t = [Event(0.0, x[:2])], 0.0
    while t < 3:
        t += x[0] * 0.3 + 0.1
        found.append(Event(t, np.array([t, x[1] * t])))
    return sum(e.t * e.s[1] for e in found)


@right
def states_kept(x):
    s = State(0.0, x[:2])
    history = [s]
    while s.q < 3:
        s = State(s.q + x[0] * 0.3 + 0.1, s.v * 0.9)
        history.append(s)
    return sum(e.q * e.v[0] for e in history)


@right
def states_kept_whether_accepted_or_not(x):
    s, history = State(0.0, x[:2]), []
    for _ in range(20):
        p = State(s.q + x[0] * 0.3 + 0.1, s.v * 0.9)
        if p.q * p.v[0] < 1:
            s = p
        history.append(s)
    return sum(e.q * e.v[0] for e in history)


@right
def a_stack_of_objects(x):
    stack, total = [State(4.0, x[:2])], 0.0
    while stack:
        e = stack.pop()
        if e.q < 1:
            total += e.q * e.v[0]
        else:
            stack.append(State(e.q / 2, e.v * 2))
            stack.append(State(e.q / 3 + x[2] * 0.1, e.v + 1))
    return total


@right
def the_greatest_by_a_key(x):
    found, t = [], 0.0
    while t < 3:
        t += 0.3
        found.append(State(np.sin(t * x[0]), x[:2] * t))
    best = max(found, key=lambda e: e.q)
    return best.q * best.v[0]


@right
def written_to_before_it_goes_in(x):
    found, t = [], 0.0
    while t < 3:
        t += x[0] * 0.3 + 0.1
        e = State(t, x[:2])
        e.q += 1.0
        found.append(e)
    return sum(e.q for e in found)


@right
def a_copy_of_one_that_changes(x):
    found, t, e = [], 0.0, State(0.0, x[:2])
    while t < 3:
        t += x[0] * 0.3 + 0.1
        e.q += t
        found.append(copy.copy(e))
    return sum(e.q for e in found)


@right
def particles_that_move(x):
    particles = []
    for k in range(len(x)):
        particles.append(State(x[k] * k, x[:2] * k))
    for _ in range(3):
        for p in particles:
            p.q += p.v[0] * 0.1
            p.v = p.v * 0.9
    return sum(p.q * p.v[1] for p in particles)


@right
def particles_made_anew(x):
    particles = []
    for k in range(len(x)):
        particles.append(State(x[k] * k, x[:2] * k))
    for _ in range(3):
        particles = [State(p.q + p.v[0] * 0.1, p.v * 0.9) for p in particles]
    return sum(p.q * p.v[1] for p in particles)


@right
def an_array_in_a_tuple_written_to_later(x):
    found, y, t = [], x[:2] * 1.0, 0.0
    while t < 3:
        t += 0.3
        found.append((t, y))
        y[0] += t
    return sum(a * b[0] for a, b in found)


@right_or_refused
def written_to_after_it_went_in(x):
    found, t = [], 0.0
    while t < 3:
        t += x[0] * 0.3 + 0.1
        e = State(t, x[:2])
        found.append(e)
        e.q += 1.0
    return sum(e.q for e in found)


@right_or_refused
def an_item_written_to(x):
    found, t = [], 0.0
    while t < 3:
        t += x[0] * 0.3 + 0.1
        found.append(State(t, x[:2]))
        if t > 1:
            found[-1].q *= 2
    return sum(e.q for e in found)


@right_or_refused
def one_object_put_in_again(x):
    found, t, e = [], 0.0, State(0.0, x[:2])
    while t < 3:
        t += x[0] * 0.3 + 0.1
        e.q += t
        found.append(e)
        if t > 1:
            e = State(t, x[1:3])
    return sum(e.q for e in found)


@right_or_refused
def one_of_before_written_to(x):
    e, t = State(x[0], x[1]), 0.0
    found = [e]
    while t < 3:
        t += x[0] * 0.3 + 0.1
        found.append(State(t, x[1]))
        e.q += 1.0
    return sum(e.q for e in found)


# --- a list that a `return` in a loop hands out ---------------------------------------------------


@right
def returned_from_a_loop(x):
    """Smallest program of a gradient that was zero: the list had two names, and one Log."""
    def run():
        items, t = [x[0]], x[0]
        for _ in range(20):
            if t > 5.0:
                return items
            t = t * 2.0
            items.append(t)
        raise ValueError("no end")

    return sum(run())


@right
def returned_with_a_number(x):
    def run():
        items, t = [], 0.0
        while t < 50:
            t = t + x[0] + t * x[1]
            items.append(t)
            if t > 3:
                return items, len(items)
        return items, -1

    found, n = run()
    return sum(found) * n


@right
def returned_in_an_object(x):
    def run():
        items, t = [x[0]], x[0]
        for _ in range(20):
            if t > 5.0:
                return State(t, items)
            t = t * 2.0
            items.append(t)
        raise ValueError("no end")

    found = run()
    return found.q * sum(found.v)


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_objects_are_pythons(f: Callable[..., Any]) -> None:
    require_values_and_derivatives(f, XS)


@pytest.mark.parametrize("f", RIGHT_OR_REFUSED, ids=lambda f: f.__name__)
def test_right_or_refused(f: Callable[..., Any]) -> None:
    require_same_as_python(f, XS, "test_objects_from_turn_to_turn")
