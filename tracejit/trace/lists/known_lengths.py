"""Lists of a length that the code says: in runs where a loop of the graph indexes them.

`[x] * 100` is a Python list of the capture with a hundred items until the number of a loop's
iteration indexes it; then the capture begins again, and the list is made as if a size said how
long it is. Where that fails it is Python's own again, and the loop is unrolled.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracejit.trace.containers.numbered import Numbered
from tracejit.trace.containers.places import is_number
from tracejit.trace.containers.references import Site, site_in_code
from tracejit.trace.containers.runs import place_in_code
from tracejit.trace.ground.context import current
from tracejit.trace.ground.restarts import NeedPoolFact, NeedRun
from tracejit.trace.lists.growing import MANY_ITEMS
from tracejit.trace.values.tracer import Tracer

__all__ = ["MOST_UNROLLED", "is_in_run", "need_pools_of", "need_run", "need_run_here",
           "need_run_of_many", "note_iteration", "note_objects"]

MOST_UNROLLED = 64
"""How many items of a list may be gone through one by one, if they can be in one array."""


MOST_EXCHANGED = 3
"""How many objects are put in order by branches in which they change places."""


MOST_WRITTEN_OUT = 128
"""How many iterations of loops in which objects are gone through are written out."""


def is_in_run() -> bool:
    """Return whether the list being made has its items in a run, though its length is known."""
    trace = current()
    return bool(trace.run_lists) and place_in_code() not in trace.plain_lists and (
        site_in_code() in trace.run_lists)


def need_run(xs: list[object]) -> None:
    """Begin the capture again with the items of a list in a run, if it can be made with one."""
    _, _, site = current().made_lists.get(id(xs), (None, 0, None))
    if site is not None and all(
            is_number(x) or type(x) in (list, tuple) or isinstance(x, Numbered) for x in xs):
        _begin_again(site)
    note_objects(xs)


def need_run_of_many(xs: object) -> None:
    """Begin again with a list in a run, if it has too many items to go through one by one."""
    if type(xs) is list and len(xs) > (
            MANY_ITEMS if any(isinstance(x, Numbered) for x in xs) else MOST_UNROLLED):
        need_run(xs)


def note_objects(xs: Sequence[object]) -> None:
    """Note that a loop goes through objects of a class one by one, as they are in no pool."""
    trace = current()
    for cls in {type(x) for x in xs} if len(xs) > MANY_ITEMS else ():
        if cls in trace.made_classes:
            trace.gone_through.add(cls)


def note_iteration() -> None:
    """Count an iteration that is written out; after many over objects, have these in a pool."""
    trace = current()
    if trace.gone_through and trace.restarts and trace.pool_facts.may_loop:
        trace.written_out += 1
        if trace.written_out > MOST_WRITTEN_OUT:
            for cls in trace.gone_through - trace.pool_facts.classes:
                raise NeedPoolFact("classes", cls)


def need_pools_of(xs: Sequence[object]) -> None:
    """Begin again with objects that are put in order in pools: numbers change places then."""
    trace = current()
    if trace.restarts and trace.pool_facts.may_loop and len(xs) > MOST_EXCHANGED:
        for cls in trace.made_classes:
            if any(type(x) is cls for x in xs) and cls not in trace.pool_facts.classes:
                raise NeedPoolFact("classes", cls)


def need_run_here(xs: list[object]) -> None:
    """Begin again with the list being made in a run, if each of its items is a traced number."""
    if all(isinstance(x, Tracer) and is_number(x) for x in xs):
        _begin_again(site_in_code())


def _begin_again(site: Site) -> None:
    trace = current()
    if trace.restarts and site not in trace.run_lists and site[:-2] not in trace.plain_lists:
        raise NeedRun(site)
