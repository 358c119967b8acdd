"""Whatever goes through an object of a user's class gets the items that Python's own run gets.

Python's functions call `__iter__`, `__getitem__` or `__reversed__` by themselves, whose code is not
captured then. A list in such an object may have a run in the place of its items.
"""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

import tracejit

WAYS = {
    "sequence": "def __len__(self):\n        return len(self.c)\n"
                "    def __getitem__(self, i):\n        return self.c[i]",
    "items alone": "def __getitem__(self, i):\n        return self.c[i]",
    "iterator": "def __iter__(self):\n        return iter(self.c)",
    "itself": "def __iter__(self):\n        self.k = 0\n        return self\n"
              "    def __next__(self):\n        self.k += 1\n"
              "        if self.k > len(self.c):\n            raise StopIteration\n"
              "        return self.c[self.k - 1]",
    "generator": "def __iter__(self):\n        for v in self.c:\n            yield v",
    "expression": "def __iter__(self):\n        return (2 * v for v in self.c)",
    "backwards": "def __iter__(self):\n        return iter(self.c)\n"
                 "    def __reversed__(self):\n        return Things(reversed(self.c))",
}
USES = (
    "sum(o)", "[2.0 * v for v in o]", "list(zip(o, [1.0, 2.0, 3.0]))", "list(zip(o, o))",
    "[k * v for k, v in enumerate(o)]", "sorted(o)", "max(o)", "dict(enumerate(o))", "[*o, 1.0]",
    "(lambda a, *b: a - sum(b))(*o)", "list(map(lambda v: 2.0 * v, o))", "list(reversed(o))",
    "functools.reduce(operator.sub, o)", "list(itertools.accumulate(o))", "next(iter(o))",
    "list(itertools.islice(o, 1, 3))", "list(itertools.chain(o, [1.0]))", "math.prod(o)",
    "[a * b for a, b in itertools.pairwise(o)]", "[a - b for a, b in itertools.combinations(o, 2)]",
    "collections.deque(o)[0]", "np.array(list(o))", "np.array(o)", "np.max(o)", "o.c[0] in o",
    "np.sum(np.fromiter(o, float))", "copy.copy(o).c[0]", "copy.deepcopy(o).c[1]",
    "{'all': [1.0]}['all'] + list(o)", "heapq.nlargest(2, o)",
)


def _class(way: str) -> str:
    return (f"class Things:\n    def __init__(self, c):\n        self.c = list(c)\n"
            f"    {WAYS[way]}\n")


def _outcome(f: Any, x: np.ndarray) -> Any:
    try:
        return f(x)
    except tracejit.Refusal:
        raise
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("way", WAYS)
def test_items_are_pythons_or_the_program_is_refused(way: str) -> None:
    captured = 0
    for use in USES:
        text = f"{_class(way)}def f(x):\n    o = Things(x[:3])\n    return {use}\n"
        name = f"<{way}: {use}>"
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        names: dict[str, Any] = {}
        exec("import collections, copy, functools, heapq, itertools, math, operator\n"
             "import numpy as np", names)
        exec(compile(text, name, "exec"), names)
        x = np.array([0.31, 1.27, -0.83, 0.44])
        with tracejit.config(disable_jit=True):
            try:
                found = _outcome(tracejit.jit(names["f"]), x)
            except tracejit.Refusal:
                continue
        expected = _outcome(names["f"], x)
        if isinstance(expected, type):
            assert found is expected, name
        else:
            np.testing.assert_equal(found, expected, err_msg=name)
        captured += 1
    assert captured > 10


class Keyed:
    """An object that goes through a dict."""

    def __init__(self) -> None:
        self.c = {0: 1.0}

    def __iter__(self) -> Any:
        return iter(self.c)


@pytest.mark.parametrize("through", [enumerate, sorted, max,
                                     lambda o: list(zip(o, o, strict=True))])
def test_a_dict_in_an_object_whose_keys_data_decides_is_no_plain_dict(through: Any) -> None:
    def f(x: Any) -> Any:
        o = Keyed()
        if x[0] > 0.0:
            o.c[9] = 1.0
        found = through(o)
        return np.sum(np.array(list(found) if isinstance(found, (list, enumerate)) else found)) * x

    with tracejit.config(disable_jit=True):
        for x in (np.ones(2), -np.ones(2)):
            try:
                found = tracejit.jit(f)(x)
            except tracejit.Refusal:
                continue
            np.testing.assert_equal(found, f(x))
