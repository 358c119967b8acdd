"""Calls of Python's functions with objects of users' classes, of which they call methods."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable
from types import MethodType
from typing import Any

from tracejit.trace.python.special_methods import is_plain, special_method
from tracejit.trace.state.runs_behind import give_up_runs_behind

__all__ = ["give_up_runs_of_objects"]


_CAPTURED: tuple[Any, ...] = (len, bool, iter, isinstance, issubclass, type, getattr, setattr,
                              hasattr, delattr, id, callable, next, print, super, vars, abs, round,
                              int, float, complex, MethodType, functools.partial, object.__new__)
"""The functions that call methods of objects as captured code, or none."""

_BY_ITER: tuple[Any, ...] = (list, tuple, sum, any, all)
"""The functions that go through the items of objects by a captured `__iter__`."""

_HOLD_ONE = frozenset(("append", "appendleft", "insert", "setdefault", "get", "pop", "add",
                       "__setitem__"))
"""The methods of containers that keep an object as it is."""


def give_up_runs_of_objects(fn: Callable[..., object], args: tuple[object, ...],
                            kwargs: dict[str, object]) -> None:
    """Begin the capture again where a function of Python's would meet a run behind an object.

    It calls methods of the object, `__iter__` or `__getitem__` say, that are not captured then.
    """
    if any(fn is f for f in _CAPTURED) or (
            isinstance(getattr(fn, "__self__", None), (list, dict, set, deque))
            and fn.__name__ in _HOLD_ONE):
        return
    by_iter = any(fn is f for f in _BY_ITER)
    for x in (*args, *kwargs.values()):
        if not is_plain(x) and not (by_iter and special_method(x, "__iter__") is not None):
            give_up_runs_behind(x, f"{getattr(fn, '__name__', 'a function')}()")
