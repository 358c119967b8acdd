"""Programs made for a call: captured, compiled, and put into the store."""

from __future__ import annotations

import logging
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from tracejit.artifacts.saving import save_artifact
from tracejit.configuration import settings
from tracejit.program.interface import Interface
from tracejit.program.specialisation import Runner
from tracejit.runtime.interpreted import Interpreted
from tracejit.runtime.misses import reason_for
from tracejit.runtime.program import Program
from tracejit.runtime.progress import stage
from tracejit.runtime.stages import Traced
from tracejit.runtime.watched import Watched
from tracejit.trace.ground.context import current
from tracejit.trace.ground.dependencies import collecting
from tracejit.trace.values.operands import TracedOperand as TracedValue

if TYPE_CHECKING:
    from tracejit.program.request import Request

__all__ = ["log_compilation", "make"]

LOG = logging.getLogger("tracejit")


def make(call: Request) -> tuple[Interface, Runner]:
    """Capture and compile the program of a call."""
    if any(isinstance(x, TracedValue) for x in call.leaves):
        current()  # a traced value outside of a capture
    name = getattr(call.function, "__name__", "")
    with stage(f"{call.function.transform.name}[{name}]" if name else call.function.transform.name,
               "capturing"):
        return _make(call)


def _make(call: Request) -> tuple[Interface, Runner]:
    start = perf_counter()
    with collecting() as dependencies:
        program = call.function.transform.make_program(
            call.specs, call.structure, call.leaves if call.is_actual else None)
    captured = perf_counter()
    traced = Traced(program, (call.specs, call.structure), call.function,
                    call.leaves if call.is_actual else None)
    if settings().disable_jit:
        interface = replace(program.interface(), is_for_one_call=bool(dependencies.unseen))
        return interface, _watched(Interpreted(traced), traced)
    compiled = traced.lower().compile()
    log_compilation(program, reason_for(call), {"capture": captured - start, **compiled.times})
    save_artifact(call, compiled, dependencies)
    compiled.interface.is_for_one_call = bool(dependencies.unseen)
    return compiled.interface, _watched(compiled.invocation, traced)


def _watched(runner: Runner, traced: Traced) -> Runner:
    """Return the runner of a program, which looks at results if that is asked for."""
    return Watched(runner, traced.graph) if settings().debug_nans else runner


def log_compilation(program: Program, reason: str, times: dict[str, float]) -> None:
    """Log the program that was compiled, why, and how long each stage took."""
    parts = ", ".join(f"{k} {1e3 * t:.1f} ms" for k, t in times.items())
    signature = ", ".join(f"{v.name}: {v.aval}" if v.name else str(v.aval)
                          for v in program.graph.inputs)
    fixed = "".join(f"; {why}: fixed at {n}" for n, why in program.capture.pins.values())
    shown = settings().debug or settings().log_compiles
    LOG.log(logging.WARNING if shown else logging.DEBUG,
            "compiled %s for %s (%s%s): %s", program.name, signature, reason, fixed, parts)
