"""Intrinsics that call library routines on whole matrices, in NumPy's row-major order.

BLAS and LAPACK are column-major: a row-major matrix is its transpose to them. So `C = A B` is asked
for as `C' = B' A'`, and a lower triangle is an upper one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from tracejit.codegen.blas import call_fortran
from tracejit.codegen.libraries import find_blas
from tracejit.errors import Refusal

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext
    from numba.core.typing.context import BaseContext as TypingContext
    from numba.core.typing.templates import Signature

__all__ = ["names"]

i64 = types.int64
WORD = ir.IntType(64)


def _letter(pointer: types.Type) -> str:
    return "s" if pointer.dtype is types.float32 else "d"


def _char(c: str) -> Any:
    return WORD(ord(c))


@intrinsic(prefer_literal=True)
def gemm(typingctx: TypingContext, left: types.Type, right: types.Type, m: types.Type,
         n: types.Type, k: types.Type, a: types.Type, lda: types.Type, b: types.Type,
         ldb: types.Type, c: types.Type) -> Any:
    """C[m, n] = op(A)[m, k] op(B)[k, n]; `left` and `right` are "N" or "T"."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        _, _, rows, columns, inner, a_, lda_, b_, ldb_, c_ = args
        kind = context.get_value_type(a.dtype)
        one, zero = kind(1.0), kind(0.0)
        call_fortran(builder, _letter(a) + "gemm", "cciiisplplspl",
                     [_char(right.literal_value), _char(left.literal_value), columns, rows, inner,
                      one, b_, ldb_, a_, lda_, zero, c_, columns])
        return context.get_dummy_value()

    return types.none(left, right, i64, i64, i64, a, i64, b, i64, c), generate


@intrinsic
def potrf(typingctx: TypingContext, n: types.Type, a: types.Type) -> Any:
    """Overwrite the lower triangle of a matrix by its Cholesky factor; nonzero if there is none."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        with builder.goto_entry_block():
            info = builder.alloca(WORD)
        builder.store(WORD(0), info)
        call_fortran(builder, _letter(a) + "potrf", "ciplp",
                     [_char("U"), args[0], args[1], args[0], info])
        return builder.load(info)

    return i64(i64, a), generate


@intrinsic
def getrf(typingctx: TypingContext, n: types.Type, a: types.Type, pivots: types.Type) -> Any:
    """Overwrite a matrix by the LU factors of its transpose; nonzero if it is singular."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        with builder.goto_entry_block():
            info = builder.alloca(WORD)
        builder.store(WORD(0), info)
        n_, a_, pivots_ = args
        if find_blas()[1] != 64:
            raise Refusal("LU factorizations need NumPy's own OpenBLAS, whose integers have 64 "
                          "bits. Install NumPy from PyPI")
        call_fortran(builder, _letter(a) + "getrf", "iiplpp", [n_, n_, a_, n_, pivots_, info])
        return builder.load(info)

    return i64(i64, a, pivots), generate


@intrinsic(prefer_literal=True)
def trsm(typingctx: TypingContext, triangle: types.Type, transposed: types.Type,
         diagonal: types.Type, n: types.Type, m: types.Type, a: types.Type, b: types.Type) -> Any:
    """Overwrite B[n, m] by the solution of op(A) X = B.

    triangle -- the part of A in memory: "L" or "U", as a row-major matrix
    """

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        _, _, _, rows, columns, a_, b_ = args
        stored = "U" if triangle.literal_value == "L" else "L"
        kind = context.get_value_type(a.dtype)
        call_fortran(builder, _letter(a) + "trsm", "cccciisplpl",
                     [_char("R"), _char(stored), _char(transposed.literal_value),
                      _char(diagonal.literal_value), columns, rows, kind(1.0), a_, rows, b_,
                      columns])
        return context.get_dummy_value()

    return types.none(triangle, transposed, diagonal, i64, i64, a, b), generate


def names() -> dict[str, Any]:
    """Return the intrinsics by name."""
    return {"gemm": gemm, "potrf": potrf, "getrf": getrf, "trsm": trsm}
