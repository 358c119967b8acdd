"""Objects from outside by the paths that lead to them, and guards on their classes and names."""

from __future__ import annotations

import sys
from abc import ABCMeta
from enum import Enum
from types import ModuleType
from typing import Any

from tracejit.trace.ground.modules import is_fixed, is_followed
from tracejit.trace.state.guards import ABSENT, Guarded
from tracejit.trace.state.paths import Holder, Path, class_entry

__all__ = ["Outside"]

_IMMUTABLE = 1 << 8
"""The flag of classes whose objects cannot get another class."""


def _may_get_another(cls: type) -> bool:
    """Return whether `x.__class__ = ...` is possible for the objects of a class."""
    return cls is ModuleType or not cls.__flags__ & _IMMUTABLE


class Outside:
    """The objects that a capture has from outside: the path of each, and the guards on it."""

    def __init__(self) -> None:
        self.guards: list[Guarded] = []
        self.contents: dict[tuple[Any, ...], Any] = {}
        """The contents that are guarded, or inputs, by the keys of their paths."""
        self.paths: dict[int, tuple[Any, Path]] = {}
        """The objects from outside with their paths, by their ids."""
        self.held: set[tuple[Any, ...]] = set()
        """The keys of the paths whose content is guarded although it may be an input."""
        self.missing: set[tuple[Any, ...]] = set()
        """The keys of the paths that are guarded to lead to nothing."""

    def absent(self, path: Path) -> None:
        """Guard that nothing is at a path."""
        if path.key not in self.missing:
            self.missing.add(path.key)
            self.guards.append(Guarded(path, ABSENT))

    def guard(self, path: Path, content: Any) -> None:
        """Guard the content of a path, unless it is captured already."""
        if path.key not in self.contents:
            self.guards.append(Guarded(path, content))

    def hold(self, path: Path, content: Any) -> None:
        """Guard the content of a path, be it an input or not: uncaptured code reads it."""
        if path.key not in self.held:
            self.held.add(path.key)
            self.guards.append(Guarded(path, content))

    def forget_last(self, content: object) -> None:
        """Drop the newest guard if it is on this object, which the run finds by itself."""
        if content is not None and self.guards and self.guards[-1].content is content:
            del self.contents[self.guards.pop().path.key]

    def own(self, owner: object, path: Path) -> None:
        """Note that an object, an argument say, is to be read along a path."""
        self.paths[id(owner)] = (owner, path)

    def path_of(self, x: object) -> Path | None:
        """Return the path of an object from outside; None for an object that was made here."""
        found = self.paths.get(id(x))
        if found is not None:
            return found[1]
        if isinstance(x, Enum) and vars(type(x)).get("_member_map_", {}).get(x._name_) is x:
            self.own(x, self.path_of_class(type(x)).step("attr", x._name_))
            return self.paths[id(x)][1]
        return self.path_of_class(x) if isinstance(x, type) and is_followed(x) else None

    def path_of_class(self, cls: type) -> Path:
        """Return the path of a class: its own, or a root that holds it."""
        found = self.paths.get(id(cls))
        return Path(Holder(cls), cls.__qualname__) if found is None else found[1]

    def hold_under_its_name(self, cls: type) -> None:
        """Guard that a class is what its module has under its name, by which programs know it."""
        first, *rest = cls.__qualname__.split(".")
        path = Path(vars(sys.modules[cls.__module__]), first)
        for name in rest:
            path = path.step("attr", name)
        if path.key not in self.contents:
            self.hold(path, cls)

    def class_of(self, x: object) -> type:
        """Return the class of an object, which it must have at every call."""
        cls = type(x)
        found = self.paths.get(id(x))
        if found is not None and _may_get_another(cls):
            path = found[1].step("type", None)
            if path.key not in self.contents:
                self.contents[path.key] = cls
                self.guards.append(Guarded(path, cls))
            if is_followed(cls):
                self.paths.setdefault(id(cls), (cls, path))
        return cls

    def is_plain_module(self, module: ModuleType) -> bool:
        """Return whether a module is of Python's own module class, which is guarded.

        Another class of modules may compute their attributes.
        """
        if self.path_of(module) is None:
            self.own(module, Path(Holder(module), module.__name__))
        return self.class_of(module) is ModuleType

    def entry(self, x: Any, name: str) -> Any:
        """Return the entry of an object's class or its bases under a name; None if nothing.

        The class and its entry are guarded.
        """
        if isinstance(x, super):
            kinds: Any = x
            return self.entry_of(kinds.__self_class__, name, kinds.__thisclass__)
        return self.entry_of(self.class_of(x), name)

    def entry_of(self, cls: type, name: str, *behind: type) -> Any:
        """Return the entry of a class or its bases, or of the bases behind one, under a name."""
        try:
            found, there = class_entry(cls, name, *behind), True
        except AttributeError:
            found, there = None, False
        if is_followed(cls):
            path = self.path_of_class(cls).step(
                *(("super", (*behind, name)) if behind else ("entry", name)))
            if not there:
                self.absent(path)
            elif path.key not in self.contents:
                self.contents[path.key] = found
                self.guards.append(Guarded(path, found))
                if is_followed(type(found)) and hasattr(type(found), "__set__"):
                    self.paths.setdefault(id(found), (found, path))  # a user's descriptor
        return found

    def is_kind(self, cls: type, kind: type, *x: object) -> bool:
        """Guard the bases of a class, or the answer of an abstract class `kind` about it.

        Returns whether these guards hold all that decides if the class is of that kind.

        x -- the object of `isinstance`, if any: a protocol looks at its attributes
        """
        if is_followed(cls):
            self.guard(self.path_of_class(cls).step("attr", "__mro__"), cls.__mro__)
        by = type(kind)
        if by is type or not (is_followed(cls) or is_followed(kind)):
            return True
        if not issubclass(by, ABCMeta) or is_followed(by):
            return not is_followed(by)
        if x and getattr(kind, "_is_protocol", False):
            path = self.path_of_class(kind).step("call", ("__instancecheck__", x, ()))
            self.guard(path, isinstance(x[0], kind))
            return self.path_of(x[0]) is not None
        path = self.path_of_class(kind).step("call", ("__subclasscheck__", (cls,), ()))
        self.guard(path, issubclass(cls, kind))
        return True

    def has_no_attribute(self, owner: object, name: str) -> None:
        """Guard that an object from outside, or its class, has no attribute of a name."""
        if isinstance(owner, ModuleType) and is_fixed(owner.__name__):
            if owner.__name__.partition(".")[0] != "tracejit":  # imported at first use
                self.absent(Path(vars(owner), name))  # a program may put something there
            return
        path = self.path_of(owner)
        if path is not None:
            self.absent(path.step("attr", name))
        else:
            self.entry(owner, name)

    def shows_no_own(self, owner: object, name: str) -> None:
        """Guard that an object has no attribute of its own that would hide its class's entry."""
        path = self.path_of(owner)
        if path is not None:
            self.absent(path.step("own", name))
