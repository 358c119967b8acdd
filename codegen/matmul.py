"""Matrix products in the kernel: BLAS where they are large enough, else a loop nest."""

from __future__ import annotations

from tracejit.codegen.frame import KernelEmitter
from tracejit.codegen.loop_expressions import Array, Bin, Expression, Word, call, integer
from tracejit.codegen.loop_ir import Do, If, Node
from tracejit.codegen.products import WORTHWHILE, as_product, product_sizes
from tracejit.codegen.statements import statements_of
from tracejit.ir.core import Eqn

__all__ = ["lower_product"]


def lower_product(self: KernelEmitter, eqn: Eqn) -> None:
    """Call BLAS where the product is large enough, else run the loops."""
    product = as_product(eqn.params["spec"])
    assert product is not None
    sizes = product_sizes(eqn.params["spec"], *(x.aval.shape for x in eqn.inputs))
    m, n, k = map(self.dim, sizes)
    a, b = (eqn.inputs[1], eqn.inputs[0]) if product.swapped else eqn.inputs
    left, right, target = (Array(buffer.name, buffer.dtype) for buffer in (
        self.buffers.of[x] for x in (a, b, eqn.output)))  # type: ignore[index]
    strides = [self.dim(x.aval.shape[1]) for x in (a, b)]
    gemm = call("gemm", Word(product.left), Word(product.right), m, n, k, left, strides[0], right,
                strides[1], target)
    done = Do(gemm, self.origin(eqn))
    if all(isinstance(d, int) for d in sizes):
        self.nodes.append(done)
        return
    loops: list[Node] = []
    with self.scope(loops, conditional=True, eqn=eqn):
        for statement in statements_of(eqn, self.elements, self.buffers):
            self.loops_of(statement)
    work: Expression = Bin("*", Bin("*", m, n), k)
    self.nodes.append(If(Bin(">=", work, integer(WORTHWHILE)), [done], loops))
