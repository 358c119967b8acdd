"""Loop IR as Python source for Numba, meant to be read: a real file with comments on lines."""

from __future__ import annotations

from collections.abc import Sequence

from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_expressions import (
    ONE,
    ZERO,
    Bin,
    Expression,
    integer,
    known_integer,
)
from tracejit.codegen.loop_ir import (
    NOWHERE,
    Assign,
    Do,
    If,
    Let,
    Loop,
    Node,
    Origin,
    Return,
    Store,
    While,
)
from tracejit.codegen.slots import arena_layout, dim_source
from tracejit.ir.core import Graph
from tracejit.ir.dtypes import dtype_name
from tracejit.ir.user_text import in_docstring, on_one_line

__all__ = ["heading", "render", "render_nodes", "wrapped"]

COMMENT_COLUMN = 60
MAX_INLINED = 70


def render(kernel: Kernel) -> str:
    """Return the module that holds a kernel."""
    names = [b.name for b in kernel.inputs] + [b.name for b in kernel.outputs]
    params = ["ctx", *names, *(["arena"] if kernel.arena else []), *kernel.size_names]
    lines = wrapped(f"def kernel({', '.join(params)}):")
    lines += [line for node in kernel.head for line in _node(node, 1)]
    lines += _prologue(kernel)
    lines += render_nodes(kernel.nodes, 1)
    text = "\n".join(lines) + "\n"
    return "\n".join([*heading(kernel.graph, "emitted by tracejit."), text])


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


def _prologue(kernel: Kernel) -> list[str]:
    """Lay the arena out."""
    first_scope = len(kernel.inputs) + len(kernel.outputs)
    lines = []
    for slot in arena_layout(kernel):
        scope = first_scope + slot.number
        for buffer in slot.buffers:
            at = f"{dtype_name(buffer.dtype)}_at(arena, {slot.offset}, {scope})"
            lines.append(f"    {buffer.name} = {at}")
        lines.append(f"    {slot.next} = {slot.end}" if slot.next else "")
    if kernel.is_checked:
        sizes = [dim_source(b.size, kernel.scalar_names) for b in kernel.buffers]
        lines += [f"    {b.name} = within(ctx, {b.name}, {size}, {k})"
                  for k, (b, size) in enumerate(zip(kernel.buffers, sizes, strict=True))]
    return [line for line in lines if line]


# --- nodes --------------------------------------------------------------------------------------


def _line(text: str, depth: int, origin: Origin = NOWHERE) -> str:
    text = "    " * depth + text
    comment = str(origin)
    return f"{text:<{COMMENT_COLUMN}}  # {on_one_line(comment)}" if comment else text


def render_nodes(nodes: Sequence[Node], depth: int) -> list[str]:
    """Return nodes as lines of source."""
    lines = [line for node in nodes for line in _node(node, depth)]
    return lines or [_line("pass", depth)]


def _node(node: Node, depth: int) -> list[str]:
    if isinstance(node, (Let, Assign)):
        return [_line(f"{node.name} = {node.expression}", depth, node.origin)]
    if isinstance(node, Store):
        return [_line(f"{node.buffer}[{node.index}] = {node.expression}", depth, node.origin)]
    if isinstance(node, Loop):
        bounds = str(node.hi) if node.lo == ZERO else f"{node.lo}, {node.hi}"
        if node.reverse:
            bounds = f"{_minus_one(node.hi)}, {_minus_one(node.lo)}, -1"
        elif node.step != ONE:
            bounds = f"{node.lo}, {node.hi}, {node.step}"
        head = _line(f"for {node.var} in range({bounds}):", depth, node.origin)
        return [head, *render_nodes(node.body, depth + 1)]
    if isinstance(node, While):
        head = _line("while True:", depth, node.origin)
        test = _line(f"if not ({node.condition}):", depth + 1)
        return [head, *[x for n in node.head for x in _node(n, depth + 1)], test,
                _line("break", depth + 2), *render_nodes(node.body, depth + 1)]
    if isinstance(node, If):
        lines = [_line(f"if {node.condition}:", depth, node.origin),
                 *render_nodes(node.then, depth + 1)]
        if node.other:
            lines += [_line("else:", depth), *render_nodes(node.other, depth + 1)]
        return lines
    if isinstance(node, Do):
        return [_line(str(node.call), depth, node.origin)]
    assert isinstance(node, Return)
    status = "" if node.status is None else f" {node.status}"
    return [_line(f"return{status}", depth, node.origin)]


def _minus_one(e: Expression) -> Expression:
    number = known_integer(e)
    if number is not None:
        return integer(number - 1)
    is_one_more = isinstance(e, Bin) and e.op == "+" and e.b == ONE
    return e.a if is_one_more else Bin("-", e, ONE)  # type: ignore[attr-defined]
