"""Running a graph as machine code, watched by verify mode."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import tracejit
from tracejit.ir.core import Block, Graph
from tracejit.runtime.program import Program
from tracejit.runtime.stages import Traced


def run_kernel(graph: Graph, *args: Any) -> list[Any]:
    """Compile a graph with every index checked and run it; unset memory is NaN."""
    with tracejit.config(verify=True):
        compiled = Traced(Program.of_graph(graph)).lower().compile()
        assert compiled.invocation.fits(args), "the arguments do not fit the graph"
        return compiled.invocation.run(args)


def with_values(pullback: Graph, graph: Graph) -> Graph:
    """Return a pullback that gives the results of its graph, too, before the cotangents."""
    made = {v: eqn for eqn in pullback.block.eqns for v in eqn.outputs}
    forward = [made.get(eqn.outputs[0], eqn) if eqn.outputs else eqn for eqn in graph.block.eqns]
    way_back = [eqn for eqn in pullback.block.eqns if eqn not in forward]
    block = Block(pullback.block.inputs, (*forward, *way_back),
                  (*graph.block.outputs, *pullback.block.outputs))
    return replace(pullback, block=block)
