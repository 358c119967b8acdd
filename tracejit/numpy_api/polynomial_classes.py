"""The classes of `numpy.polynomial`, of traced coefficients or at traced points."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.polynomial.polyutils import mapparms

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.made import Made
from tracejit.numpy_api.series_bases import BASES, Basis, as_series, count_of
from tracejit.numpy_api.series_fits import fit
from tracejit.numpy_api.series_functions import (
    derivative,
    integral,
    of_roots,
    power,
    roots,
    sum_of,
    times,
)
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import FUNCTIONS, OBJECTS, captures
from tracejit.trace.python.attributes import read_attribute
from tracejit.trace.python.kinds_of_values import holds_traced
from tracejit.trace.state.known import known_array
from tracejit.trace.values.equations import same_dim
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.tracer import Tracer

__all__: list[str] = []

_OTHERS = frozenset(("convert", "cast", "trim", "cutdeg", "linspace", "has_samecoef"))
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
        self.domain, self.window = (_interval(x, name) for x, name in (
            (domain, "Domain"), (window, "Window")))
        self.symbol = symbol

    def __getattr__(self, name: str) -> Any:
        if name not in _OTHERS:
            raise AttributeError(name)
        raise refuse(f"`{name}` of a {self.basis.cls} of traced coefficients cannot be captured",
                     "Use its functions of coefficients, of numpy.polynomial")

    def as_leaf(self) -> NoReturn:
        """Refuse to be an argument or a result."""
        raise refuse(f"a {self.basis.cls} that captured code made, as a result",
                     "Return its .coef")

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
            other = _of_numpys(other)
        if not isinstance(other, Series):
            return other
        if other.basis is not self.basis:
            raise TypeError("Polynomial types differ")
        for name in ("domain", "window"):
            mine, its = (getattr(x, name) for x in (self, other))
            if isinstance(mine, TracedOperand) or isinstance(its, TracedOperand):
                if mine is not its:
                    raise refuse(f"arithmetic of polynomials whose {name} is traced cannot be "
                                 "captured", f"Say {name}= where they are made")
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
        raise refuse(f"the quotient of a {self.basis.cls} of traced coefficients cannot be "
                     "captured", "Use np.polydiv of coefficients, the highest first")

    __mod__ = __divmod__ = __floordiv__

    def __pow__(self, other: object) -> Series:
        return self._like(power(self.basis, self.coef, other, 100))


def _interval(x: object, name: str) -> Any:
    """Return two ends, known ones as NumPy's array."""
    found: Any = as_tracer(x) if holds_traced(x) else np.asarray(x)
    if isinstance(found, Tracer):
        if not (found.ndim == 1 and same_dim(found.dims[0], 2)):
            raise ValueError(f"{name} has wrong number of elements.")
        return found
    if isinstance(found, np.ndarray) and found.dtype.kind in "biuf" and found.shape == (2,):
        return found + 0.0
    raise ValueError(f"{name} has wrong number of elements.")


def _known_interval(x: object) -> Any:
    """Return the ends of an interval of a polynomial from outside, as NumPy's under a guard."""
    found = known_array(x, "the interval of a polynomial") if isinstance(x, TracedOperand) else x
    return x if found is None else found


def _of_numpys(x: object) -> Any:
    """Return a polynomial from outside, its arrays read like any others; else what is given."""
    for basis in BASES:
        if type(x) is getattr(np.polynomial, basis.cls):
            domain, window = (_known_interval(read_attribute(x, name))
                              for name in ("domain", "window"))
            return Series(basis, read_attribute(x, "coef"), domain, window,
                          read_attribute(x, "symbol"))
    return x


def _default(cls: type, name: str) -> Any:
    return getattr(cls, name)


def _constructor(basis: Basis, cls: type) -> Callable[..., Any]:
    def make(coef: object, domain: object = None, window: object = None,
             symbol: str = "x") -> Series:
        return Series(basis, coef, _default(cls, "domain") if domain is None else domain,
                      _default(cls, "window") if window is None else window, symbol)

    return make


def _fit(basis: Basis, cls: type) -> Callable[..., Any]:
    def capture(x: object, y: object, deg: object, domain: object = None, rcond: object = None,
                full: object = False, w: object = None, window: object = None,
                symbol: str = "x") -> Any:
        places: Any = as_tracer(x)
        if places.dtype.kind == "c":
            raise refuse("a fit at complex points cannot be captured", "Give real ones")
        ends: Any = domain
        if domain is None or (isinstance(domain, list) and not domain):
            if domain is None:
                low, high = np.min(places), np.max(places)
                flat = low == high
                ends = as_tracer(np.stack([np.where(flat, low - 1, low) + 0.0,
                                           np.where(flat, high + 1, high) + 0.0]))
            else:
                ends = _default(cls, "domain")
        ends = _interval(ends, "Domain")
        to = _interval(_default(cls, "window") if window is None else window, "Window")
        offset, scale = mapparms(ends, to)
        found = fit(basis, offset + scale * places, y, deg, rcond, full, w)
        if full:
            return Series(basis, found[0], ends, to, symbol), found[1]
        return Series(basis, found, ends, to, symbol)

    return capture


def _fromroots(basis: Basis, cls: type) -> Callable[..., Any]:
    def capture(roots: object, domain: object = (), window: object = None,
                symbol: str = "x") -> Any:
        given: Any = as_tracer(roots)
        if domain is None:
            raise refuse("a polynomial of traced roots whose domain is theirs cannot be captured",
                         "Give domain=")
        own = isinstance(domain, (list, tuple)) and not domain
        ends = _default(cls, "domain") if own else domain
        to = _default(cls, "window") if window is None else window
        offset, scale = mapparms(_interval(ends, "Domain"), _interval(to, "Window"))
        count = count_of(given)
        return Series(basis, of_roots(basis, offset + scale * given) / scale ** count, ends, to,
                      symbol)

    return capture


def _method(name: str) -> Callable[..., Any]:
    def capture(x: object, *args: object, **kwargs: object) -> Any:
        return getattr(_of_numpys(x), name)(*args, **kwargs)

    return capture


for _basis in BASES:
    _cls = getattr(np.polynomial, _basis.cls)
    captures(_cls)(_constructor(_basis, _cls))
    captures(_cls.fit)(_fit(_basis, _cls))
    captures(_cls.fromroots)(_fromroots(_basis, _cls))
    OBJECTS[f"numpy.polynomial.{_basis.cls}"] = {
        name: _method(name) for name in (
            "__call__", "integ", "__add__", "__radd__", "__sub__", "__rsub__", "__mul__",
            "__rmul__", "__truediv__")}
