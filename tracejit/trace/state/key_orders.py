"""The orders that data decides: of a dict's keys and an object's attributes after branches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tracejit.trace.containers.heap import reached_from
from tracejit.trace.containers.places import MaybeUnset, holder_of
from tracejit.trace.ground.attributes import names_in
from tracejit.trace.ground.context import Place, current, refuse

__all__ = ["note_orders", "orders_left", "refuse_order",
           "refuse_orders_within", "with_orders_of"]


def orders_left(places: Iterable[Place]) -> dict[int, list[object]]:
    """Return the order of the keys in each dict or object that a branch changed, by its id."""
    holders = [h for p in places if (h := holder_of(p)) is not None]
    return {id(h): names_in(h) for h in holders if _has_keys(h)}


def _has_keys(x: object) -> bool:
    return isinstance(x, dict) or (not isinstance(x, type) and hasattr(x, "__dict__"))


def note_orders(places: Iterable[Place], before: dict[int, list[object]],
                orders: Sequence[dict[int, list[object]]]) -> None:
    """Note the dicts and objects whose keys two branches leave in different orders.

    before -- the orders before the branches
    orders -- the orders in which each branch leaves the keys
    """
    trace = current()
    for p in places:
        x = holder_of(p)
        if id(x) in before:
            old = before.pop(id(x))
            left = [found.get(id(x), old) for found in orders]
            if any(order != names_in(x) for order in left):
                trace.key_orders.append((x, left, _flags(x)))


def _flags(x: object) -> dict[object, object]:
    """Return whether a dict has the keys of which data decides that."""
    return {k: c.is_set for k, c in dict.items(x) if isinstance(c, MaybeUnset)} if isinstance(
        x, dict) else {}


def with_orders_of(before: Iterable[object], made: object) -> object:
    """Return a dict that was made for others; data may decide on the order of its keys, too."""
    key_orders = current().key_orders
    key_orders += [(made, *orders) for holder, *orders in key_orders
                   if any(holder is x for x in before)]
    return made


def refuse_orders_within(x: object) -> None:
    """Refuse to copy what an object holds, in any depth, where data decides on an order of keys."""
    if current().key_orders:
        for part in reached_from([x]):
            if part is not x:
                refuse_order(part)


def refuse_order(x: object) -> None:
    """Refuse to go through a dict's keys where data decides in which order they are."""
    trace = current()
    owner = trace.own_names.get(id(x))
    for holder, orders, flags in trace.key_orders:
        if holder is x or (owner is not None and holder is owner):
            names, present = names_in(x), _flags(x)
            known = [k for order in orders for k in order]
            absent = {k for k, flag in flags.items() if present.get(k) is flag}
            for order in orders:  # a key that the branch has not set, nor any later one, is absent
                now = [k for k in names if k in order or k not in absent]
                if _in_present(now, order, known) == now:
                    continue
                raise refuse(f"the order of the keys of a {type(holder).__name__} depends on data, "
                             "as branches set them in different orders, and something asks for it",
                             "Set its keys once before the branches", "TJ418")


def _in_present(now: list[object], order: list[object],
                known: list[object]) -> list[object]:
    """Return the present keys in the order that one branch left, and then the later ones.

    A key that another branch has set may have come at any time since: it counts as the last.

    known -- the keys of both branches
    """
    left = [k for k in order if k in now]
    later = [k for k in now if k not in left]
    return left + [k for k in later if k not in known] + [k for k in later if k in known]
