"""Comprehensions as functions: of one item, or of the first iterable, with their loops written out.

    [a * b for a in x for b in y if a < b]    =>    def listed(first):
                                                        made = []
                                                        for a in first:
                                                            for b in y:
                                                                if a < b:
                                                                    made.append(a * b)
                                                        return made

So data may decide on the filters of inner loops, and a `:=` binds as often as Python evaluates it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from tracejit.trace.syntax.liveness import COMPREHENSIONS
from tracejit.trace.syntax.syntax import Stmts, assign, constant, hook, load, own_nodes, place

__all__ = ["Comprehension", "FIRST", "function_of_target", "makes_closures", "names_of_target",
           "needs_loops", "of_first", "of_items", "walrus_targets", "with_loops"]


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


Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def needs_loops(node: Comprehension) -> bool:
    """Return whether a comprehension has no form but loops: where it binds by `:=`, or filters
    an inner `for`, or makes a dict or set of items that a filter passes; or one in it has none.
    """
    if any(g.is_async for g in node.generators):
        return False
    filters = any(g.ifs for g in node.generators)
    if walrus_targets(node) or (filters and (
            len(node.generators) > 1 or not isinstance(node, (ast.ListComp, ast.GeneratorExp)))):
        return True
    inner = [n for part in _parts_of_items(node) for n in ast.walk(part)]
    return any(isinstance(n, COMPREHENSIONS) and needs_loops(n) for n in inner)


def _parts_of_items(node: Comprehension) -> list[ast.expr]:
    """Return the expressions that are evaluated for each item."""
    made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    return [*made, *(test for g in node.generators for test in g.ifs),
            *(g.iter for g in node.generators[1:])]


def walrus_targets(node: ast.AST) -> set[str]:
    """Return the names that syntax binds by `:=` in its own scope, in comprehensions too."""
    return {n.target.id for n in own_nodes([node]) if isinstance(n, ast.NamedExpr)}


def with_loops(node: Comprehension, name: str) -> ast.FunctionDef:
    """Return a comprehension as a function of its first iterable, with its loops as statements."""
    made = load("_tj_made")
    append = ast.Attribute(made, "append", ast.Load())
    body: Stmts
    if isinstance(node, ast.GeneratorExp):
        body = [ast.Expr(ast.Yield(node.elt))]
    elif isinstance(node, ast.DictComp):
        key, value = "_tj_key", "_tj_value"
        body = [assign(key, node.key), assign(value, node.value), ast.Assign(
            [ast.Subscript(made, load(key), ast.Store())], load(value))]
    else:
        if isinstance(node, ast.SetComp):
            append = ast.Attribute(made, "add", ast.Load())
        body = [ast.Expr(ast.Call(append, [node.elt], []))]
    for k, g in reversed([*enumerate(node.generators)]):
        for test in reversed(g.ifs):
            body = [place(ast.If(test, body, []), test)]
        body = [place(ast.For(g.target, g.iter if k else load(FIRST), body, []), g.iter)]
    if not isinstance(node, ast.GeneratorExp):
        body = [assign("_tj_made", _empty(node)), *body, ast.Return(made)]
    if targets := walrus_targets(node):
        body = [ast.Nonlocal(sorted(targets)), *body]
    args = ast.arguments([], [ast.arg(FIRST)], None, [], [], None, [])
    return place(ast.FunctionDef(name, args, body, []), node)


def _empty(node: Comprehension) -> ast.expr:
    if isinstance(node, ast.DictComp):
        return ast.Dict([], [])
    if isinstance(node, ast.ListComp):
        return ast.List([], ast.Load())
    return ast.Set([ast.Starred(ast.Tuple([], ast.Load()), ast.Load())])
