"""What calls of library routines in emitted source compute and move, from their arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tracejit.codegen.loop_ir import Node, texts

__all__ = ["ROUTINES", "RoutineCall", "calls_in"]


@dataclass(frozen=True, slots=True)
class Routine:
    """A routine: its parameters, and in their names its flops and the elements that it moves."""

    parameters: str
    flops: str
    reads: Mapping[str, str]
    writes: Mapping[str, str]


ROUTINES = {
    "gemm": Routine("left right m n k a lda b ldb c", "2 * m * n * k",
                    {"a": "m * k", "b": "k * n"}, {"c": "m * n"}),
    "potrf": Routine("n a", "idiv(n * n * n, 3)", {"a": "n * n"}, {"a": "n * n"}),
    "getrf": Routine("n a pivots", "idiv(2 * n * n * n, 3)", {"a": "n * n"},
                     {"a": "n * n", "pivots": "n"}),
    "trsm": Routine("triangle transposed diagonal n m a b", "n * n * m",
                    {"a": "idiv(n * n, 2)", "b": "n * m"}, {"b": "n * m"}),
    "argsort": Routine("x order work start n", "0", {"x": "n"}, {"order": "n"}),
}
"""Leading terms, as in `costs.py`."""


@dataclass(frozen=True, slots=True)
class RoutineCall:
    """A call: flops, and per array the elements read and written, as source of integers."""

    name: str
    flops: str
    reads: Mapping[str, str]
    writes: Mapping[str, str]


def calls_in(node: Node) -> Iterator[RoutineCall]:
    """Yield the calls of library routines in a node's own expressions."""
    for text in texts(node):
        if not any(f"{name}(" in text for name in ROUTINES):
            continue
        for part in ast.walk(ast.parse(text, mode="eval")):
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and (
                    part.func.id in ROUTINES):
                yield _call(part.func.id, [ast.unparse(a) for a in part.args])


def _call(name: str, arguments: list[str]) -> RoutineCall:
    routine = ROUTINES[name]
    given = dict(zip(routine.parameters.split(), arguments, strict=True))

    def filled(template: str) -> str:
        tree = ast.parse(template, mode="eval")
        return ast.unparse(_Filler(given).visit(tree))

    return RoutineCall(name, filled(routine.flops),
                       {given[x]: filled(t) for x, t in routine.reads.items()},
                       {given[x]: filled(t) for x, t in routine.writes.items()})


class _Filler(ast.NodeTransformer):
    """Puts arguments in place of parameters."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self.given = given

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Replace a parameter."""
        given = self.given.get(node.id)
        return node if given is None else ast.parse(given, mode="eval").body
