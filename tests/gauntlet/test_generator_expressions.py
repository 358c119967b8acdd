"""Generator expressions as arguments: a function makes as many items as Python's does."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

X = np.array([1.0, 2.0, 3.0, 4.0])


def noted(log: list[Any], v: Any) -> Any:
    log.append(v)
    return v


def outcome(f: Callable[[Any], Any], x: Any) -> Any:
    """Return a function's result, a refusal, or the class of another error."""
    try:
        return f(x)
    except tracejit.Refusal as e:
        return e
    except Exception as e:
        return type(e)


TAKERS: dict[str, Callable[[Any, list[Any]], Any]] = {
    "any": lambda items, log: any(noted(log, v) > 2.5 for v in items),
    "all": lambda items, log: all(noted(log, v) < 2.5 for v in items),
    "any by a test": lambda items, log: any(v for v in items if noted(log, v) > 1.5),
    "next": lambda items, log: next(noted(log, v) for v in items),
    "zip": lambda items, log: [a * b for a, b in zip(  # noqa: B905
        (noted(log, v) for v in items), [1, 2])],
    "zip behind": lambda items, log: [a * b for a, b in zip(  # noqa: B905
        [1, 2], (noted(log, v) for v in items))],
    "islice": lambda items, log: list(itertools.islice((noted(log, v) for v in items), 2)),
    "enumerate": lambda items, log: next(iter(enumerate(noted(log, v) for v in items)))[0],
    "map": lambda items, log: next(map(lambda v: v * 2, (noted(log, v) for v in items))),
    "chain": lambda items, log: next(itertools.chain((noted(log, v) for v in items), [5.0])),
    "takewhile": lambda items, log: list(itertools.takewhile(
        lambda v: v < 1.5, (noted(log, v) for v in items))),
    "reduce": lambda items, log: functools.reduce(lambda a, b: a * 0.5 + b,
                                                  (noted(log, v) for v in items)),
    "sum": lambda items, log: sum(noted(log, v) for v in items),
    "list": lambda items, log: list(noted(log, v) for v in items),
    "max": lambda items, log: max(noted(log, v) for v in items),
    "max by a key": lambda items, log: max((noted(log, v) for v in items), key=lambda v: -v),
    "join": lambda items, log: len(",".join("a" if noted(log, v) is None else "b" for v in items)),
    "unpacked": lambda items, log: (lambda a, *b: a + len(b))(*(noted(log, v) for v in items)),
    "in": lambda items, log: 2 in (noted(log, k) for k in range(len(items)))}
ITEMS: dict[str, Callable[[Any], Any]] = {
    "array": lambda x: x, "list": lambda x: [x[0], x[1], x[2]], "run": lambda x: [v for v in x],
    "floats": lambda x: [1.0, 2.0, 3.0], "iterator": lambda x: iter([1.0, 2.0, 3.0])}


@pytest.mark.parametrize(("taker", "items"), list(itertools.product(TAKERS, ITEMS)))
def test_what_the_items_do_is_done_as_often_as_in_python(taker: str, items: str) -> None:
    take, give = TAKERS[taker], ITEMS[items]

    def f(x: Any) -> Any:
        log: list[Any] = []
        found = take(give(x), log)
        return found, sum(log), len(log)

    expected = outcome(f, X)
    with tracejit.config(disable_jit=True):
        found = outcome(tracejit.jit(f), X)
    if isinstance(found, tracejit.Refusal):
        assert "test_generator_expressions.py:" in str(found)
    else:
        assert found == expected


def test_an_error_behind_the_item_that_decides_is_not_raised() -> None:
    def some(x: Any, y: Any) -> Any:
        return x * 2 if any(1.0 / v > 0.5 for v in [x, y]) else y

    def each(x: Any, y: Any) -> Any:
        return x * 2 if all(1.0 / v > 0.5 for v in [x, y]) else y

    def by_index(x: Any, k: Any) -> Any:
        return x * 2 if any([3.0, x][j] > 2.5 for j in [0, k]) else x

    for interpreted in (True, False):
        with tracejit.config(disable_jit=interpreted):
            assert tracejit.jit(some)(1.0, 0.0) == 2.0
            assert tracejit.jit(each)(4.0, 0.0) == 0.0
            assert tracejit.jit(by_index)(1.0, 7) == 2.0
            with pytest.raises(ZeroDivisionError):
                tracejit.jit(some)(0.0, 1.0)


def test_an_iterator_keeps_the_items_that_nobody_took() -> None:
    def f(x: Any) -> Any:
        items = iter([1, 2, 3, 4])
        found = any(v == 2 for v in items)
        return x * next(items) + found

    assert tracejit.jit(f)(2.0) == f(2.0)
