"""What the names of emitted source stand for: sizes, indices, memory; and what expressions do."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.codegen.kernel import Kernel
from tracejit.codegen.loop_ir import Assign, Let, Node, While, children
from tracejit.inspection.costs.operations import COMPLEX_FLOPS, FREE, ONE_FLOP, OPERATORS
from tracejit.ir.core import Value
from tracejit.ir.dims import (
    Dim,
    Expr,
    dim_values,
    evaluate,
    floor_div,
    maximum,
    minimum,
    mod,
)
from tracejit.ir.dtypes import DTYPES
from tracejit.ir.types import scalar

__all__ = ["BufferElement", "Symbols"]

_CALLS = {"imax": maximum, "imin": minimum, "idiv": floor_div, "imod": mod}
_INTEGERS = frozenset((*_CALLS, "log_capacity", "log_grow", "between", "interrupted", "fail",
                       *(name for name, d in DTYPES.items() if d.kind in "iub"), "bool_"))
"""The functions whose results are integers or bools."""


@dataclass(frozen=True, slots=True)
class BufferElement:
    """An element of a buffer.

    names   -- the loop variables that its index depends on; "*" for anything
    form    -- the index without constants: equal forms touch the same elements, shifted
    residue -- what tells apart accesses that are interleaved
    stride  -- how far apart the elements are, at least
    """

    buffer: str
    names: frozenset[str]
    form: object
    residue: object
    stride: int


class Symbols:
    """The names of a kernel, as its nodes are read in order.

    sizes -- what the sizes and integer arguments are in a call
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
        self.kinds: dict[str, str] = dict.fromkeys(self.dims, "i")
        self.names: dict[str, frozenset[str]] = {name: frozenset() for name in self.dims}
        self.buffers = {b.name: b for b in kernel.buffers}
        self.pointers: dict[str, np.dtype] = {n: b.dtype for n, b in self.buffers.items()}
        self.counts: dict[int, Value] = {}
        self.assigned: Counter[str] = Counter()
        self._count_assigned((*kernel.head, *kernel.nodes))
        for node in kernel.head:
            self.define(node)

    def _count_assigned(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if isinstance(node, (Let, Assign)):
                self.assigned[node.name] += 1
            for block in children(node):
                self._count_assigned(block)

    # --- definitions ----------------------------------------------------------------------------

    def define(self, node: Node) -> None:
        """Note what a name is set to."""
        if not isinstance(node, (Let, Assign)) or node.name in self.fixed:
            return
        tree = _parsed(node.expression)
        if self._defines_pointer(node.name, tree):
            return
        self.kinds.setdefault(node.name, self.kind(tree))
        if self.assigned[node.name] > 1:
            self.names[node.name] = frozenset("*")
            return
        self.names[node.name] = self._names_in(tree)
        dim = self._dim(tree)
        if dim is not None:
            self.dims[node.name] = dim

    def _defines_pointer(self, name: str, tree: ast.expr) -> bool:
        if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
            return False
        if tree.func.id == "log_base":
            number = tree.args[1]
            assert isinstance(number, ast.Constant)
            self.pointers[name] = self.kernel.logs[int(str(number.value))]
            return True
        if tree.func.id == "advance":
            self.pointers[name] = self.pointers[ast.unparse(tree.args[0])]
            return True
        return False

    @contextmanager
    def variable(self, name: str, bounds: Sequence[str]) -> Iterator[Value]:
        """Bind the variable of a loop."""
        dim, known = self.dims.get(name), self.names.get(name, frozenset())
        value = Value(scalar(np.int64), name)
        names = frozenset({name}).union(*(self._names_in(_parsed(b)) for b in bounds))
        self.dims[name], self.names[name], self.kinds[name] = value.dim, names, "i"
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
        """Return the dtype of what a pointer points to."""
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

    def dim(self, text: str) -> Dim | None:
        """Return an integer expression as a dim, where it is one of sizes and loop variables."""
        return self._dim(_parsed(text))

    def _dim(self, tree: ast.expr) -> Dim | None:
        if isinstance(tree, ast.Constant):
            return tree.value if type(tree.value) is int else None
        if isinstance(tree, ast.Name):
            return self.dims.get(tree.id)
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            inner = self._dim(tree.operand)
            return None if inner is None else -inner
        if isinstance(tree, ast.BinOp):
            left, right = self._dim(tree.left), self._dim(tree.right)
            if left is None or right is None:
                return None
            if isinstance(tree.op, ast.Add):
                return left + right
            if isinstance(tree.op, ast.Sub):
                return left - right
            return left * right if isinstance(tree.op, ast.Mult) else None
        if isinstance(tree, ast.Call) and ast.unparse(tree.func) in _CALLS:
            left, right = map(self._dim, tree.args)
            if left is not None and right is not None:
                return _CALLS[ast.unparse(tree.func)](left, right)
        return None

    def _names_in(self, tree: ast.AST) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id not in self.pointers:
                found |= self.names.get(node.id, frozenset())
        return found

    def access(self, buffer: str, index: str) -> BufferElement:
        """Return which elements an access touches."""
        return self._access(buffer, _parsed(index))

    def _access(self, buffer: str, index: ast.expr) -> BufferElement:
        names = self._names_in(index)
        dim = self._dim(index)
        if dim is None:
            return BufferElement(buffer, names, ast.unparse(index), 0, 1)
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

    def kind(self, tree: ast.expr) -> str:
        """Return what an expression is: "f" floating, "c" complex, "i" an integer or a bool."""
        if isinstance(tree, ast.Constant):
            return {float: "f", complex: "c"}.get(type(tree.value), "i")
        if isinstance(tree, ast.Name):
            return "f" if tree.id in ("inf", "nan") else self.kinds.get(tree.id, "i")
        if isinstance(tree, ast.Subscript):
            kind = self.pointers[ast.unparse(tree.value)].kind
            return kind if kind in "fc" else "i"
        if isinstance(tree, ast.Attribute):
            return "f" if tree.attr in ("real", "imag") else self.kind(tree.value)
        if isinstance(tree, (ast.Compare, ast.BoolOp)):
            return "i"
        if isinstance(tree, ast.Call):
            return self._kind_of_call(tree)
        parts = [c for c in ast.iter_child_nodes(tree) if isinstance(c, ast.expr)]
        return max((self.kind(p) for p in parts), key="ifc".index, default="i")

    def _kind_of_call(self, tree: ast.Call) -> str:
        if isinstance(tree.func, ast.Attribute):
            return self.kind(tree.func)
        name = ast.unparse(tree.func)
        if name in _INTEGERS:
            return "i"
        if name in ("complex", "c64", "c128"):
            return "c"
        if name in DTYPES:
            return "f"
        args = tree.args[1:] if name == "select" else tree.args
        return max((self.kind(a) for a in args), key="ifc".index, default="i")

    def read(self, text: str) -> tuple[int, dict[str, int], list[BufferElement]]:
        """Return the flops, the calls and the loads of an expression; indices are no flops."""
        calls: Counter[str] = Counter()
        loads: list[BufferElement] = []
        flops = self._operations(_parsed(text), calls, loads)
        return flops, dict(calls), loads

    def _operations(self, tree: ast.expr, calls: Counter[str], loads: list[BufferElement]) -> int:
        if isinstance(tree, ast.Subscript):
            loads.append(self._access(ast.unparse(tree.value), tree.slice))
            self._operations(tree.slice, calls, loads)
            return 0
        parts = [c for c in ast.iter_child_nodes(tree) if isinstance(c, ast.expr)]
        flops = sum(self._operations(c, calls, loads) for c in parts)
        name = OPERATORS.get(type(tree.op)) if isinstance(tree, (ast.BinOp, ast.UnaryOp)) else None
        kinds = [self.kind(c) for c in parts]
        if isinstance(tree, ast.Compare):
            name = "compare"
        elif isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            function = tree.func.id
            name = {"radd": "add"}.get(function, "compare") if function in ONE_FLOP else None
            is_conversion = function in FREE or function in DTYPES or function in _INTEGERS
            if name is None and not is_conversion and set(kinds) & {"f", "c"} and (
                    function not in ("complex", *_STRUCTURE)):
                calls[function] += 1
        if name is None or not set(kinds) & {"f", "c"}:
            return flops
        return flops + (COMPLEX_FLOPS[name] if "c" in kinds else 1)


_STRUCTURE = ("lap", "tally", "slot", "call_native", "advance", "log_base", "scalar_loop")
"""The functions that compute nothing."""


def _parsed(text: str) -> ast.expr:
    return ast.parse(re.sub(r"scope_log\d+", "0", text), mode="eval").body
