"""Whether two trees emit the same source: gradients of random programs, for CPU and device.

    python tests/emitted.py OTHER_TREE [--count 5000] [--seed N]

A refactoring leaves every byte of emitted source as it was; the other tree is a checkout of what
was before. Beside random programs there are those of `tests/programs` and
`tests/programs_as_they_are`. Nothing is compiled; a program that is refused counts by its message.
Exit status 1 where a program differs; `--show NAME` prints the sources of one, to compare them.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import linecache
import os
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from random_mechanisms import mixed_program
from random_programs import random_program

ROOT = Path(__file__).parents[1]

Named = tuple[str, Callable[..., Any], tuple[Any, ...], tuple[int, ...]]
"""A name, a function, its arguments, and the numbers of those by which it is differentiated."""


def random_named(seed: int) -> Named:
    """Return the program of a seed, every fifth one about what data decides."""
    is_mixed, size = seed % 5 == 4, (6, 10, 16, 24)[seed % 4]
    source = mixed_program(seed, size) if is_mixed else random_program(seed, size)
    file, names = f"<program {seed}>", {"np": np, "__name__": "program"}
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    exec(compile(source, file, "exec"), names)
    function: Any = names["f"]
    if is_mixed:
        return str(seed), function, (0.7, np.ones(4), np.random.default_rng(1)), (0, 1)
    return str(seed), function, (np.ones(4), np.ones((4, 3)), 0.5, 4), (0, 1, 2)


def written_down() -> Iterator[Named]:
    """Yield the programs of the two galleries."""
    for package in ("programs", "programs_as_they_are"):
        for module in pkgutil.iter_modules([str(ROOT / "tests" / package)]):
            importlib.import_module(f"{package}.{module.name}")
        table = importlib.import_module(
            f"{package}.{'program' if package == 'programs' else 'table'}")
        for p in table.PROGRAMS:
            yield f"{package}.{p}", p.function, p.arguments(p.sizes[0]), p.argnums


def texts_of(program: Named) -> dict[str, str]:
    """Return the source of a program by target, or why there is none."""
    import tracejit  # of the tree that PYTHONPATH names

    _, function, args, argnums = program
    found = {}
    for target in ("cpu", "cuda"):
        try:
            made = tracejit.value_and_grad(function, argnums=argnums, target=target)
            found[target] = made.trace(*args).lower().source
        except Exception as e:
            found[target] = f"{type(e).__name__}: {e}"
    return found


def programs_for(options: argparse.Namespace) -> Iterator[Named]:
    """Yield the programs that are asked for."""
    yield from map(random_named, range(options.seed, options.seed + options.count))
    yield from written_down()


def print_digests(programs: Iterator[Named]) -> None:
    """Print a line for each source: name, target, length, digest, whether it is one."""
    for program in programs:
        for target, text in texts_of(program).items():
            digest = hashlib.sha256(text.encode()).hexdigest()[:16]
            print(program[0], target, len(text), digest, "graph" in text, flush=True)


def started(tree: Path, options: argparse.Namespace) -> subprocess.Popen[str]:
    """Start this file in another process, with the package of a tree."""
    words = [sys.executable, __file__, "--digests", "--count", str(options.count),
             "--seed", str(options.seed)]
    env = {**os.environ, "PYTHONPATH": str(tree), "PYTHONHASHSEED": "0"}
    return subprocess.Popen(words, env=env, cwd=tree, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)


def compared(options: argparse.Namespace) -> int:
    """Compare two trees, and say how many sources there were and which differ."""
    both = [started(tree, options) for tree in (options.tree.resolve(), ROOT)]
    old, new = (process.communicate()[0].splitlines() for process in both)
    if len(old) != len(new) or any(process.returncode for process in both):
        print(f"{len(old)} sources before and {len(new)} after")
        return 1
    differ = [line for was, line in zip(old, new, strict=True) if was != line]
    emitted = sum(line.endswith("True") for line in new)
    print(f"{emitted} sources and {len(new) - emitted} refusals: {len(differ)} differ",
          *differ[:20], sep="\n")
    return 1 if differ else 0


def main() -> int:
    """Compare, or print what the other process asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tree", nargs="?", type=Path, help="a checkout of what was before")
    parser.add_argument("--count", type=int, default=1000, help="how many random programs")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first")
    parser.add_argument("--digests", action="store_true", help="print those of this tree alone")
    parser.add_argument("--show", help="print the sources of one program, by its name or seed")
    options = parser.parse_args()
    if options.show:
        chosen = (random_named(int(options.show)) if options.show.isdigit() else
                  next(p for p in written_down() if p[0] == options.show))
        print(*texts_of(chosen).values(), sep="\n")
        return 0
    if options.digests or options.tree is None:
        print_digests(programs_for(options))
        return 0
    return compared(options)


if __name__ == "__main__":
    sys.exit(main())
