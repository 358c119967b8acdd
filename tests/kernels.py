"""Running a graph as machine code, watched by verify mode."""

from __future__ import annotations

from typing import Any

import tracejit
from tracejit.ir.core import Graph
from tracejit.runtime.program import Program
from tracejit.runtime.stages import Traced


def run_kernel(graph: Graph, *args: Any) -> list[Any]:
    """Compile a graph with every index checked and run it; unset memory is NaN."""
    with tracejit.config(verify=True):
        compiled = Traced(Program.of_graph(graph)).lower().compile()
        assert compiled.invocation.fits(args), "the arguments do not fit the graph"
        return compiled.invocation.run(args)
