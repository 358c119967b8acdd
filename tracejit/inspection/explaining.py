"""`tracejit.explain`: captured code, derivatives, time and memory of a function, in sentences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from tracejit.autodiff.keeping import Kept
from tracejit.inspection.costs.counting import Numbers, costs_of
from tracejit.inspection.elements import Paragraph, Section, count_text
from tracejit.inspection.report import Report
from tracejit.inspection.sections.overview import known_sizes, numbers_of
from tracejit.inspection.subject import Subject, line_text
from tracejit.ir.control import LoopEqn, bounds_of, region_kind
from tracejit.ir.core import Block, Eqn, Graph
from tracejit.ir.dims import evaluate, format_dim, product
from tracejit.ir.printer import format_type
from tracejit.runtime.function import Function

__all__ = ["explain"]

CALL_FLOPS = 20
"""The flops for which a call of a function such as `exp` counts where work is compared."""


def explain(fn: Function, /, *args: object, **kwargs: object) -> Report:
    """Return a page of plain sentences about the program that is made of a function.

    fn           -- a transformed function, `tracejit.grad(f)` for instance
    args, kwargs -- arguments of a call, which give numbers; or texts for them, "f64[n, 3]", which
                    give formulas

    Print it, or let a notebook show it. Raises `TypeError` for a function that is not transformed,
    and the errors of a call.

    >>> import numpy as np, tracejit
    >>> def decay(x, rate):
    ...     for _ in range(10):
    ...         x = x - rate * x
    ...     return np.sum(x)
    >>> print(tracejit.explain(tracejit.grad(decay), np.ones(4), 0.1))  # doctest: +ELLIPSIS
    <BLANKLINE>
    What it is
    ----------
    grad[decay] takes x, an array f64[n] and rate, a number f64[]; it gives f64[n]...
    """
    if not isinstance(fn, Function):
        raise TypeError(f"explain takes a transformed function: explain(tracejit.grad(f), ...) or "
                        f"explain(tracejit.jit(f), ...), not {fn!r}")
    subject = Subject(fn.trace(*args, **kwargs).lower())
    return Report(subject.graph.name, {
        name: _section(title, name, say(subject)) for name, title, say in SAYING},
        [name for name, _, _ in SAYING])


def _section(title: str, name: str, sentences: Sequence[str]) -> Callable[[], Section]:
    return lambda: Section(title, name, [Paragraph(s) for s in sentences], is_open=True)


# --- identity -----------------------------------------------------------------------------------


def _identity(subject: Subject) -> list[str]:
    graph, names = subject.graph, subject.names
    takes = [f"{names.of(v)}, {'an array' if v.aval.shape else 'a number'} "
             f"{format_type(v.aval, names)}" for v in graph.inputs]
    gives = [format_type(a.aval, names) for a in graph.outputs]
    sentences = [f"{graph.name} takes {_and(takes) or 'nothing'}; it gives {_and(gives)}."]
    if graph.sizes:
        sizes = _and([names.of(v) for v in graph.sizes])
        sentences[0] += f" It is compiled once, for all {sizes}."
    notes = [str(n) for n in graph.notes if not isinstance(n, Kept)]
    return sentences + [f"{note[0].upper()}{note[1:]}." for note in notes]


def _and(parts: Sequence[str]) -> str:
    """Return parts as a list in words."""
    return f"{', '.join(parts[:-1])}, and {parts[-1]}" if len(parts) > 2 else " and ".join(parts)


# --- steps --------------------------------------------------------------------------------------


def _steps(subject: Subject) -> list[str]:
    count = len(subject.eqns)
    back = len(subject.back)
    sentence = f"After all passes the program has {count_text(count, 'equation')}"
    if back:
        sentence += f", {count - back} forward and {back} on the way back"
    sentences = [f"{sentence}; they become {_kernels(subject)}."]
    sentences += [_loop_sentence(subject, e) for e in subject.graph.eqns if e.regions]
    reasons = Counter(why for _, why in subject.graph.reasons)
    if reasons:
        parts = [f"{n} {'is' if n == 1 else 'are'} {why}" if why.startswith(("not", "integer"))
                 else f"of {n}: {why}" for why, n in reasons.most_common()]
        sentences.append(f"{count_text(sum(reasons.values()), 'equation')} of the function "
                         f"{'has' if sum(reasons.values()) == 1 else 'have'} no backward part: "
                         f"{'; '.join(parts)}. `.report()['adjoints']` lists them.")
    return sentences


def _kernels(subject: Subject) -> str:
    if subject.device is None:
        return "one kernel"
    count = len(subject.device.kernels)
    waits = " and waits for data of the device" if "run.told(" in subject.device.source else ""
    return (f"{count_text(count, 'kernel')} for a CUDA device, which one function of the host "
            f"launches{waits}")


def _loop_sentence(subject: Subject, eqn: Eqn) -> str:
    kind = region_kind(eqn)
    where = line_text(eqn.site)
    part = "The way back of the" if eqn in subject.back else "The"
    if kind == "if":
        return f"{part} branch at {where} runs one of its two sides."
    if kind == "while":
        return f"{part} loop at {where} runs until its condition ends it."
    lo, hi = bounds_of(eqn)
    trips = format_dim(hi - lo, subject.names.of)
    order = ", backwards" if kind == "for" and LoopEqn(eqn).is_reversed else ""
    unordered = "; its iterations do not depend on one another" if kind == "map" else ""
    return f"{part} loop at {where} runs {trips} times{order}{unordered}."


# --- time and memory ----------------------------------------------------------------------------


def _work(subject: Subject) -> list[str]:
    costs = costs_of(subject.graph)
    sizes = known_sizes(subject)
    calls = [f"{costs.text(d)} of {name}" for name, d in costs.calls.items()]
    sentence = f"A call computes {costs.text(costs.flops)} flops"
    sentences = [sentence + (f" and calls {_and(calls)}" if calls else "") + "."]
    sentences += [f"Here {name} is {meaning}." for name, meaning in costs.unknowns.items()]
    sentences += [f"{note[0].upper()}{note[1:]}." for note in costs.notes]
    numbers = numbers_of(costs, sizes)
    if numbers is not None:
        sentences += _shares(subject, numbers, sizes)
    else:
        sentences.append("With arguments in place of texts for them, this says in which lines.")
    return sentences


def _shares(subject: Subject, numbers: Numbers, sizes: dict[str, int]) -> list[str]:
    """Say which lines, and how much of the way back, the work is in."""
    graph = subject.graph
    work: dict[tuple[str, bool], float] = {}
    for eqn in graph.eqns:
        alone = costs_of(_alone(graph, eqn)).at(sizes)
        key = (line_text(eqn.site), eqn in subject.back)
        flops = alone.flops + CALL_FLOPS * sum(alone.calls.values())
        work[key] = work.get(key, 0.0) + flops
    total = sum(work.values())
    if not total:
        return []
    back = sum(w for (_, is_back), w in work.items() if is_back)
    where = _and([f"{name} = {size}" for name, size in sizes.items()])
    sentence = f"For {where} that is" if where else "That is"
    calls = sum(numbers.calls.values())
    called = f" and {count_text(calls, 'call')}" if calls else ""
    sentences = [f"{sentence} {numbers.flops:,} flops{called}, and at least "
                 f"{numbers.least_bytes:,} bytes read and written."]
    if subject.has_backward:
        sentences.append(f"Of the work {back / total:.0%} is on the way back.")
    top = sorted(work.items(), key=lambda item: -item[1])[:3]
    lines = [f"{line or 'no line'}{' (way back)' * is_back}, {w / total:.0%}"
             for (line, is_back), w in top if w >= 0.05 * total]
    taken = [f"a call is taken for {CALL_FLOPS} flops"] if calls else []
    if costs_of(graph).unknowns:
        taken.append("what ends by a condition for one round")
    assumed = f"; {_and(taken)}" if taken else ""
    if lines:
        measured = " `tracejit.profile` measures it." if subject.device is None else ""
        sentences.append(f"Most of it is in {'; '.join(lines)}{assumed}.{measured}")
    return sentences


def _alone(graph: Graph, eqn: Eqn) -> Graph:
    """Return a graph of one equation, for its costs."""
    outputs = tuple(v for v in eqn.outputs if not v.is_log)
    return replace(graph, block=Block(graph.inputs, (eqn,), outputs))


def _memory(subject: Subject) -> list[str]:
    assert subject.lowered is not None
    kept = [n for n in subject.graph.notes if isinstance(n, Kept)]
    sentences = []
    for note in kept:
        parts = [f"{r.name}, {r.bytes} bytes{' each time' * r.in_log}" for r in note.stored]
        where = f"{note.what} at {line_text(note.site)}"
        if parts:
            sentences.append(f"For its way back {where} stores {_and(parts)}.")
        else:
            sentences.append(f"For its way back {where} stores nothing.")
        if note.again:
            sentences.append(f"It computes again: {', '.join(note.again)}.")
    if any(r.in_log for n in kept for r in n.stored):
        sentences.append("What is stored each time grows with the iterations; "
                         "`tracejit.checkpoint` trades it for time.")
    arena = subject.lowered.kernel.arena
    formulas = dict.fromkeys(format_dim(product((b.size, b.dtype.itemsize)), subject.names.of)
                             for b in arena)
    text = _and([f"{f} bytes" for f in formulas])
    on_device = "" if subject.device is None else "on the device "
    sentences.append(f"Beside arguments and results it keeps {count_text(len(arena), 'array')} "
                     f"({text}) in a workspace {on_device}that calls share." if arena else
                     "Beside arguments and results no array gets memory.")
    copies = list(subject.lowered.kernel.copies())
    sentences += [f"A copy that could not be avoided: {copy}." for copy in copies]
    return sentences + _workspace(subject)


def _workspace(subject: Subject) -> list[str]:
    """Say how large the workspace is for the sizes that are known."""
    assert subject.lowered is not None
    sizes = known_sizes(subject)
    names = subject.names
    total = 0
    for buffer in subject.lowered.kernel.arena:
        try:
            count = evaluate(product((buffer.size,)), lambda v: sizes[names.of(v)])
        except KeyError:
            return []
        total += math.ceil(count * buffer.dtype.itemsize / 64) * 64
    return [f"For these sizes the workspace has at most {total:,} bytes."] if total else []


def _further(subject: Subject) -> list[str]:
    if subject.device is not None:
        return ["`g.trace(...)` shows itself in a notebook, and prints its IR; `.lower()` has the "
                "kernels: `.source`, `.ptx((8, 0))`, and with `.resources((8, 0))` their "
                "registers, memory and occupancy. `.why()` has the reasons line by line, and what "
                "one thread does alone."]
    return ["`g.trace(...)` shows itself in a notebook, and prints its IR; `.lower()` and "
            "`.compile()` add the emitted code and the machine code. `.why()` has the reasons "
            "line by line; `tracejit.profile(g, ...)` measures; `tracejit.cache.explain(g, ...)` "
            "says what the store has."]


SAYING: tuple[tuple[str, str, Callable[[Subject], list[str]]], ...] = (
    ("identity", "What it is", _identity),
    ("steps", "What happens", _steps),
    ("work", "Where its time goes", _work),
    ("memory", "Where its memory goes", _memory),
    ("further", "To see more", _further),
)
"""The sections of an explanation: name, title, and the function that makes the sentences."""
