"""Live ranges of arrays and scalars: program points, uses, and interference."""

from __future__ import annotations

from tracejit.codegen.elements import Elements
from tracejit.ir.control import region_kind
from tracejit.ir.core import Atom, Block, Eqn, Graph, Value

__all__ = ["Liveness"]


class Liveness:
    """Program points in the order of the text; a region spans the points inside it.

    A use inside a loop of a value defined outside of it counts at the loop's end, since the loop
    comes back to it. A virtual value is used where the values computed from it are computed.
    """

    def __init__(self, graph: Graph, elements: Elements) -> None:
        self.elements = elements
        self.point: dict[Eqn, int] = {}
        self.end: dict[Eqn, int] = {}
        self.span: dict[Block, tuple[int, int]] = {}
        self.defined: dict[Value, int] = dict.fromkeys(graph.inputs, -1)
        self.uses: dict[Value, list[int]] = {}
        self.branches: list[tuple[tuple[int, int], tuple[int, int]]] = []
        self.loops: list[tuple[int, int]] = []
        self._now = 0
        self._number(graph.block)
        self.last = self._now
        self._collect(graph.block)
        for a in graph.outputs:
            self._use(a, self.last)

    # --- points ---------------------------------------------------------------------------------

    def _tick(self) -> int:
        self._now += 1
        return self._now

    def _number(self, block: Block) -> None:
        start = self._tick()
        self.defined.update((v, start) for v in block.inputs if v not in self.defined)
        for eqn in block.eqns:
            self.point[eqn] = self._tick()
            for region in eqn.regions:
                self._number(region)
            self.end[eqn] = self._tick() if eqn.regions else self.point[eqn]
            self.defined.update(dict.fromkeys(eqn.outputs, self.end[eqn]))
            kind = region_kind(eqn)
            if kind == "if":
                then, other = (self.span[region] for region in eqn.regions)
                self.branches.append((then, other))
            elif kind:
                self.loops.append((self.point[eqn], self.end[eqn]))
        self.span[block] = (start, self._tick())

    # --- uses -----------------------------------------------------------------------------------

    def _collect(self, block: Block) -> None:
        for eqn in block.eqns:
            for region in eqn.regions:
                self._collect(region)
                for a in region.outputs:
                    self._use(a, self.span[region][1])
            if eqn.outputs and all(map(self.elements.is_virtual, eqn.outputs)):
                continue
            for a in (*eqn.inputs, *eqn.uses()):
                self._use(a, self.point[eqn])

    def _use(self, a: Atom, at: int) -> None:
        for v in self.elements.leaves(a):
            self.uses.setdefault(v, []).append(self._extended(v, at))

    def _extended(self, v: Value, at: int) -> int:
        defined = self.defined.get(v, -1)
        for start, end in self.loops:
            if start < at < end and not start < defined < end:
                at = end
        return at

    # --- questions ------------------------------------------------------------------------------

    def is_live_after(self, v: Value, at: int) -> bool:
        """Return whether a value is used after a point, in code that can follow it."""
        return any(use > at and not self._are_exclusive(at, use) for use in self.uses.get(v, ()))

    def interfere(self, a: Value, b: Value) -> bool:
        """Return whether two values are needed at once."""
        first, second = (a, b) if self.defined[a] <= self.defined[b] else (b, a)
        if self.defined[first] == self.defined[second]:
            return True
        return self.is_live_after(first, self.defined[second])

    def _are_exclusive(self, p: int, q: int) -> bool:
        """Whether two points lie in the two branches of one `if_`."""
        for (a, b), (c, d) in self.branches:
            if (a <= p <= b and c <= q <= d) or (a <= q <= b and c <= p <= d):
                return True
        return False
