"""Errors of Python's that leave loops: the handler sees the loop's earlier changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

Program = Callable[[Any, Any], Any]


def popped(x: Any, b: Any) -> Any:
    items = [x, b]
    try:
        while True:
            x = x + items.pop()
    except IndexError:
        pass
    return x + len(items)


def popped_and_returned(x: Any, b: Any) -> Any:
    items = [x, b]
    try:
        while True:
            x = x + items.pop()
    except IndexError:
        return x * 2.0


def popped_to_a_list(x: Any, b: Any) -> Any:
    items, out = [x, b], []
    try:
        while True:
            out.append(items.pop(0) * 2)
    except IndexError:
        pass
    return sum(out) + len(items) + len(out)


def looked_up(x: Any, b: Any) -> Any:
    table, k = {0: x, 1: b}, 0
    try:
        while 1:
            x = x + table[k]
            k += 1
    except KeyError:
        pass
    return x * k


def counted(x: Any, b: Any) -> Any:
    items, k = [x, b], 0
    try:
        while k < 4:
            x = x + items[k]
            k += 1
    except IndexError:
        pass
    return x * k


def walked(x: Any, b: Any) -> Any:
    items = iter([x, b])
    try:
        while 1:
            x = x + next(items)
    except StopIteration:
        pass
    return x


def many(x: Any, b: Any) -> Any:
    items, k = [x] * 30, 0
    try:
        while True:
            x = x + items[k]
            k += 1
    except IndexError:
        pass
    return x + k


def raised_by_the_condition(x: Any, b: Any) -> Any:
    items: list[Any] = [x, b]
    log: list[int] = []
    try:
        while log.append(1) or items[len(log) - 1] is not None:  # type: ignore[func-returns-value]
            x = x + 1
    except IndexError:
        pass
    return x * len(log)


def raised_by_a_function_in_the_condition(x: Any, b: Any) -> Any:
    items, log = [x, b], []

    def ask() -> bool:
        log.append(1)
        return items[len(log) - 1] is not None

    try:
        while ask():
            x = x + 1
    except IndexError:
        pass
    return x * len(log)


def inner_try(x: Any, b: Any) -> Any:
    table: dict[int, Any] = {}
    k = 0
    while True:
        k += 1
        try:
            while k < 9:
                table[k] = x * k
                k += 2
                table[k - 1]
        except KeyError:
            if k > 7:
                break
    return sum(table.values()) + k


def written(x: Any, b: Any) -> Any:
    y, k = np.zeros(3), 0
    try:
        while True:
            y[k] = x + [b, b * 2.0][k]
            k += 1
    except IndexError:
        pass
    return np.sum(y) + k


def in_a_comprehension(x: Any, b: Any) -> Any:
    log = []

    def g(k: int) -> Any:
        log.append(k)
        if k == 3:
            raise ValueError
        return x * k

    try:
        x = x + sum([g(k) for k in range(10)])
    except ValueError:
        x = x * 3
    return x + len(log)


def extended_in_part(x: Any, b: Any) -> Any:
    found: list[Any] = []
    try:
        found.extend(x * int(s) for s in ["1", "2", "z"])
    except ValueError:
        x = x * 3
    return x + sum(found) + len(found)


def in_a_for(x: Any, b: Any) -> Any:
    items, k = [x] * 30, 0
    try:
        for k in range(100):
            x = x + items[k]
    except IndexError:
        pass
    return x + k


PROGRAMS: tuple[Program, ...] = (
    popped, popped_and_returned, popped_to_a_list, looked_up, counted, walked, many,
    raised_by_the_condition, raised_by_a_function_in_the_condition, inner_try, written,
    in_a_comprehension, extended_in_part, in_a_for)


@pytest.mark.parametrize("f", PROGRAMS)
def test_the_handler_finds_what_the_loop_did(f: Program) -> None:
    with tracejit.config(disable_jit=True):
        value, slopes = tracejit.value_and_grad(f, argnums=(0, 1))(2.0, 3.0)
    assert value == f(2.0, 3.0)
    for k, slope in enumerate(slopes):
        args = [2.0 + 0j, 3.0 + 0j]
        args[k] += 1e-20j
        if f is written:
            continue
        assert slope == pytest.approx(np.imag(f(*args)) / 1e-20)


def shortened_after_writes(x: Any, b: Any) -> Any:
    items, turn = [x, b, 1.5], 0
    while turn < 3:
        turn += 1
        items.reverse()
        for k in range(1):
            items[:1] = []
            x = x + k
        items.clear()
    return x + len(items) + turn


def written_and_cleared(x: Any, b: Any) -> Any:
    items, turn, total = [x, b, 1.5], 0, 0.0
    while turn < 3:
        turn += 1
        items[-1] = x * turn
        total = total + sum(items)
        items.clear()
        items += [b, x]
        items[0] = items[1] + turn
    return total + items[0] * 10.0 + len(items)


@pytest.mark.parametrize("f", [shortened_after_writes, written_and_cleared])
def test_what_a_loop_tried_ahead_did_to_a_list_is_undone(f: Program) -> None:
    with tracejit.config(disable_jit=True):
        assert tracejit.jit(f)(2.0, 3.0) == f(2.0, 3.0)
