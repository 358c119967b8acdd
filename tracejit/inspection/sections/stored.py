"""Stored values, and why: residuals of loops for the way back, and arrays that get memory."""

from __future__ import annotations

from tracejit.autodiff.keeping import Kept
from tracejit.inspection.elements import Paragraph, Section, TableRow, count_text, table_of
from tracejit.inspection.subject import Subject, line_text
from tracejit.ir.dims import Dim, format_dim, product

__all__ = ["memory_section", "stored_section"]


def stored_section(subject: Subject, limit: int) -> Section:
    """Return, for each loop nest and branch, its residuals."""
    kept = [note for note in subject.graph.notes if isinstance(note, Kept)]
    count = sum(len(k.stored) for k in kept)
    if not kept:
        return Section("Stored", "stored", [Paragraph(_why_nothing(subject))], "nothing")
    return Section("Stored", "stored", [_of_loop(k, limit) for k in kept],
                   f"{count_text(count, 'value')} for the way back")


def _why_nothing(subject: Subject) -> str:
    if not subject.has_backward:
        return "Nothing is stored: there is no way back."
    return ("Nothing is stored beyond what the program computes anyway: no loop or branch of the "
            "program has a way back that reads what is inside of it.")


def _of_loop(kept: Kept, limit: int) -> Section:
    rows = [TableRow((r.name, f"{r.bytes}" + (" each time, in a Log" if r.in_log else ""), r.why,
                 ", ".join(r.read_by)), "forward") for r in kept.stored]
    rows += [TableRow((w, "none", f"read from where the next iteration has {v}", ""), "forward")
             for w, v in kept.ahead]
    rows += [TableRow((name, "none", "computed again from what is stored", ""), "backward")
             for name in kept.again]
    columns = ("value", "bytes", "why", "read by")
    elements = table_of(columns, rows, limit) if rows else [Paragraph("nothing is stored")]
    total = _total(kept)
    return Section(f"{kept.what}, {line_text(kept.site)}", "", elements, total, is_open=True)


def _total(kept: Kept) -> str:
    whole: Dim = sum((r.bytes for r in kept.stored if not r.in_log), 0)
    each: Dim = sum((r.bytes for r in kept.stored if r.in_log), 0)
    parts = [f"{whole} bytes"] if whole != 0 else []
    if each != 0:
        parts.append(f"{each} bytes each time")
    return " and ".join(parts) or "nothing"


def memory_section(subject: Subject, limit: int) -> Section:
    """Return which arrays get memory of their own, how much, and why; all others are virtual."""
    assert subject.lowered is not None
    kernel = subject.lowered.kernel
    names = subject.names
    rows = []
    for buffer in kernel.arena:
        labels = ", ".join(f"%{kernel.labels[v]}" for v in buffer.values if v in kernel.labels)
        size = format_dim(product((buffer.size, buffer.dtype.itemsize)), names.ref)
        why = dict.fromkeys(kernel.reasons[v] for v in buffer.values if kernel.reasons.get(v))
        rows.append(TableRow((buffer.name, labels, size, "; ".join(why))))
    columns = ("buffer", "holds", "bytes", "why")
    elements = table_of(columns, rows, limit, columns[:2]) if rows else [
        Paragraph("No array but arguments and results gets memory: each element is computed where "
                  "it is used.")]
    return Section("Memory", "memory", elements,
                   f"{count_text(len(rows), 'array')} beside arguments and results")
