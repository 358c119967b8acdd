"""Linear algebra: products as contractions, factorizations, solves, norms, diagonals."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.ir.dims import Dim, maximum, minimum
from tracejit.numpy_api.creation import eye, iota
from tracejit.numpy_api.elementwise import as_tracer, scipy_special
from tracejit.numpy_api.reductions import root_of_squares
from tracejit.numpy_api.shapes import normalize_axes, normalize_axis, transpose
from tracejit.numpy_api.stacks import over_stacks
from tracejit.ops.calls import stop_gradient
from tracejit.ops.linalg import transpose_last
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import captures, scipy_captures
from tracejit.trace.ground.layouts import UNKNOWN, lay_out
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.regions.attempts import catches
from tracejit.trace.state.known import known_array
from tracejit.trace.values.equations import (
    COMPOSITES,
    REDUCTIONS,
    apply,
    as_operand,
    broadcast_dims,
    cast,
    emit,
    same_dim,
)
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import strong
from tracejit.trace.values.tracer import Tracer, tracer_of

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["SPECTRAL_NORMS", "contract", "floating", "require_square"]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def contract(x: Tracer, y: Tracer, spec: str) -> Tracer:
    """Emit a contraction of two arrays by labels, `"ij,jk->ik"`, in the dtype of both."""
    dtype = np.result_type(x.dtype, y.dtype)
    x, y = (t if t.dtype == dtype else cast(t, dtype) for t in (x, y))
    left, rest = spec.split(",")
    right, output = rest.split("->")
    seen: dict[str, Dim] = {}
    operands = []
    for labels, t in ((left, x), (right, y)):
        dims = t.dims
        for label, d in zip(labels, dims, strict=True):
            known = seen.setdefault(label, d)
            if not same_dim(known, d):
                raise ValueError(_mismatch(x, y, label))
        shape = tuple(seen[label] for label in labels)
        operands.append(t if shape == t.aval.shape else apply("reshape", t, shape=shape))
    if dtype.kind == "b":
        left_count, right_count = (cast(t, np.int64) for t in operands)
        return contract(left_count, right_count, spec) != 0
    return apply("dot", *operands, spec=f"{left},{right}->{output}")


def _mismatch(x: Tracer, y: Tracer, label: str) -> str:
    trace = current()

    def text(t: Tracer) -> str:
        numbers = [str(trace.number(d) if trace.is_known(d) else d) for d in t.dims]
        return f"({','.join(numbers)}{',' if len(numbers) == 1 else ''})"

    return f"matmul: shapes {text(x)} and {text(y)} do not match in the summed dimension {label!r}"


def matmul(x: object, y: object) -> Tracer:
    """Return a matrix product, over leading axes as NumPy broadcasts them."""
    x, y = as_tracer(x), as_tracer(y)
    if not x.dims or not y.dims:
        raise ValueError("matmul: Input operand does not have enough dimensions")
    left = "ij"[2 - min(2, len(x.dims)):] if len(x.dims) > 1 else "j"
    right = "jk"[:min(2, len(y.dims))]
    batch_x, batch_y = x.dims[:len(x.dims) - len(left)], y.dims[:len(y.dims) - len(right)]
    broadcast_dims([batch_x, batch_y])
    count = max(len(batch_x), len(batch_y))
    letters = "ABCDEFGH"[:count]
    kept = {"i", "k"} & set(left + right)
    output = letters + "".join(c for c in "ik" if c in kept)
    left, right = letters[count - len(batch_x):] + left, letters[count - len(batch_y):] + right
    (x, left), (y, right) = _unrepeated([(x, left), (y, right)], letters)
    return contract(x, y, f"{left},{right}->{output}")


def _unrepeated(pairs: list[tuple[Tracer, str]], labels: str) -> list[tuple[Tracer, str]]:
    """Leave out axes of one element along which operands are repeated, for others have more."""
    sizes = {c: broadcast_dims([(d,) for t, own in pairs
                                for o, d in zip(own, t.dims, strict=True) if o == c])[0]
             for c in labels}
    found = []
    for t, own in pairs:
        repeats = [c in sizes and d == 1 != sizes[c] for c, d in zip(own, t.dims, strict=True)]
        if any(repeats):
            t = t.reshape(tuple(as_operand(d) for d, r in zip(t.dims, repeats, strict=True)
                                if not r))
            own = "".join(c for c, r in zip(own, repeats, strict=True) if not r)
        found.append((t, own))
    return found


COMPOSITES[np.matmul] = matmul


@captures(np.dot, method="dot")
def dot(a: Any, b: Any) -> Any:
    """Return the sum of products over the last axis of a and the second to last of b."""
    a, b = strong(as_tracer(a)), strong(as_tracer(b))
    if not a.dims or not b.dims:
        return a * b
    left = _LETTERS[:len(a.dims)]
    right = _LETTERS[26:26 + len(b.dims)]
    place = len(b.dims) - (2 if len(b.dims) > 1 else 1)
    right = right[:place] + left[-1] + right[place + 1:]
    output = left[:-1] + right[:place] + right[place + 1:]
    return _product(contract(a, b, f"{left},{right}->{output}"))


def _product(result: Tracer) -> Tracer:
    """Return a product of matrices, which NumPy puts into an array in C order."""
    return lay_out(result, "C") if result.dims else result


@captures(np.vdot)
def vdot(a: object, b: object) -> Any:
    """Return the inner product, the first operand conjugated."""
    return dot(conjugated(a).reshape(-1), as_tracer(b).reshape(-1))


def conjugated(x: object) -> Any:
    """Return the conjugates of complex numbers, others as they are: bools stay bools."""
    x = as_tracer(x)
    return np.conj(x) if x.dtype.kind == "c" else x


@captures(np.inner)
def inner(a: Any, b: Any) -> Any:
    """Return sums of products over the last axes."""
    a, b = strong(as_tracer(a)), strong(as_tracer(b))
    if not a.dims or not b.dims:
        return a * b
    left = _LETTERS[:len(a.dims)]
    right = _LETTERS[26:25 + len(b.dims)] + left[-1]
    return contract(a, b, f"{left},{right}->{left[:-1]}{right[:-1]}")


@captures(np.outer)
def outer(a: object, b: object) -> Any:
    """Return all products of two vectors' elements."""
    return as_tracer(a).reshape(-1)[:, None] * as_tracer(b).reshape(-1)[None, :]


@captures(np.tensordot)
def tensordot(a: object, b: object, axes: Any = 2) -> Any:
    """Return sums of products over pairs of axes."""
    a, b = as_tracer(a), as_tracer(b)
    if isinstance(axes, int):
        pairs = [(len(a.dims) - axes + k, k) for k in range(axes)]
    else:
        first, second = (x if isinstance(x, (list, tuple)) else [x] for x in axes)
        pairs = [(normalize_axis(i, len(a.dims)), normalize_axis(j, len(b.dims)))
                 for i, j in zip(first, second, strict=True)]
    left = list(_LETTERS[:len(a.dims)])
    right = list(_LETTERS[26:26 + len(b.dims)])
    for i, j in pairs:
        right[j] = left[i]
    summed = {left[i] for i, _ in pairs}
    output = [c for c in left + right if c not in summed]
    return _product(contract(a, b, f"{''.join(left)},{''.join(right)}->{''.join(output)}"))


@captures(np.einsum)
def einsum(subscripts: object, *operands: object) -> Any:
    """Return an Einstein sum, pairwise from the left."""
    if not isinstance(subscripts, str):
        raise refuse("np.einsum without a string of subscripts cannot be captured",
                     "Write np.einsum('ij,jk->ik', a, b)")
    arrays = [as_tracer(x) for x in operands]
    inputs, output = _einsum_labels(subscripts, arrays)
    pairs = [_own_labels(t, labels) for t, labels in zip(arrays, inputs, strict=True)]
    pairs = _unrepeated(pairs, "".join(dict.fromkeys("".join(labels for _, labels in pairs))))
    while len(pairs) > 1:
        (x, left), (y, right) = pairs[:2]
        rest = "".join(labels for _, labels in pairs[2:]) + output
        kept = "".join(dict.fromkeys(c for c in left + right if c in rest))
        pairs[:2] = [(contract(x, y, f"{left},{right}->{kept}"), kept)]
    (x, labels), = pairs
    shuffled = any(output.index(c) > output.index(d) for own in inputs for c, d in pairwise(
        [c for c in own if c in output]))
    summed = tuple(k for k, c in enumerate(labels) if c not in output)
    if summed:
        x = np.sum(x, axis=summed)
        labels = "".join(c for c in labels if c in output)
    order = [labels.index(c) for c in output]
    result: Tracer = transpose(x, order) if labels != output else x
    if shuffled and not any(result.cell is a.cell for a in arrays):  # laid out as operands are
        result = result.own()
        result.cell.layout = UNKNOWN
    return result


def _einsum_labels(subscripts: str, arrays: list[Tracer]) -> tuple[list[str], str]:
    subscripts = subscripts.replace(" ", "")
    given, arrow, output = subscripts.partition("->")
    inputs = given.split(",")
    if len(inputs) != len(arrays):
        raise ValueError(f"einsum of {len(inputs)} operands got {len(arrays)}")
    free = [c for c in reversed(_LETTERS) if c not in subscripts]
    longest = 0
    for k, (labels, t) in enumerate(zip(inputs, arrays, strict=True)):
        if "..." in labels:
            count = len(t.dims) - len(labels) + 3
            longest = max(longest, count)
            inputs[k] = labels.replace("...", "".join(free[:count][::-1]))
        elif len(labels) != len(t.dims):
            raise ValueError(f"einsum operand {k} has {len(t.dims)} axes, but subscripts "
                             f"{labels!r}")
    ellipsis = "".join(free[:longest][::-1])
    if not arrow:
        every = "".join(inputs)
        once = [c for c in set(every) - set(ellipsis) if every.count(c) == 1]
        output = "..." + "".join(sorted(once))
        output = output if ellipsis else output[3:]
    return inputs, output.replace("...", ellipsis)


def _own_labels(t: Tracer, labels: str) -> tuple[Tracer, str]:
    """Take diagonals where one operand repeats a label."""
    for c in dict.fromkeys(labels):
        while labels.count(c) > 1:
            i = labels.index(c)
            j = labels.index(c, i + 1)
            t = diagonal(t, 0, i, j)
            labels = labels[:i] + labels[i + 1:j] + labels[j + 1:] + c
    return t, labels


# --- diagonals and triangles --------------------------------------------------------------------


@captures(np.diagonal, method="diagonal")
def diagonal(a: object, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return the elements with equal indices along two axes, as the last axis."""
    a = as_tracer(a)
    ndim, offset = len(a.dims), operator.index(offset)
    if ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    i, j = normalize_axis(axis1, ndim), normalize_axis(axis2, ndim)
    if i == j:
        raise ValueError("axis1 and axis2 cannot be the same")
    order = [k for k in range(ndim) if k not in (i, j)] + [i, j]
    moved = transpose(a, order)
    rows, columns = moved.dims[-2:]
    square = offset == 0 and same_dim(rows, columns)
    size = rows if square else None
    if size is None:
        size = maximum(minimum(rows if offset >= 0 else rows + offset,
                               columns - offset if offset >= 0 else columns), 0)
    row, column = iota(size, max(-offset, 0)), iota(size, max(offset, 0))
    result = apply("gather", moved, row, column, axes=(ndim - 2, ndim - 1), position=ndim - 2)
    result.cell.constant = "writing to a diagonal"
    result.cell.stands_for([a.cell])  # NumPy's is a view
    return result


@captures(np.fill_diagonal)
def fill_diagonal(a: object, val: object, wrap: bool = False) -> None:
    """Write to the elements whose indices along all axes are the same."""
    if not isinstance(a, Tracer):
        raise refuse("np.fill_diagonal writes traced values to an array from outside of the "
                     "captured function", "Create the array inside the function")
    ndim = len(a.dims)
    if ndim < 2:
        raise ValueError("array must be at least 2-d")
    if ndim > 2 and not all(same_dim(d, a.dims[0]) for d in a.dims):
        raise ValueError("All dimensions of input must be of equal length")
    if wrap:
        raise refuse("np.fill_diagonal with wrap=True cannot be captured", "Write to its elements")
    rows, columns = a.dims[:2]
    a[(iota(rows if same_dim(rows, columns) else minimum(rows, columns)),) * ndim] = val


@captures(np.trace, method="trace")
def trace_(a: object, offset: int = 0, axis1: int = 0, axis2: int = 1,
           dtype: npt.DTypeLike | None = None) -> Any:
    """Return the sum of the diagonal."""
    return np.sum(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


@captures(np.diag)
def diag(v: object, k: int = 0) -> Any:
    """Return a diagonal, or a matrix that has a vector as its diagonal."""
    v = as_tracer(v)
    k = operator.index(k)
    if len(v.dims) == 2:
        return diagonal(v, k)
    if len(v.dims) != 1:
        raise ValueError("Input must be 1- or 2-d.")
    size = v.dims[0]
    blank = apply("full", v.dtype.type(0), shape=(size + abs(k), size + abs(k)))
    row, column = iota(size, max(-k, 0)), iota(size, max(k, 0))
    return apply("scatter", blank, v, row, column, axes=(0, 1), position=0)


def _triangle(lower: bool) -> Any:
    def function(m: object, k: int = 0) -> Any:
        m = as_tracer(m)
        if not m.dims:
            raise TypeError("tri() missing 1 required positional argument: 'N'")
        row = apply("iota", size=m.dims[-2:][0])[:, None]
        column = apply("iota", size=m.dims[-1])[None, :]
        inside = column <= row + k if lower else column >= row + k
        return np.where(inside, m, m.dtype.type(0))

    return function


captures(np.tril)(_triangle(True))
captures(np.triu)(_triangle(False))


# --- norms, factorizations, solves --------------------------------------------------------------


@captures(np.linalg.norm)
def norm(x: object, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Return a vector norm, or the norm of matrices that takes no singular values."""
    x = as_tracer(x)
    if isinstance(ord, TracedOperand):
        known = known_array(ord, "np.linalg.norm is computed by this order")
        if known is None:
            raise refuse("np.linalg.norm with an order that is traced", "Use a constant order")
        ord = known.item()
    if x.dtype.kind not in "fc":
        x = cast(x, np.float64)
    axes = normalize_axes(axis, len(x.dims))
    if len(axes) == 1 or ord is None:
        if ord in (None, 2):
            squares = np.real(x * np.conj(x)) if x.dtype.kind == "c" else x * x
            return root_of_squares(np.sum(squares, axis=axes, keepdims=keepdims))
        if isinstance(ord, str):
            raise ValueError(f"Invalid norm order {ord!r} for vectors")
        sizes = np.absolute(x)
        if ord == 0:
            return np.sum((x != 0).astype(sizes.dtype), axis=axes, keepdims=keepdims)
        if ord == 1:
            return np.sum(sizes, axis=axes, keepdims=keepdims)
        if ord in (np.inf, -np.inf):
            return (np.max if ord > 0 else np.min)(sizes, axis=axes, keepdims=keepdims)
        return np.sum(sizes ** ord, axis=axes, keepdims=keepdims) ** (1.0 / ord)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    return _matrix_norm(x, ord, axes if axis is None else tuple(
        normalize_axis(k, len(x.dims)) for k in axis), keepdims)


SPECTRAL_NORMS: list[Callable[..., Any]] = []
"""The norms that are made of singular values: `singular.py` enters them."""


def _matrix_norm(x: Tracer, ord: object, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Return a norm of matrices, whose rows and columns are along two different axes."""
    if len(set(axes)) < 2:
        raise ValueError("Duplicate axes given.")
    if isinstance(ord, str) and ord in ("fro", "f"):
        return np.sqrt(np.sum(np.absolute(x) ** 2, axis=axes, keepdims=keepdims))
    summed = {1: axes[0], -1: axes[0], np.inf: axes[1], -np.inf: axes[1]}
    if ord in summed:
        fold, (other,) = np.max if ord > 0 else np.min, set(axes) - {summed[ord]}
        result = fold(np.sum(np.absolute(x), axis=summed[ord], keepdims=True), axis=other,
                      keepdims=True)
        return result if keepdims else np.squeeze(result, axes)
    if ord in (2, -2, "nuc"):
        return SPECTRAL_NORMS[0](x, ord, axes, keepdims)
    raise ValueError("Invalid norm order for matrices.")


def floating(x: object) -> Tracer:
    x = as_tracer(x)
    if x.dtype.kind == "c":
        raise refuse("factorizing or solving with complex matrices cannot be captured",
                     "With A = B + iC, use the real matrix [[B, -C], [C, B]]")
    return x if x.dtype.kind in "fc" else cast(x, np.float64)


def require_square(a: Tracer) -> Tracer:
    """Return a matrix or a stack of matrices whose last two sizes are written as one."""
    if len(a.dims) < 2:
        raise np.linalg.LinAlgError(f"{len(a.dims)}-dimensional array given. Array must be at "
                                    "least two-dimensional")
    if not same_dim(a.dims[-2], a.dims[-1]):
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    shape = (*a.dims[:-1], a.dims[-2])
    return a if a.aval.shape == shape else apply("reshape", a, shape=shape)


@captures(np.linalg.cholesky)
def cholesky(a: object, /, *, upper: bool = False) -> Any:
    """Return the lower Cholesky factor of a positive definite matrix, from its lower triangle.

    The upper factor is from the upper triangle: U = L', where L is the lower factor of A'.
    """
    def factor(m: Tracer) -> Tracer:
        return transpose_last(_lower(transpose_last(m))) if upper else _lower(m)

    return over_stacks(factor, "np.linalg.cholesky", (require_square(floating(a)), 2))


def _lower(m: Tracer) -> Tracer:
    """Return the lower factor; where a `try` catches that there is none, what follows rests on it.
    """
    if not catches(np.linalg.LinAlgError):
        return apply("cholesky", m)
    lower, is_definite = map(tracer_of, emit("cholesky_or_not", [m.value]))
    ABOVE.require(is_definite, np.linalg.LinAlgError, "Matrix is not positive definite")
    return lower


def solve_triangular(a: object, b: object, trans: object = 0, lower: bool = False) -> Any:
    """Solve a triangular system, as `scipy.linalg.solve_triangular`."""
    if trans not in (0, 1, 2, "N", "T", "C"):
        raise ValueError(f"trans is 0, 1, 2, 'N', 'T' or 'C', not {trans!r}")
    a, b = _system(a, b)
    return _on_columns(lambda m: apply("triangular_solve", a, m, lower=bool(lower),
                                       transposed=trans not in (0, "N")), a, b)


def _system(a: object, b: object) -> tuple[Tracer, Tracer]:
    """Return matrix and right-hand side of a system in one dtype, of sizes that agree."""
    a, b = floating(a), floating(b)
    if a.dims and b.dims and not same_dim(a.dims[0], b.dims[0]):
        raise ValueError(f"shapes of a {a.shape} and b {b.shape} are incompatible")
    dtype = np.result_type(a.dtype, b.dtype)
    return cast(require_square(a), dtype), cast(b, dtype)


def _on_columns(solve: Any, a: Tracer, b: Tracer) -> Any:
    """Call a solver of matrices, also for a vector on the right-hand side."""
    n = a.dims[0]
    matrix = b if len(b.dims) == 2 else apply("reshape", b, shape=(n, 1))
    if matrix.aval.shape[0] != n:
        matrix = apply("reshape", matrix, shape=(n, matrix.dims[1]))
    result = solve(matrix)
    return result if len(b.dims) == 2 else apply("reshape", result, shape=(n,))


@captures(np.linalg.solve)
def solve(a: object, b: object) -> Any:
    """Solve a linear system, or a stack of systems."""
    a, b = as_tracer(a), as_tracer(b)
    own = 1 if len(b.dims) == 1 else 2
    return over_stacks(_solve_one, "np.linalg.solve", (require_square(floating(a)), 2), (b, own))


def _solve_one(a: Tracer, b: Tracer) -> Any:
    a, b = _system(a, b)
    lu, pivots = _regular(a)
    return _on_columns(lambda m: apply("solve", a, m, lu, pivots, transposed=False), a, b)


def _factorized(a: Tracer) -> tuple[Tracer, Tracer]:
    lu, pivots = emit("lu", [a.value])
    return tracer_of(lu), tracer_of(pivots)


def _regular(a: Tracer) -> tuple[Tracer, Tracer]:
    """Return the factors of a matrix that has an inverse, or what a `try` catches."""
    if not catches(np.linalg.LinAlgError):
        return _factorized(a)
    lu, pivots, is_regular = map(tracer_of, emit("lu_or_not", [a.value]))
    ABOVE.require(is_regular, np.linalg.LinAlgError, "Singular matrix")
    return lu, pivots


@captures(np.linalg.inv)
def inv(a: object) -> Any:
    """Return the inverse of a matrix, or of each of a stack."""
    def invert(m: Tracer) -> Tracer:
        identity = cast(eye(as_operand(m.dims[0])), m.dtype)
        return apply("solve", m, identity, *_regular(m), transposed=False)

    return over_stacks(invert, "np.linalg.inv", (require_square(floating(a)), 2))


_SlogdetResult: Any = type(np.linalg.slogdet(np.eye(1)))


@captures(np.linalg.slogdet)
def slogdet(a: object) -> Any:
    """Return sign and logarithm of the determinant."""
    return _SlogdetResult(*over_stacks(_slogdet_one, "np.linalg.slogdet",
                                       (require_square(floating(a)), 2)))


def _slogdet_one(a: Tracer) -> tuple[Tracer, Tracer]:
    lu, pivots = _factorized(a)
    sign, logdet = emit("slogdet", [a.value, lu.value, pivots.value])
    return tracer_of(sign), tracer_of(logdet)


@captures(np.linalg.det)
def det(a: object) -> Any:
    """Return the determinant."""
    sign, logdet = slogdet(a)
    return sign * np.exp(logdet)


@captures(np.cross)
def cross(a: object, b: object, axisa: int = -1, axisb: int = -1, axisc: int = -1,
          axis: int | None = None) -> Any:
    """Return the cross product of vectors of three components."""
    if axis is not None:
        axisa = axisb = axisc = axis
    vectors = []
    for x, place in ((as_tracer(a), axisa), (as_tracer(b), axisb)):
        if not x.dims:
            raise ValueError("At least one array has zero dimension")
        place = normalize_axis(place, len(x.dims))
        if not same_dim(x.dims[place], 3):
            raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors, but "
                             f"the axis has {as_operand(x.dims[place])} components instead.")
        vectors.append([np.take(x, k, axis=place) for k in range(3)])
    (ax, ay, az), (bx, by, bz) = vectors
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axisc)


@captures(np.kron)
def kron(a: object, b: object) -> Any:
    """Return the Kronecker product of two arrays."""
    a, b = as_tracer(a), as_tracer(b)
    ndim = max(len(a.dims), len(b.dims))
    left, right = ((*(1,) * (ndim - len(t.dims)), *t.dims) for t in (a, b))
    outer = apply("reshape", a, shape=tuple(d for k in left for d in (k, 1)))
    inner = apply("reshape", b, shape=tuple(d for k in right for d in (1, k)))
    return apply("reshape", outer * inner,
                 shape=tuple(d * e for d, e in zip(left, right, strict=True)))


# --- SciPy, by name: importing it here would cost 0.3 s -------------------------------------------


def logsumexp(a: object, axis: Any = None, b: object = None, keepdims: bool = False) -> Any:
    """Return log(sum(exp(a))) without overflow, as `scipy.special.logsumexp`."""
    a = as_tracer(a)
    top = stop_gradient(np.max(a, axis=axis, keepdims=True))
    top = np.where(np.isfinite(top), top, 0.0)
    terms = np.exp(a - top)
    total = np.log(np.sum(terms if b is None else b * terms, axis=axis, keepdims=True)) + top
    return total if keepdims else np.squeeze(total, tuple(normalize_axes(axis, len(a.dims))))


def _log_add_reduce(a: object, axis: object = 0, keepdims: bool = False,
                    dtype: npt.DTypeLike | None = None) -> Any:
    a = as_tracer(a) if dtype is None else cast(a, dtype)
    if a.ndim == 0:
        return a
    return logsumexp(a, axis, keepdims=keepdims)


REDUCTIONS[np.logaddexp] = _log_add_reduce


def softmax(x: object, axis: Any = None) -> Any:
    """Return exponentials that sum to 1, as `scipy.special.softmax`."""
    x = as_tracer(x)
    e = np.exp(x - stop_gradient(np.max(x, axis=axis, keepdims=True)))
    return e / np.sum(e, axis=axis, keepdims=True)


def cholesky_of(a: object, lower: bool = False) -> Any:
    """Return a Cholesky factor, as `scipy.linalg.cholesky`."""
    return cholesky(a, upper=not lower)


def solve_of(a: Any, b: object, lower: bool = False, *, assume_a: object = None,
             transposed: bool = False) -> Any:
    """Solve a linear system, as `scipy.linalg.solve`: of some matrices it reads one triangle."""
    kinds = {None: False, "general": False, "gen": False, "symmetric": True, "sym": True,
             "hermitian": True, "her": True, "positive definite": True, "pos": True}
    if assume_a not in kinds:
        raise refuse(f"scipy.linalg.solve with assume_a={assume_a!r} cannot be captured",
                     "Leave it out")
    a, b = as_tracer(a), as_tracer(b)
    if kinds[assume_a]:
        half = np.tril(a, -1) if lower else np.triu(a, 1)
        a = half + half.T + np.diag(np.diag(a))
    return solve(a.T if transposed else a, b)


def norm_of(a: object, ord: object = None, axis: object = None, keepdims: bool = False) -> Any:
    """Return a norm, as `scipy.linalg.norm`."""
    a = as_tracer(a)
    if a.dtype in (np.float32, np.complex64) and ord in (1, -1, np.inf, -np.inf) and (
            axis is None and len(a.dims) == 2):
        a = cast(a, np.float64 if a.dtype.kind == "f" else np.complex128)  # as LAPACK's `lange`
    return norm(a, ord, axis, keepdims)


def det_of(a: object) -> Any:
    """Return a determinant, as `scipy.linalg.det`, of which single precision is made double."""
    a = as_tracer(a)
    return det(cast(a, np.complex128 if a.dtype.kind == "c" else np.float64))


def log_softmax(x: object, axis: object = None) -> Any:
    """Return the logarithm of `softmax`, as `scipy.special.log_softmax`."""
    return x - logsumexp(x, axis, keepdims=True)


def of_wide(name: str, function: Callable[..., object]) -> Callable[..., Any]:
    """Return a function of matrices that refuses small ints, of which SciPy makes float32."""

    @functools.wraps(function)
    def capture(a: object, *args: object, **kwargs: object) -> Any:
        dtype = as_tracer(a).dtype
        if dtype.kind in "biu" and dtype.itemsize < 4:
            raise refuse(f"scipy.linalg.{name} of {dtype} cannot be captured",
                         "Convert the matrix with .astype(np.float64) first")
        return function(a, *args, **kwargs)

    return capture


_MATRICES: dict[str, Callable[..., Any]] = {
    "solve_triangular": solve_triangular, "cholesky": cholesky_of, "solve": solve_of, "inv": inv,
    "det": det_of}

scipy_captures("scipy.linalg", {
    "norm": norm_of, **{name: of_wide(name, function) for name, function in _MATRICES.items()}})
scipy_captures("scipy.special", {
    "logsumexp": logsumexp, "softmax": softmax, "log_softmax": log_softmax, **scipy_special()})
