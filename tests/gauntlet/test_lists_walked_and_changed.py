"""Lists that change while a loop runs over them: every list x every change x every loop."""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import numpy as np
import pytest

import tracejit

LISTS = {
    "list": "list(x[:3])", "comprehension": "[v for v in x[:3]]", "literal": "[x[0], x[1], x[2]]",
    "repeated": "[x[0]] * 3", "range": "[x[k] * 2 for k in range(3)]", "slice": "list(x)[:3]",
    "of all": "[v * 2 for v in x]", "zeros": "[0.0] * 3", "mapped": "list(map(float, range(3)))",
    "ints": "list(range(3))", "tolist": "x.tolist()", "sorted": "sorted(x)",
    "joined": "[x[0]] + [v for v in x]"}
CHANGES = {
    "append": "if len(l) < 7: l.append(v * 2)", "set next": "if k + 1 < len(l): l[k + 1] = v * 3",
    "set first": "l[0] = v * 2", "insert": "if len(l) < 6: l.insert(0, v)", "pop": "l.pop()",
    "pop first": "l.pop(0)", "del": "del l[-1:]", "clear": "l.clear()",
    "set slice": "l[k + 1:] = [v + 1] if k < 2 else []", "reverse": "l.reverse()",
    "extend": "if len(l) < 9: l.extend([v, 1.0])", "iadd": "if len(l) < 9: l += [v]",
    "sort": "l.sort(reverse=True)", "rebind": "l = [v] + l", "once": "if k == 1: l.append(v)",
    "by data": "if v > 1.5 and len(l) < 9: l.append(v)", "remove": "if k == 0: l.remove(l[1])"}
LOOPS = {"for": "for v in l:", "enumerate": "for _, v in enumerate(l):",
         "zip": "for _, v in zip(range(20), l):", "reversed": "for v in reversed(l):",
         "iter": "for v in iter(l):", "map": "for v in map(lambda u: u + 1, l):",
         "zip with an array": "for _, v in zip(x, l):",
         "generator": "for v in (u * 2 for u in l):"}


def program(made: str, change: str, loop: str) -> Any:
    text = (f"def f(x):\n    l = {LISTS[made]}\n    s, k = 0.0, -1\n    {LOOPS[loop]}\n"
            f"        k += 1\n        s = s + v * (k + 1)\n        if k > 12:\n            break\n"
            f"        {CHANGES[change]}\n    return s + sum(l) * 10 + len(l) * 100\n")
    return text_program(text, f"<{made}, {change}, {loop}>")


def text_program(text: str, file: str) -> Any:
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names: dict[str, Any] = {}
    exec(compile(text, file, "exec"), names)  # a program made from a table
    return names["f"]


def outcome(f: Any, x: Any) -> Any:
    """Return a function's result, a refusal, or the class of another error."""
    try:
        return f(x)
    except tracejit.Refusal as e:
        return e
    except Exception as e:
        return type(e)


def assert_right_or_refused(found: Any, expected: Any, place: str) -> None:
    if isinstance(found, tracejit.Refusal):
        assert place in str(found)
    else:
        assert found == expected


@pytest.mark.parametrize(("made", "change", "loop"),
    list(itertools.product(LISTS, CHANGES, LOOPS)))
def test_a_loop_sees_what_its_list_becomes(made: str, change: str, loop: str) -> None:
    f, x = program(made, change, loop), np.array([1.0, 2.0, 3.0, 4.0])
    with tracejit.config(disable_jit=True):
        found = outcome(tracejit.jit(f), x)
    assert_right_or_refused(found, outcome(f, x), f"<{made}, {change}, {loop}>:")


ITERATORS = {
    "iter": "iter(l)", "enumerate": "enumerate(l)", "zip": "zip(l, range(9))", "reversed":
    "reversed(l)", "map": "map(lambda u: u * 2, l)", "zip with an array": "zip(x, l)",
    "generator": "(u * 2 for u in l)"}
MOMENTS = {"at the beginning": "", "in the midst": "a = next(it)", "after the end": "list(it)"}


@pytest.mark.parametrize(("made", "iterator", "moment"),
                         list(itertools.product(LISTS, ITERATORS, MOMENTS)))
@pytest.mark.parametrize("change", ["l.append(x[3])", "l.pop()", "l.insert(0, x[3])"])
def test_an_iterator_sees_what_its_list_becomes(made: str, iterator: str, moment: str,
                                                change: str) -> None:
    f = text_program(f"def f(x):\n    l = {LISTS[made]}\n    it = {ITERATORS[iterator]}\n"
                     f"    {MOMENTS[moment] or 'pass'}\n    {change}\n"
                     "    return list(it), len(l)\n", f"<{made}, {iterator}, {moment}>")
    x = np.array([1.0, 2.0, 3.0, 4.0])
    with tracejit.config(disable_jit=True):
        found = outcome(tracejit.jit(f), x)
    assert_right_or_refused(found, outcome(f, x), f"<{made}, {iterator}, {moment}>:")
