"""Matrix products in the kernel: BLAS where they are large enough, else a loop nest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracejit.codegen.loop_ir import Do, If, Node
from tracejit.codegen.products import WORTHWHILE, as_product, product_sizes
from tracejit.codegen.statements import statements_of
from tracejit.ir.core import Eqn

if TYPE_CHECKING:
    from tracejit.codegen.lower import _Lowerer

__all__ = ["lower_product"]


def lower_product(self: _Lowerer, eqn: Eqn) -> None:
    """Call BLAS where the product is large enough, else run the loops."""
    product = as_product(eqn.params["spec"])
    assert product is not None
    sizes = product_sizes(eqn.params["spec"], *(x.aval.shape for x in eqn.inputs))
    m, n, k = map(self.dim, sizes)
    a, b = (eqn.inputs[1], eqn.inputs[0]) if product.swapped else eqn.inputs
    names = [self.buffers.of[x].name for x in (a, b)]  # type: ignore[index]
    target = self.buffers.of[eqn.output].name
    strides = [self.dim(x.aval.shape[1]) for x in (a, b)]
    call = Do(f'gemm("{product.left}", "{product.right}", {m}, {n}, {k}, {names[0]}, {strides[0]}, '
              f"{names[1]}, {strides[1]}, {target})", self.comment(eqn))
    if all(isinstance(d, int) for d in sizes):
        self.nodes.append(call)
        return
    loops: list[Node] = []
    with self.scope(loops, conditional=True, eqn=eqn):
        for statement in statements_of(eqn, self.elements, self.buffers):
            self.loops_of(statement)
    factors = " * ".join(f"({x})" if " " in x else x for x in (m, n, k))
    self.nodes.append(If(f"{factors} >= {WORTHWHILE}", [call], loops))
