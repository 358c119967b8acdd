"""Text in which numbers are written: Python's text, or a refusal at the user's line.

A text of a traced number has a marker in the number's place, which no one may look at.
"""

# ruff: noqa: UP031, UP032, FURB, RUF
from __future__ import annotations

import collections
import io
import json
import operator
import pathlib
import pprint
import re
import reprlib
import string
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

NUMBERS: dict[str, Callable[[Any], Any]] = {
    "size": lambda x: len(x), "a size more": lambda x: len(x) + 1, "shape": lambda x: x.shape,
    "half a size": lambda x: len(x) // 2, "number": lambda x: x[0] * 2.5, "float": lambda x:
    float(x[0]), "int": lambda x: int(x[0]), "list of size": lambda x: [len(x)],
    "dict": lambda x: {"a": len(x)}, "dict of number": lambda x: {"a": x[0]},
    "array": lambda x: x * 2.0, "bool": lambda x: len(x) > 3}

TEXTS: dict[str, Callable[[Any], Any]] = {
    "format": lambda v: format(v), "format method": lambda v: "{}".format(v),
    "f-string": lambda v: f"{v}", "f-string of repr": lambda v: f"{v!r}",
    "f-string in one": lambda v: f"{f'{v}'}", "f-string =": lambda v: f"{v=}",
    "percent": lambda v: "%s" % (v,), "percent of a dict": lambda v: "%(a)s" % {"a": v},
    "str": lambda v: str(v), "repr": lambda v: repr(v), "ascii": lambda v: ascii(v),
    "str of a list": lambda v: str([v]), "repr of a dict": lambda v: repr({"a": v}),
    "format_map": lambda v: "{a}".format_map({"a": v}), "str.format": lambda v: str.format("{}", v),
    "named": lambda v: "{a}".format(a=v), "__str__": lambda v: v.__str__(),
    "__repr__": lambda v: v.__repr__(), "__format__": lambda v: v.__format__(""),
    "join": lambda v: ",".join([str(v), "a"]), "join of map": lambda v: "-".join(map(str, [v, v])),
    "join of a generator": lambda v: "".join(f"{u}" for u in [v, v]),
    "add": lambda v: "a" + str(v),
    "Template": lambda v: string.Template("$a").substitute(a=v),
    "Formatter": lambda v: string.Formatter().format("{}", v),
    "pprint": lambda v: pprint.pformat(v),
    "reprlib": lambda v: reprlib.repr(v), "json": lambda v: json.dumps(v)}

READERS: dict[str, Callable[[str], Any]] = {
    "returned": lambda t: t, "in a list": lambda t: [t, 1.0], "len": lambda t: len(t),
    "hash": lambda t: {t: 1.0}, "first": lambda t: ord(t[0]), "is": lambda t: t == "3",
    "in": lambda t: "3" in t, "within": lambda t: t in "0123456789",
    "not within": lambda t: t not in "0123456789", "within itself": lambda t: t in f"a{t}",
    "contains": lambda t: operator.contains("0123456789", t),
    "within one of": lambda t: any(t in u for u in ("12", "34")), "count": lambda t:
    "3131".count(t), "replace": lambda t: "3131".replace(t, ""), "split": lambda t:
    len("3131".split(t)), "sub": lambda t: re.sub("[a-z]", "", t),
    "match": lambda t: re.match("[0-9]", t) is None, "path": lambda t: pathlib.Path(t).name,
    "bytes": lambda t: len(bytes(t, "utf8")), "max": lambda t: max(t, "4"),
    "counter": lambda t: collections.Counter(t)["3"]}


def is_same(a: Any, b: Any) -> bool:
    """Return whether a text, or a number read in it, is another's."""
    return type(a) is type(b) and a == b


def check(fn: Callable[[Any], Any]) -> None:
    """Assert that a captured function gives Python's text for two sizes, or is refused."""
    captured = tracejit.jit(fn)
    for x in (np.array([2.0, 1.0, 2.0]), np.array([5.0, 1.0, 4.0, 2.0, 3.0])):
        try:
            expected = fn(x.copy())
        except Exception as e:
            expected = e
        with tracejit.config(disable_jit=True):
            try:
                actual = captured(x.copy())
            except tracejit.Refusal as e:
                assert __file__.rpartition("/")[2] in str(e), e  # noqa: PT017
                return
            except Exception as e:
                assert isinstance(expected, Exception), e  # noqa: PT017
                return
        assert is_same(actual, expected), f"{actual!r} is not {expected!r}"


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_pythons_or_refused(number: str, text: str) -> None:
    value, make = NUMBERS[number], TEXTS[text]
    for read in READERS.values():
        def program(x: Any, read: Callable[[str], Any] = read) -> Any:
            return read(make(value(x)))
        check(program)


def test_what_was_found() -> None:
    def printed(x: Any) -> Any:
        file = io.StringIO()
        print(x[0], len(x), file=file)
        return len(file.getvalue())

    def of_width(x: Any) -> Any:
        return len(f"{True:{len(x)}}")

    def last(x: Any) -> Any:
        return range(len(x))[-1]

    def of_a_user_list(x: Any) -> Any:
        return len(collections.UserList([v * 2.0 for v in x]))

    def of_a_list(x: Any) -> Any:
        values = []
        for v in x:
            values.append(v)
        return len("%s" % (values,))

    for program in (printed, of_width, last, of_a_user_list, of_a_list):
        check(program)


def test_a_text_of_a_size_is_that_of_each_size() -> None:
    @tracejit.jit
    def name(x: Any) -> Any:
        return f"{len(x):03d} of {x.shape}"

    with tracejit.config(disable_jit=True):
        assert name(np.ones(3)) == "003 of (3,)"
        assert name(np.ones(5)) == "005 of (5,)"


def test_what_a_range_has_out_of_its_bounds() -> None:
    @tracejit.jit
    def beyond(x: Any) -> Any:
        return range(len(x))[3]

    with tracejit.config(disable_jit=True):
        assert beyond(np.ones(5)) == 3
        with pytest.raises(IndexError):
            beyond(np.ones(3))
