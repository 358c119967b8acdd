"""The table of the forty programs: each with its inputs, and why it is refused if it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from programs.program import Make, Program

__all__ = ["PROGRAMS", "program"]

PROGRAMS: list[Program] = []


def program(make: Make, argnums: tuple[int, ...] = (0,), *, sizes: tuple[int, ...] = (5, 9),
            differences: float = 1e-6, compilations: int = 1, refused: str = "",
            wrong: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function into the table; see `Program`. `refused` begins the refusal's message."""
    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append(Program(function, make, argnums, differences, sizes, compilations,
                                refused, wrong))
        return function

    return enter
