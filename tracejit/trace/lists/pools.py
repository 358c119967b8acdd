"""Facts about the pools of lists (`trace/python/pooled.py`): their numbers are places and sizes.

Nothing checks these numbers in the run: they are the pool's own, and no user can set one.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol

from tracejit.errors import Refusal
from tracejit.trace.containers.runs import Run, Stored, length, place_in_code
from tracejit.trace.containers.stand_ins import StandIn
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.restarts import Grows, NeedCounting, PlaceInCode, Unroll
from tracejit.trace.lists.grown import (
    as_one_array,
    kinds_of_item,
    one_shape,
    plain_items,
    shape_of_item,
    size_value,
)
from tracejit.trace.lists.read_only import hand_over
from tracejit.trace.lists.rows import (
    Rows,
    as_node,
    is_row,
    is_wide_row,
    joint_template,
    known_links,
    places_of,
    same_rows,
)
from tracejit.trace.lists.together import add_others, require_logs
from tracejit.trace.state.changes import known_container
from tracejit.trace.values.equations import emit_value, to_dim
from tracejit.trace.values.mixed import storage, united
from tracejit.trace.values.symbolic_ints import of_dim

__all__ = ["begin_walk", "end_walk", "is_counted", "lengthens", "no_copies",
           "no_walk", "in_one_run", "own_place", "own_size", "place_here"]

class Walked(Protocol):
    """A pool, as loops over its lists know it."""

    site: Hashable
    walks: int


MOST = 1 << 48
"""More numbers than a machine's memory has room for."""


def own_place(xs: list[object], k: object) -> Any:
    """Return an index of a list, taken to be inside from here on."""
    if type(k) is int:
        return k
    trace, value = current(), size_value(to_dim(k))
    if value in trace.pool_places or value not in trace.builder.ranges:
        trace.builder.assume(value, 0, length(xs) - 1)
        trace.pool_places.add(value)
    return of_dim(value.dim)


def place_here(xs: list[object], k: object) -> Any:
    """Return an index of a list as a value of its own, taken to be inside; k may be outside."""
    if type(k) is int:
        return k
    value = emit_value("size", [], {"of": to_dim(k)})
    current().builder.assume(value, 0, length(xs) - 1)
    return of_dim(value.dim)


def own_size(n: object) -> Any:
    """Return a number of items or an offset, taken to be neither negative nor more than `MOST`."""
    if type(n) is int:
        return n
    value = size_value(to_dim(n))
    if value not in current().builder.ranges:
        current().builder.assume(value, 0, MOST)
    return of_dim(value.dim)


def in_one_run(xs: list[Any]) -> None:
    """Put the items of a list of a pool into one run, in place, arrays and None included."""
    if not xs or (len(xs) == 1 and isinstance(xs[0], Run)):
        return
    known_container(xs, "an object that data chooses", by_data=True)
    items, where = plain_items(xs), place_in_code()
    if not any(map(_is_rows, items)):
        xs[:] = [_stored(items, where)]
        return
    likes = [x.template if isinstance(x, Rows) else as_node(x) for x in items]
    template = likes[0]
    for x, like in zip(items, likes, strict=True):
        if not _is_rows(x) or not same_rows(template, like):
            raise _refused_kinds()
        template = joint_template(template, like)
    places = [x.columns if isinstance(x, Rows) else places_of(x) for x in items]
    columns = [_stored(list(column), where) for column in zip(*places, strict=True)]
    xs[:] = [Rows(columns, known_links(template, xs), where)]


def _is_rows(x: object) -> bool:
    return isinstance(x, Rows) or is_row(x) or is_wide_row(x)


def _refused_kinds() -> Refusal:
    return refuse("an attribute of objects, or a list, holds things of different kinds, where data "
                  "decides which one is meant", "Let all of them be of one kind", "TJ413")


def _stored(items: list[Any], where: PlaceInCode) -> Stored:
    try:
        kinds = united(*map(kinds_of_item, items), current().list_kinds.get(where, ()))
        shape = one_shape([*map(shape_of_item, items)])
    except Unroll:
        raise _refused_kinds() from None
    for x in items:
        hand_over(x)
    dtype = storage(kinds, ints=True)
    if dtype is None:
        raise _refused_kinds()
    return Stored(as_one_array(items, dtype, shape), 0, kinds, where)


def lengthens(xs: list[Any], x: object, *others: list[object]) -> None:
    """Have the items of a list of a pool in Logs: it gets more of them, or others.

    others -- lists that will get one, too
    """
    try:
        require_logs([xs], "an object that data chooses", [x])
    except Grows as e:
        add_others(e, others)
        raise


# --- loops over a list ----------------------------------------------------------------------------


def is_counted(pool: Walked) -> bool:
    """Return whether loops over lists of a pool may see them get longer or shorter."""
    return pool.site in current().counted_pools


def begin_walk(pool: Walked) -> None:
    """Note that a loop begins that knows how many items a list has."""
    pool.walks += 1


def end_walk(pool: Walked) -> None:
    """Note that the loop has ended; a loop that the program left early stays counted."""
    pool.walks -= 1


def no_copies(xs: StandIn) -> None:
    """Refuse to change an item while a loop runs over a copy of the items of some list."""
    xs.refuse_walked()


def no_walk(pool: Walked) -> None:
    """Begin again if a loop over a list of a pool is open as some list changes its length."""
    if pool.walks and not is_counted(pool):
        raise NeedCounting(pool.site)
