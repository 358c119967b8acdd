"""Loops of x86-64 assembly: which instructions run in them, from which lines, on how many lanes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from tracejit.inspection.machine.calls import called_functions
from tracejit.inspection.machine.instructions import Instruction, instructions_of

__all__ = ["AsmLoop", "Assembly", "Code"]


@dataclass(frozen=True, slots=True)
class Code:
    """Instructions, and per call among them the function, or "" where it is not known."""

    instructions: tuple[Instruction, ...]
    calls: tuple[str, ...]

    @property
    def shapes(self) -> list[tuple[int, str]]:
        """Return the vectors that it computes with, as lanes and type, the most used first.

        Integers are left out where there are floats: they count and address.
        """
        found = [shape for shape, _ in Counter(
            i.shape for i in self.instructions if i.shape is not None).most_common()]
        return [s for s in found if s[1].startswith("f")] or found

    @property
    def moved_bits(self) -> int:
        """Return the width of the widest vectors that it reads from memory or writes there."""
        return max((i.moved_bits for i in self.instructions if not i.on_stack), default=0)

    @property
    def loads(self) -> int:
        """Return how many instructions read memory other than the stack."""
        return sum(i.reads and not i.on_stack for i in self.instructions)

    @property
    def stores(self) -> int:
        """Return how many instructions write to memory other than the stack."""
        return sum(i.writes and not i.on_stack for i in self.instructions)

    @property
    def spills(self) -> int:
        """Return how many instructions read or write the stack: registers ran out."""
        return sum(i.on_stack and (i.reads or i.writes) for i in self.instructions)


@dataclass(frozen=True, slots=True, eq=False)
class AsmLoop:
    """A loop of the assembly.

    own   -- its code, without the code of the loops inside
    inner -- the loops inside
    latch -- the line that the jump back comes from, or 0
    """

    own: Code
    inner: tuple[AsmLoop, ...]
    latch: int

    def instructions(self) -> Iterator[Instruction]:
        """Yield its instructions, with the instructions of the loops inside."""
        yield from self.own.instructions
        for loop in self.inner:
            yield from loop.instructions()

    def all_loops(self) -> Iterator[AsmLoop]:
        """Yield this loop and the loops inside."""
        yield self
        for loop in self.inner:
            yield from loop.all_loops()


class Assembly:
    """A function of an assembly, taken apart.

    loops -- the outermost loops, in order
    """

    blocks: list[_Block]
    called: dict[int, str]
    loops: list[AsmLoop]

    def __init__(self, text: str, symbol: str, file: str = "") -> None:
        """Read a function; `file` is the name of the source file that the lines are of."""
        self.blocks = _blocks(instructions_of(text, symbol, file))
        after = _successors(self.blocks, set(_TABLE.findall(text)))
        self.called = called_functions([b.instructions for b in self.blocks], after)
        self.loops = _Loops(self, after).among(set(range(len(self.blocks))))

    def code(self, instructions: Iterable[Instruction]) -> Code:
        """Return some of the instructions with the functions they call."""
        kept = tuple(instructions)
        return Code(kept, tuple(self.called[id(i)] for i in kept if id(i) in self.called))

    def code_of(self, lines: range) -> Code:
        """Return all that comes from some lines."""
        return self.code(i for b in self.blocks for i in b.instructions if i.line in lines)


# --- blocks -------------------------------------------------------------------------------------

_TABLE = re.compile(r"\t\.(?:quad|long)\t(\.LBB\d+_\d+)")


@dataclass(slots=True)
class _Block:
    """Instructions that run one after another, the last of which may jump."""

    labels: list[str] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)


def _blocks(parts: Iterator[Instruction | str]) -> list[_Block]:
    blocks = [_Block()]
    for part in parts:
        if isinstance(part, str):
            if blocks[-1].instructions:
                blocks.append(_Block())
            blocks[-1].labels.append(part)
            continue
        blocks[-1].instructions.append(part)
        if part.mnemonic.startswith(("j", "ret", "ud2")):
            blocks.append(_Block())
    return blocks


def _successors(blocks: Sequence[_Block], table: Set[str]) -> list[list[int]]:
    """Return where each block may go on; an indirect jump, to any label of a table."""
    places = {label: k for k, block in enumerate(blocks) for label in block.labels}
    found: list[list[int]] = []
    for k, block in enumerate(blocks):
        last = block.instructions[-1] if block.instructions else Instruction("", ())
        after: list[int] = []
        if last.mnemonic.startswith("j"):
            target = last.operands[0]
            labels = table if target.startswith("*") else {target}
            after += sorted(places[label] for label in labels if label in places)
        if not last.mnemonic.startswith(("jmp", "ret", "ud2")) and k + 1 < len(blocks):
            after.append(k + 1)
        found.append(after)
    return found


# --- loops --------------------------------------------------------------------------------------


class _Loops:
    def __init__(self, assembly: Assembly, after: Sequence[Sequence[int]]) -> None:
        self.assembly, self.blocks, self.after = assembly, assembly.blocks, after
        self.before: list[list[int]] = [[] for _ in after]
        for k, targets in enumerate(after):
            for j in targets:
                self.before[j].append(k)

    def among(self, nodes: set[int]) -> list[AsmLoop]:
        """Return the loops among some blocks: blocks from which paths lead back to themselves."""
        parts = sorted(_components(nodes, self.after), key=min)
        return [self._loop(part) for part in parts
                if len(part) > 1 or any(k in self.after[k] for k in part)]

    def _loop(self, part: set[int]) -> AsmLoop:
        """Return the loop of a part; without its entry, only the loops inside are left of it."""
        head = next((k for k in sorted(part) if not part.issuperset(self.before[k])), min(part))
        inner = self.among(part - {head})
        deeper = {id(i) for loop in inner for i in loop.instructions()}
        own = self.assembly.code(i for k in sorted(part) for i in self.blocks[k].instructions
                                 if id(i) not in deeper)
        latches = [self.blocks[k].instructions[-1].line for k in self.before[head]
                   if k in part and self.blocks[k].instructions]
        return AsmLoop(own, tuple(inner), max(latches, default=0))


def _components(nodes: set[int], after: Sequence[Sequence[int]]) -> list[set[int]]:
    """Return the strongly connected parts of a graph (Tarjan's algorithm, without recursion)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    found: list[set[int]] = []
    done: set[int] = set()
    work: list[tuple[int, Iterator[int]]] = []

    def enter(k: int) -> None:
        order[k] = low[k] = len(order)
        stack.append(k)
        work.append((k, iter(after[k])))

    for root in sorted(nodes):
        if root not in order:
            enter(root)
        while work:
            k, rest = work[-1]
            j = next((j for j in rest if j in nodes and j not in done), None)
            if j is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[k])
                if low[k] == order[k]:
                    place = stack.index(k)
                    found.append(set(stack[place:]))
                    done |= found[-1]
                    del stack[place:]
            elif j in order:
                low[k] = min(low[k], order[j])
            else:
                enter(j)
    return found
