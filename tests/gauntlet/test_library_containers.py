"""Containers of Python's library that methods change where data decides: Python's, or refused.

Their methods are not captured, and what they change is not the object but a dict, list or deque
that it keeps. The oracle is Python. Each container is changed in a branch, in a loop, within a
branch that made it, and read by each of its ways.
"""

from __future__ import annotations

import contextvars
import ctypes
import hashlib
import io
import itertools
import queue
import threading
import weakref
import zlib
from collections import ChainMap, UserDict, UserList
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

import pytest

import tracejit


class OwnDict(UserDict):  # type: ignore[type-arg]
    """A user's class of a container that the library has."""


class OwnMapping(MutableMapping[str, Any]):
    """A user's mapping, with the library's `update`, `pop` and `setdefault`."""

    def __init__(self, q: float) -> None:
        """Begin with one item."""
        self.store: dict[str, Any] = {"q": q}

    def __getitem__(self, key: str) -> Any:
        """Return an item."""
        return self.store[key]

    def __setitem__(self, key: str, x: Any) -> None:
        """Set an item."""
        self.store[key] = x

    def __delitem__(self, key: str) -> None:
        """Delete an item."""
        del self.store[key]

    def __iter__(self) -> Iterator[str]:
        """Go through the keys."""
        return iter(self.store)

    def __len__(self) -> int:
        """Return how many items there are."""
        return len(self.store)


def filled(q: Any, *xs: float) -> Any:
    for x in xs:
        q.put(x)
    return q


class Thing:
    """A thing to refer to."""


THING = Thing()
VAR: contextvars.ContextVar[float] = contextvars.ContextVar("VAR", default=1.0)

Change = Callable[[Any, Any], Any]
OF_DICTS: dict[str, Change] = {
    "update": lambda c, x: c.update(q=5.0), "traced": lambda c, x: c.update(q=x),
    "new": lambda c, x: c.update(r=5.0), "set": lambda c, x: c.__setitem__("q", 7.0),
    "setdefault": lambda c, x: c.setdefault("r", 5.0), "pop": lambda c, x: c.pop("q"),
    "popitem": lambda c, x: c.popitem(), "clear": lambda c, x: c.clear(),
    "or": lambda c, x: c.__ior__({"q": 5.0}),
    "mapped": lambda c, x: list(map(c.update, [{"q": 5.0}])),
    "unbound": lambda c, x: MutableMapping.update(c, q=5.0)}
READS_OF_DICTS: dict[str, Change] = {
    "item": lambda c, x: c["q"], "get": lambda c, x: c.get("r", 2.0), "len": lambda c, x: len(c),
    "in": lambda c, x: 1.0 if "r" in c else 2.0, "values": lambda c, x: sum(c.values()),
    "first": lambda c, x: next(iter(c.values()))}
OF_LISTS: dict[str, Change] = {
    "append": lambda c, x: c.append(5.0), "set": lambda c, x: c.__setitem__(0, 5.0),
    "traced": lambda c, x: c.__setitem__(1, x), "reverse": lambda c, x: c.reverse(),
    "sort": lambda c, x: c.sort(), "pop": lambda c, x: c.pop(0),
    "extend": lambda c, x: c.extend([5.0]),
    "insert": lambda c, x: c.insert(0, 5.0), "add": lambda c, x: c.__iadd__([5.0])}
READS_OF_LISTS: dict[str, Change] = {
    "first": lambda c, x: c[0], "last": lambda c, x: c[-1], "len": lambda c, x: len(c),
    "sum": lambda c, x: sum(c), "loop": lambda c, x: sum([3.0 * v for v in c]),
    "index": lambda c, x: c.index(2.0)}
OF_QUEUES: dict[str, Change] = {
    "put": lambda c, x: c.put(5.0), "get": lambda c, x: c.get_nowait(),
    "traced": lambda c, x: c.put(x),
    "both": lambda c, x: c.put(c.get_nowait())}
READS_OF_QUEUES: dict[str, Change] = {
    "get": lambda c, x: c.get_nowait(), "size": lambda c, x: c.qsize(),
    "empty": lambda c, x: 2.0 * c.empty()}
KINDS: dict[str, tuple[Callable[[], Any], dict[str, Change], dict[str, Change]]] = {
    "UserDict": (lambda: UserDict(q=1.0), OF_DICTS, READS_OF_DICTS),
    "own": (lambda: OwnDict(q=1.0), OF_DICTS, READS_OF_DICTS),
    "mapping": (lambda: OwnMapping(1.0), OF_DICTS, READS_OF_DICTS),
    "ChainMap": (lambda: ChainMap({"q": 1.0}, {"z": 3.0}), OF_DICTS, READS_OF_DICTS),
    "child": (lambda: ChainMap({"q": 1.0}).new_child(), OF_DICTS, READS_OF_DICTS),
    "weak values": (lambda: weakref.WeakKeyDictionary({THING: 1.0}),
                    {"set": lambda c, x: c.__setitem__(THING, 5.0),
                     "pop": lambda c, x: c.pop(THING),
                     "update": lambda c, x: c.update({THING: x})},
                    {"get": lambda c, x: c.get(THING, 2.0), "len": lambda c, x: len(c)}),
    "weak set": (weakref.WeakSet, {"add": lambda c, x: c.add(THING)},
                 {"len": lambda c, x: len(c), "in": lambda c, x: 1.0 * (THING in c)}),
    "UserList": (lambda: UserList([3.0, 2.0]), OF_LISTS, READS_OF_LISTS),
    "Queue": (lambda: filled(queue.Queue(), 3.0, 2.0), OF_QUEUES, READS_OF_QUEUES),
    "LifoQueue": (lambda: filled(queue.LifoQueue(), 3.0, 2.0), OF_QUEUES, READS_OF_QUEUES),
    "PriorityQueue": (lambda: filled(queue.PriorityQueue(), 3.0, 2.0), OF_QUEUES, READS_OF_QUEUES),
    "SimpleQueue": (lambda: filled(queue.SimpleQueue(), 3.0, 2.0), OF_QUEUES, READS_OF_QUEUES),
    "Event": (threading.Event, {"set": lambda c, x: c.set()},
              {"is set": lambda c, x: 1.0 * c.is_set()}),
    "ContextVar": (lambda: VAR, {"set": lambda c, x: c.set(5.0)}, {"get": lambda c, x: c.get()}),
    "ctypes": (lambda: (ctypes.c_double * 2)(1.0, 2.0),
               {"set": lambda c, x: c.__setitem__(0, 5.0),
                "zero": lambda c, x: ctypes.memset(c, 0, 8)},
               {"first": lambda c, x: c[0]}),
    "hash": (lambda: hashlib.new("sha256"), {"update": lambda c, x: c.update(b"a")},
             {"digest": lambda c, x: c.digest()[0]}),
    "blake": (hashlib.blake2b, {"update": lambda c, x: c.update(b"a")},
              {"digest": lambda c, x: c.digest()[0]}),
    "compressor": (zlib.compressobj, {"compress": lambda c, x: c.compress(b"abcd" * 100)},
                   {"flush": lambda c, x: len(c.flush())}),
    "text": (io.StringIO, {"write": lambda c, x: c.write("ab")},
             {"value": lambda c, x: len(c.getvalue())}),
    "lock": (threading.Lock, {"acquire": lambda c, x: c.acquire(blocking=False)},
             {"locked": lambda c, x: 1.0 * c.locked()}),
    "memoryview": (lambda: memoryview(bytearray(b"abc")),
                   {"set": lambda c, x: c.__setitem__(0, 7)},
                   {"first": lambda c, x: c[0], "bytes": lambda c, x: bytes(c)[0],
                    "list": lambda c, x: c.tolist()[0]})}
CASES = [(kind, change, read) for kind, (_, changes, reads) in KINDS.items()
         for change, read in itertools.product(changes, reads)]


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_changes_by_methods_of_the_library_are_pythons_or_refused(case: tuple[str, ...]) -> None:
    kind, change, read = case
    make, changes, reads = KINDS[kind]
    changed, asked = changes[change], reads[read]

    def in_a_branch(x: Any) -> Any:
        c = make()
        if x > 0.0:
            changed(c, x)
        return x * asked(c, x)

    def in_a_loop(x: Any) -> Any:
        c, k = make(), 0
        while k < x:
            changed(c, x)
            k = k + 1
        return x * asked(c, x)

    def made_in_a_branch(x: Any) -> Any:
        y = 2.0 * x
        if x > 0.0:
            c = make()
            changed(c, x)
            y = y + asked(c, x)
        return y

    def held(x: Any) -> Any:
        c = [make()]
        if x > 0.0:
            changed(c[0], x)
        return x * asked(c[0], x)

    for program in in_a_branch, in_a_loop, made_in_a_branch, held:
        require_like_python(program)


@pytest.mark.parametrize("kind", ["UserDict", "own", "mapping"])
def test_an_item_that_a_branch_updates_is_captured(kind: str) -> None:
    """The two values are merged as those of a dict are: without a refusal."""
    make = KINDS[kind][0]

    def f(x: Any) -> Any:
        c = make()
        if x > 0.0:
            c.update(q=3.0 * x)
        return x * c["q"]

    for x in -2.0, 3.0:
        assert tracejit.jit(f)(x) == f(x)
        assert tracejit.grad(f)(x) == (6.0 * x if x > 0.0 else 1.0)


def require_like_python(program: Callable[[Any], Any]) -> None:
    """Require Python's number, or kind of error, of either branch, or a refusal."""
    for x in -2.0, 1.5:
        expected = contextvars.copy_context().run(_outcome, program, x)
        with tracejit.config(disable_jit=True):
            try:
                found = contextvars.copy_context().run(_outcome, tracejit.jit(program), x)
            except tracejit.Refusal:
                continue
        assert found == expected, (program.__name__, x, found, expected)


def _outcome(fn: Callable[[Any], Any], x: float) -> Any:
    try:
        return float(fn(x))
    except tracejit.Refusal:
        raise
    except Exception as e:
        return type(e)
