"""Cases of `numpy.polynomial` and `np.poly1d`: by function, the call and its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RNG = np.random.default_rng(11)
X, Y = RNG.uniform(-1.0, 1.0, size=7), RNG.normal(size=7)
A, B, TABLE = RNG.normal(size=4), RNG.normal(size=3), RNG.normal(size=(4, 3))
PLANE, BLOCK = RNG.normal(size=(3, 2)), RNG.normal(size=(2, 3, 2))
ROOTS, WHOLE = np.array([0.3, -0.8, 0.5]), np.array([1, 2, 3])
F32, Z = A.astype(np.float32), A[:3] + 1j * B
P = np.polynomial
MODULES = {"poly": P.polynomial, "cheb": P.chebyshev, "leg": P.legendre, "herm": P.hermite,
           "herme": P.hermite_e, "lag": P.laguerre}
Case = tuple[Any, ...]


def _functions(prefix: str) -> dict[str, list[Case]]:
    """Return the cases of a basis's functions, by their names in all bases."""
    def of(name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(MODULES[prefix], prefix + name)
        return found

    cases: dict[str, list[Case]] = {
        "add": [(lambda a, b: of("add")(a, b), A, B), (lambda a: of("add")(a, 2.0), F32)],
        "sub": [(lambda a, b: of("sub")(b, a), A, B), (lambda a: of("sub")([1, 2], a), Z)],
        "mul": [(lambda a, b: of("mul")(a, b), A, B), (lambda a, b: of("mul")(a, b), Z, WHOLE)],
        "mulx": [(lambda a: of("mulx")(a), A)],
        "pow": [(lambda a: of("pow")(a, 3), B), (lambda a: of("pow")(a, 0) * a[0], B)],
        "div": [(lambda a, b: of("div")(a, b), A, B), (lambda a, b: of("div")(b, a), A, B),
                (lambda a, b: of("div")(a, b[:1]), Z, B)],
        "der": [(lambda a: of("der")(a, 2, 1.5), A), (lambda a: of("der")(a, axis=1), TABLE),
                (lambda a: of("der")(a, 5), F32), (lambda a: of("der")(a), WHOLE)],
        "int": [(lambda a, b: of("int")(a, 2, [b[0], 2.0], b[1], 1.5), A, B),
                (lambda a: of("int")(a, axis=-1), TABLE), (lambda a: of("int")(a), A[:1])],
        "fromroots": [(lambda r: of("fromroots")(r), ROOTS)],
        "companion": [(lambda a: of("companion")(a), A)],
        "roots": [(lambda a: np.real(np.sum(of("roots")(a) ** 2)), A),
                  (lambda a: of("roots")(a), A[:2])],
        "vander": [(lambda x: of("vander")(x, 4), X), (lambda x: of("vander")(x, 0), TABLE)],
        "vander2d": [(lambda x, y: of("vander2d")(x, y, [2, 1]), X, Y)],
        "vander3d": [(lambda x, y: of("vander3d")(x, y, x, [1, 0, 2]), X, Y)],
        "fit": [(lambda x, y: of("fit")(x, y, 3), X, Y),
                (lambda x, y: of("fit")(x, y, [0, 2, 3], w=y * y), X, Y),
                (lambda x, y: of("fit")(x, np.stack([y, x], 1), 2, full=True)[0], X, Y)],
        "val2d": [(lambda x, y, c: of("val2d")(x, y, c), X, Y, PLANE)],
        "val3d": [(lambda x, y, c: of("val3d")(x, y, x, c), X, Y, BLOCK)],
        "grid2d": [(lambda x, y, c: of("grid2d")(x, y, c), X, B, PLANE)],
        "grid3d": [(lambda x, y, c: of("grid3d")(x, y, y, c), X, B, BLOCK)]}
    return {prefix + name: rows for name, rows in cases.items()}


def _conversions(prefix: str) -> dict[str, list[Case]]:
    to, back = (getattr(MODULES[prefix], name) for name in (f"poly2{prefix}", f"{prefix}2poly"))
    return {f.__name__: [(lambda a, f=f: f(a), A), (lambda a, f=f: f(a), A[:1])]
            for f in (to, back)}


def _classes(cls: Any) -> dict[Any, list[Case]]:
    """Return the cases of a class, of which one is made outside."""
    made = cls([1.0, 2.0, -0.5, 0.3])
    return {cls: [
        (lambda a, x: cls(a)(x), A, X), (lambda a, x: cls(a, [0, 3], [-1, 2])(x), A, X),
        (lambda a, x: cls(a, domain=[x[0], 3.0])(x), A, X),
        (lambda a, b, x: ((cls(a) + cls(b)) * cls(b) - 2.0)(x), A, B, X),
        (lambda a, b, x: (x[0] - b[1] * cls(a) / (x[1] + 2.0) + b)(x), A, B, X),
        (lambda a: (-cls(a) ** 2).coef, B), (lambda a, x: cls(a, [0, 2]).deriv(2)(x), A, X),
        (lambda a, b, x: cls(a, [0, 2]).integ(2, [b[0], 1.0], b[1])(x), A, B, X),
        (lambda a: np.real(np.sum(cls(a, [0, 2]).roots() ** 2)), A),
        (lambda a: (cls(a).degree() + len(cls(a)) + cls(a).domain[1]) * a, A),
        (lambda a, x: cls(a).truncate(2)(x) + isinstance(cls(a), cls), A, X),
        (lambda x: made(x) + made.deriv()(x) + made.integ(lbnd=x[0])(x), X),
        (lambda a, x: (made * x[0] + cls(a) * made)(x) * made.coef[0], A, X)],
        cls.fit: [(lambda x, y: cls.fit(x, y, 3)(x[:3]), X, Y),
                  (lambda x, y: cls.fit(x, y, 2, domain=[-1, 1], w=y * y).deriv().coef, X, Y)],
        cls.cast: [(lambda a: cls.cast(P.Chebyshev(a, [0, 2]), [0.0, 3.0]).coef, A)],
        cls.fromroots: [(lambda r: cls.fromroots(r, domain=[0, 2]).coef, ROOTS)]}


OUTSIDE = np.poly1d([1.0, -2.0, 0.5])
SERIES_CASES: dict[Any, list[Case]] = {np.poly1d: [
    (lambda a, x: np.poly1d(a)(x), A, X), (lambda a, x: np.poly1d([1, a[0], 2])(x), A, X),
    (lambda a, b: (np.poly1d(a) * np.poly1d(b)).coeffs, A, B),
    *((lambda a, b, k=k: (np.poly1d(a) / np.poly1d([1.0, b[0], 2.0]))[k].coeffs, A, B)
      for k in (0, 1)), (lambda a, b: (np.poly1d(a) / b[:2])[0](b), A, B),
    (lambda a: (2.0 / np.poly1d(a)).coeffs, A),
    (lambda a, b, x: (2 * np.poly1d(a) - (1 - np.poly1d(b) / x[0]))(x), A, B, X),
    (lambda a, x: (np.poly1d(a) ** 2 + np.poly1d(a) ** 0)(x), A, X),
    (lambda a, x: np.poly1d(a).deriv(2)(x) + np.poly1d(a).deriv(9)(x), A, X),
    (lambda a, x: np.poly1d(a).integ(2, k=[1, a[0]])(x), A, X),
    (lambda a: np.real(np.sum(np.poly1d(a).roots ** 3)), A), (lambda r, x: np.poly1d(
        r, True)(x), ROOTS, X),
    (lambda a: (np.poly1d(a).order + len(np.poly1d(a))) * a * np.poly1d(a)[1], A),
    (lambda a, b, x: np.poly1d(a)(np.poly1d(b))(x), A, B, X),
    (lambda a, x: np.polyval(np.poly1d(a), x) + np.polyder(np.poly1d(a))(x), A, X),
    (lambda a, b: np.polyadd(np.poly1d(a), b).coeffs, A, B),
    (lambda a, b: np.polymul(a, np.poly1d(b)).coeffs, A, B),
    (lambda a: np.polyint(np.poly1d(a)).coeffs, A),
    (lambda a, x: (np.poly1d(a) * OUTSIDE + OUTSIDE.deriv())(x) + OUTSIDE(x), A, X)]}
for _prefix, _module in MODULES.items():
    _named = _functions(_prefix) | ({} if _prefix == "poly" else _conversions(_prefix))
    SERIES_CASES |= {getattr(_module, name): rows for name, rows in _named.items()}
for _name in ("Polynomial", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre"):
    SERIES_CASES |= _classes(getattr(P, _name))
