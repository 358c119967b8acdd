"""A long campaign of random programs: python tests/fuzz.py --count 5000 [--seed N] [--verify].

Program k of a campaign is made from seed + k alone, so `--count 1 --seed S` makes one again. Exit
status 1 where a law does not hold; with `--log`, each such program is appended to a file.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import os
import random
import re
import signal
import sys
import time
import traceback
from typing import Any

from mechanism_laws import check_mixed, choose_mixed_plan
from program_laws import (
    LAYOUTS,
    OVERLAPS,
    Mismatch,
    Plan,
    Program,
    Refused,
    Rejected,
    arguments,
    check_program,
)
from random_mechanisms import mixed_program
from random_programs import random_program

TIME_LIMIT = 60.0
"""Seconds of CPU time that one program may take; beyond, it is reported."""


def check_seed(task: tuple[int, argparse.Namespace]) -> tuple[int, str, str, str]:
    """Check the program of a seed; return the seed, the outcome, its message, the source."""
    seed, options = task
    choose = random.Random(-seed - 1)
    size = choose.choice((6, 10, 16, 24))
    plan = choose_plan(choose, options)
    mixing = random.Random(seed)
    is_mixed = mixing.random() < options.mixed
    mixed = choose_mixed_plan(mixing, options.compiled, options.verify)
    source = mixed_program(seed, size) if is_mixed else random_program(
        seed, size, pair=bool(plan.overlap))
    signal.signal(signal.SIGPROF, _give_up)
    signal.setitimer(signal.ITIMER_PROF, TIME_LIMIT)
    try:
        if is_mixed:
            check_mixed(source, mixed)
        else:
            check_program(source, plan)
        return seed, "passed", "", source
    except Rejected as e:
        return seed, "refused" if isinstance(e, Refused) else "rejected", str(e), source
    except Mismatch as e:
        if is_mixed:
            return seed, "mismatch", f"{e}\n{mixed}", source
        args = arguments(4, rank=1 if plan.overlap else 2)
        return seed, "mismatch", f"{e}\n{plan}\n{Program(source).graph(args)}", source
    except BaseException:
        return seed, "mismatch", traceback.format_exc(), source
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def choose_plan(choose: random.Random, options: argparse.Namespace) -> Plan:
    """Choose which laws a program is checked for, and the layouts of its arrays."""
    pair = choose.random() < options.pairs
    laid_out = not pair and choose.random() < 0.5
    places = choose.choice(list(LAYOUTS)), choose.choice([k for k in LAYOUTS if k != "broadcast"])
    return Plan(
        compiled=choose.random() < options.compiled,
        verify=options.verify or choose.random() < 0.5,
        second=choose.random() < options.second,
        layouts=places if laid_out else ("C", "C"),
        overlap=choose.choice(list(OVERLAPS)) if pair else "",
        nested=choose.choice(("jit", "vmap")) if choose.random() < options.nested else "",
        changes=2, reload=choose.random() < options.reload, seed=choose.randrange(10**6))


def _give_up(*_: Any) -> None:
    raise TimeoutError(f"no result in {TIME_LIMIT} s")


def parse_options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many programs")
    parser.add_argument("--seed", type=int, default=None, help="the seed of the first")
    parser.add_argument("--verify", action="store_true",
                        help="all in verify mode, not half of them")
    parser.add_argument("--compiled", type=float, default=0.3, help="the share that is compiled")
    parser.add_argument("--second", type=float, default=0.2, help="the share at second order")
    parser.add_argument("--nested", type=float, default=0.15,
                        help="the share of which gradients are transformed again")
    parser.add_argument("--pairs", type=float, default=0.1,
                        help="the share whose arguments overlap")
    parser.add_argument("--reload", type=float, default=0.1,
                        help="the share whose text is changed and loaded again")
    parser.add_argument("--mixed", type=float, default=0.0,
                        help="the share about what data decides: things, keys, draws, sizes")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many processes")
    parser.add_argument("--log", help="a file to append failing programs to")
    return parser.parse_args()


def main() -> int:
    """Run a campaign."""
    options = parse_options()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(10**9)
    print(f"{options.count} programs from seed {options.seed}", flush=True)
    counts: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    start = time.monotonic()
    tasks = ((seed, options) for seed in range(options.seed, options.seed + options.count))
    with multiprocessing.Pool(options.jobs, maxtasksperchild=200) as pool:
        for seed, outcome, found, source in pool.imap_unordered(check_seed, tasks):
            counts[outcome] += 1
            if outcome in ("rejected", "refused"):
                why = re.sub(r"[<\w/.]*[\w ]*>?:\d+: |'\w+'|\d+", "", found)
                reasons[f"{outcome}: {why[:60]}"] += 1
            if outcome == "mismatch":
                print(f"\nseed {seed}: {found.splitlines()[0]}", flush=True)
                if options.log:
                    with open(options.log, "a", encoding="utf-8") as log:
                        log.write(f"=== seed {seed}\n{source}\n--- {found}\n\n")
            done = sum(counts.values())
            if done % 20 == 0 or done == options.count:
                print(f"\r{done}/{options.count} {dict(counts)} "
                      f"{done / (time.monotonic() - start):.1f}/s", end="", flush=True)
            if done % 1000 == 0 or done == options.count:
                told = (f"{k} {why}" for why, k in reasons.most_common())
                print("", *told, sep="\n  ")
    print()
    return 1 if counts["mismatch"] else 0


if __name__ == "__main__":
    sys.exit(main())
