"""Ranges of which an end or the step is only known at run time."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from tracejit.ir.dims import Dim, ceil_div, maximum
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.lists.iterables import TracedIterable, as_index
from tracejit.trace.values.equations import as_operand, emit, to_dim
from tracejit.trace.values.symbolic_ints import SymInt, of_dim
from tracejit.trace.values.tracer import Tracer

__all__ = ["TracedRange", "constant_range", "make_range"]


class TracedRange(TracedIterable):
    """A range, with the three numbers that users may ask for."""

    def __init__(self, numbers: TracedIterable, ends: tuple[object, ...]) -> None:
        super().__init__(numbers.lo, numbers.hi, numbers.item, numbers.what, numbers.reverse)
        self.start, self.stop, self.step = ends

    def __hash__(self) -> NoReturn:
        raise refuse("the hash of a range whose ends the call decides", "Use a tuple of its ends",
                     "TJ122")

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, (range, TracedRange)):
            return self is other
        raise refuse("the comparison of containers with a range whose ends the call decides",
                     "Compare the ranges one by one", "TJ122")

    def __str__(self) -> NoReturn:
        raise refuse("the text of a range whose ends the call decides", "Show its ends", "TJ112")

    __repr__ = __str__


def make_range(*args: Any) -> Any:
    """Return `range(*args)`, as a traced iterable where an argument is traced."""
    if not any(isinstance(a, (SymInt, Tracer)) for a in args):
        return range(*args)
    args = tuple(map(as_index, args))
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    numbers = _numbers(to_dim(start), to_dim(stop), to_dim(step))
    return TracedRange(numbers, (start, stop, step))


def _numbers(lo: Dim, hi: Dim, by: Dim) -> TracedIterable:
    """Return the numbers of a range."""
    if by == 1:
        return TracedIterable(lo, hi, lambda i: i, "a range")
    if not isinstance(by, int):
        count = _traced_count(lo, hi, by)
        return TracedIterable(0, count, lambda k: of_dim(lo) + k * of_dim(by), "a range")
    if by == 0:
        raise ValueError("range() arg 3 must not be zero")
    if by == -1:
        return TracedIterable(hi + 1, lo + 1, lambda i: i, "a range", reverse=True)
    span = hi - lo if by > 0 else lo - hi
    count = maximum(ceil_div(span, abs(by)), 0, current().builder.known)
    return TracedIterable(0, count, lambda k: of_dim(lo) + k * by, "a range")


def _traced_count(lo: Dim, hi: Dim, by: Dim) -> Dim:
    """Return the length of a range whose step is only known at run time."""
    step = as_operand(by)
    nonzero = step != 0
    if isinstance(nonzero, Tracer):
        emit("check", [nonzero.value], {"error": "ValueError",
                                        "message": "range() arg 3 must not be zero"})
    forward = FUNCTIONS[np.where](step > 0, as_operand(hi - lo) + step - 1,
                                  as_operand(lo - hi) - step - 1)
    count = np.maximum(forward // abs(step), 0)
    return to_dim(count)


def constant_range(items: range) -> TracedIterable:
    """Return a range of known numbers as a loop of the graph."""
    start, count, step = items.start, len(items), items.step
    if step == 1:
        return TracedIterable(start, start + count, lambda i: i, "a range")
    if step == -1:
        return TracedIterable(start - count + 1, start + 1, lambda i: i, "a range", reverse=True)
    return TracedIterable(0, count, lambda k: start + k * step, "a range")
