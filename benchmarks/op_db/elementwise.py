"""PyTorch's elementwise functions, in NumPy and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sp

__all__ = ["FORMS"]


def add(x: Any, y: Any, alpha: Any = 1) -> Any:
    return x + alpha * y


def sub(x: Any, y: Any, alpha: Any = 1) -> Any:
    return x - alpha * y


def clamp(x: Any, min: Any = None, max: Any = None) -> Any:
    return np.clip(x, min, max)


def divide(x: Any, y: Any, rounding_mode: str | None = None) -> Any:
    if rounding_mode == "floor":
        return np.floor_divide(x, y)
    return np.trunc(x / y) if rounding_mode == "trunc" else x / y


def addcmul(x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    return x + value * a * b


def addcdiv(x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    return x + value * a / b


def lerp(x: Any, end: Any, weight: Any) -> Any:
    return x + weight * (end - x)


def ldexp(x: Any, y: Any) -> Any:
    return x * 2.0 ** y


def polar(r: Any, angle: Any) -> Any:
    return r * np.exp(1j * angle)


def view_as_real(z: Any) -> Any:
    return np.stack([np.real(z), np.imag(z)], axis=-1)


def logit(x: Any, eps: Any = None) -> Any:
    return sp.logit(x if eps is None else np.clip(x, eps, 1.0 - eps))


def where(x: Any, condition: Any, y: Any) -> Any:
    return np.where(condition, x, y)


def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    return np.where(mask, value, x)


def sign_of_complex(x: Any) -> Any:
    return np.sign(x)


def round_decimals(x: Any, decimals: int = 0) -> Any:
    return np.round(x, decimals)


def nan_to_num(x: Any, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def heaviside(x: Any, values: Any) -> Any:
    return np.heaviside(x, values)


def isclose(x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    return np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan)


def allclose(x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8,
             equal_nan: bool = False) -> Any:
    return np.allclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan)


def entr(x: Any) -> Any:
    return sp.entr(x)


def fill(x: Any, value: Any) -> Any:
    return np.full_like(x, value)


def polynomial(function: Any) -> Any:
    """Return the form of a polynomial whose degree is cut to an int, and 0 below 0."""
    def evaluate(x: Any, n: Any) -> Any:
        degree = np.trunc(n).astype(np.int64)
        return np.where(degree < 0, 0.0, function(np.maximum(degree, 0), x))
    return evaluate


def converted(dtype: Any) -> Any:
    """Return the function that converts to a dtype."""
    def convert(x: Any, **_: object) -> Any:
        return x.astype(dtype)
    return convert


def to(x: Any, *how: Any, **_: object) -> Any:
    given = [a for a in how if isinstance(a, np.dtype)]
    others = [a.dtype for a in how if isinstance(a, np.ndarray)]
    return x.astype((given + others)[0])


UFUNCS = {
    "abs": np.abs, "acos": np.arccos, "acosh": np.arccosh, "mul": np.multiply, "asin": np.arcsin,
    "asinh": np.arcsinh, "atan": np.arctan, "atan2": np.arctan2, "atanh": np.arctanh,
    "bitwise_not": np.invert, "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift, "ceil": np.ceil, "positive": np.positive,
    "conj": np.conj, "conj_physical": np.conjugate, "resolve_conj": np.positive,
    "resolve_neg": np.positive, "copysign": np.copysign, "cos": np.cos, "cosh": np.cosh,
    "deg2rad": np.deg2rad, "true_divide": np.true_divide, "exp": np.exp, "eq": np.equal,
    "fmax": np.fmax, "fmin": np.fmin, "fmod": np.fmod, "remainder": np.remainder,
    "floor": np.floor, "i0": np.i0, "floor_divide": np.floor_divide, "frexp": np.frexp,
    "log1p": np.log1p, "ge": np.greater_equal, "gt": np.greater, "imag": np.imag,
    "le": np.less_equal, "log": np.log, "log10": np.log10, "log2": np.log2,
    "logaddexp": np.logaddexp, "logaddexp2": np.logaddexp2, "logical_not": np.logical_not,
    "lt": np.less, "max_binary": np.maximum, "maximum": np.maximum, "min_binary": np.minimum,
    "minimum": np.minimum, "logical_and": np.logical_and, "logical_or": np.logical_or,
    "logical_xor": np.logical_xor, "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor, "lcm": np.lcm, "gcd": np.gcd, "ne": np.not_equal,
    "neg": np.negative, "pow": np.power, "float_power": np.float_power, "rad2deg": np.rad2deg,
    "real": np.real, "round": np.round, "sin": np.sin, "sinc": np.sinc, "sinh": np.sinh,
    "sign": np.sign, "signbit": np.signbit, "tan": np.tan, "tanh": np.tanh, "trunc": np.trunc,
    "exp2": np.exp2, "expm1": np.expm1, "reciprocal": np.reciprocal, "sqrt": np.sqrt,
    "square": np.square, "angle": np.angle, "isfinite": np.isfinite, "isinf": np.isinf,
    "isposinf": np.isposinf, "isneginf": np.isneginf, "isreal": np.isreal, "isnan": np.isnan,
    "nextafter": np.nextafter, "hypot": np.hypot, "clone": np.copy, "contiguous": np.copy,
    "alias_copy": np.copy, "clamp_max": np.minimum, "clamp_min": np.maximum,
    "sgn": sign_of_complex,
}

SPECIAL = {
    "xlogy": sp.xlogy, "sigmoid": sp.expit, "digamma": sp.digamma, "erf": sp.erf, "erfc": sp.erfc,
    "erfinv": sp.erfinv, "lgamma": sp.gammaln, "igamma": sp.gammainc, "igammac": sp.gammaincc,
    "special_i0e": sp.i0e, "special_i1": sp.i1, "special_i1e": sp.i1e, "special_ndtr": sp.ndtr,
    "special_xlog1py": sp.xlog1py, "special_zeta": sp.zeta, "special_entr": entr,
    "special_ndtri": sp.ndtri, "special_log_ndtr": sp.log_ndtr, "special_erfcx": sp.erfcx,
    "special_airy_ai": lambda x: sp.airy(x)[0], "special_bessel_j0": sp.j0,
    "special_bessel_j1": sp.j1, "special_bessel_y0": sp.y0, "special_bessel_y1": sp.y1,
    "special_modified_bessel_i0": sp.i0, "special_modified_bessel_i1": sp.i1,
    "special_modified_bessel_k0": sp.k0, "special_modified_bessel_k1": sp.k1,
    "special_scaled_modified_bessel_k0": sp.k0e, "special_scaled_modified_bessel_k1": sp.k1e,
    "special_spherical_bessel_j0": lambda x: sp.spherical_jn(0, x),
    "special_chebyshev_polynomial_t": polynomial(sp.eval_chebyt),
    "special_chebyshev_polynomial_u": polynomial(sp.eval_chebyu),
    "special_hermite_polynomial_h": polynomial(sp.eval_hermite),
    "special_hermite_polynomial_he": polynomial(sp.eval_hermitenorm),
    "special_laguerre_polynomial_l": polynomial(sp.eval_laguerre),
    "special_legendre_polynomial_p": polynomial(sp.eval_legendre),
    "special_shifted_chebyshev_polynomial_t": polynomial(sp.eval_sh_chebyt),
    "special_shifted_chebyshev_polynomial_u": polynomial(sp.eval_sh_chebyu),
    **{f"{prefix}polygamma_{prefix}polygamma_n_{n}": lambda x, k: sp.polygamma(k, x)
       for prefix in ("", "special_") for n in range(5)},
    **{f"mvlgamma_mvlgamma_p_{p}": lambda x, d: sp.multigammaln(x, d) for p in (1, 3, 5)},
}

FORMS: dict[str, Any] = {
    **UFUNCS, **SPECIAL, "add": add, "sub": sub, "rsub": lambda x, y, alpha=1: y - alpha * x,
    "clamp": clamp, "div_no_rounding_mode": divide, "div_trunc_rounding": divide,
    "div_floor_rounding": divide, "addcmul": addcmul, "addcdiv": addcdiv, "lerp": lerp,
    "ldexp": ldexp, "complex": lambda x, y: x + 1j * y, "polar": polar,
    "view_as_real": view_as_real, "view_as_complex": lambda x: x[..., 0] + 1j * x[..., 1],
    "frac": lambda x: np.modf(x)[0], "heaviside": heaviside, "isclose": isclose,
    "allclose": allclose, "equal": lambda x, y: np.array_equal(x, y), "nan_to_num": nan_to_num,
    "rsqrt": lambda x: 1.0 / np.sqrt(x), "logit": logit, "where": where,
    "masked_fill": masked_fill, "fill": fill, "zero_": lambda x: np.zeros_like(x),
    "round_decimals_0": round_decimals, "round_decimals_3": round_decimals,
    "round_decimals_neg_3": round_decimals, "to": to,
    "__radd__": lambda x, y: y + x, "__rdiv__": lambda x, y: y / x,
    "__rmul__": lambda x, y: y * x, "__rand__": lambda x, y: y & x, "__ror__": lambda x, y: y | x,
    "__rxor__": lambda x, y: y ^ x, "__rmatmul__": lambda x, y: y @ x,
    "__rmod__": lambda x, y: y % x, "__rpow__": lambda x, y: y ** x,
    "__rsub__": lambda x, y: y - x,
    "bool": converted(np.bool_), "byte": converted(np.uint8), "char": converted(np.int8),
    "double": converted(np.float64), "float": converted(np.float32), "int": converted(np.int32),
    "long": converted(np.int64), "short": converted(np.int16), "half": converted(np.float16),
    "cdouble": converted(np.complex128), "cfloat": converted(np.complex64),
}
