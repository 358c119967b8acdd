"""The command: `python -m benchmarks [--only a,g] [--quick] [--json FILE] [--clock wall]`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from benchmarks.compare import compare
from benchmarks.first_calls import KEYS, first_calls
from benchmarks.overheads import measure_overheads
from benchmarks.table import aligned, machine, overhead_rows, workload_rows
from benchmarks.tapes import measure_tapes
from benchmarks.timing import CLOCKS
from benchmarks.workloads import WORKLOADS

TIME = {"cpu": "processor time", "wall": "time on the wall"}
RESULTS = Path(__file__).parent / "results.md"
REPORT = """\
# Benchmarks

Value and gradient in float64, on one thread: {clock}, medians of interleaved rounds; a ratio is
the median of the rounds' own ratios. Every gradient was checked before it was timed: each peer's
against the adjoint written by hand in Numba, and that one against JAX's (`agree to`: the largest
relative difference found; a peer that is off by more than 1e-8 has that in place of a time).
tracejit gets the plain NumPy function; peers that cannot take it get a form of their own, see
`workloads/`. A first call is the time from function to first gradient in a fresh process, with an
empty cache, after one unrelated compilation.

{machine}

{workloads}

{overheads}
"""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks",
                                     description="Time tracejit beside its peers.")
    parser.add_argument("--only", metavar="KEYS", help=f"of {','.join(WORKLOADS)}, with commas")
    parser.add_argument("--quick", action="store_true", help="few and short rounds, no first calls")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every round's times")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)),
                        help="the core to stay on")
    parser.add_argument("--clock", choices=CLOCKS, default="cpu",
                        help="processor time (the default) or time on the wall")
    return parser.parse_args()


def _chosen(only: str | None) -> Iterable[str]:
    """Return workloads by key; `b` stands for all whose key begins so."""
    if only is None:
        return list(WORKLOADS)
    asked = tuple(only.split(","))
    chosen = [key for key in WORKLOADS if key.startswith(asked)]
    return chosen or sys.exit(f"no workload among {', '.join(WORKLOADS)} begins with {only}")


def main() -> None:
    """Measure, print, and write the results of a complete run down."""
    options = _arguments()
    os.sched_setaffinity(0, {options.core})
    rounds, batch = (5, 0.005) if options.quick else (15, 0.03)
    clock = CLOCKS[options.clock]
    comparisons = []
    for key in _chosen(options.only):
        print(f"{key} ...", file=sys.stderr, flush=True)
        comparisons.append(compare(WORKLOADS[key], rounds=rounds, batch=batch, clock=clock))
    first = {}
    if not options.quick:
        for key in (c.workload.key for c in comparisons if c.workload.key in KEYS):
            print(f"first calls of {key} ...", file=sys.stderr, flush=True)
            first[key] = first_calls(key, ("tracejit", "JAX"), 3, options.clock)
    measures = [] if options.only else [*measure_overheads(rounds, batch, clock),
                                        *measure_tapes(rounds, batch, clock)]
    tables = (aligned(list(workload_rows(comparisons, first))),
              aligned(list(overhead_rows(measures))) if measures else "")
    print("\n\n".join(filter(None, tables)))
    if not (options.quick or options.only):
        RESULTS.write_text(REPORT.format(clock=TIME[options.clock], machine=machine(),
                                         workloads=tables[0], overheads=tables[1]))
    if options.json:
        found = {"machine": machine(), "first_calls": first,
                 "overheads": [asdict(m) for m in measures],
                 "workloads": {c.workload.key: {"seconds": c.times, "failures": c.failures,
                                                "differences": c.errors} for c in comparisons}}
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
