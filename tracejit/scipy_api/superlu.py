"""Sparse systems solved by SciPy's SuperLU, which a running program calls back.

SuperLU factorises by columns: J. Demmel et al., A supernodal approach to sparse partial pivoting
(1999). The factors of a matrix solve with its transpose, too, as the way back does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.ir.superlu import (
    ADJOINT,
    CONJUGATED,
    PLAIN,
    TRANSPOSED,
    Way,
    superlu_factors,
    superlu_solution,
)
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.ops.callbacks import call_back
from tracejit.ops.calls import stop_gradient
from tracejit.ops.implicit import FAMILIES, Rule, implied
from tracejit.ops.linalg import conjugate
from tracejit.scipy_api.sparse import added
from tracejit.scipy_api.sparse_places import Elements
from tracejit.trace.values.equations import cast
from tracejit.trace.values.tracer import Tracer
from tracejit.tree import flatten

__all__ = ["sparse_factors", "sparse_solution"]

_ADJOINT = {PLAIN: ADJOINT, ADJOINT: PLAIN, TRANSPOSED: CONJUGATED, CONJUGATED: TRANSPOSED}
Parts = Sequence[Any]


def _given(elements: Elements) -> tuple[Any, Any, Any]:
    data, row, column = elements
    return stop_gradient(data), row, column


def sparse_factors(elements: Elements, n: object, way: Way) -> None:
    """Factorise a matrix where the program is, and raise SciPy's error if it is singular."""
    call_back(superlu_factors, (*_given(elements), n, *way), flatten(())[1], (), (), (),
              op="effect_callback")


def sparse_solution(elements: Elements, b: Tracer, way: Way, which: int = PLAIN,
                    warns: bool = False) -> Any:
    """Return the solution of a sparse system for a right side, one or several columns.

    elements -- data of the dtype of b, rows and columns of a square matrix
    way      -- how the matrix is factorised
    which    -- the matrix of the system: the one given, or another of the same factors
    warns    -- whether a singular matrix is a warning; else it only gives NaN
    """
    (x,) = call_back(superlu_solution, (*_given(elements), stop_gradient(b), *way, which, warns),
                     flatten(0.0)[1], ("array",), (b.dtype,), (b.dims,))
    row, column = (cast(as_tracer(place), np.int64) for place in elements[1:])
    rule = f"sparse {int(way.by_rows)} {way.order} {which}"
    return implied(rule, [x], elements[0], row, column, b)[0]


def _terms(data: np.ndarray, of: np.ndarray) -> Any:
    """Return an array with an axis for columns where another one has it."""
    return data if of.ndim == 1 else np.reshape(data, (-1, 1))


def _rule(by_rows: int, order: int, which: int) -> Rule:
    """Return the rule of M x = b, M of the given elements: M x' = b' - M' x."""
    way = Way(bool(by_rows), order)
    conjugates, turns = which in (ADJOINT, CONJUGATED), which in (TRANSPOSED, ADJOINT)

    def sides(row: np.ndarray, column: np.ndarray, n: int) -> tuple[Any, Any, Any]:
        """Return where M has its elements, and which of them count."""
        inside = np.logical_and(row < n, column < n)
        own: tuple[Any, Any] = np.where(inside, row, 0), np.where(inside, column, 0)
        return (*own[::-1], inside) if turns else (*own, inside)

    def jvp(results: Parts, operands: Parts, tangents: Parts) -> Parts:
        (x,), (data, row, column, _) = results, operands
        data_dot, _, _, total = tangents
        if data_dot is not None:
            n = x.shape[0]
            to, of, inside = sides(row, column, n)
            kept = np.where(inside, conjugate(data_dot) if conjugates else data_dot, 0)
            part = added(_terms(kept, x) * x[of], to, n)
            total = -part if total is None else total - part
        return [sparse_solution((data, row, column), total, way, which)]

    def vjp(results: Parts, operands: Parts, cts: Parts) -> Parts:
        (x,), (data, row, column, _), (ct,) = results, operands, cts
        if ct is None:
            return [None] * 4
        b_bar = sparse_solution((data, row, column), as_tracer(ct), way, _ADJOINT[which])
        to, of, inside = sides(row, column, x.shape[0])
        terms = b_bar[to] * conjugate(x)[of]
        data_bar = -(terms if x.ndim == 1 else np.sum(terms, axis=1))
        data_bar = conjugate(data_bar) if conjugates else data_bar
        return [np.where(inside, data_bar, data.dtype.type(0)), None, None, b_bar]

    return Rule(jvp, vjp)


FAMILIES["sparse"] = _rule
