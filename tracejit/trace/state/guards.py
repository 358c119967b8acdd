"""Guards: the state that must be at every call as a capture found it, and its comparison.

Everything is compared by type, bits and order (`exact.py`), never by the `==` of a user's class.
It is light to import: calls of compiled code need no more.
"""

from __future__ import annotations

import functools
import hashlib
from array import array
from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

from tracejit.exact import Itself, is_unchanging, same, token
from tracejit.trace.ground.attributes import all_attributes_of
from tracejit.trace.state.paths import READING_FAILS, FunctionRoot, Path, attributes_of

__all__ = ["ABSENT", "Condition", "Content", "Different", "Guarded", "HeldElements", "Same",
           "Shape", "guards_of_function", "shown", "state_of"]


class Condition:
    """A condition on a piece of state that may have several values."""

    __slots__ = ()

    def holds(self, x: object) -> bool:
        """Return whether a piece of state fulfils it."""
        raise NotImplementedError


@dataclass(eq=False, slots=True)
class Guarded:
    """A piece of state that must be the same at every call, or fulfil a condition."""

    path: Path
    content: Any

    def holds(self) -> bool:
        """Return whether it does."""
        try:
            return self.matches(self.path.read())
        except READING_FAILS:
            return self.content is ABSENT
        except Exception:  # a user's code: the capture, or Python, will meet it again
            return False

    def matches(self, new: object) -> bool:
        """Return whether `new`, the present state, fulfils it."""
        old = self.content
        return old is new or (old.holds(new) if isinstance(old, Condition) else same(old, new))

    def why_not(self) -> str | None:
        """Return why it does not hold; None if it does."""
        if self.holds():
            return None
        if self.content is ABSENT:
            return f"{self.path} is there now"
        try:
            new = self.path.read()
        except Exception:
            return f"{self.path} is not there any more"
        if isinstance(self.content, Same):
            return f"{self.path} and {self.content.path} are no longer one object"
        if isinstance(self.content, Different):
            return f"{self.path} and {self.content.path} are one object now"
        return f"{self.path} has changed from {shown(self.content)} to {shown(new)}"


class _Absent(Condition):
    """The guard that there is nothing at a path."""

    __slots__ = ()

    def holds(self, x: object) -> bool:
        """Return False: there is `x`."""
        return False


ABSENT = _Absent()


class Shape(Condition):
    """The structure of a container: its type, and its length, its keys, or a set's items."""

    items: Any
    token: Any
    type: Any

    __slots__ = ("items", "token", "type")

    def __init__(self, type: type, items: object) -> None:
        self.type, self.items = type, items
        self.token = token(items)

    @staticmethod
    def of(x: object) -> Shape:
        """Return the structure of a container."""
        return Shape(type(x), _structure(x))

    def holds(self, x: object) -> bool:
        """Return whether a container has this structure."""
        return type(x) is self.type and token(_structure(x)) == self.token

    def __repr__(self) -> str:
        return f"{self.type.__name__} of {self.items}"


def _structure(x: Any) -> Any:
    if isinstance(x, deque):
        return len(x), x.maxlen
    return tuple(x) if isinstance(x, (dict, set, frozenset, MappingProxyType)) else len(x)


@dataclass(frozen=True, slots=True)
class Same(Condition):
    """The guard that two paths lead to one array."""

    path: Path

    def holds(self, x: object) -> bool:
        """Return whether an array is that at the other path."""
        return self.path.read() is x


@dataclass(frozen=True, slots=True)
class Different(Condition):
    """The guard that two paths lead to different objects."""

    path: Path

    def holds(self, x: object) -> bool:
        """Return whether an object is not that at the other path."""
        return self.path.read() is not x


@dataclass(frozen=True, slots=True)
class HeldElements(Condition):
    """The contents of an array or number, bit by bit: it decided on the program."""

    type: type
    dtype: str
    shape: tuple[int, ...]
    data: bytes

    @staticmethod
    def of(x: object) -> HeldElements:
        """Return the present contents of an array or number."""
        array = np.asarray(x)
        return HeldElements(type(x), array.dtype.str, array.shape, array.tobytes())

    def holds(self, x: object) -> bool:
        """Return whether an array or number holds the same."""
        return type(x) is self.type and HeldElements.of(x) == self

    def __repr__(self) -> str:
        return "what it held"


def guards_of_function(fn: FunctionType) -> list[Guarded]:
    """Return the guards that a function has the code and default values that it has."""
    path = Path(FunctionRoot(fn), fn.__name__)
    named = path.step("attr", "__kwdefaults__")
    found = [Guarded(path.step("attr", name), getattr(fn, name))
             for name in ("__code__", "__defaults__")]
    if fn.__kwdefaults__ is None:
        return [*found, Guarded(named, None)]
    return [*found, Guarded(named, Shape.of(fn.__kwdefaults__)),
            *[Guarded(named.step("item", k), x) for k, x in fn.__kwdefaults__.items()]]


# --- content in depth -----------------------------------------------------------------------------


class Content(Condition):
    """The content of an object or container in depth, as code that no guard sees reads it.

    opaque -- the types of objects in it whose content cannot be read
    draws, computes -- whether a generator of random numbers is in it, or a decimal
    """

    parts: Any

    __slots__ = ("computes", "draws", "opaque", "parts")

    def __init__(self, x: object) -> None:
        self.computes = self.draws = False
        self.opaque: list[type] = []
        self.parts = self._parts_of(x, ())

    def holds(self, x: object) -> bool:
        """Return whether an object has the same content."""
        return bool(self.parts == type(self)(x).parts)

    def __repr__(self) -> str:
        return "what it held"

    def _parts_of(self, x: object, around: tuple[object, ...]) -> Any:
        if type(x).__module__ == "decimal":
            self.computes = True
        if is_unchanging(x) or isinstance(x, (*_AS_THEY_ARE, Itself)):
            return token(x)
        for k, y in enumerate(around):
            if x is y:
                return "around", k
        around = (*around, x)
        found: list[Any] = [Itself(type(x))]
        if type(x).__module__.startswith("numpy.random"):
            self.draws = True
            return (*found, state_of(x))
        own = attributes_of(x)
        items = _items_in(x)
        if own is None and type(x).__module__.partition(".")[0] in _SEEN_THROUGH:
            own = all_attributes_of(x)
        if items is None and (own is None or _hides(type(x))):
            self.opaque.append(type(x))
            return Itself(x)
        found += [self._parts_of(y, around) for y in items or ()]
        found += [(name, self._parts_of(y, around)) for name, y in (own or {}).items()]
        return tuple(found)


def state_of(x: object) -> object:
    """Return the state of one of NumPy's generators, to be compared."""
    state = x.get_state(legacy=False) if hasattr(x, "get_state") else (
        getattr(getattr(x, "bit_generator", x), "state", None))
    return Itself(x) if state is None else _of_numpys(state)


def _of_numpys(state: object) -> object:
    if isinstance(state, dict):
        return tuple([(key, _of_numpys(x)) for key, x in state.items()])
    return state.tobytes() if isinstance(state, np.ndarray) else state


_AS_THEY_ARE = (type, FunctionType, BuiltinFunctionType, ModuleType)
_SEEN_THROUGH = {"numpy", "scipy", "types", "collections", "functools", "string", "fractions",
                 "dataclasses"}
"""Libraries whose objects have no state but their attributes."""


def _items_in(x: object) -> list[Any] | None:
    """Return the items of a container of a known kind; None for any other object."""
    for kinds, how in _HOLDERS:
        if isinstance(x, kinds):
            found: list[Any] = how(x)
            return found
    return None


def _of_array(x: np.ndarray) -> list[Any]:
    head = [x.__array_interface__["data"], str(x.dtype), x.shape, x.strides]
    if x.dtype.hasobject:
        return [*head, x.tolist()]
    return [*head, hashlib.blake2b(np.ascontiguousarray(x).tobytes(), digest_size=16).digest()]


def _hides(kind: type) -> bool:
    """Return whether a base of a user's class, written in C, may hold more than attributes."""
    for base in kind.__mro__[:-1]:
        if type(vars(base).get("__new__")) is BuiltinFunctionType:
            return base.__module__ not in _SHOWING
    return False


_SHOWING = {"builtins", "types", "collections", "datetime", "decimal", "functools"}
"""The modules with classes in C whose objects hold what guards compare, or never change."""
_HOLDERS: list[tuple[Any, Any]] = [
    (list, lambda x: [*list.__iter__(x)]),
    (tuple, lambda x: [*tuple.__iter__(x)]),
    ((bytearray, array), list),
    (deque, lambda x: [x.maxlen, *deque.__iter__(x)]),
    (defaultdict, lambda x: [x.default_factory, *[y for entry in dict.items(x) for y in entry]]),
    (dict, lambda x: [y for entry in dict.items(x) for y in entry]),
    (MappingProxyType, lambda x: [y for entry in x.items() for y in entry]),
    ((set, frozenset), lambda x: [*type(x).__iter__(x)]),
    ((type({}.keys()), type({}.values()), type({}.items()), type(OrderedDict().keys()),
      type(OrderedDict().values()), type(OrderedDict().items())), list),
    (memoryview, lambda x: [x.format, x.shape, x.tobytes()]),
    (np.ndarray, _of_array),
    (MethodType, lambda x: [x.__func__, x.__self__]),
    (functools.partial, lambda x: [x.func, *x.args, x.keywords]),
    (float, lambda x: [float.__pos__(x)]),
    (complex, lambda x: [complex.__pos__(x)]),
    (int, lambda x: [int.__pos__(x)]),
    (str, lambda x: [str.__getitem__(x, slice(None))]),
    (bytes, lambda x: [bytes.__getitem__(x, slice(None))]),
]
"""By type, subclasses included: a reader of the content, past methods of a user's class."""


def shown(x: object) -> str:
    """Return a short text for an object, for reasons."""
    text = repr(x)
    return text if len(text) <= 60 else f"{text[:57]}..."
