"""Programs that the interpreter runs, in place of compiled code: the `disable_jit` mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.errors import RAISABLE, name_of_raisable
from tracejit.ir.dims import Dim, evaluate
from tracejit.ir.interpreter import bind_sizes, interpret
from tracejit.program.failures import raise_at
from tracejit.runtime.stages import Traced

__all__ = ["Interpreted"]


def _apart(results: Sequence[Any], values: Sequence[object]) -> list[Any]:
    """Return results in memory of their own, as compiled code leaves them.

    The interpreter hands on an array where a program copies one, and views of it.
    """
    found: list[Any] = []
    others = [x for x in values if isinstance(x, np.ndarray)]
    for x in results:
        if isinstance(x, np.ndarray) and any(np.may_share_memory(x, y) for y in others):
            x = x.copy()
        found.append(x)
        others += [x] if isinstance(x, np.ndarray) else []
    return found


class Interpreted:
    """How to run one program in the interpreter."""

    def __init__(self, traced: Traced) -> None:
        self.traced = traced

    def fits(self, values: Sequence[Any]) -> bool:
        """Return whether shapes, sizes and ints are such that the program holds for them."""
        program = self.traced.program
        env = bind_sizes(program.graph, values)
        env.update((v, x) for v, x in zip(program.graph.inputs, values, strict=True)
                   if not v.aval.shape)
        relations = {"==": lambda n: n == 0, "!=": lambda n: n != 0, "<": lambda n: n < 0,
                     "<=": lambda n: n <= 0}

        def number(d: Dim) -> int:
            return evaluate(d, lambda v: int(env[v]))

        shapes = all(number(d) == n for v, x in zip(program.graph.inputs, values, strict=True)
                     for d, n in zip(v.aval.shape, np.shape(x), strict=True))
        return shapes and all(relations[g.relation](number(g.dim)) is g.truth
                              for g in program.capture.size_guards) and all(
            number(a) == number(b) for a, b in program.capture.checks)

    def run(self, values: Sequence[object]) -> list[Any]:
        """Run the interpreter; errors of equations come from the user's line, as compiled."""
        try:
            return _apart(interpret(self.traced.graph, *values), values)
        except tuple(RAISABLE.values()) as e:
            site, kind = getattr(e, "tracejit_site", None), name_of_raisable(type(e))
            if site is None or kind is None:
                raise
            text = e.args[0] if isinstance(e, KeyError) and e.args else e  # it shows its `repr`
            error, message = kind, str(text).replace("{", "{{").replace("}", "}}")
        raise_at(error, message, (), site)
