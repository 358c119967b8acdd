"""Sums over loops that threads share: each iteration's term is kept, and added in order behind.

So sums have the same bits for every number of threads, and the bits that one loop gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tracejit.codegen.buffers import Buffer
from tracejit.codegen.expression_edits import call, integer, known_integer
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_expressions import (
    I64,
    ONE,
    ZERO,
    Bin,
    Call,
    Cast,
    Expression,
    Extent,
    Load,
    Var,
)
from tracejit.codegen.loop_ir import Assign, Loop, Node, Store, While, children, every_node
from tracejit.codegen.nests import BLOCK
from tracejit.codegen.node_names import defined_in, exposed_in, used_in
from tracejit.ir.dims import Dim, ceil_div, dim_values

__all__ = ["keep_partial_results"]


def keep_partial_results(kernel: Kernel, fresh: Callable[[str], str]) -> None:
    """Let loops that threads may share keep the term that each iteration adds, and sum behind.

        for block in range(0, n, 4096):            for block in range(0, n, 4096):
            part = 0.0                                 part = 0.0
            ...                                        ...
            s = radd(s, part)                          partial[block // 4096] = part
                                                   for k in range((n + 4095) // 4096):
                                                       s = s + partial[k]
    """
    kernel.nodes = _Partials(kernel, fresh).block(kernel.nodes)


class _Partials:
    def __init__(self, kernel: Kernel, fresh: Callable[[str], str]) -> None:
        self.kernel, self.fresh = kernel, fresh
        self.sizes = set(kernel.graph.sizes)

    def block(self, nodes: list[Node]) -> list[Node]:
        """Return the nodes of a block; the blocks inside are changed in place."""
        result: list[Node] = []
        for node in nodes:
            behind = self._keep_all(node) if isinstance(node, Loop) and node.independent else None
            if behind is None:
                for inner in children(node):
                    inner[:] = self.block(inner)
            result += [node, *(behind or ())]
        return result

    def _keep_all(self, loop: Loop) -> list[Node] | None:
        """Keep the terms that the iterations fold; return the loops that fold them behind.

        None where threads cannot share the loop, which is noted.
        """
        carried = sorted(exposed_in(loop.body, {loop.var}) & {*defined_in(loop.body)})
        steps = [_step(loop, name) for name in carried]
        count = self._count(loop) if carried else 0
        if count is None or any(step is None for step in steps):
            loop.independent = False
            return None
        return [self._keep(loop, step, count) for step in steps if step is not None]

    def _count(self, loop: Loop) -> Dim | None:
        """Return how many iterations a loop has at the most; None where no size says it."""
        nest = loop.nest or next((n.nest for n in loop.body if isinstance(n, Loop)), None)
        if nest is None or not {*dim_values(nest.extent)} <= self.sizes:
            return None
        steps: dict[int | None, Dim] = {1: nest.extent, BLOCK: ceil_div(nest.extent, BLOCK)}
        return steps.get(known_integer(loop.step))

    def _keep(self, loop: Loop, step: _Step, count: Dim) -> Loop:
        """Keep the iterations' terms in an array; return the loop that folds them."""
        register, origin = step.register, step.assign.origin
        kept = Buffer("arena", register.dtype, count, [], self.fresh(f"partial_{register.name}"))
        self.kernel.arena.append(kept)
        index: Expression = Var(loop.var, I64)
        if loop.lo != ZERO:
            index = Bin("-", index, loop.lo)
        length: Expression = Extent(loop.lo, loop.hi)
        if loop.step != ONE:
            index = call("idiv", index, loop.step)
            length = call("idiv", Bin("+", length, integer(BLOCK - 1)), loop.step)
        k = next(k for k, node in enumerate(loop.body) if node is step.assign)
        loop.body[k] = Store(kept.name, index, step.term, origin)
        at = Var(self.fresh("k"), I64)
        made = step.with_term(Load(kept.name, at, register.dtype))
        return Loop(at.name, ZERO, length, [Assign(register.name, made, origin)], role=ROLE)


ROLE = "the iterations' results, in order"

_FUNCTIONS, _OPERATORS = ("radd", "maximum", "minimum"), "+*&|"


@dataclass(frozen=True)
class _Step:
    """An assignment `register = fold(register, term)`."""

    assign: Assign
    register: Var
    term: Expression

    def with_term(self, term: Expression) -> Expression:
        """Return the step for another term; a sum in order."""
        whole = self.assign.expression
        fold = _fold_of(whole)
        made: Expression = Bin("+", self.register, term) if isinstance(fold, Call) and (
            fold.fn.name == "radd") else fold.with_parts((self.register, term))
        return Cast(whole.dtype, made) if isinstance(whole, Cast) else made


def _step(loop: Loop, name: str) -> _Step | None:
    """Return the step by which each iteration of a loop, which has loops inside, folds once.

    None where an iteration does anything else with the register.
    """
    uses = [n for n in every_node(loop.body) if isinstance(n, Assign) and n.name == name]
    if len(uses) != 1 or sum(n == name for n in used_in(loop.body)) != 1 or (
            not any(isinstance(n, (Loop, While)) for n in every_node(loop.body))):
        return None
    (assign,) = uses
    fold = _fold_of(assign.expression)
    is_known = (isinstance(fold, Call) and fold.fn.name in _FUNCTIONS) or (
        isinstance(fold, Bin) and fold.op in _OPERATORS)
    if not is_known or not any(n is assign for n in loop.body):
        return None
    register, term = fold.parts[:2]
    return _Step(assign, register, term) if isinstance(register, Var) and (
        register.name == name) else None


def _fold_of(e: Expression) -> Expression:
    return e.a if isinstance(e, Cast) else e
