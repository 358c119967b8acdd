"""Syntax-tree pass 1b: turn `finally` into a handler and an `else`, between which data may decide.

    try:                        try:
        y = x / b                   y = x / b
    finally:            =>      except BaseException:
        n = n + 1                   n = n + 1
                                    raise
                                else:
                                    n = n + 1

It comes behind the pass that turns jumps into flags: the body comes to its end where it jumps. A
jump out of `finally` ends an error on its way: the handler raises again where no flag is set. A
`finally` that raises stays as it is, and so do generators' own.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from tracejit.trace.syntax.syntax import (
    Stmts,
    assign,
    constant,
    negation,
    own_nodes,
    place,
    rewrite_lists,
)

__all__ = ["without_finals"]


def without_finals(stmts: Sequence[ast.stmt]) -> Stmts:
    """Return statements in which each `try` with a `finally` has the code of it twice."""
    for s in stmts:
        if not isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            rewrite_lists(s, without_finals)
    return [_without(s) if isinstance(s, ast.Try) and s.finalbody and not _stays(s) else s
            for s in stmts]


def _flags(s: ast.Try) -> tuple[str, ...] | None:
    """Return the flags that jumps out of a `finally` set, or None if it has no jumps."""
    flags: tuple[str, ...] | None = getattr(s, "tj_jumps", None)
    return flags


def _stays(s: ast.Try) -> bool:
    return _flags(s) == () or any(
        isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) for n in own_nodes([s]))


def _without(s: ast.Try) -> ast.stmt:
    final, s.finalbody = s.finalbody, []
    flags = _flags(s)
    again: ast.stmt = ast.Raise()
    begin: Stmts = []
    if flags:
        again = ast.If(negation(flags), [again], [])
        begin = [place(assign(f, constant(False)), final[0]) for f in flags]
    handler = place(ast.ExceptHandler(
        None, None, [*begin, *copy.deepcopy(final), place(again, final[-1])]), final[0])
    new = place(ast.Try([s] if s.handlers else s.body, [handler], final, []), s)
    if not flags:
        new.tj_hook = "finally_"  # type: ignore[attr-defined]
    return new
