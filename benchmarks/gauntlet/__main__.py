"""The command: `python -m benchmarks.gauntlet [--tools NAMES] [--only WORDS]`.

It puts every program to those tools that this Python has, or to the named ones, prints what each
gave, keeps it in results.json beside what other Pythons' tools gave, and writes docs/gauntlet.md.
"""

from __future__ import annotations

import argparse
import json
from importlib.util import find_spec

from benchmarks.gauntlet.page import PAGE, RESULTS, page, programs
from benchmarks.gauntlet.tools import TOOLS


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser("python -m benchmarks.gauntlet", description=__doc__)
    parser.add_argument("--tools", help="names, with commas; else all that can be imported")
    parser.add_argument("--only", help="programs whose names have these words; nothing is written")
    options = parser.parse_args()
    named = options.tools.split(",") if options.tools else [
        name for name, tool in TOOLS.items() if all(map(find_spec, tool.packages))]
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {
        "versions": {}, "outcomes": {}}
    asked = [p for group in programs().values() for p in group
             if not options.only or options.only in p.name]
    for name in named:
        tool = TOOLS[name]()
        results["versions"][name] = tool.version()
        for one in asked:
            outcome = one.outcome(name, tool)
            print(f"{one.name:40} {name:9} {outcome.kind:8} {outcome.text}", flush=True)
            results["outcomes"].setdefault(one.name, {})[name] = list(outcome)
    if not options.only:
        names = [one.name for one in asked]
        results["outcomes"] = {name: results["outcomes"][name] for name in names}
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
        PAGE.write_text(page(results))


if __name__ == "__main__":
    main()
