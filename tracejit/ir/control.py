"""Equations of control flow by their parts: their layout is written here alone.

    if_     condition -> results          regions  () -> results                  where it is true
                                                   () -> results                  where it is false
    for_    starts -> results             region   (index, *carried) -> yielded
    while_  starts -> trips, *results     regions  (index, *tested) -> condition
                                                   (index, *carried) -> yielded
    map_    () -> results                 region   (index) -> elements

A loop's carried values have five names: `starts` before the first iteration, `carried` in each,
`tested` where the condition of a `while_` reads it, `yielded` for the next one, and `results` after
the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress

from tracejit.ir.core import Atom, Block, Eqn, Value
from tracejit.ir.dims import Dim, maximum
from tracejit.ir.lowering import Region

__all__ = ["IfEqn", "LoopEqn", "MapEqn", "bounds_of", "carried_in", "hands_on", "keep_carried",
           "region_kind", "trip_count"]


def region_kind(eqn: Eqn) -> str:
    """Return "if", "for", "while", "map", or "" for an equation without control flow."""
    return eqn.op.lowering.kind if isinstance(eqn.op.lowering, Region) else ""


def bounds_of(eqn: Eqn) -> tuple[Dim, Dim]:
    """Return the least number of an iteration, and the number behind the largest."""
    if region_kind(eqn) == "map":
        return 0, MapEqn(eqn).size
    return LoopEqn(eqn).lo, LoopEqn(eqn).hi


def trip_count(eqn: Eqn) -> Dim:
    """Return how often the region of a `for_` or `map_` runs."""
    lo, hi = bounds_of(eqn)
    return hi if region_kind(eqn) == "map" else maximum(hi - lo, 0)


def carried_in(region: Block) -> tuple[Value, ...]:
    """Return the carried values as a region of a loop finds them."""
    return region.inputs[1:]


def hands_on(regions: Sequence[Block]) -> list[bool]:
    """Return, per carried value of a loop of these regions, whether it stays the same."""
    body = regions[-1]
    return [a is b for a, b in zip(carried_in(body), body.outputs, strict=True)]


def keep_carried(region: Block, keep: Sequence[bool]) -> Block:
    """Return a region of a loop that reads only some of the carried values."""
    inputs = (region.inputs[0], *compress(carried_in(region), keep))
    return Block(inputs, region.eqns, region.outputs)


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
        """Return the operands: the values carried into the first iteration."""
        return self.eqn.inputs

    @property
    def carried(self) -> tuple[Value, ...]:
        """Return the carried values as an iteration finds them."""
        return carried_in(self.body)

    @property
    def tested(self) -> tuple[Value, ...]:
        """Return the carried values as the test of a `while_` finds them; nothing of a `for_`."""
        return () if self.test is None else carried_in(self.test)

    @property
    def yielded(self) -> tuple[Atom, ...]:
        """Return the values that an iteration leaves to the next."""
        return self.body.outputs

    @property
    def trips(self) -> int:
        """Return 1 if the number of iterations is a result, the first; else 0."""
        return len(self.eqn.outputs) - len(self.eqn.inputs)

    @property
    def results(self) -> tuple[Value, ...]:
        """Return the values that the last iteration leaves."""
        return self.eqn.outputs[self.trips:]

    @property
    def lo(self) -> Dim:
        """Return the least number of an iteration."""
        lo: Dim = self.eqn.params.get("lo", 0)
        return lo

    @property
    def hi(self) -> Dim:
        """Return the number behind the largest; of a `while_` it is the first result."""
        hi: Dim = self.eqn.outputs[0].dim if self.trips else self.eqn.params["hi"]
        return hi

    @property
    def is_reversed(self) -> bool:
        """Return whether iterations run from the largest index down."""
        return bool(self.eqn.params.get("reversed", False))


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
