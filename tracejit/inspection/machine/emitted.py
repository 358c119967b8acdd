"""The loops of the emitted source: their lines, their roles, and the equations in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_ir import Loop, Node, While, children, every_node, loops_in
from tracejit.codegen.python_source import SourcePlace, write
from tracejit.ir.core import Eqn
from tracejit.ir.walk import all_eqns

__all__ = ["EmittedLoop", "emitted_loops", "equations_by_label", "labels_of"]


class EmittedLoop(SourcePlace):
    """A loop of the emitted source."""

    node: Loop | While

    @property
    def is_innermost(self) -> bool:
        """Return whether no loop is in it."""
        return not any(True for block in children(self.node) for _ in loops_in(block))

    @property
    def purpose(self) -> str:
        """Return the purpose of the loop."""
        if isinstance(self.node, Loop) and self.node.nest is not None:
            return "elements"
        if self.node.blocks:
            return "the program's"
        return self.node.role if isinstance(self.node, Loop) and self.node.role else "a routine's"

    def labels(self) -> list[str]:
        """Return the labels of the equations that its lines name, its own among them."""
        return list(dict.fromkeys(labels_of([self.node])))


def emitted_loops(kernel: Kernel) -> list[EmittedLoop]:
    """Return the loops of a kernel in the order of its source."""
    return [EmittedLoop(p.node, p.first, p.last, p.text, p.depth) for p in write(kernel).places
            if isinstance(p.node, (Loop, While))]


def labels_of(nodes: Sequence[Node]) -> Iterator[str]:
    """Yield the labels of the equations that nodes carry out, also nodes inside of them."""
    return (f"%{label}" for node in every_node(nodes) for label in node.origin.labels)


def equations_by_label(kernel: Kernel) -> dict[str, Eqn]:
    """Return the equations of a kernel by the labels of their results, `%3`.

    Of copies that is the equation of the printed graph.
    """
    found: dict[str, Eqn] = {}
    for graph in (kernel.graph, kernel.carried_out):
        for eqn in all_eqns(graph.block):
            for v in eqn.outputs:
                found.setdefault(f"%{kernel.labels[v]}", eqn)
    return found
