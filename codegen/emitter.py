"""Scalar code: elements of arrays, literals and dims, each computed once where it can be.

Scopes are the open blocks of Loop IR, outermost first. An element is computed in the outermost
scope that has the loop variables of its index, so that what does not depend on an inner loop stays
outside of it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from tracejit.codegen.buffers import Buffer, Buffers
from tracejit.codegen.elements import Elements, Guard, Idx, is_array
from tracejit.codegen.loop_expressions import (
    ZERO,
    All,
    Bin,
    Cast,
    Const,
    Expression,
    Load,
    Unary,
    Var,
    call,
    integer,
    is_name,
    known_integer,
    literal,
    plus,
    times,
)
from tracejit.codegen.loop_ir import NOWHERE, Assign, If, Let, Node, Origin
from tracejit.codegen.names import MADE_OF_NAMES, is_numbered
from tracejit.codegen.templates import filled
from tracejit.ir.core import Atom, Eqn, Literal, Site, Value
from tracejit.ir.dims import Dim, Expr, IntegerCall, dim_values
from tracejit.ir.lowering import Alias, Gather, Index, Pointwise, View, Write
from tracejit.ir.types import scalar
from tracejit.ir.user_text import identifier

__all__ = ["Emitter", "Failure", "Scope"]


@dataclass(slots=True)
class Scope:
    """An open block: its nodes, the loop variables that it has, what was computed in it already."""

    nodes: list[Node]
    vars: frozenset[Value] = frozenset()
    memo: dict[object, Expression] = field(default_factory=dict)
    is_conditional: bool = False
    """Whether it runs only sometimes, so that nothing may move out of it."""
    ready: set[Buffer] = field(default_factory=set)
    """The buffers whose memory was got in it."""
    eqn: Eqn | None = None
    """The equation that the block carries out, or is a region of."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What a status of the kernel means: an exception, its message, and the user's line."""

    error: str
    message: str
    site: object


class Emitter:
    """Writes scalar code into scopes."""

    target = "cpu"

    def __init__(self, elements: Elements, buffers: Buffers, labels: dict[Value, str]) -> None:
        self.elements, self.buffers, self.labels = elements, buffers, labels
        self.scopes: list[Scope] = []
        self.names: dict[Value, Expression] = {}
        self.taken: set[str] = set()
        """The names that stand for something, or that the target has already."""
        self.open_names: list[str] = []
        self.facts: set[Guard] = set()
        self.failures: list[Failure] = []

    # --- names and scopes -----------------------------------------------------------------------

    @property
    def nodes(self) -> list[Node]:
        """Return the innermost open block."""
        return self.scopes[-1].nodes

    @contextmanager
    def scope(self, nodes: list[Node], new_vars: Sequence[Value] = (), *,
              conditional: bool = False, eqn: Eqn | None = None) -> Iterator[Scope]:
        """Open a block."""
        outer = self.scopes[-1].vars if self.scopes else frozenset()
        self.scopes.append(Scope(nodes, outer | frozenset(new_vars), {}, conditional, eqn=eqn))
        try:
            yield self.scopes[-1]
        finally:
            self.scopes.pop()

    def fresh(self, stem: str) -> str:
        """Return a new name, an identifier that stands for nothing else where it is read."""
        stem = identifier(stem)
        if MADE_OF_NAMES.match(stem):
            stem = f"v{stem}"
        name, k = stem, 1
        while not self._is_new(name):
            k += 1
            name = f"{stem}_{k}"
        self.taken.add(name)
        return name

    def _is_new(self, name: str) -> bool:
        return not (name in self.taken or name in self.open_names or is_numbered(name))

    @contextmanager
    def loop_name(self, v: Value) -> Iterator[str]:
        """Name a loop variable; loops that are not nested share names."""
        stems = [identifier(v.name or "i"), *"ijklmnpqrst", *(f"i{k}" for k in range(100))]
        name = next(s for s in stems if self._is_new(s) and not MADE_OF_NAMES.match(s))
        self.open_names.append(name)
        self.names[v] = Var(name, np.dtype(np.int64))
        try:
            yield name
        finally:
            self.open_names.pop()

    def label(self, v: Value) -> str:
        """Return the name that a value's scalars get: after its number in the printed graph."""
        return identifier(self.labels.get(v, v.name or "t"))

    def origin(self, eqn: Eqn | None) -> Origin:
        """Return what a node is there for that carries out an equation."""
        if eqn is None:
            return NOWHERE
        is_known = bool(eqn.outputs) and eqn.outputs[0] in self.labels
        return Origin((self.labels[eqn.outputs[0]],) if is_known else (), eqn.site)

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
        level = self._level(dim_values(Expr((((a,), 1),), 0)))
        return self._let(level, ("dim", a), "n", made, NOWHERE)

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
        return self.names[v]

    def atom(self, a: Atom) -> Expression:
        """Return a scalar operand."""
        return literal(a) if isinstance(a, Literal) else self.scalar(a)

    def expression(self, eqn: Eqn, operands: Sequence[Expression]) -> Expression:
        """Return the scalar code of an element-wise op on operands."""
        how = eqn.op.lowering
        assert isinstance(how, Pointwise)
        dtype, own = eqn.output.aval.dtype, eqn.inputs[0].aval.dtype
        template = how.expression
        if how.integer is not None and own.kind in "iu":
            template = how.integer
        places = {f"_{k}": x for k, x in enumerate(operands)}
        places["_zero"], places["_one"] = literal(Literal(0, own)), literal(Literal(1, own))
        made = filled(template, places, dtype)
        is_cast = isinstance(made, Cast) and template.startswith("{t}")
        return made if dtype in _PLAIN or is_cast else Cast(dtype, made)

    # --- elements -------------------------------------------------------------------------------

    def element(self, a: Atom, index: Idx) -> Expression:
        """Return an element of an operand, computing what it takes."""
        if isinstance(a, Literal):
            return literal(a)
        if not is_array(a):
            return self.scalar(a)
        key = (a, tuple(index))
        known = self._known(key)
        if known is not None:
            return known
        if a in self.elements.stored and (a, tuple(index)) not in self._being_stored:
            return self._load(a, index)
        return self._compute(a, index)

    _being_stored: frozenset[object] = frozenset()

    def element_to_store(self, a: Atom, index: Idx) -> Expression:
        """Return an element of an array with storage, computed for being stored."""
        before = self._being_stored
        self._being_stored = before | {(a, tuple(index))}
        try:
            return self.element(a, index)
        finally:
            self._being_stored = before

    def _known(self, key: object) -> Expression | None:
        for scope in self.scopes:
            if key in scope.memo:
                return scope.memo[key]
        return None

    def remember(self, a: Value, index: Idx, element: Expression) -> None:
        """Note that an element is in a scalar."""
        self.scopes[-1].memo[(a, tuple(index))] = element

    def _level(self, values: Iterator[Value]) -> int:
        """Return the outermost scope that has all loop variables among some values."""
        every = self.scopes[-1].vars
        needed = {v for v in values if v in every}
        level = len(self.scopes) - 1
        while level > 0 and not self.scopes[level].is_conditional and (
                needed <= self.scopes[level - 1].vars) and self.scopes[level].vars != (
                self.scopes[level - 1].vars):
            level -= 1
        return level

    def _let(self, level: int, key: object, stem: str, made: Expression,
             origin: Origin) -> Expression:
        """Give an expression a name in a scope, once."""
        known = self._known(key)
        if known is not None:
            return known
        if is_name(made):
            return made
        name = self.fresh(stem)
        self.scopes[level].nodes.append(Let(name, made, origin))
        self.scopes[level].memo[key] = found = Var(name, made.dtype)
        return found

    def _load(self, v: Value, index: Idx) -> Expression:
        buffer = self.buffers.of[v]
        place = self.place(index, v.aval.shape)
        level = self._level(w for i in index for w in dim_values(i))
        made = Load(buffer.name, place, buffer.dtype)
        return self._let(level, (v, tuple(index)), self.label(v), made, NOWHERE)

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
        return self._let(level, (v, tuple(index)), self.label(v), self.expression(eqn, operands),
                         self.origin(eqn))

    def _level_of(self, values: list[Value], operands: Sequence[Expression]) -> int:
        """The scope for an expression: no further out than any of its operands."""
        level = self._level(iter(values))
        for k in range(level + 1, len(self.scopes)):
            names = set(self.scopes[k].memo.values())
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
        key = ("index", found)
        for scope in self.scopes:
            if key in scope.memo:
                return next(v for v, name in self.names.items() if name == found).dim
        v = Value(scalar(np.int64), str(found))
        self.names[v] = found
        every = frozenset({v})
        home = next((s for s in reversed(self.scopes) if found in s.memo.values()), self.scopes[0])
        reached = False
        for scope in self.scopes:  # the scopes from its own inwards have it
            reached = reached or scope is home
            if reached:
                scope.vars = scope.vars | every
        home.memo[key] = found
        return v.dim

    def guard(self, g: Guard) -> Expression:
        """Return the test whether a guard holds."""
        return call("between", self.dim(g.lo), self.dim(g.index), self.dim(g.hi))

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
            return self._let(len(self.scopes) - 1, (eqn.output, tuple(index)),
                             self.label(eqn.output), Bin("+", old, inside), self.origin(eqn))
        old = self.element(base.operand, base.index)
        name = self.fresh(self.label(eqn.output))
        found = Var(name, eqn.output.aval.dtype)
        self.nodes.append(Assign(name, old, self.origin(eqn)))
        test = all_of(list(map(self.guard, open_guards)))
        then: list[Node] = []
        with self.scope(then, conditional=True):
            inside = self.element(part.operand, part.index)
            then.append(Assign(name, Bin("+", found, inside) if adds else inside))
        self.nodes.append(If(test, then))
        self.scopes[-1].memo[(eqn.output, tuple(index))] = found
        return found

    # --- failures -------------------------------------------------------------------------------

    def failure(self, error: str, message: str, site: Site | None) -> int:
        """Return the status that stands for a failure."""
        self.failures.append(Failure(error, message, site))
        return len(self.failures)


def all_of(tests: Sequence[Expression]) -> Expression:
    """Return the test whether all of some tests hold."""
    return tests[0] if len(tests) == 1 else All(tuple(tests))


_PLAIN = tuple(map(np.dtype, (np.float64, np.int64, np.bool_, np.complex128)))
"""The dtypes in which Numba computes of itself."""
