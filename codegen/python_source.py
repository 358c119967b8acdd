"""Loop IR as Python source for Numba, meant to be read: a real file with a comment on every line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tracejit.codegen.loop_ir import Assign, Do, If, Let, Loop, Node, Return, Store, While
from tracejit.codegen.lower import Kernel
from tracejit.codegen.slots import arena_layout
from tracejit.ir.types import dtype_name

__all__ = ["render"]

COMMENT_COLUMN = 60
MAX_INLINED = 70


def render(kernel: Kernel) -> str:
    """Return the module that holds a kernel."""
    names = [b.name for b in kernel.inputs] + [b.name for b in kernel.outputs]
    sizes = [kernel.labels[v] for v in kernel.graph.sizes]
    lines = ['"""' + f"{kernel.graph.name}: emitted by tracejit.", ""]
    lines += [*str(kernel.graph).splitlines(), '"""', ""]
    params = ["ctx", *names, *(["arena"] if kernel.arena else []), *sizes]
    lines += _wrapped(f"def kernel({', '.join(params)}):")
    lines += [line for node in kernel.head for line in _node(node, 1)]
    lines += _prologue(kernel)
    lines += _block(inline_once(kernel.nodes), 1)
    text = "\n".join(lines) + "\n"
    for number, dtype in enumerate(kernel.logs):
        scope = log_scope(kernel, number)
        text = text.replace(f"scope_log{number})", f'"{dtype_name(dtype)}:{scope}")')
    return text


def log_scope(kernel: Kernel, number: int) -> int:
    """Return the alias scope of a Log: they follow those of the buffers."""
    slots = len({b.number for b in kernel.arena})
    return len(kernel.inputs) + len(kernel.outputs) + slots + number


def _wrapped(text: str) -> list[str]:
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
    return [line for line in lines if line]


# --- nodes --------------------------------------------------------------------------------------


def _line(text: str, depth: int, comment: str) -> str:
    text = "    " * depth + text
    return f"{text:<{COMMENT_COLUMN}}  # {comment}" if comment else text


def _block(nodes: Sequence[Node], depth: int) -> list[str]:
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
        return [head, *_block(node.body, depth + 1)]
    if isinstance(node, While):
        head = _line("while True:", depth, node.comment)
        test = _line(f"if not ({node.condition}):", depth + 1, "")
        return [head, *[x for n in node.head for x in _node(n, depth + 1)], test,
                _line("break", depth + 2, ""), *_block(node.body, depth + 1)]
    if isinstance(node, If):
        lines = [_line(f"if {node.condition}:", depth, node.comment), *_block(node.then, depth + 1)]
        if node.other:
            lines += [_line("else:", depth, ""), *_block(node.other, depth + 1)]
        return lines
    if isinstance(node, Do):
        return [_line(node.call, depth, node.comment)]
    assert isinstance(node, Return)
    return [_line(f"return {node.status}", depth, node.comment)]


def _minus_one(text: str) -> str:
    if text.lstrip("-").isdigit():
        return str(int(text) - 1)
    if text.endswith(" + 1"):
        return text[:-4]
    return f"{text} - 1"


# --- fewer names --------------------------------------------------------------------------------


def inline_once(nodes: list[Node]) -> list[Node]:
    """Put scalars that are used once, in the same block, where they are used.

    Only past nodes that neither write to memory nor branch, so that every load stays before the
    stores that follow it.
    """
    counts: dict[str, int] = {}
    _count(nodes, counts)
    return _inline_block(nodes, counts)


_NAME = re.compile(r"[A-Za-z_]\w*")


def _texts(node: Node) -> list[str]:
    if isinstance(node, (Let, Assign)):
        return [node.expression]
    if isinstance(node, Store):
        return [node.index, node.expression]
    if isinstance(node, Loop):
        return [node.lo, node.hi]
    if isinstance(node, (If, While)):
        return [node.condition]
    return [node.call if isinstance(node, Do) else node.status]


def _children(node: Node) -> list[list[Node]]:
    if isinstance(node, Loop):
        return [node.body]
    if isinstance(node, While):
        return [node.head, node.body]
    return [node.then, node.other] if isinstance(node, If) else []


def _count(nodes: Sequence[Node], counts: dict[str, int]) -> None:
    for node in nodes:
        for text in _texts(node):
            for name in _NAME.findall(text):
                counts[name] = counts.get(name, 0) + 1
        for block in _children(node):
            _count(block, counts)


def _inline_block(nodes: list[Node], counts: dict[str, int]) -> list[Node]:
    result: list[Node] = []
    pending: dict[str, Let] = {}
    for node in nodes:
        for block in _children(node):
            block[:] = _inline_block(block, counts)
        if pending:
            result += _use_pending(node, pending)
        if isinstance(node, Let) and counts.get(node.name) == 1 and len(node.expression) < MAX_INLINED:
            pending[node.name] = node
            continue
        if isinstance(node, (Assign, Store, Loop, While, If, Do)):
            result += pending.values()
            pending.clear()
        result.append(node)
    return [*result, *pending.values()]


def _use_pending(node: Node, pending: dict[str, Let]) -> list[Node]:
    """Substitute pending scalars into a node; return those that have to be set before it."""
    before: list[Node] = []
    if isinstance(node, (Let, Assign, Store)):
        for name in _NAME.findall(" ".join(_texts(node))):
            let = pending.get(name)
            if let is not None and _length(node) + len(let.expression) < MAX_INLINED:
                _substitute(node, name, let)
                del pending[name]
    used = {n for text in _texts(node) for n in _NAME.findall(text)}
    for name in [n for n in pending if n in used]:
        before.append(pending.pop(name))
    return before


def _length(node: Node) -> int:
    return sum(map(len, _texts(node)))


def _substitute(node: Let | Assign | Store, name: str, let: Let) -> None:
    pattern = re.compile(rf"\b{name}\b")

    def replace(text: str) -> str:
        if text == name:
            return let.expression
        bare = _stands_alone(text, name)
        compound = " " in let.expression or let.expression.startswith("-")
        return pattern.sub(lambda m: f"({let.expression})" if compound and not bare
                           else let.expression, text)

    node.expression = replace(node.expression)
    if isinstance(node, Store):
        node.index = replace(node.index)
    node.comment = _joined(let.comment, node.comment)


def _stands_alone(text: str, name: str) -> bool:
    """Whether a name is a whole argument of a call or a whole index."""
    m = re.search(rf"(?<=[(\[,]) ?{name}(?=[)\],])", text)
    return m is not None


def _joined(a: str, b: str) -> str:
    """Join two comments of one line; the user's line is written once."""
    if not a or not b:
        return a or b
    (x, _, site), (y, _, other) = a.partition("  "), b.partition("  ")
    text = f"{x} {y}"
    return f"{text}  {other or site}" if other or site else text
