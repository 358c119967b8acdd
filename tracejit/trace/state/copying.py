"""Copies of objects: by which reducers the module `copy` makes them, of the table in `copyreg`."""

from __future__ import annotations

import copyreg
from collections.abc import Iterable

from tracejit.trace.containers.heap import reached_from
from tracejit.trace.ground.context import current
from tracejit.trace.state.paths import is_users_type

__all__ = ["read_reducers"]


def read_reducers(things: Iterable[object], deep: bool) -> None:
    """Guard the reducers by which objects are copied, and that others have none.

    deep -- whether the objects in them are copied, too
    """
    captured = current().captured
    copied = reached_from([*things]) if deep else things
    for cls in dict.fromkeys(type(x) for x in copied if is_users_type(type(x))):
        path = captured.path_of_class(cls).step("reducer", None)
        if cls in copyreg.dispatch_table:
            captured.hold(path, copyreg.dispatch_table[cls])
        else:
            captured.absent(path)
