"""The int of 64 bits that has no negative of 64 bits: refused where Python gives one more bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
