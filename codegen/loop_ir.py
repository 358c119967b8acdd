"""Loop IR: scalars, flat arrays and loops; what the renderers turn into source.

Expressions are source text already, since every target is Python. Names are unique in a kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tracejit.ir.core import Block

if TYPE_CHECKING:
    from tracejit.codegen.schedule import Nest

__all__ = ["Assign", "Do", "If", "Let", "Loop", "Node", "Return", "Store", "While", "children",
           "filled", "grouped", "loops_in", "substituted", "texts"]


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
    step: int | str = 1
    comment: str = ""
    blocks: tuple[Block, ...] = ()
    """Of a loop of the program, the blocks of the IR that it runs."""
    nest: Nest | None = None
    """Of a loop over elements, the scheduled loop that it carries out."""
    role: str = ""
    """What other loops around these are for."""
    independent: bool = False
    """Noted for the device only: whether iterations may run at once, in any order."""
    folds: tuple[tuple[str, str], ...] = ()
    """Noted for the device only: the registers that it folds into, and how they combine."""
    runs: str = ""
    """Noted for the device only: the register of the running sum that is all it does."""
    is_divisible: bool = False
    """Noted for the device only, of a loop in others: whether threads that do one iteration of
    those together may divide its iterations."""


@dataclass(slots=True)
class While:
    """`head; while condition: body; head` with the head computing the condition."""

    head: list[Node]
    condition: str
    body: list[Node]
    comment: str = ""
    blocks: tuple[Block, ...] = ()
    counter: str = ""
    """The variable that counts the iterations."""


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


Node = Let | Assign | Store | Loop | While | If | Do | Return


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


def loops_in(nodes: Sequence[Node]) -> Iterator[Loop | While]:
    """Yield all loops, in the order of the source."""
    for node in nodes:
        if isinstance(node, (Loop, While)):
            yield node
        for block in children(node):
            yield from loops_in(block)


# --- source text --------------------------------------------------------------------------------


ATOM, PRODUCT, SUM, COMPARISON = 9, 3, 2, 1
"""How tightly source holds together: names and calls, `* / %`, `+ -`, all else."""

_TIGHTNESS = {"+": SUM, "-": SUM, **dict.fromkeys(("*", "/", "%", "//"), PRODUCT), **dict.fromkeys(
    ("<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "and", "or", "if", "else"), COMPARISON)}


def tightness(text: str) -> int:
    """Return how tightly source holds together: as its loosest operator outside of brackets."""
    level, depth = (PRODUCT if text[:1] in "-~" else ATOM), 0
    for k, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if depth == 0 and c == " ":
            level = min(level, _TIGHTNESS.get(text[k + 1:].partition(" ")[0], ATOM))
    return level


def grouped(text: str, least: int = ATOM) -> str:
    """Return source in parentheses unless it holds together as tightly as its place needs."""
    if text.startswith("not "):
        return f"({text})"
    return text if tightness(text) >= least else f"({text})"


def filled(template: str, operands: Sequence[str], **names: str) -> str:
    """Return a template of source with operands put in, in parentheses where they need them."""
    for k, x in enumerate(operands):
        template = substituted(template, rf"\{{{k}\}}", x)
    for name, text in names.items():
        template = template.replace(f"{{{name}}}", text)
    return template


def substituted(text: str, pattern: str, part: str) -> str:
    """Return source with an expression for what matches a pattern, in parentheses if need be."""
    def replace(m: re.Match[str]) -> str:
        before, after = _BEFORE.search(text[:m.start()]), _AFTER.match(text[m.end():])
        if before is None and after is None:
            return part
        is_sign = before is not None and (part.startswith("-") or before[1] is None)
        if is_sign or (after is not None and after[1] is None):
            return grouped(part)
        least = SUM
        for neighbour, extra in ((before, 1), (after, 0)):
            level = 0 if neighbour is None else _TIGHTNESS.get(neighbour[1], ATOM)
            least = max(least, min(level + extra, ATOM) if level > COMPARISON else 0)
        return grouped(part, least)

    return re.sub(pattern, replace, text)


_BEFORE = re.compile(r"(?:([^\s,(\[]+) |[-~])$")
"""An operator before a place, or a sign."""

_AFTER = re.compile(r" (\S+)|[.\[]")
"""An operator behind a place, an attribute or an index."""
