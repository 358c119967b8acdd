"""From a graph to a kernel in Loop IR: the frame, blocks, the program's own loops and branches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tracejit.codegen import routines
from tracejit.codegen.buffers import Buffer, Buffers
from tracejit.codegen.cleanup import drop_unread, inline_once
from tracejit.codegen.elements import is_array
from tracejit.codegen.frame import KernelEmitter
from tracejit.codegen.interrupts import poll_loops
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.liveness import Liveness
from tracejit.codegen.logs import bind_scopes, group_logs, log_base, reserve
from tracejit.codegen.loop_expressions import (
    BOOL,
    I64,
    ONE,
    ZERO,
    Bin,
    Const,
    Expression,
    Load,
    Var,
    is_name,
)
from tracejit.codegen.loop_ir import (
    Assign,
    If,
    Let,
    Loop,
    Node,
    Origin,
    Return,
    Store,
    While,
)
from tracejit.codegen.loop_verifier import verify_kernel
from tracejit.codegen.matmul import lower_product
from tracejit.codegen.schedule import Nest, Single, Style, schedule_block
from tracejit.codegen.slots import assign_slots
from tracejit.codegen.statements import Statement, copy_statement
from tracejit.codegen.storage import choose_storage
from tracejit.ir.core import Atom, Block, Eqn, Graph, Value
from tracejit.ir.dims import Dim, dim_values, product
from tracejit.ir.lowering import (
    Contract,
    Effect,
    Index,
    Library,
    LogOp,
    Native,
    Pointwise,
    Region,
    View,
)
from tracejit.ir.types import LogType

__all__ = ["lower_graph"]


def lower_graph(graph: Graph, carried_out: Graph | None = None, *,
                checked: bool = False) -> Kernel:
    """Return the kernel of a graph without calls, for the CPU.

    carried_out -- the graph with some of its loops standing in it several times
    """
    kernel = lower_with(_Lowerer, graph, carried_out or graph, checked=checked)
    kernel.nodes = poll_loops(kernel.nodes)
    bind_scopes(kernel)
    if checked:
        verify_kernel(kernel)
    return kernel


def lower_with(lowerer: type[_Lowerer], graph: Graph, carried_out: Graph, *,
               checked: bool = False) -> Kernel:
    """Return the kernel of a graph without calls, as a lowerer for some target makes it."""
    given: dict[Value, str] = {}
    elements = choose_storage(carried_out, given, lowerer.style.is_product)
    live = Liveness(carried_out, elements)
    buffers = Buffers(carried_out, elements, live)
    kernel = lowerer(graph, carried_out, elements, buffers, group_logs(carried_out.block)).run()
    kernel.is_checked = checked
    check = verify_kernel if checked else _unchecked
    check(kernel)
    drop_unread(kernel.nodes, {b.name for b in buffers.inner})
    check(kernel)
    kernel.nodes = inline_once(kernel.nodes)
    check(kernel)
    assign_slots(kernel)
    return kernel


def _unchecked(kernel: Kernel) -> None:
    pass


class _Lowerer(KernelEmitter):
    """Lowers one graph."""

    style = Style()

    def run(self) -> Kernel:
        """Lower the whole graph."""
        head: list[Node] = []
        nodes: list[Node] = []
        inputs, outputs = self._name_buffers()
        with self.scope(head):
            self._bind_inputs(inputs)
        with self.scope(nodes):
            self.block(self.carried_out.block)
            self._finish(outputs)
        arena = [b for b in self.buffers.inner if b.kind == "arena"]
        return Kernel(self.graph, self.carried_out, head, nodes, inputs, outputs, arena, self.logs,
                      self.failures, self.labels, {v: str(x) for v, x in self.names.items()},
                      self.nests, self.apart,
                      self.elements.stored, self.prints)

    # --- the frame ------------------------------------------------------------------------------

    def _name_buffers(self) -> tuple[list[Buffer], list[Buffer]]:
        inputs: list[Buffer] = []
        for v in self.graph.sizes:
            self.names[v] = Var(self.fresh(self.labels[v]), I64)
        for k, v in enumerate(self.graph.inputs):
            buffer = self.buffers.of.get(v)
            if buffer is None:
                buffer = Buffer("input", v.aval.dtype, 1, [v], "", k)
            buffer.name = self.fresh(self.labels[v])
            inputs.append(buffer)
        for k, buffer in enumerate(self.buffers.outputs):
            buffer.name = self.fresh(f"out{k}")
        for buffer in self.buffers.inner:
            buffer.name = self.fresh("t" + self.labels.get(buffer.values[0], ""))
        return inputs, self.buffers.outputs

    def _bind_inputs(self, inputs: Sequence[Buffer]) -> None:
        """Read scalar arguments once."""
        for v, buffer in zip(self.graph.inputs, inputs, strict=True):
            if not is_array(v):
                name = self.fresh(f"{self.labels[v]}_")
                self.names[v] = Var(name, buffer.dtype)
                self.nodes.append(Let(name, Load(buffer.name, ZERO, buffer.dtype),
                                      Origin((self.labels[v],))))

    def _finish(self, outputs: list[Buffer]) -> None:
        for a, buffer in zip(self.graph.outputs, outputs, strict=True):
            if not is_array(a):
                self.nodes.append(Store(buffer.name, ZERO, self.atom(a)))
            elif self.buffers.of[a] is not buffer:
                self.copy(a, a, buffer, "it is a result beside another one")
        self.nodes.append(Return(ZERO))

    # --- blocks ---------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        """Lower a block into the innermost scope."""
        for step in schedule_block(block, self.elements, self.buffers, self.apart, self.style):
            for buffer in self._written_by(step):
                self._prepare(buffer)
            if isinstance(step, Nest):
                self.nest(step)
            elif isinstance(step, Statement):
                self.statement(step)
            else:
                self.single(step)

    def _written_by(self, step: Nest | Statement | Single) -> list[Buffer]:
        """Return the buffers that a step, taken as a whole, fills."""
        if isinstance(step, Nest):
            return [s.buffer for s in step.statements() if s.buffer is not None]
        if isinstance(step, Statement):
            return [] if step.buffer is None else [step.buffer]
        carried = [v for region in step.eqn.regions for v in region.inputs]
        return [self.buffers.of[v] for v in (*step.eqn.outputs, *carried) if v in self.buffers.of]

    def _prepare(self, buffer: Buffer, size: Dim | None = None) -> None:
        """Get the memory of a buffer whose size is only known here; it is kept between uses.

        What a branch on data yields may have a size that only the branches know.
        """
        if buffer.kind != "dynamic" or any(buffer in scope.ready for scope in self.scopes):
            return
        if size is None:
            size = buffer.size
            if not all(v in self.names for v in dim_values(size)):
                return
        self.scopes[-1].ready.add(buffer)
        if buffer.number < 0:
            buffer.number = len(self.logs)
            self.logs.append(buffer.dtype)
        eqn = self.elements.makers.get(buffer.values[0])
        reserve(self, buffer.number, self.dim(size), eqn)
        self.nodes.append(Assign(buffer.name, log_base(self, buffer.number)))

    def single(self, step: Single) -> None:
        """Lower an equation on its own."""
        eqn = step.eqn
        how = eqn.op.lowering
        if isinstance(how, Region):
            lower = {"if": self.if_, "for": self.for_, "while": self.while_, "map": self.map_}
            lower[how.kind](eqn)
        elif isinstance(how, Pointwise):
            self._scalar_step(eqn, self.expression(eqn, [self.atom(a) for a in eqn.inputs]))
        elif isinstance(how, View):
            (read,) = self.elements.reads(eqn.output, ())
            self.names[eqn.output] = self.element(read.operand, read.index)
        elif isinstance(how, Index):
            self._scalar_step(eqn, self.dim(how.element(eqn.params, ())))
        elif isinstance(how, (Effect, LogOp, Library, Native)):
            routines.lower(self, eqn)
        elif isinstance(how, Contract):
            lower_product(self, eqn)
        else:
            (read,) = self.elements.reads(eqn.output, ())
            self.names[eqn.output] = self.element(read.operand, read.index)

    def _scalar_step(self, eqn: Eqn, made: Expression) -> None:
        out = eqn.output
        if is_name(made):
            self.names[out] = made
            return
        name = self.fresh(self.label(out))
        self.names[out] = Var(name, made.dtype)
        self.nodes.append(Let(name, made, self.origin(eqn)))

    # --- control flow ---------------------------------------------------------------------------

    def if_(self, eqn: Eqn) -> None:
        """Lower a branch: scalars go to variables that both branches set."""
        names: list[Var | None] = []
        for v in eqn.outputs:
            names.append(None if self._is_memory(v) else Var(self.fresh(self.label(v)),
                                                             v.aval.dtype))
        bodies: list[list[Node]] = []
        for region in eqn.regions:
            nodes: list[Node] = []
            with self.scope(nodes, conditional=True, eqn=eqn):
                self.block(region)
                for a, v in zip(region.outputs, eqn.outputs, strict=True):
                    if is_array(v):
                        self._prepare(self.buffers.of[v], product(a.aval.shape))
                self._copy_all(zip(region.outputs, eqn.outputs, strict=True),
                               "the branches have it in different places")
                nodes.extend(Assign(name.name, self.atom(a)) for a, name in zip(
                    region.outputs, names, strict=True) if name is not None)
            bodies.append(nodes)
        self.names.update((v, name) for v, name in zip(eqn.outputs, names, strict=True)
                          if name is not None)
        self.nodes.append(If(self.atom(eqn.inputs[0]), bodies[0], bodies[1], self.origin(eqn)))

    def _is_memory(self, v: Value) -> bool:
        return is_array(v) or isinstance(v.aval, LogType)

    def for_(self, eqn: Eqn) -> None:
        """Lower a counted loop."""
        (body,) = eqn.regions
        names = self._enter_loop(eqn, [body])
        lo, hi = self.dim(eqn.params["lo"]), self.dim(eqn.params["hi"])
        with self.loop_name(body.inputs[0]) as name:
            loop = Loop(name, lo, hi, reverse=eqn.params["reversed"], origin=self.origin(eqn),
                        blocks=(body,))
            with self.scope(loop.body, [body.inputs[0]], conditional=True, eqn=eqn):
                self.block(body)
                self._next_iteration(body, names)
            self.nodes.append(loop)
        self._leave_loop(eqn, eqn.outputs, names)

    def while_(self, eqn: Eqn) -> None:
        """Lower a loop with a condition."""
        cond, body = eqn.regions
        names = self._enter_loop(eqn, [cond, body])
        counter = self.fresh(f"i{self.label(eqn.outputs[0])}")
        self.nodes.append(Assign(counter, ZERO))
        iteration = Var(counter, I64)
        for region in eqn.regions:
            self.names[region.inputs[0]] = iteration
        loop = While([], Const(True, BOOL), [], self.origin(eqn), (cond, body), counter)
        variables = [cond.inputs[0], body.inputs[0]]
        with self.scope(loop.head, variables, conditional=True, eqn=eqn):
            self.block(cond)
            loop.condition = self.atom(cond.outputs[0])
        with self.scope(loop.body, variables, conditional=True, eqn=eqn):
            self.block(body)
            self._next_iteration(body, names)
            self.nodes.append(Assign(counter, Bin("+", iteration, ONE)))
        self.nodes.append(loop)
        self.names[eqn.outputs[0]] = iteration
        self._leave_loop(eqn, eqn.outputs[1:], names)

    def _enter_loop(self, eqn: Eqn, regions: Sequence[Block]) -> list[Var | None]:
        """Put the first carried values where the iterations find them."""
        names: list[Var | None] = []
        self._copy_all(zip(eqn.inputs, regions[-1].inputs[1:], strict=True),
                       "the loop changes it, and what it was is still read")
        for k, a in enumerate(eqn.inputs):
            v = regions[-1].inputs[k + 1]
            name = None
            if is_array(v):
                for region in regions[:-1]:
                    assert self.buffers.shares(region.inputs[k + 1], v), "one array, two places"
            elif not self._is_memory(v):
                name = Var(self.fresh(f"c{self.label(v)}"), v.aval.dtype)
                self.nodes.append(Assign(name.name, self.atom(a)))
                for region in regions:
                    self.names[region.inputs[k + 1]] = name
            names.append(name)
        return names

    def _next_iteration(self, body: Block, names: list[Var | None]) -> None:
        """Set the carried values to what the iteration yields, all at once."""
        carried = body.inputs[1:]
        self._copy_all(zip(body.outputs, carried, strict=True),
                       "the next iteration begins with it, and what this one began with is still "
                       "read when it is made")
        moves: list[tuple[Var, Expression]] = []
        for a, name in zip(body.outputs, names, strict=True):
            if name is not None and self.atom(a) != name:
                moves.append((name, self.atom(a)))
        targets = {name for name, _ in moves}
        for k, (name, x) in enumerate(moves):
            if x in targets and x in {n for n, _ in moves[:k]}:
                saved = Var(self.fresh("old"), x.dtype)
                moves[k] = (name, saved)
                self.nodes.append(Let(saved.name, x))
        self.nodes.extend(Assign(name.name, x) for name, x in moves)

    def _copy_all(self, pairs: Iterable[tuple[Atom, Value]], why: str) -> None:
        """Copy arrays to where others are, all at once: what is still to be read is kept."""
        pending = [(a, v) for a, v in pairs if is_array(v) and not self.buffers.shares(a, v)]
        while pending:
            ready = next((k for k, (_, v) in enumerate(pending)
                          if not any(self._reads(a, self.buffers.of[v]) for a, _ in pending)), None)
            if ready is None:
                a, v = pending[0]
                pending[0] = self._saved(a), v
                continue
            a, v = pending.pop(ready)
            self.copy(a, v, self.buffers.of[v], why)

    def _reads(self, a: Atom, buffer: Buffer) -> bool:
        return any(self.buffers.of.get(v) is buffer for v in self.elements.leaves(a))

    def _saved(self, a: Atom) -> Value:
        """Copy an array to memory of its own."""
        v = Value(a.aval)
        self.elements.stored[v] = "kept while arrays exchange places"
        self.labels[v] = "kept" + (self.labels.get(a, "") if isinstance(a, Value) else "")
        buffer = self.buffers.make_inner(v)
        buffer.name = self.fresh(self.labels[v])
        self._prepare(buffer)
        self.copy(a, v, buffer, "arrays exchange places")
        return v

    def _leave_loop(self, eqn: Eqn, results: Sequence[Value], names: list[Var | None]) -> None:
        self._copy_all(zip(eqn.regions[-1].inputs[1:], results, strict=True),
                       "it is what the loop leaves")
        self.names.update((v, name) for v, name in zip(results, names, strict=True)
                          if name is not None)

    def map_(self, eqn: Eqn) -> None:
        """Lower independent iterations, each of which fills its part of the results."""
        (body,) = eqn.regions
        index = body.inputs[0]
        with self.loop_name(index) as name:
            loop = Loop(name, ZERO, self.dim(eqn.params["size"]), origin=self.origin(eqn),
                        blocks=(body,))
            with self.scope(loop.body, [index], conditional=True, eqn=eqn):
                self.block(body)
                for a, v in zip(body.outputs, eqn.outputs, strict=True):
                    self._fill_part(a, v, index)
            self.nodes.append(loop)

    def _fill_part(self, a: Atom, v: Value, index: Value) -> None:
        buffer = self.buffers.of[v]
        shape = v.aval.shape
        if not is_array(a):
            place = self.place((index.dim, *[0] * (len(shape) - 1)), shape)
            self.nodes.append(Store(buffer.name, place, self.atom(a)))
            return
        s = copy_statement(a, v, buffer, "it is an element's part of the result")
        s.index, s.shape = (index.dim, *s.index), shape
        self.loops_of(s)
