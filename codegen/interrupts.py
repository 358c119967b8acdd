"""The places at which the program's own loops ask whether the user wants to leave them (Ctrl-C).

`interrupted(ctx, i, mask)` asks once per `mask + 1` iterations, and the question is answered at
once unless some time has passed. Innermost counted loops are not disturbed, so that they are
vectorised; one that is in no other loop runs in chunks, between which it asks.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracejit.codegen.context import INTERRUPTED
from tracejit.codegen.expression_edits import call, integer, known_integer
from tracejit.codegen.loop_expressions import I64, ZERO, Bin, Expression, Extent, Var
from tracejit.codegen.loop_ir import NOWHERE, If, Loop, Node, Return, While, children
from tracejit.codegen.vector_loops import is_vector

__all__ = ["poll_loops"]

SELDOM, OFTEN = 1023, 15
"""Masks for loops with scalar bodies, and for loops with loops inside."""

CHUNK = 1 << 22

CHUNKS = "chunks between which it can be left"
"""The role of a loop around a loop of the program."""


def poll_loops(nodes: list[Node], *, is_inner: bool = False) -> list[Node]:
    """Return nodes in which the program's loops can be left; bodies are changed in place."""
    result: list[Node] = []
    for node in nodes:
        is_own = isinstance(node, (Loop, While)) and bool(node.blocks)
        has_loops = any(map(_has_loop, children(node)))
        for block in children(node):
            block[:] = poll_loops(block, is_inner=is_inner or is_own)
        if is_own and isinstance(node, While):
            node.body.append(_question(Var(node.counter, I64), OFTEN if has_loops else SELDOM))
        elif is_own and isinstance(node, Loop) and has_loops:
            node.body.insert(0, _question(Var(node.var, I64), OFTEN))
        elif is_own and isinstance(node, Loop) and not is_inner and not _is_short(node):
            node = _in_chunks(node)
        result.append(node)
    return result


def _has_loop(nodes: Sequence[Node]) -> bool:
    return any((isinstance(n, (Loop, While)) and not is_vector(n))
               or any(map(_has_loop, children(n))) for n in nodes)


def _question(counter: Expression, mask: int) -> If:
    return If(call("interrupted", counter, integer(mask)), [Return(integer(INTERRUPTED))])


def _is_short(loop: Loop) -> bool:
    lo, hi = known_integer(loop.lo), known_integer(loop.hi)
    return lo is not None and hi is not None and hi - lo <= CHUNK


def _in_chunks(loop: Loop) -> Loop:
    """Return a loop over chunks of another, backwards where that is."""
    chunk, size = Var(f"{loop.var}_chunk", I64), integer(CHUNK)
    lo, hi = loop.lo, loop.hi
    outer = Loop(chunk.name, lo, hi, [_question(ZERO, 0), loop], step=size, origin=loop.origin,
                 role=CHUNKS)
    if known_integer(lo) is None:  # bounds may be next to the ends of int64, and a chunk is not
        outer.lo, outer.hi = ZERO, Extent(lo, hi)
        length = call("imin", size, Bin("-", outer.hi, chunk))
        start, end = Bin("+", lo, chunk), Bin("-", hi, chunk)
        loop.lo, loop.hi = (Bin("-", end, length), end) if loop.reverse else (
            start, Bin("+", start, length))
    elif loop.reverse:
        outer.lo, outer.hi = ZERO, Extent(lo, hi)
        end = Bin("-", hi, chunk)
        loop.lo, loop.hi = call("imax", Bin("-", end, size), lo), end
    else:
        loop.lo, loop.hi = chunk, call("imin", Bin("+", chunk, size), hi)
    loop.origin = NOWHERE
    return outer
