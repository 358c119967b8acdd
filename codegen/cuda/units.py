"""The parts of a program for a device: launches, and the statements of the host between them.

A loop over elements whose iterations are independent is spread over a grid of threads, together
with the independent loops right inside of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from tracejit.codegen.cuda.products import NAME
from tracejit.codegen.cuda.teams import Team
from tracejit.codegen.expression_edits import known_integer
from tracejit.codegen.loop_expressions import Expression
from tracejit.codegen.loop_ir import Assign, Do, If, Let, Loop, Node, While, children

__all__ = ["Control", "HostValue", "DeviceSteps", "Step", "Told", "Unit", "axes_of", "has_grid",
           "is_grid", "is_product", "is_running"]

FEW = 32
"""Iterations of a known number up to this are left to one thread."""
MAX_AXES = 3
"""A grid has three axes."""


@dataclass(eq=False, slots=True)
class Unit:
    """The work of one launch.

    nodes   -- its Loop IR
    axes    -- of a grid unit, the loops that are spread over threads, outermost first
    folds   -- registers of a grid unit whose parts are left in memory, and how they combine
    finishes -- folds of grid units whose parts a unit of one block adds up first
    before  -- scalars that are computed again for it
    team    -- how threads do an iteration of a grid unit together, where they do
    splits  -- registers of which many blocks leave a part for each column
    parts   -- registers of running sums whose sum in each stretch is left in memory, or read
    is_product -- whether it is a product of matrices, for which the host may know a library
    joins   -- registers whose parts, as many as blocks have left, a thread folds for its column
    """

    name: str
    nodes: list[Node]
    axes: list[Loop] = field(default_factory=list)
    folds: tuple[tuple[str, str], ...] = ()
    finishes: list[tuple[str, str, Unit]] = field(default_factory=list)
    before: list[Let] = field(default_factory=list)
    team: Team | None = None
    splits: tuple[tuple[str, str], ...] = ()
    joins: tuple[tuple[str, str], ...] = ()
    parts: tuple[str, ...] = ()
    is_product: bool = False

    @property
    def is_grid(self) -> bool:
        """Return whether it runs in many threads."""
        return bool(self.axes)

    @property
    def is_map(self) -> bool:
        """Return whether threads have whole iterations of the program, with memory of their own."""
        return any(loop.blocks for loop in self.axes)


@dataclass(eq=False, slots=True)
class HostValue:
    """An integer that the host computes."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Told:
    """A number that the host asks the device for: a scalar on the device."""

    name: str


@dataclass(eq=False, slots=True)
class Control:
    """A loop or branch that the host runs, with the steps inside.

    bounds -- of a loop where it begins and ends, else the condition, of a `While` after its head
    """

    node: Loop | While | If
    head: list[Step]
    body: list[Step]
    other: list[Step]
    bounds: tuple[Expression | Told, ...]


Step = Unit | HostValue | Control


@dataclass(slots=True)
class DeviceSteps:
    """The steps of a program, and the scalars that lie in memory of the device, by name."""

    steps: list[Step]
    scalars: dict[str, np.dtype]
    host: frozenset[str]
    aliases: dict[str, tuple[int, str]]
    """Arrays that are parts of a Log: its number, and the name of the place where each begins."""

    def units(self) -> list[Unit]:
        """Return every unit, in order."""
        return [step for step in _every_step(self.steps) if isinstance(step, Unit)]

    def controls(self) -> list[Control]:
        """Return every loop and branch of the host, outer ones first."""
        return [step for step in _every_step(self.steps) if isinstance(step, Control)]

    def variables(self) -> set[str]:
        """Return the variables of the host's loops."""
        return {c.node.var for c in self.controls() if isinstance(c.node, Loop)}


def _every_step(steps: Iterable[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        if isinstance(step, Control):
            for part in (step.head, step.body, step.other):
                yield from _every_step(part)


# --- nodes that may be spread over threads ------------------------------------------------------


def axes_of(loop: Loop) -> list[Loop]:
    """Return the loops to be spread over threads: none, or a chain from this one inwards.

    Between them there is nothing but scalars, which every thread computes for itself. The chain
    ends at a loop of the program, and where a further loop folds.
    """
    found: list[Loop] = []
    current: Loop | None = loop
    while current is not None:
        if current.blocks and not current.independent:
            break
        if current.independent:
            found.append(current)
        inner = [node for node in current.body if not isinstance(node, (Let, Assign))]
        only = inner[0] if len(inner) == 1 and isinstance(inner[0], Loop) else None
        is_map = bool(current.blocks)
        current = None if only is None or (is_map and only.folds) else only
    return found[-MAX_AXES:]


def _is_few(loops: Sequence[Loop]) -> bool:
    trips = 1
    for loop in loops:
        lo, hi = known_integer(loop.lo), known_integer(loop.hi)
        if lo is None or hi is None:
            return False
        trips *= max(0, hi - lo)
    return trips <= FEW


def is_grid(node: Node) -> bool:
    """Return whether a node is a loop that is worth many threads."""
    axes = axes_of(node) if isinstance(node, Loop) else []
    return bool(axes) and not _is_few(axes)


def is_product(node: Node) -> bool:
    """Return whether a node is a product of matrices that the host launches."""
    return isinstance(node, Do) and node.call.fn.name == NAME


def is_running(node: Node) -> bool:
    """Return whether a node is a running sum that is worth many threads."""
    return isinstance(node, Loop) and bool(node.runs) and not _is_few([node])


def has_grid(node: Node) -> bool:
    """Return whether a node contains one for which the host launches a grid."""
    return any(is_grid(n) or is_product(n) or is_running(n) or has_grid(n)
               for block in children(node) for n in block)
