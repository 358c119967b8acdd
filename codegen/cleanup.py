"""Passes on Loop IR: drop stores that nothing reads, and names that are used once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tracejit.codegen.expression_edits import replaced
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
    every_node,
    expressions,
)
from tracejit.codegen.spelling import spelled

__all__ = ["drop_unread", "inline_once", "names_in"]

MAX_INLINED = 70


def names_in(node: Node) -> Iterator[str]:
    """Yield the names that a node reads, as often as it does, its children's excluded."""
    for e in expressions(node):
        yield from e.mentions


# --- stores that nothing reads ------------------------------------------------------------------


def drop_unread(nodes: list[Node], droppable: set[str]) -> list[Node]:
    """Remove stores to buffers that are never read, and the scalars that only such stores needed.

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
        for e in expressions(node):
            used |= e.reads
        if isinstance(node, Store) and node.buffer not in droppable:
            used.add(node.buffer)
        for block in children(node):
            _collect(block, used, droppable)


def _drop(nodes: list[Node], used: set[str], droppable: set[str]) -> bool:
    """Remove unread nodes; return whether there were any."""
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
    counts = Counter(name for node in every_node(nodes) for name in names_in(node))
    return _inline_block(nodes, counts)


def _inline_block(nodes: list[Node], counts: Counter[str]) -> list[Node]:
    result: list[Node] = []
    pending: dict[str, Let] = {}
    for node in nodes:
        for block in children(node):
            block[:] = _inline_block(block, counts)
        if pending:
            result += _use_pending(node, pending)
        if isinstance(node, Let) and counts.get(node.name) == 1 and (
                len(spelled(node.expression)) < MAX_INLINED):
            pending[node.name] = node
            continue
        if isinstance(node, (Assign, Store, Loop, While, If, Do)):
            result += pending.values()
            pending.clear()
        result.append(node)
    return [*result, *pending.values()]


def _use_pending(node: Node, pending: dict[str, Let]) -> list[Node]:
    """Substitute pending scalars into a node; return the scalars that have to be set before it."""
    before: list[Node] = []
    if isinstance(node, (Let, Assign, Store)):
        for name in list(names_in(node)):
            let = pending.get(name)
            if let is not None and _length(node) + len(spelled(let.expression)) < MAX_INLINED:
                _substitute(node, name, let)
                del pending[name]
    used = set(names_in(node))
    for name in [n for n in pending if n in used]:
        before.append(pending.pop(name))
    return before


def _length(node: Node) -> int:
    return sum(len(spelled(e)) for e in expressions(node))


def _substitute(node: Let | Assign | Store, name: str, let: Let) -> None:
    place = {name: let.expression}
    node.expression = replaced(node.expression, place)
    if isinstance(node, Store):
        node.index = replaced(node.index, place)
    node.origin = let.origin.joined(node.origin)
