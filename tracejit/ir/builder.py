"""The only way to make equations: type them, give them their site, and share equal ones.

Hash-consing is exact: keys hold dtypes and bit patterns. It is scoped: an equation is shared with
equal ones of the same region and of the regions around it, never with a sibling's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tracejit.ir.core import Atom, Block, Eqn, Literal, Op, Params, Site, Value
from tracejit.ir.dims import Dim, Ranges, substitute
from tracejit.ir.sizes import settle_block, settle_eqn, settle_value
from tracejit.ir.walk import copy_param

__all__ = ["Builder", "BlockScope", "equation_key"]


class BlockScope:
    """A block being built: its inputs, its equations so far and the results that can be shared."""

    inputs: tuple[Value, ...]

    __slots__ = ("eqns", "inputs", "table")

    def __init__(self, inputs: Sequence[Value] = ()) -> None:
        self.inputs = tuple(inputs)
        self.eqns: list[Eqn] = []
        self.table: dict[tuple[Any, ...], tuple[Value, ...]] = {}

    def share(self, eqn: Eqn) -> None:
        """Let equal equations that follow share this one."""
        if not eqn.regions and _is_shared(eqn.op):
            self.table.setdefault(equation_key(eqn.op, eqn.inputs, eqn.params), eqn.outputs)

    def close(self, outputs: Sequence[Atom]) -> Block:
        """Return the finished block."""
        return Block(self.inputs, tuple(self.eqns), tuple(outputs))


class Builder:
    """A stack of open blocks into which equations are emitted."""

    scopes: list[BlockScope]
    find_site: Callable[[], Site | None]

    def __init__(self, find_site: Callable[[], Site | None] = lambda: None) -> None:
        self.scopes = [BlockScope()]
        self.ranges: dict[Value, tuple[Dim | None, Dim | None]] = {}
        self.equal: dict[Value, Dim] = {}
        """The dim as which each size is written that turned out equal to another."""
        self.find_site = find_site
        self.of: Value | None = None
        self.group: str | None = None

    @property
    def scope(self) -> BlockScope:
        """Return the innermost open block."""
        return self.scopes[-1]

    def emit(self, op: Op, inputs: Sequence[Atom], params: Params | None = None,
             regions: Sequence[Block] = (), site: Site | None = None) -> tuple[Value, ...]:
        """Append `op(*inputs)` and return its results, or an equal equation's in scope."""
        inputs, params = tuple(inputs), params or {}
        if self.equal:
            params = self._settled(inputs, params, regions)
        key = equation_key(op, inputs, params) if not regions and _is_shared(op) else None
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
        if self.equal:
            settle_eqn(eqn, self.equal)
        self.scope.eqns.append(eqn)
        self.scope.share(eqn)

    # --- sizes ------------------------------------------------------------------------------------

    def equate(self, size: Value, dim: Dim) -> None:
        """Write a size as a dim, which it turned out to be, in all that is open and all to come."""
        self.equal = {v: substitute(d, {size: dim}) for v, d in self.equal.items()}
        self.equal[size] = dim
        for v, (low, high) in self.ranges.items():
            self.ranges[v] = self._bound(low), self._bound(high)
        for scope in self.scopes:
            for v in scope.inputs:
                settle_value(v, self.equal)
            scope.table.clear()
            for eqn in scope.eqns:
                settle_eqn(eqn, self.equal)
                scope.share(eqn)

    def _bound(self, d: Dim | None) -> Dim | None:
        return None if d is None else substitute(d, self.equal)

    def _settled(self, inputs: Sequence[Atom], params: Params, regions: Sequence[Block]) -> Params:
        """Write an equation's operands, regions and parameters in the sizes that are left."""
        for a in inputs:
            if isinstance(a, Value):
                settle_value(a, self.equal)
        for region in regions:
            settle_block(region, self.equal)
        return {k: copy_param(p, self.equal) for k, p in params.items()}

    # --- blocks -----------------------------------------------------------------------------------

    @contextmanager
    def block(self, inputs: Sequence[Value] = ()) -> Iterator[BlockScope]:
        """Open a block with these inputs; `scope.close(outputs)` finishes it."""
        scope = BlockScope(inputs)
        for v in scope.inputs if self.equal else ():
            settle_value(v, self.equal)
        self.scopes.append(scope)
        try:
            yield scope
        finally:
            self.scopes.pop()

    @contextmanager
    def undone_if_raised(self) -> Iterator[None]:
        """Take back the equations emitted inside if it ends with an exception."""
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
        """Mark the equations emitted inside as a backward part of `of`, at its site."""
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
        """Return the facts known of integer values."""
        return self.ranges


def _is_shared(op: Op) -> bool:
    """Return whether equal applications of an op are one equation."""
    return not (op.unique or (op.effect and not op.once))


def equation_key(op: Op, inputs: tuple[Atom, ...], params: Params) -> tuple[Any, ...]:
    """Return the key that equal applications of ops share."""
    operands = tuple(a.key if isinstance(a, Literal) else a for a in inputs)
    return (op, operands, tuple((k, _param_key(params[k])) for k in sorted(params)))


def _param_key(p: object) -> Any:
    """A key in which 1, True and 1.0 differ."""
    if isinstance(p, tuple):
        return tuple(map(_param_key, p))
    return (type(p), p)
