"""The command: `python -m benchmarks.gauntlet [--tools NAMES] [--only WORDS]`.

It puts every program to those tools that this Python has, or to the named ones, prints what each
gave, keeps it in results.json beside what other Pythons' tools gave, and writes docs/gauntlet.md.
A tool may end its process: it has one of its own, and another one from the next program on.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec

from benchmarks.gauntlet.page import PAGE, RESULTS, page, programs
from benchmarks.gauntlet.program import Outcome
from benchmarks.gauntlet.tools import TOOLS

MARK = "gauntlet: "


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser("python -m benchmarks.gauntlet", description=__doc__)
    parser.add_argument("--tools", help="names, with commas; else all that can be imported")
    parser.add_argument("--only", help="programs whose names have these words; nothing is written")
    parser.add_argument("--work", metavar="TOOL", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = [p.name for group in programs().values() for p in group
             if not options.only or options.only in p.name]
    if options.work:
        work(options.work)
        return
    named = options.tools.split(",") if options.tools else [
        name for name, tool in TOOLS.items() if all(map(find_spec, tool.packages))]
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {
        "versions": {}, "outcomes": {}}
    for tool in named:
        results["versions"][tool] = TOOLS[tool]().version()
        for name, outcome in outcomes(tool, names):
            print(f"{name:40} {tool:9} {outcome.kind:8} {outcome.text}", flush=True)
            results["outcomes"].setdefault(name, {})[tool] = list(outcome)
    if not options.only:
        results["outcomes"] = {name: results["outcomes"][name] for name in names}
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
        PAGE.write_text(page(results))


def outcomes(tool: str, names: list[str]) -> Iterator[tuple[str, Outcome]]:
    """Yield what a tool gave for each program, from processes that are its own."""
    left = list(names)
    while left:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.gauntlet", "--work", tool], check=False, text=True,
            input=json.dumps(left), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for line in done.stdout.splitlines():
            if line.startswith(MARK):
                yield left.pop(0), Outcome(*json.loads(line.removeprefix(MARK)))
        if left:
            yield left.pop(0), Outcome("crash", f"the process ended, with {done.returncode}")


def work(name: str) -> None:
    """Put the programs that standard input names to a tool, and print what it gave."""
    asked = {p.name: p for group in programs().values() for p in group}
    tool = TOOLS[name]()
    for program in json.loads(sys.stdin.read()):
        print(MARK + json.dumps(asked[program].outcome(name, tool)), flush=True)


if __name__ == "__main__":
    main()
