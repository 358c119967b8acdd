"""One function called with arrays in one layout, then in another: each call is NumPy's, or refused.

A view or copy of the argument reaches the written name by a branch, a loop or a container.
"""

from __future__ import annotations

import itertools
import linecache
import random
from typing import Any

import numpy as np
import pytest

import tracejit

MADE = ("np.ascontiguousarray(x)", "x.reshape(-1)", "x.T.reshape(-1)", "x.ravel()[1:3]",
        "np.reshape(x, (3, 2))", "x.ravel('F')", "np.asfortranarray(x)", "np.ravel(x)")

WAYS = {
    "an expression": "z = {m} if x[0, 1] > 0 else np.zeros_like({m})\n{w}",
    "a branch": "z = np.zeros_like({m})\nif x[0, 1] > 0:\n    z = {m}\n{w}",
    "the other branch": "if x[0, 1] < 0:\n    z = np.zeros_like({m})\nelse:\n    z = {m}\n{w}",
    "a tuple": "z = (({m}, 1.0) if x[0, 1] > 0 else (np.zeros_like({m}), 2.0))[0]\n{w}",
    "a loop": "z = np.zeros_like({m})\nfor k in range(int(x[0, 0])):\n    z = {m}\n{w}",
    "a while": "z = np.zeros_like({m})\nk = x[0, 0]\nwhile k > 0:\n    z = {m}\n    k -= 1\n{w}",
    "a name before": "y = {m}\nz = np.zeros_like(y)\nif x[0, 1] > 0:\n    z = y\ndel y\n{w}",
    "a name in a loop": "y = {m}\nz = np.zeros_like(y)\n"
                        "for k in range(int(x[0, 0])):\n    z = y\ndel y\n{w}",
    "a list": "a = [np.zeros_like({m})]\nif x[0, 1] > 0:\n    a[0] = {m}\nz = a[0]\n{w}",
    "items": "a = []\nif x[0, 1] > 0:\n    a.append({m})\nfor z in a:\n    {w}",
    "a dict": "a = dict(k=np.zeros_like({m}))\nif x[0, 1] > 0:\n    a['k'] = {m}\nz = a['k']\n{w}",
    "an index": "z = [{m}, np.zeros_like({m})][int(x[0, 1] < 0)]\n{w}",
    "two branches": "z = {m} if x[0, 1] > 0 else np.zeros_like({m})\n"
                    "z = z if x[0, 0] > 0 else np.zeros_like(z)\n{w}",
    "a handler": "z = np.zeros_like({m})\ntry:\n    z = {m}\n    if x[0, 1] < 0:\n"
                 "        raise ValueError\nexcept ValueError:\n    pass\n{w}",
    "a comprehension": "z = [{m} for k in range(int(x[0, 0]) + 1)][-1]\n{w}",
    "a default": "z = None\nif x[0, 1] > 0:\n    z = {m}\nif z is not None:\n    {w}",
    "a write in a branch": "z = {m}\nif x[0, 1] > 0:\n    {w}",
    "a write in a loop": "z = {m}\nfor k in range(int(x[0, 0]) + 1):\n    {w}",
    "a loop with both": "for k in range(int(x[0, 0]) + 1):\n    z = {m}\n    {w}",
    "a plain name": "z = {m}\n{w}",
}

REFUSED = ("a dict", "an index")
"""Ways in which data decides on arrays that may not be written to then, however they lie."""

WRITES = ("z += 1.0", "z[0] = 7.0", "z.fill(3.0)", "np.copyto(z, 5.0)", "np.add(z, 1.0, out=z)",
          "z[...] *= 2.0")

LAYOUTS = {
    "C": lambda x: x.copy(), "F": np.asfortranarray, "rows of more": lambda x: np.tile(x, 2)[:, :3],
    "reversed": lambda x: x[::-1].copy()[::-1],
}


def function(way: str, made: str, write: str) -> Any:
    """Return a program that writes to a view or copy of its argument."""
    lines = way.format(m=made, w=write).splitlines()
    source = "\n    ".join(["def f(x):", *lines, "return x.sum()"]) + "\n"
    file = f"<layouts by turns {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(source, file, "exec"), namespace)
    return namespace["f"]


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("way", WAYS)
def test_each_call_is_that_of_its_layout(way: str, made: str) -> None:
    choose = random.Random(f"{way} {made}")
    f = function(WAYS[way], made, choose.choice(WRITES))
    given = np.arange(1.0, 7.0).reshape(2, 3)
    right = 0
    for first, then in itertools.permutations(LAYOUTS, 2):
        compute = tracejit.jit(f)
        for name in (first, then, first):
            theirs, ours = LAYOUTS[name](given), LAYOUTS[name](given)
            expected = f(theirs)
            try:
                with tracejit.config(disable_jit=True):
                    value = compute(ours)
            except tracejit.Refusal:
                continue
            np.testing.assert_array_equal(value, expected, err_msg=f"{first}, {then}: {name}")
            np.testing.assert_array_equal(ours, theirs, err_msg=f"{first}, {then}: {name}")
            right += 1
    assert right or way in REFUSED
