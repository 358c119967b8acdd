"""Things that data chooses, as items of sets and keys of dicts: as in Python, or refused."""

from __future__ import annotations

import enum
import linecache
from typing import Any

import numpy as np
import pytest
from oracles import assert_close

import tracejit


class Colour(enum.Enum):
    """Items that are equal only to themselves."""

    RED = 1
    BLUE = 2


def sine(x: float) -> float:
    """Return a value of a function that a dict has as a key."""
    return float(np.sin(x))


PAIRS = {"texts": ("'a'", "'b'"), "enum": ("Colour.RED", "Colour.BLUE"),
         "functions": ("sine", "np.cos"), "tuples": ("('a', 'c')", "('b', 'c')"),
         "None": ("None", "'b'")}
USES = {
    "set display": "len({{k, {a}}})",
    "set comprehension": "len({{z for z in [k, {a}]}})",
    "set()": "len(set([k, {a}]))",
    "difference": "len({{{a}, {b}}} - {{k}})",
    "in a set": "2.0 if {a} in {{k}} else 3.0",
    "a tuple in a set": "2.0 if (k, 1) in {{({a}, 1)}} else 3.0",
    "dict display": "{{k: 3.0}}.get({a}, 0.0)",
    "dict comprehension": "{{z: 3.0 for z in [k]}}.get({a}, 0.0)",
    "dict()": "dict(zip([k, 'z'], [1.0, 2.0])).get({a}, 5.0)",
    "dict([...])": "dict([(k, 4.0)]).get({a}, 5.0)",
    "update": "(d.update({{k: 10.0}}), d[{a}])[1]",
    "union": "(d | {{k: 10.0}})[{a}]",
    "setdefault": "(e.setdefault(k, 2.0), e.get({a}, 5.0))[1]",
    "item": "d[k]",
    "get": "d.get(k, 7.0)",
    "assignment": "(d.__setitem__(k, 9.0), d[{a}])[1]",
    "fromkeys": "dict.fromkeys([k], 2.0).get({a}, 6.0)",
    "hash": "2.0 if hash(k) == hash({a}) else 3.0",
}
CAPTURED = ("item", "get")
"""The uses that are captured, one case for each thing."""


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("pair", PAIRS)
def test_a_choice_is_a_key_as_in_python_or_refused(pair: str, use: str) -> None:
    a, b = PAIRS[pair]
    source = f"""
def f(x):
    k = {a} if x > 1.0 else {b}
    d, e = {{{a}: 2.0, {b}: 3.0}}, {{}}
    return x * ({USES[use].format(a=a, b=b)})
"""
    file = f"<keys {pair} {use}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space: dict[str, Any] = {"np": np, "Colour": Colour, "sine": sine}
    exec(compile(source, file, "exec"), space)
    f = space["f"]
    for x in (0.5, 1.5):
        refused = ""
        with tracejit.config(disable_jit=True):
            try:
                value, slope = tracejit.value_and_grad(f)(x)
            except tracejit.Refusal as e:
                refused = str(e)
        if refused:
            assert "depending on data" in refused
            assert use not in CAPTURED
        else:
            assert_close(value, f(x))
            assert_close(slope, f(x) / x)
