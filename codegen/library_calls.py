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
from tracejit.codegen.checked import MatrixPart, when_within
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
        m_, n_, k_, a_, lda_, b_, ldb_, c_ = args[2:]
        transposed = left.literal_value + right.literal_value
        parts = _parts(transposed, (a, b, c), (m_, n_, k_), (a_, lda_, b_, ldb_, c_, n_))
        with when_within(builder, parts) as (a_, b_, c_):
            _multiply(context, builder, transposed, (m_, n_, k_), a,
                      (a_, lda_, b_, ldb_, c_, n_))
        return context.get_dummy_value()

    return types.none(left, right, *(INT64,) * 3, a, INT64, b, INT64, c), generate


@intrinsic(prefer_literal=True)
def gemm_block(typingctx: TypingContext, left: types.Type, right: types.Type, m: types.Type,
               n: types.Type, k: types.Type, a: types.Type, start_a: types.Type, lda: types.Type,
               b: types.Type, start_b: types.Type, ldb: types.Type, c: types.Type,
               block: types.Type, blocks: types.Type) -> Any:
    """One of so many blocks of rows of C[m, n] = op(A)[m, k] op(B)[k, n], A and B as parts."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        sizes, (a_, begin_a, lda_, b_, begin_b, ldb_, c_) = args[2:5], args[5:12]
        transposed = left.literal_value + right.literal_value
        parts = _parts(transposed, (a, b, c), sizes,
                       (a_, lda_, b_, ldb_, c_, sizes[1]), (begin_a, begin_b, None))
        with when_within(builder, parts) as pointers:
            function = _block_of_rows(context, builder.module, transposed, a, pointers)
            builder.call(function, [*sizes, *pointers, lda_, ldb_, *args[12:]])
        return context.get_dummy_value()

    return types.none(left, right, *(INT64,) * 3, a, INT64, INT64, b, INT64, INT64, c,
                      INT64, INT64), generate


def _parts(transposed: str, kinds: Sequence[types.Type], sizes: Sequence[ir.Value],
           places: Sequence[ir.Value],
           starts: Sequence[ir.Value | None] = (None,) * 3) -> list[MatrixPart]:
    """Return the parts of arrays that a product reads and writes, which begin at 0 or elsewhere."""
    m, n, k = sizes
    a, lda, b, ldb, c, ldc = places
    shapes = ((m, k) if transposed[0] == "N" else (k, m),
              (k, n) if transposed[1] == "N" else (n, k), (m, n))
    return [MatrixPart(*part) for part in zip(
        kinds, (a, b, c), *zip(*shapes, strict=True), (lda, ldb, ldc), starts, strict=True)]


def _block_of_rows(context: TargetContext, module: ir.Module, transposed: str, kind: types.Type,
                   pointers: Sequence[ir.Value]) -> ir.Function:
    """Return the function that multiplies a block of rows: of the sizes, the pointers, how far
    apart rows are, which block, and how many there are.

    BLAS takes letters of either case; the shims keep a call with small ones to one thread.
    """
    name = f"rows_of_product_{transposed}_{_letter(kind)}"
    if name in module.globals:
        return module.get_global(name)
    signature = ir.FunctionType(
        ir.VoidType(), [WORD] * 3 + [p.type for p in pointers] + [WORD] * 4)
    function = ir.Function(module, signature, name)
    function.linkage = "internal"
    for attribute in ("nounwind", "noinline"):
        function.attributes.add(attribute)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    m, n, k, a, b, c, lda, ldb, block, blocks = function.args
    most = builder.sdiv(builder.add(m, builder.sub(blocks, WORD(1))), blocks)
    first = builder.mul(block, most)
    rest = builder.sub(m, first)
    rows = builder.select(builder.icmp_signed("<", rest, most), rest, most)
    a = builder.gep(a, [builder.mul(first, lda) if transposed[0] == "N" else first])
    c = builder.gep(c, [builder.mul(first, n)])
    _multiply(context, builder, transposed.lower(), (rows, n, k), kind, (a, lda, b, ldb, c, n))
    builder.ret_void()
    return function


@intrinsic(prefer_literal=True)
def gemm_at(typingctx: TypingContext, left: types.Type, right: types.Type, m: types.Type,
            n: types.Type, k: types.Type, a: types.Type, start_a: types.Type, lda: types.Type,
            b: types.Type, start_b: types.Type, ldb: types.Type, c: types.Type,
            start_c: types.Type, ldc: types.Type) -> Any:
    """C[m, n] = op(A)[m, k] op(B)[k, n], each a part of an array that begins at an element."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        sizes, transposed = args[2:5], left.literal_value + right.literal_value
        places = [args[j] for j in (5, 7, 8, 10, 11, 13)]
        parts = _parts(transposed, (a, b, c), sizes, places, (args[6], args[9], args[12]))
        with when_within(builder, parts) as (a_, b_, c_):
            _multiply(context, builder, transposed, sizes, a,
                      (a_, args[7], b_, args[10], c_, args[13]))
        return context.get_dummy_value()

    kinds = (INT64,) * 3, (INT64,) * 2
    return types.none(left, right, *kinds[0], a, *kinds[1], b, *kinds[1], c, *kinds[1]), generate


def _multiply(context: TargetContext, builder: ir.IRBuilder, transposed: str,
              sizes: Sequence[ir.Value], kind: types.Type, places: Sequence[ir.Value]) -> None:
    """Call BLAS, which has columns where NumPy has rows, so that it multiplies op(B).T op(A).T.

    places -- the pointers to the matrices, each with how far apart its rows are
    """
    rows, columns, inner = sizes
    a, lda, b, ldb, c, ldc = places
    left, right = transposed[0], transposed[1]
    one, zero = _number(context, kind, 1.0), _number(context, kind, 0.0)
    call_fortran(builder, _letter(kind) + "gemm", "cciiisplplspl",
                 [_char(right), _char(left), columns, rows, inner,
                  one, b, ldb, a, lda, zero, c, ldc])


@intrinsic
def potrf(typingctx: TypingContext, n: types.Type, a: types.Type) -> Any:
    """Overwrite the lower triangle of a matrix by its Cholesky factor; nonzero if there is none."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        with builder.goto_entry_block():
            info = builder.alloca(WORD)
        builder.store(WORD(0), info)
        n_, a_ = args
        with when_within(builder, [MatrixPart(a, a_, n_, n_, n_)]) as (matrix,):
            call_fortran(builder, _letter(a) + "potrf", "ciplp",
                         [_char("U"), n_, matrix, n_, info])
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
        parts = [MatrixPart(a, a_, n_, n_, n_), MatrixPart(pivots, pivots_, WORD(1), n_, n_)]
        with when_within(builder, parts) as (matrix, swaps):
            call_fortran(builder, _letter(a) + "getrf", "iiplpp",
                         [n_, n_, matrix, n_, swaps, info])
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
        parts = [MatrixPart(a, a_, rows, rows, rows), MatrixPart(b, b_, rows, columns, columns)]
        with when_within(builder, parts) as (factor, target):
            call_fortran(builder, _letter(a) + "trsm", "cccciisplpl",
                         [_char("R"), _char(stored), _char(transposed.literal_value),
                          _char(diagonal.literal_value), columns, rows,
                          _number(context, a, 1.0), factor, rows, target, columns])
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
    return {f.__name__: f for f in (gemm, gemm_at, gemm_block, potrf, getrf, trsm, lapack)}
