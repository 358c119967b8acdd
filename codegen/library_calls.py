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
from tracejit.codegen.checked import when_within
from tracejit.codegen.libraries import find_blas
from tracejit.codegen.native import pointer_or_word
from tracejit.errors import Refusal

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext
    from numba.core.typing.context import BaseContext as TypingContext
    from numba.core.typing.templates import Signature

__all__ = ["names"]

INT64 = types.int64
WORD = ir.IntType(64)


_LETTERS = {types.float32: "s", types.float64: "d", types.complex64: "c", types.complex128: "z"}


def _letter(pointer: types.Type) -> str:
    return _LETTERS[pointer.dtype]


def _number(context: TargetContext, pointer: types.Type, value: float) -> ir.Constant:
    """Return a constant of the type of an array's elements."""
    kind = context.get_value_type(pointer.dtype)
    return ir.Constant(kind, [value, 0.0] if isinstance(pointer.dtype, types.Complex) else value)


def _char(c: str) -> Any:
    return WORD(ord(c))


@intrinsic(prefer_literal=True)
def gemm(typingctx: TypingContext, left: types.Type, right: types.Type, m: types.Type,
         n: types.Type, k: types.Type, a: types.Type, lda: types.Type, b: types.Type,
         ldb: types.Type, c: types.Type) -> Any:
    """C[m, n] = op(A)[m, k] op(B)[k, n]; `left` and `right` are "N" or "T"."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        _, _, m_, n_, k_, a_, lda_, b_, ldb_, c_ = args
        counts = [builder.mul(x, y) for x, y in ((m_, k_), (k_, n_), (m_, n_))]
        with when_within(builder, [*zip((a, b, c), (a_, b_, c_), counts, strict=True)]) as (
                left_, right_, out):
            return _multiply(context, builder, (a, left, right), (m_, n_, k_),
                             (left_, lda_, right_, ldb_, out, n_))

    return types.none(left, right, INT64, INT64, INT64, a, INT64, b, INT64, c), generate


@intrinsic(prefer_literal=True)
def gemm_at(typingctx: TypingContext, left: types.Type, right: types.Type, m: types.Type,
            n: types.Type, k: types.Type, a: types.Type, start_a: types.Type, lda: types.Type,
            b: types.Type, start_b: types.Type, ldb: types.Type, c: types.Type,
            start_c: types.Type, ldc: types.Type) -> Any:
    """C[m, n] = op(A)[m, k] op(B)[k, n], each a part of an array that begins at an element."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        parts = args[5:]
        operands = [word for j in range(0, 9, 3)
                    for word in (_moved(builder, *parts[j:j + 2]), parts[j + 2])]
        return _multiply(context, builder, (a, left, right), args[2:5], operands)

    kinds = (INT64,) * 3, (INT64,) * 2
    return types.none(left, right, *kinds[0], a, *kinds[1], b, *kinds[1], c, *kinds[1]), generate


def _multiply(context: TargetContext, builder: ir.IRBuilder, kinds: tuple[Any, Any, Any],
              sizes: Sequence[ir.Value], operands: Sequence[ir.Value]) -> ir.Value:
    """Call BLAS, which has columns where NumPy has rows, so that it multiplies op(B).T op(A).T."""
    pointer, left, right = kinds
    rows, columns, inner = sizes
    a, lda, b, ldb, c, ldc = operands
    one, zero = _number(context, pointer, 1.0), _number(context, pointer, 0.0)
    call_fortran(builder, _letter(pointer) + "gemm", "cciiisplplspl",
                 [_char(right.literal_value), _char(left.literal_value), columns, rows, inner,
                  one, b, ldb, a, lda, zero, c, ldc])
    return context.get_dummy_value()


def _moved(builder: ir.IRBuilder, pointer: ir.Value, start: ir.Value) -> ir.Value:
    """Return the pointer to an element of an array."""
    if isinstance(pointer.type, ir.LiteralStructType):  # a pointer of verify mode
        pointer = builder.extract_value(pointer, 0)
    return builder.gep(pointer, [start])


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

    return INT64(INT64, a), generate


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
                          "bits. Install NumPy from PyPI", "TJ606")
        call_fortran(builder, _letter(a) + "getrf", "iiplpp", [n_, n_, a_, n_, pivots_, info])
        return builder.load(info)

    return INT64(INT64, a, pivots), generate


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
        call_fortran(builder, _letter(a) + "trsm", "cccciisplpl",
                     [_char("R"), _char(stored), _char(transposed.literal_value),
                      _char(diagonal.literal_value), columns, rows,
                      _number(context, a, 1.0), a_, rows, b_, columns])
        return context.get_dummy_value()

    return types.none(triangle, transposed, diagonal, INT64, INT64, a, b), generate


@intrinsic(prefer_literal=True)
def lapack(typingctx: TypingContext, routine: types.Type, kinds: types.Type,
           *words: types.Type) -> Any:
    """Call a routine of LAPACK and return its `info`.

    kinds -- of each argument but the last, which is `info`: as `call_fortran` has them, "0" a null
             pointer, and a capital letter a character
    words -- the arguments that are neither characters nor null
    """
    given = words[0].types if len(words) == 1 and isinstance(words[0], types.BaseTuple) else words
    own = types.StarArgTuple.from_types(tuple(map(pointer_or_word, given)))

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        if find_blas()[1] != 64:
            raise Refusal("factors of matrices need NumPy's own OpenBLAS, whose integers have 64 "
                          "bits. Install NumPy from PyPI", "TJ606")
        rest = iter([builder.extract_value(args[2], k) for k in range(len(own))])
        with builder.goto_entry_block():
            info = builder.alloca(WORD)
        builder.store(WORD(0), info)
        values = [_char(c) if c.isupper() else ir.Constant(ir.IntType(8).as_pointer(), None)
                  if c == "0" else next(rest) for c in kinds.literal_value]
        plain = "".join("c" if c.isupper() else "p" if c == "0" else c
                        for c in kinds.literal_value)
        call_fortran(builder, routine.literal_value, plain + "p", [*values, info])
        return builder.load(info)

    return types.int64(routine, kinds, own), generate


def names() -> dict[str, Any]:
    """Return the intrinsics by name."""
    return {f.__name__: f for f in (gemm, gemm_at, potrf, getrf, trsm, lapack)}
