"""Which statements share loops, and the order of everything in a block.

Statements come in program order; each joins the latest loop nest that it may join: one whose outer
loops have the same extents, past nothing that it depends on, and such that an iteration touches
only what the same iteration of the other touches. Scalars go as early as their operands allow, so
that they separate as few nests as possible.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tracejit.codegen.buffers import Buffer, Buffers
from tracejit.codegen.elements import Elements, is_array
from tracejit.codegen.products import is_matrix_product
from tracejit.codegen.statements import Access, Statement, statements_of
from tracejit.ir.core import Block, Eqn, Value
from tracejit.ir.dims import Dim, dim_values, product, substitute
from tracejit.ir.lowering import Effect, Library, LogOp, Native, Region
from tracejit.ir.walk import eqn_uses, has_effect

__all__ = ["Nest", "Single", "Step", "schedule_block", "statements_in"]


MAX_WRITTEN_OUT = 32
"""How many assignments a loop nest over a small array may become."""


@dataclass(eq=False, slots=True)
class Nest:
    """A loop with what is in it: statements and further loops, in order."""

    var: Value
    extent: Dim
    body: list[Nest | Statement] = field(default_factory=list)

    def statements(self) -> list[Statement]:
        """Return all statements inside."""
        return [s for part in self.body for s in statements_in(part)]


    def is_tiny(self) -> bool:
        """Return whether it is better written out, iteration by iteration."""
        work = 0
        for s in self.statements():
            trips = product(tuple(s.extents))
            if not isinstance(trips, int) or s.kind not in ("put", "fill", "add", "fold"):
                return False
            work += trips
        return work <= MAX_WRITTEN_OUT

    def at(self, k: int) -> list[Nest | Statement]:
        """Return one iteration."""
        def of(part: Nest | Statement) -> Nest | Statement:
            if isinstance(part, Statement):
                return part.at(self.var, k)
            return Nest(part.var, part.extent, list(map(of, part.body)))

        return list(map(of, self.body))


def statements_in(part: Nest | Statement) -> list[Statement]:
    """Return a statement, or those of a nest."""
    return part.statements() if isinstance(part, Nest) else [part]


@dataclass(eq=False, slots=True)
class Single:
    """An equation on its own: a scalar, a check, a loop of the program, a routine."""

    eqn: Eqn


Step = Nest | Statement | Single


@dataclass(slots=True)
class _Effects:
    """What a step reads and writes: buffers, scalars, and whether its place is fixed."""

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


def schedule_block(block: Block, elements: Elements, buffers: Buffers) -> list[Step]:
    """Return the steps of a block, its statements fused into nests."""
    return _Scheduler(elements, buffers).run(block)


class _Scheduler:
    def __init__(self, elements: Elements, buffers: Buffers) -> None:
        self.elements, self.buffers = elements, buffers
        self.steps: list[Step] = []
        self.effects: list[_Effects] = []

    def run(self, block: Block) -> list[Step]:
        for eqn in block.eqns:
            if eqn.outputs and all(map(self.elements.is_virtual, eqn.outputs)):
                continue
            if self._is_single(eqn):
                self._place_single(eqn)
                continue
            for statement in statements_of(eqn, self.elements, self.buffers):
                self._place(statement)
        return self.steps

    def _is_single(self, eqn: Eqn) -> bool:
        how = eqn.op.lowering
        if isinstance(how, (Region, Library, Native, LogOp, Effect)) or not eqn.outputs:
            return True
        if is_matrix_product(eqn):
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
        k = len(self.steps)
        while k > 0 and not self.effects[k - 1].before(effects):
            k -= 1
        self.steps.insert(k, Single(eqn))
        self.effects.insert(k, effects)

    def _place(self, statement: Statement) -> None:
        effects = self._effects_of(statement)
        for k in reversed(range(len(self.steps))):
            step = self.steps[k]
            if isinstance(step, Nest) and _fuse(step, statement, self.elements, self.buffers):
                old = self.effects[k]
                self.effects[k] = _Effects(old.reads | effects.reads, old.writes | effects.writes,
                                           old.uses | effects.uses, old.defines | effects.defines)
                return
            if self.effects[k].before(effects):
                break
        self.steps.append(as_nest(statement, 0))
        self.effects.append(effects)


def as_nest(statement: Statement, depth: int) -> Nest | Statement:
    """Return a statement under those of its loops that are deeper than `depth`."""
    if depth == len(statement.vars):
        return statement
    return Nest(statement.vars[depth], statement.extents[depth], [as_nest(statement, depth + 1)])


def _fuse(nest: Nest, statement: Statement, elements: Elements, buffers: Buffers) -> bool:
    """Let a statement join a nest as deep as it may; return whether it shares any loop."""
    depth = 0
    levels: list[Nest] = []
    current: Nest | None = nest
    mapping: dict[Value, Value] = {}
    accesses = statement.accesses(elements, buffers)
    uses = statement.scalars(elements)
    while current is not None and depth < len(statement.vars):
        if current.extent != statement.extents[depth]:
            break
        trial = {**mapping, statement.vars[depth]: current.var}
        shared = [*(n.var for n in levels), current.var]
        if not _may_share(current, statement, accesses, uses, trial, shared, elements, buffers):
            break
        mapping = trial
        levels.append(current)
        depth += 1
        last = current.body[-1]
        current = last if isinstance(last, Nest) else None
    while levels and _spoils_vectors(levels[-1], statement, depth, elements):
        del mapping[statement.vars[depth - 1]]
        levels.pop()
        depth -= 1
    if not levels:
        return False
    statement.rename(mapping)
    levels[-1].body.append(as_nest(statement, depth))
    return True


def _spoils_vectors(nest: Nest, statement: Statement, depth: int, elements: Elements) -> bool:
    """Whether a loop would hold both a loop and calls that could be vectorised without that."""
    if depth == len(statement.vars):
        return statement.has_call(elements) and any(isinstance(p, Nest) for p in nest.body)
    return any(isinstance(p, Statement) and p.has_call(elements) for p in nest.body)


def _may_share(nest: Nest, statement: Statement, accesses: list[Access], uses: set[Value],
               mapping: dict[Value, Value], shared: list[Value], elements: Elements,
               buffers: Buffers) -> bool:
    """Whether an iteration of the shared loops touches only what the same one of the other does."""
    dims = {v: w.dim for v, w in mapping.items()}
    mine = [(a, None if a.index is None else tuple(substitute(i, dims) for i in a.index))
            for a in accesses]
    depth = len(shared)
    if statement.folded and depth > len(statement.vars) - statement.folded and (
            statement.kind != "fold"):
        return False
    for other in nest.statements():
        if other.buffer is None and other.target in uses:
            return False
        if other.folded and other.kind != "fold" and depth > len(other.vars) - other.folded:
            return False
        for theirs in other.accesses(elements, buffers):
            for a, index in mine:
                if a.buffer is not theirs.buffer or not (a.is_write or theirs.is_write):
                    continue
                if index is None or theirs.index is None or a.shape != theirs.shape:
                    return False
                if a.is_add and theirs.is_add and depth < len(statement.vars):
                    continue  # in any order; but one loop with both would be no vector loop
                if not all(_in_step(index, theirs.index, v) for v in shared):
                    return False
    return True


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
