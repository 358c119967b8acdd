"""What holds for the pools of lists (`trace/python/pooled.py`): their numbers are places and sizes.

Nothing checks these numbers in the run: they are the pool's own, and no user can set one.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol

from tracejit.trace.containers.runs import length
from tracejit.trace.containers.stand_ins import StandIn
from tracejit.trace.ground.context import current
from tracejit.trace.ground.restarts import NeedCounting
from tracejit.trace.lists.grown import size_value
from tracejit.trace.values.equations import to_dim
from tracejit.trace.values.symbolic_ints import of_dim

__all__ = ["begin_walk", "end_walk", "is_counted", "no_copies", "no_walk", "own_place", "own_size"]

class Walked(Protocol):
    """A pool, as loops over its lists know it."""

    site: Hashable
    walks: int


MOST = 1 << 48
"""More numbers than a machine's memory has room for."""


def own_place(xs: list[object], k: object) -> Any:
    """Return an index of a list that is surely one."""
    if type(k) is int:
        return k
    trace, value = current(), size_value(to_dim(k))
    if value in trace.pool_places or value not in trace.builder.ranges:
        trace.builder.assume(value, 0, length(xs) - 1)
        trace.pool_places.add(value)
    return of_dim(value.dim)


def own_size(n: object) -> Any:
    """Return how many items there are, or behind how many something begins."""
    if type(n) is int:
        return n
    value = size_value(to_dim(n))
    if value not in current().builder.ranges:
        current().builder.assume(value, 0, MOST)
    return of_dim(value.dim)


# --- loops over a list ----------------------------------------------------------------------------


def is_counted(pool: Walked) -> bool:
    """Return whether loops over lists of a pool may see them get longer or shorter."""
    return pool.site in current().counted_pools


def begin_walk(pool: Walked) -> None:
    """Note that a loop begins that knows how many items a list has."""
    pool.walks += 1


def end_walk(pool: Walked) -> None:
    """Note that it has ended; one that the program left early counts on."""
    pool.walks -= 1


def no_copies(xs: StandIn) -> None:
    """Refuse to change an item while a loop runs over a copy of the items of some list."""
    xs.refuse_walked()


def no_walk(pool: Walked) -> None:
    """Begin again where such a loop is open while some list gets longer or shorter."""
    if pool.walks and not is_counted(pool):
        raise NeedCounting(pool.site)
