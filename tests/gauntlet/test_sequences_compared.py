"""Lists, tuples, deques and dicts with traced items in comparisons: Python's truth or error."""

from __future__ import annotations

import itertools
import linecache
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.trace.python.contents import has_traced

OPERATORS = ("==", "!=", "<", "<=", ">", ">=")
MAKERS = {"list": "[{}]", "tuple": "({},)", "deque": "deque([{}])"}
ITEMS = ("x", "1.0", "x, 2.0", "1.0, x", "k, x", "2, 1.0", "[x, 1], k", "[1.0, 1], 2", "(k, [x])",
         "(2, [1.0])", "x, 's'", "1.0, 's'", "None, x", "None, 1.0", "a[0], k", "")
WAYS = {"truth": "{}", "branch": "7.0 if {} else 8.0", "together": "({}) + x * 0.0",
        "in a loop": "[({0}) for _ in range(k)]"}
VALUES = ((1.0, 2), (2.0, 1), (0.5, 2))
SEARCHES = ("[{0}] in [[{1}], [1.0, 2.0]]", "({0},) in (({1},), 3)", "[[{1}], [{0}]].index([{0}])",
            "[[{1}], [{0}], [{1}]].count([{1}])", "[{0}] not in deque([[{1}]])",
            "[y for y in [[{0}], [{1}]] if y == [{1}]]")


def _function(text: str, name: str) -> Callable[..., Any]:
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    found: dict[str, Any] = {"np": np, "deque": deque, "defaultdict": defaultdict}
    exec(compile(text, name, "exec"), found)
    made: Callable[..., Any] = found["f"]
    return made


def _outcome(f: Callable[..., Any], *args: object) -> Any:
    try:
        return f(*args)
    except tracejit.Refusal:
        raise
    except (TypeError, ValueError) as e:
        return type(e)


def _require_pythons(expression: str) -> bool:
    """Compare a function with Python; return whether it is captured."""
    f = _function(f"def f(x, k, a):\n    return {expression}\n", f"<compared {expression}>")
    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(f)
        for x, k in VALUES:
            args = x, k, np.array([x, 3.0])
            right = _outcome(f, *args)
            try:
                found = _outcome(compiled, *args)
            except tracejit.Refusal:
                return False
            if right is ValueError:  # a number of NumPy's has been compared with a sequence
                continue
            assert found == right, (expression, args, found, right)
            assert isinstance(found, (bool, np.bool)) is isinstance(right, (bool, np.bool))
    return True


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("op", OPERATORS)
def test_comparisons_are_pythons(op: str, maker: str, way: str) -> None:
    captured = [_require_pythons(WAYS[way].format(
        f"{MAKERS[maker].format(a)} {op} {MAKERS[maker].format(b)}"))
        for a, b in itertools.product(ITEMS, ITEMS) if a and b]
    assert np.mean(captured) > 0.9


@pytest.mark.parametrize("search", SEARCHES)
def test_searches_are_pythons(search: str) -> None:
    captured = [_require_pythons(search.format(a, b))
                for a, b in itertools.product(ITEMS[:10], ITEMS[:10])]
    assert np.mean(captured) > 0.8


DICTS = ("{'a': x}", "{'a': 1.0}", "{'a': x, 'b': k}", "{'b': 2, 'a': 1.0}", "{}", "{2: [x, 's']}",
         "{2: [1.0, 's']}", "{'a': {'b': x}}", "{'a': {'b': 1.0}}", "{'b': x}",
         "defaultdict(int, a=x)")


@pytest.mark.parametrize("form", ["{0} == {1}", "{0} != {1}", "[{0}] == [{1}]",
                                  "7.0 if {0} == {1} else 8.0", "{0} in ({1}, 3)"])
def test_dicts_are_compared_as_in_python(form: str) -> None:
    captured = [_require_pythons(form.format(a, b)) for a, b in itertools.product(DICTS, DICTS)]
    assert all(captured)


@pytest.mark.parametrize("a", MAKERS)
@pytest.mark.parametrize("b", MAKERS)
def test_sequences_of_two_kinds_are_not_equal(a: str, b: str) -> None:
    for op in OPERATORS:
        assert _require_pythons(f"{MAKERS[a].format('x')} {op} {MAKERS[b].format('1.0')}")


class _Counted:
    def __init__(self, v: float, hits: list[int]) -> None:
        self.v, self.hits = v, hits

    def __eq__(self, other: object) -> bool:
        self.hits.append(1)
        return self.v == other.v  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]


class _Odd(list[Any]):
    def __len__(self) -> int:
        return 0


class _OddDict(dict[str, Any]):
    def __getitem__(self, key: str) -> Any:
        return 0.0


def _compared(x: Any, made: Any) -> Any:
    hits: list[int] = []
    return made(x, _Counted(1.0, hits)) == made(1.0, _Counted(1.0, hits)), len(hits)


@pytest.mark.parametrize("made", [
    lambda x, p: [x, p], lambda x, p: (x, p), lambda x, p: {"a": x, "b": p},
    lambda x, p: [[x], {"c": p}], lambda x, p: deque([x, p])])
def test_items_behind_one_that_differs_are_not_asked(made: Any) -> None:
    with tracejit.config(disable_jit=True):
        for x in (1.0, 2.0):
            assert tracejit.jit(lambda x: _compared(x, made))(x) == _compared(x, made)


def test_methods_of_a_users_container_are_not_asked() -> None:
    def f(x: Any) -> Any:
        return _Odd([x]) == _Odd([1.0]), _OddDict(a=x) == _OddDict(a=1.0)

    with tracejit.config(disable_jit=True):
        for x in (1.0, 2.0):
            assert tracejit.jit(f)(x) == f(x)


def test_what_is_in_a_container_twice_is_looked_at_once() -> None:
    shared: list[Any] = [1.0]
    for _ in range(60):
        shared = [shared, shared]
    assert not has_traced([shared, (shared, {'a': shared})])
