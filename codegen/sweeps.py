"""Which virtual arrays are swept twice: for a sum along an axis, and by what reads that sum.

    e = exp(x - top)                    for each row:
    s = sum(e, axis=1)                      for each element: s = s + e
    p = e / s[:, None]                      for each element: p = e / s

The two loops over a row cannot be one, so that the second would call `exp` again, and so would
those of the way back.
"""

from __future__ import annotations

from collections.abc import Iterator

from tracejit.codegen.elements import Elements
from tracejit.codegen.repetition import computed_for
from tracejit.ir.core import Graph, Value
from tracejit.ir.lowering import Pointwise, Reduce
from tracejit.ir.walk import all_eqns

__all__ = ["arrays_swept_again"]

CALL = 8.0
"""The cost, in additions, from which an operation is a call: more than a division."""


def arrays_swept_again(graph: Graph, elements: Elements) -> Iterator[Value]:
    """Yield the arrays with calls of which sums are taken, and which are read by what reads these.

    A sum of everything is not asked for: of long vectors a call costs no more than memory.
    """
    order = {v: k for k, v in enumerate(elements.makers)}
    summed: dict[Value, set[Value]] = {}
    behind: dict[Value, set[Value]] = {}
    for eqn in all_eqns(graph.block):
        before = {w for a in eqn.inputs if isinstance(a, Value)
                  for w in (a, *behind.get(a, ()))} & summed.keys()
        for v in eqn.outputs:
            behind[v] = before
        if any(map(elements.is_virtual, eqn.outputs)):
            continue
        computed = computed_for(eqn, elements)
        again = {v for w in before for v in summed[w] & computed}
        while again:
            yield max(again, key=order.__getitem__)
            again &= computed_for(eqn, elements)
        if isinstance(eqn.op.lowering, Reduce) and eqn.op.lowering.combine == "add" and (
                eqn.output.aval.shape):
            summed[eqn.output] = {v for v in computed if isinstance(
                elements.makers[v].op.lowering, Pointwise) and elements.makers[v].op.cost >= CALL}
