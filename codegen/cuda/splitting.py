"""A kernel of Loop IR taken apart into launches: work for many threads, for one, for the host.

- A loop whose iterations are independent is a *grid* unit: its threads stride over it, and over
  the independent loops right inside of it.
- Where such a loop folds into scalars, each block folds to a part; the next unit of one block folds
  the parts, always in the same order.
- All other nodes are run by one thread, where no grid unit is inside; loops and branches of the
  program that have some inside are run by the host. Integers that the host knows are its own.
- Scalars that units hand on lie in memory of the device. One that takes little arithmetic is
  computed again where it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from tracejit.codegen.cuda.expressions import is_array_expression
from tracejit.codegen.cuda.teams import Halves, Team, halves_of, rebuilt, team_of
from tracejit.codegen.cuda.units import (
    Control,
    DeviceSteps,
    HostValue,
    Step,
    Told,
    Unit,
    axes_of,
    has_grid,
    is_grid,
    is_product,
    is_running,
)
from tracejit.codegen.expression_edits import call, plus
from tracejit.codegen.folds import combined, identity_of
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_expressions import I64, ONE, ZERO, Bin, Call, Expression, Load, Var
from tracejit.codegen.loop_ir import (
    Assign,
    If,
    Let,
    Loop,
    Node,
    Return,
    Store,
    While,
    children,
    every_node,
)
from tracejit.codegen.node_names import defined_in, exposed_in, used_in
from tracejit.codegen.scalars import names_where

__all__ = ["split"]

HOST_FUNCTIONS = frozenset({*names_where(host=True), "i64"})
EFFECTS = frozenset(names_where(effect=True))
MAX_AGAIN = 16
"""How many operations a scalar may take that is computed again where it is used."""


def split(kernel: Kernel, dtypes: dict[str, np.dtype]) -> DeviceSteps:
    """Return a kernel as steps."""
    return _Splitter(kernel, dtypes).run()


class _Splitter:
    def __init__(self, kernel: Kernel, dtypes: dict[str, np.dtype]) -> None:
        self.kernel, self.dtypes = kernel, dtypes
        self.parameters = set(kernel.size_names) | {
            n.name for n in kernel.head if isinstance(n, Let)}
        self.arrays = {b.name for b in kernel.buffers}
        self.inputs = {b.name for b in kernel.inputs}
        self.names: set[str] = set()
        self.again: dict[str, tuple[Let, int]] = {}
        """Scalars that are computed again where they are used, with their cost."""
        self.aliases: dict[str, tuple[int, str]] = {}
        self.pending: list[Node] = []
        self.unfinished: list[tuple[str, str, Unit]] = []
        self.steps: list[Step] = []
        self.repeated: set[str] = set()
        """Scalars that are set more than once."""

    def run(self) -> DeviceSteps:
        nodes: list[Node] = [n for n in self.kernel.nodes if not isinstance(n, Return)]
        self._alias_arrays(nodes)
        counts: dict[str, int] = {}
        for name in defined_in(nodes):
            counts[name] = counts.get(name, 0) + 1
        assigned = {n.name for n in every_node(nodes) if isinstance(n, Assign)}
        folded = {name for n in every_node(nodes)
                  if isinstance(n, Loop) and n.independent for name, _ in n.folds}
        self.repeated = assigned - folded
        self.host = self._known_to_host(nodes)
        steps = self._block(nodes)
        program = DeviceSteps(steps, {}, frozenset(self.host), self.aliases)
        program.scalars = self._handed_on(program)
        return program

    # --- arrays within Logs -----------------------------------------------------------------------

    def _alias_arrays(self, nodes: list[Node]) -> None:
        """Let units find parts of Logs by their places: arrays are not handed on."""
        for k, node in enumerate(nodes):
            if isinstance(node, (Let, Assign)) and is_array_expression(node.expression):
                nodes[k] = self._alias(node)
            elif not is_grid(node) and has_grid(node):
                for block in children(node):
                    self._alias_arrays(block)

    def _alias(self, node: Let | Assign) -> Node:
        e = node.expression
        assert isinstance(e, Call)
        if e.fn.name == "log_base":
            number, place = int(str(e.args[0])), cast(Expression, ZERO)
        else:
            number, place = self.aliases[str(e.args[0])][0], e.args[1]
        name = f"{node.name}_at"
        self.aliases[node.name] = number, name
        self.dtypes[name] = np.dtype(np.int64)
        return Assign(name, place, node.origin)

    # --- scalars that the host knows ------------------------------------------------------------

    def _known_to_host(self, nodes: Sequence[Node]) -> set[str]:
        """Return the integers that are set by the host's own steps from such as it knows."""
        definitions: dict[str, list[Expression]] = {}
        elsewhere: set[str] = set()
        variables: set[str] = set()

        def visit(block: Sequence[Node]) -> None:
            for node in block:
                if isinstance(node, (Let, Assign)):
                    definitions.setdefault(node.name, []).append(node.expression)
                elif not is_grid(node) and has_grid(node):
                    if isinstance(node, Loop):
                        variables.add(node.var)
                    for inner in children(node):
                        visit(inner)
                else:
                    elsewhere.update(defined_in([node]))

        visit(nodes)
        found = {n for n in definitions if n not in elsewhere and self.dtypes[n].kind in "ib"}
        while True:
            known = found | self.parameters | variables
            wrong = {n for n in found if not all(
                e.reads <= known and e.calls <= HOST_FUNCTIONS for e in definitions[n])}
            if not wrong:
                self.variables = variables
                return found
            found -= wrong

    def _is_host(self, e: Expression) -> bool:
        return e.reads <= self.host | self.parameters | self.variables and (
            e.calls <= HOST_FUNCTIONS)

    # --- steps ------------------------------------------------------------------------------------

    def _block(self, nodes: Sequence[Node]) -> list[Step]:
        before, self.steps = self.steps, []
        for node in nodes:
            if isinstance(node, (Let, Assign)) and node.name in self.host:
                if isinstance(node, Assign):
                    self._flush()
                self.steps.append(HostValue(node.name, node.expression))
            elif is_grid(node):
                assert isinstance(node, Loop)
                self._grid(node)
            elif is_product(node):
                self._flush(finish=self._waits([node]))
                self.steps.append(Unit(self._name("product"), [node], is_product=True))
            elif is_running(node) and self._is_host(node.hi):  # type: ignore[union-attr]
                assert isinstance(node, Loop)
                self._running(node)
            elif has_grid(node):
                assert isinstance(node, (Loop, While, If))
                self._control(node)
            else:
                if isinstance(node, Let):
                    self._note_light(node)
                self.pending.append(node)
        self._flush(finish=True)
        steps, self.steps = self.steps, before
        return steps

    def _note_light(self, let: Let) -> None:
        """Note a scalar that is to be computed again where it is used, if it takes little."""
        names = let.expression.reads
        repeated = any(name in self.repeated and name not in self.host for name in names)
        changing = any(name in self.arrays | set(self.aliases) and name not in self.inputs
                       for name in names)
        cost = 1 + sum(self.again[n][1] for n in names if n in self.again)
        if not (repeated or changing or cost > MAX_AGAIN
                or let.expression.calls & EFFECTS):
            self.again[let.name] = (let, cost)

    def _grid(self, loop: Loop) -> None:
        self._begin(loop, {name for name, _ in loop.folds})
        axes = axes_of(loop)
        team = team_of(loop, axes)
        halves = halves_of(axes[-1], team) if team is not None else None
        if halves is None or len(axes) > 2 or not all(self._is_host(axis.hi) for axis in axes):
            self._grid_unit(loop, team)
        else:
            self._columns(loop, axes, halves)

    def _begin(self, loop: Loop, registers: set[str]) -> None:
        """Write the statements before a grid, but for the first values of its registers."""
        self.pending = [n for n in self.pending
                        if not (isinstance(n, Assign) and n.name in registers)]
        self._flush(finish=self._waits([loop]))

    def _running(self, loop: Loop) -> None:
        """Sum stretches, a team each; then run through each, from the sum of all before it."""
        total = loop.runs
        self._begin(loop, {total})
        stretch, count, at, part = (Var(self._name(stem), I64)
                                    for stem in ("stretch", "count", "at", "part"))
        last = Bin("-", Bin("+", loop.hi, stretch), ONE)
        for name, value in ((stretch.name, call("stretch", loop.hi)),
                            (count.name, call("idiv", last, stretch))):
            self.dtypes[name] = I64
            self.host.add(name)
            self.steps.append(HostValue(name, value))
        self.dtypes[at.name] = self.dtypes[part.name] = I64
        lo = Bin("*", at, stretch)
        hi = call("imin", Bin("*", Bin("+", at, ONE), stretch), loop.hi)
        register = Var(total, self.dtypes[total])
        begin = Assign(total, identity_of("add", register.dtype))
        fold = replace(loop, lo=lo, hi=hi, runs="", is_divisible=True, folds=((total, "add"),),
                       body=[n for n in loop.body if not isinstance(n, Store)])
        added = Bin("+", register, Load(f"parts_{total}", part, register.dtype))
        before = Loop(part.name, ZERO, at, [Assign(total, added)], is_divisible=True,
                      folds=((total, "add"),))
        bodies: list[list[Node]] = [[begin, fold, Store(f"parts_{total}", at, register)],
                                    [begin, before, replace(loop, lo=lo, hi=hi)]]
        for body in bodies:
            rows = Loop(at.name, ZERO, count, body, independent=True)
            team = team_of(rows, [rows])
            assert team is not None
            unit = self._grid_unit(rows, replace(team, is_column=False, length=stretch))
            unit.parts = (total,)

    def _grid_unit(self, loop: Loop, team: Team | None) -> Unit:
        axes = axes_of(loop)
        stem = "map" if loop.blocks else "fold" if loop.folds else (
            "loop" if team is None else "columns" if team.is_column else "rows")
        unit = Unit(self._name(stem), [loop], axes if team is None else axes[-2:], loop.folds,
                    team=team)
        self.unfinished += [(name, combine, unit) for name, combine in loop.folds]
        unit.before = self._recomputed([loop])
        self.steps.append(unit)
        return unit

    def _columns(self, loop: Loop, axes: Sequence[Loop], halves: Halves) -> None:
        """Let many blocks fold parts of columns; then a thread folds the parts of a column."""
        place: Expression = Var(axes[-1].var, I64)
        count = axes[-1].hi
        if len(axes) > 1:
            count = Bin("*", axes[0].hi, axes[1].hi)
            place = plus(Bin("*", Var(axes[0].var, I64), axes[1].hi), place)
        block = Bin("*", Var("cuda.blockIdx.y", I64), count)
        registers = [(Var(name, self.dtypes[name]), combine) for name, combine in halves.fold.folds]
        parts = [Store(f"parts_{r.name}", plus(block, place), r) for r, _ in registers]
        first = rebuilt(loop, axes[-1], [*halves.before, halves.fold, *parts], folds=False)
        unit = self._grid_unit(first, team_of(first, axes_of(first)))
        unit.splits = halves.fold.folds
        part = Var(self._name("part"), I64)
        self.dtypes[part.name] = I64
        at = plus(Bin("*", part, count), place)
        joins = [Loop(part.name, ZERO, Var(f"count_{r.name}", I64), [Assign(r.name, combined(
            combine, r.dtype, r, Load(f"parts_{r.name}", at, r.dtype)))])
            for r, combine in registers]
        second = rebuilt(loop, axes[-1], halves.joined(joins), folds=True)
        self._grid_unit(second, None).joins = halves.fold.folds

    def _waits(self, nodes: Sequence[Node]) -> bool:
        """Whether nodes need a fold whose parts are still to be added up."""
        used = set(used_in(nodes)) | {x for let in self._recomputed(nodes)
                                      for x in let.expression.reads}
        return any(name in used for name, _, _ in self.unfinished)

    def _flush(self, finish: bool = False) -> None:
        """Put the pending nodes, which one thread runs, into a unit."""
        nodes = self._needed()
        self.pending = []
        if not nodes and not (finish and self.unfinished):
            return
        unit = Unit(self._name("step"), nodes, finishes=self.unfinished)
        own = set(defined_in(nodes))
        unit.before = [let for let in self._recomputed(nodes) if let.name not in own]
        self.unfinished = []
        self.steps.append(unit)

    def _needed(self) -> list[Node]:
        """Return the pending nodes without scalars that are computed again where they are used."""
        def is_light(node: Node) -> bool:
            return isinstance(node, Let) and node.name in self.again

        kept = {let.name for let in self._recomputed([n for n in self.pending if not is_light(n)])}
        return [n for n in self.pending if not is_light(n) or n.name in kept]  # type: ignore[union-attr]

    def _recomputed(self, nodes: Sequence[Node]) -> list[Let]:
        """Return the scalars to compute again before nodes, in order."""
        wanted = set(used_in(nodes))
        pending = list(wanted)
        while pending:
            entry = self.again.get(pending.pop())
            for name in entry[0].expression.reads if entry is not None else ():
                if name not in wanted:
                    wanted.add(name)
                    pending.append(name)
        return [let for name, (let, _) in self.again.items() if name in wanted]

    def _control(self, node: Loop | While | If) -> None:
        if isinstance(node, While):
            self._flush(finish=True)
            step = Control(node, [], [], [], ())
            step.head = self._block([*node.head, *self._told([node.condition], step)])
            step.body = self._block(node.body)
        else:
            asked = [node.condition] if isinstance(node, If) else [node.lo, node.hi]
            step = Control(node, [], [], [], ())
            self.pending += self._told(asked, step)
            self._flush(finish=True)
            blocks = children(node)
            step.body = self._block(blocks[0])
            step.other = self._block(blocks[1]) if len(blocks) > 1 else []
        self.steps.append(step)

    def _told(self, asked: Sequence[Expression], step: Control) -> list[Node]:
        """Return the nodes that set the scalars which the host asks the device for."""
        nodes: list[Node] = []
        answers: list[Expression | Told] = []
        for e in asked:
            if self._is_host(e):
                answers.append(e)
                continue
            name = self._name("told")
            self.dtypes[name] = np.dtype(np.bool_ if not isinstance(step.node, Loop) else np.int64)
            nodes.append(Assign(name, e))
            answers.append(Told(name))
        step.bounds = tuple(answers)
        return nodes

    def _name(self, stem: str) -> str:
        """Return a name with a number."""
        k = 0
        while f"{stem}_{k}" in self.names or f"{stem}_{k}" in self.dtypes:
            k += 1
        self.names.add(f"{stem}_{k}")
        return f"{stem}_{k}"

    # --- scalars that units hand on ---------------------------------------------------------------

    def _handed_on(self, program: DeviceSteps) -> dict[str, np.dtype]:
        """Return the scalars that one unit reads and another one has set."""
        free = self.host | self.parameters | self.variables | self.arrays
        found: dict[str, None] = {}
        for unit in program.units():
            known = {name for name, _, _ in unit.finishes} | {name for name, _ in unit.folds}
            known |= {f"count_{name}" for name, _ in unit.joins}
            for name in sorted(exposed_in([*unit.before, *unit.nodes], known)):
                if name in self.aliases:
                    name = self.aliases[name][1]
                if name not in free and name in self.dtypes:
                    found[name] = None
        for step in program.controls():
            found.update((x.name, None) for x in step.bounds if isinstance(x, Told))
        return {name: self.dtypes[name] for name in found}
