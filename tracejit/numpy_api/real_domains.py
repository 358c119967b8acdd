"""`np.emath`: functions whose results are complex where real numbers are outside of a domain.

Which dtype a result has depends on data: a run whose numbers are outside is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.errors import NotCaptured
from tracejit.numpy_api.elementwise import as_array
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.state.known import known_array
from tracejit.trace.values.equations import cast
from tracejit.trace.values.python_numbers import require_ours
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []

_REMEDY = "Convert the numbers with .astype(complex) and use the function of np without emath"


def _widened(x: Tracer) -> Tracer:
    """Return numbers in the complex dtype to which `np.emath` casts them."""
    single = x.dtype in (np.float32, np.int8, np.int16, np.uint8, np.uint16)
    return cast(x, np.complex64 if single else np.complex128)


def _inside(name: str, x: object, beyond: Callable[..., object], where: str) -> Any:
    """Return numbers in the dtype in which a function takes them."""
    given = as_array(x)
    if given.dtype.kind == "c":
        return given
    outside: Any = beyond(given)
    known = known_array(np.any(outside), f"np.emath.{name} has a dtype that its numbers say",
                        fixing=False)
    if known is not None:
        return _widened(given) if known else given
    require_ours(np.logical_not(np.any(outside)), NotCaptured, f"np.emath.{name} of a number "
                 f"{where} has a complex result, and data decides it: it cannot be captured. "
                 f"{_REMEDY}")
    return given


def _is_below(x: np.ndarray) -> Any:
    return x < 0


def _not_below(name: str, x: object) -> Any:
    return _inside(name, x, _is_below, "below 0")


def _of_positive(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def capture(x: object) -> Any:
        return function(_not_below(name, x))

    return capture


def _of_unit(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def capture(x: object) -> Any:
        return function(_inside(name, x, lambda v: np.abs(v) > 1, "outside of -1 to 1"))

    return capture


for _name in ("sqrt", "log", "log2", "log10"):
    captures(getattr(np.emath, _name))(_of_positive(_name))
for _name in ("arccos", "arcsin", "arctanh"):
    captures(getattr(np.emath, _name))(_of_unit(_name))


@captures(np.emath.logn)
def logn(n: object, x: object) -> Any:
    """Return the logarithm to a base."""
    number, base = _not_below("logn", x), _not_below("logn", n)
    return np.log(number) / np.log(base)


@captures(np.emath.power)
def power(x: object, p: object) -> Any:
    """Return a power: ints to the power of negative ints are floats."""
    base, exponent = _not_below("power", x), as_array(p)
    if exponent.dtype.kind == "i":
        below = np.any(exponent < 0)
        known = known_array(below, "np.emath.power has a dtype that its exponents say",
                            fixing=False)
        if known is None:
            require_ours(np.logical_not(below), NotCaptured, "np.emath.power of an int exponent "
                         "below 0 has a result of another dtype, and data decides it: it cannot "
                         "be captured. Convert the exponent with .astype(float)")
        elif known:
            exponent = cast(exponent, np.result_type(exponent.dtype, 1.0))
    return np.power(base, exponent)
