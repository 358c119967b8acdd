"""The fusion of statements into loop nests, and the order of the steps of a block.

Statements come in program order; each joins the latest loop nest that it may join: one whose outer
loops have the same extents, past nothing that it depends on, and such that an iteration touches
only elements that the same iteration of the other touches. Scalars go as early as their operands
allow, so that they separate as few nests as possible. Where a statement gets a loop of its own
beside one with the same extent, the reason is noted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from tracejit.codegen.buffers import Buffer, Buffers
from tracejit.codegen.elements import Elements, Idx, is_array
from tracejit.codegen.products import is_matrix_product
from tracejit.codegen.statements import Access, Statement, statements_of
from tracejit.ir.core import Block, Eqn, Value
from tracejit.ir.dims import Dim, dim_values, product, substitute
from tracejit.ir.lowering import Callback, Effect, Library, LogOp, Native, Region
from tracejit.ir.walk import eqn_uses, has_effect

__all__ = ["LANES", "Apart", "Nest", "Reason", "Single", "Step", "Style", "schedule_block",
           "statements_in"]


LOOK_BACK = 16
"""How many steps before one that a statement may join are asked whether they share more loops."""

MAX_WRITTEN_OUT = 16
"""How many assignments a loop nest over a small array may become."""

LANES = 8
"""How many numbers a loop is over that stays one, as an operation on vectors: 512 bits."""


@dataclass(frozen=True, slots=True)
class Style:
    """The wishes of a target for nests.

    vectorises   -- whether calls are vectorised, in innermost loops only
    in_registers -- whether all folds are kept in registers
    is_product   -- which contractions are done as a whole
    reads_parts  -- whether these read parts of arrays where they lie
    atomic       -- the dtypes to which iterations may add at once
    in_order     -- whether floats are summed in the order of the program
    parallel     -- whether threads of a CPU may share loops
    fuses        -- whether a product and a sum may be rounded once
    shares_loops -- whether operations share loops, and leave arrays between them in no memory
    """

    vectorises: bool = True
    in_registers: bool = False
    is_product: Callable[[Eqn], bool] = is_matrix_product
    reads_parts: bool = True
    atomic: tuple[np.dtype, ...] = ()
    in_order: bool = False
    parallel: bool = False
    fuses: bool = False
    shares_loops: bool = True


@dataclass(eq=False, slots=True)
class Nest:
    """A loop and its body: statements and further loops, in order."""

    var: Value
    extent: Dim
    body: list[Nest | Statement] = field(default_factory=list)

    def statements(self) -> list[Statement]:
        """Return all statements inside."""
        return [s for part in self.body for s in statements_in(part)]

    def is_tiny(self) -> bool:
        """Return whether it is better written out, iteration by iteration."""
        if not isinstance(self.extent, int):  # of a loop inside that never runs, it may be unknown
            return False
        work = 0
        for s in self.statements():
            trips = product(tuple(s.extents))
            if not isinstance(trips, int) or s.kind not in ("put", "fill", "add", "fold"):
                return False
            work += trips
        return work <= MAX_WRITTEN_OUT

    def is_vector(self) -> bool:
        """Return whether it does what one operation on vectors does, for each operation."""
        return self.extent == LANES and all(isinstance(s, Statement) for s in self.body)

    def at(self, k: int) -> list[Nest | Statement]:
        """Return one iteration."""
        def of(part: Nest | Statement) -> Nest | Statement:
            if isinstance(part, Statement):
                return part.at(self.var, k)
            return Nest(part.var, part.extent, list(map(of, part.body)))

        return list(map(of, self.body))


def statements_in(part: Nest | Statement) -> list[Statement]:
    """Return a statement as a list, or the statements of a nest."""
    return part.statements() if isinstance(part, Nest) else [part]


@dataclass(eq=False, slots=True)
class Single:
    """An equation on its own: a scalar, a check, a loop of the program, a routine."""

    eqn: Eqn


Step = Nest | Statement | Single


@dataclass(frozen=True, slots=True)
class Reason:
    """Why statements do not share a loop: a text, and the objects that its `{}` stand for."""

    text: str
    about: tuple[Buffer | Value | Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Apart:
    """A statement that got a loop of its own, the one beside it, and why they are not one."""

    statement: Statement
    nest: Nest
    reason: Reason


IN_ORDER = "a running sum, or the search for an element, has its innermost loop to itself"
WHOLE = "{} is needed as a whole, and is complete only behind that loop"
ANYWHERE = "an iteration may touch any element of {}"
RESHAPED = "{} is read and written through different shapes"
READS = "an iteration reads elements of {} that other iterations write"
WRITES = "an iteration writes elements of {} that other iterations read"
BOTH = "different iterations write the same elements of {}"
CALL_OUTSIDE = "it calls functions that are vectorised only in a loop without loops inside"
CALL_INSIDE = "the loop calls functions that are vectorised only without loops inside"
FIXED = "{} keeps its place in between"
MADE_BETWEEN = "it works on {}, which {} in between makes"
OVERWRITES = "it overwrites {}, which {} in between still reads"
BEHIND = "{} comes in between, and only the last loop can be joined"


@dataclass(slots=True)
class _Effects:
    """The reads and writes of a step: buffers, scalars, and whether its place is fixed."""

    reads: set[Buffer]
    writes: set[Buffer]
    uses: set[Value]
    defines: set[Value]
    is_barrier: bool = False

    def before(self, later: _Effects) -> bool:
        """Return whether a later step must stay behind this one."""
        return bool(self.is_barrier or later.is_barrier
                    or self.writes & (later.reads | later.writes) or self.reads & later.writes
                    or self.defines & later.uses)

    def add(self, other: _Effects) -> None:
        """Add the effects of a statement that the step now carries out, too."""
        self.reads |= other.reads
        self.writes |= other.writes
        self.uses |= other.uses
        self.defines |= other.defines

    def reason(self, step: Step, later: _Effects) -> Reason:
        """Return why a later step must stay behind this one."""
        made: set[Buffer | Value] = {*self.writes & (later.reads | later.writes),
                                     *self.defines & later.uses}
        if self.is_barrier:
            return Reason(FIXED, (step,))
        if made:
            return Reason(MADE_BETWEEN, (_first(made), step))
        return Reason(OVERWRITES, (_first(self.reads & later.writes), step))


def _first(things: Iterable[Buffer | Value]) -> Buffer | Value:
    """Return one of the buffers or values, the same in every run."""
    return min(things, key=lambda x: x.uid if isinstance(x, Value) else x.values[0].uid)


def schedule_block(block: Block, elements: Elements, buffers: Buffers, apart: list[Apart],
                   style: Style) -> list[Step]:
    """Return the steps of a block, its statements fused into nests.

    apart -- gets the statements that might have shared a loop, with the reasons why they do not
    """
    return _Scheduler(elements, buffers, apart, style).run(block)


_Shared = tuple[list[Nest], dict[Value, Value], tuple[Nest, Reason] | None]


class _Scheduler:
    def __init__(self, elements: Elements, buffers: Buffers, apart: list[Apart],
                 style: Style) -> None:
        self.elements, self.buffers, self.apart, self.style = elements, buffers, apart, style
        self.steps: list[Step] = []
        self.effects: list[_Effects] = []
        self.makers: dict[Buffer | Value, list[_Effects]] = {}
        self.readers: dict[Buffer, list[_Effects]] = {}
        """Of steps: who writes a buffer or defines a scalar, and who reads a buffer."""

    def run(self, block: Block) -> list[Step]:
        for eqn in block.eqns:
            if eqn.outputs and all(map(self.elements.is_virtual, eqn.outputs)):
                continue
            if self._is_single(eqn):
                self._place_single(eqn)
                continue
            statements = list(statements_of(eqn, self.elements, self.buffers,
                                            in_registers=self.style.in_registers))
            if [x.kind for x in statements] == ["fill", "add"] and self._place_early(*statements):
                del statements[0]
            for statement in statements:
                self._place(statement)
        return self.steps

    def _is_single(self, eqn: Eqn) -> bool:
        how = eqn.op.lowering
        if isinstance(how, (Region, Library, Native, Callback, LogOp, Effect)) or not eqn.outputs:
            return True
        if self.style.is_product(eqn):
            return True
        (out,) = eqn.outputs
        return not is_array(out) and self.elements.is_virtual_kind(eqn)

    def _effects_of_single(self, eqn: Eqn) -> _Effects:
        how = eqn.op.lowering
        barrier = has_effect(eqn) or isinstance(how, (Region, LogOp))
        reads: set[Buffer] = set()
        uses: set[Value] = set()
        for v in eqn_uses(eqn):
            for leaf in self.elements.leaves(v):
                if leaf in self.buffers.of:
                    reads.add(self.buffers.of[leaf])
                uses.add(leaf)
        defines = {v for v in eqn.outputs if not is_array(v)}
        writes = {self.buffers.of[v] for v in eqn.outputs if v in self.buffers.of}
        return _Effects(reads, writes, uses, defines, barrier)

    def _effects_of(self, statement: Statement) -> _Effects:
        accesses = statement.accesses(self.elements, self.buffers)
        reads = {a.buffer for a in accesses if not a.is_write}
        writes = {a.buffer for a in accesses if a.is_write}
        defines = {statement.target} if statement.buffer is None else set()
        return _Effects(reads, writes, statement.scalars(self.elements), defines)

    def _place_single(self, eqn: Eqn) -> None:
        """Put an equation right behind the last step that it depends on."""
        effects = self._effects_of_single(eqn)
        looked_at: set[Buffer | Value] = {*effects.reads, *effects.writes, *effects.uses}
        needed = {id(e) for x in looked_at for e in self.makers.get(x, ())}
        needed.update(id(e) for x in effects.writes for e in self.readers.get(x, ()))
        k = len(self.steps)
        while k > 0 and not (effects.is_barrier or self.effects[k - 1].is_barrier
                             or id(self.effects[k - 1]) in needed):
            k -= 1
        self.steps.insert(k, Single(eqn))
        self.effects.insert(k, effects)
        self._note(effects, effects)

    def _note(self, step: _Effects, new: _Effects) -> None:
        """Note the buffers and scalars that a step has come to read, write and define."""
        made: set[Buffer | Value] = {*new.writes, *new.defines}
        for x in made:
            self.makers.setdefault(x, []).append(step)
        for buffer in new.reads:
            self.readers.setdefault(buffer, []).append(step)

    def _place(self, statement: Statement) -> None:
        effects = self._effects_of(statement)
        refused: list[Apart] = []
        latest = None
        for k in reversed(range(len(self.steps))):
            step = self.steps[k]
            if latest is not None and k < latest - LOOK_BACK:
                break
            if (self.style.shares_loops and isinstance(step, Nest) and statement.vars
                    and step.extent == statement.extents[0]):
                levels, _, refusal = self._common_loops(step, statement)
                if len(levels) == len(statement.vars):
                    self._join(k, statement, effects)
                    return
                if levels and latest is None:
                    latest = k
                elif refusal is not None:
                    refused.append(Apart(statement, step, refusal[1]))
            if self.effects[k].before(effects):
                if not refused:
                    refused += self._beyond(k, statement, effects)
                break
        if latest is not None:
            self._join(latest, statement, effects)
            return
        self.apart += refused
        self.steps.append(as_nest(statement, 0))
        self.effects.append(effects)
        self._note(effects, effects)

    def _common_loops(self, nest: Nest, statement: Statement) -> _Shared:
        return _common_loops(nest, statement, self.elements, self.buffers, self.style.vectorises)

    def _join(self, k: int, statement: Statement, effects: _Effects) -> None:
        """Let a statement share as many loops with a step as it may."""
        step = self.steps[k]
        assert isinstance(step, Nest)
        levels, mapping, refusal = self._common_loops(step, statement)
        depth = len(levels)
        if depth < len(statement.vars):
            if refusal is None:
                refusal = _beside(levels[-1], statement.extents[depth])
            if refusal is not None:
                self.apart.append(Apart(statement, *refusal))
        statement.rename(mapping)
        levels[-1].body.append(as_nest(statement, depth))
        self.effects[k].add(effects)
        self._note(self.effects[k], effects)

    def _place_early(self, fill: Statement, add: Statement) -> bool:
        """Whether a fill of a fold's memory is put before a nest that the fold can join.

        The latest nest of its extent, which it would join, may be that one.
        """
        filled, added = self._effects_of(fill), self._effects_of(add)
        for k in reversed(range(len(self.steps))):
            if self.effects[k].before(filled):
                return False
            if self._may_join(self.steps[k], add):
                self._place_before(k, fill, filled)
                return True
            if self.effects[k].before(added):
                return False
        return False

    def _may_join(self, step: Step, statement: Statement) -> bool:
        """Whether a statement, which has some, may share all of its loops with a step."""
        return self.style.shares_loops and isinstance(step, Nest) and bool(statement.vars) and (
            step.extent == statement.extents[0]) and len(
            self._common_loops(step, statement)[0]) == len(statement.vars)

    def _place_before(self, end: int, fill: Statement, effects: _Effects) -> None:
        """Put a fill of memory in a nest before a step, but not behind a loop inside of one.

        A later statement may still join that loop.
        """
        for k in reversed(range(end)):
            step = self.steps[k]
            if isinstance(step, Nest) and self._may_join(step, fill) and not isinstance(
                    self._common_loops(step, fill)[0][-1].body[-1], Nest):
                self._join(k, fill, effects)
                return
            if self.effects[k].before(effects):
                break
        self.steps.insert(end, as_nest(fill, 0))
        self.effects.insert(end, effects)
        self._note(effects, effects)

    def _beyond(self, k: int, statement: Statement, effects: _Effects) -> Iterator[Apart]:
        """Yield the nest that a statement might have joined but for a step that it cannot pass."""
        for step in reversed(self.steps[:k]):
            if isinstance(step, Nest) and statement.vars and step.extent == statement.extents[0]:
                yield Apart(statement, step, self.effects[k].reason(self.steps[k], effects))
                return


def as_nest(statement: Statement, depth: int) -> Nest | Statement:
    """Return a statement under its loops that are deeper than `depth`."""
    if depth == len(statement.vars):
        return statement
    return Nest(statement.vars[depth], statement.extents[depth], [as_nest(statement, depth + 1)])


def _common_loops(nest: Nest, statement: Statement, elements: Elements, buffers: Buffers,
                  vectorises: bool) -> _Shared:
    """Return the loops of a nest that a statement may share, their variables in the place of its
    own, and the loop that it may not share, with the reason.
    """
    levels: list[Nest] = []
    current: Nest | None = nest
    mapping: dict[Value, Value] = {}
    accesses = statement.accesses(elements, buffers)
    uses = statement.scalars(elements)
    refusal: tuple[Nest, Reason] | None = None
    while current is not None and len(levels) < len(statement.vars):
        var = statement.vars[len(levels)]
        if current.extent != statement.extents[len(levels)]:
            break
        trial = {**mapping, var: current.var}
        shared = [*(n.var for n in levels), current.var]
        reason = _keeps_apart(current, statement, accesses, uses, trial, shared, elements, buffers)
        if reason is not None:
            refusal = current, reason
            break
        mapping = trial
        levels.append(current)
        last = current.body[-1]
        current = last if isinstance(last, Nest) else None
    while vectorises and levels and (
            reason := _spoils_vectors(levels[-1], statement, len(levels), elements)):
        refusal = levels.pop(), reason
        del mapping[statement.vars[len(levels)]]
    return levels, mapping, refusal


def _beside(nest: Nest, extent: Dim) -> tuple[Nest, Reason] | None:
    """Return the latest loop of an extent in a nest, which is not the last part of it."""
    for part in reversed(nest.body):
        if isinstance(part, Nest) and part.extent == extent:
            return part, Reason(BEHIND, (nest.body[-1],))
    return None


def _spoils_vectors(nest: Nest, statement: Statement, depth: int,
                    elements: Elements) -> Reason | None:
    """Why a loop would hold both a loop and calls that could be vectorised without that."""
    if depth == len(statement.vars):
        spoils = statement.has_call(elements) and any(isinstance(p, Nest) for p in nest.body)
        return Reason(CALL_OUTSIDE) if spoils else None
    spoils = any(isinstance(p, Statement) and p.has_call(elements) for p in nest.body)
    return Reason(CALL_INSIDE) if spoils else None


def _keeps_apart(nest: Nest, statement: Statement, accesses: list[Access], uses: set[Value],
                 mapping: dict[Value, Value], shared: list[Value], elements: Elements,
                 buffers: Buffers) -> Reason | None:
    """Why an iteration of the shared loops touches more elements than the other's same one."""
    dims = {v: w.dim for v, w in mapping.items()}
    mine: dict[Buffer, list[tuple[Access, Idx | None]]] = {}
    for a in accesses:
        index = None if a.index is None else tuple(substitute(i, dims) for i in a.index)
        mine.setdefault(a.buffer, []).append((a, index))
    depth = len(shared)
    if _goes_in_order(statement, depth):
        return Reason(IN_ORDER)
    for other in nest.statements():
        if other.buffer is None and other.target in uses:
            return Reason(WHOLE, (other.target,))
        if _goes_in_order(other, depth):
            return Reason(IN_ORDER)
        for theirs in other.accesses(elements, buffers):
            for a, index in mine.get(theirs.buffer, ()):
                if not (a.is_write or theirs.is_write):
                    continue
                if index is None or theirs.index is None:
                    return Reason(ANYWHERE, (a.buffer,))
                if a.shape != theirs.shape:
                    return Reason(RESHAPED, (a.buffer,))
                if a.is_add and theirs.is_add and depth < len(statement.vars):
                    continue  # in any order; but one loop with both would be no vector loop
                if not all(_in_step(index, theirs.index, v) for v in shared):
                    if theirs.is_write and _folds(other, depth):
                        return Reason(WHOLE, (other.target,))
                    return Reason(_conflict(a, theirs), (a.buffer,))
    return None


def _folds(statement: Statement, depth: int) -> bool:
    """Whether the innermost of some shared loops is one that a statement folds over."""
    return depth > len(statement.vars) - statement.folded


def _goes_in_order(statement: Statement, depth: int) -> bool:
    return statement.folded > 0 and statement.kind != "fold" and _folds(statement, depth)


def _conflict(a: Access, theirs: Access) -> str:
    """Return how iterations get into each other's way, where not the same ones meet."""
    if a.is_write and theirs.is_write:
        return BOTH
    return WRITES if a.is_write else READS


def _in_step(a: tuple[Dim, ...], b: tuple[Dim, ...], var: Value) -> bool:
    """Whether two accesses to one buffer meet only in the same iteration of a loop.

    They do if along some axis both are at the loop variable plus the same constant.
    """
    if len(a) != len(b):
        return False
    for i, j in zip(a, b, strict=True):
        if i == j:
            offset = i - var.dim
            if var not in dim_values(offset):
                return True
    return False
