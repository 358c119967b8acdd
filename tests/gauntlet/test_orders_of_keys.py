"""The order of a dict's keys and of an object's attributes, which branches decide, as in Python.

Programs are generated of what branches set, and of what reads the order; a program is right in
value and gradient, or refused.
"""

from __future__ import annotations

import copy
import linecache
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracles import assert_close, directional

import tracejit


class Thing:
    """An object with attributes."""


def total(xs: Any) -> Any:
    """Return a sum in which each item counts by its place."""
    s = 0.0
    for x in xs:
        s = 2.0 * s + x
    return s


BRANCHES = {
    "two orders": ("{}['p'] = x; {}['q'] = 1.0", "{}['q'] = 2.0; {}['p'] = x * x"),
    "one order": ("{}['p'] = x; {}['q'] = 1.0", "{}['p'] = 2.0; {}['q'] = x * x"),
    "one key each, both later": ("{}['p'] = x", "{}['q'] = x; {}['p'] = 3.0 * x"),
    "one key, in one branch": ("{}['p'] = x", "pass"),
}
HOLDERS = {
    "a dict": ("d = {'a': x}", "d", "d"),
    "a defaultdict": ("d = defaultdict(float, a=x)", "d", "d"),
    "an object's dict": ("c = Thing(); c.a = x; d = vars(c)", "d", "d"),
    "an object": ("c = Thing(); c.a = x", "vars(c)", "c.__dict__"),
}
AFTER = {"": "", "sets one": "{}['p'] = 5.0 * x", "sets both": "{}['z'] = x; {}['p'] = 5.0 * x",
         "in another": "if x > 3.0:\n        {}['q'] = 7.0\n    else:\n        {}['q'] = 8.0 * x"}
READS = {
    "values": "list({}.values())[-1]",
    "loop": "total({}.values())",
    "keys": "(2.0 if list({})[-1] == 'p' else 3.0) * x",
    "next": "next(iter({}.items()))[1]",
    "unpacked": "list({{**{}, 'y': x}}.values())[-2]",
    "a copy": "list({}.copy().values())[-1]",
    "a union": "list(({{'y': x}} | {}).values())[-1]",
    "popitem": "{}.popitem()[1]",
    "reversed": "next(iter(reversed({}.values())))",
    "by key": "{}['p'] * x",
    "length": "len({}) * x",
}


def _program(holder: str, branches: str, after: str, reads: str) -> Any:
    begin, name, shown = HOLDERS[holder]
    one, other = (b.replace("{}", name) for b in BRANCHES[branches])
    source = f"""
def f(x):
    {begin}
    if x > 1.0:
        {one}
    else:
        {other}
    {AFTER[after].replace("{}", name)}
    return {READS[reads].format(shown)}
"""
    file = f"<orders {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space: dict[str, Any] = {"Thing": Thing, "total": total, "defaultdict": defaultdict}
    exec(compile(source, file, "exec"), space)
    return space["f"]


@pytest.mark.parametrize("reads", READS)
@pytest.mark.parametrize("branches", BRANCHES)
@pytest.mark.parametrize("holder", HOLDERS)
def test_an_order_of_keys_is_pythons_or_refused(holder: str, branches: str, reads: str) -> None:
    right = 0
    for after in AFTER:
        f = _program(holder, branches, after, reads)
        for x in (0.5, 1.5, 4.0):
            with tracejit.config(disable_jit=True):
                try:
                    expected = f(x)
                except KeyError:
                    continue
                try:
                    value, slope = tracejit.value_and_grad(f)(x)
                except tracejit.Refusal as e:
                    refused = str(e)
                else:
                    refused = ""
            if refused:
                assert "depends on data" in refused or "branch" in refused
                continue
            right += 1
            assert_close(value, expected)
            assert_close(slope, directional(lambda y, f=f: f(float(y)), [np.float64(x)], [1.0])[0])
    assert right or branches != "one order"


COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy, "deepcopy": copy.deepcopy,
    "deepcopy in a list": lambda c: copy.deepcopy([c])[0],
    "deepcopy in a dict": lambda c: copy.deepcopy({"k": c})["k"],
    "copy of a copy": lambda c: copy.copy(copy.copy(c))}


OF_COPIES: dict[str, Callable[[Any], Any]] = {"first": lambda c: next(iter(vars(c).values())),
                                          "attribute": lambda c: c.q}


@pytest.mark.parametrize("read", OF_COPIES)
@pytest.mark.parametrize("name", COPIES)
def test_copies_have_the_order_of_attributes_or_are_refused(name: str, read: str) -> None:
    def f(x: Any) -> Any:
        c = Thing()
        if x > 0.0:
            c.p, c.q = x, 2.0 * x
        else:
            c.q = 2.0 * x
            c.p = x
        return OF_COPIES[read](COPIES[name](c))

    for x in (1.5, -1.5):
        refused = ""
        with tracejit.config(disable_jit=True):
            try:
                assert tracejit.jit(f)(x) == f(x)
            except tracejit.Refusal as e:
                refused = str(e)
        assert not refused or (read == "first" or "copy in" in name)
        assert not refused or "the order of the keys" in refused
