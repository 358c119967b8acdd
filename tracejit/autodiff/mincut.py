"""Storing or computing again: the choice for each value, by a minimum cut.

Each value can be stored (its bytes), computed again from its operands (their cost), or neither. A
choice that makes everything available that the backward part reads is a cut between the values that
are there anyway and the values that it reads; the cheapest one is a minimum cut. The formulation
with two costs per value is the project selection problem's (Kleinberg and Tardos, Algorithm Design,
section 7.11).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["CutNode", "choose_stored"]

INFINITE = float("inf")

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class CutNode(Generic[K]):
    """A value: the costs of storing it and of computing it again, and its operands."""

    store: float
    recompute: float
    operands: tuple[K, ...]


def choose_stored(nodes: Mapping[K, CutNode[K]], needed: Iterable[K]) -> set[K]:
    """Return the nodes to store; the other needed ones can be computed again from these.

    Operands that are no nodes are there anyway. Of cuts of one cost the one nearest to the needed
    nodes is taken, which computes the least again.
    """
    flow = _Flow()
    for key, node in nodes.items():
        flow.add(("in", key), ("out", key), node.store)
        flow.add("source", ("in", key), node.recompute)
        for operand in node.operands:
            if operand in nodes:
                flow.add(("out", operand), ("in", key), INFINITE)
    for key in needed:
        flow.add(("out", key), "sink", INFINITE)
    flow.saturate()
    reaching = flow.reaching("sink")
    return {key for key in nodes if ("in", key) not in reaching and ("out", key) in reaching}


class _Flow:
    """Maximum flow by shortest augmenting paths (Edmonds and Karp); graphs here are small."""

    def __init__(self) -> None:
        self.capacity: dict[Hashable, dict[Hashable, float]] = {"source": {}, "sink": {}}

    def add(self, a: Hashable, b: Hashable, capacity: float) -> None:
        forward = self.capacity.setdefault(a, {})
        forward[b] = forward.get(b, 0.0) + capacity
        self.capacity.setdefault(b, {}).setdefault(a, 0.0)

    def saturate(self) -> None:
        while (path := self._path()) is not None:
            amount = min(self.capacity[a][b] for a, b in path)
            if amount == INFINITE:
                raise ValueError("something is needed that can be neither stored nor computed")
            for a, b in path:
                self.capacity[a][b] -= amount
                self.capacity[b][a] += amount

    def _path(self) -> list[tuple[Hashable, Hashable]] | None:
        parent: dict[Hashable, Hashable] = {"source": "source"}
        queue: deque[Hashable] = deque(["source"])
        while queue:
            a = queue.popleft()
            for b, capacity in self.capacity[a].items():
                if capacity > 1e-9 and b not in parent:
                    parent[b] = a
                    if b == "sink":
                        path: list[tuple[Hashable, Hashable]] = []
                        while b != "source":
                            path.append((parent[b], b))
                            b = parent[b]
                        return path
                    queue.append(b)
        return None

    def reaching(self, end: Hashable) -> set[Hashable]:
        """Return the nodes from which `end` can still be reached."""
        found = {end}
        queue = deque([end])
        while queue:
            b = queue.popleft()
            for a in self.capacity[b]:
                if a not in found and self.capacity[a].get(b, 0.0) > 1e-9:
                    found.add(a)
                    queue.append(a)
        return found
