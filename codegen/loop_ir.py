"""Loop IR: scalars, flat arrays and loops; what the renderers turn into source.

Expressions are source text already, since every target is Python. Names are unique in a kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from tracejit.ir.core import Block

__all__ = ["Assign", "Do", "If", "Let", "Loop", "Node", "Return", "Store", "While", "children",
           "texts"]


@dataclass(slots=True)
class Let:
    """`name = expression`: a scalar that is set once per execution of its block."""

    name: str
    expression: str
    comment: str = ""


@dataclass(slots=True)
class Assign:
    """`name = expression`: a scalar that changes, such as an accumulator or a carried value."""

    name: str
    expression: str
    comment: str = ""


@dataclass(slots=True)
class Store:
    """`buffer[index] = expression`."""

    buffer: str
    index: str
    expression: str
    comment: str = ""


@dataclass(slots=True)
class Loop:
    """`for var in range(lo, hi)`, downwards where `reverse`, in steps of `step`."""

    var: str
    lo: str
    hi: str
    body: list[Node] = field(default_factory=list)
    reverse: bool = False
    step: int = 1
    comment: str = ""
    blocks: tuple[Block, ...] = ()
    """Of a loop of the program, the blocks of the IR that it runs."""


@dataclass(slots=True)
class While:
    """`head; while condition: body; head` with the head computing the condition."""

    head: list[Node]
    condition: str
    body: list[Node]
    comment: str = ""
    blocks: tuple[Block, ...] = ()


@dataclass(slots=True)
class If:
    """`if condition: then; else: other`."""

    condition: str
    then: list[Node]
    other: list[Node] = field(default_factory=list)
    comment: str = ""


@dataclass(slots=True)
class Do:
    """Call a routine on whole buffers."""

    call: str
    comment: str = ""


@dataclass(slots=True)
class Return:
    """Leave the kernel with a status."""

    status: str
    comment: str = ""


Node = Union[Let, Assign, Store, Loop, While, If, Do, Return]


def texts(node: Node) -> list[str]:
    """Return the expressions that a node evaluates itself."""
    if isinstance(node, (Let, Assign)):
        return [node.expression]
    if isinstance(node, Store):
        return [node.index, node.expression]
    if isinstance(node, Loop):
        return [node.lo, node.hi]
    if isinstance(node, (If, While)):
        return [node.condition]
    return [node.call if isinstance(node, Do) else node.status]


def children(node: Node) -> list[list[Node]]:
    """Return the blocks inside a node."""
    if isinstance(node, Loop):
        return [node.body]
    if isinstance(node, While):
        return [node.head, node.body]
    return [node.then, node.other] if isinstance(node, If) else []
