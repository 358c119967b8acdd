"""A list with two names, of which a loop changes one and binds the other anew: as in Python."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from list_laws import loaded, require_right_or_refused

MAKES = ["[v * 0.5 for v in x]", "[0.3] * n", "list(x)", "[x[0] * i for i in range(n)]",
         "[0.7] * 16", "[x[0] * i for i in range(16)]", "[x[0], x[1], 2.0]",
         "[(v, 1.0) for v in x]", "[v * x for v in x]"]
CHANGES = ["p[:] = [v * 0.5 for v in p]", "p[1:] = [v * 0.5 for v in p[1:]]", "p.reverse()",
           "p.append(p[0])", "p += [p[-1]]", "p.pop()", "p.insert(0, p[1])", "del p[0]",
           "p[0] = p[-1]", "p.extend(p[:1])", "p.sort()", "p[0], p[-1] = p[-1], p[0]",
           "p.clear(); p.extend(q)", "p[:] = q[::-1]"]
BINDS = ["q = [v for v in q]", "q = q[:]", "q = p[:]", "q = [v * 1.0 for v in p]", "q = list(p)",
         "q = p", "q, p = p, q[:]", "if x[k % 2] > 0.4: q = p[:]"]
NAMES = ["q = p", "q = p; h = {1: p}", "h = [p]; q = h[0]", "q = (p, 1)[0]"]
SEEN = "\n        u = u * 0.5 + np.sum(np.asarray(w))"
LOOPS = ["for k in range(n):", "for k in range(3):", "for k, w in zip(range(n), q):" + SEEN,
         "k = -1\n    while k < n - 1:\n        k += 1",
         "for k, w in zip(range(2), p):" + SEEN, "for k, w in enumerate(p[:2]):" + SEEN]
ORDERS = ["{change}; {bind}", "{bind}; {change}", "for m in range(2): {change}; {bind}",
          "for m in range(k): {bind}; {change}", "{change}; for m in range(k + 1): {bind}"]
CASES = [*itertools.product(MAKES, CHANGES, BINDS, NAMES, LOOPS, ORDERS)]
STEP = 7919  # a prime, so that each day's sample and each seed meets all of every column


@pytest.mark.parametrize("case", range(1200))
def test_both_names_see_what_python_shows(case: int, tmp_path: Path) -> None:
    make, change, bind, names, loop, order = CASES[case * STEP % len(CASES)]
    lines, indent = [], "        "
    for part in order.split("; "):
        head, colon, rest = part.partition(": ")
        if colon:
            lines.append(indent + head + ":")
            indent += "    "
        for line in (rest or head).format(change=change, bind=bind).split("; "):
            lines.append(indent + line)
    text = "\n".join([
        "import numpy as np\n\n\ndef f(x, n):\n    u = 0.0", f"    p = {make}", f"    {names}",
        f"    {loop}", *lines,
        "    t = sum(np.sum(np.asarray(v)) * (i + 1) for i, v in enumerate(p))",
        "    return u + t + 3.0 * sum(np.sum(np.asarray(v)) * (i + 2) for i, v in enumerate(q))\n"])
    f = loaded(text, tmp_path / f"names{case}.py")
    require_right_or_refused(
        f, [(np.array([0.9, 0.3, 0.5]), 3), (np.array([0.2, 0.6, 0.1, 0.8]), 4)])
