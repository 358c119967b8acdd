"""Functions that are others put together, with no rules of their own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.ir.dims import maximum
from tracejit.numpy_api.creation import counted, iota
from tracejit.numpy_api.elementwise import as_array, as_tracer
from tracejit.numpy_api.grids import eye
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.ground.layouts import Columns
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import apply, atom_of, cast, emit, lift, same_dim, to_dim
from tracejit.trace.values.indexing import as_memory
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.symbolic_ints import known_int, of_dim
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


# --- signals and polynomials --------------------------------------------------------------------


@captures(np.polyder)
def polyder(p: Any, m: int = 1) -> Any:
    """Return a polynomial's derivative, the highest coefficient first."""
    p = as_tracer(p)
    times = need_int(to_dim(m), "how often np.polyder differentiates")
    if times < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    for _ in range(times):
        p = p[:-1]
        p = p * iota(p.dims[0], 1)[::-1]
    return p


# --- parts put together and taken apart ---------------------------------------------------------


def _plane(ndim: int, axes: Sequence[int]) -> tuple[int, int]:
    """Return the two axes between which an array is turned, or raise NumPy's error."""
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    first, second = axes
    if first == second or abs(first - second) == ndim:
        raise ValueError("Axes must be different.")
    if not (-ndim <= first < ndim and -ndim <= second < ndim):
        raise ValueError(f"Axes={tuple(axes)} out of range for array of ndim={ndim}.")
    return first, second


@captures(np.rot90)
def rot90(m: object, k: int = 1, axes: Sequence[int] = (0, 1)) -> Any:
    """Return an array turned by right angles, from the first axis towards the second: a view."""
    m = as_tracer(m)
    first, second = _plane(len(m.dims), axes)
    k = known_int(k, "how often np.rot90 turns")
    if k % 4 == 0:
        return m[:]
    if k % 4 == 2:
        return np.flip(np.flip(m, first), second)
    if k % 4 == 1:
        return np.swapaxes(np.flip(m, second), first, second)
    return np.flip(np.swapaxes(m, first, second), second)


@captures(np.block)
def block(arrays: object) -> Any:
    """Return nested lists of blocks as one array."""
    def depth(x: object) -> int:
        return 1 + max(map(depth, x)) if isinstance(x, list) else 0

    def rank(x: object) -> int:
        return max(map(rank, x)) if isinstance(x, list) else len(as_tracer(x).dims)

    ndim = max(depth(arrays), rank(arrays))

    def joined(x: object, level: int) -> Any:
        if isinstance(x, list):
            return np.concatenate([joined(y, level - 1) for y in x], axis=-level)
        x = as_tracer(x)
        return x.reshape((1,) * (ndim - len(x.dims)) + x.shape)

    result = joined(arrays, depth(arrays))
    return result if isinstance(arrays, list) else as_memory(result.own())


@captures(np.dstack)
def dstack(tup: Any) -> Any:
    """Return arrays joined along the third axis."""
    def deep(x: object) -> Any:
        x = np.atleast_2d(as_tracer(x))
        return x if len(x.shape) > 2 else x[:, :, None]

    return np.concatenate([deep(x) for x in tup], axis=2)


def _along(axis: int, name: str, least: int) -> Any:
    def function(ary: object, indices_or_sections: Any) -> Any:
        ary = as_tracer(ary)
        if len(ary.dims) < least:
            raise ValueError(f"{name} only works on arrays of {least} or more dimensions")
        along = 0 if axis == 1 and len(ary.dims) == 1 else axis
        return np.split(ary, indices_or_sections, axis=along)

    return function


captures(np.vsplit)(_along(0, "vsplit", 2))
captures(np.hsplit)(_along(1, "hsplit", 1))
captures(np.dsplit)(_along(2, "dsplit", 3))


# --- pieces and places --------------------------------------------------------------------------


def _conditions(x: Tracer, condlist: object) -> list[Any]:
    """Return conditions one by one: one alone, a list of them, or the rows of an array."""
    given: Any = condlist
    if isinstance(given, (Tracer, np.ndarray)):
        rows = need_int(lift(given).dims[0], "how many conditions there are") if np.ndim(
            given) > 1 or (np.ndim(given) and not x.dims) else 0
        return [given[k] for k in range(rows)] or [given]
    if not isinstance(given, (list, tuple)) or (
            x.dims and not isinstance(given[0], list) and not np.ndim(given[0])):
        return [given]
    return list(given)


@captures(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: object, **kw: object) -> Any:
    """Return the results of each function for the elements for which its condition holds."""
    x = as_tracer(x)
    conditions: list[Any] = [cast(as_tracer(c), np.bool_) for c in _conditions(x, condlist)]
    if len(funclist) == len(conditions) + 1:
        conditions.append(np.logical_not(functools.reduce(np.logical_or, conditions)))
    elif len(funclist) != len(conditions):
        raise ValueError(f"with {len(conditions)} condition(s), either {len(conditions)} or "
                         f"{len(conditions) + 1} functions are expected")
    result = np.zeros_like(x)
    for condition, f in zip(conditions, funclist, strict=True):
        result[condition] = call_function(f, (x[condition], *args), kw) if callable(f) else f
    return result


@captures(np.unravel_index)
def unravel_index(indices: object, shape: object, order: str = "C") -> tuple[Any, ...]:
    """Return per axis where elements lie that are numbered through."""
    if order != "C":
        raise refuse(f"np.unravel_index with order={order!r} cannot be captured", "Leave it out",
                     "TJ203")
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    found, rest = [], as_tracer(indices)
    if rest.dtype.kind not in "iu":
        raise TypeError("only int indices permitted")
    rest = cast(rest, np.int64)
    there: Any = True
    for d in reversed(shape):
        found.append(rest % d)
        rest, there = rest // d, np.logical_and(there, d > 0)
    emit("check", [atom_of(np.all(np.logical_and(rest == 0, there)))], {
        "error": "ValueError", "message": "an index is out of bounds for the shape"})
    for x in found if len(found) > 1 else ():  # NumPy keeps them as the columns of one array
        x.cell.layout = Columns(len(found))
    return tuple(reversed(found))


# --- linear algebra -----------------------------------------------------------------------------


captures(np.linalg.matmul)(lambda x1, x2: np.matmul(x1, x2))
captures(np.linalg.tensordot)(lambda x1, x2, *, axes=2: as_array(np.tensordot(x1, x2, axes)))
captures(np.linalg.trace)(lambda x, *, offset=0: np.trace(x, offset, -2, -1))
captures(np.linalg.diagonal)(lambda x, *, offset=0: np.diagonal(x, offset, -2, -1))
captures(np.linalg.matrix_transpose)(lambda x: np.swapaxes(x, -1, -2))
captures(np.matrix_transpose)(lambda x: np.swapaxes(x, -1, -2))


@captures(np.linalg.outer)
def outer(x1: Any, x2: Any) -> Any:
    """Return all products of the elements of two vectors."""
    ranks = [len(as_tracer(x).dims) for x in (x1, x2)]
    if ranks != [1, 1]:
        raise ValueError("Input arrays must be one-dimensional, but they are "
                         f"x1.ndim={ranks[0]} and x2.ndim={ranks[1]}.")
    return np.outer(x1, x2)


@captures(np.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Any:
    """Return a matrix times itself, by repeated squaring."""
    a = as_tracer(a)
    if len(a.dims) < 2 or not same_dim(*a.dims[-2:]):
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    n = known_int(n, "the exponent of np.linalg.matrix_power")
    if not isinstance(n, (int, np.integer)):
        raise refuse("np.linalg.matrix_power with an exponent that is traced", "Use a loop",
                     "TJ205")
    if n < 0:
        a, n = np.linalg.inv(a), -n
    result = None
    while n:
        if n % 2:
            result = a if result is None else result @ a
        n //= 2
        a = a @ a if n else a
    return eye(a.shape[-1], dtype=a.dtype) + np.zeros_like(a) if result is None else result


@captures(np.vander)
def vander(x: object, N: object = None, increasing: bool = False) -> Any:
    """Return the powers of the elements of a vector, row by row."""
    given = as_tracer(x)
    if len(given.dims) != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    (n,) = given.dims
    columns = n if N is None else counted(N)
    base: Any = cast(given, np.promote_types(given.dtype, int))
    repeated = apply("broadcast_to", base[:, None], shape=(n, columns))
    ones = apply("full", base.dtype.type(1), shape=(n, 1))
    powers = np.cumprod(np.concatenate([ones, repeated], axis=1), axis=1)[:, :of_dim(columns)]
    return powers.copy() if increasing else powers[:, ::-1].copy()


# --- windows ------------------------------------------------------------------------------------


_WINDOWS: dict[Any, Callable[[Any, Any], Any]] = {
    np.hanning: lambda n, m: 0.5 + 0.5 * np.cos(np.pi * n / m),
    np.hamming: lambda n, m: 0.54 + 0.46 * np.cos(np.pi * n / m),
    np.blackman: lambda n, m: (0.42 + 0.5 * np.cos(np.pi * n / m)
                               + 0.08 * np.cos(2.0 * np.pi * n / m)),
    np.bartlett: lambda n, m: np.where(n <= 0, 1 + n / m, 1 - n / m),
}
"""What windows are at -m, -m + 2 .. m, where m is how many intervals there are."""


def _window(formula: Callable[[Any, Any], Any], M: object) -> Any:
    """Return a window of M points, of which the case of one point is a program of its own."""
    if isinstance(M, Tracer) and M.dtype.kind not in "biu" and not M.dims:
        raise refuse("a window as long as a float says that only the run knows",
                     "Give an int: np.hanning(int(M)), say", "TJ212")
    before = to_dim(M) - 1
    why = "whether a window has more than one point"
    if (lonely := current().decide(before, "<=", why)) is None:
        raise refuse("a window as long as data says", "Use its formula", "TJ212")
    if lonely:
        return apply("full", np.float64(1.0), shape=(maximum(before + 1, 0),))
    n = 2.0 * cast(iota(before + 1), np.float64) - of_dim(before)
    return formula(n, of_dim(before))


def _capture_window(function: Callable[..., object], formula: Callable[[Any, Any], Any]) -> None:
    @captures(function)
    def window(M: object) -> Any:
        """Return a window for spectra."""
        return _window(formula, M)


for _function, _formula in _WINDOWS.items():
    _capture_window(_function, _formula)
