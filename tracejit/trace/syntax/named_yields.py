"""Syntax-tree pass before `generators.py`: let each `yield` be a statement of its own.

    total += weight(k) * (yield total)
    =>  _tj_sent1 = total
        _tj_sent2 = weight(k)
        _tj_sent3 = yield total
        _tj_sent1 += _tj_sent2 * _tj_sent3
        total = _tj_sent1

What Python evaluates before the `yield` has a name meanwhile, so that it is before it here, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tracejit.trace.syntax.syntax import Stmts, assign, constant, load, own_nodes, place

__all__ = ["name_yields", "yields"]

_EXPRESSIONS: dict[type[ast.stmt], str] = {
    ast.Assign: "value", ast.AnnAssign: "value", ast.Expr: "value", ast.Return: "value",
    ast.If: "test", ast.For: "iter", ast.Match: "subject"}
"""The expression of a statement that is evaluated before all else of it."""
_ELSEWHERE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def yields(nodes: Sequence[ast.AST]) -> bool:
    """Return whether there is a `yield` of this function in some syntax."""
    return any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own_nodes(nodes))


def name_yields(node: ast.FunctionDef) -> None:
    """Take each `yield` of a generator function that is part of an expression out of it.

    One stays where it is if it may not be evaluated, as behind `and`.
    """
    node.body = _Taker().block(node.body)


class _Taker:
    """Rewrites the statement lists of one generator function."""

    def __init__(self) -> None:
        self.count = 0

    def block(self, stmts: Stmts) -> Stmts:
        return [new for s in stmts for new in self._statement(s)]

    def _statement(self, s: ast.stmt) -> Stmts:
        if not yields([s]):
            return [s]
        for name in ("body", "orelse", "finalbody"):
            if getattr(s, name, None):
                setattr(s, name, self.block(getattr(s, name)))
        for inner in (*getattr(s, "handlers", ()), *getattr(s, "cases", ())):
            inner.body = self.block(inner.body)
        before: Stmts = []
        if isinstance(s, ast.While):
            return self._while(s)
        if isinstance(s, ast.AugAssign):
            return self._augmented(s)
        name = _EXPRESSIONS.get(type(s), "")
        value = getattr(s, name, None)
        if value is not None:
            taken = self._alone_or_taken if name == "value" else self._taken
            setattr(s, name, taken(value, before))
        return [place(x, s) for x in (*before, s)]

    def _while(self, s: ast.While) -> Stmts:
        """Return a loop whose test has a `yield` with the test in its body."""
        before: Stmts = []
        if s.orelse or not yields([s.test]):
            return [s]
        test = self._taken(s.test, before)
        leave = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
        s.test = place(constant(True), s.test)
        s.body = [*(place(x, s) for x in [*before, leave]), *s.body]
        return [s]

    def _augmented(self, s: ast.AugAssign) -> Stmts:
        """Return `target op= value`, of which the target is read before there is a value."""
        before: Stmts = []
        if yields([s.target]) or not isinstance(s.target, (ast.Name, ast.Attribute)):
            return [s]
        if isinstance(s.target, ast.Attribute):
            s.target.value = self._kept(s.target.value, before)
        read, written = (_with_context(s.target, c) for c in (ast.Load(), ast.Store()))
        old = self._name()
        before.append(assign(old, read))
        value = self._taken(s.value, before)
        change = ast.AugAssign(ast.Name(old, ast.Store()), s.op, value)
        after = [change, ast.Assign([written], load(old)), assign(old, constant(None))]
        return [place(x, s) for x in (*before, *after)]

    def _alone_or_taken(self, e: ast.expr, before: Stmts) -> ast.expr:
        """Return the value of a statement, which may be a `yield`."""
        if not isinstance(e, (ast.Yield, ast.YieldFrom)):
            return self._taken(e, before)
        if e.value is not None:
            e.value = self._taken(e.value, before)
        return e

    def _taken(self, e: ast.expr, before: Stmts) -> ast.expr:
        """Return an expression without its `yield`, which goes to the statements before it."""
        if not yields([e]) or isinstance(e, _ELSEWHERE):
            return e
        if isinstance(e, (ast.Yield, ast.YieldFrom)):
            return self._kept(self._alone_or_taken(e, before), before)
        operands = list(_operands(e))
        last = max((k for k, (owner, name, k2) in enumerate(operands)
                    if yields([_get(owner, name, k2)])), default=None)
        if last is None:  # where it is not sure to be evaluated
            return e
        for k, where in enumerate(operands[:last + 1]):
            x = _get(*where)
            new = self._taken(x, before)
            _set(*where, new if k == last else self._kept(new, before))
        return e

    def _kept(self, e: ast.expr, before: Stmts) -> ast.expr:
        """Return what reads the value that an expression has now."""
        if isinstance(e, ast.Constant):
            return e
        if isinstance(e, (ast.Starred, ast.Slice)):
            for where in _operands(e):
                _set(*where, self._kept(_get(*where), before))
            return e
        name = self._name()
        before.append(assign(name, e))
        return load(name)

    def _name(self) -> str:
        self.count += 1
        return f"_tj_sent{self.count}"


_Where = tuple[ast.AST, str, int | None]


def _operands(e: ast.expr) -> Iterator[_Where]:
    """Yield where the operands of an expression are that are always evaluated, in order."""
    if isinstance(e, (ast.BoolOp, ast.IfExp)):
        yield (e, "values", 0) if isinstance(e, ast.BoolOp) else (e, "test", None)
    elif isinstance(e, ast.Compare):
        yield e, "left", None
        yield e, "comparators", 0
    elif isinstance(e, ast.NamedExpr):
        yield e, "value", None
    elif isinstance(e, ast.Dict):
        for k, key in enumerate(e.keys):
            if key is not None:
                yield e, "keys", k
            yield e, "values", k
    elif isinstance(e, ast.Call):
        yield e, "func", None
        yield from ((e, "args", k) for k in range(len(e.args)))
        yield from ((x, "value", None) for x in e.keywords)
    elif isinstance(e, ast.JoinedStr):
        yield from ((x, "value", None) for x in e.values if isinstance(x, ast.FormattedValue))
    else:
        for name, part in ast.iter_fields(e):
            if isinstance(part, ast.expr):
                yield e, name, None
            elif isinstance(part, list):
                yield from ((e, name, k) for k in range(len(part)))


def _get(owner: ast.AST, name: str, k: int | None) -> ast.expr:
    found: ast.expr = getattr(owner, name) if k is None else getattr(owner, name)[k]
    return found


def _set(owner: ast.AST, name: str, k: int | None, new: ast.expr) -> None:
    if k is None:
        setattr(owner, name, new)
    else:
        getattr(owner, name)[k] = new


def _with_context(e: ast.expr, context: ast.expr_context) -> ast.expr:
    """Return a name or an attribute of one, to be read or to be bound."""
    if isinstance(e, ast.Attribute):
        return ast.Attribute(e.value, e.attr, context)
    assert isinstance(e, ast.Name)
    return ast.Name(e.id, context)
