"""Which iterations of loops over elements threads may do at once.

A loop over elements is *independent* where no two of its iterations touch the same element of an
array that one of them writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product as pairs

from tracejit.codegen.buffers import Buffer, Buffers
from tracejit.codegen.elements import Elements
from tracejit.codegen.schedule import Nest, Style
from tracejit.codegen.statements import Access, Statement
from tracejit.ir.core import Value
from tracejit.ir.dims import Dim, Expr, dim_values

__all__ = ["Independence"]


class Independence:
    """Decides which iterations of the nests of one kernel are independent."""

    def __init__(self, elements: Elements, buffers: Buffers, style: Style) -> None:
        self.elements, self.buffers, self.style = elements, buffers, style

    def free_variables(self, nest: Nest) -> frozenset[Value]:
        """Return the loop variables over which threads may be spread.

        Such a loop has every statement of the nest inside, so that nothing is done twice.
        """
        every = nest.statements()
        variables = frozenset(v for s in every for v in s.vars)
        accesses = list(map(self._accesses, every))
        return frozenset(v for v in variables if all(v in s.vars for s in every)
                         and all(self._is_free(s, v) for s in every)
                         and self._are_apart(every, accesses, v, variables))

    def _is_free(self, s: Statement, v: Value) -> bool:
        """Whether a statement's own fold lets its iterations over a variable be spread."""
        if s.vars.index(v) < len(s.vars) - s.folded:
            return True
        return s.kind == "fold" and s.folded == len(s.vars) and not self.is_in_order(s)

    def is_in_order(self, s: Statement) -> bool:
        """Whether a fold has to combine its terms in the order of the program."""
        is_float = s.target.aval.dtype.kind in "fc"
        return self.style.in_order and s.combine in ("add", "mul") and is_float

    def sums(self, nest: Nest) -> tuple[Buffer, ...]:
        """Return the buffers to which each iteration of a nest's outermost loop adds, if iterations
        meet nowhere else; no buffers where they do, or where none is added to.
        """
        every = nest.statements()
        variables = frozenset(v for s in every for v in s.vars)
        if not all(nest.var in s.vars and self._is_free(s, nest.var) for s in every):
            return ()
        found = list(map(self._accesses, every))
        added = {s.buffer for s in every if s.kind == "add" and s.combine == "add"
                 and not any(nest.var in dim_values(i) for i in s.index)}
        touching = [a.buffer for accesses in found for a in accesses]
        if not added or any(touching.count(b) > 1 for b in added):  # type: ignore[arg-type]
            return ()
        rest = [[a for a in accesses if a.buffer not in added] for accesses in found]
        apart = self._are_apart(every, rest, nest.var, variables)
        return tuple(b for b in dict.fromkeys(touching) if b in added) if apart else ()

    def is_divisible(self, nest: Nest) -> bool:
        """Whether threads that do one iteration of the loops around may divide a nest's own."""
        v, every = nest.var, nest.statements()
        variables = frozenset(w for s in every for w in s.vars[s.vars.index(v):])
        accesses = []
        for s in every:
            found = self._accesses(s)
            if s.vars.index(v) >= len(s.vars) - s.folded:
                if s.kind not in ("fold", "argument") or self.is_in_order(s):
                    return False
                found = [a for a in found if not a.is_write]  # that is done behind the loop
            accesses.append(found)
        return self._are_apart(every, accesses, v, variables)

    def _accesses(self, s: Statement) -> list[Access]:
        """Return the reads and writes of a statement; where a running sum goes is known here."""
        found = s.accesses(self.elements, self.buffers)
        return [replace(a, index=s.index) if a.is_write and s.kind == "running" else a
                for a in found]

    def _are_apart(self, every: Sequence[Statement], accesses: Sequence[list[Access]], v: Value,
                   variables: frozenset[Value]) -> bool:
        """Whether iterations that differ in a variable touch different elements of written arrays.

        Additions at indices that are data may meet: they are atomic.
        """
        for (s, mine), (t, theirs) in pairs(zip(every, accesses, strict=True), repeat=2):
            for a, b in pairs(mine, theirs):
                if not a.is_write or a.buffer is not b.buffer:
                    continue
                if s is t and a is b and s.kind == "scatter" and s.combine == "add" and (
                        s.target.aval.dtype in self.style.atomic):
                    continue
                if a.index is None or b.index is None or a.shape != b.shape:
                    return False
                if not any(_is_told_apart(i, j, v, variables)
                           for i, j in zip(a.index, b.index, strict=True)):
                    return False
        return True


def _is_told_apart(i: Dim, j: Dim, v: Value, variables: frozenset[Value]) -> bool:
    """Whether two indices along one axis are the same for one value of a variable, and for no two.

    They are if both are a constant times the variable plus the same, without other loop variables.
    """
    if i != j or not isinstance(i, Expr):
        return False
    factor = i.factor_of(v)
    return factor is not None and not variables & {*dim_values(i - factor * v.dim)}

