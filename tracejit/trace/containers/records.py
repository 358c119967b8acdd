"""Records: objects of users' classes as nodes of contents, each told by its class and attributes.

An object is a leaf, one thing like a function, until a branch or an iteration makes another of its
class: data decides then which of them a name holds. It is *opened* for that: its stand-in, in a
guess or in the content that a branch left, is an object of the class with other attributes.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tracejit.classes import READING
from tracejit.exact import MADE_BY_PYTHON
from tracejit.trace.ground.active import is_tracing
from tracejit.trace.ground.attributes import all_attributes_of, own_names
from tracejit.trace.ground.context import current
from tracejit.trace.ground.modules import is_followed
from tracejit.trace.values.operands import TracedOperand

__all__ = ["attributes_in", "close", "is_alike", "is_of_iteration", "is_open", "is_record",
           "is_tree", "opened"]

_NO_RECORDS = (type, enum.Enum, BaseException, TracedOperand, np.ndarray, np.generic, list, tuple,
               dict, set, frozenset, str, bytes, int, float, complex)


def is_record(x: object) -> bool:
    """Return whether something is an object of a user's class, all of it in its attributes."""
    cls = type(x)
    return bool(cls.__flags__ & MADE_BY_PYTHON) and not isinstance(x, _NO_RECORDS) and (
        not cls.__module__.startswith("tracejit.")) and is_followed(cls) and all(
        base is object or base.__flags__ & MADE_BY_PYTHON for base in cls.__mro__) and not hasattr(
        cls, "__del__") and not hasattr(cls, "__next__")


def attributes_in(x: object) -> dict[str, Any]:
    """Return the attributes of a record, in the order of their names."""
    found = read_attributes(x, all_attributes_of(x) or {})
    return {name: found[name] for name in sorted(found)}


def read_attributes(x: object, found: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of an object that is taken apart: of one from outside as inputs.

    So they are captured state, as if captured code had named each of them.

    found -- the attributes as they are
    """
    captured = current().captured if is_tracing() else None
    if captured is None or not captured.is_from_outside(x):
        return found
    captured.class_of(x)
    own = captured.attribute(x, "__dict__") if own_names(x) else {}
    return {name: own[name] if name in own else captured.attribute(x, name) for name in found}


READING.attributes = read_attributes


def is_open(x: object) -> bool:
    """Return whether an object stands for one as a node."""
    return id(x) in current().opened_records


def is_alike(a: object, b: object) -> bool:
    """Return whether two records are of one class and have the same attributes, in one order."""
    return type(a) is type(b) and attributes_in(a).keys() == attributes_in(b).keys() and (
        list(own_names(a)) == list(own_names(b)))


def items_of_record(x: object, like: object = None) -> Iterator[Any] | None:
    """Return the attributes of an open record, or of an object that is like one; else None."""
    records = current().opened_records
    if not records or not (id(x) in records or (id(like) in records and is_record(x))):
        return None
    return iter(attributes_in(x).values())


def opened(x: object, items: Sequence[object]) -> Any:
    """Return the stand-in of a record, with other things for its attributes."""
    made: Any = object.__new__(type(x))
    new = dict(zip(attributes_in(x), items, strict=True))
    for name in own_names(x):
        own_names(made)[name] = new.pop(name)
    for name, item in new.items():
        object.__setattr__(made, name, item)
    current().opened_records[id(made)] = made
    return made


def close(x: object) -> Any:
    """Let an open record, and the open records in it, be objects of the program."""
    records = current().opened_records
    if records:
        _close(x, records)
    return x


def _close(x: object, records: dict[int, object]) -> None:
    if records.pop(id(x), None) is not None:
        parts: Any = attributes_in(x).values()
    elif type(x).__name__ == "Choice":
        parts = getattr(x, "options", ())
    elif type(x).__name__ == "MaybeUnset":
        parts = [getattr(x, "content", None)]
    else:
        parts = x.values() if type(x) is dict else x if isinstance(x, (list, tuple)) else ()
    for y in parts:
        _close(y, records)


def is_tree(x: object) -> bool:
    """Return whether a record leads to no list, dict or object twice, and to none of its class.

    A list of nodes, each with the next one, has no end that a guess could have.
    """
    return _is_tree(x, set(), ())


def _is_tree(x: object, seen: set[int], classes: tuple[type, ...]) -> bool:
    x = getattr(x, "options", ()) if type(x).__name__ == "Choice" else x
    record = is_record(x)
    if not record and not isinstance(x, (list, tuple, dict)):
        return True
    if not isinstance(x, tuple):
        if id(x) in seen or len(seen) > _MANY or type(x) in classes:
            return False
        seen.add(id(x))
    classes = (*classes, type(x)) if record else classes
    parts: Any = attributes_in(x) if record else x
    return all(_is_tree(y, seen, classes)
               for y in (parts.values() if isinstance(parts, dict) else parts))


_MANY = 64
"""How many objects, lists and dicts a record may lead to."""


def is_of_iteration(x: object, *created: Mapping[int, object]) -> bool:
    """Return whether an object was made in this iteration, or stands for one from its beginning.

    created -- the objects, by id, that branches which have ended have made
    """
    if any(id(x) in made for made in created):
        return True
    frames = current().frames
    loops = [k for k, frame in enumerate(frames) if frame.kind == "loop"]
    return bool(loops) and any(id(x) in frame.created or any(x is y for y in frame.stand_ins)
                               for frame in frames[loops[-1]:])
