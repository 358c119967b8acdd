"""The page that is made of what the scoreboard measured, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import exp, log, nan
from statistics import median
from typing import Any

from benchmarks.table import aligned, seconds

__all__ = ["page"]

GROUPS = {"workloads": "Workloads", "adbench": "ADBench's objectives, generated data",
          "npbench": "NPBench's kernels, size S", "programs": "Programs of tests/programs/"}
PEERS = ("NumPy forward", "tracejit", "by hand", "JAX", "PyTorch")
TOOLS = ("tracejit", "manual", "jax", "tapenade", "finite")
BAR = 24  # characters of a bar for a factor of a hundred
BUSY = 0.05  # the share of the cores that others may take for a ratio of threads to count
HEAD = """\
# Scoreboard

Written by `python -m benchmarks.scoreboard{full}` from `scoreboard.json`: commit {commit}, {date},
{minutes:.0f} minutes, load {load:.1f} as it began. {machine}

Value and gradient, float64 unless a kernel's data is float32: processor time on one thread, medians
of interleaved rounds; `by hand` has vector math where that was written and is faster. Every
gradient was checked before it was timed: against the adjoint by hand, or where there is none
tracejit's against differences of the NumPy function, and the peers' against tracejit's. `÷ forward`
is the gradient's time by that of the value alone, both compiled. First calls are processor time
after one unrelated compilation, in a fresh process with an empty cache; `warm` the same with the
cache that this left. `call` is how much larger the process is during a call. `2 threads` is one
thread's time by that of two on the wall, in brackets where others used the cores.
A bar shows JAX's time by tracejit's: to the right tracejit is faster, {bar} characters a factor
of 100.
{note}"""


def page(found: Mapping[str, Any]) -> str:
    """Return the page."""
    flag = " --full" if found["full"] else ""
    parts = [HEAD.format(**{"note": "", **found, "full": flag}, bar=BAR)]
    for group, title in GROUPS.items():
        cases = {name.partition("/")[2]: measured for name, measured in found["cases"].items()
                 if name.startswith(f"{group}/")}
        if cases:
            parts += [f"## {title}\n", aligned(list(_rows(cases))), "",
                      *_means(cases.values()), ""]
    if "gradbench" in found:
        parts += ["## GradBench\n", "Times on the wall, the least of a tool's runs; each output "
                  "judged by the eval.\n", aligned(list(_gradbench(found["gradbench"]))), ""]
    return "\n".join(parts)


def _time(measured: Mapping[str, Any], peer: str) -> float:
    """Return a peer's median in seconds, NaN where there is none; the better one by hand."""
    times = measured["steady"].get("seconds", {})
    chosen = [times[p] for p in times if p == peer or p == f"{peer}, vector math"]
    return min((median(t) for t in chosen), default=nan)


def _rows(cases: Mapping[str, Any]) -> Iterator[list[str]]:
    full = any("first tracejit" in measured for measured in cases.values())
    yield ["case", *PEERS, "÷ by hand", "JAX ÷", "", "÷ forward",
           *(["first", "of JAX", "warm", "of JAX", "call", "of JAX", "2 threads"] if full else [])]
    for key, measured in cases.items():
        steady = measured["steady"]
        failures = steady.get("failures", {})
        ours, theirs = _time(measured, "tracejit"), _time(measured, "JAX")
        title = measured["title"] if measured["title"] != key else ""
        row = [f"{key}: {title}".rstrip(": "),
               *(_failure(failures.get(peer, "")) or _shown(_time(measured, peer))
                 for peer in PEERS),
               _ratio(ours / _time(measured, "by hand")), _ratio(theirs / ours),
               _bar(theirs / ours), _ratio(ours / _time(measured, "tracejit forward"))]
        if "error" in steady or "tracejit" in failures:
            row[2] = f"**{steady.get('error') or failures['tracejit']}**"
        yield row + (_first(measured) if full else [])


def _failure(said: str) -> str:
    """Return what became of a peer; nothing where it needs a form that was not written."""
    return "" if said.startswith("fails") else said


def _first(measured: Mapping[str, Any]) -> list[str]:
    ours, theirs = (measured.get(f"first {peer}", {}) for peer in ("tracejit", "JAX"))
    cells = [seconds(side.get(name)) for name in ("first", "warm") for side in (ours, theirs)]
    sizes = [side.get("peak") for side in (ours, theirs)]
    threads = measured.get("threads", {})
    ratio = _ratio(threads.get("ratio", nan))
    if threads.get("same bits") is False:
        ratio = "other bits"
    elif threads.get("others", 0.0) > BUSY:
        ratio = f"({ratio})"
    return [*cells, *("–" if s is None else f"{s / 1e6:.1f} MB" for s in sizes), ratio]


def _means(cases: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield sentences about geometric means and the worst."""
    whole = list(cases)
    for peer in ("JAX", "by hand"):
        ratios = [r for m in whole if (r := _time(m, peer) / _time(m, "tracejit")) > 0]
        if ratios:
            mean = exp(sum(map(log, ratios)) / len(ratios))
            behind = sum(r < 1 for r in ratios)
            yield (f"Time of {peer} by tracejit's, {len(ratios)} cases: geometric mean {mean:.2f}, "
                   f"least {min(ratios):.2f}, {behind} below 1.\n")
    ratios = [m["first tracejit"]["first"] / m["first JAX"]["first"] for m in whole
              if all("first" in m.get(f"first {p}", {}) for p in ("tracejit", "JAX"))]
    if ratios:
        mean = exp(sum(map(log, ratios)) / len(ratios))
        yield f"First calls by JAX's: geometric mean {mean:.2f}, largest {max(ratios):.2f}."


def _gradbench(rows: Mapping[str, Any]) -> Iterator[list[str]]:
    yield ["input", *TOOLS, "by the best other", "first"]
    for name, tools in rows.items():
        best = {tool: min(told["seconds"][1:] or told["seconds"], default=nan)
                for tool, told in tools.items()}
        others = [t for tool, t in best.items() if tool != "tracejit" and t > 0]
        cells = [("wrong or failed" if tools[tool]["error"] else _shown(best[tool]))
                 if tool in tools else "–" for tool in TOOLS]
        ours = tools["tracejit"]["seconds"]
        yield [name, *cells, _ratio(best["tracejit"] / min(others, default=nan)),
               _shown(ours[0] if ours else nan)]


def _shown(t: float) -> str:
    return seconds(t) if t > 0 else "–"


def _ratio(r: float) -> str:
    return f"{r:.3g}" if r > 0 else "–"


def _bar(r: float) -> str:
    if not r > 0:
        return ""
    length = min(BAR, round(abs(log(r, 100)) * BAR))
    return ("█" if r > 1 else "░") * length
