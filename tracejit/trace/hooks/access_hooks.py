"""Hooks of names, attributes and items: read, bound and deleted, in Python's own way or traced."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import FunctionType
from typing import Any

from tracejit.trace.containers.choices import first_choice, narrowed, replaced
from tracejit.trace.containers.places import (
    UNSET,
    Choice,
    SharedName,
    name_places,
    present,
)
from tracejit.trace.containers.references import note_put
from tracejit.trace.containers.runs import has_runs
from tracejit.trace.ground.context import current
from tracejit.trace.python.attributes import (
    attribute_of_traced,
    delete_attribute,
    read_attribute,
    set_attribute,
)
from tracejit.trace.python.calls import call_function
from tracejit.trace.python.each_kind import (
    attribute_of_each,
    first_merged,
    may_be_array,
    of_each_kind,
    tells_elements,
    tells_items,
    with_array,
    with_kind,
)
from tracejit.trace.python.from_generators import some
from tracejit.trace.python.instances import by_data
from tracejit.trace.python.items import delete_item, get_item, set_item
from tracejit.trace.python.iterating import begun, iterate
from tracejit.trace.python.list_functions import unpacked
from tracejit.trace.python.pooled import DataList
from tracejit.trace.regions.choosing import (
    for_each_kind,
    refuse_new_axes,
    whole_number,
    with_plain,
)
from tracejit.trace.state.changes import known_container, note_made
from tracejit.trace.state.methods import may_be_called
from tracejit.trace.state.uncaptured import read_deeply, unseen
from tracejit.trace.state.yielding import UsersGenerator
from tracejit.trace.values.equations import (
    same_dim,
)
from tracejit.trace.values.mixed import Merged
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.symbolic_ints import python_dims
from tracejit.trace.values.tracer import Tracer

__all__ = ["AccessHooks"]


class AccessHooks:
    """What reads and binds names, attributes and items, and makes containers."""

    def __init__(self, fn: FunctionType) -> None:
        self.fn = fn

    def outer(self, name: str) -> Any:
        """Read a global or a name of an enclosing function."""
        return current().captured.name(self.fn, name)

    def class_name(self, name: str, bound: dict[str, object]) -> Any:
        """Read a name that a class body binds: in `bound` if it is there, else from around."""
        return bound[name] if name in bound else self.outer(name)

    def globals(self) -> Any:
        """Return the dict of the module that the function is of."""
        return current().captured.namespace(self.fn.__globals__)

    def locals(self, names: dict[str, object]) -> dict[str, Any]:
        """Return the contents of local names, and of names of enclosing functions among these."""
        outer = self.fn.__code__.co_freevars
        own = {name: content for name, content in names.items() if not name.startswith("_tj")}
        return own | {name: self.outer(name) for name in outer if name in own}

    vars = locals

    def dir(self, names: dict[str, object]) -> list[str]:
        """Return the local names."""
        return sorted(self.locals(names))

    def import_(self, name: str, is_top: bool) -> Any:
        """Return a module that is imported, or the package that it is in."""
        module = importlib.import_module(name)
        captured = current().captured
        if is_top:
            return captured.module(name.partition(".")[0])
        return captured.module(name) if sys.modules.get(name) is module else module

    def import_from(self, module: str, level: int, name: str) -> Any:
        """Return the object that `from module import name` binds; level counts the leading dots."""
        package = self.fn.__globals__.get("__package__") or ""
        full = importlib.util.resolve_name("." * level + module, package)
        importlib.import_module(full)
        owner = current().captured.module(full)
        try:
            return read_attribute(owner, name)
        except AttributeError:
            if f"{full}.{name}" in sys.modules or hasattr(owner, "__path__"):
                return self.import_(f"{full}.{name}", False)
            raise ImportError(f"cannot import name {name!r} from {full!r}", name=name) from None

    def read(self, content: Any) -> Any:
        """Read a local name that may be unset, depending on data."""
        return narrowed(present(content))

    def owns(self, names: FunctionType) -> None:
        """Note the names of a function that functions in it bind by `nonlocal`."""
        for cell in names.__closure__ or ():
            note_made(cell)

    def forgets(self, names: FunctionType) -> None:
        """Let go of the contents of names that are never read again: these are no uses."""
        for place in name_places(names.__code__.co_freevars, names):
            place.set(UNSET)

    def rebinds(self, names: FunctionType) -> None:
        """Note that a local function is about to bind names of functions around it."""
        trace = current()
        for name, cell in zip(names.__code__.co_freevars, names.__closure__ or (), strict=True):
            place = SharedName(name, cell, known_container(cell))
            trace.record(place, place.depth or 0)

    def getattr(self, owner: object, name: str) -> Any:
        """Read an attribute."""
        if isinstance(owner, Choice):
            return with_plain(owner, lambda x: self.getattr(x, name))
        if not isinstance(owner, TracedOperand):
            return narrowed(read_attribute(owner, name))
        if isinstance(owner, Merged):
            return attribute_of_each(owner, name)
        return attribute_of_traced(owner, name)

    def setattr(self, content: object, owner: object, name: str) -> None:
        """Set an attribute; its new content was evaluated first."""
        with_array(owner, lambda x: set_attribute(x, name, narrowed(content)))

    def delattr(self, owner: object, name: str) -> None:
        """Delete an attribute."""
        with_plain(owner, lambda x: delete_attribute(x, name))

    def getitem(self, container: object, key: object) -> Any:
        """Read an item."""
        if isinstance(container, Choice):
            return with_plain(container, lambda x: self.getitem(x, key))
        if (found := first_choice(key)) is not None:
            refuse_new_axes(container, found)
            return with_plain(found, lambda x: self.getitem(container, replaced(key, found, x)))
        if current().mixes and (merged := first_merged(key)) is not None and tells_items(merged):
            return for_each_kind(merged, lambda x: self.getitem(container, with_kind(
                key, merged, x)))
        if may_be_array(container):
            return of_each_kind(container, lambda x: self.getitem(x, key))
        return narrowed(get_item(container, key))

    def setitem(self, content: object, container: object, key: object) -> None:
        """Set an item; its new content was evaluated first."""
        if isinstance(container, Choice) or may_be_array(container):
            with_array(container, lambda x: self.setitem(content, x, key))
        elif (found := first_choice(key)) is not None:
            refuse_new_axes(container, found)
            with_plain(found, lambda x: self.setitem(content, container, replaced(key, found, x)))
        elif isinstance(container, Tracer) and isinstance(content, Choice):
            with_plain(content, lambda x: self.setitem(x, container, key))
        elif isinstance(container, Tracer) and isinstance(content, Merged) and (
                tells_elements(content, container.dtype)):
            for_each_kind(content, lambda x: self.setitem(x, container, key))
        elif current().mixes and (merged := first_merged(key)) is not None and tells_items(merged):
            for_each_kind(merged, lambda x: self.setitem(content, container, with_kind(
                key, merged, x)))
        else:
            set_item(container, key, narrowed(content))

    def delitem(self, container: object, key: object) -> None:
        """Delete an item."""
        if isinstance(container, Choice):
            with_plain(container, lambda x: self.delitem(x, key))
        elif (found := first_choice(key)) is not None:
            with_plain(found, lambda x: self.delitem(container, replaced(key, found, x)))
        else:
            delete_item(container, key)

    def slice(self, start: object, stop: object, step: object) -> slice:
        """Make a slice."""
        return slice(*map(whole_number, (start, stop, step)))

    def made(self, container: object) -> Any:
        """Note that a container was made here, so that the regions around may change it."""
        if type(container) is list:
            for x in container:
                note_put(x)
        return by_data(note_made(container))

    def keywords(self, given: dict[str, object]) -> None:
        """Note that a call made the dict of its `**given`."""
        for x in given.values():
            note_put(x)
        note_made(given)

    def keyed(self, container: Any, count: int) -> Any:
        """Note that a dict or set of so many keys was made: methods of the keys may have run."""
        read_deeply([*container])
        if len(container) < count and any(map(may_be_called, container)):
            unseen("a comparison of keys")  # of one that is not there any more
        for x in container.values() if isinstance(container, dict) else ():
            note_put(x)
        return by_data(note_made(container))

    def unpack(self, value: Any, count: int | None) -> Any:
        """Return the items that an assignment to several names unpacks."""
        if isinstance(value, Choice):
            return with_plain(value, lambda x: tuple(self.unpack(x, count)))
        value = begun(value)
        if isinstance(value, UsersGenerator):  # Python takes one item too many, to see that it is
            value = call_function(some, (value, None if count is None else count + 1), {})
        if has_runs(value) and count is not None:
            return unpacked(value, count)
        if isinstance(value, DataList) and count is not None:
            call_function(value.on_unpack, (count,), {})
            return tuple([call_function(value.on_item, (k,), {}) for k in range(count)])
        if has_runs(value):
            return tuple(iterate(value))
        if not isinstance(value, Tracer) or count is None:
            return value if isinstance(value, (Tracer, list, tuple)) else tuple(iterate(value))
        if not value.dims:
            raise TypeError("cannot unpack non-iterable number")
        if not same_dim(value.dims[0], count):
            trace = current()
            n = trace.number(value.dims[0]) if trace.is_known(value.dims[0]) else value.dims[0]
            relation = "not enough" if isinstance(n, int) and n < count else "too many"
            raise ValueError(f"{relation} values to unpack (expected {count})")
        if value.aval.shape[0] != count:
            value = value.reshape((count, *python_dims(value.dims[1:])))
        return tuple(value[k] for k in range(count))
