"""Stored programs and orders of sets: texts and objects have other hashes in each process.

Each case makes a set in one way and goes through it in one way. Two processes with other hashes run
it from one store. The oracle is Python's own result in the same process.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SOURCES = {
    "literal": '{"a", "b", "c", "d"}', "of a dict": "set(W)", "frozen": "frozenset(W)",
    "comprehension": "{k for k in W}", "difference": 'W.keys() - {"e"}',
    "keys": "W.keys() & MORE.keys()", "union": '{"a", "b"} | {"c", "d"}',
    "method": 'set().union(W, "ab")', "copy": 'set("abcd").copy()', "default": "DEFAULT",
    "reduced": "functools.reduce(operator.or_, [{k} for k in W])", "outer": "OUTER",
    "grown": "grown()", "updated": "updated()",
    "functions": "{FUNCTIONS[f] for f in set(FUNCTIONS)}",
    "numbers": "[LETTERS[k] for k in set(range(5)) - {4}]",
}
READERS = {
    "loop": "for n in {0}:\n        x = x * 2.0 + W[n]",
    "list": "x = x * W[list({0})[0]]", "star": "x = x * W[[*{0}][0]]",
    "unpacked": "a, *_ = {0}\n    x = x * W[a]", "next": "x = x * W[next(iter({0}))]",
    "text": 'x = x * W["".join({0})[0]]', "largest": "x = x * W[max({0}, key=len)]",
    "sum": "x = x + sum([k * W[n] for k, n in enumerate({0})])",
    "keys of a dict": "x = x * W[list(dict.fromkeys({0}))[0]]",
    "counted": "x = x * W[list(collections.Counter({0}))[0]]",
    "member": 'x = x * (2.0 if "a" in {0} else 3.0)', "sorted": "x = x * W[sorted({0})[0]]",
}
OTHERS = {
    "hash of a text": 'hash("abc") % 7', "hash of a tuple": 'hash(("a", 1)) % 7',
    "a text's hash": '"abc".__hash__() % 7', "hash of a number": "hash(3) % 7",
    "id of a class": "id(float) % 5",
    "member of constants": '2.0 if "b" in {"a", "b", "c"} else 3.0',
}
HEAD = """\
import collections, functools, operator
import numpy as np
import tracejit
W = dict(a=1.0, b=2.0, c=3.0, d=4.0)
MORE = dict.fromkeys("abcd")
OUTER = {"a", "b", "c", "d"}
LETTERS = "abcd"
FUNCTIONS = {np.sin: "a", np.cos: "b", np.tan: "c", np.exp: "d"}
def grown():
    s = set()
    for n in "abcd":
        s.add(n)
    return s
def updated():
    s = set()
    s |= W.keys()
    return s
"""
CALLS = """
import sets, tracejit
for name in [k for k in vars(sets) if k.startswith("f_")]:
    g = getattr(sets, name)
    found, expected = g(1.5), g.__wrapped__(1.5)
    assert found == expected, (name, found, expected)
    print(name, any(s.is_stored for made in g._table.values() for s in made))
"""


def program() -> str:
    """Return a module with a function per source and per reader."""
    text = HEAD
    pairs = [(s, "loop") for s in SOURCES] + [("literal", r) for r in READERS]
    for k, (source, reader) in enumerate(pairs):
        body = READERS[reader].format(SOURCES[source])
        names = "x, DEFAULT=frozenset('abcd')" if source == "default" else "x"
        text += f"@tracejit.jit\ndef f_{k}({names}):\n    {body}\n    return x\n"
    for k, expression in enumerate(OTHERS.values()):
        text += f"@tracejit.jit\ndef f_other_{k}(x):\n    return x * ({expression})\n"
    return text


def run(folder: Path, seed: int) -> dict[str, bool]:
    """Call the functions with hashes of a seed; return which programs were found in the store."""
    (folder / "sets.py").write_text(program())
    script = folder / "calls.py"
    script.write_text(CALLS)
    root = Path(__file__).parents[2]
    env = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(root),
           "TRACEJIT_CACHE": "1",
           "TRACEJIT_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=env,
                          check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return {name: text == "True" for name, text in map(str.split, done.stdout.splitlines())}


def test_a_stored_program_has_the_order_of_sets_of_the_process_that_calls_it(tmp_path):
    assert not any(run(tmp_path, 1).values())
    found = run(tmp_path, 2)
    kept = {name for name, is_stored in found.items() if is_stored}
    numbers = f"f_{[*SOURCES].index('numbers')}"
    others = [f"f_other_{[*OTHERS].index(k)}" for k in ("hash of a number", "member of constants")]
    assert {numbers, f"f_{len(SOURCES) + [*READERS].index('member')}", *others} <= kept
