"""Places that a region can change: names, items of containers, attributes; contents as trees.

Contents are compared, merged and carried as trees whose leaves are tracers, numbers and other
Python objects; lists, tuples and dicts are their inner nodes.
"""

from __future__ import annotations

import inspect
import itertools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import CellType, FunctionType
from typing import Any, ClassVar

import numpy as np

from tracejit.trace.containers.links import Nullable, same_link
from tracejit.trace.containers.numbered import Numbered, ObjectReference
from tracejit.trace.containers.records import is_alike, is_open, items_of_record, opened
from tracejit.trace.containers.references import Reference, require_one, require_reference
from tracejit.trace.containers.runs import Stored
from tracejit.trace.ground.attributes import (
    all_attributes_of,
    own_entries,
    own_names,
    plain_class_of,
    runs_python,
)
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.modules import is_followed
from tracejit.trace.ground.restarts import Unroll
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.values.equations import emit
from tracejit.trace.values.fields import StructuredArray
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__ = ["ABSENT", "UNSET", "AttributePlace", "Choice", "HiddenPlace", "ItemPlace", "MaybeUnset",
           "NamePlace", "Poison", "SharedName", "are_equal_constants", "children", "holder_of",
           "is_number", "map_content", "name_places", "present", "rebuild", "same_node",
           "same_structure", "shows_of_class"]


class _Unset:
    """The content of a name that is not set."""

    def __repr__(self) -> str:
        return "<unset>"


UNSET = _Unset()


@dataclass(slots=True)
class MaybeUnset:
    """A name that is set only where a condition held."""

    is_leaf: ClassVar[bool] = True
    content: Any
    is_set: Any
    name: str

    def read(self, error: type[Exception] = UnboundLocalError, message: str = "") -> Any:
        """Return the content, and check at run time that it is set."""
        message = message or (f"cannot access local variable '{self.name}' where it is not "
                              "associated with a value")
        emit("check", [self.is_set.value], {
            "error": error.__name__,
            "message": f"{message}: it is set in only one branch, or in a loop that did not run. "
                       "Set it before"})
        return self.content


@dataclass(slots=True)
class Poison:
    """A name whose content depends on data in a way that cannot be captured."""

    is_leaf: ClassVar[bool] = True
    name: str
    why: str
    where: str
    remedy: str

    def read(self, *_: Any) -> Any:
        """Refuse."""
        raise refuse(f"{self.name!r} {self.why} at {self.where}", self.remedy, "TJ420")

    __iter__ = __getitem__ = __call__ = __float__ = __array__ = read  # as code of Python's may


class _NotChosen:
    """The stand-in for the numbers of a thing that is not chosen."""

    def __repr__(self) -> str:
        return "<absent>"


ABSENT = _NotChosen()


def _refuses(name: str) -> Any:
    def method(self: Choice, *_: object, **__: object) -> Any:
        ABOVE.refuse_choice(self)

    method.__name__ = name
    return method


class Choice:
    """One of several things, of which data decides which one (`choices.py`).

    tag     -- the number of the option that is chosen
    options -- the things; the numbers in options that are not chosen mean nothing
    """

    is_leaf: ClassVar[bool] = True
    tag: Any
    options: tuple[Any, ...]
    name: str
    where: str

    __slots__ = ("guess", "name", "options", "tag", "where")

    def __init__(self, tag: object, options: tuple[object, ...], name: str, where: str) -> None:
        self.tag, self.options, self.name, self.where = tag, options, name, where
        current().chooses = True
        self.guess: Any = None
        """The guess of a loop that it has the things of, in order."""

    def __hash__(self) -> int:
        ABOVE.refuse_choice(self, "it is an item of a set or a key of a dict")
        return 0

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        ABOVE.refuse_choice(self)
        return False

    def __repr__(self) -> str:
        return f"<{' or '.join(map(repr, self.options))}>"


for _name in ("__bool__", "__len__", "__iter__", "__index__", "__float__", "__int__",
              "__complex__", "__array__", "__call__", "__getitem__", "__setitem__", "__contains__",
              "__lt__", "__le__", "__gt__", "__ge__", "__neg__", "__abs__", "__getattr__",
              "__format__", "__str__", *(f"__{r}{op}__" for r in ("", "r") for op in (
                  "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"))):
    setattr(Choice, _name, _refuses(_name))


def present(content: Any, *why: Any) -> Any:
    """Return content that is there, at the least by a check at run time.

    why -- the error where it is not there, and its text
    """
    return content.read(*why) if isinstance(content, (MaybeUnset, Poison)) else content


class NamePlace:
    """A local name of rewritten code, through its closure cell."""

    cell: CellType
    name: str

    __slots__ = ("cell", "name")
    depth: int | None = None

    def __init__(self, name: str, cell: CellType) -> None:
        self.name, self.cell = name, cell

    @property
    def key(self) -> object:
        """Return the identity of the closure cell."""
        return id(self.cell)

    def get(self) -> Any:
        """Return the content, `UNSET` where there is none."""
        try:
            return self.cell.cell_contents
        except ValueError:
            return UNSET

    def set(self, content: object) -> None:
        """Bind or unbind the name."""
        if content is not UNSET:
            self.cell.cell_contents = content
        elif self.get() is not UNSET:
            del self.cell.cell_contents


class SharedName(NamePlace):
    """A name that a local function binds in the function around it, by `nonlocal`."""

    __slots__ = ("depth",)

    def __init__(self, name: str, cell: CellType, depth: int) -> None:
        super().__init__(name, cell)
        self.depth = depth


def name_places(names: tuple[str, ...], *functions: FunctionType) -> list[NamePlace]:
    """Return the places of names that nested functions share with the code around them."""
    cells: dict[str, CellType] = {}
    for fn in functions:
        cells.update(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    return [NamePlace(name, cells[name]) for name in names if name in cells]


class ItemPlace:
    """An item of a list, dict or deque."""

    container: Any
    depth: int
    item: Any

    __slots__ = ("container", "depth", "item")

    def __init__(self, container: object, item: object, depth: int) -> None:
        self.container, self.item, self.depth = container, item, depth

    @property
    def name(self) -> str:
        """Return its name in messages."""
        return f"item {self.item!r}"

    @property
    def key(self) -> object:
        """Return container and item."""
        return (id(self.container), self.item)

    def get(self) -> Any:
        """Return the content."""
        if isinstance(self.container, dict):  # `__missing__` gives an item that is not there
            return dict.get(self.container, self.item, UNSET)
        try:
            return self.container[self.item]
        except (KeyError, IndexError):
            return UNSET

    def set(self, content: object) -> None:
        """Replace the content."""
        if content is UNSET:
            if isinstance(self.container, dict):  # a list has no item that is not set
                self.container.pop(self.item, None)
        else:
            self.container[self.item] = content


class AttributePlace:
    """An attribute of an object: where a user's descriptor has its name, the entry in the dict."""

    depth: int
    name: str
    owner: Any

    __slots__ = ("depth", "name", "owner")

    def __init__(self, owner: object, name: str, depth: int) -> None:
        self.owner, self.name, self.depth = owner, name, depth

    @property
    def key(self) -> object:
        """Return owner and name."""
        return (id(self.owner), self.name)

    def get(self) -> Any:
        """Return the content; `UNSET` for a method and the like, which a class binds when read."""
        own = own_entries(self.owner)
        if self.name in own:
            return own[self.name]
        found = inspect.getattr_static(type(self.owner), self.name, UNSET)
        if hasattr(type(found), "__get__") and (
                not hasattr(type(found), "__set__") or runs_python(found)):
            return UNSET
        plain: Any = type if isinstance(self.owner, type) else object
        try:
            return plain.__getattribute__(self.owner, self.name)  # past any `__getattr__`
        except AttributeError:
            return UNSET

    def set(self, content: object) -> None:
        """Replace the content, past any `__setattr__` of the class."""
        plain = plain_class_of(self.owner)
        if runs_python(inspect.getattr_static(type(self.owner), self.name, UNSET)):
            own = own_names(self.owner)
            if content is not UNSET:
                own[self.name] = content
            else:
                own.pop(self.name, None)
        elif content is not UNSET:
            plain.__setattr__(self.owner, self.name, content)
        elif self.get() is not UNSET:
            plain.__delattr__(self.owner, self.name)


def holder_of(place: object) -> Any:
    """Return the list, dict or object that an item or attribute is of; None for another place."""
    if isinstance(place, ItemPlace):
        return place.container
    return place.owner if isinstance(place, AttributePlace) else None


def shows_of_class(owner: object, name: str) -> bool:
    """Return whether an attribute of an object or class has its content from a class above it."""
    return name not in own_entries(owner) and (
        AttributePlace(owner, name, 0).get() is not UNSET) and not hasattr(
        type(inspect.getattr_static(type(owner), name, UNSET)), "__set__")


class HiddenPlace:
    """A place without a name, for the value of an expression or a hidden index."""

    __slots__ = ("content",)
    name = "this choice"
    depth: int | None = None

    def __init__(self) -> None:
        self.content: Any = UNSET

    @property
    def key(self) -> object:
        """Return the slot."""
        return self

    def get(self) -> Any:
        """Return the content."""
        return self.content

    def set(self, content: object) -> None:
        """Replace the content."""
        self.content = content


# --- contents as trees --------------------------------------------------------------------------


def is_number(x: object) -> bool:
    """Return whether a leaf is a number or a tracer, which can become a value of the graph.

    An object of a class of its own, of an `IntEnum` say, is more than its number.
    """
    if isinstance(x, np.generic):
        return x.dtype.kind in "biufc" and not is_followed(type(x))
    return type(x) in _NUMBERS or isinstance(x, (Tracer, SymInt, np.ndarray))


_NUMBERS = {bool, int, float, complex}


def are_equal_constants(x: object, y: object) -> bool:
    """Return whether two leaves are one, or constants of a library that nothing tells apart.

    Objects of users' classes are equal as their methods say, which does not make them one.
    """
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if type(x) is str:
        return x == y
    if is_followed(type(x)):
        return False
    try:
        if isinstance(x, frozenset):
            return len(x) == len(y) and all(  # type: ignore[arg-type]
                any(are_equal_constants(p, q) for q in y) for p in x)  # type: ignore[attr-defined]
        return (isinstance(x, slice) or hash(x) == hash(y)) and bool(x == y) and repr(x) == repr(y)
    except Exception:
        return False


_NODES = (list, tuple, dict, MaybeUnset, Choice, Stored, Numbered, StructuredArray)


def children(x: object, like: object = None) -> Iterator[Any] | None:
    """Return the items of an inner node; None for a leaf.

    like -- the node that it is compared with: an object is a node if that is an open record
    """
    if not issubclass(type(x), _NODES) and not issubclass(x.__class__, _NODES):
        return items_of_record(x, like)  # asked once for the class that it passes for
    if isinstance(x, (list, tuple)):
        return iter(x)
    if isinstance(x, dict):
        return iter(x.values())
    if isinstance(x, MaybeUnset):
        return iter((x.content, x.is_set))
    if isinstance(x, Choice):
        return iter((x.tag, *x.options))
    if isinstance(x, Stored):
        return iter((x.data,))
    if isinstance(x, Numbered):
        return iter((x._number,))
    if isinstance(x, StructuredArray):
        return iter(x.parts.values())
    return items_of_record(x, like)


def rebuild(x: Any, items: list[Any]) -> Any:
    """Return an inner node like x with other items."""
    if isinstance(x, (list, tuple, dict)) and type(x) not in (list, tuple, dict):
        return _rebuilt_of_class(x, items)
    if isinstance(x, dict):
        return dict(zip(x, items, strict=True))
    if isinstance(x, MaybeUnset):
        return MaybeUnset(items[0], items[1], x.name)
    if isinstance(x, Choice):
        return Choice(items[0], tuple(items[1:]), x.name, x.where)
    if isinstance(x, Stored):
        return x.like(items[0], shared=x.shared)
    if isinstance(x, Numbered):
        return x.numbered(items[0])
    if isinstance(x, StructuredArray):
        return x.like(items)
    return opened(x, items) if is_open(x) else type(x)(items)


def _rebuilt_of_class(x: object, items: Sequence[object]) -> Any:
    """Return a list, tuple or dict of a class of its own with other items, past its methods."""
    cls: Any = type(x)
    if cls.__module__.startswith("tracejit."):
        return cls(items)
    made = tuple.__new__(cls, items) if isinstance(x, tuple) else cls.__new__(cls)
    if isinstance(x, defaultdict):
        made.default_factory = x.default_factory
    if isinstance(x, list):
        list.extend(made, items)
    elif isinstance(x, dict):
        put = OrderedDict.__setitem__ if isinstance(x, OrderedDict) else dict.__setitem__
        for key, item in zip(x, items, strict=True):
            put(made, key, item)
    for name, content in (all_attributes_of(x) or {}).items():
        object.__setattr__(made, name, content)
    return made


def _same_attributes(a: object, b: object) -> bool:
    """Return whether two lists, tuples or dicts of one class differ in their items alone."""
    if type(a) in (list, tuple, dict):
        return True
    ours, theirs = (all_attributes_of(x) or {} for x in (a, b))
    return getattr(a, "default_factory", None) is getattr(b, "default_factory", None) and (
        ours.keys() == theirs.keys()) and all(
        are_equal_constants(content, theirs[name]) for name, content in ours.items())


_NONE_LEFT = object()


def map_content(fn: Callable[..., object], x: object, *others: object) -> Any:
    """Apply a function to corresponding leaves of contents of one structure."""
    items = children(x)
    if items is None:
        return fn(x, *others)
    columns = [children(o, x) for o in others]
    if any(c is None for c in columns):
        raise Unroll("a name holds a list in one iteration and another thing in the next")
    if isinstance(x, Numbered) and not all(same_node(x, o) for o in others):
        raise Unroll("a name holds one kind of object in one iteration, and another in the next")
    rows = list(itertools.zip_longest(items, *columns, fillvalue=_NONE_LEFT))
    if any(part is _NONE_LEFT for row in rows for part in row):
        raise Unroll("a name holds lists or dicts of different lengths")
    return rebuild(x, [map_content(fn, *parts) for parts in rows])


def same_node(a: Any, b: Any) -> bool:
    """Return whether two inner nodes are of one type and have as many items, or the same keys."""
    require_reference(a, b)
    if isinstance(a, Nullable) or isinstance(b, Nullable):
        return same_link(a, b)
    if type(a) is not type(b) or (isinstance(a, dict) and list(a) != list(b)):
        return False
    if isinstance(a, (Stored, StructuredArray)):
        return a.is_like(b)
    if isinstance(a, Reference):
        require_one(a, b)
        return True
    if isinstance(a, ObjectReference):
        return a._pool is b._pool
    if isinstance(a, Choice):
        return len(a.options) == len(b.options)
    if is_open(a) or is_open(b):
        return is_alike(a, b)
    return isinstance(a, MaybeUnset) or (len(a) == len(b) and _same_attributes(a, b))


def same_structure(a: object, b: object) -> bool:
    """Return whether two contents have the same inner nodes."""
    left, right = children(a, b), children(b, a)
    if left is None or right is None:
        return left is None and right is None
    return same_node(a, b) and all(same_structure(p, q)
                                   for p, q in zip(left, right, strict=True))
