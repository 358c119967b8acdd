"""The IR table: every equation with its type, its line, and the part of the program it is in."""

from __future__ import annotations

from tracejit.inspection.elements import (
    CodeBlock,
    Element,
    Line,
    Paragraph,
    Role,
    Section,
    Table,
    TableRow,
    count_text,
)
from tracejit.inspection.subject import Subject, inputs_text, line_text
from tracejit.ir.core import Block, Eqn
from tracejit.ir.walk import all_eqns

__all__ = ["equations_section", "part_of", "role_of"]

COLUMNS = ("result", "type", "equation", "line", "part")
CODE = frozenset(("result", "type", "equation"))

FEW = 60
"""Up to so many equations all regions are shown unfolded."""


def role_of(subject: Subject, eqn: Eqn, outer: Role = "") -> Role:
    """Return the role of an equation; `outer` is the role of the region's equation."""
    if eqn in subject.back or outer == "backward":
        return "backward"
    if not subject.has_backward:
        return ""
    return "pruned" if subject.reason(eqn) else "forward"


def part_of(subject: Subject, eqn: Eqn, role: Role) -> str:
    """Return in words the part of the program that an equation belongs to."""
    if role == "pruned":
        return f"forward only: {subject.reason(eqn)}"
    if eqn.of is not None and eqn.of in subject.names.given:
        return f"backward of {subject.names.ref(eqn.of)}"
    return role


def equations_section(subject: Subject, limit: int) -> Section:
    """Return the table of a graph, regions as sections in it, with no more than `limit` rows."""
    writer = _BlockWriter(subject, limit)
    elements = writer.block(subject.graph.block, "return", "")
    if writer.left_out:
        elements.append(Paragraph(f"{count_text(writer.left_out, 'equation')} left out here: "
                                  "print(graph) shows all"))
    return Section("IR", "ir", elements,
                   f"{count_text(len(subject.eqns), 'equation')} after all passes", is_open=True)


class _BlockWriter:
    """Writes blocks as tables, until a limit is reached."""

    def __init__(self, subject: Subject, limit: int) -> None:
        self.subject, self.room = subject, limit
        self.left_out = 0

    def block(self, block: Block, end: str, outer: Role) -> list[Element]:
        elements: list[Element] = []
        rows: list[TableRow] = []

        def flush() -> None:
            if rows:
                elements.append(Table(COLUMNS, tuple(rows), CODE, linked="line"))
                rows.clear()

        for eqn in block.eqns:
            if self.room <= 0:
                self.left_out += 1 + sum(1 for r in eqn.regions for _ in all_eqns(r))
                continue
            self.room -= 1
            role = role_of(self.subject, eqn, outer)
            row = self._row(eqn, role)
            if not eqn.regions:
                rows.append(row)
                continue
            flush()
            elements.append(self._region(eqn, row, role))
        names = self.subject.names
        last = f"{end} {', '.join(map(names.atom, block.outputs))}".rstrip()
        if rows or not elements:
            rows.append(TableRow(("", "", last, "", ""), outer))
            flush()
        else:
            elements.append(CodeBlock((Line(last),)))
        return elements

    def _row(self, eqn: Eqn, role: Role) -> TableRow:
        subject = self.subject
        return TableRow((subject.results(eqn), subject.types(eqn), subject.applied(eqn),
                    line_text(eqn.site), part_of(subject, eqn, role)), role,
                   anchor=subject.results(eqn).partition(",")[0], link=line_text(eqn.site))

    def _region(self, eqn: Eqn, row: TableRow, role: Role) -> Section:
        """Return an equation with regions as a section: one for each of several regions."""
        results, types, applied, line, part = row.cells
        inside = sum(1 for r in eqn.regions for _ in all_eqns(r))
        elements: list[Element] = [
            Table(COLUMNS, (row,), CODE, linked="line")] if len(applied) > 60 else []
        for k, region in enumerate(eqn.regions):
            inputs = inputs_text(region, self.subject.names)
            body = self.block(region, "yield", role)
            name = region_name(eqn, k)
            elements.append(Section(f"{name} ({inputs})", "", body, is_open=True))
        shown = applied if len(applied) <= 60 else f"{eqn.op.name}(...)"
        title = f"{results} = {shown}"
        facts = (types, line, part, f"{count_text(inside, 'equation')} inside")
        summary = ", ".join(filter(None, facts))
        return Section(title, "", elements, summary, is_open=len(self.subject.eqns) <= FEW)


def region_name(eqn: Eqn, k: int) -> str:
    """Return the name of a region of an equation."""
    if len(eqn.regions) == 1:
        return "each time"
    lowering = getattr(eqn.op.lowering, "kind", "")
    names = ("condition", "body") if lowering == "while" else ("if true", "if false")
    return names[k] if k < len(names) else f"region {k}"
