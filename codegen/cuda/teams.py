"""Grids whose innermost iterations, *rows*, are each done by a team of threads.

A row is what one iteration does that has loops inside. The threads of its team divide the
iterations of these loops, and fold together what they fold into; all else of a row is computed by
every thread, and stored by the first. Where rows lie side by side in memory, so do the threads that
work on them, and teams are *columns* of a block.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from tracejit.codegen.cuda.expressions import reads, tree_of
from tracejit.codegen.cuda.names import defined_in, every_node, used_in
from tracejit.codegen.loop_ir import Assign, Do, Let, Loop, Node, Return, Store, children, texts

__all__ = ["Access", "Halves", "Team", "accesses_of", "halves_of", "meets", "rebuilt", "team_of"]


@dataclass(frozen=True, slots=True)
class Team:
    """How threads do a row together.

    divided   -- the loops whose iterations they divide
    is_column -- whether the threads of a team are in a column of their block
    length    -- how many elements a row has, as source
    """

    divided: tuple[Loop, ...]
    is_column: bool
    length: str


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
    length = first.hi if first.lo == "0" else f"{first.hi} - ({first.lo})"
    return Team(tuple(divided), _is_column(divided, row), length)


SHORT = 8
"""Iterations of a known number up to this are not divided."""


def _is_short(loop: Loop) -> bool:
    return loop.lo.isdigit() and loop.hi.isdigit() and int(loop.hi) - int(loop.lo) <= SHORT


def _divided_in(loop: Loop) -> list[Loop]:
    """Return the loops to divide in a loop of a row: the innermost, where that folds no further.

    A running sum is divided in turns. Around a loop that is divided there are scalars only, which
    every thread has for itself; a fold there adds what the threads have.
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
    """Whether every thread may do a node, and be it to fold what it has itself."""
    if not isinstance(node, Assign):
        return isinstance(node, Let)
    read = reads(node.expression)
    return node.name not in read or bool(read & of_threads - {node.name})


def _is_column(divided: Iterable[Loop], row: Loop) -> bool:
    """Whether elements that lie side by side belong to rows side by side, rather than to one."""
    along = across = 0
    for loop in divided:
        for node in every_node(loop.body):
            for text in texts(node):
                for _, place in subscripts(text):
                    if not {loop.var, row.var} <= reads(place):
                        continue  # the same for all rows: it stays in a cache
                    along += _has_unit_stride(place, loop.var)
                    across += _has_unit_stride(place, row.var)
    return across > along


# --- what is read and written ---------------------------------------------------------------------


def subscripts(text: str) -> Iterator[tuple[str, str]]:
    """Yield the arrays whose elements an expression reads, and at which places."""
    for tree in ast.walk(tree_of(text)):
        if isinstance(tree, ast.Subscript) and isinstance(tree.value, ast.Name):
            yield tree.value.id, ast.unparse(tree.slice)


def _has_unit_stride(place: str, variable: str) -> bool:
    """Whether a place is a variable plus what may be anything."""
    pending: list[ast.expr] = [tree_of(place)]
    while pending:
        tree = pending.pop()
        if isinstance(tree, ast.BinOp) and isinstance(tree.op, (ast.Add, ast.Sub)):
            pending.append(tree.left)
            if isinstance(tree.op, ast.Add):
                pending.append(tree.right)
        elif isinstance(tree, ast.Name) and tree.id == variable:
            return True
    return False


@dataclass(frozen=True, slots=True)
class Access:
    """A read or write of an array by the threads of a team.

    place -- where, as source; nothing where it may be anywhere
    lane  -- the variable of the divided loop, so that threads differ in it; "first" where only the
             first thread does it, and nothing where every thread does
    """

    array: str
    place: str
    is_write: bool
    lane: str


FIRST = "first"


def accesses_of(node: Node, divided: Sequence[Loop], lane: str = "") -> Iterator[Access]:
    """Yield what threads of a team read and write where they do a node of a row."""
    if isinstance(node, (Store, Do)) and not lane:
        lane = FIRST
    for text in texts(node):
        for name, place in subscripts(text):
            yield Access(name, place, False, lane)
    if isinstance(node, Store):
        yield Access(node.buffer, ast.unparse(tree_of(node.index)), True, lane)
    elif isinstance(node, Do):
        yield from (Access(name, "", True, lane) for name in used_in([node]))
    if isinstance(node, Loop) and any(node is loop for loop in divided):
        lane = node.var if node.lo == "0" else "?"
    for block in children(node):
        for inner in block:
            yield from accesses_of(inner, divided, lane)


def meets(a: Access, b: Access) -> bool:
    """Whether a thread may touch what another one writes."""
    if a.array != b.array or not (a.is_write or b.is_write):
        return False
    if a.lane == b.lane == FIRST:
        return False
    places = [re.sub(rf"\b{x.lane}\b", "@", x.place) if x.lane else "" for x in (a, b)]
    return "@" not in places[0] or places[0] != places[1]


# --- columns that many blocks fold ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Halves:
    """A column that many blocks may fold.

    before -- what the fold needs of what comes before it
    fold   -- the only loop
    body   -- all that a column does
    """

    before: list[Node]
    fold: Loop
    body: list[Node]

    def joined(self, joins: Sequence[Node]) -> list[Node]:
        """Return what a column does besides the fold, and something in place of it."""
        at = next(k for k, node in enumerate(self.body) if node is self.fold)
        return [*self.body[:at], *joins, *self.body[at + 1:]]


def halves_of(row: Loop, team: Team) -> Halves | None:
    """Return a column as what many blocks do, each leaving a part, and what is done once.

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
            needed |= reads(node.expression)
    is_fold = not any(isinstance(node, (Store, Do)) for node in every_node(fold.body))
    others = set(defined_in(fold.body)) - registers
    if not is_fold or stored & needed or others & set(used_in(row.body[at + 1:])) or any(
            combine.startswith("arg") for _, combine in fold.folds):
        return None
    return Halves(before, fold, row.body)


def rebuilt(loop: Loop, row: Loop, body: list[Node], *, folds: bool) -> Loop:
    """Return a loop with a row in it doing something else, and with its folds or without."""
    inner = body if loop is row else [
        rebuilt(node, row, body, folds=folds) if isinstance(node, Loop) else node
        for node in loop.body if folds or not isinstance(node, Assign)]
    return replace(loop, body=inner, folds=loop.folds if folds else ())
