"""A kernel before it is rendered: its nodes, its buffers, and the failure behind each status."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tracejit.codegen.buffers import Buffer
from tracejit.codegen.frame import Failure
from tracejit.codegen.loop_expressions import Array, Var
from tracejit.codegen.loop_ir import Loop, Node, Store, While, children
from tracejit.codegen.nests import PlacedNest
from tracejit.codegen.schedule import Apart
from tracejit.ir.core import Graph, Value

__all__ = ["Called", "Kernel", "LoopPart", "Shown"]

Shown = tuple[str, tuple[tuple[np.dtype, int], ...], str]
"""A print: its format, and dtype and rank of each of its operands."""

Called = tuple[Any, tuple[tuple[np.dtype, int], ...], tuple[tuple[np.dtype, int], ...]]
"""A call of a Python function: the callee, and dtype and rank of each operand and result."""


@dataclass(frozen=True, slots=True, eq=False)
class LoopPart:
    """A loop that threads may share, as a function of the iterations from `lo` up to `hi`.

    arguments -- the buffers and scalars that it reads and writes
    """

    name: str
    lo: Var
    hi: Var
    arguments: tuple[Array | Var, ...]
    loop: Loop

    @property
    def parameters(self) -> tuple[Array | Var, ...]:
        """Return the parameters of the function."""
        return self.lo, self.hi, *self.arguments


def _copies(nodes: Sequence[Node], loop: str) -> Iterator[str]:
    for node in nodes:
        inner = loop
        if isinstance(node, (Loop, While)) and node.blocks:
            inner = "" if node.origin.site is None else str(node.origin.site)
        if isinstance(node, Store) and node.origin.copied and loop:
            yield f"{loop}: in this loop, {node.origin}"
        for block in children(node):
            yield from _copies(block, inner)


@dataclass(slots=True)
class Kernel:
    """A kernel before it is rendered.

    carried_out     -- the graph, with some of its loops standing in it several times
    head            -- reads the scalar arguments
    inputs, outputs -- the buffers that the caller gives, in the order of the graph
    arena           -- the buffers that the kernel lays out in the workspace
    logs            -- the dtypes of its Logs
    nests           -- the loop nests, in the order in which they were emitted; unread stores of
                       them are dropped from `nodes` afterwards
    apart           -- statements that might have shared a loop and do not, with reasons
    prints          -- the values of each print, by its number
    callbacks       -- the calls of Python functions, by their numbers
    """

    graph: Graph
    carried_out: Graph
    head: list[Node]
    nodes: list[Node]
    inputs: list[Buffer]
    outputs: list[Buffer]
    arena: list[Buffer]
    logs: list[np.dtype]
    failures: list[Failure]
    labels: dict[Value, str]
    scalar_names: dict[Value, str]
    nests: list[PlacedNest]
    apart: list[Apart]
    reasons: dict[Value, str]
    """Why each array that has memory has it."""
    prints: list[Shown] = field(default_factory=list)
    callbacks: list[Called] = field(default_factory=list)
    found: dict[int, Buffer] = field(default_factory=dict)
    """Of results whose sizes it finds out, by their numbers, the memory that it leaves them in;
    the caller's buffers for them take their shapes."""
    short: dict[str, int] = field(default_factory=dict)
    """The sizes for one value of which nests have loops of their own, by name."""
    parts: list[LoopPart] = field(default_factory=list)
    """The loops that threads may share, which were cut out of `nodes`."""
    is_checked: bool = False
    vectorises: bool = True
    """Whether it is compiled for verify mode: every index checked, zones between buffers."""

    def copies(self) -> Iterator[str]:
        """Yield a sentence for each copy of an array in a loop of the program, with its reason."""
        yield from dict.fromkeys(_copies(self.nodes, ""))

    @property
    def size_names(self) -> list[str]:
        """Return the names of sizes in the source, in the order of the graph."""
        return [self.scalar_names[v] for v in self.graph.sizes]

    @property
    def parameters(self) -> list[str]:
        """Return the names of the kernel's parameters."""
        given = [b.name for b in (*self.inputs, *self.outputs)]
        return ["ctx", *given, *(["arena"] if self.arena else []), *self.size_names]

    @property
    def buffers(self) -> list[Buffer]:
        """Return all buffers, in the order in which verify mode numbers them."""
        return [*self.inputs, *self.outputs, *self.arena]
