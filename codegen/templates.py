"""The scalar code of ops as expressions with places for operands: `"1.0 / (1.0 + {0} * {0})"`.

The registry has it as text, since that is easiest to read; each is parsed once.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Mapping

import numpy as np

from tracejit.codegen.expression_edits import call
from tracejit.codegen.loop_expressions import (
    BOOL,
    F64,
    Bin,
    Call,
    Cast,
    Const,
    Expression,
    Select,
    Unary,
    Var,
)

__all__ = ["filled", "template_of"]

_OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Lt: "<", ast.LtE: "<=",
    ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^", ast.USub: "-", ast.Invert: "~", ast.Not: "not",
}
_RESULT = np.dtype("V1")
"""In a template, the dtype of the op's result, `{t}`."""


@functools.cache
def template_of(text: str) -> Expression:
    """Return a template as an expression of the scalars `_0`, `_1`, `_zero` and so on."""
    return _expression(ast.parse(re.sub(r"\{(\w+)\}", r"_\1", text), mode="eval").body)


def _expression(tree: ast.expr) -> Expression:
    if isinstance(tree, ast.Name):
        names = {"inf": Const(float("inf"), F64), "nan": Const(float("nan"), F64)}
        return names.get(tree.id) or Var(tree.id, BOOL)
    if isinstance(tree, ast.Constant):
        assert isinstance(tree.value, (int, float))
        return Const(tree.value, np.dtype(type(tree.value)))
    if isinstance(tree, ast.UnaryOp):
        return Unary(_OPERATORS[type(tree.op)], _expression(tree.operand))
    if isinstance(tree, ast.BinOp):
        return Bin(_OPERATORS[type(tree.op)], _expression(tree.left), _expression(tree.right))
    if isinstance(tree, ast.Compare):
        (op,), (right,) = tree.ops, tree.comparators
        return Bin(_OPERATORS[type(op)], _expression(tree.left), _expression(right))
    if isinstance(tree, ast.Attribute):
        return call(tree.attr, _expression(tree.value))
    assert isinstance(tree, ast.Call), ast.dump(tree)
    if isinstance(tree.func, ast.Attribute):
        return call(tree.func.attr, _expression(tree.func.value))
    assert isinstance(tree.func, ast.Name)
    args = tuple(map(_expression, tree.args))
    if tree.func.id == "_t":
        return Cast(_RESULT, *args)
    return Select(*args) if tree.func.id == "select" else call(tree.func.id, *args)


def filled(text: str, operands: Mapping[str, Expression], result: np.dtype) -> Expression:
    """Return the scalar code of a template.

    operands -- the expression for each place, by `_0`, `_1`, `_zero` and so on
    """
    return _filled(template_of(text), operands, result)


def _filled(e: Expression, operands: Mapping[str, Expression], result: np.dtype) -> Expression:
    if isinstance(e, Var):
        return operands[e.name]
    parts = tuple(_filled(part, operands, result) for part in e.parts)
    if isinstance(e, Cast):
        return Cast(result, *parts)
    if isinstance(e, Call):
        return Call(e.fn, parts)
    return e.with_parts(parts) if parts else e
