"""Dicts of which data decides which of some keys they have: their length, views, methods by key.

A branch that sets a key leaves the dict with a `MaybeUnset` for it, after

    found = {}
    if x > 0.0:
        found["root"] = np.sqrt(x)

A loop over such a dict has a branch for each of these keys: each is known, and comes in an order
that is known, or the loop is refused.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeGuard

from tracejit.trace.containers.places import UNSET, MaybeUnset, present
from tracejit.trace.containers.stand_ins import StandIn, note_use
from tracejit.trace.ground.context import current
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.python.items_by_data import refuse_moving
from tracejit.trace.python.special_methods import note_lookup
from tracejit.trace.regions.choosing import content_or
from tracejit.trace.state.changes import before_change, before_loss, note_made
from tracejit.trace.state.key_orders import refuse_order, with_orders_of

__all__ = ["METHODS_BY_KEY", "VIEWS", "EntriesByData", "Entry", "copied", "count_of",
           "has_keys_by_data", "loses_keys_by_data", "pop_key"]


def has_keys_by_data(x: object) -> TypeGuard[dict[object, object]]:
    """Return whether something is a dict that has a key, or an order of keys, by data."""
    return isinstance(x, dict) and (any(isinstance(c, MaybeUnset) for c in dict.values(x)) or any(
        holder is x for holder, *_ in current().key_orders))


def count_of(x: dict[object, object]) -> Any:
    """Return how many keys a dict has."""
    found: Any = sum(not isinstance(c, MaybeUnset) for c in dict.values(x))
    for content in dict.values(x):
        if isinstance(content, MaybeUnset):
            found = found + ABOVE.call_function(int, (content.is_set,), {})
    return found


def copied(x: dict[object, object], kind: type | None = None) -> Any:
    """Return a copy of a dict, of its own kind or of another: it has what the dict has."""
    note_use(x)
    current().captured.freeze(x)
    return note_made(with_orders_of([x], copy.copy(x) if kind is None else kind(x)))


def _content(owner: dict[object, object], key: object) -> Any:
    """Return what a dict has for a key, which may be a `MaybeUnset`; `UNSET` for nothing."""
    note_use(owner)
    refuse_moving(owner, key)
    current().captured.freeze(owner)
    note_lookup(owner, key)
    return dict.get(owner, key, UNSET)


def _get(owner: dict[object, object], key: object, default: object = None) -> Any:
    content = _content(owner, key)
    if isinstance(content, MaybeUnset):
        return content_or(content, lambda: default)
    return default if content is UNSET else content


def _setdefault(owner: dict[object, object], key: object, default: object = None) -> Any:
    content = _content(owner, key)
    if content is UNSET:
        before_change(owner, key)
        owner[key] = default
    elif isinstance(content, MaybeUnset):
        before_change(owner, key)
        owner[key] = content_or(content, lambda: default)
    return owner[key]


def pop_key(owner: dict[object, object], key: object, *default: object) -> Any:
    """Carry out `owner.pop(key, *default)`."""
    content = _content(owner, key)
    if content is UNSET:
        if not default:
            raise KeyError(key)
        return default[0]
    if isinstance(content, MaybeUnset) and default:
        found = content_or(content, lambda: default[0])
    else:
        found = present(content, KeyError, repr(key))
    before_loss(owner, key)
    (OrderedDict if isinstance(owner, OrderedDict) else dict).pop(owner, key)
    return found


Entry = tuple[Any, Callable[[], object]]
"""Whether a dict has a key, and a function that gives what a loop has for it."""

METHODS_BY_KEY: dict[str, Callable[..., Any]] = {
    "get": _get, "setdefault": _setdefault, "pop": pop_key}
"""The methods of dicts that ask for one key, by their names; the key is known."""


def loses_keys_by_data(owner: object) -> bool:
    """Return whether a key that a dict loses here is one that it may have lost by data."""
    return isinstance(owner, dict) and has_only_branches(owner) and (
        has_keys_by_data(owner) or len(current().frames) > 0)


def has_only_branches(owner: object) -> bool:
    """Return whether all regions around, since a dict was made, are branches."""
    for frame in reversed(current().frames):
        if id(owner) in frame.created:
            return True
        if frame.kind != "if":
            return False
    return True


class EntriesByData(StandIn):
    """The view of such a dict, with what the dict has when the view is asked."""

    def __init__(self, holder: dict[object, object]) -> None:
        self._holder = holder

    @staticmethod
    def item(key: object, content: object) -> object:
        """Return what a loop over the view has for a key."""
        return key

    def entries(self) -> Iterator[Entry]:
        """Yield, as a loop comes to each key, whether it is there, and the item of the loop."""
        note_use(self._holder)
        refuse_order(self._holder)
        for key in [*self._holder]:
            content = _content(self._holder, key)
            is_set, plain = (content.is_set, content.content) if isinstance(
                content, MaybeUnset) else (content is not UNSET, content)
            yield is_set, lambda key=key, plain=plain: self.item(key, plain)  # type: ignore[misc]

    def size(self) -> Any:
        """Return how many keys the dict has now, and whether each of them is there."""
        flags = [c.is_set if isinstance(c, MaybeUnset) else True
                 for c in dict.values(self._holder)]
        return flags, count_of(self._holder)

    def on__len__(self) -> Any:
        return len(self._holder)

    def on__bool__(self) -> Any:
        return bool(self._holder)

    def on_items(self) -> Any:
        found: list[Any] = []
        view: Any = self
        for x in view:
            found.append(x)
        return found


class _Keys(EntriesByData):
    kind: ClassVar[type] = type({}.keys())

    def on__contains__(self, x: object) -> Any:
        return x in self._holder


class _Values(EntriesByData):
    kind: ClassVar[type] = type({}.values())

    @staticmethod
    def item(key: object, content: object) -> object:
        return content


class _Items(EntriesByData):
    kind: ClassVar[type] = type({}.items())

    @staticmethod
    def item(key: object, content: object) -> object:
        return (key, content)


VIEWS: dict[str, Callable[[dict[object, object]], EntriesByData]] = {
    "keys": _Keys, "values": _Values, "items": _Items}
"""The views, by the names of the methods that make them."""
