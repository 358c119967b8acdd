"""What of a large graph is drawn one equation at a time, and what is folded into one node."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import groupby

from tracejit.ir.core import Eqn

__all__ = ["opened_in", "role_of", "runs_of"]


def role_of(eqn: Eqn, outer: str = "forward") -> str:
    """Return "forward" or "backward"; what is in a region is of the part that the region is of."""
    return "backward" if eqn.of is not None else outer


def runs_of(eqns: Sequence[Eqn], max_nodes: int | None) -> list[tuple[Eqn, ...]]:
    """Return the equations one by one, or, where they are too many, line by line, or in pieces."""
    if max_nodes is None or len(eqns) <= max_nodes:
        return [(e,) for e in eqns]
    lines = [tuple(run) for _, run in groupby(eqns, lambda e: (role_of(e), e.group, str(e.site)))]
    if len(lines) <= max_nodes:
        return lines
    pieces = []
    size = -(-2 * len(eqns) // max_nodes)
    for _, part in groupby(eqns, lambda e: (role_of(e), e.group)):
        run = tuple(part)
        pieces += [run[k:k + size] for k in range(0, len(run), size)]
    return pieces


def opened_in(runs: Sequence[tuple[Eqn, ...]], max_nodes: int | None) -> set[Eqn]:
    """Return the equations whose regions are drawn, the outer ones first, while there is room."""
    drawn = len(runs)
    queue = deque(run[0] for run in runs if len(run) == 1)
    opened = set()
    while queue:
        eqn = queue.popleft()
        inner = [e for r in eqn.regions for e in r.eqns]
        if eqn.regions and (max_nodes is None or drawn + len(inner) <= max_nodes):
            drawn += len(inner)
            opened.add(eqn)
            queue.extend(inner)
    return opened
