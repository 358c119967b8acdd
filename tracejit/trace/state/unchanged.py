"""State that users' code changes, unseen, after captured code has read it: refused.

Python would read the new content from then on, and the capture has the old one. A change before the
first read needs no more than a capture at each call, which code that reads so much has anyhow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from tracejit.errors import Refusal
from tracejit.exact import is_unchanging, same
from tracejit.ir.draws import is_generator
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.facts import Fact
from tracejit.trace.ground.source import find_site, line_of_error
from tracejit.trace.state.guards import Guarded, Shape
from tracejit.trace.state.paths import READING_FAILS, Leaf, Path

__all__ = ["copy_of", "refuse_changed"]

_COPIED = 1 << 20
"""Arrays of up to so many bytes are copied when they are first read."""


def copy_of(x: object) -> bytes | None:
    """Return what an array holds, if it is small enough to be compared later."""
    return x.tobytes() if isinstance(x, np.ndarray) and x.nbytes <= _COPIED else None


def refuse_changed(leaves: Iterable[Leaf], guards: Iterable[Guarded],
                   first_read: Mapping[int, bytes | None],
                   fn: Callable[..., object] | None = None) -> None:
    """Refuse state that is not what it was when captured code read it.

    first_read -- what small arrays held then, by their ids
    fn         -- the captured function, where none of its lines runs any more
    """
    for leaf in leaves:
        if not _is_leaf_unchanged(leaf, first_read.get(id(leaf.content))):
            _refuse(leaf.path, fn)
    for guard in guards:
        if not _is_guard_kept(guard):
            _refuse(guard.path, fn)


def _calls(path: Path) -> bool:
    """Return whether reading a path calls something, which may give another object each time."""
    return any(kind == "call" for kind, _ in path.steps)


def _is_leaf_unchanged(leaf: Leaf, before: bytes | None) -> bool:
    if _calls(leaf.path) or is_generator(leaf.content):
        return True
    try:
        content = leaf.path.read()
    except READING_FAILS:
        return False
    if isinstance(leaf.content, np.ndarray):  # a field is another view at every reading
        same_array = Fact.of("one", (0, 1), (content, leaf.content)).truth
        return bool(same_array) and (before is None or content.tobytes() == before)
    return content is leaf.content or same(content, leaf.content)


def _is_guard_kept(guard: Guarded) -> bool:
    """Return whether a guard of plain content holds; True where reading it calls something."""
    if _calls(guard.path) or not (
            isinstance(guard.content, Shape) or is_unchanging(guard.content)):
        return True
    try:
        return guard.matches(guard.path.read())
    except READING_FAILS:
        return False


def _refuse(path: Path, fn: Callable[..., object] | None) -> None:
    refusal = refuse(f"code that is not captured changes {path}, which captured code has read",
                     "Make the change in captured code, or return the new value", "TJ417")
    if fn is None or find_site() is not None:
        raise refusal
    raise Refusal.restating(refusal, f"{line_of_error(refusal, fn)}: ")
