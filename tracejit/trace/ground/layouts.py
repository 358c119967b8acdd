"""How NumPy lays an array out in memory, which decides whether a reshape is a view or a copy.

Values of the graph have no layout; cells have. A cell's layout is a *rule* (`Cell.layout`), which
is followed when somebody asks: an input lies as it does in the call (`memory.py` notes the fact),
the result of a ufunc as NumPy's iterator orders axes, a copy as its original. Any other array
lies in C order if all arrays that it was made from do, else nothing is known. Where nothing is
known, a copy is made that may be the array (`Cell.stands_for`); if a program is refused for it, its
capture begins again and compares sizes (`decides_layouts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tracejit.ir.control import carried_in
from tracejit.ir.core import Atom, Eqn, Span, Value
from tracejit.ir.dims import Dim, product
from tracejit.ir.types import Aval
from tracejit.trace.ground.context import current
from tracejit.trace.ground.facts import TIED
from tracejit.trace.ground.views import IndexStep, Step, TransposeStep

__all__ = ["COPY", "UNKNOWN", "Axis", "Columns", "Dense", "Input", "Layout", "Ordered", "Unknown",
           "is_contiguous", "iterated", "joined", "lay_out", "layout_of", "own_memory",
           "reshaped_axes", "rule_of", "stretched"]

_WHY = "it decides whether an array is reshaped as a view or as a copy"


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of an array: its size, and how far apart neighbours are, in elements.

    stride -- None where it is not known
    rank   -- sorts axes, the longest stride first; None for one along which nothing moves
    """

    size: Dim
    stride: Dim | None
    rank: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Layout:
    """How an array lies; `inputs` are the numbers of the graph's inputs that decide it."""

    axes: tuple[Axis, ...]
    inputs: frozenset[int] = frozenset()
    has_gaps: bool = False
    """Whether it is known to have gaps, with strides known or not."""


class Unknown(Exception):
    """Nothing is known of an array's layout."""


def lay_out(result: Any, order: str | None, like: Any = None) -> Any:
    """Note that a result is an array in an order of axes; "K" and "A" take the order of `like`."""
    result.cell.is_array = True
    if len(result.dims) > 1:
        if order in ("C", "F"):
            result.cell.layout = Dense(order)
        elif hasattr(like, "cell") and len(like.dims) == len(result.dims):
            result.cell.layout = _Like(rule_of(like), like.aval.shape, order or "K")
    return result


# --- rules ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dense:
    """New memory without gaps, in C order or, for "F", column by column."""

    order: str | None

    @property
    def may_permute(self) -> bool:
        """Return whether it is in another order, which the values do not tell."""
        return self.order == "F"

    def layout(self, shape: Sequence[Dim]) -> Layout:
        axes = tuple(range(len(shape)))
        return _dense(shape, axes[::-1] if self.order == "F" else axes)


@dataclass(frozen=True, slots=True)
class Ordered:
    """New memory without gaps, its axes from the longest stride to the shortest in an order."""

    order: tuple[int, ...]

    @property
    def may_permute(self) -> bool:
        """Return whether it is in another order than C's, which the values do not tell."""
        return self.order != tuple(range(len(self.order)))

    def layout(self, shape: Sequence[Dim]) -> Layout:
        return _dense(shape, self.order)


@dataclass(frozen=True, slots=True)
class Columns:
    """One of `step` arrays that NumPy keeps as the columns of one, which is in C order."""

    step: int
    may_permute = False

    def layout(self, shape: Sequence[Dim]) -> Layout:
        return Layout(tuple(_split(shape, self.step, ())))


COPY = Dense("C")
"""The layout of the copy that a reshape makes, of which NumPy returns a view."""


class _NotKnown:
    """Nothing is known."""

    may_permute = True

    def layout(self, shape: Sequence[Dim]) -> Layout:
        raise Unknown


UNKNOWN = _NotKnown()


@dataclass(frozen=True, slots=True)
class Input:
    """An array among the graph's inputs: as it lies in this call, which is a fact."""

    number: int
    may_permute = False

    def layout(self, shape: Sequence[Dim]) -> Layout:
        arrangement = current().memory.arrangement(self.number)
        inputs = frozenset((self.number,))
        if arrangement == TIED:
            raise Unknown
        if arrangement is None:
            return Layout(_dense(shape, range(len(shape))).axes, inputs)
        order, still, is_dense = arrangement
        axes = _dense(shape, order).axes
        if not is_dense:
            axes = tuple(Axis(a.size, 0 if k in still else None, None if k in still else a.rank)
                         for k, a in enumerate(axes))
        return Layout(axes, inputs, not is_dense)


@dataclass(frozen=True, slots=True)
class _Seen:
    """The layout that a handle on another cell shows."""

    rule: Any
    shape: tuple[Dim, ...]
    steps: tuple[Step, ...]
    may_permute = False

    def layout(self, shape: Sequence[Dim]) -> Layout:
        return _through(self.rule.layout(self.shape), self.steps)


@dataclass(frozen=True, slots=True)
class _Like:
    """New memory in the order of another array's axes, as NumPy's order "K" or "A" asks."""

    rule: Any
    shape: tuple[Dim, ...]
    order: str
    may_permute = False

    def layout(self, shape: Sequence[Dim]) -> Layout:
        found = self.rule.layout(self.shape)
        axes = [a for a in found.axes if _size(a.size) != 1]
        if any(a.rank is None for a in axes):
            raise Unknown
        order = _sorted(found.axes)
        rows = tuple(range(len(order)))
        if self.order == "A" and order not in (rows, rows[::-1]):
            raise Unknown  # it may lie column by column, if some sizes are 1
        if self.order == "A" and order != rows and (
                found.has_gaps or not _is_dense(found.axes[::-1])):
            order = rows
        return Layout(_dense(shape, order).axes, found.inputs)


@dataclass(frozen=True, slots=True)
class _Made:
    """The layout of any other value: in C order if all values that it is made from lie so."""

    value: Value
    may_permute = False

    def layout(self, shape: Sequence[Dim]) -> Layout:
        if len(shape) < 2:
            return _dense(shape, range(len(shape)))
        return Layout(_dense(shape, range(len(shape))).axes, _in_c_order(self.value))


@dataclass(frozen=True, slots=True)
class _JoinedLayouts:
    """The layout of a ufunc's result: the order in which NumPy's iterator goes through them."""

    operands: tuple[tuple[Any, tuple[Dim, ...]], ...]
    may_permute = False

    def layout(self, shape: Sequence[Dim]) -> Layout:
        inputs: frozenset[int] = frozenset()
        ranks: list[list[Any]] = []
        for rule, own in self.operands:
            if sum(_size(d) != 1 for d in own) < 2:
                continue  # it says nothing of the order of two axes
            found = rule.layout(own)
            inputs |= found.inputs
            ranks.append([None] * (len(shape) - len(own)) + [
                None if _size(a.size) == 1 else a.rank for a in found.axes])
        return Layout(_dense(shape, iterated(ranks, len(shape))).axes, inputs)


def iterated(ranks: Sequence[Sequence[Any]], ndim: int) -> tuple[int, ...]:
    """Return the axes as NumPy's iterator sorts them (`npyiter_find_best_axis_ordering`).

    Axes go before others where an operand says so and none says otherwise; C order breaks ties.
    """
    found: list[int] = []  # the fastest first
    for k in reversed(range(ndim)):
        place = len(found)
        for j in reversed(range(len(found))):
            known = [r[found[j]] > r[k] for r in ranks
                     if r[k] is not None and r[found[j]] is not None]
            if not known:
                continue
            if any(known):
                break
            place = j
        found.insert(place, k)
    return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class _Stretched:
    """An array repeated along axes without being copied."""

    rule: Any
    shape: tuple[Dim, ...]
    may_permute = True

    def layout(self, shape: Sequence[Dim]) -> Layout:
        found = self.rule.layout(self.shape)
        new = len(shape) - len(self.shape)
        axes = [Axis(d, 0, None) for d in shape[:new]]
        for d, a in zip(shape[new:], found.axes, strict=True):
            axes.append(Axis(d, 0, None) if _size(a.size) == 1 and _size(d) != 1 else a)
        repeats = any(a.rank is None and not _equal(a.size, 1) for a in axes)
        return Layout(tuple(axes), found.inputs, repeats or found.has_gaps)


def joined(result: Any, operands: Sequence[Any]) -> Any:
    """Note that a ufunc makes a result of operands, which decide its layout; return it."""
    if len(result.dims) > 1:
        result.cell.layout = _JoinedLayouts(tuple([(rule_of(x), x.aval.shape) for x in operands
                                            if hasattr(x, "cell")]))
    return result


@dataclass(frozen=True, slots=True)
class _MadeOf:
    """The layout that a function makes of arrays: in C order if all of them lie so."""

    operands: tuple[tuple[Any, tuple[Dim, ...]], ...]
    may_permute = False

    def layout(self, shape: Sequence[Dim]) -> Layout:
        inputs: frozenset[int] = frozenset()
        for rule, own in self.operands:
            if len(own) > 1 and len(shape) > 1:
                inputs |= _require_c_order(rule.layout(own))
        return Layout(_dense(shape, range(len(shape))).axes, inputs)


def own_memory(result: Any, given: Any) -> Any:
    """Return the result of a function of NumPy, which is a view of its operand or new memory."""
    if type(result) in (tuple, list):
        return type(result)([own_memory(x, given) for x in result])
    if not (hasattr(result, "cell") and result.steps):
        return result
    operands = list(_arrays_in(given))
    if any(result.cell.layout is x for x in (COPY, UNKNOWN)) or any(
            x.cell is result.cell for x in operands):
        return result
    made = result.own()
    made.cell.is_array = result.is_array
    made.cell.layout = _MadeOf(tuple([(rule_of(x), x.aval.shape) for x in operands]))
    return made


def _arrays_in(x: object) -> Iterator[Any]:
    """Yield the traced arrays of a nest."""
    if hasattr(x, "cell"):
        yield x
    elif isinstance(x, (tuple, list)):
        for item in x:
            yield from _arrays_in(item)
    elif isinstance(x, dict):
        yield from _arrays_in(list(x.values()))


def _require_c_order(found: Layout) -> frozenset[int]:
    """Return the inputs that decide a layout in C order; raise `Unknown` for any other layout."""
    if _sorted(found.axes) != tuple(range(len(found.axes))) or any(
            a.rank is None and _size(a.size) != 1 for a in found.axes):
        raise Unknown
    return found.inputs


def stretched(result: Any, source: Any) -> Any:
    """Note that a result is the broadcast view of an array `source`; return it."""
    result.cell.layout = _Stretched(rule_of(source), source.aval.shape)
    return result


def rule_of(x: Any) -> Any:
    """Return the rule by which the elements that a handle shows lie in memory."""
    rule = x.cell.layout or _Made(x.cell.first)
    return _Seen(rule, x.cell.value.aval.shape, x.steps) if x.steps else rule


def _in_c_order(value: Value) -> frozenset[int]:
    """Return the inputs that have to lie in C order for a value to do so; raise if one does not."""
    trace = current()
    makers: dict[Value, tuple[Atom, ...] | None] = {}
    pending: list[Atom] = [value]
    seen: set[Atom] = set()
    inputs: frozenset[int] = frozenset()
    while pending:
        v = pending.pop()
        if v in seen or not (isinstance(v, Value) and isinstance(v.aval, Aval)) or (
                len(v.aval.shape) < 2):
            continue
        seen.add(v)
        makers = makers or {v: a for s in trace.builder.scopes for e in s.eqns
                            for v, a in _sources(e)}
        rule = trace.memory.values.get(v)
        if rule is not None:
            inputs |= _require_c_order(rule.layout(v.aval.shape))
            continue
        if v in trace.permuted or v in trace.carried:  # of a loop that is being traced
            raise Unknown
        sources = makers.get(v, ())
        if sources is None:
            raise Unknown
        pending += sources
    return inputs


def _sources(eqn: Eqn) -> Iterator[tuple[Value, tuple[Atom, ...] | None]]:
    """Yield the results of an equation and its regions, each with the atoms deciding its order."""
    sources = (*eqn.inputs, *(v for r in eqn.regions for v in r.outputs))
    for v in eqn.outputs:
        yield v, None if eqn.op.permutes else sources
    for region in eqn.regions:
        for v, start in zip(carried_in(region), eqn.inputs, strict=False):
            yield v, (start,)
        for e in region.eqns:
            yield from _sources(e)


def _sorted(axes: Sequence[Axis]) -> tuple[int, ...]:
    """Return the numbers of axes from the longest stride to the shortest."""
    found: list[int] = []
    for k, a in enumerate(axes):
        place = len(found)
        if a.rank is not None and a.size != 1:
            for j in reversed(range(len(found))):
                other = axes[found[j]]
                if other.rank is None or other.size == 1:
                    continue
                if other.rank < a.rank:
                    break
                place = j
        found.insert(place, k)
    return tuple(found)


# --- strides ------------------------------------------------------------------------------------


def layout_of(x: Any, asked: set[int]) -> Layout:
    """Return the layout of the elements that a handle shows; add the inputs that decide it."""
    found: Layout = rule_of(x).layout(x.aval.shape)
    asked |= found.inputs
    return found


def _through(base: Layout, steps: Sequence[Step]) -> Layout:
    """Return how a view of an array lies."""
    axes = list(base.axes)
    for step in steps:
        if isinstance(step, IndexStep):
            axes = [Axis(place.size, None if a.stride is None else a.stride * place.step, a.rank)
                    for place, a in zip(step.at, axes, strict=True) if isinstance(place, Span)]
        elif isinstance(step, TransposeStep):
            axes = [axes[k] for k in step.axes]
        else:
            found = reshaped_axes(axes, step.shape)
            if found is None:
                raise Unknown
            axes = found
    return Layout(tuple(axes), base.inputs)


def _dense(shape: Sequence[Dim], order: Sequence[int]) -> Layout:
    """Return the layout of an array without gaps, its axes in an order."""
    sizes = [_size(d) for d in shape]
    axes: list[Any] = [None] * len(sizes)
    for place, k in enumerate(order):
        stride = product(tuple(sizes[j] for j in order[place + 1:]))
        axes[k] = Axis(sizes[k], stride, (place,))
    return Layout(tuple(axes))


def _row_major(sizes: Sequence[Dim], last: Dim = 1) -> list[Dim]:
    return [last * product(tuple(sizes[k + 1:])) for k in range(len(sizes))]


def is_contiguous(x: Any, asked: set[int]) -> bool | None:
    try:
        found = layout_of(x, asked)
        return not found.has_gaps and _is_dense(found.axes)
    except Unknown:
        return None


def _is_dense(found: Sequence[Axis]) -> bool:
    """Return whether axes lie side by side, the last one fastest."""
    axes = [(_size(a.size), a.stride) for a in found if _size(a.size) != 1]
    if [s for _, s in axes] == _row_major([d for d, _ in axes]):
        return True
    axes = [(d, s) for d, s in axes if not _equal(d, 1)]
    return all(_equal(_known(s), t) for (_, s), t in zip(
        axes, _row_major([d for d, _ in axes]), strict=True))


def _known(stride: Dim | None) -> Dim:
    if stride is None:
        raise Unknown
    return stride


def reshaped_axes(axes: Sequence[Axis], shape: Sequence[Dim]) -> list[Axis] | None:
    """Return the axes of a view of another shape; None where NumPy needs a copy.

    Axes are split, or merged with neighbours next to which they lie, in groups of one size.
    """
    shape = [_size(d) for d in shape]
    old = [Axis(_size(a.size), a.stride, a.rank) for a in axes if _size(a.size) != 1]
    new = [d for d in shape if d != 1]
    if [a.size for a in old] == new:
        rest = iter(old)
        return [_one(d) if d == 1 else next(rest) for d in shape]
    if [a.stride for a in old] == _row_major([a.size for a in old]):
        return _split(shape, 1, ())
    result: list[Axis] = []
    old, k = [a for a in old if not _equal(a.size, 1)], 0
    while k < len(shape) and old:
        size, group, split = old[0].size, [old.pop(0)], [shape[k]]
        k += 1
        while not _equal(size, product(tuple(split))):
            if _is_less(size, product(tuple(split))):
                if not old:
                    raise Unknown  # of an empty array
                group.append(old.pop(0))
                size = size * group[-1].size
            elif k == len(shape):
                raise Unknown
            else:
                split.append(shape[k])
                k += 1
        if not all(_equal(_known(a.stride), b.size * _known(b.stride))
                   for a, b in pairwise(group)):
            return None
        last = group[-1]
        result += _split(split, last.stride, last.rank)
    return [*result, *map(_one, shape[k:])]


def _one(size: Dim) -> Axis:
    return Axis(size, 1, None)


def _split(sizes: Sequence[Dim], last: Dim | None, rank: tuple[int, ...] | None) -> list[Axis]:
    """Return the axes into which one of a stride and rank is split."""
    strides = [None] * len(sizes) if last is None else _row_major(sizes, last)
    return [Axis(d, s, None if rank is None or d == 1 else (*rank, k))
            for k, (d, s) in enumerate(zip(sizes, strides, strict=True))]


def _size(d: Dim) -> Dim:
    return current().canonical(d)


def _equal(a: Dim, b: Dim) -> bool:
    return _decided(a, b, "==")


def _is_less(a: Dim, b: Dim) -> bool:
    return _decided(a, b, "<")


def _decided(a: Dim, b: Dim, relation: str) -> bool:
    trace, difference = current(), _size(a) - _size(b)
    if not isinstance(difference, int) and not trace.decides_layouts:
        trace.undecided = True
        raise Unknown
    truth = trace.decide(difference, relation, _WHY)
    if truth is None:
        raise Unknown
    return truth
