"""Passes on Loop IR: drop stores that nothing reads, and names that are used once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tracejit.codegen.loop_ir import (
    Assign,
    Do,
    If,
    Let,
    Loop,
    Node,
    Store,
    While,
    children,
    substituted,
    texts,
)

__all__ = ["drop_unread", "inline_once", "names_in"]

MAX_INLINED = 70
_NAME = re.compile(r"[A-Za-z_]\w*")


def names_in(node: Node) -> Iterator[str]:
    """Yield the names that a node reads, calls included, its children's excluded."""
    for text in texts(node):
        yield from _NAME.findall(text)


# --- stores that nothing reads ------------------------------------------------------------------


def drop_unread(nodes: list[Node], droppable: set[str]) -> list[Node]:
    """Remove stores to buffers that are never read, and the scalars that only those needed.

    droppable -- the names of the buffers that only the kernel sees
    """
    while True:
        used: set[str] = set()
        _collect(nodes, used, droppable)
        kept = _drop(nodes, used, droppable)
        if not kept:
            return nodes


def _collect(nodes: Sequence[Node], used: set[str], droppable: set[str]) -> None:
    for node in nodes:
        used.update(names_in(node))
        if isinstance(node, Store) and node.buffer not in droppable:
            used.add(node.buffer)
        for block in children(node):
            _collect(block, used, droppable)


def _drop(nodes: list[Node], used: set[str], droppable: set[str]) -> bool:
    """Remove what is not used; return whether anything was."""
    before = len(nodes)
    nodes[:] = [node for node in nodes if not _is_unread(node, used, droppable)]
    changed = len(nodes) < before
    for node in nodes:
        for block in children(node):
            changed |= _drop(block, used, droppable)
    return changed


def _is_unread(node: Node, used: set[str], droppable: set[str]) -> bool:
    if isinstance(node, (Let, Assign)):
        return node.name not in used
    if isinstance(node, Store):
        return node.buffer in droppable and node.buffer not in used
    return isinstance(node, (Loop, If)) and not any(children(node))


# --- fewer names --------------------------------------------------------------------------------


def inline_once(nodes: list[Node]) -> list[Node]:
    """Put scalars that are used once, in the same block, where they are used.

    Only past nodes that neither write to memory nor branch, so that every load stays before the
    stores that follow it.
    """
    counts: dict[str, int] = {}
    _count(nodes, counts)
    return _inline_block(nodes, counts)


def _count(nodes: Sequence[Node], counts: dict[str, int]) -> None:
    for node in nodes:
        for text in texts(node):
            for name in _NAME.findall(text):
                counts[name] = counts.get(name, 0) + 1
        for block in children(node):
            _count(block, counts)


def _inline_block(nodes: list[Node], counts: dict[str, int]) -> list[Node]:
    result: list[Node] = []
    pending: dict[str, Let] = {}
    for node in nodes:
        for block in children(node):
            block[:] = _inline_block(block, counts)
        if pending:
            result += _use_pending(node, pending)
        if isinstance(node, Let) and counts.get(node.name) == 1 and (
                len(node.expression) < MAX_INLINED):
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
        for name in _NAME.findall(" ".join(texts(node))):
            let = pending.get(name)
            if let is not None and _length(node) + len(let.expression) < MAX_INLINED:
                _substitute(node, name, let)
                del pending[name]
    used = {n for text in texts(node) for n in _NAME.findall(text)}
    for name in [n for n in pending if n in used]:
        before.append(pending.pop(name))
    return before


def _length(node: Node) -> int:
    return sum(map(len, texts(node)))


def _substitute(node: Let | Assign | Store, name: str, let: Let) -> None:
    node.expression = substituted(node.expression, rf"\b{name}\b", let.expression)
    if isinstance(node, Store):
        node.index = substituted(node.index, rf"\b{name}\b", let.expression)
    node.comment = _joined(let.comment, node.comment)


def _joined(a: str, b: str) -> str:
    """Join two comments of one line; the user's line is written once."""
    if not a or not b:
        return a or b
    (x, _, site), (y, _, other) = a.partition("  "), b.partition("  ")
    text = " ".join(dict.fromkeys(f"{x} {y}".split()))
    return f"{text}  {other or site}" if other or site else text
