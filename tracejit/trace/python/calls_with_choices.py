"""Calls with choices among the arguments: one call for each option, or one for all."""

from __future__ import annotations

import functools
from collections import deque, namedtuple
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from tracejit.trace.containers.choices import first_choice, narrowed, replaced
from tracejit.trace.containers.heap import binds_arguments, holds
from tracejit.trace.containers.places import Choice
from tracejit.trace.ground.dispatch import FUNCTIONS, foreign_capture
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.lists.orders import are_few_things, orderable, require_order
from tracejit.trace.python.users_functions import is_captured, is_librarys
from tracejit.trace.regions.choosing import for_each, in_one_dtype, told_of, whole_number

__all__ = ["call_with_choice", "hands_on", "is_of_package"]


@binds_arguments
def call_with_choice(fn: Callable[..., object], args: tuple[object, ...],
                     kwargs: dict[str, object]) -> Any:
    """Call a function with a choice among its arguments; `NotImplemented` where it needs no help.

    `gradients` of a number differentiates once, whichever number it is.
    """
    found = first_choice([*args, *kwargs.values()])
    if found is None:
        return NotImplemented
    plain = in_one_dtype(found) if is_of_package(fn, "tape.symbolic") else narrowed(found)
    if isinstance(plain, Choice) and not hands_on(fn) and not (
            any(fn is f for f in _CARRIES) and all(x is not found for x in args)):
        return _call_for_each(found, fn, args, kwargs)
    if plain is not found:
        return ABOVE.call_function(fn, *_with_thing(found, plain, args, kwargs))
    return NotImplemented


def _with_thing(choice: Choice, plain: object, args: tuple[object, ...],
                kwargs: dict[str, object]) -> tuple[tuple[object, ...], dict[str, Any]]:
    return (tuple([replaced(x, choice, plain) for x in args]),
            {name: replaced(x, choice, plain) for name, x in kwargs.items()})


@holds("args", "kwargs")
def _call_for_each(choice: Choice, fn: Callable[..., object], args: tuple[object, ...],
                   kwargs: dict[str, object]) -> Any:
    """Call a function with each option of a choice in its arguments, and merge the results."""
    if fn is range:
        return ABOVE.call_function(fn, tuple(map(whole_number, args)), kwargs)
    asks = any(fn is f for f in (isinstance, bool, callable, hasattr, issubclass))
    return (told_of if asks else for_each)(
        choice, lambda x: ABOVE.call_function(fn, *_with_thing(choice, x, args, kwargs)))


_CARRIES: tuple[Any, ...] = (len, list, tuple, zip, enumerate, reversed, iter, are_few_things,
                             orderable, require_order)
"""The functions that do not read the items of a list, each of which may be a choice."""


_STORES = frozenset(("append", "appendleft", "insert", "setdefault", "__setitem__"))


def is_of_package(fn: object, package: str = "") -> bool:
    """Return whether a callable is a function or method of tracejit, of one package of it say."""
    fn = getattr(fn, "__func__", fn)
    return isinstance(fn, FunctionType) and fn.__module__.startswith(f"tracejit.{package}")


def hands_on(fn: object) -> bool:
    """Return whether a callable takes a `Choice` as it is: captured code, or methods of lists."""
    if isinstance(fn, MethodType):
        return hands_on(fn.__func__)
    if isinstance(fn, functools.partial):
        return hands_on(fn.func)
    if isinstance(fn, BuiltinFunctionType):
        return isinstance(getattr(fn, "__self__", None), (list, dict, deque)) and (
            fn.__name__ in _STORES)
    if isinstance(fn, FunctionType):
        capture = FUNCTIONS.get(fn) or foreign_capture(fn)
        return fn.__code__ in _OF_NAMED_TUPLES or (capture is None and is_captured(fn))
    if isinstance(fn, type):
        init = fn.__init__  # type: ignore[misc]
        return _makes_named_tuple(fn) or (
            isinstance(init, FunctionType) and not is_librarys(init))
    call = type(fn).__call__ if callable(fn) else None
    return isinstance(call, FunctionType) and not is_librarys(call)


_NAMED = namedtuple("_NAMED", "")

_OF_NAMED_TUPLES = frozenset(f.__code__ for f in (
    _NAMED._replace, _NAMED._asdict, _NAMED._make.__func__))  # type: ignore[attr-defined]
"""The code of the methods that all named tuples share: none looks at an item."""


def _makes_named_tuple(fn: type) -> bool:
    """Return whether a class is made as `namedtuple` wrote it, which looks at no item."""
    made = fn.__new__
    return isinstance(made, FunctionType) and made.__globals__.get("__name__", "") == (
        f"namedtuple_{made.__qualname__.partition('.')[0]}") and issubclass(fn, tuple)
