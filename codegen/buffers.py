"""Memory: which arrays share a buffer, so that writes are in place, and where buffers lie.

Arrays that follow one another through writes, loops and branches are merged into one buffer unless
two of them are needed at once; where they are, a copy is made and noted.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tracejit.codegen.elements import Elements, Idx, is_array
from tracejit.codegen.liveness import Liveness
from tracejit.codegen.size_bounds import SizeBounds
from tracejit.ir.control import LoopEqn, region_kind
from tracejit.ir.core import Atom, Block, Eqn, Graph, Span, Value
from tracejit.ir.dims import Dim, dim_values, is_nonneg, maximum, product, substitute
from tracejit.ir.lowering import Alias, Gather, Library, LogOp, Region, Write
from tracejit.ir.types import Aval, scalar
from tracejit.ir.walk import all_eqns

__all__ = ["Buffer", "Buffers", "loop_vars", "write_index", "writes_in_step"]


@dataclass(eq=False, slots=True)
class Buffer:
    """A stretch of memory.

    kind -- "input", "output", "arena" (part of the workspace), "log" (part of a Log) or "dynamic"
            (got while the kernel runs)
    """

    kind: str
    dtype: np.dtype
    size: Dim
    values: list[Value] = field(default_factory=list)
    name: str = ""
    number: int = -1
    """Of an argument or a result, its number; of a part of the arena, its slot."""


def loop_vars(shape: tuple[Dim, ...]) -> tuple[Value, ...]:
    """Return fresh loop variables, one per axis."""
    names = itertools.chain("ijklmnpq", (f"i{k}" for k in itertools.count()))
    return tuple(Value(scalar(np.int64), name) for name, _ in zip(names, shape, strict=False))


def write_index(at: tuple[Dim | Span, ...], index: Idx) -> Idx:
    """Return which element of an array a slice write puts an element of its part at."""
    rest = iter(index)
    return tuple(p.start + next(rest) * p.step if isinstance(p, Span) else p for p in at)


def writes_in_step(eqn: Eqn, old: Value, elements: Elements) -> bool:
    """Whether a write reads each element of `old` only when it writes that same element, or never
    writes it.
    """
    how, new = eqn.op.lowering, eqn.outputs[0]
    assert isinstance(how, Write)
    if how.gathered:
        return eqn.inputs[0] is old and old not in {
            w for a in eqn.inputs[1:] for w in elements.leaves(a)}
    shape = eqn.inputs[1].aval.shape
    part = dict(zip(loop_vars(shape), shape, strict=True))
    index: Idx = tuple(v.dim for v in part)
    written = write_index(eqn.params["at"], index)
    return all(v is not old or (at is not None and v.aval.shape == new.aval.shape and (
                   tuple(at) == tuple(written) or _never_meet(at, written, part)))
               for v, at in elements.loads(eqn.inputs[1], index))


def _never_meet(read: Idx, written: Idx, part: Mapping[Value, Dim]) -> bool:
    """Whether the elements that are read at any places of a part are others than those written.

    They are if along some axis all that are read lie before or behind all that are written:
    `y[:, j] = y[:, j - 1] + y[:, j - 2]`, `y[i + 1:] -= x[i + 1:, None] * y[i]`.

    part -- the sizes of the part's axes by the variables of the indices
    """
    others = {v: w.dim for v, w in zip(part, loop_vars(tuple(part.values())), strict=True)}
    ranges = {w: (0, size - 1) for v, size in part.items()
              for w in (v, *dim_values(others[v]))}
    for r, w in zip(read, written, strict=True):
        apart = substitute(r, others) - w
        if is_nonneg(apart - 1, ranges) or is_nonneg(-apart - 1, ranges):
            return True
    return False


class Buffers:
    """The buffer of every array with storage."""

    def __init__(self, graph: Graph, elements: Elements, live: Liveness) -> None:
        self.graph, self.elements, self.live = graph, elements, live
        self.bounds = SizeBounds(graph)
        self.members: dict[Value, list[Value]] = {}
        for v in elements.stored:
            self.members[v] = [v]
        self.fixed = set(graph.inputs)
        self.results = set(graph.outputs)
        self._merge_all(graph.block)
        self.of: dict[Value, Buffer] = {}
        self.outputs: list[Buffer] = []
        self.found: dict[int, Buffer] = {}
        """Of results whose sizes the kernel finds out, by their numbers, the memory that they are
        left in; the caller has room for their shapes."""
        self._assign()

    @property
    def inner(self) -> list[Buffer]:
        """Return the buffers that only the kernel sees."""
        return list(dict.fromkeys(b for b in self.of.values() if b.kind in ("arena", "dynamic")))

    # --- merging --------------------------------------------------------------------------------

    def _merge_all(self, block: Block) -> None:
        for eqn in all_eqns(block):  # first carried values with their results: one buffer
            if region_kind(eqn) in ("for", "while"):
                self._merge_carried(LoopEqn(eqn))
        for eqn in all_eqns(block):
            if isinstance(eqn.op.lowering, Region):
                self._merge_region(eqn)
            elif isinstance(eqn.op.lowering, (Write, Library)) and eqn.op.writes is not None:
                self._merge(eqn.inputs[eqn.op.writes], eqn.outputs[0])
            elif isinstance(eqn.op.lowering, Alias) and eqn.output in self.members:
                self._merge(eqn.inputs[0], eqn.output, reads_only=True)
        for eqn in all_eqns(block):  # a second look: an update inside may have merged by now
            if isinstance(eqn.op.lowering, Region):
                self._merge_region(eqn)

    def _merge_region(self, eqn: Eqn) -> None:
        kind = region_kind(eqn)
        if kind == "if":
            for region in eqn.regions:
                for a, v in zip(region.outputs, eqn.outputs, strict=True):
                    self._merge(a, v)
        elif kind != "map":
            loop = LoopEqn(eqn)
            for start, a, v in zip(loop.starts, loop.yielded, loop.carried, strict=True):
                self._merge(a, v)
                self._merge(start, v)

    def _merge_carried(self, loop: LoopEqn) -> None:
        for k, v in enumerate(loop.carried):
            for w in loop.tested[k:k + 1]:
                self._merge(w, v)
            self._merge(v, loop.results[k])

    def _merge(self, a: Atom, b: Atom, *, reads_only: bool = False) -> bool:
        """Let two arrays share a buffer if that loses no element; return whether they do."""
        if not (is_array(a) and is_array(b)) or a not in self.members or b not in self.members:
            return False
        left, right = self.members[a], self.members[b]
        if left is right:
            return True
        has_input = any(v in self.fixed for v in (*left, *right))
        if has_input and not reads_only:
            return False
        if a.aval.dtype != b.aval.dtype or not self._fit(a, b, [*left, *right], reads_only):
            return False
        checks = not reads_only or not has_input
        if checks and any(self._conflict(x, y) for x in left for y in right):
            return False
        left += right
        for v in right:
            self.members[v] = left
        return True

    def _fit(self, a: Value, b: Value, members: list[Value], is_alias: bool) -> bool:
        """Whether arrays are of one size, or of sizes that are equal where the kernel goes on.

        A reshape keeps the number of elements, by whatever names it goes: where data gives some of
        them, a check before it has compared the numbers. What is written before that check needs
        room all the same, which the memory of a result has not.
        """
        if not is_alias and product(a.aval.shape) != product(b.aval.shape):
            return False
        if len({product(v.aval.shape) for v in members}) == 1:
            return True
        return not any(v in self.results or self.elements.is_found(v) for v in members)

    def _conflict(self, x: Value, y: Value) -> bool:
        """Whether two arrays cannot share a buffer."""
        if self.live.interfere(x, y):
            return True
        first, second = (x, y) if self.live.defined[x] < self.live.defined[y] else (y, x)
        at = self.live.defined[second]
        if at not in self.live.uses.get(first, ()):
            return False
        maker = self.elements.makers.get(second)
        if maker is None or maker.regions or self.live.point[maker] != at:
            return False
        return not self._overwrites_in_step(maker, first)

    def _overwrites_in_step(self, eqn: Eqn, old: Value) -> bool:
        """Whether an equation reads each element of `old` only when it writes that same element."""
        how = eqn.op.lowering
        if isinstance(how, Alias):
            return True
        if isinstance(how, Gather):
            return False
        if isinstance(how, Library):
            once = [a is old for a in eqn.inputs].count(True) == 1
            return eqn.op.writes is not None and once and eqn.inputs[eqn.op.writes] is old
        if not self.elements.is_virtual_kind(eqn):  # another array than `old` is put there first
            return isinstance(how, Write) and eqn.inputs[0] is old and (
                writes_in_step(eqn, old, self.elements))
        new = eqn.output
        index: Idx = tuple(v.dim for v in loop_vars(new.aval.shape))
        return all(v is not old or (at is not None and tuple(at) == index
                                    and v.aval.shape == new.aval.shape)
                   for r in self.elements.reads(new, index)
                   for v, at in self.elements.loads(r.operand, r.index))

    # --- buffers --------------------------------------------------------------------------------

    def _assign(self) -> None:
        for k, v in enumerate(self.graph.inputs):
            if is_array(v):
                self._make("input", self.members[v], k)
        for k, a in enumerate(self.graph.outputs):
            taken = isinstance(a, Value) and a in self.of
            if isinstance(a, Value) and self.elements.is_found(a):
                self.found[k] = Buffer("dynamic", a.aval.dtype, product(a.aval.shape), [a])
                self.outputs.append(Buffer("output", np.dtype(np.int64), len(a.aval.shape), [], "",
                                           k))
            elif is_array(a) and not taken:
                self.outputs.append(self._make("output", self.members[a], k))
            else:
                size = product(a.aval.shape)
                self.outputs.append(Buffer("output", a.aval.dtype, size, [], "", k))
        # a list may get the next item where the last one was
        has_lists = any(e.op.lowering == LogOp("of") for e in all_eqns(self.graph.block))
        for v, members in self.members.items():
            if v not in self.of and members[0] is v:
                maker = self.elements.makers.get(v)
                in_log = not has_lists and len(members) == 1 and maker is not None and (
                    maker.op.lowering == LogOp("pop"))  # others may be there before it
                self._make("log" if in_log else self._kind_of(members), members, -1)

    def _kind_of(self, members: list[Value]) -> str:
        """Memory of a size of which nothing is known ahead of the kernel is got when it is needed.
        """
        is_found = any(map(self.elements.is_found, members))
        return "dynamic" if is_found and self.bounds.of(members) is None else "arena"

    def _make(self, kind: str, members: list[Value], number: int) -> Buffer:
        aval = members[0].aval
        assert isinstance(aval, Aval)
        size = product(aval.shape)
        if kind == "arena":
            found = any(map(self.elements.is_found, members))
            bound = self.bounds.of(members) if found else None
            size = bound if bound is not None else functools.reduce(
                maximum, (product(v.aval.shape) for v in members))
        buffer = Buffer(kind, aval.dtype, size, members, "", number)
        for v in members:
            self.of[v] = buffer
        return buffer

    def make_inner(self, v: Value) -> Buffer:
        """Give a further array memory of its own."""
        return self._make(self._kind_of([v]), [v], -1)

    def shares(self, a: Atom, b: Atom) -> bool:
        """Return whether two arrays are in one buffer."""
        return a in self.of and b in self.of and self.of[a] is self.of[b]
