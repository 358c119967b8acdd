"""Loop IR: scalars, flat arrays and loops; what the renderers turn into source.

Expressions are source text already, since every target is Python. Names are unique in a kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

__all__ = ["Assign", "Do", "If", "Let", "Loop", "Node", "Return", "Store", "While"]


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


@dataclass(slots=True)
class While:
    """`head; while condition: body; head` with the head computing the condition."""

    head: list[Node]
    condition: str
    body: list[Node]
    comment: str = ""


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
