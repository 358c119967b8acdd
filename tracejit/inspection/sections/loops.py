"""Sections of a report on loops: the nests, why they are not fewer, and which run on vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from tracejit.inspection.elements import Element, Paragraph, Section, TableRow, table_of
from tracejit.inspection.machine.emitted import equations_by_label
from tracejit.inspection.machine.nests import (
    NestEquation,
    NestFacts,
    NestLoop,
    NestReader,
    Unfused,
)
from tracejit.inspection.machine.vectors import (
    LoopCode,
    VectorFacts,
    can_be_read,
    vector_facts,
)
from tracejit.ir.core import Eqn
from tracejit.runtime.stages import Compiled, Lowered

__all__ = ["loops_section", "vectors_section"]


# --- nests --------------------------------------------------------------------------------------


def loops_section(lowered: Lowered, limit: int) -> Section:
    """Return the loop nests of a program after fusion, and why nests were not fused.

    limit -- how many rows a table may have
    """
    reader = NestReader(lowered)
    nests = reader.nests()
    if not nests:
        text = "The program has no loops over elements."
        return Section("Loop nests", "loops", [Paragraph(text)], "none")
    apart = reader.unfused()
    eqns = equations_by_label(lowered.kernel)
    columns = ("loop or equation", "op", "what becomes of an element", "your line", "source line")
    elements = table_of(columns, list(_nest_rows(nests, eqns)), limit, columns[:2], columns[4:])
    if apart:
        elements.append(Section("Why these are not one nest", "unfused",
                                _unfused_table(apart, limit),
                                f"{len(apart)}", is_open=True))
    mixed = sum(len(nest.loop.roles()) > 1 for nest in nests)
    summary = f"{len(nests)} nests" if len(nests) > 1 else "1 nest"
    if mixed:
        summary += f", {mixed} with forward and backward equations"
    return Section("Loop nests", "loops", elements, summary)


def _nest_rows(nests: Iterable[NestFacts], eqns: dict[str, Eqn]) -> Iterator[TableRow]:
    """Yield a row per nest and region around it, loop, and equation."""
    inside: tuple[str, ...] = ()
    for nest in nests:
        common = _common(inside, nest.inside)
        for depth in range(common, len(nest.inside)):
            yield _region_row(nest.inside[depth], eqns, depth)
        inside = nest.inside
        lines = ", ".join(map(str, nest.lines)) or "written out"
        title = f"nest {nest.number}: {_loop_text(nest.loop)}"
        yield TableRow((title, "", "", "", lines), _role(nest.loop), len(inside),
                  anchor=f"nest-{nest.number}")
        yield from _part_rows(nest.loop.parts, len(inside) + 1)


def _region_row(label: str, eqns: dict[str, Eqn], depth: int) -> TableRow:
    """Return the row of an equation that nests are in, or a part of."""
    eqn = eqns[label]
    word = "in" if eqn.regions else "without BLAS,"
    site = "" if eqn.site is None else str(eqn.site)
    return TableRow((f"{word} {label}", eqn.op.name, "", site, ""), _role_of(eqn), depth)


def _role_of(eqn: Eqn) -> str:
    return "forward" if eqn.of is None else "backward"


def _common(a: Sequence[object], b: Sequence[object]) -> int:
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count


def _part_rows(parts: Iterable[NestLoop | NestEquation], depth: int) -> Iterator[TableRow]:
    for part in parts:
        if isinstance(part, NestLoop):
            yield TableRow((_loop_text(part), "", "", "", ""), _role(part), depth)
            yield from _part_rows(part.parts, depth + 1)
        else:
            site = "" if part.site is None else str(part.site)
            yield TableRow((part.label, part.op, part.result, site, ""), part.role, depth)


def _loop_text(loop: NestLoop) -> str:
    return f"for {loop.extent}"


def _role(loop: NestLoop) -> str:
    """Return the role of a loop whose equations have only one."""
    roles = loop.roles()
    return roles.pop() if len(roles) == 1 else ""


def _unfused_table(apart: Iterable[Unfused], limit: int) -> list[Element]:
    groups = groupby(apart, key=lambda a: (a.nest, a.label, a.depth, a.reason))
    rows = [TableRow((label, _apart_text(list(group)), reason), link=f"nest-{nest}")
            for (nest, label, _, reason), group in groups]
    columns = ("begins a loop", "apart from", "because")
    return table_of(columns, rows, limit, columns[:1], linked=columns[0])


def _apart_text(group: Sequence[Unfused]) -> str:
    """Return the loops that a statement is apart from, all for one reason."""
    first = group[0]
    shared = f", {first.depth} loop{'s' * (first.depth > 1)} shared" if first.depth else ""
    if first.nest == first.beside:
        return f"the inner loop before it in nest {first.nest}{shared}"
    word = "nests" if len(group) > 1 else "nest"
    return f"{word} {', '.join(str(a.beside) for a in group)}{shared}"


# --- vectors ------------------------------------------------------------------------------------


def vectors_section(compiled: Compiled, limit: int) -> Section:
    """Return which loops of the emitted source were vectorised, read from the machine code.

    The program is compiled again for it. `limit` is how many rows the table may have.
    """
    title, name = "Vectorised loops", "vectors"
    if not can_be_read():
        text = "The machine code of this computer is not x86-64, which alone can be read."
        return Section(title, name, [Paragraph(text)], "not known")
    facts = vector_facts(compiled)
    if not facts:
        return Section(title, name, [Paragraph("The emitted source has no loops.")], "none")
    judged = [f for f in facts if f.verdict in ("vectorised", "scalar")]
    done = [f for f in judged if f.verdict == "vectorised"]
    functions = sorted({name for f in done for v in f.versions for name in v.functions})
    text = ("Read from the machine code that runs. A loop that is vectorised goes through several "
            "elements at once, and through what is left over one by one. Memory counts the "
            "instructions of one pass through its main version.")
    if functions:
        text += f" Vector functions: {', '.join(functions)}."
    eqns = equations_by_label(compiled.lowered.kernel)
    columns = ("loop", "source line", "for", "code", "vector functions", "memory", "your lines",
               "why")
    table = table_of(columns, [_vector_row(f, eqns) for f in facts], limit,
                     ("loop", "vector functions"), ("source line",))
    return Section(title, name, [Paragraph(text), *table],
                   f"{len(done)} of {len(judged)} innermost loops")


def _vector_row(f: VectorFacts, eqns: dict[str, Eqn]) -> TableRow:
    main = f.versions[0] if f.versions else None
    inner = f.verdict != "around loops"
    found = [eqns[label] for label in f.loop.labels() if label in eqns] if inner else []
    sites = list(dict.fromkeys(str(e.site) for e in found if e.site is not None))
    roles = {_role_of(e) for e in found}
    cells = (f.loop.text, str(f.loop.first), f.loop.purpose, _code_text(f),
             ", ".join(main.functions) if main and inner else "",
             _memory_text(main) if main and inner else "", ", ".join(sites), _why(f))
    return TableRow(cells, roles.pop() if len(roles) == 1 else "", f.loop.depth,
               anchor=f"loop-{f.loop.first}")


def _code_text(f: VectorFacts) -> str:
    """Return the shapes that a loop computes on: `8 x f32, 4 x f32, the rest scalar`."""
    if f.verdict == "around loops":
        return ""
    if f.verdict == "gone":
        return "no loop is left"
    if f.verdict == "a call":
        called = [c for c in f.versions[0].calls if c.startswith("mem")]
        return f"a call of {called[0]}"
    shapes = list(dict.fromkeys(v.shape for v in f.versions if v.shape))
    if not shapes:
        text = "scalar"
    elif all(v.shape for v in f.versions):
        text = ", ".join(shapes)
    else:
        text = f"{', '.join(shapes)}, the rest scalar"
    return text if f.versions[0].is_loop else f"{text}, written out"


def _why(f: VectorFacts) -> str:
    """Return why a loop is scalar, or the functions called in one that is vectorised."""
    if f.verdict == "vectorised" and f.versions[0].calls:
        names = ", ".join(name or "a function" for name in f.versions[0].calls)
        return f"{names}: called element by element"
    return "; ".join(f.reasons)


def _memory_text(v: LoopCode) -> str:
    counts = [(v.loads, "load"), (v.stores, "store"), (v.spills, "spill")]
    return ", ".join(f"{n} {word}{'s' * (n > 1)}" for n, word in counts if n)
