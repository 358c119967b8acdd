"""State that uncaptured code changes within a call: Python's number, or a refusal.

Each way in which Python runs a user's method by itself is crossed with each change of state, before
or between reads by captured code; the program is called twice, from the same state.
"""

from __future__ import annotations

import bisect
import contextlib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tracejit


class Holder:
    value = 1.0


TABLE: dict[str, float] = {}
HOLDER = Holder()
ARRAY = np.zeros(2)
ITEMS: list[float] = []


def reset() -> None:
    TABLE.clear()
    TABLE["k"] = 1.0
    HOLDER.value = 1.0
    ARRAY[:] = 1.0, 2.0
    ITEMS[:] = 1.0, 2.0


def read() -> Any:
    return TABLE["k"] + HOLDER.value + ARRAY[0] + ITEMS[0] + len(ITEMS) + len(TABLE)


def _item() -> None:
    TABLE["k"] = 13.0


def _other_name() -> None:
    table = TABLE
    table["k"] += 7.0


def _attribute() -> None:
    HOLDER.value = 16.0


def _element() -> None:
    ARRAY[0] = 5.0


def _in_place() -> None:
    ARRAY.sort()
    np.multiply(ARRAY, 3.0, out=ARRAY)


def _item_of_list() -> None:
    ITEMS[0] = 5.0


CHANGES: dict[str, Callable[[], object]] = {
    "item": _item, "other name": _other_name, "attribute": _attribute, "element": _element,
    "in place": _in_place, "item of a list": _item_of_list, "append": lambda: ITEMS.append(5.0),
    "update": lambda: TABLE.update(k=13.0), "new key": lambda: TABLE.update(z=13.0),
    "del": lambda: TABLE.clear(), "setattr": lambda: setattr(HOLDER, "value", 16.0),
    "nothing": lambda: None}
CHANGE = CHANGES["nothing"]


@dataclass
class Made:
    x: float

    def __post_init__(self) -> None:
        CHANGE()


class Seen:
    def __init__(self, v: float) -> None:
        self.v = v

    def __lt__(self, other: Seen) -> bool:
        CHANGE()
        return self.v < other.v

    def __hash__(self) -> int:
        CHANGE()
        return 1

    def __eq__(self, other: object) -> bool:
        return self is other

    def __str__(self) -> str:
        CHANGE()
        return "a"

    def __float__(self) -> float:
        CHANGE()
        return 2.0

    def __index__(self) -> int:
        CHANGE()
        return 2

    def __set_name__(self, owner: type, name: str) -> None:
        CHANGE()


class Base:
    def __init_subclass__(cls) -> None:
        CHANGE()


SEEN = [Seen(2.0), Seen(1.0)]


def _named() -> None:
    class Owner:
        seen = SEEN[0]


def _inherited() -> None:
    class Owner(Base):
        pass


def _left() -> None:
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: CHANGE())


def _replaced(found: re.Match[str]) -> str:
    CHANGE()
    return ""


WAYS: dict[str, Callable[[], object]] = {
    "data class": lambda: Made(1.0), "sorted": lambda: sorted(SEEN), "max": lambda: max(SEEN),
    "tuples": lambda: (SEEN[0], 1) < (SEEN[1], 2), "bisect": lambda: bisect.bisect(SEEN, SEEN[1]),
    "hash": lambda: hash(SEEN[0]), "set": lambda: {SEEN[0]}, "key": lambda: {SEEN[0]: 1.0},
    "str": lambda: str(SEEN[0]), "f-string": lambda: f"{SEEN[0]}", "percent": lambda: "%s" %  # noqa: UP031
    SEEN[0], "float": lambda: float(SEEN[0]), "math": lambda: math.sin(SEEN[0]),
    "range": lambda: range(SEEN[0]), "index": lambda: [1, 2, 3][SEEN[0]],
    "set_name": _named, "init_subclass": _inherited, "callback": _left,
    "re.sub": lambda: re.sub("a", _replaced, "aa")}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_uncaptured_code_makes(change: str, way: str,
                                             monkeypatch: pytest.MonkeyPatch) -> None:
    run = WAYS[way]
    monkeypatch.setitem(globals(), "CHANGE", CHANGES[change])

    def before(x: Any) -> Any:
        run()
        return x * read()

    def between(x: Any) -> Any:
        found = x * read()
        run()
        return found + 1000.0 * x * read()

    for program in before, between:
        compiled = tracejit.jit(program)
        for _ in range(2):
            reset()
            expected = outcome(program)
            reset()
            with tracejit.config(disable_jit=True):
                found = outcome(compiled)
            assert found is tracejit.Refusal or found == expected, (program, found, expected)


def outcome(program: Callable[[Any], Any]) -> Any:
    """Return a program's result, or the type of the error that it raises."""
    try:
        return program(2.0)
    except Exception as e:
        return type(e)
