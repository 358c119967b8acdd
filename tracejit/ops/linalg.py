"""Contractions (dot, matmul, einsum of two operands), Cholesky and triangular solves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.errors import IRError
from tracejit.ir.core import Block, Eqn, Params
from tracejit.ir.dims import Dim
from tracejit.ir.lapack import real_of
from tracejit.ir.lowering import Contract, Library, axis_labels
from tracejit.ir.types import Aval
from tracejit.ops.cotangents import Cotangent, Tangent, dense
from tracejit.ops.implicit import assured
from tracejit.ops.kinds import Infer, bilinear, only, structural
from tracejit.ops.modes import ForwardMode, ReverseMode
from tracejit.trace.values.equations import apply, emit
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["adjoint", "conjugate", "transpose_last"]


def _dot_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    left, right, output = axis_labels(params["spec"])
    dims: dict[str, Dim] = {}
    for labels, aval in zip((left, right), avals, strict=True):
        if len(labels) != aval.ndim or len(set(labels)) != len(labels):
            raise IRError(f"labels {labels!r} do not fit {aval}")
        for label, d in zip(labels, aval.shape, strict=True):
            if dims.setdefault(label, d) != d:
                raise IRError(f"label {label!r} is both {dims[label]} and {d}")
    if not set(output) <= set(dims) or avals[0].dtype != avals[1].dtype:
        raise IRError(f"spec {params['spec']!r} does not fit {avals[0]}, {avals[1]}")
    return only(Aval(avals[0].dtype, tuple(dims[label] for label in output)))


def _dot_transpose(side: int) -> Any:
    def transpose(sweep: ReverseMode, eqn: Eqn, ct: Cotangent) -> Any:
        left, right, output = axis_labels(eqn.params["spec"])
        wanted, others = (left, right) if side == 0 else (right, left)
        other = sweep.operand(eqn.inputs[1 - side])
        if other.dtype.kind == "c":
            other = np.conj(other)
        lone = [label for label in wanted if label not in others + output]
        target = "".join(label for label in wanted if label not in lone)
        result = apply("dot", ct, other, spec=f"{output},{others}->{target}")
        if lone:  # a label that only this operand has was summed: its cotangent is repeated
            dims = eqn.inputs[side].aval.shape
            kept = tuple(1 if label in lone else d for label, d in zip(wanted, dims, strict=True))
            result = apply("broadcast_to", apply("reshape", result, shape=kept), shape=dims)
        return result

    return transpose


def _dot_reference(x: np.ndarray, y: np.ndarray, spec: str) -> Any:
    """Multiply matrices and vectors as NumPy does, by BLAS; else sum slowly."""
    left, right, output = axis_labels(spec)
    shared = next((label for label in left if label in right), "")
    lone = left.replace(shared, "") + right.replace(shared, "")
    if shared and len(left) <= 2 and len(right) <= 2 and shared not in output and (
            set(output) == set(lone) and len(output) == len(left) + len(right) - 2):
        result = np.matmul(x.T if left[0] == shared else x, y if right[0] == shared else y.T)
        return result if output == lone else result.T
    return np.einsum(spec, x, y)


bilinear("dot", _dot_reference, _dot_infer, Contract(),
         _dot_transpose(0), _dot_transpose(1), cost=16.0,
         samples=lambda n: [
             ((2, n), (n, 4), {"spec": "ij,jk->ik"}), ((n, 3), (3,), {"spec": "ij,j->i"}),
             ((n,), (n,), {"spec": "i,i->"}), ((2,), (n,), {"spec": "i,j->ij"}),
             ((2, n), (2, n), {"spec": "ij,ij->j"}), ((n, 2), (4, n), {"spec": "ji,kj->ik"}),
             ((2, n, 2), (2, 2, 3), {"spec": "bij,bjk->bik"}), ((2, n), (2,), {"spec": "ij,i->"})],
         kinds="fc")


# --- factorizations; after I. Murray, Differentiation of the Cholesky decomposition (2016) ------


def transpose_last(x: object) -> Any:
    """Return a matrix transposed."""
    return apply("transpose", x, axes=(1, 0))


def adjoint(x: np.ndarray | Tracer) -> Any:
    """Return a matrix transposed, of complex numbers their conjugates."""
    turned = transpose_last(x)
    return np.conj(turned) if x.dtype.kind == "c" else turned


def conjugate(x: np.ndarray | Tracer) -> Any:
    """Return the conjugates of complex numbers, and real ones as they are."""
    return np.conj(x) if x.dtype.kind == "c" else x


def _identity(x: Tracer) -> Any:
    """Return the identity of a square matrix's size and dtype."""
    i = apply("iota", size=x.dims[0])
    return (i[:, None] == i[None, :]).astype(x.dtype)


def _square(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    if avals[0].ndim != 2 or avals[0].shape[0] != avals[0].shape[1]:
        raise IRError(f"{avals[0]} is not a square matrix")
    return only(avals[0])


def _half_lower(x: Tracer) -> Any:
    """Return the lower triangle with the diagonal halved."""
    i = apply("iota", size=x.dims[0])
    row, column = i[:, None], i[None, :]
    found: Any = x
    if x.dtype.kind == "c":  # the diagonal of a Hermitian matrix is real
        found = np.where(row == column, np.real(x).astype(x.dtype), x)
    weight = np.where(row > column, 1.0, np.where(row == column, 0.5, 0.0)).astype(x.dtype)
    return np.where(row >= column, found * weight, x.dtype.type(0))


def _cholesky_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    lower = sweep.operand(eqn.outputs[0])
    inner = _half_lower(adjoint(lower) @ dense(cts[0]))
    inner = inner + adjoint(inner)
    return [_half_lower(_by_adjoint(lower, adjoint(_by_adjoint(lower, inner))))]


def _by_adjoint(lower: np.ndarray, b: np.ndarray) -> Any:
    """Solve with the adjoint of a lower triangle."""
    return conjugate(apply("triangular_solve", lower, conjugate(b), lower=True, transposed=True))


def _cholesky_jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Any]) -> list[Any]:
    lower = sweep.operand(eqn.outputs[0])
    below = _half_lower(tangents[0])
    symmetric = below + adjoint(below)
    left = apply("triangular_solve", lower, symmetric, lower=True, transposed=False)
    both = apply("triangular_solve", lower, adjoint(left), lower=True, transposed=False)
    return [lower @ _half_lower(both)]


def _cholesky(x: np.ndarray) -> Any:
    """Read the lower triangle only, as LAPACK does."""
    if x.dtype.kind == "c":
        x = x - 1j * np.diag(np.imag(np.diag(x)))
    return np.linalg.cholesky(np.tril(x) + np.conj(np.tril(x, -1).T)).astype(x.dtype)


structural("cholesky", _cholesky, _square, Library("cholesky"), _cholesky_vjp, _cholesky_jvp,
           cost=100.0, writes=0, kinds="fc",
           samples=lambda n: [((n, n), lambda a: apply("cholesky", a @ adjoint(a) + _identity(a)))])


def _cholesky_or_not(x: np.ndarray) -> Any:
    """Return a factor and True, or the identity and False."""
    try:
        return _cholesky(x), True
    except np.linalg.LinAlgError:
        return np.eye(len(x), dtype=x.dtype), False


def _and_whether(infer: Infer) -> Any:
    return lambda avals, params, regions: (*infer(avals, params, regions),
                                           Aval(np.dtype(np.bool_), ()))


def _factor_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    return [None] if cts[0] is None else _cholesky_vjp(sweep, eqn, cts)


def _factor_jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[object]) -> list[Any]:
    return [*_cholesky_jvp(sweep, eqn, tangents), None]


structural("cholesky_or_not", _cholesky_or_not, _and_whether(_square), Library("cholesky_or_not"),
           _factor_vjp, _factor_jvp, cost=100.0, writes=0, kinds="fc",
           samples=lambda n: [((n, n), lambda a: _first("cholesky_or_not",
                                                        a @ adjoint(a) + _identity(a)))])


def _first(op: str, a: Tracer) -> Tracer:
    return tracer_of(emit(op, [a.value])[0])


def _solve_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    a, b = avals
    if a.ndim != 2 or b.ndim != 2 or a.shape[0] != a.shape[1] or a.shape[1] != b.shape[0]:
        raise IRError(f"{a} and {b} are not a square system")
    return only(b)


def _triangular_solve(a: np.ndarray | np.generic, b: np.ndarray, lower: bool,
                      transposed: bool) -> Any:
    a = np.tril(a) if lower else np.triu(a)
    return np.linalg.solve(a.T if transposed else a, b).astype(b.dtype)


def _triangle(x: Any, lower: bool) -> Any:
    i = apply("iota", size=x.dims[0])
    row, column = i[:, None], i[None, :]
    return np.where(row >= column if lower else row <= column, x, x.dtype.type(0))


def _solve_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    """For a x = b: b_bar solves with the adjoint, a_bar = -b_bar x^H within the triangle."""
    a, x = sweep.operand(eqn.inputs[0]), sweep.operand(eqn.output)
    lower, transposed = eqn.params["lower"], eqn.params["transposed"]
    b_bar = conjugate(apply("triangular_solve", a, conjugate(dense(cts[0])), lower=lower,
                            transposed=not transposed))
    if not sweep.wants(eqn.inputs[0]):
        return [None, b_bar]
    return [_triangle(-_outer(x, b_bar, transposed), lower), b_bar]


def _outer(x: np.ndarray, b_bar: np.ndarray, transposed: bool) -> Any:
    """Return the products of a solution and the cotangent of the right-hand side, as the matrix."""
    return conjugate(x) @ transpose_last(b_bar) if transposed else b_bar @ adjoint(x)


def _solve_jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    a, x = sweep.operand(eqn.inputs[0]), sweep.operand(eqn.output)
    a_dot, b_dot = tangents
    right = b_dot
    if a_dot is not None:
        part = _triangle(a_dot, eqn.params["lower"])
        part = (transpose_last(part) if eqn.params["transposed"] else part) @ x
        right = -part if right is None else right - part
    return [apply("triangular_solve", a, right, **eqn.params)]


structural("triangular_solve", _triangular_solve, _solve_infer, Library("triangular_solve"),
           _solve_vjp, _solve_jvp, cost=100.0, writes=1, kinds="fc", samples=lambda n: [
               ((n, n), (n, 2), lambda a, b: apply("triangular_solve", a + 4.0 * _identity(a), b,
                                                   lower=n % 2 == 0, transposed=n % 4 < 2))])


# --- general systems: factorized once, solved with on the way forward and on the way back -------


def _lu_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    (a,) = _square(avals, params, regions)
    return only(a, Aval(np.dtype(np.int64), a.shape[:1]))


def _lu(a: np.ndarray | np.generic) -> Any:
    """Factor a' = P L U with partial pivoting, as LAPACK's getrf; return the factors transposed."""
    m = np.array(np.transpose(a))
    pivots = np.zeros(len(m), np.int64)
    for k in range(len(m)):
        p = k + int(np.argmax(np.abs(m[k:, k])))
        pivots[k] = p + 1
        m[[k, p]] = m[[p, k]]
        if m[k, k] != 0:
            m[k + 1:, k] /= m[k, k]
        m[k + 1:, k + 1:] -= np.outer(m[k + 1:, k], m[k, k + 1:])
    return np.ascontiguousarray(m.T), pivots


def _lu_or_not(a: np.ndarray) -> Any:
    """Return factors and True, or the identity's and False."""
    try:
        np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return np.eye(len(a), dtype=a.dtype), np.arange(1, len(a) + 1), False
    return *_lu(a), True


structural("lu_or_not", _lu_or_not, _and_whether(_lu_infer), Library("lu_or_not"), marked=True,
           cost=200.0, writes=0, kinds="fc", samples=lambda n: [((n, n), {})])
structural("lu", _lu, _lu_infer, Library("lu"), marked=True, cost=200.0, writes=0, kinds="fc",
           samples=lambda n: [((n, n), {})])


def _general_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    return _solve_infer(avals[:2], params, regions)


def _general_solve(a: np.ndarray, b: np.ndarray, lu: object, pivots: object,
                   transposed: bool) -> Any:
    return np.linalg.solve(a.T if transposed else a, b).astype(b.dtype)


def _general_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    """For a x = b: b_bar solves with the adjoint, a_bar = -b_bar x^H."""
    a, _, lu, pivots = map(sweep.operand, eqn.inputs)
    x = sweep.operand(eqn.output)
    transposed = eqn.params["transposed"]
    b_bar = conjugate(apply("solve", a, conjugate(dense(cts[0])), lu, pivots,
                            transposed=not transposed))
    wanted = sweep.wants(eqn.inputs[0])
    return [-_outer(x, b_bar, transposed) if wanted else None, b_bar, None, None]


def _general_jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    a, _, lu, pivots = map(sweep.operand, eqn.inputs)
    x = sweep.operand(eqn.output)
    a_dot, b_dot = tangents[:2]
    right = b_dot
    if a_dot is not None:
        part = (transpose_last(a_dot) if eqn.params["transposed"] else a_dot) @ x
        right = -part if right is None else right - part
    return [apply("solve", a, right, lu, pivots, **eqn.params)]


structural("solve", _general_solve, _general_infer, Library("solve"), _general_vjp, _general_jvp,
           cost=100.0, writes=1, kinds="fc", samples=lambda n: [
               ((n, n), (n, 2), lambda a, b: _factorized("solve", a, b, transposed=n % 2 == 0)[0])])


def _factorized(op: str, a: Tracer, *operands: Tracer, **params: object) -> Any:
    """Apply an op to a matrix, moved away from singular ones, with its factors."""
    a = a + 4.0 * _identity(a)
    factors = emit("lu", [a.value])
    return [tracer_of(v) for v in emit(op, [*(x.value for x in (a, *operands)), *factors], params)]


def _slogdet_infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    (a,) = _square(avals[:1], params, regions)
    return only(a.with_shape(()), Aval(real_of(a.dtype), ()))


def _inverse_transposed(a: Tracer, lu: Tracer, pivots: object) -> Any:
    fine = assured(np.all(np.diagonal(lu) != 0), "Singular matrix")
    one = np.where(fine, _identity(a), a.dtype.type(0))
    return apply("solve", a, one, lu, pivots, transposed=True)


def _slogdet_vjp(sweep: ReverseMode, eqn: Eqn, cts: Sequence[Cotangent]) -> list[Any]:
    """d log det a = tr(a^-1 da): its real part moves the logarithm, its imaginary part the sign."""
    sign_ct, log_ct = cts
    weight: Any = None if log_ct is None else dense(log_ct)
    if sign_ct is not None and eqn.inputs[0].aval.dtype.kind == "c":
        turn = 1j * np.imag(conjugate(sweep.operand(eqn.outputs[0])) * dense(sign_ct))
        weight = turn if weight is None else weight + turn
    if weight is None:
        return [None, None, None]
    inverse = conjugate(_inverse_transposed(*map(sweep.operand, eqn.inputs)))
    return [(weight * inverse).astype(inverse.dtype), None, None]


def _slogdet_jvp(sweep: ForwardMode, eqn: Eqn, tangents: Sequence[Tangent]) -> list[Any]:
    inverse = _inverse_transposed(*map(sweep.operand, eqn.inputs))
    moved = apply("reduce_sum", inverse * tangents[0], axes=(0, 1))
    if inverse.dtype.kind != "c":
        return [None, moved]
    turn = sweep.operand(eqn.outputs[0]) * (1j * np.imag(moved))
    return [turn.astype(inverse.dtype), np.real(moved)]


structural("slogdet", lambda a, lu, pivots: tuple(np.linalg.slogdet(a)), _slogdet_infer,
           Library("slogdet"), _slogdet_vjp, _slogdet_jvp, cost=10.0, kinds="fc",
           samples=lambda n: [((n, n), lambda a: _factorized("slogdet", a)[1])])
