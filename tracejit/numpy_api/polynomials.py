"""Polynomials as arrays of coefficients, the highest first, and functions on parts of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.errors import SizeByData
from tracejit.ir.dims import maximum
from tracejit.ir.dtypes import is_half
from tracejit.numpy_api.axes import normalize_axis
from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_array, as_tracer
from tracejit.numpy_api.joins import concatenate
from tracejit.numpy_api.plainly import (
    along_axis,
    divided,
    over_axes,
    vectorized,
)
from tracejit.numpy_api.shapes import broadcast_to, ravel
from tracejit.trace.containers.places import HiddenPlace
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.dispatch import FUNCTIONS, captures
from tracejit.trace.ground.layouts import Ordered, joined, lay_out
from tracejit.trace.python.attributes import read_attribute
from tracejit.trace.python.calls import call_function
from tracejit.trace.python.kinds_of_values import type_of
from tracejit.trace.regions.loops import trace_loop
from tracejit.trace.values.equations import apply, as_operand, broadcast_dims, cast, dims_of, lift
from tracejit.trace.values.mixed import Mixed
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.symbolic_ints import known_int
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []


def _coefficients(p: object) -> Tracer:
    if isinstance(p, np.poly1d):
        p = p.coeffs
    x: Any = np.atleast_1d(as_tracer(p))
    return x


def _aligned(a: object, b: object) -> tuple[Any, Any]:
    """Return the coefficients of two polynomials, the shorter array with zeros before it."""
    a, b = _coefficients(a), _coefficients(b)
    count = maximum(a.dims[0], b.dims[0], current().builder.known)

    def padded(p: Tracer) -> Any:
        zeros = apply("full", p.dtype.type(0), shape=(count - p.dims[0],))
        return concatenate([zeros, p])

    return padded(a), padded(b)


@captures(np.polyval)
def polyval(p: object, x: object) -> Any:
    """Return a polynomial's values by Horner's rule, the highest coefficient first."""
    p, x = as_tracer(p), as_tracer(x)
    total = HiddenPlace()
    total.set(np.zeros_like(x, dtype=np.result_type(x.dtype, p.dtype)))

    def body(k: object) -> None:
        total.set(total.get() * x + p[k])

    trace_loop([total], [total.name], [], body, None, 0, p.dims[0])
    return total.get()


@captures(np.polyadd)
def polyadd(a1: object, a2: object) -> Any:
    """Return the sum of two polynomials."""
    a, b = _aligned(a1, a2)
    return a + b


@captures(np.polysub)
def polysub(a1: object, a2: object) -> Any:
    """Return the difference of two polynomials."""
    a, b = _aligned(a1, a2)
    return a - b


@captures(np.polymul)
def polymul(a1: object, a2: object) -> Any:
    """Return the product of two polynomials, whose first coefficients are not zero."""
    a, b = _coefficients(a1), _coefficients(a2)
    for p in (a, b):
        require(p[0] != 0, SizeByData, "np.polymul of a polynomial whose first coefficient is 0 "
                "has a result whose size depends on data. Use np.convolve")
    return np.convolve(a, b)


@captures(np.polydiv)
def polydiv(u: object, v: object) -> Any:
    """Return the quotient and the remainder, which begins where its degree has to."""
    if isinstance(u, np.poly1d) or isinstance(v, np.poly1d):
        raise refuse("np.polydiv of a poly1d cannot be captured", "Pass its coefficients", "TJ209")
    a, b = _coefficients(u) + 0.0, _coefficients(v) + 0.0
    if len(a.dims) != 1 or len(b.dims) != 1:
        raise refuse("np.polydiv of arrays with several axes cannot be captured", "Use a loop",
                     "TJ207")
    dtype = np.result_type(a.dtype, b.dtype)
    if is_half(a.dtype) or is_half(b.dtype):
        raise refuse(f"np.polydiv of {a.dtype if is_half(a.dtype) else b.dtype} cannot be captured",
                     "Convert it first: p.astype(np.float32)", "TJ206")
    a, b = cast(a, dtype), cast(b, dtype)
    count = a.dims[0] - b.dims[0]
    is_shorter = current().decide(count, "<", "whether a polynomial has less coefficients")
    if is_shorter is None:
        raise refuse("np.polydiv of polynomials whose lengths data decides cannot be captured",
                     "Make their lengths those of arguments", "TJ212")
    quotient, rest = (np.zeros(1, dtype), a) if is_shorter else call_function(
        divided, (a, b, as_operand(count + 1)), {})
    first: Any = 0 if is_shorter else np.minimum(as_operand(count + 1), as_operand(a.dims[0]) - 1)
    message = ("np.polydiv whose remainder has another degree than most has a result whose size "
               "depends on data. Divide by a polynomial of lower degree, or take the remainder "
               "from np.convolve")
    require(np.all(np.abs(rest[:first]) <= 1e-8), SizeByData, message)
    if current().decide(a.dims[0] - 1, "==", "a remainder of one number is kept") is not True:
        last = first == as_operand(a.dims[0]) - 1
        require(np.logical_or(last, np.logical_not(np.abs(rest[first]) <= 1e-8)), SizeByData,
                message)
    return quotient, rest[first:]


@captures(np.polyint)
def polyint(p: object, m: int = 1, k: object = None) -> Any:
    """Return an integral of a polynomial, with constants of integration."""
    m = known_int(m, "the order of np.polyint")
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = [0.0] * m if k is None else list(k) if isinstance(k, (list, tuple)) else [
        k[i] for i in range(len(k))] if isinstance(k, (np.ndarray, Tracer)) and np.ndim(k) else [k]
    constants = constants * m if len(constants) == 1 and m > 1 else constants
    if len(constants) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    result = as_tracer(p)
    if not result.dims:
        raise TypeError("len() of unsized object")
    for c in constants[:m]:
        n = result.dims[0]
        divided: Any = result / (as_operand(n) - iota(n))
        result = concatenate([divided, np.reshape(as_tracer(c), (1,))])
    return result


# --- functions on parts of arrays ---------------------------------------------------------------


@captures(np.apply_along_axis)
def apply_along_axis(func1d: Callable[..., object], axis: object, arr: object, *args: object,
                     **kwargs: object) -> Any:
    """Return the results of a function for each vector along an axis."""
    array = as_tracer(arr)
    along = normalize_axis(axis, len(array.dims))
    given = (func1d, along, array, args, kwargs, _one_dtype)
    result = as_array(call_function(along_axis, given, {}))
    ndim = len(result.dims)
    if ndim > 1:  # NumPy keeps one result behind the other
        inner = range(along, along + ndim - len(array.dims) + 1)
        result = result.own()
        result.cell.layout = Ordered((*(k for k in range(ndim) if k not in inner), *inner))
    return result


def _one_dtype(x: object) -> Any:
    """Return a result of a function for a vector; refuse one whose dtype data decides."""
    if isinstance(x, Mixed) and len({kind.dtype for kind in x.kinds}) > 1:
        type_of(x)
    return x


@captures(np.apply_over_axes)
def apply_over_axes(func: Callable[..., object], a: object, axes: int | Sequence[int]) -> Any:
    """Return the result of a function of an array and an axis, for one axis after the other."""
    given = (axes,) if isinstance(axes, int) else tuple(axes)
    return call_function(over_axes, (func, as_tracer(a), given), {})


def _number(x: object) -> Any:
    """Return a result of a function, which is a number."""
    if isinstance(x, (tuple, list)) or dims_of(lift(x)):
        raise refuse("np.vectorize of a function that returns several numbers cannot be captured",
                     "Use np.apply_along_axis, or a loop", "TJ203")
    return x


def _of_one_dtype(x: object) -> Any:
    """Return a result of a function, a number of one dtype; refuse one whose dtype data decides."""
    return _one_dtype(_number(x))


def vectorize_call(self: np.vectorize, *args: object, **kwargs: object) -> Any:
    """Return the result of a function that `np.vectorize` made."""
    pyfunc, otypes, signature, excluded = (read_attribute(self, name) for name in (
        "pyfunc", "otypes", "signature", "excluded"))
    if signature is not None or excluded or kwargs or not args:
        raise refuse("a function that np.vectorize made with `signature` or `excluded`, or is "
                     "called with keywords, cannot be captured", "Use a loop", "TJ203")
    arrays = [as_tracer(x) for x in args]
    shape = tuple(map(as_operand, broadcast_dims([x.dims for x in arrays])))
    flat = [ravel(as_tracer(broadcast_to(x, shape))) for x in arrays]
    if current().decide(flat[0].dims[0], "==", "np.vectorize of nothing") is True:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    if otypes is None:  # of the result of one call more, for NumPy's own number
        first = _of_one_dtype(call_function(pyfunc, tuple([x[0] for x in flat]), {}))
        dtype = as_tracer(first).dtype
    else:
        dtype = np.dtype(otypes[0])
    checked = _of_one_dtype if otypes is None else _number
    found = call_function(vectorized, (pyfunc, flat, checked), {})
    objects = [lay_out(x.own(), "K", x) for x in arrays]  # NumPy goes through copies of such
    return joined(as_array(np.reshape(found, shape).astype(dtype)), objects)


_CALL: Any = vars(np.vectorize)["__call__"]
FUNCTIONS[_CALL] = vectorize_call
