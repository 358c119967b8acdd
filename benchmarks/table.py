"""Results as one table in Markdown, which is also what the terminal shows."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.compare import Comparison
from benchmarks.overheads import Measure
from benchmarks.peers import PEERS
from benchmarks.timing import ratio

__all__ = ["aligned", "machine", "overhead_rows", "workload_rows"]

MARK = {True: "yes", False: "**no**", None: ""}
LIBRARIES = ("numba", "llvmlite", "numpy", "jax", "jaxlib", "torch", "autograd")


def machine() -> str:
    """Return what this ran on, without names of this machine."""
    cpu = next((line.partition(":")[2].strip() for line in _lines(Path("/proc/cpuinfo"))
                if line.startswith("model name")), platform.machine())
    versions = ", ".join(f"{name} {v}" for name in LIBRARIES if (v := _version(name)))
    return (f"One core of {os.cpu_count()} ({cpu}), {platform.system()}, "
            f"Python {platform.python_version()}, {versions}.")


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def seconds(t: float | None) -> str:
    """Return a time with three digits and a unit: `0.153 µs`, `47.6 µs`, `2.1 ms`."""
    if t is None:
        return "–"
    unit, scale = next((u, s) for u, s in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
                       if t >= s or u == "µs")
    return f"{_digits(t / scale)} {unit}"


def _digits(x: float) -> str:
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows, the first of them the heads, as a table in Markdown."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths, strict=True)) + " |"

    return "\n".join([line(rows[0]), line("-" * w for w in widths), *map(line, rows[1:])])


def workload_rows(comparisons: Sequence[Comparison],
                  first: dict[str, dict[str, float]]) -> Iterator[list[str]]:
    """Return the heads, and a row per workload."""
    heads = ["workload", *(p for p in PEERS if p != "by hand, vector math"), "agree to",
             "faster than JAX", "target", "met", "× by hand", "target", "met"]
    yield heads + (["first call", "of JAX", "no slower"] if first else [])
    for c in comparisons:
        row = [f"{c.workload.key}: {c.workload.title}"]
        row += [_cell(c, peer) for peer in heads[1:7]]
        row += [_agreement(c), *_against(c)]
        yield row + (_first(first.get(c.workload.key)) if first else [])


def _cell(c: Comparison, peer: str) -> str:
    text = c.failures.get(peer) or seconds(c.median(peer))
    if peer == "by hand" and "by hand, vector math" in c.times:
        text += f"; vector math {seconds(c.median('by hand, vector math'))}"
    return text


def _agreement(c: Comparison) -> str:
    """Return the largest difference among the peers that were timed."""
    return f"{max((c.errors[peer] for peer in c.times), default=0.0):.0e}"


def _against(c: Comparison) -> list[str]:
    """Return both ratios, each with its target and whether it is met."""
    w, cells = c.workload, []
    for slow, fast, target, sign in (("JAX", "tracejit", w.at_least, 1),
                                     ("tracejit", "by hand", w.at_most, -1)):
        if slow not in c.times or fast not in c.times:
            cells += ["–", "", MARK[None if target is None else False]]
            continue
        r = ratio(c.times[slow], c.times[fast])
        met = None if target is None else sign * r >= sign * target
        aim = "" if target is None else f"{'≥' if sign > 0 else '≤'} {target:g}"
        cells += [_digits(r), aim, MARK[met]]
    return cells


def _first(times: dict[str, float] | None) -> list[str]:
    if times is None:
        return ["", "", ""]
    ours, theirs = times.get("tracejit"), times.get("JAX")
    met = ours is not None and theirs is not None and ours <= theirs
    return [seconds(ours), seconds(theirs), MARK[met]]


def overhead_rows(measures: Iterable[Measure]) -> Iterator[list[str]]:
    """Return the heads, and a row per measure."""
    yield ["measure", "value", "target", "met"]
    for m in measures:
        aim = "" if m.at_most is None else f"≤ {_digits(m.at_most)} {m.unit}".rstrip()
        yield [m.title, f"{_digits(m.value)} {m.unit}".rstrip(), aim, MARK[m.is_met()]]
