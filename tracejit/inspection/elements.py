"""The elements of reports: tables, code, pictures; `html.py` and `text.py` draw them.

Elements are plain data: nothing here knows of graphs, and a renderer needs to know nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["CodeBlock", "Element", "Line", "Paragraph", "Picture", "Role", "Section", "Table",
           "TableRow", "code_of", "count_text", "table_of"]

Role = str
"""The part that a row or line belongs to: "", "forward", "backward", "pruned", "added", "removed".

Renderers tell roles apart by a mark and a word as well as by colour.
"""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A sentence or more."""

    text: str


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table.

    cells  -- a text per column
    role   -- the part of the program that it belongs to
    depth  -- how far the first cell is indented: the regions that it is in
    anchor -- the target of links to it, unique in the report
    link   -- the anchor that its cell in the table's column for links leads to
    """

    cells: tuple[str, ...]
    role: Role = ""
    depth: int = 0
    anchor: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings.

    Columns named in `code` are set in a fixed width, columns in `numbers` to the right; cells of
    the column `linked` lead to the targets of their rows' links.
    """

    columns: tuple[str, ...]
    rows: Sequence[TableRow]
    code: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    linked: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of code, with its number, or 0 for none."""

    text: str
    number: int = 0
    role: Role = ""


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Lines of code under a caption."""

    lines: Sequence[Line]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG image, and its substitute in text."""

    svg: str
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """Elements under a title.

    name    -- the section's name in the report: `report["loops"]`
    summary -- a text beside the title, seen when it is folded, too
    is_open -- whether it begins unfolded
    """

    title: str
    name: str
    elements: Sequence[Element]
    summary: str = ""
    is_open: bool = False


Element = Paragraph | Table | CodeBlock | Picture | Section


def table_of(columns: tuple[str, ...], rows: Sequence[TableRow], limit: int,
             code: Sequence[str] = (), numbers: Sequence[str] = (), linked: str = ""
             ) -> list[Element]:
    """Return a table of the first `limit` rows, and a remark where that leaves out some."""
    table = Table(columns, tuple(rows[:limit]), frozenset(code), frozenset(numbers), linked)
    return [table, *_left_out(len(rows), limit, "row")]


def code_of(lines: Sequence[Line], limit: int) -> list[Element]:
    """Return the first `limit` lines of code, and a remark where that leaves out some."""
    return [CodeBlock(tuple(lines[:limit])), *_left_out(len(lines), limit, "line")]


def _left_out(count: int, limit: int, what: str) -> list[Element]:
    if count <= limit:
        return []
    return [Paragraph(f"{count_text(count - limit, what)} left out here: "
                      f".report(limit={count}) shows all")]


def count_text(count: int, what: str) -> str:
    """Return a number of things in words: "1 row", "3 rows"."""
    return f"{count} {what}{'s' * (count != 1)}"
