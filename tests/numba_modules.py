"""Programs as modules for Numba, run where tracejit cannot be imported: `Lowered.to_numba`.

`python tests/numba_modules.py` tells for each program of the gallery whether its module gives the
same bits, under `fp="strict"` and without, and how long a call takes beside tracejit's own.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.errors import TypingError

import tracejit
from tracejit.tree import flatten

__all__ = ["call_elsewhere", "inputs_of", "same_bits"]

CHILD = """
import importlib, pickle, sys
sys.modules["tracejit"] = None
try:
    import tracejit
except ImportError:
    pass
else:
    raise SystemExit("tracejit can be imported here")
folder, name, repeats, caller = sys.argv[1:]
sys.path.insert(0, folder)
function = importlib.import_module(name).run
with open(folder + "/" + name + ".in", "rb") as file:
    args = pickle.load(file)
if caller:
    from numba import njit
    inner = function
    @njit
    def function(*args):
        return inner(*args)
try:
    results = function(*args)
except Exception as e:
    results = e
times = (0.0, 0.0)
if int(repeats):
    from timing_from_njit import least_times
    times = least_times(function, args, int(repeats))
with open(folder + "/" + name + ".out", "wb") as file:
    pickle.dump((results, times), file)
"""

TIMING = """
import time
from numba import njit

def least_times(function, args, repeats):
    @njit
    def loop(count, *args):
        total = 0.0
        for _ in range(count):
            total += function(*args)[0]
        return total

    def least(call, count):
        call()
        times = []
        for _ in range(repeats):
            start = time.perf_counter()
            call()
            times.append((time.perf_counter() - start) / count)
        return min(times)

    once = least(lambda: function(*args), 1)
    count = max(1, int(2e-4 / once))
    return once, least(lambda: loop(count, *args), count)
"""
"""The least times of a call: from Python, and from a loop of `@njit` code."""


def inputs_of(lowered: Any, args: tuple[object, ...]) -> list[Any]:
    """Return what the function of a module is given for the arguments of a program."""
    leaves, _ = flatten(args)
    return [leaves[s] if isinstance(s, int) else s.content
            for s in lowered.traced.program.sources]


def call_elsewhere(lowered: Any, args: tuple[object, ...], folder: Path, *, name: str = "module",
                   repeats: int = 0, through_njit: bool = False,
                   ) -> tuple[list[Any], tuple[float, float]]:
    """Write a module and call it in a process without tracejit; return results, and least times.

    through_njit -- whether `@njit` code calls it
    """
    lowered.to_numba(folder / f"{name}.py", name="run")
    (folder / f"{name}.in").write_bytes(pickle.dumps(inputs_of(lowered, args)))
    (folder / "timing_from_njit.py").write_text(TIMING)
    subprocess.run([sys.executable, "-c", CHILD, str(folder), name, str(repeats),
                    "njit" if through_njit else ""], check=True, cwd=folder,
                   capture_output=True, text=True)
    results, times = pickle.loads((folder / f"{name}.out").read_bytes())
    if isinstance(results, Exception):
        raise results
    return list(results) if isinstance(results, tuple) else [results], times


def same_bits(found: list[Any], expected: object) -> bool:
    """Return whether results are the same, but for the bits of NaN."""
    wanted = [x for x in flatten(expected)[0] if x is not None]
    return len(found) == len(wanted) and all(
        np.array_equal(a, b, equal_nan=np.asarray(b).dtype.kind in "fc")
        and np.array_equal(np.signbit(np.real(a)), np.signbit(np.real(b)))
        for a, b in zip(found, wanted, strict=True))


def _furthest(found: list[Any], expected: object) -> float:
    wanted = [x for x in flatten(expected)[0] if x is not None]
    return max((float(np.max(np.abs(np.subtract(a, b)) / (np.abs(b) + 1e-300), initial=0.0))
                for a, b in zip(found, wanted, strict=True)), default=0.0)


def _main(patterns: list[str]) -> None:
    import importlib
    import pkgutil

    import programs
    from programs.program import PROGRAMS

    timing: dict[str, Any] = {}
    exec(TIMING, timing)

    for module in pkgutil.iter_modules(programs.__path__, "programs."):
        importlib.import_module(module.name)
    for p in PROGRAMS:
        if p.refused or p.wrong or (patterns and not any(t in str(p) for t in patterns)):
            continue
        for fp in ("strict", "default"):
            line = f"{p} {fp}: "
            args = p.arguments(p.sizes[-1])
            try:
                f: Any = tracejit.value_and_grad(p.function, argnums=p.argnums, fp=fp)
                expected = f(*args)
                try:
                    own = timing["least_times"](f, args, 200)
                except TypingError:  # arguments that no @njit code has, dicts for instance
                    own = None
                with tempfile.TemporaryDirectory() as folder:
                    found, times = call_elsewhere(f.trace(*args).lower(), args, Path(folder),
                                                  repeats=200)
                line += ("same bits" if same_bits(found, expected) else
                         f"differs by {_furthest(found, expected):.1e}")
                if own is not None:
                    ratios = [a / b for a, b in zip(times, own, strict=True)]
                    line += (f", time / tracejit's {ratios[0]:.2f}, from @njit code "
                             f"{ratios[1]:.2f} of {1e6 * own[1]:.2f} us")
            except subprocess.CalledProcessError as e:
                line += f"FAILS {e.stderr.strip().splitlines()[-1][:150]}"
            except Exception as e:
                line += f"{type(e).__name__} {str(e)[:150]}"
            print(line, flush=True)


if __name__ == "__main__":
    _main(sys.argv[1:])
