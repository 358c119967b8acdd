"""Random programs about which array a name holds: names are bound to one another, and written to.

`random_alias_program(seed, size)` is the source of `f(x, y, c, n)`, which returns a weighted sum of
the arrays of all names, or of some: the others are dead. Names may be attributes, items, and names
that a local function binds.
"""

from __future__ import annotations

import random

__all__ = ["Writer", "random_alias_program"]


def random_alias_program(seed: int, size: int) -> str:
    """Return the source of a program of about `size` statements, of which most have blocks."""
    return Writer(random.Random(seed), size).program()


class Writer:
    """Writes loops and branches around simple statements on names."""

    def __init__(self, choose: random.Random, size: int) -> None:
        self.choose, self.size = choose, size
        self.names = ["x", "y", "u", "v"]
        self.rebound = ["u", "v"]
        self.weight = "np.sum({} * {})"
        self.count = 0

    def program(self) -> str:
        start = self.start()
        body = [line for _ in range(self.choose.randint(3, self.size))
                for line in self.statement(0, "0", in_loop=False)]
        weighed = self.choose.sample(self.names, self.choose.randint(1, len(self.names)))
        total = " + ".join(f"{k}.0 * ({self.weight.format(name, name)})"
                           for k, name in enumerate(weighed, 1))
        lines = [*start, *body, f"return {total}"]
        return "\n".join(["def f(x, y, c, n):", *(f"    {line}" for line in lines)]) + "\n"

    def start(self) -> list[str]:
        """Return the lines that bind the names; some are attributes or items of an object."""
        start = [f"u = {self.pick('x * 0.5', 'x')}", f"v = {self.pick('y.copy()', 'y[::-1]')}"]
        names, lines = self.pick(
            ((), []),
            (("d['a']", "d['b']"), ["d = {'a': u, 'b': v}"]),
            (("o.a", "o.b"), ["o = types.SimpleNamespace(a=x, b=u)"]),
            (("l[0]", "l[1]"), ["l = [x, v]"]),
            (("w",), ["w = v", "def bind(a):", "    nonlocal w", "    if c[1] > 0:",
                      "        w = a", "    w[0] += 0.1"]))
        self.names += names
        self.rebound += names
        return [*start, *lines]

    def pick(self, *choices: object) -> object:
        return self.choose.choice(choices)

    def name(self) -> str:
        return self.choose.choice(self.names)

    def condition(self, i: str) -> object:
        return self.pick(f"c[{self.choose.randrange(3)}] > 0", f"c[{i}] > 0", "c[0] > c[1]",
                         f"np.sum({self.name()}) > 1", f"{self.name()}[{i}] > 0.4")

    def block(self, depth: int, i: str, *, in_loop: bool) -> list[str]:
        return [f"    {line}" for _ in range(self.choose.randint(1, 3))
                for line in self.statement(depth, i, in_loop=in_loop)]

    def statement(self, depth: int, i: str, *, in_loop: bool) -> list[str]:
        q = self.choose.random()
        if depth < 3 and q < 0.18:
            lines = [f"if {self.condition(i)}:", *self.block(depth + 1, i, in_loop=in_loop)]
            if self.choose.random() < 0.4:
                lines += ["else:", *self.block(depth + 1, i, in_loop=in_loop)]
            return lines
        if depth < 3 and q < 0.38:
            return self.loop(depth)
        if in_loop and q < 0.41:
            return [f"if {self.condition(i)}:", f"    {self.pick('break', 'continue')}"]
        return self.simple(i)

    def simple(self, i: str) -> list[str]:
        """Return a statement without a block."""
        q = self.choose.random()
        if q < 0.42:
            return [f"{self.choose.choice(self.rebound)} = {self.array(i)}"]
        if q < 0.56:
            a, b = self.choose.sample(self.rebound, 2)
            return [f"{a}, {b} = {b}, {a}"]
        if "w" in self.names and q < 0.66:
            return [f"bind({self.name()})"]
        k = self.choose.randrange(3)
        return [str(self.pick(f"{self.name()}[{i}] += 0.3", f"{self.name()}[:] *= 0.9",
                              f"{self.name()}[{k}] = {self.name()}[{i}] * 0.7",
                              f"{self.name()}[1:] += 0.2"))]

    def loop(self, depth: int) -> list[str]:
        self.count += 1
        k = f"k{self.count}"
        body = self.block(depth + 1, f"{k} % 3", in_loop=True)
        if self.choose.random() < 0.6:
            return [f"for {k} in range({self.pick('n', 'n', '2', '3')}):", *body]
        more = self.pick("", f" and {self.condition('0')}")
        return [f"{k} = 0", f"while {k} < {self.pick('n', '3')}{more}:", f"    {k} += 1", *body]

    def array(self, i: str) -> str:
        a, b = self.name(), self.name()
        return str(self.pick(a, b, f"{a}[::-1]", f"{a} * 0.5", f"{a}.copy()", f"np.sin({a})",
                             f"{a} if {self.condition(i)} else {b}"))
