"""Forward and backward beside each other: the places of the nodes and edges of a diagram.

The way back stands at the right of the way forward and runs upwards, each equation beside the one
that it differentiates; its reads of the way forward cross between them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from tracejit.inspection.pictures.diagram import Box, Diagram, Edge, Node
from tracejit.inspection.pictures.layout import rows_by_longest_path
from tracejit.inspection.pictures.placing import Placement, RowHeights, Side, Stroke, fill, put
from tracejit.ir.core import Eqn

__all__ = ["place"]

LANE = 7.0
GUTTER = 36.0


def place(diagram: Diagram) -> Placement:
    """Return the places of the nodes and edges."""
    root = diagram.root
    has_both = {item.role for item in root.items} == {"forward", "backward"}
    if has_both and not _forward_reads_backward(root):
        return _Mirror(root).placement
    return fill(root, is_up=False, is_root=True)


def _forward_reads_backward(box: Box) -> bool:
    return any(e.source.role == "backward" and e.target.role == "forward" for e in box.edges)


class _Mirror:
    """The way forward, and at its right the way back, in common rows."""

    def __init__(self, root: Box) -> None:
        whole = [*root.top, *root.items, *root.bottom]
        self.root = root
        self.is_up = _direction(root) >= 0
        self.forward = Side([i for i in whole if i.role == "forward"], root.edges, is_up=False)
        self.backward = Side([i for i in whole if i.role == "backward"], root.edges,
                              is_up=self.is_up)
        self.crossing = [e for e in root.edges
                         if e.source in self.forward.where and e.target in self.backward.where]
        self.count = self._give_rows()
        self.placement = self._place()

    def _give_rows(self) -> int:
        """Stretch the way forward so that an equation's backward equations fit beside it."""
        forward, backward = self.forward, self.backward
        inputs = len(self.root.top)
        inner = [(a - inputs, b - inputs) for a, b in forward.links() if a >= inputs]
        depth = rows_by_longest_path(len(forward.items) - inputs, inner)
        level = [0] * inputs + [d + 1 for d in depth]
        at, step = self._levels(level)
        steps: dict[int, int] = defaultdict(lambda: 1)
        tallest: dict[int, tuple[float, int]] = {}
        for k, cell in enumerate(backward.cells):
            steps[at[k]] = max(steps[at[k]], step[k] + 1)
            tallest[at[k]] = max(tallest.get(at[k], (0.0, 0)), (cell.height, -step[k]))
        top, base = 0, []
        for k in range(max([0, *level, *at]) + 1):
            base.append(top)
            top += steps[k]

        def row(k: int, s: int) -> int:
            return base[k] + (steps[k] - 1 - s if self.is_up else s)

        for cell, k in zip(forward.cells, level, strict=True):
            cell.row = row(k, -tallest[k][1]) if k in tallest else base[k]
        for cell, k, s in zip(backward.cells, at, step, strict=True):
            cell.row = row(k, s)
        return top

    def _levels(self, level: list[int]) -> tuple[list[int], list[int]]:
        """Return for each backward item the level of the item beside it, and its step there."""
        forward, backward = self.forward, self.backward
        maker = {v: level[k] for k, item in enumerate(forward.items)
                 for e in _eqns(item) for v in e.outputs}
        before: dict[int, list[int]] = defaultdict(list)
        for a, b in backward.links():
            before[b].append(a)
        nearest, lowest = (min, max(level)) if self.is_up else (max, 1)
        at: list[int] = []
        step: list[int] = []
        for k, item in enumerate(backward.items):
            if isinstance(item, Node) and item.kind == "output":
                at.append(0 if self.is_up else max([*level, *at]) + 1)
                step.append(0)
                continue
            known = [maker[e.of] for e in _eqns(item) if e.of in maker][:1]
            known += [at[a] for a in before[k]]
            at.append(nearest(known) if known else lowest)
            step.append(max((step[a] + 1 for a in before[k] if at[a] == at[k]), default=0))
        if not self.is_up:
            last = max(at)
            at = [last if isinstance(i, Node) and i.kind == "output" else a
                  for i, a in zip(backward.items, at, strict=True)]
        return at, step

    def _place(self) -> Placement:
        left_ways = self.forward.arrange(self.count)
        right_ways = self.backward.arrange(self.count)
        rows = RowHeights(self.count)
        rows.hold(self.forward.cells, left_ways)
        rows.hold(self.backward.cells, right_ways)
        nets = self._nets()
        lanes = _first_fit([(n.low, n.high) for n in nets])
        width = self.forward.width(left_ways)
        right = width + GUTTER + LANE * (max(lanes, default=0) + 1)
        tracks = self._tracks(nets, [width + GUTTER / 2 + LANE * k for k in lanes], right)
        for gap, used in tracks.items():
            rows.gaps[gap] = max(rows.gaps[gap], 14.0 + 6.0 * (max(used.values()) + 1))
        placement = Placement()
        placement.height = rows.stack(0.0) + rows.gaps[-1] * bool(tracks.get(self.count - 1))
        placement.width = right + self.backward.width(right_ways)
        put(placement, self.forward, left_ways, rows, 0.0, at_top=not self.is_up)
        put(placement, self.backward, right_ways, rows, right, at_top=not self.is_up)
        for k, net in enumerate(nets):
            lane = width + GUTTER / 2 + LANE * lanes[k]
            placement.strokes += self._cross(placement, rows, net, lane, tracks, k)
        placement.ways = [("forward", "down", 0.0, width),
                          ("backward", "up" if self.is_up else "down", right,
                           placement.width - right)]
        return placement

    def _nets(self) -> list[_Net]:
        """Return the crossing edges by where they come from, with the gaps that they pass."""
        nets: dict[tuple[Node, bool], _Net] = {}
        for edge in self.crossing:
            k, offset = self.forward.where[edge.source]
            cell = self.forward.cells[k]
            start = cell.row
            net = nets.setdefault((edge.source, edge.heavy), _Net(start, cell.x + offset))
            t, arrives = self.backward.where[edge.target]
            gap = self.backward.cells[t].row - (not self.is_up)
            net.edges.append((edge, gap, self.backward.cells[t].x + arrives))
            net.low, net.high = min(net.low, gap), max(net.high, gap)
        return list(nets.values())

    def _tracks(self, nets: Sequence[_Net], lanes: Sequence[float],
                right: float) -> dict[int, dict[int, int]]:
        """Return per gap on which of its horizontal tracks each net runs."""
        spans: dict[int, dict[int, list[float]]] = defaultdict(dict)
        for k, net in enumerate(nets):
            spans[net.gap][k] = [net.x, lanes[k]]
            for _, gap, x in net.edges:
                spans[gap].setdefault(k, [lanes[k]]).append(right + x)
        tracks = {}
        for gap, ends in spans.items():
            fits = _first_fit([(min(e), max(e)) for e in ends.values()])
            tracks[gap] = dict(zip(ends, fits, strict=True))
        return tracks

    def _cross(self, placement: Placement, rows: RowHeights, net: _Net, lane: float,
               tracks: dict[int, dict[int, int]], k: int) -> list[Stroke]:
        strokes = []
        for edge, gap, _ in net.edges:
            source, target = placement.rects[edge.source], placement.rects[edge.target]
            x, z = source.x + source.width * 0.75, target.x + target.width * 0.25
            y = rows.bottom(net.gap) + 8.0 + 6.0 * tracks[net.gap][k]
            end = target.y + target.height if self.is_up else target.y
            points = [(x, source.y + source.height), (x, y)]
            if gap != net.gap:
                w = rows.bottom(gap) + 8.0 + 6.0 * tracks[gap][k]
                points += [(lane, y), (lane, w), (z, w), (z, end)]
            else:
                points += [(z, y), (z, end)]
            strokes.append(Stroke(edge, points, is_square=True))
        return strokes


def _direction(root: Box) -> int:
    """Return how many more edges lead against the order of differentiated equations than along it.

    Edges of gradients lead against it, edges of tangents along it. Where the outermost block leaves
    it open, the regions decide.
    """
    return _votes(root) or sum(map(_votes, _regions(root)))


def _regions(box: Box) -> list[Box]:
    inner = [item for item in box.items if isinstance(item, Box)]
    return [*inner, *(region for item in inner for region in _regions(item))]


def _votes(box: Box) -> int:
    number = {v: k for k, item in enumerate(box.items) for e in _eqns(item) for v in e.outputs}
    of = {}
    for item in box.items:
        known = [number[e.of] for e in _eqns(item) if e.of in number]
        for node in ([item] if isinstance(item, Node) else [*item.top, *item.bottom]):
            of[node] = known[0] if known else None
    known_edges = [(a, b) for edge in box.edges
                   if (a := of.get(edge.source)) is not None
                   and (b := of.get(edge.target)) is not None]
    return sum((a > b) - (a < b) for a, b in known_edges)


@dataclass(slots=True)
class _Net:
    """Edges from one node across: the gap below it, its x, and the gaps that its edges end in."""

    gap: int
    x: float
    low: int = field(init=False)
    high: int = field(init=False)
    edges: list[tuple[Edge, int, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.low = self.high = self.gap


def _eqns(item: Node | Box) -> Sequence[Eqn]:
    if isinstance(item, Box):
        return (item.eqn,) if item.eqn is not None else ()
    return item.eqns


def _first_fit(spans: Sequence[tuple[float, float]]) -> list[int]:
    """Return a lane per span such that no two in a lane overlap."""
    lanes = [0] * len(spans)
    ends: list[float] = []
    for k in sorted(range(len(spans)), key=lambda k: spans[k]):
        low, high = spans[k]
        lane = next((i for i, end in enumerate(ends) if end < low), len(ends))
        ends[lane:lane + 1] = [high]
        lanes[k] = lane
    return lanes
