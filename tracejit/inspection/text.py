"""Reports as text for terminals: plain, or in colours where rich is installed."""

from __future__ import annotations

import importlib.util
import sys
import textwrap
from collections.abc import Iterator, Sequence

from tracejit.inspection.elements import (
    CodeBlock,
    Element,
    Paragraph,
    Picture,
    Role,
    Section,
    Table,
)

__all__ = ["print_colours", "render_text"]

Styled = tuple[str, Role]
"""A line, and the part that it belongs to; "title" for titles."""

WIDTH = 100
WIDEST_CELL = 72
STYLES = {"backward": "yellow", "pruned": "dim", "added": "green", "removed": "red",
          "title": "bold"}
MARKS = {"forward": "  ", "backward": "< ", "pruned": "x ", "added": "", "removed": ""}


def render_text(elements: Sequence[Element]) -> str:
    """Return elements as plain text."""
    return "\n".join(line.rstrip() for line, _ in _lines(elements, -1))


def print_colours(elements: Sequence[Element]) -> None:
    """Print elements, in colours where this is a terminal and rich is installed."""
    if not sys.stdout.isatty() or importlib.util.find_spec("rich") is None:
        print(render_text(elements))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(soft_wrap=True, highlight=False)
    for line, role in _lines(elements, -1):
        console.print(Text(line, style=STYLES.get(role, "")))


def _lines(elements: Sequence[Element], level: int) -> Iterator[Styled]:
    """Yield lines; `level` counts the sections around, from -1, and the outer two are not indented.
    """
    depth = max(level, 0)
    for element in elements:
        if isinstance(element, Section):
            yield from _section(element, level)
        elif isinstance(element, Table):
            yield from _table(element, depth)
        elif isinstance(element, CodeBlock):
            yield from _code(element, depth)
        elif isinstance(element, Paragraph):
            indent = "  " * depth
            for line in textwrap.wrap(element.text, WIDTH - len(indent)) or [""]:
                yield indent + line, ""
        elif isinstance(element, Picture):
            for line in element.text.splitlines():
                yield "  " * depth + line, ""


def _section(section: Section, level: int) -> Iterator[Styled]:
    title = section.title + (f"  ({section.summary})" if section.summary else "")
    if level < 0:
        yield "", ""
        yield title, "title"
        yield "-" * min(len(title), WIDTH), "title"
    else:
        yield "  " * level + title, "title"
    yield from _lines(section.elements, level + 1)


def _table(table: Table, depth: int) -> Iterator[Styled]:
    """Yield the lines of a table: columns as wide as their widest line."""
    rows = [[cell.split("\n") for cell in ("  " * row.depth + row.cells[0], *row.cells[1:])]
            for row in table.rows]
    used = [k for k in range(len(table.columns)) if any(any(row[k]) for row in rows)]
    widths = [max([min(WIDEST_CELL, len(line)) for row in rows for line in row[k]]
                  + [len(table.columns[k])]) for k in used]
    indent = "  " * depth
    has_marks = any(row.role in ("backward", "pruned") for row in table.rows)
    margin = "  " if has_marks else ""
    names = [table.columns[k] for k in used]
    if any(names):
        yield indent + margin + _joined(names, widths, table.numbers, names), "title"
    for row, cells in zip(table.rows, rows, strict=True):
        height = max(len(cells[k]) for k in used) if used else 0
        for j in range(height):
            parts = [cells[k][j] if j < len(cells[k]) else "" for k in used]
            mark = (MARKS.get(row.role, "  ") if j == 0 else "  ") if has_marks else ""
            yield (indent + mark + _joined(parts, widths, table.numbers, names),
                   row.role)


def _joined(cells: Sequence[str], widths: Sequence[int], numbers: frozenset[str],
            names: Sequence[str]) -> str:
    return "  ".join(cell.rjust(width) if name in numbers else cell.ljust(width)
                     for cell, width, name in zip(cells, widths, names, strict=True)).rstrip()


def _code(code: CodeBlock, depth: int) -> Iterator[Styled]:
    indent = "  " * depth
    if code.caption:
        yield indent + code.caption, "title"
    digits = max((len(str(line.number)) for line in code.lines if line.number), default=0)
    for line in code.lines:
        number = f"{line.number or '':>{digits}}  " if digits else ""
        yield indent + number + line.text, line.role
