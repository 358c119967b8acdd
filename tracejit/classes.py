"""Classes whose objects are nests of attributes, as they say themselves or users say.

Data classes and those of attrs and pydantic name their parts; others are registered. Of
other users' classes an object is taken apart only where a transform is by it.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from types import MemberDescriptorType
from typing import Any, TypeVar

from tracejit.exact import MADE_BY_PYTHON

__all__ = ["READING", "Registered", "attributes_lie_in", "attributes_of", "is_record",
           "is_record_class", "made_of", "may_be_opened", "register_structure", "registration_of"]

T = TypeVar("T")


class AttributeReader:
    """How attributes of objects are read that are taken apart; a capture reads them as state."""

    attributes: Callable[[object, dict[str, Any]], dict[str, Any]]


READING = AttributeReader()
READING.attributes = lambda x, found: found


@dataclass(frozen=True, slots=True)
class Registered:
    """How users say that objects of a class are taken apart and made: by attributes if None."""

    flatten: Callable[[Any], tuple[Any, Any]] | None
    unflatten: Callable[[Any, Any], Any] | None


_REGISTERED: dict[type, Registered] = {}


def register_structure(cls: type[T], flatten: Callable[[T], tuple[Any, Any]] | None = None,
                       unflatten: Callable[[Any, Any], T] | None = None) -> type[T]:
    """Let objects of a class be nests, like dicts: arguments, results and carried values.

    cls       -- the class, which is returned: `@tracejit.register_structure` may stand above it
    flatten   -- from an object to the pair of its parts and of what is known of it besides, a
                 tuple of texts and ints or None: programs are made for what is known
    unflatten -- the object of what is known and of parts; both depend on nothing else

    Without functions an object is made of its attributes, and made again without `__init__`. Data
    classes and those of attrs and pydantic are so by themselves.

    Raises `TypeError` for what is no class, for one of two functions, and for a class whose
    objects are more than their attributes, such as a subclass of `dict`, without functions.

    >>> import numpy as np, tracejit
    >>> @tracejit.register_structure
    ... class Layer:
    ...     def __init__(self, w, name):
    ...         self.w, self.name = w, name
    >>> half = tracejit.jit(lambda layer: Layer(layer.w / 2, layer.name))
    >>> half(Layer(3.0, "first")).w
    1.5
    """
    if not isinstance(cls, type):
        raise TypeError(f"register_structure takes a class, not a {type(cls).__name__}")
    if (flatten is None) != (unflatten is None):
        raise TypeError("register_structure takes both flatten and unflatten, or neither")
    if flatten is None and not _has_attributes_alone(cls):
        raise TypeError(f"an object of {cls.__qualname__} is more than its attributes: pass "
                        "flatten and unflatten")
    _REGISTERED[cls] = Registered(flatten, unflatten)
    is_record_class.cache_clear()
    return cls


def registration_of(kind: type | None) -> Registered | None:
    """Return how users have registered a class; None where they have not."""
    return None if kind is None else _REGISTERED.get(kind)


def attributes_of(x: Any) -> dict[str, Any]:
    """Return the attributes that an object has itself: fields first, then those set besides."""
    kind: Any = type(x)
    own = getattr(x, "__dict__", {})
    found = {}
    for name in _fields(kind):
        if name in own:
            found[name] = own[name]
        elif isinstance(getattr(kind, name, None), MemberDescriptorType) and hasattr(x, name):
            found[name] = getattr(x, name)
    return READING.attributes(x, {**found, **own})


@functools.lru_cache(maxsize=1024)
def _fields(kind: Any) -> tuple[str, ...]:
    """Return the names of the fields and slots of a class, as attributes are called."""
    if dataclasses.is_dataclass(kind):
        return tuple([f.name for f in dataclasses.fields(kind)])
    return tuple([name for base in reversed(kind.__mro__) for name, x in vars(base).items()
                  if isinstance(x, MemberDescriptorType)])


def is_record(x: object) -> bool:
    """Return whether an object is of a class that says its parts: a node of a nest."""
    kind: Any = type(x)
    return is_record_class(kind)


_SAYING = ("__dataclass_fields__", "__attrs_attrs__", "__pydantic_fields__")
"""The attributes of classes whose objects are made of fields."""


@functools.lru_cache(maxsize=1024)
def is_record_class(kind: type) -> bool:
    """Return whether a class is a data class whose objects are made of nothing but attributes.

    The members of an `Enum` are themselves alone, and an object of a subclass of `dict` has items.
    """
    return (kind in _REGISTERED or any(hasattr(kind, name) for name in _SAYING)) and (
        not issubclass(kind, Enum) and not hasattr(kind, "is_leaf") and _has_attributes_alone(kind))


def _has_attributes_alone(kind: type) -> bool:
    return all(base is object or base.__flags__ & MADE_BY_PYTHON for base in kind.__mro__)


_LIBRARIES = {"numpy", "scipy", "tracejit", "numba"}
_OF_ARRAYS = ("is_leaf", "as_leaf", "__array__", "__dlpack__", "__array_interface__",
              "__cuda_array_interface__")
"""The attributes of objects that are leaves, as arrays and their stand-ins are."""


def attributes_lie_in(kind: Any, names: tuple[str, ...]) -> str:
    """Return where objects of a class have attributes of these names, as `attributes_of` has them.

    "dict": in `x.__dict__`, all of them, where they stand in this order; "slots": in slots, all of
    which have to be set; "": elsewhere, or where code of the class may be asked.
    """
    slots = [name for base in kind.__mro__ for name, x in vars(base).items()
             if isinstance(x, MemberDescriptorType)]
    if kind.__getattribute__ is not object.__getattribute__ or any(
            not isinstance(vars(base).get("__dict__", _A_DICT), type(_A_DICT))
            for base in kind.__mro__):
        return ""
    if kind.__dictoffset__:
        return "" if slots else "dict"
    own = [n for n in _fields(kind) if isinstance(getattr(kind, n, None), MemberDescriptorType)]
    return "slots" if len(slots) == len(own) and tuple(own) == names else ""


_A_DICT = vars(type("WithDict", (), {}))["__dict__"]
"""How classes of Python's have the dict of an object's attributes."""


def may_be_opened(x: object) -> bool:
    """Return whether an object is a user's, made of its attributes, and no array or its like."""
    kind: Any = type(x)
    own = getattr(x, "__dict__", {})  # a class may answer to any name by `__getattr__`
    return _is_users(kind) and not any(hasattr(kind, n) or n in own for n in _OF_ARRAYS)


@functools.lru_cache(maxsize=1024)
def _is_users(kind: type) -> bool:
    """Return whether the objects of a class are a user's, and made of their attributes."""
    home = kind.__module__.partition(".")[0]
    return kind is not object and _has_attributes_alone(kind) and not (
        home in sys.stdlib_module_names or home in _LIBRARIES or issubclass(kind, Enum))


def made_of(kind: type, attributes: dict[str, Any]) -> Any:
    """Return an object with these attributes, without running `__init__` or `__post_init__`."""
    instance: Any = object.__new__(kind)
    own = getattr(instance, "__dict__", {})
    for name, part in attributes.items():
        if isinstance(getattr(kind, name, None), MemberDescriptorType):
            object.__setattr__(instance, name, part)
        else:  # also past a property of this name
            own[name] = part
    return instance
