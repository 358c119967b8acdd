"""How much code virtual arrays take, and which of them to store so that it is bounded.

A virtual array is emitted once for every place at which it is read. One that is read at two places,
by an array that is read at two places, is emitted four times: k shifted steps would take 2**k. And
it is emitted in every loop that reads it: k arrays with storage, each made of all sums before it,
would take k * k / 2.

    r = r[1:] - r[:-1]        # k times: 2, 4, 8, ... elements of the first r
    s = s + f(r); r = g(s)    # k times, where g takes storage: 1, 2, 3, ... sums of the first s

Of such chains every so many steps one array gets storage, so that code grows with the number of
equations. The code of an element is found by going through the motions of `ScalarCode.element`:
a scalar computed in a block is known in the blocks within it, and behind a test nothing is known
afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from tracejit.codegen.elements import Elements, Idx, is_array
from tracejit.ir.core import Atom, Eqn, Graph, Value
from tracejit.ir.lowering import Alias, Gather, Index, Pointwise, View, Write, turns_rows
from tracejit.ir.types import scalar
from tracejit.ir.walk import all_eqns

__all__ = ["EXPENSIVE", "arrays_pushed_often", "arrays_read_by_many", "arrays_shifted_often",
           "computed_for", "ends_of_stretches", "put_by_data", "repeated_arrays", "seen_transposed"]

MOST_REPEATS = 48
"""How many operations the code of one element may have beyond one for each equation."""

MOST_WEIGHT = 16.0
"""The cost of operations of an element beyond one for each equation from which a store is cheaper.

It is that of two roots and two divisions, or of two calls such as exp.
"""

LIGHT = 0.25
"""What sums and products count in it: several are done while a processor divides, or waits."""

MOST_READERS = 8
"""How many equations with storage may each compute a virtual array again."""

MAX_CHAIN = 100
"""How many operations an element may be computed by without storing one on the way."""

EXPENSIVE = 4.0
"""The cost, in additions, from which an element is not computed again for each use: a division."""

CHEAP = 16.0
"""The cost, in additions, up to which any number of equations may compute an element again."""

Key = tuple[Value, Idx]


def repeated_arrays(graph: Graph, elements: Elements) -> Iterator[Value]:
    """Yield arrays to be stored, one after the other, until no element repeats too much code."""
    for eqn in all_eqns(graph.block):
        for v in eqn.outputs:
            while elements.is_virtual(v) and elements.operations(v) > MOST_REPEATS:
                count = _Count(elements)
                count.element(v, _anywhere(v))
                repeated = count.most_repeated(v)
                if count.repeats <= MOST_REPEATS or repeated is None:
                    break
                yield repeated


def arrays_shifted_often(graph: Graph, elements: Elements) -> Iterator[Value]:
    """Yield arrays to be stored of which an element takes several at different places.

    The last sum of shifted arrays, which has all of their places, is asked first.
    """
    uses = Counter(v for e in all_eqns(graph.block) for v in e.uses())
    for eqn in reversed([*all_eqns(graph.block)]):
        if not _is_shifted_sum(eqn, elements):
            continue
        (v,) = eqn.outputs
        while elements.cost_of(v) > MOST_WEIGHT:
            count = _Count(elements)
            count.root(v, _anywhere(v))
            repeated = count.dearest(v)
            if repeated is None or count.repeated_weight <= MOST_WEIGHT:
                break
            yield _shared_part(repeated, uses, elements)


def _shared_part(v: Value, uses: Counter[Value], elements: Elements) -> Value:
    """Return what a value is made of by few sums and products, if that is used elsewhere, too."""
    while _weight(elements.makers[v]) < EXPENSIVE:
        computed = [a for a in elements.makers[v].inputs if is_array(a) and elements.computes(a)]
        if len(computed) != 1 or uses[computed[0]] < 2:
            break
        v = computed[0]
    return v


def _is_shifted_sum(eqn: Eqn, elements: Elements) -> bool:
    """Return whether an element is made of elements at other places of something computed."""
    return eqn in elements.pulled or (isinstance(eqn.op.lowering, Pointwise) and any(
        elements.computes(a) and "at" in elements.makers[a].params for a in eqn.inputs
        if is_array(a)))


def _weight(eqn: Eqn) -> float:
    """Return what it costs to carry out an operation of an element once more."""
    return eqn.op.cost if eqn.op.cost >= EXPENSIVE else LIGHT * eqn.op.cost


def arrays_pushed_often(graph: Graph, elements: Elements) -> Iterator[Value]:
    """Yield arrays to be stored that would be computed for each of many additions to one array.

    Additions at places that are shifted against each other, as of a stencil's cotangent, have
    loops of their own.
    """
    order = {v: k for k, v in enumerate(elements.makers)}
    places: dict[tuple[Value, Value], set[object]] = {}
    for eqn in all_eqns(graph.block):
        if not isinstance(eqn.op.lowering, Write) or eqn in elements.pulled or (
                "at" not in eqn.params):
            continue
        base = eqn.inputs[0]
        while is_array(base) and base in elements.makers and isinstance(
                elements.makers[base].op.lowering, Write):
            base = elements.makers[base].inputs[0]
        if not isinstance(base, Value):
            continue

        def is_dear(v: Value, base: Value = base, eqn: Eqn = eqn) -> bool:
            others = places.get((base, v), set()) - {eqn.params["at"]}
            return len(others) * _weight_of(v, elements) > MOST_WEIGHT

        while often := list(filter(is_dear, computed_for(eqn, elements))):
            yield max(often, key=order.__getitem__)
        for v in computed_for(eqn, elements):
            places.setdefault((base, v), set()).add(eqn.params["at"])


def _weight_of(v: Value, elements: Elements) -> float:
    """Return what it costs to compute an element of a virtual array once more."""
    eqn = elements.makers[v]
    return _weight(eqn) + sum(_weight(elements.makers[a]) for a in computed_for(eqn, elements))


def arrays_read_by_many(graph: Graph, elements: Elements) -> Iterator[Value]:
    """Yield arrays to be stored, so that no virtual array is computed by many equations.

    Equations that end up in one loop share their scalars; there a store is dropped again.
    """
    order = {v: k for k, v in enumerate(elements.makers)}
    readers: Counter[Value] = Counter()
    for eqn in all_eqns(graph.block):
        if any(map(elements.is_virtual, eqn.outputs)):
            continue
        reached = computed_for(eqn, elements)
        while often := [v for v in reached
                        if readers[v] >= MOST_READERS and elements.cost(v) > CHEAP]:
            yield max(often, key=order.__getitem__)
            reached = computed_for(eqn, elements)
        readers.update(reached)


def computed_for(eqn: Eqn, elements: Elements) -> set[Value]:
    """Return the virtual arrays of which an equation's operands are computed."""
    pending: list[Atom] = list(eqn.inputs)
    reached: set[Value] = set()
    while pending:
        a = pending.pop()
        if is_array(a) and a not in reached and elements.computes(a):
            reached.add(a)
            pending += elements.makers[a].inputs
    return reached


def _anywhere(v: Value) -> Idx:
    """Return an index that nothing is known of."""
    return tuple(Value(scalar(np.int64), f"i{k}").dim for k in range(len(v.aval.shape)))


class _Count:
    """Counts the operations that an element is emitted as, up to a little more than may be.

    emitted -- how often each array's operation was emitted
    known   -- for each open block the elements that were computed in it
    """

    def __init__(self, elements: Elements) -> None:
        self.elements = elements
        self.emitted: Counter[Value] = Counter()
        self.known: list[set[Key]] = [set()]

    @property
    def repeats(self) -> int:
        """Return the number of operations beyond one for each equation."""
        return self.emitted.total() - len(self.emitted)

    @property
    def repeated_weight(self) -> float:
        """Return the weight of operations beyond one for each equation."""
        return sum((times - 1) * _weight(self.elements.makers[v])
                   for v, times in self.emitted.items())

    def most_repeated(self, root: Value) -> Value | None:
        """Return the array nearest to the root, in the order of the program, that is repeated."""
        repeated = [v for v, times in self.emitted.items() if times > 1 and v is not root]
        if not repeated:
            return None
        order = {v: k for k, v in enumerate(self.elements.makers)}
        return max(repeated, key=order.__getitem__)

    def dearest(self, root: Value) -> Value | None:
        """Return the array whose repetitions cost most, of equal ones the one nearest to the root.
        """
        repeated = [v for v, times in self.emitted.items() if times > 1 and v is not root]
        order = {v: k for k, v in enumerate(self.elements.makers)}

        def cost(v: Value) -> tuple[float, int]:
            return (self.emitted[v] - 1) * _weight_of(v, self.elements), order[v]

        return max(repeated, key=cost, default=None)

    def root(self, v: Value, index: Idx) -> None:
        """Count an element of a value, which may have storage."""
        if isinstance(self.elements.makers[v].op.lowering, Write):
            self._written(v, index)
            return
        for read in self.elements.known_reads(v, index):
            self.element(read.operand, read.index)

    def element(self, a: Atom, index: Idx) -> None:
        """Count an element of an operand."""
        if not is_array(a) or not self.elements.is_virtual(a) or self.repeats > 2 * MOST_REPEATS:
            return
        key = (a, tuple(index))
        if any(key in block for block in self.known):
            return
        eqn = self.elements.makers[a]
        how = eqn.op.lowering
        if isinstance(how, Write):
            self._written(a, index)
        elif not isinstance(how, Index):
            for read in self.elements.known_reads(a, index):
                self.element(read.operand, read.index)
        if not isinstance(how, (View, Alias, Index, Gather)):
            self.emitted[a] += 1
            self.known[-1].add(key)

    def _written(self, v: Value, index: Idx) -> None:
        base, part = self.elements.reads(v, index)
        self.element(base.operand, base.index)
        self.known.append(set())
        self.element(part.operand, part.index)
        self.known.pop()


def ends_of_stretches(graph: Graph, stored: Mapping[Value, str]) -> Iterator[Value]:
    """Yield values that cut long chains, which are followed recursively, into stretches.

    In the same loop a stored element is used as a scalar, so that most such stores are dropped.
    """
    length: dict[Value, int] = {}
    for eqn in all_eqns(graph.block):
        before = max([length.get(a, 0) for a in eqn.inputs if isinstance(a, Value)], default=0)
        for v in eqn.outputs:
            length[v] = 0 if v in stored or not is_array(v) or eqn.regions else before + 1
            if length[v] > MAX_CHAIN and isinstance(eqn.op.lowering, Pointwise):
                length[v] = 0
                yield v


def seen_transposed(graph: Graph, elements: Elements) -> Iterator[Value]:
    """Yield the values with calls whose rows are columns where they are read as a whole.

    In the values' own order calls are vectorised.
    """
    in_part = {a for e in all_eqns(graph.block) if "at" in e.params for a in e.inputs[:1]}
    for eqn in all_eqns(graph.block):
        if not isinstance(eqn.op.lowering, View) or "axes" not in eqn.params:
            continue
        (a,) = eqn.inputs
        if turns_rows(eqn.params["axes"]) and eqn.output not in in_part and (
                isinstance(a, Value) and elements.has_call(a)):
            yield a


def put_by_data(graph: Graph, elements: Elements) -> Iterator[Value]:
    """Yield the values with calls that are put into an array at places which data says.

    Two of them may be one place, so that such a loop is not vectorised.
    """
    for eqn in all_eqns(graph.block):
        how = eqn.op.lowering
        if isinstance(how, Write) and how.gathered and is_array(a := eqn.inputs[1]) and (
                elements.has_call(a)):
            yield a
