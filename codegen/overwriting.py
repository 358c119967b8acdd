"""Which computed arrays have to be stored because an array that they read is written to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tracejit.codegen.buffers import writes_in_step
from tracejit.codegen.elements import Elements, is_array
from tracejit.ir.core import Atom, Block, Eqn, Graph, Value
from tracejit.ir.lowering import Write
from tracejit.ir.walk import free_values

__all__ = ["made_of_their_target", "overwritten"]


def made_of_their_target(graph: Graph, block: Block, elements: Elements) -> Iterator[Value]:
    """Yield what is stored of the values written to a part of an array whose elements they read.

    Stored as they are, they take the memory of the part; else the write would need a copy of the
    array. Of `a[k + 1:, k + 1:] -= a[k + 1:, k, None] * a[k, k + 1:]` it is enough to store the
    column and the row: read while the rest is written, they would be read again for each element.
    """
    for k, eqn in enumerate(block.eqns):
        for region in eqn.regions:
            yield from made_of_their_target(graph, region, elements)
        how = eqn.op.lowering
        if not isinstance(how, Write) or how.gathered or eqn in elements.pulled:
            continue
        old, value = eqn.inputs[:2]
        if isinstance(old, Value) and isinstance(value, Value) and is_array(value) and (
                elements.computes(value) and old not in graph.inputs
                and not _is_used(old, block.eqns[k + 1:], block.outputs)):
            if writes_in_step(eqn, old, elements):
                yield from _repeated_parts(value, old, _rank(value), elements)
            else:
                yield value


def _repeated_parts(v: Value, old: Value, rank: int, elements: Elements) -> Iterator[Value]:
    """Yield the parts of an array that an array of a higher rank is made of."""
    if not elements.is_virtual(v) or old not in elements.leaves(v):
        return
    if _rank(v) < rank and not elements.computes(v):
        yield v
        return
    for a in elements.makers[v].inputs:
        if is_array(a):
            yield from _repeated_parts(a, old, rank, elements)


def _rank(v: Value) -> int:
    """Return how many axes of an array have not one index alone."""
    return sum(d != 1 for d in v.aval.shape)


def overwritten(block: Block, elements: Elements) -> Iterator[Value]:
    """Yield virtual arrays that read an array written to in place before their last use."""
    sources: dict[Value, set[Value]] = {}
    for k, eqn in enumerate(block.eqns):
        for region in eqn.regions:
            yield from overwritten(region, elements)
        for v in eqn.outputs:
            if elements.is_virtual(v):
                sources[v] = {w for w in elements.leaves(v) if is_array(w)}
        if not isinstance(eqn.op.lowering, Write) or eqn.outputs[0] not in elements.stored:
            continue
        later = block.eqns[k + 1:]
        for v, leaves in sources.items():
            if eqn.inputs[0] in leaves and _is_used(v, later, block.outputs):
                yield v


def _is_used(v: Value, eqns: Sequence[Eqn], outputs: tuple[Atom, ...]) -> bool:
    return v in outputs or any(
        v in e.inputs or any(v in free_values(r) for r in e.regions) for e in eqns)
