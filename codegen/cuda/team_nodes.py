"""Loop IR for teams of threads: rows in step, folds across threads, barriers where they meet.

All threads of a block go through as many rows, so that they meet at every barrier; a stand-in for
a row behind the last one does nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from tracejit.codegen.cuda.device_nodes import for_device
from tracejit.codegen.cuda.teams import ARGUMENTS, TeamAccess, accesses_of, meets
from tracejit.codegen.cuda.units import Unit
from tracejit.codegen.expression_edits import call
from tracejit.codegen.folds import identity_of
from tracejit.codegen.loop_expressions import BOOL, I64, ZERO, Array, Bin, Cast, Expression, Var
from tracejit.codegen.loop_ir import Assign, Do, If, Let, Loop, Node, Store
from tracejit.codegen.node_names import defined_in
from tracejit.ir.dtypes import dtype_name

__all__ = ["rows_of_teams", "shared_by_team"]


def shared_by_team(unit: Unit, dtypes: Mapping[str, np.dtype]) -> dict[str, str]:
    """Return the shared memory that a unit's teams need: names, and names of dtypes."""
    found: dict[str, str] = {}
    for name, combine in _folds(unit.axes[-1].body) if unit.team is not None else ():
        kind = dtype_name(dtypes[name])
        found[f"shared_{kind}"] = kind
        if combine in ARGUMENTS:
            found["shared_places"] = "i64"
    return found


def _folds(nodes: Sequence[Node]) -> Iterable[tuple[str, str]]:
    """Return the registers that teams fold into, running sums among them, and how."""
    loops = [node for node in nodes if isinstance(node, Loop)]
    return [fold for n in loops for fold in (*n.folds, *([(n.runs, "add")] if n.runs else []))]


def _place_in_block(axis: str) -> Expression:
    return Var(f"cuda.threadIdx.{axis}", I64)


def rows_of_teams(unit: Unit, dtypes: Mapping[str, np.dtype]) -> list[Node]:
    """Return the loops of a unit whose rows are done by teams."""
    return _Rows(unit, dtypes).loops(unit.nodes)


class _Rows:
    def __init__(self, unit: Unit, dtypes: Mapping[str, np.dtype]) -> None:
        assert unit.team is not None
        self.unit, self.dtypes, self.team = unit, dtypes, unit.team
        self.row = unit.axes[-1]
        self.stem, self.axis, self.lane = ("column", "x", "y") if self.team.is_column else (
            "row", "y", "x")
        self.first = Bin("==", _place_in_block(self.lane), ZERO)
        self.base, self.is_in = Var(self._free("first"), I64), Var(self._free("is_in"), BOOL)
        self.divided = {id(loop): self.lane for loop in self.team.divided}
        self.partial = {name for n in self.row.body if isinstance(n, Loop)
                        for name in defined_in(n.body)} - {name for name, _ in self._folds}
        """Scalars of which every thread has its own."""
        self.own = {n.name for n in self.row.body if isinstance(n, Assign)
                    and n.name not in n.expression.reads}
        """Scalars that a row begins with a value of its own."""
        self.done: list[Node] = []
        self.inside: list[Node] = []
        self.touched: list[TeamAccess] = []
        """The accesses of threads since they last met."""

    @property
    def _folds(self) -> Iterable[tuple[str, str]]:
        return _folds(self.row.body)

    def _free(self, stem: str) -> str:
        k, name = 0, stem
        while name in self.dtypes:
            k, name = k + 1, f"{stem}_{k}"
        return name

    def loops(self, nodes: Sequence[Node]) -> list[Node]:
        """Return the loops around rows, with the rows."""
        found: list[Node] = []
        for node in nodes:
            if node is self.row:
                found.append(self._row())
            elif isinstance(node, Loop):
                (loop,) = for_device([Loop(node.var, node.lo, node.hi, origin=node.origin)], {})
                assert isinstance(loop, Loop)
                if any(node is axis for axis in self.unit.axes):
                    loop.lo, loop.step = call("at_z"), call("step_z")
                loop.body = self.loops(node.body)
                found.append(loop)
            else:
                found += for_device([node], {})
        return found

    def _row(self) -> Loop:
        for node in self.row.body:
            self._item(node)
        self._close()
        row = Var(self.row.var, I64)
        place = Bin("+", self.base, _place_in_block(self.axis))
        head: list[Node] = [Let(row.name, place), Let(self.is_in.name,
                                                      Bin("<", row, self.row.hi))]
        return Loop(self.base.name, call(f"first_{self.axis}"), self.row.hi, [*head, *self.done],
                    step=call(f"step_{self.axis}"), origin=self.row.origin)

    def _item(self, node: Node) -> None:
        accesses = list(accesses_of(node, self.team.divided))
        if any(meets(a, b) for a in self.touched for b in accesses):
            self._meet()
            self.done.append(Do(call("cuda.syncthreads")))
        self.touched += accesses
        registers = {name for name, _ in self._folds}
        if isinstance(node, Assign) and node.name.removesuffix("_at") in registers:
            self.done += for_device([node], {})  # the initial value of a fold, for every thread
        elif isinstance(node, (Store, Do)) or self._is_once(node):
            self._by_first(for_device([node], {}))
        elif isinstance(node, Loop) and node.runs:
            self._running(node)
        else:
            self.inside += for_device([node], self.divided)
        if isinstance(node, Loop) and node.folds:
            self._meet()
            self.done += [self._together(name, combine) for name, combine in node.folds]

    def _running(self, loop: Loop) -> None:
        """Run through elements, as many at a time as there are threads in a team."""
        total = Var(loop.runs, self.dtypes[loop.runs])
        at = next(k for k, n in enumerate(loop.body)
                  if isinstance(n, Assign) and n.name == total.name)
        add = loop.body[at]
        assert isinstance(add, Assign)
        added = add.expression.a if isinstance(add.expression, Cast) else add.expression
        assert isinstance(added, Bin)
        shared = self._shared(total.name)
        first, var = Var(self._free("turn"), I64), Var(loop.var, I64)
        is_here = Var(self._free("is_here"), BOOL)
        term, here = (Var(self._free(stem), total.dtype) for stem in ("term", "here"))
        before = [*loop.body[:at], Assign(term.name, added.b, add.origin)]
        after = [replace(n, expression=here) if isinstance(n, Store) and n.expression == total
                 else n for n in loop.body[at + 1:]]
        body: list[Node] = [
            Let(var.name, Bin("+", first, _place_in_block(self.lane))),
            Let(is_here.name, Bin("and", self.is_in, Bin("<", var, loop.hi))),
            Assign(term.name, identity_of("add", total.dtype)),
            If(is_here, for_device(before, {})),
            Let(here.name, Bin("+", total, call(f"{self.stem}_scan", shared, term))),
            If(is_here, for_device(after, {})),
            Assign(total.name, Bin("+", total, call(f"{self.stem}_last", shared)))]
        self._meet()
        self.done.append(Loop(first.name, loop.lo, loop.hi, body,
                              step=Var(f"cuda.blockDim.{self.lane}", I64)))

    def _is_once(self, node: Node) -> bool:
        """Whether a row as a whole, not its threads, adds to a register that rows fold into."""
        return isinstance(node, Assign) and node.name not in self.own and not (
            node.expression.reads & self.partial)

    def _by_first(self, nodes: list[Node]) -> None:
        last = self.inside[-1] if self.inside else None
        if isinstance(last, If) and last.condition == self.first:
            last.then += nodes
        else:
            self.inside.append(If(self.first, nodes))

    def _together(self, name: str, combine: str) -> Node:
        """Fold the registers of a team's threads."""
        register, shared = Var(name, self.dtypes[name]), self._shared(name)
        function = f"{self.stem}_{combine}"
        if combine not in ARGUMENTS:
            return Assign(name, call(function, shared, register))
        place = Var(f"{name}_at", I64)
        return Assign(place.name, call(function, shared, Array("shared_places", I64), register,
                                       place))

    def _shared(self, name: str) -> Array:
        dtype = self.dtypes[name]
        return Array(f"shared_{dtype_name(dtype)}", dtype)

    def _meet(self) -> None:
        self._close()
        self.touched = []

    def _close(self) -> None:
        """Close the nodes that only rows of the program run, in a test."""
        if self.inside:
            self.done.append(If(self.is_in, self.inside))
            self.inside = []
