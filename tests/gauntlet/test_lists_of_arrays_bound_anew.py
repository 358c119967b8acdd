"""Names that hold one list of arrays after another, as long as data says, and arrays with names.

Each program is one of a table: the list's first items, the list that an iteration binds its name
to, the items that it appends, the write to an array, the read. Python itself is the oracle.
"""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from list_laws import loaded, require_same_as_python
from oracles import outcome

START = {
    "views": "h = list(m)", "two": "h = [u, x * 1.5]", "twice": "h = [u, u]",
    "a view": "h = [m[0], m[1]]", "made": "h = [q * 2.0 for q in m]", "none": "h = []",
    "by data": "h = [q for q in m if q[0] > 0.5]", "copies": "h = [q.copy() for q in m]",
    "times": "h = [u] * 3", "both": "h = [u] + list(m)",
}
BIND = {
    "behind": "h = h + [NEW]", "in front": "h = [NEW] + h", "window": "h = h[-2:] + [NEW]",
    "filtered": "h = [q for q in h if q[0] < 9.0] + [NEW]",
    "mapped": "h = [q * 1.1 for q in h if q[0] < 9.0]; h.append(NEW)",
    "by a loop": "old, h = h, []\n        for j in range(len(old)):\n"
                 "            p, q = old[j - 1], old[j]\n"
                 "            if p[0] > 0.7:\n                h.append(p)\n"
                 "            if q[0] < 2.0:\n                h.append(q + 0.1 * p)",
    "swap": "h, g = g, h + [NEW]", "append": "h.append(NEW)", "views again": "h = list(m) + [NEW]",
    "pop": "h.append(NEW); h.pop(0); h = h + [NEW]",
}
NEW = {"name": "u", "view": "m[0]", "fresh": "x * (k + 1)", "own": "(h[0] if h else x)", "a": "a",
       "row of a name": "m[k % 2]"}
WRITE = {
    "name": "u[0] += 1.0", "matrix": "m[0] += 1.0", "element": "m[1, 0] = 4.0",
    "item": "h[0][0] += 1.0", "other list": "g[0][0] += 1.0", "last": "q = h[-1]; q[0] = v",
    "a": "a[0] += v", "rebound": "u = u * 1.5; u[0] += 1.0",
    "maybe rebound": "u[0] += v\n        if v > 1.0:\n            u = u * 1.5",
    "matrix rebound": "m[0] += v\n        if v > 1.0:\n            m = m + 1.0",
    "nothing": "pass", "swap": "h[0], h[-1] = h[-1], h[0]",
}
READ = {
    "after": ("pass", "sum(np.sum(q * q) for q in h)"),
    "all": ("pass", "sum(np.sum(q) for q in h) + sum(np.sum(q) for q in g) + u.sum() + m.sum()"),
    "in it": ("s += h[0][0] if h else v", "s + a.sum() + u.sum() + sum(q[0] for q in h)"),
}
AFTER = ("pass", "u[0] = 7.0", "m[0] = 5.0", "h[0][0] = 7.0 * x[0]", "g[0][0] = 3.0")
"""What happens after the loop."""
LOOPS = ("while k < 3 and x[k] < 2.0:", "while k < 2:")

TEXT = """
import numpy as np

def f(x):
    m = np.outer(x, x)
    u = x * 0.8
    a = x + 1.0
    s, k = 0.0, 0
    {start}
    g = h
    {loop}
        v = x[k]
        {one}
        {other}
        {read}
        k += 1
    {after}
    return {result}
"""

Case = tuple[str, str, str, str, str, str, str, bool]
XS = [np.array([1.2, 0.8, 1.3]), np.array([0.6, 1.7, 0.9])]


def text_of(case: Case) -> str:
    start, bind, new, write, read, after, loop, writes_first = case
    one, other = BIND[bind].replace("NEW", NEW[new]), WRITE[write]
    if writes_first:
        one, other = other, one
    return TEXT.format(start=START[start], loop=loop, one=one, other=other, read=READ[read][0],
                       after=after, result=READ[read][1])


ALL: list[Case] = list(itertools.product(START, BIND, NEW, WRITE, READ, AFTER, LOOPS,
                                         (False, True)))
CASES = random.Random(4).sample(ALL, 300)


@pytest.mark.parametrize("case", CASES, ids=["-".join(map(str, c)) for c in CASES])
def test_an_array_in_lists_is_one_array(case: Case, tmp_path: Path) -> None:
    f: Any = loaded(text_of(case), tmp_path / "lists_of_arrays.py")
    if not all(isinstance(outcome(f, x), float) for x in XS):
        return  # it raises, or has no items to add up
    require_same_as_python(f, XS, "lists_of_arrays.py")
