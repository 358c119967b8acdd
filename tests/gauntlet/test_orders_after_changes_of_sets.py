"""The order of a set's items, and what `pop` takes, after changes in loops, conditions and trials.

The order rests on all changes that a set has seen, so that a change which a capture tries and takes
back shows in it. Programs are drawn from tables of changes and of places for them; the oracle is
Python.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest
from state_sequences import load

import tracejit

CHANGES = [
    "s.add({k})", "s.add({k} + 8 * len(s))", "s.discard({k})", "s.update([{k}, {j}])",
    "s.difference_update({{{k}}})", "s.symmetric_difference_update({{{k}, {j}}})",
    "s.update(iter([{k}, {j}]))", "set.add(s, {k})", "s.intersection_update({{*s, {k}}})",
    "popped.append(s.pop() if s else 0)", "s.remove({k}) if {k} in s else s.add({k})",
    "s.update({{*s, {k}}} | {{*range({k} // 4, {k}, 8)}})", "s.add({k}) or s.discard({k})",
]
STATEMENTS = ["s |= {{{k}, {j}}}", "s -= {{{k}}}", "s ^= {{{k}, {j}}}", "s &= {{*s}}"]
REBOUND = ["s = {{*s, {k}}}", "s = {{{k}, *s, *[{j}]}}", "s = {{*dict.fromkeys([*s, {k}, {j}])}}",
           "s = set(s)", "s = s | {{{k}}}", "s = {{k for k in s if k != {j}}}", "s = s.copy()",
           "s = {{*frozenset(s), {j}}}", "s = {{*s, *{{{k}, {j}}}}}", "s = s - {{{k}}}",
           "s = s & {{*s, {j}}}", "s = s ^ {{{k}, {j}}}", "s = {{*[{k}], *s, *range({j})}}"]
PLACES = {
    "a loop over an array": "for v in xs:\n        CHANGES\n        t = t + v * order(s)",
    "a loop of sizes": ("for i in range(len(xs)):\n        CHANGES\n"
                        "        t = t + xs[i] * order(s)"),
    "a while on sizes": ("k = 0\n    while k < len(xs):\n        CHANGES\n"
                         "        t = t + xs[k] * order(s)\n        k += 1"),
    "a loop of numbers": "for i in range(4):\n        CHANGES\n        t = t + xs[0] * order(s)",
    "a condition": ("k = 0\n    while (CHANGE, k < 3)[1] and k < 5:\n        CHANGES\n"
                    "        k += 1\n        t = t + xs[0] * order(s)"),
    "a generator": "t = t + xs[0] * any(((CHANGE, v > 2.5)[1] for v in xs))\n    CHANGES",
    "a generator of sizes": "t = t + sum((CHANGE, xs[i])[1] for i in range(len(xs)))\n    CHANGES",
    "a comprehension": "t = t + sum([(CHANGE, v)[1] * order(s) for v in xs])\n    CHANGES",
    "a function": ("def step(v):\n        CHANGES\n        return v * order(s)\n"
                   "    for v in xs:\n        t = t + step(v)"),
    "a mapped function": ("def step(v):\n        CHANGES\n        return v * order(s)\n"
                          "    t = sum(map(step, xs))"),
    "an attempt": ("for v in xs:\n        try:\n            CHANGES\n            s.remove(1)\n"
                   "        except KeyError:\n            t = t + v * order(s)"),
    "a loop in a loop": ("for v in xs:\n        for i in range(2):\n            CHANGES\n"
                         "        t = t + v * order(s)"),
    "an operand": "for v in xs:\n        t = t + (v * len(s) or CHANGE or 1.0)\n    CHANGES",
    "beside a loop on data": ("CHANGES\n    y = xs[0]\n    while y > 1.0:\n        y = y / 2.0\n"
                              "    t = y * order(s)\n    CHANGES"),
}
HEAD = """\
def order(s):
    total = 0.0
    for k in s:
        total = total * 1.25 + k
    return total
"""


def program(place: str, seed: int, statements: list[str] = CHANGES + STATEMENTS) -> str:
    """Return a program with random changes of a set at a place."""
    draw = random.Random(f"{place} {seed}")

    def change(some: list[str]) -> str:
        return draw.choice(some).format(k=8 * draw.randrange(9), j=8 * draw.randrange(9))

    body = PLACES[place]
    while "CHANGES" in body:
        before, after = body.split("CHANGES", 1)
        margin = " " * len(before.rpartition("\n")[2] or "    ")
        lines = [change(statements) for _ in range(draw.randint(1, 4))]
        body = f"{before}{f'{chr(10)}{margin}'.join(lines)}{after}"
    while "CHANGE" in body:
        body = body.replace("CHANGE", change(CHANGES), 1)
    start = [8 * draw.randrange(9) for _ in range(draw.randint(1, 6))]
    nonlocal_ = body.replace("def step(v):\n", "def step(v):\n        nonlocal s\n")
    return (f"{HEAD}def f(xs):\n    s, popped, t = {{{', '.join(map(str, start))}}}, [], 0.0\n"
            f"    {nonlocal_}\n    return t + xs[1] * order(s) + sum(popped)\n")


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("place", PLACES)
def test_a_set_has_pythons_order(place: str, seed: int, tmp_path: Path) -> None:
    text = program(place, seed)
    check(text, f"orders_of_sets_{list(PLACES).index(place)}_{seed}", tmp_path)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("place", ["a loop of sizes", "a loop of numbers", "a condition",
                                   "beside a loop on data"])
def test_a_set_that_is_bound_again_has_pythons_order(place: str, seed: int, tmp_path: Path) -> None:
    text = program(place, seed, REBOUND)
    check(text, f"bound_again_{list(PLACES).index(place)}_{seed}", tmp_path)


def check(text: str, name: str, tmp_path: Path) -> None:
    """Check that a program gives Python's result when it is captured, or is refused by its line."""
    module = load(text, tmp_path, name)
    try:
        xs = np.array([1.5, 2.0, 3.0])
        expected = module.f(xs)
        with tracejit.config(disable_jit=True):
            try:
                found, refused = tracejit.jit(module.f)(xs), ""
            except tracejit.Refusal as e:
                found, refused = expected, str(e)
        assert not refused or f"{name}.py" in refused
        np.testing.assert_allclose(found, expected, rtol=1e-12, err_msg=text)
    finally:
        sys.modules.pop(name, None)


MADE = ["{*s}", "{*s, 24}", "{24, *s}", "{*d}", "{*d, 24}", "{*frozenset(s), 0}", "{*l}",
        "set(s)", "set(d)", "s | {24}", "s - {8}", "{k for k in s}", "s.copy()",
        "frozenset({*s, 0})", "s & {*s}", "{*l, *s}", "{*d.keys()}", "{*iter(s)}",
        "{*range(0, 40, 8), *s}", "{*s, *d}", "{*s, *[24]}", "{24, *s, *l}", "{*d, *s, 0}",
        "{*frozenset(s), *iter(l), *s}", "{*s, *(k + 8 for k in s)}", "{*s, *[s.pop()], *s}"]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("made", MADE)
def test_a_set_that_is_made_of_others_has_pythons_order(made: str, seed: int,
                                                       tmp_path: Path) -> None:
    draw = random.Random(f"{made} {seed}")
    items = [8 * draw.randrange(12) for _ in range(draw.randint(2, 9))]
    lines = ["s = set()", *[f"s.add({k})" for k in items], f"s.discard({items[0]})",
             "l = [*s]", "d = dict.fromkeys(l)", f"s = {made}"]
    name = f"sets_of_sets_{MADE.index(made)}_{seed}"
    text = "\n    ".join([f"{HEAD}def f(x):", *lines, "return x * order(s)\n"])
    module = load(text, tmp_path, name)
    try:
        with tracejit.config(disable_jit=True):
            assert tracejit.jit(module.f)(1.5) == module.f(1.5), text
    finally:
        sys.modules.pop(name, None)


OPERATIONS = ["s.__ior__({4})", "s.__iand__({4})", "s.__isub__({4})", "s.__ixor__({4})",
              "s | {4}", "{4} | s", "{4} & s", "{4} - s", "{4} ^ s", "{*s, *[4], *s}"]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_of_a_set_of_data_is_refused_at_its_line(operation: str,
                                                             tmp_path: Path) -> None:
    name = f"sets_of_data_{OPERATIONS.index(operation)}"
    text = (f"def f(xs):\n    s = {{1}}\n    for v in xs:\n        if v > 2.0:\n"
            f"            s.add(3)\n    {operation}\n    return xs[0] * len(s)\n")
    module = load(text, tmp_path, name)
    try:
        with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal, match=f"{name}.py"):
            tracejit.jit(module.f)(np.array([1.5, 2.0, 3.0]))
    finally:
        sys.modules.pop(name, None)
