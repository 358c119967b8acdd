"""Random small programs as source text: loops, branches and writes as users of NumPy write them.

A program is `def f(x, y, a, n)`: x of n numbers, y of n rows of three, a number a. A `Writer` makes
its choices through one function, so that hypothesis and a seeded generator both can drive it; the
first choice is always the simplest. Names are set before they are read and indices are in range for
every n >= 2, by construction.
"""

from __future__ import annotations

import random

from hypothesis import strategies as st
from random_statements import Statements
from random_words import HELPERS, STATES, M, N

__all__ = ["MIN_SIZE", "programs", "random_program"]

MIN_SIZE = 2
"""The least n for which every program is valid."""


class Writer(Statements):
    """Writes one program; `below(k)` chooses a number from 0 to k - 1."""

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
        for _ in range(self.below(3) if self.chance(50) else 0):
            self.make_list()
        for _ in range(1 + self.below(7)):
            if self.left > 0:
                self.statement()
        self.emit(f"return {self.result()}")
        helpers = [*(STATES[name][0] for name in STATES if name in self.reads),
                   *(HELPERS[name] for name in HELPERS if name in self.helpers)]
        above = [line for block in helpers for line in (*block, "", "")]
        return "\n".join([*above, "def f(x, y, a, n):", *self.lines, ""])


@st.composite
def programs(draw: st.DrawFn, size: int = 24, pair: bool = False) -> str:
    """Draw the source of a program."""
    def below(k: int) -> int:
        return draw(st.integers(0, k - 1)) if k > 1 else 0

    return Writer(below, size, (N,) if pair else (N, M)).program()


def random_program(seed: int, size: int = 24, pair: bool = False) -> str:
    """Return the source of the program of a seed; y of a pair is of n numbers, as x is."""
    return Writer(random.Random(seed).randrange, size, (N,) if pair else (N, M)).program()
