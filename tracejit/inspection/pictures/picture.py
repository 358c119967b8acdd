"""The picture of a graph, as SVG text that needs nothing else: no styles, scripts or fonts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from xml.sax.saxutils import escape

from tracejit.inspection.pictures.diagram import Box, Diagram, Node, diagram_of
from tracejit.inspection.pictures.mirror import place
from tracejit.inspection.pictures.placing import CHARACTER, Placement, Rect, Stroke
from tracejit.ir.core import Graph

__all__ = ["graph_svg"]

MAX_NODES = 300
BORDER = 20.0
HEAD = 44.0
FOOT = 18.0
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
INK, QUIET, LINE, PAPER = "#1f2328", "#6e7781", "#a3abb4", "#ffffff"
FILLS = {"forward": "#e9f1fa", "backward": "#fdf1e4"}
STROKES = {"forward": "#4f7cac", "backward": "#b9722d"}
PANELS = {"forward": "#fafcfe", "backward": "#fffcf8"}
HEAVY = "#7a4a9e"


def graph_svg(graph: Graph, *, max_nodes: int | None = MAX_NODES) -> str:
    """Return a graph's picture as SVG: the way forward runs down, the way back up beside it.

    max_nodes -- how many equations are drawn one by one; where there are more, regions and lines
                 of code are one node each, and the picture says so; None draws all

    >>> import tracejit
    >>> traced = tracejit.grad(lambda x: x * x * x).trace(2.0)
    >>> "<title>%0: f64[] = mul(%x, %x)" in graph_svg(traced.graph)
    True
    """
    diagram = diagram_of(graph, max_nodes)
    return "\n".join(_Drawing(diagram, place(diagram)).lines()) + "\n"


class _Drawing:
    def __init__(self, diagram: Diagram, placement: Placement) -> None:
        self.diagram = diagram
        self.placement = placement

    def lines(self) -> Iterator[str]:
        p = self.placement
        caption = self._caption()
        width = max(p.width, len(self.diagram.name) * 8.0, len(caption) * CHARACTER) + 2 * BORDER
        height = HEAD + p.height + BORDER + (FOOT if caption else 0.0)
        size = f"{_n(width)} {_n(height)}"
        yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(height)}" '
               f'viewBox="0 0 {size}" font-family="{FONT}" font-size="10">')
        yield f"<title>{escape(self.diagram.name)}</title>"
        yield f'<rect width="{_n(width)}" height="{_n(height)}" rx="6" fill="{PAPER}"/>'
        yield (f'<text x="{_n(BORDER)}" y="19" font-size="12" font-weight="bold" fill="{INK}">'
               f'{escape(self.diagram.name)}</text>')
        yield f'<g transform="translate({_n(BORDER)} {_n(HEAD)})">'
        yield from self._panels()
        for box in self._boxes(self.diagram.root):
            yield from self._box(box)
        yield from self._edges()
        for node, rect in p.rects.items():
            if isinstance(node, Node):
                yield self._node(node, rect)
        yield "</g>"
        if caption:
            yield (f'<text x="{_n(BORDER)}" y="{_n(height - 9)}" fill="{QUIET}">{escape(caption)}'
                   '</text>')
        yield "</svg>"

    def _caption(self) -> str:
        edges = [s.edge for s in self.placement.strokes]
        parts = []
        if any(e.heavy for e in edges):
            parts.append("heavy: what the derivatives read of the way forward")
        if any(e.is_size for e in edges):
            parts.append("dotted: read as a size or bound")
        if self.diagram.folded:
            parts.append(f"{self.diagram.folded} equations are folded; "
                         "graph.to_svg(max_nodes=None) draws them")
        return " · ".join(parts)

    def _panels(self) -> Iterator[str]:
        for role, direction, x, width in self.placement.ways:
            word = role if role == "forward" or direction == "up" else "derivatives"
            arrow = "M0 0v8m-3 -3l3 3l3 -3" if direction == "down" else "M0 8v-8m-3 3l3 -3l3 3"
            yield (f'<rect x="{_n(x - 12)}" y="-20" width="{_n(width + 24)}" '
                   f'height="{_n(self.placement.height + 32)}" rx="8" fill="{PANELS[role]}"/>')
            yield (f'<text x="{_n(x + 12)}" y="-6" fill="{STROKES[role]}">{word}</text>'
                   f'<path transform="translate({_n(x + 4)} -13.5)" d="{arrow}" fill="none" '
                   f'stroke="{STROKES[role]}"/>')

    def _boxes(self, box: Box) -> Iterator[Box]:
        for item in box.items:
            if isinstance(item, Box):
                yield item
                yield from self._boxes(item)

    def _box(self, box: Box) -> Iterator[str]:
        rect = self.placement.rects[box]
        yield (f'<g fill="none" stroke="{STROKES[box.role]}"><title>{escape(box.tooltip)}</title>'
               f'{_shape(rect, box.role, 6.0, PAPER)}</g>')
        title = self.placement.titles.get(box)
        if title is not None:
            x, y = title.x, title.y + 12
            yield (f'<text x="{_n(x)}" y="{_n(y)}" font-size="11" font-weight="bold" '
                   f'fill="{STROKES[box.role]}">{escape(box.title)}</text>')
            if box.params:
                yield (f'<text x="{_n(x)}" y="{_n(y + 12)}" fill="{QUIET}">'
                       f'{escape(box.params)}</text>')

    def _edges(self) -> Iterator[str]:
        """Draw all edges of a kind from one node as one path; shared parts are drawn once."""
        nets: dict[tuple[Node, bool, bool, bool], list[Stroke]] = {}
        for s in self.placement.strokes:
            edge = s.edge
            nets.setdefault((edge.source, edge.heavy, edge.is_size, s.is_square), []).append(s)
        for (_, heavy, is_size, _), strokes in sorted(nets.items(), key=lambda n: n[0][1]):
            path: list[str] = []
            heads: list[str] = []
            for s in strokes:
                path += _square(s.points) if s.is_square else _smooth(s.points)
                heads.append(_head(s.points, 4.0 if heavy else 3.0))
            colour = HEAVY if heavy else LINE
            look = f'stroke="{colour}" stroke-width="{2.4 if heavy else 1.1}"'
            dash = ' stroke-dasharray="2 3"' if is_size else ""
            yield (f'<g fill="none" {look}><title>{escape(strokes[0].edge.tooltip)}</title>'
                   f'<path d="{"".join(dict.fromkeys(path))}"{dash}/>'
                   f'<path d="{"".join(dict.fromkeys(heads))}" fill="{colour}" stroke="none"/></g>')

    def _node(self, node: Node, rect: Rect) -> str:
        fill = PAPER if node.kind in ("input", "output", "port") else FILLS[node.role]
        radius = rect.height / 2 if node.kind in ("input", "output") else 3.0
        role = "forward" if node.kind in ("input", "output") else node.role
        x, y = rect.x + 6, rect.y + rect.height / 2 + 3.5
        label = (f'<tspan dx="6" fill="{QUIET}">{escape(node.label)}</tspan>' if node.label else "")
        return (f'<g stroke="{STROKES[node.role]}"><title>{escape(node.tooltip)}</title>'
                f'{_shape(rect, role, radius, fill)}'
                f'<text x="{_n(x)}" y="{_n(y)}" fill="{INK}" stroke="none">{escape(node.text)}'
                f'{label}</text></g>')


def _n(x: float) -> str:
    """Return a coordinate to a tenth."""
    return f"{x:.1f}".removesuffix(".0")


def _shape(rect: Rect, role: str, radius: float, fill: str) -> str:
    """Return a rectangle, its corners round in the way forward and cut in the way back."""
    x, y, w, h = rect.x, rect.y, rect.width, rect.height
    if role == "forward":
        return (f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(w)}" height="{_n(h)}" '
                f'rx="{_n(radius)}" fill="{fill}"/>')
    c = 5.0
    return (f'<path d="M{_n(x + c)} {_n(y)}h{_n(w - 2 * c)}l{_n(c)} {_n(c)}v{_n(h - 2 * c)}'
            f'l{_n(-c)} {_n(c)}h{_n(2 * c - w)}l{_n(-c)} {_n(-c)}v{_n(2 * c - h)}z" '
            f'fill="{fill}"/>')


def _smooth(points: list[tuple[float, float]]) -> Iterator[str]:
    for (x, y), (z, w) in pairwise(points):
        if abs(x - z) < 0.05:
            if abs(y - w) > 0.05:
                yield f"M{_n(x)} {_n(y)}V{_n(w)}"
        else:
            m = (y + w) / 2
            yield f"M{_n(x)} {_n(y)}C{_n(x)} {_n(m)} {_n(z)} {_n(m)} {_n(z)} {_n(w)}"


def _square(points: list[tuple[float, float]]) -> Iterator[str]:
    """Yield lines with rounded corners."""
    x, y = points[0]
    text = f"M{_n(x)} {_n(y)}"
    for (a, b), (c, d), (e, f) in zip(points, points[1:], points[2:], strict=False):
        r = min(5.0, (abs(c - a) + abs(d - b)) / 2, (abs(e - c) + abs(f - d)) / 2)
        before = (c - r * _sign(c - a), d - r * _sign(d - b))
        after = (c + r * _sign(e - c), d + r * _sign(f - d))
        text += (f"L{_n(before[0])} {_n(before[1])}Q{_n(c)} {_n(d)} "
                 f"{_n(after[0])} {_n(after[1])}")
    yield f"{text}L{_n(points[-1][0])} {_n(points[-1][1])}"


def _sign(x: float) -> int:
    return (x > 0) - (x < 0)


def _head(points: list[tuple[float, float]], size: float) -> str:
    """Return an arrow's head at the end of an edge, which is vertical there."""
    (_, y), (x, w) = points[-2:]
    up = size * 1.6 * (1 if w > y else -1)
    return f"M{_n(x)} {_n(w)}l{_n(-size)} {_n(-up)}h{_n(2 * size)}z"
