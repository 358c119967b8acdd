"""The meanings of names in Loop IR: sizes, indices, memory; and the costs of expressions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.codegen.expression_edits import every, known_integer
from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_expressions import Array, Bin, Call, Expression, Extent, Load, Unary, Var
from tracejit.codegen.loop_ir import Assign, Let, Node, While, every_node
from tracejit.inspection.costs.operations import COMPLEX_FLOPS, operation_of
from tracejit.ir.core import Value
from tracejit.ir.dims import Dim, Expr, dim_values, evaluate, floor_div, maximum, minimum, mod
from tracejit.ir.types import scalar

__all__ = ["BufferElement", "Symbols"]

_CALLS = {"imax": maximum, "imin": minimum, "idiv": floor_div, "imod": mod}
"""Functions of integers as functions of dims."""


@dataclass(frozen=True, slots=True)
class BufferElement:
    """An element of a buffer.

    names   -- the loop variables that its index depends on; "*" for anything
    form    -- the index without constants: equal forms touch the same elements, shifted
    residue -- tells apart accesses that are interleaved
    stride  -- how far apart the elements are, at least
    """

    buffer: str
    names: frozenset[str]
    form: object
    residue: object
    stride: int


class Symbols:
    """The names of a kernel, as its nodes are read in order.

    sizes -- the values of the sizes and integer arguments in a call
    """

    kernel: Kernel
    sizes: Mapping[Value, int]
    fixed: frozenset[str]
    buffers: dict[str, Any]

    def __init__(self, kernel: Kernel, sizes: Mapping[Value, int]) -> None:
        self.kernel, self.sizes = kernel, sizes
        self.dims: dict[str, Dim] = {name: v.dim for v, name in kernel.scalar_names.items()
                                     if v in sizes}
        self.fixed = frozenset(self.dims)
        self.names: dict[str, frozenset[str]] = {name: frozenset() for name in self.dims}
        self.buffers = {b.name: b for b in kernel.buffers}
        self.pointers: dict[str, np.dtype] = {n: b.dtype for n, b in self.buffers.items()}
        self.counts: dict[int, Value] = {}
        self.assigned = Counter(node.name for node in every_node((*kernel.head, *kernel.nodes))
                                if isinstance(node, (Let, Assign)))
        for node in kernel.head:
            self.define(node)

    # --- definitions ----------------------------------------------------------------------------

    def define(self, node: Node) -> None:
        """Note the expression that a name is set to."""
        if not isinstance(node, (Let, Assign)) or node.name in self.fixed:
            return
        e = node.expression
        if isinstance(e, Array) or (isinstance(e, Call) and e.fn.name in ("log_base", "advance")):
            self.pointers[node.name] = e.dtype
            return
        if self.assigned[node.name] > 1:
            self.names[node.name] = frozenset("*")
            return
        self.names[node.name] = self._names_in(e)
        dim = self.dim(e)
        if dim is not None:
            self.dims[node.name] = dim

    @contextmanager
    def variable(self, name: str, bounds: Sequence[Expression]) -> Iterator[Value]:
        """Bind the variable of a loop."""
        dim, known = self.dims.get(name), self.names.get(name, frozenset())
        value = Value(scalar(np.int64), name)
        names = frozenset({name}).union(*map(self._names_in, bounds))
        self.dims[name], self.names[name] = value.dim, names
        try:
            yield value
        finally:
            self.names[name] = known
            del self.dims[name]
            if dim is not None:
                self.dims[name] = dim

    def count_of(self, loop: While) -> Dim:
        """Return the number of iterations of a loop, which is not known, as a dim."""
        value = self.counts.setdefault(id(loop), Value(scalar(np.int64)))
        self.dims[loop.counter] = value.dim
        return value.dim

    # --- memory ---------------------------------------------------------------------------------

    def dtype_of(self, buffer: str) -> np.dtype:
        """Return the dtype of the elements behind a pointer."""
        return self.pointers[buffer]

    def size_of(self, buffer: str) -> int | None:
        """Return how many elements a buffer has, where that is known."""
        if buffer not in self.buffers:
            return None
        size = self.buffers[buffer].size
        values = [] if isinstance(size, int) else list(dim_values(size))
        return evaluate(size, self.sizes.__getitem__) if all(
            v in self.sizes for v in values) else None

    # --- expressions ----------------------------------------------------------------------------

    def dim(self, e: Expression) -> Dim | None:
        """Return an integer expression as a dim, where it is one of sizes and loop variables."""
        number = known_integer(e)
        if number is not None:
            return number
        if isinstance(e, Var):
            return self.dims.get(e.name)
        if not isinstance(e, (Unary, Bin, Extent, Call)):
            return None
        parts = [self.dim(part) for part in e.parts]
        known = [part for part in parts if part is not None]
        name = "extent" if isinstance(e, Extent) else e.fn.name if isinstance(e, Call) else e.op
        make = _DIMS.get((name, len(parts)))
        return None if make is None or len(known) < len(parts) else make(*known)

    def _names_in(self, e: Expression) -> frozenset[str]:
        return frozenset().union(*(self.names.get(name, frozenset())
                                   for name in e.reads if name not in self.pointers))

    def access(self, buffer: str, index: Expression) -> BufferElement:
        """Return which elements an access touches."""
        names = self._names_in(index)
        dim = self.dim(index)
        if dim is None:
            return BufferElement(buffer, names, index, 0, 1)
        own = {v for name in names if name != "*" for v in dim_values(self.dims.get(name, 0))}
        inside: list[object] = []
        outside: list[object] = []
        stride = 0
        for monomial, c in dim.terms if isinstance(dim, Expr) else ():
            if any(v in own for v in dim_values(Expr(((monomial, c),), 0))):
                inside.append((monomial, c))
                stride = c if len(monomial) == 1 else stride
            else:
                outside.append((monomial, c))
        const = dim.const if isinstance(dim, Expr) else dim
        stride = max(abs(stride), 1)
        return BufferElement(buffer, names, tuple(inside), (tuple(outside), const % stride), stride)

    def read(self, e: Expression) -> tuple[int, dict[str, int], list[BufferElement]]:
        """Return the flops, the calls and the loads of an expression; indices are no flops."""
        calls: Counter[str] = Counter()
        loads = [self.access(part.buffer, part.index) for part in every(e)
                 if isinstance(part, Load)]
        return _flops(e, calls), dict(calls), loads


def _flops(e: Expression, calls: Counter[str]) -> int:
    """Return the flops of an expression; calls of functions are counted."""
    if isinstance(e, Load):
        return 0
    flops = sum(_flops(part, calls) for part in e.parts)
    kinds = {part.dtype.kind for part in e.parts}
    if not kinds & {"f", "c"}:
        return flops
    if isinstance(e, Call) and e.fn.flops == "call":
        calls[e.fn.name] += 1
    operation = operation_of(e)
    if not operation:
        return flops
    return flops + (COMPLEX_FLOPS[operation] if "c" in kinds else 1)


_DIMS: dict[tuple[str, int], Callable[..., Dim]] = {
    ("-", 1): lambda a: -a, ("+", 2): lambda a, b: a + b, ("-", 2): lambda a, b: a - b,
    ("*", 2): lambda a, b: a * b, ("extent", 1): lambda hi: hi,
    ("extent", 2): lambda hi, lo: hi - lo,
    **{(name, 2): make for name, make in _CALLS.items()}}
"""The operators and functions of integers as dims, by how many operands they have."""
