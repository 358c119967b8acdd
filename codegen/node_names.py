"""Names in Loop IR: which of them nodes set, and which they read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tracejit.codegen.loop_ir import (
    Assign,
    If,
    Let,
    Loop,
    Node,
    Store,
    While,
    children,
    expressions,
)

__all__ = ["defined_in", "exposed_in", "used_in"]


def defined_in(nodes: Iterable[Node]) -> Iterator[str]:
    """Yield the scalars that nodes set, also in the blocks inside of them."""
    for node in nodes:
        if isinstance(node, (Let, Assign)):
            yield node.name
        for block in children(node):
            yield from defined_in(block)


def used_in(nodes: Iterable[Node]) -> Iterator[str]:
    """Yield the names that nodes read, arrays that they write to included."""
    for node in nodes:
        for e in expressions(node):
            yield from e.reads
        if isinstance(node, Store):
            yield node.buffer
        for block in children(node):
            yield from used_in(block)


def exposed_in(nodes: Sequence[Node], known: set[str]) -> set[str]:
    """Return the names that nodes may read before they set them; `known` grows by the names set."""
    found: set[str] = set()
    for node in nodes:
        if not isinstance(node, While):
            found |= {name for e in expressions(node) for name in e.reads} - known
        if isinstance(node, Store):
            found |= {node.buffer} - known
        if isinstance(node, (Let, Assign)):
            known.add(node.name)
        elif isinstance(node, Loop):
            found |= exposed_in(node.body, {*known, node.var})
        elif isinstance(node, While):
            found |= exposed_in(node.head, known)
            found |= node.condition.reads - known
            found |= exposed_in(node.body, set(known))
        elif isinstance(node, If):
            branches = [set(known), set(known)]
            found |= exposed_in(node.then, branches[0]) | exposed_in(node.other, branches[1])
            known |= branches[0] & branches[1]
    return found
