"""Waves, quotients and filters by rank of `scipy.signal`."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.scipy_api.convolutions import is_longer
from tracejit.scipy_api.images import windows_of
from tracejit.scipy_api.taking import captures_of_some, of_finite
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import FOREIGN
from tracejit.trace.state.known import known_array
from tracejit.trace.values.equations import as_operand, cast

__all__: list[str] = []


def square(t: object, duty: object = 0.5) -> Any:
    """Return waves that are 1 over a share of their period, and -1 over the rest."""
    along: Any = cast(as_tracer(t), np.float64)
    share: Any = cast(as_tracer(duty), np.float64) + (along - along)
    high = np.remainder(along, 2.0 * math.pi) < share * 2.0 * math.pi
    return np.where((share > 1.0) | (share < 0.0), np.nan, np.where(high, 1.0, -1.0))


def deconvolve(signal: object, divisor: object) -> Any:
    """Return the quotient of two signals as polynomials, and the remainder."""
    num, den = (as_tracer(np.atleast_1d(as_tracer(x))) for x in (signal, divisor))
    for name, x in (("signal", num), ("divisor", den)):
        if len(x.dims) != 1:
            raise ValueError(f"Parameter {name} must be non-empty 1d array, but its shape is "
                             f"{x.shape}!")
    if is_longer(den.dims[0], num.dims[0]):
        return [], num
    rest: Any = as_operand(num.dims[0]) - as_operand(den.dims[0])
    impulse = np.concatenate([np.ones(1), np.zeros(rest)])
    quotient = FOREIGN["scipy.signal.lfilter"](num, den, impulse)
    return quotient, num - FOREIGN["scipy.signal.convolve"](den, quotient, mode="full")


def order_filter(a: object, domain: object, rank: int) -> Any:
    """Return for each window of an array the element that has a rank among them."""
    x: Any = as_tracer(a)
    known = known_array(domain, "the domain of a filter says which elements it ranks")
    if known is None:
        raise refuse("scipy.signal.order_filter with a traced domain= cannot be captured",
                     "Make it an array from outside", "TJ205")
    if any(n % 2 != 1 for n in known.shape):
        raise ValueError("Each dimension of domain argument should have an odd number of elements.")
    if known.ndim != len(x.dims):
        raise RuntimeError("footprint array has incorrect shape.")
    place, count = operator.index(rank), int(np.count_nonzero(known))
    place = place + count if place < 0 else place
    if not 0 <= place < count:
        raise RuntimeError("rank not within filter footprint size")
    of_finite("scipy.signal.order_filter", x)
    every = windows_of(x, known.shape, [n // 2 for n in known.shape], "constant", 0)
    chosen = [part for part, there in zip(every, known.ravel().tolist(), strict=True) if there]
    return np.sort(np.stack(chosen), axis=0)[place]


captures_of_some("scipy.signal", {"square": square, "order_filter": order_filter}, "iuf", 4)
captures_of_some("scipy.signal", {"deconvolve": deconvolve}, "iufc")
