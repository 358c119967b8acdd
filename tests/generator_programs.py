"""Programs with generator functions of users', each of an array of five numbers.

Programs of `RIGHT` give Python's results, `RAISING` raise Python's errors, `REFUSED` are refused
with a text at a line of theirs.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

import tracejit

__all__ = ["RAISING", "REFUSED", "RIGHT", "positive"]

Program = Callable[..., Any]
RIGHT: list[Program] = []
RAISING: list[Program] = []
REFUSED: dict[Program, str] = {}


def right(f: Program) -> Program:
    """Enter a program that gives Python's result."""
    RIGHT.append(f)
    return f


def raising(f: Program) -> Program:
    """Enter a program that raises Python's error."""
    RAISING.append(f)
    return f


def refused(text: str) -> Callable[[Program], Program]:
    """Enter a program that is refused with a text."""
    def enter(f: Program) -> Program:
        REFUSED[f] = text
        return f

    return enter


def positive(a: Any) -> Any:
    for v in a:
        if v > 0:
            yield v


def counting() -> Any:
    k = 0
    while True:
        yield k
        k += 1


# --- the order in which things happen -------------------------------------------------------------


@right
def order_of_effects(x: Any) -> Any:
    log = []

    def g() -> Any:
        for k in range(3):
            log.append(k)
            yield x[k]
            log.append(10 + k)

    s = 0.0
    for v in g():
        log.append(100)
        s = s * 2 + v
    return s + sum([(i + 1) * n for i, n in enumerate(log)])


@right
def any_stops(x: Any) -> Any:
    log = []

    def g() -> Any:
        for k in range(len(x)):
            log.append(k)
            yield x[k]

    b = any(v < 0 for v in g())
    return x.sum() * len(log) + b


@right
def never_begun(x: Any) -> Any:
    log = []

    def g() -> Any:
        log.append(1)
        yield x[0]

    g()
    positive(None)
    return x.sum() * len(log) + x[0]


@right
def names_change_in_between(x: Any) -> Any:
    k = 1.0

    def g() -> Any:
        yield x[0] * k
        yield x[1] * k

    it = g()
    k = 10.0
    s = 0.0
    for v in it:
        s += v
        k = k * 3
    return s


@right
def both_bind_a_name(x: Any) -> Any:
    k = 0.0

    def g() -> Any:
        nonlocal k
        for v in x:
            k = k + v
            yield v * k

    s = 0.0
    for v in g():
        k = k * v
        s = s + v
    return s + k


@right
def expression_reads_a_name(x: Any) -> Any:
    k = 1.0

    def g() -> Any:
        nonlocal k
        for v in x:
            k = k + v
            yield v

    return sum(v * k for v in g())


@right
def same_names_in_both(x: Any) -> Any:
    def g(s: Any, v: Any) -> Any:
        for s in v:
            v = s * 2
            yield v

    s = 0.0
    for v in g(1.0, x):
        s += v
    return s + v


@right
def draws(x: Any) -> Any:
    rng = np.random.default_rng(3)

    def g() -> Any:
        for k in range(4):
            yield rng.normal() * x[k]

    return sum(v + 0.1 * rng.normal() for v in g())


# --- what is written in place ---------------------------------------------------------------------


@right
def one_buffer(x: Any) -> Any:
    def g() -> Any:
        buf = np.zeros(3)
        for k in range(4):
            buf += x[k]
            yield buf

    items = list(g())
    return sum(g()).sum() + 100 * items[0].sum()


@right
def one_buffer_of_many(x: Any) -> Any:
    def g() -> Any:
        y = x * 1.0
        for _ in range(len(x)):
            y *= 1.1
            yield y

    return sum([y[0] for y in list(g())])


@right
def loop_writes_what_comes_next(x: Any) -> Any:
    y = x.copy()

    def g(a: Any) -> Any:
        for k in range(len(a)):
            yield a[k]

    s, k = 0.0, 0
    for v in g(y):
        k += 1
        if k < len(y):
            y[k] = y[k] + v
        s += v * v
    return s


@right
def views(x: Any) -> Any:
    def g(a: Any) -> Any:
        for k in range(3):
            yield a[k:k + 2]

    y = x.copy()
    for w in g(y):
        w *= 2.0
    return (y * y).sum()


@right
def arguments_written_before(x: Any) -> Any:
    y = x * 1.0
    it = positive(y)
    z = y
    for k in range(3):
        z[k] = z[k] + 1.0
    return sum(it)


@right
def arguments_bound_anew(x: Any) -> Any:
    y = x * 1.0
    it = positive(y)
    y = y + 100
    return sum(it) + y[0]


@right
def arguments_change_places(x: Any) -> Any:
    y, z = x * 1.0, x * 2.0
    it = positive(y)
    for _ in range(3):
        y[0] += 1.0
        y, z = z, y
    return sum(it) + y[0]


@right
def arrays_change_places(x: Any) -> Any:
    def g() -> Any:
        a, b = x * 1.0, x * 2.0
        for _ in range(5):
            yield a
            a, b = b, a + b

    s, first = 0.0, None
    for v in g():
        if first is None:
            first = v
        s = s + v.sum()
    return s + first[0]


@right
def loop_keeps_arrays(x: Any) -> Any:
    def g() -> Any:
        y = x * 2.0
        for _ in range(3):
            yield y
            y = y + 1.0

    keep, s = x, 0.0
    for y in g():
        s += keep[0]
        keep = y
        keep[1] += 2.0
    return s + keep.sum() * 10


@right
def a_list_is_given_out(x: Any) -> Any:
    def windows(a: Any, n: int) -> Any:
        buf: list[Any] = []
        for v in a:
            buf.append(v)
            if len(buf) == n:
                yield buf
                buf = buf[1:]

    s = 0.0
    for w in windows(x, 3):
        s += w[0] * w[2]
    return s


@right
def a_list_is_shared(x: Any) -> Any:
    work = [x[0], x[1]]

    def g() -> Any:
        while work:
            yield work.pop()

    s, n = 0.0, 0
    for v in g():
        s += v * (n + 1)
        n += 1
        if n == 1:
            work.append(x[2])
    return s


@right
def a_list_gets_longer_in_both(x: Any) -> Any:
    kept = [0.5, 1.5]
    s = 0.0

    def g() -> Any:
        for k in range(20):
            yield 2 * k

    for _ in g():
        kept[0] = s
        s += x[0]
        kept.append(s)
    return s + 0.1 * sum(kept)


@right
def objects(x: Any) -> Any:
    class State:
        pass

    o = State()
    o.v, o.history = x[0] * 1.0 + 2.0, []

    def g(o: Any) -> Any:
        while o.v < 9:
            o.v = o.v * 1.5 + 0.1
            o.history.append(o.v)
            yield o

    s = 0.0
    for p in g(o):
        s += p.v
        p.v += 0.05
    return s + sum(o.history)


@right
def simulation(x: Any) -> Any:
    class Simulation:
        def __init__(self) -> None:
            self.y, self.n = x * 1.0, 0

        def run(self, n: int) -> Any:
            for _ in range(n):
                self.y = self.y + 0.1 * np.sin(self.y)
                self.n += 1
                yield self.y

    simulation = Simulation()
    s = 0.0
    for y in simulation.run(20):
        s += y.sum()
        if s > 8:
            break
    return s + simulation.y[0] * simulation.n


# --- how far generators come ----------------------------------------------------------------------


@right
def taken_twice(x: Any) -> Any:
    it = positive(x)
    return sum(it) + 100 * sum(it)


@right
def left_and_taken_up(x: Any) -> Any:
    def g() -> Any:
        for k in range(5):
            yield k, x[k]

    it = g()
    s = 0.0
    for k, v in it:
        s += v
        if k == 2:
            break
    for k, v in it:
        s += 100 * v * k
    return s


@right
def some_by_next(x: Any) -> Any:
    def g() -> Any:
        yield x[0]
        yield x[1]
        yield x[2]
        yield x[3]

    it = g()
    s = 0.0
    for k in range(3):
        s += (k + 1) * next(it)
    for v in it:
        s += 1000 * v
    return s + next(it, 7.0)


@right
def next_until_none(x: Any) -> Any:
    def g() -> Any:
        yield x[0]
        yield x[1]

    it = g()
    s = 0.0
    while True:
        v = next(it, None)
        if v is None:
            break
        s += v
    return s


@right
def first_by_data(x: Any) -> Any:
    return next(positive(x), 5.0) + next((v for v in positive(x) if v > 1.0), 3.0)


@right
def in_one_branch(x: Any) -> Any:
    it, s = positive(x), 0.0
    if x[0] > 0.2:
        s = sum(it)
    return s + x[1]


@right
def in_both_branches(x: Any) -> Any:
    it = positive(x)
    if x[0] > 0.2:
        s = sum(it)
    else:
        s = max(it, default=1.0)
    for v in it:
        s += 1000 * v
    return s + 100 * sum(it)


@right
def in_a_loop_once(x: Any) -> Any:
    it, s = positive(x), 0.0
    for k in range(3):
        for v in it:
            s += v * (k + 1)
    return s


@right
def made_in_a_loop(x: Any) -> Any:
    s = 0.0
    for k in range(len(x)):
        for v in positive(x * k):
            s += v
            if s > 8:
                break
        s = s + sum(positive(x)) * 0.1
    return s


@right
def one_of_two(x: Any) -> Any:
    a, b = positive(x), positive(x * 3.0)
    it = a if x[0] > 0.5 else b
    return sum(it)


@right
def one_of_two_functions(x: Any) -> Any:
    def g(n: int) -> Any:
        for k in range(n):
            yield x[k]

    def h(n: int) -> Any:
        for k in range(n):
            yield x[k] * x[k]

    chosen = g if x[0] > 0.5 else h
    return sum(chosen(3))


@right
def kept_in_a_list(x: Any) -> Any:
    def g(n: int) -> Any:
        for k in range(n):
            yield x[k]

    s = 0.0
    for n, it in enumerate([g(k) for k in range(1, 4)]):
        for v in it:
            s += v * (n + 1)
    return s


@right
def kept_in_an_object(x: Any) -> Any:
    class Holder:
        pass

    o = Holder()
    o.it = positive(x)
    return sum(o.it) + 10 * sum(o.it)


# --- forms of generator functions -----------------------------------------------------------------


@right
def values_of_yield_from(x: Any) -> Any:
    def sub() -> Any:
        t = 0.0
        for v in x:
            t = t + v
            yield v
        return t

    def g() -> Any:
        t = yield from sub()
        yield t * 100
        u = yield x[0]
        yield 1.0 if u is None else 2.0

    s = 0.0
    for v in g():
        s += v
        if s > 1000.0:
            break
    return s + sum(g())


@right
def tree(x: Any) -> Any:
    class Node:
        def __init__(self, v: Any, left: Any = None, right: Any = None) -> None:
            self.v, self.left, self.right = v, left, right

        def __iter__(self) -> Any:
            if self.left is not None:
                yield from self.left
            yield self.v
            if self.right is not None:
                yield from self.right

    t = Node(x[0], Node(x[1]), Node(x[2], Node(x[3])))
    s = 0.0
    for k, v in enumerate(t):
        s += k * v
    return s + sum(t) + max(t) + len(list(t))


@right
def arguments(x: Any) -> Any:
    def g(a: Any, n: int = 3, *more: Any, scale: Any = 2.0, **others: Any) -> Any:
        for k in range(n):
            yield a[k] * scale * others.get("by", 1.0)
        yield from more

    return sum(g(x)) + sum(g(x, 2, x[3], scale=3.0, by=x[4])) + sum(g(a=x, n=1))


@right
def a_lambda(x: Any) -> Any:
    def called(g: Any) -> Any:
        return g()

    return sum(called(lambda: (yield x[0])))


@right
def nothing_to_give(x: Any) -> Any:
    def none() -> Any:
        return
        yield

    s = x[0]
    for v in none():
        s = s * v
    return s + len(list(none()))


@right
def sieve(x: Any) -> Any:
    def count(n: int) -> Any:
        while True:
            yield n
            n += 1

    def primes(it: Any) -> Any:
        p = next(it)
        yield p
        yield from primes(v for v in it if v % p)

    return x[0] * sum(itertools.islice(primes(count(2)), 6))


@right
def private_names(x: Any) -> Any:
    class Base:
        def items(self) -> Any:
            yield 0.5

    class Holder(Base):
        def __init__(self) -> None:
            self.__items = x * 2.0

        def __iter__(self) -> Any:
            for v in self.__items:
                yield v * 2.0

        def items(self) -> Any:
            yield from super().items()
            yield x[0]

    s = 0.0
    for k in range(2):
        for v in Holder():
            s += v * k
    return s + sum(Holder().items())


@right
def made_by_turns(x: Any) -> Any:
    made = []
    for k in range(3):
        def g(n: Any = k, *, by: Any = 1.0 + k) -> Any:
            for i in range(n + 1):
                yield x[i] * by
        made.append(g)
    s = 0.0
    for k, g in enumerate(made):
        for v in g():
            s += v * (k + 1)
    return s


@right
def matched(x: Any) -> Any:
    def g(kind: str) -> Any:
        for k in range(3):
            match kind:
                case "a":
                    yield x[k]
                case _:
                    yield x[k] * 2

    return sum(g("a")) + sum(g("b"))


@right
def tests_that_bind(x: Any) -> Any:
    def g() -> Any:
        k = 0
        while (v := x[k]) != x[3]:
            yield v
            k += 1

    return sum(g())


@right
def newton(x: Any) -> Any:
    def iterates(t: Any) -> Any:
        while True:
            yield t
            t = t - (t * t - abs(x[0])) / (2 * t)

    previous = None
    for t in iterates(1.0):
        if previous is not None and abs(t - previous) < 1e-12:
            return t
        previous = t


@right
def series(x: Any) -> Any:
    def terms() -> Any:
        term, k = 1.0, 0
        while True:
            yield term
            k += 1
            term = term * x[0] / k

    return sum(itertools.takewhile(lambda t: abs(t) > 1e-12, terms()))


# --- what takes items -----------------------------------------------------------------------------


@right
def pairs(x: Any) -> Any:
    def neighbours(a: Any) -> Any:
        it = iter(a)
        p = next(it)
        for q in it:
            yield p, q
            p = q

    return sum(a * b for a, b in neighbours(x))


@right
def targets(x: Any) -> Any:
    def g() -> Any:
        for k in range(4):
            yield k, (x[k], x[k + 1])

    s = 0.0
    for k, (a, b) in g():
        s += k * a * b
    for k, (a, *more) in g():
        s += k * a * more[0]
    return s


@right
def unpacked(x: Any) -> Any:
    def g(n: int) -> Any:
        for k in range(n):
            yield x[k]

    def f(*a: Any) -> Any:
        return sum(a)

    a, b = g(2)
    first, *others = g(4)
    return a + 3 * b + first * others[1] + f(*g(3)) + sum([*g(2), *g(3)])


@right
def keys(x: Any) -> Any:
    def g() -> Any:
        for k in range(3):
            yield k, x[k]

    d = dict(g())
    e = {k: v for k, v in g()}
    return d[0] + 2 * d[2] + e[1]


@right
def two_generators(x: Any) -> Any:
    def g(n: int) -> Any:
        for k in range(n):
            yield x[k]

    s = sum([a * b for a in g(3) for b in g(2)])
    for a, b in zip(g(3), g(2), strict=False):
        s += a * b
    return s


@right
def zipped_with_an_endless_one(x: Any) -> Any:
    s = 0.0
    for v, k in zip(x, counting(), strict=False):
        s += v * k
    for k, v, w in zip(counting(), x, range(len(x) - 1), strict=False):
        s += v * k * w
    for k, (v, w) in enumerate(zip(positive(x), x, strict=False)):
        s += k * v * w
    return s


@right
def extremes_by_a_key(x: Any) -> Any:
    return max(positive(x), key=lambda v: -v) + 2 * min(x[0:1], key=lambda v: v)


@right
def trajectory(x: Any) -> Any:
    def g() -> Any:
        y, t = x * 1.0, 0.0
        while t < 1.0 + 0.1 * abs(x[0]):
            yield t, y
            y = y + 0.3 * np.sin(y)
            t += 0.3

    ts, ys = [], []
    for t, y in g():
        ts.append(t)
        ys.append(y)
    return np.array(ts).sum() + np.array(ys).sum()


@right
def asked_what_it_is(x: Any) -> Any:
    it = positive(x)
    return x[0] if isinstance(it, types.GeneratorType) and it and iter(it) is it else x[1]


@right
def reduced(x: Any) -> Any:
    return functools.reduce(lambda a, b: a * b + 1, positive(x), 1.0)


class Holder:
    def __init__(self, x: Any) -> None:
        self.x = x

    @property
    def items(self) -> Any:
        for v in self.x:
            if v > 0:
                yield v * 2

    @classmethod
    def of_class(cls, x: Any) -> Any:
        yield from positive(x * 3)

    @staticmethod
    def of_none(x: Any) -> Any:
        yield from positive(x * 4)

    def __call__(self, n: int) -> Any:
        for k in range(n):
            yield self.x[k]


@right
def methods_of_all_kinds(x: Any) -> Any:
    holder = Holder(x)
    s = sum(holder.items) + sum(holder.of_class(x)) + sum(Holder.of_none(x)) + sum(holder(3))
    for v in functools.partial(positive, x)():
        s += v * v
    return s


@right
def functions_are_given_out(x: Any) -> Any:
    def g() -> Any:
        for k in range(3):
            def f(t: Any, k: int = k) -> Any:
                return t * x[k]
            yield f

    s = 1.0
    for f in g():
        s = f(s) + 1
    return s


@right
def decorated(x: Any) -> Any:
    def doubled(fn: Any) -> Any:
        @functools.wraps(fn)
        def twice(*args: Any) -> Any:
            for v in fn(*args):
                yield 2 * v

        return twice

    @doubled
    @doubled
    def g(n: int) -> Any:
        for k in range(n):
            yield x[k]

    return sum(g(3))


@right
def pairs_of_particles(x: Any) -> Any:
    def pairs(n: int) -> Any:
        for i in range(n):
            for j in range(i):
                yield i, j

    s = sum(np.exp(-(x[i] - x[j]) ** 2) for i, j in pairs(len(x)))
    for i, j in pairs(len(x)):
        s += (x[i] - x[j]) ** 2
    return s + max(x[i] * x[j] for i, j in pairs(len(x)))


@right
def neighbours(x: Any) -> Any:
    def around(i: int, n: int) -> Any:
        for d in (-2, -1, 1, 2):
            if 0 <= i + d < n:
                yield i + d

    s = 0.0
    for i in range(len(x)):
        for j in around(i, len(x)):
            s += x[i] * x[j] ** 2
    return s


@right
def batches(x: Any) -> Any:
    def parts(a: Any, n: int) -> Any:
        for k in range(0, len(a), n):
            yield a[k:k + n]

    w = x[0]
    for _ in range(3):
        for b in parts(x, 2):
            w = w - 0.1 * (w - b).mean()
    return w


@right
def descent(x: Any) -> Any:
    def steps(f: Any, t: Any) -> Any:
        slope = tracejit.grad(f)
        while True:
            yield t
            t = t - 0.1 * slope(t)

    old = None
    for t in steps(lambda t: (t - x[0]) ** 2 + t ** 4, 0.5):
        if old is not None and abs(t - old) < 1e-12:
            break
        old = t
    return t


@right
def sums_of_arrays(x: Any) -> Any:
    def g() -> Any:
        y = x * 1.0
        for _ in range(3):
            yield y
            y = y * 1.1

    return (sum(g()) * np.stack(list(g())).sum(axis=0)).sum() + np.concatenate([*g()])[6]


@right
def of_itertools(x: Any) -> Any:
    s = sum(v * w for v, w in zip(itertools.accumulate(positive(x)), x, strict=False))
    s += sum(itertools.accumulate(positive(x), lambda a, b: a * b + 1, initial=2.0))
    return s + sum(a * b for a, b in itertools.pairwise(positive(x)))


@right
def into_arrays(x: Any) -> Any:
    return np.fromiter(positive(x), float).sum() + np.array([v * v for v in positive(x)]).sum()


# --- what Python raises ---------------------------------------------------------------------------


@raising
def stops_within(x: Any) -> Any:
    def g() -> Any:
        yield x[0]
        raise StopIteration

    return sum(g())


@raising
def stops_in_a_call(x: Any) -> Any:
    def g() -> Any:
        yield x[0]
        yield next(iter(()))

    return sum(g())


@raising
def stops_in_the_loop(x: Any) -> Any:
    def g() -> Any:
        yield x[0]

    for _ in g():
        next(iter(()))
    return x[0]


@raising
def stops_with_nothing(x: Any) -> Any:
    def g() -> Any:
        yield x[0]

    it = g()
    return next(it) + next(it)


@raising
def wrong_arguments(x: Any) -> Any:
    positive()
    return x[0]


@raising
def fails_within(x: Any) -> Any:
    def g() -> Any:
        yield x[0]
        yield [x[1]][1]

    s = 0.0
    for v in g():
        s += v
    return s


@raising
def too_many(x: Any) -> Any:
    a, b = counting()
    return x[0] * a * b


@raising
def no_length(x: Any) -> Any:
    return x[0] * len(positive(x))


# --- what is refused ------------------------------------------------------------------------------


@refused("reading an iterator in a branch on data")
def taken_up_after_a_branch(x: Any) -> Any:
    it, s = positive(x), 0.0
    if x[0] > 0.2:
        s = sum(it)
    return s + 100 * sum(it)


@refused("reading an iterator in a branch on data")
def taken_up_after_a_break(x: Any) -> Any:
    def g() -> Any:
        for k in range(5):
            yield x[k]

    it, s = g(), 0.0
    for v in it:
        s += v
        if s < 0:
            break
    for v in it:
        s += 100 * v
    return s


@refused("reading an iterator in a branch on data")
def next_in_a_branch(x: Any) -> Any:
    it, s = positive(x), 0.0
    if x[0] > 0.2:
        s = next(it)
    return s + next(it)


@refused("reading an iterator in a branch on data")
def the_other_of_two(x: Any) -> Any:
    a, b = positive(x), positive(x * 3.0)
    it = a if x[0] > 0.5 else b
    s = sum(it)
    return s + 100 * sum(a)


@refused("reading an iterator in a branch on data")
def in_branches_of_a_loop(x: Any) -> Any:
    it, s = positive(x), 0.0
    for k in range(len(x)):
        if x[k] > 0:
            s += sum(it) * (k + 1)
    return s


@refused("a condition on data around a `yield`, in a generator whose items are taken one after")
def by_turns(x: Any) -> Any:
    it = positive(x)
    return next(it) * next(it)


@refused("a condition on data around a `yield`")
def two_by_data(x: Any) -> Any:
    s = 0.0
    for a, b in zip(positive(x), positive(2.0 * x), strict=False):
        s += a * b
    return s


@refused("a `yield` in a `try` cannot be captured")
def tried(x: Any) -> Any:
    def g() -> Any:
        for v in x:
            try:
                yield v
            except ValueError:
                yield 0.0

    return sum(g())


@refused("a `yield` in a `with` cannot be captured")
def with_a_manager(x: Any) -> Any:
    def g() -> Any:
        with np.errstate(all="raise"):
            yield x[0]

    return sum(g())


@refused("a `yield` that may not be reached in its expression cannot be captured")
def within_an_expression(x: Any) -> Any:
    def g() -> Any:
        print(len(x) > 3 and (yield x[0]))

    return sum(g())


@refused("inspect.isgenerator of a generator cannot be captured")
def asked_by_a_library(x: Any) -> Any:
    return x[0] * 2 if inspect.isgenerator(positive(x)) else x[1]


@refused("a generator that is returned cannot be captured")
def returned(x: Any) -> Any:
    return positive(x)


@refused("a generator that is returned cannot be captured")
def returned_in_a_list(x: Any) -> Any:
    return [x[0], positive(x)]


@refused("a recursion of generators that ends on data, or never, cannot be captured")
def recursion_on_data(x: Any) -> Any:
    def halves(v: Any) -> Any:
        if v > 0.1:
            yield v
            yield from halves(v / 2)

    return sum(halves(x[0]))
