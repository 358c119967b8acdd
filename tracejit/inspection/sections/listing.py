"""The user's source beside the IR beside the emitted code, line by line."""

from __future__ import annotations

from collections.abc import Iterator

from tracejit.codegen.python_source import write
from tracejit.inspection.elements import (
    Line,
    Paragraph,
    Section,
    TableRow,
    code_of,
    count_text,
    table_of,
)
from tracejit.inspection.subject import Subject
from tracejit.ir.cells import short_name
from tracejit.trace.ground.trees import line_text

__all__ = ["listing_section", "source_section"]

COLUMNS = ("line", "your source", "IR", "emitted code")

Place = tuple[str, int]


def listing_section(subject: Subject, limit: int) -> Section:
    """Return a table with a row per line of the user's: its equations, and their emitted code."""
    equations: dict[Place, list[str]] = {}
    for eqn in subject.eqns:
        if eqn.site is not None:
            file, line, _ = eqn.site.location
            mark = "← " if eqn in subject.back else ""
            text = f"{mark}{subject.results(eqn)} = {subject.applied(eqn)}"
            equations.setdefault((file, line), []).append(text)
    emitted = _emitted(subject)
    rows = [TableRow((str(line), line_text(file, line).rstrip(),
                 _joined(equations.get((file, line), []), limit),
                 _joined(emitted.get((short_name(file), line), []), limit)),
                anchor=f"{short_name(file)}:{line}")
            for file, line in _lines(equations)]
    elements = table_of(COLUMNS, rows, limit, COLUMNS[1:], ("line",))
    files = sorted({short_name(file) for file, _ in equations})
    if any(text.startswith("← ") for texts in equations.values() for text in texts):
        elements.append(Paragraph("← is the way back"))
    return Section("Line by line", "lines", elements, ", ".join(files))


def _joined(texts: list[str], limit: int) -> str:
    """Return the lines of a cell, which has a tenth of the rows that a table may have."""
    most = limit // 10
    rest = [f"... {len(texts) - most} more"] if len(texts) > most else []
    return "\n".join([*texts[:most], *rest])


def _lines(equations: dict[Place, list[str]]) -> Iterator[Place]:
    """Yield the lines that have equations, and lines between lines of one function."""
    for file in dict.fromkeys(file for file, _ in equations):
        lines = sorted(line for f, line in equations if f == file)
        for line, following in zip(lines, [*lines[1:], lines[-1] + 1], strict=True):
            yield file, line
            if following - line <= 4:
                for between in range(line + 1, following):
                    if line_text(file, between).strip():
                        yield file, between


def _emitted(subject: Subject) -> dict[Place, list[str]]:
    """Return the lines of emitted code by the file and line that they carry out."""
    found: dict[Place, list[str]] = {}
    places = [] if subject.native is None else write(subject.native.kernel).places
    if subject.device is not None:
        places = subject.device.emitted.places
    for place in places:
        site = place.node.origin.site
        if site is not None and not place.node.origin.copied:
            file, line, _ = site.location
            found.setdefault((short_name(file), line), []).append(place.text)
    return found


def _kernel_lines(source: str) -> list[str]:
    """Return the lines of emitted code without the graph that stands above it."""
    return source.partition('"""\n\n')[2].strip("\n").splitlines()


def source_section(subject: Subject, limit: int) -> Section:
    """Return the emitted code."""
    assert subject.lowered is not None
    source = subject.lowered.source
    lines = _kernel_lines(source)
    first = source[:source.index(lines[0])].count("\n") + 1
    numbered = [Line(line, first + k) for k, line in enumerate(lines)]
    return Section("Emitted code", "source", code_of(numbered, limit),
                   f"{count_text(len(lines), 'line')} for Numba")
