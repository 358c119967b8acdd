"""A line for a compilation that takes longer than five seconds.

On a terminal and in a notebook it moves: the time and the stage are those of now, and at the end it
says how long all took. Elsewhere it is written once, on standard error.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Timer
from time import perf_counter
from typing import Any

from tracejit.ir.core import Graph
from tracejit.ir.walk import all_eqns
from tracejit.runtime.moving_lines import moving_line, write_line
from tracejit.trace.ground.active import CAPTURES
from tracejit.trace.ground.source import describe_line

__all__ = ["stage"]

PATIENCE = 5.0
"""After how many seconds the line is written."""

PERIOD = 0.5
"""After how many seconds a line that moves is written again."""

LOG = logging.getLogger("tracejit.progress")
LOG.propagate = False

LONG = 64
"""From how many equations on a line of the user's is named as the one that they come from."""


@dataclass(slots=True)
class _Compilation:
    """A program in the making.

    name   -- of the program
    doing  -- the stage that it is in
    graph  -- the captured program, once there is one
    traces -- the captures of the thread that makes it, the innermost last
    start  -- when the first stage began, in seconds
    done   -- set when it is made
    """

    name: str
    doing: str
    traces: Sequence[Any]
    graph: Graph | None = None
    start: float = field(default_factory=perf_counter)
    done: Event = field(default_factory=Event)

    def speak(self) -> None:
        """Write the line: which program, its stage, its size, and where its size comes from."""
        line = moving_line()
        if line is None:
            write_line("; ".join((f"{self._so_far()}: {self.doing}", *self._reasons())))
            return
        while True:
            reasons = self._reasons()
            line.show("; ".join((f"{self._so_far()}: {self.doing}", *reasons)))
            if self.done.wait(PERIOD):
                break
        line.clear()
        write_line("; ".join((f"tracejit: {self.name} took {self._seconds():.0f} s", *reasons)))

    def _seconds(self) -> float:
        return perf_counter() - self.start

    def _so_far(self) -> str:
        return f"tracejit: {self.name} has taken {self._seconds():.0f} s"

    def _reasons(self) -> tuple[str, ...]:
        return (*self._sizes(), *self._unrolled())

    def _eqns(self) -> list[Any]:
        if self.graph is not None:
            return list(all_eqns(self.graph.block))
        return [e for trace in tuple(self.traces) for s in tuple(trace.builder.scopes)
                for e in tuple(s.eqns)]

    def _sizes(self) -> Iterator[str]:
        eqns = self._eqns()
        yield f"{len(eqns)} equations" + (" so far" if self.graph is None else "")
        for site, count in Counter(e.site for e in eqns if e.site is not None).most_common(1):
            if count >= LONG:
                yield (f"{count} of them from {describe_line(site)}; a loop over a range or an "
                       "array stays a loop")

    def _unrolled(self) -> Iterator[str]:
        notes = self.graph.notes if self.graph is not None else [
            note for trace in tuple(self.traces) for note in tuple(trace.notes)]
        unrolled = [text for text in map(str, notes) if "this loop is unrolled" in text]
        yield from unrolled[:2]
        if len(unrolled) > 2:
            yield f"{len(unrolled) - 2} more loops are unrolled, see .why()"


class _Present(threading.local):
    compilation: _Compilation | None = None


PRESENT = _Present()


@contextmanager
def stage(name: str, doing: str, graph: Graph | None = None) -> Iterator[None]:
    """Carry out a stage of a compilation; the outermost one waits for five seconds.

    name  -- of the program
    doing -- the stage, as the line names it
    graph -- the program, if it has been captured
    """
    present = PRESENT.compilation
    LOG.debug("%s: %s", name, doing)
    if present is not None:
        before = present.name, present.doing, present.graph
        present.name, present.doing, present.graph = name, doing, graph
        try:
            yield
        finally:
            present.name, present.doing, present.graph = before
        return
    PRESENT.compilation = compilation = _Compilation(name, doing, CAPTURES.traces, graph)
    timer = Timer(PATIENCE, compilation.speak)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        compilation.done.set()
        PRESENT.compilation = None
        if timer.ident is not None:  # the line is gone before the caller goes on
            timer.join(2.0 * PERIOD)
