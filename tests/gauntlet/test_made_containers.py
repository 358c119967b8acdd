"""Results of Python's operators, slices, methods and functions are new, and may be changed.

A container that a region of a program makes is the region's own: in a loop it is not carried, in a
branch it may grow, and a function that is differentiated within another may change it.
"""

from __future__ import annotations

import collections
import copy
import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

LISTS = (
    "[0.0] * 3", "3 * [0.0]", "[a] * 2", "[a] + [0.0]", "[a, 1.0, 2.0][:]", "[a, 1.0, 2.0][1:]",
    "[a, 1.0, 2.0][::-1]", "[a, 1.0].copy()", "list((a, 1.0))", "list(range(3))",
    "sorted([1.0, 2.0])", "[*(a, 1.0)]", "[v for v in (a, 1.0)]", "copy.copy([a, 1.0])",
    "copy.deepcopy([1.0, 2.0])", "copy.deepcopy([[1.0, 2.0]])[0]", "list({0: a}.values())",
    "list({0.5: a})", "[1.0] + list(zip([1.0], [2.0]))", "[float(v) for v in '1 2'.split()]",
    "x.tolist()", "np.ones(2).tolist()", "list(np.ones(2))", "list(x)", "x[1:].tolist() + [0.5]",
    "list(map(float, [1, 2]))", "list(filter(None, [1.0, 2.0]))", "list(reversed([1.0, 2.0]))",
    "list(itertools.chain([1.0], [2.0]))", "sum([[1.0], [2.0]], [])", "[[1.0], [2.0]][0] + [1.0]",
    "(lambda *k: list(k))(1.0, 2.0)", "[1.0, 2.0] * 2 + [a]", "(1.0, [2.0])[1]",
    "dict(u=[1.0])['u']", "[1.0] if n > 2 else [2.0]", "list(enumerate([1.0]))[:0] + [1.0]",
    "[[0.0] * 2 for _ in range(2)][0]", "([[0.0] * 2] * 2)[0]",
    "collections.deque([1.0], maxlen=5)",
    "collections.deque([1.0]).copy()", "collections.deque([1.0]) + collections.deque([2.0])",
    "[0.0].__add__([a])", "[0.0].__mul__(3)", "max([[1.0], [2.0]])")
DICTS = (
    "{0: 1.0}", "dict(((0, a),))", "{0: 1.0} | {1: a}", "{0: 1.0}.copy()",
    "dict.fromkeys([0, 1], 0.0)", "{**{0: a}}", "{k: a for k in range(2)}", "copy.copy({0: 1.0})",
    "copy.deepcopy({0: {0: 1.0}})[0]", "collections.defaultdict(float, {0: 1.0})")
SETS = ("{1.0, 2.0}", "{1.0} | {2.0}", "{1.0, 2.0} - {2.0}", "set([1.0])", "{1.0}.copy()",
        "{v for v in (1.0, 2.0)}", "{1.0}.union({3.0})", "{1.0}.difference({3.0})")

CASES = [
    *((make, change, "l[0]") for make in LISTS for change in ("l[0] = a * 1.0", "l.append(a)")),
    *((make, change, "l[0]") for make in DICTS for change in ("l[0] = a * 1.0", "l[5] = a")),
    *((make, "l.add(5.0)", "len(l)") for make in SETS)]

PLACES = {
    "a gradient": "    {change}\n    return a * 2.0 + {read}",
    "a loop": "    s = 0.0\n    for i in range(n):\n        l = {make}\n        {change}\n"
              "        s = s + a + {read}\n    return s",
    "a branch": "    s = 0.0\n    if a > 0.1:\n        l = {make}\n        {change}\n"
                "        s = s + a + {read}\n    return s",
}


def _function(place: str, make: str, change: str, read: str) -> Callable[..., Any]:
    body = PLACES[place].format(make=make, change=change, read=read)
    source = f"def f(x, a, n):\n    l = {make}\n{body}\n"
    file = f"<made in {place}: {make}; {change}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {"np": np, "copy": copy, "collections": collections,
                             "itertools": itertools}
    exec(compile(source, file, "exec"), names)
    found: Callable[..., Any] = names["f"]
    return found


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("make", "change", "read"), CASES)
def test_what_is_made_may_be_changed(place: str, make: str, change: str, read: str) -> None:
    f, x = _function(place, make, change, read), np.array([0.5, 0.7, 0.9])
    expected, step = f(x, 0.3, 3), 1e-6
    with tracejit.config(disable_jit=True):
        if place != "a gradient":
            assert abs(tracejit.jit(f)(x, 0.3, 3) - expected) < 1e-12
            return
        value, slope = tracejit.jit(lambda x, a, n: tracejit.value_and_grad(f, argnums=1)(
            x, a, n))(x, 0.3, 3)
    assert abs(value - expected) < 1e-12
    assert abs(slope - (f(x, 0.3 + step, 3) - f(x, 0.3 - step, 3)) / (2 * step)) < 1e-6


def test_what_is_from_around_is_not_new() -> None:
    def f(a: Any) -> Any:
        kept = [a, a]
        same = sum([], kept)

        def g(b: Any) -> Any:
            same[0] = b * 3.0
            return b * b

        return tracejit.grad(g)(a) + kept[0]

    with pytest.raises(tracejit.Refusal, match=r"changes an array, a list"):
        tracejit.jit(f)(0.3)
