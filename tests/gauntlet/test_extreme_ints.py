"""The int of 64 bits that has no negative of 64 bits: refused where Python gives one more bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

LEAST = -2**63

PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "-a": lambda a, b: -a, "abs": lambda a, b: abs(a), "a // -1": lambda a, b: a // -1,
    "a // b": lambda a, b: a // b, "divmod": lambda a, b: divmod(a, b),
    "a * -1": lambda a, b: a * b,
    "a - 1": lambda a, b: a + b, "-(a + 0)": lambda a, b: -(a + 0), "0 - a": lambda a, b: 0 - a,
    "in a branch": lambda a, b: -a if b < 0 else a, "max": lambda a, b: max(-a, b),
    "from data": lambda a, b: -int(float(a)), "~a": lambda a, b: ~a, "a % b": lambda a, b: a % b}


@pytest.mark.parametrize("interpreted", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_least_int_has_no_negative(name: str, interpreted: bool) -> None:
    f = PROGRAMS[name]
    with tracejit.config(disable_jit=interpreted):
        compute = tracejit.jit(f)
        for a in (5, LEAST, -7, LEAST + 1, 2**40, 2**63 - 1):
            expected = f(a, -1)
            fits = all(LEAST <= x < 2**63 for x in (
                expected if isinstance(expected, tuple) else (expected,)))
            if fits and not (name == "from data" and abs(a) > 2**53):
                assert compute(a, -1) == expected
            elif not fits:
                with pytest.raises(OverflowError, match=r"test_extreme_ints.py:\d+: the int"):
                    compute(a, -1)


MADE_OF_ITEMS: dict[str, Callable[[Any], Any]] = {
    "item": lambda x: x[0].item(), "int": lambda x: int(x[0]), "tolist": lambda x: x.tolist()[0],
    "item of an index": lambda x: x.item(0), "float": lambda x: int(x[0] * 1.0)}
SMALL_STEPS: dict[str, Callable[[Any], Any]] = {
    "plus": lambda n: n + 5000, "minus": lambda n: n - 1, "greater": lambda n: n + 1 > n,
    "half": lambda n: (n + 1) // 2, "rest": lambda n: (n + 1) % 7, "back": lambda n: (n - 3) + 3,
    "float": lambda n: float(n + 1), "negative": lambda n: -(n + 1),
    "if": lambda n: 1 if n + 1 > n else 2}


def _counted_up(n: Any) -> Any:
    k = 0
    while k < 3:
        n = n + 1
        k = k + 1
    return n


@pytest.mark.parametrize("made", MADE_OF_ITEMS)
@pytest.mark.parametrize("step", [*SMALL_STEPS, "loop"])
def test_small_steps_from_an_int_of_data_are_right_or_refused(made: str, step: str) -> None:
    """A number from an array is no counter: it may be as near to the largest int as any."""
    first, then = MADE_OF_ITEMS[made], SMALL_STEPS.get(step, _counted_up)
    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(lambda x: then(first(x)))
        for n in (2 ** 63 - 1, 2 ** 63 - 3, -2 ** 63, 2 ** 62, 5, -1):
            x = np.array([n, 2])
            try:
                found = compiled(x)
            except tracejit.Refusal:
                assert abs(n) > 2 ** 61
                continue
            assert found == then(first(x)), (n, found)


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8", "u1", "u8"])
def test_divisors_and_multiples_are_numpys_up_to_the_ends_of_ints(dtype: str) -> None:
    ends = np.iinfo(dtype)
    given = [0, 1, 2, 3, 12, 18, ends.max, ends.max - 1, ends.min, ends.max // 2, ends.max // 3 * 2]
    x = np.array([*given, *(-k for k in given[1:7] if ends.min < 0)], dtype)
    for interpreted in (True, False):
        with tracejit.config(disable_jit=interpreted):
            both = tracejit.jit(lambda a, b: (np.gcd(a, b), np.lcm(a, b)))
            for found, expected in zip(both(x[:, None], x), (
                    np.gcd(x[:, None], x), np.lcm(x[:, None], x)), strict=True):
                assert found.dtype == expected.dtype
                np.testing.assert_array_equal(found, expected)
