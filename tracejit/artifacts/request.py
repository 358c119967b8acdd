"""What is asked for: a function, a transform, kinds of arguments. It names the slot."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import MethodType
from typing import Any

from tracejit.artifacts.fingerprints import Unstorable, describe, digest, known_module
from tracejit.trace.specs import ArgSpec
from tracejit.tree import LEAF, Spread, Structure

__all__ = ["KINDS", "describe_request", "function_name", "kind_text", "slot_of", "spec_text",
           "structure_of_text", "structure_text"]


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
            "arguments": [spec_text(s) for s in specs],
            "structure": structure_text(structure)}


def function_name(fn: Any) -> str:
    """Return `module:qualname` of a function, or of what is behind a method or a partial."""
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


def structure_text(s: Structure) -> Any:
    """Return a structure as nested lists; `Unstorable` for users' classes."""
    if s == LEAF:
        return []
    if s.repeats:
        raise Unstorable("a container is in the arguments more than once")
    return [kind_text(s.kind), _keys(s.aux), *[structure_text(p) for p in s.parts]]


KINDS: dict[str, type] = {k.__name__: k for k in (list, tuple, dict, set, type(None), Spread)}
"""The containers that hold nothing but their items, by name."""


def kind_text(kind: type | None) -> str:
    """Return the name of a container's type; `Unstorable` for a user's, which may do anything."""
    if kind not in KINDS.values():
        raise Unstorable(f"it takes, reads or returns a {getattr(kind, '__qualname__', kind)}, "
                         "whose methods may read what no guard sees")
    assert kind is not None
    return kind.__name__


def _keys(aux: Any) -> Any:
    if aux is None:
        return None
    if not all(type(k) in (str, int) for k in aux):
        raise Unstorable("a dict has keys that are neither strings nor numbers")
    return list(aux)


def structure_of_text(text: Any) -> Structure:
    """Return a structure again."""
    if not text:
        return LEAF
    kind, aux, *parts = text
    return Structure(KINDS[kind], None if aux is None else tuple(aux),
                     tuple(map(structure_of_text, parts)))


def slot_of(request: Any) -> str:
    """Return the name of the folder for a request."""
    return digest(request)
