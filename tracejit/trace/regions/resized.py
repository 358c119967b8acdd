"""Arrays whose size changes from iteration to iteration: a loop carries their elements in a Log.

    while np.ptp(x) > spread:
        x = x[np.abs(x - x.mean()) < 2.0 * x.std()]

An iteration begins with an array made of the Log, and ends with a Log made of the array that it
leaves. Beside the Log the sizes are carried that change. Arrays that begin and end each iteration
with one size (`t = t[keep]; y = y[keep]`) have one size in the iteration, too.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.ir.core import Value
from tracejit.ir.dims import Dim, dim_values
from tracejit.ir.types import LogType, scalar
from tracejit.trace.ground.context import current
from tracejit.trace.lists.grown import size_value
from tracejit.trace.values.equations import emit, emit_value
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["ResizedGuess", "Sizes", "left_resized", "resized_guess"]


@dataclass(frozen=True, slots=True)
class ResizedGuess:
    """The guess of an array whose size changes.

    shape -- with None for the sizes that change
    """

    dtype: np.dtype
    shape: tuple[Dim | None, ...]

    @property
    def avals(self) -> list[Any]:
        """Return the types of the carried values: a Log, and the sizes that change."""
        return [LogType(self.dtype), *(scalar(np.int64) for d in self.shape if d is None)]


def resized_guess(start: object, end: object, guess: object) -> ResizedGuess | None:
    """Return the guess that only sizes of an array change; None where another thing does."""
    arrays = [x for x in (start, end) if isinstance(x, Tracer) and x.is_array and x.dims]
    if len(arrays) != 2 or arrays[0].dtype != arrays[1].dtype or arrays[0].ndim != arrays[1].ndim:
        return None
    canonical = current().canonical
    before = guess.shape if isinstance(guess, ResizedGuess) else arrays[0].dims
    shape = tuple(None if d is None or canonical(d) != canonical(e) else d
                  for d, e in zip(before, arrays[1].dims, strict=True))
    if isinstance(guess, ResizedGuess) and shape == guess.shape:
        return guess
    inside = {v for d in shape if d is not None for v in dim_values(canonical(d))}
    if None not in shape or not all(v.is_size or v in current().actual for v in inside):
        return None
    return ResizedGuess(arrays[0].dtype, shape)


class Sizes:
    """The sizes that change of the arrays that a loop carries by their elements.

    Two sizes that are one before the loop are taken for one, until an iteration leaves two.
    """

    def __init__(self) -> None:
        self.labels: dict[tuple[Any, int], Hashable] = {}
        self.found: dict[Hashable, Dim] = {}

    def begin(self, starts: dict[Any, tuple[ResizedGuess, Tracer]]) -> None:
        """Take note of the arrays before the loop, where other ones are carried than before."""
        places = {(c, k): current().canonical(x.dims[k]) for c, (guess, x) in starts.items()
                  for k, d in enumerate(guess.shape) if d is None}
        if places.keys() != self.labels.keys():
            self.labels = {place: (d,) for place, d in places.items()}
        self.found = {}

    def array(self, c: Any, guess: ResizedGuess, values: Iterator[Value], op: str) -> Tracer:
        """Return the array that is in a Log.

        op -- "log_array", which uses the Log up; "log_read", which leaves it; "last", after a loop
        """
        log, shape = next(values), []
        for k, d in enumerate(guess.shape):
            if d is None:
                size = next(values)
                current().builder.assume(size, 0, None)
                d = self.found.setdefault(self.labels[c, k], current().canonical(size.dim))
            shape.append(d)
        if op == "log_read":
            value = emit("log_read", [log], {"at": (0,), "shape": tuple(shape)})[1]
        else:
            value = emit_value("log_array", [log], {"shape": tuple(shape), "last": op == "last"})
        result = tracer_of(value)
        result.cell.is_array = result.cell.handed_on = True
        return result

    def hold(self, ends: dict[Any, Tracer]) -> bool:
        """Return whether equal sizes are equal after an iteration, too; else tell them apart."""
        labels: dict[tuple[Any, int], Hashable] = {
            (c, k): (label, current().canonical(ends[c].dims[k]))
            for (c, k), label in self.labels.items()}
        held = len(set(labels.values())) == len(set(self.labels.values()))
        if not held:
            numbers = {label: j for j, label in enumerate(dict.fromkeys(labels.values()))}
            self.labels = {place: numbers[label] for place, label in labels.items()}
        return held


def left_resized(guess: ResizedGuess, x: Tracer) -> list[Value]:
    """Return a Log of the elements of an array, and its sizes that change."""
    value = emit_value("log_of", [x.value])
    return [value, *(size_value(d) for d, g in zip(x.dims, guess.shape, strict=True) if g is None)]
