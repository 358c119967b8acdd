"""Small pieces of syntax tree that the rewriter puts together."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

__all__ = ["HOOKS", "SCOPES", "assign", "constant", "hook", "load", "negation", "own_nodes",
           "place", "rewrite_lists", "statement_lists", "thunk", "Stmts"]

HOOKS = "_tj"
"""The name under which rewritten code finds its hooks."""

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)

Stmts = list[ast.stmt]

Node = TypeVar("Node", bound=ast.AST)


def place(node: Node, like: ast.AST) -> Node:
    """Give a new node, and all new nodes in it, the first line of another.

    A call that spans lines would report its last one.
    """
    line, column = like.lineno, like.col_offset  # type: ignore[attr-defined]
    for n in ast.walk(node):
        if not hasattr(n, "lineno"):
            n.lineno = n.end_lineno = line  # type: ignore[attr-defined]
            n.col_offset = n.end_col_offset = column  # type: ignore[attr-defined]
    return node


def load(name: str) -> ast.Name:
    """Return the reading of a name."""
    return ast.Name(name, ast.Load())


def constant(value: Any) -> ast.Constant:
    """Return a constant."""
    return ast.Constant(value)


def assign(name: str, value: ast.expr) -> ast.Assign:
    """Return `name = value`."""
    return ast.Assign([ast.Name(name, ast.Store())], value)


def hook(name: str, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
    """Return a call of a hook."""
    return ast.Call(ast.Attribute(load(HOOKS), name, ast.Load()), list(args),
                    [ast.keyword(k, v) for k, v in keywords.items()])


def thunk(body: ast.expr) -> ast.Lambda:
    """Return `lambda: body`."""
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), body)


def negation(flags: Sequence[str]) -> ast.expr:
    """Return that none of some flags is set."""
    tests: list[ast.expr] = [ast.UnaryOp(ast.Not(), load(f)) for f in flags]
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


def statement_lists(s: ast.stmt) -> list[list[ast.stmt]]:
    """Return the statement lists inside a compound statement."""
    parts = [getattr(s, name) for name in ("body", "orelse", "finalbody") if hasattr(s, name)]
    parts += [h.body for h in getattr(s, "handlers", ())]
    parts += [c.body for c in getattr(s, "cases", ())]
    return parts


def rewrite_lists(s: ast.stmt, rewrite: Callable[[Stmts], Stmts]) -> None:
    """Replace each statement list inside a compound statement."""
    for name in ("body", "orelse", "finalbody"):
        if hasattr(s, name):
            setattr(s, name, rewrite(getattr(s, name)))
    for inner in (*getattr(s, "handlers", ()), *getattr(s, "cases", ())):
        inner.body = rewrite(inner.body)


def own_nodes(body: Sequence[ast.AST]) -> Iterable[ast.AST]:
    """Yield the nodes of a scope, but not the nodes in scopes nested in it."""
    pending = list(body)
    while pending:
        n = pending.pop()
        yield n
        if not isinstance(n, SCOPES):
            pending += ast.iter_child_nodes(n)
