"""The head of a report: arguments and results, costs, fixed sizes, and times."""

from __future__ import annotations

from collections.abc import Mapping

from tracejit.autodiff.keeping import Kept
from tracejit.inspection.costs.counting import Costs, Numbers, costs_of
from tracejit.inspection.elements import Element, Paragraph, Section, Table, TableRow
from tracejit.inspection.subject import Subject, inputs_text
from tracejit.ir.printer import format_type
from tracejit.ir.walk import all_eqns
from tracejit.runtime.stages import traced_sizes
from tracejit.tree import Structure, leaf_names, unflatten

__all__ = ["known_sizes", "numbers_of", "overview_section"]


def overview_section(subject: Subject, limit: int = 0) -> Section:
    """Return the facts about a program, and the notes of its capture."""
    rows = [TableRow((name, text)) for name, text in _facts(subject) if text]
    elements: list[Element] = [Table(("", ""), tuple(rows))]
    notes = [str(n) for n in subject.graph.notes if not isinstance(n, Kept)]
    elements += [Paragraph(note) for note in notes]
    outputs = ", ".join(format_type(a.aval, subject.names) for a in subject.graph.outputs)
    return Section(subject.graph.name, "overview", elements, f"gives {outputs}", is_open=True)


def _facts(subject: Subject) -> list[tuple[str, str]]:
    """Return the facts known so far, by name."""
    facts = [("takes", inputs_text(subject.graph.block, subject.names)),
             ("compiled for", _specialised(subject)), ("holds while", _guards(subject)),
             ("equations", _counts(subject))]
    facts += _costs(subject)
    if subject.lowered is not None:
        lines = subject.lowered.source.partition('"""\n\n')[2].strip("\n").count("\n") + 1
        count = 1 if subject.device is None else len(subject.device.kernels)
        facts.append(("kernels", f"{count}, of {lines} lines"
                      + (" with the host's function" if subject.device else "")))
    facts += [("store", _cached(subject)), ("made in", _times(subject))]
    return facts


def _specialised(subject: Subject) -> str:
    """Return which sizes and ints of the arguments are fixed, and which are not."""
    sizes = ", ".join(map(subject.names.ref, subject.graph.sizes))
    fixed = "these dtypes and ranks"
    return f"{fixed}, and any {sizes}" if sizes else fixed


def _guards(subject: Subject) -> str:
    """Return the conditions of the capture, besides modules, and objects given as arguments."""
    if subject.traced is None:
        return ""
    capture = subject.traced.program.capture
    names = [str(g.path) for g in capture.guards if type(g.content).__name__ != "module"]
    texts = [f"{', '.join(dict.fromkeys(names))} are what they were"] if names else []
    texts += dict.fromkeys(g.reason for g in capture.size_guards)
    if subject.traced.arguments is not None:
        specs, structure = subject.traced.arguments
        texts += [f"{name} is {s.content!r:.40}" for s, name in zip(
            specs, _argument_names(structure), strict=True) if not s.is_traced]
    return "; ".join(texts)


def _argument_names(structure: Structure) -> list[str]:
    """Return how the leaves of a call are written: `args[0]`, `scale`."""
    args, kwargs = structure.parts
    names = leaf_names(args, "args")
    return names + [name for k, part in enumerate(kwargs.parts)
                    for name in leaf_names(part, str(kwargs.aux[k]))]


def _counts(subject: Subject) -> str:
    count = len(subject.eqns)
    parts = [f"{count} after all passes"]
    if subject.traced is not None:
        before = sum(1 for _ in all_eqns(subject.traced.program.graph.block))
        parts.insert(0, f"{before} before")
    if subject.has_backward:
        back = len(subject.back)
        parts.append(f"{count - back} forward and {back} backward")
    return ", ".join(parts)


def _costs(subject: Subject) -> list[tuple[str, str]]:
    costs = costs_of(subject.graph)
    calls = ", ".join(f"{costs.text(d)} of {name}" for name, d in costs.calls.items())
    facts = [("flops", costs.text(costs.flops) + (f", and calls: {calls}" if calls else "")),
             ("bytes", f"{costs.text(costs.least_bytes)} for arguments and results; "
                       f"{costs.text(costs.bytes_moved)} if nothing were fused")]
    facts += [("", f"{name} is {meaning}") for name, meaning in costs.unknowns.items()]
    facts += [("", note) for note in costs.notes]
    sizes = known_sizes(subject)
    numbers = numbers_of(costs, sizes)
    if numbers is not None:
        facts.append(("as numbers", _numbers_text(numbers, sizes)))
    return facts


def numbers_of(costs: Costs, sizes: Mapping[str, int]) -> Numbers | None:
    """Return costs as numbers; None where a size that they depend on is not known."""
    try:
        return costs.at(sizes)
    except ValueError:
        return None


def _numbers_text(numbers: Numbers, sizes: Mapping[str, int]) -> str:
    where = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    calls = "".join(f", {count:,} of {name}" for name, count in numbers.calls.items())
    least = max(numbers.least_bytes, 1)
    return (f"{numbers.flops:,} flops{calls}, {numbers.least_bytes:,} bytes at least: "
            f"{numbers.flops / least:.3g} flops per byte" + (f", for {where}" if where else ""))


def known_sizes(subject: Subject) -> dict[str, int]:
    """Return the sizes and ints that a program was traced with, by name; specs may leave some out.
    """
    found: dict[str, int] = {}
    if subject.traced is None:
        return found
    for v, shape in zip(subject.graph.inputs, subject.traced.shapes, strict=False):
        if isinstance(shape, int):
            found[subject.names.of(v)] = shape
    found.update((subject.names.of(size), n) for size, n in traced_sizes(subject.traced).items()
                 if size in subject.graph.sizes)
    return found


def _cached(subject: Subject) -> str:
    """Return whether the store has the program, in the words of `tracejit.cache.explain`."""
    if subject.made is None or subject.traced is None or subject.traced.function is None:
        return ""
    from tracejit import cache

    assert subject.traced.arguments is not None
    specs, structure = subject.traced.arguments
    args, kwargs = unflatten(structure, list(specs))
    return cache.explain(subject.traced.function, *args, **kwargs)


def _times(subject: Subject) -> str:
    times = subject.made.times if subject.made is not None else (
        subject.traced.times if subject.traced is not None else {})
    return ", ".join(f"{name} {1e3 * t:.1f} ms" for name, t in times.items())
