"""`numpy.polynomial` and `np.poly1d`: NumPy's numbers, and derivatives by differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from series_cases import SERIES_CASES, A, B, X, Y
from test_numpy_cases import check_case
from test_pieces import second

import tracejit
from tracejit.errors import NotCaptured, Refusal, SizeByData

P = np.polynomial


@pytest.mark.parametrize(("fn", "args"), [
    pytest.param(fn, args, id=f"{key.__module__}.{key.__qualname__}-{k}" if not hasattr(
        key, "__self__") else f"{key.__self__.__name__}.{key.__name__}-{k}")
    for key, cases in SERIES_CASES.items() for k, (fn, *args) in enumerate(cases)])
def test_functions_are_numpys(fn: Callable[..., Any], args: list[Any]) -> None:
    with tracejit.config(disable_jit=True):
        check_case(fn, tuple(args))


@pytest.mark.parametrize("fn", [
    lambda a, b: P.chebyshev.chebmul(a, b), lambda a, b: P.Legendre(a).integ(lbnd=b[0])(b),
    lambda a, b: np.poly1d(a)(np.poly1d(b))(a), lambda a, b: P.Hermite(a)(b) ** 2])
def test_second_derivatives_are_differences_of_the_first(fn: Callable[..., Any]) -> None:
    with tracejit.config(disable_jit=True):
        check_case(second(fn, 2), (A, B))


def test_kernels_have_the_interpreters_values() -> None:
    def loss(x: Any, y: Any) -> Any:
        fitted = P.Chebyshev.fit(x, y, 3)
        return np.sum(fitted.deriv()(x) ** 2) + np.poly1d(y)(x[0])

    found = tracejit.value_and_grad(loss, argnums=(0, 1))(X, Y)
    with tracejit.config(disable_jit=True):
        expected = tracejit.value_and_grad(loss, argnums=(0, 1))(X, Y)
    np.testing.assert_allclose(found[0], loss(X, Y), rtol=1e-9)
    for ours, theirs in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7)


CLASSES = (P.Polynomial, P.Chebyshev, P.Legendre, P.Hermite, P.HermiteE, P.Laguerre)


@pytest.mark.parametrize("cls", CLASSES)
def test_quotients_and_conversions_are_numpys(cls: Any) -> None:
    def divided(a: Any, b: Any) -> Any:
        p, q = cls(a), cls(b)
        both = divmod(p, q)
        return (p // q).coef, (p % q).coef, both[0].coef, both[1](0.3), (q // p).coef

    with tracejit.config(disable_jit=True):
        check_case(divided, (A, B))
        for to in CLASSES:
            def converted(a: Any, to: Any = to) -> Any:
                found = cls(a, [0, 2]).convert([-1.0, 2.0], to, [0.0, 1.0])
                own = to.cast(cls(a), window=[0.0, 3.0])
                return found.coef, found(0.4), own.coef, own(0.4)

            check_case(converted, (A,))
        check_case(lambda a: cls(a).convert(domain=[0, 3]).coef, (B,))


def test_a_division_by_nothing_is_pythons_error() -> None:
    with tracejit.config(disable_jit=True), pytest.raises(ZeroDivisionError):
        tracejit.jit(lambda a: P.legendre.legdiv(a, a[:1] * 0.0))(A)


ENDING = np.array([1.0, 2.0, 0.0])


@pytest.mark.parametrize("program", [
    lambda a: P.polynomial.polyadd(a, a), lambda a: P.legendre.legmul(a, [1.0, 2.0]),
    lambda a: P.polynomial.polysub(a, [0.0, 0.0, 0.0]), lambda a: P.chebyshev.cheb2poly(a),
    lambda a: np.real(P.polynomial.polyroots(a)), lambda a: np.poly1d(a[::-1]).coeffs,
    lambda a: P.hermite.hermpow(a, 2)])
def test_coefficients_that_numpy_leaves_out_are_refused_in_the_run(program: Any) -> None:
    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(program)
        other = np.array([1.0, 2.0, 1.0])
        np.testing.assert_allclose(compiled(other), program(other), rtol=1e-12)
        with pytest.raises((SizeByData, NotCaptured)):
            compiled(ENDING)


@pytest.mark.parametrize("program", [
    lambda a: P.polynomial.polyadd(a[:, None], a), lambda a: P.chebyshev.chebpow(a, -1),
    lambda a: P.legendre.legpow(a, 17), lambda a: P.Polynomial(a, domain=[1, 2, 3])(0.5),
    lambda a: P.polynomial.polyder(a, -1), lambda a: P.polynomial.polyint(a, 1, [1, 2]),
    lambda a: P.polynomial.polyvander(a, -1), lambda a: P.polynomial.polyfit(a, a[:2], 1),
    lambda a: (P.Polynomial(a) + P.Chebyshev(a))(0.5), lambda a: np.poly1d(a[:, None])(0.5),
    lambda a: (P.Polynomial(a) * P.Polynomial(a, domain=[0, 1]))(0.5),
    lambda a: P.Polynomial(a).truncate(0)(0.5), lambda a: P.polynomial.polyfit(a, a, [[1]]),
    lambda a: P.polynomial.polycompanion(a[:1]), lambda a: P.polynomial.polyval2d(a, a[:2], a)])
def test_errors_are_numpys(program: Any) -> None:
    with pytest.raises((ValueError, TypeError)) as theirs:
        program(B)
    with tracejit.config(disable_jit=True), pytest.raises(theirs.type):
        tracejit.jit(program)(B)


@pytest.mark.parametrize(("program", "words"), [
    (lambda a: P.Polynomial(a), "as a result"), (lambda a: np.poly1d(a), "as a result"),
    (lambda a: P.Polynomial(a, domain=a[:2]).convert(kind=P.Chebyshev).coef, "convert"),
    (lambda a: P.Polynomial.fromroots(a, domain=None).coef, "domain")])
def test_what_is_not_captured_is_refused(program: Any, words: str) -> None:
    with tracejit.config(disable_jit=True), pytest.raises(Refusal, match=words):
        tracejit.jit(program)(B)


def test_changes_of_polynomials_from_outside_are_seen() -> None:
    class Held:
        series = P.Polynomial([1.0, 2.0, 3.0])

    program = tracejit.jit(lambda x: Held.series(x) + Held.series.deriv()(x) + (
        Held.series * x[0])(x))
    with tracejit.config(disable_jit=True):
        for change in (lambda: None, lambda: Held.series.coef.__setitem__(1, 7.0),
                       lambda: setattr(Held, "series", P.Polynomial([4.0, 1.0], domain=[0, 3])),
                       lambda: setattr(Held, "series", P.Legendre([4.0, 1.0, 2.0, 3.0]))):
            change()
            s = Held.series
            np.testing.assert_allclose(program(X), s(X) + s.deriv()(X) + (s * X[0])(X),
                                       rtol=1e-12)
