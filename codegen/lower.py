"""From a graph to Loop IR: blocks, nests, the program's own loops and branches.

The result is one kernel: its nodes, its buffers, and what each failure status means.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tracejit.codegen import routines
from tracejit.codegen.buffers import Buffer, Buffers
from tracejit.codegen.cleanup import drop_unread, inline_once
from tracejit.codegen.elements import Elements, Guard, is_array
from tracejit.codegen.emitter import Emitter, Failure, literal_text
from tracejit.codegen.liveness import Liveness
from tracejit.codegen.loop_ir import (
    Assign,
    Do,
    If,
    Let,
    Loop,
    Node,
    Return,
    Store,
    While,
    filled,
    grouped,
)
from tracejit.codegen.matmul import lower_product
from tracejit.codegen.schedule import Nest, Single, as_nest, schedule_block, statements_in
from tracejit.codegen.slots import assign_slots
from tracejit.codegen.statements import Statement, copy_statement
from tracejit.codegen.storage import choose_storage
from tracejit.ir.core import Atom, Block, Eqn, Graph, Literal, Value
from tracejit.ir.dims import Dim, dim_values, product
from tracejit.ir.lowering import Contract, Effect, Index, Library, LogOp, Pointwise, Region, View
from tracejit.ir.printer import Names, format_block
from tracejit.ir.types import LogType, dtype_name

__all__ = ["Kernel", "lower_graph"]


@dataclass(slots=True)
class Kernel:
    """A kernel before it is rendered.

    head            -- reads the scalar arguments
    inputs, outputs -- the buffers that the caller gives, in the order of the graph
    arena           -- the buffers that the kernel lays out in the workspace
    logs            -- the dtypes of its Logs
    """

    graph: Graph
    head: list[Node]
    nodes: list[Node]
    inputs: list[Buffer]
    outputs: list[Buffer]
    arena: list[Buffer]
    logs: list[np.dtype]
    failures: list[Failure]
    labels: dict[Value, str]
    scalar_names: dict[Value, str]
    is_checked: bool = False
    """Whether it is compiled for verify mode: every index checked, zones between buffers."""

    @property
    def buffers(self) -> list[Buffer]:
        """Return all buffers, in the order in which verify mode numbers them."""
        return [*self.inputs, *self.outputs, *self.arena]


def label_values(graph: Graph) -> dict[Value, str]:
    """Return the names that values have in the printed graph."""
    names = Names()
    for v in (*graph.sizes, *graph.inputs):
        names.of(v)
    format_block(graph.block, names, "", "return")
    return names.given


def lower_graph(graph: Graph, *, checked: bool = False) -> Kernel:
    """Return the kernel of a graph without calls."""
    given: dict[Value, str] = {}
    elements = choose_storage(graph, given)
    live = Liveness(graph, elements)
    buffers = Buffers(graph, elements, live)
    kernel = _Lowerer(graph, elements, buffers).run()
    kernel.is_checked = checked
    drop_unread(kernel.nodes, {b.name for b in buffers.inner})
    kernel.nodes = inline_once(kernel.nodes)
    assign_slots(kernel)
    return kernel


BLOCK = 4096
"""How many terms are summed before their sum joins the total."""


def _is_long_sum(s: Statement) -> bool:
    """Whether a sum runs over one axis that may be long, in floating point."""
    extent = s.extents[-1]
    return s.folded == 1 and s.target.aval.dtype.kind in "fc" and not (
        isinstance(extent, int) and extent <= 2 * BLOCK)


def identity_of(combine: str, dtype: np.dtype) -> str:
    """Return what a fold starts with."""
    if combine in ("max", "min"):
        if dtype.kind == "f":
            value = -np.inf if combine == "max" else np.inf
        elif dtype.kind == "b":
            value = combine == "min"
        else:
            info = np.iinfo(dtype)
            value = info.min if combine == "max" else info.max
    else:
        value = {"add": 0, "mul": 1, "and": 1, "or": 0}[combine]
    return literal_text(Literal(value, dtype))


def combined(combine: str, dtype: np.dtype, a: str, b: str) -> str:
    """Return one step of a fold as source."""
    name = "f32" if dtype == np.float32 else ""
    texts = {"add": f"radd({a}, {b})" if dtype.kind in "fc" else filled("{0} + {1}", (a, b)),
             "mul": filled("{0} * {1}", (a, b)),
             "max": f"maximum({a}, {b})", "min": f"minimum({a}, {b})", "and": f"{a} & {grouped(b)}",
             "or": f"{a} | {grouped(b)}"}
    text = texts[combine]
    if dtype.kind in "iu" and dtype != np.int64:
        return f"{dtype_name(dtype)}({text})"
    return text if name == "" or combine != "mul" else f"f32({text})"


class _Lowerer(Emitter):
    """Lowers one graph."""

    def __init__(self, graph: Graph, elements: Elements, buffers: Buffers) -> None:
        super().__init__(elements, buffers, label_values(graph))
        self.graph = graph
        self.logs: list[np.dtype] = []
        self.log_of: dict[Value, int] = {}
        self.folds: dict[Statement, str] = {}

    def run(self) -> Kernel:
        """Lower the whole graph."""
        head: list[Node] = []
        nodes: list[Node] = []
        inputs, outputs = self._name_buffers()
        with self.scope(head):
            self._bind_inputs()
        with self.scope(nodes):
            self.block(self.graph.block)
            self._finish(outputs)
        arena = [b for b in self.buffers.inner if b.kind == "arena"]
        return Kernel(self.graph, head, nodes, inputs, outputs, arena, self.logs, self.failures,
                      self.labels, self.names)

    # --- the frame ------------------------------------------------------------------------------

    def _name_buffers(self) -> tuple[list[Buffer], list[Buffer]]:
        inputs: list[Buffer] = []
        self.taken |= {"ctx", "arena"} | {self.labels[v] for v in self.graph.sizes}
        for k, v in enumerate(self.graph.inputs):
            buffer = self.buffers.of.get(v)
            if buffer is None:
                buffer = Buffer("input", v.aval.dtype, 1, [v], "", k)
            buffer.name = self.fresh(self.labels[v])
            inputs.append(buffer)
        for k, buffer in enumerate(self.buffers.outputs):
            buffer.name = self.fresh(f"out{k}")
        for v in self.graph.sizes:
            self.names[v] = self.labels[v]
        for buffer in self.buffers.inner:
            buffer.name = self.fresh("t" + self.labels.get(buffer.values[0], ""))
        return inputs, self.buffers.outputs

    def _bind_inputs(self) -> None:
        """Read scalar arguments once."""
        for k, v in enumerate(self.graph.inputs):
            if not is_array(v):
                name = self.fresh(f"{self.labels[v]}_")
                self.names[v] = name
                self.nodes.append(Let(name, f"{self._input_name(k)}[0]", f"%{self.labels[v]}"))

    def _input_name(self, k: int) -> str:
        v = self.graph.inputs[k]
        return self.buffers.of[v].name if v in self.buffers.of else self.labels[v]

    def _finish(self, outputs: list[Buffer]) -> None:
        for a, buffer in zip(self.graph.outputs, outputs, strict=True):
            if not is_array(a):
                self.nodes.append(Store(buffer.name, "0", self.atom(a)))
            elif self.buffers.of[a] is not buffer:
                self.copy(a, a, buffer)
        self.nodes.append(Return("0"))

    # --- blocks ---------------------------------------------------------------------------------

    def block(self, block: Block) -> None:
        """Lower a block into the innermost scope."""
        for step in schedule_block(block, self.elements, self.buffers):
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
        routines.reserve(self, buffer.number, self.dim(size), eqn)
        self.nodes.append(Assign(buffer.name, routines.log_base(buffer.number)))

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
            text = self.element(read.operand, read.index)
            self.names[eqn.output] = text
        elif isinstance(how, Index):
            self._scalar_step(eqn, self.dim(how.element(eqn.params, ())))
        elif isinstance(how, (Effect, LogOp, Library)):
            routines.lower(self, eqn)
        elif isinstance(how, Contract):
            lower_product(self, eqn)
        else:
            (read,) = self.elements.reads(eqn.output, ())
            self.names[eqn.output] = self.element(read.operand, read.index)

    def _scalar_step(self, eqn: Eqn, text: str) -> None:
        out = eqn.output
        if text.isidentifier():
            self.names[out] = text
            return
        name = self.fresh(self.label(out))
        self.names[out] = name
        self.nodes.append(Let(name, text, self.comment(eqn)))

    # --- nests ----------------------------------------------------------------------------------

    def nest(self, nest: Nest, *, inner: bool = False) -> None:
        """Lower a loop over elements."""
        folds = [s for s in nest.statements()
                 if s.kind in ("fold", "argument", "running") and self._starts_fold(s, nest)]
        for s in folds:
            self._begin_fold(s)
        if nest.is_tiny():
            self._write_out(nest)
            for s in folds:
                self._end_fold(s)
            return
        sums = [] if inner or len(nest.body) != len(nest.statements()) else [
            s for s in folds if s.kind == "fold" and s.combine == "add" and _is_long_sum(s)]
        with self.loop_name(nest.var) as name:
            self._loop(nest, name, sums)
        for s in folds:
            self._end_fold(s)

    def _write_out(self, nest: Nest) -> None:
        """Lower a loop over a small array as straight-line code, so that elements are scalars."""
        for k in range(nest.extent):  # type: ignore[arg-type]
            for old, new in zip(nest.body, nest.at(k), strict=True):
                pairs = zip(statements_in(old), statements_in(new), strict=True)
                self.folds.update((b, self.folds[a]) for a, b in pairs if a in self.folds)
                self._part(new)

    def _part(self, part: Nest | Statement) -> None:
        if isinstance(part, Nest):
            self.nest(part, inner=True)
        else:
            self.statement(part)

    def _starts_fold(self, s: Statement, nest: Nest) -> bool:
        return s not in self.folds and s.folded > 0 and s.vars[len(s.vars) - s.folded] is nest.var

    def _loop(self, nest: Nest, name: str, sums: Sequence[Statement]) -> None:
        hi = self.dim(nest.extent)
        innermost = not any(isinstance(part, Nest) for part in nest.body)
        guards = self._guards(nest) if innermost else []
        if not guards:
            self._in_blocks(nest, name, "0", hi, sums)
            return
        self._split_loop(nest, name, hi, guards, sums)

    def _in_blocks(self, nest: Nest, name: str, lo: str, hi: str,
                   sums: Sequence[Statement]) -> None:
        """Sum block by block, so that rounding errors grow with the number of blocks only."""
        if not sums:
            self._plain_loop(nest, name, lo, hi)
            return
        block = self.fresh("block")
        blocks = Loop(block, lo, hi, step=BLOCK)
        totals = {s: self.folds[s] for s in sums}
        for s in sums:
            self.folds[s] = self.fresh(f"{totals[s]}_part")
            blocks.body.append(Assign(self.folds[s], identity_of("add", s.target.aval.dtype)))
        with self.scope(blocks.body, conditional=True):
            self._plain_loop(nest, name, block, f"imin({block} + {BLOCK}, {hi})")
        for s in sums:
            blocks.body.append(Assign(totals[s], combined("add", s.target.aval.dtype, totals[s],
                                                          self.folds[s])))
        self.folds.update(totals)
        self.nodes.append(blocks)

    def _plain_loop(self, nest: Nest, name: str, lo: str, hi: str) -> None:
        loop = Loop(name, lo, hi)
        with self.scope(loop.body, [nest.var]):
            for part in nest.body:
                self._part(part)
        self.nodes.append(loop)

    def _guards(self, nest: Nest) -> list[Guard]:
        """Return the guards of what a loop's statements read."""
        found: dict[Guard, None] = {}
        for s in nest.statements():
            for a, index in s.operands:
                if s.makes_operand or self.elements.is_virtual(a):
                    for read in self.elements.reads_of(a, index):  # type: ignore[arg-type]
                        found.update(dict.fromkeys(read.guards))
        return list(found)

    def _split_loop(self, nest: Nest, name: str, hi: str, guards: list[Guard],
                    sums: Sequence[Statement]) -> None:
        """Run the stretch in which every guard holds without tests, its margins with them."""
        var = nest.var
        lows: list[Dim] = [0]
        highs: list[Dim] = [nest.extent]
        outer = []
        for g in guards:
            if var in dim_values(g.index):
                offset = g.index - var.dim
                lows.append(g.lo - offset)
                highs.append(g.hi - offset)
            else:
                outer.append(self.guard(g))
        first, last = self.fresh("first"), self.fresh("last")
        lo, end = self._extreme("imax", lows), self._extreme("imin", highs)
        self.nodes.append(Assign(first, f"imin({lo}, {hi})"))
        self.nodes.append(Assign(last, f"imax({end}, {first})"))
        if outer:
            self.nodes.append(If("not (" + " & ".join(dict.fromkeys(outer)) + ")",
                                 [Assign(first, hi), Assign(last, hi)]))
        part = self.fresh("part")
        margins = Loop(part, "0", "2")
        begin, stop = self.fresh("begin"), self.fresh("stop")
        margins.body += [Let(begin, f"select({part} == 0, 0, {last})"),
                         Let(stop, f"select({part} == 0, {first}, {hi})")]
        with self.scope(margins.body, conditional=True):
            self._plain_loop(nest, name, begin, stop)
        edge = margins.body[-1]
        assert isinstance(edge, Loop)
        edge.body.insert(0, Do("scalar_loop()"))
        self.nodes.append(margins)
        before = self.facts
        self.facts = before | set(guards)
        with self.scope(self.nodes, conditional=True):
            self._in_blocks(nest, name, first, last, sums)
        self.facts = before

    def _extreme(self, function: str, dims: Sequence[Dim]) -> str:
        """Return the largest or smallest of dims as source, without those that cannot be it."""
        sign = 1 if function == "imax" else -1
        kept: list[Dim] = []
        for d in dict.fromkeys(dims):
            if not any(_is_at_least(sign * (e - d)) for e in kept):
                kept = [e for e in kept if not _is_at_least(sign * (d - e))]
                kept.append(d)
        text = self.dim(kept[0])
        for d in kept[1:]:
            text = f"{function}({text}, {self.dim(d)})"
        return text

    # --- statements -----------------------------------------------------------------------------

    def statement(self, s: Statement) -> None:
        """Lower one assignment under the loops that are open."""
        comment = self.comment(s.eqn)
        if s.kind == "put":
            a, index = s.operands[0]
            text = self.element_to_store(a, index) if s.makes_operand else self._product(s)
            assert s.buffer is not None
            place = self.place_in(s.buffer, s.index, s.target_shape)
            self.nodes.append(Store(s.buffer.name, place, text, comment))
            if s.eqn is not None:  # a copy to what a loop carries holds for one iteration only
                self.remember(s.target, s.index, text)
        elif s.kind == "fill":
            assert s.buffer is not None
            self.nodes.append(Store(s.buffer.name, self.place_in(s.buffer, s.index, s.target_shape),
                                    identity_of(s.combine, s.target.aval.dtype), comment))
        elif s.kind == "add":
            self._add(s, comment)
        elif s.kind == "fold":
            text = combined(s.combine, s.target.aval.dtype, self.folds[s], self._product(s))
            self.nodes.append(Assign(self.folds[s], text, comment))
        elif s.kind == "argument":
            self._argument(s, comment)
        elif s.kind == "running":
            (a, index), = s.operands
            name = self.folds[s]
            total = filled("{0} + {1}", (name, self.element(a, index)))
            self.nodes.append(Assign(name, total, comment))
            assert s.buffer is not None
            place = self.place_in(s.buffer, s.index, s.target_shape)
            self.nodes.append(Store(s.buffer.name, place, name))
        else:
            self._scatter(s, comment)

    def _product(self, s: Statement) -> str:
        """Return the operand of a statement; of a contraction, the product of two."""
        texts = [self.element(a, index) for a, index in s.operands]
        return texts[0] if len(texts) == 1 else filled("{0} * {1}", texts)

    def _add(self, s: Statement, comment: str) -> None:
        assert s.buffer is not None
        place = self.place_in(s.buffer, s.index, s.target_shape)
        old = f"{s.buffer.name}[{place}]"
        dtype = s.target.aval.dtype
        value = self._product(s)
        if s.combine == "add":
            text = filled("{0} + {1}", (old, value))
        else:
            text = combined(s.combine, dtype, old, value)
        self.nodes.append(Store(s.buffer.name, place, text, comment))

    def _argument(self, s: Statement, comment: str) -> None:
        """The first largest element, or the first NaN, as NumPy's argmax."""
        (a, index), = s.operands
        best = self.folds[s]
        place = s.extra["place"]
        text = self.element(a, index)
        if not text.isidentifier():
            name = self.fresh("e")
            self.nodes.append(Let(name, text))
            text = name
        sign = ">" if s.combine == "max" else "<"
        test = f"{text} {sign} {best}"
        if a.aval.dtype.kind == "f":
            test = f"({test}) | (({text} != {text}) & ({best} == {best}))"
        self.nodes.append(If(test, [Assign(best, text), Assign(f"{best}_at", self.dim(place))],  # type: ignore
                             comment=comment))

    def _scatter(self, s: Statement, comment: str) -> None:
        (part, index), *places = s.operands
        axes: tuple[int, ...] = s.extra["axes"]  # type: ignore[assignment]
        found = iter([self.data_index(a, at) for a, at in places])
        target = tuple(next(found) if k in axes else i for k, i in enumerate(s.index))
        assert s.buffer is not None
        place = self.place_in(s.buffer, target, s.target_shape)
        value = self.element(part, index)
        text = value if s.combine == "set" else filled(
            "{0} + {1}", (f"{s.buffer.name}[{place}]", value))
        self.nodes.append(Store(s.buffer.name, place, text, comment))

    # --- folds ----------------------------------------------------------------------------------

    def _begin_fold(self, s: Statement) -> None:
        dtype = s.operands[0][0].aval.dtype
        name = self.fresh("s" + self.labels.get(s.target, ""))
        self.folds[s] = name
        if s.kind == "argument":
            self.nodes.append(Assign(name, identity_of(s.combine, dtype)))
            self.nodes.append(Assign(f"{name}_at", "0"))
        elif s.kind == "running":
            self.nodes.append(Assign(name, identity_of("add", dtype)))
        else:
            self.nodes.append(Assign(name, identity_of(s.combine, dtype)))

    def _end_fold(self, s: Statement) -> None:
        name = self.folds.pop(s)
        if s.kind == "running":
            return
        text = f"{name}_at" if s.kind == "argument" else name
        if s.buffer is None:
            self.names[s.target] = text
            return
        place = self.place_in(s.buffer, s.index, s.target_shape)
        self.nodes.append(Store(s.buffer.name, place, text))
        self.remember(s.target, s.index, text)

    def copy(self, source: Atom, target: Value, buffer: Buffer) -> None:
        """Copy an array to a buffer."""
        self._loops_of(copy_statement(source, target, buffer))

    def _loops_of(self, s: Statement) -> None:
        step = as_nest(s, 0)
        if isinstance(step, Nest):
            self.nest(step)
        else:
            self.statement(step)

    # --- control flow ---------------------------------------------------------------------------

    def if_(self, eqn: Eqn) -> None:
        """Lower a branch: scalars go to variables that both branches set."""
        names: list[str | None] = []
        for v in eqn.outputs:
            names.append(None if self._is_memory(v) else self.fresh(self.label(v)))
        bodies: list[list[Node]] = []
        for region in eqn.regions:
            nodes: list[Node] = []
            with self.scope(nodes, conditional=True):
                self.block(region)
                for a, v in zip(region.outputs, eqn.outputs, strict=True):
                    if is_array(v):
                        self._prepare(self.buffers.of[v], product(a.aval.shape))
                self._copy_all(zip(region.outputs, eqn.outputs, strict=True))
                nodes.extend(Assign(name, self.atom(a)) for a, name in zip(
                    region.outputs, names, strict=True) if name is not None)
            bodies.append(nodes)
        for v, name in zip(eqn.outputs, names, strict=True):
            if name is not None:
                self.names[v] = name
            self._follow_log(eqn.regions[0].outputs[eqn.outputs.index(v)], v)
        self.nodes.append(If(self.atom(eqn.inputs[0]), bodies[0], bodies[1], self.comment(eqn)))

    def _is_memory(self, v: Value) -> bool:
        return is_array(v) or isinstance(v.aval, LogType)

    def _follow_log(self, a: Atom, v: Value) -> None:
        if isinstance(v.aval, LogType):
            self.log_of[v] = self.log_of[a]

    def for_(self, eqn: Eqn) -> None:
        """Lower a counted loop."""
        (body,) = eqn.regions
        names = self._enter_loop(eqn, [body])
        lo, hi = self.dim(eqn.params["lo"]), self.dim(eqn.params["hi"])
        with self.loop_name(body.inputs[0]) as name:
            loop = Loop(name, lo, hi, reverse=eqn.params["reversed"], comment=self.comment(eqn),
                        blocks=(body,))
            with self.scope(loop.body, [body.inputs[0]], conditional=True):
                self.block(body)
                self._next_iteration(body, names)
            self.nodes.append(loop)
        self._leave_loop(eqn, eqn.outputs, names)

    def while_(self, eqn: Eqn) -> None:
        """Lower a loop with a condition."""
        cond, body = eqn.regions
        names = self._enter_loop(eqn, [cond, body])
        counter = self.fresh(f"i{self.label(eqn.outputs[0])}")
        self.nodes.append(Assign(counter, "0"))
        for region in eqn.regions:
            self.names[region.inputs[0]] = counter
        loop = While([], "", [], self.comment(eqn), (cond, body))
        variables = [cond.inputs[0], body.inputs[0]]
        with self.scope(loop.head, variables, conditional=True):
            self.block(cond)
            loop.condition = self.atom(cond.outputs[0])
        with self.scope(loop.body, variables, conditional=True):
            self.block(body)
            self._next_iteration(body, names)
            self.nodes.append(Assign(counter, f"{counter} + 1"))
        self.nodes.append(loop)
        self.names[eqn.outputs[0]] = counter
        self._leave_loop(eqn, eqn.outputs[1:], names)

    def _enter_loop(self, eqn: Eqn, regions: Sequence[Block]) -> list[str | None]:
        """Put the first carried values where the iterations find them."""
        names: list[str | None] = []
        self._copy_all(zip(eqn.inputs, regions[-1].inputs[1:], strict=True))
        for k, a in enumerate(eqn.inputs):
            v = regions[-1].inputs[k + 1]
            name = None
            if isinstance(v.aval, LogType):
                for region in regions:
                    self._follow_log(a, region.inputs[k + 1])
            elif not is_array(v):
                name = self.fresh(f"c{self.label(v)}")
                self.nodes.append(Assign(name, self.atom(a)))
                for region in regions:
                    self.names[region.inputs[k + 1]] = name
            names.append(name)
        return names

    def _next_iteration(self, body: Block, names: list[str | None]) -> None:
        """Set the carried values to what the iteration yields, all at once."""
        carried = body.inputs[1:]
        self._copy_all(zip(body.outputs, carried, strict=True))
        moves: list[tuple[str, str]] = []
        for a, name in zip(body.outputs, names, strict=True):
            if name is not None and self.atom(a) != name:
                moves.append((name, self.atom(a)))
        targets = {name for name, _ in moves}
        for k, (name, text) in enumerate(moves):
            if text in targets and text in {n for n, _ in moves[:k]}:
                saved = self.fresh("old")
                moves[k] = (name, saved)
                self.nodes.append(Let(saved, text))
        self.nodes.extend(Assign(name, text) for name, text in moves)

    def _copy_all(self, pairs: Iterable[tuple[Atom, Value]]) -> None:
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
            self.copy(a, v, self.buffers.of[v])

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
        self.copy(a, v, buffer)
        return v

    def _leave_loop(self, eqn: Eqn, results: Sequence[Value], names: list[str | None]) -> None:
        for v, name, a in zip(results, names, eqn.inputs, strict=True):
            if name is not None:
                self.names[v] = name
            self._follow_log(a, v)

    def map_(self, eqn: Eqn) -> None:
        """Lower independent iterations, each of which fills its part of the results."""
        (body,) = eqn.regions
        index = body.inputs[0]
        with self.loop_name(index) as name:
            loop = Loop(name, "0", self.dim(eqn.params["size"]), comment=self.comment(eqn),
                        blocks=(body,))
            with self.scope(loop.body, [index], conditional=True):
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
        s = copy_statement(a, v, buffer)
        s.index = (index.dim, *s.index)
        self._loops_of(s)

    def fail(self, condition: str, error: str, message: str, values: Sequence[str],
             eqn: Eqn) -> None:
        """Leave the kernel with a failure where a condition holds."""
        status = self.failure(error, message, eqn.site)
        first, second = (*values, "0", "0")[:2]
        self.nodes.append(If(condition, [Return(f"fail(ctx, {status}, {first}, {second})")],
                             comment=self.comment(eqn)))


def _is_at_least(difference: Dim) -> bool:
    return isinstance(difference, int) and difference >= 0
