"""Everything about a program in sections: in notebooks as HTML, in terminals as text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from tracejit.inspection.adjoints import adjoints_section
from tracejit.inspection.elements import Code, Element, Line, Paragraph, Picture, Section
from tracejit.inspection.equations import equations_section
from tracejit.inspection.history import history_section
from tracejit.inspection.html import render_html
from tracejit.inspection.listing import listing_section, source_section
from tracejit.inspection.overview import overview_section
from tracejit.inspection.stored import memory_section, stored_section
from tracejit.inspection.subject import Subject
from tracejit.inspection.text import print_colours, render_text
from tracejit.ir.core import Graph
from tracejit.runtime.stages import Compiled, Lowered, Traced

__all__ = ["Report", "report_of"]

LIMIT = 300
"""How many rows a part may have."""


class Report:
    """Parts of what there is to know about a program; each is made when it is looked at.

    `print(report)` shows the parts as text, a notebook shows them as HTML, `report.show()` prints
    them in colours where rich is installed, and `report["stored"]` is that part alone.
    """

    def __init__(self, subject: Subject, limit: int, names: Sequence[str]) -> None:
        self._subject, self._limit = subject, limit
        self.names = tuple(names)
        """The parts of this report."""

    @property
    def available(self) -> tuple[str, ...]:
        """Return the names of all parts that there are at this stage of the program."""
        return tuple(name for name, stage, _, _ in PARTS if _has(self._subject, stage))

    def __getitem__(self, names: str | tuple[str, ...]) -> Report:
        """Return some parts alone; `KeyError` for a part that there is not at this stage."""
        names = (names,) if isinstance(names, str) else names
        for name in names:
            if name not in self.available:
                raise KeyError(f"there is no part {name!r} here; there are "
                               f"{', '.join(self.available)}")
        return Report(self._subject, self._limit, names)

    def sections(self) -> list[Section]:
        """Return the parts."""
        makers = {name: make for name, _, make, _ in PARTS}
        return [makers[name](self._subject, self._limit) for name in self.names]

    def _elements(self) -> list[Element]:
        elements: list[Element] = list(self.sections())
        rest = [name for name in self.available if name not in self.names]
        if rest and len(self.names) > 1:
            elements.append(Paragraph(f"Not shown here: {', '.join(rest)}. Ask for them by name, "
                                      f"as in .report()[{rest[0]!r}]"))
        return elements

    def __str__(self) -> str:
        return render_text(self._elements())

    def __repr__(self) -> str:
        return str(self)

    def show(self) -> None:
        """Print the report, in colours where this is a terminal and rich is installed."""
        print_colours(self._elements())

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as a piece of HTML; with a path, also write it there as a page."""
        key = hashlib.blake2b(str(self._subject.graph).encode(), digest_size=4).hexdigest()
        text = render_html(self._elements(), f"tj{key}-")
        if path is not None:
            title = self._subject.graph.name
            Path(path).write_text(PAGE.format(title=title, body=text), encoding="utf-8")
        return text


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width,initial-scale=1"></head>
<body>
{body}
</body></html>
"""


def report_of(shown: Graph | Traced | Lowered | Compiled, limit: int = LIMIT) -> Report:
    """Return the report of a program: all parts but those that are long, or cost time."""
    subject = Subject(shown)
    names = [name for name, stage, _, is_shown in PARTS if is_shown and _has(subject, stage)]
    return Report(subject, limit, names)


def _has(subject: Subject, stage: str) -> bool:
    return not stage or getattr(subject, stage) is not None


def _code_section(attribute: str, title: str) -> Callable[[Subject, int], Section]:
    def make(subject: Subject, limit: int) -> Section:
        lines = getattr(subject.compiled, attribute).splitlines()
        return Section(title, attribute, [Code(tuple(map(Line, lines)))], f"{len(lines)} lines")

    return make


def _picture_section(subject: Subject, limit: int) -> Section:
    from tracejit.inspection.picture import graph_svg

    picture = Picture(graph_svg(subject.graph), f"a picture of {subject.graph.name}: "
                      "graph.to_svg(path) writes it, graph.to_dot() is its text")
    return Section("Picture", "picture", [picture])


PARTS: tuple[tuple[str, str, Callable[[Subject, int], Section], bool], ...] = (
    ("overview", "", lambda s, _: overview_section(s), True),
    ("ir", "", equations_section, True),
    ("adjoints", "", adjoints_section, True),
    ("stored", "", lambda s, _: stored_section(s), True),
    ("lines", "", listing_section, True),
    ("passes", "traced", history_section, True),
    ("memory", "lowered", lambda s, _: memory_section(s), True),
    ("source", "lowered", source_section, True),
    ("llvm", "compiled", _code_section("llvm", "LLVM"), False),
    ("asm", "compiled", _code_section("asm", "Assembly"), False),
)
"""The parts in order: name, the stage that it needs, what makes it, whether it is shown unasked."""
