"""The Faddeeva function, Voigt's profile and Lambert's W."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.special import in_double
from tracejit.numpy_api.special_kinds import of_floats
from tracejit.ops.asymptotic import FAR, odd_factorials
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import scipy_captures
from tracejit.trace.values.equations import apply, broadcast_dims, cast, is_weak
from tracejit.trace.values.operands import TracedOperand

__all__: list[str] = []


def _wofz(z: object) -> Any:
    given = as_tracer(z)
    dtype = np.complex64 if given.dtype == np.complex64 else np.complex128  # of float32, too
    return cast(apply("wofz", cast(given, np.complex128)), dtype)


def _voigt_profile(x: np.ndarray, sigma: np.ndarray, gamma: np.ndarray) -> Any:
    """Return the real part of the Faddeeva function, moved; without `sigma` Cauchy's density."""
    size = np.hypot(x, gamma)
    sharp = sigma == 0.0
    narrow = (size > math.sqrt(2.0) * FAR * sigma) & (sigma >= 0.0) & (gamma >= 0.0)
    far = (narrow | (sharp & (gamma < 0.0))) & (size < np.inf)
    width = np.where(sharp | far, 1.0, sigma) * math.sqrt(2.0)
    place, height = (np.where(far, 0.0, v) / width for v in (x, gamma))
    wide = np.real(apply("wofz", apply("complex", place, height)))
    edge = np.where(np.isinf(gamma), np.nan, np.where(
        x == 0.0, np.inf, np.where(np.isnan(x), np.nan, 0.0)))
    alone = sharp & ((gamma == 0.0) | np.isinf(gamma))
    near = np.where(alone, edge, wide / (width * math.sqrt(math.pi)))
    return np.where(far, _narrow_voigt(*(np.where(far, v, w) for v, w in (
        (x, FAR), (sigma, 0.5), (gamma, FAR)))), near)


def _narrow_voigt(x: np.ndarray, sigma: np.ndarray, gamma: np.ndarray) -> Any:
    """Return Voigt's profile many widths away: a series in the width, and Gauss' bell."""
    inverse = 1.0 / apply("complex", x, gamma)
    ratio = sigma * inverse
    tail = np.real(1j * inverse * (1.0 + odd_factorials(ratio * ratio))) / math.pi
    inside = (gamma < sigma) & (x * x < 1400.0 * sigma * sigma)
    s, y, g = (np.where(inside, v, 1.0) for v in (sigma, x, gamma))
    bell = np.exp(-0.5 * (y - g) * (y + g) / (s * s)) * np.cos(y * g / (s * s))
    return tail + np.where(inside, bell / (s * math.sqrt(2.0 * math.pi)), 0.0)


def _voigt(x: object, sigma: object, gamma: object) -> Any:
    """Return Voigt's profile, in single precision only where all three are."""
    operands = [as_tracer(v) for v in (x, sigma, gamma)]
    single = all(v.dtype == np.float32 and not is_weak(given) for v, given in zip(
        operands, (x, sigma, gamma), strict=True))
    result: Any = in_double("voigt_profile", _voigt_profile)(
        *(v if v.dtype.kind == "c" else cast(v, np.float64) for v in operands))
    return cast(result, np.float32) if single else result


def lambertw(z: object, k: object = 0, tol: object = 1e-8) -> Any:
    """Return the solution w of w * exp(w) = z on a branch; it is complex."""
    if isinstance(tol, TracedOperand) or not tol <= 1e-8:  # type: ignore[operator]
        raise refuse("scipy.special.lambertw with tol= above 1e-8 cannot be captured",
                     "Leave tol away", "TJ203")
    given, branch = as_tracer(z), as_tracer(k)
    if branch.dtype.kind not in "iub":
        branch = cast(branch, np.int64)
    broadcast_dims([given.dims, branch.dims])
    return apply("lambert_w", cast(given, np.complex128), cast(branch, np.complex128))


scipy_captures("scipy.special", {
    "wofz": of_floats("wofz", _wofz), "voigt_profile": _voigt,
    "lambertw": lambertw})
