"""Copies and slices of a list of arrays whose length data decides hold the list's own arrays."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from list_laws import loaded, require_right_or_refused

ITEMS = [("u", "v * 1.0", "{}"), ("u[::-1]", "v", "{}"), ("(u, 1.0)", "(v * 1.0, 2.0)", "{}[0]"),
         ("[u]", "[v * 1.0]", "{}[0]"), ("buf[0]", "buf[1]", "{}")]
COPIES = ["h[:]", "list(h)", "h.copy()", "h[0:1]", "h[-1:]", "h[::-1]", "h + []", "[*h]", "h * 1",
          "[w for w in h]", "tuple(h)", "[w for w in reversed(h)]", "h[:2]", "h"]
WRITES = ["{} *= 2.0", "{}[1] = 5.0", "np.multiply({0}, 2.0, out={0})", "{0}[:] = {0}[::-1] + 1.0",
          "scale({})"]
GROWTHS = ["""if x[0] < 0.5:
    {write}
    h += [{more}]""", """if x[0] < 0.5:
    h.append({more})
    {write}""", """if x[0] < 0.5:
    h.append({more})
{write}""", """k = 0
while x[0] + k < 2.0:
    h.append({more})
    k += 1
{write}""", """k = 0
while x[0] + k < 2.0:
    {write}
    h.append({more})
    k += 1""", """for k in range(2):
    if x[k] < 0.5:
        h.append({more})
    {write}"""]
CASES = [*itertools.product(ITEMS, COPIES, WRITES, GROWTHS, (False, True))]
STEP = 2399  # a prime, so that each day's sample meets all of every column


def text_of(items: tuple[str, str, str], copy: str, write: str, growth: str, walked: bool) -> str:
    """Return the text of a function that makes a list longer and writes to an item of a copy."""
    first, more, array = items
    statement = write.format(array.format("w" if walked else "g[0]"))
    written = f"for w in {copy}: {statement}" if walked else f"g = {copy}; {statement}"
    body = growth.format(write=written, more=more)
    lines = ["import numpy as np\n\n\ndef scale(w):\n    w *= 3.0\n\n\ndef f(x):",
             "    u = x * 0.8; v = x + 1.0; buf = np.outer([1.0, 2.0], x)",
             f"    h = [{first}, {more}]; g = h", *("    " + line for line in body.splitlines()),
             f"    s = np.sum({array.format('g[0]')}) if len(g) else 0.0",
             f"    s += sum(np.sum({array.format('w')}) ** 2 for w in h)",
             "    return s + 3.0 * np.sum(u * x) + 5.0 * np.sum(v * x) + np.sum(buf[0] * x)\n"]
    return "\n".join(lines)


@pytest.mark.parametrize("case", range(800))
def test_every_name_sees_what_python_shows(case: int, tmp_path: Path) -> None:
    f = loaded(text_of(*CASES[case * STEP % len(CASES)]), tmp_path / f"copies{case}.py")
    require_right_or_refused(f, [(np.array([0.2, 0.6, 0.1, 0.8]),), (np.array([0.9, 0.3, 0.5]),)])
