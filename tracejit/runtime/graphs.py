"""Graphs as compiled functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tracejit.ir.core import Block, Graph, Value
from tracejit.ir.walk import copy_block
from tracejit.runtime.program import Program
from tracejit.trace.values.specs import ArgSpec
from tracejit.tree import Structure

__all__ = ["NativeKernel", "with_names"]


class NativeKernel:
    """A graph as a compiled function of its inputs, which returns its outputs in a tuple."""

    graph: Graph

    name = "kernel"

    def __init__(self, graph: Graph) -> None:
        self.fn, self.graph = _nothing, with_names(graph)

    def make_program(self, specs: Sequence[ArgSpec], structure: Structure,
                     leaves: Sequence[object] | None) -> Program:
        """Return the graph as a program."""
        return Program.of_graph(self.graph)

    def inline(self, args: object, kwargs: object) -> Any:
        """Never called: within a capture the graph itself is inlined."""
        raise AssertionError


def with_names(graph: Graph) -> Graph:
    """Return a graph whose inputs all have names, which emitted source gives its parameters."""
    env: dict[Value, Any] = {v: Value(v.aval, v.name or f"kept{k}")
                             for k, v in enumerate(graph.inputs)}
    inner = copy_block(Block((), graph.eqns, graph.outputs), env)
    return replace(graph, block=Block(tuple(env.values()), inner.eqns, inner.outputs))


def _nothing() -> None:
    """Stand for the function that a graph came from."""
