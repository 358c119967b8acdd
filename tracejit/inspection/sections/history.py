"""The history of the passes, as the differences that each has made."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from tracejit.inspection.elements import Element, Line, Paragraph, Section, code_of
from tracejit.inspection.subject import Subject, origins
from tracejit.ir.core import Block, Graph, Value
from tracejit.ir.printer import Names, format_graph

__all__ = ["history_section"]

ROLES = {"+": "added", "-": "removed"}


def history_section(subject: Subject, limit: int) -> Section:
    """Return the changes of each pass; values keep the names that they had before."""
    assert subject.traced is not None
    before = subject.traced.program.graph
    names = Names()
    text = format_graph(before, names).splitlines()
    elements: list[Element] = []
    unchanged: list[str] = []
    for name, graph in subject.traced.history:
        names = _names_after(graph, names)
        after = format_graph(graph, names).splitlines()
        lines = [line for line in difflib.unified_diff(text, after, lineterm="", n=1)
                 if not line.startswith(("---", "+++"))]
        text = after
        if not lines:
            unchanged.append(name)
            continue
        added = sum(line.startswith("+") for line in lines)
        removed = sum(line.startswith("-") for line in lines)
        shown = code_of([Line(line, role=ROLES.get(line[:1], "")) for line in lines], limit)
        elements.append(Section(name, "", shown, f"-{removed} +{added} lines"))
    if unchanged:
        elements.append(Paragraph(f"changed nothing: {', '.join(unchanged)}"))
    changed = sum(isinstance(e, Section) for e in elements)
    return Section("Passes", "passes", elements, f"{changed} of {len(subject.traced.history)} "
                   "changed something")


def _names_after(graph: Graph, before: Names) -> Names:
    """Return names for the values that a pass has made: their origins' names."""
    names = Names()
    names.next = before.next
    names.taken.update(before.given.values())
    given: set[str] = set()
    for v in (*graph.sizes, *_values(graph.block)):
        old = next((before.given[w] for w in origins(v) if w in before.given), None)
        if old is not None and old not in given:
            names.given[v] = old
            given.add(old)
    return names


def _values(block: Block) -> Iterator[Value]:
    yield from block.inputs
    for eqn in block.eqns:
        yield from eqn.outputs
        for region in eqn.regions:
            yield from _values(region)
