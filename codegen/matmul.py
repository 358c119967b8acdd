"""Matrix products in the kernel: BLAS where they are large enough, else a loop nest."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tracejit.codegen.expression_edits import call, integer, plus, times
from tracejit.codegen.factors import Factor, factors_of
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
            eqn, sizes)
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
            o = self._operands(eqn, sizes)
            call_ = call("small_gemm", *o.kinds, *o.dims, *o.arrays) if o.are_whole else call(
                "small_gemm_at", *o.kinds, *o.dims, *o.parts)
            return [Do(call_, self.frame.origin(eqn))]
        loops: list[Node] = []
        with self.frame.scope(loops, conditional=True, eqn=eqn):
            for statement in statements_of(eqn, self.frame.elements, self.frame.buffers):
                self.nests.write_alone(statement)
        return loops

    def _factors(self, eqn: Eqn) -> tuple[Factor, Factor]:
        """Return the factor with the rows of the result, and the other."""
        found, (a, b) = as_product(eqn.params["spec"]), factors_of(eqn, self.frame.elements)
        assert found is not None and a is not None and b is not None
        return (b, a) if found.swapped else (a, b)

    def _operands(self, eqn: Eqn, sizes: tuple[Dim, ...]) -> _Operands:
        """Return the operands of a product of two matrices and its result, as calls have them."""
        factors = self._factors(eqn)
        m, n, k = map(self.code.dim, sizes)
        arrays = [self.code.array(x)[0] for x in (*(f.array for f in factors), eqn.output)]
        parts: list[Expression] = []
        for f, array in zip(factors, arrays, strict=False):
            parts += [array, self.code.dim(f.start), self.code.dim(f.apart)]
        return _Operands([Word(f.kind) for f in factors], [m, n, k], arrays,
                         [*parts, arrays[-1], ZERO, n], all(f.whole for f in factors))

    def _one(self, eqn: Eqn, sizes: tuple[Dim, ...]) -> Node:
        """Return the call for one product, or for blocks of its rows that threads may share."""
        o = self._operands(eqn, sizes)
        (m, n, k), (left, right, target) = o.dims, o.arrays
        number = blocks_of_rows(sizes) if self.nests.parallel else 1
        if number != 1:
            b, blocks = self.frame.variable("b"), self.code.dim(number)
            part = Do(call("gemm_block", *o.kinds, *o.dims, *o.parts[:7], b, blocks),
                      self.frame.origin(eqn))
            return Loop(b.name, ZERO, blocks, [part], independent=True, role=ROWS)
        if not o.are_whole:
            return Do(call("gemm_at", *o.kinds, *o.dims, *o.parts), self.frame.origin(eqn))
        of_left, of_right = (word.text for word in o.kinds)
        return Do(call("gemm", *o.kinds, *o.dims, left, k if of_left == "N" else m,
                       right, n if of_right == "N" else k, target), self.frame.origin(eqn))

    def _batch(self, eqn: Eqn, found: Product, labelled: dict[str, Dim],
               sizes: tuple[Expression, ...]) -> Node:
        """Return loops over the batch, in them the call for a product of parts of arrays."""
        places = {c: self.frame.variable(c) for c in found.batch}
        factors = self._factors(eqn)
        output = axis_labels(eqn.params["spec"])[2]
        steps = {c: product(tuple(labelled[d] for d in output[k + 1:]))
                 for k, c in enumerate(output)}
        words: list[Expression] = []
        for array, start, of, apart in (
                *((f.array, f.start, f.steps, f.apart) for f in factors),
                (eqn.output, 0, steps, steps[found.rows[-1]])):
            words += [self.code.array(array)[0], self._start(places, start, of),
                      self.code.dim(apart)]
        node: Node = Do(call("gemm_at", *(Word(f.kind) for f in factors), *sizes, *words),
                        self.frame.origin(eqn))
        for c in reversed(found.batch):
            node = Loop(places[c].name, ZERO, self.code.dim(labelled[c]), [node],
                        independent=self.nests.parallel)
        return node

    def _start(self, places: dict[str, Var], first: Dim, steps: Mapping[str, Dim]) -> Expression:
        """Return where the part of an array begins that belongs to some places along its axes."""
        terms = [times(place, self.code.dim(steps[c])) for c, place in places.items()
                 if c in steps and steps[c] != 0]
        if first != 0 or not terms:
            terms.append(self.code.dim(first))
        return functools.reduce(plus, terms)


@dataclass(frozen=True, slots=True)
class _Operands:
    """What a call of one product is given.

    kinds     -- how the two factors lie
    dims      -- rows, columns and summed size
    arrays    -- the factors' arrays, and the result's
    parts     -- each of the three with its first element, and how far apart its rows are
    are_whole -- whether both factors are whole arrays
    """

    kinds: Sequence[Word]
    dims: Sequence[Expression]
    arrays: Sequence[Array]
    parts: Sequence[Expression]
    are_whole: bool
