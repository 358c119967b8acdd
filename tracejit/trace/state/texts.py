"""State that a text of objects shows: all that they hold, and how arrays are printed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tracejit.trace.ground.context import current
from tracejit.trace.state.insides import read_insides
from tracejit.trace.state.methods import items_of
from tracejit.trace.state.uncaptured import read_deeply, read_unseen

__all__ = ["read_as_text"]


def read_as_text(things: Iterable[object]) -> None:
    """Note that uncaptured code makes text of objects, or of parts of them."""
    things = [*things]
    read_insides(things)
    for x in things:
        read_unseen(x)
        read_deeply(x)
        for item in items_of(x):
            read_unseen(item)
            if isinstance(item, np.ndarray):
                current().captured.print_options()
