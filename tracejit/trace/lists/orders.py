"""Lists whose items data chooses or orders: their items in one run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tracejit.errors import EqualNaN
from tracejit.trace.containers.container_aliases import refuse_joined_change
from tracejit.trace.containers.heap import has_iterators
from tracejit.trace.containers.numbered import Numbered
from tracejit.trace.containers.records import is_record
from tracejit.trace.containers.runs import Run, Stored, has_runs, place_in_code
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.ground.restarts import PlaceInCode
from tracejit.trace.lists.grown import plain_items
from tracejit.trace.lists.known_lengths import need_pools_of
from tracejit.trace.lists.list_runs import joined
from tracejit.trace.lists.rows import Rows, is_row, places_of, same_rows, template_of
from tracejit.trace.lists.together import require_logs
from tracejit.trace.state.changes import known_container, note_made
from tracejit.trace.values.equations import cast
from tracejit.trace.values.mixed import kinds_of, storage, united
from tracejit.trace.values.python_numbers import require_ours
from tracejit.trace.values.tracer import Tracer

__all__ = ["EMPTY", "are_few_things", "are_numbers", "both_nan", "changing", "in_one_run",
           "indexable", "is_empty", "is_known", "orderable", "readable", "require_known_equality",
           "require_order", "sort_columns"]

FEW = 12
"""Of so many things at most each is compared with each, in branches of the program."""

MANY = 64
"""Of so many things at most data chooses one, or decides on an order, by numbers."""


def _words(extreme: Callable[..., object]) -> str:
    """Return the words of this Python for an extremum of nothing."""
    try:
        extreme([])
    except ValueError as error:
        return str(error)
    raise AssertionError(extreme)


EMPTY = {f.__name__: _words(f) for f in (max, min)}
"""By the names of `max` and `min`."""


def indexable(xs: object) -> None:
    """Put the items of a list into one run, in place; refuse where they are unlike one another."""
    if not isinstance(xs, list) or _is_one_run(xs):
        return
    trace = current()
    trace.captured.refuse_change(xs)
    refuse_joined_change(xs)
    known_container(xs, "a list's order, which data decides,", by_data=True)
    if xs and has_iterators(xs):
        raise refuse("a list is put in order, as data decides, while a loop is running over it",
                     "Run over a copy: list(items)", "TJ421")
    if xs:
        xs[:] = [_one_run(xs)]


def in_one_run(xs: list[object], where: PlaceInCode) -> list[object]:
    """Return the items of a new list as one run; as they are where they are unlike one another."""
    run = _run_of(xs, where)
    return xs if run is None else [run]


def changing(owner: Any, *lists: list[Any]) -> None:
    """Have the lists of a stand-in for a deque, set or dict in Logs: their length changes."""
    owner.refuse_walked()
    require_logs(lists, f"a change of a {owner.kind.__name__}")


def is_empty(xs: object) -> bool:
    """Return whether a list is known to have no items."""
    return isinstance(xs, list) and (not xs or (
        len(xs) == 1 and isinstance(xs[0], Run) and xs[0].count == 0))


def is_known(k: object) -> bool:
    """Return whether an index is Python's own."""
    return type(k) is int


def readable(xs: object) -> Any:
    """Return a list with the items of one in one run; an array, as it is."""
    if not isinstance(xs, (list, tuple)) or not xs or _is_one_run(xs):
        return xs
    return note_made([_one_run(xs)])


def orderable(xs: object) -> Any:
    """Return a list with the items of one in one run, or things that no run can have."""
    if not isinstance(xs, (list, tuple)) or not xs or _is_one_run(xs):
        return xs
    if len(xs) <= MANY and not has_runs(xs) and _run_of(xs, place_in_code()) is None:
        need_pools_of(xs)
        return note_made([*xs])
    return readable(xs)


def are_few_things(xs: object) -> bool:
    """Return whether a list has its items one by one, so few that each is compared with each."""
    return isinstance(xs, list) and len(xs) <= FEW and not has_runs(xs)


def are_numbers(xs: Sequence[object]) -> bool:
    """Return whether a list with items in one run has an order that no method of theirs decides."""
    return not (_is_one_run(xs) and isinstance(xs[0], Rows)) or _is_of_numbers(xs[0].template)


def _is_of_numbers(x: object) -> bool:
    """Return whether things like x are numbers, or tuples or lists of them in Python's order."""
    if isinstance(x, (tuple, list)):
        return type(x).__lt__ in (tuple.__lt__, list.__lt__) and all(map(_is_of_numbers, x))
    return not isinstance(x, Numbered) and not is_record(x)


def _is_one_run(xs: Any) -> bool:
    return len(xs) == 1 and has_runs(xs)


def _run_of(xs: object, where: PlaceInCode) -> Run | None:
    """Return the items of a list in one run, if they are numbers or tuples that are alike."""
    if where in current().plain_lists:
        return None
    rows = [x.template if isinstance(x, Rows) else x for x in plain_items(xs)]
    if not any(map(is_row, rows)):
        return _of_kinds(xs, where)
    if not all(is_row(x) and same_rows(x, rows[0]) for x in rows):
        return None
    columns = [_of_kinds(column, where) for column in columns_of(xs)]
    return None if any(c is None for c in columns) else Rows(columns, template_of(rows), where)


def _one_run(xs: object) -> Run:
    run = _run_of(xs, place_in_code())
    if run is None:
        raise refuse("data decides on the order of a list of different things",
                     "Let its items be numbers, or tuples of numbers that are all alike", "TJ122")
    return run


def columns_of(xs: object) -> list[list[Any]]:
    """Return the numbers that the tuples of a list have at each place."""
    places = [x.columns if isinstance(x, Rows) else places_of(x) for x in plain_items(xs)]
    return [list(column) for column in zip(*places, strict=True)]


def _of_kinds(xs: object, where: PlaceInCode) -> Stored | None:
    """Return the numbers of a list in one run, with room for the other kinds that it gets later."""
    run = joined(xs)
    if run is None or not run.is_numbers:
        return None
    kinds = united(run.kinds, current().list_kinds.get(where, ()))
    dtype = storage(kinds)
    return None if dtype is None else Stored(cast(run.array(), dtype), 0, kinds, where)


def require_order(keys: Iterable[object]) -> None:
    """Check that no number among keys is a NaN: Python's order rests on which items it compares."""
    for key in keys:
        if isinstance(key, (tuple, list)):
            require_order(key)
        elif isinstance(key, Tracer) and key.dtype.kind == "f":
            known = np.logical_not(FUNCTIONS[np.any](np.isnan(key)))
            require_ours(known, ValueError, "a NaN in a list that is sorted: Python's order rests "
                         "on which items it compares. np.sort puts it last")


def both_nan(x: object, y: object) -> Any:
    """Return whether two numbers are NaN, which are equal in lists and tuples if they are one."""
    if not (_may_be_nan(x) and _may_be_nan(y)):
        return False
    return np.logical_and(np.not_equal(x, x), np.not_equal(y, y))  # type: ignore[call-overload]


def _may_be_nan(x: object) -> bool:
    if isinstance(x, Tracer):
        return any(k.dtype.kind in "fc" for k in kinds_of(x))
    return isinstance(x, (float, complex, np.inexact)) and bool(x != x)


def require_known_equality(unknown: Any) -> None:
    """Check that no two NaN decide whether items are equal; take one truth, or an array."""
    if unknown is not False:
        require_ours(np.logical_not(FUNCTIONS[np.any](unknown)), EqualNaN,
                     "two NaN are compared in lists or tuples, where Python asks whether they are "
                     "one object. Test with np.isnan")


def sort_columns(xs: Any) -> Tracer:
    """Return the indices that sort a list of numbers or tuples, as an array.

    Equal items stay in their order.
    """
    run = readable(xs)[0]
    columns = run.columns if isinstance(run := plain_items([run])[0], Rows) else [run]
    order: Tracer | None = None
    for column in reversed(columns):
        values = column.array()
        if len(values.dims) > 1:
            raise refuse("the order of a list by keys that are arrays", "Give a key of one number",
                         "TJ122")
        require_order([values])
        if order is None:
            order = FUNCTIONS[np.argsort](values, kind="stable")
        else:
            order = order[FUNCTIONS[np.argsort](values[order], kind="stable")]
    assert order is not None
    return order
