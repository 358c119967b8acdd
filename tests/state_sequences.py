"""Random sequences of calls and changes of state, in one process and across two by the store.

    python tests/state_sequences.py --count 2000 --seed 1 [--compiled 20] [--across 20]

Each sequence is a case of `state_cases.py` with its changes in random order, repeated, and
interleaved with calls of several transforms. A transform must give the function's own result, or
be refused where the case says so; a second process must find nothing stale in the store.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import indent
from types import ModuleType
from typing import Any

import numpy as np
import state_cases
from asked_cases import ASKED
from object_cases import OBJECTS
from state_cases import Case

import tracejit

CASES = [*state_cases.CASES, *OBJECTS, *ASKED]
X = 1.5
TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "jit": tracejit.jit,
    "value_and_grad": lambda f: (lambda g: lambda *args: g(*args)[0])(tracejit.value_and_grad(f)),
    "nested": lambda f: tracejit.jit(lambda *args: f(*args)),
}
_PROCESS = ("os.chdir", "sys.", "builtins.", "np.se", "decimal.", "os.remove")
"""What changes of a process the sequences leave alone: cases for these run one by one."""


def is_usable(case: Case) -> bool:
    """Return whether a case can be repeated in any order."""
    return not any(text in change for change in case.changes for text in _PROCESS)


def load(text: str, folder: Path, name: str) -> ModuleType:
    """Return a fresh module of a text."""
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


_NUMBERS = itertools.count()


def refused_around(text: str, change: str, folder: Path, name: str) -> int:
    """Call a module's f twice, change its state, call twice; return how many calls were refused.

    Every call that is not refused gives what f itself gives then.
    """
    module = load(text, folder, f"{name}_{next(_NUMBERS)}")
    call, refused = tracejit.jit(module.f), 0
    try:
        for step in ("", "", change, ""):
            exec(step, vars(module))
            expected = module.f(2.0)
            try:
                got = call(2.0)
            except tracejit.Refusal:
                refused += 1
            else:
                assert got == expected, step
    finally:
        sys.modules.pop(module.__name__, None)
    return refused


class Subject:
    """The callables of cases: a module's functions as they are, or transformed, each once.

    make -- the transform; None for the functions themselves
    """

    def __init__(self, module: ModuleType, make: Callable[[Any], Any] | None = None) -> None:
        self.module = module
        self.of = make or (lambda fn: fn)
        self.names = {"of": self.of, "x": X, **{
            name.replace("f", "g"): self.of(fn) for name, fn in vars(module).items()
            if re.fullmatch(r"f\d*", name)}}
        """What calls name: `g` for `f`, `g2` for `f2` and so on, and `of` for what is made anew."""

    def outcome(self, case: Case) -> Any:
        """Return a call's result, or the exception that it raises."""
        try:
            return eval(case.call, vars(self.module), self.names)
        except Exception as error:
            return error


def agree(case: Case, got: Any, expected: Any) -> bool:
    """Return whether an outcome is Python's, or a refusal that the case allows."""
    if isinstance(got, tracejit.Refusal):
        return case.refused or isinstance(expected, Exception)
    if isinstance(expected, Exception):
        return type(got) is type(expected)
    return not isinstance(got, Exception) and np.allclose(got, expected, rtol=1e-12, atol=0.0,
                                                          equal_nan=True)


def changes_of(case: Case, rng: random.Random) -> Iterator[str]:
    """Yield changes in random order, none that raises kept."""
    for _ in range(rng.randint(2, 6)):
        yield rng.choice(["", *case.changes])


def run(number: int, seed: int, folder: Path, compiled: bool) -> str:
    """Run one sequence; return the words of its fault, or ""."""
    rng = random.Random(f"{seed} {number}")
    case = rng.choice([c for c in CASES if is_usable(c)])
    module = load(case.text, folder, f"sequence_{seed}_{number}")
    names = rng.sample(sorted(TRANSFORMS), rng.randint(1, 2))
    if case.name.startswith("result"):
        names = ["jit"]
    plain = Subject(module)
    transformed = {name: Subject(module, TRANSFORMS[name]) for name in names}
    done: list[str] = []
    with tracejit.config(disable_jit=not compiled):
        for change in changes_of(case, rng):
            try:
                exec(change, vars(module))
            except Exception:  # what is to be deleted is not there
                continue
            done.append(change)
            for name in rng.sample(names, rng.randint(1, len(names))):
                expected = plain.outcome(case)
                got = transformed[name].outcome(case)
                if name == "value_and_grad" and isinstance(got, (tracejit.Refusal, TypeError)):
                    continue  # a result that is no float
                if not agree(case, got, expected):
                    return f"{case.name}, {name}, after {done}: {got!r}, not {expected!r}"
    sys.modules.pop(module.__name__, None)
    return ""


# --- across processes -----------------------------------------------------------------------------

CHILD = """
import json, sys
sys.path[:0] = {paths!r}
import numpy as np, tracejit, state_sequences
case = state_sequences.CASES[{index}]
module = state_sequences.load(case.text + {edit!r}, state_sequences.Path({folder!r}),
                              "across_{index}")
plain = state_sequences.Subject(module)
jitted = state_sequences.Subject(module, tracejit.jit)
found = []
for change in {changes!r}:
    try:
        exec(change, vars(module))
    except Exception:
        continue
    expected, got = plain.outcome(case), jitted.outcome(case)
    if not state_sequences.agree(case, got, expected):
        found.append(f"{{case.name}} after {{change!r}}: {{got!r}}, not {{expected!r}}")
print(json.dumps([found, tracejit.cache.info().count]))
"""


def across(index: int, rng: random.Random) -> tuple[str, int]:
    """Run a case in three processes with one store: with other changes, and after an edit.

    Returns the words of a fault or "", and how many programs were kept.
    """
    case = CASES[index]
    paths = [str(Path(__file__).parent), str(Path(tracejit.__file__).parents[1])]
    kept = 0
    with tempfile.TemporaryDirectory() as folder:
        for edit, changes in (
                ("", ["", *case.changes[:1]]), (rng.choice(case.changes), [""]),
                ("", [rng.choice([*case.changes, ""]) for _ in range(3)] + case.changes)):
            text = CHILD.format(paths=paths, index=index, folder=folder, changes=changes,
                                edit=f"\ntry:\n{indent(edit or 'pass', '    ')}\n"
                                     "except Exception:\n    pass\n")
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-c", text], capture_output=True, text=True,
                env={**os.environ, "TRACEJIT_CACHE": "1", "TRACEJIT_CACHE_DIR": f"{folder}/cache"})
            if done.returncode:
                return f"{case.name}: {done.stderr[-2000:]}", kept
            found, kept = json.loads(done.stdout.splitlines()[-1])
            if found:
                return "; ".join(found), kept
    return "", kept


def main() -> int:
    """Run as many sequences as are asked for, and say which were stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compiled", type=int, default=0, help="one of so many is compiled")
    parser.add_argument("--across", type=int, default=0, help="so many cases across two processes")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.count):
            compiled = bool(options.compiled) and number % options.compiled == 0
            text = run(number, options.seed, Path(folder), compiled)
            if text:
                wrong += 1
                print(f"{number}: {text}", flush=True)
    rng = random.Random(options.seed)
    chosen = rng.sample(range(len(CASES)), min(options.across, len(CASES)))
    for index in chosen:
        text, _ = across(index, rng)
        if text:
            wrong += 1
            print(f"across: {text}", flush=True)
    print(f"{options.count} sequences and {len(chosen)} cases across processes: {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
