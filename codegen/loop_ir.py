"""Loop IR: scalars, flat arrays and loops, of which the renderers make source.

    block = node*
    node  = Let(name, expression)                a scalar, set once per execution of its block
          | Assign(name, expression)             a scalar that changes
          | Store(buffer, index, expression)
          | Loop(var, lo, hi, body)              for var in range(lo, hi)
          | While(head, condition, body)         head; while condition: body; head
          | If(condition, then, other)
          | Do(call)                             a routine on whole buffers
          | Return(status)

Expressions are in `loop_expressions.py`. Every node knows its origin: the equations that it
carries out, the user's line, and of a copy the reason. Names are unique in a kernel, but for names
of loop variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tracejit.codegen.loop_expressions import ONE, Call, Expression
from tracejit.ir.core import Block, Site

if TYPE_CHECKING:
    from tracejit.codegen.schedule import Nest

__all__ = ["NOWHERE", "Assign", "Do", "If", "Let", "Loop", "Node", "Origin", "Return", "Store",
           "While", "children", "depth_of", "every_node", "expressions", "loops_in"]


@dataclass(frozen=True, slots=True)
class Origin:
    """The purpose of a node.

    labels -- of the equations that it carries out, the names of their results in the printed graph
    site   -- the user's line
    copied -- of a copy of an array, why it is made
    """

    labels: tuple[str, ...] = ()
    site: Site | None = None
    copied: str = ""

    def joined(self, other: Origin) -> Origin:
        """Return the origin of a node that does the work of two, the other one last."""
        return Origin(tuple(dict.fromkeys((*self.labels, *other.labels))),
                      other.site or self.site, other.copied or self.copied)

    def __str__(self) -> str:
        names = " ".join(f"%{label}" for label in self.labels)
        if self.copied:
            names += f", a copy: {self.copied}"
        return "  ".join([*([names] if names else []), *([] if self.site is None else
                                                        [str(self.site)])])


NOWHERE = Origin()


@dataclass(slots=True)
class Let:
    """`name = expression`: a scalar that is set once per execution of its block."""

    name: str
    expression: Expression
    origin: Origin = NOWHERE


@dataclass(slots=True)
class Assign:
    """`name = expression`: a scalar that changes, such as an accumulator or a carried value."""

    name: str
    expression: Expression
    origin: Origin = NOWHERE


@dataclass(slots=True)
class Store:
    """`buffer[index] = expression`."""

    buffer: str
    index: Expression
    expression: Expression
    origin: Origin = NOWHERE


@dataclass(slots=True)
class Loop:
    """`for var in range(lo, hi)`, downwards where `reverse`, in steps of `step`."""

    var: str
    lo: Expression
    hi: Expression
    body: list[Node] = field(default_factory=list)
    reverse: bool = False
    step: Expression = ONE
    origin: Origin = NOWHERE
    blocks: tuple[Block, ...] = ()
    """Of a loop of the program, the blocks of the IR that it runs."""
    nest: Nest | None = None
    """Of a loop over elements, the scheduled loop that it carries out."""
    role: str = ""
    """The role of a loop that is neither the program's nor over elements."""
    independent: bool = False
    """Noted where threads may share loops: whether iterations may run at once, in any order."""
    sums: tuple[str, ...] = ()
    """Noted there, too: the buffers that all iterations add to, if they meet nowhere else."""
    results: tuple[str, ...] = ()
    """Of a loop of the program whose iterations are independent, the buffers of which each fills
    a part."""
    folds: tuple[tuple[str, str], ...] = ()
    """Noted for the device only: the registers that it folds into, and how they combine."""
    runs: str = ""
    """Noted for the device only: the register of the running sum that is all it does."""
    is_divisible: bool = False
    """Noted for the device only, of a loop in others: whether threads that share one iteration of
    the outer ones may divide its iterations."""


@dataclass(slots=True)
class While:
    """`head; while condition: body; head` with the head computing the condition."""

    head: list[Node]
    condition: Expression
    body: list[Node]
    origin: Origin = NOWHERE
    blocks: tuple[Block, ...] = ()
    counter: str = ""
    """The variable that counts the iterations."""


@dataclass(slots=True)
class If:
    """`if condition: then; else: other`."""

    condition: Expression
    then: list[Node]
    other: list[Node] = field(default_factory=list)
    origin: Origin = NOWHERE


@dataclass(slots=True)
class Do:
    """Call a routine on whole buffers."""

    call: Call
    origin: Origin = NOWHERE


@dataclass(slots=True)
class Return:
    """Leave the kernel with a status."""

    status: Expression | None = None
    origin: Origin = NOWHERE


Node = Let | Assign | Store | Loop | While | If | Do | Return


def expressions(node: Node) -> tuple[Expression, ...]:
    """Return the expressions that a node evaluates itself."""
    if isinstance(node, (Let, Assign)):
        return (node.expression,)
    if isinstance(node, Store):
        return node.index, node.expression
    if isinstance(node, Loop):
        return node.lo, node.hi
    if isinstance(node, (If, While)):
        return (node.condition,)
    if isinstance(node, Do):
        return (node.call,)
    return () if node.status is None else (node.status,)


def children(node: Node) -> list[list[Node]]:
    """Return the blocks inside a node."""
    if isinstance(node, Loop):
        return [node.body]
    if isinstance(node, While):
        return [node.head, node.body]
    return [node.then, node.other] if isinstance(node, If) else []


def every_node(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield nodes and the nodes inside of them, in the order of the source."""
    for node in nodes:
        yield node
        for block in children(node):
            yield from every_node(block)


def depth_of(nodes: Sequence[Node]) -> int:
    """Return how many loops the innermost ones are in, themselves included."""
    return max((isinstance(node, (Loop, While)) + max(map(depth_of, children(node)), default=0)
                for node in nodes), default=0)


def loops_in(nodes: Sequence[Node]) -> Iterator[Loop | While]:
    """Yield all loops, in the order of the source."""
    for node in nodes:
        if isinstance(node, (Loop, While)):
            yield node
        for block in children(node):
            yield from loops_in(block)
