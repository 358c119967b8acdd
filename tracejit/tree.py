"""Nested arguments and results as flat lists of leaves, and back."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from types import MemberDescriptorType
from typing import Any

from tracejit.exact import MADE_BY_PYTHON, same, token

__all__ = ["LEAF", "READING", "Spread", "SpreadRows", "Structure", "containers_in", "flatten",
           "flatten_call", "has_one_twice", "is_record", "leaf_names", "unflatten"]


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """The shape of a nest: a kind of node, a key in which equal kinds agree, and the parts.

    aux     -- the keys of a dict, the names of fields
    repeats -- of a call's arguments, where a container is met twice: for each, the number of the
               first that is the same object
    """

    kind: type | None
    aux: Any = None
    parts: tuple[Structure, ...] = ()
    repeats: tuple[int, ...] = ()

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Structure) and self.kind is other.kind
            and same(self.aux, other.aux) and self.parts == other.parts
            and self.repeats == other.repeats)

    def __hash__(self) -> int:
        return hash((id(self.kind), token(self.aux), self.parts, self.repeats))

    @property
    def count(self) -> int:
        """Return the number of leaves."""
        return 1 if self.kind is None else sum(p.count for p in self.parts)

    @property
    def is_container(self) -> bool:
        """Return whether `containers_in` has this node."""
        return bool(self.parts) or _is_changeable(self.kind)


def _is_changeable(kind: type | None) -> bool:
    """Return whether a kind of node is a list, a dict or a data class."""
    return kind is not None and kind is not type(None) and not issubclass(kind, tuple)


LEAF = Structure(None)


@dataclass(frozen=True, slots=True)
class Spread:
    """Several items of a list or tuple, alike, as one array with them along its first axis.

    nest -- how many axes after the first one are lists
    weak -- whether the numbers are Python's own
    """

    array: Any
    nest: int
    weak: bool

    def items(self) -> list[Any]:
        """Return the items."""
        return _nested(self.array, self.nest, self.weak)


@dataclass(frozen=True, slots=True)
class SpreadRows:
    """Several items of a list or tuple that are tuples, alike, as an array for each place.

    columns -- a tuple that is like the items, with arrays in their places
    weak    -- whether the numbers at each place are Python's own
    """

    columns: Any
    weak: tuple[int, ...]

    def items(self) -> list[Any]:
        """Return the items."""
        arrays, structure = flatten(self.columns)
        places = [_nested(x, 0, bool(w)) for x, w in zip(arrays, self.weak, strict=True)]
        return [unflatten(structure, list(row)) for row in zip(*places, strict=True)]


_SPREAD = (Spread, SpreadRows)


def _nested(array: Any, nest: int, weak: bool) -> list[Any]:
    if weak:
        found: list[Any] = array.tolist()
        return found
    return [_nested(x, nest - 1, weak) for x in array] if nest else list(array)


class AttributeReader:
    """How attributes of objects are read that are taken apart; a capture reads them as state."""

    attributes: Callable[[object, dict[str, Any]], dict[str, Any]]


READING = AttributeReader()
READING.attributes = lambda x, found: found


def _parts(x: Any) -> tuple[Any, list[Any]] | None:
    """Return the kind of a node, and its parts; None for a leaf."""
    if x is None:
        return (None, [])
    kind: Any = type(x)
    if kind is Spread:
        return ((x.nest, int(x.weak)), [x.array])
    if kind is SpreadRows:
        return (x.weak, [x.columns])
    if kind in (list, tuple):
        return (None, list(x))
    if kind is dict:
        return (tuple(x), list(x.values()))
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return (None, list(x))
    if _is_record(kind):
        found = READING.attributes(x, _attributes(x, [f.name for f in dataclasses.fields(x)]))
        return (tuple(found), list(found.values()))
    return None


def _attributes(x: Any, fields: list[str]) -> dict[str, Any]:
    """Return the attributes that an object has itself: fields first, then those set besides."""
    own = getattr(x, "__dict__", {})
    found = {}
    for name in fields:
        if name in own:
            found[name] = own[name]
        elif isinstance(getattr(type(x), name, None), MemberDescriptorType) and hasattr(x, name):
            found[name] = getattr(x, name)
    return {**found, **own}


def is_record(x: object) -> bool:
    """Return whether an object is of a data class, and so a node of a nest."""
    kind: Any = type(x)
    return _is_record(kind)


@functools.lru_cache(maxsize=1024)
def _is_record(kind: type) -> bool:
    """Return whether a class is a data class whose objects are made of nothing but attributes.

    The members of an `Enum` are themselves alone, and an object of a subclass of `dict` has items.
    """
    return dataclasses.is_dataclass(kind) and not issubclass(kind, Enum) and not hasattr(
        kind, "is_leaf") and all(
            base is object or base.__flags__ & MADE_BY_PYTHON for base in kind.__mro__)


def flatten(x: object) -> tuple[list[Any], Structure]:
    """Return the leaves of a nest of lists, tuples, dicts, namedtuples and dataclasses."""
    leaves: list[Any] = []
    return leaves, _visit(x, leaves)


def _visit(x: Any, leaves: list[object]) -> Structure:
    """Return the structure of a nest; its leaves are added to a list.

    A function within `flatten` would refer to itself, and hold the leaves until a collection.
    """
    node = _parts(x)
    if node is None:
        if hasattr(type(x), "as_leaf"):
            x = x.as_leaf()
        leaves.append(x)
        return LEAF
    aux, parts = node
    return Structure(type(x), aux, tuple([_visit(part, leaves) for part in parts]))


def flatten_call(args: tuple[object, ...],
                 kwargs: dict[str, object]) -> tuple[list[Any], Structure]:
    """Return the leaves of a call's arguments, and a structure that knows which containers are one.
    """
    call = (args, kwargs)
    leaves, structure = flatten(call)
    if any(part.kind is not None for whole in structure.parts for part in whole.parts):
        numbers: dict[int, int] = {}
        found = tuple([numbers.setdefault(id(x), k) for k, x in enumerate(containers_in(call))])
        if len(numbers) < len(found):
            structure = dataclasses.replace(structure, repeats=found)
    return leaves, structure


def has_one_twice(structure: Structure) -> bool:
    """Return whether a call has a container that can be changed as two of its arguments' parts."""
    kinds: list[Any] = []
    rest = [structure] if structure.repeats else []
    while rest:
        node = rest.pop()
        if node.is_container:
            kinds.append(node.kind)
            rest += reversed(node.parts)
    return any(first != k and kinds[k] is not tuple for k, first in enumerate(structure.repeats))


def containers_in(x: object) -> list[Any]:
    """Return the containers of a nest, each before its parts; no tuples without parts."""
    node = _parts(x)
    if node is None or not (node[1] or _is_changeable(type(x))):
        return []
    return [x, *(c for part in node[1] for c in containers_in(part))]


def unflatten(structure: Structure, leaves: Iterator[object] | list[object]) -> Any:
    """Return the nest of a structure with these leaves."""
    leaves = iter(leaves)
    if structure.kind is None:
        return next(leaves)
    if structure.kind is type(None):
        return None
    parts = [unflatten(p, leaves) for p in structure.parts]
    if structure.kind is Spread:
        return Spread(parts[0], structure.aux[0], bool(structure.aux[1]))
    if structure.kind is SpreadRows:
        return SpreadRows(parts[0], structure.aux)
    if structure.kind in (list, tuple):
        if any(type(p) in _SPREAD for p in parts):
            parts = [x for p in parts for x in (p.items() if type(p) in _SPREAD else (p,))]
        return structure.kind(parts)
    if structure.kind is dict:
        return dict(zip(structure.aux, parts, strict=True))
    if structure.aux is None:
        return tuple.__new__(structure.kind, parts)  # whose `__new__` may take other arguments
    # a dataclass, without running __post_init__ again
    instance: Any = object.__new__(structure.kind)
    for name, part in zip(structure.aux, parts, strict=True):
        object.__setattr__(instance, name, part)
    return instance


def leaf_names(structure: Structure, name: str) -> list[str]:
    """Return how users write the leaves of an argument: `p`, `p['w']`, `p[0].x`."""
    if structure.kind is None:
        return [name]
    names: list[str] = []
    for k, part in enumerate(structure.parts):
        if structure.kind is dict:
            step = f"[{structure.aux[k]!r}]"
        elif isinstance(structure.aux, tuple):
            step = f".{structure.aux[k]}"
        else:
            step = f"[{k}]"
        names += leaf_names(part, name + step)
    return names
