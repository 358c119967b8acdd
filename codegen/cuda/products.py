"""Products of matrices on a device, batches of them included: which there are, and as Loop IR.

One is a step of its own: the host calls cuBLAS where it is there, and else launches a kernel that
goes through tiles in shared memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracejit.codegen.expression_edits import call
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.loop_expressions import BOOL, Array, Const
from tracejit.codegen.loop_ir import Do, Node
from tracejit.codegen.nests import Nests
from tracejit.codegen.products import (
    WORTHWHILE,
    Product,
    plain_product,
    product_sizes,
    sizes_of,
)
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.codegen.statements import statements_of
from tracejit.ir.control import region_kind
from tracejit.ir.core import Eqn
from tracejit.ir.dims import Dim, dim_values, product
from tracejit.ir.lowering import Contract, axis_labels

__all__ = ["NAME", "BatchedProduct", "DeviceProducts", "as_batched_product", "is_device_product"]

NAME = "matrix_product"
"""The name by which it is called."""


@dataclass(frozen=True, slots=True)
class BatchedProduct:
    """Products of op(A)[m, k] and op(B)[k, n], as many as `batch` says.

    plain -- one of the products
    sizes -- batch, m, n, k
    """

    plain: Product
    sizes: tuple[Dim, Dim, Dim, Dim]


def as_batched_product(eqn: Eqn) -> BatchedProduct | None:
    """Return a contraction as products of matrices along common first axes, if it is one."""
    left, right, output = axis_labels(eqn.params["spec"])
    rows = len(left) - 2
    if rows > 0 and len(right) == 2 and left[:rows] == output[:rows]:
        spec = f"{left[rows:]},{right}->{output[rows:]}"
        plain = plain_product(spec)
        if plain is not None and plain.left == "N" and not plain.swapped:
            shape = eqn.inputs[0].aval.shape  # one product, of the rows of all
            m, n, k = product_sizes(plain, sizes_of(spec, shape[rows:],
                                                    eqn.inputs[1].aval.shape))
            return BatchedProduct(plain, (1, product((*shape[:rows], m)), n, k))
    depth = 0
    while depth < min(map(len, (left, right, output))) - 2 and (
            left[depth] == right[depth] == output[depth]):
        depth += 1
    spec = f"{left[depth:]},{right[depth:]}->{output[depth:]}"
    plain = plain_product(spec)
    if plain is None:
        return None
    shapes = [a.aval.shape[depth:] for a in eqn.inputs]
    sizes = product_sizes(plain, sizes_of(spec, shapes[0], shapes[1]))
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


class DeviceProducts:
    """Writes products of matrices for a device."""

    def __init__(self, frame: KernelFrame, code: ScalarCode, nests: Nests) -> None:
        self.frame, self.code, self.nests = frame, code, nests

    def lower(self, eqn: Eqn) -> None:
        """Let the host launch a product where it can, else run the loops."""
        made = self._call(eqn)
        if made is not None:
            self.frame.add(made)
            return
        for statement in statements_of(eqn, self.frame.elements, self.frame.buffers,
                                       in_registers=True):
            self.nests.write_alone(statement)

    def _call(self, eqn: Eqn) -> Node | None:
        """Return the call that carries a product out; None where the host cannot launch it.

        It cannot within an iteration of `map_`, which is one thread's, and where sizes or places
        are known to the device only.
        """
        found = as_batched_product(eqn)
        assert found is not None
        a, b = (eqn.inputs[1], eqn.inputs[0]) if found.plain.swapped else eqn.inputs
        buffers = [self.frame.buffers.of[x] for x in (a, b, eqn.output)]  # type: ignore[index]
        known = set(self.frame.graph.sizes)
        if any(region_kind(e) == "map" for e in self.frame.inside) or any(
                b.kind not in ("input", "output", "arena") for b in buffers) or not all(
                v in known for d in found.sizes for v in dim_values(d)):
            return None
        flags = [Const(letter == "T", BOOL) for letter in (found.plain.left, found.plain.right)]
        arrays = [Array(b.name, b.dtype) for b in buffers]
        return Do(call(NAME, *flags, *map(self.code.dim, found.sizes), *arrays),
                  self.frame.origin(eqn))
