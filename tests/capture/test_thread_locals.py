"""Attributes of a `threading.local` in branches and loops are what Python makes them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import tracejit


def _in_a_branch(t: Any, x: Any) -> Any:
    t.a = 1.0
    if x > 0.0:
        t.a = x
    return t.a * x


def _in_both(t: Any, x: Any) -> Any:
    if x > 0.0:
        t.a = x
    else:
        t.a = 3.0
    return t.a * x


def _in_a_loop(t: Any, x: Any) -> Any:
    t.a = 1.0
    for k in range(3):
        if x > k - 1:
            t.a = t.a + x
    return t.a


def _while(t: Any, x: Any) -> Any:
    t.a = x
    while t.a * t.a < 50.0:
        t.a = t.a * 2.0
    return t.a


@pytest.mark.parametrize("f", [_in_a_branch, _in_both, _in_a_loop, _while])
def test_a_local_has_what_the_path_gave_it(f: Callable[[Any, Any], Any]) -> None:
    with tracejit.config(disable_jit=True):
        call = tracejit.jit(lambda x: f(threading.local(), x))
        for x in (2.0, -1.5, 0.5):
            assert call(x) == f(threading.local(), x)
