"""Functions of emitted source that a factory makes, told as data: the factory and its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Recipe", "Widths", "made"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A call that makes a function.

    factory   -- a function of a module of this package, by its name there
    arguments -- numbers, texts, types, or other functions of the package
    """

    factory: Callable[..., object]
    arguments: tuple[object, ...] = ()


Widths = tuple[int, ...] | Recipe
"""The widths in bits of vectors, or how another process is to find them."""


def made(names: Mapping[str, object]) -> dict[str, Any]:
    """Return the functions by name, those that have a recipe made by it."""
    return {name: f.factory(*f.arguments) if isinstance(f, Recipe) else f
            for name, f in names.items()}
