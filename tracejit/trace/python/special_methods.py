"""Methods that Python calls by itself, `__add__` or `__len__`, as captured functions.

Captured code calls them like any other function, so that their control flow and their changes are
seen.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import CO_GENERATOR
from types import FunctionType
from typing import Any

from tracejit.exact import is_unchanging
from tracejit.trace.containers.numbered import ObjectReference
from tracejit.trace.containers.stand_ins import StandIn
from tracejit.trace.ground.context import current
from tracejit.trace.ground.dependencies import note_impure
from tracejit.trace.ground.dispatch import method_of_object
from tracejit.trace.ground.modules import home_of_class
from tracejit.trace.python.method_results import with_pythons_result
from tracejit.trace.python.users_functions import captured_function
from tracejit.trace.state.uncaptured import read_deeply, read_unseen, refuse_identity
from tracejit.trace.values.identities import naming
from tracejit.trace.values.operands import TracedOperand

__all__ = ["is_generator", "is_plain", "note_lookup", "special_method"]


def special_method(x: object, name: str) -> Callable[..., Any] | None:
    """Return a method that Python calls by itself, captured, where a user's class has it."""
    if is_plain(x):
        return None
    if isinstance(x, StandIn):
        return captured_function(getattr(type(x), f"on{name}", None))
    method = _of_object(x, name) if isinstance(x, ObjectReference) else _of_instance(x, name)
    return None if method is None else with_pythons_result(x, name, method)


def _of_instance(x: object, name: str) -> Callable[..., Any] | None:
    """Return a special method of an object that was there before, or was made here."""
    method = current().captured.entry(x, name)
    if not isinstance(method, FunctionType):
        return None
    if "has_captured_operators" in vars(type(x)):  # asking the object may run a user's code
        return method
    if (capture := method_of_object(x, name)) is not None:
        return naming(capture.func)
    if method.__code__.co_flags & CO_GENERATOR:  # runs as it is
        note_impure(method.__qualname__)
        read_unseen(x)
        return None
    return captured_function(method)


def _of_object(x: ObjectReference, name: str) -> Callable[..., Any] | None:
    """Return a special method of an object that data chooses; None for `object`'s own."""
    method = current().captured.entry_of(x.stands_for, name)
    if method is None or method is getattr(object, name, None):
        return None
    found = captured_function(method)
    if found is None:
        raise x.refused(f"{name} of")
    return found


def is_plain(x: object) -> bool:
    """Whether the operators of an object are Python's, NumPy's or the capture's own."""
    return isinstance(x, TracedOperand) or home_of_class(type(x)) in ("builtins", "numpy")


def note_lookup(container: Any, key: Any) -> None:
    """Note that a key is looked up: where it is an object, methods of it and of keys may run."""
    if not is_plain(key):
        read_unseen(key)
        refuse_identity(key, container)
    if isinstance(container, dict) and not is_unchanging(key):  # that takes long for many keys
        read_deeply([*container, key])


def is_generator(fn: object) -> bool:
    return isinstance(fn, FunctionType) and bool(fn.__code__.co_flags & CO_GENERATOR)
