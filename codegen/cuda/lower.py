"""Loop IR for a CUDA device: the same nests without blocks and margins, with what may run at once.

A loop over elements is *independent* where no two of its iterations touch the same element of an
array that one of them writes; an iteration of `map_` always is. What a loop folds into scalars is
noted, so that threads may fold parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product as pairs

import numpy as np

from tracejit.codegen.cuda.products import is_device_product, product_call
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_expressions import ZERO, Array, call
from tracejit.codegen.loop_ir import Do, Loop, Origin
from tracejit.codegen.lower import _Lowerer, lower_with
from tracejit.codegen.schedule import Nest, Single, Style, as_nest
from tracejit.codegen.statements import Access, Statement, statements_of
from tracejit.errors import Refusal
from tracejit.ir.core import Eqn, Graph, Value
from tracejit.ir.dims import Dim, Expr, dim_values
from tracejit.ir.lowering import Contract, Effect, LogOp, Native

__all__ = ["lower_for_device"]

ATOMIC = tuple(map(np.dtype, ("f4", "f8", "i4", "i8")))
"""What the device can add to atomically."""


def lower_for_device(graph: Graph, *, strict: bool = False) -> Kernel:
    """Return the kernel of a graph for a device.

    strict -- whether floats are to be summed in the order of the program, which lets one thread do
              every sum, and every accumulation at indices that are data
    """
    return lower_with(_StrictLowerer if strict else _DeviceLowerer, graph, graph)


_RESIDUALS = ("new", "push", "pop")
"""What is done to the Logs of loops that store something for their way back."""


class _DeviceLowerer(_Lowerer):
    """Lowers one graph for a device."""

    target = "cuda"
    style = Style(vectorises=False, in_registers=True, is_product=is_device_product)
    strict = False
    free: frozenset[Value] = frozenset()
    """The loop variables of the open nest whose iterations are independent."""
    begun: list[tuple[str, str]]
    """The registers that the open loop, as a whole, folds into, and how."""

    def nest(self, nest: Nest, *, inner: bool = False) -> None:
        """Lower a loop over elements, noting on its loops which threads may do them."""
        if not inner:
            self.free = self._free_variables(nest)
        self.begun = []
        super().nest(nest, inner=inner)

    def begin_fold(self, s: Statement) -> None:
        """Set up a register, noting it for the loop that follows."""
        super().begin_fold(s)
        if s.kind in ("fold", "argument"):
            combine = s.combine if s.kind == "fold" else f"arg{s.combine}"
            self.begun.append((self.folds[s].name, combine))

    def _loop(self, nest: Nest, name: str, sums: Sequence[Statement]) -> None:
        """Lower a loop as it is: threads sum parts, and test guards without loss."""
        begun = tuple(self.begun)
        self._plain_loop(nest, name, ZERO, self.dim(nest.extent))
        loop = self.nodes[-1]
        assert isinstance(loop, Loop)
        loop.independent = nest.var in self.free
        loop.is_divisible = not loop.independent and self._is_divisible(nest)
        if loop.independent or loop.is_divisible:
            loop.folds = begun
        loop.runs = self._running(nest)

    def map_(self, eqn: Eqn) -> None:
        """Lower independent iterations."""
        super().map_(eqn)
        loop = self.nodes[-1]
        assert isinstance(loop, Loop)
        loop.independent = True

    def single(self, step: Single) -> None:
        """Lower an equation on its own; what only the CPU has is refused."""
        eqn = step.eqn
        if isinstance(eqn.op.lowering, Native):
            raise Refusal(f"{eqn.op.name} ({eqn.site}) calls a function that is compiled for the "
                          "CPU, which cannot run on the device. Call the Python function behind "
                          'it, so that it is captured, or leave out target="cuda"')
        if isinstance(eqn.op.lowering, Effect) and eqn.op.lowering.shows:
            raise Refusal(f"{eqn.op.name} ({eqn.site}) shows values where they are computed, which "
                          "the device cannot. Return them, or leave out target=\"cuda\"")
        if isinstance(eqn.op.lowering, LogOp) and eqn.op.lowering.action not in _RESIDUALS:
            raise Refusal(f"a list of which data decides the length ({eqn.site}) is kept on the "
                          "CPU alone. Fill an array that is made as long as the list may get, or "
                          'leave out target="cuda"')
        if not isinstance(eqn.op.lowering, Contract):
            super().single(step)
            return
        call = product_call(self, eqn)
        if call is not None:
            self.nodes.append(call)
            return
        for statement in statements_of(eqn, self.elements, self.buffers, in_registers=True):
            part = as_nest(statement, 0)
            assert isinstance(part, Nest)
            self.nest(part)

    def _scatter(self, s: Statement, origin: Origin) -> None:
        """Add atomically, where threads may add to the same element."""
        if s.combine == "set" or not self._is_atomic(s):
            super()._scatter(s, origin)
            return
        place, value = self._scattered(s)
        assert s.buffer is not None
        target = Array(s.buffer.name, s.buffer.dtype)
        self.nodes.append(Do(call("accumulate", target, place, value), origin))

    # --- what may run at once -------------------------------------------------------------------

    def _is_atomic(self, s: Statement) -> bool:
        dtype = s.target.aval.dtype
        return dtype in ATOMIC and not (self.strict and dtype.kind == "f")

    def _free_variables(self, nest: Nest) -> frozenset[Value]:
        """Return the loop variables over which threads may be spread.

        Such a loop has every statement of the nest inside, so that nothing is done twice.
        """
        every = nest.statements()
        variables = frozenset(v for s in every for v in s.vars)
        accesses = list(map(self._accesses, every))
        return frozenset(v for v in variables if all(v in s.vars for s in every)
                         and all(self._is_free(s, v) for s in every)
                         and self._are_apart(every, accesses, v, variables))

    def _is_free(self, s: Statement, v: Value) -> bool:
        """Whether a statement's own fold lets its iterations over a variable be spread."""
        if s.vars.index(v) < len(s.vars) - s.folded:
            return True
        return s.kind == "fold" and s.folded == len(s.vars) and not self._is_in_order(s)

    def _is_in_order(self, s: Statement) -> bool:
        """Whether a fold has to combine its terms in the order of the program."""
        return self.strict and s.combine in ("add", "mul") and s.target.aval.dtype.kind in "fc"

    def _running(self, nest: Nest) -> str:
        """Return the register of a running sum, if that is all a nest does, in any order."""
        s = nest.body[0]
        if len(nest.body) > 1 or not isinstance(s, Statement) or s.kind != "running" or (
                self._is_in_order(s)):
            return ""
        found = s.accesses(self.elements, self.buffers)
        is_in_place = all(a.index == s.index for a in found
                          if a.buffer is s.buffer and not a.is_write)
        return self.folds[s].name if is_in_place else ""

    def _is_divisible(self, nest: Nest) -> bool:
        """Whether threads that do one iteration of the loops around may divide a nest's own."""
        v, every = nest.var, nest.statements()
        variables = frozenset(w for s in every for w in s.vars[s.vars.index(v):])
        accesses = []
        for s in every:
            found = self._accesses(s)
            if s.vars.index(v) >= len(s.vars) - s.folded:
                if s.kind not in ("fold", "argument") or self._is_in_order(s):
                    return False
                found = [a for a in found if not a.is_write]  # that is done behind the loop
            accesses.append(found)
        return self._are_apart(every, accesses, v, variables)

    def _accesses(self, s: Statement) -> list[Access]:
        """Return what a statement reads and writes; where a running sum goes is known here."""
        found = s.accesses(self.elements, self.buffers)
        return [replace(a, index=s.index) if a.is_write and s.kind == "running" else a
                for a in found]

    def _are_apart(self, every: Sequence[Statement], accesses: Sequence[list[Access]], v: Value,
                   variables: frozenset[Value]) -> bool:
        """Whether iterations that differ in a variable touch different elements of what is written.

        Additions at indices that are data may meet: they are atomic.
        """
        for (s, mine), (t, theirs) in pairs(zip(every, accesses, strict=True), repeat=2):
            for a, b in pairs(mine, theirs):
                if not a.is_write or a.buffer is not b.buffer:
                    continue
                if s is t and a is b and s.kind == "scatter" and s.combine == "add" and (
                        self._is_atomic(s)):
                    continue
                if a.index is None or b.index is None or a.shape != b.shape:
                    return False
                if not any(_is_told_apart(i, j, v, variables)
                           for i, j in zip(a.index, b.index, strict=True)):
                    return False
        return True


class _StrictLowerer(_DeviceLowerer):
    strict = True


def _is_told_apart(i: Dim, j: Dim, v: Value, variables: frozenset[Value]) -> bool:
    """Whether two indices along one axis are the same for one value of a variable, and for no two.

    They are if both are a constant times the variable plus the same, without other loop variables.
    """
    if i != j or not isinstance(i, Expr):
        return False
    factor = i.factor_of(v)
    return factor is not None and not variables & {*dim_values(i - factor * v.dim)}

