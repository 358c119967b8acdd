"""Bases of what a matrix reaches and of what it takes to zero, and pseudoinverses, as in SciPy.

How many vectors a basis has is decided by data: results are as long as a run finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_inexact, as_tracer
from tracejit.numpy_api.factors import (
    double,
    eigh_of,
    longest,
    parts_of_triangle,
    pinv_of,
    single_again,
    svd_of,
)
from tracejit.numpy_api.finite import checks_finite
from tracejit.numpy_api.linalg import of_wide
from tracejit.numpy_api.masks import positions
from tracejit.numpy_api.stacks import in_stacks
from tracejit.ops.calls import stop_gradient
from tracejit.ops.factors import GAUGE
from tracejit.ops.implicit import RULES, Rule, assured, implied
from tracejit.ops.linalg import adjoint
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import apply, as_operand, cast
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__: list[str] = []

Parts = Sequence[Any]


def _epsilon(a: object) -> Any:
    return np.finfo(as_inexact(a).dtype).eps


def _share(a: object, x: Tracer, rcond: object) -> Any:
    return as_operand(longest(x)) * _epsilon(a) if rcond is None else rcond


def _matrix(a: object, name: str) -> Tracer:
    x = double(a)
    if len(x.dims) != 2:
        raise refuse(f"scipy.linalg.{name} of a stack of matrices cannot be captured",
                     "Use a loop", "TJ207")
    return x


def _large(s: np.ndarray, share: np.ndarray) -> Any:
    return s > np.max(s, initial=0.0) * share


def orth(A: object, rcond: object = None) -> Any:
    """Return an orthonormal basis of what a matrix reaches: singular vectors."""
    x = _matrix(A, "orth")
    u, s, _ = svd_of(x, False)
    large = _large(stop_gradient(s), _share(A, x, rcond))
    found: Any = apply("gather", u, positions(as_tracer(large)), axes=(1,), position=1)
    return single_again(found, A)


def null_space(A: object, rcond: object = None, *, lapack_driver: str = "gesdd") -> Any:
    """Return an orthonormal basis of what a matrix takes to zero.

    Its derivative is that of the space: where a loss depends on which basis it is, an error.
    """
    if lapack_driver != "gesdd":
        raise refuse(f"scipy.linalg.null_space with lapack_driver={lapack_driver!r} cannot be "
                     "captured", "Leave it out", "TJ203")
    x = _matrix(A, "null_space")
    share = _share(A, x, rcond)
    _, s, vh = svd_of(stop_gradient(x), True)
    rank = np.sum(_large(s, share))
    places = positions(as_tracer(apply("iota", size=x.dims[1]) >= rank))
    rows = as_tracer(vh)
    rest = apply("gather", rows, places, axes=(0,), position=0)
    p, _ = pinv_of(x, share)
    return single_again(implied("null space", [as_tracer(adjoint(rest))], x, as_tracer(p))[0], A)


def _null_jvp(results: Parts, operands: Parts, tangents: Parts) -> Parts:
    return [-(operands[1] @ (tangents[0] @ results[0]))]


def _null_vjp(results: Parts, operands: Parts, cts: Parts) -> Parts:
    (rest,), (_, p), (ct,) = results, operands, cts
    if ct is None:
        return [None, None]
    inner = adjoint(rest) @ ct
    skew = inner - adjoint(as_tracer(inner))
    fine = assured(np.all(np.abs(skew) <= np.sum(np.abs(ct)) * 1e-8), GAUGE)
    return [-(adjoint(p) @ ct @ adjoint(as_tracer(np.where(fine, rest, 0.0)))), None]


RULES["null space"] = Rule(_null_jvp, _null_vjp)


def pinvh(a: object, atol: np.ndarray | None = None, rtol: np.ndarray | None = None,
          lower: bool = True, return_rank: bool = False) -> Any:
    """Return the pseudoinverse of a symmetric or Hermitian matrix, from one triangle."""
    given = double(a, square=True)
    x = parts_of_triangle(given, bool(lower))
    least: Any = 0.0 if atol is None else atol
    share = _share(a, x, rtol)
    require(np.logical_not(np.logical_or(least < 0.0, share < 0.0)), ValueError,
            "atol and rtol values must be positive.")
    values, vectors = eigh_of(stop_gradient(x), bool(lower))
    size = np.abs(values)
    most = np.max(size, initial=0.0)
    large = size > least + most * share
    inverse = np.where(large, 1.0, 0.0) / np.where(large, values, 1.0)
    p = (vectors * inverse[None, :]) @ adjoint(vectors)
    is_whole = np.all(np.logical_or(large, size <= 1e-10 * most))
    found = single_again(implied("pinv", [as_tracer(p)], x, as_tracer(is_whole))[0], a)
    rank = tracer_of(cast(as_tracer(np.sum(large)), np.int64).value, weak=True)
    return (found, rank) if return_rank else found


scipy_captures("scipy.linalg", {
    "orth": of_wide("orth", orth), "null_space": checks_finite(of_wide("null_space", null_space)),
    "pinvh": checks_finite(of_wide("pinvh", in_stacks(pinvh, ("a", 2))))})
