"""Products of vectors, matrices and arrays of any rank, as contractions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.ir.dims import Dim
from tracejit.ir.lowering import axis_labels
from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.trace.ground.context import current
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.ground.layouts import lay_out
from tracejit.trace.values.equations import (
    COMPOSITES,
    apply,
    as_operand,
    broadcast_dims,
    cast,
    same_dim,
)
from tracejit.trace.values.python_numbers import strong
from tracejit.trace.values.symbolic_ints import known_int
from tracejit.trace.values.tracer import Tracer

__all__ = ["LETTERS", "conjugated", "contract", "unrepeated"]


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def contract(x: Tracer, y: Tracer, spec: str) -> Tracer:
    """Emit a contraction of two arrays by labels, `"ij,jk->ik"`, in the dtype of both."""
    dtype = np.result_type(x.dtype, y.dtype)
    x, y = (t if t.dtype == dtype else cast(t, dtype) for t in (x, y))
    left, right, output = axis_labels(spec)
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
    (x, left), (y, right) = unrepeated([(x, left), (y, right)], letters)
    return contract(x, y, f"{left},{right}->{output}")


def unrepeated(pairs: list[tuple[Tracer, str]], labels: str) -> list[tuple[Tracer, str]]:
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
    left = LETTERS[:len(a.dims)]
    right = LETTERS[26:26 + len(b.dims)]
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
    left = LETTERS[:len(a.dims)]
    right = LETTERS[26:25 + len(b.dims)] + left[-1]
    return contract(a, b, f"{left},{right}->{left[:-1]}{right[:-1]}")


@captures(np.outer)
def outer(a: object, b: object) -> Any:
    """Return all products of two vectors' elements."""
    return as_tracer(a).reshape(-1)[:, None] * as_tracer(b).reshape(-1)[None, :]


@captures(np.tensordot)
def tensordot(a: object, b: object, axes: Any = 2) -> Any:
    """Return sums of products over pairs of axes."""
    a, b = as_tracer(a), as_tracer(b)
    axes = known_int(axes, "how many axes np.tensordot sums over")
    if isinstance(axes, int):
        pairs = [(len(a.dims) - axes + k, k) for k in range(axes)]
    else:
        first, second = (x if isinstance(x, (list, tuple)) else [x] for x in axes)
        if len(first) != len(second):
            raise ValueError("shape-mismatch for sum")
        pairs = [(normalize_axis(i, len(a.dims)), normalize_axis(j, len(b.dims)))
                 for i, j in zip(first, second, strict=True)]
    if any(len({pair[side] for pair in pairs}) < len(pairs) for side in (0, 1)):
        raise ValueError("duplicate axes are not allowed in tensordot")
    left = list(LETTERS[:len(a.dims)])
    right = list(LETTERS[26:26 + len(b.dims)])
    for i, j in pairs:
        right[j] = left[i]
    summed = {left[i] for i, _ in pairs}
    output = [c for c in left + right if c not in summed]
    return _product(contract(a, b, f"{''.join(left)},{''.join(right)}->{''.join(output)}"))


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
