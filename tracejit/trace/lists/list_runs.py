"""The items of a list as one run, where they are numbers."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from tracejit.trace.containers.places import is_number
from tracejit.trace.containers.runs import Run, Stored, array_of, first_run, place_in_code
from tracejit.trace.ground.dispatch import Changing
from tracejit.trace.ground.upward import above
from tracejit.trace.lists.grown import plain_items
from tracejit.trace.lists.rows import Rows, is_row, places_of, same_rows, template_of
from tracejit.trace.values.equations import cast, lift
from tracejit.trace.values.mixed import kinds_of, number_of, storage, united
from tracejit.trace.values.tracer import Tracer

__all__ = ["give_up", "is_plain_number", "joined", "joined_rows", "one_run", "the_run"]


def give_up(xs: Any, why: str) -> NoReturn:
    """Begin the capture again with a list made item by item."""
    first_run(xs).give_up(why)


def joined(xs: Any) -> Stored | None:
    """Return one run for all items of a list, where they are numbers."""
    xs = plain_items(xs)
    if len(xs) == 1 and isinstance(xs[0], Stored):
        return xs[0]
    if not xs or not all(p.is_numbers if isinstance(p, Run) else is_plain_number(p) for p in xs):
        return None
    kinds = united(*(p.kinds if isinstance(p, Stored) else kinds_of(lift(p)) for p in xs))
    dtype = storage(kinds, ints=True)
    where = next((p.where for p in xs if isinstance(p, Run)), ())
    return None if dtype is None else Stored(cast(array_of(
        [number_of(p) for p in xs]), dtype), 0, kinds,
        where or place_in_code())


def joined_rows(xs: object) -> Rows | None:
    """Return one run for all items of a list, where they are tuples of numbers, all alike."""
    items: Any = plain_items(xs)
    likes = [x.template if isinstance(x, Rows) else x for x in items]
    if not likes or not all(is_row(x) and same_rows(x, likes[0]) for x in likes):
        return None
    places = [x.columns if isinstance(x, Rows) else places_of(x) for x in items]
    columns = [joined(list(column)) for column in zip(*places, strict=True)]
    if any(c is None or not c.is_numbers for c in columns):
        return None
    where = next((x.where for x in items if isinstance(x, Run)), ()) or place_in_code()
    return Rows(columns, template_of(likes), where)


def is_plain_number(x: object) -> bool:
    """Return whether something is a number, and no array."""
    return is_number(x) and not isinstance(x, (np.ndarray, Changing)) and not (
        isinstance(x, Tracer) and x.is_array)


@above
def one_run(xs: object) -> Run:
    """Return one run for all items of a list, numbers or tuples, for an iterator over them."""
    return joined_rows(xs) or the_run(xs, "an iterator over a list of different things")


def the_run(xs: object, why: str) -> Stored:
    """Return one run of numbers for all items of a list; give the list up where there is none."""
    run = joined(xs)
    if run is None or not run.is_numbers:
        give_up(xs, why)
    return run
