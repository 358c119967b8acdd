"""Piecewise polynomials and splines: SciPy's numbers, and derivatives of first and second order."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.interpolate as si
from test_numpy_cases import check_case

import tracejit
from tracejit.errors import NotCaptured, Refusal

RNG = np.random.default_rng(5)
X = np.array([0.0, 1.0, 2.0, 3.5, 5.0, 5.6, 7.0])
Y = np.array([1.0, 2.0, 0.0, 1.0, 3.0, 2.5, 1.0])
C, TABLE = RNG.normal(size=(4, 6)), RNG.normal(size=(7, 2))
WIDE, DEEP = RNG.normal(size=(3, 6, 2)), RNG.normal(size=(2, 3, 6))
AT = np.array([0.31, 1.21, 4.41, 6.91, -0.4, 7.5])
DOWN = X[::-1].copy()
SLOPES = RNG.normal(size=(7, 3))
SPLINE, TCK = si.make_interp_spline(X, Y), si.splrep(X, Y)
POWERS, DESCENDING = si.PPoly(C, X), si.PPoly(C, DOWN)
BERNSTEINS, ROUND = si.BPoly(C, X), si.PPoly(C, X, "periodic")
ASIDE = si.PPoly(DEEP, X, axis=1)
LINEAR = si.InterpolatedUnivariateSpline(X, Y, k=2)

Program = Callable[..., Any]
CASES: dict[str, tuple[Any, ...]] = {}
for _name, _make in (("powers", si.PPoly), ("Bernstein's", si.BPoly)):
    CASES |= {
        f"{_name}": (lambda c, x, q, m=_make: m(c, x)(q), C, X, AT),
        f"{_name}, descending": (lambda c, x, q, m=_make: m(c, x)(q), C, DOWN, AT),
        f"{_name}, slope": (lambda c, x, q, m=_make: m(c, x)(q, 1), C, X, AT),
        f"{_name}, more derivatives": (lambda c, q, m=_make: m(c, X)(q, 4), C, AT),
        f"{_name}, inside": (lambda c, q, m=_make: m(c, X, False)(q), C, AT[:4]),
        f"{_name}, round": (lambda c, x, q, m=_make: m(c, x, "periodic")(q), C, X, AT * 3.0),
        f"{_name}, round and round": (lambda c, x, a, m=_make: m(c, x).integrate(
            -9.5, a, "periodic") * 1.0, C, X, 17.7),
        f"{_name}, backwards": (lambda c, x, a, m=_make: m(c, x, "periodic").integrate(
            a, 2.1) * 1.0, C, X, 8.8),
        f"{_name}, of vectors": (lambda c, q, m=_make: m(c, X)(q.reshape(2, 3)), WIDE, AT),
        f"{_name}, along an axis": (lambda c, q, m=_make: m(c, X, axis=1)(q), DEEP, AT),
        f"{_name}, derivative": (lambda c, x, q, m=_make: m(c, x).derivative(2)(q), C, X, AT),
        f"{_name}, antiderivative": (lambda c, x, q, m=_make: m(c, x).antiderivative(2)(q),
                                     C, X, AT),
        f"{_name}, integral": (lambda c, x, a, m=_make: m(c, x).integrate(a, 6.1) * 1.0,
                               C, X, 0.4),
        f"{_name}, integral of vectors": (lambda c, a, m=_make: m(c, X).integrate(a, 6.1),
                                          WIDE, 0.4),
        f"{_name}, complex": (lambda c, q, m=_make: m(c, X)(q), C + 1j * C[::-1], AT),
        f"{_name}, attributes": (lambda c, x, m=_make: (m(c, x).x * 2.0, m(c, x).c * 2.0), C, X),
    }
CASES |= {
    "with slopes": (lambda x, y, q: si.BPoly.from_derivatives(x, y)(q), X, SLOPES, AT),
    "lists of slopes": (lambda y, q: si.BPoly.from_derivatives([0, 1, 3], [
        [y[0], y[1]], [y[2], 0.5], [y[3], y[4]]])(q), Y, AT[:2]),
    "of a spline": (lambda x, y, q: si.PPoly.from_spline(si.make_interp_spline(x, y))(q), X, Y,
                    AT[:4]),
    "of a tuple": (lambda x, y, q: si.PPoly.from_spline(si.splrep(x, y))(q), X, Y, AT[:4]),
    "of a spline from outside": (lambda q: si.PPoly.from_spline(SPLINE)(q[0] * X), AT),
    "from outside": (lambda q: POWERS(q), AT), "descending outside": (lambda q: DESCENDING(q), AT),
    "integral outside": (lambda a, b: DESCENDING.integrate(a, b) * 1.0, 0.3, 4.4),
    "Bernstein's outside": (lambda q: BERNSTEINS(q, 1), AT),
    "their integral": (lambda a, b: BERNSTEINS.integrate(a, b) * 1.0, 0.3, 9.4),
    "round outside": (lambda q: ROUND(q * 3.0), AT), "along an axis": (lambda q: ASIDE(q), AT),
    "round integral outside": (lambda a, b: ROUND.integrate(a, b) * 1.0, -12.3, 9.4),
    "spline's integral": (lambda a, b: SPLINE.integrate(a, b) * 1.0, 0.3, 5.4),
    "spline's parts": (lambda q: SPLINE.derivative()(q) + SPLINE.antiderivative()(q), AT),
    "parts of a spline": (lambda q: q[0] * SPLINE.c + SPLINE.t[0], AT),
    "univariate integral": (lambda a, b: LINEAR.integral(a, b) * 1.0, -0.3, 5.4),
    "splint": (lambda y, a: si.splint(a, 9.0, si.splrep(X, y)) * 1.0, Y, 0.3),
    "splint outside": (lambda a: si.splint(a, 3.0, SPLINE) * 1.0, 0.3),
    "splder": (lambda y, q: si.splev(q, si.splder(si.splrep(X, y), 2)), Y, AT),
    "splder's parts": (lambda y: si.splder(si.splrep(X, y))[1], Y),
    "splder of an object": (lambda y, q: si.splder(si.make_interp_spline(X, y))(q), Y, AT),
    "splantider": (lambda y, q: si.splev(q, si.splantider(si.splrep(X, y))), Y, AT),
    **{f"{name} along an axis": (lambda y, q, name=name: getattr(si, name)(X, y, axis=1)(q),
                                 TABLE.T, AT[:4].reshape(2, 2))
       for name in ("CubicSpline", "PchipInterpolator", "Akima1DInterpolator")},
    "slope along an axis": (lambda y, q: si.CubicSpline(X, y, axis=-1).derivative()(q), TABLE.T,
                            AT),
    "integral along an axis": (lambda y, a: si.CubicSpline(X, y, axis=-1).integrate(a, 3.0),
                               TABLE.T, 0.3),
    "modified Akima": (lambda x, y, q: si.Akima1DInterpolator(x, y, method="makima")(q), X, Y,
                       AT[:4]),
    "Akima of two": (lambda x, y: si.Akima1DInterpolator(x, y)(0.3) * 1.0, X[:2], Y[:2]),
    "periodic use of a cubic": (lambda y, q: si.CubicSpline(X, y, extrapolate="periodic")(q), Y,
                                AT)}


@pytest.mark.parametrize("name", CASES)
def test_values_are_scipys_and_derivatives_differences(name: str) -> None:
    function, *args = CASES[name]
    with tracejit.config(disable_jit=True):
        check_case(function, tuple(args))


def second(program: Program, count: int) -> Program:
    """Return the program's gradient as a program: of the sum of squares of its results."""
    def loss(*args: Any) -> Any:
        return np.sum(np.abs(program(*args)) ** 2)

    return tracejit.grad(loss, argnums=tuple(range(count)))


@pytest.mark.parametrize("name", ["powers", "powers, round", "Bernstein's, integral",
                                  "with slopes", "splint", "Bernstein's outside",
                                  "modified Akima"])
def test_second_derivatives_are_differences_of_the_first(name: str) -> None:
    function, *args = CASES[name]
    with tracejit.config(disable_jit=True):
        check_case(second(function, len(args)), tuple(args))


def test_one_program_for_all_lengths(caplog: pytest.LogCaptureFixture) -> None:
    program = tracejit.jit(lambda c, x, q: si.PPoly(c, x)(q) + si.BPoly(c, x).integrate(0.1, q[0]))
    with caplog.at_level(logging.DEBUG, "tracejit"):
        for count in (6, 1, 3):
            args = C[:, :count], X[:count + 1], AT
            expected = si.PPoly(*args[:2])(AT) + si.BPoly(*args[:2]).integrate(0.1, AT[0])
            np.testing.assert_allclose(program(*args), expected, rtol=1e-12)
    assert len([r for r in caplog.records if r.getMessage().startswith("compiled ")]) == 1


def test_equal_breakpoints_and_points_that_are_none_are_scipys() -> None:
    x, c = np.array([0.0, 1.0, 1.0, 2.0, 2.0]), C[:, :4]
    at = np.array([0.0, 1.0, 2.0, np.nan, -1.0, 3.0])
    with tracejit.config(disable_jit=True):
        for beyond in (True, False):
            np.testing.assert_allclose(
                tracejit.jit(lambda c, q, b=beyond: si.PPoly(c, x, b)(q))(c, at),
                si.PPoly(c, x, beyond)(at), rtol=1e-12)


@pytest.mark.parametrize(("program", "args"), [
    (lambda c: si.PPoly(c, X)(0.5), C[:, :3]), (lambda c: si.PPoly(c, X)(0.5), C[0]),
    (lambda c: si.PPoly(c, X, axis=2)(0.5), WIDE), (lambda c: si.PPoly(c, X[:1])(0.5), C),
    (lambda x: si.PPoly(C, x)(0.5), X[[0, 2, 1, 3, 4, 5, 6]]),
    (lambda x: si.PPoly(C, x[:, None])(0.5), X),
    (lambda y: si.BPoly.from_derivatives(X[:3], y)(0.5), SLOPES),
    (lambda y: si.BPoly.from_derivatives(X, y)(0.5), Y),
    (lambda x: si.BPoly.from_derivatives(x, SLOPES)(0.5), X[[1, 0, 2, 3, 4, 5, 6]]),
    (lambda y: si.CubicSpline(X, y, axis=1)(0.5), TABLE),
    (lambda c: si.BPoly(c, X)(0.5, 6), C), (lambda c: si.PPoly(c, X)(0.5, -1), C)])
def test_data_that_do_not_fit_are_scipys_errors(program: Program, args: Any) -> None:
    with pytest.raises(ValueError) as theirs:
        program(args)
    with tracejit.config(disable_jit=True), pytest.raises(ValueError) as ours:
        tracejit.jit(program)(args)
    assert not isinstance(ours.value, NotCaptured) and str(theirs.value).split(".")[0][:20] in str(
        ours.value)


@pytest.mark.parametrize(("program", "words"), [
    (lambda y: si.PPoly(y, X).roots()[0], "roots"), (lambda y: si.PPoly(y, X).solve(0.5), "solve"),
    (lambda y: si.BPoly.from_derivatives(X, y.T, orders=3)(0.5), "orders=")])
def test_what_is_not_captured_is_refused(program: Program, words: str) -> None:
    with pytest.raises(Refusal, match=words):
        tracejit.jit(program)(C if words != "orders=" else C[:, [0, 1, 2, 3, 4, 5, 0]])


def test_elements_are_shared_as_scipy_shares_them() -> None:
    def program(c: Any) -> Any:
        kept = c * 1.0
        made = si.PPoly(kept, X)
        kept[0] = 5.0
        return made(AT)

    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.jit(program)(C), program(C), rtol=1e-12)
