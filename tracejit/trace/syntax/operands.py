"""Syntax-tree pass 4: keep operands under names while later operands are evaluated.

    _tj.binary("Mult", u, _tj.call(go))
    =>  _tj.binary("Mult", (_tj_held1 := u), (_tj.call(go), _tj_held1 := None)[0])

Python keeps such values on the evaluation stack of a frame, which no program can look at. Whoever
asks what the program holds (`containers/heap.py`) finds them by these names instead.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tracejit.trace.syntax.syntax import HOOKS, SCOPES, assign, constant, load, place

__all__ = ["hold_operands"]

_INERT = frozenset(("outer", "class_name", "read"))
"""The hooks that run no code of users."""

_OVER_ITEMS = frozenset(("list_of", "several_list_of", "generated", "several_generated"))
"""The hooks whose first argument is gone through while their other arguments are called."""

_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def hold_operands(tree: ast.FunctionDef) -> None:
    """Give the operands in a rewritten function names while later operands are evaluated."""
    _Holding().visit(tree)


class _Holding(ast.NodeTransformer):
    """Binds operands to names of the function around, and unbinds them after the last one."""

    def __init__(self) -> None:
        self.free: list[str] = []
        """The names of the function that hold nothing at this point."""
        self.count = 0
        self.in_comprehension = 0
        self.may_bind = True
        """Whether `:=` may stand here: not in iterables of comprehensions, nor in class bodies."""
        self.runs: dict[ast.AST, bool] = {}

    @contextmanager
    def _scope(self, may_bind: bool = True) -> Iterator[None]:
        outer = self.free, self.in_comprehension, self.may_bind
        self.free, self.in_comprehension, self.may_bind = [], 0, may_bind
        yield
        self.free, self.in_comprehension, self.may_bind = outer

    def _name(self) -> str:
        """Return a name that holds nothing; code of a comprehension may run later, and owns its."""
        if self.free and not self.in_comprehension:
            return self.free.pop()
        self.count += 1
        return f"_tj_held{self.count}"

    def _release(self, names: Sequence[str]) -> None:
        if not self.in_comprehension:
            self.free += names

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        with self._scope():
            node.body = self._block(node.body)
        node.args = self.visit(node.args)
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        node.args = self.visit(node.args)
        if self.may_bind or not self.in_comprehension:
            with self._scope():
                node.body = self.visit(node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        with self._scope(may_bind=False):
            node.body = self._block(node.body)
        return node

    def _block(self, stmts: Sequence[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for s in stmts:
            new = self.visit(s)
            result += new if isinstance(new, list) else [new]
        return result

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Hold the iterable of a `for` until the loop ends."""
        if not self.may_bind or not isinstance(call := node.value, ast.Call) or (
                _hook_of(call) != "for_"):
            return self.generic_visit(node)
        call.args = [self.visit(a) for a in call.args]
        return self._until_after(node, call.args)

    def visit_With(self, node: ast.With) -> list[ast.stmt]:
        """Hold the managers of a `with` until it ends."""
        names = []
        for item in node.items:
            call = item.context_expr = self.visit(item.context_expr)
            if self.may_bind and isinstance(call, ast.Call) and _hook_of(call) == "managed":
                names.append(self._hold(call.args, 0))
        node.body = self._block(node.body)
        self._release(names)
        return [node, *(place(assign(n, constant(None)), node) for n in names)]

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        node.iter = self.visit(node.iter)
        node.body = self._block(node.body)
        if not self.may_bind or not isinstance(node.iter, ast.Call) or not node.iter.args:
            return node
        return self._until_after(node, node.iter.args)

    def _until_after(self, node: ast.stmt, operands: list[ast.expr]) -> list[ast.stmt]:
        name = self._hold(operands, 0)
        self._release([name])
        return [node, place(assign(name, constant(None)), node)]

    def _hold(self, operands: list[ast.expr], k: int) -> str:
        """Give an operand a name, and return the name."""
        x, name = operands[k], self._name()
        if isinstance(x, ast.Starred) and isinstance(x.value, ast.Call) and (
                _hook_of(x.value) == "into_set"):  # which Python gets as it is, for its order
            x.value.func.attr = "into_set_held"  # type: ignore[attr-defined]
            pair = _at(ast.NamedExpr(ast.Name(name, ast.Store()), x.value), x)
            x.value = _at(ast.Subscript(pair, constant(0), ast.Load()), x)
            return name
        if isinstance(x, ast.Starred):  # an iterator, which is at its end afterwards
            x = _at(ast.Tuple([x], ast.Load()), x)
        new = _at(ast.NamedExpr(ast.Name(name, ast.Store()), x), x)
        starred = isinstance(operands[k], ast.Starred)
        operands[k] = _at(ast.Starred(new, ast.Load()), x) if starred else new
        return name

    def _operands(self, operands: list[ast.expr]) -> list[ast.expr]:
        """Return operands that are evaluated one after the other, held as long as needed."""
        last = max((k for k, x in enumerate(operands) if self._may_run(x)), default=0)
        names: list[str] = []
        for k, x in enumerate(operands):
            operands[k] = self.visit(x)
            if k < last and self.may_bind and not _holds_nothing(x):
                names.append(self._hold(operands, k))
        if names:
            x = operands[last]
            if isinstance(x, ast.Starred):
                x.value = _then_unbound(x.value, names)
            else:
                operands[last] = _then_unbound(x, names)
        self._release(names)
        return operands

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name, count = _hook_of(node), len(node.args)
        if not name:
            node.func = self.visit(node.func)
        operands = self._operands([*node.args, *(keyword.value for keyword in node.keywords)])
        node.args = operands[:count]
        for keyword, value in zip(node.keywords, operands[count:], strict=True):
            keyword.value = value
        if name not in _OVER_ITEMS or not self.may_bind:
            return node
        held = self._hold(node.args, 0)
        self._release([held])
        return _then_unbound(node, [held])

    def _may_run(self, x: ast.AST) -> bool:
        """Return whether evaluating an operand may run code of users, which may write to others."""
        if x not in self.runs:
            self.runs[x] = isinstance(x, (ast.Yield, ast.YieldFrom)) or (
                isinstance(x, ast.Call) and _hook_of(x) not in _INERT) or (
                not isinstance(x, SCOPES) and any(map(self._may_run, ast.iter_child_nodes(x))))
        return self.runs[x]

    def _display(self, node: ast.Tuple | ast.List | ast.Set) -> ast.expr:
        if not isinstance(getattr(node, "ctx", None), ast.Store):
            node.elts = self._operands(node.elts)
        return node

    visit_Tuple = visit_List = visit_Set = _display

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        pairs = [x for pair in zip(node.keys, node.values, strict=True) for x in pair]
        rest = iter(self._operands([x for x in pairs if x is not None]))
        pairs = [None if x is None else next(rest) for x in pairs]  # no key where `**` unpacks
        node.keys, node.values = pairs[::2], [x for x in pairs[1::2] if x is not None]
        return node

    def _comprehension(self, node: _Comprehension) -> ast.expr:
        self.in_comprehension += 1
        outer = self.may_bind
        for g in node.generators:
            self.may_bind = False
            g.iter = self.visit(g.iter)
            self.may_bind = outer
            g.ifs = [self.visit(test) for test in g.ifs]
        for field in ("elt", "key", "value"):
            if hasattr(node, field):
                setattr(node, field, self.visit(getattr(node, field)))
        self.in_comprehension -= 1
        return node

    visit_GeneratorExp = _comprehension

    def _collecting(self, node: ast.ListComp | ast.SetComp | ast.DictComp) -> ast.expr:
        """Hold the items that a comprehension has so far, each with the ones before it."""
        self._comprehension(node)
        field = "value" if isinstance(node, ast.DictComp) else "elt"
        item = getattr(node, field)
        if not self.may_bind or not self._may_run(item):
            return node
        self.count += 1
        name = f"_tj_held{self.count}"
        chain = ast.NamedExpr(ast.Name(name, ast.Store()),
                              ast.Tuple([load(name), item], ast.Load()))
        setattr(node, field, _at(ast.Subscript(chain, constant(1), ast.Load()), item))
        begin = ast.NamedExpr(ast.Name(name, ast.Store()), constant(None))
        return _at(ast.Subscript(ast.Tuple([begin, _then_unbound(node, [name])], ast.Load()),
                                   constant(1), ast.Load()), node)

    visit_ListComp = visit_SetComp = visit_DictComp = _collecting


def _hook_of(node: ast.Call) -> str:
    """Return the name of the hook that is called; empty for any other call."""
    fn = node.func
    return fn.attr if isinstance(fn, ast.Attribute) and isinstance(fn.value, ast.Name) and (
        fn.value.id == HOOKS) else ""


def _holds_nothing(x: ast.expr) -> bool:
    """Return whether an operand leads to no object that only it holds."""
    return isinstance(x, ast.Constant) or (
        isinstance(x, ast.Lambda) and not (x.args.defaults or x.args.kw_defaults))


def _at(x: ast.expr, like: ast.expr) -> ast.expr:
    """Give a new expression the first line of another; the compiler fills in the parts."""
    x.lineno = x.end_lineno = like.lineno
    x.col_offset = x.end_col_offset = like.col_offset
    return x


def _then_unbound(x: ast.expr, names: Sequence[str]) -> ast.expr:
    """Return the expression that evaluates another one and then unbinds names."""
    unbound = [ast.NamedExpr(ast.Name(n, ast.Store()), constant(None)) for n in names]
    return _at(ast.Subscript(ast.Tuple([x, *unbound], ast.Load()), constant(0), ast.Load()), x)
