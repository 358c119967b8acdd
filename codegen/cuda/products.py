"""Products of matrices on a device, batches of them included: which there are, and as Loop IR.

One is a step of its own: the host calls cuBLAS where it is there, and else launches a kernel that
goes through tiles in shared memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracejit.codegen.frame import KernelEmitter
from tracejit.codegen.loop_expressions import BOOL, Array, Const, call
from tracejit.codegen.loop_ir import Do, Node
from tracejit.codegen.products import WORTHWHILE, Product, as_product, product_sizes
from tracejit.ir.core import Eqn
from tracejit.ir.dims import Dim, dim_values, product
from tracejit.ir.lowering import Contract, Region

__all__ = ["NAME", "BatchedProduct", "as_batched_product", "is_device_product", "product_call"]

NAME = "matrix_product"
"""The name by which it is called."""


@dataclass(frozen=True, slots=True)
class BatchedProduct:
    """Products of op(A)[m, k] and op(B)[k, n], as many as `batch` says.

    plain -- what one of them is
    sizes -- batch, m, n, k
    """

    plain: Product
    sizes: tuple[Dim, Dim, Dim, Dim]


def as_batched_product(eqn: Eqn) -> BatchedProduct | None:
    """Return a contraction as products of matrices along common first axes, if it is one."""
    left, rest = eqn.params["spec"].split(",")
    right, output = rest.split("->")
    rows = len(left) - 2
    if rows > 0 and len(right) == 2 and left[:rows] == output[:rows]:
        plain = as_product(f"{left[rows:]},{right}->{output[rows:]}")
        if plain is not None and plain.left == "N" and not plain.swapped:
            shape = eqn.inputs[0].aval.shape  # one product, whose rows are those of all
            m, n, k = product_sizes(f"{left[rows:]},{right}->{output[rows:]}", shape[rows:],
                                    eqn.inputs[1].aval.shape)
            return BatchedProduct(plain, (1, product((*shape[:rows], m)), n, k))
    depth = 0
    while depth < min(map(len, (left, right, output))) - 2 and (
            left[depth] == right[depth] == output[depth]):
        depth += 1
    spec = f"{left[depth:]},{right[depth:]}->{output[depth:]}"
    plain = as_product(spec)
    if plain is None:
        return None
    shapes = [a.aval.shape[depth:] for a in eqn.inputs]
    sizes = product_sizes(spec, shapes[0], shapes[1])
    return BatchedProduct(plain, (product(eqn.output.aval.shape[:depth]), *sizes))


def is_device_product(eqn: Eqn) -> bool:
    """Return whether a contraction consists of products of matrices of some size."""
    if not isinstance(eqn.op.lowering, Contract) or eqn.output.aval.dtype not in (
            np.float32, np.float64):
        return False
    found = as_batched_product(eqn)
    if found is None:
        return False
    work = product(found.sizes[1:])
    return not isinstance(work, int) or work >= WORTHWHILE


def product_call(self: KernelEmitter, eqn: Eqn) -> Node | None:
    """Return the call that carries a product out; None where the host cannot launch it.

    It cannot within an iteration of `map_`, which is one thread's, and where sizes or places are
    known to the device only.
    """
    found = as_batched_product(eqn)
    assert found is not None
    a, b = (eqn.inputs[1], eqn.inputs[0]) if found.plain.swapped else eqn.inputs
    buffers = [self.buffers.of[x] for x in (a, b, eqn.output)]  # type: ignore[index]
    in_map = any(scope.eqn is not None and isinstance(scope.eqn.op.lowering, Region)
                 and scope.eqn.op.lowering.kind == "map" for scope in self.scopes)
    known = set(self.graph.sizes)
    if in_map or any(b.kind not in ("input", "output", "arena") for b in buffers) or not all(
            v in known for d in found.sizes for v in dim_values(d)):
        return None
    flags = [Const(letter == "T", BOOL) for letter in (found.plain.left, found.plain.right)]
    arrays = [Array(b.name, b.dtype) for b in buffers]
    return Do(call(NAME, *flags, *map(self.dim, found.sizes), *arrays), self.origin(eqn))
