"""Views: how a handle's elements lie in its cell, for reading and for writing through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tracejit.ir.core import Op, Params, Span, Value
from tracejit.ir.dims import Dim
from tracejit.ir.optable import find_op

__all__ = ["At", "IndexStep", "ReshapeStep", "Step", "TransposeStep", "compose", "read_view",
           "whole", "write_view"]

At = tuple["Dim | Span", ...]
"""A basic index: per axis of the operand a dim (the axis goes) or a span (the axis stays)."""

Emit = Callable[[Op, tuple[Value, ...], Params], Value]


def whole(shape: tuple[Dim, ...]) -> At:
    """Return the basic index of everything."""
    return tuple(Span(0, d) for d in shape)


def compose(outer: At, inner: At) -> At:
    """Return one basic index for `outer` and then `inner` of the remaining axes."""
    rest = iter(inner)
    result: list[Dim | Span] = []
    for place in outer:
        if not isinstance(place, Span):
            result.append(place)
            continue
        further = next(rest)
        if isinstance(further, Span):
            start = place.start + further.start * place.step
            result.append(Span(start, further.size, place.step * further.step))
        else:
            result.append(place.start + further * place.step)
    return tuple(result)


@dataclass(frozen=True, slots=True)
class IndexStep:
    """A basic index."""

    at: At

    def read(self, base: Value, emit: Emit) -> Value:
        """Return the elements."""
        return emit(find_op("index"), (base,), {"at": self.at})

    def write(self, base: Value, part: Value, emit: Emit) -> Value:
        """Return the base with these elements replaced."""
        return emit(find_op("update"), (base, part), {"at": self.at})


@dataclass(frozen=True, slots=True)
class ReshapeStep:
    """Another shape of the same elements."""

    shape: tuple[Dim, ...]
    before: tuple[Dim, ...]

    def read(self, base: Value, emit: Emit) -> Value:
        """Return the elements."""
        if not self.shape and base.aval.shape:  # of an array of one, whose sizes may be symbols
            return emit(find_op("index"), (base,), {"at": (0,) * len(base.aval.shape)})
        return emit(find_op("reshape"), (base,), {"shape": self.shape})

    def write(self, base: Value, part: Value, emit: Emit) -> Value:
        """Return the base with its elements replaced."""
        op = find_op("reshape" if part.aval.shape else "full")  # an array of one, of any size 1
        return emit(op, (part,), {"shape": self.before})


@dataclass(frozen=True, slots=True)
class TransposeStep:
    """Another order of the axes."""

    axes: tuple[int, ...]

    def read(self, base: Value, emit: Emit) -> Value:
        """Return the elements."""
        return emit(find_op("transpose"), (base,), {"axes": self.axes})

    def write(self, base: Value, part: Value, emit: Emit) -> Value:
        """Return the base with its elements replaced."""
        inverse = tuple(sorted(range(len(self.axes)), key=self.axes.__getitem__))
        return emit(find_op("transpose"), (part,), {"axes": inverse})


Step = IndexStep | ReshapeStep | TransposeStep


def extend(steps: tuple[Step, ...], step: Step) -> tuple[Step, ...]:
    """Return a view's steps with one more, neighbouring indices composed."""
    if steps and isinstance(step, IndexStep) and isinstance(steps[-1], IndexStep):
        return (*steps[:-1], IndexStep(compose(steps[-1].at, step.at)))
    return (*steps, step)


def read_view(base: Value, steps: tuple[Step, ...], emit: Emit) -> Value:
    """Return the elements that a view shows."""
    for step in steps:
        base = step.read(base, emit)
    return base


def write_view(base: Value, steps: tuple[Step, ...], put: Callable[[Value, object], Value],
               emit: Emit, at: At | None) -> Value:
    """Return the base with the elements that a view shows replaced by `put(elements, at)`.

    A trailing index is handed to `put` composed with `at`, so that writing one element of a view
    costs one element.
    """
    if not steps:
        return put(base, at)
    first, *rest = steps
    if not rest and isinstance(first, IndexStep) and at is not None:
        return put(base, compose(first.at, at))
    part = first.read(base, emit)
    return first.write(base, write_view(part, tuple(rest), put, emit, at), emit)
