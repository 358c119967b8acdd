"""Objects of users' classes that data chooses among: made, read and written.

The objects of a class are in one pool, which has a list for each attribute
(`trace/python/pooled_attributes.py`); a number stands for an object. So all names, lists and
attributes that hold one object see its changes, and `is` compares numbers.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from types import FunctionType, MemberDescriptorType, MethodType
from typing import Any

from tracejit.errors import Refusal, Restart
from tracejit.trace.containers.choices import options_of, possible
from tracejit.trace.containers.numbered import Numbered, ObjectReference
from tracejit.trace.containers.places import UNSET, Choice
from tracejit.trace.containers.references import note_put
from tracejit.trace.containers.stand_ins import StandIn
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.restarts import NeedOnePool, NeedPoolFact, Unroll
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.lists.orders import is_empty
from tracejit.trace.python.kinds_of_values import type_of
from tracejit.trace.python.object_pools import Making, ObjectPool, pool_of_class
from tracejit.trace.python.pooled_attributes import (
    counted_in,
    optional_of,
    put,
    put_optional,
    thing_of,
)
from tracejit.trace.python.users_functions import captured_function
from tracejit.trace.regions.raising import require_in_run
from tracejit.trace.state.paths import class_entry
from tracejit.trace.values.tracer import Tracer

__all__ = ["attribute_of_object", "made_in_pool", "refuse_augmented", "set_attribute_of_object"]

_OURS = frozenset(dir(ObjectReference)) - frozenset(dir(object)) | {"_pool", "_number"}
"""The names that an attribute must not have, for Python would find tracejit's attribute."""


# --- making ---------------------------------------------------------------------------------------


def made_in_pool(cls: Any, args: tuple[object, ...], kwargs: dict[str, object]) -> ObjectReference:
    """Make an object of a class whose objects are in a pool."""
    trace, pool = current(), pool_of_class(cls)
    for other in pool.making:
        other.is_last = False
    number = ABOVE.call_function(counted_in, (pool.made, *pool.lists_of_attributes()), {})
    x: ObjectReference = ObjectReference.of_pool(pool, number)
    making = Making(x, pool.is_regular and not pool.making)
    pool.making.append(making)
    try:
        for name in trace.pool_facts.names_with_defaults(cls):
            _set_field(x, name, _entry(cls, name))
        _initialise(cls, x, args, kwargs)
        _require_fields(pool, making)
    except (Unroll, Restart, Refusal):  # the traced equations are given up
        raise
    except BaseException:
        pool.is_regular = False
        raise
    finally:
        pool.making.remove(making)
    return x


def _initialise(cls: Any, x: ObjectReference, args: tuple[object, ...],
                kwargs: dict[str, object]) -> None:
    init = current().captured.entry_of(cls, "__init__")
    if dataclasses.is_dataclass(cls) and init.__code__.co_filename == "<string>":
        _initialise_dataclass(cls, x, args, kwargs)
        return
    if init is object.__init__ or init is None:
        if args or kwargs:
            raise TypeError(f"{cls.__name__}() takes no arguments")
        return
    ABOVE.call_function(init, (x, *args), kwargs)


def _initialise_dataclass(cls: Any, x: ObjectReference, args: tuple[object, ...],
                          kwargs: dict[str, object]) -> None:
    """Carry out the `__init__` that `dataclass` generates."""
    fields = [f for f in dataclasses.fields(cls) if f.init]
    by_place = [f.name for f in fields if not f.kw_only]
    if len(args) > len(by_place):
        raise TypeError(f"{cls.__name__}.__init__() takes {len(by_place) + 1} positional arguments "
                        f"but {len(args) + 1} were given")
    given = dict(zip(by_place, args, strict=False))
    for name, content in kwargs.items():
        if name in given or name not in {f.name for f in fields}:
            raise TypeError(f"{cls.__name__}.__init__() got an unexpected argument {name!r}")
        given[name] = content
    missing = [f.name for f in fields if f.name not in given and not _has_default(f)]
    if missing:
        raise TypeError(f"{cls.__name__}.__init__() missing required arguments: {missing}")
    for f in dataclasses.fields(cls):
        if f.name in given:
            _set_field(x, f.name, given[f.name])
        elif f.default is not dataclasses.MISSING:
            _set_field(x, f.name, f.default)
        elif f.default_factory is not dataclasses.MISSING:
            _set_field(x, f.name, ABOVE.call_function(f.default_factory, (), {}))
    after = current().captured.entry_of(cls, "__post_init__")
    if after is not None:
        ABOVE.call_function(after, (x,), {})


def _has_default(f: Any) -> bool:
    return f.default is not dataclasses.MISSING or f.default_factory is not dataclasses.MISSING


def _require_fields(pool: ObjectPool, making: Making) -> None:
    """Refuse an object that data, or another way of making it, gives other attributes."""
    if making.may_have - making.has:
        name = min(making.may_have - making.has)
        raise refuse(f"data decides whether, or where, {pool.cls.__name__}.__init__ sets the "
                     f"attribute {name!r}", "Set it before all branches and loops there, to None "
                     "or a number, say", "TJ420")
    if pool.fields is not None and pool.fields != making.has:
        name = min(pool.fields ^ making.has)
        raise refuse(f"some objects of the class {pool.cls.__name__} have the attribute {name!r}, "
                     "and others do not, where data decides which one is meant",
                     "Set it in __init__, to None, say", "TJ420")
    pool.fields = frozenset(making.has)


# --- attributes -----------------------------------------------------------------------------------


def attribute_of_object(x: ObjectReference, name: str) -> Any:
    """Return `x.name`."""
    pool, captured = x._pool, current().captured
    cls: type = pool.cls
    if name == "__class__":
        return cls
    if name in ("__dict__", "__slots__"):
        raise x.refused(f"the {name} of")
    found = _entry(cls, name)
    if isinstance(found, property):
        getter = captured_function(found.fget)
        if getter is None:
            raise x.refused(f"the property {name!r} of")
        return getter(x)
    if name in pool.things and (isinstance(found, MemberDescriptorType) or _is_plain(found)):
        return _field(x, name)
    if isinstance(found, FunctionType):
        return MethodType(found, x)
    if found is UNSET or isinstance(found, MemberDescriptorType):
        raise AttributeError(f"{cls.__name__!r} object has no attribute {name!r}")
    if isinstance(found, staticmethod | classmethod) or _is_plain(found):
        return captured.attribute(cls, name)
    raise x.refused(f"the attribute {name!r} of")


def _is_plain(found: object) -> bool:
    """Return whether an entry of a class is no descriptor: its objects have it as it is."""
    return not hasattr(type(found), "__get__")


def _entry(cls: type, name: str) -> Any:
    """Return the entry of a class or its bases, under a guard; `UNSET` where there is none."""
    captured = current().captured
    try:
        found = class_entry(cls, name)
    except AttributeError:
        captured.entry_of(cls, name)
        return UNSET
    return captured.attribute(cls, name) if found is None else captured.entry_of(cls, name)


def _field(x: ObjectReference, name: str) -> Any:
    """Return an attribute of an object; `AttributeError` if it is unset, in the run if need be."""
    pool = x._pool
    some, things = pool.lists_of(name)
    missing = AttributeError(f"{pool.cls.__name__!r} object has no attribute {name!r}")
    for making in pool.making:
        if name in making.has:
            continue
        if name in making.may_have:
            raise refuse(f"reading the attribute {name!r} while an __init__ may have set it, as "
                         "data decides", "Set it before all branches and loops there", "TJ420")
        if making.x is x:
            raise missing
        other = ABOVE.compare("NotEq", x._number, making.x._number)
        if other is False:
            raise missing
        if other is not True:
            require_in_run(other, missing)
    if (pool.cls, name) in current().pool_facts.optional:
        return ABOVE.call_function(optional_of, (some, things, x._number), {})
    if is_empty(things):
        raise missing
    return ABOVE.call_function(thing_of, (things, x._number), {})


def set_attribute_of_object(x: ObjectReference, name: str, content: Any) -> None:
    """Carry out `x.name = content`."""
    cls: Any = x._pool.cls
    found = _entry(cls, name)
    if isinstance(found, property):
        setter = captured_function(found.fset)
        if setter is None:
            raise x.refused(f"setting the property {name!r} of")
        setter(x, content)
        return
    if cls.__setattr__ is not object.__setattr__:
        raise x.refused(f"setting the attribute {name!r}, which is frozen, of")
    if hasattr(type(found), "__set__") and not isinstance(found, MemberDescriptorType):
        raise x.refused(f"setting the attribute {name!r} of")
    _set_field(x, name, content)


def _set_field(x: ObjectReference, name: str, content: Any) -> None:
    pool = x._pool
    if name in _OURS:
        raise refuse(f"an attribute that is called {name!r}, of an object that data chooses",
                     "Give it another name", "TJ412")
    making = next((m for m in pool.making if m.x is x), None)
    if making is None and pool.fields is not None and name not in pool.fields:
        _refuse_new_field(pool, name)
    note_put(content)
    _require_pools(pool, name, content)
    _note_kinds(pool, name, content)
    some, things = pool.lists_of(name)
    is_first = making is not None and name not in making.may_have
    is_last = is_first and making is not None and making.is_last and (
        making.depth == current().depth)
    if (pool.cls, name) in current().pool_facts.optional:
        ABOVE.call_function(put_optional, (some, things, x._number, content, is_last), {})
    else:
        ABOVE.call_function(put, (things, x._number, content, is_last), {})
    if making is not None:
        making.may_have.add(name)
        if making.depth == current().depth:
            making.has.add(name)


def _refuse_new_field(pool: ObjectPool, name: str) -> None:
    try:
        found = class_entry(pool.cls, name)
    except AttributeError:
        found = property()
    if found is not None and not isinstance(found, (bool, int, float)):
        raise refuse(f"the attribute {name!r} of a {pool.cls.__name__}, which data chooses, is set "
                     "after it was made", "Set it in __init__, to None, say", "TJ420")
    raise NeedPoolFact("defaults", (pool.cls, name))


def _require_pools(pool: ObjectPool, name: str, content: object) -> None:
    """Begin again where an attribute is a list, which has to be in a pool, too."""
    if type(content) is list and (found := current().made_lists.get(id(content))) is not None:
        raise NeedOnePool(found[2], found[2])
    if isinstance(content, (list, dict, set, frozenset, deque)) or (
            isinstance(content, StandIn) and not isinstance(content, Numbered)):
        raise refuse(f"the attribute {name!r} of a {pool.cls.__name__}, where data decides which "
                     f"one is meant, is a {type_of(content).__name__}",
                     "Use a list that __init__ makes, or an array", "TJ412")


def _note_kinds(pool: ObjectPool, name: str, content: Any) -> None:
    """Note the kinds of an attribute's values; begin again where None is among plain values."""
    kinds = pool.kinds.setdefault(name, set())
    left = possible(content) if isinstance(content, Choice) else [0]
    for k in left:
        x = options_of(content)[k]
        kinds.add("None" if x is None else "thing" if isinstance(x, Numbered) else "other")
    if {"thing", "other"} <= kinds:
        raise refuse(f"the attribute {name!r} of a {pool.cls.__name__} is an object or list in one "
                     "place, and something else in another", "Use two attributes", "TJ412")
    if {"None", "other"} <= kinds and (pool.cls, name) not in current().pool_facts.optional:
        raise NeedPoolFact("optional", (pool.cls, name))


def refuse_augmented(x: object, name: str, old: object) -> None:
    """Refuse to write to an array that is an attribute, which other things may hold as well."""
    if isinstance(x, ObjectReference) and isinstance(old, Tracer) and old.is_array and old.dims:
        raise refuse(f"an augmented assignment to the array {name!r} of a "
                     f"{x.stands_for.__name__}, where data decides which one it is",
                     f"Make another array: x.{name} = x.{name} + ...", "TJ412")

