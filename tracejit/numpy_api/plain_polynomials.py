"""`np.poly1d` of traced coefficients: the highest first, zeros before it left out."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from tracejit.errors import SizeByData
from tracejit.numpy_api import (  # noqa: F401  (whose captures are taken over)
    compositions,
    fits,
    polynomials,
)
from tracejit.numpy_api.characteristic import poly
from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.made import Made
from tracejit.numpy_api.series_bases import count_of
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import FUNCTIONS, captures
from tracejit.trace.python.attributes import read_attribute
from tracejit.trace.values.equations import is_weak
from tracejit.trace.values.python_numbers import require
from tracejit.trace.values.tracer import Tracer

__all__ = ["Poly1d"]

_NAMES = ("coeffs", "coef", "c", "coefficients")


class Poly1d(Made):
    """A polynomial.

    all_coefficients -- with zeros before the first one that counts, where data has them
    """

    has_captured_operators = True
    scipys = "numpy.poly1d"

    def __init__(self, all_coefficients: np.ndarray | Tracer, variable: str = "x") -> None:
        self.all_coefficients: Any = all_coefficients
        self.variable = variable

    def __getattr__(self, name: str) -> Any:
        if name in _NAMES:
            return self._trimmed()
        if name in ("order", "o"):
            return count_of(self._trimmed()) - 1
        if name in ("roots", "r"):
            return np.roots(self._trimmed())
        raise AttributeError(name)

    def as_leaf(self) -> NoReturn:
        """Refuse to be an argument or a result."""
        raise refuse("a poly1d that captured code made, as a result", "Return its .coeffs", "TJ210")

    def _trimmed(self) -> Any:
        """Return the coefficients, of which the first is not 0."""
        found = self.all_coefficients
        if count_of(found) > 1:
            require(found[0] != 0, SizeByData, "a poly1d whose first coefficient is 0, which NumPy "
                    "leaves out, has a size that depends on data. Leave it out before")
        return found

    def __len__(self) -> int:
        return count_of(self._trimmed()) - 1

    def __getitem__(self, power: object) -> Any:
        k = operator.index(power)  # type: ignore[arg-type]
        count = count_of(self.all_coefficients)
        if not 0 <= k < count:
            return self.all_coefficients.dtype.type(0)
        return self.all_coefficients[count - 1 - k]

    def __call__(self, val: object) -> Any:
        """Return the values at points, or of another polynomial."""
        if not isinstance(val, (Poly1d, np.poly1d)):
            at: Any = val
            return np.polyval(self.all_coefficients, at)
        inner, total = _of(val), Poly1d(self.all_coefficients[:1])
        for k in range(1, count_of(self.all_coefficients)):
            total = total * inner + self.all_coefficients[k]
        return total

    def deriv(self, m: int = 1) -> Poly1d:
        """Return a derivative."""
        if count_of(self.all_coefficients) <= m:
            return Poly1d(self.all_coefficients[:1] * 0)
        return Poly1d(np.polyder(self.all_coefficients, m))

    def integ(self, m: int = 1, k: object = 0) -> Poly1d:
        """Return an integral, with constants of integration."""
        constants: Any = k
        return Poly1d(np.polyint(self.all_coefficients, m=m, k=constants))

    # --- arithmetic -------------------------------------------------------------------------------

    def __neg__(self) -> Poly1d:
        return Poly1d(-self.all_coefficients)

    def __pos__(self) -> Poly1d:
        return self

    def __add__(self, other: object) -> Poly1d:
        return Poly1d(np.polyadd(self.all_coefficients, _of(other).all_coefficients))

    def __sub__(self, other: object) -> Poly1d:
        return Poly1d(np.polysub(self.all_coefficients, _of(other).all_coefficients))

    def __rsub__(self, other: object) -> Poly1d:
        return Poly1d(np.polysub(_of(other).all_coefficients, self.all_coefficients))

    def __mul__(self, other: object) -> Poly1d:
        return Poly1d(np.convolve(self.all_coefficients, _of(other).all_coefficients))

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: object) -> Any:
        if isinstance(other, (Poly1d, np.poly1d)) or np.ndim(as_tracer(other)):
            return _divided(self, _of(other))
        return Poly1d(self.all_coefficients / other)

    def __rtruediv__(self, other: object) -> Any:
        if isinstance(other, np.poly1d):
            return _divided(_of(other), self)
        if not is_weak(other):  # of an array, NumPy's quotient is one of arrays
            raise refuse("a number of NumPy's, or an array, divided by a poly1d",
                         "Use its .coeffs, or np.polydiv", "TJ209")
        return Poly1d(as_tracer(other) / self._trimmed())

    def __pow__(self, val: object) -> Poly1d:
        count = operator.index(val)  # type: ignore[arg-type]
        if count < 0:
            raise ValueError("Power to non-negative integers only.")
        found = Poly1d(as_tracer(np.ones(1, np.int64)))
        for _ in range(count):
            found = found * self
        return found


def _divided(u: Poly1d, v: Poly1d) -> tuple[Poly1d, Poly1d]:
    """Return the quotient and the remainder."""
    quotient, rest = np.polydiv(u._trimmed(), v._trimmed())
    return Poly1d(quotient), Poly1d(rest)


def _of(x: object) -> Poly1d:
    """Return an operand as a polynomial: of a number, an array of coefficients, or NumPy's."""
    if isinstance(x, Poly1d):
        return x
    if isinstance(x, np.poly1d):
        return Poly1d(as_tracer(read_attribute(x, "coeffs")), x.variable)
    given: Any = np.atleast_1d(as_tracer(x))
    if given.ndim > 1:
        raise ValueError("Polynomial must be 1d only.")
    if not count_of(given):
        return Poly1d(as_tracer(np.zeros(1, given.dtype)))
    return Poly1d(given)


@captures(np.poly1d)
def poly1d(c_or_r: object, r: bool = False, variable: str | None = None) -> Poly1d:
    """Return the polynomial of coefficients, or of roots."""
    made = _of(poly(c_or_r)) if r and not isinstance(c_or_r, Poly1d) else _of(c_or_r)
    return Poly1d(made.all_coefficients, variable or made.variable)


# --- functions and operators ----------------------------------------------------------------------


def _takes_polynomials(function: object, compute: Callable[..., object]) -> None:
    """Have a function's capture return polynomials where an operand is one, as NumPy does."""
    of_arrays = FUNCTIONS[function]

    def capture(*args: object, **kwargs: object) -> Any:
        if any(isinstance(x, (Poly1d, np.poly1d)) for x in args[:2]):
            return compute(*args, **kwargs)
        return of_arrays(*args, **kwargs)

    FUNCTIONS[function] = capture


_takes_polynomials(np.polyadd, lambda a1, a2: _of(a1) + _of(a2))
_takes_polynomials(np.polysub, lambda a1, a2: _of(a1) - _of(a2))
_takes_polynomials(np.polymul, lambda a1, a2: _of(a1) * _of(a2))
_takes_polynomials(np.polyder, lambda p, m=1: _of(p).deriv(m))
_takes_polynomials(np.polyint, lambda p, m=1, k=None: _of(p).integ(m, 0 if k is None else k))
_takes_polynomials(np.roots, lambda p: _of(p).roots)
_takes_polynomials(np.polyval, lambda p, x: _of(p)(x))
