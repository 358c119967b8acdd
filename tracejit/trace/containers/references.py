"""References: stand-ins for a list in another container, where data decides which list it is.

The lists that are made at one place in the code have their items in one pool
(`trace/python/pooled.py`); a reference is the number of one of them. A number is merged by
branches, carried by loops and kept in lists like any other, so that all names for one list see each
change of it.
"""

from __future__ import annotations

import sys
from typing import Any

from tracejit.trace.containers.numbered import Numbered
from tracejit.trace.containers.runs import Run
from tracejit.trace.containers.stand_ins import StandIn, StandInRefused
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.restarts import NeedOnePool
from tracejit.trace.ground.source import rewritten_source

__all__ = ["Reference", "Site", "goes_by_data", "note_length", "note_list",
           "note_put", "note_stand_in", "pool_site", "require_one", "require_reference",
           "site_in_code"]

Site = tuple[Any, ...]
"""Where in the code a list is made: the lines of the calls, and which expression it is."""


class Reference(Numbered, StandIn):
    """A list of a pool, by its number."""

    @property
    def shown(self) -> list[Any]:
        """Return the copies of items of lists of the pool that something goes through by and by."""
        found: list[Any] = self._pool.shown
        return found

    def refused(self, what: str) -> StandInRefused:
        """Return the refusal of an operation, named `what`, on a list in a pool."""
        return StandInRefused.restating(refuse(
            f"{what} of a list in another container, where data decides which one it is",
            "Use its items by `for`, `in`, len() and its methods; return what is made of them",
            "TJ412"))


def require_one(a: Reference, b: Reference) -> None:
    """Begin again where two references are to lists of different pools."""
    if a._pool is not b._pool and type(a) is type(b):
        raise NeedOnePool(a._pool.site, b._pool.site)


def require_reference(a: object, b: object) -> None:
    """Begin again where one of two things is a reference and the other a list of Python's."""
    for x, y in ((a, b), (b, a)):
        if not isinstance(x, Reference) or type(y) is not list:
            continue
        found = current().made_lists.get(id(y))
        if found is not None and found[2] not in current().pooled:
            raise NeedOnePool(x._pool.site, found[2])


# --- which lists have to be references ------------------------------------------------------------


def site_in_code() -> Site:
    """Return which expression of captured code is evaluated, the same in every attempt.

    Of a function that calls itself the innermost call counts: there are as many as data says.
    """
    frame: Any = sys._getframe(1)
    at: Site = ()
    found: dict[int, Site] = {}
    while frame is not None:
        if (source := rewritten_source(frame.f_code)) is not None:
            at = at or (frame.f_code.co_name, frame.f_lasti)
            found.setdefault(id(source.code), (frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return (*found.values(), *at)


def pool_site(site: Site) -> Site | None:
    """Return the place whose pool has the items of the lists made at a place; None for no pool."""
    pooled: dict[Site, Site] = current().pooled
    while (found := pooled.get(site)) is not None and found != site:
        site = found
    return found


def note_list(xs: list[object]) -> None:
    """Note where captured code has made a list."""
    current().made_lists[id(xs)] = xs, len(xs), site_in_code()


def note_stand_in(xs: object, stand_in: object) -> None:
    """Note that a list stands for another one in a loop: both are made at one place."""
    made = current().made_lists
    if type(xs) is list and type(stand_in) is list and id(xs) in made:
        made[id(stand_in)] = stand_in, len(stand_in), made[id(xs)][2]


def note_put(x: object) -> None:
    """Note that something goes into a list, tuple or dict: a list in it may have to be a reference.

    Lists that keep their length, like the rows of a matrix, are none of these.
    """
    trace = current()
    if type(x) is tuple:
        for y in x:
            note_put(y)
    if type(x) is not list or id(x) not in trace.made_lists:
        return
    _, length, site = trace.made_lists[id(x)]
    if length == 0 or len(x) != length or any(map(_is_of_pools, x)):
        trace.nested.add(site)
    else:
        trace.put_lists[id(x)] = site


def _is_of_pools(x: object) -> bool:
    """Return whether something in a list is a reference, or items of which data says how many."""
    return isinstance(x, Reference) or isinstance(getattr(x, "template", None), Reference) or (
        isinstance(x, Run) and bool(getattr(x, "has_length_by_data", False)))


def goes_by_data(x: object) -> bool:
    """Return whether data decides how often a loop over something runs, or one over its items."""
    return isinstance(x, StandIn) or (isinstance(x, (list, tuple)) and any(map(_is_of_pools, x)))


def note_length(x: object) -> None:
    """Note that a list gets longer or shorter."""
    trace = current()
    if trace.put_lists and id(x) in trace.put_lists:
        trace.nested.add(trace.put_lists[id(x)])
