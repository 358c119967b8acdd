"""Loop IR as Python source for Numba, meant to be read: a real file with comments on lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tracejit.codegen.expression_edits import integer, known_integer
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_expressions import ONE, ZERO, Bin, Expression
from tracejit.codegen.loop_ir import NOWHERE, Assign, Do, If, Let, Loop, Node, Origin, Store, While
from tracejit.codegen.slots import arena_nodes
from tracejit.codegen.spelling import spelled
from tracejit.ir.core import Graph
from tracejit.ir.user_text import in_docstring, on_one_line

__all__ = ["SourcePlace", "Writer", "heading", "render", "render_nodes", "wrapped", "write"]

COMMENT_COLUMN = 60


@dataclass(frozen=True, slots=True, eq=False)
class SourcePlace:
    """Where a node is in the source.

    first, last -- its lines, counted from 1
    text        -- the first line, without its comment
    depth       -- how many loops it is in
    """

    node: Node
    first: int
    last: int
    text: str
    depth: int


def render(kernel: Kernel) -> str:
    """Return the module that holds a kernel."""
    return "\n".join([*write(kernel).lines, ""])


def write(kernel: Kernel) -> Writer:
    """Return the lines of the module that holds a kernel, and the places of its nodes."""
    writer = Writer(heading(kernel.graph, "emitted by tracejit."))
    for part in kernel.parts:
        writer.lines += wrapped(f"def {part.name}({', '.join(map(spelled, part.parameters))}):")
        writer.node(part.loop, 1)
        writer.lines += ["    return 0", ""]
    writer.lines += wrapped(f"def kernel({', '.join(kernel.parameters)}):")
    writer.block([*kernel.head, *arena_nodes(kernel), *kernel.nodes], 1)
    return writer


def heading(graph: Graph, how: str) -> list[str]:
    """Return the docstring of an emitted module: its program's name, and the graph."""
    lines = [f"{graph.name}: {how}", "", *str(graph).splitlines()]
    return [f'"""{in_docstring(lines[0])}', *map(in_docstring, lines[1:]), '"""', ""]


def wrapped(text: str) -> list[str]:
    """Return a line with a list in parentheses as lines that are not too long."""
    if len(text) <= 100:
        return [text]
    head, _, rest = text.partition("(")
    lines, line = [], head + "("
    for part in rest.split(", "):
        if len(line) + len(part) > 96:
            lines.append(line.rstrip())
            line = " " * (len(head) + 1)
        line += part + ", "
    return [*lines, line.rstrip(", ")]


# --- nodes --------------------------------------------------------------------------------------


def render_nodes(nodes: Sequence[Node], depth: int) -> list[str]:
    """Return nodes as lines of source."""
    writer = Writer([])
    writer.block(nodes, depth)
    return writer.lines


class Writer:
    """Writes nodes as lines of source, behind others, and notes where each is."""

    lines: list[str]
    places: list[SourcePlace]

    def __init__(self, lines: list[str]) -> None:
        self.lines, self.places = lines, []
        self._loops = 0

    def block(self, nodes: Sequence[Node], depth: int) -> None:
        """Write the nodes of a block."""
        for node in nodes:
            self.node(node, depth)
        if not nodes:
            self._line("pass", depth)

    def node(self, node: Node, depth: int) -> None:
        """Write a node."""
        first, place, text = len(self.lines) + 1, len(self.places), _first_line(node)
        self._line(text, depth, node.origin)
        is_loop = isinstance(node, (Loop, While))
        self._loops += is_loop
        self._blocks(node, depth)
        self._loops -= is_loop
        self.places.insert(place, SourcePlace(node, first, len(self.lines), text, self._loops))

    def _blocks(self, node: Node, depth: int) -> None:
        if isinstance(node, Loop):
            self.block(node.body, depth + 1)
        elif isinstance(node, While):
            for inner in node.head:
                self.node(inner, depth + 1)
            self._line(f"if not ({spelled(node.condition)}):", depth + 1)
            self._line("break", depth + 2)
            self.block(node.body, depth + 1)
        elif isinstance(node, If):
            self.block(node.then, depth + 1)
            if node.other:
                self._line("else:", depth)
                self.block(node.other, depth + 1)

    def _line(self, text: str, depth: int, origin: Origin = NOWHERE) -> None:
        text = "    " * depth + text
        comment = str(origin)
        self.lines.append(f"{text:<{COMMENT_COLUMN}}  # {on_one_line(comment)}" if comment
                          else text)


def _first_line(node: Node) -> str:
    if isinstance(node, (Let, Assign)):
        return f"{node.name} = {spelled(node.expression)}"
    if isinstance(node, Store):
        return f"{node.buffer}[{spelled(node.index)}] = {spelled(node.expression)}"
    if isinstance(node, Loop):
        return f"for {node.var} in range({_range(node)}):"
    if isinstance(node, If):
        return f"if {spelled(node.condition)}:"
    if isinstance(node, Do):
        return spelled(node.call)
    if isinstance(node, While):
        return "while True:"
    return "return" if node.status is None else f"return {spelled(node.status)}"


def _range(loop: Loop) -> str:
    if loop.reverse:
        return f"{spelled(_minus_one(loop.hi))}, {spelled(_minus_one(loop.lo))}, -1"
    if loop.step != ONE:
        return f"{spelled(loop.lo)}, {spelled(loop.hi)}, {spelled(loop.step)}"
    return spelled(loop.hi) if loop.lo == ZERO else f"{spelled(loop.lo)}, {spelled(loop.hi)}"


def _minus_one(e: Expression) -> Expression:
    number = known_integer(e)
    if number is not None:
        return integer(number - 1)
    is_one_more = isinstance(e, Bin) and e.op == "+" and e.b == ONE
    return e.a if is_one_more else Bin("-", e, ONE)  # type: ignore[attr-defined]
