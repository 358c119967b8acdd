"""Results of sizes that data decides: refused where who calls has to make room beforehand."""

from __future__ import annotations

from tracejit.errors import Refusal
from tracejit.ir.core import Graph, type_dims
from tracejit.ir.dims import dim_values
from tracejit.ir.walk import all_eqns
from tracejit.trace.ground.source import describe_line

__all__ = ["require_known_sizes"]


def require_known_sizes(graph: Graph, where: str) -> None:
    """Refuse a program whose results have sizes that only data says, where that cannot be."""
    known = {*graph.sizes, *graph.inputs}
    for a in graph.outputs:
        for v in (v for d in type_dims(a.aval) for v in dim_values(d)):
            if v in known:
                continue
            maker = next((e for e in all_eqns(graph.block) if v in e.outputs), None)
            raise Refusal(f"{describe_line(None if maker is None else maker.site)}: the size of a "
                          f"result of {graph.name} is computed from data, which {where} cannot "
                          "return. Return an array of the largest size and how much of it counts",
                          "TJ608")
