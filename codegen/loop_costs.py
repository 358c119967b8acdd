"""The cost of loops, in additions, and how many iterations of one a thread takes at a time."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from tracejit.codegen.expression_edits import call, integer, known_integer
from tracejit.codegen.loop_expressions import (
    ONE,
    ZERO,
    Bin,
    Call,
    Const,
    Expression,
    Extent,
    Var,
    Word,
)
from tracejit.codegen.loop_ir import Do, Loop, Node, While, children, every_node, expressions
from tracejit.codegen.nests import BLOCK
from tracejit.codegen.node_names import defined_in

__all__ = ["ROWS", "STRETCHES", "cost_of", "loops_around", "stretch_of"]

STRETCHES = "stretches, each with sums of its own"
"""The role of a loop over stretches of another one."""
ROWS = "blocks of rows of a product"
"""The role of a loop over parts of a product of matrices."""
STRETCH = 60_000
"""About how many additions a stretch takes: some 20 microseconds."""
VECTORS = 64
"""Stretches of loops that are vectorised are multiples of it, so that no vector is cut."""


def stretch_of(whole: Loop, shared: Loop) -> Expression:
    """Return how many iterations a stretch has, a multiple of the shared loop's step.

    whole -- the loops around the shared one, which a thread goes through for each stretch
    """
    if shared.role in (STRETCHES, ROWS):
        return ONE
    own = {*defined_in([whole]), *(n.var for n in every_node([whole]) if isinstance(n, Loop))}
    cost = cost_of(shared.body, own)
    for loop in loops_around(whole, shared):
        cost = _times(_trips(loop, own), cost)
    step = known_integer(shared.step) or 1
    if step == 1 and not any(isinstance(n, (Loop, While, Do)) for n in shared.body):
        step = VECTORS
    number = known_integer(cost)
    if number is not None:
        return integer((STRETCH // (number * step) + 1) * step)
    return _times(Bin("+", call("idiv", integer(STRETCH // step), cost), ONE), integer(step))


def cost_of(nodes: Sequence[Node], own: set[str]) -> Expression:
    """Return the cost of nodes, at least 1.

    own -- the names that are not known outside; loops up to them count as some iterations
    """
    total: Expression = ONE
    for node in nodes:
        total = _plus(total, integer(sum(map(_cost, expressions(node)))))
        if isinstance(node, Do) and node.call.fn.name == "gemm_at":
            total = _plus(total, functools.reduce(_times, node.call.args[2:5]))
        for block in children(node):
            inner = cost_of(block, own)
            if isinstance(node, Loop):
                inner = _times(_trips(node, own), inner)
            elif isinstance(node, While):
                inner = _times(integer(UNKNOWN), inner)
            total = _plus(total, inner)
    return total


def _plus(a: Expression, b: Expression) -> Expression:
    m, n = known_integer(a), known_integer(b)
    if m is not None and n is not None:
        return integer(m + n)
    return _plus(b, a) if m is not None else a if n == 0 else Bin("+", a, b)


def _times(a: Expression, b: Expression) -> Expression:
    m, n = known_integer(a), known_integer(b)
    if m is not None and n is not None:
        return integer(m * n)
    return b if m == 1 else a if n == 1 else Bin("*", a, b)


UNKNOWN = 64
"""As how many iterations loops count whose number is not known outside."""


MOST_COUNTED = BLOCK
"""As how many iterations a loop of the program counts at the most: it may be left early, its bound
may be any number, and costs have to stay numbers of 64 bits."""


def _trips(loop: Loop, own: set[str]) -> Expression:
    """Return how many iterations a loop has, at least 0; the program's loops have any bounds."""
    step = known_integer(loop.step) or 1
    lo, hi = known_integer(loop.lo), known_integer(loop.hi)
    if lo is not None and hi is not None:
        trips = max(0, hi - lo) // step
        return integer(min(trips, MOST_COUNTED) if loop.blocks else trips)
    if (loop.lo.reads | loop.hi.reads) & own:
        return integer(BLOCK if _is_block(loop) else UNKNOWN)
    length = loop.hi if loop.lo == ZERO else Extent(loop.lo, loop.hi)
    if loop.nest is not None and loop.lo == ZERO:
        return length  # a size
    return call("imin", call("imax", length, ZERO), integer(MOST_COUNTED))


def _is_block(loop: Loop) -> bool:
    """Whether a loop goes over the terms of one block of a sum."""
    return isinstance(loop.hi, Call) and loop.hi.fn.name == "imin" and isinstance(
        loop.hi.args[0], Bin) and known_integer(loop.hi.args[0].b) == BLOCK


_SLOW = {"/": 6}


def _cost(e: Expression) -> int:
    own = 1
    if isinstance(e, (Const, Var, Word)):
        own = 0
    elif isinstance(e, Bin):
        own = _SLOW.get(e.op, 1)
    elif isinstance(e, Call):
        own = 4 if e.fn.quick or e.fn.flops != "call" else 20 if e.fn.libm else 60
    return own + sum(map(_cost, e.parts))


def loops_around(whole: Loop, shared: Loop) -> Iterator[Loop]:
    """Yield the loops from a whole one down to the shared one, which is not among them."""
    while whole is not shared:
        yield whole
        inner = whole.body[-1]
        assert isinstance(inner, Loop)
        whole = inner
