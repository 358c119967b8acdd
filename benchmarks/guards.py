"""What a call costs for each thing from outside that is guarded, by kind and by how many there are.

    python -m benchmarks.guards
"""

from __future__ import annotations

import importlib.util
import tempfile
import timeit
from pathlib import Path
from typing import Any

import tracejit

__all__: list[str] = []

COUNTS = (0, 1, 10, 100, 1000)
KINDS: dict[str, tuple[str, str, str]] = {
    "global": ("", "N{k} = {k} + 300\n", "N{k}"),
    "attribute": ("class O: pass\no = O()\n", "o.n{k} = {k} + 300\n", "o.n{k}"),
    "attribute of a class": ("class O: pass\no = O()\n", "O.n{k} = {k} + 300\n", "o.n{k}"),
    "slot": ("class O:\n    __slots__ = [f'n{{k}}' for k in range(1000)]\no = O()\n",
             "o.n{k} = {k} + 300\n", "o.n{k}"),
    "method": ("class O: pass\no = O()\n", "def m(self): return {k} + 300\nO.m{k} = m\n",
               "o.m{k}()"),
    "item of a list": ("L = []\n", "L.append({k} + 300)\n", "L[{k}]"),
    "item of a dict": ("D = {{}}\n", "D['k{k}'] = {k} + 300\n", "D['k{k}']"),
    "item by a number": ("D = {{}}\n", "D[{k}] = {k} + 300\n", "D[{k}]"),
    "item of a deque": ("from collections import deque\nQ = deque()\n", "Q.append({k} + 300)\n",
                        "Q[{k}]"),
    "item of a set": ("S = set()\n", "S.add({k})\n", "({k} in S)"),
    "field of a named tuple": ("from collections import namedtuple\nT = namedtuple('T', 'a b')\n",
                               "t{k} = T({k} + 300, 2)\n", "t{k}.a"),
    "attribute of a function": ("", "def h{k}(): pass\nh{k}.n = {k} + 300\n", "h{k}.n"),
    "member of an Enum": ("import enum\nclass E(enum.Enum):\n    A = 300\n", "e{k} = E.A\n",
                          "e{k}.value"),
    "class of an object": ("class O: pass\n", "o{k} = O()\n", "isinstance(o{k}, O)"),
}
"""By kind: what comes first in a module, what makes a thing, and how it is read."""
CHANGING = {"global": "m.other = [1]", "attribute": "m.o.other = [1]"}
"""What is written beside the things that are guarded, so that the version of a dict changes."""


def make_module(kind: str, count: int, folder: Path) -> Any:
    """Return a module with a function that reads so many things."""
    first, thing, read = KINDS[kind]
    text = first.format() + "".join(thing.format(k=k) for k in range(count))
    text += "def f(x):\n    s = 0\n"
    text += "".join(f"    s = s + {read.format(k=k)}\n" for k in range(count))
    path = folder / f"guards_{len([*folder.iterdir()])}.py"
    path.write_text(f"{text}    return x * s\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def time_call(module: Any, change: str) -> float:
    """Return the time of a call in nanoseconds, without that of what is written before it."""
    g = tracejit.jit(module.f)
    g(1.5)
    names = {"g": g, "m": module}
    calls, writes = (min(timeit.repeat(text, globals=names, number=2000, repeat=11)) / 2000 * 1e9
                     for text in (f"{change}; g(1.5)", f"{change}; None"))
    return calls - writes


def main() -> None:
    """Print a table: a row per kind, a column per count, and what one more costs."""
    print(f"{'ns a call':38}" + "".join(f"{n:>9}" for n in COUNTS) + f"{'each':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            for change in ("", *([CHANGING[kind]] if kind in CHANGING else [])):
                modules = [make_module(kind, n, Path(folder)) for n in COUNTS]
                times = [time_call(module, change or "0") for module in modules]
                each = (times[-1] - times[1]) / (COUNTS[-1] - COUNTS[1])
                title = kind + (", others written to" if change else "")
                print(f"{title:38}" + "".join(f"{t:9.0f}" for t in times) + f"{each:9.1f}",
                      flush=True)


if __name__ == "__main__":
    main()
