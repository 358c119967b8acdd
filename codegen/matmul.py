"""Matrix products in the kernel: BLAS where they are large enough, else a loop nest."""

from __future__ import annotations

from typing import Protocol

from tracejit.codegen.expression_edits import call, integer
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.loop_expressions import Bin, Expression, Word
from tracejit.codegen.loop_ir import Do, If, Node
from tracejit.codegen.nests import Nests
from tracejit.codegen.products import WORTHWHILE, as_product, product_sizes
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.codegen.statements import statements_of
from tracejit.ir.core import Eqn

__all__ = ["HostProducts", "Products"]


class Products(Protocol):
    """How a target carries out contractions that stand alone."""

    def lower(self, eqn: Eqn) -> None:
        """Write the code of a contraction."""


class HostProducts:
    """Writes products of matrices for the CPU."""

    def __init__(self, frame: KernelFrame, code: ScalarCode, nests: Nests) -> None:
        self.frame, self.code, self.nests = frame, code, nests

    def lower(self, eqn: Eqn) -> None:
        """Call BLAS where the product is large enough, else run the loops."""
        product = as_product(eqn.params["spec"])
        assert product is not None
        sizes = product_sizes(eqn.params["spec"], *(x.aval.shape for x in eqn.inputs))
        m, n, k = map(self.code.dim, sizes)
        a, b = (eqn.inputs[1], eqn.inputs[0]) if product.swapped else eqn.inputs
        (left, (_, lda)), (right, (_, ldb)), (target, _) = map(self.code.array, (a, b, eqn.output))
        gemm = call("gemm", Word(product.left), Word(product.right), m, n, k, left, lda, right,
                    ldb, target)
        done = Do(gemm, self.frame.origin(eqn))
        if all(isinstance(d, int) for d in sizes):
            self.frame.add(done)
            return
        loops: list[Node] = []
        with self.frame.scope(loops, conditional=True, eqn=eqn):
            for statement in statements_of(eqn, self.frame.elements, self.frame.buffers):
                self.nests.write_alone(statement)
        work: Expression = Bin("*", Bin("*", m, n), k)
        self.frame.add(If(Bin(">=", work, integer(WORTHWHILE)), [done], loops))
