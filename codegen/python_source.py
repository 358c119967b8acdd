"""Loop IR as Python source for Numba, meant to be read: a real file with comments on lines."""

from __future__ import annotations

from collections.abc import Sequence

from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_ir import Assign, Do, If, Let, Loop, Node, Return, Store, While
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
    for number, dtype in enumerate(kernel.logs):
        scope = log_scope(kernel, number)
        text = text.replace(f"scope_log{number})", f'"{dtype_name(dtype)}:{scope}")')
    return "\n".join([*heading(kernel.graph, "emitted by tracejit."), text])


def heading(graph: Graph, how: str) -> list[str]:
    """Return the docstring of an emitted module: its program's name, and the graph."""
    lines = [f"{graph.name}: {how}", "", *str(graph).splitlines()]
    return [f'"""{in_docstring(lines[0])}', *map(in_docstring, lines[1:]), '"""', ""]


def log_scope(kernel: Kernel, number: int) -> int:
    """Return the alias scope of a Log: they follow those of the buffers."""
    slots = len({b.number for b in kernel.arena})
    return len(kernel.inputs) + len(kernel.outputs) + slots + number


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


def _line(text: str, depth: int, comment: str) -> str:
    text = "    " * depth + text
    return f"{text:<{COMMENT_COLUMN}}  # {on_one_line(comment)}" if comment else text


def render_nodes(nodes: Sequence[Node], depth: int) -> list[str]:
    """Return nodes as lines of source."""
    lines = [line for node in nodes for line in _node(node, depth)]
    return lines or [_line("pass", depth, "")]


def _node(node: Node, depth: int) -> list[str]:
    if isinstance(node, (Let, Assign)):
        return [_line(f"{node.name} = {node.expression}", depth, node.comment)]
    if isinstance(node, Store):
        return [_line(f"{node.buffer}[{node.index}] = {node.expression}", depth, node.comment)]
    if isinstance(node, Loop):
        bounds = node.hi if node.lo == "0" else f"{node.lo}, {node.hi}"
        if node.reverse:
            bounds = f"{_minus_one(node.hi)}, {_minus_one(node.lo)}, -1"
        elif node.step != 1:
            bounds = f"{node.lo}, {node.hi}, {node.step}"
        head = _line(f"for {node.var} in range({bounds}):", depth, node.comment)
        return [head, *render_nodes(node.body, depth + 1)]
    if isinstance(node, While):
        head = _line("while True:", depth, node.comment)
        test = _line(f"if not ({node.condition}):", depth + 1, "")
        return [head, *[x for n in node.head for x in _node(n, depth + 1)], test,
                _line("break", depth + 2, ""), *render_nodes(node.body, depth + 1)]
    if isinstance(node, If):
        lines = [_line(f"if {node.condition}:", depth, node.comment),
                 *render_nodes(node.then, depth + 1)]
        if node.other:
            lines += [_line("else:", depth, ""), *render_nodes(node.other, depth + 1)]
        return lines
    if isinstance(node, Do):
        return [_line(node.call, depth, node.comment)]
    assert isinstance(node, Return)
    return [_line(f"return {node.status}".rstrip(), depth, node.comment)]


def _minus_one(text: str) -> str:
    if text.lstrip("-").isdigit():
        return str(int(text) - 1)
    if text.endswith(" + 1"):
        return text[:-4]
    return f"{text} - 1"
