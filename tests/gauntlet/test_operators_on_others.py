"""Operators between a number and a thing that is none: Python's errors, in Python's words."""

from __future__ import annotations

import linecache
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest

import tracejit

SIGNS = ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==",
         "!=", "@")
OTHERS = {"None": None, "{}": {}, "{1}": {1}, "'a'": "a", "(1,)": (1,), "[1, 2]": [1, 2]}
NUMBERS = {"float": 1.5, "int": 3, "bool": True, "float64": np.float64(1.5),
           "array": np.array([1.5, 2.5])}


def outcome(call: Any) -> Any:
    """Return a result as lists, or the kind and text of its error."""
    try:
        return np.asarray(call()).tolist()
    except tracejit.Refusal:
        return "refused"
    except (TypeError, ValueError) as e:
        return TypeError if isinstance(e, TypeError) else ValueError, str(e)


CASES = [(sign, other, number, is_left) for sign in SIGNS for other in OTHERS
         for number in NUMBERS for is_left in (True, False)
         if not (sign == "%" and other == "'a'")]  # text of a number: refused


@pytest.mark.parametrize(("sign", "other", "number", "is_left"), CASES)
def test_an_operator_refuses_what_python_refuses(sign: str, other: str, number: str,
                                                 is_left: bool) -> None:
    sides = (other, "x") if is_left else ("x", other)
    text = f"def f(x):\n    return {sides[0]} {sign} {sides[1]}\n"
    linecache.cache["<others>"] = (len(text), None, text.splitlines(True), "<others>")
    scope: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, "<others>", "exec"), scope)
        expected = outcome(lambda: scope["f"](NUMBERS[number]))
        with tracejit.config(disable_jit=True):
            found = outcome(lambda: tracejit.jit(scope["f"])(NUMBERS[number]))
    if found != "refused":
        require_same(found, expected)


def require_same(found: Any, expected: Any) -> None:
    """Require equal results, or errors of one kind that name no class of tracejit's."""
    if isinstance(expected, tuple) and isinstance(found, tuple):
        assert found[0] is expected[0]
        assert "Tracer" not in found[1] and "SymInt" not in found[1]
    else:
        assert found == expected


# --- classes that derive from Python's containers and have operators of their own ---------------

NAMES = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "**": "pow", "<": "lt", ">": "gt"}
REFLECTED = {"lt": "gt", "gt": "lt"}


def _own(base: type, content: Any, inplace: bool = False) -> Any:
    """Return an object whose operators say which of them ran."""
    text = [f"class Own({base.__name__}):"]
    for name in NAMES.values():
        other = REFLECTED.get(name, f"r{name}")
        text += [f"    def __{name}__(self, k): return k * 2.0 + {len(name)}",
                 f"    def __{other}__(self, k): return k * 3.0 + {len(name)}"]
        if inplace and name not in REFLECTED:
            text += [f"    def __i{name}__(self, k): return k * 5.0 + {len(name)}"]
    source = "\n".join(text) + "\n"
    file = f"<own {base.__name__} {inplace}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope: dict[str, Any] = {}
    exec(compile(source, file, "exec"), scope)
    return scope["Own"](content)


OWN = {f"{base.__name__}{' in place' * inplace}": _own(base, content, inplace)
       for base, content in ((list, [1.0, 2.0]), (tuple, (1.0, 2.0)), (dict, {"a": 1.0}),
                             (set, {1.0}), (str, "a")) for inplace in (False, True)}
PLAIN = {"float": 1.5, "int": 3, "bool": True}


@pytest.mark.parametrize(("sign", "kind", "number", "form"), [
    (sign, kind, number, form) for sign in NAMES for kind in OWN for number in PLAIN
    for form in ("x {} own", "own {} x", "in place")
    if not (form == "in place" and sign in "<>") and not (form == "own {} x" and sign in "<>")])
def test_operators_of_a_class_that_is_a_container_are_the_classes(
        sign: str, kind: str, number: str, form: str) -> None:
    lines = ["z = own", f"z {sign}= x", "return z"] if form == "in place" else [
        f"return {form.format(sign)}"]
    text = "def f(x):\n    " + "\n    ".join(lines) + "\n"
    file = f"<{sign} {kind} {form}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope: dict[str, Any] = {"own": OWN[kind]}
    exec(compile(text, file, "exec"), scope)
    expected = outcome(lambda: scope["f"](PLAIN[number]))
    with tracejit.config(disable_jit=True):
        require_same(outcome(lambda: tracejit.jit(scope["f"])(PLAIN[number])), expected)


class Vector(NamedTuple):
    x: Any
    y: Any

    def __add__(self, other: Any) -> Any:
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k: Any) -> Any:
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__


def _fall(a: Any, n: Any) -> Any:
    place, speed = Vector(0.0, 1.0), Vector(a, 2.0)
    for _ in range(n):
        speed = speed + 0.1 * Vector(0.0, -9.81) * a
        place = place + speed * 0.1
    if place.y < 0.0:
        place = place * 2.0
    return place.x + place.y * n


def test_named_tuples_with_operators_are_vectors() -> None:
    with tracejit.config(disable_jit=True):
        value, slope = tracejit.value_and_grad(_fall)(0.7, 9)
    assert abs(value - _fall(0.7, 9)) < 1e-12
    assert abs(slope - (_fall(0.7 + 1e-6, 9) - _fall(0.7 - 1e-6, 9)) / 2e-6) < 1e-6


class Pole(dict):
    def __radd__(self, other: Any) -> Any:
        return self["k"] / (other - 1.0)  # not where x is 1.0, which the program never has


def test_an_operator_of_the_users_sees_the_numbers_of_the_program_alone() -> None:
    pole = Pole(k=4.0)
    with tracejit.config(disable_jit=True):
        assert tracejit.jit(lambda x: x + pole)(1.5) == 8.0
        found = tracejit.jit(lambda x: x + pole)(np.array([1.5, 3.0]))
    assert found.tolist() == [8.0, 2.0]
