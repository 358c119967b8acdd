"""Units as Python source for numba-cuda, a kernel each.

Kernels get arrays, sizes and other numbers that the host knows; scalars that units hand on are read
from memory first, and written last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tracejit.codegen.buffers import Buffer
from tracejit.codegen.cuda.device_nodes import for_device
from tracejit.codegen.cuda.expressions import dtypes_of
from tracejit.codegen.cuda.host import HostRenderer
from tracejit.codegen.cuda.module import DeviceSource
from tracejit.codegen.cuda.products import NAME
from tracejit.codegen.cuda.program import Parameter
from tracejit.codegen.cuda.splitting import split
from tracejit.codegen.cuda.team_nodes import rows_of_teams, shared_by_team
from tracejit.codegen.cuda.units import DeviceSteps, Unit
from tracejit.codegen.expression_edits import call, every, integer
from tracejit.codegen.folds import identity_of
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_expressions import (
    F64,
    I64,
    ZERO,
    Array,
    Bin,
    Call,
    Cast,
    Const,
    Expression,
    Load,
    Slice,
    Var,
    cast_name,
)
from tracejit.codegen.loop_ir import (
    Assign,
    Do,
    If,
    Let,
    Loop,
    Node,
    Return,
    Store,
    every_node,
    expressions,
)
from tracejit.codegen.node_names import defined_in, used_in
from tracejit.codegen.python_source import Writer, heading, wrapped
from tracejit.codegen.slots import enclosing_blocks
from tracejit.errors import Refusal
from tracejit.ir.core import Graph
from tracejit.ir.dims import dim_values
from tracejit.ir.dtypes import DTYPES, dtype_name
from tracejit.ir.walk import all_eqns

__all__ = ["DeviceSource", "render_for_device"]

LOCAL_BYTES = 1 << 14
"""Bytes of an array of a thread that lies in its local memory; larger ones lie in rooms."""

AXES = "xyz"


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
                          'leave out target="cuda"', "TJ601")


_INTERNAL = ("log_base", "log_capacity", "advance", "complex", "conjugate", "imag", "real")


def _require_known(nodes: Sequence[Node], known: set[str]) -> None:
    for node in every_node(nodes):
        called = {name for e in expressions(node) for name in e.calls} - known
        if called:
            where = node.origin.site or node.origin
            raise Refusal(f"{', '.join(sorted(called))} ({where}) is not there for the device: "
                          "write it with operations on elements and loops, or leave out "
                          'target="cuda"', "TJ601")


class _Renderer:
    def __init__(self, kernel: Kernel, dtypes: dict[str, np.dtype], program: DeviceSteps) -> None:
        self.kernel, self.dtypes, self.program = kernel, dtypes, program
        self.out = DeviceSource("", program)
        self.slots: dict[str, tuple[str, int]] = {}
        counts: dict[str, int] = {}
        for name, dtype in program.scalars.items():
            table = f"scalars_{dtype_name(dtype)}"
            self.slots[name] = table, counts.get(table, 0)
            counts[table] = counts.get(table, 0) + 1
            self.out.arrays[table] = dtype, counts[table]
        self.sizes = set(kernel.size_names)
        self.heads = {n.name for n in kernel.head if isinstance(n, Let)}
        self.buffers = {b.name: b for b in kernel.buffers}
        self.around = enclosing_blocks(kernel)

    def render(self) -> DeviceSource:
        writer = Writer(heading(self.kernel.graph, "emitted by tracejit for CUDA."))
        for unit in self.program.units():
            writer.lines.append("")
            self._kernel(unit, writer)
            writer.lines.append("")
        host = HostRenderer(self.kernel, self.dtypes, self.out, self.slots)
        self.out.places = writer.places
        self.out.text = "\n".join([*writer.lines, "", *host.render(), ""])
        return self.out

    # --- kernels ----------------------------------------------------------------------------------

    def _kernel(self, unit: Unit, writer: Writer) -> None:
        used = {*used_in([*unit.before, *unit.nodes])} | {name for name, _, _ in unit.finishes}
        used |= {self.program.aliases[n][1] for n in used if n in self.program.aliases}
        logs = sorted({self.program.aliases[n][0] for n in used if n in self.program.aliases}
                      | _logs_in([*unit.before, *unit.nodes]))
        private = self._private(unit, used)
        body: list[Node] = []
        if self.kernel.failures:
            body.append(If(Bin("!=", Load("ctx", ZERO, F64), Const(0.0, F64)), [Return()]))
        handed = sorted(n for n in {*used, *defined_in(unit.nodes)} if n in self.slots)
        finished = [name for name, _, _ in unit.finishes]
        body += [Let(n, Load(self.slots[n][0], integer(self.slots[n][1]), self.dtypes[n]))
                 for n in handed if n not in finished]
        body += self._finish(unit)
        body += self._rooms(unit, private, logs)
        body += [Let(a, Slice(Array(f"logmem{n}", self.kernel.logs[n]), Var(at, I64)))
                 for a, (n, at) in self.program.aliases.items() if a in used]
        body += [Assign(name, self._identity(name, combine)) for name, combine in unit.folds]
        own = self._shared_by_folds(name for name, _ in unit.folds)
        body += _shared({**own, **shared_by_team(unit, self.dtypes)})
        body += for_device(unit.before, {})
        body += for_device(unit.nodes, self._ranges(unit)) if unit.team is None else (
            rows_of_teams(unit, self.dtypes))
        body += [self._fold_of_block(name, combine) for name, combine in unit.folds]
        if not unit.is_grid:
            body += [Store(self.slots[n][0], integer(self.slots[n][1]), Var(n, self.dtypes[n]))
                     for n in handed
                     if n in {*defined_in(unit.nodes), *finished}]
        if unit.is_product:
            body = [*body[:bool(self.kernel.failures)], *self._tiles(unit)]
        parameters = self._parameters(unit, used, handed, private, logs)
        self.out.kernels[unit.name] = parameters
        names = ["ctx", *(p.name for p in parameters)]
        first = len(writer.lines) + 1
        writer.lines += wrapped(f"def {unit.name}({', '.join(names)}):")
        writer.block(body, 1)
        self.out.lines[unit.name] = first, len(writer.lines)

    def _ranges(self, unit: Unit) -> dict[int, str]:
        """Return, per loop that is spread over threads, its axis; the innermost is x."""
        return {id(loop): AXES[k] for k, loop in enumerate(reversed(unit.axes))}

    def _tiles(self, unit: Unit) -> list[Node]:
        """Multiply matrices tile by tile."""
        (node,) = unit.nodes
        assert isinstance(node, Do)
        dtype = node.call.args[-1].dtype
        room = call("cuda.shared.array", Var("TILE", I64), Var(dtype_name(dtype), dtype))
        tiles = [Array(name, dtype) for name in ("left", "right")]
        zero = Cast(dtype, Const(0.0, F64))
        return [*(Let(tile.name, room) for tile in tiles),
                Do(call(NAME, *tiles, zero, *node.call.args), node.origin)]

    def _fold_of_block(self, name: str, combine: str) -> Node:
        dtype = self.dtypes[name]
        shared, parts = (Array(f"{stem}_{what}", dtype) for stem, what in (
            ("shared", dtype_name(dtype)), ("parts", name)))
        return Do(call(f"block_{combine}", shared, Var(name, dtype), parts))

    def _identity(self, name: str, combine: str) -> Expression:
        return identity_of(combine, self.dtypes[name])

    def _finish(self, unit: Unit) -> list[Node]:
        """Fold the parts that blocks have left; then one thread goes on."""
        if not unit.finishes:
            return []
        nodes = _shared(self._shared_by_folds(name for name, _, _ in unit.finishes))
        for name, combine, _ in unit.finishes:
            dtype = self.dtypes[name]
            nodes.append(Let(name, call(
                f"parts_{combine}", Array(f"shared_{dtype_name(dtype)}", dtype),
                Array(f"parts_{name}", dtype), Var(f"count_{name}", I64),
                self._identity(name, combine))))
        return [*nodes, If(Bin(">", call("thread"), ZERO), [Return()])]

    def _shared_by_folds(self, names: Iterable[str]) -> dict[str, str]:
        kinds = [dtype_name(self.dtypes[name]) for name in names]
        return {f"shared_{kind}": kind for kind in kinds}

    # --- memory of single threads -----------------------------------------------------------------

    def _private(self, unit: Unit, used: set[str]) -> dict[int, list[Buffer]]:
        """Return, by slot, the arrays that each thread has for itself: its iteration's arrays."""
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
            if _is_local(first):
                assert isinstance(first.size, int)
                nodes.append(Let(first.name, call(
                    "cuda.local.array", integer(max(1, first.size)), _dtype_word(first.dtype))))
            else:
                nodes.append(_room(first.name, first.dtype))
            nodes += [Let(b.name, Array(first.name, first.dtype)) for b in buffers[1:]]
        if unit.is_map:
            nodes += [_room(f"logmem{k}", self.kernel.logs[k]) for k in logs]
        return nodes

    # --- parameters -------------------------------------------------------------------------------

    def _parameters(self, unit: Unit, used: set[str], handed: list[str],
                    private: dict[int, list[Buffer]], logs: list[int]) -> list[Parameter]:
        own = {b.name for buffers in private.values() for b in buffers}
        found = [Parameter(n, b.dtype, True) for n, b in self.buffers.items()
                 if n in used and n not in own and n not in self.heads]
        for buffers in private.values():
            if not _is_local(buffers[0]):
                found.append(Parameter(f"room_{buffers[0].name}", buffers[0].dtype, True, True))
                names = self.kernel.scalar_names
                used = used | {names[v] for v in dim_values(buffers[0].size)}
        word = np.dtype(np.int64)
        for k in logs:
            stem = "room_logmem" if unit.is_map else "logmem"
            found += [Parameter(f"{stem}{k}", self.kernel.logs[k], True, unit.is_map),
                      Parameter(f"logcap{k}", word, False)]
        tables = dict.fromkeys(self.slots[n][0] for n in handed)
        found += [Parameter(t, self.out.arrays[t][0], True) for t in tables]
        found += [Parameter(f"parts_{name}", self.dtypes[name], True)
                  for name in [*(n for n, _ in (*unit.folds, *unit.splits)), *unit.parts]]
        for name in [*(n for n, _, _ in unit.finishes), *(n for n, _ in unit.joins)]:
            found += [Parameter(f"parts_{name}", self.dtypes[name], True),
                      Parameter(f"count_{name}", word, False)]
        numbers = used - set(self.buffers) - own
        variables = {n.var for n in every_node(unit.nodes) if isinstance(n, Loop)}
        host = (self.sizes | self.heads | self.program.host | self.program.variables()) - variables
        return found + [Parameter(n, self.dtypes[n], False) for n in sorted(numbers & host)]


def _is_local(buffer: Buffer) -> bool:
    return isinstance(buffer.size, int) and buffer.size * buffer.dtype.itemsize <= LOCAL_BYTES


def _shared(kinds: dict[str, str]) -> list[Node]:
    """Return memory of a block, an element per thread, for values of some dtypes."""
    return [Let(name, call("cuda.shared.array", Var("THREADS", I64), _dtype_word(DTYPES[kind])))
            for name, kind in kinds.items()]


def _room(name: str, dtype: np.dtype) -> Node:
    """A thread's part of a room: elements side by side belong to threads side by side."""
    return Let(name, Slice(Array(f"room_{name}", dtype), call("thread"), call("threads")))


def _dtype_word(dtype: np.dtype) -> Expression:
    return Var(cast_name(dtype), dtype)


def _logs_in(nodes: Iterable[Node]) -> set[int]:
    return {int(str(e.args[0])) for node in every_node(nodes) for whole in expressions(node)
            for e in every(whole)
            if isinstance(e, Call) and e.fn.name in ("log_base", "log_capacity", "log_grow")}
