"""Random programs about choices by data: things, keys, draws, sizes, lists, views, other code.

A program is `def f(x, p, rng)`: a number, an array of at least three numbers, a generator of
random numbers. It uses one to four of the mechanisms, mixed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

__all__ = ["HEADER", "MECHANISMS", "mechanisms_of", "mixed_program"]

MECHANISMS = ("choices", "keyed", "draws", "sizes", "lists", "views", "outer")

CONSTANTS = ("0.7", "0.31", "1.1", "-0.43", "0.53", "-1.3", "2.1")
BOUNDED = ("np.sin({})", "np.tanh({})", "np.cos({})", "np.arctan({})", "np.exp(-abs({}))",
           "1.0 / (1.0 + {0} * {0})")

HEADER = '''import heapq
from collections import Counter, defaultdict, deque
from contextlib import contextmanager

import numpy as np

K = 0.8


class Spring:
    def __init__(self, k):
        self.k, self.seen = k, 0

    def force(self, u):
        self.seen += 1
        return self.k * np.sin(u) + 0.1 * self.seen


class Brake:
    def __init__(self, k, limit):
        self.k, self.limit = k, limit

    def force(self, u):
        if u > self.limit:
            return self.limit * 0.5
        return self.k * u * u


class Ranked:
    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        return self.v * K < other.v * K

    def __bool__(self):
        return bool(self.v > K * 0.3)

    def __eq__(self, other):
        return abs(self.v - other) < K

    __hash__ = None

    def __len__(self):
        return 2 if K > 0.5 else 3

    def __contains__(self, u):
        return u < self.v * K


@contextmanager
def scaled(v):
    yield v * K


class Shift:
    def __init__(self, v):
        self.v = v

    def __enter__(self):
        self.v = self.v + K
        return self

    def __exit__(self, *error):
        self.v = self.v * 0.5
        return False


def bend(z, c=0.4):
    return np.tanh(z * c) - 0.2


def drawn(rng, v):
    if v > 0.2:
        return rng.normal(v, 0.5)
    return rng.uniform(-1.0, 1.0) * v


def shift_row(r, c):
    r += 0.3 * c
    r[0] = np.sin(r[-1])

'''

THINGS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "none": (("None",), ("{h} is None", "{h} is None", "{h} == None"), ("x * 0.3", "0.25")),
    "number": (("{n}", "{n}"), ("isinstance({h}, float)",), ("{h}", "np.sin({h})", "{h} * {h}")),
    "pair": (("({n}, {n})",), ("isinstance({h}, tuple)",),
             ("{h}[0] * {h}[1]", "{h}[-1]", "sum({h})", "max({h})")),
    "marked": (("({n}, {i})",), ("isinstance({h}, tuple)",),
               ("{h}[0] * (1.0 + {h}[1])", "p[{h}[1] % len(p)]", "{h}[0]")),
    "function": (("np.sin", "np.cos", "bend", "(lambda z: z * {n})"), ("callable({h})",),
                 ("{h}({n})", "{h}({n}) * 0.5")),
    "text": (("'a'", "'b'", "'ab'"), ("isinstance({h}, str)",),
             ("(0.4 if {h} == 'a' else x)", "(x if 'a' in {h} else 0.2)", "len({h}) * 0.3")),
    "array": (("p * {n}", "p[1:] * {n}", "np.sin(p)"), ("isinstance({h}, np.ndarray)",),
              ("{h}.sum()", "{h}[0]", "np.mean({h} * {h})")),
    "object": (("Spring({n})", "soft", "hard", "Brake({n}, 0.4)"),
               ("isinstance({h}, (Spring, Brake))", "hasattr({h}, 'force')"),
               ("{h}.force({n})", "{h}.k")),
    "list": (("[{n}, {n}]",), ("isinstance({h}, list)",), ("{h}[0]", "sum({h})", "{h}[-1]")),
    "truth": (("{c}", "True", "False"), ("isinstance({h}, (bool, np.bool_))",),
              ("(x if {h} else 0.4)", "(1.0 - {h})")),
    "int": (("{i}", "2"), ("isinstance({h}, (int, np.integer))",),
            ("p[{h} % len(p)]", "{h} * 0.2", "x ** {h}")),
}
"""Of each kind of thing: what makes one, what asks for it, what uses it."""

DICTS = (
    "{d}[{i}] = {n}", "{d}[{i}] = {d}.get({i}, 0.5) + {n}", "t += {d}.get({i}, 0.25)",
    "if {i} in {d}:\n    t += {d}[{i}]", "t += {d}.pop({i}, 0.125)",
    "t += {d}.setdefault({i}, {n})", "if {i} not in {d}:\n    {d}[{i}] = {n}",
    "if {i} in {d}:\n    del {d}[{i}]", "for a, y in {d}.items():\n    t += 0.1 * a * y",
    "for y in {d}.values():\n    t = t * 0.5 + y", "t += sum({d}.values()) / (1 + len({d}))",
    "for a in {d}:\n    {d}[a] = {d}[a] * 0.5 + 0.1 * a",
    "if {d}:\n    t += max({d}.values()) + min({d})", "{d}.clear()",
    "if len({d}) > 2:\n    t += {d}.popitem()[1]", "t += 0.1 * len(list({d}))",
    "for a in list({d}):\n    if {d}[a] > {n}:\n        del {d}[a]",
    "for a in sorted({d}):\n    t = t * 0.5 + {d}[a]", "{d}.update({{1: {n}}})",
    "{e} = {d}.copy()\n{d}[{i}] = {n}\nt += sum({e}.values())",
    "{e} = {d}\n{e}[{i}] = {n}\nt += len({d})", "t += {d}[{i}]",
    "if {d}.get({i}) is None:\n    t += {n}", "{d}[{i}] += {n}",
    "t += sum(y for y in {d}.values() if y > {n})",
    "t += sum([a * y for a, y in {d}.items()])",
    "t += max({d}, key={d}.get, default=0)", "t += min({d}.values(), default=0.3)",
    "{d} = {{a: y * 0.5 for a, y in {d}.items()}}",
)
DEFAULTS = ("{d}[{i}] += {n}", "t += {d}[{i}]", "t += {d}[{i}] * {n}", *DICTS[:16])
COUNTERS = ("{d}[{i}] += 1", "t += {d}[{i}] * {n}", "for a in sorted({d}):\n    t += a * {d}[a]",
            "t += 0.1 * sum({d}.values())", "{d}.update([{i}, {i}])", "{d}[{i}] -= 1",
            "t += 0.1 * len({d})", "if {i} in {d}:\n    t += {n}", "t += {d}.get({i}, 2)",
            "for a, y in {d}.items():\n    t += a * y * 0.1", "t += {d}.pop({i}, 1)")
SETS = ("{d}.add({i})", "{d}.add({i})", "{d}.discard({i})", "t += 0.5 if {i} in {d} else 0.25",
        "if {i} in {d}:\n    {d}.remove({i})", "t += len({d}) + sum({d})",
        "if {d}:\n    t += max({d}) - min({d})", "for a in sorted({d}):\n    t = t * 0.5 + a",
        "{d}.update([{i}, 1])", "{e} = {d}.copy()\n{e}.add({i})\nt += len({d})", "{d}.clear()",
        "{d}.remove({i})", "if not {d}:\n    t += {n}", "{e} = {d}\n{e}.add({i})\nt += len({d})",
        "t += len({d} | {{1}})", "{d} |= {{{i}}}", "t += len({d} & {{0, 1}})")
QUEUES = ("{d}.append({n})", "{d}.append({n})", "{d}.appendleft({n})",
          "if {d}:\n    t += {d}.pop()", "if {d}:\n    t += 2 * {d}.popleft()",
          "t += sum({d}) / (1 + len({d}))",
         "if len({d}) > 1:\n    t += {d}[0] * 2 + {d}[-1] - {d}[1]",
          "if {d}:\n    {d}[-1] = {d}[0] * 0.5", "for y in {d}:\n    t = t * 0.5 + y",
          "{d}.extend([{n}, 0.5])", "{d}.clear()", "t += max({d}) if {d} else 0.5",
          "while len({d}) > 2:\n    t += {d}.popleft()", "t += {d}.popleft()", "{d}.rotate(1)",
          "{e} = {d}.copy()\n{d}.append({n})\nt += sum({e})", "t += sum(list({d})[1:])",
          "{d}.reverse()", "{e} = {d}\n{e}.append({n})\nt += len({d})", "t += {d}[len({d}) // 2]")
HEAPS = ("heapq.heappush({d}, ({n}, {i}))", "heapq.heappush({d}, ({n}, {i}))",
         "if {d}:\n    t += heapq.heappop({d})[0]",
         "if {d}:\n    v, a = heapq.heappop({d})\n    t += v * a",
         "while {d} and {d}[0][0] < {n}:\n    t += heapq.heappop({d})[1] * 0.2",
         "if len({d}) > 1:\n    t += {d}[0][0] - {d}[0][1]", "t += 0.1 * len({d})",
         "if {d}:\n    t += heapq.heapreplace({d}, ({n}, {i}))[0]",
         "t += heapq.heappushpop({d}, ({n}, {i}))[0]")
PAIRED = ("{d}[{i}, {i}] = {n}", "t += {d}.get(({i}, 1), 0.5)", "if (1, {i}) in {d}:\n    t += 0.5",
          "for (a, b), y in {d}.items():\n    t += (a - b) * y * 0.1",
          "{d}[0, {i}] = {d}.get((0, {i}), x) * 0.5 + {n}", "t += sum({d}.values())")
TUPLES = ("{d}.append(({n}, {i}))", "{d}.append(({n}, {i}))",
          "if {d}:\n    v, a = {d}.popleft()\n    t += v * a",
         "for v, a in {d}:\n    t += v * 0.1 + a",
          "while {d}:\n    v, a = {d}.popleft()\n    t += v"
          "\n    if a > 1:\n        {d}.append((v * 0.5, a - 1))",
          "if {d}:\n    t += {d}[-1][0]", "t += 0.1 * len({d})")
KEPT: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "dict": (("{{}}", "{{0: x}}", "{{2: 0.5}}", "dict()", "{{1: 0.0, 0: x}}"), DICTS),
    "defaultdict": (("defaultdict(float)", "defaultdict(lambda: 0.25)"), DEFAULTS),
    "Counter": (("Counter()",), COUNTERS),
    "set": (("set()", "{{1}}", "set([0, 2])"), SETS),
    "deque": (("deque()", "deque([x])", "deque([], 3)"), QUEUES),
    "window": (("deque(maxlen=2)", "deque(maxlen=3)", "deque([x, 0.5], maxlen=2)"), QUEUES),
    "heap": (("[]", "[(x, 1)]"), HEAPS),
    "pairs": (("{{}}", "{{(0, 1): x}}"), PAIRED),
    "tuples": (("deque()", "deque([(x, 3)])", "deque([(0.0, 1)])"), TUPLES),
}
"""Of each kind of container: how one is made, and statements about it."""

DRAWN = ("{g}.normal()", "{g}.normal({n}, 0.5)", "{g}.normal(0.3, abs({n}) + 0.1)", "{g}.random()",
         "{g}.uniform({n}, 2.0)", "{g}.uniform(-1.0, 1.0)", "{g}.exponential(abs({n}) + 0.1)",
         "{g}.standard_normal() * {n}", "{g}.choice(p)", "{g}.integers(5) * {n}",
         "{g}.standard_exponential()", "{g}.gamma(1.5, abs({n}) + 0.2)", "{g}.poisson(3.0) * 0.1",
         "{g}.normal(size=3).sum()", "{g}.random(len(p)) @ p", "drawn({g}, {n})",
         "np.sum({g}.normal(p, 0.2))", "{g}.choice(3) * {n}", "{g}.permutation(p)[0]",
         "np.mean({g}.uniform(0.0, p))", "sum([{g}.random() for _ in range(3)])",
         "{g}.choice([0.3, {n}, x])", "{g}.choice(p, 2, replace=False).sum()",
         "sum({g}.normal() for v in p if v > 0.1)", "{g}.permutation(len(p))[0] * {n}",
         "{g}.choice(len(p), p=np.exp(p) / np.sum(np.exp(p)))",
         "({n} if {g}.random() < 0.5 else {n})")
DRAWS = ("{g}.shuffle({u})", "u = {g}.permutation(p)\nt += u[0] * u[-1]",
         "while {g}.random() < 0.6:\n    t += {n}",
         "for v in {g}.normal(size=len(p)):\n    t += v * {n}",
         "if {g}.random() < 0.5:\n    t += {g}.normal({n}, 1.0)",
         "for k in {g}.permutation(len(p)):\n    t = t * 0.5 + p[k]",
         "for _ in range({g}.integers(1, 5)):\n    t += {n} * {g}.random()",
         "v = {n} + 0.3 * {g}.normal()\nif {g}.random() < np.exp(t - v):\n    t = v",
         "if {c} and {g}.random() < 0.5:\n    t += {n}",
         "if {c} or {g}.random() < 0.5:\n    t += {n}",
         "u = {g}.integers(0, len(p), 4)\nt += np.sum(p[u])",
         "u = {g}.choice(p, len(p))\nt += u @ p",
         "g = {g}\nt += g.random() - {g}.random()",
         "a, b = {g}.normal(), {g}.uniform({n}, 2.0)\nt += a * b",
         "u = p[{g}.random(len(p)) < 0.5]\nt += np.sum(u * u)",
         "k = {g}.integers(len(p))\nt += p[k] * {n}", "t += {n} if {g}.random() < x else {n}",
         "assert {g}.random() < 2.0")

SIZED = ("p[p > {n}]", "p[np.abs(p) < 0.8] * {n}", "np.sort(p[p < {n}])", "np.zeros({i}) + {n}",
         "np.arange({i}) * {n}", "p[:{i}]", "p[np.where(p > {n})[0]]", "p[np.nonzero(p < {n})]",
         "np.cumsum(p[p > {n}])", "np.concatenate([p[p > {n}], p])", "np.sin(p)[p * x > {n}]",
         "np.extract(p > {n}, p)", "np.linspace(0.0, x, 1 + {i})", "p[np.flatnonzero(p > {n})]",
         "np.repeat(x, {i})", "np.compress(p > {n}, p)", "np.delete(p, {i} % 3)", "p[{i}:] * 0.7",
         "np.array([v for v in p if v > {n}])")
ABOUT_SIZED = (
    "t += np.sum({m})", "t += len({m}) * {n}", "t += {m}.size * 0.1",
    "if len({m}) > 0:\n    t += {m}[0] * {m}[-1]", "for v in {m}:\n    t = t * 0.5 + np.sin(v)",
    "if {m}.size:\n    t += {m}.max() - np.mean({m})", "t += np.sum({m}[{m} > {n}])",
    "t += np.sum({m} * {m})", "t += {m} @ {m}", "t += np.sum({m}[::-1] * {m})",
    "for k in range(len({m})):\n    t += {m}[k] * (k + 1) * 0.1", "t += sum({m})",
    "if {m}.any():\n    t += {n}", "t += np.sum({m}[1:] - {m}[:-1])", "{m} = {m}[{m} < {n}]",
    "{m} = {m} * 0.5 + x", "{m} = np.append({m}, {n})", "{m}[{m} > {n}] = 0.3",
    "if len({m}) > 1:\n    {m}[0] = {m}[-1] * 0.5", "{m} = {m}.copy()", "{m} *= 0.7",
    "while len({m}) > 1:\n    t += {m}[0]\n    {m} = {m}[1:]", "t += {m}[0]", "t += np.prod({m})",
    "t += np.sum(np.cumsum({m}))", "t += np.sum(np.diff({m}))", "t += np.sum(np.outer({m}, p))",
)

FILLED = (
    "{l}.append({n})", "{l}.append({n})", "{l}.append({n})", "if {l}:\n    t += {l}.pop()",
    "if {l}:\n    t += {l}[-1] * 0.5", "t += sum({l})", "for v in {l}:\n    t = t * 0.5 + v",
    "t += 0.1 * len({l})", "t += np.sum(np.array({l}))", "{l}.insert(0, {n})",
    "if len({l}) > 1:\n    del {l}[0]", "{l}.sort()", "{l} = [v for v in {l} if v > {n}]",
    "if {l}:\n    {l}[{i} % len({l})] = {n}", "{l} += [{n}]", "{l}.extend([{n}, x])",
    "{o} = {l}\n{o}.append({n})\nt += len({l})", "{o} = {l}[:]\n{o}.append({n})\nt += sum({l})",
    "{l} = []", "{l}.reverse()", "t += max({l}, default=0.3)",
    "if len({l}) > 2:\n    t += sum({l}[1:-1])",
    "for k, v in enumerate({l}):\n    t += k * v * 0.1", "while len({l}) > 3:\n    t += {l}.pop(0)",
    "t += sum(sorted({l})[:2])", "{l} = {l} + [{n}]", "t += {l}[0]", "{l}.clear()",
)

VIEWED = (
    "{r} = {A}[{k}]", "{r} = {A}[{k} - 1]", "{r} = {A}[:, 1]", "{r} = {r} * 0.8",
    "{r} += 0.1 * {n}",
    "{A}[{k}] = np.sin({r})", "{A}[{k}] *= 0.9", "{r}[0] = {n}", "{r}, {s} = {s}, {r}", "{s} = {r}",
    "t += np.sum({r})", "t += {r}[0] * {s}[1]", "{s} = {r}[::-1]", "shift_row({r}, {n})",
    "if {c}:\n    {r} = {A}[{k}]", "{A}[{k}, 1] = t * 0.3", "{A}, {B} = {B}, {A}", "{r} = {B}[{k}]",
    "{r} = {A}[{k}] if {c} else {B}[{k}]", "{r} = {A}[{i} % len({A})]", "{s}[:2] -= 0.2 * {r}[1:]",
    "{A} = {A} * 0.9", "{B} = {A}", "{r} = {A}[int(np.argmax({A}[:, 0]))]",
)

OUTER = (
    "with scaled({n}) as v:\n    t += v", "with Shift({n}) as o:\n    t += o.v * 0.5",
    "o = Shift({n})\nwith o:\n    t += o.v\nt += o.v",
    "o = sorted([Ranked({n}), Ranked(x), Ranked({n})])\nt += o[0].v",
    "t += 0.4 if Ranked({n}) else x", "t += len(Ranked(x)) * {n}",
    "if {n} in Ranked({n}):\n    t += x", "if Ranked({n}) == {n}:\n    t += {n}",
    "t += max(Ranked({n}), Ranked({n})).v", "if not Ranked({n}):\n    t += {n}",
    "t += min([Ranked(v) for v in p]).v", "t += K * {n}",
)


@dataclass
class Known:
    """The names that a statement may use, by their kinds."""

    numbers: list[str] = field(default_factory=lambda: ["x", "t"])
    ints: list[str] = field(default_factory=list)
    things: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """With the kinds that each may be here."""
    kept: dict[str, str] = field(default_factory=dict)
    sized: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    generators: list[str] = field(default_factory=list)
    index: str = "1"
    """Of a row."""
    loops: tuple[str, ...] = ()

    def copy(self) -> Known:
        """Return a copy that can grow on its own."""
        return Known(list(self.numbers), list(self.ints), dict(self.things), dict(self.kept),
                     list(self.sized), list(self.lists), list(self.generators), self.index,
                     self.loops)


class Writer:
    """Writes one program."""

    def __init__(self, seed: int, size: int) -> None:
        self.random = random.Random(seed)
        chosen = self.random.sample(MECHANISMS, self.random.choice((1, 1, 2, 2, 3, 4)))
        self.used = frozenset(chosen)
        self.left = size
        self.lines: list[str] = []
        self.depth = 1
        self.count = 0
        self.known = Known()
        self.kinds: dict[str, tuple[str, ...]] = {}

    # --- choosing ---------------------------------------------------------------------------------

    def pick(self, items: Sequence[str]) -> str:
        """Choose one of some texts."""
        return self.random.choice(items)

    def chance(self, percent: int) -> bool:
        """Choose True with a probability."""
        return self.random.random() * 100 < percent

    def fresh(self, stem: str) -> str:
        """Return a new name."""
        self.count += 1
        return f"{stem}{self.count}"

    def emit(self, text: str) -> None:
        """Write lines."""
        self.lines += ["    " * self.depth + line for line in text.split("\n")]

    def filled(self, text: str, depth: int = 1, **names: str) -> str:
        """Return a template with numbers, ints and conditions of its own."""
        done = ""
        while text:
            head, brace, rest = text.partition("{")
            done += head.replace("}}", "}")
            if not brace:
                break
            if rest.startswith("{"):
                done, text = done + "{", rest[1:]
                continue
            name, _, text = rest.partition("}")
            if name in names:
                done += names[name]
            else:
                done += {"n": self.number, "i": self.key, "c": self.condition}[name](depth)
        return done

    # --- expressions ------------------------------------------------------------------------------

    def number(self, depth: int = 1) -> str:
        """Return a number."""
        known = self.known
        leaves = [*known.numbers, *known.numbers, "p[0]", "p[-1]", self.pick(CONSTANTS)]
        leaves += [f"p[{k} % len(p)]" for k in known.ints]
        if depth <= 0 or self.chance(45):
            return self.pick(leaves)
        makers: list[Callable[[], str]] = [
            lambda: self.pick(BOUNDED).format(self.number(depth - 1)),
            lambda: f"({self.number(depth - 1)} {self.pick('+-*')} {self.number(0)})"]
        if known.things:
            makers += [lambda: self.use(self.pick(list(known.things)))] * 3
        if known.generators:
            makers += [self.draw] * 2
        if known.lists:
            makers.append(lambda: self.pick(("sum({0})", "len({0}) * 0.2")).format(
                self.pick(known.lists)))
        if known.sized:
            makers.append(lambda: f"np.sum({self.pick(known.sized)})")
        return self.random.choice(makers)()

    def draw(self) -> str:
        """Return a number that is drawn."""
        return self.filled(self.pick(DRAWN), 0, g=self.pick(self.known.generators))

    def key(self, depth: int = 1) -> str:
        """Return an int of at least zero."""
        options = [f"int(abs({self.number(depth - 1)}) * 3) % 4", self.pick("0123"), "len(p)",
                   f"int({self.number(0)} > 0.2)"]
        options += [*self.known.ints, *self.known.ints]
        options += [f"len({name})" for name, kind in self.known.kept.items()]
        if self.known.generators:
            options.append(f"int({self.pick(self.known.generators)}.integers(4))")
        return self.pick(options)

    def condition(self, depth: int = 1) -> str:
        """Return a truth."""
        plain = lambda: f"{self.number(depth)} {self.pick('<>')} {self.pick(CONSTANTS)}"  # noqa: E731
        makers: list[Callable[[], str]] = [plain, plain,
                                           lambda: f"{self.key(0)} % 2 == {self.pick('01')}"]
        if self.known.things:
            makers += [lambda: self.question(self.pick(list(self.known.things)))] * 3
        if self.known.kept:
            makers.append(lambda: self.pick(list(self.known.kept)))
        if depth > 0:
            makers += [lambda: f"({plain()} {self.pick(('and', 'or'))} "
                               f"{self.condition(depth - 1)})",
                       lambda: f"not {self.condition(depth - 1)}"]
        return self.random.choice(makers)()

    # --- things -----------------------------------------------------------------------------------

    def question(self, h: str) -> str:
        """Return a question about a thing: of which kind it is, mostly."""
        kinds = self.known.things[h]
        if self.chance(10):
            others = [g for g in self.known.things if g != h]
            return f"{h} is {self.pick(others)}" if others else f"{h} is not None"
        if self.chance(10) and set(kinds) <= {"none", "object", "function", "pair", "text",
                                              "number"}:
            return h
        test = THINGS[self.pick(kinds)][1]
        return self.pick(test).format(h=h)

    def use(self, h: str) -> str:
        """Return a number made of a thing: guarded for all that it may be, mostly."""
        kinds = list(self.known.things[h])
        self.random.shuffle(kinds)
        if self.chance(7):
            kinds = kinds[:1]
        saved, self.known.things = self.known.things, {}
        text = self.filled(self.pick(THINGS[kinds[-1]][2]), 0, h=h)
        for kind in reversed(kinds[:-1]):
            test = self.pick(THINGS[kind][1]).format(h=h)
            use = self.filled(self.pick(THINGS[kind][2]), 0, h=h)
            text = f"({use} if {test} else {text})"
        self.known.things = saved
        return text if len(kinds) == 1 else f"({text})".replace("((", "(", 0)

    def thing(self, kind: str) -> str:
        """Return a thing of a kind."""
        return self.filled(self.pick(THINGS[kind][0]), 1)

    def make_thing(self) -> None:
        """h = None"""
        kinds = self.random.sample(list(THINGS), self.random.choice((2, 2, 2, 3)))
        if self.chance(60) and "none" not in kinds:
            kinds[0] = "none"
        if "pair" in kinds and "marked" in kinds:
            kinds.remove("marked")
            kinds.append("text" if "text" not in kinds else "none")
        if len(set(kinds) & {"truth", "int", "number"}) > 1:
            kinds = ["none", "pair"]
        h = self.fresh("h")
        self.kinds[h] = tuple(dict.fromkeys(kinds))
        self.emit(f"{h} = {self.thing(kinds[0])}")
        self.known.things[h] = self.kinds[h]

    def change_thing(self) -> None:
        """h = (t, k), h = g, h, g = g, h"""
        h = self.pick(list(self.known.things))
        others = [g for g in self.known.things if g != h and self.kinds[g] == self.kinds[h]]
        if others and self.chance(25):
            g = self.pick(others)
            self.emit(self.pick((f"{h} = {g}", f"{h}, {g} = {g}, {h}")))
            self.known.things[g] = self.kinds[g]
        elif self.chance(15):
            one, other = self.thing(self.pick(self.kinds[h])), self.thing(self.pick(self.kinds[h]))
            self.emit(f"{h} = {one} if {self.condition()} else {other}")
        else:
            kind = self.pick(self.kinds[h])
            condition = self.condition()
            if self.chance(60):
                self.emit(f"if {condition}:\n    {h} = {self.thing(kind)}")
            else:
                self.emit(f"{h} = {self.thing(kind)}")
        self.known.things[h] = self.kinds[h]

    def hold_thing(self) -> None:
        """Put a thing somewhere, and take it out again."""
        h = self.pick(list(self.known.things))
        kind = self.pick(self.kinds[h])
        v, c = self.thing(kind), self.condition()
        w = self.fresh("w")
        text, back = self.random.choice((
            (f"{w} = [{h}, x]\nif {c}:\n    {w}[0] = {v}", f"{w}[0]"),
            (f"{w} = {{'v': {h}}}\nif {c}:\n    {w}['v'] = {v}", f"{w}['v']"),
            (f"{w} = Spring({h})\nif {c}:\n    {w}.k = {v}", f"{w}.k"),
            (f"{w} = ({h}, x)\nif {c}:\n    {w} = ({v}, t)", f"{w}[0]"),
            (f"def {w}(u):\n    if u > 0.3:\n        return {v}\n    return {h}", f"{w}(t)"),
            (f"def {w}(u):\n    for y in p:\n        if y > u:\n            return {v}\n"
             f"    return {h}", f"{w}(x)")))
        self.emit(f"{text}\n{h} = {back}")
        self.known.things[h] = self.kinds[h]

    def by_kind(self) -> None:
        """A branch for each kind that a thing may be."""
        h = self.pick(list(self.known.things))
        kinds = list(self.known.things[h])
        for k, kind in enumerate(kinds):
            test = self.pick(THINGS[kind][1]).format(h=h)
            last = k + 1 == len(kinds)
            with self.block("else:" if last and k else f"{'el' if k else ''}if {test}:"):
                self.known.things[h] = (kind,)
                self.body(2)

    # --- statements -------------------------------------------------------------------------------

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Write a compound statement; names that its body makes are not used after it."""
        self.emit(head)
        outer, self.known = self.known, self.known.copy()
        self.depth += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.emit("pass")
        self.depth -= 1
        self.known = outer
        for h in self.known.things:
            self.known.things[h] = self.kinds[h]

    def body(self, most: int = 3) -> None:
        """Write some statements."""
        for _ in range(self.random.randint(1, most)):
            self.statement()

    def loop(self) -> None:
        """A loop, and its body."""
        k, kind = self.fresh("k"), self.pick(("range", "items", "while", "range", "few"))
        if kind == "items":
            v = self.fresh("v")
            head = self.pick((f"for {v} in p:", f"for {k}, {v} in enumerate(p):"))
        elif kind == "while":
            self.emit(f"{k} = 0")
            head = f"while {k} < 6 and {self.condition(0)}:"
        else:
            head = f"for {k} in range({'len(p)' if kind == 'range' else '3'}):"
        with self.block(head):
            self.known.loops = (*self.known.loops, kind)
            if kind == "items":
                self.known.numbers += [v, v]
            if kind != "items" or "enumerate" in head:
                self.known.ints.append(k)
                if kind == "range" or kind == "items":
                    self.known.index = k
            if kind == "while":
                self.emit(f"{k} += 1")
            self.body(5)
            if self.chance(15):
                self.emit(f"if {self.condition()}:\n    {self.pick(('break', 'continue'))}")
            if self.chance(40):
                self.statement()

    def branch(self) -> None:
        """A branch by data."""
        with self.block(f"if {self.condition()}:"):
            self.body()
        if self.chance(40):
            with self.block("else:"):
                self.body(2)

    def statement(self) -> None:
        """Write a statement."""
        self.left -= 1
        if self.left < 0:
            return
        known = self.known
        makers: list[Callable[[], object]] = [self.set_number] * 2
        if self.depth < 4:
            makers += [self.loop] * 3 + [self.branch] * 3
        if known.things:
            makers += [self.change_thing] * 4 + [self.hold_thing]
            if self.depth < 4:
                makers += [self.by_kind]
        if known.kept:
            makers += [self.about_kept] * 5
        if known.generators:
            makers += [lambda: self.about(DRAWS, g=self.pick(known.generators), u="u0")] * 4
        if known.sized:
            makers += [self.about_sized] * 4
        if known.lists:
            makers += [lambda: self.about(FILLED, l=self.pick(known.lists), o="o")] * 4
        if "views" in self.used:
            makers += [lambda: self.about(VIEWED, A=self.pick("AB"), B=self.pick("AB"),
                                          r=self.pick("rs"), s=self.pick("rs"),
                                          k=known.index)] * 5
        if "outer" in self.used:
            makers += [lambda: self.about(OUTER)] * 3
        makers += [self.make] * 1
        self.random.choice(makers)()

    def about(self, table: Sequence[str], **names: str) -> None:
        """A statement of a table."""
        self.emit(self.filled(self.pick(table), **names))

    def about_kept(self) -> None:
        """A statement about a container."""
        d = self.pick(list(self.known.kept))
        self.about(KEPT[self.known.kept[d]][1], d=d, e="e")

    def about_sized(self) -> None:
        """A statement about an array of which data decides how long it is."""
        if self.chance(20):
            m = self.pick(self.known.sized)
            self.emit(f"{m} = {self.filled(self.pick(SIZED))}")
        else:
            self.about(ABOUT_SIZED, m=self.pick(self.known.sized))

    def set_number(self) -> None:
        """s = ..., t += ..."""
        names = [s for s in self.known.numbers if s[0] in "st"]
        if self.chance(75):
            self.emit(f"{self.pick(names)} {self.pick(('=', '+=', '+=', '-='))} {self.number(2)}")
        else:
            value = self.number(2)
            s = self.fresh("s")
            self.emit(f"{s} = {value}")
            self.known.numbers.append(s)

    def make(self) -> None:
        """Write the statement that makes an object of one of the mechanisms."""
        self.make_of(self.pick(sorted(self.used)))

    def make_of(self, mechanism: str) -> None:
        """Make a thing, a container, a generator, an array, a list, views."""
        if mechanism == "choices":
            self.make_thing()
        elif mechanism == "keyed":
            d, kind = self.fresh("d"), self.pick(list(KEPT))
            self.emit(f"{d} = {self.filled(self.pick(KEPT[kind][0]))}")
            self.known.kept[d] = kind
        elif mechanism == "draws":
            g = self.pick(("rng", "rng", self.fresh("g")))
            if g != "rng":
                self.emit(f"{g} = {self.pick(('np.random.default_rng(3)', 'rng'))}")
            self.known.generators.append(g)
        elif mechanism == "sizes":
            m = self.fresh("m")
            self.emit(f"{m} = {self.filled(self.pick(SIZED))}")
            self.known.sized.append(m)
        elif mechanism == "lists":
            name = self.fresh("l")
            self.emit(f"{name} = {self.pick(('[]', '[x]', '[0.5, x]'))}")
            self.known.lists.append(name)

    def program(self) -> str:
        """Write a program and return its text."""
        self.emit("t = x * 0.5\nu0 = p.copy()\nsoft, hard = Spring(2.0), Brake(3.0, 0.5)")
        if "views" in self.used:
            self.emit(self.pick(("A = np.outer(p, p[:3])", "A = np.outer(np.sin(p), p[:3]) + x")))
            self.emit(f"B = {self.pick(('A', 'A * 1.5', 'A[:]', 'A.copy()', 'A[::-1]'))}")
            starts = ("A[0]", "B[0]", "p[:3]", "p[:3] * x", "A[1]", "A[0] * 1.0", "A[:3, 0]")
            self.emit(f"r, s = {self.pick(starts)}, {self.pick(starts)}")
        for mechanism in sorted(self.used):
            for _ in range(self.random.choice((1, 1, 2))):
                self.make_of(mechanism)
        self.body(6)
        while self.left > 0 and self.chance(85):
            self.statement()
        self.emit("t = t + np.sum(u0) * 0.1")
        for name in self.known.sized:
            self.emit(f"t += np.sum({name})")
        for name in self.known.lists:
            self.emit(f"for v in {name}:\n    t += 0.7 * v")
        for name, kind in self.known.kept.items():
            if kind in ("dict", "defaultdict", "Counter"):
                self.emit(f"for a, v in {name}.items():\n    t += (a + 1) * v * 0.3")
            else:
                self.emit(f"t += 0.3 * len({name})")
        for h in self.known.things:
            self.emit(f"t += {self.use(h)}")
        if "views" in self.used:
            self.emit("t += np.sum(A * np.arange(3)) + np.sum(B) + np.sum(r) + np.sum(s * s)")
        self.emit("return t + 0.0 * x")
        return HEADER + "\ndef f(x, p, rng):\n" + "\n".join(self.lines) + "\n"


def mixed_program(seed: int, size: int = 10) -> str:
    """Return the source of the program of a seed."""
    return Writer(seed, size).program()


def mechanisms_of(seed: int) -> frozenset[str]:
    """Return the names of the mechanisms in the program of a seed."""
    return Writer(seed, 1).used
