"""Syntax-tree pass 0: turn `with suppress(...)` into a `try`, which data may decide on.

    with a, suppress(E):            with a:
        y = x / b                       caught = suppressed(suppress(E))
                            =>          try:
                                            y = x / b
                                        except caught:
                                            pass
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tracejit.trace.syntax.syntax import (
    Stmts,
    assign,
    constant,
    hook,
    load,
    own_nodes,
    place,
    statement_lists,
)

__all__ = ["without_suppressing"]


def without_suppressing(stmts: Sequence[ast.stmt]) -> Stmts:
    """Return statements in which each `with` that names `suppress` is a `try`."""
    result: Stmts = []
    for s in stmts:
        if not isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for part in statement_lists(s):
                part[:] = without_suppressing(part)
        result += _without(s) if isinstance(s, ast.With) and not _yields(s) else [s]
    return result


def _yields(s: ast.With) -> bool:
    return any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own_nodes([s]))


def _without(s: ast.With) -> Stmts:
    for k, item in enumerate(s.items):
        if _names_suppress(item.context_expr):
            inside = _without(place(ast.With(s.items[k + 1:], s.body), s)) if (
                s.items[k + 1:]) else s.body
            tried = _as_try(item, inside, s)
            return [place(ast.With(s.items[:k], tried), s)] if k else tried
    return [s]


def _names_suppress(e: ast.expr) -> bool:
    return isinstance(e, ast.Call) and "suppress" in (
        getattr(e.func, "id", None), getattr(e.func, "attr", None))


def _as_try(item: ast.withitem, body: Stmts, like: ast.stmt) -> Stmts:
    caught = f"_tj_caught_{item.context_expr.lineno}_{item.context_expr.col_offset}"
    if item.optional_vars is not None:
        body = [ast.Assign([item.optional_vars], constant(None)), *body]
    handler = ast.ExceptHandler(load(caught), None, [ast.Pass()])
    new: Stmts = [assign(caught, hook("suppressed", item.context_expr)),
                  ast.Try(body, [handler], [], [])]
    return [place(n, like) for n in new]
