"""Rows: the items of a list that are tuples of numbers, one run for each place in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.ir.dims import Dim
from tracejit.trace.containers.places import is_number, map_content, same_structure
from tracejit.trace.containers.runs import Run
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.ground.restarts import PlaceInCode
from tracejit.trace.values.equations import as_operand, emit
from tracejit.trace.values.tracer import Tracer

__all__ = ["Rows", "is_row", "places_of", "same_rows"]


def is_row(x: object) -> bool:
    """Return whether something is a tuple of numbers, or of such tuples."""
    return isinstance(x, tuple) and len(x) > 0 and all(
        is_row(y) or (is_number(y) and not isinstance(y, np.ndarray)
                      and not (isinstance(y, Tracer) and y.is_array)) for y in x)


def places_of(x: object) -> list[Any]:
    """Return what is at the places of a tuple, from left to right."""
    found: list[Any] = []
    map_content(found.append, x)
    return found


def same_rows(a: object, b: object) -> bool:
    """Return whether two tuples have the same places."""
    return same_structure(a, b) and _types(a) == _types(b)


def _types(x: object) -> Any:
    return [type(x), *map(_types, x)] if isinstance(x, tuple) else None


class Rows(Run):
    """Items that are tuples.

    columns  -- for each place in a tuple, the numbers there, all of one count
    template -- a tuple that is like the items
    """

    __slots__ = ("columns", "template")

    def __init__(self, columns: Sequence[Any], template: Any, where: PlaceInCode) -> None:
        super().__init__(where)
        self.columns, self.template = list(columns), template

    def row(self, places: Sequence[object]) -> Any:
        """Return an item that has these things at its places."""
        rest = iter(places)
        return map_content(lambda _: next(rest), self.template)

    @property
    def count(self) -> Dim:
        """Return how many items there are."""
        count: Dim = self.columns[0].count
        return count

    def item(self, k: Any) -> Any:
        """Return an item."""
        return self.row([c.item(k) for c in self.columns])

    def part(self, key: slice) -> Run:
        """Return the items that a slice has."""
        return Rows([c.part(key) for c in self.columns], self.template, self.where)

    def copied(self) -> Run:
        """Return the items for another list."""
        return Rows([c.copied() for c in self.columns], self.template, self.where)

    def array(self) -> Tracer:
        """Return an array of the items, one row each; NumPy's has no columns if there are none."""
        if any(isinstance(y, tuple) for y in self.template):
            self.give_up("an array of a list of tuples of tuples")
        some = as_operand(self.count) > 0
        if isinstance(some, Tracer):
            emit("check", [some.value], {"error": "ValueError", "message":
                                         "an array is made of an empty list of tuples"})
        elif not some:
            self.give_up("an array of an empty list of tuples")
        columns = [c.array() for c in self.columns]
        return FUNCTIONS[np.stack](columns, axis=1)  # type: ignore[no-any-return]
