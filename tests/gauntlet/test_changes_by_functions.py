"""Containers that functions of Python change, in a branch on data: Python's number, or a refusal.

The function that changes a container is in the arguments of another call, in an iterator, in a
partial or in a bound method: nobody writes the container's name where it changes. Each way to call
a function is crossed with each change; an order of keys is a change, too.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tracejit

CHANGES: dict[str, tuple[Callable[[Any], Any], Callable[[], Any], tuple[Any, ...]]] = {
    "append": (lambda c: c.append, lambda: [1.0, 2.0], (5.0,)),
    "remove": (lambda c: c.remove, lambda: [1.0, 2.0], (1.0,)),
    "pop": (lambda c: c.pop, lambda: [1.0, 2.0], (0,)),
    "insert": (lambda c: functools.partial(c.insert, 0), lambda: [1.0, 2.0], (5.0,)),
    "setitem": (lambda c: functools.partial(operator.setitem, c, 0), lambda: [1.0, 2.0], (5.0,)),
    "delitem": (lambda c: functools.partial(operator.delitem, c), lambda: [1.0, 2.0], (0,)),
    "extend": (lambda c: functools.partial(list.extend, c), lambda: [1.0, 2.0], ((5.0,),)),
    "sort": (lambda c: lambda _: c.sort(), lambda: [2.0, 1.0], (0,)),
    "update": (lambda c: c.update, lambda: {"a": 1.0}, ({"b": 5.0},)),
    "setdefault": (lambda c: c.setdefault, lambda: {"a": 1.0}, ("b",)),
    "dict.pop": (lambda c: c.pop, lambda: {"a": 1.0, "b": 2.0}, ("a",)),
    "move_to_end": (lambda c: c.move_to_end,
                    lambda: collections.OrderedDict(a=1.0, b=2.0), ("a",)),
    "appendleft": (lambda c: c.appendleft, lambda: collections.deque([1.0]), (5.0,)),
    "rotate": (lambda c: c.rotate, lambda: collections.deque([1.0, 2.0]), (1,)),
    "add": (lambda c: c.add, lambda: {1.0}, (5.0,))}


def _closing(f: Any, a: tuple[Any, ...]) -> None:
    with contextlib.ExitStack() as stack:
        stack.callback(f, *a)


def _looped(items: Iterator[Any]) -> None:
    for _ in items:
        pass


CALLS: dict[str, Callable[[Any, tuple[Any, ...]], Any]] = {
    "starmap": lambda f, a: list(itertools.starmap(f, [a])),
    "map": lambda f, a: list(map(f, a)),
    "filter": lambda f, a: list(filter(f, a)),
    "next": lambda f, a: next(filter(f, a), None),
    "looped": lambda f, a: _looped(itertools.filterfalse(f, a)),
    "unpacked": lambda f, a: [*itertools.takewhile(f, a)],
    "chained": lambda f, a: [*itertools.chain([0], itertools.dropwhile(f, a))],
    "counted": lambda f, a: _looped(enumerate(itertools.filterfalse(f, a))),
    "zipped": lambda f, a: [*zip([0], itertools.filterfalse(f, a), strict=False)],
    "groupby": lambda f, a: [k for k, _ in itertools.groupby(a, key=f)],
    "sentinel": lambda f, a: next(iter(functools.partial(f, *a), 7.0), None),
    "missing": lambda f, a: collections.defaultdict(functools.partial(f, *a))["k"],
    "partial": lambda f, a: functools.partial(f, *a)(),
    "sorted": lambda f, a: sorted([*a], key=f), "max": lambda f, a: max([*a], key=f, default=0),
    "callback": _closing}


def content_of(c: Any) -> float:
    """Return a number that tells the items and their order."""
    found, scale = 0.0, 1.0
    for x in c.values() if isinstance(c, dict) else c:
        found = found + scale * (x or 0.0)
        scale = scale * 10.0
    return found + 1000.0 * len(c)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_branch_that_changes_a_container_by_a_function(change: str, call: str) -> None:
    method, make, given = CHANGES[change]
    called = CALLS[call]

    def program(x: Any) -> Any:
        c = make()
        if x > 0.0:
            called(method(c), given)
        return x * content_of(c)

    require_like_python(program)


def _moved(d: Any) -> None:
    d.move_to_end("a")


def _moved_first(d: Any) -> None:
    d.move_to_end("c", last=False)


def _set_again(d: Any) -> None:
    d["a"] = d.pop("a")


def _deleted_and_set(d: Any) -> None:
    v = d["a"]
    del d["a"]
    d["a"] = v


MOVES = {"move_to_end": _moved, "move_to_start": _moved_first, "pop": _set_again,
         "del": _deleted_and_set, "popitem": lambda d: d.update([d.popitem()]),
         "unbound": lambda d: collections.OrderedDict.move_to_end(d, "b")}
READS: dict[str, Callable[[Any], Any]] = {
    "first": lambda d: next(iter(d.values())), "popitem": lambda d: d.popitem()[1],
    "list": lambda d: operator.sub(*[*d.values()][:2]),
    "loop": content_of, "reversed": lambda d: d[next(reversed(d))]}


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("read", READS)
def test_an_order_of_keys_that_data_decides(move: str, read: str) -> None:
    reads, moves = READS[read], MOVES[move]

    def program(x: Any) -> Any:
        d = collections.OrderedDict(a=x, b=2 * x, c=3 * x)
        if x > 0.0:
            moves(d)
        return reads(d)

    def in_a_loop(x: Any) -> Any:
        d = collections.OrderedDict(a=x, b=2 * x, c=3 * x)
        found = 0.0
        for k in range(4):
            found = found + reads(d.copy()) * (x + k)
            moves(d)
        return found

    require_like_python(program)
    require_like_python(in_a_loop)


def require_like_python(program: Callable[[Any], Any]) -> None:
    """Require Python's number of either branch from a capture, or a refusal."""
    for x in -2.0, 3.0:
        try:
            expected = program(x)
        except Exception as e:
            expected = type(e)
        with tracejit.config(disable_jit=True):
            try:
                found = tracejit.jit(program)(x)
            except tracejit.Refusal:
                continue
            except Exception as e:
                found = type(e)
        assert found == expected, (x, found, expected)
