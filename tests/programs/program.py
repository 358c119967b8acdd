"""The table of the gallery: each program, how arguments for it are made, and how it is checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["PROGRAMS", "Program", "program"]

Make = Callable[[int, np.random.Generator], tuple[Any, ...]]


@dataclass(frozen=True)
class Program:
    """A function with a real scalar result, and how its gradient is checked.

    make         -- makes arguments of a size
    argnums      -- the arguments to differentiate by
    differences  -- None where the complex step gives the derivative; else the relative error
                    allowed to a central difference
    sizes        -- the arguments of `make`
    compilations -- how many compilations serve all sizes
    refused      -- why it is refused, until it is captured
    wrong        -- its fault, until that is repaired
    """

    function: Callable[..., Any]
    make: Make
    argnums: tuple[int, ...]
    differences: float | None
    sizes: tuple[int, ...]
    compilations: int
    refused: str
    wrong: str

    def __str__(self) -> str:
        return f"{self.function.__module__.rpartition('.')[2]}.{self.function.__name__}"

    def arguments(self, n: int) -> tuple[Any, ...]:
        """Return arguments of a size, the same ones at every call."""
        return self.make(n, np.random.default_rng(n))


PROGRAMS: list[Program] = []


def program(make: Make, argnums: tuple[int, ...] = (0,), *, differences: float | None = None,
            sizes: tuple[int, ...] = (3, 5, 8), compilations: int = 1, refused: str = "",
            wrong: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function into the table; see `Program`."""
    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append(Program(function, make, argnums, differences, sizes, compilations,
                                refused, wrong))
        return function

    return enter
