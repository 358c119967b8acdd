"""Names whose arrays change places in a loop that writes to them: as in Python, however it ends."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from list_laws import loaded, require_right_or_refused

MAKES = ["buf = np.zeros((3, x.size)); p, q, r = buf",
         "buf = np.zeros((3, x.size)); p, q, r = buf[::-1]",
         "buf = np.zeros((x.size, 3)); p, q, r = buf.T",
         "p = x * 1.0; q = x * 2.0; r = x * 3.0; buf = p",
         "buf = [x * 1.0, x * 2.0, x * 3.0]; p, q, r = buf",
         "buf = np.outer([1.0, 2.0, 3.0], x); p = buf[0]; q = buf[1]; r = buf[0]",
         "buf = np.zeros(x.size + 2); p = buf[:-2]; q = buf[1:-1]; r = buf[2:]",
         "d = {'a': x * 1.0, 'b': x + 1.0}; buf = d['a']; p = d['a']; q = d['b']; r = d['a']"]
WRITES = ["q[:] = p * 0.5 + 0.1", "q += p", "p[0] = q[-1] * x[k % 2]", "np.multiply(p, q, out=r)",
          "q[1:] = p[:-1]; r[0] += q[1]", "p *= 0.9; r[:] = p + q"]
TURNS = ["p, q = q, p", "p, q, r = q, r, p", "p, q, r = r, p, q", "q = p", "t = p; p = q; q = t",
         "p, q = q[:], p", "r = q; q = p", "p, q = q, p.copy()", "if k % 2: p, q = q, p",
         "if x[0] > 0.4: p, q = q, p", "p = q if k else r"]
LOOPS = ["for k in range(2):", "for k in range(5):", "for k, s in enumerate((0.5, 2.0, 1.5)):",
         "for k in range(x.size):", "k = -1\n    while k < 3:\n        k += 1"]
CASES = [*itertools.product(MAKES, WRITES, TURNS, LOOPS)]
STEP = 1709  # a prime, so that each day's sample meets all of every column


@pytest.mark.parametrize("case", range(600))
def test_every_name_sees_what_python_shows(case: int, tmp_path: Path) -> None:
    make, write, turn, loop = CASES[case * STEP % len(CASES)]
    text = "\n".join(["import numpy as np\n\n\ndef f(x):", f"    {make}; p[:] = x; s = 1.0",
                      f"    {loop}", f"        {write}; q[0] *= s", f"        {turn}",
                      "    b = sum(np.sum(v) * (i + 1) for i, v in enumerate(buf))",
                      "    return b + 3.0 * np.sum(p) + 5.0 * np.sum(q * x) + 7.0 * np.sum(r)\n"])
    f = loaded(text, tmp_path / f"turns{case}.py")
    require_right_or_refused(
        f, [(np.array([0.9, 0.3, 0.5]),), (np.array([0.2, 0.6, 0.1, 0.8]),)],
        "if x" in turn or ("range(2)" not in loop and "range(5)" not in loop))
