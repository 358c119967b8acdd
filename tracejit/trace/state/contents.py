"""Contents of containers and objects by place, to see what code that is not captured changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tracejit.trace.ground.attributes import all_attributes_of, plain_class_of
from tracejit.trace.state.changes import CODE, SEQUENCES
from tracejit.trace.state.kept_items import keeps_items, sealed_state
from tracejit.trace.state.paths import attributes_of

__all__ = ["has_changed", "is_same", "parts_of", "put_parts", "users_attributes"]


def is_same(x: object, y: object) -> bool:
    """Return whether a place has the content that it had."""
    # an array's floats are made at each reading; 0.0 equals -0.0
    return x is y or (type(x) is type(y) is float and repr(x) == repr(y))


def users_attributes(x: object) -> dict[str, Any] | None:
    """Return the attributes of an object of a user's class; None for code and all others."""
    return None if isinstance(x, CODE) else attributes_of(x)


def parts_of(x: object) -> dict[Any, Any] | None:
    """Return the content by place of an object that can change; None for any other object."""
    if isinstance(x, SEQUENCES):
        return dict(enumerate(x))
    if isinstance(x, dict):
        return dict(x)
    if isinstance(x, set):
        return dict.fromkeys(x)
    return all_attributes_of(x) if keeps_items(x) else sealed_state(x) or users_attributes(x)


def has_changed(x: object, before: dict[object, object]) -> bool:
    """Return whether an object holds other things by place, or in another order, than before."""
    after = parts_of(x) or {}
    return [*before] != [*after] or not all(is_same(after[k], y) for k, y in before.items())


def put_parts(x: Any, old: Mapping[Any, object], new: dict[Any, Any]) -> None:
    """Replace the contents at an object's places, `old`, by `new`."""
    if isinstance(x, SEQUENCES) and len(x) == len(new):  # a view of it forbids another length
        for k, content in enumerate(new.values()):
            x[k] = content
    elif isinstance(x, SEQUENCES):
        while x:
            x.pop()
        x.extend(new.values())
    elif isinstance(x, (dict, set)):
        x.clear()
        x.update(new)
    else:
        plain = plain_class_of(x)
        for name in old.keys() - new.keys():
            plain.__delattr__(x, name)
        for name, content in new.items():
            plain.__setattr__(x, name, content)
