"""`match` decides as Python does, on traced subjects too; a question it cannot ask is refused."""

from __future__ import annotations

import enum
import linecache
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import tracejit


class Color(enum.Enum):
    """Two colours."""

    RED = 1
    BLUE = 2


class Pair:
    """Two things that patterns may ask for."""

    __match_args__ = ("a", "b")

    def __init__(self, a: Any, b: Any) -> None:
        """Keep them."""
        self.a = a
        self.b = b


def of_a_loops_index(x: Any, n: int) -> Any:
    t = 0.0
    for i in range(n):
        match i % 3:
            case 0:
                t += x[i]
            case 1:
                t += x[i] ** 2
            case _:
                t += math.exp(x[i])
    return t


def with_jumps_and_guards(x: Any, n: int) -> Any:
    t = 0.0
    for i in range(n):
        match i:
            case 0 | 2:
                t += x[i]
                continue
            case k if k > 2:
                t += k * x[i]
            case 1:
                break
        t += 10
    return t


def of_a_tuple(x: Any, n: int) -> Any:
    match (x[0] > 0, n):
        case (False, 4):
            return x.sum()
        case (True, k) if k > 3:
            return k * x[0]
        case (_, k):
            return x[1] * k


def of_a_text(x: Any, n: int) -> Any:
    match "add" if n > 2 else "mul":
        case "add":
            return x[0] + x[1]
        case "mul":
            return x[0] * x[1]


def of_a_member(x: Any, n: int) -> Any:
    c = Color.RED
    match c:
        case Color.RED:
            return x[0]
        case Color.BLUE:
            return x[1]


def of_a_class(x: Any, n: int) -> Any:
    match x[0]:
        case float() as v:
            return v * 2
        case _:
            return x[1]


def of_none(x: Any, n: int) -> Any:
    match None if n > 3 else n:
        case None:
            return x[0]
        case int():
            return x[1]


def of_a_number(x: Any, n: int) -> Any:
    match x[0]:
        case 1.0:
            return x[1]
        case v if v > 1.5:
            return v * x[1]
    return 7.0 * x[2]


def of_a_list(x: Any, n: int) -> Any:
    match [x[0], x[1]]:
        case [a, b]:
            return a * b


def of_a_dict(x: Any, n: int) -> Any:
    match {"k": x[0]}:
        case {"k": v}:
            return v * 2


def of_a_choice(x: Any, n: int) -> Any:
    op = None
    if x[0] > 1.2:
        op = "a"
    match op:
        case None:
            return x[1]
        case "a":
            return 2 * x[1]


def of_a_traced_int(x: Any, n: int) -> Any:
    k = int(x[0])
    match k:
        case 0:
            r = x[1]
        case 1:
            r = x[1] ** 2
        case -1:
            r = 3 * x[1]
        case other:
            r = other * x[1]
    return r


def asks_its_subject_once(x: Any, n: int) -> Any:
    calls = []

    def s():
        calls.append(1)
        return n

    match s():
        case 1:
            t = 0
        case 4:
            t = 1
        case _:
            t = 2
    return x[0] * len(calls) + t


def of_a_truth(x: Any, n: int) -> Any:
    match x[0] > 1:
        case True:
            return x[1]
        case False:
            return x[2]
    return 5 * x[0]


def of_traced_ints(x: Any, n: int) -> Any:
    match int(x[0]), int(x[1]):
        case 0, 0:
            return x[2]
        case 0, y:
            return y * x[2]
        case y, 0:
            return -y * x[2]
        case _:
            return 9 * x[2]


def of_attributes(x: Any, n: int) -> Any:
    match Pair(x[0], n):
        case Pair(a=v, b=4):
            return v * 3.0
        case Pair(v, _):
            return v * 5.0


def of_attributes_with_guards(x: Any, n: int) -> Any:
    t = 0.0
    for i in range(n):
        match Pair(x[i], i):
            case Pair(v, 0 | 1) if v > 0.5:
                t += v * v
            case Pair(b=3, a=v):
                t += 7.0 * v
            case Pair(float(v)) if v < 0.35:
                t += math.exp(v)
            case Pair():
                t += 0.25
    return t


def of_attributes_of_attributes(x: Any, n: int) -> Any:
    match Two(Pair(x[0], "in"), Pair(n, x[1])):
        case Two(Pair(v, "out")):
            return v
        case Two(Pair(v, str() as k), Pair(2, w)) if w > 0.3:
            return v * w * len(k)
        case Two(one=Pair(a=v), other=Pair(b=w) as q) if q.a > 1:
            return v - w
    return x[3]


def of_an_attribute_that_is_missing(x: Any, n: int) -> Any:
    match Pair(x[0], x[1]):
        case Pair(c=v):
            return v
        case Pair(a=v, b=w):
            return v * w


class Two:
    """Two pairs."""

    __match_args__ = ("one", "other")

    def __init__(self, one: Pair, other: Pair) -> None:
        """Keep them."""
        self.one, self.other = one, other


class Counting:
    """Counts how often its attribute is read."""

    def __init__(self, v: Any) -> None:
        """Keep a number."""
        self.v, self.reads = v, 0

    @property
    def read(self) -> Any:
        """Return the number."""
        self.reads += 1
        return self.v


def reads_an_attribute_once_for_each_pattern(x: Any, n: int) -> Any:
    c = Counting(x[0])
    match c:
        case Counting(read=str()):
            return x[1]
        case Counting(read=float(v)) if v > 50.0:
            return x[2]
        case Counting(read=v):
            return v * c.reads


def of_the_number_itself(x: Any, n: int) -> Any:
    match x[0]:
        case int(v):
            return 3.0 * v
        case float(v) if v > 1:
            return v * x[1]
        case float(v):
            return v * x[2]


def of_an_object_that_data_chooses(x: Any, n: int) -> Any:
    p = Pair(x[1], 1) if x[0] > 1.2 else Pair(x[2], 2)
    match p:
        case Pair(v, 1):
            return v * 3.0
        case Pair(v, k):
            return v * k * 5.0


PROGRAMS = [
    of_attributes,
    of_attributes_with_guards,
    of_attributes_of_attributes,
    of_an_attribute_that_is_missing,
    reads_an_attribute_once_for_each_pattern,
    of_the_number_itself,
    of_an_object_that_data_chooses,
    of_a_loops_index,
    with_jumps_and_guards,
    of_a_tuple,
    of_a_text,
    of_a_member,
    of_a_class,
    of_none,
    of_a_number,
    of_a_list,
    of_a_dict,
    of_a_choice,
    of_a_traced_int,
    asks_its_subject_once,
    of_a_truth,
    of_traced_ints,
]

JUMP_AT_ONE = (of_a_number, of_a_traced_int, of_traced_ints, of_the_number_itself)

INPUTS = [(1.0, 2.0, 0.5, 0.3), (-1.2, 0.2, 3.0, 1.1), (1.7, 0.4, 0.1, 0.2), (0.2, 0.1, 0.3, 0.4)]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_match_decides_as_in_python(f: Any) -> None:
    compiled, slope = tracejit.jit(f), tracejit.grad(f)
    with tracejit.config(disable_jit=True):
        for items in INPUTS:
            for n in (4, 2):
                x = np.array(items)
                np.testing.assert_allclose(compiled(x, n), f(x, n), rtol=1e-14)
                if f in JUMP_AT_ONE and items[0] == 1.0:
                    continue
                differences = [(f(x + h, n) - f(x - h, n)) / 2e-6 for h in 1e-6 * np.eye(4)]
                np.testing.assert_allclose(slope(x, n), differences, rtol=1e-6, atol=1e-8)


def test_a_pattern_of_what_is_no_class_is_an_error() -> None:
    def f(x: Any) -> Any:
        match x:
            case math.pi():
                return x

    with pytest.raises(TypeError, match="called match pattern must be a class"):
        tracejit.jit(f)(1.0)


def counts_reads_behind_a_test(x: Any, n: int) -> Any:
    c = Counting(x[0])
    match Two(Pair(n, 1), c):
        case Two(Pair(5, _), Counting(read=v)):
            return v
        case Two(Pair(4 | 2, _), Counting(v=v)):
            return v * (c.reads + 1)


def test_an_attribute_that_code_computes_is_not_read_before_its_time() -> None:
    """Python reads those of an inner pattern behind the tests of the parts before."""
    with (tracejit.config(disable_jit=True),
          pytest.raises(tracejit.Refusal, match="'read', which code computes")):
        tracejit.jit(counts_reads_behind_a_test)(np.ones(4), 4)


def test_too_many_parts_are_pythons_errors() -> None:
    def by_place(x: Any) -> Any:
        match Pair(x, 1):
            case Pair(a, _, _):
                return a

    def twice(x: Any) -> Any:
        match Pair(x, 1):
            case Pair(v, a=1):
                return v

    def of_a_float(x: Any) -> Any:
        match x:
            case float(a, _):
                return a

    for f in (by_place, twice, of_a_float):
        with pytest.raises(TypeError) as expected:
            f(1.0)
        with pytest.raises(TypeError) as found, tracejit.config(disable_jit=True):
            tracejit.jit(f)(1.0)
        assert str(found.value).startswith(str(expected.value))


# --- classes in patterns, of parts that are traced ----------------------------------------------

SUBJECTS = ["t", "x", "x[0]", "len(x)", "t > 0", "x > 0", "2 * t", "'k'", "None", "[t]", "(t, 1)",
            "{'k': t}", "Pair(t, 2)"]
"""Things that a pattern meets in a container, of an array `x` and a float `t`."""

PATTERNS = ["float()", "float(v)", "int(v)", "bool(v)", "complex()", "str(v)", "object() as v",
            "np.ndarray() as v", "np.ndarray(ndim=v)", "np.float64() as v", "np.floating(real=v)",
            "np.bool() as v", "list(v)", "tuple(v)", "dict(v)", "Sequence() as v", "Mapping() as v",
            "Pair() as v", "Pair(float(v))", "Pair(b=float(), a=v)", "Pair(float() as v, int())"]
"""Patterns that ask for classes; what they bind is `v`."""

CONTAINERS = {"({}, *_)": "({}, 1)", "[1, *_, {}]": "[1, 2, {}]", "{{'k': {}}}": "{{'k': {}}}",
              "Pair(a={})": "Pair({}, 1)", "Pair(_, {})": "Pair(1, {})",
              "({}, {{'k': 1}})": "({}, {{'k': 1}})", "[{}, [_, *_]]": "[{}, [1]]"}
"""Patterns around a pattern, that Python itself matches, and what fits them."""


def of_each_pattern(subject: str, within: str) -> Any:
    """Return a function that tells which patterns a part of a container fits, with what `v`."""
    lines = ["def f(x, t):", "    found = []"]
    for k, pattern in enumerate(PATTERNS):
        lines += ["    v = 0", f"    match {CONTAINERS[within].format(subject)}:",
                  f"        case {within.format(pattern)}:",
                  f"            found.append(({k}, v.a if isinstance(v, Pair) else v))"]
    text = "\n".join([*lines, "    return found"]) + "\n"
    name = f"<match {abs(hash(text))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"np": np, "Pair": Pair, "Sequence": Sequence, "Mapping": Mapping}
    exec(compile(text, name, "exec"), space)
    return space["f"]


@pytest.mark.parametrize("within", CONTAINERS)
@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_class_in_a_pattern_takes_the_parts_that_python_takes(subject: str, within: str) -> None:
    f = of_each_pattern(subject, within)
    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(f)
        for x, t in ((np.array([1.5, -2.0]), 0.5), (np.array([3.0]), -1.0)):
            found, expected = compiled(x, t), f(x, t)
            assert [k for k, _ in found] == [k for k, _ in expected]
            assert repr(found) == repr(expected)
