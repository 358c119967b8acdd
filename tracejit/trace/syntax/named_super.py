"""Syntax-tree pass 0: give `super()` the two arguments that it would find in its frame.

Parts of a function become functions of their own, in whose frames it would find neither.

    super().step(x)                 super(__class__, self).step(x)
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence

from tracejit.trace.syntax.syntax import load, place

__all__ = ["name_supers"]

_INLINED = sys.version_info >= (3, 12)
"""Whether comprehensions have no frames of their own."""


def name_supers(tree: ast.FunctionDef, is_method: bool) -> None:
    """Name the arguments of each `super()` in a function, in place.

    is_method -- whether the function stands in a class
    """
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and (
        isinstance(n.ctx, ast.Store))} | {a.arg for a in ast.walk(tree) if isinstance(a, ast.arg)}
    if "super" not in stored:
        _Namer(is_method).function(tree)


class _Namer(ast.NodeTransformer):
    """Names arguments where there is a class around, in functions that have a first parameter."""

    def __init__(self, in_class: bool) -> None:
        self.in_class = in_class
        self.first: str | None = None

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> ast.AST:
        """Visit the body of a function, whose defaults and decorators are outside of it."""
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        self._each(getattr(node, "decorator_list", ()))
        outer = self.first
        places = [*node.args.posonlyargs, *node.args.args]
        self.first = places[0].arg if places else None
        self._each(node.body if isinstance(node.body, list) else [node.body])
        self.first = outer
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = function

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Visit the body of a class, which has no first parameter."""
        self._each([*node.decorator_list, *node.bases, *node.keywords])
        outer = self.in_class, self.first
        self.in_class, self.first = True, None
        self._each(node.body)
        self.in_class, self.first = outer
        return node

    def _comprehension(self, node: ast.AST) -> ast.AST:
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        self.visit(generators[0].iter)
        outer = self.first
        if isinstance(node, ast.GeneratorExp) or not _INLINED:
            self.first = None
        generators[0].iter, begun = ast.Constant(None), generators[0].iter
        self.generic_visit(node)
        generators[0].iter = begun
        self.first = outer
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Name the arguments of `super()`."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not (
                node.args or node.keywords) and self.in_class and self.first:
            node.args = [place(load("__class__"), node), place(load(self.first), node)]
        return node

    def _each(self, nodes: Sequence[ast.AST]) -> None:
        for n in nodes:
            self.visit(n)
