"""Loop IR from text and back, so that passes can be tested as text in, text out.

The text is the source that the renderer writes. A scalar whose name begins with one of i to n is an
integer, as in Fortran; one that begins with `is_` is a bool; all else is float64.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence

import numpy as np

from tracejit.codegen.expression_edits import call
from tracejit.codegen.loop_expressions import (
    BOOL,
    F64,
    I64,
    ONE,
    ZERO,
    Array,
    Bin,
    Call,
    Cast,
    Const,
    Expression,
    Load,
    Select,
    Unary,
    Var,
    Word,
)
from tracejit.codegen.loop_ir import Assign, Do, If, Let, Loop, Node, Return, Store, While
from tracejit.codegen.python_source import render_nodes
from tracejit.codegen.scalars import SCALARS
from tracejit.codegen.templates import _OPERATORS
from tracejit.ir.dtypes import DTYPES

__all__ = ["expression", "kind_of", "nodes", "text"]


def text(block: Sequence[Node]) -> str:
    """Return nodes as text."""
    return "\n".join(render_nodes(block, 0)) + "\n"


def nodes(source: str) -> list[Node]:
    """Return the nodes of a text; a name that is set once, and read, is a Let."""
    body = ast.parse(textwrap.dedent(source)).body
    names = [n.id for tree in body for n in ast.walk(tree)
             if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return _block(body, {name for name in names if names.count(name) > 1})


def kind_of(name: str) -> np.dtype:
    """Return the dtype of a scalar by its name."""
    return BOOL if name.startswith("is_") else I64 if "i" <= name[0] <= "n" else F64


def expression(source: str) -> Expression:
    """Return an expression of a text."""
    return _expression(ast.parse(source, mode="eval").body)


def _block(body: Sequence[ast.stmt], changing: set[str]) -> list[Node]:
    return [_node(tree, changing) for tree in body if not isinstance(tree, ast.Pass)]


def _node(tree: ast.stmt, changing: set[str]) -> Node:
    if isinstance(tree, ast.Assign):
        (target,), value = tree.targets, _expression(tree.value)
        if isinstance(target, ast.Subscript):
            assert isinstance(target.value, ast.Name)
            return Store(target.value.id, _expression(target.slice), value)
        assert isinstance(target, ast.Name)
        return (Assign if target.id in changing else Let)(target.id, value)
    if isinstance(tree, ast.For):
        assert isinstance(tree.target, ast.Name) and isinstance(tree.iter, ast.Call)
        return _loop(tree.target.id, [*map(_expression, tree.iter.args)],
                     _block(tree.body, changing))
    if isinstance(tree, ast.While):
        return While([], _expression(tree.test), _block(tree.body, changing))
    if isinstance(tree, ast.If):
        return If(_expression(tree.test), _block(tree.body, changing),
                  _block(tree.orelse, changing))
    if isinstance(tree, ast.Return):
        return Return(None if tree.value is None else _expression(tree.value))
    assert isinstance(tree, ast.Expr)
    made = _expression(tree.value)
    assert isinstance(made, Call)
    return Do(made)


def _loop(var: str, ends: list[Expression], body: list[Node]) -> Loop:
    """Return a loop up, or one down, `range(hi - 1, lo - 1, -1)`."""
    if len(ends) == 3:
        return Loop(var, _one_more(ends[1]), _one_more(ends[0]), body, reverse=True)
    return Loop(var, ends[0] if len(ends) > 1 else ZERO, ends[-1], body)


def _one_more(e: Expression) -> Expression:
    if isinstance(e, Const):
        return Const(e.value + 1)
    return e.a if isinstance(e, Bin) and (e.op, e.b) == ("-", ONE) else Bin("+", e, ONE)


def _expression(tree: ast.expr) -> Expression:
    if isinstance(tree, ast.Constant):
        if isinstance(tree.value, str):
            return Word(tree.value)
        assert isinstance(tree.value, (int, float))
        return Const(tree.value, np.dtype(type(tree.value)))
    if isinstance(tree, ast.Name):
        return Var(tree.id, kind_of(tree.id))
    if isinstance(tree, ast.Subscript):
        assert isinstance(tree.value, ast.Name)
        return Load(tree.value.id, _expression(tree.slice), F64)
    if isinstance(tree, ast.UnaryOp):
        made = _expression(tree.operand)
        is_number = isinstance(made, Const) and isinstance(tree.op, ast.USub)
        return Const(-made.value, made.dtype) if is_number else (  # type: ignore[attr-defined]
            Unary(_OPERATORS[type(tree.op)], made))
    if isinstance(tree, ast.BinOp):
        return Bin(_OPERATORS[type(tree.op)], _expression(tree.left), _expression(tree.right))
    if isinstance(tree, ast.Compare):
        return Bin(_OPERATORS[type(tree.ops[0])], _expression(tree.left),
                   _expression(tree.comparators[0]))
    assert isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name), ast.dump(tree)
    return _call(tree.func.id, tree.args)


def _call(name: str, operands: Sequence[ast.expr]) -> Expression:
    row = SCALARS.get(name)
    if row is not None and row.result == "" and name != "log_base":
        return Call(row, tuple(Array(a.id, F64) if isinstance(a, ast.Name) and kind_of(a.id) == F64
                               else _expression(a) for a in operands))
    args = [_expression(a) for a in operands
            if not (row is not None and row.context and isinstance(a, ast.Name) and a.id == "ctx")]
    if name == "select":
        return Select(*args)
    if name in DTYPES:
        return Cast(DTYPES[name], *args)
    return call(name, *args, of=F64 if name == "log_base" else None)


