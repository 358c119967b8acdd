"""`max` and `min` of objects that their own methods compare, against Python."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit


class Less:
    """Has `<` alone: Python turns `>` around."""

    def __init__(self, key: Any, tag: float) -> None:
        self.key, self.tag = key, tag

    def __lt__(self, other: Less) -> Any:
        return self.key < other.key


class Greater:
    """Has `>` alone."""

    def __init__(self, key: Any, tag: float) -> None:
        self.key, self.tag = key, tag

    def __gt__(self, other: Greater) -> Any:
        return self.key > other.key


class Odd(Less):
    """Has both, which disagree, and a branch on data."""

    def __gt__(self, other: Less) -> Any:
        if self.tag > 2.0:
            return abs(self.key) > abs(other.key)
        return self.key + 0.3 > other.key


class Shy(Less):
    """Leaves the answer to the other one."""

    def __gt__(self, other: Less) -> Any:
        return NotImplemented


@dataclasses.dataclass(order=True)
class Job:
    """Is compared by its first field."""

    key: Any
    tag: float = dataclasses.field(compare=False)


CLASSES: list[Callable[..., Any]] = [Less, Greater, Odd, Shy, Job]
WAYS: dict[str, Callable[[list[Any]], Any]] = {
    "max of a list": lambda things: max(things),
    "min of a list": lambda things: min(things),
    "max of a tuple": lambda things: max(tuple(things)),
    "min of arguments": lambda things: min(*things),
    "max of arguments": lambda things: max(things[0], things[1]),
    "min with a default": lambda things: min(things, default=things[0]),
    "max of one": lambda things: max([things[2]]),
    "default of none": lambda things: max([], default=things[1]),
}
X = [np.array([0.4, -0.9, 0.7, 0.2]), np.array([0.5, 0.5, -0.1, 0.5]),
     np.array([-0.3, np.nan, 0.6, -0.8]), np.array([np.nan, 0.1, 0.2, -2.0])]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cls", CLASSES)
def test_the_first_of_the_extreme_ones(cls: Callable[..., Any], way: str) -> None:
    def f(x: Any) -> Any:
        found = WAYS[way]([cls(x[k], float(k)) for k in range(4)])
        return found.key * 3.0 + found.tag * x[0]

    def tags(x: Any) -> Any:
        return WAYS[way]([cls(x[k], float(k)) for k in range(4)]).tag

    with tracejit.config(disable_jit=True):
        for x in X:
            assert tracejit.jit(tags)(x) == tags(x)
            np.testing.assert_array_equal(tracejit.jit(f)(x), f(x))
            expected = np.zeros(4)
            expected[int(tags(x))] = 3.0
            expected[0] += tags(x)
            np.testing.assert_array_equal(tracejit.grad(f)(x), expected)


def test_none_has_no_largest() -> None:
    def f(x: Any) -> Any:
        return max([Less(v, 0.0) for v in x[:0]]).key

    with tracejit.config(disable_jit=True), pytest.raises(ValueError, match="empty"):
        tracejit.jit(f)(X[0])
