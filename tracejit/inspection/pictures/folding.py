"""The parts of a large graph that are drawn equation by equation, and parts folded into a node."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import groupby

from tracejit.ir.core import Block, Eqn

__all__ = ["opened_in", "runs_of", "way_back"]


def way_back(block: Block) -> Iterator[Eqn]:
    """Yield the equations of a block and its regions that a derivative is made of.

    The first ones name the value that they are of; behind them, equations of no line of the user's
    are part of it too, which put results into their form.
    """
    has_begun = False
    for eqn in block.eqns:
        has_begun = has_begun or eqn.of is not None
        if eqn.of is not None or (has_begun and eqn.site is None):
            yield eqn
        for region in eqn.regions:
            yield from way_back(region)


def runs_of(eqns: Sequence[Eqn], back: set[Eqn], max_nodes: int | None) -> list[tuple[Eqn, ...]]:
    """Return the equations one by one, or, where they are too many, line by line, or in pieces."""
    if max_nodes is None or len(eqns) <= max_nodes:
        return [(e,) for e in eqns]
    lines = [tuple(run) for _, run in groupby(eqns, lambda e: (e in back, e.group, str(e.site)))]
    if len(lines) <= max_nodes:
        return lines
    pieces = []
    size = -(-2 * len(eqns) // max_nodes)
    for _, part in groupby(eqns, lambda e: (e in back, e.group)):
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
