"""The classes that patterns of a `match` name, asked of traced values as `isinstance` is."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import MemberDescriptorType
from typing import Any

from tracejit.trace.python.kind_functions import is_instance
from tracejit.trace.values.operands import TracedOperand

__all__ = ["NO_PART", "is_plain_attribute", "parts_of", "pattern_class"]

NO_PART = object()
"""A part of a subject that does not fit, which is of no class that a pattern names."""

_TAKE_THEMSELVES = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Builtin classes of which Python takes the one positional pattern for the subject itself."""


class _Asking(type):
    """The class of stand-ins for classes in patterns, which take a traced float for a float."""

    asked: Any

    def __instancecheck__(cls, x: object) -> bool:
        """Return whether the class that `cls` stands for has `x` as an instance."""
        return bool(is_instance(x, cls.asked) if isinstance(x, TracedOperand) else
                    isinstance(x, cls.asked))


def pattern_class(kind: Any) -> Any:
    """Return what stands for a class in a pattern of a `match` that Python itself carries out."""
    if not isinstance(kind, type):
        return kind
    parts: dict[str, object] = {"asked": kind}
    if hasattr(kind, "__match_args__"):
        parts["__match_args__"] = kind.__match_args__
    base = (float,) if issubclass(kind, _TAKE_THEMSELVES) else ()
    return _Asking(kind.__name__, base, parts)


def parts_of(subject: object, kind: type, count: int, names: tuple[str, ...],
             read: Callable[[object, str], object]) -> tuple[object, ...] | None:
    """Return the parts of a subject of a class that a pattern asks for; None if one is missing.

    count -- how many of them are asked for by their places
    names -- the attributes that are asked for by name
    read  -- reads an attribute
    """
    known = () if count == 0 else getattr(kind, "__match_args__", None)
    if known is None and count and issubclass(kind, _TAKE_THEMSELVES):
        _require(count <= 1, f"{kind.__name__}() accepts 1 positional sub-pattern ({count} given)")
        first: tuple[object, ...] = (subject,)
        known = ()
    else:
        first, known = (), known or ()
        _require(count <= len(known), f"{kind.__name__}() accepts {len(known)} positional "
                 f"sub-pattern{'' if len(known) == 1 else 's'} ({count} given)")
    asked = (*known[:count - len(first)], *names)
    for k, name in enumerate(asked):
        _require(name not in asked[:k],
                 f"{kind.__name__}() got multiple sub-patterns for attribute {name!r}")
    try:
        return (*first, *(read(subject, name) for name in asked))
    except AttributeError:
        return None


def is_plain_attribute(owner: object, name: str) -> bool:
    """Return whether reading an attribute runs no code: it is the instance's, or in a slot.

    One that is missing is plain, too, unless the class has code for attributes.
    """
    kind = type(owner)
    if kind.__getattribute__ is not object.__getattribute__:
        return False
    found = inspect.getattr_static(owner, name, None)
    if found is None:
        return not hasattr(kind, "__getattr__")
    return isinstance(found, MemberDescriptorType) or not hasattr(type(found), "__get__")


def _require(holds: bool, text: str) -> None:
    if not holds:
        raise TypeError(text)
