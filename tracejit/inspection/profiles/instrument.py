"""Clocks and counters in a kernel: its steps, with laps between them.

A step is a loop nest, a loop of the program, a branch or a call of a library, with the scalar code
before it. Steps in the program's own loops and branches are timed, too, unless they are too short
for the clock: short steps of one block are then timed together, as its *rest*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from tracejit.codegen.expression_edits import call, integer, known_integer
from tracejit.codegen.loop_expressions import ONE, ZERO, Bin, Expression, Extent
from tracejit.codegen.loop_ir import Do, If, Loop, Node, Return, While, children, expressions
from tracejit.inspection.costs.routines import calls_in

__all__ = ["Part", "Step", "counted", "is_margins", "split", "timed", "without_counts"]


@dataclass(eq=False, slots=True)
class Step:
    """Nodes that are timed together.

    around   -- the loops and branches that it is in, outermost first
    parts    -- of a loop or branch whose own steps are timed, its blocks
    is_timed -- whether it has a clock of its own
    slot     -- where its time is, and one further on, how often it ran
    """

    nodes: list[Node]
    around: tuple[Node, ...]
    parts: list[Part] = field(default_factory=list)
    is_timed: bool = True
    slot: int = 0

    @property
    def main(self) -> Node:
        """Return the loop, branch or call that the step is about."""
        return next(n for n in reversed(self.nodes) if _is_work(n))


@dataclass(eq=False, slots=True)
class Part:
    """A block: its steps, the nodes behind them, and the slot for the time of its rest.

    block -- the block of Loop IR that it stands for
    """

    steps: list[Step]
    trailing: list[Node]
    around: tuple[Node, ...]
    block: list[Node]
    slot: int = 0

    def short(self) -> list[Step]:
        """Return the steps that have no clock of their own."""
        return [s for s in self.steps if not s.is_timed]


def split(nodes: list[Node], around: tuple[Node, ...] = ()) -> Part:
    """Return the steps of a block."""
    steps: list[Step] = []
    pending: list[Node] = []
    for node in nodes:
        pending.append(node)
        if _is_work(node) and not is_margins(node):
            steps.append(Step(pending, around, _parts(node, around)))
            pending = []
    ends = pending[-1:] if pending and isinstance(pending[-1], Return) else []
    scalars = pending[:len(pending) - len(ends)]
    if steps and not steps[-1].parts:  # a node behind a sum stores it
        steps[-1].nodes += scalars
        scalars = []
    return Part(steps, [*scalars, *ends], around, nodes)


def _parts(node: Node, around: tuple[Node, ...]) -> list[Part]:
    """Return the blocks of a loop of the program, or of a branch, that have steps of their own."""
    is_own = isinstance(node, If) or (isinstance(node, (Loop, While)) and bool(node.blocks))
    if not is_own or not any(_is_work(n) for block in children(node) for n in block):
        return []
    return [split(block, (*around, node)) for block in children(node)]


def _is_work(node: Node) -> bool:
    """Whether a node has loops or calls of routines."""
    if isinstance(node, (Loop, While)) or any(calls_in(node)) or any(
            "call_native" in e.calls for e in expressions(node)):
        return True
    return any(_is_work(n) for block in children(node) for n in block)


def is_margins(node: Node) -> bool:
    """Return whether a loop runs over the margins of the loop that follows it."""
    if not isinstance(node, Loop) or not node.body:
        return False
    last = node.body[-1]
    return isinstance(last, Loop) and any(
        isinstance(n, Do) and n.call.fn.name == "scalar_loop" for n in last.body)


# --- clocks -------------------------------------------------------------------------------------


def timed(part: Part, slots: Iterator[int]) -> list[Node]:
    """Return the nodes of a block with laps between its steps; each gets a slot."""
    result: list[Node] = []
    part.slot = next(slots)
    in_rest = False
    for step in part.steps:
        if step.is_timed and in_rest:
            result.append(_lap(part.slot))
        in_rest = not step.is_timed
        if step.parts:
            *before, node = step.nodes
            result += [*before, _with_blocks(node, [timed(p, slots) for p in step.parts])]
        else:
            result += step.nodes
        if step.is_timed and not step.parts:
            step.slot = next(slots)
            result.append(_lap(step.slot))
    ends = [n for n in part.trailing if isinstance(n, Return)]
    result += part.trailing[:len(part.trailing) - len(ends)]
    if in_rest or not (part.steps or part.around):
        result.append(_lap(part.slot))
    return [*result, *ends]


def _lap(slot: int) -> Do:
    return Do(call("lap", integer(slot)))


def _with_blocks(node: Node, blocks: Sequence[list[Node]]) -> Node:
    if isinstance(node, Loop):
        return replace(node, body=blocks[0])
    if isinstance(node, While):
        return replace(node, head=blocks[0], body=blocks[1])
    if isinstance(node, If):
        return replace(node, then=blocks[0], other=blocks[1])
    return node


# --- counters -----------------------------------------------------------------------------------


def counted(nodes: Sequence[Node], slots: Iterator[int], found: dict[object, int]) -> list[Node]:
    """Return nodes with counters; `found` gets their slots.

    A block's id is the key of the slot for how often it runs; the id of a node that calls a
    routine, with an amount, is the key of the slot for that amount of flops or elements moved.
    """
    result: list[Node] = []
    for node in nodes:
        blocks = [counted(block, slots, found) for block in children(node)]
        new = _with_blocks(node, blocks) if blocks else replace(node)
        for made in calls_in(node):
            amounts = made.flops, *made.reads.values(), *made.writes.values()
            for amount in dict.fromkeys(amounts):
                found[id(new), amount] = slot = next(slots)
                result.append(_tally(slot, amount))
        for block in blocks:
            if not block and not isinstance(node, While):
                continue
            found[id(block)] = slot = next(slots)
            if isinstance(node, Loop):
                result.append(_tally(slot, _trips(node)))
            else:
                block.insert(0, _tally(slot, ONE))
        result.append(new)
    return result


def _tally(slot: int, amount: Expression) -> Do:
    return Do(call("tally", integer(slot), amount))


def _trips(loop: Loop) -> Expression:
    """Return how often a loop runs."""
    span: Expression = Extent(loop.lo, loop.hi)
    if loop.step != ONE:
        step = known_integer(loop.step)
        assert step is not None, "kernels for a device are not measured"
        span = call("idiv", Bin("+", span, integer(step - 1)), loop.step)
    return call("imax", span, ZERO)


def without_counts(nodes: Sequence[Node]) -> list[Node]:
    """Return nodes without counters."""
    return [_with_blocks(n, [without_counts(b) for b in children(n)]) for n in nodes
            if not (isinstance(n, Do) and n.call.fn.name == "tally")]
