"""Sums over loops that threads share: what each iteration adds is kept, and added in order behind.

So sums have the same bits for every number of threads, and the bits that one loop gives.
"""

from __future__ import annotations

from collections.abc import Callable

from tracejit.codegen.buffers import Buffer
from tracejit.codegen.expression_edits import call, integer, known_integer, replaced
from tracejit.codegen.folds import identity_of
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
    """Let loops that threads may share keep what each iteration adds to a sum, and sum it behind.

        for block in range(0, n, 4096):            for block in range(0, n, 4096):
            part = 0.0                                 part = 0.0
            ...                                        ...
            s = radd(s, part)                          partial[block // 4096] = part
                                                   for k in range((n + 4095) // 4096):
                                                       s = s + partial[k]
    """
    kernel.nodes = _Partials(kernel, fresh).block(kernel.nodes)


_COMBINING = ("radd", "maximum", "minimum")


class _Partials:
    def __init__(self, kernel: Kernel, fresh: Callable[[str], str]) -> None:
        self.kernel, self.fresh = kernel, fresh
        self.sizes = set(kernel.graph.sizes)

    def block(self, nodes: list[Node]) -> list[Node]:
        result: list[Node] = []
        for node in nodes:
            if isinstance(node, Loop) and node.independent:
                result += self.loop(node)
                continue
            for inner in children(node):
                inner[:] = self.block(inner)
            result.append(node)
        return result

    def loop(self, loop: Loop) -> list[Node]:
        """Return a loop, and the loops behind it that sum what its iterations have kept."""
        carried = sorted(exposed_in(loop.body, {loop.var}) & {*defined_in(loop.body)})
        places = [_combination(loop, name) for name in carried]
        count = self._count(loop)
        if not carried:
            return [loop]
        if count is None or any(place is None for place in places):
            loop.independent = False
            for inner in children(loop):
                inner[:] = self.block(inner)
            return [loop]
        behind: list[Node] = []
        for name, place in zip(carried, places, strict=True):
            assert place is not None
            behind.append(self._keep(loop, name, place, count))
        return [loop, *behind]

    def _count(self, loop: Loop) -> Dim | None:
        """Return how many iterations a loop has at the most; None where no size says it."""
        nest = loop.nest
        if nest is None:
            inner = next((n for n in loop.body if isinstance(n, Loop)), None)
            nest = None if inner is None else inner.nest
        if nest is None or not {*dim_values(nest.extent)} <= self.sizes:
            return None
        step = known_integer(loop.step)
        if step not in (1, BLOCK):
            return None
        return nest.extent if step == 1 else ceil_div(nest.extent, BLOCK)

    def _keep(self, loop: Loop, name: str, place: tuple[list[Node], Assign], count: Dim) -> Loop:
        """Keep the iterations' terms in an array; return the loop that sums them."""
        block, assign = place
        k = next(k for k, node in enumerate(block) if node is assign)
        register = _register(assign)
        kept = Buffer("arena", register.dtype, count, [], self.fresh(f"partial_{name}"))
        self.kernel.arena.append(kept)
        index: Expression = Var(loop.var, I64)
        if loop.lo != ZERO:
            index = Bin("-", index, loop.lo)
        length: Expression = Extent(loop.lo, loop.hi)
        if loop.step != ONE:
            index = call("idiv", index, loop.step)
            length = call("idiv", Bin("+", length, integer(BLOCK - 1)), loop.step)
        if block is loop.body:
            block[k] = Store(kept.name, index, _term(assign.expression, name), assign.origin)
        else:
            own = Var(self.fresh(f"own_{name}"), register.dtype)
            block[k] = Assign(own.name, replaced(assign.expression, {name: own}), assign.origin)
            identity = identity_of(_NAMES[_function(assign.expression)], register.dtype)
            loop.body.insert(0, Assign(own.name, identity))
            loop.body.append(Store(kept.name, index, own, assign.origin))
        at = Var(self.fresh("k"), I64)
        loaded = Load(kept.name, at, register.dtype)
        step = _with_term(assign.expression, name, loaded)
        return Loop(at.name, ZERO, length, [Assign(name, step, assign.origin)],
                    role="partial results, in order")


def _combination(loop: Loop, name: str) -> tuple[list[Node], Assign] | None:
    """Return the one assignment that folds into a register, and the block that it is in.

    None where an iteration does anything else with the register. Sums of floats are folded by an
    iteration of the loop itself; only what may be folded in any order is folded deeper inside.
    """
    found: list[tuple[list[Node], Assign]] = []

    def visit(block: list[Node]) -> None:
        for node in block:
            if isinstance(node, Assign) and node.name == name:
                found.append((block, node))
            for inner in children(node):
                visit(inner)

    visit(loop.body)
    if len(found) != 1 or sum(n == name for n in used_in(loop.body)) != 1:
        return None
    block, assign = found[0]
    fn = _function(assign.expression)
    term = _term(assign.expression, name)
    if not fn or term is None:
        return None
    has_loops = any(isinstance(n, (Loop, While)) for n in every_node(loop.body))
    if block is loop.body:
        return found[0] if has_loops else None
    is_exact = fn in ("maximum", "minimum", "&", "|") or (
        fn in ("+", "*") and assign.expression.dtype.kind in "iu")
    return found[0] if is_exact and has_loops else None


_NAMES = {"radd": "add", "+": "add", "*": "mul", "maximum": "max", "minimum": "min", "&": "and",
          "|": "or"}


def _step_of(e: Expression) -> Expression:
    return e.a if isinstance(e, Cast) else e


def _function(e: Expression) -> str:
    """Return the function or operator by which an expression combines; "" for no such."""
    step = _step_of(e)
    if isinstance(step, Call) and step.fn.name in _COMBINING:
        return step.fn.name
    return step.op if isinstance(step, Bin) and step.op in "+*&|" else ""


def _term(e: Expression, name: str) -> Expression:
    """Return what an expression combines with a register."""
    first, second = _step_of(e).parts[:2]
    return second if isinstance(first, Var) and first.name == name else None  # type: ignore


def _with_term(e: Expression, name: str, term: Expression) -> Expression:
    """Return the same step with another term; sums in order."""
    step = _step_of(e)
    register = step.parts[0]
    made = (Bin("+", register, term) if _function(e) == "radd"
            else step.with_parts((register, term)))
    return Cast(e.dtype, made) if isinstance(e, Cast) else made


def _register(assign: Assign) -> Var:
    register = _step_of(assign.expression).parts[0]
    assert isinstance(register, Var)
    return register
