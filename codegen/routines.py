"""Library routines on whole arrays: factorisations, solves, sorting."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from tracejit.codegen.draw_calls import lower_draw
from tracejit.codegen.expression_edits import call, literal, times
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.loop_expressions import (
    ONE,
    ZERO,
    Array,
    Bin,
    Call,
    Cast,
    Expression,
    Load,
    Select,
    Unary,
    Var,
    Word,
)
from tracejit.codegen.loop_ir import NOWHERE, Assign, Do, Let, Loop, Store
from tracejit.codegen.nests import Nests
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.ir.core import Atom, Eqn, Literal, Value
from tracejit.ir.dims import product
from tracejit.ir.lapack import LAPACK
from tracejit.ir.lowering import Library

__all__ = ["Routines"]


class Routines:
    """Writes calls of library routines."""

    def __init__(self, frame: KernelFrame, code: ScalarCode, nests: Nests) -> None:
        self.frame, self.code, self.nests = frame, code, nests

    def lower(self, eqn: Eqn, how: Library) -> None:
        """Lower an equation by its routine."""
        _ROUTINES[how.routine](self, eqn)

    def _copied(self, a: Atom, v: Value) -> Array:
        """Copy an operand to a result, for a routine that overwrites; return its memory."""
        if not self.frame.buffers.shares(a, v):
            self.nests.copy(a, v, self.frame.buffers.of[v], "a library routine overwrites it")
        return self.code.array(v)[0]

    def cholesky(self, eqn: Eqn) -> None:
        """Factorise, and clear the elements above the diagonal."""
        factor = self._copied(eqn.inputs[0], eqn.output)
        n = self.code.dim(eqn.output.aval.shape[0])
        self.frame.fail(Bin("!=", call("potrf", n, factor), ZERO), "LinAlgError",
                        "Matrix is not positive definite", [], eqn)
        row, column = self.frame.variable("row"), self.frame.variable("column")
        place = Bin("+", times(row, n), column)
        zero = self._number(0, factor)
        self.frame.add(Loop(row.name, ZERO, n, [Loop(column.name, Bin("+", row, ONE), n, [
            Store(factor.name, place, zero)])]))

    def cholesky_or_not(self, eqn: Eqn) -> None:
        """Factorise, and say whether that was possible; the identity where it was not."""
        factor, (n, _) = self._copied(eqn.inputs[0], eqn.outputs[0]), self.code.array(
            eqn.outputs[0])[1]
        fine = self._outcome(eqn.outputs[1], call("potrf", n, factor), eqn)
        row, column = self.frame.variable("row"), self.frame.variable("column")
        place = Bin("+", times(row, n), column)
        found = Select(Bin("<", row, column), self._number(0, factor), _element(factor, place))
        self._fill(factor, n, row, column, Select(fine, found, self._unit(row, column, factor)))

    def lu_or_not(self, eqn: Eqn) -> None:
        """Factorise with pivots, and say whether that was possible; else as the identity."""
        factors = self._copied(eqn.inputs[0], eqn.outputs[0])
        pivots, (n,) = self.code.array(eqn.outputs[1])
        fine = self._outcome(eqn.outputs[2], call("getrf", n, factors, pivots), eqn)
        row, column = self.frame.variable("row"), self.frame.variable("column")
        found = _element(factors, Bin("+", times(row, n), column))
        self._fill(factors, n, row, column, Select(fine, found, self._unit(row, column, factors)))
        k = self.frame.variable("k")
        self.frame.add(Loop(k.name, ZERO, n, [Store(pivots.name, k, Select(
            fine, _element(pivots, k), Bin("+", k, ONE)))]))

    def _outcome(self, v: Value, routine: Expression, eqn: Eqn) -> Expression:
        """Call a routine and return whether it reports success."""
        fine = self.frame.scalar_of(v, v.aval.dtype)
        self.frame.add(Assign(fine.name, Bin("==", routine, ZERO)))
        return fine

    def _fill(self, x: Array, n: Expression, row: Var, column: Var, element: Expression) -> None:
        place = Bin("+", times(row, n), column)
        self.frame.add(Loop(row.name, ZERO, n, [Loop(column.name, ZERO, n, [
            Store(x.name, place, element)])]))

    def _number(self, x: int, like: Array) -> Expression:
        return literal(Literal(x, like.dtype))

    def _unit(self, row: Expression, column: Expression, like: Array) -> Expression:
        return Select(Bin("==", row, column), self._number(1, like), self._number(0, like))

    def triangular_solve(self, eqn: Eqn) -> None:
        """Solve with a triangle."""
        a, _ = self.code.array(eqn.inputs[0])
        x = self._copied(eqn.inputs[1], eqn.output)
        n, m = (self.code.dim(d) for d in eqn.output.aval.shape)
        triangle = "L" if eqn.params["lower"] else "U"
        solve = _trsm(triangle, eqn.params["transposed"], "N", n, m, a, x)
        self.frame.add(Do(solve, self.frame.origin(eqn)))

    def lu(self, eqn: Eqn) -> None:
        """Factorise with pivots, of which one is 0 where a matrix is singular."""
        factors = self._copied(eqn.inputs[0], eqn.outputs[0])
        pivots, (n,) = self.code.array(eqn.outputs[1])
        self.frame.fail(Bin("<", call("getrf", n, factors, pivots), ZERO), "LinAlgError",
                        "Incorrect argument found while performing LU factorization", [], eqn)

    def _swaps(self, x: Array, pivots: Array, n: Expression, m: Expression,
               reverse: bool) -> Loop:
        """Exchange rows as the pivots say."""
        k, j = self.frame.variable("k"), self.frame.variable("j")
        held = self.frame.variable("held", x.dtype)
        here = Bin("+", times(k, m), j)
        other = Bin("+", times(Bin("-", _element(pivots, k), ONE), m), j)
        return Loop(k.name, ZERO, n, [Loop(j.name, ZERO, m, [
            Let(held.name, _element(x, here)), Store(x.name, here, _element(x, other)),
            Store(x.name, other, held)])], reverse=reverse)

    def solve(self, eqn: Eqn) -> None:
        """With the factors of a' = P L U: solve with two triangles and exchange rows."""
        lu, _ = self.code.array(eqn.inputs[2])
        pivots, _ = self.code.array(eqn.inputs[3])
        x = self._copied(eqn.inputs[1], eqn.output)
        n, m = (self.code.dim(d) for d in eqn.output.aval.shape)
        is_transposed = eqn.params["transposed"]
        upper = Do(_trsm("L", is_transposed, "N", n, m, lu, x), self.frame.origin(eqn))
        lower = Do(_trsm("U", is_transposed, "U", n, m, lu, x), NOWHERE)
        if is_transposed:
            self.frame.add(self._swaps(x, pivots, n, m, False), lower, upper)
        else:
            self.frame.add(upper, lower, self._swaps(x, pivots, n, m, True))

    def slogdet(self, eqn: Eqn) -> None:
        """The product of the diagonal of U, and a change of sign for every exchange."""
        lu, _ = self.code.array(eqn.inputs[1])
        pivots, (n,) = self.code.array(eqn.inputs[2])
        sign, total = (self.frame.scalar_of(v, v.aval.dtype) for v in eqn.outputs)
        k, d = self.frame.variable("k"), self.frame.variable("d", lu.dtype)
        zero, one = (self._number(x, lu) for x in (0, 1))
        size = call("fabs", d)
        if lu.dtype.kind == "c":
            size = call("hypot", call("real", d), call("imag", d))
            nothing, unit = (literal(Literal(x, total.dtype)) for x in (0, 1))
            divisor = Select(Bin("==", size, nothing), unit, size)
            length = Cast(lu.dtype, call("complex", divisor, nothing))
            turned: Expression = Bin("*", sign, Bin("/", d, length))
        else:
            turned = Select(Bin("<", d, zero), Unary("-", sign), sign)
        self.frame.add(
            Assign(sign.name, one), Assign(total.name, literal(Literal(0, total.dtype))),
            Loop(k.name, ZERO, n, [
                Let(d.name, _element(lu, Bin("+", times(k, n), k))),
                Assign(total.name, Bin("+", total, call("log", size))),
                Assign(sign.name, turned),
                Assign(sign.name, Select(Bin("!=", _element(pivots, k), Bin("+", k, ONE)),
                                         Unary("-", sign), sign))]),
            Assign(sign.name, Select(Bin("==", total, literal(Literal(-math.inf, total.dtype))),
                                     zero, sign)))

    def argsort(self, eqn: Eqn) -> None:
        """Order each row."""
        x, sizes = self.code.array(eqn.inputs[0])
        order, work = (self.code.array(v)[0] for v in eqn.outputs)
        rows = self.code.dim(product(eqn.inputs[0].aval.shape[:-1]))
        n, row = sizes[-1], self.frame.variable("row")
        self.frame.add(Loop(row.name, ZERO, rows, [
            Do(call("argsort", x, order, work, times(row, n), n), self.frame.origin(eqn))]))

    def search(self, eqn: Eqn) -> None:
        """Find the places of numbers among sorted ones."""
        (a, (n,)), (x, _) = (self.code.array(v) for v in eqn.inputs)
        found, _ = self.code.array(eqn.output)
        count = self.code.dim(product(eqn.output.aval.shape))
        right = ONE if eqn.params["right"] else ZERO
        if self.nests.vectorises:
            self.frame.add(Do(call("search", a, x, found, n, count, right),
                              self.frame.origin(eqn)))
            return
        i = self.frame.variable("i")
        self.frame.add(Loop(i.name, ZERO, count, [Store(
            found.name, i, call("place_of", a, _element(x, i), n, right))], independent=True))

    def dft(self, eqn: Eqn) -> None:
        """Transform complex rows."""
        self._transform("dft", eqn, ONE if eqn.params["inverse"] else Unary("-", ONE))

    def real_dft(self, eqn: Eqn) -> None:
        """Transform real rows."""
        self._transform("real_dft", eqn, *self._part(eqn, eqn.outputs[0]))

    def dft_real(self, eqn: Eqn) -> None:
        """Find the real rows that rows are transforms of."""
        self._transform("dft_real", eqn, *self._part(eqn, eqn.inputs[0]))

    def _part(self, eqn: Eqn, part: Atom) -> tuple[Expression, Expression]:
        """Return how many numbers of a row there are, and the factor of those between."""
        scale = 2.0 if eqn.params["part"] == "twice" else 1.0
        return (self.code.dim(part.aval.shape[-1]),
                literal(Literal(scale, np.dtype(np.float64))))

    def _transform(self, routine: str, eqn: Eqn, *how: Expression) -> None:
        x, _ = self.code.array(eqn.inputs[0])
        (out, sizes), (work, _) = (self.code.array(v) for v in eqn.outputs)
        rows = self.code.dim(product(eqn.inputs[0].aval.shape[:-1]))
        n = sizes[-1] if routine != "real_dft" else self.code.dim(eqn.inputs[0].aval.shape[-1])
        self.frame.add(Do(call(routine, x, out, work, rows, n, *how), self.frame.origin(eqn)))

    def eigh(self, eqn: Eqn) -> None:
        """Find eigenvalues and eigenvectors."""
        a, _ = self.code.array(eqn.inputs[0])
        values, vectors, work = (self.code.array(v)[0] for v in eqn.outputs)
        n = self.code.dim(eqn.inputs[0].aval.shape[0])
        found = call("eigh", a, values, vectors, work, n)
        self.frame.fail(Bin("!=", found, ZERO), "LinAlgError", "Eigenvalues did not converge", [],
                        eqn)

    def positions(self, eqn: Eqn) -> None:
        """Find where a mask is true."""
        mask, (n,) = self.code.array(eqn.inputs[0])
        found, (count,) = self.code.array(eqn.output)
        self.frame.add(Do(call("positions", mask, found, n, count), self.frame.origin(eqn)))

    def lapack(self, eqn: Eqn) -> None:
        """Call a routine of LAPACK."""
        routine, options = LAPACK[eqn.params["routine"]], eqn.params["options"]
        for k, place in enumerate(routine.overwrites):
            self._copied(eqn.inputs[place], eqn.outputs[k])
        dtype = eqn.inputs[0].aval.dtype
        shapes, made = ([a.aval.shape for a in atoms] for atoms in (eqn.inputs, eqn.outputs))
        kinds, words = "", list[Expression]()
        for x in routine.arguments(shapes, made, options, dtype.kind == "c"):
            if isinstance(x, str):
                kinds += x
            elif isinstance(x, int):
                kinds += "p"
                words.append(self.code.array(eqn.outputs[x] if x >= 0 else eqn.inputs[~x])[0])
            else:
                kinds += x[0]
                words.append(self.code.dim(x[1]))
        name = _PRECISIONS[dtype.char] + routine.names[dtype.kind == "c"]
        info = call("lapack", Word(name), Word(kinds), *words)
        failed = Bin("<" if routine.goes_on else "!=", info, ZERO)
        self.frame.fail(failed, "LinAlgError", routine.error, [], eqn)

    def assured(self, eqn: Eqn) -> None:
        """Leave the kernel where a condition does not hold."""
        holds = self.code.atom(eqn.inputs[0])
        self.frame.fail(Unary("not", holds), eqn.params["error"], eqn.params["message"], [], eqn)
        self.frame.set_scalar(eqn.output, holds)

    def draw(self, eqn: Eqn) -> None:
        """Draw random numbers."""
        lower_draw(self.frame, self.code, eqn)


def _element(array: Array, place: Expression) -> Load:
    return Load(array.name, place, array.dtype)


def _trsm(triangle: str, is_transposed: bool, diagonal: str, *operands: Expression) -> Call:
    """Return a call that solves with the triangle "L" or "U"; "U" is a diagonal of ones."""
    words = map(Word, (triangle, "T" if is_transposed else "N", diagonal))
    return call("trsm", *words, *operands)


_ROUTINES: Mapping[str, Callable[[Routines, Eqn], None]] = {
    "cholesky": Routines.cholesky, "triangular_solve": Routines.triangular_solve,
    "lu": Routines.lu, "lu_or_not": Routines.lu_or_not,
    "cholesky_or_not": Routines.cholesky_or_not, "solve": Routines.solve,
    "slogdet": Routines.slogdet, "argsort": Routines.argsort, "positions": Routines.positions,
    "search": Routines.search, "dft": Routines.dft, "real_dft": Routines.real_dft,
    "dft_real": Routines.dft_real, "eigh": Routines.eigh, "draw": Routines.draw,
    "lapack": Routines.lapack, "assured": Routines.assured}

_PRECISIONS = {"f": "s", "d": "d", "F": "c", "D": "z"}
"""The letters with which names of LAPACK begin, by NumPy's for dtypes."""
