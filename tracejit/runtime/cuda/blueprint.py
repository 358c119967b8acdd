"""What calls of a program on a device need to know of it: names, dtypes, sizes, kernels."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from tracejit.ir.core import Value
from tracejit.ir.dims import Dim, evaluate
from tracejit.ir.interpreter import bind_sizes
from tracejit.runtime.interpreted import Interpreted

if TYPE_CHECKING:
    from tracejit.codegen.cuda.source import Parameter
    from tracejit.runtime.cuda.stages import DeviceLowered

__all__ = ["Blueprint", "Planned"]

Planned = tuple[tuple[int, ...], tuple[tuple[int, ...], ...], tuple[tuple[int, int], ...], int]
"""Sizes, shapes of results, per array of the arena where it begins and its bytes; all bytes."""


class Blueprint:
    """A program as calls see it.

    kernels -- per kernel its parameters, after the context
    inputs  -- per input what `launch` calls it, its dtype and rank
    sizes   -- what `launch` calls the sizes
    outputs -- per output what `launch` calls it, its dtype and rank
    arena   -- the arrays that lie in the arena, and their dtypes
    arrays  -- what the host allocates besides: dtype and elements, 0 for a part per block
    logs    -- the dtypes of Logs
    """

    def __init__(self, lowered: DeviceLowered) -> None:
        kernel = lowered.kernel
        self.lowered, self.graph = lowered, kernel.graph
        heads = iter([n.name for n in kernel.head])  # type: ignore[union-attr]
        self.kernels: dict[str, list[Parameter]] = lowered.emitted.kernels
        self.inputs = tuple([(b.name if v.aval.shape else next(heads), v.aval.dtype,
                              len(v.aval.shape))
                             for b, v in zip(kernel.inputs, self.graph.inputs, strict=True)])
        self.sizes = tuple([kernel.labels[v] for v in self.graph.sizes])
        self.outputs = tuple([(b.name, b.dtype, len(a.aval.shape))
                              for b, a in zip(kernel.outputs, self.graph.outputs, strict=True)])
        self.arena = tuple([(b.name, b.dtype) for b in kernel.arena])
        self.arrays, self.logs = lowered.emitted.arrays, tuple(kernel.logs)
        self._checks = Interpreted(lowered.traced)

    def plan(self, values: Sequence[Any]) -> Planned | None:
        """Return what follows from shapes and ints; None where the program does not hold."""
        from tracejit.codegen.slots import slot_sizes

        if not self._checks.fits(values):
            return None
        kernel = self.lowered.kernel
        env: dict[Value, Any] = bind_sizes(self.graph, values)
        env.update((v, x) for v, x in zip(self.graph.inputs, values, strict=True)
                   if not v.aval.shape)

        def number(d: Dim) -> int:
            return evaluate(d, lambda v: int(env[v]))

        begins, total = {}, 0
        for k, size in zip(sorted({b.number for b in kernel.arena}), slot_sizes(kernel),
                           strict=True):
            begins[k] = total
            total += number(size)
        return (tuple([int(env[v]) for v in self.graph.sizes]),
                tuple([tuple(map(number, a.aval.shape)) for a in self.graph.outputs]),
                tuple([(begins[b.number], number(b.size) * b.dtype.itemsize)
                       for b in kernel.arena]), total)

    def functions(self) -> dict[str, FunctionType]:
        """Return the functions of the emitted module, as Python."""
        return self.lowered.functions()

    def ptx(self, capability: tuple[int, int]) -> dict[str, str]:
        """Return the PTX of every kernel."""
        return self.lowered.ptx(capability)
