"""Data classes, lists and dicts among arguments that a function changes: as in Python, or refused.

Each case is a statement that changes an argument, in each place among the arguments. The oracle is
Python's own run: a program that is not refused leaves arguments as Python does.
"""

from __future__ import annotations

import collections
import copy
import itertools
import linecache
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import tracejit


@dataclass
class Record:
    w: float = 1.0
    a: Any = None
    inner: Any = None

    def step(self, x: float) -> float:
        self.w += x
        return self.w


@dataclass
class Bare:
    """A data class without fields."""


@dataclass
class Derived(Record):
    n: int = 0
    log: list[float] = field(default_factory=list)


Named = collections.namedtuple("Named", ["r", "k"])

MADE = {
    "record": lambda: Record(1.0, np.zeros(3)), "derived": lambda: Derived(2.0, np.ones(2)),
    "bare": Bare,
}
PLACES = {
    "itself": (lambda r: r, "p"), "in a list": (lambda r: [r], "p[0]"),
    "in a dict": (lambda r: {"k": r}, "p['k']"), "in a tuple": (lambda r: (r, 1.0), "p[0]"),
    "in a named tuple": (lambda r: Named(r, 1.0), "p.r"),
    "in another": (lambda r: Record(inner=r), "p.inner"),
}
CHANGES = {
    "a number": "{0}.w = 5.0", "a computed number": "{0}.w = x * 2.0",
    "in a branch": "if x > 0.0:\n        {0}.w = x",
    "in a loop": "for k in range(3):\n        {0}.w = {0}.w + x",
    "by setattr": "setattr({0}, 'w', x)", "a new attribute": "{0}.z = x",
    "a method": "{0}.step(x)", "augmented": "{0}.w += x", "deleted": "del {0}.w",
    "an array bound anew": "{0}.a = x * np.ones(2)", "an array's element": "{0}.a[0] = x",
    "all elements": "{0}.a[:] = x", "its dict": "vars({0})['w'] = x",
    "past its class": "object.__setattr__({0}, 'w', x)", "a list in it": "{0}.log.append(x)",
    "nothing": "y = {0}.w * x", "an own copy": "q = type({0})(); q.w = x",
}


def state_of(p: Any) -> Any:
    """Return all that an argument holds, as text."""
    if hasattr(p, "__dict__"):
        return type(p).__name__, {k: state_of(v) for k, v in vars(p).items()}
    if isinstance(p, dict):
        return {k: state_of(v) for k, v in p.items()}
    if isinstance(p, (list, tuple)):
        return [state_of(v) for v in p]
    return repr(np.asarray(p, float).tolist()) if p is not None else "None"


def function_of(change: str, place: str) -> Any:
    """Return a function that changes its argument."""
    names: dict[str, Any] = {"np": np}
    text = f"def f(p, x):\n    {change.format(place)}\n    return x * 3.0\n"
    file = f"<written {change} {place}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    exec(compile(text, file, "exec"), names)
    return names["f"]


@pytest.mark.parametrize(("change", "place", "made"), [*itertools.product(CHANGES, PLACES, MADE)])
def test_a_change_of_an_argument_is_seen_by_the_caller_or_refused(change, place, made):
    put, path = PLACES[place]
    f = function_of(CHANGES[change], path)
    given = put(MADE[made]())
    expected = copy.deepcopy(given)
    with tracejit.config(disable_jit=True):
        try:
            found = tracejit.jit(f)(given, 2.0)
        except tracejit.Refusal:
            return
        except Exception as e:
            with pytest.raises(type(e)):
                f(expected, 2.0)
            return
    assert found == f(expected, 2.0)
    assert state_of(given) == state_of(expected)
    assert change in ("nothing", "an own copy", "an array's element", "all elements"), (
        "a change that is neither of arrays nor refused")


def test_a_step_of_an_optimiser_that_counts_is_refused_where_it_counts():
    @dataclass
    class Optimiser:
        rate: float
        steps: float = 0.0

        def step(self, w, g):
            self.steps += 1.0
            return w - self.rate * g

    o = Optimiser(0.5)
    with pytest.raises(tracejit.Refusal, match=r"changing a Optimiser of the arguments"):
        tracejit.jit(Optimiser.step)(o, 1.0, 2.0)
    assert o.steps == 0.0
