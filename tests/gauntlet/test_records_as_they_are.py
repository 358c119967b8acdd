"""Data classes, members of enums and named tuples as arguments: which each is, and its parts.

Each case is a class, a question about an argument of it, and where the argument comes from. The
oracle is Python; where Python's answer is by the identity of an object that a program makes anew,
it is that or a refusal.
"""

from __future__ import annotations

import collections
import enum
import functools
import itertools
import linecache
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import tracejit


@dataclass
class Plain:
    w: float = 2.0
    b: float = 1.0


@dataclass(eq=False)
class ByIdentity:
    w: float = 2.0
    b: float = 1.0


@dataclass(frozen=True)
class Frozen:
    w: float = 2.0
    b: float = 1.0


@dataclass(slots=True)
class Slotted:
    w: float = 2.0
    b: float = 1.0


@dataclass
class Unset:
    w: float = 2.0
    b: float = field(init=False)
    rest: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self):
        self.b = self.w / 2.0


@dataclass
class Cached:
    w: float = 2.0
    b: float = 1.0

    @functools.cached_property
    def twice(self):
        return self.w * 2.0


@dataclass
class Table(dict):
    w: float = 2.0
    b: float = 1.0


@dataclass
class Row(list):
    w: float = 2.0
    b: float = 1.0


@dataclass(eq=False)
class Parts:
    w: float
    b: float


class Member(Parts, enum.Enum):
    FIRST = 2.0, 1.0
    OTHER = 3.0, 5.0


class Pair(collections.namedtuple("Pair", ["w", "b"])):
    __slots__ = ()

    def __new__(cls, w=2.0):
        return super().__new__(cls, w, w / 2.0)


def less() -> Any:
    """Return an object without an attribute that its class has, and with another one."""
    found = Plain(4.0)
    del found.b
    found.z = 5.0
    return found


MAKERS = {
    "plain": Plain, "by identity": ByIdentity, "frozen": Frozen, "slotted": Slotted,
    "unset": Unset, "cached": Cached, "dict": Table, "list": Row, "pair": Pair,
    "member": lambda: Member.FIRST, "less": less,
}
QUESTIONS = {
    "is": "3.0 if p is OUTER else 5.0", "is not": "3.0 if p is not OUTER else 5.0",
    "one of two": "3.0 if p is q else 5.0", "equal": "3.0 if p == OUTER else 5.0",
    "equal to another": "3.0 if p == q else 5.0", "unequal": "3.0 if p != q else 5.0",
    "in a list": "3.0 if p in [OUTER, 1.0] else 5.0",
    "in an outer list": "3.0 if p in LIST else 5.0",
    "in a list of both": "3.0 if p in [q] else 5.0", "key": "TABLE.get(p, 5.0)",
    "own key": "{p: 3.0}[p]", "place": "float(LIST.index(p))", "count": "float(LIST.count(p))",
    "class": "3.0 if type(p) is type(OUTER) else 5.0", "instance": "3.0 * isinstance(p, KIND)",
    "part": "p.w", "parts": "p.w * 2.0 + p.b", "attribute": "getattr(p, 'z', 7.0)",
    "missing": "3.0 if hasattr(p, 'rest') else 5.0", "truth": "3.0 if p else 5.0",
    "length": "float(len(p)) if hasattr(p, '__len__') else 9.0",
    "property": "p.twice if hasattr(type(p), 'twice') else 9.0",
}
BY_IDENTITY = {"is", "is not", "equal", "equal to another", "unequal", "in a list",
               "in an outer list",
               "in a list of both", "key", "place", "count", "own key", "one of two"}


@pytest.mark.parametrize(("kind", "question"), [*itertools.product(MAKERS, QUESTIONS)])
def test_a_question_about_an_argument_is_answered_as_in_python_or_refused(kind, question):
    outer, other = MAKERS[kind](), MAKERS[kind]()
    names: dict[str, Any] = {"OUTER": outer, "LIST": [1.5, outer], "KIND": type(outer)}
    try:
        names["TABLE"] = {outer: 3.0}
    except TypeError:
        names["TABLE"] = {1: 3.0}
    text, file = f"def f(x, p, q):\n    return x * ({QUESTIONS[question]})\n", f"<asked {question}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    exec(compile(text, file, "exec"), names)
    f = names["f"]
    g = tracejit.jit(f)
    for p, q in ((outer, outer), (other, outer), (other, other), (outer, other)):
        with tracejit.config(disable_jit=True):
            try:
                expected = f(2.0, p, q)
            except Exception as e:
                with pytest.raises((type(e), tracejit.Refusal)):
                    g(2.0, p, q)
                continue
            try:
                found = g(2.0, p, q)
            except tracejit.Refusal:
                assert question in BY_IDENTITY
                continue
        assert found == expected, (p is outer, q is outer)


@pytest.mark.parametrize("kind", MAKERS)
def test_what_is_returned_is_of_the_class_with_the_same_parts(kind):
    given = MAKERS[kind]()
    with tracejit.config(disable_jit=True):
        found = tracejit.jit(lambda p: (p, 1.0))(given)[0]
    assert type(found) is type(given)
    assert (found.w, getattr(found, "b", None)) == (given.w, getattr(given, "b", None))
    assert getattr(found, "__dict__", None) == getattr(given, "__dict__", None)
    if kind == "member":
        assert found is given


@pytest.mark.parametrize("kind", [k for k in MAKERS if k not in ("dict", "list", "member")])
def test_a_gradient_by_a_record_is_a_record_with_the_parts_that_are_there(kind):
    given = MAKERS[kind]()
    with tracejit.config(disable_jit=True):
        found = tracejit.grad(lambda p: p.w * p.w * 3.0)(given)
    assert type(found) is type(given)
    assert found.w == 6.0 * given.w
    np.testing.assert_equal(getattr(found, "b", 0.0), 0.0 if kind != "less" else 1.0)
