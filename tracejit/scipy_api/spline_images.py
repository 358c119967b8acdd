"""Images of `scipy.ndimage` between their points, by splines of up to the fifth degree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracejit.numpy_api.creation import iota
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.scipy_api.plain_signals import spline_coefficients
from tracejit.scipy_api.taking import of_finite
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.python.calls import call_function
from tracejit.trace.values.equations import as_operand, cast, dims_of

__all__ = ["by_splines", "coefficients_of"]

POLES = {
    2: (math.sqrt(8.0) - 3.0,), 3: (math.sqrt(3.0) - 2.0,),
    4: (math.sqrt(664.0 - math.sqrt(438976.0)) + math.sqrt(304.0) - 19.0,
        math.sqrt(664.0 + math.sqrt(438976.0)) - math.sqrt(304.0) - 19.0),
    5: (math.sqrt(67.5 - math.sqrt(4436.25)) + math.sqrt(26.25) - 6.5,
        math.sqrt(67.5 + math.sqrt(4436.25)) - math.sqrt(26.25) - 6.5)}
"""The poles of the filters that find splines' coefficients: M. Unser, IEEE SPM 16, 1999."""

MODES = ("constant", "nearest", "mirror", "reflect", "wrap", "grid-constant", "grid-mirror",
         "grid-wrap")
_NAMES = ", ".join(MODES)
_SIDE = 12
"""How far SciPy continues an image by its edge before it looks for the spline."""


def _place(i: np.ndarray, n: int, mode: str) -> Any:
    """Return the index of the number that continues an image at an index."""
    if mode == "grid-wrap":
        return np.remainder(i, n)
    if mode == "nearest":
        return np.clip(i, 0, n - 1)
    halfway = mode == "reflect"
    period = 2 * n if halfway else 2 * n - 2
    r = np.remainder(i, period)
    return np.minimum(r, (period - 1 if halfway else period) - r)


def _period(p: np.ndarray, n: int, mode: str) -> Any:
    """Return places outside of an axis as those that continue it, as SciPy's C code has them."""
    if mode == "wrap":
        top: Any = np.maximum(n - 1, 1)
        behind = np.where(p > n - 1, p - top * np.trunc(p / top), p)
        return np.where(p < 0.0, p + top * (np.trunc(-p / top) + 1.0), behind)
    if mode == "grid-wrap":
        return np.remainder(p, n)
    if mode == "reflect":
        turned = np.remainder(p + 0.5, 2 * n) - 0.5
        return np.where(turned > n - 0.5, 2 * n - 1 - turned, turned)
    if mode == "mirror":
        turned = np.remainder(p, np.maximum(2 * n - 2, 1))
        return np.where(turned > n - 1, 2 * n - 2 - turned, turned)
    return p


def _kept(p: np.ndarray, n: int, mode: str, order: int) -> Any:
    """Return places near an axis that have the numbers of those that lie far from it."""
    if mode == "nearest":
        return np.clip(p, -4.0, n + 3)
    if mode == "grid-constant":
        return np.clip(p, -8.0, n + 7)
    return _period(p, n, mode) if mode == "wrap" or order == 0 else p


def _coefficients(x: np.ndarray, axis: int, z: float, mode: str) -> Any:
    """Return an array filtered along an axis by one pole, as splines' coefficients are found."""
    moved: Any = np.moveaxis(x, axis, 0)
    size = as_tracer(moved).dims[0]
    if current().decide(size - 1, "==", "a spline through one number") is not False:
        raise refuse("scipy.ndimage of an axis of one number with order= above 1 cannot be "
                     "captured", "Say order=1", "TJ213")
    n = as_operand(size)
    k: Any = cast(iota(size), np.float64)
    none = 0.0 * k
    end = (0.0, 0.0)
    if mode == "grid-wrap":
        start = np.where(k == 0.0, 1.0, z ** (n - k)) / (1.0 - z ** (1.0 * n))
        last = z ** (k + 2.0) / (1.0 - z ** (1.0 * n))
        last = np.where(k == n - 1, z / (1.0 - z ** (1.0 * n)), last) * -1.0
    elif mode in ("reflect", "nearest"):
        turned = np.where(k == 0.0, 0.0, z ** (2.0 * n - 1.0 - k))
        total = np.where(k == n - 1, 0.0, z ** k) + turned
        total = total * (1.0 + z ** (2.0 * n - 1.0))  # as SciPy has it, which is not quite exact
        total = total + np.where(k == n - 1, z ** k, 0.0)
        start = np.where(k == 0.0, 1.0, 0.0) + total * (z / (1.0 - z ** (2.0 * n)))
        last, end = none, (z / (z - 1.0), 0.0)
    else:
        inner = np.where((k == 0.0) | (k == n - 1), 0.0, z ** (2.0 * n - 2.0 - k))
        start = (z ** k + inner) / (1.0 - z ** (2.0 * n - 2.0))
        last, end = none, (z / (z * z - 1.0), z * z / (z * z - 1.0))
    rows = np.reshape(moved, (n, -1)) * ((1.0 - z) * (1.0 - 1.0 / z))
    kind = as_tracer(rows).dtype
    found: Any = call_function(spline_coefficients, (
        rows, z, cast(start, kind), cast(last, kind), end), {})
    return np.moveaxis(np.reshape(found, moved.shape), 0, axis)


def coefficients_of(x: np.ndarray, axis: int, order: int, mode: str) -> Any:
    """Return the coefficients of the spline of an order through the numbers along an axis."""
    if mode not in MODES:
        raise RuntimeError("boundary mode not supported")
    for pole in POLES.get(order, ()):
        x = _coefficients(x, axis, pole, "reflect" if mode == "grid-mirror" else mode)
    return x


def _weights(p: np.ndarray, order: int) -> tuple[Any, list[Any]]:
    """Return the first index that a place is between, and the weights from there on."""
    if order == 0:
        return np.floor(p + 0.5), [1.0]
    if order == 1:
        low = np.floor(p)
        return low, [1.0 - (p - low), p - low]
    if order == 2:
        middle = np.floor(p + 0.5)
        t = p - middle
        return middle - 1.0, [0.5 * (0.5 - t) ** 2, 0.75 - t * t, 0.5 * (0.5 + t) ** 2]
    if order > 3:
        return _high_weights(p, order)
    low = np.floor(p)
    t = p - low
    s = 1.0 - t
    return low - 1.0, [s * s * s / 6.0, (4.0 - 6.0 * t * t + 3.0 * t * t * t) / 6.0,
                       (4.0 - 6.0 * s * s + 3.0 * s * s * s) / 6.0, t * t * t / 6.0]


def _high_weights(p: np.ndarray, order: int) -> tuple[Any, list[Any]]:
    """Return the same of any order, by the triangle of C. de Boor on knots one apart."""
    shift = 0.5 if order % 2 == 0 else 0.0
    middle = np.floor(p + shift)
    t = p - middle + shift  # behind the last knot
    row: list[Any] = [1.0 + 0.0 * t]
    for degree in range(1, order + 1):
        above = []
        for i in range(degree + 1):
            part: Any = 0.0
            if i:
                part = part + (t + (degree - i)) / degree * row[i - 1]
            if i < degree:
                part = part + ((i + 1) - t) / degree * row[i]
            above.append(part)
        row = above
    return middle - float(order // 2), row


def by_splines(x: np.ndarray, places: list[np.ndarray], order: int, mode: str, cval: object,
               prefilter: bool) -> Any:
    """Return an image at places: one array of coordinates for each axis."""
    if mode not in MODES or order not in (0, 1, 2, 3, 4, 5):
        raise refuse(f"scipy.ndimage of an image between its points with {mode=} and {order=} "
                     f"cannot be captured", f"Say order=0 to 5, and one of {_NAMES}", "TJ203")
    mode = "reflect" if mode == "grid-mirror" else mode
    if mode != "constant":
        of_finite("scipy.ndimage of an image at coordinates", *places)
    outside: Any = cval
    inside: Any = True
    for d, p in zip(dims_of(x), places, strict=True):
        inside = inside & (p >= 0.0) & (p <= as_operand(d) - 1)
    filters = bool(prefilter) and order > 1
    side = _SIDE if filters and mode in ("nearest", "grid-constant") else 0
    if side and mode == "nearest":
        x = np.pad(x, side, mode="edge")
    elif side:
        x = np.pad(x, side, constant_values=outside)
    for axis in range(len(places) if filters else 0):
        for pole in POLES[order]:
            x = _coefficients(x, axis, pole, mode)
    sizes = [as_operand(d) for d in dims_of(x)]
    kept = [np.where(inside, p, 0.0) if mode == "constant" else _kept(p + side, n, mode, order)
            for p, n in zip(places, sizes, strict=True)]
    along = [_weights(p, order) for p in kept]
    found: Any = 0.0
    for corner in np.ndindex(*(order + 1,) * len(places)):
        share: Any = 1.0
        within: Any = np.True_
        at = []
        for up, (low, weights), n in zip(corner, along, sizes, strict=True):
            share = share * weights[up]
            index: Any = cast(as_tracer(low + up), np.int64)
            within = within & (index >= 0) & (index < n)
            at.append(_place(index, n, "nearest" if mode == "grid-constant" else mode))
        value: Any = x[tuple(at)]
        value = np.where(within, value, outside) if mode == "grid-constant" else value
        found = found + share * value
    return np.where(inside, found, outside) if mode == "constant" else found
