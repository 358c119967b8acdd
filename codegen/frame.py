"""The state that all parts of lowering share: graph, open blocks, names and failures of a kernel.

Scopes are the open blocks of Loop IR, outermost first. A scalar computed in one is known in the
blocks within it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from tracejit.codegen.buffers import Buffer, Buffers
from tracejit.codegen.elements import Elements, Idx
from tracejit.codegen.expression_edits import call, integer, is_name
from tracejit.codegen.labels import label_values
from tracejit.codegen.loop_expressions import I64, ZERO, Expression, Var
from tracejit.codegen.loop_ir import NOWHERE, If, Let, Node, Origin, Return
from tracejit.codegen.names import MADE_OF_NAMES, is_numbered
from tracejit.codegen.reserved import reserved_names
from tracejit.ir.core import Eqn, Graph, Site, Value
from tracejit.ir.types import scalar
from tracejit.ir.user_text import identifier

__all__ = ["Failure", "KernelFrame", "Scope"]


@dataclass(eq=False, slots=True)
class Scope:
    """An open block: its nodes, its loop variables, and the scalars already computed in it."""

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
    """The meaning of a status of the kernel: an exception, its message, and the user's line."""

    error: str
    message: str
    site: object


class KernelFrame:
    """One kernel, as far as it is written.

    graph       -- the graph that it computes
    carried_out -- the graph, with some of its loops standing in it several times
    labels      -- the names of values in the printed graph
    names       -- the scalars in which values are
    failures    -- the failures that its statuses stand for, from 1 on
    target      -- whose emitted source has names already: "cpu" or "cuda"
    """

    def __init__(self, graph: Graph, carried_out: Graph, elements: Elements, buffers: Buffers,
                 target: str) -> None:
        self.graph, self.carried_out = graph, carried_out
        self.elements, self.buffers = elements, buffers
        self.labels = label_values(graph, carried_out)
        self.scopes: list[Scope] = []
        self.names: dict[Value, Expression] = {}
        self.failures: list[Failure] = []
        self._taken = set(reserved_names(target))
        self._open_names: list[str] = []
        self._loop_names: set[str] = set()

    # --- blocks ---------------------------------------------------------------------------------

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

    @property
    def nodes(self) -> list[Node]:
        """Return the innermost open block."""
        return self.scopes[-1].nodes

    def add(self, *nodes: Node) -> None:
        """Write nodes into the innermost open block."""
        self.scopes[-1].nodes.extend(nodes)

    @property
    def inside(self) -> tuple[Eqn, ...]:
        """Return the equations that the open blocks belong to, outermost first."""
        return tuple(s.eqn for s in self.scopes if s.eqn is not None)

    def known(self, key: object) -> Expression | None:
        """Return the scalar computed for a key, if an open block has it."""
        for scope in self.scopes:
            if key in scope.memo:
                return scope.memo[key]
        return None

    def remember(self, a: Value, index: Idx, element: Expression) -> None:
        """Note that an element is in a scalar."""
        self.scopes[-1].memo[(a, tuple(index))] = element

    def level(self, values: Iterator[Value]) -> int:
        """Return the outermost scope that has all loop variables among some values."""
        scopes = self.scopes
        every = scopes[-1].vars
        needed = {v for v in values if v in every}
        level = len(scopes) - 1
        while level > 0 and not scopes[level].is_conditional and (
                needed <= scopes[level - 1].vars) and scopes[level].vars != scopes[level - 1].vars:
            level -= 1
        return level

    def let(self, level: int, key: object, stem: str, made: Expression,
            origin: Origin = NOWHERE) -> Expression:
        """Give an expression a name in a scope, once."""
        known = self.known(key)
        if known is not None:
            return known
        if is_name(made):
            return made
        name = self.fresh(stem)
        self.scopes[level].nodes.append(Let(name, made, origin))
        self.scopes[level].memo[key] = found = Var(name, made.dtype)
        return found

    def index_value(self, found: Expression) -> Value:
        """Return the value that stands in dims for an integer that was computed."""
        key = ("index", found)
        if self.known(key) is not None:
            return next(v for v, name in self.names.items() if name == found)
        v = Value(scalar(np.int64), str(found))
        self.names[v] = found
        home = next((s for s in reversed(self.scopes) if found in s.memo.values()), self.scopes[0])
        for scope in self.scopes[self.scopes.index(home):]:  # its own scope and the inner ones
            scope.vars |= {v}
        home.memo[key] = found
        return v

    # --- names ----------------------------------------------------------------------------------

    def fresh(self, stem: str) -> str:
        """Return a new name, an identifier that stands for nothing else, here or elsewhere.

        A loop variable of that name anywhere would be one scalar with it, of one dtype.
        """
        stem = identifier(stem)
        if MADE_OF_NAMES.match(stem):
            stem = f"v{stem}"
        name, k = stem, 1
        while not self._is_new(name) or name in self._loop_names:
            k += 1
            name = f"{stem}_{k}"
        self._taken.add(name)
        return name

    def variable(self, stem: str, dtype: np.dtype = I64) -> Var:
        """Return a new scalar."""
        return Var(self.fresh(stem), dtype)

    def scalar_of(self, v: Value, dtype: np.dtype | None = None) -> Var:
        """Return the new scalar in which a value is from now on."""
        self.names[v] = found = self.variable(self.label(v), dtype or v.aval.dtype)
        return found

    def set_scalar(self, v: Value, made: Expression, origin: Origin = NOWHERE) -> None:
        """Let a scalar value be an expression, in a scalar of its own if that is not a name."""
        if is_name(made):
            self.names[v] = made
        else:
            self.add(Let(self.scalar_of(v, made.dtype).name, made, origin))

    def _is_new(self, name: str) -> bool:
        return not (name in self._taken or name in self._open_names or is_numbered(name))

    @contextmanager
    def loop_name(self, v: Value) -> Iterator[str]:
        """Name a loop variable; loops that are not nested share names."""
        stems = [identifier(v.name or "i"), *"ijklmnpqrst", *(f"i{k}" for k in range(100))]
        name = next(s for s in stems if self._is_new(s) and not MADE_OF_NAMES.match(s))
        self._open_names.append(name)
        self._loop_names.add(name)
        self.names[v] = Var(name, I64)
        try:
            yield name
        finally:
            self._open_names.pop()

    def label(self, v: Value) -> str:
        """Return the name that a value's scalars get: after its number in the printed graph."""
        return identifier(self.labels[v])

    def origin(self, eqn: Eqn | None) -> Origin:
        """Return the origin of a node that carries out an equation."""
        if eqn is None:
            return NOWHERE
        return Origin((self.labels[eqn.outputs[0]],) if eqn.outputs else (), eqn.site)

    # --- failures -------------------------------------------------------------------------------

    def failure(self, error: str, message: str, site: Site | None) -> int:
        """Return the status that stands for a failure."""
        self.failures.append(Failure(error, message, site))
        return len(self.failures)

    def fail(self, condition: Expression, error: str, message: str, values: Sequence[Expression],
             eqn: Eqn) -> None:
        """Leave the kernel with a failure where a condition holds."""
        status = integer(self.failure(error, message, eqn.site))
        left = Return(call("fail", status, *(*values, ZERO, ZERO)[:2]))
        self.add(If(condition, [left], origin=self.origin(eqn)))
