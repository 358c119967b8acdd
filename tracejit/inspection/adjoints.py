"""Each primal equation beside its adjoint equations, or beside the reason why it has none."""

from __future__ import annotations

from collections.abc import Iterator

from tracejit.inspection.elements import Element, Paragraph, Row, Section, Table
from tracejit.inspection.subject import Subject, applied_text, line_text, names_of, origins
from tracejit.ir.core import Block, Eqn, Graph, Value
from tracejit.ir.printer import Names, format_type

__all__ = ["adjoints_section"]

COLUMNS = ("line", "primal", "adjoint, or why there is none")


def adjoints_section(subject: Subject, limit: int) -> Section:
    """Return a table of what was differentiated: each equation with what differentiates it."""
    primal = subject.graph.primal or subject.graph.block
    backward = _adjoints_by_primal(subject)
    names = _names(subject, primal)
    rows: list[Row] = []
    for eqn, depth in _walk(primal):
        if eqn.of is not None and subject.graph.primal is None:
            continue
        adjoint = [e for v in eqn.outputs for e in backward.pop(v, ())]
        rows.append(_row(subject, eqn, depth, adjoint, names))
    rest = [e for eqns in backward.values() for e in eqns]
    if rest:
        rows.append(Row(("", "(the start of the way back)", _adjoint_text(subject, rest)),
                        "backward"))
    elements: list[Element] = [Table(COLUMNS, tuple(rows[:limit]), frozenset(COLUMNS[1:]))]
    if len(rows) > limit:
        elements.append(Paragraph(f"{len(rows) - limit} rows are left out: "
                                  f"report(limit={len(rows)}) shows all"))
    pruned = sum(row.role == "pruned" for row in rows)
    return Section("Adjoints", "adjoints", elements,
                   f"{len(rows)} primal equations, {pruned} without a backward part")


def _walk(block: Block, depth: int = 0) -> Iterator[tuple[Eqn, int]]:
    for eqn in block.eqns:
        yield eqn, depth
        for region in eqn.regions:
            yield from _walk(region, depth + 1)


def _adjoints_by_primal(subject: Subject) -> dict[Value, list[Eqn]]:
    """Return the backward equations by the value before the passes that they differentiate."""
    found: dict[Value, list[Eqn]] = {}
    for eqn in subject.eqns:
        if eqn.of is not None:
            *_, first = origins(eqn.of)
            found.setdefault(first, []).append(eqn)
    return found


def _names(subject: Subject, primal: Block) -> Names:
    """Return names for the primal: those of the final graph where a value is still there."""
    names = Names()
    names.taken.update(subject.names.given.values())
    names.next = subject.names.next
    for old, v in subject.by_origin.items():
        names.given[old] = subject.names.of(v)
    return names_of(Graph("", subject.graph.sizes, primal), names)


def _row(subject: Subject, eqn: Eqn, depth: int, adjoint: list[Eqn], names: Names) -> Row:
    outputs = ", ".join(f"{names.ref(v)}: {format_type(v.aval, names)}" for v in eqn.outputs)
    text = f"{'  ' * depth}{outputs} = {applied_text(eqn, names)}"
    if not any(v in subject.by_origin for v in eqn.outputs):
        text += "   (nothing reads it any more)"
    reason = next((subject.reasons[v] for v in eqn.outputs if v in subject.reasons), "")
    if adjoint:
        return Row((line_text(eqn.site), text, _adjoint_text(subject, adjoint)), "forward", depth)
    if reason:
        return Row((line_text(eqn.site), text, reason), "pruned", depth)
    return Row((line_text(eqn.site), text, _why_empty(subject, eqn)), "forward", depth)


def _why_empty(subject: Subject, eqn: Eqn) -> str:
    """Return why an equation that was differentiated has left no equations."""
    if not subject.has_backward:
        return "nothing is differentiated"
    return "its cotangent goes on as it is, or folds into what follows"


def _adjoint_text(subject: Subject, eqns: list[Eqn]) -> str:
    return "\n".join(f"{subject.results(e)} = {subject.applied(e)}" for e in eqns)
