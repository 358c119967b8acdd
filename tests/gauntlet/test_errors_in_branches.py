"""Errors that no data decides, in branches and loops that may not run: raised where they do."""

from __future__ import annotations

import itertools
import json
import linecache
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

ERRORS = {
    "index": "[1.0, 2.0][5]",
    "index of an empty list": "[][0]",
    "key": "{}['a']",
    "key of a tuple": "{}[1, 2]",
    "division": "1 // 0",
    "domain": "math.sqrt(-1.0)",
    "overflow": "math.exp(1e4)",
    "attribute": "np.sinn(x)",
    "name": "an_undefined_name * x",
    "operand": "None + 1.0",
    "call": "math.sqrt(1.0, 2.0)",
    "text": "int('q')",
    "shapes": "(np.ones(3) + np.ones(4)) * x",
    "no maximum": "np.max(np.array([]))",
    "unpacking": "(lambda p, q: p)(*[x])",
}

PLACES = {
    "if": """
    y = x
    if x > 0.0:
        y = ERROR
    return y * 2.0
""",
    "else": """
    if x < 0.0:
        y = 3.0 * x
    else:
        y = ERROR
    return y * 2.0
""",
    "elif": """
    if x < -2.0:
        y = 3.0 * x
    elif x > 0.0:
        y = ERROR
    else:
        y = x * x
    return y * 2.0
""",
    "both branches": """
    if x > 0.0:
        y = ERROR
    else:
        y = x * [1.0][7]
    return y
""",
    "expression": """
    return x * 2.0 if x < 0.0 else ERROR
""",
    "or": """
    y = x < 0.0 or ERROR
    return x * 3.0
""",
    "after a return": """
    if x < 0.0:
        return x * x
    y = ERROR
    return x * y
""",
    "function": """
    def g(u):
        return ERROR
    return g(x) if x > 0.0 else 2.0 * x
""",
    "branch in a loop": """
    s = 0
    for k in range(20):
        if x > k - 1.0:
            s += ERROR
        s += x
    return s
""",
    "branch in a loop on data": """
    s, k = 0, 0
    while k < 30:
        if x > 0.0:
            s = s + ERROR
        s += 0.5 * x
        k += 1
    return s
""",
    "loop": """
    y = 2.0 * x
    while x > 0.0:
        y = ERROR
        x = x - 1.0
    return y
""",
    "nested loop": """
    y = 0
    for k in range(15):
        z = x * k
        while z > 0.0:
            y = ERROR
            z -= 1.0
        y += x
    return y
""",
    "loop until a break": """
    y = 0.0
    for k in range(25):
        if x < 0.0:
            break
        y += ERROR
    return y + x
""",
    "assertion": """
    assert x < 0.0 or ERROR
    return 2.0 * x
""",
}

_COUNT = itertools.count()


def _names_of(source: str) -> dict[str, Any]:
    """Return the names that a text defines, which stands in Python's table of sources."""
    file = f"<errors in branches {next(_COUNT)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {"math": math, "np": np}
    exec(compile(source, file, "exec"), names)
    return names


def _made(place: str, error: str) -> Callable[[Any], Any]:
    f: Callable[[Any], Any] = _names_of("def f(x):" + PLACES[place].replace("ERROR", error))["f"]
    return f


def _outcome(fn: Callable[[Any], Any], x: float) -> Any:
    try:
        return fn(x)
    except tracejit.Refusal:
        raise
    except Exception as e:
        return type(e)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("place", PLACES)
def test_an_error_is_raised_where_it_is_met(place: str, error: str) -> None:
    f = _made(place, ERRORS[error])
    compiled, slope = tracejit.jit(f), tracejit.grad(f)
    with tracejit.config(disable_jit=True):
        for x in (-1.5, 2.5, -0.5, 0.5):
            expected = _outcome(f, x)
            found = _outcome(compiled, x)
            if isinstance(expected, type):
                assert found is expected
                assert _outcome(slope, x) is expected
            else:
                np.testing.assert_allclose(found, expected, rtol=1e-14)
                difference = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
                np.testing.assert_allclose(slope(x), difference, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("place", ["if", "function", "branch in a loop", "loop"])
def test_an_error_is_raised_where_it_is_met_compiled(place: str) -> None:
    f = _made(place, "[1.0, 2.0][5]")
    slope = tracejit.grad(f)
    np.testing.assert_allclose(slope(-1.5), (f(-1.4) - f(-1.6)) / 0.2, rtol=1e-9)
    with pytest.raises(IndexError, match="list index out of range") as caught:
        slope(2.5)
    assert any("captured code at" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("handler", ["IndexError", "Exception", "LookupError", "KeyError"])
def test_a_handler_around_a_branch_gets_what_the_branch_raises(place: str, handler: str) -> None:
    body = PLACES[place].replace("ERROR", "[1.0, 2.0][5]")
    f = _names_of(f"""
def g(x):{body}

def f(x):
    y = x
    try:
        y = g(x)
    except {handler}:
        y = 7.0 * x
    return y
""")["f"]
    compiled = tracejit.jit(f)
    with tracejit.config(disable_jit=True):
        for x in (-1.5, 2.5):
            try:
                found = _outcome(compiled, x)
            except tracejit.Refusal:
                continue
            assert found == _outcome(f, x)


@pytest.mark.parametrize(("text", "change", "value"), [
    ("an_undefined_name * x", "an_undefined_name = 4.0", 8.0),
    ("T['k'] * x", "T['k'] = 3.0", 6.0),
    ("L[1] * x", "L.append(5.0)", 10.0),
    ("math.sqrt(V) * x", "V = 4.0", 4.0),
    ("(1 // N) * x", "N = 1", 2.0),
    ("O.v * x", "O.v = 2.5", 5.0),
    ("int(S) * x", "S = '7'", 14.0),
])
def test_an_error_that_is_no_longer_one_is_not_raised(text: str, change: str,
                                                      value: float) -> None:
    names = _names_of(f"""
T, L, V, N, S = {{}}, [1.0], -1.0, 0, 'q'
class O: pass
def f(x):
    if x > 0.0:
        return {text}
    return x
""")
    f = names["f"]
    compiled = tracejit.jit(f)
    with tracejit.config(disable_jit=True):
        assert compiled(-1.0) == -1.0
        assert _outcome(compiled, 2.0) is _outcome(f, 2.0)
        exec(change, names)
        assert compiled(2.0) == value
        assert compiled(-1.0) == -1.0


def test_an_error_of_a_library_that_no_kernel_raises_is_refused() -> None:
    def f(x: Any) -> Any:
        if x > 0.0:
            x = x * json.loads("{")
        return x

    def caught(x: Any) -> Any:
        try:
            x = f(x)
        except ValueError:
            x = 7.0
        return x

    with pytest.raises(tracejit.Refusal, match=r"\.py:\d+: raising JSONDecodeError depends"):
        tracejit.jit(f)(-1.0)
    assert [tracejit.jit(caught)(x) for x in (1.0, -1.0)] == [7.0, -1.0]
