"""Managers of `with` and errors of the run: suppressed as in Python, or refused at the line."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import tracejit

Program = Callable[..., Any]
DIVISORS = (0.0, 1.0, 2.0, 9.0)


def by_module(x: Any, b: Any) -> Any:
    y = x
    with contextlib.suppress(ZeroDivisionError):
        y = x / b
    return y


def returned(x: Any, b: Any) -> Any:
    with suppress(ZeroDivisionError):
        return x / b
    return x * 7.0


def in_a_loop(x: Any, b: Any) -> Any:
    total = 0.0
    for k in range(4):
        with suppress(ZeroDivisionError, ValueError):
            total += x / (b - k)
            if k == 2:
                break
            total += 1.0
    return total


def in_one_another(x: Any, b: Any) -> Any:
    with suppress(ZeroDivisionError):
        with suppress(ValueError):
            y = 1.0 * x
            if b > 1:
                raise ValueError("x")
            y = x / b
        y += 1.0
    return y


def side_by_side(x: Any, b: Any) -> Any:
    y = x
    with contextlib.nullcontext(), suppress(ZeroDivisionError) as nothing, suppress(IndexError):
        y = x / b + (1.0 if nothing is None else 0.0)
        y = [y][3]
    return y


def of_python(x: Any, b: Any) -> Any:
    table = {"a": 1.0}
    y = x
    with suppress(KeyError):
        y = x * table["b"]
    with suppress(IndexError, KeyError):
        y += [x][3]
    return y + b


def left_by_the_error(x: Any, b: Any) -> Any:
    items = [x, b]
    with suppress(IndexError):
        while True:
            x = x + items.pop()
    return x


def another_error(x: Any, b: Any) -> Any:
    y = x
    with suppress(KeyError):
        y = x / b
    return y


RIGHT: tuple[Program, ...] = (by_module, returned, in_a_loop, in_one_another, side_by_side,
                              of_python, left_by_the_error, another_error)


def outcome(f: Program, *args: Any) -> Any:
    try:
        return f(*args)
    except tracejit.Refusal:
        raise
    except Exception as e:
        return type(e)


@pytest.mark.parametrize("interpreted", [True, False])
@pytest.mark.parametrize("f", RIGHT)
def test_suppress_is_what_it_is_in_python(f: Program, interpreted: bool) -> None:
    with tracejit.config(disable_jit=interpreted):
        compute, gradient = tracejit.jit(f), tracejit.grad(f)
        for b in DIVISORS:
            assert outcome(compute, 2.0, b) == outcome(f, 2.0, b)
            if isinstance(outcome(f, 2.0, b), float):
                slope = np.imag(f(2.0 + 1e-20j, b)) / 1e-20
                assert gradient(2.0, b) == pytest.approx(slope)


class ByKind:
    def __enter__(self) -> ByKind:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        return kind is ZeroDivisionError


class Inherited(ByKind):
    pass


class Never:
    def __enter__(self) -> Never:
        return self

    def __exit__(self, *error: object) -> bool:
        self.left = True
        return False


class Silent:
    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *error: object) -> None:
        self.left = True


@contextlib.contextmanager
def catching() -> Iterator[float]:
    try:
        yield 3.0
    except ZeroDivisionError:
        pass


@contextlib.contextmanager
def catching_by_suppress() -> Iterator[float]:
    with suppress(ZeroDivisionError):
        yield 3.0


@contextlib.contextmanager
def leaving() -> Iterator[float]:
    done = []
    try:
        yield 3.0
    finally:
        done.append(1)


@contextlib.contextmanager
def plain() -> Iterator[float]:
    yield 3.0


def stacked() -> Any:
    stack = contextlib.ExitStack()
    stack.enter_context(suppress(ZeroDivisionError))
    return stack


def as_an_object() -> Any:
    quiet = suppress
    return quiet(ZeroDivisionError)


SWALLOW: dict[Callable[[], Any], bool] = {
    ByKind: True, Inherited: True, Never: False, Silent: False, catching: True,
    catching_by_suppress: True, leaving: False, plain: False, stacked: True, as_an_object: True,
    contextlib.nullcontext: False}


def divided(x: Any, b: Any, manager: Callable[[], Any]) -> Any:
    y = x
    with manager():
        y = x / b
    return y


def nothing_raised(x: Any, b: Any, manager: Callable[[], Any]) -> Any:
    y = x
    with manager():
        y = x * b + np.sin(x)
    return y


@pytest.mark.parametrize("manager", SWALLOW)
def test_a_manager_that_may_swallow_an_error_of_the_run_is_refused(
        manager: Callable[[], Any]) -> None:
    with tracejit.config(disable_jit=True):
        for b in DIVISORS:
            assert tracejit.jit(nothing_raised)(2.0, b, manager) == nothing_raised(2.0, b, manager)
            if SWALLOW[manager]:
                with pytest.raises(tracejit.Refusal, match=r"test_managers.py:\d+: a `with` whose"):
                    tracejit.jit(divided)(2.0, b, manager)
            else:
                assert outcome(tracejit.jit(divided), 2.0, b, manager) == outcome(
                    divided, 2.0, b, manager)


class Holding:
    """A manager that suppresses an error if it was told so."""

    def __init__(self, on: bool) -> None:
        """Keep whether it does."""
        self.on = on

    def __enter__(self) -> Holding:
        """Return itself."""
        return self


def _if_on(manager: Holding, *error: object) -> bool:
    if manager.on:
        return True
    return False


EXITS: dict[str, Callable[..., Any]] = {
    "or": lambda m, *e: m.on or False, "or None": lambda m, *e: m.on or None,
    "and": lambda m, *e: m.on and True, "not": lambda m, *e: not m.on, "itself": lambda m, *e: m.on,
    "if": lambda m, *e: True if m.on else False,
    "if not": lambda m, *e: False if not m.on else True,
    "call": lambda m, *e: bool(m.on), "last": lambda m, *e: False or m.on, "statement": _if_on,
    "two": lambda m, *e: (m.on and e[0] is None) or False, "never": lambda m, *e: False}


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("name", EXITS)
def test_an_exit_that_returns_a_choice_may_suppress(name: str, on: bool) -> None:
    kind = type("Kind", (Holding,), {"__exit__": EXITS[name]})

    def program(x: Any, b: Any) -> Any:
        y = x
        with kind(on):
            y = x / b
        return y

    for b in DIVISORS:
        expected = outcome(program, 2.0, b)
        with tracejit.config(disable_jit=True):
            try:
                found = outcome(tracejit.jit(program), 2.0, b)
            except tracejit.Refusal:
                assert name != "never"
                continue
        assert found == expected
