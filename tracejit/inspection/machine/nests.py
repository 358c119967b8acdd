"""Loop nests after fusion, and why statements got loops of their own, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tracejit.codegen.buffers import Buffer
from tracejit.codegen.loop_ir import Loop, Node, Store, children
from tracejit.codegen.nests import PlacedNest
from tracejit.codegen.schedule import Apart, Nest, Reason, Single, Step
from tracejit.codegen.statements import Statement
from tracejit.inspection.machine.emitted import emitted_loops, equations_by_label, labels_of
from tracejit.ir.core import Eqn, Site, Value
from tracejit.ir.dims import Dim
from tracejit.ir.printer import Names
from tracejit.runtime.stages import Lowered

__all__ = ["NestEquation", "NestFacts", "NestLoop", "NestReader", "Unfused", "nest_facts",
           "unfused"]


AT_ONCE = "used at once"
"""The use of an element that is in no memory."""


@dataclass(frozen=True, slots=True)
class NestEquation:
    """An equation that a loop carries out.

    label  -- its first result in the printed graph, `%3`
    op     -- the name of its op; "copy" where an array is copied
    result -- the use of an element: put in a buffer, summed, or used at once
    site   -- the user's statement
    role   -- "forward", "backward", or "" for a copy
    """

    label: str
    op: str
    result: str
    site: Site | None
    role: str


@dataclass(frozen=True, slots=True)
class NestLoop:
    """A loop over elements: its extent in the sizes, and its parts, in order."""

    extent: str
    parts: tuple[NestLoop | NestEquation, ...]

    def roles(self) -> set[str]:
        """Return the roles of its equations, but not of ones used at once: they may be repeated."""
        return {e.role for e in self.equations() if e.result != AT_ONCE} - {""}

    def equations(self) -> Iterator[NestEquation]:
        """Yield the equations of this loop and of the loops inside."""
        for part in self.parts:
            yield from part.equations() if isinstance(part, NestLoop) else (part,)


@dataclass(frozen=True, slots=True)
class NestFacts:
    """A loop nest.

    number -- counts the nests in the order of the emitted source, from 1
    inside -- the labels of the equations in whose regions it is, outermost first; the last may be
              one that it is a part of, as of a product that is too small for BLAS
    lines  -- the lines of the emitted source on which its outermost loop begins: more than one
              where it was split, none where it was written out, iteration by iteration
    """

    number: int
    inside: tuple[str, ...]
    loop: NestLoop
    lines: tuple[int, ...]

    def extents(self) -> list[tuple[str, ...]]:
        """Return the extents, outermost first, of each innermost loop."""
        def walk(loop: NestLoop, outer: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
            inner = [part for part in loop.parts if isinstance(part, NestLoop)]
            extents = (*outer, loop.extent)
            for part in inner:
                yield from walk(part, extents)
            if not inner:
                yield extents

        return list(walk(self.loop, ()))


@dataclass(frozen=True, slots=True)
class Unfused:
    """A statement that got a loop of its own, although one with the same extent was there.

    nest, beside -- the numbers of its nest and of the nest that it might have joined; the same
                    where only loops inside are apart
    label        -- of the equation, with the name of its op
    depth        -- how many loops are shared
    """

    nest: int
    beside: int
    label: str
    depth: int
    reason: str


def nest_facts(lowered: Lowered) -> list[NestFacts]:
    """Return the loop nests of a program, in the order of the emitted source."""
    return NestReader(lowered).nests()


def unfused(lowered: Lowered) -> list[Unfused]:
    """Return which statements might have shared a loop and do not, with reasons."""
    return NestReader(lowered).unfused()


class NestReader:
    """Reads the facts on the nests of a program."""

    kernel: Any
    names: Names
    eqns: dict[str, Eqn]
    placed: list[PlacedNest]
    stored: set[str]
    named: set[str]

    def __init__(self, lowered: Lowered) -> None:
        kernel = self.kernel = lowered.kernel
        self.names = Names()
        self.names.given = kernel.labels
        self.eqns = equations_by_label(kernel)
        self.loops: dict[Nest, list[tuple[int, Loop]]] = {}
        """The loops in the source that carry out a scheduled one, each with its line."""
        for loop in emitted_loops(kernel):
            if isinstance(loop.node, Loop) and loop.node.nest is not None:
                self.loops.setdefault(loop.node.nest, []).append((loop.first, loop.node))
        named = set(labels_of(kernel.nodes))
        self.placed = [p for p in kernel.nests if p.nest in self.loops or (
            p.nest.is_tiny() and any(self._statement_label(s) in named
                                     for s in p.nest.statements()))]
        """The nests of the source; unread ones were dropped."""
        self.stored = set(_stored(kernel.nodes))
        self.named = {b.name for b in (*kernel.inputs, *kernel.outputs)} | self.stored
        self.number: dict[Nest | Statement, int] = {}
        for k, placed in enumerate(self.placed, 1):
            for part in _parts(placed.nest):
                self.number[part] = k

    # --- nests ----------------------------------------------------------------------------------

    def nests(self) -> list[NestFacts]:
        """Return the nests, in the order of the emitted source."""
        return [self._nest(k, placed) for k, placed in enumerate(self.placed, 1)]

    def _nest(self, number: int, placed: PlacedNest) -> NestFacts:
        nest = placed.nest
        lines = tuple(line for line, _ in self.loops.get(nest, ()))
        inside = tuple(self._label(eqn.outputs[0]) for eqn in placed.inside if eqn.outputs)
        return NestFacts(number, inside, self._loop(nest), lines)

    def _loop(self, nest: Nest) -> NestLoop:
        """Return a loop; its equations are its statements', and ones that these use at once."""
        own: dict[str, NestEquation] = {}
        inner = {label for part in nest.body if isinstance(part, Nest) for label in self._in(part)}
        for label in self._in(nest):
            if label not in inner and label in self.eqns:
                own[label] = self._equation(label, self.eqns[label], AT_ONCE)
        pending = set(own)
        rest: list[NestLoop | NestEquation] = []
        for part in nest.body:
            if isinstance(part, Nest):
                rest.append(self._loop(part))
                continue
            made = self._statement(part)
            if not rest and made.label in pending:
                own[made.label] = made  # in the order of the source
            else:
                if made.label in pending:
                    del own[made.label]
                rest.append(made)
            pending.discard(made.label)
        return NestLoop(self.dim(nest.extent), (*own.values(), *rest))

    def _in(self, nest: Nest) -> list[str]:
        return list(dict.fromkeys(
            label for _, loop in self.loops.get(nest, ()) for label in labels_of([loop])))

    def _statement(self, s: Statement) -> NestEquation:
        label = self._statement_label(s)
        if s.eqn is None:
            return NestEquation(label, "copy", f"put in {self._buffer(s)}: {s.extra['why']}", None,
                                "")
        return self._equation(label, s.eqn, self._result(s))

    def _equation(self, label: str, eqn: Eqn, result: str) -> NestEquation:
        role = "forward" if eqn.of is None else "backward"
        return NestEquation(label, eqn.op.name, result, eqn.site, role)

    def _result(self, s: Statement) -> str:
        """Return the use that a statement makes of an element."""
        is_stored = s.buffer is not None and s.buffer.name in self.stored
        if s.kind in ("add", "scatter") and s.combine != "set":
            return f"added to {self._buffer(s)}"
        if s.kind == "fold":
            total = {"add": "summed", "mul": "multiplied"}.get(s.combine, f"folded by {s.combine}")
            return f"{total}, put in {self._buffer(s)}" if is_stored else total
        if not is_stored and s.kind == "put":
            return AT_ONCE
        if s.kind == "argument":
            return f"searched for the {s.combine}"
        verb = {"running": "summed up in", "fill": "begun in"}.get(s.kind, "put in")
        return f"{verb} {self._buffer(s)}"

    def _buffer(self, s: Statement) -> str:
        return "" if s.buffer is None else s.buffer.name

    def _statement_label(self, s: Statement) -> str:
        return self._label(s.target if s.eqn is None else s.eqn.outputs[0])

    # --- why not one nest -----------------------------------------------------------------------

    def unfused(self) -> list[Unfused]:
        """Return the statements apart, without dropped ones."""
        return [self._unfused(a) for a in self.kernel.apart
                if a.statement in self.number and a.nest in self.number]

    def _unfused(self, a: Apart) -> Unfused:
        nest, beside = self.number[a.statement], self.number[a.nest]
        depth = next(d for d, part in _with_depths(self.placed[beside - 1].nest)
                     if part is a.nest)
        return Unfused(nest, beside, self._of(a.statement), depth, self._reason(a.reason))

    def _reason(self, reason: Reason) -> str:
        return reason.text.format(*(self._thing(x) for x in reason.about))

    def _thing(self, x: Buffer | Value | Step) -> str:
        if isinstance(x, Buffer):
            return x.name if x.name in self.named else self._label(x.values[0])
        if isinstance(x, Value):
            return self._label(x)
        if isinstance(x, Nest):
            return f"nest {self.number[x]}" if x in self.number else "a loop"
        if isinstance(x, Single):
            label = self._label(x.eqn.outputs[0]) + " " if x.eqn.outputs else ""
            return f"{label}({x.eqn.op.name})"
        return self._of(x)

    def _of(self, s: Statement) -> str:
        return f"{self._statement_label(s)} ({'copy' if s.eqn is None else s.eqn.op.name})"

    def _label(self, v: Value) -> str:
        return f"%{self.kernel.labels[v]}"

    def dim(self, d: Dim) -> str:
        return self.names.dim(d)


def _stored(nodes: Sequence[Node]) -> Iterator[str]:
    """Yield the names of the buffers that nodes write to."""
    for node in nodes:
        if isinstance(node, Store):
            yield node.buffer
        for block in children(node):
            yield from _stored(block)


def _parts(nest: Nest) -> Iterator[Nest | Statement]:
    return (part for _, part in _with_depths(nest))


def _with_depths(nest: Nest, depth: int = 0) -> Iterator[tuple[int, Nest | Statement]]:
    """Yield a nest and all that is in it, each with how many loops are around it."""
    yield depth, nest
    for part in nest.body:
        if isinstance(part, Nest):
            yield from _with_depths(part, depth + 1)
        else:
            yield depth + 1, part
