"""Items of containers, read, set and deleted."""

from __future__ import annotations

import operator
import os
import sys
from collections import ChainMap, Counter, defaultdict
from types import FunctionType
from typing import Any

import numpy as np

from tracejit.trace.containers.numbered import Numbered
from tracejit.trace.containers.places import MaybeUnset, present
from tracejit.trace.containers.references import Reference, note_put
from tracejit.trace.containers.runs import has_runs, holds_runs, is_index
from tracejit.trace.containers.stand_ins import StandIn, note_use
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import INDEXED
from tracejit.trace.ground.modules import home_of_class
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.lists.orders import indexable, is_known
from tracejit.trace.python import list_items
from tracejit.trace.python.instances import made_list, noted_list
from tracejit.trace.python.items_by_data import item_by_data, need_run_of, refuse_moving
from tracejit.trace.python.keys_by_data import loses_keys_by_data, pop_key
from tracejit.trace.python.kinds_of_values import holds_traced, type_of
from tracejit.trace.python.special_methods import is_plain, note_lookup, special_method
from tracejit.trace.regions.choosing import content_or
from tracejit.trace.state.changes import CONTAINERS, before_change, note_made
from tracejit.trace.state.running import watched
from tracejit.trace.state.uncaptured import call_watched, read_unseen, unseen
from tracejit.trace.values.equations import cast, is_weak, lift
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__ = ["delete_item", "get_item", "set_item"]


_INDEXED = tuple(map(type, (np.r_, np.c_, np.mgrid, np.ogrid)))


def get_item(container: Any, key: Any) -> Any:
    """Return `container[key]`."""
    if isinstance(container, _INDEXED) and any(
            map(_is_traced_part, key if isinstance(key, tuple) else (key,))):
        return INDEXED[container](key)
    if isinstance(container, np.ndarray):
        container = lift(container)
    container, key = _with_references(container, key)
    if isinstance(container, _PLACED):
        key = _as_index(key, container)
    if has_runs(container):
        return list_items.get_item(container, key)
    if type(container) is list and isinstance(key, SymInt) and (
            found := list_items.item_of_a_growing_list(container, key)) is not None:
        return found
    need_run_of(container, key)
    if (found := item_by_data(container, key, get_item)) is not None:
        return found
    note_use(container)
    refuse_moving(container, key)
    if id(container) in current().captured.namespaces:
        return current().captured.item(container, key)
    if isinstance(container, type(os.environ)):
        asked = current().captured.asked(container.__getitem__, (key,), {})
        if asked is not NotImplemented:
            return asked
    method = special_method(container, "__getitem__")
    if method is not None:
        return method(container, key)
    if isinstance(container, Tracer):
        return container[key]
    if isinstance(container, SymInt):
        raise TypeError("'int' object is not subscriptable")
    return _item_of_pythons(container, key)


def _is_traced_part(x: object) -> bool:
    """Return whether a part of an index of `np.r_` or `np.mgrid` is traced, or an end of it."""
    return holds_traced((x.start, x.stop, x.step) if isinstance(x, slice) else x)


_IN_A_DICT = 3
"""The reference count of an object that a `default_factory` made and its dict alone holds."""


def _item_of_pythons(container: Any, key: Any) -> Any:
    """Return an item of a container in Python, where keys may be unset and reading may run code."""
    for kind in current().captured.freeze(container):
        unseen(f"reading a {kind.__qualname__}")
    note_lookup(container, key)
    makes = container.default_factory if isinstance(container, defaultdict) else None
    is_new = makes is not None and key not in container
    if is_new:
        before_change(container, key)
    if home_of_class(type(container)) in ("builtins", "collections", "numpy"):
        if type(container) in _QUIET:
            content = container[key]
        elif is_new and makes is not None and not isinstance(makes, (type, FunctionType)):
            content = container[key] = call_watched(makes, (), {}, "default_factory()", makes)
        else:
            with watched():
                content = container[key]
        if isinstance(key, slice) and type(container) in CONTAINERS:
            note_made(content)
            return noted_list(content) if type(content) is list else content
        if is_new and type(content) in CONTAINERS and sys.getrefcount(content) <= _IN_A_DICT:
            note_made(content)
            if type(content) is list:
                container[key] = content = made_list(content)
                note_put(content)
    else:
        content = call_watched(operator.getitem, (container, key), {}, "reading an item")
    if isinstance(content, MaybeUnset) and isinstance(container, ChainMap):
        read_unseen(container)  # refuses it: another of its dicts may have the key
    if isinstance(content, MaybeUnset) and type(container) is Counter:
        return content_or(content, lambda: 0)
    if isinstance(content, MaybeUnset) and makes is not None:
        before_change(container, key)
        container[key] = content = content_or(content, makes)
    return present(content, KeyError, repr(key))


def _with_references(container: object, key: object) -> tuple[Any, Any]:
    """Return a container and a key: the key's list as an array, a list's references in one run."""
    if isinstance(key, Reference) and isinstance(container, Tracer):
        return container, ABOVE.call_function(np.array, (key,), {})
    if isinstance(container, (list, tuple)) and len(container) > 0 and all(
            isinstance(x, Numbered) for x in container) and is_index(key) and not is_known(key):
        container = container if isinstance(container, list) else note_made([*container])
        indexable(container)
    return container, key


_QUIET = frozenset((list, tuple, dict, str, bytes, range, np.ndarray))
"""The types whose items are read without running users' code, but for methods of keys."""


_PLACED = (list, tuple, str, bytes, bytearray, range, Tracer)
"""The types that have items by index."""


def _as_index(key: object, container: object = None) -> Any:
    """Return an index with the `__index__` of each object of a user's class in it.

    A traced bool becomes an int where the container is no array.
    """
    if type(key) is tuple:
        return tuple(map(_as_index, key))
    if isinstance(key, Tracer) and not isinstance(container, Tracer) and container is not None and (
            not key.is_array and key.dtype == np.bool_ and is_weak(key)):
        return cast(key, np.dtype(np.int64))
    if type(key) is slice:
        return slice(*map(_as_index, (key.start, key.stop, key.step)))
    if is_plain(key) or type(key) is bool:
        return key
    if isinstance(key, int):  # Python takes the number, whatever `__index__` the class has
        return int.__index__(key)
    method = special_method(key, "__index__")
    return key if method is None else method(key)


def _require_array(x: Tracer) -> None:
    """Raise Python's error where an item of a number is assigned to."""
    if not (x.is_array or x.dims):
        kind = type_of(x)
        text = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
        raise TypeError(f"{text!r} object does not support item assignment")


def set_item(container: object, key: Any, content: Any) -> None:
    """Carry out `container[key] = content`."""
    if isinstance(container, _PLACED):
        key = _as_index(key, container)
    if isinstance(container, Tracer):
        _require_array(container)
        container[key] = content
        return
    note_put(content)
    if isinstance(container, np.ndarray):
        raise refuse("writing to an array that code made which is not captured",
                     "Write to a copy: x = x.copy()", "TJ402")
    if isinstance(container, list) and (has_runs(container) or (
            isinstance(key, slice) and holds_runs(content))):
        place = list_items.set_item(container, key, content)
        if place is None:
            return
        key = place
    method = special_method(container, "__setitem__")
    if method is not None:
        method(container, key, content)
        return
    note_use(container)
    need_run_of(container, key)
    if type(container) is list:
        refuse_moving(container, key)
    if isinstance(container, (list, dict)) and not isinstance(key, slice):
        if isinstance(container, list) or isinstance(key, SymInt):
            key = operator.index(key)
        if isinstance(container, list) and -len(container) <= key < 0:
            key += len(container)  # one item, one place
        if not _holds(container, key, content):
            before_change(container, key)
            container[key] = content
        return
    if isinstance(content, StandIn):
        raise refuse("assigning to a slice of a list what data chooses among lists",
                     "Give the list its items one by one, by append() or an index", "TJ414")
    call_watched(operator.setitem, (container, key, content), {}, "assigning to a slice of a list")


def _holds(container: Any, key: object, content: object) -> bool:
    """Whether an item already is the array that is assigned, as after `d[key] += 1`."""
    if not isinstance(content, Tracer):
        return False
    if isinstance(container, dict):
        return dict.get(container, key) is content
    try:
        return container[key] is content
    except LookupError:
        return False


def delete_item(container: Any, key: object) -> None:
    """Carry out `del container[key]`."""
    if isinstance(container, _PLACED):
        key = _as_index(key, container)
    if has_runs(container):
        list_items.delete_item(container, key)
        return
    method = special_method(container, "__delitem__")
    if method is not None:
        method(container, key)
        return
    if loses_keys_by_data(container) and not isinstance(key, TracedOperand):
        pop_key(container, key)
        return
    note_use(container)
    call_watched(operator.delitem, (container, key), {}, "deleting an item")
