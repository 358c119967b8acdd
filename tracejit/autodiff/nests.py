"""Where values of a loop nest live: the path of regions from the top to the defining one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tracejit.ir.control import LoopEqn, bounds_of, region_kind
from tracejit.ir.core import Block, Eqn, Value, type_dims
from tracejit.ir.dims import dim_values
from tracejit.ir.types import Type

__all__ = ["ForwardNest", "Home", "forward_region"]


def forward_region(backward: Eqn, k: int, forward: Eqn) -> Block:
    """Return the forward region that a region of the backward equation goes back through.

    A loop on the way back is a `for_` with one region, for any loop on the way forward.
    """
    return LoopEqn(forward).body if region_kind(backward) == "for" else forward.regions[k]


@dataclass(frozen=True, eq=False, slots=True)
class Home:
    """A region of a nest: the equations and region numbers that lead to it from the top."""

    path: tuple[tuple[Eqn, int], ...]

    @property
    def block(self) -> Block:
        """Return the region itself."""
        eqn, k = self.path[-1]
        return eqn.regions[k]

    @property
    def loops(self) -> tuple[Eqn, ...]:
        """Return the loops around it, outermost first."""
        return tuple(e for e, _ in self.path if region_kind(e) != "if")

    def index_of(self, loop: Eqn) -> Value:
        """Return the index of one of the loops."""
        return LoopEqn(loop).index


class ForwardNest:
    """One forward equation with regions, and where the values inside it are defined.

    late -- values that are defined outside of it, but only by itself or after it
    """

    top: Eqn
    late: frozenset[Value]

    def __init__(self, top: Eqn, late: frozenset[Value]) -> None:
        self.top, self.late = top, late
        self.home: dict[Value, Home] = {}
        self.maker: dict[Value, Eqn] = {}
        self.homes: dict[Block, Home] = {}
        self.extra: dict[Block, list[Eqn]] = {}
        """Per region, equations of the way back that could also be computed on the way forward."""
        self._enter(top, ())

    def _enter(self, eqn: Eqn, path: tuple[tuple[Eqn, int], ...]) -> None:
        for k, region in enumerate(eqn.regions):
            home = Home((*path, (eqn, k)))
            self.homes[region] = home
            for v in region.inputs:
                self.home[v] = home
            for e in region.eqns:
                for v in e.outputs:
                    self.home[v] = home
                    self.maker[v] = e
                if region_kind(e):
                    self._enter(e, home.path)

    def adopt(self, eqn: Eqn, block: Block) -> None:
        """Let a region compute an equation of the way back."""
        self.extra.setdefault(block, []).append(eqn)
        for v in eqn.outputs:
            self.home[v] = self.homes[block]
            self.maker[v] = eqn

    def contains(self, v: Value) -> bool:
        """Return whether a value is defined inside."""
        return v in self.home

    def is_there(self, v: Value, block: Block) -> bool:
        """Return whether a region, on the way forward, can read a value.

        A value defined after the nest, or by an enclosing region after the region, comes too late,
        and so does one that an enclosing region adopts.
        """
        home = self.home.get(v)
        if home is None:
            return v not in self.late
        if home.block is block or v in home.block.inputs:
            return True
        around = [e for e, _ in self.homes[block].path]
        first = next(e for e in home.block.eqns if e is self.maker[v] or e in around)
        return first is self.maker[v]

    def is_loop_index(self, v: Value) -> bool:
        """Return whether a value is the index of a loop, which the backward loop has too."""
        eqn, k = self.home[v].path[-1]
        region = eqn.regions[k]
        return bool(region.inputs) and v is region.inputs[0]

    def inner_dims(self, t: Type) -> Iterator[Value]:
        """Yield the values defined inside on which the dims of a type depend."""
        for d in type_dims(t):
            yield from (v for v in dim_values(d) if self.contains(v))

    def is_rectangular(self, v: Value) -> bool:
        """Return whether a value's iterations and its shape are known before the nest begins."""
        loops = self.home[v].loops
        return (all(region_kind(e) != "while" for e in loops)
                and not any(self.contains(w) for e in loops for d in bounds_of(e)
                            for w in dim_values(d))
                and not any(True for _ in self.inner_dims(v.aval)))
