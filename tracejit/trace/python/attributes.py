"""Attributes of objects, read, set and deleted: properties and descriptors are captured."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from tracejit.errors import MissingAttribute
from tracejit.trace.containers.numbered import ObjectReference
from tracejit.trace.containers.places import UNSET, MaybeUnset, present
from tracejit.trace.ground.attributes import own_entries, own_names
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import SETTERS, method_of_object
from tracejit.trace.ground.modules import home_of_class
from tracejit.trace.ground.upward import ABOVE, above
from tracejit.trace.lists.ranges import TracedRange
from tracejit.trace.python.byte_orders import shown_dtype
from tracejit.trace.python.kinds_of_values import asked_type_of, type_of
from tracejit.trace.python.objects import attribute_of_object, set_attribute_of_object
from tracejit.trace.python.ranges import attribute_of_range
from tracejit.trace.python.special_methods import is_generator, special_method
from tracejit.trace.python.users_functions import captured_function
from tracejit.trace.regions.choosing import content_or
from tracejit.trace.state.changes import (
    before_change,
    before_loss,
    note_own_names,
    note_shown_of_class,
    refuse_shown_of_class,
)
from tracejit.trace.state.insides import read_annotations
from tracejit.trace.state.paths import class_entry, is_users_type
from tracejit.trace.values.fields import StructuredArray
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["attribute_of_traced", "delete_attribute", "has_name", "read_attribute", "set_attribute"]


@above
def read_attribute(owner: object, name: str, *default: object) -> Any:
    """Return `owner.name`; `AttributeError` if there is none.

    default -- the result where data decides that the attribute is unset
    """
    if isinstance(owner, (ObjectReference, TracedRange)) or hasattr(type(owner), "on_attribute"):
        return _attribute_of_stand_in(owner, name)
    captured = current().captured
    cls = type(owner)
    if cls is ModuleType or isinstance(owner, type) or home_of_class(cls) == "builtins":
        return _set_one(_attribute_of_pythons(owner, name), owner, name, default)
    if type(captured.entry(owner, "__getattribute__")) is FunctionType:
        return _by_its_getter(owner, name)
    if name == "__dict__":
        return note_own_names(owner, captured.attribute(owner, name))
    found = captured.entry(owner, name) if _may_run(cls, name) else UNSET
    if isinstance(found, property) and not _gives_its_own(found):
        if (capture := method_of_object(owner, name)) is not None:
            return capture()
        getter = captured_function(found.fget)
        if getter is not None and is_generator(found.fget):
            return ABOVE.call_function(found.fget, (owner,), {})
        return captured.attribute(owner, name) if getter is None else getter(owner)
    own = own_names(owner)
    if isinstance(found, functools.cached_property) and not captured.is_from_outside(owner):
        compute = captured_function(found.func)
        if compute is not None:
            return _cached(owner, name, own.get(name, UNSET), compute)
    if found is not UNSET and not captured.is_from_outside(owner) and _gives_its_own(found):
        method = special_method(found, "__get__")
        if method is not None and (name not in own or hasattr(type(found), "__set__")):
            return method(found, owner, cls)
    if found is None and name not in own:
        method = special_method(owner, "__getattr__")
        if method is not None:
            captured.shows_no_own(owner, name)
            return method(owner, name)
    return _set_one(captured.attribute(owner, name), owner, name, default)


def _attribute_of_stand_in(owner: object, name: str) -> Any:
    if isinstance(owner, TracedRange):
        return attribute_of_range(owner, name)
    if isinstance(owner, ObjectReference):
        return attribute_of_object(owner, name)
    own: Any = owner  # a structured array, whose fields have any names, or an iterator
    return own.on_attribute(name)


def _attribute_of_pythons(owner: object, name: str) -> Any:
    """Return an attribute of a module, class, function or another object of Python's own."""
    if name == "__annotations__":
        read_annotations(owner)
    return current().captured.attribute(owner, name)


def _gives_its_own(found: object) -> bool:
    """Return whether a descriptor is of a user's class that defines `__get__`."""
    return is_users_type(type(found)) and special_method(found, "__get__") is not None


def _set_one(content: object, owner: object, name: str, default: tuple[object, ...]) -> Any:
    """Return the content of an attribute that may be unset; the default where it is."""
    if isinstance(content, MaybeUnset):
        method = special_method(owner, "__getattr__")
        if method is not None and default:
            raise refuse(f"getattr() with a default, where data decides whether {name!r} is set "
                         "and the class has a __getattr__", "Leave the default out", "TJ123")
        if method is not None:
            return content_or(content, lambda: method(owner, name))
        if default:
            return content_or(content, lambda: default[0])
    whose = f"type object {owner.__name__!r}" if isinstance(owner, type) else (
        f"{type(owner).__name__!r} object")
    return present(content, AttributeError, f"{whose} has no attribute {name!r}")


def has_name(owner: object, name: str) -> bool:
    """Return whether what a traced value stands for has a name; its metaclass has more of them."""
    return name in getattr(owner, "offers", ()) or any(
        name in own_entries(c) for c in type_of(owner).__mro__)


def attribute_of_traced(owner: object, name: str) -> Any:
    """Return `owner.name` of a traced value; `AttributeError` where its type has no such name."""
    kind = type_of(owner)
    if name == "__class__":
        return asked_type_of(owner)
    if name == "dtype" and isinstance(owner, Tracer) and owner.is_array:
        return shown_dtype(owner)
    of_python = kind in (bool, int, float, complex)
    if not has_name(owner, name):
        if not of_python and not name.startswith("__") and isinstance(owner, Tracer):
            return owner.__getattr__(name)  # a name of tracejit's own is none of NumPy's
        raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
    if name == "__hash__" and kind.__hash__ is None:
        return None
    try:
        found = getattr(owner, name)
    except MissingAttribute:
        raise
    except AttributeError:
        raise refuse(f"the attribute {name!r} of a traced {kind.__name__} cannot be captured",
                     "Use a function or an operator that does the same", "TJ208") from None
    if of_python and isinstance(found, Tracer) and not found.weak:
        found = tracer_of(found.value, weak=True)
    return found


def _by_its_getter(owner: object, name: str) -> Any:
    """Return an attribute by its class's `__getattribute__`, before any property or slot."""
    if current().captured.is_from_outside(owner):
        return current().captured.attribute(owner, name)
    raise refuse(f"an attribute of a {type(owner).__name__} that captured code made, whose class "
                 "has a __getattribute__ of its own", "Use properties, or __getattr__", "TJ123")


def _may_run(cls: type, name: str) -> bool:
    """Whether reading an attribute may run code of the class: a descriptor's, `__getattr__`."""
    try:
        found = class_entry(cls, name)
    except AttributeError:
        return hasattr(cls, "__getattr__")
    return hasattr(type(found), "__get__") and not isinstance(found, FunctionType)


def _cached(owner: object, name: str, content: object, compute: Callable[[object], object]) -> Any:
    """Return a cached property, which is computed where it is not there yet."""
    def fill() -> Any:
        result = compute(owner)
        set_attribute(owner, name, result)
        return result

    if isinstance(content, MaybeUnset):
        return content_or(content, fill)
    return fill() if content is UNSET else content


@above
def set_attribute(owner: object, name: str, content: object) -> None:
    """Carry out `owner.name = content`."""
    if isinstance(owner, ObjectReference):
        set_attribute_of_object(owner, name, content)
        return
    if owner is None:
        raise AttributeError(f"'NoneType' object has no attribute {name!r}")
    if isinstance(owner, TracedOperand):
        _set_array_attribute(owner, name, content)
        return
    if isinstance(owner, StructuredArray):
        owner.on_set_attribute(name, content)
        return
    if hasattr(type(owner), "stands_for"):
        raise refuse(f"assigning to the attribute {name!r} of a {type_of(owner).__name__} that "
                     "captured code made", "Make another one with the new value", "TJ123")
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
    before_change(owner, name, of_attribute=True)
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
                     "Make a new array instead: x.astype(dtype), say", "TJ208")
    else:
        kind = type_of(owner)
        text = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
        raise AttributeError(f"{text!r} object has no attribute {name!r}")


def delete_attribute(owner: object, name: str) -> None:
    """Carry out `del owner.name`."""
    if isinstance(owner, ObjectReference):
        delattr(owner, name)
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
    before_loss(owner, name, of_attribute=True)
    delattr(owner, name)
    note_shown_of_class(owner, name)
