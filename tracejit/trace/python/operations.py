"""`+`, `+=`, `-` and their like on any operands: numbers, lists, users' objects."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.trace.containers.numbered import ObjectReference
from tracejit.trace.containers.runs import copies, has_runs, holds_runs, is_index
from tracejit.trace.ground.dependencies import note_order
from tracejit.trace.ground.operators import BINARY, UNARY
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.lists.growing import MANY_ITEMS
from tracejit.trace.lists.known_lengths import is_in_run
from tracejit.trace.python import from_generators, list_functions, list_items, list_making
from tracejit.trace.python.builtin_calls import call_natively
from tracejit.trace.python.kinds_of_values import type_of
from tracejit.trace.python.numbers_before_objects import as_a_users_class_sees
from tracejit.trace.python.percent import percent_text
from tracejit.trace.python.special_methods import is_plain, special_method
from tracejit.trace.python.taking import extends_one_by_one
from tracejit.trace.state.changes import CONTAINERS, note_made, note_new
from tracejit.trace.state.texts import read_as_text
from tracejit.trace.state.uncaptured import call_watched, read_operand
from tracejit.trace.state.yielding import UsersGenerator
from tracejit.trace.values.equations import is_weak, to_dim
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__ = ["binary", "inplace", "operate", "unary"]


def binary(op: str, a: object, b: object) -> Any:
    """Return `a op b`."""
    o = BINARY[op]
    if op == "Mod" and isinstance(a, str):
        text = percent_text(a, b)
        if text is not NotImplemented:
            return text
    if (isinstance(a, (list, tuple)) or isinstance(b, (list, tuple))) and (
            special_method(a, o.method) is None and special_method(b, o.reflected) is None):
        result = _operate_on_lists(op, a, b)
        if result is not NotImplemented:
            return result
    return operate(a, b, o.method, o.reflected, o.plain)


def _operate_on_lists(op: str, a: object, b: Any) -> Any:
    """Return `a op b`, one of them a list or tuple, where more than Python has to see to it."""
    if op == "Add" and type(a) is type(b) and (has_runs(a) or has_runs(b)):
        return list_functions.concatenated(a, b)
    xs, other = (a, b) if isinstance(a, (list, tuple)) else (b, a)
    if isinstance(other, (SymInt, Tracer)) and not other.ndim and op in ("Mult", "Add") and not (
            isinstance(other, Tracer) and other.is_array):
        if op == "Mult" and is_index(other):
            found = list_making.repeated(xs, other)
            return NotImplemented if found is None and isinstance(other, SymInt) else (
                xs * need_int(to_dim(other), f"repeating a {type(xs).__name__}")
                if found is None else found)
        kind = type_of(other).__name__
        if is_weak(other):
            raise TypeError(f"unsupported operand types for a {type(xs).__name__} and a {kind}")
        if op == "Mult":
            raise TypeError(f"can't multiply sequence by non-int of type '{kind}'")
    if op == "Mult" and type(other) is int and type(xs) is list and len(xs) == 1 and (
            is_in_run() or (other > MANY_ITEMS and xs[0] is None)):
        found = list_making.repeated(xs, other)
        return NotImplemented if found is None else found
    if op == "Mult" and has_runs(xs) and isinstance(other, int):
        return note_made(type(xs)([p for _ in range(other) for p in copies(xs)]))
    if has_runs(xs) and isinstance(other, (list, tuple, int, float)) and not isinstance(
            other, np.generic):
        raise TypeError(f"unsupported operand types: {type(a).__name__} and {type(b).__name__}")
    return NotImplemented


def inplace(op: str, a: object, b: Any) -> Any:
    """Return the object that `a op= b` binds a to."""
    o = BINARY[op]
    method = special_method(a, o.inplace)
    if method is not None:
        result = method(a, b)
        return binary(op, a, b) if result is NotImplemented else result
    if isinstance(a, list) and op == "Mult" and special_method(a, o.method) is not None:
        return binary(op, a, b)  # `+=` is the list's also where a class has an `__add__`
    if isinstance(a, list) and _is_numpys(b) and (op == "Add" or np.ndim(b)):
        return binary(op, a, b)  # arrays take lists for arrays, before lists could take them
    if isinstance(a, list) and op == "Add" and (
            isinstance(b, UsersGenerator) or extends_one_by_one(a.extend, (b,))):
        ABOVE.call_function(from_generators.extended, (a, b), {})
        return a
    if isinstance(a, list) and op == "Add" and (has_runs(a) or holds_runs(b) or (
            isinstance(b, TracedOperand))):
        list_items.extend(a, b)
        return a
    if isinstance(a, list) and op == "Mult" and (has_runs(a) or isinstance(b, TracedOperand)):
        new = binary(op, a, b)
        list_items.replace_items(a, new)
        return a
    if isinstance(a, (list, tuple)) and (
            has_runs(a) or holds_runs(b) or isinstance(b, TracedOperand)):
        return binary(op, a, b)
    if _is_number(a) and special_method(b, o.reflected) is not None:
        return binary(op, a, b)
    if is_plain(a) or hasattr(type(a), o.inplace):
        return call_watched(o.plain_inplace, (a, b), {}, f"{type(a).__name__}.{o.inplace}()")
    return binary(op, a, b)


def _is_numpys(x: object) -> bool:
    """Whether something is an array or a scalar of NumPy."""
    return isinstance(x, (np.ndarray, np.generic)) or (isinstance(x, Tracer) and not is_weak(x))


def _is_number(x: object) -> bool:
    """Whether something is a number, which has no operators in place."""
    return isinstance(x, (SymInt, int, float, complex, np.generic)) or (
        isinstance(x, Tracer) and not x.is_array)


def operate(a: object, b: object, method: str, reflected: str,
             plain: Callable[[object, object], object]) -> Any:
    """Apply an operator by the methods of its operands, in the order in which Python calls them."""
    left, right = special_method(a, method), special_method(b, reflected)
    if left is None and right is None:
        if _are_things_alone(a, b):
            return plain(_bare(a), _bare(b))  # Python says that there is no such operator
        if plain is operator.add and isinstance(a, str) and isinstance(b, str):
            return plain(a, b)  # a text with numbers in it goes on
        if is_plain(a) and is_plain(b) and not isinstance(a, dict):
            for x in (a, b):
                read_operand(x)
            if plain is operator.mod and isinstance(a, (str, bytes)):
                read_as_text((b,))
            result = plain(a, b)
        else:
            result = call_natively(plain, (a, b), {})
        made = type(a) in CONTAINERS or type(b) in CONTAINERS
        note_order(result)
        return note_new(result, (a, b)) if made else result
    attempts = [(left, a, b)]
    if right is not None and type(a) is not type(b) and not (
            isinstance(a, (Tracer, np.ndarray)) and np.ndim(a) and not _goes_first(b)) and not (
            left is None and _answers(a, method, b)):
        first = issubclass(type(b), type(a))
        attempts.insert(0 if first else 1, (right, b, as_a_users_class_sees(a, method, b)))
    for attempt, x, y in attempts:
        if attempt is not None:
            result = attempt(x, y)
            if result is not NotImplemented:
                return result
    return plain(a, b)


def _are_things_alone(a: object, b: object) -> bool:
    """Return whether operands are objects that data chooses, or one is such and the other None."""
    return any(isinstance(x, ObjectReference) for x in (a, b)) and all(
        x is None or isinstance(x, ObjectReference) for x in (a, b))


def _bare(x: object) -> object:
    """Return an object of a class with the name of that of an object that data chooses."""
    return type(x.stands_for.__name__, (), {})() if isinstance(x, ObjectReference) else x


def _goes_first(x: object) -> bool:
    """Whether arrays leave operators to one of SciPy's objects, which may be made by a capture."""
    return type(x).__module__.startswith(("scipy.", "tracejit.scipy_api.")) and hasattr(
        type(x), "__array_priority__")


def _answers(a: object, method: str, b: object) -> bool:
    """Whether a number of Python's or NumPy's itself answers one of a user's class of numbers.

    `1.5 + x` is the float's where x is an int of a class that has an `__radd__`.
    """
    base = next((t for t in (int, float, complex) if isinstance(b, t)), None)
    if base is None or not isinstance(a, (int, float, complex, np.generic, np.ndarray,
                                          TracedOperand)):
        return False
    kind: Any = type_of(a)
    if issubclass(type(b), kind):
        return False
    own = getattr(np.float64(1) if kind is np.ndarray else kind(1), method, None)
    return own is not None and own(base(1)) is not NotImplemented


def unary(op: str, x: object) -> Any:
    """Return `op x`."""
    o = UNARY[op]
    method = special_method(x, o.method)
    return call_natively(o.plain, (x,), {}) if method is None else method(x)
