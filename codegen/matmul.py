"""Matrix products in the kernel: BLAS where they are large enough, else a loop nest."""

from __future__ import annotations

from typing import Protocol

from tracejit.codegen.expression_edits import call, integer, plus, times
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.loop_costs import ROWS
from tracejit.codegen.loop_expressions import ZERO, Array, Bin, Expression, Var, Word
from tracejit.codegen.loop_ir import Do, If, Loop, Node
from tracejit.codegen.nests import Nests
from tracejit.codegen.products import (
    WORTHWHILE,
    Product,
    as_product,
    blocks_of_rows,
    product_sizes,
    sizes_of,
)
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.codegen.statements import statements_of
from tracejit.ir.core import Eqn
from tracejit.ir.dims import Dim, product
from tracejit.ir.lowering import axis_labels

__all__ = ["HostProducts", "Products"]

SHORT = 16
"""Up to how many iterations a loop's length in the program is worth code of its own."""


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
        spec = eqn.params["spec"]
        found = as_product(spec)
        assert found is not None
        labelled = sizes_of(spec, *(x.aval.shape for x in eqn.inputs))
        sizes = product_sizes(found, labelled)
        m, n, k = map(self.code.dim, sizes)
        done = self._batch(eqn, found, labelled, (m, n, k)) if found.batch else self._one(
            eqn, found, sizes)
        if all(isinstance(d, int) for d in sizes):
            self.frame.add(done)
            return
        work: Expression = Bin("*", Bin("*", m, n), k)
        self.frame.add(If(Bin(">=", work, integer(WORTHWHILE)), [done],
                          self._loops(eqn, found, sizes)))

    def _loops(self, eqn: Eqn, found: Product, sizes: tuple[Dim, ...]) -> list[Node]:
        """Return the code of small products: loops, or the call of the function that has them.

        Loops of few iterations, as many for all sizes, are unrolled where they stand.
        """
        is_short = any(isinstance(d, int) and d <= SHORT for d in sizes)
        if not (found.batch or is_short or eqn.output.aval.dtype.kind != "f"):
            kinds, dims, arrays = self._operands(eqn, found, sizes)
            return [Do(call("small_gemm", *kinds, *dims, *arrays), self.frame.origin(eqn))]
        loops: list[Node] = []
        with self.frame.scope(loops, conditional=True, eqn=eqn):
            for statement in statements_of(eqn, self.frame.elements, self.frame.buffers):
                self.nests.write_alone(statement)
        return loops

    def _operands(self, eqn: Eqn, found: Product, sizes: tuple[Dim, ...],
                  ) -> tuple[list[Expression], list[Expression], list[Array]]:
        """Return how the operands of a product of whole arrays lie, its sizes, and the arrays."""
        a, b = reversed(eqn.inputs) if found.swapped else eqn.inputs
        arrays = [self.code.array(x)[0] for x in (a, b, eqn.output)]
        return [Word(found.left), Word(found.right)], [*map(self.code.dim, sizes)], arrays

    def _one(self, eqn: Eqn, found: Product, sizes: tuple[Dim, ...]) -> Node:
        """Return the call for a product of whole arrays, or for blocks that threads may share."""
        kinds, (m, n, k), (left, right, target) = self._operands(eqn, found, sizes)
        words = [*kinds, m, n, k, left, k if found.left == "N" else m,
                 right, n if found.right == "N" else k, target]
        number = blocks_of_rows(sizes) if self.nests.parallel else 1
        if number == 1:
            return Do(call("gemm", *words), self.frame.origin(eqn))
        b, blocks = self.frame.variable("b"), self.code.dim(number)
        part = Do(call("gemm_block", *words, b, blocks), self.frame.origin(eqn))
        return Loop(b.name, ZERO, blocks, [part], independent=True, role=ROWS)

    def _batch(self, eqn: Eqn, found: Product, labelled: dict[str, Dim],
               sizes: tuple[Expression, ...]) -> Node:
        """Return loops over the batch, in them the call for a product of parts of arrays."""
        places = {c: self.frame.variable(c) for c in found.batch}
        left, right, output = axis_labels(eqn.params["spec"])
        a, b = zip(eqn.inputs, (left, right), strict=True)
        if found.swapped:
            a, b = b, a
        words: list[Expression] = []
        for (x, labels), apart in ((a, found.rows if found.left == "N" else found.summed),
                                   (b, found.summed if found.right == "N" else found.columns),
                                   ((eqn.output, output), found.rows)):
            step = {c: self.code.dim(product(tuple(labelled[d] for d in labels[k + 1:])))
                    for k, c in enumerate(labels)}
            words += [self.code.array(x)[0], _start(places, step), step[apart[-1]]]
        node: Node = Do(call("gemm_at", Word(found.left), Word(found.right), *sizes, *words),
                        self.frame.origin(eqn))
        for c in reversed(found.batch):
            node = Loop(places[c].name, ZERO, self.code.dim(labelled[c]), [node],
                        independent=self.nests.parallel)
        return node


def _start(places: dict[str, Var], step: dict[str, Expression]) -> Expression:
    """Return where the part of an array begins that belongs to some places along its axes."""
    terms = [times(place, step[c]) for c, place in places.items() if c in step]
    found: Expression = terms[0] if terms else ZERO
    for term in terms[1:]:
        found = plus(found, term)
    return found
