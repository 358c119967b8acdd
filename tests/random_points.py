"""Random programs that go through points: sums, rows, scratch arrays and loops inside.

A program is `def f(x, a, b)`: points of five coordinates, five numbers, five by five numbers. In
some of them a point needs what an earlier one has left.
"""

from __future__ import annotations

import random

__all__ = ["points_program"]

SCALARS = ("y = x[i, {c}]", "y = y * a[{c}] + x[i, {c}]", "y = np.sin(y)", "z = y * x[i, 0]",
           "total = total + y * z", "total += np.sum(v)", "vec = vec + v * y", "out[i{o}, 0] = y",
           "out[i{o}, 1] += z", "out[i{o}, 0] = 0.5 * out[i{o}, 1] + z", "v = x[i] * a + y",
           "v = np.cos(v) * b[{c}]", "z = np.max(v)", "total = total + np.prod(v)", "kept = y",
           "v = v.copy()", "turned[:, i] = v", "v = turned[:, i] * 0.5", "v = np.cumsum(v)",
           "v = np.where(v > y, v, 0.5 * v)", "z = v[{c}] + v[np.argmax(a)]", "u = v * 0.1")
INSIDE = ("y = np.sin(y * a[{j}])", "v[{j}] = 0.5 * v[{j}] + y", "y = np.maximum(y, b[{j}, {c}])",
          "total += y * a[{j}]", "out[i{o}, 0] = out[i{o}, 0] * 0.5 + y", "z = z * 0.9 + x[i, {c}]",
          "out[i{o}, 1] += y * a[{j}]", "y = y + v[{j} - 1] * 0.2", "z = np.tanh(z + a[{j}])",
          "v[{j}] += b[{j}, {c}] * y", "s = s + a[{j}] * b[{c}, {j}]", "y = y + 0.1 * s")
WAITING = ("y = y + 0.3 * kept", "t = t * 0.5", "z = t[{c}] + y", "count += 1",
           "y = y + total * 0.1", "v = v + turned[:, i - 1]", "y = y + np.sum(u)",
           "z = out[i, 0] + out[i + 1, 1]", "out[i + 1, 1] += y", "out[0, 0] += y",
           "turned[0] = y", "y = vec[{c}] * y", "i = i + 0")
"""Statements of a point, of loops inside, and such by which a point needs an earlier one's."""


def points_program(seed: int) -> str:
    """Return the source of a program."""
    r = random.Random(seed)
    lines = ["import numpy as np", "", "", "def f(x, a, b):",
             "    total, kept, count, n = 0.0, 0.5, 0, len(x)",
             "    out, vec, t, u = np.ones((n + 2, 2)), np.zeros(5), np.ones(5), np.ones(5)",
             "    turned = np.ones((5, n))",
             f"    for i in range({r.choice(('n', 'n', '1, n', 'n - 1'))}):",
             "        y, z, v, s = x[i, 1], x[i, 2] * 0.5, x[i] + a, 0.0"]
    if r.random() < 0.4:
        lines += ["        for j in range(5):",
                  f"            t[j] = z * a[j] + b[j, {r.randrange(5)}]", "        v = v + t"]
    o = r.choice(("", "", " + 1"))
    for _ in range(r.randint(3, 7)):
        lines += _statement(r, o, 2, ())
    lines += ["        total = total + y * z + np.sum(v * v) * 0.1",
              "    whole = np.sum(out * out) + np.sum(vec * a) + np.sum(np.sin(t)) + np.sum(u)",
              "    return total + kept + whole + np.sum(turned[1] * turned[0]) + count"]
    return "\n".join(lines) + "\n"


def _statement(r: random.Random, o: str, depth: int, loops: tuple[str, ...]) -> list[str]:
    pad = "    " * depth
    if len(loops) < 2 and r.random() < (0.5 if not loops else 0.25):
        j = "jk"[len(loops)]
        lo = r.choice(("0", "0", "1", *loops))
        made = [f"{pad}for {j} in range({lo}, {r.choice(('5', '5', 'len(a)', 'a.shape[0]'))}):"]
        for _ in range(r.randint(1, 3)):
            made += _statement(r, o, depth + 1, (*loops, j))
        return made
    if loops and r.random() < 0.1:
        inside = r.choice(INSIDE).format(j=loops[0], c=r.randrange(5), o=o)
        return [f"{pad}if {loops[-1]} == {r.randrange(5)}:", f"{pad}    {inside}"]
    text = r.choice(WAITING if r.random() < 0.04 else INSIDE if loops else SCALARS)
    return [pad + text.format(j=r.choice(loops) if loops else 1, c=r.randrange(5), o=o)]
