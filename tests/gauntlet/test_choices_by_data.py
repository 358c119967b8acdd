"""Things of which data decides which they are: None or a tuple, functions, objects, strings.

Programs are generated of alternatives, of the place that holds them and of what is done with them;
Python and central differences say what is right.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

Program = Callable[..., Any]


class Elastic:
    def __init__(self, modulus: float) -> None:
        self.modulus = modulus

    def stress(self, strain: Any) -> Any:
        return self.modulus * strain


class Plastic:
    def __init__(self, modulus: float, limit: float) -> None:
        self.modulus, self.limit = modulus, limit

    def stress(self, strain: Any) -> Any:
        if strain < self.limit / self.modulus:
            return self.modulus * strain
        return self.limit + 0.1 * (self.modulus * strain - self.limit)


SOFT, HARD = Elastic(2.0), Plastic(3.0, 0.5)

ALTERNATIVES = {
    "None/number": ("None", "x * 2.0", "{} is not None", "{} * x"),
    "number/None": ("x", "None", "{} is not None", "{} * x"),
    "None/tuple": ("None", "(x, 3.0 * x)", "{} is not None", "{}[0] * {}[1]"),
    "None/array": ("None", "x * np.arange(3.0)", "{} is not None", "({} ** 2).sum()"),
    "two functions": ("np.sin", "np.exp", "{} is np.exp", "{}(x)"),
    "own functions": ("(lambda z: z * x)", "(lambda z: z + x * x)", "callable({})", "{}(x)"),
    "None/object": ("None", "HARD", "{} is not None", "{}.stress(x)"),
    "two classes": ("SOFT", "HARD", "isinstance({}, Plastic)", "{}.stress(x)"),
    "two strings": ("'a'", "'b'", "{} == 'b'", "x * (2.0 if {} == 'a' else x)"),
    "two ranks": ("x * np.ones(2)", "x * np.ones((2, 2))", "{}.ndim == 2", "np.sum({} ** 2)"),
    "two lengths": ("(x,)", "(x, 2.0 * x)", "len({}) == 2", "{}[-1] * x"),
}
PLACES = {
    "if": ("""
    v = {a}
    if x > 1.0:
        v = {b}
""", "v"),
    "else": ("""
    if x > 2.0:
        v = {a}
    elif x > 1.0:
        v = {b}
    else:
        v = {a}
""", "v"),
    "expression": ("""
    v = {b} if x > 1.0 else {a}
""", "v"),
    "loop": ("""
    v = {a}
    for k in range(len(p)):
        if p[k] * x > 1.0:
            v = {b}
""", "v"),
    "while": ("""
    v, y = {a}, x
    while y < 2.0:
        if y > 1.0:
            v = {b}
        y = y + 0.37
""", "v"),
    "return": ("""
    def found(x):
        if x > 1.0:
            return {b}
        return {a}
    v = found(x)
""", "v"),
    "return in a loop": ("""
    def found(x):
        for k in range(len(p)):
            if p[k] * x > 1.0:
                return {b}
        return {a}
    v = found(x)
""", "v"),
    "item": ("""
    w = [{a}, 1.0]
    if x > 1.0:
        w[0] = {b}
""", "w[0]"),
    "key": ("""
    w = {{'v': {a}}}
    if x > 1.0:
        w['v'] = {b}
""", "w['v']"),
    "attribute": ("""
    w = Elastic({a})
    if x > 1.0:
        w.modulus = {b}
""", "w.modulus"),
}
USES = {
    "asked": """
    return x * x if {test} else 3.0 * x
""",
    "used after a check": """
    if {test}:
        return {use}
    return x
""",
    "used within and": """
    if x > 0.2 and {test} and {use} > 0.3:
        return {use} * 2.0
    return x * x
""",
    "used without a check": """
    return {use} + x
""",
    "asserted": """
    assert {test}, "it is the other"
    return {use}
""",
    "handed on": """
    def used(u):
        return {handed}
    if not {test}:
        return 5.0 * x
    return used({held}) + x
""",
}
POINTS = (0.31, 1.27, 2.43)
P = np.array([0.2, 0.9, 0.45])


def _program(source: str, name: str) -> Program:
    """Make a function of a text that has lines."""
    file = f"<choice {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {"np": np, "Elastic": Elastic, "Plastic": Plastic, "SOFT": SOFT,
                             "HARD": HARD, "__name__": __name__}
    exec(compile(source, file, "exec", dont_inherit=True), names)
    made: Program = names["f"]
    return made


def _generated() -> dict[str, str]:
    found = {}
    for kind, (a, b, test, use) in ALTERNATIVES.items():
        for place, (text, held) in PLACES.items():
            for what, end in USES.items():
                body = text.format(a=a, b=b) + end.format(
                    test=test.replace("{}", held), use=use.replace("{}", held), held=held,
                    handed=use.replace("{}", "u"))
                found[f"{kind}, {place}, {what}"] = "def f(x, p):" + body
    return found


GENERATED = _generated()


def _outcome(fn: Program, *args: Any) -> Any:
    try:
        return fn(*args)
    except (TypeError, AttributeError, AssertionError, IndexError) as e:
        return e


def _compare(f: Program, x: float, p: Any) -> None:
    """Compare value, derivatives in both modes and errors with Python's."""
    expected = _outcome(f, x, p)
    found = _outcome(tracejit.value_and_grad(f), x, p)
    if isinstance(expected, Exception):
        assert type(found) is type(expected), found
        return
    if isinstance(found, Exception):
        raise found
    h = 1e-6
    slope = (f(x + h, p) - f(x - h, p)) / (2 * h)
    assert found[0] == pytest.approx(expected, rel=1e-12)
    assert found[1] == pytest.approx(slope, rel=1e-5, abs=1e-6)
    tangent = tracejit.jvp(lambda y: f(y, p), (x,), (1.0,))[1]
    assert tangent == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", GENERATED)
def test_what_data_decides_is_what_python_has(name: str) -> None:
    f = _program(GENERATED[name], name)
    with tracejit.config(disable_jit=True):
        for x in POINTS:
            _compare(f, x, P)


SAMPLE = [name for k, name in enumerate(GENERATED) if k % 41 == 0]


@pytest.mark.parametrize("name", SAMPLE)
def test_compiled(name: str) -> None:
    f = _program(GENERATED[name], name + ", compiled")
    for x in POINTS:
        _compare(f, x, P)
