"""The gallery's programs with operands exchanged: `b + a` for `a + b`, `-b + a` for `a - b`."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import sys
import types
from collections.abc import Callable
from typing import Any

from programs.program import Program

__all__ = ["exchanged"]


class _Exchange(ast.NodeTransformer):
    """Exchange the operands of sums, products and differences inside of functions."""

    def __init__(self) -> None:
        self.inside = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Exchange in the body, not in decorators and defaults."""
        self.inside += 1
        node.body = [self.visit(statement) for statement in node.body]
        self.inside -= 1
        node.decorator_list = []
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Exchange one operation's operands, its own parts first."""
        self.generic_visit(node)
        if not self.inside:
            return node
        if isinstance(node.op, (ast.Add, ast.Mult)):
            return ast.BinOp(node.right, node.op, node.left)
        if isinstance(node.op, ast.Sub):
            return ast.BinOp(ast.UnaryOp(ast.USub(), node.right), ast.Add(), node.left)
        return node


@functools.cache
def _module(name: str) -> types.ModuleType:
    """Return a module's twin, its functions with their operands exchanged."""
    original = sys.modules[name]
    tree = ast.fix_missing_locations(_Exchange().visit(ast.parse(inspect.getsource(original))))
    source, file = ast.unparse(tree), f"<{name}, exchanged>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = types.ModuleType(f"{name}_exchanged")
    sys.modules[module.__name__] = module
    exec(compile(source, file, "exec"), vars(module))
    return module


def exchanged(program: Program) -> Callable[..., Any]:
    """Return a program's function with the operands of its sums and products exchanged."""
    found: Callable[..., Any] = getattr(_module(program.function.__module__),
                                        program.function.__name__)
    return found
