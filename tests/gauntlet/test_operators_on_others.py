"""Operators between a number and a thing that is none: what Python raises, in Python's words."""

from __future__ import annotations

import linecache
import warnings
from typing import Any

import numpy as np
import pytest

import tracejit

SIGNS = ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==",
         "!=", "@")
OTHERS = {"None": None, "{}": {}, "{1}": {1}, "'a'": "a", "(1,)": (1,), "[1, 2]": [1, 2]}
NUMBERS = {"float": 1.5, "int": 3, "bool": True, "float64": np.float64(1.5),
           "array": np.array([1.5, 2.5])}


def outcome(call: Any) -> Any:
    """Return a result as lists, or the kind and text of what was raised."""
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
    if found == "refused":
        return
    if isinstance(expected, tuple) and isinstance(found, tuple):
        assert found[0] is expected[0]
        assert "Tracer" not in found[1] and "SymInt" not in found[1]
    else:
        assert found == expected
