"""Units as Python source for numba-cuda: a kernel each, and the host's function that launches them.

Kernels get arrays, sizes and other numbers that the host knows; scalars that units hand on are read
from memory first, and written last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tracejit.codegen.buffers import Buffer
from tracejit.codegen.cuda.expressions import calls_in, dtypes_of, reads
from tracejit.codegen.cuda.program import Parameter
from tracejit.codegen.cuda.units import (
    Control,
    HostValue,
    Program,
    Step,
    Unit,
    defined_in,
    split,
    used_in,
)
from tracejit.codegen.folds import identity_of
from tracejit.codegen.kernel import Kernel
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
    children,
    texts,
)
from tracejit.codegen.python_source import render_nodes, wrapped
from tracejit.codegen.slots import dim_source, enclosing_blocks
from tracejit.errors import Refusal
from tracejit.ir.core import Graph
from tracejit.ir.dtypes import dtype_name
from tracejit.ir.walk import all_eqns

__all__ = ["DeviceSource", "render_for_device"]

LOCAL_BYTES = 1 << 14
"""Bytes of an array of a thread that lies in its local memory; larger ones lie in rooms."""

AXES = "xyz"


@dataclass(slots=True)
class DeviceSource:
    """The emitted module, and what is needed to call it.

    kernels -- per kernel, its parameters
    arrays  -- what the host allocates besides arguments, results and the arena: dtype and elements
    """

    text: str
    program: Program
    kernels: dict[str, list[Parameter]] = field(default_factory=dict)
    arrays: dict[str, tuple[np.dtype, int]] = field(default_factory=dict)

    def alone(self) -> Iterator[str]:
        """Yield what loops of arrays one thread does, since their iterations depend on others."""
        for unit in self.program.units():
            for loop in [] if unit.is_grid else _loops(unit.nodes):
                found = [n.comment for n in loop.body if n.comment] or [loop.comment]
                if found[0]:
                    yield f"{found[0]}: a loop that one thread of the device does alone"


def render_for_device(kernel: Kernel, known: Iterable[str]) -> DeviceSource:
    """Return the module of a kernel; `known` are the functions that it may call.

    Raises `Refusal` where an equation needs another function.
    """
    _require_known([*kernel.head, *kernel.nodes], {*known, *_INTERNAL})
    _require_real(kernel.graph)
    dtypes = dtypes_of(kernel)
    program = split(kernel, dtypes)
    return _Renderer(kernel, dtypes, program).render()


def _require_real(graph: Graph) -> None:
    made = [(v, e.site) for e in all_eqns(graph.block) for v in e.outputs]
    for v, site in [*((v, None) for v in graph.inputs), *made]:
        if getattr(v.aval, "dtype", np.dtype(float)).kind == "c":
            where = "" if site is None else f" ({site})"
            raise Refusal(f"{graph.name} has complex numbers{where}, which kernels for the device "
                          "do not have. Give real and imaginary parts as arrays of their own, or "
                          'leave out target="cuda"')


_INTERNAL = ("log_base", "log_capacity", "advance", "complex")


def _require_known(nodes: Sequence[Node], known: set[str]) -> None:
    for node in nodes:
        called = {name for text in texts(node) for name in calls_in(text)} - known
        if called:
            where = node.comment.partition("  ")[2] or node.comment
            raise Refusal(f"{', '.join(sorted(called))} ({where}) is not there for the device: "
                          "write it with operations on elements and loops, or leave out "
                          'target="cuda"')
        for block in children(node):
            _require_known(block, known)


class _Renderer:
    def __init__(self, kernel: Kernel, dtypes: dict[str, np.dtype], program: Program) -> None:
        self.kernel, self.dtypes, self.program = kernel, dtypes, program
        self.out = DeviceSource("", program)
        self.slots: dict[str, tuple[str, int]] = {}
        counts: dict[str, int] = {}
        for name, dtype in program.scalars.items():
            table = f"scalars_{dtype_name(dtype)}"
            self.slots[name] = table, counts.get(table, 0)
            counts[table] = counts.get(table, 0) + 1
            self.out.arrays[table] = dtype, counts[table]
        self.sizes = {kernel.labels[v] for v in kernel.graph.sizes}
        self.heads = {n.name for n in kernel.head if isinstance(n, Let)}
        self.buffers = {b.name: b for b in kernel.buffers}
        self.around = enclosing_blocks(kernel)

    def render(self) -> DeviceSource:
        graph = self.kernel.graph
        lines = ['"""' + f"{graph.name}: emitted by tracejit for CUDA.", ""]
        lines += [*str(graph).splitlines(), '"""', ""]
        for unit in self.program.units():
            lines += ["", *self._kernel(unit), ""]
        lines += ["", *self._host(), ""]
        self.out.text = "\n".join(lines).replace("\n\n\n\n", "\n\n\n")
        return self.out

    # --- kernels ----------------------------------------------------------------------------------

    def _kernel(self, unit: Unit) -> list[str]:
        used = {*used_in([*unit.before, *unit.nodes])} | {name for name, _, _ in unit.finishes}
        used |= {self.program.aliases[n][1] for n in used if n in self.program.aliases}
        logs = sorted({self.program.aliases[n][0] for n in used if n in self.program.aliases}
                      | _logs_in([*unit.before, *unit.nodes]))
        private = self._private(unit, used)
        body: list[Node] = []
        if self.kernel.failures:
            body.append(If("ctx[0] != 0.0", [Return("")]))
        handed = sorted(n for n in {*used, *defined_in(unit.nodes)} if n in self.slots)
        finished = [name for name, _, _ in unit.finishes]
        body += [Let(n, f"{self.slots[n][0]}[{self.slots[n][1]}]") for n in handed
                 if n not in finished]
        body += self._finish(unit)
        body += self._rooms(unit, private, logs)
        body += [Let(a, f"logmem{n}[{at}:]") for a, (n, at) in self.program.aliases.items()
                 if a in used]
        body += [Assign(name, self._identity(name, combine)) for name, combine in unit.folds]
        body += _for_device([*unit.before, *unit.nodes], self._ranges(unit))
        body += self._fold(unit)
        if not unit.is_grid:
            body += [Store(self.slots[n][0], str(self.slots[n][1]), n) for n in handed
                     if n in {*defined_in(unit.nodes), *finished}]
        parameters = self._parameters(unit, used, handed, private, logs)
        self.out.kernels[unit.name] = parameters
        names = ["ctx", *(p.name for p in parameters)]
        return [*wrapped(f"def {unit.name}({', '.join(names)}):"), *render_nodes(body, 1)]

    def _ranges(self, unit: Unit) -> dict[int, str]:
        """Return, per loop that is spread over threads, its axis; the innermost is x."""
        return {id(loop): AXES[k] for k, loop in enumerate(reversed(unit.axes))}

    def _identity(self, name: str, combine: str) -> str:
        return identity_of(combine, self.dtypes[name])

    def _finish(self, unit: Unit) -> list[Node]:
        """Fold the parts that blocks have left; then one thread goes on."""
        if not unit.finishes:
            return []
        nodes = self._shared([name for name, _, _ in unit.finishes])
        for name, combine, _ in unit.finishes:
            kind = dtype_name(self.dtypes[name])
            nodes.append(Let(name, f"parts_{combine}(shared_{kind}, parts_{name}, count_{name}, "
                                   f"{self._identity(name, combine)})"))
        return [*nodes, If("thread() > 0", [Return("")])]

    def _shared(self, names: Sequence[str]) -> list[Node]:
        """Return memory of a block for folds."""
        kinds = dict.fromkeys(dtype_name(self.dtypes[name]) for name in names)
        return [Let(f"shared_{kind}", f"cuda.shared.array(THREADS, {_constructor(kind)})")
                for kind in kinds]

    def _fold(self, unit: Unit) -> list[Node]:
        """Leave a part per block."""
        if not unit.folds:
            return []
        nodes = self._shared([name for name, _ in unit.folds])
        for name, combine in unit.folds:
            kind = dtype_name(self.dtypes[name])
            nodes.append(Do(f"block_{combine}(shared_{kind}, {name}, parts_{name})"))
        return nodes

    # --- memory of single threads -----------------------------------------------------------------

    def _private(self, unit: Unit, used: set[str]) -> dict[int, list[Buffer]]:
        """Return the arrays that each thread has for itself, by slot: those of its iteration."""
        blocks = {id(b) for loop in unit.axes for b in loop.blocks}
        found: dict[int, list[Buffer]] = {}
        for buffer in self.kernel.arena:
            if buffer.name in used and self.around[buffer] & blocks:
                found.setdefault(buffer.number, []).append(buffer)
        return found

    def _rooms(self, unit: Unit, private: dict[int, list[Buffer]], logs: list[int]) -> list[Node]:
        nodes: list[Node] = []
        for buffers in private.values():
            first = buffers[0]
            kind = _constructor(dtype_name(first.dtype))
            if _is_local(first):
                assert isinstance(first.size, int)
                text = f"cuda.local.array({max(1, first.size)}, {kind})"
                nodes.append(Let(first.name, text))
            else:
                nodes.append(_room(first.name))
            nodes += [Let(b.name, first.name) for b in buffers[1:]]
        if _is_map(unit):
            nodes += [_room(f"logmem{k}") for k in logs]
        return nodes

    def _size(self, buffer: Buffer) -> str:
        return dim_source(buffer.size, self.kernel.scalar_names)

    # --- parameters -------------------------------------------------------------------------------

    def _parameters(self, unit: Unit, used: set[str], handed: list[str],
                    private: dict[int, list[Buffer]], logs: list[int]) -> list[Parameter]:
        own = {b.name for buffers in private.values() for b in buffers}
        found = [Parameter(n, b.dtype, True) for n, b in self.buffers.items()
                 if n in used and n not in own and n not in self.heads]
        for buffers in private.values():
            if not _is_local(buffers[0]):
                found.append(Parameter(f"room_{buffers[0].name}", buffers[0].dtype, True, True))
                used = used | reads(self._size(buffers[0]))
        word = np.dtype(np.int64)
        for k in logs:
            stem = "room_logmem" if _is_map(unit) else "logmem"
            found += [Parameter(f"{stem}{k}", self.kernel.logs[k], True, _is_map(unit)),
                      Parameter(f"logcap{k}", word, False)]
        tables = dict.fromkeys(self.slots[n][0] for n in handed)
        found += [Parameter(t, self.out.arrays[t][0], True) for t in tables]
        found += [Parameter(f"parts_{name}", self.dtypes[name], True) for name, _ in unit.folds]
        for name, _, _ in unit.finishes:
            found += [Parameter(f"parts_{name}", self.dtypes[name], True),
                      Parameter(f"count_{name}", word, False)]
        numbers = used - set(self.buffers) - own
        variables = {loop.var for loop in _loops(unit.nodes)}
        host = (self.sizes | self.heads | self.program.host | self._host_variables) - variables
        return found + [Parameter(n, self.dtypes[n], False) for n in sorted(numbers & host)]

    @property
    def _host_variables(self) -> set[str]:
        return {s.node.var for s in _controls(self.program.steps) if isinstance(s.node, Loop)}

    # --- the host ---------------------------------------------------------------------------------

    def _host(self) -> list[str]:
        arrays = [p.name for ps in self.out.kernels.values() for p in ps
                  if p.is_array and not p.is_room and not p.name.startswith("parts_")]
        for unit in self.program.units():
            self.out.arrays.update((f"parts_{name}", (self.dtypes[name], 0))
                                   for name, _ in unit.folds)
        capacities = [f"logcap{k}" for k in range(len(self.kernel.logs))]
        parts = [n for n in self.out.arrays if n.startswith("parts_")]
        names = dict.fromkeys(["run", "ctx", *arrays, *parts, *capacities,
                               *(self.kernel.labels[v] for v in self.kernel.graph.sizes),
                               *(n.name for n in self.kernel.head if isinstance(n, Let))])
        lines = wrapped(f"def launch({', '.join(names)}):")
        return [*lines, *(self._steps(self.program.steps, 1) or ["    pass"])]

    def _steps(self, steps: Sequence[Step], depth: int) -> list[str]:
        return [line for step in steps for line in self._step(step, depth)]

    def _step(self, step: Step, depth: int) -> list[str]:
        pad = "    " * depth
        if isinstance(step, HostValue):
            return [f"{pad}{step.name} = {_host_text(step.expression)}"]
        if isinstance(step, Unit):
            return self._launch(step, pad)
        body = self._steps(step.body, depth + 1) or [f"{pad}    pass"]
        bounds = [self._answer(text) for text in step.bounds]
        if isinstance(step.node, If):
            lines = [f"{pad}if {bounds[0]}:", *body]
            if step.other:
                lines += [f"{pad}else:", *self._steps(step.other, depth + 1)]
            return lines
        if isinstance(step.node, While):
            head = self._steps(step.head, depth + 1)
            return [f"{pad}while True:", *head, f"{pad}    if not {bounds[0]}:",
                    f"{pad}        break", *body]
        lo, hi = bounds
        text = f"{hi} - 1, {lo} - 1, -1" if step.node.reverse else (
            f"{lo}, {hi}, {step.node.step}" if step.node.step != 1 else f"{lo}, {hi}")
        return [f"{pad}for {step.node.var} in range({text}):", *body]

    def _answer(self, text: str) -> str:
        if not text.startswith("told("):
            return f"({_host_text(text)})"
        table, k = self.slots[text[5:-1]]
        return f"run.told({table}, {k})"

    def _launch(self, unit: Unit, pad: str) -> list[str]:
        lines = []
        extents = self._extents(unit)
        for p in self.out.kernels[unit.name]:
            if p.is_room:
                size = self._room_size(p.name)
                lines.append(f'{pad}{p.name} = run.room("{p.name}", {size}, {extents}, '
                             f'"{dtype_name(p.dtype)}")')
        args = ", ".join([unit.name, "ctx", *(p.name for p in self.out.kernels[unit.name])])
        if unit.is_grid:
            limit = "run.few" if _is_map(unit) else "run.folding" if unit.folds else "run.grid"
            left = "".join(f"count_{name} = " for name, _ in unit.folds)
            call = f"{left}{limit}({extents}, {args})"
        else:
            counts = ", ".join(f"count_{name}" for name, _, _ in unit.finishes)
            call = f"run.block(({counts},), {args})" if counts else f"run.one({args})"
        return [*lines, *(pad + line for line in wrapped(call))]

    def _room_size(self, name: str) -> str:
        stem = name.removeprefix("room_")
        if stem.startswith("logmem"):
            return f"logcap{stem.removeprefix('logmem')}"
        return _host_text(self._size(self.buffers[stem]))

    def _extents(self, unit: Unit) -> str:
        """Return how many iterations each axis has, x first; 0 where only the device knows."""
        if not unit.is_grid:
            return "()"
        known = self.sizes | self.heads | self.program.host | self._host_variables
        found = []
        for loop in reversed(unit.axes):
            is_known = reads(loop.lo) | reads(loop.hi) <= known and not (
                calls_in(loop.lo) | calls_in(loop.hi)) - {"imax", "imin", "idiv", "imod"}
            text = loop.hi if loop.lo == "0" else f"{loop.hi} - ({loop.lo})"
            found.append(_host_text(text) if is_known else "0")
        return f"({', '.join(found)},)"


def _is_local(buffer: Buffer) -> bool:
    return isinstance(buffer.size, int) and buffer.size * buffer.dtype.itemsize <= LOCAL_BYTES


def _room(name: str) -> Node:
    """A thread's part of a room: elements side by side belong to threads side by side."""
    return Let(name, f"room_{name}[thread()::threads()]")


def _is_map(unit: Unit) -> bool:
    """Whether threads have whole iterations of the program, with memory of their own."""
    return any(loop.blocks for loop in unit.axes)


def _host_text(text: str) -> str:
    """Return source for the host, whose functions are attributes of `run`."""
    return re.sub(r"\b(imax|imin|idiv|imod|between|select)\(", r"run.\1(", text)


def _constructor(kind: str) -> str:
    return "bool_" if kind == "bool" else kind


def _loops(nodes: Iterable[Node]) -> Iterable[Loop]:
    for node in nodes:
        if isinstance(node, Loop):
            yield node
        for block in children(node):
            yield from _loops(block)


def _controls(steps: Iterable[Step]) -> Iterable[Control]:
    for step in steps:
        if isinstance(step, Control):
            yield step
            for part in (step.head, step.body, step.other):
                yield from _controls(part)


def _logs_in(nodes: Iterable[Node]) -> set[int]:
    found: set[int] = set()
    for node in nodes:
        for text in texts(node):
            found |= {int(k) for k in re.findall(r"log_(?:base|capacity|grow)\(ctx, (\d+)", text)}
        for block in children(node):
            found |= _logs_in(block)
    return found


# --- Loop IR for the device -----------------------------------------------------------------------


def _for_device(nodes: Sequence[Node], ranges: dict[int, str]) -> list[Node]:
    """Return nodes with loops spread over threads, and Logs as arrays that a kernel is given."""
    result: list[Node] = []
    for node in nodes:
        if isinstance(node, Return):
            if node.status.startswith("fail("):
                result.append(Do(node.status))
            result.append(Return("", node.comment))
        elif isinstance(node, Loop):
            body = _for_device(node.body, ranges)
            loop = replace(node, lo=_text(node.lo), hi=_text(node.hi), body=body)
            axis = ranges.get(id(node))
            if axis is not None:
                loop.lo = f"at_{axis}()" if node.lo == "0" else f"{loop.lo} + at_{axis}()"
                loop.step = f"step_{axis}()"
            result.append(loop)
        elif isinstance(node, While):
            result.append(replace(node, head=_for_device(node.head, ranges),
                                  condition=_text(node.condition),
                                  body=_for_device(node.body, ranges)))
        elif isinstance(node, If):
            result.append(replace(node, condition=_text(node.condition),
                                  then=_for_device(node.then, ranges),
                                  other=_for_device(node.other, ranges)))
        elif isinstance(node, Store):
            result.append(replace(node, index=_text(node.index), expression=_text(node.expression)))
        elif isinstance(node, Do):
            result.append(replace(node, call=_text(node.call)))
        else:
            result.append(replace(node, expression=_text(node.expression)))
    return result


def _text(text: str) -> str:
    text = re.sub(r'trsm\("(\w)", "(\w)", "(\w)"', lambda m: (
        f"trsm({m[1] == 'L'}, {m[2] == 'T'}, {m[3] == 'U'}"), text)
    text = re.sub(r"log_base\(ctx, (\d+), \w+\)", r"logmem\1", text)
    text = re.sub(r"log_capacity\(ctx, (\d+)\)", r"logcap\1", text)
    text = re.sub(r"log_grow\(ctx, (\d+), (.*), \d+\)", r"log_grow(ctx, \1, \2, logcap\1)", text)
    return re.sub(r"^advance\((\w+), (.*)\)$", r"\1[\2:]", text)
