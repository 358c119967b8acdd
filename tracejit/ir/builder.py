"""The only way to make equations: type them, give them their site, and share equal ones.

Hash-consing is exact: keys hold dtypes and bit patterns. It is scoped: an equation is shared with
equal ones of the same region and of the regions around it, never with those of a sibling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tracejit.ir.core import Atom, Block, Eqn, Literal, Op, Params, Site, Value
from tracejit.ir.dims import Dim, Ranges

__all__ = ["Builder", "Scope", "equation_key"]


class Scope:
    """A block being built: its inputs, its equations so far and what can be shared."""

    __slots__ = ("eqns", "inputs", "table")

    def __init__(self, inputs: Sequence[Value] = ()) -> None:
        self.inputs = tuple(inputs)
        self.eqns: list[Eqn] = []
        self.table: dict[tuple[Any, ...], tuple[Value, ...]] = {}

    def close(self, outputs: Sequence[Atom]) -> Block:
        """Return the finished block."""
        return Block(self.inputs, tuple(self.eqns), tuple(outputs))


class Builder:
    """A stack of open blocks into which equations are emitted."""

    def __init__(self, find_site: Callable[[], Site | None] = lambda: None) -> None:
        self.scopes = [Scope()]
        self.ranges: dict[Value, tuple[Dim | None, Dim | None]] = {}
        self.find_site = find_site
        self.of: Value | None = None
        self.group: str | None = None

    @property
    def scope(self) -> Scope:
        """Return the innermost open block."""
        return self.scopes[-1]

    def emit(self, op: Op, inputs: Sequence[Atom], params: Params | None = None,
             regions: Sequence[Block] = (), site: Site | None = None) -> tuple[Value, ...]:
        """Append `op(*inputs)` and return its results, or those of an equal equation in scope."""
        inputs, params = tuple(inputs), params or {}
        key = None if regions or op.effect or op.unique else equation_key(op, inputs, params)
        if key is not None:
            for scope in reversed(self.scopes):
                if key in scope.table:
                    return scope.table[key]
        types = op.infer([a.aval for a in inputs], params, regions)
        outputs = tuple(Value(t) for t in types)
        site = site or self.find_site()
        self.scope.eqns.append(Eqn(op, inputs, params, outputs, tuple(regions), site, self.of,
                                   self.group))
        if key is not None:
            self.scope.table[key] = outputs
        return outputs

    def append(self, eqn: Eqn) -> None:
        """Append a finished equation as it is, to be shared by equal ones that follow."""
        self.scope.eqns.append(eqn)
        if not (eqn.regions or eqn.op.effect or eqn.op.unique):
            key = equation_key(eqn.op, eqn.inputs, eqn.params)
            self.scope.table.setdefault(key, eqn.outputs)

    @contextmanager
    def block(self, inputs: Sequence[Value] = ()) -> Iterator[Scope]:
        """Open a block with these inputs; `scope.close(outputs)` finishes it."""
        scope = Scope(inputs)
        self.scopes.append(scope)
        try:
            yield scope
        finally:
            self.scopes.pop()

    @contextmanager
    def undone_if_raised(self) -> Iterator[None]:
        """Take back what is emitted inside if it ends with an exception."""
        scope, count = self.scope, len(self.scope.eqns)
        try:
            yield
        except BaseException:
            gone = {v for eqn in scope.eqns[count:] for v in eqn.outputs}
            del scope.eqns[count:]
            scope.table = {k: found for k, found in scope.table.items()
                           if gone.isdisjoint(found)}
            raise

    @contextmanager
    def differentiating(self, of: Value | None, site: Site | None) -> Iterator[None]:
        """Mark what is emitted inside as a backward part of `of`, at its site."""
        before = self.of, self.find_site
        self.of, self.find_site = of, lambda: site
        try:
            yield
        finally:
            self.of, self.find_site = before

    def assume(self, value: Value, low: Dim | None, high: Dim | None) -> None:
        """Note inclusive bounds of an integer value."""
        self.ranges[value] = (low, high)

    @property
    def known(self) -> Ranges:
        """Return what is known of integer values."""
        return self.ranges


def equation_key(op: Op, inputs: tuple[Atom, ...], params: Params) -> tuple[Any, ...]:
    """Return what makes two applications of ops equal."""
    operands = tuple(a.key if isinstance(a, Literal) else a for a in inputs)
    return (op, operands, tuple((k, _param_key(params[k])) for k in sorted(params)))


def _param_key(p: Any) -> Any:
    """A key in which 1, True and 1.0 differ."""
    if isinstance(p, tuple):
        return tuple(map(_param_key, p))
    return (type(p), p)
