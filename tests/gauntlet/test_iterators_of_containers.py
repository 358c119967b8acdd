"""Iterators over containers that change before, while or after they are read, beside an array.

The oracle is Python: each maker of iterators, of builtins and itertools, takes each container, and
each change of it comes at each time. A refusal will do, another number or error will not.
"""

from __future__ import annotations

import itertools
import linecache
import random
from array import array
from collections import Counter, OrderedDict, UserDict, UserList, defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

MAKERS = {
    "zip": "zip(x, d)", "zip, last": "zip(d, x)", "zip strict": "zip(x, d, strict=True)",
    "zip of two": "zip(d, d)", "zip, list": "zip(x, [4.0, 5.0, 6.0], d)",
    "enumerate": "enumerate(d)", "enumerate zip": "enumerate(zip(x, d), 2)",
    "zip enumerate": "zip(enumerate(x), d)", "zip reversed": "zip(reversed(x), d)",
    "iter": "iter(d)", "reversed": "reversed(d)", "map": "map(product, x, d)",
    "map of one": "map(twice, d)", "expression": "(v for v in d)",
    "expression of zip": "(product(u, v) for u, v in zip(x, d))", "filter": "filter(number, d)",
    "chain": "itertools.chain(d, x)", "chain, last": "itertools.chain(x, d)",
    "islice": "itertools.islice(d, 2)", "islice zip": "itertools.islice(zip(x, d), 1, None)",
    "accumulate": "itertools.accumulate(map(number, d))",
    "compress": "itertools.compress(d, [1, 0, 1])",
    "dropwhile": "itertools.dropwhile(lambda v: number(v) < 2.0, d)",
    "takewhile": "itertools.takewhile(lambda v: number(v) < 60.0, d)",
    "filterfalse": "itertools.filterfalse(lambda v: number(v) == 2.0, d)",
    "starmap": "itertools.starmap(product, zip(x, d))", "pairwise": "itertools.pairwise(d)",
    "zip_longest": "itertools.zip_longest(x, d, fillvalue=7.0)", "tee": "itertools.tee(d)[0]",
    "product": "itertools.product(d, [2.0])", "permutations": "itertools.permutations(d, 2)",
    "groupby": "(k for k, _ in itertools.groupby(map(number, d)))",
    "users": "given(d)", "users zip": "given(zip(x, d))", "zip users": "zip(x, given(d))",
    "cycle": "itertools.islice(itertools.cycle(d), 5)"}
CONTAINERS = {
    "list": "[1.0, 2.0, 3.0]", "traced": "[x[0], x[1], x[2]]", "deque": "deque([1.0, 2.0, 3.0])",
    "traced deque": "deque([x[2], 2.0, 3.0])", "comprehension": "[2.0 * v for v in x]",
    "dict": "{0: 1.0, 1: 2.0, 2: 3.0}", "OrderedDict": "OrderedDict({0: 1.0, 1: 2.0, 2: 3.0})",
    "defaultdict": "defaultdict(float, {0: 1.0, 1: x[0], 2: 3.0})", "Counter": "Counter([0, 1, 2])",
    "set": "{1.0, 2.0, 3.0}", "bytearray": "bytearray([1, 2, 3])",
    "array": "array('d', [1.0, 2.0, 3.0])", "UserList": "UserList([1.0, 2.0, 3.0])",
    "UserDict": "UserDict({0: 1.0, 1: 2.0, 2: 3.0})", "ndarray": "np.array([1.0, 2.0, 3.0])"}
VIEWS = {"itself": "c", "values": "c.values()", "items": "c.items()", "keys": "c.keys()"}
CHANGES = {
    "set": "c[1] = 50", "append": "c.append(9)", "pop": "c.pop()", "clear": "c.clear()",
    "new key": "c[7] = 9", "pop key": "c.pop(2)", "add": "c.add(9.0)", "remove": "c.remove(2.0)",
    "move": "c.move_to_end(0)", "insert": "c.insert(0, 9)", "traced": "c[1] = x[2]",
    "nothing": "pass"}
WHEN = {
    "before": "i = {maker}\n    {change}\n    for v in i: s = s * 2 + number(v)",
    "during": "i = {maker}\n    for v in i:\n        s = s * 2 + number(v)\n        n = n + 1\n"
              "        if n == 2: {change}",
    "first": "for v in {maker}:\n        {change}\n        s = s * 2 + number(v)\n"
             "        n = n + 1\n        if n == 6: break",
    "after": "i = {maker}\n    for v in i: s = s * 2 + number(v)\n    {change}",
    "next": "i = {maker}\n    s = number(next(i))\n    {change}\n    s = s + 3.0 * number(next(i))",
    "summed": "i = {maker}\n    {change}\n    s = sum([number(v) for v in i])",
    "listed": "i = {maker}\n    {change}\n    s = number(tuple(list(i)))"}


def number(v: Any) -> Any:
    total = 0.0
    if isinstance(v, tuple):
        for u in v:
            total = total + 2.0 * total + number(u)
        return total
    return v


def given(xs: Any) -> Any:
    yield from xs


NAMES = {"np": np, "itertools": itertools, "deque": deque, "OrderedDict": OrderedDict,
         "array": array, "defaultdict": defaultdict, "Counter": Counter, "UserList": UserList,
         "UserDict": UserDict,
         "number": number, "given": given, "twice": lambda v: 2.0 * number(v),
         "product": lambda u, v: number(u) * number(v)}
CASES = [(m, c, v) for m in MAKERS for c in CONTAINERS for v in VIEWS if v == "itself" or any(
    k in c for k in ("dict", "Dict", "Counter"))]


def made(maker: str, container: str, view: str, change: str, when: str) -> Callable[..., Any]:
    body = WHEN[when].format(maker=MAKERS[maker], change=CHANGES[change])
    left = "c.values()" if view != "itself" else "c"
    source = (f"def f(x):\n    s, n = 0.0, 0\n    c = {CONTAINERS[container]}\n"
              f"    d = {VIEWS[view]}\n    {body}\n"
              f"    return s + 0.5 * number(tuple({left})) * x[0]\n")
    name = f"<iterators {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space: dict[str, Any] = dict(NAMES)
    exec(compile(source, name, "exec"), space)
    fn: Callable[..., Any] = space["f"]
    return fn


def outcome(fn: Callable[..., Any], x: np.ndarray) -> Any:
    try:
        return float(fn(x))
    except tracejit.Refusal:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, StopIteration, RuntimeError) as e:
        return type(e)


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_items_are_as_they_are_when_their_turn_comes(case: tuple[str, str, str]) -> None:
    x = np.array([1.5, 2.5, 4.0])
    pairs = [*itertools.product(CHANGES, WHEN)]
    for change, when in random.Random("-".join(case)).sample(pairs, 4):
        fn = made(*case, change, when)
        expected = outcome(fn, x)
        if expected in (AttributeError, TypeError):
            continue
        with tracejit.config(disable_jit=True):
            try:
                found = outcome(tracejit.jit(fn), x)
            except tracejit.Refusal:
                continue
        assert found == expected or np.allclose(found, expected), (change, when, found, expected)


@pytest.mark.parametrize(("container", "change"), [
    ("deque", "c[1] = 50.0"), ("{0: 1.0, 1: 2.0, 2: 3.0}.values", "c[1] = x[2]"),
    ("deque", "c.append(9.0)"), ("dict", "c[7] = 9.0")])
def test_what_zip_takes_beside_an_array_is_read_in_its_turn(container: str, change: str) -> None:
    """Without a refusal: the first two are numbers and the others Python's errors."""
    name = "dict" if "dict" in container or "{" in container else "deque"
    view = "values" if "values" in container else "itself"
    source = (f"def f(x):\n    s = 0.0\n    c = {CONTAINERS[name]}\n"
              f"    for u, v in zip(x, {VIEWS[view]}):\n        {change}\n        s = s + u * v\n"
              "    return s\n")
    file = f"<in turn {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space: dict[str, Any] = dict(NAMES)
    exec(compile(source, file, "exec"), space)
    x = np.array([1.5, 2.5, 4.0])
    assert outcome(tracejit.jit(space["f"]), x) == outcome(space["f"], x)


class Index:
    """An object that stands for an int."""

    def __index__(self) -> int:
        """Return it."""
        return 1


ENDS: list[Any] = [0, 1, 2, 5, -1, -2, 0.5, None, True, "a", np.int64(2), np.float64(1.0), Index()]
ARGUMENTS: dict[str, Callable[..., Any]] = {
    "enumerate": lambda x, n: sum(k * v for k, v in enumerate(x, n)),
    "enumerate of items": lambda x, n: sum(k * v for k, v in enumerate([*x], n)),
    "enumerate of users": lambda x, n: sum(k * v for k, v in enumerate(given(x), n)),
    "islice": lambda x, n: sum(itertools.islice(given(x), n)),
    "islice from": lambda x, n: sum(itertools.islice(given(x), n, None)),
    "islice until": lambda x, n: sum(itertools.islice(given(x), 1, n)),
    "islice by": lambda x, n: sum(itertools.islice(given(x), 0, 5, n)),
    "islice of an array": lambda x, n: sum(itertools.islice(x, n)),
    "fromiter": lambda x, n: np.sum(np.fromiter([x[0], x[1], x[0]], float, n)),
    "fromiter of an array": lambda x, n: np.sum(np.fromiter(x, float, count=n)),
    "fromiter of users": lambda x, n: np.sum(np.fromiter(given(x), float, count=n)),
    "fromiter of an expression": lambda x, n: np.sum(np.fromiter((2 * v for v in x), float, n)),
    "range": lambda x, n: sum(x[k] for k in range(n)),
    "repeat": lambda x, n: sum(v * w for v, w in zip(
        itertools.repeat(x[0], n), given(x), strict=False))}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_numbers_of_items_are_checked_as_python_does(name: str) -> None:
    how, x = ARGUMENTS[name], np.array([1.5, 2.5, 4.0])
    for n in ENDS:
        expected = outcome(lambda x, n=n: how(x, n), x)
        with tracejit.config(disable_jit=True):
            try:
                found = outcome(tracejit.jit(lambda x, n=n: how(x, n)), x)
            except tracejit.Refusal:
                continue
        assert found == expected, (n, found, expected)
