"""Calls on transposed arrays, done in the order in which the arrays lie.

    f(transpose(x), transpose(y), a)     =>     transpose(f(x, y, a))

where f is by element, a is a number, and f is a call such as exp or leads to one. Calls go on
vectors in loops along an array as it lies; a loop that reads it transposed takes its elements one
by one, far from one another. The result of the call is stored and seen transposed (`storage.py`).
Bits are the same, so that this holds for `fp="strict"` too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tracejit.ir.builder import Builder
from tracejit.ir.core import Atom, Block, Eqn, Graph, Value
from tracejit.ir.dead_code import drop_dead_code
from tracejit.ir.lowering import CALL_COST, Pointwise, turns_rows
from tracejit.ir.optable import find_op
from tracejit.ir.walk import all_eqns, replace_eqns, replace_graph, replace_regions

__all__ = ["call_in_order"]

Turned = dict[Value, tuple[Value, tuple[int, ...]]]
"""Transposed arrays: of what, and with its axes in which order."""


def call_in_order(graph: Graph) -> Graph:
    """f(transpose(x)) = transpose(f(x)), where f is a call or leads to one."""
    turned: Turned = {}
    calls = [e for e in all_eqns(graph.block)
             if _follows(e, turned) and e.op.cost >= CALL_COST]
    if not calls:
        return graph
    return drop_dead_code(replace_graph(graph, _in_block(graph.block, {})))


def _follows(eqn: Eqn, turned: Turned) -> bool:
    """Return whether an operation by element is of arrays turned alike, and note what is turned."""
    if eqn.op.meaning == "transpose":
        if isinstance(eqn.inputs[0], Value) and turns_rows(eqn.params["axes"]):
            turned[eqn.output] = eqn.inputs[0], eqn.params["axes"]
        return False
    if not isinstance(eqn.op.lowering, Pointwise):
        return False
    axes = {turned[a][1] if a in turned else None for a in _arrays(eqn.inputs)}
    if len(axes) != 1 or None in axes:
        return False
    turned[eqn.output] = eqn.output, axes.pop()  # type: ignore[assignment]
    return True


def _in_block(block: Block, turned: Turned) -> Block:
    """Return a block in which operations on turned arrays are turned themselves."""
    def change(eqn: Eqn) -> Iterable[Eqn]:
        if not _follows(eqn, turned):
            return [replace_regions(eqn, lambda region: _in_block(region, turned))]
        inner, outer = _turned_back(eqn, turned)
        turned[eqn.output] = inner.output, outer.params["axes"]
        return inner, outer

    return replace_eqns(block, change)


def _turned_back(eqn: Eqn, turned: Turned) -> tuple[Eqn, Eqn]:
    """Return the operation on the arrays as they lie, and the transposition of its result."""
    builder = Builder(lambda: eqn.site)
    builder.of, builder.group = eqn.of, eqn.group
    operands = [turned[a][0] if isinstance(a, Value) and a in turned else a for a in eqn.inputs]
    (made,) = builder.emit(eqn.op, operands, eqn.params)
    made.origin = eqn.output
    builder.emit(find_op("transpose"), (made,), {"axes": turned[eqn.output][1]})
    inner, outer = builder.scope.eqns
    return inner, replace(outer, outputs=eqn.outputs)


def _arrays(operands: Sequence[Atom]) -> list[Value]:
    return [a for a in operands if isinstance(a, Value) and a.aval.shape]
