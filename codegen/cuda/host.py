"""The function that runs on the host: it launches kernels, and carries out loops and branches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracejit.codegen.buffers import Buffer
from tracejit.codegen.cuda.module import DeviceSource
from tracejit.codegen.cuda.units import HostValue, Step, Told, Unit
from tracejit.codegen.expression_edits import call, rewritten
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_expressions import ONE, Call, Expression, Extent, Select
from tracejit.codegen.loop_ir import Do, If, Let, While
from tracejit.codegen.python_source import wrapped
from tracejit.codegen.slots import dim_source
from tracejit.ir.dtypes import dtype_name

__all__ = ["HostRenderer"]


class HostRenderer:
    """Renders `launch`, once the kernels are known.

    slots -- per scalar that units hand on, its table and its place there
    """

    def __init__(self, kernel: Kernel, dtypes: dict[str, np.dtype], out: DeviceSource,
                 slots: dict[str, tuple[str, int]]) -> None:
        self.kernel, self.dtypes, self.out, self.slots = kernel, dtypes, out, slots
        self.program = out.program
        self.rooms: dict[str, Buffer] = {f"room_{b.name}": b for b in kernel.buffers}
        self.log_rooms = {f"room_logmem{k}": f"logcap{k}" for k in range(len(kernel.logs))}
        self.known = set(kernel.size_names) | {
            n.name for n in kernel.head if isinstance(n, Let)} | self.program.host | (
            self.program.variables())
        """Numbers that the host has."""

    def render(self) -> list[str]:
        """Return the lines of the function."""
        units = self.program.units()
        parts = {f"parts_{name}": (self.dtypes[name], 0) for unit in units
                 for name in (*(n for n, _ in unit.folds), *unit.parts)}
        made_here = {*parts, *(f"parts_{name}" for unit in units for name, _ in unit.splits)}
        arrays = [p.name for ps in self.out.kernels.values() for p in ps
                  if p.is_array and not p.is_room and p.name not in made_here]
        self.out.arrays.update(parts)
        capacities = [f"logcap{k}" for k in range(len(self.kernel.logs))]
        names = dict.fromkeys(["run", "ctx", *arrays, *parts, *capacities,
                               *self.kernel.size_names,
                               *(n.name for n in self.kernel.head if isinstance(n, Let))])
        lines = wrapped(f"def launch({', '.join(names)}):")
        return [*lines, *(self._steps(self.program.steps, 1) or ["    pass"])]

    def _steps(self, steps: Sequence[Step], depth: int) -> list[str]:
        return [line for step in steps for line in self._step(step, depth)]

    def _step(self, step: Step, depth: int) -> list[str]:
        pad = "    " * depth
        if isinstance(step, HostValue):
            return [f"{pad}{step.name} = {_on_host(step.expression)}"]
        if isinstance(step, Unit):
            return self._launch(step, pad)
        body = self._steps(step.body, depth + 1) or [f"{pad}    pass"]
        bounds = [self._answer(bound) for bound in step.bounds]
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
            f"{lo}, {hi}, {step.node.step}" if step.node.step != ONE else f"{lo}, {hi}")
        return [f"{pad}for {step.node.var} in range({text}):", *body]

    def _answer(self, bound: Expression | Told) -> str:
        if not isinstance(bound, Told):
            return f"({_on_host(bound)})"
        table, k = self.slots[bound.name]
        return f"run.told({table}, {k})"

    def _launch(self, unit: Unit, pad: str) -> list[str]:
        lines = []
        extents = self._extents(unit)
        for p in self.out.kernels[unit.name]:
            if p.is_room:
                size = self._room_size(p.name)
                lines.append(f'{pad}{p.name} = run.room("{p.name}", {size}, {extents}, '
                             f'"{dtype_name(p.dtype)}")')
        for name, _ in unit.splits:
            lines.append(f'{pad}parts_{name} = run.parts("parts_{name}", {extents}, '
                         f'"{dtype_name(self.dtypes[name])}")')
        args = ", ".join([unit.name, "ctx", *(p.name for p in self.out.kernels[unit.name])])
        if unit.is_product:
            (node,) = unit.nodes
            assert isinstance(node, Do)
            whole = ", ".join(str(_on_host(a)) for a in node.call.args)
            launch, kind = f"run.product(({whole}), {args})", "product"
        elif unit.is_grid:
            left = "".join(f"count_{name} = " for name, _ in (*unit.folds, *unit.splits))
            kind = _launcher(unit)
            launch = f"{left}run.{kind}({extents}, {args})"
        else:
            counts = ", ".join(f"count_{name}" for name, _, _ in unit.finishes)
            launch = f"run.block(({counts},), {args})" if counts else f"run.one({args})"
            kind = "block" if counts else "one"
        self.out.launched[unit.name] = kind
        return [*lines, *(pad + line for line in wrapped(launch))]

    def _room_size(self, name: str) -> str:
        buffer = self.rooms.get(name)
        return self.log_rooms[name] if buffer is None else dim_source(
            buffer.size, self.kernel.scalar_names, "run.")

    def _extents(self, unit: Unit) -> str:
        """Return how many iterations each axis has, x first; -1 where only the device knows.

        The iterations that a team divides come before all.
        """
        if not unit.is_grid:
            return "()"
        extents: list[Expression] = [Extent(loop.lo, loop.hi) for loop in unit.axes]
        if unit.team is not None:
            extents.append(unit.team.length)
        found = []
        for e in reversed(extents):
            is_known = e.reads <= self.known and e.calls <= {"imax", "imin", "idiv", "imod"}
            found.append(str(_on_host(e)) if is_known else "-1")
        return f"({', '.join(found)},)"


def _on_host(e: Expression) -> Expression:
    """Return an expression for the host, whose functions are attributes of `run`."""
    def change(part: Expression) -> Expression:
        if isinstance(part, Select):
            return call("run.select", *part.parts)
        return call(f"run.{part.fn.name}", *part.args) if isinstance(part, Call) and (
            part.fn.host) else part

    return rewritten(e, change)


def _launcher(unit: Unit) -> str:
    """Return the host's method that launches a grid."""
    if unit.team is not None:
        return "halves" if unit.splits else "columns" if unit.team.is_column else "rows"
    return "few" if unit.is_map else "folding" if unit.folds else "grid"
