"""Each primal equation beside its adjoint equations, or beside the reason why it has none."""

from __future__ import annotations

from collections.abc import Iterator

from tracejit.inspection.elements import Section, TableRow, count_text, table_of
from tracejit.inspection.subject import Subject, applied_text, line_text, names_of, origins
from tracejit.ir.control import region_kind
from tracejit.ir.core import Block, Eqn, Graph, Value
from tracejit.ir.printer import Names, format_type
from tracejit.ir.walk import all_eqns

__all__ = ["adjoints_section"]

COLUMNS = ("line", "primal", "after passes", "adjoint, or why there is none")

PASSED_ON = "(its cotangent goes on as it is)"
DECIDES = "(decides how often the loop runs; no cotangent gets here)"
FOLDED = "(folded into other lines by the passes)"


def adjoints_section(subject: Subject, limit: int) -> Section:
    """Return a table of the forward equations, each with the equations that differentiate it."""
    primal = subject.graph.primal or subject.graph.block
    backward = _adjoints(subject, primal)
    before = set() if subject.traced is None else {
        v for e in all_eqns(subject.traced.program.graph.block) if e.of is not None
        for v in origins(e.of)}
    names = _names(subject, primal)
    deciding = {e for eqn, _ in _walk(primal) if region_kind(eqn) == "while"
                for e, _ in _walk(eqn.regions[0])}
    rows: list[TableRow] = []
    for eqn, depth in _walk(primal):
        if eqn.of is not None and subject.graph.primal is None:
            continue
        adjoint = [e for v in eqn.outputs for e in backward.pop(v, ())]
        otherwise = DECIDES if eqn in deciding else FOLDED if any(
            v in before for v in eqn.outputs) else PASSED_ON
        rows.append(_row(subject, eqn, depth, adjoint, names, otherwise))
    rest = [e for eqns in backward.values() for e in eqns]
    if rest:
        rows.append(TableRow(("", "", "(read back)", _adjoint_text(subject, rest)),
                        "backward"))
    pruned = sum(row.role == "pruned" for row in rows)
    count = count_text(len(rows) - bool(rest), "primal equation")
    return Section("Adjoints", "adjoints", table_of(COLUMNS, rows, limit, COLUMNS[1:]),
                   f"{count}, {pruned} without a backward part")


def _walk(block: Block, depth: int = 0) -> Iterator[tuple[Eqn, int]]:
    for eqn in block.eqns:
        yield eqn, depth
        for region in eqn.regions:
            yield from _walk(region, depth + 1)


def _adjoints(subject: Subject, primal: Block) -> dict[Value | None, list[Eqn]]:
    """Return the backward equations by the primal value that they differentiate."""
    values = {v for eqn, _ in _walk(primal) for v in eqn.outputs}
    found: dict[Value | None, list[Eqn]] = {}
    for eqn in subject.eqns:
        if eqn.of is not None:
            of = next((v for v in origins(eqn.of) if v in values), None)
            found.setdefault(of, []).append(eqn)
    return found


def _names(subject: Subject, primal: Block) -> Names:
    """Return names for the primal: the final graph's where a value is still there."""
    names = Names()
    names.taken.update(subject.names.given.values())
    names.next = subject.names.next
    for old, v in subject.by_origin.items():
        names.given[old] = subject.names.of(v)
    return names_of(Graph("", subject.graph.sizes, primal), names)


def _row(subject: Subject, eqn: Eqn, depth: int, adjoint: list[Eqn], names: Names,
         otherwise: str) -> TableRow:
    outputs = ", ".join(f"{names.ref(v)}: {format_type(v.aval, names)}" for v in eqn.outputs)
    text = f"{'  ' * depth}{outputs} = {applied_text(eqn, names)}"
    now = ", ".join(dict.fromkeys(names.ref(subject.by_origin[v]) for v in eqn.outputs
                                  if v in subject.by_origin)) or "dropped"
    reason = subject.reasons_by_eqn.get(eqn, "")
    role, right = ("pruned", reason) if reason and not adjoint else (
        "forward", _adjoint_text(subject, adjoint) or otherwise)
    return TableRow((line_text(eqn.site), text, now, right), role)


def _adjoint_text(subject: Subject, eqns: list[Eqn]) -> str:
    return "\n".join(f"{subject.results(e)} = {subject.applied(e)}" for e in eqns)
