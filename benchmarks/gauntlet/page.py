"""The page: docs/gauntlet.md, made of the programs and of what the runner kept."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gauntlet.program import PEERS, Between, Program, Raises, shown

__all__ = ["PAGE", "RESULTS", "page", "programs"]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "gauntlet.md"
RESULTS = Path(__file__).parent / "results.json"
GROUPS = ("aliases", "state", "effects", "branches", "kinks", "powers", "indices", "extremes",
          "complex_numbers", "matrices", "loops", "conversions", "dtypes", "nesting")
WORDS = {**dict.fromkeys(("right", "NaN", "refused", "error", "crash", "not run")), "no way": "–"}
NOT_RUN = ("not run", "")


def programs() -> dict[str, list[Program]]:
    """Return all programs, by the module that has them."""
    return {group: import_module(f"benchmarks.gauntlet.{group}").PROGRAMS for group in GROUPS}


def page(results: Mapping[str, Any]) -> str:
    """Return the page."""
    return "\n".join(_lines(results)) + "\n"


def _lines(results: Mapping[str, Any]) -> Iterator[str]:
    outcomes = results["outcomes"]
    yield INTRODUCTION.format(versions="; ".join(
        f"{name}: {results['versions'][name]}" for name in PEERS if name in results["versions"]))
    yield from _counts(outcomes)
    for group, found in programs().items():
        title, _, prose = (import_module(f"benchmarks.gauntlet.{group}").__doc__ or "").partition(
            "\n\n")
        yield f"## {title.rstrip('.')}\n"
        if prose.strip():
            yield f"{prose.strip()}\n"
        yield f"| program, and what is asked | right | {' | '.join(PEERS)} |"
        yield "| --- " * (2 + len(PEERS)) + "|"
        for one in found:
            yield _row(group, one, outcomes[one.name])
        yield ""


def _row(group: str, one: Program, told: Mapping[str, Any]) -> str:
    cites = "".join(f" ({_link(thread)})" for thread in one.cites)
    asks = one.asks.replace("|", r"\|")
    cells = [f"[{one.name}](../benchmarks/gauntlet/{group}.py): {asks}{cites}",
             _right(one.right()), *(_cell(*told.get(peer, NOT_RUN)) for peer in PEERS)]
    return f"| {' | '.join(cells)} |"


def _link(thread: str) -> str:
    repository, _, number = thread.partition("#")
    return f"[{thread.rpartition('/')[2]}](https://github.com/{repository}/issues/{number})"


def _right(right: Any) -> str:
    if isinstance(right, Raises):
        return "an error"
    if isinstance(right, Between):
        return shown(right.low) if right.low == right.high else (
            f"{shown(right.low)} to {shown(right.high)}")
    return shown(np.round(right, 6))


def _cell(kind: str, text: str) -> str:
    return f"**{text}**" if kind == "wrong" else WORDS[kind] or kind


def _counts(outcomes: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the table of how often each tool gave what."""
    kinds = ("right", "wrong", "NaN", "refused", "error", "crash", "no way")
    counts = {peer: Counter(told.get(peer, NOT_RUN)[0] for told in outcomes.values())
              for peer in PEERS}
    yield f"| | {' | '.join(PEERS)} |"
    yield "| --- " * (1 + len(PEERS)) + "|"
    for label, parts in (("right", kinds[:1]), ("a wrong number, in silence", kinds[1:2]),
                         ("NaN", kinds[2:3]), ("an error, a refusal or a crash", kinds[3:6]),
                         ("no way to say it", kinds[6:])):
        row = [str(sum(counts[peer][kind] for kind in parts)) for peer in PEERS]
        yield f"| {label} | {' | '.join(row)} |"
    yield ""


INTRODUCTION = """\
# The gauntlet

Programs on which tools for gradients are known to go wrong in silence, put to tracejit and to six
others. Each is written as a user of the tool would write it, and its right answer comes from
another way: differences of the NumPy function itself, fifty digits of `decimal`, or mathematics.
The sources, one file for a class of faults, are in `benchmarks/gauntlet/`; `python -m
benchmarks.gauntlet` runs all tools that its Python can import, and makes this page from what was
printed, which [results.json](../benchmarks/gauntlet/results.json) keeps with the text of errors.

How to read it: **a number in bold is wrong**, and nothing said so. A NaN is noticed sooner or
later. An error or a refusal is no fault here, since the user is told. A dash is a program that the
tool has no way to say; its source tells why. A tool gets the NumPy program with its own `np` where
that runs. Where it stops with an error that names a remedy, the remedy is used: JAX has `.at[]` and
`lax.cond`. JAX compiles by `jit`, Enzyme (of MLIR) differentiates JAX's functions by
`enzyme_jax_ir`, PyTorch runs eagerly, PyTensor and CasADi build their graph once.
JAX has 64 bits switched on, unless a program is about dtypes. Many of these answers are documented
by the tools, as what their users have to know; they are here because no run says so.

{versions}.
"""

if __name__ == "__main__":
    PAGE.write_text(page(json.loads(RESULTS.read_text())))
