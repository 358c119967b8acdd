"""Nested arguments and results as flat lists of leaves, and back."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tracejit.classes import (
    attributes_of,
    is_record_class,
    made_of,
    may_be_opened,
    registration_of,
)
from tracejit.exact import same, token
from tracejit.structured_dtypes import KINDS, dtype_of_text, field_names, fields_of, joined

__all__ = ["LEAF", "STRUCTURED", "Opened", "Spread", "SpreadRows", "Structure", "are_in",
           "beside_floats", "computed_parts", "containers_in", "flatten", "flatten_call",
           "has_one_twice", "is_object", "is_opened", "leaf_names", "unflatten"]


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """The shape of a nest: a kind of node, a key in which equal kinds agree, and the parts.

    aux     -- the keys of a dict, the names of fields; of a structured array its dtype and rank
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

STRUCTURED: frozenset[Any] = frozenset(KINDS)
"""The kinds of nodes that are structured arrays or records: keyed by dtype, as text, and rank."""


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


@dataclass(frozen=True, slots=True)
class Opened:
    """An argument that is taken apart together with the objects of any class in it.

    It is no node of its own. Else objects are nodes whose class says what they are made of.
    """

    x: Any


def _parts(x: Any, opens: bool = False) -> tuple[type, Any, list[Any]] | None:
    """Return the type of a node, the key of its kind, and its parts; None for a leaf.

    opens -- whether objects of any user's class are nodes
    """
    if hasattr(type(x), "as_fields"):  # a structured array within a capture
        found: tuple[type, Any, list[Any]] = x.as_fields()
        return found
    node = _parts_of_container(x, opens)
    return fields_of(x) if node is None else (type(x), *node)


def _parts_of_container(thing: object, opens: bool) -> tuple[Any, list[Any]] | None:
    x: Any = thing
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
    registered = registration_of(kind)
    if registered is not None and registered.flatten is not None:
        parts, aux = registered.flatten(x)
        return (aux, list(parts))
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        own = getattr(x, "__dict__", {})  # of a subclass without slots
        return (tuple(own) or None, [*x, *own.values()])
    if is_record_class(kind) or (opens and may_be_opened(x)):
        found = attributes_of(x)
        return (tuple(found), list(found.values()))
    return None


def is_opened(kind: type | None) -> bool:
    """Return whether objects of a node's class are nodes only where a transform is by them."""
    return kind is not None and is_object(kind) and not (
        registration_of(kind) is not None or is_record_class(kind))


def is_object(kind: type | None) -> bool:
    """Return whether nodes of a class are objects, and no containers of Python's."""
    return kind not in _OF_PYTHON and kind is not None and (
        registration_of(kind) is not None or not issubclass(kind, tuple))


_OF_PYTHON = {list, tuple, dict, type(None), Spread, SpreadRows, *STRUCTURED}


def are_in(structure: Structure, is_such: Callable[[type | None], bool],
           inside: bool = False) -> list[bool]:
    """Return for each leaf whether a node of such a class leads to it."""
    if structure.kind is None:
        return [inside]
    inside = inside or is_such(structure.kind)
    return [found for part in structure.parts for found in are_in(part, is_such, inside)]


def beside_floats(structure: Structure, is_float: Sequence[bool]) -> list[bool]:
    """Return of each leaf whether it is a field of a structured array that has floats, too."""
    if structure.kind in STRUCTURED:
        return [any(is_float)] * structure.count
    found: list[bool] = []
    for part in structure.parts:
        found += beside_floats(part, is_float[len(found):len(found) + part.count])
    return found if structure.kind is not None else [False]


def flatten(x: object) -> tuple[list[Any], Structure]:
    """Return the leaves of a nest of lists, tuples, dicts, namedtuples and dataclasses."""
    leaves: list[Any] = []
    return leaves, _visit(x, leaves)


def _visit(x: Any, leaves: list[object], opens: bool = False) -> Structure:
    """Return the structure of a nest; its leaves are added to a list.

    A function within `flatten` would refer to itself, and hold the leaves until a collection.
    """
    if type(x) is Opened:
        x, opens = x.x, True
    node = _parts(x, opens)
    if node is None:
        if hasattr(type(x), "as_leaf"):
            x = x.as_leaf()
        leaves.append(x)
        return LEAF
    kind, aux, parts = node
    return Structure(kind, aux, tuple([_visit(part, leaves, opens) for part in parts]))


def flatten_call(args: tuple[object, ...],
                 kwargs: dict[str, object]) -> tuple[list[Any], Structure]:
    """Return the leaves of a call's arguments, and a structure that knows which containers are one.
    """
    call = (args, kwargs)
    leaves, structure = flatten(call)
    if any(part.kind is not None for whole in structure.parts for part in whole.parts):
        numbers: dict[int, int] = {}
        found = tuple([numbers.setdefault(id(x), k)
                       for k, x in enumerate(containers_in(call, structure))])
        if len(numbers) < len(found):
            structure = replace(structure, repeats=found)
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


def containers_in(x: Any, structure: Structure,
                  is_such: Callable[[type | None], bool] | None = None) -> list[Any]:
    """Return the containers of a nest, each before its parts; no tuples without parts.

    is_such -- of which classes nodes are that lead to the containers, or are one
    """
    x = x.x if type(x) is Opened else x
    if not structure.is_container:
        return []
    node = _parts(x, opens=True)
    assert node is not None
    within = None if is_such is None or is_such(structure.kind) else is_such
    return [*([] if within else [x]), *(
        c for part, s in zip(node[2], structure.parts, strict=True)
        for c in containers_in(part, s, within))]


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
    if structure.kind in STRUCTURED:
        return _with_fields(structure, parts)
    how = registration_of(structure.kind)
    if how is not None and how.unflatten is not None:
        return how.unflatten(structure.aux, parts)
    if issubclass(structure.kind, tuple):
        return _named_tuple(structure, parts)
    return made_of(structure.kind, dict(zip(structure.aux, parts, strict=True)))


def _named_tuple(structure: Structure, parts: list[object]) -> Any:
    """Return a named tuple, made without its `__new__`, which may take other arguments."""
    assert structure.kind is not None
    own = structure.aux or ()
    count = len(parts) - len(own)
    made: Any = tuple.__new__(structure.kind, parts[:count])
    if own:
        vars(made).update(zip(own, parts[count:], strict=True))
    return made


def _with_fields(structure: Structure, parts: list[object]) -> Any:
    """Return a structured array, within a capture its stand-in; of specs a dict of the fields."""
    assert structure.kind is not None
    traced: Any = next((x for x in parts if hasattr(type(x), "joined_fields")), None)
    if traced is not None:
        return traced.joined_fields(structure.kind, structure.aux[0], parts)
    if any(hasattr(type(x), "is_leaf") or type(x) is dict for x in parts):
        return dict(zip(field_names(dtype_of_text(structure.aux[0])), parts, strict=True))
    return joined(structure.kind, structure.aux[0], parts)


def computed_parts(structure: Structure, name: str) -> Iterator[str]:
    """Yield how users write the attributes that objects have computed, and kept in themselves."""
    kind: Any = structure.kind
    if kind is None:
        return
    how = registration_of(kind)
    if kind not in _OF_PYTHON and (how is None or how.flatten is None):
        for key in structure.aux or ():
            if _is_computed(inspect.getattr_static(kind, key, None)):
                yield f"{name}.{key}"
    for part, inner in zip(structure.parts, _steps(structure, name), strict=True):
        yield from computed_parts(part, inner)


def _is_computed(entry: object) -> bool:
    """Return whether a class's entry computes an attribute that its objects keep by that name."""
    kind: Any = type(entry)
    return kind.__module__ != "builtins" and hasattr(kind, "__get__") and not (
        hasattr(kind, "__set__"))


def leaf_names(structure: Structure, name: str) -> list[str]:
    """Return how users write the leaves of an argument: `p`, `p['w']`, `p[0].x`."""
    if structure.kind is None:
        return [name]
    return [leaf for part, inner in zip(structure.parts, _steps(structure, name), strict=True)
            for leaf in leaf_names(part, inner)]


def _steps(structure: Structure, name: str) -> list[str]:
    """Return how users write the parts of a node of that name."""
    kind: Any = structure.kind
    how = registration_of(kind)
    if kind is dict:
        steps = [f"[{key!r}]" for key in structure.aux]
    elif kind in STRUCTURED:
        steps = [f"[{name!r}]" for name in field_names(dtype_of_text(structure.aux[0]))]
    elif (how is not None and how.flatten is not None) or kind in (list, tuple, *_SPREAD):
        steps = [f"[{k}]" for k in range(len(structure.parts))]
    else:
        steps = [f".{key}" for key in (*getattr(kind, "_fields", ()), *(structure.aux or ()))]
    return [name + step for step in steps]
