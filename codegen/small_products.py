"""Products of small matrices: loops in a function of LLVM of their own, one for each kind.

A call of BLAS costs as much as a few thousand multiplications, so that each product in a kernel has
loops, too. Written where the product stands, they were most of what LLVM had to do for programs
made of products; as functions they are there once, however many products there are.

    NN: C[i, :] += A[i, p] B[p, :]
    TN: C[i, :] += A[p, i] B[p, :]
    NT: C[i, j] = A[i, :] B[j, :]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from tracejit.codegen.checked import MatrixPart, when_within
from tracejit.codegen.loop_hints import mark_vectors

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext
    from numba.core.typing.context import BaseContext as TypingContext
    from numba.core.typing.templates import Signature

__all__ = ["small_gemm_at_with", "small_gemm_with"]

WORD = ir.IntType(64)
MatrixPlace = Callable[[ir.Value, ir.Value], ir.Value]
"""The pointer to an element of a matrix by its row and column."""


def small_gemm_with(flags: tuple[str, ...]) -> Any:
    """Return the intrinsic for products of small matrices, whose sums may be reordered by flags."""

    @intrinsic(prefer_literal=True)
    def small_gemm(typingctx: TypingContext, left: types.Type, right: types.Type, m: types.Type,
                   n: types.Type, k: types.Type, a: types.Type, b: types.Type,
                   c: types.Type) -> Any:
        """C[m, n] = op(A)[m, k] op(B)[k, n]; `left` and `right` are "N" or "T"."""

        def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                     args: Sequence[ir.Value]) -> Any:
            letters = left.literal_value + right.literal_value
            m, n, k, *matrices = args[2:]
            apart = (k if letters[0] == "N" else m), (n if letters[1] == "N" else k), n
            _call_small(builder, letters, (m, n, k), [
                (kind, matrix, None, rows) for kind, matrix, rows in zip(
                    (a, b, c), matrices, apart, strict=True)], flags)
            return context.get_dummy_value()

        return types.none(left, right, *(types.int64,) * 3, a, b, c), generate

    return small_gemm


def small_gemm_at_with(flags: tuple[str, ...]) -> Any:
    """Return the intrinsic for products of parts of arrays, each with its start and distances."""

    @intrinsic(prefer_literal=True)
    def small_gemm_at(typingctx: TypingContext, left: types.Type, right: types.Type,
                      m: types.Type, n: types.Type, k: types.Type, a: types.Type,
                      start_a: types.Type, lda: types.Type, b: types.Type, start_b: types.Type,
                      ldb: types.Type, c: types.Type, start_c: types.Type,
                      ldc: types.Type) -> Any:
        """C[m, n] = op(A)[m, k] op(B)[k, n], each a part of an array, begun at an element."""

        def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                     args: Sequence[ir.Value]) -> Any:
            letters = left.literal_value + right.literal_value
            _call_small(builder, letters, args[2:5], [
                (kind, *args[j:j + 3]) for kind, j in zip((a, b, c), (5, 8, 11), strict=True)],
                flags)
            return context.get_dummy_value()

        word = types.int64
        return types.none(left, right, *(word,) * 3, a, word, word, b, word, word, c, word,
                          word), generate

    return small_gemm_at


def _call_small(builder: ir.IRBuilder, letters: str, sizes: Sequence[ir.Value],
                matrices: Sequence[tuple[types.Type, ir.Value, ir.Value | None, ir.Value]],
                flags: tuple[str, ...]) -> None:
    """Call the function for products of a kind.

    matrices -- of the factors and the result: the type and pointer of the array, its first element,
                how far apart rows are
    """
    m, n, k = sizes
    shapes = ((m, k) if letters[0] == "N" else (k, m),
              (k, n) if letters[1] == "N" else (n, k), (m, n))
    parts = [MatrixPart(kind, pointer, *shape, apart, start)
             for (kind, pointer, start, apart), shape in zip(matrices, shapes, strict=True)]
    with when_within(builder, parts) as pointers:
        made = _small_product(builder.module, letters, pointers[0].type, flags)
        builder.call(made, [*sizes, *pointers, *(apart for *_, apart in matrices)])


def _small_product(module: ir.Module, kind: str, pointer: ir.Type, flags: tuple[str, ...]) -> Any:
    """Return the function of a module for products of a kind, "NN" and so on."""
    name = f"small_product_{kind}_{pointer.pointee}"
    if name in module.globals:
        return module.get_global(name)
    made = ir.Function(module, ir.FunctionType(
        ir.VoidType(), [WORD] * 3 + [pointer] * 3 + [WORD] * 3), name)
    made.linkage = "internal"
    for attribute in ("nounwind", "noinline"):
        made.attributes.add(attribute)
    for argument in made.args[3:6]:
        argument.add_attribute("noalias")
    builder = ir.IRBuilder(made.append_basic_block("entry"))
    m, n, k, a, b, c, *apart = made.args
    at_a, at_b, at_c = (_matrix_place(builder, *of) for of in zip(
        (a, b, c), apart, kind + "N", strict=True))
    if kind[1] == "T":
        _by_elements(builder, (m, n, k), at_a, at_b, at_c, flags)
    else:
        _by_rows(builder, (m, n, k), at_a, at_b, at_c, is_left_t=kind[0] == "T")
    builder.ret_void()
    return made


def _matrix_place(builder: ir.IRBuilder, matrix: ir.Value, apart: ir.Value,
                  kind: str) -> MatrixPlace:
    def at(i: ir.Value, j: ir.Value) -> ir.Value:
        row, column = (i, j) if kind == "N" else (j, i)
        return builder.gep(matrix, [builder.add(builder.mul(row, apart), column)])

    return at


@contextmanager
def _loop_below(builder: ir.IRBuilder, end: ir.Value, vectors: int = 0) -> Iterator[ir.Value]:
    """Write the body of a loop over whole numbers below an end.

    vectors -- how many it takes at a time; 0 where LLVM decides
    """
    before = builder.block
    body, behind = (builder.append_basic_block(name) for name in ("loop", "behind"))
    builder.cbranch(builder.icmp_signed("<", WORD(0), end), body, behind)
    builder.position_at_end(body)
    i = builder.phi(WORD)
    i.add_incoming(WORD(0), before)
    yield i
    following = builder.add(i, WORD(1), flags=("nsw",))
    i.add_incoming(following, builder.block)
    jump = builder.cbranch(builder.icmp_signed("<", following, end), body, behind)
    if vectors:
        mark_vectors(builder.module, jump, vectors)
    builder.position_at_end(behind)


def _by_elements(builder: ir.IRBuilder, sizes: Sequence[ir.Value], at_a: MatrixPlace,
                 at_b: MatrixPlace, at_c: MatrixPlace, flags: tuple[str, ...]) -> None:
    """Each element is a sum in a register, of float64 for float32 too."""
    m, n, k = sizes
    wide = ir.DoubleType()
    with _loop_below(builder, m) as i, _loop_below(builder, n) as j:
        place = at_c(i, j)
        is_wide = place.type.pointee == wide
        total = cgutils.alloca_once(builder, wide)
        builder.store(wide(0.0), total)
        with _loop_below(builder, k) as p:
            term = builder.fmul(builder.load(at_a(i, p)), builder.load(at_b(p, j)))
            term = term if is_wide else builder.fpext(term, wide)
            builder.store(builder.fadd(builder.load(total), term, flags=flags), total)
        found = builder.load(total)
        builder.store(found if is_wide else builder.fptrunc(found, place.type.pointee), place)


def _by_rows(builder: ir.IRBuilder, sizes: Sequence[ir.Value], at_a: MatrixPlace,
             at_b: MatrixPlace, at_c: MatrixPlace, *, is_left_t: bool) -> None:
    """Each row is a sum of rows; the rows of A go first where they lie next to one another."""
    m, n, k = sizes
    with _loop_below(builder, m) as i, _loop_below(builder, n, 1) as j:
        place = at_c(i, j)
        builder.store(place.type.pointee(0.0), place)
    with _loop_below(builder, k if is_left_t else m) as outer, _loop_below(
            builder, m if is_left_t else k) as middle:
        i, p = (middle, outer) if is_left_t else (outer, middle)
        factor = builder.load(at_a(i, p))
        with _loop_below(builder, n, 1) as j:
            place = at_c(i, j)
            term = builder.fmul(factor, builder.load(at_b(p, j)))
            builder.store(builder.fadd(builder.load(place), term), place)
