"""All items of a list as a place: what a branch leaves in a list that it makes longer or shorter.

Such a branch is traced once, so that it cannot begin with the items in a Log: an operation in a
`try` opens it (`regions/attempts.py`). Afterwards the list has the items that it has in the branch
that was taken, in arrays of one form where the two have not as many.
"""

from __future__ import annotations

from collections.abc import Iterable

from tracejit.trace.containers.places import ItemPlace
from tracejit.trace.ground.context import Place, refuse

__all__ = ["WholeList", "lists_among", "settled_places"]


class WholeList:
    """The items of a list, as many as there are."""

    depth: int
    items: list[object]

    __slots__ = ("depth", "items")
    name = "a list"

    def __init__(self, items: list[object], depth: int) -> None:
        self.items, self.depth = items, depth

    @property
    def key(self) -> object:
        """Return the list, and that all of it is meant."""
        return (id(self.items), WholeList)

    def get(self) -> object:
        """Return a copy, as the list itself may get other items."""
        return [*self.items]

    def set(self, content: object) -> None:
        """Give the list other items."""
        if type(content) is not list:
            raise refuse("a list that gets longer or shorter in a `try`, where data decides "
                         "whether it comes to that, and whose items are of different kinds",
                         "Give all items one kind, or change the list after the `try`", "TJ410")
        self.items[:] = content


def lists_among(places: Iterable[Place]) -> list[WholeList]:
    """Return the lists among some places."""
    return [p for p in places if isinstance(p, WholeList)]


def settled_places(places: dict[object, Place]) -> dict[object, Place]:
    """Return places without the single items of lists of which all items are one."""
    whole = {id(p.items) for p in lists_among(places.values())}
    return {key: p for key, p in places.items()
            if not (isinstance(p, ItemPlace) and id(p.container) in whole)}
