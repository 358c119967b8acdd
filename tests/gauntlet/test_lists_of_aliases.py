"""Lists that hold an array which has another name, get longer in a loop, and the array changes.

Each program is one of a table: the list's first items, how it gets longer, how the array is
written to, where the list is read, which of the two comes first. Python itself is the oracle.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from list_laws import require_pythons

FIRST = {
    "one": "h = [u]", "two": "h = [u, x * 3]", "twice": "h = [u, u]", "view": "h = [u[:]]",
    "part": "w0 = u[0:2]; h = [w0]", "times": "h = [u] * 2", "tuple": "h = [(u, 1.0)]",
    "comprehension": "h = [q for q in (u,)]", "argument": "u = x; h = [u]",
    "row": "m = np.outer(x, x); u = m[0]; h = [u]", "append": "h = []; h.append(u)",
    "choice": "h = [x * 3] if n > 99 else [u]", "attribute": "h = o.h = [u]",
    "item of a dict": "h = {}.setdefault('a', [u])",
    "item": "h = []\n    for q in range(n):\n        h.append(u + q)\n    u = h[0]",
    "made by a loop": "h = []\n    for q in range(2):\n        h.append(u)",
}
GROW = {
    "append": "h.append(NEW)", "insert": "h.insert(0, NEW)", "extend": "h.extend([NEW, NEW])",
    "+=": "h += [NEW]", "+": "h = h + [NEW]", "in front": "h = [NEW] + h",
    "branch": "if k >= 0:\n            h.append(NEW)",
    "data": "if x[0] > 0:\n            h.append(NEW)",
    "inner loop": "for j in range(2):\n            h.append(NEW)", "slice": "h[len(h):] = [NEW]",
    "function": "grow(h, NEW)", "some": "if x[k] > 1.5:\n            h.append(NEW)",
    "itself": "h.append(OLD)", "window": "h = h[-2:] + [NEW]",
}
WRITE = {
    "item": "u[k] -= 1.0", "all": "u -= 1.0", "out": "np.add(u, 1.0, out=u)",
    "view": "w = u[::-1]; w[0] = 5.0", "fill": "u.fill(k * 1.0)", "sort": "u.sort()",
    "function": "poke(u)", "branch": "if k > 0:\n            u[0] = 9.0",
    "data": "if x[0] > 0:\n            u[0] = 9.0",
    "inner loop": "for j in range(2):\n            u[j] += 1.0", "bound": "u = u - 1.0",
    "by the list": "first(h)[0] -= 2.0", "nothing": "pass",
}
READ = {
    "after": ("pass", "sum(np.sum(array(v)) for v in h)"),
    "in it": ("s += sum(np.sum(array(v)) for v in h)", "s + u.sum()"),
    "ends": ("s += np.sum(first(h)) * (k + 1)", "s + np.sum(array(h[-1])) + u.sum()"),
}
LOOPS = ("range(n)", "range(n - 1, -1, -1)")

TEXT = """
import numpy as np
def array(v):
    return v[0] if isinstance(v, tuple) else v
def grow(h, v):
    h.append(v)
def poke(u):
    u[0] *= 3.0
def first(h):
    return array(h[0])
class O:
    pass
def f(x, n):
    o = O()
    u = x * 0.8
    s = 0.0
    {first}
    for k in {loop}:
        {one}
        {other}
        {read}
    return {result}
"""

Case = tuple[str, str, str, str, str, bool]


def text_of(case: Case) -> str:
    first, grow, write, read, loop, writes_first = case
    new, old = {"tuple": ("(x * (k + 2), 2.0)", "(u, 2.0)"),
                "part": ("x[0:2] * (k + 2)", "w0")}.get(first, ("x * (k + 2)", "u"))
    both = [GROW[grow].replace("NEW", new).replace("OLD", old), WRITE[write]]
    one, other = reversed(both) if writes_first else both
    return TEXT.format(first=FIRST[first], loop=loop, one=one, other=other, read=READ[read][0],
                       result=READ[read][1])


def function_of(text: str, path: Path) -> Callable[..., Any]:
    path.write_text(text)
    names: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), names)
    return names["f"]


ALL: list[Case] = list(itertools.product(FIRST, GROW, WRITE, READ, LOOPS, (False, True)))
CASES = random.Random(1).sample(ALL, 400)


@pytest.mark.parametrize("case", CASES, ids=["-".join(map(str, c)) for c in CASES])
def test_an_array_of_a_list_that_gets_longer_is_the_array(case: Case, tmp_path: Path) -> None:
    f = function_of(text_of(case), tmp_path / "lists_of_aliases.py")
    for n in (3, 20):
        require_pythons(f, np.linspace(0.7, 2.3, n), n, refusable=True)
