"""The attributes that an object has of its own: those in its dict, and in slots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["all_attributes_of", "own_names"]


def all_attributes_of(x: object) -> dict[str, Any] | None:
    """Return the attributes of an object; None for what has none."""
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
        own = object.__getattribute__(x, "__dict__")
    except AttributeError:
        return {}
    return own if isinstance(own, dict) else {}


def _slots(cls: type) -> Iterator[str]:
    for base in cls.__mro__:
        names = base.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name not in ("__dict__", "__weakref__"):
                private = name.startswith("__") and not name.endswith("__")
                yield f"_{base.__name__.lstrip('_')}{name}" if private else name
