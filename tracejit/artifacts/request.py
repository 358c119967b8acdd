"""A request for a program: a function, a transform, kinds of arguments. It names the slot."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Sequence
from types import MethodType
from typing import Any

from tracejit.artifacts.fingerprints import Unstorable, describe, is_users, known_module
from tracejit.classes import registration_of
from tracejit.store.digests import digest
from tracejit.trace.values.specs import ArgSpec
from tracejit.tree import LEAF, STRUCTURED, Spread, SpreadRows, Structure

__all__ = ["KINDS", "describe_request", "function_name", "is_record", "kind_text", "kinds_in",
           "slot_of", "spec_text", "structure_of_text", "structure_text"]


def describe_request(transform: Any, specs: Sequence[ArgSpec], structure: Structure) -> Any:
    """Return a call as nested lists of strings; `Unstorable` where another process cannot make it.

    transform -- a `Deferred`: only these can be made again from function and settings
    """
    if not hasattr(transform, "home"):
        raise Unstorable("it belongs to a tape or to a pullback")
    return {"function": function_name(transform.fn), "transform": transform.home,
            "name": transform.name,
            "settings": [describe(x) for x in transform.settings],
            "options": repr(transform.options),
            "registered": [[describe(how.flatten), describe(how.unflatten)]
                           for how in map(registration_of, kinds_in(structure)) if how],
            "arguments": [spec_text(s) for s in specs],
            "structure": structure_text(structure, describe)}


def function_name(fn: Callable[..., object]) -> str:
    """Return `module:qualname` of a function, or of the function behind a method or a partial."""
    while not hasattr(fn, "__qualname__") or isinstance(fn, MethodType):
        inner = fn.func if isinstance(fn, functools.partial) else getattr(fn, "__func__", None)
        if inner is None:
            return f"{known_module(type(fn).__module__)}:{type(fn).__qualname__}"
        fn = inner
    return f"{known_module(fn.__module__)}:{fn.__qualname__}"


def spec_text(spec: ArgSpec) -> Any:
    """Return a spec as a list of strings and numbers."""
    if spec.kind == "static":
        return ["static", digest(describe(spec.content))]
    assert spec.dtype is not None
    return [spec.kind, spec.dtype.str, spec.ndim]


def structure_text(s: Structure, of_class: Callable[[type], object] | None = None) -> Any:
    """Return a structure as nested lists.

    of_class -- gives text for named tuples and data classes, which are `Unstorable` without it
    """
    if s == LEAF:
        return []
    if s.repeats:
        raise Unstorable("a container is in the arguments more than once")
    record = s.kind if s.kind is not None and is_node(s.kind) else None
    kind = of_class(record) if of_class and record else kind_text(s.kind)
    return [kind, _keys(s.aux), *[structure_text(p, of_class) for p in s.parts]]


def is_node(kind: type) -> bool:
    """Return whether a class of a structure's nodes is a user's."""
    return is_users(kind.__module__) and not (issubclass(kind, tuple) and (
        not hasattr(kind, "_fields") and registration_of(kind) is None))


def is_record(kind: type) -> bool:
    """Return whether a class is a named tuple's or a data class of a user's."""
    return is_users(kind.__module__) and (
        dataclasses.is_dataclass(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields")))


def kinds_in(s: Structure) -> list[type]:
    """Return the classes of a user's that a structure has, in order."""
    own = [s.kind] if s.kind is not None and is_node(s.kind) else []
    return [*own, *[kind for part in s.parts for kind in kinds_in(part)]]


KINDS: dict[str, type] = {k.__name__: k for k in (
    list, tuple, dict, set, type(None), Spread, SpreadRows, *STRUCTURED)}
"""The containers that hold nothing but their items, by name."""


def kind_text(kind: type | None) -> str:
    """Return the name of a container's type; `Unstorable` for a user's, which may do anything."""
    if kind not in KINDS.values():
        raise Unstorable(f"it takes, reads or returns a {getattr(kind, '__qualname__', kind)}, "
                         "whose methods may read what no guard sees")
    assert kind is not None
    return kind.__name__


def _keys(aux: Collection[object] | None) -> Any:
    if aux is None:
        return None
    if type(aux) is not tuple:
        raise Unstorable("what is known of an object of a registered class is no tuple of texts "
                         "and numbers")
    if not all(type(k) in (str, int) for k in aux):
        raise Unstorable("a dict has keys that are neither strings nor numbers")
    return list(aux)


def structure_of_text(text: Any, to_class: Callable[[Any], type] | None = None) -> Structure:
    """Return a structure again.

    to_class -- gives the class for the text of one that is not Python's
    """
    if not text:
        return LEAF
    kind, aux, *parts = text
    own = to_class(kind) if to_class and isinstance(kind, list) else KINDS[kind]
    return Structure(own, None if aux is None else tuple(aux),
                     tuple([structure_of_text(part, to_class) for part in parts]))


def slot_of(request: object) -> str:
    """Return the name of the folder for a request."""
    return digest(request)
