"""The floating-point operations that scalar code stands for: the costs of its operators and calls.

Used on the templates of the registry and on Loop IR alike.
"""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass, field

from tracejit.codegen.expression_edits import every
from tracejit.codegen.loop_expressions import COMPARISONS, Bin, Call, Expression, Unary
from tracejit.codegen.templates import template_of

__all__ = ["COMPLEX_FLOPS", "Operations", "operation_of", "operations_of"]

COMPLEX_FLOPS = {"add": 2, "mul": 6, "div": 11, "neg": 2, "compare": 2}
"""How many operations on floats one on complex numbers is."""

OPERATORS = {"+": "add", "-": "add", "*": "mul", "/": "div", "%": "div", "//": "div",
             **dict.fromkeys(COMPARISONS, "compare"), "and": "", "or": ""}


@dataclass(frozen=True)
class Operations:
    """Operators by class ("add", "mul", "div", "neg", "compare"), and calls by function."""

    operators: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)

    def flops(self, *, is_complex: bool = False) -> int:
        """Return how many floating-point operations the operators are."""
        weights = COMPLEX_FLOPS if is_complex else {}
        return sum(weights.get(name, 1) * count for name, count in self.operators.items())


def operation_of(e: Expression) -> str:
    """Return the class of an operator, or of a function that is as quick; "" for all else."""
    if isinstance(e, Bin):
        return OPERATORS.get(e.op, "")
    if isinstance(e, Unary):
        return "neg" if e.op == "-" else ""
    return e.fn.flops if isinstance(e, Call) and e.fn.flops != "call" else ""


@functools.cache
def operations_of(template: str) -> Operations:
    """Return the operations in a template of scalar code: `"1.0 / (1.0 + {0} * {0})"`."""
    found = Operations()
    for e in every(template_of(template)):
        operation = operation_of(e)
        if operation:
            found.operators[operation] += 1
        elif isinstance(e, Call) and e.fn.flops == "call":
            found.calls[e.fn.name] += 1
    return found
