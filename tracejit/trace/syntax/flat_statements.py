"""Statements of a function in which its calls of itself stand alone."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from tracejit.trace.syntax.flat_expressions import FlatExpressions
from tracejit.trace.syntax.liveness import SCOPES, own_nodes
from tracejit.trace.syntax.own_calls import SelfCalling
from tracejit.trace.syntax.recursion_nodes import RESULT, Forgotten, Stmts
from tracejit.trace.syntax.syntax import assign, constant, load, place

__all__ = ["FlatStatements"]


class FlatStatements:
    """Takes the calls of a function out of its statements."""

    def __init__(self, itself: SelfCalling) -> None:
        self.itself = itself
        self.expressions = FlatExpressions(itself)

    def simplified(self, s: ast.stmt) -> Stmts | None:
        """Return statements in which calls of the function are statements; None if s is so."""
        recurs = self.itself.recurs
        if isinstance(s, ast.Return) and isinstance(s.value, ast.IfExp) and recurs(s.value):
            parts: list[Stmts] = [[place(ast.Return(x), x)] for x in (s.value.body, s.value.orelse)]
            return [place(ast.If(s.value.test, *parts), s)]
        if isinstance(s, ast.Return):
            if s.value is not None and self.itself.is_own_call(s.value):
                before, own = self.expressions.own_call(s.value, None)  # type: ignore[arg-type]
                return [*before, own, place(ast.Return(load(RESULT)), s)]
            return self.with_value(s, "value")
        if isinstance(s, ast.Expr) and self.itself.is_own_call(s.value):
            before, own = self.expressions.own_call(s.value, None)  # type: ignore[arg-type]
            return [*before, own]
        if isinstance(s, (ast.Expr, ast.If)):
            return self.with_value(s, "value" if isinstance(s, ast.Expr) else "test")
        if isinstance(s, ast.For):
            return self.with_value(s, "iter")
        if isinstance(s, (ast.Assign, ast.AnnAssign)):
            targets = s.targets if isinstance(s, ast.Assign) else [s.target]
            if any(map(recurs, targets)):
                raise self.itself.refused(s, "a call of itself where something is assigned to")
            return self.with_value(s, "value")
        if isinstance(s, ast.AugAssign):
            return self.augmented(s)
        if isinstance(s, ast.While) and recurs(s.test):
            leave = ast.If(ast.UnaryOp(ast.Not(), s.test), [ast.Break()], [])
            loop = ast.While(constant(True), [place(leave, s), *s.body], s.orelse)
            return [place(loop, s)]
        if recurs(s) and not isinstance(s, (ast.While, ast.With, ast.Try, ast.Match)):
            raise self.itself.refused(s, "a call of itself in such a statement")
        return None

    def with_value(self, s: ast.stmt, field: str) -> Stmts | None:
        value = getattr(s, field)
        if value is None or not self.itself.recurs(value):
            return None
        before, (value,) = self.expressions.evaluated([value])
        setattr(s, field, value)
        return [*before, s]

    def augmented(self, s: ast.AugAssign) -> Stmts | None:
        if not self.itself.recurs(s):
            return None
        if self.itself.recurs(s.target):
            raise self.itself.refused(s, "a call of itself where something is assigned to")
        if isinstance(s.target, ast.Name) and s.target.id in self.itself.local - self.itself.shared:
            return self.with_value(s, "value")
        before: Stmts = []
        held = self.expressions.held
        target = s.target
        if isinstance(target, ast.Subscript):
            target = ast.Subscript(held(target.value, before), held(target.slice, before),
                                   ast.Store())
        elif isinstance(target, ast.Attribute):
            target = ast.Attribute(held(target.value, before), target.attr, ast.Store())
        old = copy.deepcopy(target)
        old.ctx = ast.Load()
        t = self.itself.temporary()
        before.append(place(assign(t, old), s))
        more, (value,) = self.expressions.evaluated([s.value])
        change = place(ast.AugAssign(ast.Name(t, ast.Store()), s.op, value), s)
        return [*before, *more, change, place(ast.Assign([target], load(t)), s)]

    def without_returns(self, s: ast.stmt) -> Stmts:
        """Return a statement without calls of the function whose `return`s leave it only."""
        returned, value = self.itself.temporary(), self.itself.temporary()
        body = _Returns(returned, value).block([s])
        loop = ast.For(ast.Name(self.itself.temporary(), ast.Store()),
                       ast.Tuple([constant(0)], ast.Load()), body, [])
        leave = ast.If(load(returned), [ast.Return(load(value))], [])
        return [place(n, s) for n in (assign(returned, constant(False)), Forgotten(value), loop,
                                      leave)]


class _Returns:
    """Makes `return`s of a statement flags, and `break`s out of the loops around them."""

    def __init__(self, returned: str, value: str) -> None:
        self.returned, self.value = returned, value

    def block(self, stmts: Sequence[ast.stmt]) -> Stmts:
        """Return statements in a loop, of which a `return` leaves all."""
        result: Stmts = []
        for s in stmts:
            if isinstance(s, ast.Return):
                new: Stmts = [assign(self.value, s.value or constant(None)),
                              assign(self.returned, constant(True)), ast.Break()]
                return [*result, *(place(n, s) for n in new)]
            result.append(s)
            if isinstance(s, (*SCOPES, ast.ClassDef)) or not any(
                    isinstance(n, ast.Return) for n in own_nodes([s])):
                continue
            for part in (s, *getattr(s, "handlers", ()), *getattr(s, "cases", ())):
                for name in ("body", "orelse", "finalbody"):
                    if getattr(part, name, None):
                        setattr(part, name, self.block(getattr(part, name)))
            if isinstance(s, (ast.For, ast.While)):
                result.append(place(ast.If(load(self.returned), [ast.Break()], []), s))
        return result
