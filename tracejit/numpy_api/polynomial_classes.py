"""The classes of `numpy.polynomial`, of traced coefficients or at traced points."""

from __future__ import annotations

import functools
import operator
from typing import Any, NoReturn

import numpy as np
from numpy.polynomial.polyutils import mapparms

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.made import Made
from tracejit.numpy_api.series_bases import BASES, Basis, as_series, count_of, linear_map, with_last
from tracejit.numpy_api.series_functions import (
    derivative,
    integral,
    power,
    quotient,
    roots,
    sum_of,
    times,
)
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.python.attributes import read_attribute
from tracejit.trace.python.kinds_of_values import holds_traced
from tracejit.trace.state.known import known_array
from tracejit.trace.values.equations import same_dim
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.tracer import Tracer

__all__ = ["Series", "interval", "of_numpys"]

_OTHERS = frozenset(("trim", "cutdeg", "linspace", "has_samecoef"))
"""Methods that one made by a capture has not."""


class Series(Made):
    """A series of polynomials of a basis.

    coef           -- coefficients, the lowest first
    domain, window -- the interval of points that is mapped to one of the basis
    """

    has_captured_operators = True

    def __init__(self, basis: Basis, coef: object, domain: object, window: object,
                 symbol: str) -> None:
        self.basis, self.scipys = basis, f"numpy.polynomial.{basis.cls}"
        (self.coef,), _ = as_series(coef)
        self.domain, self.window = (interval(x, name) for x, name in (
            (domain, "Domain"), (window, "Window")))
        self.symbol = symbol

    def __getattr__(self, name: str) -> Any:
        if name not in _OTHERS:
            raise AttributeError(name)
        raise refuse(f"`{name}` of a {self.basis.cls} of traced coefficients cannot be captured",
                     "Use its functions of coefficients, of numpy.polynomial", "TJ209")

    def as_leaf(self) -> NoReturn:
        """Refuse to be an argument or a result."""
        raise refuse(f"a {self.basis.cls} that captured code made, as a result",
                     "Return its .coef", "TJ210")

    def _like(self, coef: object) -> Series:
        return Series(self.basis, coef, self.domain, self.window, self.symbol)

    def mapparms(self) -> Any:
        """Return the offset and the scale of the map from the domain to the window."""
        return mapparms(self.domain, self.window)

    def __call__(self, arg: object) -> Any:
        """Return the values at points."""
        offset, scale = self.mapparms()
        return FUNCTIONS[self.basis.function("val")](offset + scale * arg, self.coef)

    def degree(self) -> int:
        """Return the degree."""
        return count_of(self.coef) - 1

    def __len__(self) -> int:
        return count_of(self.coef)

    def copy(self) -> Series:
        """Return a copy."""
        return self._like(self.coef.copy())

    def truncate(self, size: object) -> Series:
        """Return the first terms."""
        count = operator.index(size)  # type: ignore[arg-type]
        if count < 1:
            raise ValueError("size must be a positive integer")
        return self._like(self.coef[:count])

    def deriv(self, m: object = 1) -> Series:
        """Return a derivative."""
        return self._like(derivative(self.basis, self.coef, m, self.mapparms()[1], 0))

    def integ(self, m: object = 1, k: object = (), lbnd: object = None) -> Series:
        """Return an integral, from a bound on."""
        offset, scale = self.mapparms()
        start = 0 if lbnd is None else offset + scale * lbnd
        constants = list(k) if isinstance(k, tuple) else k
        return self._like(integral(self.basis, self.coef, m, constants, start, 1.0 / scale))

    def roots(self) -> Any:
        """Return the roots, complex but for a line's."""
        offset, scale = mapparms(self.window, self.domain)
        return offset + scale * roots(self.basis, self.coef)

    # --- arithmetic -------------------------------------------------------------------------------

    def _coefficients(self, other: object) -> Any:
        """Return what an operand has for coefficients, and raise NumPy's errors."""
        if not isinstance(other, Series):
            other = of_numpys(other)
        if not isinstance(other, Series):
            return other
        if other.basis is not self.basis:
            raise TypeError("Polynomial types differ")
        for name in ("domain", "window"):
            mine, its = (getattr(x, name) for x in (self, other))
            if isinstance(mine, TracedOperand) or isinstance(its, TracedOperand):
                if mine is not its:
                    raise refuse(f"arithmetic of polynomials whose {name} is traced cannot be "
                                 "captured", f"Say {name}= where they are made", "TJ209")
            elif not np.all(mine == its):
                raise TypeError(f"{name.capitalize()}s differ")
        if other.symbol != self.symbol:
            raise ValueError("Polynomial symbols differ")
        return other.coef

    def __neg__(self) -> Series:
        return self._like(-self.coef)

    def __pos__(self) -> Series:
        return self

    def __add__(self, other: object) -> Series:
        return self._like(sum_of(self.basis, self.coef, self._coefficients(other), 1))

    def __sub__(self, other: object) -> Series:
        return self._like(sum_of(self.basis, self.coef, self._coefficients(other), -1))

    def __rsub__(self, other: object) -> Series:
        return self._like(sum_of(self.basis, self._coefficients(other), self.coef, -1))

    def __mul__(self, other: object) -> Series:
        return self._like(times(self.basis, self.coef, self._coefficients(other)))

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: object) -> Series:
        if isinstance(other, Made) or np.ndim(as_tracer(other)):
            raise TypeError(f"unsupported types for true division: '{self.basis.cls}', "
                            f"'{type(other).__name__}'")
        return self._like(self.coef / other)

    def __floordiv__(self, other: object) -> Series:
        return self._like(quotient(self.basis, self.coef, self._coefficients(other))[0])

    def __mod__(self, other: object) -> Series:
        return divmod(self, other)[1]

    def __divmod__(self, other: object) -> tuple[Series, Series]:
        found, rest = quotient(self.basis, self.coef, self._coefficients(other))
        return self._like(found), self._like(with_last(rest, f"a remainder of {self.basis.cls}"))

    def convert(self, domain: object = None, kind: type | None = None,
                window: object = None) -> Series:
        """Return the same polynomial in another basis, domain or window."""
        cls: Any = getattr(np.polynomial, self.basis.cls) if kind is None else kind
        to = next((basis for basis in BASES if getattr(np.polynomial, basis.cls) is cls), None)
        ends = [_known(x, self.basis.cls) for x in (
            self.domain, self.window, cls.domain if domain is None else domain,
            cls.window if window is None else window)]
        if to is None:
            raise refuse(f"a {self.basis.cls} converted to {cls} cannot be captured",
                         "Use a class of numpy.polynomial", "TJ209")
        coef = with_last(self.coef, f"convert of a {self.basis.cls}")
        matrix = _conversion(self.basis, to, count_of(coef), *(tuple(x.tolist()) for x in ends))
        return Series(to, linear_map(matrix, coef), ends[2], ends[3], self.symbol)

    def __pow__(self, other: object) -> Series:
        return self._like(power(self.basis, self.coef, other, 100))


def _known(x: object, name: str) -> np.ndarray:
    """Return an interval whose ends are numbers."""
    found = known_array(x, "an interval") if isinstance(x, TracedOperand) else np.asarray(x)
    if found is None:
        raise refuse(f"convert of a {name} with a traced domain or window cannot be captured",
                     "Use constants", "TJ209")
    return np.asarray(interval(found, "Domain"))


@functools.lru_cache(maxsize=64)
def _conversion(of: Basis, to: Basis, count: int, *ends: tuple[float, float]) -> np.ndarray:
    """Return the matrix from coefficients of one basis to those of another."""
    first, second = (getattr(np.polynomial, basis.cls) for basis in (of, to))
    columns = [first(e[:k + 1], ends[0], ends[1]).convert(ends[2], second, ends[3]).coef
               for k, e in enumerate(np.eye(count))]
    return np.stack([np.pad(c, (0, count - len(c))) for c in columns], axis=1)


def interval(x: object, name: str) -> Any:
    """Return two ends, known ones as NumPy's array."""
    found: Any = as_tracer(x) if holds_traced(x) else np.asarray(x)
    if isinstance(found, Tracer):
        if not (found.ndim == 1 and same_dim(found.dims[0], 2)):
            raise ValueError(f"{name} has wrong number of elements.")
        return found
    if isinstance(found, np.ndarray) and found.dtype.kind in "biuf" and found.shape == (2,):
        return found + 0.0
    raise ValueError(f"{name} has wrong number of elements.")


def _known_ends(x: object) -> Any:
    """Return the ends of an interval of a polynomial from outside, as NumPy's under a guard."""
    found = known_array(x, "the interval of a polynomial") if isinstance(x, TracedOperand) else x
    return x if found is None else found


def of_numpys(x: object) -> Any:
    """Return a polynomial from outside, its arrays read like any others; else what is given."""
    for basis in BASES:
        if type(x) is getattr(np.polynomial, basis.cls):
            domain, window = (_known_ends(read_attribute(x, name))
                              for name in ("domain", "window"))
            return Series(basis, read_attribute(x, "coef"), domain, window,
                          read_attribute(x, "symbol"))
    return x
