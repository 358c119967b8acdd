"""The iterators of loops: Python's, and the generators of users' objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tracejit.trace.containers.places import Choice
from tracejit.trace.containers.runs import has_runs
from tracejit.trace.containers.stand_ins import StandIn, note_use
from tracejit.trace.ground.context import current
from tracejit.trace.ground.upward import ABOVE, above
from tracejit.trace.python import list_functions
from tracejit.trace.python.calls_with_containers import items_in
from tracejit.trace.python.special_methods import is_generator, is_plain, special_method
from tracejit.trace.regions.choosing import told_from_none
from tracejit.trace.state.changes import advance, is_iterator
from tracejit.trace.state.key_orders import refuse_order
from tracejit.trace.state.reachable import calls_functions
from tracejit.trace.state.uncaptured import call_watched, read_unseen
from tracejit.trace.state.yielding import UsersGenerator

__all__ = ["begun", "iterate", "mapping_of"]


@above
def begun(x: Any) -> Any:
    """Return the generator that goes through an object, if one of users' does; else the object."""
    if is_plain(x) or isinstance(x, (StandIn, Choice, UsersGenerator)):
        return x
    method = current().captured.entry(x, "__iter__")
    if not is_generator(method):
        return x
    made = ABOVE.call_function(method, (x,), {})
    return made if isinstance(made, UsersGenerator) else x


@above
def iterate(x: Any) -> Iterator[Any]:
    """Return an iterator over an iterable, by captured methods where users' classes have them."""
    x = begun(x)
    if isinstance(x, UsersGenerator):
        return x
    if isinstance(x, StandIn):
        return iterate(items_in(x))
    if isinstance(x, Choice):
        x = told_from_none(x, TypeError("'NoneType' object is not iterable"))
    if has_runs(x):
        return list_functions.items_of(x)
    note_use(x)
    method = special_method(x, "__iter__")
    if method is None:
        read_unseen(x)
    iterator: Iterator[Any] = iter(x) if method is None else iter(method(x))
    if is_iterator(iterator) and iterator is x:
        advance(iterator)
    if current().frames and (iterator is x or method is not None) and calls_functions(iterator):
        return _watched_items(iterator)
    following = special_method(iterator, "__next__")
    return iterator if following is None else _items_of_users(iterator, following)


def _watched_items(iterator: Iterator[object]) -> Iterator[Any]:
    """Yield the items of an iterator whose functions may change what they hold."""
    end = object()
    while (item := call_watched(next, (iterator, end), {}, "next()")) is not end:
        yield item


def mapping_of(x: object) -> Any:
    """Return the mapping that `**x` unpacks: for a user's object, a dict that its methods make."""
    if id(x) in current().captured.namespaces:
        read_unseen(x)
    if is_plain(x) or isinstance(x, (dict, StandIn, Choice)):
        refuse_order(x)
        return x
    method = special_method(x, "__getitem__")
    if method is None:
        read_unseen(x)
        return x
    keys = special_method(x, "keys")
    return {key: method(x, key) for key in iterate(x if keys is None else keys(x))}


def _items_of_users(iterator: object, following: Callable[[object], object]) -> Iterator[Any]:
    """Yield the items of an iterator of a user's class, whose method is captured."""
    while True:
        try:
            item = following(iterator)
        except StopIteration:
            return
        yield item
