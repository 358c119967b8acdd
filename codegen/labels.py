"""The names that values have in the printed graph, by which comments and scalars are called."""

from __future__ import annotations

from tracejit.ir.core import Graph, Value
from tracejit.ir.printer import Names, format_block
from tracejit.ir.walk import bound_values

__all__ = ["label_values"]


def label_values(graph: Graph, carried_out: Graph) -> dict[Value, str]:
    """Return the names of all values of a graph, as printed, and of the graph carried out for it.

    There a copy is called like its original; other values that a pass has made get numbers that
    follow.
    """
    names = Names()
    _name_all(names, graph)
    for v in bound_values(carried_out.block):
        original: Value | None = v
        while original is not None and original not in names.given:
            original = original.origin
        if original is not None:
            names.given[v] = names.given[original]
    _name_all(names, carried_out)
    return names.given


def _name_all(names: Names, graph: Graph) -> None:
    """Name the values that are printed of a graph, in its order."""
    for v in (*graph.sizes, *graph.inputs):
        names.of(v)
    format_block(graph.block, names, "", "return")
