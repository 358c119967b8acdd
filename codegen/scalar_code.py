"""Scalar code: elements of arrays, literals and dims, each computed once where it can be.

An element is computed in the outermost open block that has the loop variables of its index, so that
scalars which do not depend on an inner loop stay outside of it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from tracejit.codegen.buffers import Buffer
from tracejit.codegen.elements import Guard, Idx, is_array
from tracejit.codegen.expression_edits import call, integer, known_integer, literal, plus, times
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.loop_expressions import (
    ZERO,
    All,
    Array,
    Bin,
    Cast,
    Const,
    Expression,
    Load,
    Unary,
)
from tracejit.codegen.loop_ir import NOWHERE, Assign, If, Node, Origin, Store
from tracejit.codegen.templates import filled
from tracejit.ir.core import Atom, Eqn, Literal, Value
from tracejit.ir.dims import Dim, Expr, IntegerCall, dim_values
from tracejit.ir.lowering import Alias, Gather, Index, Pointwise, View, Write

__all__ = ["ScalarCode"]


class ScalarCode:
    """Writes scalar code into the open blocks of a frame."""

    def __init__(self, frame: KernelFrame) -> None:
        self.frame, self.elements = frame, frame.elements
        self.facts: set[Guard] = set()
        """The guards that are known to hold where code is written."""
        self._being_stored: frozenset[object] = frozenset()

    # --- dims -----------------------------------------------------------------------------------

    def dim(self, d: Dim) -> Expression:
        """Return a dim as an expression."""
        if isinstance(d, int):
            return integer(d)
        total: Expression | None = None
        for monomial, c in d.terms:
            factors = [self._dim_atom(a) for a in monomial]
            if abs(c) != 1:
                factors.insert(0, integer(c if total is None else abs(c)))
            elif c < 0 and total is None:
                factors[0] = Unary("-", factors[0])
            term = functools.reduce(lambda a, b: Bin("*", a, b), factors)
            total = term if total is None else Bin("-" if c < 0 else "+", total, term)
        assert total is not None
        return plus(total, integer(d.const)) if d.const else total

    def _dim_atom(self, a: Value | IntegerCall) -> Expression:
        if isinstance(a, Value):
            return self.scalar(a)
        name = {"max": "imax", "min": "imin", "floordiv": "idiv", "mod": "imod"}[a.fn]
        made = call(name, *map(self.dim, a.args))
        level = self.frame.level(dim_values(Expr((((a,), 1),), 0)))
        return self.frame.let(level, ("dim", a), "n", made)

    def place(self, index: Idx, shape: tuple[Dim, ...]) -> Expression:
        """Return the flat place of an element: `(i * m + j) * k + l`."""
        place: Expression | None = None
        for k, (i, d) in enumerate(zip(index, shape, strict=True)):
            if place is None:
                place = None if i == 0 and k + 1 < len(index) else self.dim(i)
            elif d != 1:
                scaled = times(place, self.dim(d))
                place = scaled if i == 0 else plus(scaled, self.dim(i))
        return place or ZERO

    # --- scalars --------------------------------------------------------------------------------

    def scalar(self, v: Value) -> Expression:
        """Return a scalar by its name."""
        return self.frame.names[v]

    def atom(self, a: Atom) -> Expression:
        """Return a scalar operand."""
        return literal(a) if isinstance(a, Literal) else self.scalar(a)

    def expression(self, eqn: Eqn, operands: Sequence[Expression]) -> Expression:
        """Return the scalar code of an element-wise op on operands."""
        how = eqn.op.lowering
        assert isinstance(how, Pointwise)
        dtype, own = eqn.output.aval.dtype, eqn.inputs[0].aval.dtype
        template = how.written(eqn.params, len(operands))
        if how.integer is not None and own.kind in "iu":
            template = how.integer
        places = {f"_{k}": x for k, x in enumerate(operands)}
        places["_zero"], places["_one"] = literal(Literal(0, own)), literal(Literal(1, own))
        made = filled(template, places, dtype)
        is_cast = isinstance(made, Cast) and template.startswith("{t}")
        return made if dtype in _PLAIN or is_cast else Cast(dtype, made)

    # --- operands of routines -------------------------------------------------------------------

    def array(self, a: Atom) -> tuple[Array, list[Expression]]:
        """Return the memory of an array, and its sizes."""
        assert isinstance(a, Value)
        buffer = self.frame.buffers.of[a]
        return Array(buffer.name, buffer.dtype), [self.dim(d) for d in a.aval.shape]

    def words(self, a: Atom) -> list[Expression]:
        """Return the words by which a function outside is given an operand: of an array, all."""
        if not is_array(a):
            return [call("slot", self.atom(a))]
        array, sizes = self.array(a)
        return [array, *sizes]

    # --- elements -------------------------------------------------------------------------------

    def element(self, a: Atom, index: Idx) -> Expression:
        """Return an element of an operand: one that is known, loaded or computed."""
        if isinstance(a, Literal):
            return literal(a)
        if not is_array(a):
            return self.scalar(a)
        key = (a, tuple(index))
        known = self.frame.known(key)
        if known is not None:
            return known
        if a in self.elements.stored and (a, tuple(index)) not in self._being_stored:
            return self._load(a, index)
        return self._compute(a, index)

    def product(self, operands: Sequence[tuple[Atom, Idx]]) -> Expression:
        """Return an element of an operand, or the product of two operands' elements."""
        elements = [self.element(a, index) for a, index in operands]
        return elements[0] if len(elements) == 1 else Bin("*", *elements)

    def store(self, buffer: Buffer, index: Idx, shape: tuple[Dim, ...], made: Expression,
              origin: Origin = NOWHERE) -> None:
        """Store an element of an array."""
        self.frame.add(Store(buffer.name, self.place(index, shape), made, origin))

    def element_to_store(self, a: Atom, index: Idx) -> Expression:
        """Return an element of an array with storage, computed for being stored."""
        before = self._being_stored
        self._being_stored = before | {(a, tuple(index))}
        try:
            return self.element(a, index)
        finally:
            self._being_stored = before

    def _load(self, v: Value, index: Idx) -> Expression:
        buffer = self.frame.buffers.of[v]
        place = self.place(index, v.aval.shape)
        level = self.frame.level(w for i in index for w in dim_values(i))
        made = Load(buffer.name, place, buffer.dtype)
        return self.frame.let(level, (v, tuple(index)), self.frame.label(v), made)

    def _compute(self, v: Value, index: Idx) -> Expression:
        eqn = self.elements.makers[v]
        how = eqn.op.lowering
        if isinstance(how, (View, Alias)):
            (read,) = self.elements.reads(v, index)
            return self.element(read.operand, read.index)
        if isinstance(how, Index):
            return self.dim(how.element(eqn.params, index))
        if isinstance(how, Gather):
            return self._gathered(eqn, index)
        if isinstance(how, Write):
            return self._pulled(eqn, index)
        operands = [self.element(r.operand, r.index) for r in self.elements.reads(v, index)]
        values = [w for i in index for w in dim_values(i)]
        level = self._level_of(values, operands)
        made = self.expression(eqn, operands)
        return self.frame.let(level, (v, tuple(index)), self.frame.label(v), made,
                              self.frame.origin(eqn))

    def _level_of(self, values: list[Value], operands: Sequence[Expression]) -> int:
        """The scope for an expression: no further out than any of its operands."""
        level = self.frame.level(iter(values))
        for k in range(level + 1, len(self.frame.scopes)):
            names = set(self.frame.scopes[k].memo.values())
            if any(x in names for x in operands):
                level = k
        return level

    def _gathered(self, eqn: Eqn, index: Idx) -> Expression:
        """Read the indices first, then the element where they say."""
        x, *indices = eqn.inputs
        assert isinstance(x, Value)
        position, rank = eqn.params["position"], len(indices[0].aval.shape)
        places = iter(self.data_index(a, index[position:position + rank]) for a in indices)
        rest = iter((*index[:position], *index[position + rank:]))
        at = tuple(next(places) if k in eqn.params["axes"] else next(rest)
                   for k in range(len(x.aval.shape)))
        return self.element(x, at)

    def data_index(self, a: Atom, index: Idx) -> Dim:
        """Return an element of an index array as a dim."""
        if self.elements.is_virtual(a):
            eqn = self.elements.makers[a]  # type: ignore[index]
            if isinstance(eqn.op.lowering, Index):
                return eqn.op.lowering.element(eqn.params, index)
            if isinstance(eqn.op.lowering, (View, Alias)):
                (read,) = self.elements.reads(a, index)  # type: ignore[arg-type]
                return self.data_index(read.operand, read.index)
        found = self.element(a, index)
        number = known_integer(found)
        if number is not None:
            return number
        return self.frame.index_value(found).dim

    def guard(self, g: Guard) -> Expression:
        """Return the test whether a guard holds."""
        return call("between", self.dim(g.lo), self.dim(g.index), self.dim(g.hi))

    @contextmanager
    def assuming(self, guards: Iterable[Guard]) -> Iterator[None]:
        """Take guards as given in the code that is written meanwhile."""
        before = self.facts
        self.facts = before | {*guards}
        yield
        self.facts = before

    def _pulled(self, eqn: Eqn, index: Idx) -> Expression:
        """An element of an array with a part written to it: the part inside, the base elsewhere."""
        base, part = self.elements.reads(eqn.output, index)
        adds = eqn.op.lowering.combine == "add"  # type: ignore[union-attr]
        open_guards = [g for g in part.guards if g not in self.facts]
        if not open_guards:
            inside = self.element(part.operand, part.index)
            if not adds:
                return inside
            old = self.element(base.operand, base.index)
            if old == Const(0.0, np.dtype(np.float64)):
                return inside
            return self.frame.let(len(self.frame.scopes) - 1, (eqn.output, tuple(index)),
                                  self.frame.label(eqn.output), Bin("+", old, inside),
                                  self.frame.origin(eqn))
        old = self.element(base.operand, base.index)
        found = self.frame.variable(self.frame.label(eqn.output), eqn.output.aval.dtype)
        self.frame.add(Assign(found.name, old, self.frame.origin(eqn)))
        test = all_of(list(map(self.guard, open_guards)))
        then: list[Node] = []
        with self.frame.scope(then, conditional=True):
            inside = self.element(part.operand, part.index)
            then.append(Assign(found.name, Bin("+", found, inside) if adds else inside))
        self.frame.add(If(test, then))
        self.frame.remember(eqn.output, index, found)
        return found


def all_of(tests: Sequence[Expression]) -> Expression:
    """Return the test whether all of some tests hold."""
    return tests[0] if len(tests) == 1 else All(tuple(tests))


_PLAIN = tuple(map(np.dtype, (np.float64, np.int64, np.bool_, np.complex128)))
"""The dtypes in which Numba computes of itself."""
