"""The attributes that an object has of its own: in its dict and in slots."""

from __future__ import annotations

import _thread
import inspect
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from types import FunctionType, WrapperDescriptorType
from typing import Any

__all__ = ["all_attributes_of", "names_in", "own_entries", "own_names", "plain_class_of",
           "put_in_order", "runs_python"]


def all_attributes_of(x: object) -> dict[str, Any] | None:
    """Return the attributes of an object in slots and dict; None if its class has neither."""
    found: dict[str, Any] = {}
    slots = list(_slots(type(x)))
    for name in slots:
        try:
            found[name] = object.__getattribute__(x, name)
        except AttributeError:
            pass
    own = own_names(x)
    found.update(own)
    return found if slots or type(x).__dictoffset__ else None


def own_names(x: object) -> dict[str, Any]:
    """Return the dict of an object's attributes, past a `__getattribute__` of its class."""
    try:
        plain = _thread._local if isinstance(x, _thread._local) else object
        own = plain.__getattribute__(x, "__dict__")
    except AttributeError:
        return {}
    return own if isinstance(own, dict) else {}


def own_entries(x: object) -> Mapping[str, Any]:
    """Return the `__dict__` of an object or class, read without running any code of a user's."""
    found: Mapping[str, Any] = type.__getattribute__(x, "__dict__") if isinstance(x, type) else (
        own_names(x))
    return found


def names_in(x: object) -> list[Any]:
    """Return the keys of a dict, or the names of an object's attributes, in order."""
    return list(x if isinstance(x, dict) else own_entries(x))


def put_in_order(x: object, names: Iterable[object]) -> None:
    """Give the keys of a dict, or the attributes of an object, an order; others stay behind."""
    entries: Any = x if isinstance(x, dict) else own_names(x)
    kind = OrderedDict if isinstance(entries, OrderedDict) else dict
    expected = [k for k in names if k in entries]
    expected += [k for k in entries if k not in {*expected}]
    if expected != list(entries):
        for k in expected:  # each goes to the end
            kind.__setitem__(entries, k, kind.pop(entries, k))


def runs_python(descriptor: object) -> bool:
    """Return whether reading an attribute by a descriptor runs a user's function."""
    reads = inspect.getattr_static(type(descriptor), "__get__", None)
    return isinstance(descriptor, property) or isinstance(reads, FunctionType)


def _slots(cls: type) -> Iterator[str]:
    for base in cls.__mro__:
        names = base.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name not in ("__dict__", "__weakref__"):
                private = name.startswith("__") and not name.endswith("__")
                yield f"_{base.__name__.lstrip('_')}{name}" if private else name


def plain_class_of(x: object) -> Any:
    """Return the class in C whose `__setattr__` sets attributes of an object, past any of Python's.

    It is `object` for most, `type` for classes; a `threading.local` has its own.
    """
    return next(cls for cls in type(x).__mro__
                if isinstance(vars(cls).get("__setattr__"), WrapperDescriptorType))
