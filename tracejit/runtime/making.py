"""Programs made for a call: captured, compiled, and put into the store."""

from __future__ import annotations

import logging
from time import perf_counter
from typing import TYPE_CHECKING

from tracejit.artifacts.saving import save_artifact
from tracejit.configuration import settings
from tracejit.ir.core import Graph
from tracejit.runtime.interface import Interface
from tracejit.runtime.interpreted import Interpreted
from tracejit.runtime.specialisation import Runner
from tracejit.runtime.stages import Compiled, Traced
from tracejit.trace.context import current
from tracejit.trace.dependencies import collecting
from tracejit.trace.tracer import Traced as TracedValue

if TYPE_CHECKING:
    from tracejit.runtime.function import Request

__all__ = ["make"]

LOG = logging.getLogger("tracejit")
PROGRESS = logging.getLogger("tracejit.progress")
PROGRESS.propagate = False


def make(call: Request) -> tuple[Interface, Runner]:
    """Capture and compile what a call needs."""
    if any(isinstance(x, TracedValue) for x in call.leaves):
        current()  # a traced value outside of a capture
    name = getattr(call.function, "__name__", call.function.transform.name)
    PROGRESS.debug("%s: capturing", name)
    start = perf_counter()
    with collecting() as dependencies:
        program = call.function.transform.make_program(
            call.specs, call.structure, call.leaves if call.is_actual else None)
    captured = perf_counter()
    traced = Traced(program, (call.specs, call.structure))
    if settings().disable_jit:
        return Interface.of(program), Interpreted(traced)
    PROGRESS.debug("%s: captured after %.2f s, making loops of %d equations", name,
                   captured - start, len(program.graph.eqns))
    lowered = traced.lower()
    PROGRESS.debug("%s: compiling %d lines of source", name, lowered.source.count("\n"))
    compiled = lowered.compile()
    _log(call, program.name, program.graph, {"capture": captured - start, **compiled.times})
    if isinstance(compiled, Compiled):  # programs for a device are compiled in each process
        save_artifact(call, compiled, dependencies)
    return compiled.interface, compiled.invocation


def _log(call: Request, name: str, graph: Graph, times: dict[str, float]) -> None:
    parts = ", ".join(f"{k} {1e3 * t:.1f} ms" for k, t in times.items())
    reason = "no specialisation fits this call" if call.function._table else "first call"
    signature = ", ".join(str(v.aval) for v in graph.inputs)
    LOG.log(logging.WARNING if settings().debug else logging.DEBUG,
            "compiled %s for %s (%s): %s", name, signature, reason, parts)
