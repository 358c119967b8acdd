"""Which floating-point operations scalar source stands for: what its operators and calls cost.

Used on the templates of the registry and on emitted source alike.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter
from dataclasses import dataclass, field

__all__ = ["COMPLEX_FLOPS", "FREE", "ONE_FLOP", "OPERATORS", "Operations", "operations_of"]

ONE_FLOP = frozenset(("maximum", "minimum", "fabs", "floor", "ceil", "trunc", "rint", "copysign",
                      "radd"))
"""The functions of emitted source that are an instruction, as `+` is; `sqrt` is not among them."""

FREE = frozenset(("select", "between", "t"))
"""The functions that choose or convert, and compute nothing; "t" is a template's own dtype."""

COMPLEX_FLOPS = {"add": 2, "mul": 6, "div": 11, "neg": 2, "compare": 2}
"""How many operations on floats one on complex numbers is."""

OPERATORS: dict[type, str] = {
    ast.Add: "add", ast.Sub: "add", ast.Mult: "mul", ast.Div: "div", ast.Mod: "div",
    ast.FloorDiv: "div", ast.USub: "neg",
}


@dataclass(frozen=True)
class Operations:
    """Operators by class ("add", "mul", "div", "neg", "compare"), and calls by function."""

    operators: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)

    def flops(self, *, is_complex: bool = False) -> int:
        """Return how many floating-point operations the operators are."""
        weights = COMPLEX_FLOPS if is_complex else {}
        return sum(weights.get(name, 1) * count for name, count in self.operators.items())


@functools.cache
def operations_of(template: str) -> Operations:
    """Return what a template of scalar code computes: `"1.0 / (1.0 + {0} * {0})"`."""
    text = template
    for name in ("0", "1", "2"):
        text = text.replace(f"{{{name}}}", f"x{name}")
    for name in ("zero", "one", "t"):
        text = text.replace(f"{{{name}}}", name)
    found = Operations()
    for node in ast.walk(ast.parse(text, mode="eval")):
        _count(node, found)
    return found


def _count(node: ast.AST, found: Operations) -> None:
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        name = OPERATORS.get(type(node.op))
        if name is not None:
            found.operators[name] += 1
    elif isinstance(node, ast.Compare):
        found.operators["compare"] += len(node.ops)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in ONE_FLOP:
            found.operators["compare"] += 1
        elif node.func.id not in FREE:
            found.calls[node.func.id] += 1
