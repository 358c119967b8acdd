"""Equations of control flow by their parts: how each is laid out is written here alone.

    condition                   -> results          if_    regions: () -> results: true, false
    starts                      -> results          for_   region:  (index, *carried) -> yielded
    starts                      -> trips, *results  while_ regions: (index, *carried) -> test,
                                                                    (index, *carried) -> yielded
                                -> results          map_   region:  (index) -> elements

What a loop carries is in five places: `starts` before the first iteration, `carried` in each,
`tested` where a `while_` tests it, `yielded` for the next one, and `results` after the last.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracejit.ir.core import Atom, Block, Eqn, Value
from tracejit.ir.dims import Dim, maximum
from tracejit.ir.lowering import Region

__all__ = ["IfEqn", "LoopEqn", "MapEqn", "region_kind", "trip_count"]


def region_kind(eqn: Eqn) -> str:
    """Return "if", "for", "while", "map", or "" for an equation without control flow."""
    return eqn.op.lowering.kind if isinstance(eqn.op.lowering, Region) else ""


def trip_count(eqn: Eqn) -> Dim:
    """Return how often the region of a `for_` or `map_` runs."""
    if region_kind(eqn) == "map":
        return MapEqn(eqn).size
    loop = LoopEqn(eqn)
    return maximum(loop.hi - loop.lo, 0)


@dataclass(frozen=True, slots=True)
class LoopEqn:
    """A `for_` or a `while_`."""

    eqn: Eqn

    @property
    def body(self) -> Block:
        """Return the region that is an iteration."""
        return self.eqn.regions[-1]

    @property
    def test(self) -> Block | None:
        """Return the region that a `while_` asks before each iteration."""
        return self.eqn.regions[0] if len(self.eqn.regions) > 1 else None

    @property
    def index(self) -> Value:
        """Return the number of the iteration, in the body."""
        return self.body.inputs[0]

    @property
    def indices(self) -> tuple[Value, ...]:
        """Return the number of the iteration, in each region."""
        return tuple(region.inputs[0] for region in self.eqn.regions)

    @property
    def starts(self) -> tuple[Atom, ...]:
        """Return the operands: what is carried into the first iteration."""
        return self.eqn.inputs

    @property
    def carried(self) -> tuple[Value, ...]:
        """Return what an iteration finds."""
        return self.body.inputs[1:]

    @property
    def tested(self) -> tuple[Value, ...]:
        """Return what the test of a `while_` finds; nothing of a `for_`."""
        return () if self.test is None else self.test.inputs[1:]

    @property
    def yielded(self) -> tuple[Atom, ...]:
        """Return what an iteration leaves to the next."""
        return self.body.outputs

    @property
    def trips(self) -> int:
        """Return 1 if the number of iterations is a result, the first; else 0."""
        return len(self.eqn.outputs) - len(self.eqn.inputs)

    @property
    def results(self) -> tuple[Value, ...]:
        """Return what is carried out of the last iteration."""
        return self.eqn.outputs[self.trips:]

    @property
    def lo(self) -> Dim:
        """Return the least number of an iteration of a `for_`."""
        lo: Dim = self.eqn.params["lo"]
        return lo

    @property
    def hi(self) -> Dim:
        """Return the number behind the largest of a `for_`."""
        hi: Dim = self.eqn.params["hi"]
        return hi

    @property
    def is_reversed(self) -> bool:
        """Return whether a `for_` begins with the largest number."""
        return bool(self.eqn.params["reversed"])


@dataclass(frozen=True, slots=True)
class IfEqn:
    """An `if_`."""

    eqn: Eqn

    @property
    def condition(self) -> Atom:
        """Return the operand that decides."""
        (condition,) = self.eqn.inputs
        return condition

    def branch(self, is_true: object) -> Block:
        """Return the region that runs where the condition is true, or where it is false."""
        return self.eqn.regions[0 if is_true else 1]


@dataclass(frozen=True, slots=True)
class MapEqn:
    """A `map_`."""

    eqn: Eqn

    @property
    def body(self) -> Block:
        """Return the region that is an iteration."""
        (body,) = self.eqn.regions
        return body

    @property
    def index(self) -> Value:
        """Return the number of the iteration."""
        return self.body.inputs[0]

    @property
    def size(self) -> Dim:
        """Return the number of iterations."""
        size: Dim = self.eqn.params["size"]
        return size
