"""A place that a program sets is one, by whichever name, key or class it is reached.

An attribute is also an item of `__dict__`; an attribute that an object lacks is its class's;
and code of classes that runs where attributes are set runs as often as in Python.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tracejit


class Plain:
    """Attributes, and nothing else."""


class Defaults:
    """A number that objects have of their class."""

    k = 5.0


class Doubling:
    """An object that keeps twice the value that an attribute is set to."""

    def __setattr__(self, name: str, content: Any) -> None:
        object.__setattr__(self, name, content * 2.0)


class DoublingSlots:
    """An object that keeps twice the value that a slot is set to, and never lets go of one."""

    __slots__ = ("v",)

    def __setattr__(self, name: str, content: Any) -> None:
        super().__setattr__(name, content * 2.0)

    def __delattr__(self, name: str) -> None:
        object.__setattr__(self, name, 7.0)


class Counting:
    """Counts how often it is changed."""

    def __init__(self) -> None:
        object.__setattr__(self, "count", 0)

    def __setattr__(self, name: str, content: Any) -> None:
        object.__setattr__(self, "count", self.count + 1)
        object.__setattr__(self, name, content)


class Half:
    """A descriptor that keeps half of the value that it is set to."""

    def __get__(self, owner: Any, kind: Any) -> Any:
        return owner.kept

    def __set__(self, owner: Any, content: Any) -> None:
        owner.kept = content * 0.5

    def __delete__(self, owner: Any) -> None:
        owner.kept = 0.25


class Described:
    """Has a descriptor, and a property that can be deleted."""

    v = Half()
    deleted = 0.0

    @property
    def w(self) -> float:
        return self.deleted

    @w.deleter
    def w(self) -> None:
        self.deleted = self.deleted + 1.0


class Refusing:
    """Cannot be set but past its own method."""

    def __init__(self, v: Any) -> None:
        object.__setattr__(self, "v", v)

    def __setattr__(self, name: str, content: Any) -> None:
        raise AttributeError(name)


NAMES = {"np": np, "Plain": Plain, "Defaults": Defaults, "Doubling": Doubling,
         "DoublingSlots": DoublingSlots, "Counting": Counting, "Described": Described,
         "Refusing": Refusing, "SimpleNamespace": SimpleNamespace}


def written(body: str) -> Callable[..., Any]:
    """Return the function of x, a and n with this body."""
    text = "def f(x, a, n):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    file = f"<places {abs(hash(body))}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = dict(NAMES)
    exec(compile(text, file, "exec"), names)
    found: Callable[..., Any] = names["f"]
    return found


def check(f: Callable[..., Any]) -> int:
    """Compare a program with Python and differences; return how often it was not refused."""
    compared = 0
    for n in range(4):
        for x, a in (([0.5, 1.0, -2.0], 0.3), ([-0.5, 1.5, 0.25], -0.7)):
            args = np.array(x), a, n
            try:
                expected = f(*args)
            except Exception as e:
                with pytest.raises((tracejit.Refusal, type(e))):
                    tracejit.jit(f)(*args)
                continue
            try:
                found = tracejit.jit(f)(*args)
                slope = tracejit.grad(f, argnums=1)(*args)
            except tracejit.Refusal:
                continue
            np.testing.assert_allclose(found, expected, rtol=1e-12)
            near = (f(args[0], a + 1e-6, n) - f(args[0], a - 1e-6, n)) / 2e-6
            np.testing.assert_allclose(slope, near, rtol=1e-5, atol=1e-7)
            compared += 1
    return compared


LOOP = "for i in range(n):\n    {}\n"
LOOP_IF = "for i in range(n):\n    if x[i] > 0.0:\n        {}\n"
IF = "if a > 0.0:\n    {}\n"
AROUND = {"loop": LOOP, "branch in a loop": LOOP_IF, "branch": IF}
PADS = {"loop": 4, "branch in a loop": 8, "branch": 4}


def within(around: str, body: str) -> str:
    """Return statements in a loop or branch."""
    return AROUND[around].format(body.replace("\n", "\n" + " " * PADS[around]))


# --- an attribute is an item of `__dict__` --------------------------------------------------------

SETS = {"attribute": "o.v = {}", "setattr": "setattr(o, 'v', {})", "vars": "vars(o)['v'] = {}",
        "dict": "o.__dict__['v'] = {}", "update": "o.__dict__.update(v={})",
        "object": "object.__setattr__(o, 'v', {})"}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("second", SETS)
@pytest.mark.parametrize("first", SETS)
@pytest.mark.parametrize("made", ["Plain()", "Defaults()"])
def test_an_attribute_is_one_by_whichever_way(made: str, first: str, second: str,
                                              around: str) -> None:
    body = "\n".join((SETS[first].format("2.0 * a"), SETS[second].format("o.v + 1.0"),
                      SETS[first].format("o.v * x[0]")))
    f = written(f"o = {made}\no.v = a\n{within(around, body)}return o.v + 3.0 * vars(o)['v']")
    with tracejit.config(disable_jit=True):
        assert check(f) == 8


# --- an object's own, or its class's --------------------------------------------------------------

SEEN = {"vars": "return o.k + len(vars(o))", "dict": "return 1.0 if 'k' in o.__dict__ else a",
        "del": "del o.k\nreturn o.k", "class": "C.k = 2.0 * a\nreturn o.k",
        "method": "return o.k + len(o.__getstate__() or ())"}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("change", ["o.k = x[0]", "o.k += a", "if 'k' in vars(o):\n    del o.k"])
@pytest.mark.parametrize("seen", SEEN)
@pytest.mark.parametrize("begun", ["", "o.k = a\n"])
def test_an_attribute_is_the_objects_or_its_classs(begun: str, seen: str, change: str,
                                                   around: str) -> None:
    f = written(f"class C:\n    k = 5.0\no = C()\n{begun}{within(around, change)}{SEEN[seen]}")
    with tracejit.config(disable_jit=True):
        check(f)


@pytest.mark.parametrize("around", AROUND)
def test_a_class_has_what_its_base_has(around: str) -> None:
    f = written("class A:\n    k = 1.0\nclass B(A):\n    pass\n" + within(around, "B.k = x[0]")
                + "A.k = 4.0 * a\nreturn A.k + 3.0 * B.k")
    with tracejit.config(disable_jit=True):
        check(f)


@pytest.mark.parametrize("around", AROUND)
def test_a_default_of_the_class_may_be_changed(around: str) -> None:
    f = written(f"o = Defaults()\n{within(around, 'o.k += a * x[0]')}return o.k")
    with tracejit.config(disable_jit=True):
        assert check(f) == 8


# --- code of classes runs as often as in Python ---------------------------------------------------

OWN_CODE = {
    "setattr": ("o = Doubling()\no.v = a", "o.v = o.v + x[0]", "o.v"),
    "slots": ("o = DoublingSlots()\no.v = a", "o.v = o.v + x[0]", "o.v"),
    "delattr": ("o = DoublingSlots()\no.v = a", "del o.v", "o.v * a"),
    "counted": ("o = Counting()\no.v = a", "o.v = o.v * x[0]", "o.v + o.count"),
    "descriptor": ("o = Described()\no.v = a", "o.v = o.v + x[0]", "o.v"),
    "deleted": ("o = Described()\no.v = a", "del o.v", "o.v"),
    "property": ("o = Described()", "del o.w", "o.w * a"),
    "past it": ("o = Refusing(a)", "object.__setattr__(o, 'v', o.v * x[0])", "o.v"),
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("name", OWN_CODE)
def test_code_of_a_class_runs_once(name: str, around: str) -> None:
    begin, change, result = OWN_CODE[name]
    f = written(f"{begin}\n{within(around, change)}return {result}")
    with tracejit.config(disable_jit=True):
        assert check(f) == 8


# --- 0.0 and -0.0 are two -------------------------------------------------------------------------


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("change", ["h.reverse()", "h.sort(key=lambda v: 1.0 / v)",
                                    "h[:] = h[::-1]", "h.insert(0, h.pop())"])
def test_zeros_have_signs(change: str, around: str) -> None:
    change = change.replace("1.0 / v", "np.copysign(1.0, v)")
    f = written(f"h = [0.0, -0.0]\n{within(around, change)}"
                "return a * np.copysign(1.0, h[0]) + 3.0 * a * np.copysign(1.0, h[1])")
    with tracejit.config(disable_jit=True):
        check(f)
