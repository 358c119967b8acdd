"""Random programs about which list or dict a name holds: names bound to one another, and changed.

`random_container_program(seed, size)` is the source of `f(x, y, c, n)`, as in the programs about
arrays: names are bound to lists (or dicts) of two numbers or arrays, in branches and loops too, and
their items change; names may be attributes, items, and parameters of functions that change their
lists.
"""

from __future__ import annotations

import random

from alias_programs import Writer

__all__ = ["random_container_program"]


def random_container_program(seed: int, size: int) -> str:
    """Return the source of a program of about `size` statements, of which most have blocks."""
    return _ContainerWriter(random.Random(seed), size).program()


class _ContainerWriter(Writer):
    """Every name holds a list of two items, or every name a dict with the keys 0 and 1."""

    def __init__(self, choose: random.Random, size: int) -> None:
        super().__init__(choose, size)
        self.names = ["p", "q", "r"]
        self.rebound = ["p", "q", "r"]
        self.kind = choose.choice(("[{}, {}]", "{{0: {}, 1: {}}}"))
        self.of_arrays = choose.random() < 0.3
        self.weight = "np.sum({}[0]) + 2.0 * np.sum({}[1])"

    def start(self) -> list[str]:
        items = [("x[0]", "y[1]"), ("y[0]", "0.5"), ("1.0", "x[1]")]
        if self.of_arrays:
            items = [("x", "y * 0.5"), ("y", "x.copy()"), ("x", "x")]
        first, second, third = (self.kind.format(*pair) for pair in items)
        lines = [f"p = {first}", f"q = {self.pick('p', second)}", f"r = {self.pick('q', third)}"]
        names, more = self.pick(
            ((), ()),
            (("h[0]", "h[1]"), ("h = [p, q]",)),
            (("h[0]",), ("h = (p, 0.5)",)),
            (("d['a']", "d['b']"), ("d = {'a': p, 'b': r}",)),
            (("o.a",), ("o = types.SimpleNamespace(a=q)",)),
            (("w",), ("w = q", "def bind(a):", "    nonlocal w", "    if c[1] > 0:",
                      "        w = a", "    w[0] = w[1] * 0.9 + 0.1")))
        self.names += names
        self.rebound += () if more and more[0].startswith("h = (") else names
        return [*lines, *more, "def change(a, b):", "    a[0] = a[0] * 0.9 + b[1]", "    return a"]

    def condition(self, i: str) -> object:
        return self.pick(f"c[{self.choose.randrange(3)}] > 0", f"c[{i}] > 0", "c[0] > c[1]",
                         f"np.sum({self.name()}[0]) > 0.6",
                         f"np.sum({self.name()}[1]) > np.sum({self.name()}[0])")

    def simple(self, i: str) -> list[str]:
        q = self.choose.random()
        if q < 0.45:
            return [f"{self.choose.choice(self.rebound)} = {self.content(i)}"]
        if q < 0.55:
            a, b = self.choose.sample(self.rebound, 2)
            return [f"{a}, {b} = {b}, {a}"]
        if "w" in self.names and q < 0.65:
            return [f"bind({self.name()})"]
        if q < 0.7:
            return [f"change({self.name()}, {self.name()})"]
        a, b = self.choose.choice(("[0]", "[1]")), self.choose.choice(("[0]", "[1]"))
        if self.of_arrays and self.choose.random() < 0.5:
            return [str(self.pick(f"{self.name()}{a}[{i}] += 0.3", f"{self.name()}{a}[1:] *= 0.9"))]
        return [str(self.pick(f"{self.name()}{a} += 0.3",
                              f"{self.name()}{a} = {self.name()}{b} * 0.7",
                              f"{self.name()}{a}, {self.name()}{b} = "
                              f"{self.name()}{b}, {self.name()}{a}"))]

    def content(self, i: str) -> str:
        a, b = self.name(), self.name()
        new = self.kind.format(f"{a}[0] * 0.8", f"{b}[1] + 0.1")
        return str(self.pick(a, b, new, new, f"{a}.copy()", f"change({a}, {b})",
                             f"{a} if {self.condition(i)} else {b}"))
