"""`islice`, `takewhile`, `groupby` and the like where data decides on ends or items.

Values are compared with Python's, derivatives with differences.
"""

from __future__ import annotations

import itertools
import linecache
import math
import typing
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

SLICES = ("list(itertools.islice(x, k))", "list(itertools.islice(range(9), k, None, 2))",
          "list(itertools.islice([1, 2, 3], 0, k))", "next(itertools.islice(x, k, None))",
          "list(itertools.islice(range(k, 9), k))", "list(itertools.islice('abcdef', k))",
          "list(itertools.islice(zip(x, [1.0, 2.0, 3.0, 4.0]), k))",
          "list(itertools.islice({'a': 1, 'b': 2, 'c': 3}, k))",
          "sum(itertools.islice(x, k, None))", "sum(itertools.islice(x, 0, None, k))",
          "list(itertools.islice((v * 2 for v in x), k))",
          "tuple(itertools.islice(iter(x), 1, k + 1))")
SUMS = ("sum(itertools.accumulate(x, max))", "sum(itertools.accumulate(x, min, initial=0.5))",
        "sum(itertools.accumulate(x, lambda p, q: p if p > q else q * 0.5))",
        "sum([w - v for v, w in zip(x, itertools.accumulate(x, max))])",
        "sum(itertools.accumulate([x[0], x[1] * x[2], x[3]], max), 0.0)",
        "sum(itertools.takewhile(lambda v: v > -1.0, x), 0.0)",
        "sum(filter(lambda v: v > 0.0, x), 0.0)",
        "sum(v * v for v in filter(lambda v: v > 0.0, x))",
        "sum(itertools.takewhile(lambda v: v > -1.0, [x[0], x[1] * x[2], x[3]]), 0.0)",
        "sum(itertools.dropwhile(lambda v: v > 0.0, x), 0.0)",
        "sum(v * k for k, v in enumerate(itertools.dropwhile(lambda v: v > 0.0, list(x))))",
        "sum(itertools.filterfalse(lambda v: v > 0.0, x), 0.0)",
        "sum(itertools.compress(x, x > 0.0), 0.0)",
        "sum(v * s for v, s in zip(x, itertools.cycle([1.0, -2.0])))",
        "sum(v * s for s, v in zip(itertools.cycle((1.0, 3.0, -2.0)), x))",
        "sum(v * s for v, s in zip(x, itertools.count(2, 3)))",
        "sum(map(lambda v, w: v ** w, x, itertools.repeat(2)))",
        "sum(max(g) * (2.0 if k else 3.0) for k, g in itertools.groupby(x, lambda v: v > 0.0))",
        "sum(len(list(g)) * x[1] for k, g in itertools.groupby(x > 0.0))",
        "sum(max(g) + 10.0 * sum(g, 0.5) for k, g in itertools.groupby(x, lambda v: v > 0.0))")
XS = (np.array([0.6, -1.7, 2.3, 0.1]), np.array([2.5, 0.3, 1.0, -0.2]),
      np.array([-2.0, 1.5, 0.2, 3.0]))


def made(expression: str) -> Callable[..., Any]:
    source = f"def f(x, k):\n    return {expression}\n"
    name = f"<itertools {expression}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space: dict[str, Any] = {"itertools": itertools, "math": math, "typing": typing, "np": np}
    exec(compile(source, name, "exec"), space)
    function: Callable[..., Any] = space["f"]
    return function


@pytest.mark.parametrize("expression", SLICES)
def test_a_slice_with_a_traced_end_is_pythons(expression: str) -> None:
    function = made(expression)
    program = tracejit.jit(function)
    with tracejit.config(disable_jit=True):
        for x, k in itertools.product(XS[:2], (2, 1, 3)):
            assert program(x, k) == function(x, k)


@pytest.mark.parametrize("expression", SUMS)
def test_a_function_that_data_decides_on_is_pythons(expression: str) -> None:
    function = made(expression)
    program = tracejit.value_and_grad(function)
    with tracejit.config(disable_jit=True):
        for x in XS:
            value, x_bar = program(x, 2)
            np.testing.assert_allclose(value, function(x, 2), rtol=1e-14)
            differences = [(function(x + 1e-6 * e, 2) - function(x - 1e-6 * e, 2)) / 2e-6
                           for e in np.eye(4)]
            np.testing.assert_allclose(x_bar, differences, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("expression", [
    "math.isclose(x[0], x[0]) is True", "math.isclose(x[0], x[1]) is False",
    "math.isclose(x[0], x[0] + 1e-12) + math.isclose(x[0], x[0])",
    "isinstance(k, typing.Union[int, str])", "isinstance(k, typing.Hashable)",
    "isinstance(x[0], (str, typing.Optional[float]))", "isinstance(x, typing.Callable)",
    "isinstance(k, typing.Sequence)"])
def test_answers_are_bools_of_python(expression: str) -> None:
    function = made(expression)
    with tracejit.config(disable_jit=True):
        found = tracejit.jit(function)(XS[0], 2)
    assert (type(found), found) == (type(function(XS[0], 2)), function(XS[0], 2))
