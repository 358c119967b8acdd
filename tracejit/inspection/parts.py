"""The parts of a report in their order: the maker of each, and the first stage that has it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from tracejit.inspection.elements import CodeBlock, Line, Paragraph, Picture, Section
from tracejit.inspection.pictures.picture import graph_svg
from tracejit.inspection.sections.adjoints import adjoints_section
from tracejit.inspection.sections.equations import equations_section
from tracejit.inspection.sections.history import history_section
from tracejit.inspection.sections.kernels import (
    kernels_section,
    ptx_section,
    resources_section,
)
from tracejit.inspection.sections.listing import listing_section, source_section
from tracejit.inspection.sections.loops import loops_section, vectors_section
from tracejit.inspection.sections.overview import overview_section
from tracejit.inspection.sections.stored import memory_section, stored_section
from tracejit.inspection.subject import Subject

__all__ = ["PARTS", "ReportPart", "parts_of"]


@dataclass(frozen=True, slots=True)
class ReportPart:
    """A part of a report, not made yet.

    is_shown -- whether a report has it without being asked
    """

    make: Callable[[], Section]
    is_shown: bool


MAX_NODES, MAX_BYTES = 150, 150_000
"""A report's picture draws so many equations one by one; it is left out if it has more bytes."""


def _picture(subject: Subject, limit: int) -> Section:
    svg = graph_svg(subject.graph, max_nodes=MAX_NODES)
    if len(svg) > MAX_BYTES:
        return Section("Picture", "picture", [Paragraph(
            "The picture is too large for a page: graph.to_svg(path) writes it")])
    text = (f"a picture of {subject.graph.name}: graph.to_svg(path) writes it, graph.to_dot() is "
            "its text")
    return Section("Picture", "picture", [Picture(svg, text)])


def _loops(subject: Subject, limit: int) -> Section:
    assert subject.native is not None
    return loops_section(subject.native, limit)


def _vectors(subject: Subject, limit: int) -> Section:
    assert subject.compiled is not None
    return vectors_section(subject.compiled, limit)


def _llvm(subject: Subject, limit: int) -> Section:
    assert subject.compiled is not None
    return _code("LLVM", "llvm", subject.compiled.llvm)


def _asm(subject: Subject, limit: int) -> Section:
    assert subject.compiled is not None
    return _code("Assembly", "asm", subject.compiled.asm)


def _code(title: str, name: str, text: str) -> Section:
    lines = text.splitlines()
    return Section(title, name, [CodeBlock(tuple(map(Line, lines)))], f"{len(lines)} lines")


PARTS: tuple[tuple[str, str, Callable[[Subject, int], Section], bool], ...] = (
    ("overview", "", overview_section, True),
    ("ir", "", equations_section, True),
    ("adjoints", "", adjoints_section, True),
    ("stored", "", stored_section, True),
    ("lines", "", listing_section, True),
    ("picture", "", _picture, True),
    ("passes", "traced", history_section, True),
    ("memory", "lowered", memory_section, True),
    ("loops", "native", _loops, True),
    ("kernels", "device", kernels_section, True),
    ("source", "lowered", source_section, True),
    ("vectors", "compiled", _vectors, False),
    ("llvm", "compiled", _llvm, False),
    ("asm", "compiled", _asm, False),
    ("resources", "device", resources_section, False),
    ("ptx", "device", ptx_section, False),
)
"""The name of each, the stage that it needs, its maker, and whether it is shown unasked."""


def parts_of(subject: Subject, limit: int) -> dict[str, ReportPart]:
    """Return the parts that there are of a program at its stage; `limit` rows to each."""
    return {name: ReportPart(functools.partial(make, subject, limit), is_shown)
            for name, stage, make, is_shown in PARTS
            if not stage or getattr(subject, stage) is not None}
