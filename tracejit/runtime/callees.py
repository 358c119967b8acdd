"""Programs that call Python functions, where there is no Python: in C, and in `@njit` code."""

from __future__ import annotations

from tracejit.errors import ExportError, Refusal
from tracejit.ir.core import Block, Graph
from tracejit.ir.walk import calls_of_python
from tracejit.runtime.result_sizes import require_known_sizes

__all__ = ["require_no_calls", "require_no_calls_in_njit"]


def require_no_calls(name: str, block: Block) -> None:
    """Raise `ExportError` for a program that calls Python functions."""
    for f in calls_of_python(block):
        raise ExportError(f"{name} calls {f}, a Python function. Call it outside and pass what it "
                          "gives as an argument")


def require_no_calls_in_njit(name: str, graph: Graph) -> None:
    """Refuse a program that calls Python functions, or finds sizes out, for `@njit` code."""
    require_known_sizes(graph, "@njit code")
    for f in calls_of_python(graph.block):
        raise Refusal(f"{name} calls {f}, a Python function, which it can from Python alone. Call "
                      "it outside and pass what it gives, or call the program from Python", "TJ605")
