"""Intrinsics that call library routines on whole matrices, in NumPy's row-major order.

BLAS and LAPACK are column-major: a row-major matrix is its transpose to them. So `C = A B` is asked
for as `C' = B' A'`, and a lower triangle is an upper one.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from tracejit.codegen.blas import call_fortran
from tracejit.codegen.libraries import find_blas
from tracejit.errors import Refusal

__all__ = ["names"]

i64 = types.int64
WORD = ir.IntType(64)


def _letter(pointer: Any) -> str:
    return "s" if pointer.dtype is types.float32 else "d"


def _char(c: str) -> Any:
    return WORD(ord(c))


@intrinsic(prefer_literal=True)
def gemm(typingctx: Any, left: Any, right: Any, m: Any, n: Any, k: Any, a: Any, lda: Any, b: Any,
         ldb: Any, c: Any) -> Any:
    """C[m, n] = op(A)[m, k] op(B)[k, n]; `left` and `right` are "N" or "T"."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        _, _, rows, columns, inner, a_, lda_, b_, ldb_, c_ = args
        kind = context.get_value_type(a.dtype)
        one, zero = kind(1.0), kind(0.0)
        call_fortran(builder, _letter(a) + "gemm", "cciiisplplspl",
                     [_char(right.literal_value), _char(left.literal_value), columns, rows, inner,
                      one, b_, ldb_, a_, lda_, zero, c_, columns])
        return context.get_dummy_value()

    return types.none(left, right, i64, i64, i64, a, i64, b, i64, c), generate


@intrinsic
def potrf(typingctx: Any, n: Any, a: Any) -> Any:
    """Overwrite the lower triangle of a matrix by its Cholesky factor; nonzero if there is none."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        with builder.goto_entry_block():
            info = builder.alloca(WORD)
        builder.store(WORD(0), info)
        call_fortran(builder, _letter(a) + "potrf", "ciplp",
                     [_char("U"), args[0], args[1], args[0], info])
        return builder.load(info)

    return i64(i64, a), generate


@intrinsic
def getrf(typingctx: Any, n: Any, a: Any, pivots: Any) -> Any:
    """Overwrite a matrix by the LU factors of its transpose; nonzero if it is singular."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
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
def trsm(typingctx: Any, triangle: Any, transposed: Any, diagonal: Any, n: Any, m: Any, a: Any,
         b: Any) -> Any:
    """Overwrite B[n, m] by the solution of op(A) X = B.

    triangle -- the part of A in memory: "L" or "U", as a row-major matrix
    """

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
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
