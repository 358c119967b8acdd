"""Items of lists, tuples and texts of a known length by an index that data decides."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from list_laws import loaded
from oracles import outcome

import tracejit

MAKES = ["[x, 2.0 * x, x * x]", "(x, 2.0 * x, x * x)", "[x * q for q in range(3)]", "[1, 2, 3]",
         "(1, 2, 3)", "[0.5, 1.5, 2.5]", "[x] * 3", "[True, False, True]", "'abc'",
         "['u', 'b', 'w']", "[x * q for q in range(30)]", "list(range(20))",
         "[(x, 1), (2.0 * x, 2), (3.0, 3)]", "[[x, 1.0], [2.0, x], [x, x]]", "[1, 2.0, x]",
         "(1, x, 2)"]
INDICES = ["int(x * 3) % 3", "-1 - int(x * 2)", "np.argmax(np.array([x, 0.5, 0.1]))",
           "(1 if x > 0.5 else 2)", "int(x * 9)", "int(x > 0.5)"]
USES = ["r = v[k]", "v[k] = x; r = v[0]", "v[k] += 1; r = v[2]", "w = v; w[k] = 0.5; r = v[k]",
        "w = v[:]; w[k] = x; r = v[k]", "r = v[:k]", "r = v[k:][0]",
        "r = v[k]; r = v[r] if r == 1 else r",
        "del v[k]; r = v[0]", "r = v.pop(k)", "v.insert(k, x); r = v[1]",
        "for i in range(4): v[(k + i) % 3] = v[i % 3]\n    r = v[1]"]
AFTER = """
    t = 0.0
    for u in r if isinstance(r, (list, tuple)) else (r,):
        t += (2.0 * x if u == 'b' else x) if isinstance(u, str) else u * x
    return t + len(v)
"""
CASES = [f"v = {make}; k = {index}\n    {use}"
         for make, index, use in itertools.product(MAKES, INDICES, USES)]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_items_are_pythons(case: int, tmp_path: Path) -> None:
    text = f"import numpy as np\n\n\ndef f(x):\n    {CASES[case]}{AFTER}"
    f = loaded(text, tmp_path / f"items{case}.py")
    for x in (0.37, 0.81, 0.1):
        wanted = outcome(f, x)
        with tracejit.config(disable_jit=True):
            found = outcome(tracejit.value_and_grad(f), x)
        if isinstance(found, tracejit.Refusal):
            assert f"items{case}.py" in str(found)
        elif isinstance(wanted, Exception):
            notes = getattr(found, "__notes__", ())
            met_by_all = any("while tracejit captured" in x for x in notes)
            assert type(found) is type(wanted) or (met_by_all and isinstance(found, TypeError))
        elif isinstance(found, Exception):
            raise found
        else:
            np.testing.assert_allclose(found[0], wanted, rtol=1e-12)
            slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
            np.testing.assert_allclose(found[1], slope, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("make", MAKES[:-4])
def test_items_of_numbers_and_texts_are_captured(make: str, tmp_path: Path) -> None:
    text = f"def f(x):\n    v = {make}; k = int(x * 3) % 3\n    r = v[k]{AFTER}"
    f = loaded(text, tmp_path / "items.py")
    with tracejit.config(disable_jit=True):
        g = tracejit.jit(f)
        for x in (0.37, 0.81, 0.1):
            np.testing.assert_allclose(g(x), f(x), rtol=1e-12)


TABLES = ["T[k]", "T[k] + T[k - 1]", "S['t'][k]", "O.t[k]", "t[k]", "t[-1 - k] * t[k]",
          "T[bisect.bisect_left(T, x) - 1]", "sum(T[(k + i) % 3] * w ** i for i in range(9))",
          "(T[k] if x > 0.5 else t[k])", "[T[k], t[k]][1] * T[int(w * x) % 3]"]
CHANGES = ["T[1] = 5.5", "T[:] = [4.0, 0.25, 1.5]", "T.append(9.0)", "S['t'] = [0.1, 0.2, 0.3]",
           "O.t[0] = 8.0", "t[2] = -3.0", "T[0] = 1", "del T[3:]; del t[3:]"]


@pytest.mark.parametrize("case", range(len(TABLES) * len(CHANGES)))
def test_tables_from_outside_are_read_as_they_are_now(case: int, tmp_path: Path) -> None:
    table, change = TABLES[case % len(TABLES)], CHANGES[case // len(TABLES)]
    text = ("import bisect\nimport types\n\nT = [0.0, 0.75, 2.5]\nS = {'t': [1.5, 2.5, 3.5]}\n"
            "O = types.SimpleNamespace(t=[7.0, 0.5, 2.0])\n\n\n"
            f"def change(t):\n    {change}\n\n\n"
            f"def f(x, t, w=3.0):\n    k = int(x * 3) % 3\n    return {table} * x\n")
    f = loaded(text, tmp_path / f"table{case}.py")
    g = tracejit.value_and_grad(f, argnums=(0, 1))
    t = [0.3, 1.25, 6.0]
    for x in (0.37, 0.81, 0.12):
        with tracejit.config(disable_jit=True):
            found = outcome(lambda x=x: g(x, t))
        if isinstance(found, tracejit.Refusal):  # a table of ints and floats
            assert change == "T[0] = 1", found
        else:
            assert not isinstance(found, Exception), found
            np.testing.assert_allclose(found[0], f(x, t), rtol=1e-12)
            slope = (f(x + 1e-6, t) - f(x - 1e-6, t)) / 2e-6
            np.testing.assert_allclose(found[1][0], slope, rtol=1e-6, atol=1e-8)
            for j, v in enumerate(t):
                more, less = [*t], [*t]
                more[j], less[j] = v + 1e-6, v - 1e-6
                np.testing.assert_allclose(found[1][1][j], (f(x, more) - f(x, less)) / 2e-6,
                                           rtol=1e-6, atol=1e-8)
        f.__globals__["change"](t)
