"""The names that values have in the printed graph, by which comments and scalars are called."""

from __future__ import annotations

from tracejit.ir.core import Graph, Value
from tracejit.ir.printer import Names, format_block
from tracejit.ir.walk import all_eqns

__all__ = ["label_copies", "label_values"]


def label_values(graph: Graph) -> dict[Value, str]:
    """Return the names that values have in the printed graph."""
    names = Names()
    for v in (*graph.sizes, *graph.inputs):
        names.of(v)
    format_block(graph.block, names, "", "return")
    return names.given


def label_copies(graph: Graph, labels: dict[Value, str]) -> dict[Value, str]:
    """Return the names of values and of their copies; a copy is called like its original."""
    for eqn in all_eqns(graph.block):
        for v in (*(v for r in eqn.regions for v in r.inputs), *eqn.outputs):
            if v not in labels and v.origin in labels:
                labels[v] = labels[v.origin]
    return labels
