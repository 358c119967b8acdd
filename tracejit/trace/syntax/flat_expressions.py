"""Expressions without calls of the function itself: such a call becomes a statement before them.

    f(x - 1) + g(y)     t1 = f(x - 1); t1 + g(y)
    g(y) + f(x - 1)     t1 = g(y); t2 = f(x - 1); t1 + t2

An operand evaluated before such a call goes to a temporary name, so that the order stays Python's.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from typing import Any

from tracejit.trace.syntax.liveness import stored_names
from tracejit.trace.syntax.own_calls import SelfCalling
from tracejit.trace.syntax.recursion_nodes import TEMPORARY, OwnCall, Stmts
from tracejit.trace.syntax.syntax import assign, constant, hook, load, place

__all__ = ["FlatExpressions", "surely_builtin"]


class FlatExpressions:
    """Takes the calls of a function out of its expressions."""

    def __init__(self, itself: SelfCalling) -> None:
        self.itself = itself

    def evaluated(self, parts: Sequence[ast.expr]) -> tuple[Stmts, list[ast.expr]]:
        """Return expressions without calls of the function, after the statements before them.

        An expression evaluated before such a call goes to a temporary name.
        """
        before: Stmts = []
        result = list(parts)
        last = max((k for k, x in enumerate(parts) if self.itself.recurs(x)), default=-1)
        for k in range(last + 1):
            if self.itself.recurs(parts[k]):
                result[k] = self.expression(parts[k], before)
            if k < last:
                result[k] = self.held(result[k], before)
        return before, result

    def held(self, e: ast.expr, before: Stmts) -> ast.expr:
        """Return an expression that is evaluated now, for later."""
        if isinstance(e, ast.Constant) or (isinstance(e, ast.Name) and (
                e.id.startswith(TEMPORARY) or e.id not in self.itself.rebound)):
            return e
        if isinstance(e, (ast.Tuple, ast.Slice)):
            for name, x in ast.iter_fields(e):
                if isinstance(x, ast.expr):
                    setattr(e, name, self.held(x, before))
                elif isinstance(x, list):
                    setattr(e, name, [self.held(y, before) for y in x])
            return e
        if isinstance(e, ast.Starred):
            raise self.itself.refused(e, "arguments by `*` before a call of itself")
        t = self.itself.temporary()
        before.append(place(assign(t, e), e))
        return place(load(t), e)

    def expression(self, e: ast.expr, before: Stmts) -> ast.expr:
        """Return an expression without calls of the function."""
        if self.itself.is_own_call(e):
            t = self.itself.temporary()
            more, own = self.own_call(e, t)  # type: ignore[arg-type]
            before += [*more, own]
            return place(load(t), e)
        if isinstance(e, ast.Call):
            return self.sum(e, before) if self.itself.is_sum(e) else self.other_call(e, before)
        if isinstance(e, ast.IfExp):
            return self.chosen(e.test, [e.body], [e.orelse], e, before)
        if isinstance(e, ast.BoolOp):
            return self.chain(e, before)
        if isinstance(e, ast.NamedExpr):
            value = self.held(self.expression(e.value, before), before)
            before.append(place(ast.Assign([e.target], value), e))
            return copy.deepcopy(value)
        if isinstance(e, ast.Compare) and len(e.ops) == 1:
            return self.with_parts(e, [e.left, e.comparators[0]], before,
                                   lambda a, b: ast.Compare(a, e.ops, [b]))
        if isinstance(e, ast.BinOp):
            return self.with_parts(e, [e.left, e.right], before,
                                   lambda a, b: ast.BinOp(a, e.op, b))
        if isinstance(e, ast.UnaryOp):
            return self.with_parts(e, [e.operand], before, lambda a: ast.UnaryOp(e.op, a))
        if isinstance(e, ast.Subscript):
            return self.with_parts(e, [e.value, e.slice], before,
                                   lambda a, b: ast.Subscript(a, b, ast.Load()))
        if isinstance(e, ast.Attribute):
            return self.with_parts(e, [e.value], before,
                                   lambda a: ast.Attribute(a, e.attr, ast.Load()))
        if isinstance(e, (ast.Tuple, ast.List)):
            kind = type(e)
            return self.with_parts(e, e.elts, before, lambda *xs: kind(list(xs), ast.Load()))
        raise self.itself.refused(e, "a call of itself in such an expression")

    def own_call(self, call: ast.Call, target: str | None) -> tuple[Stmts, OwnCall]:
        """Return a call of the function itself as a statement, after the statements before it."""
        first: Stmts = []
        f = call.func
        if isinstance(f, ast.Attribute) and not isinstance(f.value, ast.Name):
            owner = self.held(f.value, first)
            call = place(ast.Call(ast.Attribute(owner, f.attr, ast.Load()), call.args,
                                  call.keywords), call)
        names, parts = self.itself.binding(call)
        before, values = self.evaluated(parts)
        before = [*first, *before]
        for p in self.itself.params:
            if p not in names:
                names.append(p)
                values.append(place(hook("default", constant(p)), call))
        own = place(OwnCall(call.func, names, values, target), call)
        return before, own

    def with_parts(self, e: ast.expr, parts: list[ast.expr], before: Stmts,
                   made: Callable[..., ast.expr]) -> ast.expr:
        more, found = self.evaluated(parts)
        before += more
        return place(made(*found), e)

    def other_call(self, e: ast.Call, before: Stmts) -> ast.expr:
        """Return a call of another function with arguments that call this one."""
        func = e.func
        if self.itself.recurs(func):
            func = self.expression(func, before)
        elif isinstance(func, (ast.Name, ast.Attribute)):
            if isinstance(func, ast.Attribute):
                func = ast.Attribute(self.stable(func.value, before), func.attr, ast.Load())
            key = constant(self.itself.temporary())
            before.append(place(ast.Expr(hook("keeps", key, copy.deepcopy(func))), e))
            func = hook("kept", key, func)
        else:
            raise self.itself.refused(e, "a call of itself in the arguments of such a call")
        count = len(e.args)
        more, values = self.evaluated([*e.args, *(k.value for k in e.keywords)])
        before += more
        keywords = [ast.keyword(k.arg, v) for k, v in zip(e.keywords, values[count:], strict=True)]
        return place(ast.Call(func, values[:count], keywords), e)

    def sum(self, e: ast.Call, before: Stmts) -> ast.expr:
        """Return the name of a sum, which a loop makes: an int only if it has no items."""
        items: Any = e.args[0]
        loop = items.generators[0]
        names = {n: self.itself.temporary() for n in stored_names([loop.target])}
        for part in (loop.target, items.elt, *loop.ifs):
            for n in ast.walk(part):
                if isinstance(n, ast.Name):
                    n.id = names.get(n.id, n.id)
        total, count, item = [self.itself.temporary() for _ in range(3)]

        def added(x: ast.expr) -> Stmts:
            return [assign(total, ast.BinOp(x, ast.Add(), load(item)))]

        none = ast.Compare(load(count), [ast.Eq()], [constant(0)])
        add: Stmts = [assign(item, items.elt),
                      ast.If(none, added(constant(0)), added(load(total))),
                      assign(count, ast.BinOp(load(count), ast.Add(), constant(1)))]
        for test in reversed(loop.ifs):
            add = [ast.If(test, add, [])]
        before += [place(s, e) for s in (
            surely_builtin(e, "sum"), assign(total, constant(0.0)),
            assign(count, constant(0)), ast.For(loop.target, loop.iter, add, []),
            ast.If(copy.deepcopy(none), [assign(total, constant(0))], []))]
        return place(load(total), e)

    def stable(self, owner: ast.expr, before: Stmts) -> ast.expr:
        """Return the owner of the method that is called later; `keeps` compares outer names."""
        if isinstance(owner, ast.Name):
            return owner
        if isinstance(owner, ast.Attribute):
            return ast.Attribute(self.stable(owner.value, before), owner.attr, ast.Load())
        return self.held(owner, before)

    def chosen(self, test: ast.expr, then: list[ast.expr], other: list[ast.expr], e: ast.expr,
               before: Stmts) -> ast.expr:
        """Return the name of a result that one of two expressions gives."""
        more, (test,) = self.evaluated([test])
        t = self.itself.temporary()
        parts = []
        for (x,) in (then, other):
            first, (x,) = self.evaluated([x])
            parts.append([*first, place(assign(t, x), e)])
        before += [*more, place(ast.If(test, *parts), e)]
        return place(load(t), e)

    def chain(self, e: ast.BoolOp, before: Stmts) -> ast.expr:
        """Return the name of the result of `and` or `or`."""
        first, *rest = e.values
        more, (first,) = self.evaluated([first])
        t = self.itself.temporary()
        before += [*more, place(assign(t, first), e)]
        if rest:
            others: ast.expr = rest[0] if len(rest) == 1 else ast.BoolOp(e.op, rest)
            inner, (others,) = self.evaluated([others])
            inner = [*inner, place(assign(t, others), e)]
            is_and = isinstance(e.op, ast.And)
            parts = (inner, [ast.Pass()]) if is_and else ([ast.Pass()], inner)
            before.append(place(ast.If(load(t), *parts), e))
        return place(load(t), e)


def surely_builtin(call: ast.expr, name: str) -> ast.stmt:
    """Return a statement that begins again where a name is no builtin's any more."""
    return place(ast.Expr(hook("builtin", constant(name), load(name))), call)
