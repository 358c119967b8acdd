"""How functions of `scipy.special` are captured, by the dtypes that SciPy gives them."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.ir.optable import OPS
from tracejit.ir.scipy_functions import C_FUNCTIONS
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.ops.calls import stop_gradient
from tracejit.ops.scipy_functions import special
from tracejit.trace.ground.context import refuse
from tracejit.trace.values.equations import apply, broadcast_dims, cast, lift, promotion_key
from tracejit.trace.values.equations import dtype_of as operand_dtype
from tracejit.trace.values.tracer import Tracer

__all__ = ["double_of_real", "of_complex", "of_floats", "scipy_special"]


def double_of_real(x: object, name: str) -> Tracer:
    """Return an operand of a function of SciPy's that is captured of reals, as a double."""
    given = as_tracer(x)
    if given.dtype.kind == "c":
        raise refuse(f"{name} of complex numbers cannot be captured",
                     "Use its real and imaginary parts, or tracejit.register_op", "TJ206")
    return cast(given, np.float64)


SCALED = {"jve": np.imag, "yve": np.imag, "ive": np.real}
"""Functions that are multiplied by exp(-|part|), which is no function of a complex number."""


def of_complex(name: str, operands: Sequence[object]) -> Any:
    """Return a function of complex numbers, as SciPy computes it; refuse one that has none.

    The op of a scaled function takes its factor for a constant; here it has its derivative.
    """
    parts = [key for key in (f"{name}_z", *(f"{name}_{k}_z" for k in range(4)))
             if key in C_FUNCTIONS]
    given = [as_tracer(x) for x in operands]
    kinds = ["c" if t.kind == "c" else "f" for t in C_FUNCTIONS[parts[0]].dtypes] if parts else []
    if not parts or any(x.dtype.kind == "c" and kind != "c" for x, kind in zip(
            given, kinds, strict=False)):
        raise refuse(f"scipy.special.{name} of complex numbers cannot be captured",
                     "Use its real and imaginary parts, or tracejit.register_op", "TJ206")
    broadcast_dims([x.dims for x in given])
    ufunc = getattr(sys.modules["scipy.special"], name)
    dtypes = ufunc.resolve_dtypes((*(promotion_key(lift(x)) for x in operands),
                                   *(None,) * ufunc.nout))
    found = tuple([special(key, *given) for key in parts])
    if name in SCALED:
        size = np.abs(SCALED[name](given[-1]))
        found = tuple([x * np.exp(stop_gradient(size) - size) for x in found])
    found = tuple([cast(x, dtypes[-1]) for x in found])
    return found if len(found) > 1 else found[0]


def _op_of_reals(name: str) -> Callable[[Any], Any]:
    def function(x: object) -> Any:
        x = as_tracer(x)
        if x.dtype.kind == "c":
            return of_complex(name, (x,))
        return apply(name, x if x.dtype.kind == "f" else cast(x, np.float64))

    return function


def _expit(x: Any) -> Any:
    """The logistic function, without overflow on either side."""
    above = x >= 0
    e = np.exp(np.where(above, -x, x))  # whose derivative at 0 is that of its side, as abs has none
    return np.where(above, 1.0 / (1.0 + e), e / (1.0 + e))


def _of_reals(name: str, function: Callable[[Any], object]) -> Callable[[Any], Any]:
    """A function that SciPy does not have for complex numbers."""

    def capture(x: object) -> Any:
        x = as_tracer(x)
        if x.dtype.kind == "c":
            raise TypeError(f"ufunc '{name}' not supported for the input types, and the inputs "
                            "could not be safely coerced to any supported types according to the "
                            "casting rule 'safe'")
        return function(x)

    return capture


def _ndtr(x: object) -> Any:
    """The distribution function of the normal distribution."""
    x = as_tracer(x)
    if x.dtype.kind == "c":
        return _op_of_reals("ndtr")(x)
    return 0.5 * _op_of_reals("erfc")(-x * math.sqrt(0.5))


def _times_log(log: Any, x: Any, y: Any, operand: Any) -> Any:
    """Return x log(y): 0 where x is 0 and y is not NaN; its derivative by x there is log(y)."""
    if x.dtype.kind == "c" or y.dtype.kind == "c":
        undefined = operand == 0
    else:
        undefined = np.logical_not((operand > 0) & (operand < np.inf) | (operand != operand))
    return np.where((x == 0) & undefined, 0.0, x * log(y) + 0.0)


def scipy_special() -> dict[str, Callable[..., Any]]:
    """Return the captures of functions of `scipy.special`, by name."""
    functions: dict[str, Callable[..., Any]] = {
        **{op.name: _op_of_reals(op.name) for op in OPS.values() if op.data.get("scipy")},
        "expit": _of_reals("expit", _expit),
        "logit": _of_reals("logit", lambda p: np.log(p) - np.log1p(-p)),
        "log_expit": _of_reals("log_expit", lambda x: -np.logaddexp(0.0, -x)),
        "xlogy": lambda x, y: _times_log(np.log, as_tracer(x), as_tracer(y), y),
        "xlog1py": lambda x, y: _times_log(np.log1p, as_tracer(x), as_tracer(y), y + 1.0),
        "ndtr": _ndtr,
        "cbrt": np.cbrt, "exp2": _of_reals("exp2", np.exp2), "expm1": np.expm1, "log1p": np.log1p,
    }
    return {name: of_floats(name, function) for name, function in functions.items()}


def of_floats(name: str, function: Callable[..., object]) -> Callable[..., Any]:
    """Return a function of SciPy that casts ints and bools to the dtype its ufunc computes in."""

    def capture(*operands: object) -> Any:
        operands = tuple(map(lift, operands))
        own = [operand_dtype(x) for x in operands]
        if all(t.kind in "fc" for t in own):
            return function(*operands)
        ufunc = getattr(sys.modules["scipy.special"], name)
        dtypes = ufunc.resolve_dtypes((*map(promotion_key, operands), *(None,) * ufunc.nout))
        return function(*(cast(x, t) for x, t in zip(operands, dtypes, strict=False)))

    return capture
