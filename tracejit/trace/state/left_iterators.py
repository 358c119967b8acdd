"""Iterators that a loop left where data decides: how far they have come is not known any more.

A `break` on data makes the other iterations a branch, which go through a copy; an iterator over
traced items is given to a loop or to another iterator as a whole.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from types import FunctionType

from tracejit.trace.ground.context import current, refuse

__all__ = ["iterators_in", "note_left", "refuse_left"]


def iterators_in(x: object) -> Iterator[object]:
    """Yield an iterator and those that it takes its items from, but no object of a user's class."""
    if isinstance(getattr(type(x), "__next__", None), FunctionType) and not hasattr(x, "walks"):
        return
    if hasattr(type(x), "__next__"):
        yield x
    elif type(x) is not tuple:
        return
    for part in gc.get_referents(x):
        yield from iterators_in(part)


def note_left(iterators: Iterable[object]) -> None:
    """Note iterators of which data, or nobody, says how many items were taken."""
    current().left.update((id(x), x) for x in iterators)


def refuse_left(x: object) -> None:
    """Refuse to read such an iterator, or one that takes its items from it."""
    left = current().left
    if left and any(id(i) in left for i in iterators_in(x)):
        raise refuse("reading on in an iterator that a loop left where data decides, or that "
                     "another iterator reads",
                     "Run over numbers, for k in range(len(xs)), and index: xs[k]", "TJ419")
