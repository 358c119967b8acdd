"""Airy's, Struve's and Hankel's functions of real numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.special import common_dtype, in_double
from tracejit.numpy_api.special_kinds import of_complex, of_floats
from tracejit.ops.bessel_kin import AIRY, AIRYE
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import apply, broadcast_dims, cast

__all__: list[str] = []


def _four(name: str, ops: tuple[str, ...]) -> Callable[..., Any]:
    """Return a function with four results."""
    parts = [in_double(name, lambda x, op=op: apply(op, x)) for op in ops]
    return lambda z: of_complex(name, (z,)) if as_tracer(z).dtype.kind == "c" else tuple(
        [part(z) for part in parts])


def _hankel(name: str, sign: float) -> Callable[..., Any]:
    """Return J + sign 1j Y; below 0 by the formulas for half a turn, as of a z + 0j."""

    def capture(v: object, z: object) -> Any:
        order, x = as_tracer(v), as_tracer(z)
        if x.dtype.kind == "c":
            return of_complex(name, (v, z))
        broadcast_dims([order.dims, x.dims])
        dtype = np.result_type(common_dtype((v, z)), np.complex64)
        order, wide = cast(order, np.float64), cast(x, np.float64)
        known = np.logical_not((wide == 0.0) | np.isinf(wide))
        size = np.abs(np.where(known, wide, 1.0))
        j, y = apply("jv", order, size), sign * apply("yv", order, size)
        c, s = np.cos(np.pi * order), np.sin(np.pi * order)
        if sign > 0.0:
            turned = -(c * j - s * y), -(-c * y - s * j)
        else:
            turned = 3.0 * c * j - s * -y, s * j + c * -y + 2.0 * c * y
        below = wide < 0.0
        at_zero = np.where((wide == 0.0) & (order == 0.0) & (sign < 0.0), np.inf, np.nan)
        return cast(apply("complex", np.where(known, np.where(below, turned[0], j), np.nan),
                          np.where(known, np.where(below, turned[1], y), at_zero)), dtype)

    return capture


scipy_captures("scipy.special", {
    "airy": of_floats("airy", _four("airy", AIRY)),
    "airye": of_floats("airye", _four("airye", AIRYE)),
    "struve": in_double("struve", lambda v, x: apply("struve", v, x)),
    "hankel1": _hankel("hankel1", 1.0), "hankel2": _hankel("hankel2", -1.0)})
