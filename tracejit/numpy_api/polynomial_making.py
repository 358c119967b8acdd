"""How objects of the classes of `numpy.polynomial` are made, and their methods called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.polynomial.polyutils import mapparms

from tracejit.numpy_api.elementwise import as_tracer
from tracejit.numpy_api.polynomial_classes import Series, interval, of_numpys
from tracejit.numpy_api.series_bases import BASES, Basis, count_of
from tracejit.numpy_api.series_fits import fit
from tracejit.numpy_api.series_functions import of_roots
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dispatch import OBJECTS, captures

__all__: list[str] = []


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
            raise refuse("a fit at complex points cannot be captured", "Give real ones", "TJ206")
        ends: Any = domain
        if domain is None or (isinstance(domain, list) and not domain):
            if domain is None:
                low, high = np.min(places), np.max(places)
                flat = low == high
                ends = as_tracer(np.stack([np.where(flat, low - 1, low) + 0.0,
                                           np.where(flat, high + 1, high) + 0.0]))
            else:
                ends = _default(cls, "domain")
        ends = interval(ends, "Domain")
        to = interval(_default(cls, "window") if window is None else window, "Window")
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
                         "Give domain=", "TJ209")
        own = isinstance(domain, (list, tuple)) and not domain
        ends = _default(cls, "domain") if own else domain
        to = _default(cls, "window") if window is None else window
        offset, scale = mapparms(interval(ends, "Domain"), interval(to, "Window"))
        count = count_of(given)
        return Series(basis, of_roots(basis, offset + scale * given) / scale ** count, ends, to,
                      symbol)

    return capture


def _cast(cls: type) -> Callable[..., Any]:
    def capture(series: object, domain: object = None, window: object = None) -> Any:
        return of_numpys(series).convert(domain, cls, window)

    return capture


def _method(name: str) -> Callable[..., Any]:
    def capture(x: object, *args: object, **kwargs: object) -> Any:
        return getattr(of_numpys(x), name)(*args, **kwargs)

    return capture


for _basis in BASES:
    _cls = getattr(np.polynomial, _basis.cls)
    captures(_cls)(_constructor(_basis, _cls))
    captures(_cls.fit)(_fit(_basis, _cls))
    captures(_cls.fromroots)(_fromroots(_basis, _cls))
    captures(_cls.cast)(_cast(_cls))
    OBJECTS[f"numpy.polynomial.{_basis.cls}"] = {
        name: _method(name) for name in (
            "__call__", "integ", "__add__", "__radd__", "__sub__", "__rsub__", "__mul__",
            "__rmul__", "__truediv__")}
