"""What emitted expressions say: the names that they read, and the dtypes of scalars."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_ir import Assign, Let, Loop, Node, children
from tracejit.ir.dtypes import DTYPES

__all__ = ["calls_in", "dtypes_of", "is_array_expression", "reads", "tree_of"]

I64, F64, BOOL = np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.bool_)
CASTS = {**DTYPES, "bool_": BOOL}
INTEGERS = ("log_capacity", "log_grow", "fail", "potrf", "getrf")
CONSTANTS = {"inf": F64, "nan": F64}
ARRAYS = ("log_base", "advance")
"""Functions whose results are arrays."""


@functools.lru_cache(maxsize=1 << 14)
def tree_of(text: str) -> ast.expr:
    """Return the syntax tree of an expression."""
    return ast.parse(text, mode="eval").body


@functools.lru_cache(maxsize=1 << 14)
def reads(text: str) -> frozenset[str]:
    """Return the names of scalars and arrays that an expression reads."""
    tree = tree_of(text)
    called = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    return frozenset(n.id for n in ast.walk(tree) if isinstance(n, ast.Name)
                     and id(n) not in called and n.id not in CONSTANTS)


@functools.lru_cache(maxsize=1 << 14)
def calls_in(text: str) -> frozenset[str]:
    """Return the names of the functions that an expression calls."""
    return frozenset(n.func.id for n in ast.walk(tree_of(text))
                     if isinstance(n, ast.Call) and isinstance(n.func, ast.Name))


def is_array_expression(text: str) -> bool:
    """Return whether an expression is an array."""
    tree = tree_of(text)
    return isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and (
        tree.func.id in ARRAYS)


def dtypes_of(kernel: Kernel) -> dict[str, np.dtype]:
    """Return the dtype of every array, size, loop variable and scalar of a kernel, by name."""
    found = {b.name: b.dtype for b in kernel.buffers}
    found.update(dict.fromkeys(kernel.size_names, I64))
    _visit([*kernel.head, *kernel.nodes], found, kernel.logs)
    return found


def _visit(nodes: Iterable[Node], found: dict[str, np.dtype], logs: Sequence[np.dtype]) -> None:
    for node in nodes:
        if isinstance(node, (Let, Assign)):
            kind = _dtype(tree_of(node.expression), found, logs)
            before = found.get(node.name, kind)
            found[node.name] = before if before == kind else np.result_type(before, kind)
        elif isinstance(node, Loop):
            found[node.var] = I64
        for block in children(node):
            _visit(block, found, logs)


def _dtype(tree: ast.expr, known: Mapping[str, np.dtype], logs: Sequence[np.dtype]) -> np.dtype:
    """Return the dtype of an expression, by Numba's rules."""
    def of(part: ast.expr) -> np.dtype:
        return _dtype(part, known, logs)

    if isinstance(tree, ast.Constant):
        return np.dtype(type(tree.value)) if not isinstance(tree.value, int) or isinstance(
            tree.value, bool) else I64
    if isinstance(tree, ast.Name):
        return CONSTANTS.get(tree.id) or known[tree.id]
    if isinstance(tree, ast.Subscript):
        return of(tree.value)
    if isinstance(tree, ast.Attribute):
        return F64 if of(tree.value).itemsize == 16 else np.dtype(np.float32)
    if isinstance(tree, (ast.Compare, ast.BoolOp)):
        return BOOL
    if isinstance(tree, ast.UnaryOp):
        return BOOL if isinstance(tree.op, ast.Not) else of(tree.operand)
    if isinstance(tree, ast.BinOp):
        kind = np.result_type(of(tree.left), of(tree.right))
        return F64 if isinstance(tree.op, ast.Div) and kind.kind in "iub" else kind
    assert isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name), ast.dump(tree)
    return _call_dtype(tree.func.id, tree.args, of, logs)


def _call_dtype(name: str, args: Sequence[ast.expr], of: object,
                logs: Sequence[np.dtype]) -> np.dtype:
    assert callable(of)
    if name in CASTS:
        return CASTS[name]
    if name in INTEGERS:
        return I64
    if name == "between":
        return BOOL
    if name == "complex":
        return np.dtype(np.complex128)
    if name == "log_base":
        assert isinstance(args[1], ast.Constant)
        return logs[args[1].value]  # type: ignore[index]
    if name == "advance":
        return of(args[0])  # type: ignore[no-any-return]
    kinds = [of(a) for a in (args[1:] if name == "select" else args)]
    return np.result_type(*kinds)

