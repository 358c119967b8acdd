"""Lists of a length that the code says: in runs where a loop of the graph indexes them.

`[x] * 100` is a Python list of the capture with a hundred items until the number of a loop's
iteration indexes it; then the capture begins again, and the list is made as if a size said how
long it is. Where that fails it is Python's own again, and the loop is unrolled.
"""

from __future__ import annotations

from tracejit.trace.containers.places import is_number
from tracejit.trace.containers.references import Site, site_in_code
from tracejit.trace.containers.runs import place_in_code
from tracejit.trace.ground.context import current
from tracejit.trace.ground.restarts import NeedRun
from tracejit.trace.values.tracer import Tracer

__all__ = ["MOST_UNROLLED", "is_in_run", "need_run", "need_run_here", "need_run_of_many"]

MOST_UNROLLED = 64
"""How many items of a list may be gone through one by one, if they can be in one array."""


def is_in_run() -> bool:
    """Return whether the list that is being made has its items in a run whatever their number."""
    trace = current()
    return bool(trace.run_lists) and place_in_code() not in trace.plain_lists and (
        site_in_code() in trace.run_lists)


def need_run(xs: list[object]) -> None:
    """Begin the capture again with the items of a list in a run, if it can be made with one."""
    _, _, site = current().made_lists.get(id(xs), (None, 0, None))
    if site is not None and all(is_number(x) or type(x) in (list, tuple) for x in xs):
        _begin_again(site)


def need_run_of_many(xs: object) -> None:
    """Do so for a list that something goes through, if it has more items than are written out."""
    if type(xs) is list and len(xs) > MOST_UNROLLED:
        need_run(xs)


def need_run_here(xs: list[object]) -> None:
    """Do so for the list that is being made, if each of its items is computed in the run."""
    if all(isinstance(x, Tracer) and is_number(x) for x in xs):
        _begin_again(site_in_code())


def _begin_again(site: Site) -> None:
    trace = current()
    if trace.restarts and site not in trace.run_lists and site[:-2] not in trace.plain_lists:
        raise NeedRun(site)
