"""Which products in a loop can be done for a block of its iterations at once (`blocking.py`).

*Ahead* of a block are products of a matrix and vectors that depend on the index and on nothing that
the loop carries. *Behind* it are products added to an array that iterations do not read otherwise:
outer products, and rows that are products of a vector and a matrix. A part such as `B[:, i:]`,
which gets shorter in each iteration, is divided where the block ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tracejit.ir.control import LoopEqn, bounds_of
from tracejit.ir.core import Atom, Block, Eqn, Span, Value
from tracejit.ir.dims import (
    Dim,
    Expr,
    IntegerCall,
    dim_values,
    is_nonneg,
    maximum,
    minimum,
    product,
    substitute,
)
from tracejit.ir.lowering import Alias, Contract, Index, Pointwise, View, Write, axis_labels
from tracejit.ir.walk import all_eqns

__all__ = ["BLOCK", "RowAhead", "LoopProducts", "AddedOuter", "DividedPart", "AddedRow"]

BLOCK = 64
"""How many iterations a block has."""

WORTHWHILE = 2048
"""Elements of a matrix of known size below which a loop stays as it is: it lies in the fastest
cache anyway."""

ENOUGH = 2 ** 26
"""How many iterations a condition that holds allows: so conditions are written as sizes."""



@dataclass(frozen=True, slots=True)
class DividedPart:
    """A part of an array from outside of the loop: its place along each axis.

    rising -- the axis along which it is `i + c:`, up to an end that is the same in all iterations
    """

    array: Value
    at: tuple[Dim | Span, ...]
    rising: int | None

    def from_iteration(self, i: Value, number: Dim) -> tuple[Dim | Span, ...]:
        """Return the place in the iteration of a number, or behind the last one; it may be empty.
        """
        env: Mapping[Value, Dim] = {i: number}
        return tuple(Span(substitute(s.start, env), maximum(substitute(s.size, env), 0))
                     if k == self.rising and isinstance(s, Span) else s
                     for k, s in enumerate(self.at))


@dataclass(frozen=True, slots=True)
class RowAhead:
    """A product of a vector and a matrix that needs no value that the loop carries.

    labels -- of the axes of both, and of the result
    """

    eqn: Eqn
    vector: Value
    matrix: DividedPart
    labels: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class AddedOuter:
    """An outer product that is added to a part of an array.

    carried -- the array as an iteration finds it, `array` as it is before this addition
    divided -- the part that is added to
    vectors -- along the first of its two axes and along the second
    """

    carried: Value
    array: Value
    divided: DividedPart
    vectors: tuple[Value, Value]


@dataclass(frozen=True, slots=True)
class AddedRow:
    """A product of a vector and a matrix that is added to an array in row i + c of some axis.

    divided -- the matrix
    at      -- the place of the row, with its number `place` at `axis`
    """

    carried: Value
    array: Value
    divided: DividedPart
    vector: Value
    labels: tuple[str, str, str]
    at: tuple[Dim | Span, ...]
    axis: int
    place: Dim


@dataclass(slots=True)
class LoopProducts:
    """A `for_`, and the products in it of which those of a block can be one.

    ahead  -- by the equation of the product
    behind -- by the equation that adds it
    whole  -- the carried arrays to which a block's iterations do nothing themselves
    inside -- the values of an iteration; `fixed` are those that depend on the index alone
    count  -- how many iterations are known to be in the bounds of the reads ahead
    """

    eqn: Eqn
    ahead: dict[Eqn, RowAhead] = field(default_factory=dict)
    behind: dict[Eqn, AddedOuter | AddedRow] = field(default_factory=dict)
    whole: set[Value] = field(default_factory=set)
    inside: set[Value] = field(default_factory=set)
    fixed: set[Value] = field(default_factory=set)
    makers: dict[Value, Eqn] = field(default_factory=dict)
    count: Dim = 0

    @property
    def body(self) -> Block:
        """Return the region that is an iteration."""
        return LoopEqn(self.eqn).body

    @property
    def i(self) -> Value:
        """Return the number of the iteration."""
        return LoopEqn(self.eqn).index

    def find(self) -> bool:
        """Return whether there are any, in arrays whose sizes may make it worth it."""
        self.inside = {*self.body.inputs, *(v for e in self.body.eqns for v in e.outputs)}
        self.makers = {v: e for e in self.body.eqns for v in e.outputs}
        lo, hi = bounds_of(self.eqn)
        self.count = hi - lo
        for eqn in self.body.eqns:
            if self._is_fixed(eqn):
                self.fixed.update(eqn.outputs)
            elif isinstance(eqn.op.lowering, Contract):
                found = self._ahead(eqn)
                if found is not None:
                    self.ahead[eqn] = found
        self._find_behind()
        if any(self._outweighs(e) for e in self.body.eqns):
            return False
        sizes = [product(part.array.aval.shape[-2:]) for part in self._parts()]
        return bool(sizes) and not any(isinstance(d, int) and d < WORTHWHILE for d in sizes)

    def _outweighs(self, eqn: Eqn) -> bool:
        """Return whether an iteration multiplies two matrices, which takes longer than a vector.

        Two forms of such a loop would take twice as long to compile, and hardly less to run.
        """
        return isinstance(eqn.op.lowering, Contract) and eqn not in self.ahead and (
            len({*eqn.params["spec"]} - {*",->"}) > 2)

    def _parts(self) -> Iterator[DividedPart]:
        for found in (*self.ahead.values(), *self.behind.values()):
            yield found.matrix if isinstance(found, RowAhead) else found.divided

    def _is_outer(self, d: Dim) -> bool:
        """Whether a dim is the same in all iterations."""
        return not any(v in self.inside for v in dim_values(d))

    def _is_next(self, d: Dim) -> bool:
        """Whether a dim is the number of the iteration plus a dim that is the same in all."""
        return isinstance(d, Expr) and d.factor_of(self.i) == 1 and self._is_outer(d - self.i.dim)

    def _is_fixed(self, eqn: Eqn) -> bool:
        """Whether an equation depends on the index alone, and may be carried out before checks."""
        how = eqn.op.lowering
        return isinstance(how, (Pointwise, View, Alias, Index)) and not eqn.op.effect and all(
            v is self.i or v not in self.inside or v in self.fixed for v in eqn.uses()) and (
                not isinstance(how, View) or self._is_inside(eqn))

    def _is_inside(self, eqn: Eqn) -> bool:
        """Whether single places that a view reads are in the array, in iterations up to `count`."""
        count = self.count
        lo, _ = bounds_of(self.eqn)
        for d, size in zip(eqn.params.get("at", ()), eqn.inputs[0].aval.shape, strict=False):
            if isinstance(d, Span):
                continue
            first = substitute(d, {self.i: lo})
            if not is_nonneg(first):
                return False
            if self._is_next(d):
                count = minimum(count, size - first)
            elif self._is_outer(d):
                count = minimum(count, (size - d) * ENOUGH)
            else:
                return False
        self.count = count
        return True

    def _part(self, array: Atom, at: Sequence[Dim | Span]) -> DividedPart | None:
        """Return a part of an array from outside, if it is one of those that can be divided."""
        rising = None
        for k, s in enumerate(at):
            dims = (s.start, s.size) if isinstance(s, Span) else (s,)
            if all(map(self._is_outer, dims)) and (not isinstance(s, Span) or s.step == 1):
                continue
            if rising is not None or not isinstance(s, Span) or not self._is_rising(s):
                return None
            rising = k
        return DividedPart(array, tuple(at), rising) if isinstance(array, Value) else None

    def _is_rising(self, s: Span) -> bool:
        size = s.size
        if isinstance(size, Expr) and isinstance(size.bare, IntegerCall):
            call = size.bare
            size = call.args[0] if call.fn == "max" and call.args[1] == 0 else 0
        return s.step == 1 and self._is_next(s.start) and isinstance(
            size, Expr) and size.factor_of(self.i) == -1 and self._is_outer(size + self.i.dim)

    def _matrix(self, a: Atom) -> DividedPart | None:
        """Return an operand as a part of a matrix from outside of the loop."""
        maker = self.makers.get(a) if isinstance(a, Value) else None
        if maker is None:
            whole = tuple(Span(0, d) for d in a.aval.shape)
            return self._part(a, whole) if a not in self.inside and a.aval.ndim == 2 else None
        if maker.op.meaning != "index" or maker.inputs[0] in self.inside:
            return None
        at = maker.params["at"]
        if len(at) != 2 or not all(isinstance(s, Span) for s in at):
            return None
        return self._part(maker.inputs[0], at)

    def _vector_and_matrix(
            self, eqn: Eqn) -> tuple[Value, DividedPart, tuple[str, str, str]] | None:
        """Return the parts of a product of an iteration's vector and a matrix from outside."""
        *inputs, output = axis_labels(eqn.params["spec"])
        if eqn.output.aval.dtype.kind != "f" or len(output) != 1:
            return None
        pairs = list(zip(eqn.inputs, inputs, strict=True))
        for (x, label), (b, labels) in (pairs, pairs[::-1]):
            if len(label) == 1 and {*labels} == {label, output} and len(labels) == 2 and (
                    x in self.inside and isinstance(x, Value)):
                matrix = self._matrix(b)
                return None if matrix is None else (x, matrix, (label, labels, output))
        return None

    def _ahead(self, eqn: Eqn) -> RowAhead | None:
        found = self._vector_and_matrix(eqn)
        if found is None:
            return None
        vector, matrix, labels = found
        if vector not in self.fixed or matrix.rising == labels[1].index(labels[0]):
            return None
        return RowAhead(eqn, vector, matrix, labels)

    def _find_behind(self) -> None:
        """Find the terms that are added to arrays which iterations do not read."""
        uses = Counter(v for e in all_eqns(self.body) for v in e.uses())
        uses.update(a for a in self.body.outputs if isinstance(a, Value))
        readers = {a: e for e in self.body.eqns for a in e.inputs}
        loop = LoopEqn(self.eqn)
        for carried, last in zip(loop.carried, loop.yielded, strict=True):
            v = carried
            if v.is_log or v.aval.ndim < 2 or v.aval.dtype.kind != "f":
                continue
            chain = []
            while v is not last and uses[v] == 1 and v in readers and self._adds_to(readers[v], v):
                chain.append((v, readers[v]))
                v = readers[v].output
            if v is last and uses[v] == 1:
                for version, eqn in chain:
                    found = self._addend(carried, version, eqn, uses)
                    if found is not None:
                        self.behind[eqn] = found
                if chain and all(e in self.behind and self.behind[e].divided.rising is None
                                 for _, e in chain):
                    self.whole.add(carried)

    def _adds_to(self, eqn: Eqn, v: Value) -> bool:
        """Whether an equation adds to an array or to a part of it, and does nothing else."""
        how = eqn.op.lowering
        if isinstance(how, Write):
            return how.combine == "add" and not how.gathered and eqn.inputs[0] is v
        return eqn.op.meaning == "add" and all(a.aval == v.aval for a in eqn.inputs)

    def _addend(self, carried: Value, v: Value, eqn: Eqn,
                uses: Mapping[Value, int]) -> AddedOuter | AddedRow | None:
        added = eqn.inputs[0] if eqn.inputs[1] is v else eqn.inputs[1]
        maker = self.makers.get(added) if isinstance(added, Value) and uses[added] == 1 else None
        if maker is None:
            return None
        at = eqn.params.get("at") or tuple(Span(0, d) for d in v.aval.shape)
        if isinstance(maker.op.lowering, Contract):
            return self._row(carried, v, maker, at)
        if maker.op.meaning != "mul" or added.aval.ndim != 2:
            return None
        target = self._part(v, at)
        first, second = (self._along(maker, axis) for axis in range(2))
        if target is None or first is None or second is None:
            return None
        places = [k for k, s in enumerate(at) if isinstance(s, Span)]
        if any(k != target.rising and (x.aval.shape[0] != d or not self._is_outer(d))
               for k, x, d in zip(places, (first, second), added.aval.shape, strict=True)):
            return None
        return AddedOuter(carried, v, target, (first, second))

    def _along(self, outer: Eqn, axis: int) -> Value | None:
        """Return the vector that a factor of an outer product repeats along the other axis."""
        for a in outer.inputs:
            maker = self.makers.get(a) if isinstance(a, Value) else None
            if maker is not None and isinstance(maker.op.lowering, Alias) and (
                    maker.inputs[0].aval.ndim == 1 and a.aval.ndim == 2 and
                    a.aval.shape[1 - axis] == 1 and
                    a.aval.shape[axis] == outer.output.aval.shape[axis]):
                return maker.inputs[0] if isinstance(maker.inputs[0], Value) else None
        return None

    def _row(self, carried: Value, array: Value, eqn: Eqn,
             at: tuple[Dim | Span, ...]) -> AddedRow | None:
        found = self._vector_and_matrix(eqn)
        rows = [k for k, d in enumerate(at) if not isinstance(d, Span)]
        if found is None or eqn in self.ahead or len(at) != 2 or len(rows) != 1:
            return None
        vector, matrix, labels = found
        (axis,) = rows
        place, whole = at[axis], self._part(vector, at[1 - axis:2 - axis])
        if isinstance(place, Span) or not self._is_next(place) or whole is None or (
                whole.rising is not None or matrix.rising == labels[1].index(labels[2])):
            return None
        return AddedRow(carried, array, matrix, vector, labels, at, axis, place)
