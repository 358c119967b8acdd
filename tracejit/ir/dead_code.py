"""Dead code: equations, carried values and region outputs that nothing reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import compress

from tracejit.ir.control import LoopEqn, carried_in, keep_carried
from tracejit.ir.core import Atom, Block, Eqn, Graph, Value, type_dims
from tracejit.ir.dims import dim_values
from tracejit.ir.lowering import Region
from tracejit.ir.walk import eqn_uses, free_values, has_effect, replace_graph

__all__ = ["drop_dead_code", "prune_block"]

Defines = Callable[[Eqn], Iterable[Value]]


def drop_dead_code(graph: Graph) -> Graph:
    """Return the graph without what does not contribute to its outputs or effects."""
    return replace_graph(graph, prune_block(graph.block))


def prune_block(block: Block, defines: Defines = lambda eqn: eqn.outputs) -> Block:
    """Drop the equations of which nothing that they define is read, but keep effects.

    `defines` says what an equation provides; reverse mode counts the inside of its loops too while
    backward loops still read it directly.
    """
    needed = {a for a in block.outputs if isinstance(a, Value)}
    kept: list[Eqn] = []
    for eqn in reversed(block.eqns):
        if not has_effect(eqn) and not any(v in needed for v in defines(eqn)):
            continue
        if eqn.regions:
            eqn = _shrink(eqn, needed, defines)
        kept.append(eqn)
        needed.update(eqn_uses(eqn))
    kept.reverse()
    if len(kept) == len(block.eqns) and all(a is b for a, b in zip(kept, block.eqns, strict=True)):
        return block
    return Block(block.inputs, tuple(kept), block.outputs)


def _shrink(eqn: Eqn, needed: set[Value], defines: Defines) -> Eqn:
    """Return an equation with regions without the results and carried values that nobody reads."""
    kind = eqn.op.lowering
    if not isinstance(kind, Region):
        return eqn
    inside = _inner_uses(eqn, needed)
    sizes = {w for v in eqn.outputs if v in needed
             for d in type_dims(v.aval) for w in dim_values(d)}
    live = [v in needed or v in sizes for v in eqn.outputs]
    if kind.kind in ("if", "map"):
        regions = [_keep_outputs(r, live, inside, defines) for r in eqn.regions]
        inputs = eqn.inputs
    else:
        live, regions, inputs = _shrink_loop(eqn, live, inside, defines)
    if all(live) and all(a is b for a, b in zip(regions, eqn.regions, strict=True)):
        return eqn
    outputs = tuple(v for v, keep in zip(eqn.outputs, live, strict=True) if keep)
    return eqn.with_parts(inputs, eqn.params, outputs, tuple(regions), eqn.of)


def _inner_uses(eqn: Eqn, needed: set[Value]) -> set[Value]:
    """Return what is read from outside although it is defined inside of an equation's regions."""
    inner: set[Value] = set()

    def visit(block: Block) -> None:
        inner.update(block.inputs)
        for e in block.eqns:
            inner.update(e.outputs)
            for r in e.regions:
                visit(r)

    for region in eqn.regions:
        visit(region)
    return inner & needed


def _keep_outputs(region: Block, live: list[bool], inside: set[Value], defines: Defines) -> Block:
    outputs = tuple(a for a, keep in zip(region.outputs, live, strict=True) if keep)
    if len(outputs) == len(region.outputs):
        outputs = region.outputs
    return _prune_region(region, outputs, inside, defines)


def _prune_region(region: Block, outputs: tuple[Atom, ...], inside: set[Value],
                  defines: Defines) -> Block:
    """Prune a region to some of its outputs and to what is read of its inside from without."""
    extra = tuple(sorted(inside, key=lambda v: v.uid))
    pruned = prune_block(Block(region.inputs, region.eqns, outputs + extra), defines)
    if pruned.eqns is region.eqns and outputs is region.outputs:
        return region
    return Block(region.inputs, pruned.eqns, outputs)


def _shrink_loop(eqn: Eqn, live: list[bool], inside: set[Value],
                 defines: Defines) -> tuple[list[bool], list[Block], tuple[Atom, ...]]:
    """Find the carried values that matter, also those that others need an iteration later."""
    loop = LoopEqn(eqn)
    carried = list(map(carried_in, eqn.regions))
    keep = live[loop.trips:]
    while True:
        outputs = tuple(compress(loop.yielded, keep))
        regions = [*eqn.regions[:-1], _prune_region(loop.body, outputs, inside, defines)]
        read = set(inside)
        for r in regions:
            read.update(_bound_uses(r))
        more = [k or any(c[j] in read for c in carried) for j, k in enumerate(keep)]
        if more == keep:
            break
        keep = more
    live = [True] * loop.trips + keep
    if all(keep):
        body = _prune_region(loop.body, loop.yielded, inside, defines)
        return live, [*eqn.regions[:-1], body], eqn.inputs
    return live, [keep_carried(r, keep) for r in regions], tuple(compress(loop.starts, keep))


def _bound_uses(region: Block) -> set[Value]:
    """Return all that a region reads, its own inputs included."""
    return set(free_values(Block((), region.eqns, region.outputs)))
