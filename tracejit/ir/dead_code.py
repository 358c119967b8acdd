"""Dead code: equations, carried values and region outputs that nothing reads."""

from __future__ import annotations

from itertools import compress

from tracejit.ir.control import LoopEqn, carried_in, keep_carried
from tracejit.ir.core import Atom, Block, Eqn, Graph, Value, type_dims
from tracejit.ir.dims import dim_values
from tracejit.ir.lowering import Region
from tracejit.ir.walk import eqn_uses, free_values, has_effect, replace_graph

__all__ = ["drop_dead_code", "prune_block"]


def drop_dead_code(graph: Graph) -> Graph:
    """Return the graph without equations that contribute to none of its outputs or effects."""
    return replace_graph(graph, prune_block(graph.block))


def prune_block(block: Block) -> Block:
    """Drop the equations of which no result is read, but keep effects."""
    needed = {a for a in block.outputs if isinstance(a, Value)}
    kept: list[Eqn] = []
    for eqn in reversed(block.eqns):
        if not has_effect(eqn) and not any(v in needed for v in eqn.outputs):
            continue
        if eqn.regions:
            eqn = _shrink(eqn, needed)
        kept.append(eqn)
        needed.update(eqn_uses(eqn))
    kept.reverse()
    if len(kept) == len(block.eqns) and all(a is b for a, b in zip(kept, block.eqns, strict=True)):
        return block
    return Block(block.inputs, tuple(kept), block.outputs)


def _shrink(eqn: Eqn, needed: set[Value]) -> Eqn:
    """Return an equation with regions without the results and carried values that nobody reads."""
    kind = eqn.op.lowering
    if not isinstance(kind, Region):
        return eqn
    sizes = {w for v in eqn.outputs if v in needed
             for d in type_dims(v.aval) for w in dim_values(d)}
    live = [v in needed or v in sizes for v in eqn.outputs]
    if kind.kind in ("if", "map"):
        regions = [_keep_outputs(r, live) for r in eqn.regions]
        inputs = eqn.inputs
    else:
        live, regions, inputs = _shrink_loop(eqn, live)
    if all(live) and all(a is b for a, b in zip(regions, eqn.regions, strict=True)):
        return eqn
    outputs = tuple(v for v, keep in zip(eqn.outputs, live, strict=True) if keep)
    return eqn.with_parts(inputs, eqn.params, outputs, tuple(regions), eqn.of)


def _keep_outputs(region: Block, live: list[bool]) -> Block:
    if all(live):
        return prune_block(region)
    return prune_block(Block(region.inputs, region.eqns, tuple(compress(region.outputs, live))))


def _shrink_loop(eqn: Eqn, live: list[bool]) -> tuple[list[bool], list[Block], tuple[Atom, ...]]:
    """Find the carried values that matter: live results, and values that these need later."""
    loop = LoopEqn(eqn)
    carried = list(map(carried_in, eqn.regions))
    keep = live[loop.trips:]
    while True:
        regions = [*eqn.regions[:-1], _keep_outputs(loop.body, keep)]
        read = set[Value]().union(*map(_bound_uses, regions))
        more = [k or any(c[j] in read for c in carried) for j, k in enumerate(keep)]
        if more == keep:
            break
        keep = more
    live = [True] * loop.trips + keep
    if all(keep):
        return live, regions, eqn.inputs
    return live, [keep_carried(r, keep) for r in regions], tuple(compress(loop.starts, keep))


def _bound_uses(region: Block) -> set[Value]:
    """Return all that a region reads, its own inputs included."""
    return set(free_values(Block((), region.eqns, region.outputs)))
