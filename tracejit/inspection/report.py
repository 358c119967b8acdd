"""Everything about a program in parts: in notebooks as HTML, in terminals as text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tracejit.inspection.elements import Element, Paragraph, Section
from tracejit.inspection.html import PAGE, render_html
from tracejit.inspection.parts import parts_of
from tracejit.inspection.sections.specialisations import newest, specialisations_section
from tracejit.inspection.subject import Subject
from tracejit.inspection.text import print_colours, render_text
from tracejit.ir.core import Graph
from tracejit.runtime.device_stages import DeviceCompiled, DeviceLowered
from tracejit.runtime.function import Function
from tracejit.runtime.stages import Compiled, Lowered, Traced

__all__ = ["Report", "report_of"]

Part = Callable[[], Section]


class Report:
    """The facts about a program, in parts; each is made when it is looked at.

    `print(report)` shows the parts as text and a notebook shows them as HTML; `report.show()`
    prints them in colours where rich is installed; `report["stored"]` is that part alone.

    title -- of the page that `to_html` writes
    parts -- all parts by name
    names -- the parts that are shown
    """

    names: tuple[str, ...]

    def __init__(self, title: str, parts: Mapping[str, Part], names: Sequence[str],
                 *, is_selection: bool = False) -> None:
        self.title = title
        self._parts = parts
        self.names = tuple(names)
        self._is_selection = is_selection

    @property
    def available(self) -> tuple[str, ...]:
        """Return the names of all parts that there are at this stage of the program."""
        return tuple(self._parts)

    def __getitem__(self, names: str | tuple[str, ...]) -> Report:
        """Return some parts alone, unfolded; `KeyError` for one that there is not at this stage."""
        names = (names,) if isinstance(names, str) else names
        for name in names:
            if name not in self._parts:
                raise KeyError(f"there is no part {name!r} here; there are "
                               f"{', '.join(self._parts)}")
        return Report(self.title, self._parts, names, is_selection=True)

    def elements(self) -> list[Element]:
        """Return the parts that are shown, and the names of the others."""
        found: list[Element] = [replace(self._parts[name](), is_open=True) if self._is_selection
                                else self._parts[name]() for name in self.names]
        rest = [name for name in self._parts if name not in self.names]
        if rest and not self._is_selection:
            found.append(Paragraph(f"Not shown here: {', '.join(rest)}. Ask for them by name: "
                                   f".report()[{rest[0]!r}]"))
        return found

    def __str__(self) -> str:
        return render_text(self.elements())

    def __repr__(self) -> str:
        return str(self)

    def show(self) -> None:
        """Print the report, in colours where this is a terminal and rich is installed."""
        print_colours(self.elements())

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as a piece of HTML; with a path, also write it there as a page."""
        elements = self.elements()
        key = hashlib.blake2b(str(elements).encode(), digest_size=4).hexdigest()
        text = render_html(elements, f"tj{key}-")
        if path is not None:
            Path(path).write_text(PAGE.format(title=self.title, body=text), encoding="utf-8")
        return text


def report_of(shown: Graph | Traced | Lowered | DeviceLowered | Compiled | DeviceCompiled
              | Function, limit: int) -> Report:
    """Return the report of a program: all parts; parts that take long to make are not shown.

    Of a transformed function it is the newest specialisation's, with a list of all of them.
    """
    if isinstance(shown, Function):
        return _report_of_function(shown, limit)
    subject = Subject(shown)
    parts = parts_of(subject, limit)
    names = [name for name, part in parts.items() if part.is_shown]
    return Report(subject.graph.name, {k: part.make for k, part in parts.items()}, names)


def _report_of_function(function: Function, limit: int) -> Report:
    lowered = newest(function)
    rest = report_of(lowered, limit) if isinstance(lowered, (Lowered, DeviceLowered)) else None
    parts: dict[str, Part] = {
        "specialisations": lambda: specialisations_section(function, lowered)}
    names = ["specialisations"]
    if rest is not None:
        parts.update(rest._parts)
        names += rest.names
    return Report(repr(function).strip("<>"), parts, names)
