"""Copies of nodes of Loop IR, with other names, values and buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from tracejit.codegen.expression_edits import integer, known_integer, plus, rewritten
from tracejit.codegen.loop_expressions import Bin, Expression, Load, Var
from tracejit.codegen.loop_ir import Assign, Do, If, Let, Loop, Node, Store, While

__all__ = ["NodeCopier", "folded"]

NO_PLACES: Mapping[str, tuple[str, Expression]] = MappingProxyType({})


class NodeCopier:
    """Copies nodes with other names for some scalars, and values in place of others.

    own    -- the new names of the scalars that the nodes set
    values -- the expressions that replace other scalars
    places -- of some buffers, the buffers in their place, and where their elements begin there
    """

    def __init__(self, own: Mapping[str, str], values: Mapping[str, Expression],
                 places: Mapping[str, tuple[str, Expression]] = NO_PLACES) -> None:
        self.own, self.values, self.places = own, values, places

    def nodes(self, nodes: Sequence[Node]) -> list[Node]:
        """Return copies of nodes."""
        return [self.node(n) for n in nodes]

    def node(self, n: Node) -> Node:
        """Return a copy of a node."""
        if isinstance(n, (Let, Assign)):
            return replace(n, name=self.own.get(n.name, n.name), expression=self.of(n.expression))
        if isinstance(n, Store):
            buffer, index = self._place(n.buffer, self.of(n.index))
            return replace(n, buffer=buffer, index=index, expression=self.of(n.expression))
        if isinstance(n, Loop):
            return self.loop(n)
        if isinstance(n, While):
            return replace(n, head=self.nodes(n.head), condition=self.of(n.condition),
                           body=self.nodes(n.body))
        if isinstance(n, If):
            return replace(n, condition=self.of(n.condition), then=self.nodes(n.then),
                           other=self.nodes(n.other))
        if isinstance(n, Do):
            return replace(n, call=self.of(n.call))  # type: ignore[arg-type]
        return n if n.status is None else replace(n, status=self.of(n.status))

    def loop(self, n: Loop) -> Loop:
        """Return a copy of a loop."""
        return replace(n, lo=self.of(n.lo), hi=self.of(n.hi), body=self.nodes(n.body))

    def of(self, e: Expression) -> Expression:
        """Return the copy of an expression."""
        if all(map(e.reads.isdisjoint, (self.own, self.values, self.places))):
            return e
        return rewritten(e, self._changed)

    def _changed(self, e: Expression) -> Expression:
        if isinstance(e, Var):
            name = self.own.get(e.name)
            return self.values.get(e.name, e) if name is None else Var(name, e.dtype)
        if isinstance(e, Load):
            return Load(*self._place(e.buffer, e.index), e.dtype)
        return folded(e) if isinstance(e, Bin) and e.op in "+*" else e


    def _place(self, buffer: str, index: Expression) -> tuple[str, Expression]:
        if buffer not in self.places:
            return buffer, index
        name, start = self.places[buffer]
        return name, plus(start, index)


def folded(e: Bin) -> Expression:
    """Return a sum or product of integers with its constants computed."""
    a, b = known_integer(e.a), known_integer(e.b)
    if a is not None and b is not None:
        return integer(a + b if e.op == "+" else a * b)
    return e.a if e.op == "+" and b == 0 else e
