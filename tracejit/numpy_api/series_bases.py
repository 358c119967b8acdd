"""The bases of `numpy.polynomial`, and how their functions act on coefficients.

For so many coefficients a function that is linear in them is a matrix, and a product is linear in
each factor: NumPy's own function of unit vectors gives the numbers.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from tracejit.errors import SizeByData
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.trace.values.equations import cast, dims_of
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer

__all__ = ["BASES", "Basis", "as_series", "count_of", "linear_map", "matrix_of", "powers",
           "product", "whole", "with_last"]

Step = Callable[..., Any]


class Basis(NamedTuple):
    """A basis of polynomials.

    module, prefix, cls -- NumPy's module, how names of its functions begin, and its class
    first, next -- the polynomial of degree 1, and of degree k from the points and the two before
    """

    module: ModuleType
    prefix: str
    cls: str
    first: Step
    next: Step

    def function(self, name: str) -> Any:
        """Return one of NumPy's functions for this basis."""
        return getattr(self.module, self.prefix + name)


BASES = (
    Basis(polynomial, "poly", "Polynomial", lambda x: x, lambda k, x, p, q: p * x),
    Basis(chebyshev, "cheb", "Chebyshev", lambda x: x, lambda k, x, p, q: 2 * x * p - q),
    Basis(legendre, "leg", "Legendre", lambda x: x,
          lambda k, x, p, q: (p * x * (2 * k - 1) - q * (k - 1)) / k),
    Basis(hermite, "herm", "Hermite", lambda x: 2 * x,
          lambda k, x, p, q: p * (2 * x) - q * (2 * (k - 1))),
    Basis(hermite_e, "herme", "HermiteE", lambda x: x, lambda k, x, p, q: p * x - q * (k - 1)),
    Basis(laguerre, "lag", "Laguerre", lambda x: 1 - x,
          lambda k, x, p, q: (p * (2 * k - 1 - x) - q * (k - 1)) / k))


def as_series(*given: object) -> tuple[list[Any], Any]:
    """Return coefficients as arrays of one axis and of one dtype, and the dtype."""
    arrays: list[Any] = [np.atleast_1d(as_tracer(c)) for c in given]
    for a in arrays:
        if a.ndim != 1:
            raise ValueError("Coefficient array is not 1-d")
        if not count_of(a):
            raise ValueError("Coefficient array is empty")
    if any(a.dtype.kind == "b" for a in arrays):
        raise TypeError("can't get common type for non-numeric array")
    dtype = np.common_type(*(np.zeros(0, a.dtype) for a in arrays))
    return [_of_known_length(cast(as_tracer(a), dtype)) for a in arrays], dtype


def _of_known_length(c: Tracer) -> Any:
    """Return coefficients as an array whose length is an int, so that parts of it have one too."""
    return c if isinstance(c.dims[0], int) else np.stack([c[i] for i in range(count_of(c))])


def count_of(c: object) -> int:
    """Return how many coefficients there are, as an int."""
    return need_int(dims_of(as_tracer(c))[0], "how many coefficients a series has")


def whole(x: object, what: str) -> int:
    """Return an int, or raise NumPy's error."""
    try:
        return operator.index(x)  # type: ignore[arg-type]
    except TypeError as e:
        raise TypeError(f"{what} must be an integer, received {x}") from e


def with_last(c: np.ndarray, what: str) -> Any:
    """Return coefficients of which the last is not 0, or there is one; NumPy leaves others out."""
    if count_of(c) > 1:
        require(c[-1] != 0, SizeByData, f"{what} with a last coefficient of 0, which NumPy leaves "
                "out, has a size that depends on data. Leave it out before")
    return c


@functools.lru_cache(maxsize=256)
def matrix_of(f: Callable[[np.ndarray], np.ndarray], count: int) -> Any:
    """Return the matrix of a linear function of so many coefficients."""
    columns = [np.atleast_1d(f(e)) for e in np.eye(count)]
    rows = max(map(len, columns))
    return np.stack([np.pad(c, (0, rows - len(c))) for c in columns], axis=1)


def linear_map(matrix: np.ndarray, c: np.ndarray) -> Any:
    """Return the products with coefficients along the first axis; zeros meet no coefficient."""
    rows = []
    for factors in matrix:
        total: Any = None
        for j, factor in enumerate(factors):
            if factor:
                term: Any = c[j] if factor == 1.0 else float(factor) * c[j]
                total = term if total is None else total + term
        rows.append(0.0 * c[0] if total is None else total)
    return np.stack(rows)


@functools.lru_cache(maxsize=64)
def _products(multiply: Callable[..., np.ndarray], n: int, m: int) -> Any:
    """Return the products of unit vectors, as rows for each coefficient of the result."""
    found = np.zeros((n + m - 1, n, m))
    for i, a in enumerate(np.eye(n)):
        for j, b in enumerate(np.eye(m)):
            row = multiply(a[:i + 1], b[:j + 1])
            found[:len(row), i, j] = row
    return found.reshape(n + m - 1, n * m)


def product(basis: Basis, a: np.ndarray | Tracer, b: np.ndarray | Tracer) -> Any:
    """Return the coefficients of a product, and none of them left out."""
    if basis.prefix == "poly":
        return np.convolve(a, b)
    n, m = count_of(a), count_of(b)
    table = _products(basis.function("mul"), n, m)
    both: Any = np.reshape(a[:, None] * b[None, :], (n * m,))
    return np.matmul(table.astype(both.dtype), both)


def powers(basis: Basis, x: np.ndarray, degree: int) -> Sequence[Any]:
    """Return the polynomials of all degrees at points."""
    found: list[Any] = [x * 0 + 1]
    if degree:
        found.append(basis.first(x))
    for k in range(2, degree + 1):
        found.append(basis.next(k, x, found[-1], found[-2]))
    return found
