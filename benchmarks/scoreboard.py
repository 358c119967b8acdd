"""The scoreboard: `python -m benchmarks.scoreboard [--full] [--npbench DIR] [--gradbench DIR]`.

Each measurement is a process of its own (`measure`), so that one that ends badly, or never, is a
cell and not the end. A full run writes `scoreboard.json` and the page made from it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.cases import case, names
from benchmarks.gradbench.__main__ import EVALS, answers
from benchmarks.scoreboard_page import page
from benchmarks.table import machine

__all__ = ["main"]

HERE = Path(__file__).parent
FOUND, PAGE, HISTORY = (HERE / name for name in (
    "scoreboard.json", "scoreboard.md", "scoreboard_history.jsonl"))
TIMED_FIRST = ("tracejit", "JAX")
SECONDS = {"steady": 900, "first": 300, "threads": 300}
"""How long a measurement may take on the wall. Not RLIMIT_CPU: with it the processor time that
Linux tells a process advances in ticks of some milliseconds."""
TOOLS = {"tracejit": tuple(EVALS), "manual": tuple(e for e in EVALS if e not in (
    "particle", "saddle")), "jax": ("hello", "gmm", "kmeans", "llsq", "lse", "ode"),
    "tapenade": ("gmm", "lstm", "ht", "ba"), "finite": ("particle", "saddle")}
"""The evals for which GradBench has a tool that builds without a package of its own."""


def main() -> None:
    """Measure, print the page, and write it down where the run is full."""
    options = _arguments()
    whole = options.full and not options.only
    path = options.json or (FOUND if whole else None)
    started = time.time()
    cases: dict[str, Any] = {}
    found = {"machine": machine(), "commit": _commit(), "date": time.strftime("%Y-%m-%d"),
             "load": os.getloadavg()[0], "full": options.full, "minutes": 0.0, "cases": cases}
    for name in _chosen(options):
        cases[name] = _measured(name, options)
        found["minutes"] = (time.time() - started) / 60
        if path:  # a run that is stopped leaves what it has
            path.write_text(json.dumps(found, indent=1) + "\n")
    if options.gradbench and not options.only:
        found["gradbench"] = _gradbench(options.gradbench, options.full)
        found["minutes"] = (time.time() - started) / 60
    text = page(found)
    print(text)
    if path:
        path.write_text(json.dumps(found, indent=1) + "\n")
    if whole:
        PAGE.write_text(text)
        with HISTORY.open("a") as file:
            print(json.dumps(_summary(found)), file=file)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.scoreboard", description=__doc__)
    parser.add_argument("--full", action="store_true", help="all cases and columns")
    parser.add_argument("--only", metavar="NAMES", help="cases whose names begin so, with commas")
    parser.add_argument("--columns", choices=("all", "first", "steady"),
                        help="all (with --full), no threads, or none but those of many calls")
    parser.add_argument("--npbench", type=Path, metavar="DIR", help="a checkout of NPBench")
    parser.add_argument("--gradbench", type=Path, metavar="DIR", help="a checkout of GradBench")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured here")
    options = parser.parse_args()
    options.columns = options.columns or ("all" if options.full else "steady")
    return options


def _chosen(options: argparse.Namespace) -> list[str]:
    asked = tuple(options.only.split(",")) if options.only else ("",)
    return [name for name in names(options.full, options.npbench) if name.startswith(asked)]


def _measured(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return what one case's measurements give; what failed has `error`."""
    print(f"{name} ...", file=sys.stderr, flush=True)
    rounds = [] if options.full else ["--rounds", "5", "--batch", "0.01"]
    if options.npbench:
        rounds += ["--npbench", str(options.npbench.resolve())]
    found = {"title": case(name, options.npbench).title,
             "steady": _process(["steady", name, *rounds], "steady", {})}
    for peer in () if options.columns == "steady" else TIMED_FIRST:
        if peer not in found["steady"].get("seconds", ()):
            continue
        with tempfile.TemporaryDirectory() as empty:
            caches = {"TRACEJIT_CACHE_DIR": f"{empty}/ours", "JAX_COMPILATION_CACHE_DIR":
                      f"{empty}/jax", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                      "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
            cold, warm = (_process(["first", name, peer, *rounds], "first", caches)
                          for _ in range(2))
        found[f"first {peer}"] = {**cold, "warm": warm.get("first")}
    if options.columns == "all":
        found["threads"] = _process(["threads", name, *rounds], "threads", {})
    return found


def _process(arguments: list[str], kind: str, environment: dict[str, str]) -> dict[str, Any]:
    try:
        ran = subprocess.run([sys.executable, "-m", "benchmarks.measure", *arguments], text=True,
                             cwd=HERE.parent, env={**os.environ, **environment}, check=False,
                             capture_output=True, timeout=SECONDS[kind])
    except subprocess.TimeoutExpired:
        return {"error": f"> {SECONDS[kind]} s"}
    if ran.returncode:
        said = ran.stderr.strip().splitlines() or [f"ended by signal {-ran.returncode}"]
        return {"error": said[-1][:200]}
    result: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return result


def _gradbench(checkout: Path, full: bool) -> dict[str, dict[str, Any]]:
    """Return, per input of an eval, each tool's times and whether it is right."""
    found: dict[str, dict[str, Any]] = {}
    for name, small in EVALS.items():
        for tool, evals in TOOLS.items():
            if name not in evals:
                continue
            print(f"gradbench/{name} with {tool} ...", file=sys.stderr, flush=True)
            options = f"{'' if full else small} --min-runs 4 --min-seconds 0.3"
            for a in answers(name, tool, checkout.resolve(), options if name != "hello" else ""):
                row = found.setdefault(f"{name} {a.function} {a.description}".strip(), {})
                row[tool] = {"seconds": a.seconds[:50], "error": a.error}
    return found


def _summary(found: dict[str, Any]) -> dict[str, Any]:
    """Return a line of the history: each case's median time with tracejit."""
    medians = {}
    for name, measured in found["cases"].items():
        times = sorted(measured["steady"].get("seconds", {}).get("tracejit", ()))
        if times:
            medians[name] = times[len(times) // 2]
    return {"commit": found["commit"], "date": found["date"], "load": found["load"],
            "seconds": medians}


def _commit() -> str:
    ran = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, text=True, check=False,
                         capture_output=True)
    return ran.stdout.strip()


if __name__ == "__main__":
    main()
