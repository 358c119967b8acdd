"""Nests that multiply matrices element by element: products of matrices, with the same results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from program_laws import Program

import tracejit
from tracejit.ir.interpreter import interpret
from tracejit.ir.verifier import verify_graph
from tracejit.passes.nest_products import multiply_nests

NEST = "for i in range(n):\n    for j in range(m):\n        for p in range(k):\n            "
INNER = "for i in range(n):\n    for j in range(m):\n        s = 0.0\n        for p in range(k):\n"
PRODUCTS = {
    "added": NEST + "y[i, j] += a[i, p] * b[p, j]",
    "subtracted": NEST + "y[i, j] -= a[i, p] * b[p, j]",
    "scaled": NEST + "y[i, j] += 0.3 * a[i, p] * b[p, j] * t",
    "in another order": "for p in range(k):\n    for j in range(m):\n        for i in range(n):\n"
                        "            y[i, j] = b[p, j] * a[i, p] + y[i, j]",
    "in a scalar": INNER + "            s += a[i, p] * b[p, j]\n        y[i, j] = s",
    "a scalar subtracted": INNER + "            s -= a[i, p] * b[p, j]\n        y[i, j] += t * s",
    "shifted": "for i in range(n - 1):\n    for j in range(m):\n        for p in range(1, k):\n"
               "            y[i + 1, j] += a[i, p - 1] * b[p, j]",
    "transposed": "for i in range(k):\n    for j in range(m):\n        for p in range(n):\n"
                  "            z[j, i] += a[p, i] * c[p, j]",
    "in steps": "for r in range(2):\n    " + NEST.replace("\n", "\n    ")
                + "y[i, j] += a[i, p] * b[p, j] * np.sin(r + 1.0)",
    "by pages": "for r in range(2):\n    " + NEST.replace("\n", "\n    ")
                + "w[r, i, j] += v[r, i, p] * b[p, j]",
}
OTHERS = {
    "of what changes": NEST + "y[i, j] += y[i, p % m] * b[p, j]",
    "of three": NEST + "y[i, j] += a[i, p] * b[p, j] * a[i, 0]",
    "of a triangle": "for i in range(n):\n    for j in range(m):\n"
                     "        for p in range(min(i, k)):\n            y[i, j] += a[i, p] * b[p, j]",
    "written over": NEST + "y[i, j] = a[i, p] * b[p, j]",
    "on a diagonal": NEST + "y[i, j] += a[i, p] * d[p, p] * b[p, j]",
    "sums that go on": "s = 0.0\n" + NEST + "s += a[i, p] * b[p, j]; y[i, j] += s",
    "of vectors": "for i in range(n):\n    for p in range(k):\n"
                  "        y[i, 0] += a[i, p] * d[p, 0]",
    "read on the way": NEST + "y[i, j] += a[i, p] * b[p, j]; z[j, p] += y[i, j]",
    "begun elsewhere": INNER.replace("0.0", "t")
                       + "            s += a[i, p] * b[p, j]\n        y[i, j] = s",
}
WAYS_BACK = ("begun elsewhere",)
"""Of these the way back is one of products."""
SIZES = [(3, 4, 2), (0, 3, 2), (3, 0, 2), (2, 3, 0), (1, 1, 1)]
"""The first is that of others, too."""


def _program(nest: str) -> Program:
    lines = ["n, k = a.shape", "m = b.shape[1]", "y = 0.1 * c", "z = np.zeros((m, k))",
             "t = np.cos(b.size)", "w = np.zeros((2, n, m))", "v = np.stack([a, 0.5 * a])",
             "d = a.T @ a", *nest.splitlines(),
             "return np.sum(np.sin(y)) + np.sum(z * z) + np.sum(np.cos(w) * w)"]
    return Program("\n".join(["def f(a, b, c):", *("    " + line for line in lines), ""]))


@pytest.fixture
def programs() -> Iterator[list[Program]]:
    made: list[Program] = []
    yield made
    for each in made:
        each.forget()


def _graphs(nest: str, programs: list[Program], args: list[np.ndarray]) -> tuple[Any, Any, Any]:
    programs.append(_program(nest))
    f = programs[-1].function
    graph = tracejit.value_and_grad(f, argnums=(0, 1, 2)).trace(*args).graph
    changed, found = multiply_nests(graph)
    return graph, changed, found


@pytest.mark.parametrize("name", [*PRODUCTS, *OTHERS])
def test_products_keep_values_and_gradients(name, programs):
    for n, k, m in SIZES if name in PRODUCTS else SIZES[:1]:
        rng = np.random.default_rng([n, k, m])
        args = [rng.uniform(-1.0, 1.0, shape) for shape in ((n, k), (k, m), (n, m))]
        graph, changed, found = _graphs({**PRODUCTS, **OTHERS}[name], programs, args)
        verify_graph(changed)
        assert len(found) == (2 if name in PRODUCTS else name in WAYS_BACK), changed
        for new, old in zip(interpret(changed, *args), interpret(graph, *args), strict=True):
            np.testing.assert_allclose(new, old, rtol=1e-12, atol=1e-12)


CHECKED = ("def f(a, b):\n    y = np.zeros((3, 4))\n    for i in range(a.shape[0]):\n"
           "        for j in range(b.shape[1]):\n            for p in range(a.shape[1]):\n"
           "                y[i, j] += a[i, p] * b[p, j]\n    return np.sum(y * y)\n")
SHAPES = [((3, 5), (5, 4)), ((2, 5), (6, 3)), ((3, 5), (4, 4)), ((4, 5), (5, 4)), ((3, 5), (5, 5)),
          ((0, 5), (2, 4)), ((0, 9), (9, 7)), ((9, 0), (3, 0)), ((5, 0), (0, 9)), ((5, 2), (1, 0))]


def test_indices_are_checked_as_element_by_element(programs):
    programs.append(Program(CHECKED))
    f = programs[-1].function
    compiled = tracejit.jit(f)
    for shape, other in SHAPES:
        a, b = np.ones(shape), np.ones(other)
        try:
            expected: Any = f(a, b)
        except IndexError as error:
            expected = str(error)
        try:
            found: Any = compiled(a, b)
        except IndexError as error:
            found = str(error)
        assert str(found).startswith(str(expected)), (shape, other)


def test_in_the_order_of_the_program_nothing_is_a_product(programs):
    args = [np.ones((3, 4)), np.ones((4, 2)), np.ones((3, 2))]
    programs.append(_program(PRODUCTS["added"]))
    f = programs[-1].function
    lowered = tracejit.grad(f).trace(*args).lower()
    assert len(re.findall(r" gemm(_at)?\(", lowered.source)) == 2 and "TJ805" in lowered.why()
    for options in ({"fp": "strict"}, {"without": "blocking"}):
        lowered = tracejit.grad(f, **options).trace(*args).lower()
        assert " gemm" not in lowered.source and "TJ805" not in lowered.why()
