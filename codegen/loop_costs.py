"""The cost of loops, in additions, and how many iterations of one a thread takes at a time."""

from __future__ import annotations

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
from tracejit.codegen.loop_ir import Loop, Node, While, children, every_node, expressions
from tracejit.codegen.nests import BLOCK
from tracejit.codegen.node_names import defined_in

__all__ = ["loops_around", "stretch_of"]

STRETCH = 60_000
"""About how many additions a stretch takes: some 20 microseconds."""
VECTORS = 64
"""Stretches of loops that are vectorised are multiples of it, so that no vector is cut."""


def stretch_of(whole: Loop, shared: Loop) -> Expression:
    """Return how many iterations a stretch has, a multiple of the shared loop's step."""
    own = {*defined_in(whole.body), *(n.var for n in every_node([whole]) if isinstance(n, Loop))}
    number, terms = _cost(shared.body, own)
    terms = terms or [integer(number)]
    for loop in loops_around(whole, shared):
        terms = [Bin("*", _trips(loop, own), e) for e in (*terms, integer(number))]
        number = 0
    step = known_integer(shared.step) or 1
    fixed = known_integer(terms[0]) if len(terms) == 1 else None
    if fixed is not None and shared is whole:
        count = max(1, STRETCH // max(1, fixed))
        if step == 1 and count > VECTORS:
            count = -(-count // VECTORS) * VECTORS
        return integer(count * step)
    total: Expression = integer(number + 1)
    for e in terms:
        total = Bin("+", total, e)
    if not any(isinstance(n, (Loop, While)) for n in shared.body):
        step *= VECTORS
    count_of: Expression = Bin("+", call("idiv", integer(STRETCH // step), total), ONE)
    return count_of if step == 1 else Bin("*", count_of, integer(step))


def _cost(nodes: Sequence[Node], own: set[str]) -> tuple[int, list[Expression]]:
    """Return the cost of nodes in additions: a number, and terms that depend on sizes.

    own -- the names that are not known outside; loops up to them count as some iterations
    """
    number, terms = 0, []
    for node in nodes:
        number += sum(map(_cost_of, expressions(node))) + 1
        inner, more = _cost([n for block in children(node) for n in block], own)
        if isinstance(node, While):
            inner *= UNKNOWN
        if not isinstance(node, Loop):
            number += inner
            terms += more
            continue
        trips = _trips(node, own)
        fixed = known_integer(trips)
        if fixed is not None:
            number += inner * fixed
            terms += [Bin("*", e, trips) for e in more]
        else:
            terms += [Bin("*", trips, e) for e in (integer(inner), *more)]
    return number, terms


UNKNOWN = 64
"""As how many iterations loops count whose number is not known outside."""


def _trips(loop: Loop, own: set[str]) -> Expression:
    step = known_integer(loop.step) or 1
    lo, hi = known_integer(loop.lo), known_integer(loop.hi)
    if lo is not None and hi is not None:
        return integer(max(0, hi - lo) // step)
    if (loop.lo.reads | loop.hi.reads) & own:
        return integer(BLOCK if _is_block(loop) else UNKNOWN)
    return loop.hi if loop.lo == ZERO else Extent(loop.lo, loop.hi)


def _is_block(loop: Loop) -> bool:
    """Whether a loop goes over the terms of one block of a sum."""
    return isinstance(loop.hi, Call) and loop.hi.fn.name == "imin" and isinstance(
        loop.hi.args[0], Bin) and known_integer(loop.hi.args[0].b) == BLOCK


_SLOW = {"/": 6}


def _cost_of(e: Expression) -> int:
    own = 1
    if isinstance(e, (Const, Var, Word)):
        own = 0
    elif isinstance(e, Bin):
        own = _SLOW.get(e.op, 1)
    elif isinstance(e, Call):
        own = 4 if e.fn.quick or e.fn.flops != "call" else 20 if e.fn.libm else 60
    return own + sum(map(_cost_of, e.parts))


def loops_around(whole: Loop, shared: Loop) -> Iterator[Loop]:
    """Yield the loops from a whole one down to the shared one, which is not among them."""
    while whole is not shared:
        yield whole
        inner = whole.body[-1]
        assert isinstance(inner, Loop)
        whole = inner
