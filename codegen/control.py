"""The program's own branches and loops: the places of carried values, and the moves to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tracejit.codegen.elements import is_array
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.loop_expressions import BOOL, ONE, ZERO, Bin, Const, Expression, Var
from tracejit.codegen.loop_ir import Assign, If, Let, Loop, Node, Store, While
from tracejit.codegen.memory import BufferMemory
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.codegen.statements import copy_statement
from tracejit.ir.control import IfEqn, LoopEqn, MapEqn
from tracejit.ir.core import Atom, Block, Eqn, Value
from tracejit.ir.dims import product
from tracejit.ir.lowering import Region
from tracejit.ir.types import LogType

__all__ = ["ControlFlow"]

Names = Sequence["Var | None"]
"""For each value that is carried the variable that it is in; None of one in memory."""


class ControlFlow:
    """Writes branches and loops of the program; `write_block` writes their bodies."""

    def __init__(self, frame: KernelFrame, code: ScalarCode, memory: BufferMemory,
                 write_block: Callable[[Block], None]) -> None:
        self.frame, self.code, self.memory = frame, code, memory
        self.write_block = write_block

    def lower(self, eqn: Eqn, how: Region) -> None:
        """Lower an equation with regions."""
        if how.kind == "if":
            self._branch(eqn)
        elif how.kind == "map":
            self._map(MapEqn(eqn))
        elif how.kind == "for":
            self._counted(LoopEqn(eqn))
        else:
            self._while(LoopEqn(eqn))

    # --- branches -------------------------------------------------------------------------------

    def _branch(self, eqn: Eqn) -> None:
        """Scalars go to variables that both branches set."""
        names = [None if _is_memory(v) else self.frame.variable(self.frame.label(v), v.aval.dtype)
                 for v in eqn.outputs]
        bodies = [self._branch_body(eqn, region, names) for region in eqn.regions]
        self._name_results(eqn.outputs, names)
        condition = self.code.atom(IfEqn(eqn).condition)
        self.frame.add(If(condition, bodies[0], bodies[1], self.frame.origin(eqn)))

    def _branch_body(self, eqn: Eqn, region: Block, names: Names) -> list[Node]:
        nodes: list[Node] = []
        with self.frame.scope(nodes, conditional=True, eqn=eqn):
            self.write_block(region)
            for a, v in zip(region.outputs, eqn.outputs, strict=True):
                if is_array(v):
                    self.memory.prepare(self.frame.buffers.of[v], product(a.aval.shape))
            self.memory.copy_all(zip(region.outputs, eqn.outputs, strict=True),
                                 "the branches have it in different places")
            nodes.extend(Assign(name.name, self.code.atom(a)) for a, name in zip(
                region.outputs, names, strict=True) if name is not None)
        return nodes

    # --- loops that carry -----------------------------------------------------------------------

    def _counted(self, view: LoopEqn) -> None:
        names = self._enter_loop(view)
        lo, hi = self.code.dim(view.lo), self.code.dim(view.hi)
        with self.frame.loop_name(view.index) as name:
            loop = Loop(name, lo, hi, reverse=view.is_reversed,
                        origin=self.frame.origin(view.eqn), blocks=(view.body,))
            with self.frame.scope(loop.body, [view.index], conditional=True, eqn=view.eqn):
                self.write_block(view.body)
                self._next_iteration(view, names)
            self.frame.add(loop)
        self._leave_loop(view, names)

    def _while(self, view: LoopEqn) -> None:
        eqn, test = view.eqn, view.test
        assert test is not None
        names = self._enter_loop(view)
        trips = eqn.outputs[0]
        iteration = self.frame.variable(f"i{self.frame.label(trips)}")
        self.frame.add(Assign(iteration.name, ZERO))
        self.frame.names.update(dict.fromkeys(view.indices, iteration))
        loop = While([], Const(True, BOOL), [], self.frame.origin(eqn), eqn.regions,
                     iteration.name)
        with self.frame.scope(loop.head, view.indices, conditional=True, eqn=eqn):
            self.write_block(test)
            loop.condition = self.code.atom(test.outputs[0])
        with self.frame.scope(loop.body, view.indices, conditional=True, eqn=eqn):
            self.write_block(view.body)
            self._next_iteration(view, names)
            self.frame.add(Assign(iteration.name, Bin("+", iteration, ONE)))
        self.frame.add(loop)
        self.frame.names[trips] = iteration
        self._leave_loop(view, names)

    def _enter_loop(self, view: LoopEqn) -> Names:
        """Put the first carried values where the iterations find them."""
        names: list[Var | None] = []
        self.memory.copy_all(zip(view.starts, view.carried, strict=True),
                             "the loop changes it, and what it was is still read")
        for k, (a, v) in enumerate(zip(view.starts, view.carried, strict=True)):
            name = None
            if is_array(v):
                assert all(self.frame.buffers.shares(w, v) for w in view.tested[k:k + 1]), (
                    "one array, two places")
            elif not _is_memory(v):
                name = self.frame.variable(f"c{self.frame.label(v)}", v.aval.dtype)
                self.frame.add(Assign(name.name, self.code.atom(a)))
                self.frame.names.update(dict.fromkeys((v, *view.tested[k:k + 1]), name))
            names.append(name)
        return names

    def _next_iteration(self, view: LoopEqn, names: Names) -> None:
        """Set the carried values to the values that the iteration yields, all at once."""
        self.memory.copy_all(zip(view.yielded, view.carried, strict=True),
                             "the next iteration begins with it, and what this one began with is "
                             "still read when it is made")
        moves: list[tuple[Var, Expression]] = []
        for a, name in zip(view.yielded, names, strict=True):
            if name is not None and self.code.atom(a) != name:
                moves.append((name, self.code.atom(a)))
        targets = {name for name, _ in moves}
        for k, (name, x) in enumerate(moves):
            if x in targets and x in {n for n, _ in moves[:k]}:
                saved = self.frame.variable("old", x.dtype)
                moves[k] = (name, saved)
                self.frame.add(Let(saved.name, x))
        self.frame.add(*(Assign(name.name, x) for name, x in moves))

    def _leave_loop(self, view: LoopEqn, names: Names) -> None:
        self.memory.copy_all(zip(view.carried, view.results, strict=True),
                             "it is what the loop leaves")
        self._name_results(view.results, names)

    def _name_results(self, results: Iterable[Value], names: Names) -> None:
        self.frame.names.update((v, name) for v, name in zip(results, names, strict=True)
                                if name is not None)

    # --- independent iterations -----------------------------------------------------------------

    def _map(self, view: MapEqn) -> None:
        """Each iteration fills its part of the results."""
        with self.frame.loop_name(view.index) as name:
            loop = Loop(name, ZERO, self.code.dim(view.size), origin=self.frame.origin(view.eqn),
                        blocks=(view.body,), independent=True)
            loop.results = tuple([self.frame.buffers.of[v].name for v in view.eqn.outputs])
            with self.frame.scope(loop.body, [view.index], conditional=True, eqn=view.eqn):
                self.write_block(view.body)
                for a, v in zip(view.body.outputs, view.eqn.outputs, strict=True):
                    self._fill_part(a, v, view.index)
            self.frame.add(loop)

    def _fill_part(self, a: Atom, v: Value, index: Value) -> None:
        buffer = self.frame.buffers.of[v]
        shape = v.aval.shape
        if not is_array(a):
            place = self.code.place((index.dim, *[0] * (len(shape) - 1)), shape)
            self.frame.add(Store(buffer.name, place, self.code.atom(a)))
            return
        s = copy_statement(a, v, buffer, "it is an element's part of the result")
        s.index, s.shape = (index.dim, *s.index), shape
        self.memory.nests.write_alone(s)


def _is_memory(v: Value) -> bool:
    return is_array(v) or isinstance(v.aval, LogType)
