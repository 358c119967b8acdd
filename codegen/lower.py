"""From a graph to a kernel in Loop IR: the frame, the blocks, and who lowers which equation.

All parts write into one `KernelFrame`. Each is given the other parts that it needs:

    ScalarCode     elements of arrays, literals, dims      frame
    Nests          loop nests, statements, folds           frame, scalar code, the target's loops
    Logs           memory that grows                       frame, scalar code, nests
    BufferMemory   buffers that are got, copies            frame, scalar code, nests, logs
    ControlFlow    branches and loops of the program       frame, scalar code, memory, blocks
    Effects, Routines, NjitCalls, Products                 frame, scalar code (nests)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tracejit.codegen.buffers import Buffer, Buffers
from tracejit.codegen.callbacks import Callbacks
from tracejit.codegen.check_hoisting import hoist_checks
from tracejit.codegen.cleanup import drop_unread, inline_once
from tracejit.codegen.control import ControlFlow
from tracejit.codegen.effects import Effects
from tracejit.codegen.elements import is_array
from tracejit.codegen.expression_edits import integer
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.interrupts import poll_loops
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.liveness import Liveness
from tracejit.codegen.logs import Logs, bind_scopes
from tracejit.codegen.loop_expressions import I64, ZERO, Load, Var
from tracejit.codegen.loop_ir import Let, Node, Origin, Return, Store
from tracejit.codegen.loop_verifier import verify_kernel
from tracejit.codegen.memory import BufferMemory
from tracejit.codegen.native_calls import NjitCalls
from tracejit.codegen.nests import Nests
from tracejit.codegen.parallel import cut_out_parts
from tracejit.codegen.partial_results import keep_partial_results
from tracejit.codegen.routines import Routines
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.codegen.schedule import Apart, Nest, Single, schedule_block
from tracejit.codegen.short_loops import write_out_short_loops
from tracejit.codegen.slots import assign_slots
from tracejit.codegen.statements import Statement
from tracejit.codegen.storage import choose_storage
from tracejit.codegen.stretches import sum_in_stretches
from tracejit.codegen.sums_in_loops import order_freely
from tracejit.codegen.target import CPU, PARALLEL_CPU, Target
from tracejit.ir.core import Block, Eqn, Graph, Value
from tracejit.ir.lowering import (
    Callback,
    Contract,
    Effect,
    Index,
    Library,
    LogOp,
    Native,
    Pointwise,
    Region,
)
from tracejit.ir.walk import all_eqns

__all__ = ["lower_for", "lower_graph"]


def lower_graph(graph: Graph, carried_out: Graph | None = None, *,
                checked: bool = False, lengths: Mapping[Value, int] | None = None,
                parallel: bool = False, in_order: bool = False,
                without: frozenset[str] = frozenset()) -> Kernel:
    """Return the kernel of a graph without calls, for the CPU.

    carried_out -- the graph with some of its loops standing in it several times
    lengths     -- the sizes of the call that it is made for; short ones get loops of their own
    parallel    -- whether threads may share loops
    in_order    -- whether sums have to be added up in the program's order
    without     -- the analyses that are switched off, from `tracejit/analyses.py`
    """
    kernel = lower_for(_cpu(parallel, without), graph, carried_out or graph, checked=checked,
                       lengths=None if "short_loops" in without else lengths)
    kernel.vectorises = "vectorisation" not in without
    if kernel.vectorises:
        order_freely(kernel.nodes, in_order)
    if parallel and not checked:
        cut_out_parts(kernel)
    kernel.nodes = poll_loops(kernel.nodes)
    bind_scopes(kernel)
    if checked:
        verify_kernel(kernel)
    return kernel


def _cpu(parallel: bool, without: frozenset[str]) -> Target:
    """Return the CPU as a target without some analyses."""
    target = PARALLEL_CPU if parallel else CPU
    if without.isdisjoint(("vectorisation", "fusion")):
        return target
    return replace(target, style=replace(target.style, vectorises="vectorisation" not in without,
                                         shares_loops="fusion" not in without))


def _by_element(graph: Graph) -> Iterator[Value]:
    """Yield the arrays that operations by element give."""
    for eqn in all_eqns(graph.block):
        if isinstance(eqn.op.lowering, Pointwise) and is_array(eqn.output):
            yield eqn.output


def lower_for(target: Target, graph: Graph, carried_out: Graph, *, checked: bool = False,
              lengths: Mapping[Value, int] | None = None) -> Kernel:
    """Return the kernel of a graph without calls, for some target."""
    given = {} if target.style.shares_loops else dict.fromkeys(
        _by_element(carried_out), "fusion is switched off")
    elements = choose_storage(carried_out, given, target.style)
    buffers = Buffers(carried_out, elements, Liveness(carried_out, elements))
    frame = KernelFrame(graph, carried_out, elements, buffers, target.name)
    kernel = Lowerer(frame, target).run()
    kernel.is_checked = checked
    check = verify_kernel if checked else _unchecked
    check(kernel)
    drop_unread(kernel.nodes, {b.name for b in buffers.inner})
    check(kernel)
    kernel.nodes = inline_once(kernel.nodes)
    check(kernel)
    if lengths is not None:
        short = {kernel.scalar_names[v]: n for v, n in lengths.items() if v in kernel.scalar_names}
        write_out_short_loops(kernel, short, frame.fresh)
        check(kernel)
    if target.style.vectorises:
        hoist_checks(kernel, frame.fresh)
        check(kernel)
    if target.style.parallel:
        sum_in_stretches(kernel, frame.fresh)
        keep_partial_results(kernel, frame.fresh)
        check(kernel)
    assign_slots(kernel)
    return kernel


def _unchecked(kernel: Kernel) -> None:
    pass


class Lowerer:
    """Lowers one graph: puts the parts together, and gives each the equations that it knows."""

    def __init__(self, frame: KernelFrame, target: Target) -> None:
        self.frame, self.target = frame, target
        self.code = ScalarCode(frame)
        self.nests = Nests(frame, self.code, target.style, target.loops)
        self.logs = Logs(frame, self.code, self.nests)
        self.memory = BufferMemory(frame, self.code, self.nests, self.logs)
        self.control = ControlFlow(frame, self.code, self.memory, self.block)
        self.effects = Effects(frame, self.code)
        self.routines = Routines(frame, self.code, self.nests)
        self.native_calls = NjitCalls(frame, self.code)
        self.callbacks = Callbacks(frame, self.code)
        self.products = target.products(frame, self.code, self.nests)
        self.apart: list[Apart] = []

    def run(self) -> Kernel:
        """Lower the whole graph."""
        frame, buffers = self.frame, self.frame.buffers
        head: list[Node] = []
        nodes: list[Node] = []
        inputs = self._name_buffers()
        with frame.scope(head):
            self._bind_inputs(inputs)
        with frame.scope(nodes):
            self.block(frame.carried_out.block)
            self._finish(buffers.outputs)
        arena = [b for b in buffers.inner if b.kind == "arena"]
        return Kernel(frame.graph, frame.carried_out, head, nodes, inputs, buffers.outputs, arena,
                      self.logs.dtypes, frame.failures, frame.labels,
                      {v: str(x) for v, x in frame.names.items()}, self.nests.placed, self.apart,
                      frame.elements.stored, self.effects.prints.shown, self.callbacks.called,
                      found=buffers.found)

    # --- the frame ------------------------------------------------------------------------------

    def _name_buffers(self) -> list[Buffer]:
        """Name the sizes and all buffers; return the inputs' buffers."""
        frame, inputs = self.frame, []
        for v in frame.graph.sizes:
            frame.names[v] = Var(frame.fresh(frame.labels[v]), I64)
        for k, v in enumerate(frame.graph.inputs):
            buffer = frame.buffers.of.get(v)
            if buffer is None:
                buffer = Buffer("input", v.aval.dtype, 1, [v], "", k)
            buffer.name = frame.fresh(frame.labels[v])
            inputs.append(buffer)
        for k, buffer in enumerate(frame.buffers.outputs):
            buffer.name = frame.fresh(f"out{k}")
        for k, buffer in frame.buffers.found.items():
            buffer.name = frame.fresh(f"found{k}")
        for buffer in frame.buffers.inner:
            buffer.name = frame.fresh("t" + frame.labels[buffer.values[0]])
        return inputs

    def _bind_inputs(self, inputs: Sequence[Buffer]) -> None:
        """Read scalar arguments once."""
        frame = self.frame
        for v, buffer in zip(frame.graph.inputs, inputs, strict=True):
            if not is_array(v):
                frame.names[v] = found = frame.variable(f"{frame.labels[v]}_", buffer.dtype)
                frame.add(Let(found.name, Load(buffer.name, ZERO, buffer.dtype),
                              Origin((frame.labels[v],))))

    def _finish(self, outputs: list[Buffer]) -> None:
        found = self.frame.buffers.found
        for a, buffer in zip(self.frame.graph.outputs, outputs, strict=True):
            if not is_array(a):
                self.frame.add(Store(buffer.name, ZERO, self.code.atom(a)))
            elif buffer.number in found:
                self._leave(a, found[buffer.number], buffer)
            elif self.frame.buffers.of[a] is not buffer:
                self.nests.copy(a, a, buffer, "it is a result beside another one")
        self.frame.add(Return(ZERO))

    def _leave(self, a: Value, memory: Buffer, shape: Buffer) -> None:
        """Leave a result, whose size only the kernel knows, for the caller to copy."""
        self.memory.prepare(memory)
        self.nests.copy(a, a, memory, "it is a result of a size that the caller does not know")
        for k, d in enumerate(a.aval.shape):
            self.frame.add(Store(shape.name, integer(k), self.code.dim(d)))

    # --- blocks ---------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        """Lower a block into the innermost scope."""
        frame = self.frame
        for step in schedule_block(block, frame.elements, frame.buffers, self.apart,
                                   self.target.style):
            for buffer in self._written_by(step):
                self.memory.prepare(buffer)
            if isinstance(step, Single):
                self.single(step.eqn)
            else:
                self.nests.write(step)

    def _written_by(self, step: Nest | Statement | Single) -> list[Buffer]:
        """Return the buffers that a step, taken as a whole, fills."""
        if isinstance(step, Nest):
            return [s.buffer for s in step.statements() if s.buffer is not None]
        if isinstance(step, Statement):
            return [] if step.buffer is None else [step.buffer]
        of = self.frame.buffers.of
        carried = [v for region in step.eqn.regions for v in region.inputs]
        return [of[v] for v in (*step.eqn.outputs, *carried) if v in of]

    def single(self, eqn: Eqn) -> None:
        """Lower an equation on its own."""
        self.target.check(eqn)
        how = eqn.op.lowering
        if isinstance(how, Region):
            self.control.lower(eqn, how)
        elif isinstance(how, Pointwise):
            made = self.code.expression(eqn, [self.code.atom(a) for a in eqn.inputs])
            self.frame.set_scalar(eqn.output, made, self.frame.origin(eqn))
        elif isinstance(how, Index):
            made = self.code.dim(how.element(eqn.params, ()))
            self.frame.set_scalar(eqn.output, made, self.frame.origin(eqn))
        elif isinstance(how, Effect):
            self.effects.lower(eqn, how)
        elif isinstance(how, LogOp):
            self.logs.lower(eqn, how)
        elif isinstance(how, Library):
            self.routines.lower(eqn, how)
        elif isinstance(how, Native):
            self.native_calls.lower(eqn, how)
        elif isinstance(how, Callback):
            self.callbacks.lower(eqn)
        elif isinstance(how, Contract):
            self.products.lower(eqn)
        else:  # a view of one element
            (read,) = self.frame.elements.reads(eqn.output, ())
            self.frame.names[eqn.output] = self.code.element(read.operand, read.index)
