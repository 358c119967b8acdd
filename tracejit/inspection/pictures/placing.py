"""Where the nodes, boxes and edges of a diagram are drawn: boxes, from the inside out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tracejit.inspection.pictures.diagram import Box, Edge, Node
from tracejit.inspection.pictures.layout import LayoutCell, Wire, arrange, rows_by_longest_path

__all__ = ["CHARACTER", "Placement", "Rect", "RowHeights", "Side", "Stroke", "fill", "put"]

CHARACTER = 6.02
"""Width of a character of a fixed-width font of 10 pixels; no common one is wider."""

NODE_HEIGHT = 20.0
PORT_HEIGHT = 16.0
TITLE_HEIGHT = 28.0
MARGIN = 10.0
ROW_GAP = 22.0

Point = tuple[float, float]


@dataclass(slots=True)
class Rect:
    """A rectangle, its origin at the top left."""

    x: float
    y: float
    width: float
    height: float


@dataclass(slots=True)
class Stroke:
    """An edge through points: lines, and smooth curves, or corners, where the x changes."""

    edge: Edge
    points: list[Point]
    is_square: bool = False


@dataclass(slots=True)
class Placement:
    """All of a picture's geometry; `ways` are the headings of columns with x and width."""

    width: float = 0.0
    height: float = 0.0
    rects: dict[Node | Box, Rect] = field(default_factory=dict)
    titles: dict[Box, Rect] = field(default_factory=dict)
    strokes: list[Stroke] = field(default_factory=list)
    ways: list[tuple[str, str, float, float]] = field(default_factory=list)
    """(role, direction "up" or "down", x, width)"""


def _size(node: Node) -> tuple[float, float]:
    characters = len(node.text) + (len(node.label) + 1.5 if node.label else 0)
    height = PORT_HEIGHT if node.kind == "port" else NODE_HEIGHT
    return round(characters * CHARACTER + 12.0), height


def _title_size(box: Box) -> tuple[float, float]:
    return round(max(len(box.title) * 1.1, len(box.params)) * CHARACTER + 8.0), TITLE_HEIGHT


class Side:
    """Items that are arranged together, with the edges that begin and end at them.

    `cells` are of items, and `inner` are the placements of the boxes among them. Edges end at an
    item or at a port of it.
    """

    items: list[Node | Box]
    edges: list[Edge]

    def __init__(self, items: Sequence[Node | Box], edges: Sequence[Edge], *, is_up: bool) -> None:
        self.items = list(items)
        self.is_up = is_up
        self.inner: dict[int, Placement] = {}
        self.where: dict[Node, tuple[int, float]] = {}
        self.cells: list[LayoutCell] = []
        for k, item in enumerate(self.items):
            if isinstance(item, Box):
                inside = self.inner[k] = fill(item, is_up=is_up)
                self.cells.append(LayoutCell(inside.width, inside.height))
                for port in (*item.top, *item.bottom):
                    rect = inside.rects[port]
                    self.where[port] = k, rect.x + rect.width / 2 - inside.width / 2
            else:
                self.cells.append(LayoutCell(*_size(item)))
                self.where[item] = k, 0.0
        self.edges = [e for e in edges if e.source in self.where and e.target in self.where]

    def links(self) -> list[tuple[int, int]]:
        """Return which item each edge leads from and to."""
        return [(self.where[e.source][0], self.where[e.target][0]) for e in self.edges]

    def arrange(self, rows: int) -> list[list[tuple[int, float]]]:
        """Give every cell its x, and return each edge's way through the rows."""
        if self.is_up:
            for cell in self.cells:
                cell.row = rows - 1 - cell.row
        wires = [Wire(*link, self.where[e.source][1], self.where[e.target][1])
                 for link, e in zip(self.links(), self.edges, strict=True)]
        ways = arrange(self.cells, wires)
        if self.is_up:
            for cell in self.cells:
                cell.row = rows - 1 - cell.row
            ways = [[(rows - 1 - row, x) for row, x in way] for way in ways]
        left = min((c.x - c.width / 2 for c in self.cells), default=0.0)
        left = min([left, *(x for way in ways for _, x in way)])
        for cell in self.cells:
            cell.x -= left
        return [[(row, x - left) for row, x in way] for way in ways]

    def width(self, ways: list[list[tuple[int, float]]]) -> float:
        return max([0.0, *(c.x + c.width / 2 for c in self.cells),
                    *(x for way in ways for _, x in way)])


class RowHeights:
    """The y of rows: how high each is, and the gap below it."""

    heights: list[float]
    gaps: list[float]

    def __init__(self, count: int) -> None:
        self.heights = [0.0] * count
        self.gaps = [ROW_GAP] * count
        self.tops: list[float] = []

    def hold(self, cells: Sequence[LayoutCell], ways: list[list[tuple[int, float]]]) -> None:
        """Make room for cells, and for curves that lead far aside."""
        for cell in cells:
            self.heights[cell.row] = max(self.heights[cell.row], cell.height)
        for way in ways:
            for (a, x), (b, z) in pairwise(way):
                gap = ROW_GAP + min(24.0, abs(z - x) * 0.06)
                self.gaps[min(a, b)] = max(self.gaps[min(a, b)], gap)

    def stack(self, y: float) -> float:
        """Give rows their y and return where the last one ends."""
        for height, gap in zip(self.heights, self.gaps, strict=True):
            self.tops.append(y)
            y += height + gap
        return y - self.gaps[-1]

    def bottom(self, row: int) -> float:
        return self.tops[row] + self.heights[row]

    def points(self, way: list[tuple[int, float]], start: float, end: float) -> list[Point]:
        """Return the points of an edge, from the y of its source's border to its target's."""
        is_down = way[0][0] < way[-1][0]
        points = [(way[0][1], start)]
        for row, x in way:
            edges = (self.tops[row], self.bottom(row))
            near, far = edges if is_down else edges[::-1]
            points += [(x, near), (x, far)]
        return [points[0], *points[2:-1], (way[-1][1], end)]


def put(placement: Placement, side: Side, ways: list[list[tuple[int, float]]], rows: RowHeights,
         left: float, *, at_top: bool, flush: dict[int, float] | None = None) -> None:
    """Add the items and edges of a side to a placement.

    left   -- its x
    at_top -- whether items stand at the top of their rows, or at the bottom
    flush  -- the y of items at a border
    """
    tops = [rows.tops[c.row] if at_top else rows.bottom(c.row) - c.height for c in side.cells]
    for k, y in (flush or {}).items():
        tops[k] = y
    for k, (item, cell) in enumerate(zip(side.items, side.cells, strict=True)):
        rect = Rect(left + cell.x - cell.width / 2, tops[k], cell.width, cell.height)
        placement.rects[item] = rect
        if k in side.inner:
            _move(side.inner[k], rect.x, rect.y)
            placement.rects.update(side.inner[k].rects)
            placement.titles.update(side.inner[k].titles)
            placement.strokes += side.inner[k].strokes
    for edge, way, (a, b) in zip(side.edges, ways, side.links(), strict=True):
        start, end = tops[a] + side.cells[a].height, tops[b]
        if side.is_up:
            start, end = tops[a], tops[b] + side.cells[b].height
        moved = [(row, x + left) for row, x in way]
        placement.strokes.append(Stroke(edge, rows.points(moved, start, end)))


def _move(placement: Placement, x: float, y: float) -> None:
    for rect in (*placement.rects.values(), *placement.titles.values()):
        rect.x += x
        rect.y += y
    for stroke in placement.strokes:
        stroke.points = [(a + x, b + y) for a, b in stroke.points]


def fill(box: Box, *, is_up: bool, is_root: bool = False) -> Placement:
    """Return the inside of a box, from (0, 0), with its ports at its border."""
    items = [*box.top, *box.items, *box.bottom]
    side = Side(items, box.edges, is_up=is_up)
    first, last = len(box.top), len(box.top) + len(box.items)
    inner = [(a - first, b - first) for a, b in side.links() if first <= a < last > b]
    depth = rows_by_longest_path(len(box.items), inner)
    has_title = bool(box.title) and not is_root
    has_top = bool(box.top) or (has_title and not is_up)
    has_bottom = bool(box.bottom) or (has_title and is_up)
    count = max(depth, default=-1) + 1 + has_top + has_bottom
    for k, cell in enumerate(side.cells):
        row = 0 if k < first else count - 1 if k >= last else depth[k - first] + has_top
        cell.row = count - 1 - row if is_up else row
    if has_title:
        side.cells.append(LayoutCell(*_title_size(box), row=0, is_first=True))
    ways = side.arrange(count)
    title = side.cells.pop() if has_title else None
    rows = RowHeights(count)
    rows.hold([*side.cells, title] if title else side.cells, ways)
    opens, closes = (has_bottom, has_top) if is_up else (has_top, has_bottom)
    height = rows.stack(0.0 if opens or is_root else MARGIN)
    height += 0.0 if closes or is_root else MARGIN
    cells = [*side.cells, title] if title else side.cells
    width = max([0.0, *(c.x + c.width / 2 for c in cells), *(x for w in ways for _, x in w)])
    flush = {} if is_root else {
        k: 0.0 if (k < first) != is_up else height - side.cells[k].height
        for k in range(len(items)) if not first <= k < last}
    left = 0.0 if is_root else MARGIN
    placement = Placement(width + 2 * left, height)
    put(placement, side, ways, rows, left, at_top=not is_up, flush=flush)
    if title:
        placement.titles[box] = Rect(left, 0.0, title.width, title.height)
    return placement
