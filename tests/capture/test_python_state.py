"""Python state that programs change without assigning to it: closures, iterators, objects, deques.

A loop's body is traced once, so a counter in a closure or in an object, a queue, an iterator, must
be carried like a name, or the loop be run in Python; else a program would go on with the state
of the capture. Each program is compared with plain Python at two sizes.
"""

from __future__ import annotations

import array
import bisect
import collections
import contextlib
import dataclasses
import functools
import heapq
import itertools
import logging
import types
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from oracles import assert_close, assert_same, numeric_gradient

import tracejit
from tracejit.errors import Refusal

PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Enter a function of one vector."""
    PROGRAMS[fn.__name__] = fn
    return fn


def samples(n: int) -> np.ndarray:
    """Return n numbers of both signs, the first positive, none near a branch of the programs."""
    rng = np.random.default_rng(n)
    return np.where(np.arange(n) % 3 == 1, -1.0, 1.0) * rng.uniform(0.3, 1.7, n)


@pytest.mark.parametrize("name", PROGRAMS)
def test_state_is_pythons(name: str) -> None:
    fn = PROGRAMS[name]
    with tracejit.config(disable_jit=True):
        gradient = tracejit.value_and_grad(fn)
        for n in (5, 7, 5):
            x = samples(n)
            value, slope = gradient(x)
            assert_same(value, fn(x))
            assert_close(slope, numeric_gradient(fn, [x], 0))


# --- closures -------------------------------------------------------------------------------------


@program
def counter_of_a_closure(x: Any) -> Any:
    k = 0

    def tick() -> int:
        nonlocal k
        k += 1
        return k

    s = 0.0
    for v in x:
        s += tick() * v * v
    return s


@program
def state_of_a_closure(x: Any) -> Any:
    level, speed = 0.0, 1.0

    def step(v: Any) -> None:
        nonlocal level, speed
        level = level * 0.5 + v * speed
        speed = np.sin(level)

    for v in x:
        step(v)
    return level + speed


@program
def closures_within_closures(x: Any) -> Any:
    total = 0.0

    def outer(v: Any) -> None:
        def inner(w: Any) -> None:
            nonlocal total
            total += w * w

        for k in range(3):
            inner(v * k)

    for v in x:
        outer(v)
    return total


def make_counter(k: int = 0) -> Callable[[], int]:
    """Return a function that counts from k + 1."""
    def tick() -> int:
        nonlocal k
        k += 1
        return k

    return tick


@program
def two_counters_of_one_function(x: Any) -> Any:
    first, second = make_counter(), make_counter()
    s = 0.0
    for v in x:
        s += first() * v * v
        if v > 0.0:
            s += second() * v
    return s


@program
def counters_made_in_a_loop(x: Any) -> Any:
    s = 0.0
    for v in x:
        tick = make_counter(2)
        tick()
        s += tick() * v * v
    return s


@program
def maximum_of_a_closure(x: Any) -> Any:
    best, where = x[0], 0

    def look_at(k: Any) -> None:
        nonlocal best, where
        if x[k] > best:
            best = x[k]
            where = k

    for k in range(1, len(x)):
        look_at(k)
    return best * best * (where + 1)


@program
def closure_in_a_branch(x: Any) -> Any:
    k = 1

    def tick() -> None:
        nonlocal k
        k += 1

    if x[0] > 0.0:
        tick()
    if x[1] > 0.0:
        tick()
    return np.sum(x * x) * k


@program
def closure_in_a_while(x: Any) -> Any:
    steps, s = 0, x[0]

    def halve() -> None:
        nonlocal steps, s
        steps += 1
        s = s * 0.5

    while abs(s) > 1e-2:
        halve()
    return s * steps


@program
def condition_that_changes_state(x: Any) -> Any:
    level, k = x[0], 0

    def falls() -> Any:
        nonlocal level, k
        level = level * 0.5 + 0.01 * x[1]
        k += 1
        return abs(level)

    s = 0.0
    while falls() > 0.05 and k < 50:
        s += level * k
        if k > 30:
            break
    stack = [1.0, 2.0, 3.0]
    while stack.pop() > 1.0:
        s += len(stack) * level
    numbers = iter([3.0, 2.0, 0.0])
    while w := next(numbers):
        s += w * level
    return s * k


@program
def procedure_that_returns_early(x: Any) -> Any:
    total = 0.0

    def add(v: Any) -> None:
        nonlocal total
        if v < 0.0:
            return
        total += v * v

    for v in x:
        add(v)
    return total


@program
def array_of_a_closure(x: Any) -> Any:
    u = np.zeros(3)

    def shift(v: Any) -> None:
        nonlocal u
        u = np.roll(u, 1) * 0.9
        u[0] = v

    for v in x:
        shift(v)
    return np.sum(u * u * np.arange(1.0, 4.0))


@program
def default_argument_that_counts(x: Any) -> Any:
    def f(v: Any, count: Any = [0]) -> Any:  # noqa: B006
        count[0] += 1
        return count[0] * v * v

    s = 0.0
    for v in x:
        s += f(v)
    return s


@program
def attribute_of_a_function(x: Any) -> Any:
    def f(v: Any) -> Any:
        f.count += 1
        return f.count * v * v

    f.count = 0
    s = 0.0
    for v in x:
        s += f(v)
    return s


@program
def what_is_evaluated_first(x: Any) -> Any:
    k, total = 0, [1.0]
    u, o = np.ones(9), types.SimpleNamespace(a=1.0)

    def step(v: Any) -> Any:
        nonlocal k
        k += 1
        total[0] = total[0] * 0.5 + v
        o.a = o.a * 0.5 + v
        u[0] = v
        return total[0] * x[k]

    for v in x[:3]:
        u[k] = step(v)
        u[k] += step(v)
        u[0] += step(v)
        u[k:] *= step(v)
        k -= 4
        total[0] += step(v)
        o.a -= step(v)
        total[0], u[k] = step(v), k
        k -= 3
    return np.sum(u * u) + total[0] + o.a


@program
def targets_from_left_to_right(x: Any) -> Any:
    u, i, j = np.zeros(5), 0, 0
    i, u[i] = 1, x[0]
    u[j], j = 2.0 * x[1], 2
    (u[i], *rest), u[j] = (x[2], x[3], 3), u[0] * x[3]
    return np.sum(u * u * np.arange(1.0, 6.0)) + rest[0] * i


@program
def generators_are_lazy(x: Any) -> Any:
    u = x.copy()
    squares = (v * v for v in u)
    halves = map(lambda v: v * 0.5, u)
    u[0] = 3.0 * x[1]
    first = next(squares)
    return first * sum(squares) + next(halves) * sum(halves)


@program
def assignment_in_a_comprehension(x: Any) -> Any:
    found = [(y := v * v) + y for v in x]
    return sum(found) * y


# --- text and types -------------------------------------------------------------------------------


@program
def keys_of_text(x: Any) -> Any:
    weights = {f"w{k}": 1.0 + k for k in range(9)}
    s = 0.0
    for k in range(len(x)):
        s += weights[f"w{k}"] * x[k] ** 2 + weights["w" + str(k)] * x[k]
    for k, v in enumerate(x):
        s += weights["w{}".format(k)] * v + weights["w%s" % k] * v ** 3  # noqa: UP031, UP032
        s += weights["".join(["w", str(k)])] * (2.0 if f"{k}" in ("0", "2") else 1.0)
    return s


@program
def text_that_nobody_reads(x: Any) -> Any:
    s = 0.0
    for k, v in enumerate(x):
        label = f"step {k + 1}: {v:.3f}"
        s += v * v
        del label
    return s


@program
def types_of_things(x: Any) -> Any:
    s = 0.0
    for k, v in enumerate(x):
        if type(k) is int and type(v) is np.float64 and type(v * 1.0) is type(v):
            s += v * v
        if type(x) is np.ndarray and x.__class__ is not list and type(len(x)) is int:
            s += v
    return s


@program
def membership_of_data(x: Any) -> Any:
    s = 0.0
    for k in range(len(x)):
        if k in (0, 2):
            s += x[k] ** 2
        if k not in [1, 2] or x[0] in (x[1], x[k]):
            s += x[k]
    return s


# --- iterators and containers ---------------------------------------------------------------------


@program
def iterator_of_a_list(x: Any) -> Any:
    weights = iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    s = 0.0
    for v in x:
        s += next(weights) * v * v
    return s


@program
def iterator_without_end(x: Any) -> Any:
    count, signs = itertools.count(), itertools.cycle([1.0, -2.0])
    s = 0.0
    for v in x:
        s += next(count) * next(signs) * v * v
    return s


@program
def iterator_in_a_while(x: Any) -> Any:
    weights = iter([2.0, 0.5, -1.0])
    s, w = x[0], next(weights)
    while w is not None:
        s = s * w + x[1]
        w = next(weights, None)
    return s * s


@program
def comprehensions_made_in_a_while(x: Any) -> Any:
    t, h, y, rejected = 0.0, 0.3, x.copy(), 0
    rows = ((), (0.25,), (0.1, 0.2))
    while t < 1.0:
        stages: list[Any] = []
        for row in rows:
            terms = (a * k for a, k in zip(row, stages, strict=True))
            stages.append(np.sin(y + h * sum(terms, np.zeros(len(y)))))
        if abs(stages[2][0] - stages[1][0]) < 0.05:
            t += h
            y = y + h * stages[2]
        else:
            rejected += 1
        h *= min(1.2, max(a * b for a, b in enumerate((t, 0.7 + t))))
        pairs = [a * b for a, b in zip(y, y[::-1], strict=True)]
        pairs.append(y[0])
        pairs[0] = pairs[0] * t
        table = {k: v * h for k, v in enumerate(y)}
        table[0] = sum(pairs)
        y = y + 0.01 * table[0] + 0.01 * table[1]
        drawn = (v * h for v in y)
        y[0] += 0.1 * next(drawn) * next(drawn)
    return y.sum() + rejected


@program
def iterator_that_loops_share(x: Any) -> Any:
    weights = iter(range(20))
    s = 0.0
    for v in x:
        for k in weights:
            s += k * v * v
            if k % 3 == 2:
                break
    return s


@program
def queue(x: Any) -> Any:
    last = collections.deque([0.0, 0.0, 0.0], maxlen=3)
    s = 0.0
    for v in x:
        last.append(v)
        s += last[0] * last[2] + last[1]
    return s


@program
def rotation(x: Any) -> Any:
    weights = collections.deque([1.0, 2.0, 3.0])
    s = 0.0
    for v in x:
        weights.rotate(1)
        s += weights[0] * v * v
    return s


@program
def heap(x: Any) -> Any:
    h = [5, 4, 3, 2, 1]
    heapq.heapify(h)
    s = 0.0
    for v in x:
        heapq.heappush(h, 0)
        s += len(h) * v * v
    return s


@program
def sorted_insertion(x: Any) -> Any:
    found = [1, 3]
    s = 0.0
    for v in x:
        bisect.insort(found, 2)
        s += len(found) * v * v
    return s


@program
def deleted_items(x: Any) -> Any:
    weights = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    table = {k: float(k) for k in range(9)}
    s = 0.0
    for k, v in enumerate(x):
        del weights[0]
        del table[k]
        s += weights[0] * len(table) * v * v
    return s


@program
def list_assigned_as_a_whole(x: Any) -> Any:
    weights = [1.0, 2.0, 3.0]
    s = 0.0
    for v in x:
        weights[:] = [weights[1] * v, weights[2], weights[0]]
        s += weights[0] * v
    return s


@program
def items_of_any_key(x: Any) -> Any:
    table: dict[Any, Any] = {(0, 1): 0, 0.5: 1.0, None: 0.0}
    s = 0.0
    for v in x:
        table[0, 1] += 1
        table[0.5] = table[0.5] * 0.5 + v
        table[None] += table[0.5]
        s += table[0, 1] * table[None] * v
    return s


@program
def bytes_that_change(x: Any) -> Any:
    counts = bytearray(3)
    s = 0.0
    for v in x:
        counts[0] += 1
        s += counts[0] * v * v
    return s


@program
def counter_of_a_library(x: Any) -> Any:
    seen: Any = collections.Counter()
    kinds: Any = collections.defaultdict(float)
    s = 0.0
    for v in x:
        seen["all"] += 1
        kinds["sum"] += v
        s += seen["all"] * kinds["sum"] * v
    return s


@program
def item_that_one_branch_adds(x: Any) -> Any:
    memo: dict[int, Any] = {}

    def square(k: int) -> Any:
        if k not in memo:
            memo[k] = x[k] ** 2
        return memo[k]

    s = square(1) if x[1] > 0.0 else square(2)
    return s + square(1) * x[2]


@program
def attribute_that_one_branch_sets(x: Any) -> Any:
    o = types.SimpleNamespace()
    if x[1] > 0.0:
        o.rate = x[0]
    table = {}
    if x[0] > 0.0:
        table["rate"] = x[1]
    s = getattr(o, "rate", 2.0) * x[2] + table["rate"]
    return s if "rate" in table else 2.0 * s


@program
def branch_that_fails_on_a_first_guess(x: Any) -> Any:
    s = 0
    for v in x:
        if v > 100.0:
            u = np.full(3, s)
            u *= 0.5
            s = s + u[0]
        s = s * 0.5 + np.cos(v)
    return s


@program
def tuple_keys_of_a_recurrence(x: Any) -> Any:
    memo: dict[Any, Any] = {}

    def grid(i: int, j: int) -> Any:
        if (i, j) in memo:
            return memo[i, j]
        result = x[i + j] if i == 0 or j == 0 else grid(i - 1, j) * 0.5 + grid(i, j - 1) * x[i]
        memo[i, j] = result
        return result

    return grid(2, 2)


# --- objects --------------------------------------------------------------------------------------


class Counting:
    """Every protocol of Python counts."""

    def __init__(self) -> None:
        self.count = 0

    def tick(self) -> int:
        self.count += 1
        return self.count

    __call__ = __neg__ = __invert__ = __abs__ = __int__ = tick

    def __getitem__(self, key: Any) -> Any:
        return self.tick()

    def __setitem__(self, key: Any, content: Any) -> None:
        self.tick()

    def __delitem__(self, key: Any) -> None:
        self.tick()

    def __add__(self, other: Any) -> Any:
        return self.tick() + other

    def __rmul__(self, other: Any) -> Any:
        return self.tick() * other

    def __iadd__(self, other: Any) -> Counting:
        self.count += other
        return self

    def __bool__(self) -> bool:
        return self.tick() % 2 == 0

    def __contains__(self, item: Any) -> bool:
        return self.tick() > 3

    def __lt__(self, other: Any) -> bool:
        return self.tick() > 2

    def __eq__(self, other: object) -> bool:
        return self.tick() > 4

    def __iter__(self) -> Iterator[Any]:
        return iter([self.tick(), 1])

    def __float__(self) -> float:
        return float(self.tick())

    def __enter__(self) -> int:
        return self.tick()

    def __exit__(self, *_: Any) -> None:
        self.tick()

    @property
    def number(self) -> int:
        return self.tick()

    @number.setter
    def number(self, content: int) -> None:
        self.count += content

    def __getattr__(self, name: str) -> Any:
        if name == "made_up":
            return self.tick()
        raise AttributeError(name)


def counts(name: str, weight: Callable[[Counting], Any]) -> None:
    """Enter a loop in which an object is used in some way."""

    def f(x: Any) -> Any:
        c = Counting()
        s = 0.0
        for v in x:
            s += weight(c) * v * v
        return s

    PROGRAMS[f"object_{name}"] = f


counts("method", lambda c: c.tick())
counts("call", lambda c: c())
counts("negated", lambda c: -c)
counts("inverted", lambda c: ~c)
counts("abs", lambda c: abs(c))
counts("int", lambda c: int(c))
counts("float", lambda c: float(c))
counts("item", lambda c: c["a"])
counts("added", lambda c: c + 1)
counts("multiplied", lambda c: 3.0 * c)
counts("truth", lambda c: 2.0 if c else 1.0)
counts("negated_truth", lambda c: 2.0 if not c else 1.0)
counts("membership", lambda c: 2.0 if 1 in c else 1.0)
counts("no_membership", lambda c: 2.0 if 1 not in c else 1.0)
counts("less", lambda c: 2.0 if c < 1 else 1.0)
counts("greater", lambda c: 2.0 if 1 > c else 1.0)
counts("equal", lambda c: 2.0 if c == 1 else 1.0)
counts("unequal", lambda c: 2.0 if c != 1 else 1.0)
counts("sum_of_items", lambda c: sum(a for a in c))
counts("list_of_items", lambda c: max([*c]) + max(list(c)) + max(c))
counts("property", lambda c: c.number)
counts("property_by_name", lambda c: getattr(c, "number"))  # noqa: B009
counts("attribute_made_up", lambda c: c.made_up)


@program
def object_statements(x: Any) -> Any:
    c = Counting()
    s = 0.0
    for v in x:
        c += 2
        c[0] = v
        del c[1]
        c.number = 3
        a, _ = c
        with c as b:
            s += a * b * v * v
    return s


@program
def attributes_by_name(x: Any) -> Any:
    o = types.SimpleNamespace(count=0, total=0.0, gone=1)
    s = 0.0
    for v in x:
        setattr(o, "count", o.count + 1)  # noqa: B010
        vars(o)["total"] = o.total + v * v
        s += o.count * o.total
    del o.gone
    return s + (1.0 if hasattr(o, "gone") else 2.0)


class Norm:
    """A cached property, and slots."""

    def __init__(self, x: Any) -> None:
        self.x = x

    @functools.cached_property
    def norm(self) -> Any:
        return np.sqrt(np.sum(self.x ** 2))


@program
def cached_property_in_a_loop(x: Any) -> Any:
    o = Norm(x)
    s = 0.0
    for v in x:
        s += v * o.norm
    return s * o.norm


@program
def cached_property_in_a_branch(x: Any) -> Any:
    o = Norm(x)
    s = 0.0
    if x[0] > 1.0:
        s = o.norm
    return s + o.norm * x[1]


class Vector:
    """A user's class: operators with branches on data, in-place ones, items, properties."""

    __slots__ = ("a", "b")

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.a + other.a, self.b + other.b)

    def __sub__(self, other: Vector) -> Vector:
        return self + (-other)

    def __neg__(self) -> Vector:
        return Vector(-self.a, -self.b)

    def __mul__(self, by: Any) -> Vector:
        if not np.isscalar(by) and isinstance(by, Vector):
            return NotImplemented
        return Vector(self.a * by, self.b * by)

    __rmul__ = __mul__

    def __iadd__(self, other: Vector) -> Vector:
        self.a += other.a
        self.b += other.b
        return self

    def __matmul__(self, other: Vector) -> Any:
        return self.a * other.a + self.b * other.b

    def __abs__(self) -> Any:
        square = self @ self
        if square > 1.0:
            return np.sqrt(square)
        return square

    def __lt__(self, other: Vector) -> Any:
        return self @ self < other @ other

    def __getitem__(self, k: int) -> Any:
        return self.a if k == 0 else self.b

    def __setitem__(self, k: int, content: Any) -> None:
        if k == 0:
            self.a = content
        else:
            self.b = content

    @property
    def size(self) -> Any:
        if self.a > 0.0:
            return self @ self
        return 2.0 * (self @ self)

    @size.setter
    def size(self, by: Any) -> None:
        self.a = self.a * by


@program
def vectors_in_a_loop(x: Any) -> Any:
    p, v = Vector(x[0], x[1]), Vector(x[2], x[3])
    for _ in range(20):
        p = p + 0.1 * v
        v = v - p * 0.1
    return p @ v


@program
def vectors_in_place(x: Any) -> Any:
    p, v = Vector(x[0], x[1]), Vector(x[2], x[3])
    for a in x:
        p += a * v
        p[0] = p[0] * 0.5 + a
        p[1] += p[0]
        p.size = 0.9
    return p @ v


@program
def vectors_that_decide(x: Any) -> Any:
    p, q = Vector(x[0], x[1]), Vector(x[2], x[3])
    s = 0.0
    for a in x:
        s += abs(p * a) + (q * a).size
        if p * a < q:
            s += p @ q
    return s + abs(sum([p, q], Vector(0.0, 0.0)))


class Buffers:
    """Two buffers that change places."""

    def __init__(self, u: Any) -> None:
        self.u, self.w = u, np.zeros_like(u)

    def step(self) -> None:
        self.w[1:-1] = 0.5 * (self.u[:-2] + self.u[2:])
        self.w[0], self.w[-1] = self.u[0], self.u[-1] ** 2
        self.u, self.w = self.w, self.u


@program
def buffers_of_an_object(x: Any) -> Any:
    b = Buffers(x.copy())
    for _ in range(7):
        b.step()
    return np.sum(b.u ** 2) + np.sum(b.w)


@program
def buffers_of_a_dict(x: Any) -> Any:
    b = {"u": x.copy(), "w": np.zeros_like(x)}
    for _ in range(7):
        b["w"][1:] = np.sin(b["u"][:-1])
        b["w"][0] = b["u"][-1]
        b["u"], b["w"] = b["w"], b["u"]
    return np.sum(b["u"] ** 2) + np.sum(b["w"])


@program
def buffers_of_a_closure(x: Any) -> Any:
    u, w = x.copy(), np.zeros_like(x)

    def step() -> None:
        nonlocal u, w
        w[1:] = np.sin(u[:-1])
        w[0] = u[-1]
        u, w = w, u

    for _ in range(7):
        step()
    return np.sum(u ** 2) + np.sum(w)


@program
def class_of_the_function(x: Any) -> Any:
    class Filter:
        def __init__(self) -> None:
            self.__mean = 0.0
            self.seen = 0

        def step(self, y: Any) -> None:
            if y > 0.0:
                self.__mean = self.__mean * 0.5 + y
            self.seen += 1

        def run(self, ys: Any) -> Any:
            for y in ys:
                self.step(y)
            return self.__mean * self.seen

    return Filter().run(x)


class Steps:
    """An iterator that users write."""

    def __init__(self, n: int) -> None:
        self.k, self.n = 0, n

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> int:
        self.k += 1
        if self.k > self.n:
            raise StopIteration
        return self.k


@program
def iterator_of_a_user(x: Any) -> Any:
    steps = Steps(30)
    s = 0.0
    for v in x:
        s += next(steps) * v
        for k in Steps(3):
            s += k * v * v
    for k in steps:
        s += k * x[0]
    return s


# --- exceptions -----------------------------------------------------------------------------------


def reads_nothing(x: Any) -> Any:
    try:
        y = np.isnat(x)
    except TypeError:
        y = x * 2.0
    return np.sum(y)


def packs_bits(x: Any) -> Any:
    s = 0.0
    for v in x:
        try:
            s += np.packbits(x > 0.5)[0] * v
        except Exception:
            s += 100.0 * v
    return s


def suppresses(x: Any) -> Any:
    y = x
    with contextlib.suppress(TypeError):
        y = np.isnat(x)
    return np.sum(y)


@pytest.mark.parametrize("fn", [reads_nothing, packs_bits, suppresses])
def test_no_except_of_the_user_swallows_a_refusal(fn: Any) -> None:
    with pytest.raises(Refusal):
        tracejit.grad(fn)(samples(5))


@program
def exceptions_of_plain_python(x: Any) -> Any:
    table = {"a": 2.0}
    try:
        w = table["b"]
    except KeyError:
        w = 3.0
    with contextlib.suppress(KeyError):
        w = table["c"]
    return np.sum(x * x) * w


# --- what is refused ------------------------------------------------------------------------------


TICK = make_counter()
ITEMS = iter([1.0, 2.0, 3.0])
QUEUE = collections.deque([1.0, 2.0])
OBJECT = Counting()


def keeps_a_value_of_a_branch(x: Any) -> Any:
    @functools.lru_cache
    def square(k: int) -> Any:
        return x[k] ** 2

    s = square(1) if x[0] > 0.0 else square(2)
    return s + square(1)


def _in_one_branch(ask: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        table = {}
        if x[0] > 0.0:
            table["k"] = x[1]
        return ask(table) * x[0]

    return f


ALL_THAT_A_DICT_HAS: dict[str, Callable[[Any], Any]] = {
    "items": lambda t: sum([t[k] for k in t]), "equality": lambda t: 2.0 if t == {} else 3.0,
    "inequality": lambda t: 2.0 if t != {} else 3.0, "order": lambda t: len(sorted(t)),
}

SOME_OF_WHAT_A_DICT_HAS: dict[str, Callable[[Any], Any]] = {
    "len": len, "truth": lambda t: 2.0 if t else 3.0, "values": lambda t: sum(t.values()),
    "get": lambda t: t.get("k", 2.0), "copy": lambda t: len(dict(t)), "not": lambda t: not t,
}


@pytest.mark.parametrize("name", SOME_OF_WHAT_A_DICT_HAS)
def test_what_a_dict_has_is_what_its_branches_left(name: str) -> None:
    f = _in_one_branch(SOME_OF_WHAT_A_DICT_HAS[name])
    for x in (samples(5), -samples(5)):
        np.testing.assert_allclose(tracejit.value_and_grad(f)(x)[0], f(x), rtol=1e-12)


@pytest.mark.parametrize("name", ALL_THAT_A_DICT_HAS)
def test_what_a_dict_has_is_not_guessed(name: str) -> None:
    with pytest.raises(Refusal, match="whether a dict has 'k' depends on data"):
        tracejit.grad(_in_one_branch(ALL_THAT_A_DICT_HAS[name]))(samples(5))


def test_what_an_object_has_is_not_guessed() -> None:
    def f(x: Any) -> Any:
        o = types.SimpleNamespace()
        if x[0] > 0.0:
            o.k = x[1]
        return x[0] if hasattr(o, "k") else x[1]

    with pytest.raises(Refusal, match="whether a SimpleNamespace has 'k' depends on data"):
        tracejit.grad(f)(samples(5))


@pytest.mark.parametrize("interpreted", [True, False])
def test_a_missing_attribute_is_pythons_error(interpreted: bool) -> None:
    def f(x: Any) -> Any:
        o = types.SimpleNamespace()
        if x > 0.0:
            o.k = x
        return o.k

    with tracejit.config(disable_jit=interpreted):
        slope = tracejit.grad(f)
        assert slope(1.0) == 1.0
        with pytest.raises(AttributeError, match="has no attribute 'k'"):
            slope(-1.0)


OUTSIDE = "from outside of the captured function. Return the new value"
REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "closure": (lambda x: np.sum(x) * TICK(), "Return the new value and assign it outside"),
    "iterator": (lambda x: np.sum(x) * next(ITEMS), OUTSIDE),
    "queue": (lambda x: np.sum(x) * QUEUE.popleft(), OUTSIDE),
    "attribute": (lambda x: np.sum(x) * OBJECT.tick(), OUTSIDE),
    "property": (lambda x: np.sum(x) * OBJECT.number, OUTSIDE),
    "operator": (lambda x: np.sum(x) * (OBJECT + 1), OUTSIDE),
    "value of a branch": (keeps_a_value_of_a_branch, "computed inside a loop or branch"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_state_from_outside_is_not_changed(name: str) -> None:
    fn, text = REFUSED[name]
    with pytest.raises(Refusal, match=text):
        tracejit.grad(fn)(samples(5))
    assert (TICK.__closure__ or ())[0].cell_contents == 0
    assert list(QUEUE) == [1.0, 2.0]
    assert OBJECT.count == 0


LOG = logging.getLogger("test")


def logs(x: Any) -> Any:
    s = 0.0
    for v in x:
        LOG.debug("a value of %s", x.shape)
        s += v * v
    LOG.info("done")
    return s


def test_logging_is_no_change_of_state() -> None:
    with tracejit.config(disable_jit=True):
        slope = tracejit.grad(logs)
        for n in (3, 4, 3):
            assert_same(slope(np.ones(n)), 2.0 * np.ones(n))
        (programs,) = slope._table.values()
        assert len(programs) == 1


# --- state from outside is never stale ------------------------------------------------------------


class AttributeDict(dict[str, float]):
    """A dict whose items are attributes too."""

    def __getattr__(self, name: str) -> float:
        return self[name]


class Settings:
    """Numbers in containers of all kinds, and the protocols that read them."""

    def __init__(self) -> None:
        self.queue = collections.deque([2.0])
        self.table = AttributeDict(a=2.0)
        self.numbers = array.array("d", [2.0])
        self.counter = collections.Counter(a=2)
        self.wrapped = collections.UserDict(a=2.0)
        self.chain = collections.ChainMap({"a": 2.0})
        self.bytes = bytearray([2])

    def change(self) -> None:
        """Make every 2 a 3, in place."""
        self.queue[0] = self.table["a"] = self.numbers[0] = 3.0
        self.wrapped["a"] = self.chain["a"] = 3.0
        self.counter["a"] = self.bytes[0] = 3

    @property
    def first(self) -> float:
        return self.queue[0]

    def __call__(self) -> float:
        return self.table.a

    def __mul__(self, other: Any) -> Any:
        return self.queue[0] * other

    def __float__(self) -> float:
        return self.queue[0]

    def __iter__(self) -> Iterator[float]:
        return iter(self.queue)

    def __contains__(self, item: Any) -> bool:
        return item in self.queue

    def __bool__(self) -> bool:
        return self.queue[0] < 2.5

    def __eq__(self, other: object) -> bool:
        return self.queue[0] == other


SETTINGS = Settings()
DEFAULT = [2.0]


def _of_default(x: Any, weights: Any = DEFAULT) -> Any:
    return x * weights[0]


def _of_a_named_default(x: Any, *, weights: Any = DEFAULT) -> Any:
    return x * weights[0]


READS: dict[str, Callable[[Any], Any]] = {
    "queue": lambda x: x * SETTINGS.queue[0], "sum": lambda x: x * sum(SETTINGS.queue),
    "loop": lambda x: sum([w * x for w in SETTINGS.queue]),
    "dict": lambda x: x * SETTINGS.table["a"], "get": lambda x: x * SETTINGS.table.get("a"),
    "attribute": lambda x: x * SETTINGS.table.a, "array": lambda x: x * SETTINGS.numbers[0],
    "counter": lambda x: x * SETTINGS.counter["a"], "wrapped": lambda x: x * SETTINGS.wrapped["a"],
    "chain": lambda x: x * SETTINGS.chain["a"], "bytes": lambda x: x * SETTINGS.bytes[0],
    "property": lambda x: x * SETTINGS.first, "call": lambda x: x * SETTINGS(),
    "operator": lambda x: (SETTINGS * 1.0) * x, "float": lambda x: float(SETTINGS) * x,
    "items": lambda x: sum(SETTINGS) * x, "member": lambda x: x * (2.0 if 2.0 in SETTINGS else 3.0),
    "truth": lambda x: x * (2.0 if SETTINGS else 3.0),
    "equality": lambda x: x * (2.0 if SETTINGS == 2.0 else 3.0),
    "partial": functools.partial(lambda q, x: x * q.first, SETTINGS),
    "default": lambda x: _of_default(x), "named default": lambda x: _of_a_named_default(x),
    "own default": _of_default,
}


@pytest.mark.parametrize("name", READS)
def test_state_from_outside_is_never_stale(name: str) -> None:
    SETTINGS.__init__()  # type: ignore[misc]
    DEFAULT[0] = 2.0
    with tracejit.config(disable_jit=True):
        slope = tracejit.grad(READS[name])
        assert [slope(1.0), slope(5.0)] == [2.0, 2.0]
        SETTINGS.change()
        DEFAULT[0] = 3.0
        assert slope(1.0) == 3.0


def test_methods_of_objects_with_arrays_of_one_element_are_captured() -> None:
    """A size is fixed for the array that is reached, and not for one attempt to reach it."""
    class Model:
        def __init__(self) -> None:
            self.rate = np.array([3.0])

        def __call__(self, x: Any) -> Any:
            return x * self.rate

        def slope(self, x: Any) -> Any:
            return np.sum(x * self.rate + x)

    model, x = Model(), np.ones(3)
    with tracejit.config(disable_jit=True):
        np.testing.assert_array_equal(tracejit.jit(model)(x), 3.0 * x)
        np.testing.assert_array_equal(tracejit.grad(model.slope)(x), 4.0 * x)
        model.rate = np.arange(3.0)
        np.testing.assert_array_equal(tracejit.jit(model)(x), model.rate)
        np.testing.assert_array_equal(tracejit.grad(model.slope)(x), model.rate + 1.0)


@pytest.mark.parametrize("thing", [functools.partial(max, 1.0), OrderedDict(a=1.0)])
def test_an_arguments_attributes_are_read(thing: Any) -> None:
    """It is copied where a call is filed under its content, attributes included."""
    def program(x: float, given: Any) -> Any:
        return x * getattr(given, "extra", 0.0)

    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(program)
        for extra in (5.0, 6.0):
            thing.extra = extra
            assert compiled(2.0, thing) == 2.0 * extra


class Point(collections.namedtuple("Point", "a b")):
    """A named tuple whose class has no slots, so that it takes attributes."""


def test_a_named_tuples_attributes_are_parts_of_an_argument() -> None:
    def program(p: Any) -> Any:
        return p.a * np.sum(p.b) * getattr(p, "extra", 1.0)

    with tracejit.config(disable_jit=True):
        compiled, p = tracejit.value_and_grad(program), Point(2.0, np.ones(3))
        for extra in (None, 5.0, 7.0, None):
            vars(p).pop("extra", None)
            if extra is not None:
                p.extra = extra
            value, slope = compiled(p)
            assert type(slope) is Point
            assert value == program(p)
            assert slope.a == 3.0 * (extra or 1.0)
            assert vars(slope) == ({} if extra is None else {"extra": 6.0})


class _Total:
    @functools.cached_property
    def total(self) -> Any:
        return self.a * np.sum(self.b)  # type: ignore[attr-defined]


@dataclasses.dataclass
class Record(_Total):
    a: Any
    b: Any


class Named(_Total, collections.namedtuple("Named", "a b")):
    pass


class Thing(_Total):
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b


@pytest.mark.parametrize("kind", [Record, Named, Thing])
def test_what_a_class_has_computed_and_kept_is_no_variable(kind: Any) -> None:
    """Nothing that is kept follows from the others, whose derivatives would be 0."""
    def program(p: Any) -> Any:
        return p.total ** 2

    with tracejit.config(disable_jit=True):
        new, kept = kind(2.0, np.ones(3)), kind(2.0, np.ones(3))
        if kind is not Thing:  # of which a gradient cannot be by what is written to
            assert tracejit.grad(program)(new).a == 36.0
        assert kept.total == 6.0
        assert tracejit.jit(program)(kept) == 36.0
        calls = [tracejit.grad(program), lambda p: tracejit.grad(lambda q: program(q[0]))([p]),
                 lambda p: tracejit.vjp(program, p, argnums=0)[1](1.0)]
        if kind is not Thing:
            calls += [tracejit.jacobian(program), lambda p: tracejit.jvp(program, (p,), (p,)),
                      lambda p: tracejit.vjp(program, p)[1](1.0)]
        for call in calls:
            with pytest.raises(TypeError, match=r"total, which its class has computed"):
                call(kept)
        del kept.total
        if kind is not Thing:
            assert tracejit.grad(program)(kept).a == 36.0
