"""Arrays of subclasses and of foreign byte order by turns: each call is Python's, or is refused."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from state_sequences import load

import tracejit

HEAD = """\
import collections.abc, functools, numbers
import numpy as np
class V(np.ndarray):
    tag = 5.0
class W(V):
    pass
class Mixed(np.ndarray):
    pass
@functools.singledispatch
def kind(x):
    return 1.0
@kind.register(np.ndarray)
def _(x):
    return 2.0
@kind.register(V)
def _(x):
    return 3.0
def matched(x):
    match x:
        case V():
            return 2.0
        case np.ndarray():
            return 3.0
G = np.arange(3.0)
"""

MADE: dict[str, Callable[[Any, np.ndarray], np.ndarray]] = {
    "plain": lambda m, x: x, "V": lambda m, x: x.view(m.V), "W": lambda m, x: x.view(m.W),
    "Mixed": lambda m, x: x.view(m.Mixed), ">f8": lambda m, x: x.astype(">f8"),
    "<f8": lambda m, x: x.astype("<f8"), "V of >f8": lambda m, x: x.astype(">f8").view(m.V),
    ">f4": lambda m, x: x.astype(">f4"),
}

CLASSES = [
    "isinstance(y, V)", "isinstance(y, W)", "isinstance(y, (int, V))", "isinstance(y, np.matrix)",
    "isinstance(y, np.ndarray)", "isinstance(y, (list, tuple))", "isinstance(y, float)",
    "isinstance(y, V | None)", "type(y) is V", "type(y) is np.ndarray", "type(y) == W",
    "len(type(y).__name__)", "y.__class__ is V", "issubclass(type(y), V)", "kind(y)", "matched(y)",
    "getattr(y, 'tag', 3.0)", "hasattr(y, 'tag')", "getattr(x, 'note', 7.0)", "type(y) in (V, W)",
    "{V: 2.0, np.ndarray: 3.0}.get(type(y), 5.0)", "isinstance(G, V)",
    "isinstance(y, numbers.Number)", "isinstance(y, object)", "type(G) is np.ndarray",
]
ORDERS = [
    "(y.dtype == np.float64)", "(y.dtype == np.dtype('>f8'))", "(y.dtype == '>f8')",
    "(y.dtype == float)", "y.dtype.isnative", "(y.dtype.byteorder == '>')",
    "(y.dtype.str == '>f8')",
    "len(repr(y.dtype))", "y.dtype.itemsize", "(y.dtype.kind == 'f')", "len(y.dtype.name)",
    "np.zeros(2, y.dtype).size", "{y.dtype: 2.0}.get('>f8', 3.0)",
    "(G.dtype == y.dtype)", "np.issubdtype(y.dtype, np.floating)",
]
VIEWS = ["x", "x[1:]", "x.T", "x[::-1]", "x.reshape(-1)"]

ROWS = [(question, y) for question in CLASSES for y in [*VIEWS, "x * 2.0", "np.sin(x)"]] + [
    (question, y) for question in ORDERS for y in [*VIEWS, "x * 2.0", "np.sin(x)"]]
_NUMBERS = itertools.count()


@pytest.mark.parametrize(("question", "y"), ROWS)
def test_calls_with_other_kinds_of_arrays(question: str, y: str, tmp_path: Path) -> None:
    text = f"{HEAD}def f(x):\n    y = {y}\n    return 1.0 + x.sum() * 1.0 * ({question})\n"
    module = load(text, tmp_path, f"classes_of_arrays_{next(_NUMBERS)}")
    call, plain, words = tracejit.jit(module.f), 0, []
    try:
        for name in ("plain", *MADE, *reversed(MADE), "plain"):
            x = MADE[name](module, np.arange(4.0))
            try:
                with tracejit.config(disable_jit=True):
                    found = call(x)
            except tracejit.Refusal as refusal:
                words.append(str(refusal))
                continue
            np.testing.assert_array_equal(found, np.asarray(module.f(x)), err_msg=name)
            plain += name == "plain"
    finally:
        sys.modules.pop(module.__name__, None)
    assert plain == 4
    assert all(f"{module.__name__}.py:" in text for text in words)


def test_plain_arrays_stay_with_the_fast_entry() -> None:
    def f(x: Any) -> Any:
        return x * (2.0 if isinstance(x, list) or type(x) is list else 3.0) * x.dtype.itemsize

    call = tracejit.jit(f)
    np.testing.assert_array_equal(call(np.ones(2)), np.full(2, 24.0))
    assert all(s.words is not None for some in call._table.values() for s in some)


def test_what_mapped_files_lack_can_be_asked_for(tmp_path: Path) -> None:
    def asks(x: Any) -> Any:
        return np.sum(x) * (2.0 if hasattr(x, "toarray") else 3.0) * getattr(x, "unit", 5.0)

    def asks_for_theirs(x: Any) -> Any:
        return np.sum(x) * (2.0 if hasattr(x, "offset") else 3.0)

    mapped = np.memmap(tmp_path / "x", float, "w+", shape=(3,))
    mapped[:] = 1.0
    with tracejit.config(disable_jit=True):
        call = tracejit.jit(asks)
        for x in (mapped, np.ones(3), mapped):
            assert call(x) == asks(x) == 45.0
        mapped.unit = 7.0  # type: ignore[attr-defined]
        for refused in (call, tracejit.jit(asks_for_theirs)):
            assert refused(np.ones(3)) == refused.__wrapped__(np.ones(3))
            with pytest.raises(tracejit.Refusal, match="memmap"):
                refused(mapped)
