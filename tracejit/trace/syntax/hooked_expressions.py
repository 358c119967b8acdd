"""Expressions whose operations, calls and reads of outer names go through hooks."""

from __future__ import annotations
import __future__

import ast
import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from tracejit.errors import Refusal
from tracejit.ir.cells import line_name
from tracejit.trace.syntax.comprehensions import (
    FIRST,
    Comprehension,
    function_of_target,
    makes_closures,
    names_of_target,
    needs_loops,
    of_first,
    of_items,
    walrus_targets,
    with_loops,
)
from tracejit.trace.syntax.jumps import VALUE
from tracejit.trace.syntax.liveness import local_names
from tracejit.trace.syntax.syntax import HOOKS, Stmts, constant, hook, load, place, thunk

__all__ = ["ExpressionRewriter", "tested"]


OF_FRAMES = frozenset(("globals", "locals", "vars", "dir"))
"""The builtins that read names of the frame that calls them."""


class ExpressionRewriter(ast.NodeTransformer):
    """Rewrites the expressions of one function, given the scopes that they stand in."""

    def __init__(self, file: str, fn: FunctionType) -> None:
        self.file = file
        self.free = (*fn.__code__.co_freevars, *OF_FRAMES.intersection(fn.__globals__))
        """The names that are no builtins, in no scope of the function."""
        self.keeps_texts = bool(fn.__code__.co_flags & __future__.annotations.compiler_flag)
        """Whether annotations are texts: they are left as they are written."""
        self.scopes: list[set[str]] = []
        self.class_names: set[str] = set()
        """The names of the class whose body is rewritten: no function in it sees these."""
        self.unsure: set[str] = set()
        """The names that may be unset where they are read."""
        self.before: Stmts = []
        """The statements that have to stand before the one which is rewritten."""
        self.in_region = False
        """Whether the code stands in a branch or loop, which is a function of its own."""
        self.in_expression = 0
        """In how many lambdas and comprehensions it stands."""
        self.count = 0

    def fresh_name(self, stem: str) -> str:
        """Return a name that no code of users has."""
        self.count += 1
        return f"_tj_{stem}{self.count}"

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]
        with self._inside(local_names(node)):
            node.body = self.visit(node.body)
        return node

    @contextmanager
    def _inside(self, names: set[str]) -> Iterator[None]:
        """Rewrite an expression in a scope of its own, which has names."""
        outer = self.unsure, self.class_names
        self.unsure, self.class_names = self.unsure - names, set()
        self.scopes.append(names)
        self.in_expression += 1
        yield
        self.in_expression -= 1
        self.scopes.pop()
        self.unsure, self.class_names = outer

    def line_of(self, node: ast.expr | ast.stmt) -> str:
        """Return the user's file and line of a node."""
        return line_name(self.file, node.lineno)

    def visit_Name(self, node: ast.Name) -> Any:
        if not isinstance(node.ctx, ast.Load) or node.id == HOOKS or node.id.startswith("_tj_"):
            if node.id in self.unsure and isinstance(node.ctx, ast.Load) and node.id != VALUE:
                return place(hook("read", node), node)
            return node
        if node.id in self.class_names:
            names = ast.Call(load("locals"), [], [])
            return place(hook("class_name", constant(node.id), names), node)
        if any(node.id in scope for scope in self.scopes):
            if node.id in self.unsure:
                return place(hook("read", node), node)
            return node
        return place(hook("outer", constant(node.id)), node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        node.value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            return place(hook("getattr", node.value, constant(node.attr)), node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if isinstance(node.ctx, ast.Load):
            return place(hook("getitem", self.visit(node.value), self.key_of(node.slice)), node)
        return self.generic_visit(node)

    def key_of(self, key: ast.expr) -> ast.expr:
        """Return a subscript as an expression that makes its slices."""
        if isinstance(key, ast.Slice):
            parts = [constant(None) if p is None else self.visit(p)
                     for p in (key.lower, key.upper, key.step)]
            return place(hook("slice", *parts), key)
        if isinstance(key, ast.Tuple):
            return place(ast.Tuple([self.key_of(k) for k in key.elts], ast.Load()), key)
        visited: ast.expr = self.visit(key)
        return visited

    def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Name) and not self._is_bound(node.func.id):
            if node.func.id == "super":  # of the class around, whichever has one of that name
                node.args = [a if isinstance(a, ast.Name) and a.id == "__class__" else self.visit(a)
                             for a in node.args]
                return node
            if node.func.id in OF_FRAMES and not node.args:
                if self.in_region and not self.in_expression and not self.class_names and (
                        node.func.id != "globals"):
                    raise Refusal(f"{self.line_of(node)}: {node.func.id}() in a branch, loop or "
                                  "`try` cannot be captured. Name what it is to read, or call it "
                                  "before", "TJ118")
                return place(hook(node.func.id, *([] if node.func.id == "globals" else [
                    ast.Call(load("locals"), [], [])])), node)
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and (
                node.func.value.id == HOOKS):
            return self._own_call(node)
        args = [self._comprehension(a, "generated") if isinstance(a, ast.GeneratorExp)
                else self.visit(a) for a in node.args]
        keywords = [self._keyword(k) for k in node.keywords]
        call = hook("call", self.visit(node.func), *args)
        call.keywords = keywords
        return place(call, node)

    def _is_bound(self, name: str) -> bool:
        return name in self.free or any(name in scope for scope in self.scopes)

    def _own_call(self, node: ast.Call) -> ast.Call:
        """Leave the hooks that an earlier pass put in."""
        node.args = [a if isinstance(a, ast.Lambda) else self.visit(a) for a in node.args]
        return node

    def _deferred(self, node: ast.expr) -> ast.expr:
        """Return a function of no arguments that evaluates an expression later, if at all."""
        targets = {n.id for w in ast.walk(node) if isinstance(w, ast.NamedExpr)
                   for n in [w.target]}
        if self.class_names & {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}:
            raise Refusal(f"{self.line_of(node)}: a choice in the body of a class that reads the "
                          "class's own names cannot be captured. Make it in a method, or before "
                          "the class", "TJ102")
        if targets and self.in_expression:
            raise Refusal(f"{self.line_of(node)}: `:=` in `and`, `or`, if-else or a chained "
                          "comparison, in a lambda or comprehension, cannot be captured. Write a "
                          "function or the loop out", "TJ102")
        body = self.visit(node)
        if not targets:
            return place(thunk(body), node)
        name = self.fresh_name("later")
        define = ast.FunctionDef(name, ast.arguments([], [], None, [], [], None, []),
                                 [ast.Nonlocal(sorted(targets)), ast.Return(body)], [])
        self.before.append(place(define, node))
        names = ast.Tuple([constant(n) for n in sorted(targets)], ast.Load())
        return place(hook("binding", load(name), names), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        first, *rest = node.values
        return place(hook(name, self.visit(first), *map(self._deferred, rest)), node)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        if isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant):
            return node
        name = constant(type(node.op).__name__)
        return place(hook("binary", name, self.visit(node.left), self.visit(node.right)), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return place(hook("not_", self.visit(tested(node.operand))), node)
        if isinstance(node.operand, ast.Constant):
            return node
        return place(hook("unary", constant(type(node.op).__name__), self.visit(node.operand)),
                     node)

    def visit__Truth(self, node: _Truth) -> Any:
        return place(hook("tested", self.visit(node.operand)), node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        return place(hook("choose", self.visit(tested(node.test)), self._deferred(node.body),
                          self._deferred(node.orelse)), node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        operators = [constant(type(op).__name__) for op in node.ops]
        first, *rest = node.comparators
        return place(hook("compare", ast.Tuple(list(operators), ast.Load()), self.visit(node.left),
                          self._member_of(node.ops[0], first), *map(self._deferred, rest)), node)

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        return self._comprehension(node, "list_of")

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp, name: str) -> Any:
        """`[f(a) for a in items]` becomes a hook when it is that simple, else stays as it is."""
        if self._writes_out(node):
            return self._written_out(node)
        (generator, *more) = node.generators
        names = names_of_target(generator.target)
        if generator.is_async or names is None or walrus_targets(node) or any(
                map(makes_closures, [node.elt, *generator.ifs, *more])):
            return self._plain_comprehension(node)
        plain = [self._given_first(copy.deepcopy(node))] if more else []
        iterable = self.visit(generator.iter)
        tests = generator.ifs
        if len(tests) > 1:
            tests = [place(ast.BoolOp(ast.And(), tests), node)]
        element = place(ast.ListComp(node.elt, more), node) if more else node.elt
        functions = self._functions_of_target(generator.target, names, [element, *tests], node)
        name = f"several_{name}" if more else name
        return place(hook(name, iterable, *plain, *functions), node)

    def _writes_out(self, node: Comprehension) -> bool:
        return needs_loops(node) and not (self.in_expression or self.class_names)

    def _written_out(self, node: Comprehension) -> ast.expr:
        """Return the call of a function with the loops of a comprehension, which stands before."""
        first = self.visit(node.generators[0].iter)
        name = self.fresh_name("loops")
        plain: list[ast.expr] = []
        if isinstance(node, ast.GeneratorExp) and not walrus_targets(node):
            self.in_expression += 1
            plain = [self._given_first(copy.deepcopy(node))]
            self.in_expression -= 1
        made = self.visit(with_loops(node, name))
        self.before += made if isinstance(made, list) else [made]
        if plain:
            return place(hook("generator_of", first, *plain, load(name)), node)
        return place(hook("call", load(name), first), node)

    def _given_first(self, node: Any) -> ast.expr:
        """Return a comprehension as a function of its first iterable."""
        node.generators[0].iter = place(load(FIRST), node)
        return place(of_first(self._plain_comprehension(node)), node)

    def _functions_of_target(self, target: ast.expr, names: Sequence[str], parts: list[Any],
                             node: ast.expr) -> list[ast.expr]:
        """Return the functions of an item that give parts of a comprehension."""
        with self._inside(set(names)):
            functions: list[ast.expr] = [
                place(function_of_target(target, self.visit(part)), node) for part in parts]
        if isinstance(target, ast.Tuple):
            count = len(target.elts)
            functions = [place(of_items(f, count), node) for f in functions]
        return functions

    def _plain_comprehension(self, node: Any) -> Any:
        if self._writes_out(node):
            return self._written_out(node)
        if isinstance(node, ast.GeneratorExp) and walrus_targets(node):
            raise Refusal(f"{self.line_of(node)}: `:=` in a generator expression within a lambda "
                          "cannot be captured. Write a function", "TJ102")
        targets = {n.id for g in node.generators for n in ast.walk(g.target)
                   if isinstance(n, ast.Name)}
        if any(isinstance(n, (ast.Attribute, ast.Subscript))
               for g in node.generators for n in ast.walk(g.target)):
            raise Refusal(f"{self.line_of(node)}: a comprehension that binds an item or attribute "
                          "cannot be captured. Write the loop out", "TJ102")
        first = self.visit(node.generators[0].iter)  # its names are of the scope around
        with self._inside(targets):
            for k, g in enumerate(node.generators):
                g.iter = place(hook("iterate", self.visit(g.iter) if k else first), g.iter)
                g.ifs = [place(hook("truth", self.visit(test)), test) for test in g.ifs]
            for field in ("elt", "key", "value"):
                if hasattr(node, field):
                    setattr(node, field, self.visit(getattr(node, field)))
        return place(hook("made", node), node)

    def visit_SetComp(self, node: ast.SetComp) -> Any:
        """Give the items as a list, too: data may decide on the keys."""
        return self._keyed_comprehension(node, "set", node.elt)

    def visit_DictComp(self, node: ast.DictComp) -> Any:
        """Give the pairs as a list, too."""
        pair = ast.Tuple([node.key, node.value], ast.Load())
        return self._keyed_comprehension(node, "dict", pair)

    def _keyed_comprehension(self, node: ast.SetComp | ast.DictComp, kind: str,
                             item: ast.expr) -> Any:
        if self.class_names or self._writes_out(node):
            return self._plain_comprehension(node)
        first = self.visit(node.generators[0].iter)
        node.generators[0].iter = place(load(FIRST), node)
        items = copy.deepcopy(place(ast.ListComp(item, node.generators), node))
        self.in_expression += 1
        forms = [of_first(part) for part in (self.visit(items), self._plain_comprehension(node))]
        self.in_expression -= 1
        return place(hook("keyed_of", constant(kind), first, *forms), node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        """Leave a generator lazy, where it is no argument of a call."""
        if any(g.ifs for g in node.generators) and not (self.in_expression or self.class_names):
            return self._written_out(node)
        return self._plain_comprehension(node)

    def visit_Starred(self, node: ast.Starred) -> Any:
        if isinstance(node.ctx, ast.Load):
            node.value = place(hook("iterate", self.visit(node.value)), node.value)
        return node

    def visit_List(self, node: ast.List) -> Any:
        starred = [x for x in node.elts if isinstance(x, ast.Starred)]
        self.generic_visit(node)
        for x in starred if isinstance(node.ctx, ast.Load) else ():
            x.value.func.attr = "spread"  # type: ignore[attr-defined]
        return place(hook("made", node), node) if isinstance(node.ctx, ast.Load) else node

    def _keyword(self, node: ast.keyword) -> ast.keyword:
        node.value = self.visit(node.value)
        if node.arg is None:
            node.value = place(hook("mapping", node.value), node.value)
        return node

    def visit_Dict(self, node: ast.Dict) -> Any:
        self.generic_visit(node)
        node.values = [x if key is not None else place(hook("mapping", x), x)
                       for key, x in zip(node.keys, node.values, strict=True)]
        return place(hook("keyed", node, constant(sum(key is not None for key in node.keys))), node)

    def visit_Set(self, node: ast.Set) -> Any:
        self.generic_visit(node)
        for x in node.elts:
            if isinstance(x, ast.Starred):
                x.value.func.attr = "into_set"  # type: ignore[attr-defined]
        return place(hook("keyed", node, constant(len(node.elts))), node)

    def _member_of(self, op: ast.cmpop, node: ast.expr) -> ast.expr:
        """Return an operand of a comparison; a set of constants is only looked into there."""
        looks = isinstance(op, (ast.In, ast.NotIn)) and isinstance(node, ast.Set) and all(
            isinstance(x, ast.Constant) for x in node.elts)
        return node if looks else self.visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        return place(hook("text", *map(self._text_part, node.values)), node)

    def _text_part(self, part: ast.expr) -> ast.expr:
        if not isinstance(part, ast.FormattedValue):
            return part
        spec = constant("") if part.format_spec is None else self.visit(part.format_spec)
        return place(hook("formatted", self.visit(part.value), constant(part.conversion), spec),
                     part)


class _Truth(ast.expr):
    """An operand of a condition, of which only the truth matters."""

    _fields = ("operand",)
    operand: ast.expr

    def __init__(self, operand: ast.expr) -> None:
        super().__init__()
        self.operand = operand


def tested(test: ast.expr) -> ast.expr:
    """Return a condition whose `and` and `or` give truths in the place of their operands."""
    if not isinstance(test, ast.BoolOp):
        return test
    values: list[ast.expr] = []
    for x in test.values:
        if isinstance(x, ast.BoolOp):
            values.append(tested(x))
        elif isinstance(x, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            values.append(place(_Truth(x), x))
        else:
            values.append(x)
    return ast.copy_location(ast.BoolOp(test.op, values), test)
