"""Objects of users' classes: operators, properties and protocols as captured calls of methods.

Python calls `__add__`, `__len__` or the getter of a property by itself, so that their control flow
and what they change would not be seen. Here captured code calls them like any other function.
"""

from __future__ import annotations

import functools
import operator
import os
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, ValuesView
from inspect import CO_GENERATOR
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from tracejit.errors import MissingAttribute, Restart, TracejitError
from tracejit.exact import is_unchanging
from tracejit.ir.dims import dim_values
from tracejit.trace.containers.choices import (
    MANY_OPTIONS,
    can_be_chosen,
    narrowed,
    note_negated,
)
from tracejit.trace.containers.places import (
    UNSET,
    Choice,
    HiddenPlace,
    MaybeUnset,
    Poison,
    is_number,
    present,
)
from tracejit.trace.containers.runs import copies, has_runs, holds_runs, is_index
from tracejit.trace.containers.stand_ins import StandIn, note_use
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dependencies import note_impure
from tracejit.trace.ground.dispatch import INDEXED, SETTERS
from tracejit.trace.ground.modules import home_of_class
from tracejit.trace.ground.operators import BINARY, COMPARISONS, UNARY
from tracejit.trace.ground.restarts import Unroll
from tracejit.trace.ground.source import describe_line, find_site
from tracejit.trace.ground.upward import ABOVE, above
from tracejit.trace.lists import list_runs
from tracejit.trace.lists.growing import MANY_ITEMS
from tracejit.trace.lists.orders import both_nan, require_known_equality
from tracejit.trace.python import from_generators, list_functions, list_items, list_making
from tracejit.trace.python.calls import (
    call_natively,
    captured_function,
    holds_traced,
    items_in,
    type_of,
)
from tracejit.trace.python.caught import require_silence
from tracejit.trace.python.identity import are_one_object, are_truths, is_one
from tracejit.trace.regions.branches import BranchRaised, as_condition, trace_if
from tracejit.trace.regions.choosing import told_from_none, told_of
from tracejit.trace.state.changes import (
    CONTAINERS,
    advance,
    before_change,
    call_watched,
    is_iterator,
    note_made,
    note_new,
    note_own_names,
    note_shown_of_class,
    read_deeply,
    read_unseen,
    refuse_shown_of_class,
)
from tracejit.trace.state.paths import class_entry, own_names
from tracejit.trace.state.running import watched
from tracejit.trace.state.yielding import UsersGenerator
from tracejit.trace.values.equations import cast, is_weak, lift, to_dim
from tracejit.trace.values.tracer import SymInt, TracedOperand, Tracer, need_int, tracer_of

__all__ = ["ENDS_CAPTURES", "Managed", "any_of", "attribute_of_traced", "begun", "binary",
           "compare", "contains", "delete_attribute", "delete_item", "get_item", "inplace",
           "iterate", "negated", "read_attribute", "set_attribute", "set_item", "special_method",
           "truth", "unary"]


ENDS_CAPTURES = (TracejitError, Restart, Unroll, BranchRaised)
"""What ends a capture or an attempt of one: no `except` or `with` of the user may swallow it."""


def special_method(x: object, name: str) -> Callable[..., Any] | None:
    """Return a method that Python calls by itself, captured, where a user's class has it."""
    if _is_plain(x):
        return None
    if isinstance(x, StandIn):
        return captured_function(getattr(type(x), f"on{name}", None))
    method = current().captured.entry(x, name)
    if not isinstance(method, FunctionType):
        return None
    if method.__code__.co_flags & CO_GENERATOR:  # runs as it is
        note_impure(method.__qualname__)
        read_unseen(x)
        return None
    return captured_function(method)


def _is_plain(x: object) -> bool:
    """Whether what operators do with something is known."""
    return isinstance(x, TracedOperand) or home_of_class(type(x)) in ("builtins", "numpy")


# --- operators ----------------------------------------------------------------------------------


def binary(op: str, a: object, b: object) -> Any:
    """Return `a op b`."""
    o = BINARY[op]
    if (isinstance(a, (list, tuple)) or isinstance(b, (list, tuple))) and (
            special_method(a, o.method) is None and special_method(b, o.reflected) is None):
        result = _operate_on_lists(op, a, b)
        if result is not NotImplemented:
            return result
    return _operate(a, b, o.method, o.reflected, o.plain)


def _operate_on_lists(op: str, a: object, b: Any) -> Any:
    """Return `a op b`, one of them a list or tuple, where more than Python has to see to it."""
    if op == "Add" and type(a) is type(b) and (has_runs(a) or has_runs(b)):
        return list_functions.concatenated(a, b)
    xs, other = (a, b) if isinstance(a, (list, tuple)) else (b, a)
    if isinstance(other, (SymInt, Tracer)) and not other.ndim and op in ("Mult", "Add"):
        if op == "Mult" and is_index(other):
            found = list_making.repeated(xs, other)
            return NotImplemented if found is None and isinstance(other, SymInt) else (
                xs * need_int(to_dim(other), f"repeating a {type(xs).__name__}")
                if found is None else found)
        kind = type_of(other).__name__
        if is_weak(other):
            raise TypeError(f"unsupported operand types for a {type(xs).__name__} and a {kind}")
        if op == "Mult" and not other.is_array:
            raise TypeError(f"can't multiply sequence by non-int of type '{kind}'")
    if op == "Mult" and type(other) is int and other > MANY_ITEMS and (
            type(xs) is list and len(xs) == 1 and xs[0] is None):
        found = list_making.repeated(xs, other)
        return NotImplemented if found is None else found
    if op == "Mult" and has_runs(xs) and isinstance(other, int):
        return note_made(type(xs)([p for _ in range(other) for p in copies(xs)]))
    if has_runs(xs) and isinstance(other, (list, tuple, int, float)) and not isinstance(
            other, np.generic):
        raise TypeError(f"unsupported operand types: {type(a).__name__} and {type(b).__name__}")
    return NotImplemented


def inplace(op: str, a: object, b: Any) -> Any:
    """Return what `a op= b` binds a to."""
    o = BINARY[op]
    method = special_method(a, o.inplace)
    if method is not None:
        result = method(a, b)
        return binary(op, a, b) if result is NotImplemented else result
    if isinstance(a, list) and op == "Mult" and special_method(a, o.method) is not None:
        return binary(op, a, b)  # `+=` is the list's also where a class has an `__add__`
    if isinstance(a, list) and _is_numpys(b) and (op == "Add" or np.ndim(b)):
        return binary(op, a, b)  # arrays take lists for arrays, before lists could take them
    if isinstance(a, list) and op == "Add" and isinstance(b, UsersGenerator):
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
    if _is_plain(a) or hasattr(type(a), o.inplace):
        return call_watched(o.plain_inplace, (a, b), {}, f"{type(a).__name__}.{o.inplace}()")
    return binary(op, a, b)


def _is_numpys(x: object) -> bool:
    """Whether something is an array or a scalar of NumPy."""
    return isinstance(x, (np.ndarray, np.generic)) or (isinstance(x, Tracer) and not is_weak(x))


def _operate(a: object, b: object, method: str, reflected: str,
             plain: Callable[[object, object], object]) -> Any:
    """Call whichever of two operands' methods Python would call."""
    left, right = special_method(a, method), special_method(b, reflected)
    if left is None and right is None:
        if plain is operator.add and isinstance(a, str) and isinstance(b, str):
            return plain(a, b)  # a text with numbers in it goes on
        if _is_plain(a) and _is_plain(b) and not isinstance(a, dict):
            for x in (a, b):
                read_deeply(x)
            result = plain(a, b)
        else:
            result = call_natively(plain, (a, b), {})
        made = type(a) in CONTAINERS or type(b) in CONTAINERS
        return note_new(result, (a, b)) if made else result
    attempts = [(left, a, b)]
    if right is not None and type(a) is not type(b) and not (
            isinstance(a, (Tracer, np.ndarray)) and np.ndim(a)) and not (
            left is None and _answers(a, method, b)):
        first = issubclass(type(b), type(a))
        attempts.insert(0 if first else 1, (right, b, a))
    for attempt, x, y in attempts:
        if attempt is not None:
            result = attempt(x, y)
            if result is not NotImplemented:
                return result
    return plain(a, b)


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


def compare(op: str, a: object, b: Any) -> Any:
    """Return `a op b` of a comparison."""
    a, b = narrowed(a), narrowed(b)
    if isinstance(a, Choice):
        return told_of(a, lambda x: compare(op, x, b))
    if isinstance(b, Choice):
        return told_of(b, lambda x: compare(op, a, x))
    if op in ("Is", "IsNot"):
        if a is not b and are_truths(a, b):
            return compare("Eq" if op == "Is" else "NotEq", a, b)
        return is_one(a, b) is (op == "Is")
    if op in ("In", "NotIn"):
        found = contains(b, a)
        found = found if op == "In" else negated(found)
        return tracer_of(found.value, weak=True) if isinstance(found, Tracer) else found
    if holds_runs(a) or holds_runs(b):
        found = _compare_lists(op, a, b)
        if found is not NotImplemented:
            return found
    if isinstance(a, tuple) and isinstance(b, tuple) and (_has_traced(a) or _has_traced(b)):
        return _compare_tuples(op, a, b)
    o = COMPARISONS[op]
    if op == "NotEq" and special_method(a, "__ne__") is None and special_method(a, "__eq__"):
        return negated(compare("Eq", a, b))
    return _operate(a, b, o.method, o.reflected, o.plain)


def _compare_lists(op: str, a: object, b: object) -> Any:
    """Return `a op b`, one of them a list of which a size says how long it is."""
    if isinstance(a, (Tracer, np.ndarray)) or isinstance(b, (Tracer, np.ndarray)):
        return NotImplemented
    if op not in ("Eq", "NotEq"):
        list_runs.give_up(a if holds_runs(a) else b, "the order of lists")
    if not any(isinstance(a, kind) and isinstance(b, kind) for kind in (list, tuple)):
        return op == "NotEq"
    found = list_functions.equal(a, b)
    return found if op == "Eq" else negated(found)


def _has_traced(xs: tuple[object, ...]) -> bool:
    return any(isinstance(x, TracedOperand) or (isinstance(x, tuple) and _has_traced(x))
               for x in xs)


def _are_equal_items(x: object, y: object) -> Any:
    """Return whether things are one object or equal, as containers take them."""
    if are_one_object(x, y):
        return True
    require_known_equality(both_nan(x, y))
    return compare("Eq", x, y)


def _compare_tuples(op: str, a: tuple[object, ...], b: tuple[object, ...]) -> Any:
    """Return `a op b` of tuples with traced items: the first two that differ decide."""
    if op in ("Eq", "NotEq") and len(a) != len(b):
        return op == "NotEq"
    result: Any = COMPARISONS[op].plain(len(a), len(b))
    unknown: Any = False
    for x, y in reversed(list(zip(a, b, strict=False))):
        one = are_one_object(x, y)
        same = one or truth(compare("Eq", x, y))
        if same is True:
            continue
        unknown = any_of((both_nan(x, y), False if same is False or unknown is False else
                          np.logical_and(same, unknown)))
        differ: Any = {"Eq": False, "NotEq": True}.get(op)
        differ = truth(compare(op, x, y)) if differ is None else differ
        result = differ if same is False else _chosen(same, result, differ)
    require_known_equality(unknown)
    return result


def _chosen(test: Any, a: Any, b: Any) -> Any:
    """Return one of two truths."""
    if a is b:
        return a
    return tracer_of(np.where(test, a, b).value, weak=True)


def negated(x: object) -> Any:
    """Return `not x`."""
    test = truth(x)
    if isinstance(test, bool):
        return not test
    found = tracer_of(np.logical_not(test).value, weak=True)
    note_negated(found, test)
    return found


def contains(container: Any, item: object) -> Any:
    """Return `item in container`."""
    if has_runs(container):
        return list_functions.contains(container, item)
    note_use(container)
    if isinstance(container, UsersGenerator):
        return ABOVE.call_function(from_generators.contained, (container, item), {})
    if isinstance(container, (list, tuple, deque, ValuesView)) and (
            any(isinstance(x, TracedOperand) for x in (item, *container))):
        return any_of(_are_equal_items(x, item) for x in container)
    if id(container) in current().captured.namespaces:
        return _has_item(container, item)
    if isinstance(container, type(os.environ)):
        asked = current().captured.asked(container.__contains__, (item,), {})
        if asked is not NotImplemented:
            return asked
    if isinstance(container, (SymInt, Tracer)):
        if not container.ndim:
            raise TypeError(f"argument of type '{type_of(container).__name__}' is not iterable")
        equal = compare("Eq", container, item)
        return equal if isinstance(equal, bool) else truth(np.any(equal))
    method = special_method(container, "__contains__")
    if method is None and isinstance(container, dict) and not isinstance(item, Tracer):
        content = dict.get(container, item)
        if isinstance(content, MaybeUnset):
            return content.is_set
        current().captured.freeze(container)
        _look_up(container, item)
        return item in container
    if method is None and isinstance(made := begun(container), UsersGenerator):
        return contains(made, item)
    if method is None:
        read_unseen(container)
        read_deeply((container, item))
        return item in container
    return truth(method(container, item))


def _has_item(names: object, key: object) -> bool:
    try:
        current().captured.item(names, key)
    except KeyError:
        return False
    return True


def any_of(items: Iterable[object]) -> Any:
    """Return whether any of some things is true, as a Python bool or as a traced one."""
    result: Any = False
    for x in items:
        x = truth(x)
        if x is True:
            return True
        result = x if result is False else np.logical_or(result, x) if x is not False else result
    return result


def truth(x: object) -> Any:
    """Return the truth of something as a Python bool, or as a traced bool."""
    if isinstance(x, Choice):
        return told_of(x, truth)
    if isinstance(x, (MaybeUnset, Poison)):
        return truth(present(x))
    note_use(x)
    if isinstance(x, dict):
        read_unseen(x)
    if has_runs(x):
        return list_functions.is_true(x)
    if _is_plain(x):
        return as_condition(x)
    for name in ("__bool__", "__len__"):
        method = special_method(x, name)
        if method is not None:
            return as_condition(method(x))
        if hasattr(type(x), name):
            read_unseen(x)
            break
    return as_condition(x)


# --- attributes ---------------------------------------------------------------------------------


def read_attribute(owner: object, name: str, *default: object) -> Any:
    """Return `owner.name`; `AttributeError` if there is none.

    default -- what it is where data decides that there is none
    """
    captured = current().captured
    cls = type(owner)
    if isinstance(owner, (ModuleType, type)) or home_of_class(cls) == "builtins":
        return _set_one(captured.attribute(owner, name), owner, name, default)
    if name == "__dict__":
        return note_own_names(owner, captured.attribute(owner, name))
    found = captured.entry(owner, name) if _may_run(cls, name) else UNSET
    if isinstance(found, property):
        getter = captured_function(found.fget)
        if getter is not None and _is_generator(found.fget):
            return ABOVE.call_function(found.fget, (owner,), {})
        return captured.attribute(owner, name) if getter is None else getter(owner)
    own = own_names(owner)
    if isinstance(found, functools.cached_property) and not captured.is_from_outside(owner):
        compute = captured_function(found.func)
        if compute is not None:
            return _cached(owner, name, own.get(name, UNSET), compute)
    if found is None and name not in own:
        method = special_method(owner, "__getattr__")
        if method is not None:
            captured.shows_no_own(owner, name)
            return method(owner, name)
    return _set_one(captured.attribute(owner, name), owner, name, default)


def _set_one(content: object, owner: object, name: str, default: tuple[object, ...]) -> Any:
    """Return the content of an attribute that may be unset; the default where it is."""
    if default and isinstance(content, MaybeUnset):
        return _either(content, lambda: default[0])
    whose = f"type object {owner.__name__!r}" if isinstance(owner, type) else (
        f"{type(owner).__name__!r} object")
    return present(content, AttributeError, f"{whose} has no attribute {name!r}")


def attribute_of_traced(owner: object, name: str) -> Any:
    """Return an attribute of a traced array or number: those that its class has, and no others."""
    kind = type_of(owner)
    if name == "__class__":
        return kind
    of_python = kind in (bool, int, float, complex)
    if (of_python or name.startswith("__")) and not hasattr(kind, name):
        raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
    try:
        found = getattr(owner, name)
    except MissingAttribute:
        raise
    except AttributeError:
        if not hasattr(kind, name):
            raise
        raise refuse(f"the attribute {name!r} of a traced {kind.__name__} cannot be captured",
                     "Use a function or an operator that does the same") from None
    if of_python and isinstance(found, Tracer) and not found.weak:
        found = tracer_of(found.value, weak=True)
    return found


def _may_run(cls: type, name: str) -> bool:
    """Whether reading an attribute may run code of the class: a descriptor's, `__getattr__`."""
    try:
        found = class_entry(cls, name)
    except AttributeError:
        return hasattr(cls, "__getattr__")
    return hasattr(type(found), "__get__") and not isinstance(found, FunctionType)


def _either(content: MaybeUnset, otherwise: Callable[[], object]) -> Any:
    """Return the content where it is set, and what a function returns where it is not."""
    result = HiddenPlace()
    trace_if(content.is_set, [lambda: result.set(content.content),
                              lambda: result.set(otherwise())], [result])
    return present(result.get())


def _cached(owner: object, name: str, content: object, compute: Callable[[object], object]) -> Any:
    """Return a cached property, which is computed where it is not there yet."""
    def fill() -> Any:
        result = compute(owner)
        set_attribute(owner, name, result)
        return result

    if isinstance(content, MaybeUnset):
        return _either(content, fill)
    return fill() if content is UNSET else content


def set_attribute(owner: object, name: str, content: object) -> None:
    """Carry out `owner.name = content`."""
    if isinstance(owner, TracedOperand):
        _set_array_attribute(owner, name, content)
        return
    method = _setter_of(owner)
    if method is not None:
        method(owner, name, content)
        return
    found = current().captured.entry(owner, name)
    if isinstance(found, property):
        setter = captured_function(found.fset)
        if setter is not None:
            setter(owner, content)
            return
    method = special_method(found, "__set__")
    if method is not None:
        method(found, owner, content)
        return
    before_change(owner, name)
    setattr(owner, name, content)


def _setter_of(owner: object) -> Callable[..., Any] | None:
    """Return the captured `__setattr__` of a class; None for Python's, and a data class's."""
    found = current().captured.entry(owner, "__setattr__")
    if not isinstance(found, FunctionType) or found.__code__.co_filename == "<string>":
        return None
    return captured_function(found)


def _set_array_attribute(owner: TracedOperand, name: str, content: object) -> None:
    if name in SETTERS and isinstance(owner, Tracer) and owner.is_array:
        SETTERS[name](owner, content)
    elif isinstance(owner, Tracer) and hasattr(np.ndarray, name):
        raise refuse(f"assigning to the attribute {name!r} of an array",
                     "Make a new array instead: x.astype(dtype), say")
    else:
        kind = type_of(owner)
        text = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
        raise AttributeError(f"{text!r} object has no attribute {name!r}")


def delete_attribute(owner: object, name: str) -> None:
    """Carry out `del owner.name`."""
    method = special_method(owner, "__delattr__")
    if method is not None:
        method(owner, name)
        return
    found = current().captured.entry(owner, name)
    if isinstance(found, property):
        deleter = captured_function(found.fdel)
        if deleter is not None:
            deleter(owner)
            return
    method = special_method(found, "__delete__")
    if method is not None:
        method(found, owner)
        return
    refuse_shown_of_class(owner, f"deleting the attribute {name!r}", name)
    before_change(owner, name)
    delattr(owner, name)
    note_shown_of_class(owner, name)


# --- items --------------------------------------------------------------------------------------


def get_item(container: Any, key: Any) -> Any:
    """Return `container[key]`."""
    if container is np.r_ or container is np.c_:
        parts = key if isinstance(key, tuple) else (key,)
        if any(map(holds_traced, parts)) or any(
                isinstance(s, slice) and holds_traced((s.start, s.stop, s.step)) for s in parts):
            return INDEXED[container](parts)
    if isinstance(container, np.ndarray):
        container = lift(container)
    if isinstance(container, (list, tuple, str)):
        key = _as_index(key)
    if has_runs(container):
        return list_items.get_item(container, key)
    if type(container) is list and isinstance(key, SymInt):
        found = list_items.item_of_a_growing_list(container, key)
        if found is not None:
            return found
    if _chooses_by_data(container, key):
        return _chosen_item(container, key)
    note_use(container)
    if isinstance(container, (list, tuple, dict)) and isinstance(key, Tracer):
        raise refuse(f"a {type(container).__name__} is indexed by a traced value",
                     "Make it an array: np.array(...)[i]")
    if id(container) in current().captured.namespaces:
        return current().captured.item(container, key)
    if isinstance(container, type(os.environ)):
        asked = current().captured.asked(container.__getitem__, (key,), {})
        if asked is not NotImplemented:
            return asked
    method = special_method(container, "__getitem__")
    if method is not None:
        return method(container, key)
    if isinstance(container, Tracer):
        return container[key]
    if isinstance(container, SymInt):
        raise TypeError("'int' object is not subscriptable")
    current().captured.freeze(container)
    _look_up(container, key)
    makes = container.default_factory if isinstance(container, defaultdict) else None
    if makes is not None and key not in container:
        before_change(container, key)
    if home_of_class(type(container)) in ("builtins", "collections", "numpy"):
        if type(container) in _QUIET:
            content = container[key]
        else:
            with watched():
                content = container[key]
        if isinstance(key, slice) and type(container) in CONTAINERS:
            return note_made(content)
    else:
        content = call_watched(operator.getitem, (container, key), {}, "reading an item")
    if isinstance(content, MaybeUnset) and type(container) is Counter:
        return _either(content, lambda: 0)
    if isinstance(content, MaybeUnset) and makes is not None:
        before_change(container, key)
        container[key] = content = _either(content, makes)
    return present(content, KeyError, repr(key))


def _chooses_by_data(container: object, key: object) -> bool:
    """Return whether data decides which of a few things is read, which are not all numbers."""
    if not isinstance(container, (list, tuple)) or type(container) not in (list, tuple):
        return False
    if not 0 < len(container) <= MANY_OPTIONS:
        return False
    if not is_index(key) or not isinstance(key, (SymInt, Tracer)) or any(
            len(levels) > 1 for levels in current().recursions.values()):
        return False  # a recursion would have as many things as its depth has paths
    if isinstance(key, SymInt):
        trace = current()
        counted = [f.index for f in trace.frames if f.kind == "loop" and f.counted]
        if trace.is_known(key.dim) or any(v in counted for v in dim_values(key.dim)):
            return False  # it becomes an int of Python
    return not all(map(is_number, container)) and all(map(can_be_chosen, container))


def _chosen_item(container: list[object] | tuple[object, ...], key: object) -> Choice:
    """Return the item of a list or tuple of which data decides which one it is."""
    n = len(container)
    items = tuple([get_item(container, k) for k in range(n)])
    tag: Any = cast(lift(key), np.dtype(np.int64))
    ABOVE.require(np.logical_and(tag >= -n, tag < n), IndexError,
                  f"{type(container).__name__} index out of range")
    tag = np.where(tag < 0, tag + n, tag)
    return Choice(tag, items, "", describe_line(find_site()))


_QUIET = frozenset((list, tuple, dict, str, bytes, range, np.ndarray))
"""The types of which reading an item runs no code of users but that of keys."""


def _as_index(key: object) -> Any:
    """Return the number that an object of a user's class is as an index; others as they are."""
    method = None if _is_plain(key) else special_method(key, "__index__")
    return key if method is None else method(key)


def _look_up(container: Any, key: Any) -> None:
    """Note that a key is looked up: where it is an object, methods of it and of keys may run."""
    if not _is_plain(key):
        read_unseen(key)
    if isinstance(container, dict) and not is_unchanging(key):  # that takes long for many keys
        read_deeply([*container, key])


def set_item(container: object, key: Any, content: Any) -> None:
    """Carry out `container[key] = content`."""
    if isinstance(container, Tracer):
        container[key] = content
        return
    if isinstance(container, np.ndarray):
        raise refuse("writing to an array from outside of the captured function",
                     "Create it inside the function, or pass it as an argument")
    if isinstance(container, list) and (has_runs(container) or (
            isinstance(key, slice) and holds_runs(content))):
        place = list_items.set_item(container, key, content)
        if place is None:
            return
        key = place
    method = special_method(container, "__setitem__")
    if method is not None:
        method(container, key, content)
        return
    note_use(container)
    if isinstance(container, (list, dict)) and not isinstance(key, slice):
        if isinstance(container, list) or isinstance(key, SymInt):
            key = operator.index(key)
        if isinstance(container, list) and -len(container) <= key < 0:
            key += len(container)  # one item, one place
        if not _holds(container, key, content):
            before_change(container, key)
            container[key] = content
        return
    call_watched(operator.setitem, (container, key, content), {}, "assigning to a slice of a list")


def _holds(container: Any, key: object, content: object) -> bool:
    """Whether an item is already what it is set to, as after `d[key] += 1` of an array."""
    if not isinstance(content, Tracer):
        return False
    if isinstance(container, dict):
        return dict.get(container, key) is content
    try:
        return container[key] is content
    except LookupError:
        return False


def delete_item(container: Any, key: object) -> None:
    """Carry out `del container[key]`."""
    if has_runs(container):
        list_items.delete_item(container, key)
        return
    method = special_method(container, "__delitem__")
    if method is not None:
        method(container, key)
        return
    note_use(container)
    call_watched(operator.delitem, (container, key), {}, "deleting an item")


def _is_generator(fn: object) -> bool:
    return isinstance(fn, FunctionType) and bool(fn.__code__.co_flags & CO_GENERATOR)


# --- protocols ----------------------------------------------------------------------------------


@above
def begun(x: Any) -> Any:
    """Return the generator that goes through an object, if one of users' does; else the object."""
    if _is_plain(x) or isinstance(x, (StandIn, Choice, UsersGenerator)):
        return x
    method = current().captured.entry(x, "__iter__")
    if not _is_generator(method):
        return x
    made = ABOVE.call_function(method, (x,), {})
    return made if isinstance(made, UsersGenerator) else x


@above
def iterate(x: Any) -> Iterator[Any]:
    """Return an iterator over what can be iterated in Python."""
    x = begun(x)
    if isinstance(x, UsersGenerator):
        return x
    if isinstance(x, StandIn):
        return iterate(items_in(x))
    if isinstance(x, Choice):
        x = told_from_none(x, TypeError("'NoneType' object is not iterable"))
    if has_runs(x):
        return list_functions.items_of(x)
    note_use(x)
    method = special_method(x, "__iter__")
    if method is None:
        read_unseen(x)
    iterator: Iterator[Any] = iter(x) if method is None else iter(method(x))
    if is_iterator(iterator) and iterator is x:
        advance(iterator)
    return iterator


class Managed:
    """What a `with` manages: the methods are captured, and nobody swallows what ends a capture."""

    def __init__(self, manager: object) -> None:
        if isinstance(manager, np.errstate):
            require_silence("np.errstate", [getattr(manager, name, None) for name in
                                            getattr(type(manager), "__slots__", ())])
        self.manager = manager

    def __enter__(self) -> Any:
        entered = self._method("__enter__")()
        if not isinstance(self.manager, np.errstate):  # it may do something where an error leaves
            current().attempts.append(None)
        return entered

    def __exit__(self, kind: object, error: object, traceback: object) -> Any:
        if not isinstance(self.manager, np.errstate):
            current().attempts.pop()
        swallowed = self._method("__exit__")(kind, error, traceback)
        return swallowed and not isinstance(error, ENDS_CAPTURES)

    def _method(self, name: str) -> Callable[..., Any]:
        method = special_method(self.manager, name)
        if method is None:
            plain = getattr(type(self.manager), name)
            return lambda *args: call_watched(plain, (self.manager, *args), {}, "a `with`")
        return functools.partial(method, self.manager)
