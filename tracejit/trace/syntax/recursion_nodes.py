"""Statements of a function in blocks: a call of itself, a branch and the end of a block."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tracejit.trace.syntax.syntax import Stmts, load

__all__ = ["CALLS", "DEPTH", "PC", "RESULT", "SAVED", "TEMPORARY", "Fork", "Forgotten", "Goto",
           "OwnCall", "Stmts", "nodes_of", "only_returns", "popped"]

PC, CALLS, RESULT, DEPTH = "_tj_r_pc", "_tj_r_calls", "_tj_r_result", "_tj_r_depth"
SAVED, TEMPORARY = "_tj_r_saved_", "_tj_r_t"


class OwnCall(ast.stmt):
    """`target = f(...)`, a call of the function itself, in a statement of its own.

    names, values -- parameters and the expressions bound to them, in the order of evaluation
    resume        -- the block that goes on afterwards; None: the result is the caller's, too
    """

    _fields = ("callee", "values")

    def __init__(self, callee: ast.expr, names: list[str], values: list[ast.expr],
                 target: str | None) -> None:
        super().__init__()
        self.callee, self.names, self.values, self.target = callee, names, values, target
        self.is_last = False
        self.resume: int | None = None


class Fork(ast.stmt):
    """A branch at the end of a block: each side has an end of its own."""

    _fields = ("test", "body", "orelse")

    def __init__(self, test: ast.expr, body: Stmts, orelse: Stmts) -> None:
        super().__init__()
        self.test, self.body, self.orelse = test, body, orelse


class Forgotten(ast.stmt):
    """Before it, the content of a name does not matter."""

    _fields = ()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Goto(ast.stmt):
    """The end of a block: another one goes on."""

    _fields = ()

    def __init__(self, label: int) -> None:
        super().__init__()
        self.label = label


def nodes_of(stmts: Stmts) -> Iterator[ast.stmt]:
    """Yield the statements of a block, with the statements in its branches."""
    for s in stmts:
        yield s
        if isinstance(s, Fork):
            yield from nodes_of(s.body)
            yield from nodes_of(s.orelse)


def only_returns(stmts: Stmts) -> bool:
    return len(stmts) == 1 and isinstance(stmts[0], ast.Return) and stmts[0].value is None


def popped(name: str) -> ast.expr:
    return ast.Call(ast.Attribute(load(name), "pop", ast.Load()), [], [])
