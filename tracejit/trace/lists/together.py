"""Lists that get longer at one place in the code: a loop or branch learns of all of them at once.

A region that learns of one list is traced again from its beginning; of lists that are changed side
by side, the lists of a pool or the stacks of a recursion, it would learn one after another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tracejit.trace.ground.context import Frame, current
from tracejit.trace.ground.restarts import Grows, Unroll
from tracejit.trace.lists.grown import ByData, kinds_of_item, shape_of_item
from tracejit.trace.lists.rows import Rows, as_node, is_row_of_any_kind, is_wide_row
from tracejit.trace.state.changes import known_container
from tracejit.trace.values.mixed import is_mixed

__all__ = ["add_others", "note_item", "require_logs"]


def require_logs(lists: Sequence[Sequence[object]], what: str, items: Sequence[object] = (),
                 by_data: bool = True) -> None:
    """Have lists in Logs, where data decides how many items they have; items that they will get."""
    for k, xs in enumerate(lists):
        if _is_in_log(xs):
            continue
        try:
            known_container(xs, what, by_data=by_data)
        except Grows as e:
            if e.by_data and items:
                note_item(e, items[k])
            add_others(e, lists, items)
            raise


def add_others(e: Grows, lists: Iterable[Sequence[object]], items: Sequence[object] = ()) -> None:
    """Let the region that learns of one list learn of others that it would have to keep, too."""
    if not e.by_data:
        return
    for k, xs in enumerate(lists):
        if xs is e.container or _is_in_log(xs) or not _is_from_around(xs, e.frame):
            continue
        other = Grows(e.frame, xs, e.why, by_data=True)
        if items:
            note_item(other, items[k])
        e.others.append(other)


def note_item(e: Grows, x: object) -> None:
    """Note which kind of item a list gets that has none yet."""
    if e.container:
        return
    if is_row_of_any_kind(x) or is_wide_row(x) or isinstance(x, Rows):
        like: Any = x.template if isinstance(x, Rows) else as_node(x)
        e.template = [*like] if type(like) is list else like
        return
    try:
        kinds, shape = kinds_of_item(x), shape_of_item(x)
    except Unroll:  # the list cannot have it, which is for the change itself to say
        return
    if not (shape and is_mixed(kinds)):
        e.kinds, e.shape = {0: kinds}, shape


def _is_in_log(xs: Sequence[object]) -> bool:
    return bool(xs) and isinstance(xs[0], ByData)


def _is_from_around(xs: object, frame: Frame) -> bool:
    """Return whether a list was made outside of a region."""
    frames = current().frames
    inside = next((k for k, f in enumerate(frames) if f is frame), None)
    return inside is not None and all(id(xs) not in f.created for f in frames[inside:])
