"""The loops of the emitted source: their lines, what they are for, and the equations in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_ir import Loop, Node, While, children, every_node, loops_in
from tracejit.ir.core import Eqn
from tracejit.ir.walk import all_eqns

__all__ = ["EmittedLoop", "emitted_loops", "equations_by_label", "labels_of"]


@dataclass(frozen=True, slots=True, eq=False)
class EmittedLoop:
    """A loop of the emitted source.

    node        -- what it was rendered from
    first, last -- its lines, the first with `for` or `while`
    text        -- the first line, without its comment
    depth       -- how many loops it is in
    """

    node: Loop | While
    first: int
    last: int
    text: str
    depth: int

    @property
    def is_innermost(self) -> bool:
        """Return whether no loop is in it."""
        return not any(True for block in children(self.node) for _ in loops_in(block))

    @property
    def purpose(self) -> str:
        """Return what the loop is for."""
        if isinstance(self.node, Loop) and self.node.nest is not None:
            return "elements"
        if self.node.blocks:
            return "the program's"
        return self.node.role if isinstance(self.node, Loop) and self.node.role else "a routine's"

    def labels(self) -> list[str]:
        """Return the labels of the equations that its lines name, its own among them."""
        return list(dict.fromkeys(labels_of([self.node])))


def emitted_loops(kernel: Kernel, source: str) -> list[EmittedLoop]:
    """Return the loops of a kernel in the order of its source."""
    return [EmittedLoop(node, *place) for node, place in zip(
        loops_in(kernel.nodes), _places(source.splitlines()), strict=True)]


def _places(lines: Sequence[str]) -> list[tuple[int, int, str, int]]:
    """Return the first and last line, the text and the depth of each loop.

    What stands further to the right than its first line, up to the next that does not, is inside;
    the last line of a kernel, a return, closes all of them.
    """
    firsts: list[int] = []
    lasts: dict[int, int] = {}
    depths: list[int] = []
    inside: list[tuple[int, int]] = []
    begin = next(k for k, line in enumerate(lines) if line.startswith("def kernel("))
    for number, line in enumerate(lines[begin:], begin + 1):
        text = line.lstrip()
        column = len(line) - len(text)
        while inside and column <= inside[-1][1]:
            lasts[inside.pop()[0]] = number - 1
        if text.startswith(("for ", "while True:")):
            depths.append(len(inside))
            firsts.append(number)
            inside.append((number, column))
    return [(first, lasts[first], lines[first - 1].partition("#")[0].strip(), depth)
            for first, depth in zip(firsts, depths, strict=True)]


def labels_of(nodes: Sequence[Node]) -> Iterator[str]:
    """Yield the labels of the equations that nodes carry out, those inside included."""
    return (f"%{label}" for node in every_node(nodes) for label in node.origin.labels)


def equations_by_label(kernel: Kernel) -> dict[str, Eqn]:
    """Return the equations of a kernel's graph by the labels of their results, `%3`."""
    return {f"%{kernel.labels[v]}": eqn
            for eqn in all_eqns(kernel.graph.block) for v in eqn.outputs if v in kernel.labels}
