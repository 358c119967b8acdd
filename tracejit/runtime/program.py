"""A captured and transformed function, before anything is emitted for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tracejit.ir.core import Atom, Graph
from tracejit.ir.dims import Dim
from tracejit.program.interface import Interface, Kind
from tracejit.trace.attempt import Capture, Returned
from tracejit.trace.state import paths
from tracejit.trace.values.specs import ArgSpec
from tracejit.tree import LEAF, Structure

if TYPE_CHECKING:
    from tracejit.codegen.kernel import Kernel
    from tracejit.program.request import Asked

__all__ = ["Lowerable", "Program"]


@dataclass(eq=False, slots=True)
class Program:
    """A captured and transformed function: its graph, and how calls and results map to it.

    capture   -- the guards and state that the program depends on besides its arguments
    sources   -- per input of the graph, the number of the argument's leaf, or captured state
    structure -- of the result; its leaves are `constants`, or outputs where these are None
    weak      -- per output, whether it is a Python number
    written   -- leaves of the arguments to be overwritten, with the number of the output
    assigned  -- paths to variables to be assigned to, with the number of the output
    returned  -- leaves of the result that are arguments, or earlier leaves, as objects
    zero_d    -- the numbers of the outputs that are arrays without axes, and no numbers
    results   -- names for outputs by number, where they have any
    """

    name: str
    graph: Graph
    capture: Capture
    sources: tuple[int | paths.Leaf, ...]
    structure: Structure
    constants: list[tuple[Any, ...] | None]
    weak: list[bool]
    written: list[tuple[int, int]] = field(default_factory=list)
    options: Any = None
    assigned: list[tuple[paths.Path, int]] = field(default_factory=list)
    results: dict[int, str] = field(default_factory=dict)
    returned: tuple[Returned, ...] = ()
    zero_d: tuple[int, ...] = ()

    @classmethod
    def of_graph(cls, graph: Graph) -> Program:
        """Return a graph that was not captured as a program: its outputs in a tuple."""
        count = len(graph.outputs)
        structure = Structure(tuple, None, (LEAF,) * count)
        nothing: list[Any] = [None] * count
        weak = [False] * count
        inputs = tuple(range(len(graph.inputs)))
        capture = Capture(graph, inputs, [], [], [], [], structure, nothing, weak)
        return cls(graph.name, graph, capture, inputs, structure, nothing, weak)

    @classmethod
    def of_capture(cls, c: Capture, options: object, **fields: Any) -> Program:
        """Return what was captured as a program; `fields` are those that it has besides."""
        return cls(c.graph.name, c.graph, c, (*c.arg_leaves, *c.leaves), c.structure, c.constants,
                   c.weak, options=options, zero_d=c.zero_d, **fields)

    def size_conditions(self) -> list[tuple[Dim, str, bool]]:
        """Return the conditions on the sizes: `dim relation 0` is this truth value."""
        conditions = [(g.dim, g.relation, g.truth) for g in self.capture.size_guards]
        return conditions + [(a - b, "==", True) for a, b in self.capture.checks]

    def interface(self, kernel: Kernel | None = None) -> Interface:
        """Return the facts of the program that calls need; in the interpreter it has no kernel."""
        graph = self.graph if kernel is None else kernel.graph
        capture = self.capture
        outputs = list(_kinds(graph.outputs))
        found = () if kernel is None else tuple([
            (k, outputs[k], memory.number) for k, memory in kernel.found.items()])
        for k, _, _ in found:
            outputs[k] = np.dtype(np.int64), 1
        return Interface(
            self.name, _kinds(graph.inputs), tuple(outputs), self.sources, capture.guards,
            self.structure, self.constants, self.weak, self.written, self.assigned,
            capture.recorded, len(graph.sizes), 0 if kernel is None else len(kernel.logs),
            any(e.regions for e in graph.eqns), () if kernel is None else kernel.failures,
            () if kernel is None else kernel.prints, capture.facts, self.returned, found,
            self.zero_d, kernel is not None and bool(kernel.parts),
            () if kernel is None else kernel.callbacks)


def _kinds(atoms: Sequence[Atom]) -> tuple[Kind, ...]:
    return tuple([(np.dtype(a.aval.dtype), len(a.aval.shape)) for a in atoms])


class Lowerable(Protocol):
    """A program whose graph went through all passes, ready to be lowered.

    arguments -- the specs of the arguments, and how these make up a call; None for a bare graph
    function  -- the transformed function that was traced, if it was one
    shapes    -- per input of the graph, its shape while it was traced, or the int; None if unknown
    times     -- how long each stage took, in seconds
    history   -- the graph after each pass, with the pass's name
    """

    program: Program
    arguments: tuple[Sequence[ArgSpec], Structure] | None
    function: Asked | None
    shapes: list[tuple[int, ...] | int | None]
    times: dict[str, float]
    history: list[tuple[str, Graph]]

    @property
    def graph(self) -> Graph:
        """Return the graph after all passes."""

    def why(self) -> str:
        """Return the decisions, line by line."""
