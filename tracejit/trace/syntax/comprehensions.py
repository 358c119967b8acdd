"""A comprehension's element as a function of the names that the comprehension binds."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from tracejit.trace.syntax.syntax import constant, hook, load

__all__ = ["FIRST", "function_of_target", "makes_closures", "names_of_target", "of_first",
           "of_items"]


def names_of_target(target: ast.expr) -> list[str] | None:
    """Return the names in a comprehension's target; None unless it is a name or tuples of names."""
    if isinstance(target, ast.Name):
        return [target.id]
    if not isinstance(target, ast.Tuple):
        return None
    found = [names_of_target(t) for t in target.elts]
    names = [name for part in found for name in part or ()]
    return names if all(found) and len(set(names)) == len(names) else None


def function_of_target(target: ast.expr, body: ast.expr) -> ast.Lambda:
    """Return a body as a function of a comprehension's target, or of the items of its tuple."""
    names: list[str] = []
    for t in target.elts if isinstance(target, ast.Tuple) else [target]:
        if isinstance(t, ast.Name):
            names.append(t.id)
        else:  # a tuple in it
            assert isinstance(t, ast.Tuple)
            names.append(f"_tj_part{t.lineno}_{t.col_offset}")
            parts = hook("unpack", load(names[-1]), constant(len(t.elts)))
            body = ast.Call(function_of_target(t, body), [ast.Starred(parts, ast.Load())], [])
    return _function_of(names, body)


def of_items(function: Any, count: int) -> Any:
    """Return a function of one item as one that is called with the things in it."""
    parts = hook("unpack", load("_tj_item"), constant(count))
    return _function_of(["_tj_item"], ast.Call(function, [ast.Starred(parts, ast.Load())], []))


def _function_of(names: Sequence[str], body: ast.expr) -> ast.Lambda:
    args = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    return ast.Lambda(args, body)


FIRST = "_tj_first"
"""The parameter for the first iterable of a comprehension of several `for`."""


def of_first(body: ast.expr) -> ast.Lambda:
    """Return a body as a function of the first iterable of a comprehension."""
    return ast.Lambda(ast.arguments([], [ast.arg(FIRST)], None, [], [], None, []), body)


def makes_closures(element: ast.AST) -> bool:
    """Return whether functions or generators are made that share the names of a comprehension."""
    consumed = {id(a) for n in ast.walk(element) if isinstance(n, ast.Call) for a in n.args}
    return any(isinstance(n, ast.Lambda) or (isinstance(n, ast.GeneratorExp)
                                             and id(n) not in consumed)
               for n in ast.walk(element))
