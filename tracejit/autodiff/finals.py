"""Elements that a loop does not write to again, or has not yet: found in the array left, or given.

    for i in range(n):
        for j in range(i):
            t = A[i, j]
            for k in range(j):
                t -= L[i, k] * L[j, k]      both are read again from the L that is left
            L[i, j] = t / L[j, j]           and so are the quotient and the divisor

An element that is read, or set, and that nothing writes to later is the same in the array that the
outermost loop leaves. A later iteration has a larger number in some loop around both, and the same
numbers in the loops around that: for each such loop the two places have to differ on some axis.

An element that is read, and that nothing has written to before, is the same in the array that the
outermost loop begins with: where that is an argument, which stays as it is, it is read from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field

import numpy as np

from tracejit.autodiff.nests import ForwardNest
from tracejit.ir.builder import Builder
from tracejit.ir.control import LoopEqn, region_kind
from tracejit.ir.core import Atom, Block, Eqn, Value
from tracejit.ir.dims import Dim, dim_values, is_nonneg, substitute
from tracejit.ir.lowering import Write
from tracejit.ir.optable import find_op
from tracejit.ir.places import ends_of, numbers_of
from tracejit.ir.types import scalar

__all__ = ["FinalElements"]

MOST_WRITES = 32
"""How many writes to one array are looked at for each read."""

Path = Sequence[tuple[Eqn, int]]
Bounds = dict[Value, tuple[Dim | None, Dim | None]]
Place = tuple[Dim | None, Dim | None]


@dataclass(slots=True)
class _Array:
    """An array that the outermost loop carries: all that is in its place, and the writes to it.

    start -- the array that it begins with, if that is an argument
    """

    result: Value
    start: Value | None
    versions: set[Value] = field(default_factory=set)
    writes: list[Eqn] = field(default_factory=list)


class FinalElements:
    """For values of a nest, the equations that read them from arrays that it leaves or is given.

    given -- the arguments of the program
    """

    def __init__(self, nest: ForwardNest, given: Set[Value] = frozenset()) -> None:
        self.nest, self.order = nest, _Writes(nest)
        self.found: dict[Value, Eqn | None] = {}
        self.arrays: dict[Value, _Array] = {}
        self.writers: dict[Value, list[Eqn]] = {}
        for array in _Arrays(nest).of_top(given):
            self.arrays.update(dict.fromkeys(array.versions, array))
            for eqn in array.writes:
                if isinstance(eqn.inputs[1], Value):
                    self.writers.setdefault(eqn.inputs[1], []).append(eqn)

    def of(self, v: Value) -> Eqn | None:
        """Return an equation that reads a value from an array outside; None where none can."""
        if not self.arrays:
            return None
        if v not in self.found:
            made = (self._again(e, v) for e in self._in_memory(v))
            self.found[v] = next((e for e in made if e is not None), None)
        return self.found[v]

    def _in_memory(self, v: Value) -> Iterator[Eqn]:
        """Yield the equations that read a value from an array, or set elements to it."""
        maker = self.nest.maker.get(v)
        if maker is not None and maker.op.meaning == "index" and maker.inputs[0] in self.arrays:
            yield maker
        for eqn in self.writers.get(v, ()):
            how = eqn.op.lowering
            if isinstance(how, Write) and how.combine == "set" and not how.gathered and (
                    self.nest.home[eqn.output].block is self.nest.home[v].block):
                yield eqn

    def _again(self, eqn: Eqn, v: Value) -> Eqn | None:
        """Return the equation that reads a value from where another one reads or writes it."""
        version, at = eqn.inputs[0], eqn.params["at"]
        assert isinstance(version, Value)
        array = self.arrays[version]
        names = {w for ends in ends_of(at) for d in ends for w in dim_values(d)}
        if len(array.writes) > MOST_WRITES or any(
                self.nest.contains(w) and not self.nest.is_loop_index(w) for w in names):
            return None
        home = self.nest.home[eqn.output]
        reached = version if eqn.output is v else eqn.output
        order = _Order(self.order, home.path, reached, ends_of(at))
        source = array.result
        if not all(map(order.is_final_after, array.writes)):
            if array.start is None or eqn.output is not v or not all(
                    map(order.is_first_before, array.writes)):
                return None
            source = array.start
        builder = Builder()
        (read,) = builder.emit(find_op("index"), [source], {"at": at}, site=eqn.site)
        if read.aval != v.aval:
            return None
        again = builder.scope.eqns[-1]
        return again.with_parts(again.inputs, again.params, (v,), (), None)


# --- arrays through a nest ----------------------------------------------------------------------


class _Arrays:
    """Follows arrays through loops, branches and writes to elements, from the last back."""

    def __init__(self, nest: ForwardNest) -> None:
        self.nest = nest

    def of_top(self, given: Set[Value]) -> Iterator[_Array]:
        """Yield the arrays that the outermost loop carries and writes to."""
        if region_kind(self.nest.top) not in ("for", "while"):
            return
        loop = LoopEqn(self.nest.top)
        for first, result, start, end in zip(loop.starts, loop.results, loop.carried,
                                             loop.yielded, strict=True):
            array = _Array(result, first if isinstance(first, Value) and first in given else None)
            if not result.is_log and result.aval.shape and self._follow(
                    end, loop.body, start, array) and array.writes:
                yield array

    def before(self, v: Value) -> Atom | None:
        """Return the version of an array before the equation that makes it."""
        eqn = self.nest.maker[v]
        if isinstance(eqn.op.lowering, Write):
            return eqn.inputs[0]
        if region_kind(eqn) == "if":
            begins = {self.begin(r.outputs[eqn.outputs.index(v)], r) for r in eqn.regions}
            return begins.pop() if len(begins) == 1 else None
        if region_kind(eqn) in ("for", "while") and v in LoopEqn(eqn).results:
            return LoopEqn(eqn).starts[LoopEqn(eqn).results.index(v)]
        return None

    def begin(self, v: Atom | None, region: Block) -> Atom | None:
        """Return the version of an array where a region begins."""
        while isinstance(v, Value) and v in self.nest.maker and (
                self.nest.home[v].block is region):
            v = self.before(v)
        return v

    def _follow(self, end: Atom | None, region: Block, start: Value, array: _Array) -> bool:
        """Note all that is in the place of an array within a region; return whether it is one."""
        while end is not start:
            if not isinstance(end, Value) or end not in self.nest.maker or (
                    self.nest.home[end].block is not region):
                return False
            array.versions.add(end)
            eqn, last = self.nest.maker[end], end
            end = self.before(end)
            if isinstance(eqn.op.lowering, Write):
                array.writes.append(eqn)
            elif not isinstance(end, Value) or not self._enter(eqn, last, end, array):
                return False
        array.versions.add(start)
        return True

    def _enter(self, eqn: Eqn, result: Value, start: Value, array: _Array) -> bool:
        """Follow an array through the regions of an equation."""
        if region_kind(eqn) == "if":
            k = eqn.outputs.index(result)
            return all(self._follow(r.outputs[k], r, start, array) for r in eqn.regions)
        loop = LoopEqn(eqn)
        k = loop.results.index(result)
        return self._follow(loop.yielded[k], loop.body, loop.carried[k], array)


# --- which writes come first --------------------------------------------------------------------


class _Writes:
    """Where writes are in iterations after, or before, one in which something is read or set."""

    def __init__(self, nest: ForwardNest) -> None:
        self.nest = nest
        self.found: dict[tuple[Eqn, int, int, bool], tuple[list[Place], Bounds]] = {}

    def at(self, write: Eqn, common: int, turn: int, later: bool) -> tuple[list[Place], Bounds]:
        """Return the place of a write, and the bounds of the values in it.

        common -- how many of the regions around it are around the other place, too
        turn   -- the number of the common loop that is in a later iteration, where those around it
                  are in the same one; that of no common loop if all are in the same one
        later  -- whether that iteration is later, or earlier
        """
        key = write, common, turn, later
        if key not in self.found:
            self.found[key] = self._find(write, common, turn, later)
        return self.found[key]

    def _find(self, write: Eqn, common: int, turn: int, later: bool,
              ) -> tuple[list[Place], Bounds]:
        path = self.nest.home[write.output].path
        indices = {eqn.regions[k].inputs[0] for eqn, k in path if region_kind(eqn) != "if"}
        ranges: Bounds = {}
        names: dict[Value, Dim] = {}

        def there(d: Dim | None) -> Dim | None:
            """A dim as it is there; None if data of the iteration decide it."""
            if d is None or any(self.nest.contains(v) and v not in indices for v in dim_values(d)):
                return None
            return substitute(d, names)

        for n, (eqn, k) in enumerate(path):
            if n < turn or region_kind(eqn) == "if":
                continue
            index, other = eqn.regions[k].inputs[0], Value(scalar(np.int64))
            if n == turn < common:
                back = region_kind(eqn) == "for" and LoopEqn(eqn).is_reversed
                ranges[other] = (0, None)
                names[index] = (index.dim + other.dim + 1 if later != back else
                                index.dim - other.dim - 1)
            else:
                low, high = numbers_of(eqn)
                ranges[other] = there(low), there(high)
                names[index] = other.dim
        places = ends_of(write.params["at"]) if "at" in write.params else []
        return [(there(low), there(high)) for low, high in places], ranges


class _Order:
    """A place that is read or set, and when: no write behind it, or before it, may be to it.

    path    -- the regions around it
    version -- the array that is there then
    place   -- on each axis the first and the last index
    """

    def __init__(self, writes: _Writes, path: Path, version: Value,
                 place: Sequence[tuple[Dim, Dim]]) -> None:
        self.nest, self.writes = writes.nest, writes
        self.path, self.version, self.place = path, version, place
        self.ranges: Bounds = {eqn.regions[k].inputs[0]: numbers_of(eqn)
                               for eqn, k in path if region_kind(eqn) != "if"}
        self.known = list(self._known())
        self.before: dict[int, set[Eqn]] = {}

    def is_final_after(self, write: Eqn) -> bool:
        """Return whether no later instance of a write is to the place."""
        return self._is_alone(write, later=True)

    def is_first_before(self, write: Eqn) -> bool:
        """Return whether no earlier instance of a write is to the place."""
        return self._is_alone(write, later=False)

    def _is_alone(self, write: Eqn, later: bool) -> bool:
        path = self.nest.home[write.output].path
        pairs = zip(path, self.path, strict=False)
        common = next((n for n, (a, b) in enumerate(pairs) if a != b),
                      min(len(path), len(self.path)))
        if not common:
            return False
        turns = [n for n in range(common) if region_kind(path[n][0]) != "if"]
        inner = path[common][0] if common < len(path) else write
        if self._may_be(inner, common, later):
            turns.append(common)
        return all(self._is_elsewhere(*self.writes.at(write, common, t, later)) for t in turns)

    def _may_be(self, inner: Eqn, common: int, later: bool) -> bool:
        """Return whether an equation of the innermost common region may come later, or earlier."""
        if common < len(self.path) and self.path[common][0] is inner:
            return region_kind(inner) != "if"  # it is in the other branch
        if common not in self.before:
            self.before[common] = set(self._makers(common))
        return (inner in self.before[common]) != later

    def _makers(self, common: int) -> Iterator[Eqn]:
        """Yield the equations of the innermost common region by which the array came about."""
        arrays = _Arrays(self.nest)
        v: Atom | None = self.version
        for around, k in reversed(self.path[common:]):
            v = arrays.begin(v, around.regions[k])
            inputs = around.regions[k].inputs
            if region_kind(around) != "if" and v in inputs[1:]:
                v = LoopEqn(around).starts[inputs[1:].index(v)]
        eqn, k = self.path[common - 1]
        block = eqn.regions[k]
        while isinstance(v, Value) and v in self.nest.maker and self.nest.home[v].block is block:
            yield self.nest.maker[v]
            v = arrays.before(v)

    def _is_elsewhere(self, places: Sequence[Place], bounds: Bounds) -> bool:
        """Return whether a write is to other places, on some axis."""
        apart: list[Dim] = []
        for (begin, end), (first, last) in zip(places, self.place, strict=False):
            apart += [] if begin is None else [begin - last - 1]
            apart += [] if end is None else [first - end - 1]
        ranges = {**self.ranges, **bounds}
        return any(is_nonneg(d - fact, ranges) for d in apart for fact in self.known)

    def _known(self) -> Iterator[Dim]:
        """Yield dims that are not negative where the place is, as the branches around it say."""
        yield 0
        for eqn, k in self.path:
            condition = eqn.inputs[0] if region_kind(eqn) == "if" else None
            test = self.nest.maker.get(condition) if isinstance(condition, Value) else None
            if test is None or test.op.implies is None or any(
                    a.aval != scalar(np.int64) for a in test.inputs):
                continue
            a, b = (a.dim if isinstance(a, Value) else int(a.val) for a in test.inputs)
            yield from test.op.implies[k](a - b, self.ranges)
