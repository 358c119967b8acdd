"""The functions of `numpy.polynomial` on coefficients, the lowest first, in each basis."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.series_bases import (
    BASES,
    Basis,
    as_series,
    count_of,
    linear_map,
    matrix_of,
    product,
    whole,
    with_last,
)
from tracejit.numpy_api.series_fits import fit, products_of, vander
from tracejit.trace.ground.dispatch import FUNCTIONS, captures
from tracejit.trace.values.equations import cast, same_dim
from tracejit.trace.values.python_numbers import require, require_ours
from tracejit.trace.values.symbolic_ints import known_int

__all__ = ["derivative", "integral", "of_roots", "power", "quotient", "roots", "sum_of", "times"]


def _label(basis: Basis, name: str) -> str:
    return f"np.polynomial.{basis.prefix}{name}"


def sum_of(basis: Basis, c1: object, c2: object, sign: int) -> Any:
    """Return the coefficients of a sum or difference."""
    (a, b), _ = as_series(c1, c2)
    n, m = count_of(a), count_of(b)
    b = b if sign > 0 else -b
    short, long = (a, b) if n < m else (b, a)
    k = min(n, m)
    both: Any = long[:k] + short
    found = both if n == m else np.concatenate([both, long[k:]])
    return with_last(found, _label(basis, "add" if sign > 0 else "sub"))


def times(basis: Basis, c1: object, c2: object) -> Any:
    """Return the coefficients of a product."""
    (a, b), _ = as_series(c1, c2)
    what = _label(basis, "mul")
    if basis.prefix != "poly":
        for c in (a, b):
            require_ours(np.all(np.isfinite(c)), NotCaptured,
                         f"{what} of coefficients that are infinite or NaN is not captured")
    return with_last(product(basis, a, b), what)


def power(basis: Basis, c: object, pow: object, maxpower: object) -> Any:
    """Return the coefficients of a power."""
    (a,), dtype = as_series(c)
    pow = known_int(pow, "the power of a series")
    count = int(np.asarray(pow))
    if count != pow or count < 0:
        raise ValueError("Power must be a non-negative integer.")
    if maxpower is not None and count > operator.index(maxpower):  # type: ignore[arg-type]
        raise ValueError("Power is too large")
    if not count:
        return as_tracer(np.ones(1, dtype))
    found = with_last(a, _label(basis, "pow"))
    for _ in range(count - 1):
        found = product(basis, found, a)
    return with_last(found, _label(basis, "pow"))


def quotient(basis: Basis, c1: object, c2: object) -> tuple[Any, Any]:
    """Return the coefficients of a quotient and those of the remainder, none left out."""
    (a, b), _ = as_series(c1, c2)
    a, b = (with_last(x, _label(basis, "div")) for x in (a, b))
    require(b[-1] != 0, ZeroDivisionError, "")
    n, m = count_of(a), count_of(b)
    if n < m:
        return a[:1] * 0, a
    if m == 1:
        return a / b[-1], a[:1] * 0
    found: list[Any] = []
    for i in reversed(range(n - m + 1)):
        unit = as_tracer(np.eye(i + 1, dtype=a.dtype)[i])
        each = product(basis, unit, b)
        factor = a[-1] / each[-1]
        a = a[:-1] - factor * each[:-1]
        found.append(factor)
    return np.stack(found[::-1]), a


def _divided(basis: Basis, c1: object, c2: object) -> tuple[Any, Any]:
    found, rest = quotient(basis, c1, c2)
    return found, with_last(rest, _label(basis, "div"))


def _first(c: object, axis: object) -> tuple[Any, int]:
    """Return coefficients in floats or complex numbers, along the first axis, and where it was."""
    a: Any = np.atleast_1d(as_tracer(c))
    if a.dtype.kind in "biu":
        a = cast(as_tracer(a), np.float64)
    along = whole(axis, "the axis")
    if not -a.ndim <= along < a.ndim:
        raise np.exceptions.AxisError(along, a.ndim)
    return np.moveaxis(a, along, 0), along


def derivative(basis: Basis, c: object, m: object, scl: object, axis: object) -> Any:
    """Return the coefficients of a derivative."""
    order = whole(m, "the order of derivation")
    if order < 0:
        raise ValueError("The order of derivation must be non-negative")
    a, along = _first(c, axis)
    count = count_of(a)
    if order >= count:
        found: Any = a[:1] * 0
    else:
        found = a
        for k in range(order):
            found = linear_map(matrix_of(basis.function("der"), count - k), found * scl)
    return np.moveaxis(found, 0, along)


def integral(basis: Basis, c: object, m: object, k: object, lbnd: object, scl: object,
             axis: object = 0) -> Any:
    """Return the coefficients of an integral, with constants, from a bound on."""
    order = whole(m, "the order of integration")
    constants = list(k) if isinstance(k, (list, tuple)) else [k] if not np.ndim(as_tracer(k)) else (
        [as_tracer(k)[i] for i in range(count_of(k))])
    if order < 0:
        raise ValueError("The order of integration must be non-negative")
    if len(constants) > order:
        raise ValueError("Too many integration constants")
    if np.ndim(as_tracer(lbnd)):
        raise ValueError("lbnd must be a scalar.")
    if np.ndim(as_tracer(scl)):
        raise ValueError("scl must be a scalar.")
    a, along = _first(c, axis)
    for i in range(order):
        a = _integrated(basis, a * scl, constants[i] if i < len(constants) else 0, lbnd)
    return np.moveaxis(a, 0, along)


def _integrated(basis: Basis, a: np.ndarray, constant: object, lbnd: object) -> Any:
    """Return the coefficients of the integral that is a constant at a bound."""
    count = count_of(a)
    if count == 1:
        require_ours(np.any(a != 0), NotCaptured, f"{_label(basis, 'int')} of nothing but 0, "
                     "whose integral NumPy keeps in one coefficient, is not captured")
    found = linear_map(matrix_of(basis.function("int"), count), a)
    there = FUNCTIONS[basis.function("val")](lbnd, found)
    return np.concatenate([(found[0] + constant - there)[None], found[1:]])


def of_roots(basis: Basis, given: object) -> Any:
    """Return the coefficients of the polynomial with these roots."""
    if not np.size(as_tracer(given)):
        return np.ones(1)
    (found,), _ = as_series(given)
    sorted_roots: Any = np.sort(found)
    through = matrix_of(lambda c: basis.function("line")(c[0], c[1]), 2)
    factors = []
    for i in range(count_of(found)):
        root = sorted_roots[i]
        factors.append(linear_map(through, np.stack([-root, 0.0 * root + 1.0])))
    while len(factors) > 1:  # NumPy multiplies halves
        half, odd = divmod(len(factors), 2)
        pairs = [product(basis, factors[i], factors[i + half]) for i in range(half)]
        if odd:
            pairs[0] = product(basis, pairs[0], factors[-1])
        factors = pairs
    return factors[0]


@functools.lru_cache(maxsize=64)
def _companion_parts(basis: Basis, degree: int) -> tuple[Any, Any]:
    """Return the companion matrix of the last polynomial, and what others add to its last column.
    """
    units = np.eye(degree + 1)
    make = basis.function("companion")
    base = make(units[degree])
    added = [float((make(units[degree] + units[j]) - base)[j, -1]) for j in range(degree)]
    return base, np.array(added)


def companion(basis: Basis, c: object) -> Any:
    """Return the matrix whose eigenvalues are the roots."""
    (a,), dtype = as_series(c)
    degree = count_of(a) - 1
    if degree < 1:
        raise ValueError("Series must have maximum degree of at least 1.")
    a = with_last(a, _label(basis, "companion"))
    base, added = _companion_parts(basis, degree)
    column: Any = base[:, -1] + added * (a[:-1] / a[-1])
    found = np.concatenate([np.asarray(base[:, :-1], column.dtype), column[:, None]], axis=1)
    return cast(as_tracer(found), dtype)


def roots(basis: Basis, c: object) -> Any:
    """Return the roots, complex but for a line's."""
    (a,), dtype = as_series(c)
    count = count_of(a)
    if count < 2:
        return as_tracer(np.zeros(0, dtype))
    matrix = companion(basis, a)
    if count == 2:
        return np.reshape(matrix, (1,))
    return np.sort(np.linalg.eigvals(matrix))


def _values_at(basis: Basis, c: object, points: Sequence[object], grid: bool) -> Any:
    """Return values in several variables, at points or on the grid of their coordinates."""
    value = FUNCTIONS[basis.function("val")]
    arrays: list[Any] = [as_tracer(x) for x in points]
    shapes = [x.dims for x in arrays]
    if not grid and any(len(s) != len(shapes[0]) or not all(map(same_dim, s, shapes[0]))
                        for s in shapes):
        names = "x, y" if len(arrays) == 2 else "x, y, z"
        raise ValueError(f"{names} are incompatible")
    found = value(arrays[0], c)
    for x in arrays[1:]:
        found = value(x, found) if grid else value(x, found, tensor=False)
    return found


def _enter(basis: Basis) -> None:
    """Enter the captures of a basis's functions."""
    def at(name: str) -> Callable[..., Any]:
        return captures(basis.function(name))

    at("add")(lambda c1, c2: sum_of(basis, c1, c2, 1))
    at("sub")(lambda c1, c2: sum_of(basis, c1, c2, -1))
    at("mul")(lambda c1, c2: times(basis, c1, c2))
    at("mulx")(lambda c: _multiplied_by_x(basis, c))
    if basis.prefix == "poly":
        at("pow")(lambda c, pow, maxpower=None: power(basis, c, pow, maxpower))
    else:
        at("pow")(lambda c, pow, maxpower=16: power(basis, c, pow, maxpower))
    at("der")(lambda c, m=1, scl=1, axis=0: derivative(basis, c, m, scl, axis))
    at("int")(lambda c, m=1, k=[], lbnd=0, scl=1, axis=0: integral(
        basis, c, m, k, lbnd, scl, axis))
    at("fromroots")(lambda roots: of_roots(basis, roots))
    at("companion")(lambda c: companion(basis, c))
    at("div")(lambda c1, c2: _divided(basis, c1, c2))
    at("roots")(lambda c: roots(basis, c))
    at("vander")(lambda x, deg: vander(basis, x, deg))
    at("vander2d")(lambda x, y, deg: products_of(basis, (x, y), deg))
    at("vander3d")(lambda x, y, z, deg: products_of(basis, (x, y, z), deg))
    at("fit")(lambda x, y, deg, rcond=None, full=False, w=None: fit(
        basis, x, y, deg, rcond, full, w))
    at("val2d")(lambda x, y, c: _values_at(basis, c, (x, y), False))
    at("val3d")(lambda x, y, z, c: _values_at(basis, c, (x, y, z), False))
    at("grid2d")(lambda x, y, c: _values_at(basis, c, (x, y), True))
    at("grid3d")(lambda x, y, z, c: _values_at(basis, c, (x, y, z), True))


def _multiplied_by_x(basis: Basis, c: object) -> Any:
    (a,), _ = as_series(c)
    require_ours(a[-1] != 0, NotCaptured, f"{_label(basis, 'mulx')} with a last coefficient of 0 "
                 "is not captured: leave it out before")
    return linear_map(matrix_of(basis.function("mulx"), count_of(a)), a)


def _enter_conversion(f: Callable[..., np.ndarray]) -> None:
    def convert(given: object) -> Any:
        (a,), _ = as_series(given)
        a = with_last(a, f"np.polynomial.{f.__name__}")
        return linear_map(matrix_of(f, count_of(a)), a)

    captures(f)(lambda pol: convert(pol)) if f.__name__.startswith("poly") else captures(f)(
        lambda c: convert(c))


for _basis in BASES:
    _enter(_basis)
    if _basis.prefix != "poly":
        for _name in (f"poly2{_basis.prefix}", f"{_basis.prefix}2poly"):
            _enter_conversion(getattr(_basis.module, _name))
