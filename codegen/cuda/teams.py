"""Grids whose innermost iterations, *rows*, are each done by a team of threads.

A row is an iteration that has loops inside. The threads of its team divide the iterations of these
loops, and join their folds; all else of a row is computed by every thread, and stored by the first.
Where rows lie side by side in memory, so do the threads that work on them, and teams are *columns*
of a block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from tracejit.codegen.expression_edits import every, known_integer, replaced
from tracejit.codegen.loop_expressions import I64, ZERO, Bin, Expression, Extent, Load, Var
from tracejit.codegen.loop_ir import (
    Assign,
    Do,
    Let,
    Loop,
    Node,
    Return,
    Store,
    children,
    every_node,
    expressions,
)
from tracejit.codegen.node_names import defined_in, used_in

__all__ = ["ARGUMENTS", "TeamAccess", "Halves", "Team", "accesses_of", "halves_of", "meets",
           "rebuilt", "team_of"]


@dataclass(frozen=True, slots=True)
class Team:
    """How threads do a row together.

    divided   -- the loops whose iterations they divide
    is_column -- whether the threads of a team are in a column of their block
    length    -- how many elements a row has
    """

    divided: tuple[Loop, ...]
    is_column: bool
    length: Expression


def team_of(loop: Loop, axes: Sequence[Loop]) -> Team | None:
    """Return how teams do the iterations of a grid; None where each is for one thread."""
    row, outer = axes[-1], loop
    while outer is not row:
        if not outer.independent:
            return None
        (outer,) = (node for node in outer.body if isinstance(node, Loop))
    if any(axis.blocks for axis in axes):
        return None
    divided: list[Loop] = []
    for node in row.body:
        if isinstance(node, Loop):
            found = _divided_in(node)
            if not found:
                return None
            divided += found
        elif not isinstance(node, (Let, Assign, Store, Do)):
            return None
    if not divided or all(_is_short(loop) for loop in divided):
        return None
    first = divided[0]
    return Team(tuple(divided), _is_column(divided, row), Extent(first.lo, first.hi))


SHORT = 8
"""Iterations of a known number up to this are not divided."""


def _is_short(loop: Loop) -> bool:
    lo, hi = known_integer(loop.lo), known_integer(loop.hi)
    return lo is not None and hi is not None and hi - lo <= SHORT


def _divided_in(loop: Loop) -> list[Loop]:
    """Return the loops to divide in a loop of a row: the innermost, unless one of these folds.

    A running sum is divided in turns. Around a loop that is divided there are scalars only, which
    every thread has for itself; a fold there adds the threads' own values.
    """
    if loop.runs:
        return [loop]
    if not loop.is_divisible or any(isinstance(n, Return) for n in every_node(loop.body)):
        return []  # threads that leave would miss the next barrier
    inner = [node for node in loop.body if isinstance(node, Loop)]
    of_threads = set(defined_in(inner))
    is_plain = all(_is_for_all(node, of_threads) for node in loop.body if node not in inner)
    if inner and is_plain and not any(n.folds or _is_short(n) for n in inner):
        found = [_divided_in(node) for node in inner]
        parts = [list(accesses_of(node, one)) for node, one in zip(inner, found, strict=True)]
        if all(found) and not any(meets(x, y) for one, other in combinations(parts, 2)
                                  for x in one for y in other):
            return [one for part in found for one in part]
    return [loop]


def _is_for_all(node: Node, of_threads: set[str]) -> bool:
    """Whether every thread may do a node, if only to fold its own values."""
    if not isinstance(node, Assign):
        return isinstance(node, Let)
    read = node.expression.reads
    return node.name not in read or bool(read & of_threads - {node.name})


def _is_column(divided: Iterable[Loop], row: Loop) -> bool:
    """Whether elements that lie side by side belong to rows side by side, rather than to one."""
    along = across = 0
    for loop in divided:
        for node in every_node(loop.body):
            for load in loads_in(node):
                if {loop.var, row.var} <= load.index.reads:  # else it stays in a cache
                    along += _has_unit_stride(load.index, loop.var)
                    across += _has_unit_stride(load.index, row.var)
    return across > along


# --- arrays that are read and written -----------------------------------------------------------


def loads_in(node: Node) -> Iterator[Load]:
    """Yield the elements of arrays that a node reads itself."""
    return (e for whole in expressions(node) for e in every(whole) if isinstance(e, Load))


def _has_unit_stride(place: Expression, variable: str) -> bool:
    """Whether a place is a variable plus any expression."""
    if isinstance(place, Bin) and place.op in "+-":
        return _has_unit_stride(place.a, variable) or (
            place.op == "+" and _has_unit_stride(place.b, variable))
    return isinstance(place, Var) and place.name == variable


@dataclass(frozen=True, slots=True)
class TeamAccess:
    """A read or write of an array by the threads of a team.

    place -- where; None where it may be anywhere
    lane  -- the variable of the divided loop, so that threads differ in it; `FIRST` where only the
             first thread does it, and nothing where every thread does
    """

    array: str
    place: Expression | None
    is_write: bool
    lane: str


ARGUMENTS = ("argmax", "argmin")
"""Folds that search for a place."""
FIRST, UNKNOWN = "<first>", "<unknown>"
_LANE = Var("<lane>", I64)


def accesses_of(node: Node, divided: Sequence[Loop], lane: str = "") -> Iterator[TeamAccess]:
    """Yield the reads and writes of a team's threads where they do a node of a row."""
    if isinstance(node, (Store, Do)) and not lane:
        lane = FIRST
    for load in loads_in(node):
        yield TeamAccess(load.buffer, load.index, False, lane)
    if isinstance(node, Store):
        yield TeamAccess(node.buffer, node.index, True, lane)
    elif isinstance(node, Do):
        yield from (TeamAccess(name, None, True, lane) for name in used_in([node]))
    if isinstance(node, Loop) and any(node is loop for loop in divided):
        lane = node.var if node.lo == ZERO else UNKNOWN
    for block in children(node):
        for inner in block:
            yield from accesses_of(inner, divided, lane)


def meets(a: TeamAccess, b: TeamAccess) -> bool:
    """Whether a thread may touch elements that another one writes."""
    if a.array != b.array or not (a.is_write or b.is_write):
        return False
    if a.lane == b.lane == FIRST:
        return False
    if a.place is None or b.place is None or a.lane not in a.place.reads:
        return True
    return replaced(a.place, {a.lane: _LANE}) != replaced(b.place, {b.lane: _LANE})


# --- columns that many blocks fold ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Halves:
    """A column that many blocks may fold.

    before -- the nodes before the fold that it needs
    fold   -- the only loop
    body   -- all nodes of a column
    """

    before: list[Node]
    fold: Loop
    body: list[Node]

    def joined(self, joins: Sequence[Node]) -> list[Node]:
        """Return the nodes of a column with other nodes in place of the fold."""
        at = next(k for k, node in enumerate(self.body) if node is self.fold)
        return [*self.body[:at], *joins, *self.body[at + 1:]]


def halves_of(row: Loop, team: Team) -> Halves | None:
    """Return a column as two units: parts by many blocks, and the fold of the parts, once.

    It has to have one loop, which only folds, and needs nothing but scalars that take no folding.
    """
    loops = [node for node in row.body if isinstance(node, Loop)]
    if not team.is_column or len(loops) != 1 or not loops[0].folds:
        return None
    (fold,) = loops
    registers = {name for name, _ in fold.folds}
    at = next(k for k, node in enumerate(row.body) if node is fold)
    stored = {a.array for node in row.body for a in accesses_of(node, ()) if a.is_write}
    needed, before = set(used_in([fold])), list[Node]()
    for node in reversed(row.body[:at]):
        if isinstance(node, (Let, Assign)) and node.name in needed:
            if isinstance(node, Assign) and node.name not in registers:
                return None
            before.insert(0, node)
            needed |= node.expression.reads
    is_fold = not any(isinstance(node, (Store, Do)) for node in every_node(fold.body))
    others = set(defined_in(fold.body)) - registers
    if not is_fold or stored & needed or others & set(used_in(row.body[at + 1:])) or any(
            combine in ARGUMENTS for _, combine in fold.folds):
        return None
    return Halves(before, fold, row.body)


def rebuilt(loop: Loop, row: Loop, body: list[Node], *, folds: bool) -> Loop:
    """Return a loop with another body for its row, and with its folds or without."""
    inner = body if loop is row else [
        rebuilt(node, row, body, folds=folds) if isinstance(node, Loop) else node
        for node in loop.body if folds or not isinstance(node, Assign)]
    return replace(loop, body=inner, folds=loop.folds if folds else ())
