"""Ints of arrays wrap around at 64 bits, as NumPy's: LLVM is not told that they never do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracejit

MOST = np.iinfo(np.int64).max
INTS = np.array([MOST, MOST - 1, -MOST - 1, -MOST, 3, 0, MOST // 2 + 1])


def behind(x):
    return np.sum((x + 1) > x)


def before(x):
    return np.sum((x - 1) < x)


def multiples(x):
    return np.sum((x * 4) // 4 == x)


def differences(x):
    return np.sum((x - x[::-1] > 0) == (x > x[::-1]))


def in_a_loop(x):
    total = 0
    for v in x:
        total += (v + 1 > v) + 2 * (v * 3 - v * 2 == v)
    return total


def of_first(x):
    y = x[0] + 1
    return (y > x[0]) + 2 * (y * 2 // 2 == y)


def of_sums(x):
    y = x + x[0]
    return np.sum((y > x) == (x[0] > 0))


@pytest.mark.parametrize("f", [behind, before, multiples, differences, in_a_loop, of_first,
                               of_sums])
def test_compiled_ints_are_numpys(f: Any) -> None:
    compiled = tracejit.jit(f)
    with np.errstate(over="ignore"):
        for x in (INTS, INTS[::-1].copy(), np.arange(5), np.repeat(INTS, 9)):
            assert compiled(x) == f(x)
