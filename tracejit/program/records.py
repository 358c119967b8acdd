"""Guards and captured state as records of the fast entry: reads of objects, word by word.

A path leads through objects. Each of these is *pinned*: a record requires that the one before it
still leads to the very same object. So every read is one step from an object that is held, and a
step is a word in memory, an item of a list or dict, or nothing at all where the version of a class
says that nothing was assigned to it. An equal but other object is found by the slower way, which
makes the records anew. Guards that can be read in none of these ways are checked by a Python
function, behind all other records, which hold once more behind it: other threads may have run
meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum
from types import CellType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from tracejit.exact import MADE_BY_PYTHON, is_unchanging
from tracejit.program import layout
from tracejit.program.entry_words import Words
from tracejit.trace.state.guards import ABSENT, Condition, Different, Guarded, Same, Shape
from tracejit.trace.state.paths import (
    READING_FAILS,
    FunctionRoot,
    Holder,
    Leaf,
    Path,
    class_entry,
    special_names,
)

__all__ = ["Records", "Source", "Unreadable"]

Record = tuple[int, ...]
Source = tuple[int, int, int]


class Unreadable(Exception):
    """An object is read in a way that the fast entry has not."""


class _Nothing:
    """The content of a place where nothing is."""


NOTHING = _Nothing()


class Records:
    """Makes records; `hold` keeps an object alive and returns its address.

    asking -- calls of the entry in which Python code checks guards now: their table stays
    """

    def __init__(self, hold: Callable[[Any], int], asking: list[None]) -> None:
        self.hold, self.asking = hold, asking
        self.pinned: dict[tuple[Any, ...], Any] = {}
        """The objects at the paths that are pinned, by their keys."""
        self.words: dict[int, int] = {}
        """By address, relative to a cell's content: words in memory that must be as they are."""
        self.dicts: dict[int, dict[Source, int]] = {}
        """By a dict's address and by source: the word required there, 0 for no item."""
        self.within: dict[Source, int] = {}
        """The addresses of the dicts in which sources are."""
        self.places: dict[int, layout.Places | None] = {}
        """By a dict's address, where its values are in memory."""
        self.keys: dict[int, dict[Any, Any]] = {}
        """By a dict's address, the objects that are its keys."""
        self.others: list[Record] = []
        self.by_python: list[Guarded] = []
        self.read_by_python: list[tuple[Path, list[Any]]] = []
        """Where inputs are that Python reads, and the lists into which it puts them."""

    # --- guards and state -----------------------------------------------------------------------

    def add(self, guard: Guarded) -> None:
        """Add the records that a guard requires."""
        try:
            self._add(guard)
        except (Unreadable, *READING_FAILS):
            self.by_python.append(guard)

    def _add(self, guard: Guarded) -> None:
        content = guard.content
        if content is ABSENT:
            source, found = self._step(guard.path)
            if found is not NOTHING:
                raise Unreadable
            self._require(source, NOTHING)
        elif isinstance(content, Shape):
            self._add_shape(self._pin(guard.path), content)
        elif isinstance(content, (Same, Different)):
            one = self._pin(guard.path) is self._pin(content.path)
            if one is not isinstance(content, Same):
                raise Unreadable
        elif isinstance(content, Condition):
            raise Unreadable
        else:
            found = self._pin(guard.path)
            if found is not content:
                if not guard.matches(found):
                    raise Unreadable
                guard.content = found

    def source(self, leaf: Leaf) -> Source:
        """Return where an input is read at every call; `Unreadable` for arrays in no known way."""
        try:
            source, found = self._step(leaf.path)
        except Unreadable:
            if isinstance(leaf.content, np.ndarray):
                raise
            self.read_by_python.append((leaf.path, [None]))
            return Words.FROM_LIST, self.hold(self.read_by_python[-1][1]), 0
        if found is NOTHING:
            raise Unreadable
        return (Words.FROM_CONSTANT, self.hold(found), 0) if source is None else source

    def records(self) -> list[Record]:
        """Return all records: the records of a dict together, behind one that knows its version."""
        found: list[Record] = [(Words.FROM_CELL, address, 0, Words.IS_OBJECT, expected)
                               for address, expected in self.words.items()]
        for address, items in self.dicts.items():
            has_version = layout.has_dict_versions() and len(items) > 1
            if has_version:
                found.append((Words.FROM_VERSION, address + layout.DICT_VERSION, 0, 0, len(items)))
            found += [(*source, Words.IS_OBJECT, expected) for source, expected in items.items()]
            if has_version:
                found.append((Words.TO_VERSION, len(items) + 1, 0, 0, 0))
        found += self.others
        if self.by_python or self.read_by_python:
            asks = Words.FROM_CALL, self.hold(self._ask_python), 0, Words.IS_OBJECT, id(True)
            found += [asks, *found]
        return found

    # --- Python, while the entry looks at its table -----------------------------------------------

    def _ask_python(self) -> bool:
        """Read the inputs that only Python can; return whether the guards hold that it looks at."""
        self.asking.append(None)
        try:
            for path, place in self.read_by_python:
                place[0] = path.read()
            return all(guard.holds() for guard in self.by_python)
        except Exception:  # the slower way will meet it again
            return False
        finally:
            self.asking.pop()

    # --- paths ----------------------------------------------------------------------------------

    def _pin(self, path: Path) -> Any:
        """Return the object at a path, which must be that very object at every call."""
        if path.key not in self.pinned:
            source, found = self._step(path)
            if found is NOTHING:
                raise Unreadable
            self._require(source, found)
            self.pinned[path.key] = found
        return self.pinned[path.key]

    def _require(self, source: Source | None, content: object) -> None:
        if source is None:
            return
        expected = 0 if content is NOTHING else self.hold(content)
        if source in self.within:
            self.dicts.setdefault(self.within[source], {})[source] = expected
        elif source[0] == Words.FROM_CELL:
            self.words[source[1]] = expected
        else:
            self.others.append((*source, Words.IS_OBJECT, expected))

    def _step(self, path: Path) -> tuple[Source | None, Any]:
        """Return how a path is read from a pinned object, and the content that it leads to.

        The source is None where that cannot change while all that is pinned is the same.
        """
        if not path.steps:
            return self._root(path)
        *_, (kind, key) = path.steps
        if isinstance(path.root, FunctionRoot):
            return self._function(path)
        owner = self._pin(Path(path.root, path.name, path.steps[:-1]))
        step = _STEPS.get(kind)
        if step is None:
            raise Unreadable
        found: tuple[Source | None, Any] = step(self, owner, key)
        return found

    def _root(self, path: Path) -> tuple[Source | None, Any]:
        root = path.root
        if isinstance(root, CellType):
            try:
                content = root.cell_contents
            except ValueError:
                content = NOTHING
            return self._word(root, layout.CELL_CONTENT), content
        if isinstance(root, Holder):
            return None, root.content
        return self._item(root, path.name)

    def _word(self, x: object, offset: int) -> Source:
        return self._at(self.hold(x) + offset)

    def _at(self, address: int) -> Source:
        return Words.FROM_CELL, address - layout.CELL_CONTENT, 0

    def _function(self, path: Path) -> tuple[Source | None, Any]:
        """Read the code or defaults of a function; 0 stands for None there."""
        name = path.steps[0][1]
        fn = path.root.content
        source = self._word(fn, layout.function_fields()[name])
        if len(path.steps) == 1:
            content = getattr(fn, name)
            if content is None:
                self._require(source, NOTHING)
            return None if content is None else source, content
        owner = self._pin(Path(path.root, path.name, path.steps[:1]))
        return self._item(owner, path.steps[1][1])

    def _type(self, x: object, _: object) -> tuple[Source | None, Any]:
        return self._word(x, layout.OBJECT_TYPE), type(x)

    def _item(self, x: object, key: object) -> tuple[Source | None, Any]:
        if isinstance(x, tuple) and type(key) is int:
            return self._item_of_tuple(x, key)
        if type(x) is list and type(key) is int and 0 <= key < len(x):
            return (Words.FROM_LIST, self.hold(x), key), x[key]
        if type(x) is deque and type(key) is int and 0 <= key < len(x):
            self.words.update(self._structure(x))
            return self._at(layout.deque_item(x, key)), x[key]
        if isinstance(x, dict) and type(x).__getitem__ is dict.__getitem__ and is_unchanging(key):
            if not dict.__contains__(x, key) and hasattr(type(x), "__missing__"):
                raise Unreadable
            return self._value(x, key), dict.get(x, key, NOTHING)
        raise Unreadable

    def _item_of_tuple(self, x: tuple[object, ...], key: int) -> tuple[Source | None, Any]:
        self._require_plain_tuple(x)
        if not 0 <= key < len(x):
            raise Unreadable
        return None, x[key]

    def _require_plain_tuple(self, x: tuple[object, ...]) -> None:
        """Require that the class of a tuple has no length and items of its own, now and later."""
        kind = type(x)
        if kind is tuple:
            return
        if kind.__getitem__ is not tuple.__getitem__ or kind.__len__ is not tuple.__len__:
            raise Unreadable
        self._require(*self._type(x, None))
        self._version(kind)

    def _value(self, x: dict[Any, Any], key: object) -> Source:
        """Return how the value of a key is read: at its place in memory, or by looking it up."""
        address = self.hold(x)
        if address not in self.places:
            self.places[address] = layout.places_in(x)
            self.keys[address] = {k: k for k in dict.keys(x) if is_unchanging(k)}
        places, key = self.places[address], self.keys[address].get(key, key)
        if places is not None and id(key) in places.values:
            own = self.dicts.setdefault(address, {})  # where its version says that all is as it was
            own.update(((Words.FROM_CELL, at, 0), word) for at, word in places.checks.items())
            place = places.values[id(key)]
            source = (Words.FROM_CELL, place, 0) if places.shared else (
                Words.FROM_PLACE, place, self.hold(key))
        elif type(key) is str:
            source = (Words.FROM_DICT, address, self.hold(key))
        else:
            raise Unreadable
        self.within[source] = address
        return source

    # --- attributes -----------------------------------------------------------------------------

    def _attribute(self, x: object, name: str) -> tuple[Source | None, Any]:
        if isinstance(x, type):
            return None, self._of_class(x, x, name)
        if type(x) is MethodType and name in ("__self__", "__func__"):
            return None, getattr(x, name)
        kind = type(x)
        if not layout.is_read_plainly(kind):
            raise Unreadable
        if kind.__flags__ & MADE_BY_PYTHON or isinstance(x, ModuleType):  # else it stays the class
            self._require(*self._type(x, None))
        if isinstance(x, Enum) and name in _OF_MEMBERS:
            return self._attribute_of_member(x, name)
        entry = self._of_class(kind, x, name)
        if isinstance(entry, MemberDescriptorType):
            return self._slot(x, entry)
        own = self._own_dict(x)
        if own is not None and name in own and not _is_data_descriptor(entry):
            return self._item(own, name)
        if entry is NOTHING and hasattr(kind, "__getattr__"):
            raise Unreadable
        if own is not None:
            self._require(self._item(own, name)[0], NOTHING)
        return None, self._bound(entry, x)

    def _attribute_of_member(self, x: Enum, name: str) -> tuple[Source | None, Any]:
        """Read the name or value of a member, which `Enum` finds among its own attributes."""
        if self._of_class(type(x), x, name) is not vars(Enum)[name]:
            raise Unreadable
        return self._own(x, _OF_MEMBERS[name])

    def _of_class(self, cls: type, x: object, name: str) -> Any:
        """Return the entry of a class or its bases under a name, which cannot change unnoticed."""
        self._version(cls)
        try:
            entry = class_entry(cls, name)
        except AttributeError:
            entry = NOTHING
        if type(entry).__flags__ & MADE_BY_PYTHON and entry is not NOTHING:
            self._version(type(entry))  # it may become a descriptor
        if x is not cls:
            return entry
        meta = type(cls)
        if meta is not type:
            self._require(*self._type(cls, None))
            self._version(meta)
        if name == "__mro__" and class_entry(meta, name) is vars(type)[name] and _is_plain(meta):
            return cls.__mro__
        if entry is NOTHING or not _is_plain(meta) or hasattr(meta, name) or (
                hasattr(type(entry), "__get__") and not isinstance(entry, FunctionType)):
            raise Unreadable
        return entry

    def _version(self, cls: type) -> None:
        offset = layout.class_version()
        version = layout.version_of(cls)
        if offset is None or not version:
            raise Unreadable
        self.words[self._word(cls, offset)[1]] = version

    def _bound(self, entry: object, x: object) -> Any:
        """Return the attribute of an object that an entry of its class makes."""
        if isinstance(entry, (FunctionType, classmethod, staticmethod)):
            return entry.__get__(x, type(x))
        if hasattr(type(entry), "__get__"):
            raise Unreadable
        return entry

    def _slot(self, x: object, entry: Any) -> tuple[Source | None, Any]:
        offset = layout.slot_offset(entry)
        try:
            content = entry.__get__(x)
        except AttributeError:
            content = NOTHING
        if offset is None or layout.word_at(id(x) + offset) != (
                0 if content is NOTHING else id(content)):
            raise Unreadable
        return self._word(x, offset), content

    def _own_dict(self, x: object) -> dict[str, Any] | None:
        """Return the dict of an object's attributes, which must be that at every call."""
        own = getattr(x, "__dict__", None)
        if own is None:
            return None
        address = layout.dict_address(x)
        if type(own) is not dict or not address or layout.word_at(address) != id(own):
            raise Unreadable
        self.hold(x)
        self.words[self._at(address)[1]] = self.hold(own)
        return own

    def _own(self, x: object, name: str) -> tuple[Source | None, Any]:
        own = self._own_dict(x)
        return (None, NOTHING) if own is None else self._item(own, name)

    def _entry(self, cls: type, name: str) -> tuple[Source | None, Any]:
        self._version(cls)
        try:
            return None, class_entry(cls, name)
        except AttributeError:
            return None, NOTHING

    def _methods(self, cls: type, _: None) -> tuple[Source | None, Any]:
        self._version(cls)
        return None, special_names(cls)

    def _behind(self, cls: type, key: tuple[type, str]) -> tuple[Source | None, Any]:
        self._version(cls)
        return None, class_entry(cls, key[1], key[0])

    # --- containers -----------------------------------------------------------------------------

    def _add_shape(self, x: object, shape: Shape) -> None:
        """Add the records that require a pinned container to have its structure."""
        if not shape.holds(x):
            raise Unreadable
        if isinstance(x, tuple):
            self._require_plain_tuple(x)
            return
        if type(x) is frozenset:
            return
        if type(x) is list:
            self.words[self._word(x, layout.LIST_SIZE)[1]] = len(x)
        elif isinstance(x, dict) and type(x).__iter__ is dict.__iter__:
            own = self.dicts.setdefault(self.hold(x), {})
            own[self._word(x, layout.DICT_USED)] = len(x)
            own.update({(Words.NEXT_KEY, self.hold(x), k): self.hold(key)
                        for k, key in enumerate(x)})
        else:
            self.words.update(self._structure(x))

    def _structure(self, x: object) -> dict[int, int]:
        """Return the words that determine the content of a container of another kind."""
        self.hold([x, *x] if type(x) is set else x)  # a freed object leaves its address to others
        words = layout.structure_words(x)
        if words is None:
            raise Unreadable
        return {self._at(address)[1]: word for address, word in words.items()}


_OF_MEMBERS = {"name": "_name_", "value": "_value_"}
"""Where the members of an `Enum` have their names and values."""


def _is_plain(meta: type) -> bool:
    """Whether attributes of a metaclass's classes are found like plain classes' attributes."""
    getter: Any = meta.__getattribute__
    return getter is type.__getattribute__


def _is_data_descriptor(entry: object) -> bool:
    return hasattr(type(entry), "__set__") or hasattr(type(entry), "__delete__")


_STEPS: dict[str, Callable[[Records, Any, Any], tuple[Source | None, Any]]] = {
    "attr": Records._attribute, "item": Records._item, "type": Records._type,
    "entry": Records._entry, "super": Records._behind, "own": Records._own,
    "methods": Records._methods,
}
