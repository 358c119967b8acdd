"""Pools of objects: each attribute has a list of its values, by the numbers of the objects."""

from __future__ import annotations

import dataclasses
from types import FunctionType
from typing import Any

from tracejit.trace.containers.numbered import ObjectReference
from tracejit.trace.containers.records import is_record
from tracejit.trace.ground.context import Frame, current

__all__ = ["Making", "ObjectPool", "can_be_pooled", "pool_of_class"]


class Making:
    """An object whose `__init__` is running.

    depth   -- in how many regions it began
    is_last -- whether all objects of the pool before it have all of their attributes
    """

    def __init__(self, x: ObjectReference, is_last: bool) -> None:
        self.x, self.is_last = x, is_last
        self.depth = current().depth
        self.has: set[str] = set()
        """The attributes that it surely has."""
        self.may_have: set[str] = set()


class ObjectPool:
    """The objects of a class: for each attribute a list of values, by the objects' numbers."""

    is_held = True

    def __init__(self, cls: type, around: Frame | None) -> None:
        self.site = self.cls = cls
        self.around = around
        self.made: list[int] = self._new_list()
        self.things: dict[str, list[Any]] = {}
        self.some: dict[str, list[int]] = {}
        """For an attribute that may be None, whether it is something."""
        self.kinds: dict[str, set[str]] = {}
        self.fields: frozenset[str] | None = None
        """The attributes that each object has once it is made."""
        self.making: list[Making] = []
        self.is_regular = True
        """Whether each object that was made has all of its attributes."""

    def _new_list(self) -> list[Any]:
        made: list[Any] = []
        current().of_pools[id(made)] = made
        if self.around is not None:
            self.around.created[id(made)] = made
        return made

    def lists_of(self, name: str) -> tuple[list[int], list[Any]]:
        """Return the lists of an attribute; they were there before all loops and branches."""
        if name not in self.things:
            self.some[name], self.things[name] = self._new_list(), self._new_list()
            current().link_keys[id(self.things[name])] = self.cls, name
        return self.some[name], self.things[name]

    def lists_of_attributes(self) -> list[list[Any]]:
        """Return the lists that a new object lengthens, as far as is known."""
        facts = current().pool_facts
        return [xs for name, things in self.things.items() for xs in (
            (self.some[name], things) if (self.cls, name) in facts.optional else (things,))]


def pool_of_class(cls: type) -> ObjectPool:
    """Return the pool of the objects of a class."""
    trace = current()
    around = next((f for f in reversed(trace.frames) if f.kind in ("map", "call")), None)
    key = cls, id(around)
    if key not in trace.pools:
        trace.pools[key] = ObjectPool(cls, around)
    found: ObjectPool = trace.pools[key]
    return found


_OWN_WAYS = ("__getattr__", "__getattribute__", "__delattr__", "__del__", "__get__", "__iter__",
             "__next__", "__call__", "__enter__")


def can_be_pooled(cls: type) -> bool:
    """Return whether objects of a class have attributes alone, and Python itself sets these."""
    ways: Any = cls
    if any(name in vars(base) for base in cls.__mro__[:-1] for name in _OWN_WAYS):
        return False  # and no object is made on trial, of which `__del__` would run
    if type(cls) is not type or ways.__new__ is not object.__new__ or not is_record(_blank(cls)):
        return False
    if dataclasses.is_dataclass(cls):
        return all(f._field_type is dataclasses._FIELD  # type: ignore[attr-defined]
                   for f in cls.__dataclass_fields__.values())
    return ways.__setattr__ is object.__setattr__ and isinstance(ways.__init__, FunctionType)


def _blank(cls: type) -> Any:
    return object.__new__(cls)
