"""Array values as functions of an index: which elements of which operands an element is made of.

A value without storage is *virtual*: wherever an element of it is needed, its expression is
computed there. Indices are dims over loop variables, so slices, shifts, transposes and broadcasts
cost nothing and can be compared.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard, TypeVar, cast

from tracejit.ir.core import Atom, Eqn, Graph, Literal, Span, Value
from tracejit.ir.dims import Dim, Expr, IntegerCall, dim_values
from tracejit.ir.lowering import CALL_COST, Alias, Gather, Index, Pointwise, View, Write
from tracejit.ir.walk import all_eqns

__all__ = ["Elements", "Guard", "Read", "is_array", "is_constant", "is_unit_reshape",
           "nearly_whole"]

Idx = tuple[Dim, ...]


@dataclass(frozen=True, slots=True)
class Guard:
    """`lo <= index < hi` along one axis."""

    index: Dim
    lo: Dim
    hi: Dim


@dataclass(frozen=True, slots=True)
class Read:
    """An element of an operand that an element of a value needs, perhaps only under guards."""

    operand: Atom
    index: Idx
    guards: tuple[Guard, ...] = ()


def is_array(a: Atom) -> TypeGuard[Value]:
    """Return whether an operand is an array of at least one axis."""
    return isinstance(a, Value) and not a.is_log and bool(a.aval.shape)


def is_constant(eqn: Eqn) -> bool:
    """Return whether an equation makes an array that is one number everywhere."""
    return isinstance(eqn.op.lowering, View) and not any(map(is_array, eqn.inputs)) and (
        is_array(eqn.outputs[0]))


def is_unit_reshape(before: tuple[Dim, ...], after: tuple[Dim, ...]) -> bool:
    """Return whether a reshape only adds or drops axes of size 1, so that elements keep places.

    One of the other axes may be of a size that has two names, `n - i` and `max(n - i, 0)` after a
    check that they are equal: a reshape keeps the number of elements, so the two are one number.
    """
    left, right = ([d for d in shape if d != 1] for shape in (before, after))
    return len(left) == len(right) and sum(map(operator.ne, left, right)) <= 1


def unit_reshape_index(index: Idx, before: tuple[Dim, ...], after: tuple[Dim, ...]) -> Idx:
    """Return the index before a reshape that only adds or drops axes of size 1."""
    rest = iter(i for i, d in zip(index, after, strict=True) if d != 1)
    return tuple(0 if d == 1 else next(rest) for d in before)


MARGIN = 8


def nearly_whole(at: tuple[Dim | Span, ...], shape: tuple[Dim, ...]) -> bool:
    """Return whether a basic index leaves out only a margin of small constant width."""
    return all(isinstance(p, Span) and p.step == 1 and _has_margin(d, p.size)
               for p, d in zip(at, shape, strict=True))


def _has_margin(d: Dim, size: Dim) -> bool:
    """Whether size is d - c or max(d - c, 0) for a small constant c."""
    candidates: list[Dim] = [size]
    bare = size.bare if isinstance(size, Expr) else None
    if isinstance(bare, IntegerCall) and bare.fn == "max":
        candidates += bare.args
    margins = [d - x for x in candidates]
    return any(isinstance(margin, int) and 0 <= margin <= MARGIN for margin in margins)


Answer = TypeVar("Answer")


def _remembered(method: Callable[[Any, Value], Answer]) -> Callable[[Any, Value], Answer]:
    """Keep a method's answers until another array gets storage."""

    @functools.wraps(method)
    def call(self: Elements, v: Value) -> Answer:
        known = self.answers.setdefault((method.__name__, len(self.stored)), {})
        if v not in known:
            known[v] = method(self, v)
        return cast(Answer, known[v])

    return call


class Elements:
    """The element-wise view of a graph.

    stored -- the arrays with storage, and why they have it
    pulled -- the slice writes that are computed like any element-wise operation
    """

    def __init__(self, graph: Graph, stored: dict[Value, str], pulled: set[Eqn]) -> None:
        self.makers: dict[Value, Eqn] = {v: e for e in all_eqns(graph.block) for v in e.outputs}
        self.inputs = frozenset(graph.inputs)
        self.stored = stored
        self.pulled = pulled
        self.answers: dict[tuple[str, int], dict[Value, Any]] = {}

    def is_virtual(self, a: Atom) -> bool:
        """Return whether an operand is an array without storage."""
        return is_array(a) and a not in self.stored

    def why_copied(self, a: Atom, why: str) -> str:
        """Return why an array is copied: another reason than that given for a constant."""
        is_number = self.is_virtual(a) and is_constant(self.makers[a])  # type: ignore[index]
        return "it begins as one number everywhere" if is_number else why

    def is_found(self, a: Atom) -> bool:
        """Return whether an operand is an array of a size that only the kernel finds out."""
        return is_array(a) and any(not v.is_size and v not in self.inputs
                                   for d in a.aval.shape for v in dim_values(d))

    def is_virtual_kind(self, eqn: Eqn) -> bool:
        """Return whether an equation's result can be computed element by element on demand.

        Its result may have storage all the same: then it is computed once, into that.
        """
        how = eqn.op.lowering
        if isinstance(how, Write):
            return eqn in self.pulled
        if isinstance(how, Alias):
            return is_unit_reshape(eqn.inputs[0].aval.shape, eqn.output.aval.shape)
        return isinstance(how, (Pointwise, View, Index, Gather))

    def reads(self, v: Value, index: Idx) -> list[Read]:
        """Return the reads that make an element of a virtual value, or a scalar made by a view."""
        eqn = self.makers[v]
        how = eqn.op.lowering
        if isinstance(how, Pointwise):
            return [Read(a, broadcast_index(index, v.aval.shape, a.aval.shape))
                    for a in eqn.inputs]
        if isinstance(how, View):
            (a,) = eqn.inputs
            return [Read(a, tuple(how.index_map(eqn.params, index, a.aval.shape)))]
        if isinstance(how, Alias):
            (a,) = eqn.inputs
            return [Read(a, unit_reshape_index(index, a.aval.shape, v.aval.shape))]
        if isinstance(how, Index):
            return []
        if isinstance(how, Write):
            base, part = eqn.inputs
            inverse, guards = self._inside(eqn, index)
            return [Read(base, index), Read(part, inverse, guards)]
        raise AssertionError(f"{eqn.op} has no elements")

    def known_reads(self, v: Value, index: Idx) -> list[Read]:
        """Return the reads whose place is known beforehand: of a gather, its reads of indices."""
        eqn = self.makers[v]
        if not isinstance(eqn.op.lowering, Gather):
            return self.reads(v, index)
        position, rank = eqn.params["position"], len(eqn.inputs[1].aval.shape)
        return [Read(a, index[position:position + rank]) for a in eqn.inputs[1:]]

    def _inside(self, eqn: Eqn, index: Idx) -> tuple[Idx, tuple[Guard, ...]]:
        """Return the index into the part that a write puts at an element, and where it does."""
        inverse: list[Dim] = []
        guards: list[Guard] = []
        for i, place, d in zip(index, eqn.params["at"], eqn.inputs[0].aval.shape, strict=True):
            assert isinstance(place, Span)
            inverse.append(i - place.start)
            if place.start != 0 or place.size != d:
                guards.append(Guard(i, place.start, place.start + place.size))
        return tuple(inverse), tuple(guards)

    # --- operands of an element, each value looked at once -------------------------------------

    def leaves(self, a: Atom) -> Sequence[Value]:
        """Return the stored arrays and scalars that an operand is computed from."""
        if isinstance(a, Literal):
            return ()
        return self.made_of(a) if self.is_virtual(a) else (a,)

    @_remembered
    def made_of(self, v: Value) -> tuple[Value, ...]:
        """Return the stored arrays and scalars that computing a value takes."""
        eqn = self.makers[v]
        found = dict.fromkeys(leaf for a in eqn.inputs for leaf in self.leaves(a))
        found.update(dict.fromkeys(w for w in eqn.uses() if not is_array(w)))
        return tuple(found)

    def reads_of(self, v: Value, index: Idx) -> Iterator[Read]:
        """Yield every read, down to stored arrays, that computing an element of a value takes."""
        pending = [(v, tuple(index))]
        seen = set(pending)
        while pending:
            v, index = pending.pop()
            for read in self.known_reads(v, index):
                yield read
                following = (read.operand, tuple(read.index))
                if self.is_virtual(read.operand) and following not in seen:
                    seen.add(following)  # type: ignore[arg-type]
                    pending.append(following)  # type: ignore[arg-type]

    def loads_of(self, v: Value, index: Idx) -> Iterator[tuple[Value, Idx | None]]:
        """Yield the elements of stored arrays that computing an element of a value takes.

        The index is None where it is data.
        """
        if isinstance(self.makers[v].op.lowering, Gather):
            yield from self._gathered(v)
        for read in self.reads_of(v, index):
            a = read.operand
            if not is_array(a):
                continue
            if a in self.stored:
                yield a, read.index
            elif isinstance(self.makers[a].op.lowering, Gather):
                yield from self._gathered(a)

    def _gathered(self, v: Value) -> Iterator[tuple[Value, None]]:
        leaves = self.leaves(self.makers[v].inputs[0])
        yield from ((leaf, None) for leaf in leaves if is_array(leaf))

    def loads(self, a: Atom, index: Idx) -> Iterator[tuple[Value, Idx | None]]:
        """Yield the elements of stored arrays that an element of an operand takes."""
        if is_array(a):
            yield from [(a, index)] if a in self.stored else self.loads_of(a, index)

    def cost(self, a: Atom) -> float:
        """Return the rough cost of computing an element of an operand from stored arrays."""
        return self.cost_of(a) if self.is_virtual(a) else 0.0  # type: ignore[arg-type]

    @_remembered
    def cost_of(self, v: Value) -> float:
        """Return the rough cost of computing an element of a value."""
        eqn = self.makers[v]
        return eqn.op.cost + sum(map(self.cost, eqn.inputs))

    @_remembered
    def operations(self, v: Value) -> int:
        """Return how many operations an element is emitted as, at most: each for every use."""
        return 1 + sum(self.operations(a) for a in self.makers[v].inputs
                       if is_array(a) and a not in self.stored)

    def has_call(self, a: Atom) -> bool:
        """Return whether computing an element of an operand calls a function such as `exp`."""
        return self.is_virtual(a) and self.makes_call(a)  # type: ignore[arg-type]

    @_remembered
    def makes_call(self, v: Value) -> bool:
        """Return whether computing an element from the operands calls such a function."""
        eqn = self.makers[v]
        return eqn.op.cost >= CALL_COST or any(map(self.has_call, eqn.inputs))

    def computes(self, a: Atom) -> bool:
        """Return whether a virtual operand is more than a view of a stored or constant array."""
        return self.is_virtual(a) and self._takes_arithmetic(a)  # type: ignore[arg-type]

    @_remembered
    def _takes_arithmetic(self, v: Value) -> bool:
        eqn = self.makers[v]
        if isinstance(eqn.op.lowering, (View, Alias, Index)):
            return any(map(self.computes, eqn.inputs))
        return True


def broadcast_index(index: Idx, shape: tuple[Dim, ...], operand: tuple[Dim, ...]) -> Idx:
    """Return the index into an operand that broadcasting repeats to a shape."""
    kept = index[len(index) - len(operand):]
    dims = shape[len(shape) - len(operand):]
    return tuple(0 if d == 1 and s != 1 else i for i, d, s in zip(kept, operand, dims, strict=True))
