"""A graph in DOT, the language of Graphviz, with regions as clusters."""

from __future__ import annotations

from collections.abc import Iterator

from tracejit.inspection.pictures.diagram import Box, Edge, Node, diagram_of
from tracejit.ir.core import Graph

__all__ = ["graph_dot"]

FILLS = {"forward": "#e9f1fa", "backward": "#fdf1e4"}
STROKES = {"forward": "#4f7cac", "backward": "#b9722d"}
SHAPES = {("equation", "forward"): 'shape=box, style="filled,rounded"',
          ("equation", "backward"): "shape=octagon, style=filled"}
HEAVY = "#7a4a9e"


def graph_dot(graph: Graph) -> str:
    """Return a graph as DOT text, every equation in it.

    >>> import tracejit
    >>> traced = tracejit.grad(lambda x: x * x * x).trace(2.0)
    >>> print(graph_dot(traced.graph).splitlines()[0])
    digraph "grad[_lambda]" {
    """
    diagram = diagram_of(graph, None)
    lines = [f"digraph {_quoted(graph.name)} {{",
             "  graph [rankdir=TB, fontname=monospace, fontsize=10]",
             "  node [fontname=monospace, fontsize=10, height=0.25, margin=0.06]",
             '  edge [color="#8c959f", arrowsize=0.6]']
    lines += _inside(diagram.root, "  ")
    return "\n".join([*lines, "}"]) + "\n"


def _inside(box: Box, indent: str) -> Iterator[str]:
    """Yield the lines of a box's content."""
    for item in (*box.top, *box.items, *box.bottom):
        if isinstance(item, Node):
            yield f"{indent}{_node(item)}"
            continue
        yield f"{indent}subgraph cluster_{item.number} {{"
        label = f"{item.title} {item.params}".strip()
        yield (f"{indent}  label={_quoted(label)}; tooltip={_quoted(item.tooltip)}; "
               f'color="{STROKES[item.role]}"; fontcolor="{STROKES[item.role]}"')
        yield from _inside(item, indent + "  ")
        yield f"{indent}}}"
    for edge in box.edges:
        yield f"{indent}{_edge(edge)}"


def _node(node: Node) -> str:
    kind = "equation" if node.kind == "folded" else node.kind
    shape = SHAPES.get((kind, node.role), "shape=box, style=rounded")
    label = f"{node.text} {node.label}".strip()
    return (f"n{node.number} [label={_quoted(label)}, tooltip={_quoted(node.tooltip)}, {shape}, "
            f'color="{STROKES[node.role]}", fillcolor="{FILLS[node.role]}"]')


def _edge(edge: Edge) -> str:
    look = f', penwidth=3, color="{HEAVY}"' if edge.heavy else ", style=dotted" if edge.is_size \
        else ""
    return (f"n{edge.source.number} -> n{edge.target.number} "
            f"[tooltip={_quoted(edge.tooltip)}{look}]")


def _quoted(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'
