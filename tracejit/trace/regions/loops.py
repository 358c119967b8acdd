"""Loops of the graph: traced until the guess of their carried contents holds, then emitted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tracejit.errors import Refusal
from tracejit.ir.core import Params
from tracejit.ir.dims import Dim
from tracejit.trace.containers.places import HiddenPlace, NamePlace
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.restarts import Grows, Unroll
from tracejit.trace.lists.growing import MANY_ITEMS
from tracejit.trace.regions.after_loops import finish_loop
from tracejit.trace.regions.aliases import array_of
from tracejit.trace.regions.attempts import go_on_without_error
from tracejit.trace.regions.guesses import CellGuess, first_guess, has_choices, parts_of
from tracejit.trace.regions.loop_tracer import Carried, LoopTracer
from tracejit.trace.values.tracer import CellPlace, Tracer

__all__ = ["is_of_open_loop", "trace_loop"]

MOST_ATTEMPTS = 32
"""How often a loop is traced for a guess that holds."""


def trace_loop(places: Sequence[NamePlace | HiddenPlace], rebound: Sequence[str],
               written: Sequence[Tracer], body: Callable[[Any], Any],
               condition: Callable[[Any], Any] | None, lo: Dim = 0, hi: Dim = 0,
               reverse: bool = False, flags: Sequence[str] = (),
               snapshots: int | None = None, by_data: bool = False, leaves: bool = False) -> None:
    """Emit a loop and give every place that it changes the content that its last iteration leaves.

    places    -- the places that the body may change and that matter afterwards
    rebound   -- the names of places that are bound anew, not only written to
    written   -- arrays to which the body writes
    body      -- called with the index
    condition -- called with the index: the loop runs while it holds; None: i runs over lo..hi-1
    snapshots -- how many states to keep for the way back, in place of every iteration's residuals
    flags     -- the names that end the loop when they are set, so that they are False in the body
    by_data   -- whether data decides how often it runs
    leaves    -- whether it may end by an error of the run, which its condition asks for

    Raises `Unroll` where only Python can run it.
    """
    carried = [Carried(p, p.get(), first_guess(p.get(), p.name in rebound)) for p in places]
    cells = dict.fromkeys(x.cell for x in written)  # in order: equal arrays begin as one value
    for cell in sorted(cells, key=lambda c: c.value.uid):
        carried.append(Carried(CellPlace(cell), cell.value, CellGuess(cell.value.aval)))
    params: Params = {} if snapshots is None else {"snapshots": snapshots}
    if condition is None:
        params = {"lo": lo, "hi": hi, "reversed": reverse, **params}
    tracer = LoopTracer(carried, body, condition, lo, hi, flags, reverse, by_data, leaves)
    try:
        _settle(tracer, params)
    except Exception as e:
        if isinstance(e, Refusal) and any(has_choices(c.guess) for c in tracer.carried):
            raise Unroll(str(e), e) from None  # iterations one by one may know which it is
        if isinstance(e, Refusal) and condition is None and _are_few(hi - lo):
            raise Unroll(str(e), e) from None  # and which array a name holds in each
        if tracer.growing and not isinstance(e, Unroll):  # Python's own list may do
            raise Unroll(str(e), e if isinstance(e, Refusal) else None) from None
        raise
    if leaves and tracer.where in current().left_loops:
        go_on_without_error()


def _are_few(trips: Dim) -> bool:
    return isinstance(trips, int) and trips <= MANY_ITEMS


def _settle(tracer: LoopTracer, params: Params) -> None:
    """Trace a loop until its guess holds, and emit it."""
    unsettled = current().unsettled
    for _ in range(0 if tracer.where in unsettled else MOST_ATTEMPTS):
        done = tracer.attempt()
        if done is not None and not tracer.keep_arrays():
            try:
                with _all_or_nothing(tracer.carried):
                    finish_loop(tracer, done, params)
                return
            except Refusal as e:
                if not tracer.carry_views(e):
                    raise
    unsettled.add(tracer.where)  # which loops around would try as often again
    raise refuse("what this loop carries does not settle", "Give it one dtype and shape before it",
                 "TJ119")


def is_of_open_loop(e: Unroll) -> bool:
    """Return whether it is for a loop around to make something of a list that gets longer."""
    return isinstance(e, Grows) and any(frame is e.frame for frame in current().frames)


@contextmanager
def _all_or_nothing(carried: Sequence[Carried]) -> Iterator[None]:
    """Leave no trace of a loop that is refused at its end: it may be run in Python then."""
    held = [(x.cell, x.cell.value) for c in carried for part in parts_of(c.guess, c.start)
            if (x := array_of(part)) is not None]
    with current().builder.undone_if_raised():
        try:
            yield
        except Exception:
            for c in carried:
                c.place.set(c.start)
            for cell, value in held:
                cell.value = value
            raise
