"""Random small programs as source text: loops, branches and writes as users of NumPy write them.

A program is `def f(x, y, a, n)`: x of n numbers, y of n rows of three, a number a. A `Writer` makes
its choices through one function, so that hypothesis and a seeded generator both can drive it; the
first choice is always the simplest. Names are set before they are read and indices are in range for
every n >= 2, by construction.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from hypothesis import strategies as st

__all__ = ["MIN_SIZE", "programs", "random_program"]

MIN_SIZE = 2
"""The least n for which every program is valid."""

N, M, LESS = "n", "3", "n - 1"
"""The sizes that arrays have, as a program writes them."""

Type = tuple[str, ...]
"""() for a number, (size,) for a vector, (rows, columns) for a matrix."""

CONSTANTS = ("0.7", "0.3", "1.1", "-0.4", "0.53", "-1.3", "2.1")
THRESHOLDS = ("0.37", "-0.21", "0.93", "1.61", "-0.83")
BOUNDED = ("np.sin({})", "np.tanh({})", "np.cos({})", "{0} / (1.0 + {0} * {0})", "np.arctan({})",
           "np.exp(-{0} * {0})")
FUNCTIONS = (*BOUNDED, "np.sqrt(1.0 + {0} * {0})", "abs({})", "-{}", "np.log1p({0} * {0})",
             "{} ** 2", "np.maximum({}, 0.11)", "np.exp(np.minimum({}, 0.9))")
AUGMENTS = ("+=", "-=", "*=")

HELPERS = {
    "mix": ["def mix(u, v):", "    return u * 0.6 + np.sin(v)"],
    "bend": ["def bend(u, c=0.4):", "    return np.tanh(u * c) - 0.2"],
    "pick": ["def pick(u, c):", "    if c > 0.29:", "        return u * 0.5",
             "    return np.cos(u)"],
    "total": ["def total(u):", "    s = 0.0", "    for k in range(len(u)):",
              "        s += u[k] * 0.5", "    return s"],
    "stir": ["def stir(u, c):", "    for k in range(1, len(u)):",
             "        u[k] = np.sin(u[k - 1]) + c * u[k]"],
    "first": ["def first(u, c):", "    for k in range(u.shape[0]):", "        if u[k] > c:",
              "            return u[k]", "    return c * 0.5"],
    "blend": ["def blend(u, *rest, w=0.3):", "    for v in rest:", "        u = u * w + np.sin(v)",
              "    return u"],
    "power": ["def power(u, k):", "    if k == 0:", "        return u * 0.0 + 1.0",
              "    return np.sin(u) * power(u, k - 1)"],
    "halves": ["def halves(u):", "    if len(u) < 2:", "        return u[0] * 0.7",
               "    middle = len(u) // 2",
               "    return np.sin(halves(u[:middle])) + halves(u[middle:])"],
    "Level": ["class Level:", "    def __init__(self, v):", "        self.v, self.k = v, 0",
              "    def __iadd__(self, v):", "        self.v = self.v * 0.5 + np.sin(v)",
              "        self.k += 1", "        return self", "    def __lt__(self, c):",
              "        self.k += 1", "        return self.v < c", "    @property",
              "    def value(self):", "        if self.v > 0.21:",
              "            return self.v * (1 + self.k % 2)", "        return self.v - 0.4"],
    "deque": ["from collections import deque"],
    "Pair": ["class Pair:", "    def __init__(self, u):", "        self.u, self.w = u, u * 0.5",
             "    def step(self, c):", "        self.w[1:] = np.tanh(self.u[:-1]) * 0.7",
             "        self.w[0] = c", "        if c > 0.13:",
             "            self.u, self.w = self.w, self.u", "        else:",
             "            self.u[-1] -= 0.2"],
}


@dataclass
class Int:
    """An integer name: the sizes whose arrays it can index, also after adding 1 or -1."""

    inside: frozenset[str]
    after: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()


@dataclass
class Scope:
    """What a statement may use."""

    names: dict[str, Type] = field(default_factory=dict)
    ints: dict[str, Int] = field(default_factory=dict)
    states: dict[str, str] = field(default_factory=dict)
    """Names of state that is changed without being assigned to, and of which kind it is."""
    flags: list[str] = field(default_factory=list)
    """Names of truth values."""
    loops: tuple[str, ...] = ()
    """The kinds of the loops around, outermost first."""
    unrolled: bool = False

    def copy(self) -> Scope:
        """Return a scope that can grow on its own."""
        return Scope(dict(self.names), dict(self.ints), dict(self.states), list(self.flags),
                     self.loops, self.unrolled)


class Writer:
    """Writes one program; `below(k)` chooses a number from 0 to k - 1."""

    def __init__(self, below: Callable[[int], int], size: int = 24) -> None:
        self.below = below
        self.lines: list[str] = []
        self.depth = 1
        self.left = size
        self.count = 0
        self.helpers: set[str] = set()
        self.scope = Scope({"x": (N,), "y": (N, M), "a": ()})

    # --- choices --------------------------------------------------------------------------------

    def pick(self, items: Sequence[str]) -> str:
        """Choose one of some texts."""
        return items[self.below(len(items))]

    def chance(self, percent: int) -> bool:
        """Choose True with a probability; False is the simpler choice."""
        return self.below(100) >= 100 - percent

    def weighted(self, table: Sequence[tuple[int, Callable[[], object]]]) -> Callable[[], object]:
        """Choose by weight."""
        k = self.below(sum(w for w, _ in table))
        for weight, make in table:
            k -= weight
            if k < 0:
                return make
        raise AssertionError

    def fresh(self, stem: str) -> str:
        """Return a new name."""
        self.count += 1
        return f"{stem}{self.count}"

    def emit(self, line: str) -> None:
        """Write a line."""
        self.lines.append("    " * self.depth + line)

    def of(self, type_: Type) -> list[str]:
        """Return the names of a type."""
        return [name for name, t in self.scope.names.items() if t == type_]

    # --- indices --------------------------------------------------------------------------------

    def index(self, size: str) -> str:
        """Return an index that is in range for an array of a size."""
        options = ["0", "-1", "1"] if size != LESS else ["0", "-1"]
        for name, k in self.scope.ints.items():
            if size in k.inside:
                options += [name, name, name]
                options += [f"{size} - 1 - {name}"]
                options += [f"({name} + 1) % {size}"] if size != LESS else []
            elif size != LESS:
                options += [f"{name} % {size}"]
            if size in k.after:
                options += [f"{name} + 1"] * 2
            if size in k.before:
                options += [f"{name} - 1"] * 2
        return options[(self.below(len(options)) + 3) % len(options)]

    def item(self, name: str) -> str:
        """Return an element of an array as text."""
        return f"{name}[{', '.join(self.index(size) for size in self.scope.names[name])}]"

    # --- numbers --------------------------------------------------------------------------------

    def number(self, depth: int = 2) -> str:
        """Return an expression for a number."""
        arrays = [name for name, t in self.scope.names.items() if t]
        leaves = [(5, lambda: self.pick(self.of(()))), (5, lambda: self.item(self.pick(arrays))),
                  (2, lambda: self.pick(CONSTANTS))]
        if self.scope.ints:
            leaves.append((1, lambda: f"{self.pick(list(self.scope.ints))} * 0.1"))
        if depth <= 0:
            return str(self.weighted(leaves)())
        inner = [
            (4, lambda: self.pick(FUNCTIONS).format(self.operand(self.number(depth - 1)))),
            (4, lambda: f"{self.operand(self.number(depth - 1))} {self.pick('+-')} "
                        f"{self.operand(self.number(depth - 1))}"),
            (4, lambda: f"{self.bounded(self.number(depth - 1))} * "
                        f"{self.operand(self.number(depth - 1))}"),
            (3, lambda: self.reduction(depth - 1)),
            (1, lambda: f"({self.number(depth - 1)} if {self.condition()} "
                        f"else {self.number(depth - 1)})"),
            (1, lambda: f"{self.pick(('max', 'min'))}({self.number(depth - 1)}, "
                        f"{self.number(depth - 1)})"),
            (2, lambda: self.helper_call(self.number(depth - 1))),
            (1, self.comprehension),
        ]
        if self.scope.states:
            inner.append((4, self.read_state))
        return str(self.weighted([*leaves, *inner])())

    def operand(self, text: str) -> str:
        """Return an expression that binds tightly."""
        simple = all(c.isalnum() or c in "_.[]" for c in text) or (text.startswith("np.") and (
            text.count("(") == 1 and text.endswith(")")))
        return text if simple else f"({text})"

    def bounded(self, text: str) -> str:
        """Return a factor that keeps products from growing."""
        return self.pick(BOUNDED[:3]).format(text) if self.chance(60) else self.pick(CONSTANTS[:5])

    def reduction(self, depth: int) -> str:
        """Return a number made of a whole array."""
        type_ = self.some_type()
        whole = self.array(type_, depth)
        options = ["np.sum({})", "np.mean({})", "np.sum({} * 0.5)", "np.max({})", "np.min({})"]
        if len(type_) == 1:
            options += ["total({})", "first({}, 0.3)"]
            options += ["halves(x * 0.7)"] if type_ == (N,) else []
            name = self.pick(self.of(type_)) if self.of(type_) else ""
            if name:
                options += [f"np.dot({{}}, {name})"] * 2 + [f"{self.operand(whole)} @ {name}"]
                for k in self.scope.ints:
                    options += [f"np.sum({name}[{k}:])", f"np.sum({name}[:{k}] * 0.7)"]
        text = self.pick(options)
        self.helpers |= {h for h in HELPERS if text.startswith(h)}
        return text.format(whole)

    def helper_call(self, text: str) -> str:
        """Return a call of a helper that works on numbers and arrays alike."""
        name = self.pick(("mix", "bend", "pick", "blend", "power"))
        self.helpers.add(name)
        second = {"mix": self.number(0), "bend": self.pick((*CONSTANTS[:3], "c=0.9")),
                  "pick": self.number(0), "power": self.pick("23"),
                  "blend": f"{self.number(0)}, {self.number(0)}, w={self.pick(CONSTANTS)}"}[name]
        return f"{name}({text}, {second})"

    def elements(self) -> str:
        """Return what a comprehension makes of the indices of x."""
        k = self.fresh("k")
        outer, self.scope = self.scope, self.scope.copy()
        self.scope.ints[k] = Int(frozenset({N}))
        element = self.bounded(self.item(self.pick(self.of((N,))))) + f" * {self.number(0)}"
        self.scope = outer
        return f"{element} for {k} in range(n)"

    def comprehension(self) -> str:
        """sum([... for k in range(n)])"""
        return self.pick(("sum([{}])", "sum({})", "np.sum(np.array([{}]))")).format(self.elements())

    def condition(self) -> str:
        """Return a condition on data or on integers."""
        ints = list(self.scope.ints)
        options = [
            (5, lambda: f"{self.number(0)} {self.pick('><')} {self.pick(THRESHOLDS)}"),
            (3, lambda: f"{self.operand(self.number(1))} {self.pick(('>', '<', '<=', '>='))} "
                        f"{self.number(0)}"),
            (1, lambda: f"{self.pick(THRESHOLDS[:2])} < {self.number(0)} < 1.27"),
            (1, lambda: f"{self.simple_condition()} {self.pick(('and', 'or'))} "
                        f"{self.simple_condition()}"),
            (1, lambda: f"not {self.simple_condition()}"),
        ]
        if ints:
            options += [(3, lambda: f"{self.pick(ints)} % 2 == {self.pick('01')}"),
                        (2, lambda: f"{self.pick(ints)} {self.pick(('>', '<', '==', '!='))} "
                                    f"{self.pick(('1', 'n - 1', *ints))}")]
        return str(self.weighted(options)())

    def simple_condition(self) -> str:
        """Return a comparison."""
        if self.scope.ints and self.chance(30):
            return f"{self.pick(list(self.scope.ints))} > {self.pick('01')}"
        if self.scope.flags and self.chance(50):
            return self.pick(self.scope.flags)
        return f"{self.number(0)} {self.pick('><')} {self.pick(THRESHOLDS)}"

    # --- arrays ---------------------------------------------------------------------------------

    def some_type(self) -> Type:
        """Choose the type of an array."""
        types: list[Type] = [(N,), (N,), (N,), (N,), (M,), (LESS,), (N, M), (N, M), (M, N)]
        return types[self.below(len(types))]

    def views(self, type_: Type) -> list[str]:
        """Return expressions for arrays of a type that share memory with a name."""
        found = []
        for name, t in self.scope.names.items():
            if t == type_ and len(t) == 1:
                found.append(f"{name}[::-1]")
            if type_ == (LESS,) and t == (N,):
                found += [f"{name}[1:]", f"{name}[:-1]", f"{name}[:0:-1]"]
            if len(t) == 2 and type_ == (t[1],):
                found += [f"{name}[{self.index(t[0])}]"] * 2
            if len(t) == 2 and type_ == (t[0],):
                found.append(f"{name}[:, {self.index(t[1])}]")
            if len(t) == 2 and type_ == (t[1], t[0]):
                found.append(f"{name}.T")
            if len(t) == 2 and type_ == t:
                found.append(f"{name}[::-1]")
        return found

    def born(self, type_: Type) -> list[str]:
        """Return expressions for new arrays of a type."""
        shape = type_[0] if len(type_) == 1 else f"({', '.join(type_)})"
        found = [f"np.zeros({shape})", f"np.ones({shape})", f"np.full({shape}, {self.number(0)})"]
        found += [f"{name}.copy()" for name in self.of(type_)]
        found += [f"np.zeros_like({name})" for name in self.of(type_)]
        if len(type_) == 1:
            found += [f"np.arange({shape}) * 0.2"]
        return found

    def array(self, type_: Type, depth: int = 2) -> str:
        """Return an expression for an array of a type."""
        names = self.of(type_)
        views = self.views(type_)
        leaves: list[tuple[int, Callable[[], object]]] = []
        if names:
            leaves.append((6, lambda: self.pick(names)))
        if views:
            leaves.append((3, lambda: self.pick(views)))
        if not leaves or depth > 0:
            leaves.append((1, lambda: self.pick(self.born(type_))))
        if depth <= 0:
            return str(self.weighted(leaves)())
        again = lambda: self.operand(self.array(type_, depth - 1))  # noqa: E731
        inner: list[tuple[int, Callable[[], object]]] = [
            (5, lambda: self.pick([f for f in FUNCTIONS if f != "abs({})"]).format(again())),
            (3, lambda: f"{again()} {self.pick('+-')} {again()}"),
            (3, lambda: f"{self.bounded(self.array(type_, depth - 1))} * {again()}"),
            (3, lambda: f"{again()} * {self.operand(self.number(0))}"),
            (1, lambda: f"np.where({again()} > {self.pick(THRESHOLDS)}, {again()}, {again()})"),
            (1, lambda: self.helper_call_array(type_, depth - 1)),
        ]
        if len(type_) == 1:
            inner += [(1, lambda: f"np.cumsum({again()})"), (1, lambda: f"np.roll({again()}, 1)")]
        if type_ == (N,):
            inner += [(1, lambda: f"np.array([{self.elements()}])")]
            inner += [(1, lambda: f"{self.array((N, M), 0)} @ {self.array((M,), 0)}"),
                      (1, lambda: f"np.sum({self.array((N, M), depth - 1)}, axis=1)"),
                      (1, lambda: f"np.concatenate(({self.array((LESS,), 0)}, "
                                  f"{self.array((N,), 0)}[:1]))")]
        if type_ == (M,):
            inner += [(1, lambda: f"{self.array((N,), 0)} @ {self.array((N, M), 0)}"),
                      (1, lambda: f"np.sum({self.array((N, M), depth - 1)}, axis=0)")]
        if type_ == (LESS,):
            inner += [(1, lambda: f"np.diff({self.array((N,), depth - 1)})")]
        if len(type_) == 2:
            rows, columns = (type_[0],), (type_[1],)
            inner += [(1, lambda: f"np.outer({self.array(rows, 0)}, {self.array(columns, 0)})"),
                      (1, lambda: f"{again()} * {self.operand(self.array(columns, 0))}"),
                      (1, lambda: f"{again()} + {self.operand(self.array(rows, 0))}[:, None]")]
        return str(self.weighted([*leaves, *inner])())

    def helper_call_array(self, type_: Type, depth: int) -> str:
        """Return a call of a helper on an array."""
        name = self.pick(("mix", "bend", "pick"))
        self.helpers.add(name)
        second = {"mix": self.array(type_, 0), "bend": self.pick(CONSTANTS),
                  "pick": self.number(0)}[name]
        return f"{name}({self.array(type_, depth)}, {second})"

    # --- statements -----------------------------------------------------------------------------

    @contextmanager
    def block(self, head: str, loop: str = "") -> Iterator[None]:
        """Write a compound statement; names that its body sets are not set after it."""
        self.emit(head)
        outer, self.scope = self.scope, self.scope.copy()
        if loop:
            self.scope.loops = (*self.scope.loops, loop)
        self.depth += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.emit("pass")
        self.depth -= 1
        self.scope = outer

    def body(self, most: int = 4) -> None:
        """Write some statements."""
        for _ in range(1 + self.below(most)):
            if self.left <= 0:
                return
            self.statement()

    def statement(self) -> None:
        """Write a statement."""
        self.left -= 1
        nested = self.depth <= 4 and self.left > 0
        table: list[tuple[int, Callable[[], object]]] = [
            (6, self.set_number), (5, self.set_array), (6, self.write_item), (4, self.write_slice),
            (3, self.write_whole), (2, self.bind_view), (2, self.swap), (1, self.mutate)]
        if self.scope.states:
            table.append((4, self.change_state))
        if nested:
            table += [(6, self.for_), (2, self.while_), (5, self.if_), (1, self.fill),
                      (1, self.with_)]
        table += [(1, self.write_out), (1, self.unpack), (1, self.set_flag), (1, self.assert_)]
        if self.scope.loops and not self.scope.unrolled:
            table.append((2, self.jump))
        elif self.depth == 1:
            table.append((1, self.jump))
        self.weighted(table)()

    def target(self, type_: Type, stem: str) -> str:
        """Return the name of a type to assign to, old or new."""
        names = [name for name in self.of(type_) if name not in ("a", "x", "y")]
        if names and not self.chance(35):
            return self.pick(names)
        return self.fresh(stem)

    def set_number(self) -> None:
        """s = ..., s += ..."""
        name = self.target((), "s")
        if name in self.scope.names and self.chance(60):
            operator = self.pick(AUGMENTS)
            value = self.number() if operator != "*=" else self.bounded(self.number(1))
            self.emit(f"{name} {operator} {value}")
            return
        value = self.number() if name in self.scope.names or self.chance(70) else self.pick(
            ("0.0", "0", "1.0"))
        self.emit(f"{name} = {value}")
        self.scope.names[name] = ()

    def set_array(self) -> None:
        """u = ..."""
        type_ = self.some_type()
        name = self.target(type_, "uvwABC"[len(type_) * 3 - 3])
        value = self.array(type_) if not self.chance(30) else self.pick(self.born(type_))
        names = self.of(type_)
        if len(names) > 1 and self.chance(12):
            value = f"{self.pick(names)} if {self.condition()} else {self.pick(names)}"
        also = ""
        if self.chance(6):
            also = self.target(type_, "w") + " = "
            self.scope.names[also[:-3]] = type_
        self.emit(f"{also}{name} = {value}")
        self.scope.names[name] = type_

    def set_flag(self) -> None:
        """b = u[0] > 0.3"""
        value = self.condition()
        name = self.fresh("b")
        self.emit(f"{name} = {value}")
        self.scope.flags.append(name)

    def unpack(self) -> None:
        """s, (t, w) = ..., (..., ...), the names all different.

        CPython 3.11.2 makes `s, s, s = 1, 2, 3` of it that s is 1: no oracle for equal ones.
        """
        values = [self.number(1) for _ in range(3)]
        names: list[str] = []
        for _ in range(3):
            name = self.target((), "s")
            names.append(self.fresh("s") if name in names else name)
        shape = self.pick(("{}, {}, {}", "{}, ({}, {})"))
        self.emit(f"{shape.format(*names)} = {shape.format(*values)}")
        self.scope.names.update(dict.fromkeys(names, ()))

    def assert_(self) -> None:
        """assert ..., or raise"""
        value = self.number(1)
        if self.chance(50):
            self.emit(f"assert {value} < 1e9, f\"{{n}} is too large\"")
            return
        with self.block(f"if {value} > 1e9:"):
            self.emit("raise ValueError(\"too large\")")

    def write_out(self) -> None:
        """np.sin(u, out=v), np.add.at(u, [0, 1], v)"""
        name = self.written()
        type_ = self.scope.names[name]
        if type_ == (N,) and self.chance(40):
            self.emit(f"np.add.at({name}, {self.pick(('[0, 1]', '[1, 0, 1]'))}, {self.number(1)})")
            return
        u, v = self.array(type_, 1), self.array(type_, 0)
        self.emit(self.pick((f"np.sin({u}, out={name})", f"np.add({u}, {v}, out={name})")))

    def written(self) -> str:
        """Choose an array to write to."""
        own = [name for name, t in self.scope.names.items() if t and name not in ("x", "y")]
        if not own or self.chance(8):
            return self.pick(("x", "y"))
        return own[-1 - self.below(len(own))]

    def assignment(self, place: str, value: Callable[[], str], factor: Callable[[], str]) -> None:
        """place = ..., place += ..."""
        operator = self.pick(("=", "=", *AUGMENTS))
        self.emit(f"{place} {operator} {factor() if operator == '*=' else value()}")

    def write_item(self) -> None:
        """u[i] = ..."""
        item = self.item(self.written())
        if self.chance(30):
            item = item.replace(", ", "][")
        self.assignment(item, self.number, lambda: self.bounded(self.number(1)))

    def write_slice(self) -> None:
        """u[1:] = ..., A[i] += ..."""
        name = self.written()
        type_ = self.scope.names[name]
        options: list[tuple[str, Type]] = [(f"{name}[:]", type_)]
        if len(type_) == 2:
            options += [(f"{name}[{self.index(type_[0])}]", (type_[1],)),
                        (f"{name}[:, {self.index(type_[1])}]", (type_[0],))]
        if type_[0] == N:
            rest = (LESS, *type_[1:])
            if len(type_) == 1:
                options += [(f"{name}[1:]", rest), (f"{name}[:-1]", rest),
                            (f"{name}[:0:-1]", rest)]
            options += [(f"{name}[{cut}]", ("any",))
                        for cut in ("1:", ":-1", "::2", "1::2", "::-2")]
            options += [(f"{name}[{k}:]", ("any",)) for k in self.scope.ints]
            options += [(f"{name}[:{k}]", ("any",)) for k in self.scope.ints]
        if len(type_) == 1:
            options += [(f"{name}[{name} > {self.pick(THRESHOLDS)}]", ("any",))]
        place, inner = options[self.below(len(options))]
        if inner == ("any",):
            self.assignment(place, lambda: self.number(1), lambda: self.bounded(self.number(1)))
            return
        self.assignment(place, lambda: self.array(inner, 1) if self.chance(70) else self.number(1),
                        lambda: self.bounded(self.array(inner, 1)))

    def write_whole(self) -> None:
        """u += ..."""
        name = self.written()
        type_ = self.scope.names[name]
        operator = self.pick(AUGMENTS)
        value = self.array(type_, 1) if operator != "*=" else self.bounded(self.array(type_, 1))
        self.emit(f"{name} {operator} {value}")

    def bind_view(self) -> None:
        """row = A[i], then write through it."""
        type_ = self.some_type()
        views = [*self.views(type_), *self.of(type_)]
        if not views:
            return self.set_number()
        name = self.fresh("r")
        self.emit(f"{name} = {self.pick(views)}")
        self.scope.names[name] = type_
        if self.chance(70):
            self.assignment(self.item(name), self.number, lambda: self.bounded(self.number(1)))
        return None

    def swap(self) -> None:
        """u, v = v, u"""
        type_ = self.some_type() if self.chance(80) else ()
        names = [n for n in self.of(type_) if n not in ("x", "y", "a")]
        if len(names) < 2:
            return self.set_array()
        first = self.below(len(names))
        second = (first + 1 + self.below(len(names) - 1)) % len(names)
        p, q = names[first], names[second]
        if len(type_) == 0 and self.chance(50):
            self.emit(f"{p}, {q} = {q}, {self.number()}")
        else:
            self.emit(f"{p}, {q} = {q}, {p}")
        return None

    def mutate(self) -> None:
        """Call a helper that writes to its argument."""
        name = self.written()
        if len(self.scope.names[name]) == 2:
            name = f"{name}[{self.index(self.scope.names[name][0])}]"
        self.helpers.add("stir")
        self.emit(f"stir({name}, {self.number(0)})")

    def fill(self) -> None:
        """Make an uninitialised array and set every element."""
        name, k = self.fresh("r"), self.fresh("k")
        self.emit(f"{name} = np.empty(n)")
        with self.block(f"for {k} in range(n):", "for"):
            self.scope.ints[k] = Int(frozenset({N}))
            self.emit(f"{name}[{k}] = {self.number()}")
            self.body(2)
        self.scope.names[name] = (N,)

    # --- state ----------------------------------------------------------------------------------

    def make_state(self) -> None:
        """Make a closure, an object or a queue that later statements change."""
        kinds = {"closure": "step", "object": "o", "queue": "q", "pair": "p", "list": "l",
                 "dict": "d", "lambda": "g"}
        kind = self.pick(("closure", *kinds))
        name = self.fresh(kinds[kind])
        vectors = self.of((N,))
        if kind == "object":
            self.helpers.add("Level")
            self.emit(f"{name} = Level({self.number(0)})")
        elif kind == "pair":
            self.helpers.add("Pair")
            vector = self.pick(vectors)
            self.emit(f"{name} = Pair({vector}{self.pick(('.copy()', ' * 0.9', ''))})")
        elif kind == "list":
            self.emit(f"{name} = [{self.pick(vectors)}, {self.pick(vectors)} * 0.7]")
        elif kind == "dict":
            self.emit(f"{name} = dict(u={self.pick(vectors)}, s={self.number(0)})")
        elif kind == "lambda":
            self.emit(f"{name} = lambda v: {self.bounded('v')} + {self.number(0)}")
        elif kind == "queue":
            self.helpers.add("deque")
            self.emit(f"{name} = deque([{self.number(0)}, {self.number(0)}, 0.0], maxlen=3)")
        else:
            level, count = self.fresh("s"), self.fresh("c")
            self.emit(f"{level}, {count} = {self.number(0)}, 0")
            change = f"{level} = {level} * 0.6 + np.sin(v)"
            with self.block(f"def {name}(v):"):
                self.emit(f"nonlocal {level}, {count}")
                self.emit(f"{count} += 1")
                if self.chance(30):
                    self.emit(f"if v > {self.pick(THRESHOLDS)}:")
                    self.emit(f"    return {level}")
                if self.chance(50):
                    self.emit(f"if {level} < {self.pick(THRESHOLDS)}:")
                    change = f"    {change}"
                self.emit(change)
                self.emit(f"return {level} * ({count} % 3)")
            self.scope.names[level] = ()
            self.scope.ints[count] = Int(frozenset())
        self.scope.states[name] = kind

    def read_state(self) -> str:
        """Return a number that state holds or gives."""
        name = self.pick(list(self.scope.states))
        kind = self.scope.states[name]
        if kind in ("closure", "lambda"):
            return f"{name}({self.number(0)})"
        if kind == "list":
            return self.pick((f"np.sum({name}[0])", f"{name}[1][{self.index(N)}]"))
        if kind == "dict":
            return self.pick((f"{name}['s']", f"np.mean({name}['u'])"))
        if kind == "pair":
            whole = f"{name}.{self.pick(('u', 'w'))}"
            return self.pick((f"np.sum({whole})", f"{whole}[{self.index(N)}]"))
        if kind == "queue":
            return f"{name}[{self.pick(('0', '1', '-1'))}]"
        return self.pick((f"{name}.value", f"{name}.v", f"(0.3 if {name} < 0.4 else -0.2)"))

    def change_state(self) -> None:
        """step(...), o += ..., q.append(...)"""
        name = self.pick(list(self.scope.states))
        kind = self.scope.states[name]
        value = self.bounded(self.number(1))
        if kind == "list":
            self.emit(self.pick((
                f"{name}[0], {name}[1] = {name}[1], {name}[0]", f"{name}[1][1:] += {value}",
                f"{name}[0][{self.index(N)}] = {value}", f"{name}[1] = {self.array((N,), 1)}")))
        elif kind == "dict":
            self.emit(self.pick((
                f"{name}['s'] += {value}", f"{name}['u'][{self.index(N)}] -= {value}",
                f"{name}['u'] = {name}['u'] * 0.7 + {value}")))
        elif kind == "lambda":
            self.set_number()  # it reads names, as they are when it is called
        else:
            self.emit({"closure": f"{name}({value})", "object": f"{name} += {value}",
                       "queue": f"{name}.append({value})", "pair": f"{name}.step({value})"}[kind])

    # --- control flow ---------------------------------------------------------------------------

    def if_(self) -> None:
        """Write a branch; what both sides set is set after it."""
        new: list[dict[str, Type]] = []
        test = self.condition()
        if self.chance(10):
            name = self.target((), "s")
            test = f"({name} := {self.number(1)}) > {self.pick(THRESHOLDS)}"
            self.scope.names[name] = ()
        with self.block(f"if {test}:"):
            self.body(3)
            new.append(self.scope.names)
        for _ in range(self.below(2)):
            with self.block(f"elif {self.condition()}:"):
                self.body(2)
                new.append(self.scope.names)
        if self.chance(50):
            with self.block("else:"):
                self.body(3)
                new.append(self.scope.names)
            common = {k: t for k, t in new[0].items() if all(s.get(k) == t for s in new)}
            self.scope.names.update(common)

    def with_(self) -> None:
        """Write a block under a context manager."""
        with self.block("with np.errstate(all='ignore'):"):
            self.body(2)

    def else_(self) -> None:
        """Write what follows a loop that was not left by a break, sometimes."""
        if self.left > 0 and self.chance(12):
            with self.block("else:"):
                self.body(2)

    def for_(self) -> None:
        """Write a loop over a range, an array or a tuple."""
        i = self.fresh("i")
        in_n, in_both = frozenset({N}), frozenset({N, LESS})
        ranges: list[tuple[str, Int]] = [
            ("range(n)", Int(in_n)), ("range(n)", Int(in_n)), ("range(len(x))", Int(in_n)),
            ("range(1, n)", Int(in_n, before=in_both)), ("range(n - 1)", Int(in_both, after=in_n)),
            ("range(n - 1, -1, -1)", Int(in_n)), ("range(n - 2, -1, -1)", Int(in_both, after=in_n)),
            ("range(0, n, 2)", Int(in_n)), ("reversed(range(n))", Int(in_n)),
            ("range(n - 1, 0, -2)", Int(in_n, before=in_both)), ("range(1, n - 1)", Int(
                in_both, after=in_n, before=in_both)),
            ("range(3)", Int(frozenset({M}))), ("range(y.shape[1])", Int(frozenset({M}))),
            ("range(2)", Int(frozenset({N, M}))), ("range(n // 2)", Int(in_both))]
        for k, known in self.scope.ints.items():
            if N in known.inside:
                ranges += [(f"range({k})", Int(in_n)), (f"range({k}, n)", Int(in_n)),
                           (f"range({k} + 1)", Int(in_n)),
                           (f"range({k} + 1, n)", Int(in_n, before=in_n)),
                           (f"range(n - 1, {k}, -1)", Int(in_n, before=in_n))]
        if self.chance(15):
            return self.for_items(i)
        text, known = ranges[self.below(len(ranges))]
        with self.block(f"for {i} in {text}:", "for"):
            self.scope.ints[i] = known
            self.body()
        self.else_()
        return None

    def for_items(self, i: str) -> None:
        """Write a loop over the items of something."""
        w = self.fresh("w")
        kind = self.below(6)
        vectors = self.of((N,))
        head = [f"for {w} in {self.pick(vectors)}:", f"for {w} in y:",
                f"for {i}, {w} in enumerate({self.pick(vectors)}):",
                f"for {i}, {w} in enumerate(reversed({self.pick(vectors)})):",
                f"for {i}, {w} in zip(range(n - 1, -1, -1), {self.pick(vectors)}):",
                f"for {w} in ({self.number(0)}, {self.number(0)}):"][kind]
        with self.block(head, "for" if kind < 5 else "unrolled"):
            self.scope.names[w] = (M,) if kind == 1 else ()
            if 2 <= kind < 5:
                self.scope.ints[i] = Int(frozenset({N}))
            self.body(3)
        self.else_()

    def while_(self) -> None:
        """Write a loop that ends by a counter, by data, or by both."""
        if self.chance(30):
            t = self.fresh("t")
            self.emit(f"{t} = 1.0 + {self.operand(self.number(0))} ** 2")
            inline = self.chance(20)
            test = f"({t} := {t} * 0.6 - 0.013) > 0.27" if inline else f"{t} > 0.45"
            with self.block(f"while {test}:", "for"):
                if not inline:
                    self.emit(f"{t} = {t} * 0.6 - 0.013")
                self.body(3)
            self.else_()
            return
        k = self.fresh("k")
        early = self.chance(50)
        self.emit(f"{k} = 0")
        test = f"{k} < n" + (f" and ({self.condition()})" if self.chance(40) else "")
        endless = self.chance(15)
        head = "while True:" if endless else f"while {test}:"
        with self.block(head, "for" if early else "while"):
            self.scope.ints[k] = Int(frozenset({N}))
            if endless:
                self.emit(f"if {k} >= n or {self.simple_condition()}:")
                self.emit("    break")
            if early:
                self.emit(f"{k} += 1")
                self.scope.ints[k] = Int(frozenset(), before=frozenset({N}))
            self.body(3)
            if not early:
                self.emit(f"{k} += 1")
        self.else_()
        self.scope.ints[k] = Int(frozenset())

    def jump(self) -> None:
        """Write a conditional `break`, `continue` or `return`."""
        options = ["return"]
        if self.scope.loops:
            options = ["break", "continue", "return"] if self.scope.loops[-1] != "while" else [
                "break", "return"]
        kind = self.pick(options)
        with self.block(f"if {self.condition()}:"):
            if self.chance(40):
                self.statement()
            self.emit(kind if kind != "return" else f"return {self.result()}")

    def result(self) -> str:
        """Return a number that shows what the arrays hold."""
        terms = [self.number(1)]
        for name, t in self.scope.names.items():
            if name not in ("x", "y", "a") and self.chance(75):
                terms.append(f"np.sum({name} * {name})" if t and self.chance(50)
                             else f"np.sum({name}) * 0.3" if t else name)
        if self.chance(15):
            terms.append("np.sum(x * x)")
        return " + ".join(self.operand(t) for t in terms)

    # --- the whole ------------------------------------------------------------------------------

    def program(self) -> str:
        """Write a program and return its text."""
        if self.chance(80):
            self.emit("u0 = x * 0.8")
            self.scope.names["u0"] = (N,)
        if self.chance(50):
            self.emit("s0 = 0.0")
            self.scope.names["s0"] = ()
        for _ in range(self.below(3) if self.chance(25) else 0):
            self.make_state()
        for _ in range(1 + self.below(7)):
            if self.left > 0:
                self.statement()
        self.emit(f"return {self.result()}")
        helpers = [line for h in HELPERS if h in self.helpers for line in (*HELPERS[h], "", "")]
        return "\n".join([*helpers, "def f(x, y, a, n):", *self.lines, ""])


@st.composite
def programs(draw: st.DrawFn, size: int = 24) -> str:
    """Draw the source of a program."""
    return Writer(lambda k: draw(st.integers(0, k - 1)) if k > 1 else 0, size).program()


def random_program(seed: int, size: int = 24) -> str:
    """Return the source of the program of a seed."""
    return Writer(random.Random(seed).randrange, size).program()
